//! Values of other positions: gets, sends, single positions, reductions.

use super::Loops;
use super::expressions::{SCALAR_HELP, dimensions};
use super::flow::{Flow, GET, READ, SEND, WRITE, combined};
use super::parallel::{
    Ahead, NOWHERE, Noted, has_effects, is_parallel, object, positions, reduces, two_ways, variable_of,
};
use crate::edits::about;
use crate::tree::{Expression, Form};
use crate::types::{ParallelShape, Shape};
use std::rc::Rc;

/// The position at which a loop is, which asks for what others have; and nobody, where all indices are scalar.
pub(super) const OWN: &str = "&cstar_run.at, cstar_vp";
const NOBODY: &str = "0, 0";

/// Of a loop: what NOWHERE has room for.
const MOST_NEAR: usize = 16;

/// What is left-indexed: a parallel variable, or a part of it, in C.
pub(super) struct Indexed {
    /// The pointer that the variable is.
    pub variable: String,
    /// What stands around the variable: `(`, and members and elements of it.
    before: String,
    after: String,
    /// Its name, or that of the array that it is in.
    pub name: String,
    pub is_number: bool,
    /// The shape's object, held against the number of indices if only the run knows how many it takes.
    pub object: String,
}

impl Indexed {
    /// The object at a position that this is a pointer to.
    pub(super) fn object(&self, pointer: &str) -> String {
        let Indexed { variable, before, after, .. } = self;
        format!("{before}(*(__typeof__({variable})){pointer}){after}")
    }

    /// Where the variable of any node is at a place.
    pub(super) fn of(&self, place: &str) -> String {
        let Indexed { variable, object, .. } = self;
        format!("cstar_of({variable}, sizeof *{variable}, {object}, {place})")
    }

    /// This node's part of the variable, and its bytes.
    fn own(&self) -> String {
        let Indexed { variable, object, .. } = self;
        format!("{variable}, cstar_part({object}, sizeof *{variable})")
    }

    /// A value is stored at a pointer to an element; by a call, if it is sent by calls.
    pub(super) fn sent(&self, pointer: &str, value: &str, has_calls: bool) -> String {
        let object = self.object(pointer);
        if !has_calls {
            return format!("{object} = {value};");
        }
        let (ty, own) = (self.ty(), self.own());
        format!("{{ {ty} cstar_value = {value}; cstar_send(&{object}, &cstar_value, sizeof cstar_value, {own}); }}")
    }

    /// A value is combined with what is at a pointer.
    fn combined(&self, operator: &str, pointer: &str, value: &str) -> String {
        let (object, ty) = (self.object(pointer), self.ty());
        format!("cstar_combine_at({operator}, {}, ({ty} *)&{object}, (long long)({value}));", kind(&ty))
    }

    /// Holds that a value is stored as a whole.
    pub(super) fn is_word(&self) -> String {
        format!("_Static_assert(sizeof({}) <= 8, \"a value of more than 8 bytes is sent in a structure\"); ", self.ty())
    }

    /// The type of its values.
    pub(super) fn ty(&self) -> String {
        let Indexed { variable, before, after, .. } = self;
        if self.is_of_position() {
            return format!("__typeof_unqual__(({{ {NOWHERE}{before}(*{variable}){after}; }}))");
        }
        format!("__typeof_unqual__({before}(*{variable}){after})")
    }

    /// Whether it is a number that is no member of a structure, which may be less than bytes.
    fn is_whole_number(&self) -> bool {
        self.is_number && !self.after.contains('.')
    }

    /// Whether it hangs on the position that asks which variable, or which element, it is.
    pub(super) fn is_of_position(&self) -> bool {
        self.variable.contains("cstar_vp") || self.after.contains("cstar_vp")
    }

    /// Where it is at the position of a loop that has found it nearby.
    pub(super) fn found(&self, near: &str) -> String {
        format!("(char *){near} + cstar_vp * (int)sizeof *{}", self.variable)
    }
}

