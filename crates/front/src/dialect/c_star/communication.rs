//! Values of other positions: gets, single positions, reductions; and conditions that narrow who communicates.

use super::Loops;
use super::expressions::{SCALAR_HELP, dimensions};
use super::flow::{Flow, GET, READ};
use super::parallel::{
    Ahead, NOWHERE, Noted, has_effects, is_parallel, object, positions, reduces, two_ways, variable_of,
};
use crate::edits::about;
use crate::tree::{Expression, Form};
use crate::types::{ParallelShape, Shape};

/// The position at which a loop is, which asks for what others have; and nobody, where all indices are scalar.
pub(super) const OWN: &str = "&cstar_run.at, cstar_vp";
pub(super) const NOBODY: &str = "0, 0";

/// What is joined with a number that must be a whole one: of others the C compiler names this type beside theirs.
pub(crate) const WHOLE: &str = "(cstar_whole_number)0";

/// Of a loop: what NOWHERE has room for.
const MOST_NEAR: usize = 16;

/// What is left-indexed: a parallel variable, or a part of it, in C.
pub(super) struct Indexed {
    /// The pointer that the variable is.
    pub variable: String,
    /// What stands around the variable: `(`, and members and elements of it.
    before: String,
    pub(super) after: String,
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
    pub(super) fn own(&self) -> String {
        let Indexed { variable, object, .. } = self;
        format!("{variable}, cstar_part({object}, sizeof *{variable})")
    }

    /// The type of its values.
    pub(super) fn ty(&self) -> String {
        let Indexed { variable, before, after, .. } = self;
        if self.is_of_position() {
            return format!("__typeof_unqual__(({{ {NOWHERE}{before}(*{variable}){after}; }}))");
        }
        format!("__typeof_unqual__({before}(*{variable}){after})")
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
    pub(super) fn axes(&self, axes: &[Expression]) -> String {
        let mut indices: Vec<String> = axes.iter().map(|axis| format!("({}) | {WHOLE}", self.text(axis))).collect();
        indices.resize(4, "0".into());
        indices.join(", ")
    }

    /// A pointer to the element at a position of any node; `who`: which position asks.
    pub(super) fn at(&self, indexed: &Indexed, axes: &[Expression], who: &str) -> String {
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
        let value = if is_of_bits { format!("(({text}) | {WHOLE})") } else { format!("+({text})") };
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