/// Which whole number a type is, as the library counts them; 0: none.
fn kind(ty: &str) -> String {
    const NAMES: [&str; 11] = [
        "char",
        "signed char",
        "unsigned char",
        "short",
        "unsigned short",
        "int",
        "unsigned",
        "long",
        "unsigned long",
        "long long",
        "unsigned long long",
    ];
    let kinds: String = (1..).zip(NAMES).map(|(kind, name)| format!("{name} *: {kind}, ")).collect();
    format!("_Generic(({ty} *)0, {kinds}default: 0)")
}

/// How what is sent goes.
#[derive(Clone, Copy, PartialEq)]
enum Sent {
    /// Each value is stored.
    Stored,
    /// Each is combined by this operator, where that can be done at once.
    Combined(&'static str),
    /// To the node that it is for, which takes it.
    Posted,
}

/// Where each position sends to and what, in private memory that has these names.
pub(super) struct Found {
    pub place: String,
    pub value: String,
    pub shape: Rc<ParallelShape>,
    /// Of the values.
    pub ty: String,
}

impl Found {
    /// Where what the position of a loop sends goes.
    pub(super) fn at(&self, indexed: &Indexed) -> String {
        indexed.of(&format!("{}[cstar_vp]", self.place))
    }

    /// What it sends.
    pub(super) fn own(&self) -> String {
        format!("{}[cstar_vp]", self.value)
    }

    /// Whether it is combined by a read-modify-write.
    fn is_atomic(&self, indexed: &Indexed, operator: &str) -> String {
        format!("cstar_is_atomic({operator}, {}, {})", kind(&indexed.ty()), kind(&self.ty))
    }
}

/// A reduction: what a node has before its loop, what each position adds, and what comes of all nodes.
pub(super) struct Partial {
    pub begun: String,
    pub added: String,
    pub ended: String,
}

impl Loops<'_, '_> {
    /// What is left-indexed, if there are as many indices as its shape has dimensions, where they are counted. Scalar indices of its elements are found once, before
    /// the loop.
    pub(super) fn indexed(
        &mut self,
        expression: &Expression,
        indices: Option<usize>,
        operand: &Expression,
        ahead: &mut Ahead,
    ) -> Option<Indexed> {
        let Some(variable) = variable_of(operand) else {
            let what = if is_parallel(self.draft, operand) {
                "only parallel variables have a left index, and this is an expression"
            } else {
                "this is scalar, and only parallel variables have a left index"
            };
            self.error(operand, what, "left-index a parallel variable, which may be assigned before");
            return None;
        };
        let shape = variable.ty.parallel.clone()?;
        if let Some(count) = indices.filter(|count| *count != shape.rank && !shape.is_current()) {
            let indices = if count == 1 { "1 index stands".to_string() } else { format!("{count} indices stand") };
            let message = format!("the shape {} has {}, and {indices} here", shape.name, dimensions(shape.rank));
            self.error(expression, message, "write one index for each, in brackets");
            return None;
        }
        operand.indices().into_iter().for_each(|index| self.inside(index, ahead));
        let name = object(&shape.name);
        let object = match indices.filter(|_| shape.is_current()) {
            Some(count) => format!("cstar_of_rank(&{name}, {count})"),
            None => format!("&{name}"),
        };
        let (first, last) = (variable.first, variable.last);
        let before = if operand.first < first { self.tokens(operand.first, first - 1) } else { String::new() };
        let after = if last < operand.last { self.tokens(last + 1, operand.last) } else { String::new() };
        let (name, is_number) = (self.name_of(variable), operand.bare().ty.shape == Shape::Number);
        Some(Indexed { variable: self.text(variable), before, after, name, is_number, object })
    }

    /// The indices, as arguments of a function of the library: of a type that has bits, or it is said where they stand.
    fn axes(&self, axes: &[Expression]) -> String {
        let mut indices: Vec<String> = axes.iter().map(|axis| format!("({}) | 0", self.text(axis))).collect();
        indices.resize(4, "0".into());
        indices.join(", ")
    }

    /// A pointer to the element at a position of any node; `who`: which position asks.
    fn at(&self, indexed: &Indexed, axes: &[Expression], who: &str) -> String {
        let Indexed { variable, object, .. } = indexed;
        format!("cstar_at({variable}, sizeof *{variable}, {object}, {who}, {})", self.axes(axes))
    }

    /// The same, for a position of a loop that has seldom to ask.
    fn far(&self, indexed: &Indexed, axes: &[Expression]) -> String {
        let Indexed { variable, object, .. } = indexed;
        format!("cstar_far({variable}, sizeof *{variable}, {object}, cstar_who({OWN}), {})", self.axes(axes))
    }

    /// Private memory for a value at each position.
    pub(super) fn space(&self, ty: &str, name: &str, shape: &ParallelShape) -> String {
        let object = object(&shape.name);
        format!("{ty} *{name} __attribute__((cleanup(cstar_release))) = cstar_space(&{object}, sizeof *{name}); ")
    }

    /// `[i]p` with a parallel index: each active position gets a value. Where the loop writes what is got, it is got before.
    pub(super) fn get(
        &mut self,
        expression: &Expression,
        axes: &[Expression],
        operand: &Expression,
        ahead: &mut Ahead,
    ) {
        let is_in_place = self.is_in_place(operand);
        let Some(current) = self.current.clone() else { return };
        let (mut indexed, mut near) = (None, None);
        let noted = self.noted(|loops| {
            indexed = loops.indexed(expression, Some(axes.len()), operand, ahead);
            let Some(indexed) = &indexed else { return };
            axes.iter().for_each(|axis| loops.inside(axis, ahead));
            loops.access(&indexed.name, GET);
            near = loops.near(indexed, axes);
        });
        let Some(indexed) = indexed else { return };
        let at = match &near {
            Some(near) => two_ways(near, &indexed.found(near), &format!("(char *){}", self.far(&indexed, axes))),
            None => self.at(&indexed, axes, OWN),
        };
        let value = indexed.object(&at);
        if is_in_place {
            self.noted.join(&noted);
            self.draft.edits.replace(expression.first, expression.last, &about(expression.first, &value));
            return;
        }
        let name = self.temporary();
        ahead.declare(&self.space(&indexed.ty(), &name, &current));
        // An index that is got by a call is there first.
        if self.draft.has_calls && axes.iter().any(|axis| self.has_ahead(axis)) {
            self.get_all(ahead);
        }
        let got = self.got(&indexed, &name, &value);
        ahead.get(&about(expression.first, &got), &noted);
        self.draft.edits.replace(expression.first, expression.last, &format!("{name}[cstar_vp]"));
    }

    /// A position gets a value into private memory.
    pub(super) fn got(&self, indexed: &Indexed, name: &str, value: &str) -> String {
        match self.draft.has_calls {
            true => format!("cstar_get(&{name}[cstar_vp], &{value}, sizeof {name}[cstar_vp], {}); ", indexed.own()),
            false => format!("{name}[cstar_vp] = {value}; "),
        }
    }

    /// What is left-indexed where only its type is wanted.
    pub(super) fn type_of_got(&mut self, expression: &Expression, axes: &[Expression], operand: &Expression) {
        let Some(indexed) = self.indexed(expression, Some(axes.len()), operand, &mut Ahead::default()) else { return };
        let text = indexed.object(&indexed.variable);
        self.draft.edits.replace(expression.first, expression.last, &text);
    }

    /// What a loop gets at the same distance from all positions: where it is found, by runs.
    fn near(&mut self, indexed: &Indexed, axes: &[Expression]) -> Option<String> {
        let steps: Option<Vec<String>> = axes.iter().enumerate().map(|(axis, index)| self.steps(axis, index)).collect();
        self.near_by(indexed, steps?)
    }

    /// The same of a number of steps in each dimension.
    pub(super) fn near_by(&mut self, indexed: &Indexed, mut steps: Vec<String>) -> Option<String> {
        let current = self.current.clone()?;
        let is_known = !current.is_current() && current.rank == steps.len() && !indexed.is_of_position();
        if self.near >= MOST_NEAR || !is_known {
            return None;
        }
        steps.resize(4, "0".into());
        let number = self.near;
        self.near += 1;
        let Indexed { variable, object, .. } = indexed;
        let at = format!("cstar_near({variable}, sizeof *{variable}, {object}, &cstar_run.at, {})", steps.join(", "));
        self.noted.near.push((number, at));
        Some(format!("cstar_run.near[{number}]"))
    }

    /// How far an index is from a position's own coordinate, if that is the same for all: `.`, `. + s`, `. - s`.
    fn steps(&self, axis: usize, index: &Expression) -> Option<String> {
        match &index.bare().form {
            Form::Coordinate(own) if *own == axis => Some("0".into()),
            Form::Binary { op, left, right } if matches!(left.bare().form, Form::Coordinate(own) if own == axis) => {
                let word = self.word(*op);
                let is_same = ["+", "-"].contains(&word.as_str())
                    && !is_parallel(self.draft, right)
                    && !has_effects(self.draft, right);
                is_same.then(|| format!("{word}(int64_t)({})", self.text(right)))
            }
            _ => None,
        }
    }

    /// `[i]p` with scalar indices: all nodes have the value of one position.
    pub(super) fn one_position(&mut self, expression: &Expression, axes: &[Expression], operand: &Expression) {
        let mut ahead = Ahead::default();
        let Some(indexed) = self.indexed(expression, Some(axes.len()), operand, &mut ahead) else { return };
        axes.iter().for_each(|axis| self.part(axis));
        let name = self.temporary();
        let value = indexed.object(&self.at(&indexed, axes, NOBODY));
        let before = self.done(ahead);
        let parted = self.parted();
        // Through a tree its own node reads it, and no other.
        let kinds = if self.draft.has_trees { READ } else { GET };
        let noted = self.noted(|loops| loops.access(&indexed.name, kinds));
        let place = self.point(noted.accesses);
        let again = self.parted();
        let gotten = match self.draft.has_trees {
            true => format!(
                "{} {name}; cstar_broadcast(&{name}, &{value}, sizeof {name}, {}); ",
                indexed.ty(),
                indexed.own()
            ),
            false => format!("__auto_type {name} = {value}; "),
        };
        let text = format!("({{ {before}{parted}{place}{gotten}{again}{name}; }})");
        self.draft.edits.replace(expression.first, expression.last, &text);
    }

    /// A barrier around what may be done before or after other communication of its expression: nobody knows.
    fn parted(&mut self) -> &'static str {
        if !self.is_mixed {
            return "";
        }
        self.flow.push(Flow::Barrier);
        "cstar_barrier(\"in an order that C leaves open\"); "
    }

    /// `[i]p = s`, all of it scalar: the position's own node stores.
    pub(super) fn store(&mut self, expression: &Expression, op: usize, left: &Expression, right: &Expression) {
        let Form::LeftIndex { axes, operand } = &left.bare().form else { return };
        let mut ahead = Ahead::default();
        let Some(indexed) = self.indexed(left, Some(axes.len()), operand, &mut ahead) else { return };
        axes.iter().for_each(|axis| self.part(axis));
        self.part(right);
        let [place, value, pointer] = [(); 3].map(|()| self.temporary());
        let Indexed { variable, object, .. } = &indexed;
        let assigned = Self::assigned(&indexed.object(&pointer), &self.word(op), &value);
        let before = self.done(ahead);
        let noted = self.noted(|loops| loops.access(&indexed.name, WRITE));
        let point = self.point(noted.accesses);
        // All nodes have the value of a plain store, in the type of its place.
        let (ty, given) = match self.word(op).as_str() {
            // A member may be less than bytes, and has no type then.
            "=" if indexed.is_whole_number() || !indexed.is_number => {
                // Nobody minds if the value of an assignment is not used.
                let (ty, given) = (indexed.ty(), self.temporary());
                let given = format!(" {ty} {given} __attribute__((unused)); {given} = {value};");
                (ty, given)
            }
            _ => ("__auto_type".into(), String::new()),
        };
        // Place and value are found before nodes come together: they may be read from what is stored to.
        let text = format!(
            "({{ {before}int {place} = cstar_place({object}, {NOBODY}, {}); {ty} {value} = ({}); {point}void *{pointer} = cstar_own({variable}, sizeof *{variable}, {object}, {place}); if ({pointer}) {{ {assigned} }}{given} }})",
            self.axes(axes),
            self.text(right),
        );
        self.draft.edits.replace(expression.first, expression.last, &about(op, &text));
    }

    /// An assignment of an operator to an object.
    fn assigned(object: &str, word: &str, value: &str) -> String {
        match word {
            "<" | ">" => format!(
                "__typeof__({object}) *cstar_to = &{object}; *cstar_to = *cstar_to {word} {value} ? *cstar_to : {value};"
            ),
            _ => format!("{object} {word} {value};"),
        }
    }

    /// `[i]p = e`: each active position sends a value. All values and places are found before anything is stored; what follows sees all that was sent. Gives
    /// the name of what each position has sent, if that is used.
    pub(super) fn send(
        &mut self,
        expression: &Expression,
        op: usize,
        left: &Expression,
        right: &Expression,
        (is_used, ahead): (bool, &mut Ahead),
    ) -> Option<String> {
        let Form::LeftIndex { axes, operand } = &left.bare().form else { return None };
        let word = self.word(op);
        let is_combining = word != "=";
        if is_combining && !["+=", "&=", "|=", "^=", "<", ">"].contains(&word.as_str()) {
            self.draft
                .error(op, op, format!("there is no combining send `{word}`"))
                .help("there are += &= |= ^= <?= and >?=: what is sent in any order gives one result");
            return None;
        }
        let current = self.shape_for(expression)?;
        let mut indexed = None;
        let noted = self.noted(|loops| {
            indexed = loops.indexed(left, Some(axes.len()), operand, ahead);
            axes.iter().for_each(|axis| loops.inside(axis, ahead));
            loops.inside(right, ahead);
        });
        let indexed = indexed?;
        let operator = is_combining.then(|| self.operator(op));
        let sent = match operator {
            None if indexed.is_number => Sent::Stored,
            Some(operator) if indexed.is_whole_number() => Sent::Combined(operator),
            _ => Sent::Posted,
        };
        if sent != Sent::Stored && indexed.is_of_position() {
            self.error(
                operand,
                "which of several it goes to is not sent with a structure, or with what is combined",
                "index by a scalar",
            );
            return None;
        }
        // Nothing hangs on what is stored.
        let is_at_once = !is_used && noted.accesses.kinds(&indexed.name) == 0;
        if sent == Sent::Stored && is_at_once {
            self.send_at_once(op, &indexed, axes, right, noted, ahead);
            return None;
        }
        let ty = if is_combining {
            format!("__typeof_unqual__(({{ {NOWHERE}({}); }}))", self.text(right))
        } else {
            indexed.ty()
        };
        let found = Found { place: self.temporary(), value: self.temporary(), shape: current, ty };
        let find = self.find(&indexed, axes, right, &found);
        self.get_all(ahead);
        if let (Sent::Combined(operator), true) = (sent, is_at_once) {
            let (place, value) = (self.at(&indexed, axes, OWN), self.text(right));
            let text = self.combine((&indexed, &found), (&word, operator), noted, (&place, &value), &find);
            ahead.declare(&about(op, &text));
            return None;
        }
        let over = self.loop_over(&found.shape, noted);
        ahead.declare(&about(op, &format!("{}{over}{find}", self.spaces(&found))));
        let text = match sent {
            Sent::Stored => {
                let noted = self.noted(|loops| loops.access(&indexed.name, SEND));
                let over = self.loop_over(&found.shape, noted);
                let stored = indexed.sent(&found.at(&indexed), &found.own(), self.draft.has_calls);
                format!("{}{over}{stored} ", indexed.is_word())
            }
            Sent::Combined(operator) => {
                let (place, value) = (found.at(&indexed), found.own());
                self.combine((&indexed, &found), (&word, operator), Noted::default(), (&place, &value), "")
            }
            Sent::Posted => {
                let point = self.point_of_post(&indexed);
                format!("{point}{}", self.post(&indexed, &word, &found))
            }
        };
        ahead.declare(&about(op, &text));
        Some(found.value)
    }

    /// Each active position finds where it sends to, and what.
    fn find(&self, indexed: &Indexed, axes: &[Expression], right: &Expression, found: &Found) -> String {
        let Found { place, value, .. } = found;
        let (object, text) = (&indexed.object, self.text(right));
        let axes = self.axes(axes);
        format!("{{ {place}[cstar_vp] = cstar_place({object}, {OWN}, {axes}); {value}[cstar_vp] = ({text}); }} ")
    }

    /// Memory for what is found.
    pub(super) fn spaces(&self, found: &Found) -> String {
        let Found { place, value, shape, ty } = found;
        format!("{}{}", self.space(ty, value, shape), self.space("int", place, shape))
    }

    /// A send of what does not hang on what is stored: each position stores its value at once.
    fn send_at_once(
        &mut self,
        op: usize,
        indexed: &Indexed,
        axes: &[Expression],
        right: &Expression,
        mut noted: Noted,
        ahead: &mut Ahead,
    ) {
        let Some(current) = self.current.clone() else { return };
        self.get_all(ahead);
        noted.join(&self.noted(|loops| loops.access(&indexed.name, SEND)));
        let over = self.loop_over(&current, noted);
        let stored = indexed.sent(&self.at(indexed, axes, OWN), &self.text(right), self.draft.has_calls);
        ahead.declare(&about(op, &format!("{}{over}{stored} ", indexed.is_word())));
    }

    /// What is combined by a read-modify-write where it lies, if these are whole numbers for which there is one; else it is posted. Either keeps to what the flow
    /// knows of the first. `noted`: what a value at a place takes to find; `find`: what finds all of them before, if nothing has.
    fn combine(
        &mut self,
        (indexed, found): (&Indexed, &Found),
        (word, operator): (&str, &str),
        mut noted: Noted,
        (place, value): (&str, &str),
        find: &str,
    ) -> String {
        noted.join(&self.noted(|loops| loops.access(&indexed.name, combined(operator))));
        let over = positions(&found.shape, &noted);
        let point = self.point(noted.accesses);
        let test = found.is_atomic(indexed, operator);
        let combined = indexed.combined(operator, place, value);
        let before = if find.is_empty() { String::new() } else { format!("{}{over}{find}", self.spaces(found)) };
        let post = self.post(indexed, word, found);
        format!("{point}if ({test}) {{ cstar_unposted(); {over}{combined} }} else {{ {before}{post}}} ")
    }

    /// All have posted, and take what is theirs: another barrier is not needed before.
    pub(super) fn point_of_post(&mut self, indexed: &Indexed) -> String {
        self.flow.push(Flow::Barrier);
        let taken = self.noted(|loops| loops.access(&indexed.name, READ | WRITE)).accesses;
        self.point(taken)
    }

    /// Values of which a part could be stored, and those that are combined, go to the node that they are for. It takes them in the order of the
    /// positions that send.
    pub(super) fn post(&mut self, indexed: &Indexed, word: &str, found: &Found) -> String {
        let Found { place, value, shape, .. } = found;
        let post = self.temporary();
        let own = indexed.object(&indexed.of(&format!("{post}.place")));
        let assigned = Self::assigned(&own, word, &format!("(*(__typeof__({value})){post}.value)"));
        format!(
            "{{ struct cstar_post {post} = cstar_post(&{}, {}, {place}, {value}, sizeof *{value}); while (cstar_next(&{post})) {{ {assigned} }} cstar_taken(&{post}); }} ",
            object(&shape.name),
            indexed.object
        )
    }

    /// `(+= p)`.
    pub(super) fn reduction(&mut self, expression: &Expression, op: usize, operand: &Expression) {
        if !is_parallel(self.draft, operand) {
            self.error(operand, "only what is parallel is reduced, and this is scalar", "leave the operator out");
            return;
        }
        let sign = if self.word(op) == "-=" { "-" } else { "" };
        let operator = self.operator(op);
        if let Some(text) = self.reduced(operand, operator) {
            self.draft.edits.replace(expression.first, expression.last, &format!("({sign}{text})"));
        }
    }

    /// The operator of a reduction, as the library knows it.
    pub(super) fn operator(&self, op: usize) -> &'static str {
        match self.draft.word_at(op) {
            "&=" => "CSTAR_AND",
            "|=" => "CSTAR_OR",
            "^=" => "CSTAR_XOR",
            "<" => "CSTAR_MIN",
            ">" => "CSTAR_MAX",
            _ => "CSTAR_ADD",
        }
    }

    /// What comes of all active positions, as an expression.
    pub(super) fn reduced(&mut self, operand: &Expression, operator: &str) -> Option<String> {
        let current = self.shape_for(operand)?;
        let mut ahead = Ahead::default();
        let noted = self.noted(|loops| loops.inside(operand, &mut ahead));
        let partial = self.partial(operand, operator);
        let ahead = self.done(ahead);
        Some(self.reduced_after(&ahead, &current, &partial, noted))
    }

    /// After what is done ahead, a loop of its own for what each position adds; then what comes of all nodes.
    pub(super) fn reduced_after(
        &mut self,
        ahead: &str,
        shape: &ParallelShape,
        partial: &Partial,
        noted: Noted,
    ) -> String {
        let positions = positions(shape, &noted);
        let place = self.point(noted.accesses);
        self.flow.push(Flow::Barrier);
        format!("({{ {ahead}{place}{}{positions}{} {}; }})", partial.begun, partial.added, partial.ended)
    }

    /// The steps of a reduction of what stands in a loop already.
    pub(super) fn partial(&mut self, operand: &Expression, operator: &str) -> Partial {
        let name = self.temporary();
        let text = self.text(operand);
        // What has no bits is refused where it stands.
        let is_of_bits = ["CSTAR_AND", "CSTAR_OR", "CSTAR_XOR"].contains(&operator);
        let value = if is_of_bits { format!("(({text}) | 0)") } else { format!("+({text})") };
        Partial {
            begun: format!("__auto_type {name} = ({{ {NOWHERE}cstar_identity({operator}, 0 ? +({text}) : 0); }}); "),
            added: format!("{name} = cstar_combine({operator}, {name}, {value});"),
            ended: format!("cstar_reduce({operator}, {name})"),
        }
    }

    /// Of `s = (+= e)` and `s += e`, where nothing else is done that could matter, and nothing before e's loop: the operator, e, and the tokens of
    /// what is reduced.
    pub(super) fn one_reduction<'e>(
        &self,
        expression: &'e Expression,
    ) -> Option<(&'static str, &'e Expression, (usize, usize))> {
        let Form::Assign { op, left, right } = &expression.form else { return None };
        let is_plain = matches!(left.form, Form::Leaf) && !is_parallel(self.draft, left);
        let (operator, operand) = match &right.bare().form {
            Form::Reduce { op: inner, operand } if self.word(*op) == "=" && self.word(*inner) != "-=" => {
                (self.operator(*inner), &**operand)
            }
            _ if reduces(&self.word(*op)) && self.word(*op) != "-=" => (self.operator(*op), &**right),
            _ => return None,
        };
        let can_share = is_plain && is_parallel(self.draft, operand) && self.written.is_empty();
        (can_share && !self.has_ahead(operand)).then_some((operator, operand, (right.first, right.last)))
    }

    /// Makes the condition of `&&`, `||` or `?:` the context in which what follows communicates. Gives the name of the context.
    fn narrowed(
        &mut self,
        condition: &Expression,
        is_negated: bool,
        narrow: &[Expression],
        ahead: &mut Ahead,
    ) -> Option<String> {
        let is_same_for_all = !is_parallel(self.draft, condition);
        if is_same_for_all && !narrow.iter().all(|part| self.is_idle_without_positions(part)) {
            self.error(condition, "this decides about what is done once, and is scalar", "use if");
            return None;
        }
        let current = self.current.clone()?;
        let noted = self.noted(|loops| loops.inside(condition, ahead));
        let name = self.temporary();
        self.get_all(ahead);
        let over = self.loop_over(&current, noted);
        let sign = if is_negated { "!" } else { "!!" };
        let text = format!(
            "struct cstar_context {name} __attribute__((cleanup(cstar_leave))) = cstar_enter(&{}); {over}{name}.mask[cstar_vp] = {sign}({}); cstar_narrow(&{name}); ",
            object(&current.name),
            self.text(condition),
        );
        ahead.declare(&text);
        Some(name)
    }

    /// `a && b`, `a || b` where something of b is done ahead: at the positions that a leaves.
    pub(super) fn narrow_logic(&mut self, op: usize, left: &Expression, right: &Expression, ahead: &mut Ahead) {
        let is_or = self.word(op) == "||";
        let Some(name) = self.narrowed(left, is_or, std::slice::from_ref(right), ahead) else { return };
        self.inside(right, ahead);
        self.then(ahead, &format!("cstar_widen(&{name}); "));
        let sign = if is_or { "!" } else { "" };
        self.draft.edits.replace(left.first, left.last, &format!("{sign}{name}.mask[cstar_vp]"));
    }

    /// `a ? b : c` where something of b or c is done ahead.
    pub(super) fn narrow_choice(&mut self, expression: &Expression, parts: &[Expression], ahead: &mut Ahead) {
        let [condition, yes, no] = parts else {
            self.error(expression, "in `a ?: b` nothing is done once or got from other positions", "write `a ? a : b`");
            return;
        };
        let Some(name) = self.narrowed(condition, false, &parts[1..], ahead) else { return };
        self.inside(yes, ahead);
        self.then(ahead, &format!("cstar_otherwise(&{name}); "));
        self.inside(no, ahead);
        self.then(ahead, &format!("cstar_widen(&{name}); "));
        // The context is of those at which the condition is false by now.
        self.draft.edits.replace(condition.first, condition.last, &format!("!{name}.mask[cstar_vp]"));
    }

    /// Whether something parallel can be assigned to this; if not, why.
    pub(super) fn is_place(&mut self, left: &Expression) -> bool {
        if is_parallel(self.draft, left) && variable_of(left.bare()).is_some() {
            return true;
        }
        let is_shared = has_effects(self.draft, left) || is_parallel(self.draft, left);
        let what = if is_shared {
            "nothing is assigned to this: it is no parallel variable"
        } else {
            "a parallel value does not go into a scalar"
        };
        self.error(left, what, SCALAR_HELP);
        false
    }
}
