//! Values of other positions: gets, sends, single positions, reductions.

use super::Loops;
use super::expressions::{SCALAR_HELP, dimensions};
use super::parallel::{Ahead, has_effects, is_parallel, object, positions};
use crate::edits::about;
use crate::tree::{Expression, Form};
use crate::types::ParallelShape;
use std::rc::Rc;

/// What is left-indexed: a parallel variable, or a part of it, in C.
struct Indexed {
    /// The pointer that the variable is.
    variable: String,
    /// What stands around the variable: `(`, and members and elements of it.
    before: String,
    after: String,
    shape: Rc<ParallelShape>,
    /// The shape's object, held against the number of indices if only the run knows how many it takes.
    object: String,
}

impl Indexed {
    /// The object at a position that this is a pointer to.
    fn object(&self, pointer: &str) -> String {
        let Indexed { variable, before, after, .. } = self;
        format!("{before}(*(__typeof__({variable})){pointer}){after}")
    }

    /// The type of its values.
    fn ty(&self) -> String {
        let Indexed { variable, before, after, .. } = self;
        format!("__typeof_unqual__({before}(*{variable}){after})")
    }
}

impl Loops<'_, '_> {
    /// What is left-indexed, if there are as many indices as its shape has dimensions. Indices of its elements are found once, before the loop.
    fn indexed(
        &mut self,
        expression: &Expression,
        axes: &[Expression],
        operand: &Expression,
        ahead: &mut Ahead,
    ) -> Option<Indexed> {
        let Some(variable) = variable_of(operand) else {
            let what = if is_parallel(self.draft, operand) {
                "a left index of an expression is not there yet"
            } else {
                "this is scalar, and only parallel variables have a left index"
            };
            self.error(operand, what, "left-index a parallel variable");
            return None;
        };
        let shape = variable.ty.parallel.clone()?;
        if axes.len() != shape.rank && !shape.is_current() {
            let indices =
                if axes.len() == 1 { "1 index stands".to_string() } else { format!("{} indices stand", axes.len()) };
            let message = format!("the shape {} has {}, and {indices} here", shape.name, dimensions(shape.rank));
            self.error(expression, message, "write one index for each, in brackets");
            return None;
        }
        self.elements(operand, ahead);
        let name = object(&shape.name);
        let object =
            if shape.is_current() { format!("cstar_of_rank(&{name}, {})", axes.len()) } else { format!("&{name}") };
        let (first, last) = (variable.first, variable.last);
        let before = if operand.first < first { self.tokens(operand.first, first - 1) } else { String::new() };
        let after = if last < operand.last { self.tokens(last + 1, operand.last) } else { String::new() };
        Some(Indexed { variable: self.text(variable), before, after, shape, object })
    }

    /// Indices on the right of a variable that is left-indexed.
    fn elements(&mut self, operand: &Expression, ahead: &mut Ahead) {
        match &operand.form {
            Form::Parentheses(part) | Form::Member { base: part, .. } => self.elements(part, ahead),
            Form::Index { base, index, .. } => {
                self.elements(base, ahead);
                if is_parallel(self.draft, index) {
                    self.error(index, "a parallel index of what is left-indexed is not there yet", "index by a scalar");
                } else {
                    self.once(index, ahead);
                }
            }
            _ => {}
        }
    }

    /// The indices, as arguments of a function of the library: of a type that has bits, or it is said where they stand.
    fn axes(&self, axes: &[Expression]) -> String {
        let mut indices: Vec<String> = axes.iter().map(|axis| format!("({}) | 0", self.text(axis))).collect();
        indices.resize(4, "0".into());
        indices.join(", ")
    }

    /// A pointer to the element at a position of any node.
    fn at(&self, indexed: &Indexed, axes: &[Expression]) -> String {
        let Indexed { variable, object, .. } = indexed;
        format!("cstar_at({variable}, sizeof *{variable}, {object}, {})", self.axes(axes))
    }

    /// Private memory for a value at each position.
    fn space(&self, ty: &str, name: &str, shape: &ParallelShape) -> String {
        let object = object(&shape.name);
        format!("{ty} *{name} __attribute__((cleanup(cstar_release))) = cstar_space(&{object}, sizeof *{name}); ")
    }

    /// `[i]p` with a parallel index: each active position gets a value, before the loop.
    pub(super) fn get(
        &mut self,
        expression: &Expression,
        axes: &[Expression],
        operand: &Expression,
        ahead: &mut Ahead,
    ) {
        let Some(indexed) = self.indexed(expression, axes, operand, ahead) else { return };
        let Some(current) = self.current.clone() else { return };
        axes.iter().for_each(|axis| self.inside(axis, ahead));
        let name = self.temporary();
        ahead.declare(&self.space(&indexed.ty(), &name, &current));
        let value = indexed.object(&self.at(&indexed, axes));
        ahead.get(&about(expression.first, &format!("{name}[cstar_vp] = {value}; ")));
        self.draft.edits.replace(expression.first, expression.last, &format!("{name}[cstar_vp]"));
    }

    /// `[i]p` with scalar indices: all nodes read one position.
    pub(super) fn one_position(&mut self, expression: &Expression, axes: &[Expression], operand: &Expression) {
        let mut ahead = Ahead::default();
        let Some(indexed) = self.indexed(expression, axes, operand, &mut ahead) else { return };
        axes.iter().for_each(|axis| self.part(axis));
        let name = self.temporary();
        let value = indexed.object(&self.at(&indexed, axes));
        let before = ahead.text(&indexed.shape);
        let text = format!("({{ {before}cstar_barrier(); __auto_type {name} = {value}; cstar_barrier(); {name}; }})");
        self.draft.edits.replace(expression.first, expression.last, &text);
    }

    /// `[i]p = s`, all of it scalar: the position's own node stores.
    pub(super) fn store(
        &mut self,
        expression: &Expression,
        (op, width): (usize, usize),
        left: &Expression,
        right: &Expression,
    ) {
        let Form::LeftIndex { axes, operand } = &left.bare().form else { return };
        let mut ahead = Ahead::default();
        let Some(indexed) = self.indexed(left, axes, operand, &mut ahead) else { return };
        axes.iter().for_each(|axis| self.part(axis));
        self.part(right);
        let (value, pointer) = (self.temporary(), self.temporary());
        let Indexed { variable, object, .. } = &indexed;
        let assigned = self.assigned(&indexed.object(&pointer), (op, width), &value);
        let text = format!(
            "({{ {}__auto_type {value} = ({}); void *{pointer} = cstar_own({variable}, sizeof *{variable}, {object}, {}); if ({pointer}) {{ {assigned} }} }})",
            ahead.text(&indexed.shape),
            self.text(right),
            self.axes(axes),
        );
        self.draft.edits.replace(expression.first, expression.last, &about(op, &text));
    }

    /// An assignment of an operator to an object.
    fn assigned(&self, object: &str, (op, width): (usize, usize), value: &str) -> String {
        let word = self.word(op);
        match width {
            3 => format!(
                "__typeof__({object}) *cstar_to = &{object}; *cstar_to = *cstar_to {word} {value} ? *cstar_to : {value};"
            ),
            _ => format!("{object} {word} {value};"),
        }
    }

    /// `[i]p = e`: each active position sends a value. All values and places are found before anything is stored; what follows sees all that was. Gives
    /// the name of what each position has sent.
    ///
    /// Values of a word are stored where they belong. Those of which a part could be stored, and what is combined, go to the node that they are for,
    /// which takes them in the order of the positions that send.
    pub(super) fn send(
        &mut self,
        expression: &Expression,
        (op, width): (usize, usize),
        left: &Expression,
        right: &Expression,
        ahead: &mut Ahead,
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
        let indexed = self.indexed(left, axes, operand, ahead)?;
        let current = self.shape_for(expression)?;
        axes.iter().for_each(|axis| self.inside(axis, ahead));
        self.inside(right, ahead);
        let (place, value) = (self.temporary(), self.temporary());
        let text = self.text(right);
        let ty =
            if is_combining { format!("__typeof_unqual__(({{ int cstar_vp = 0; ({text}); }}))") } else { indexed.ty() };
        let (memory, places) = (self.space(&ty, &value, &current), self.space("int", &place, &current));
        let Indexed { variable, object, .. } = &indexed;
        let loops = positions(&current);
        let found = format!("{place}[cstar_vp] = cstar_place({object}, {});", self.axes(axes));
        ahead.then(
            &current,
            &about(op, &format!("{memory}{places}{loops}{{ {found} {value}[cstar_vp] = ({text}); }} ")),
        );
        let at = |place: &str| format!("cstar_of({variable}, sizeof *{variable}, {object}, {place})");
        let stored = indexed.object(&at(&format!("{place}[cstar_vp]")));
        let words = format!("cstar_barrier(); {loops}{stored} = {value}[cstar_vp]; cstar_barrier();");
        let post = self.temporary();
        let own = indexed.object(&at(&format!("{post}.place")));
        let from = super::parallel::object(&current.name);
        let taken = self.assigned(&own, (op, width), &format!("(*(__typeof__({value})){post}.value)"));
        let posted = format!(
            "struct cstar_post {post} = cstar_post(&{from}, {object}, {place}, {value}, sizeof *{value}); while (cstar_next(&{post})) {{ {taken} }} cstar_taken(&{post});"
        );
        let text = if is_combining {
            format!("{{ {posted} }} ")
        } else {
            format!("if (sizeof *{value} <= 8) {{ {words} }} else {{ {posted} }} ")
        };
        ahead.then(&current, &about(op, &text));
        Some(value)
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
        self.inside(operand, &mut ahead);
        let name = self.temporary();
        let is_of_bits = ["CSTAR_AND", "CSTAR_OR", "CSTAR_XOR"].contains(&operator);
        let text = self.text(operand);
        // What has no bits is refused where it stands.
        let value = if is_of_bits { format!("(({text}) | 0)") } else { format!("+({text})") };
        let (ahead, positions) = (ahead.text(&current), positions(&current));
        Some(format!(
            "({{ {ahead}int cstar_vp = 0; __auto_type {name} = cstar_identity({operator}, 0 ? +({text}) : 0); {positions}{name} = cstar_combine({operator}, {name}, {value}); cstar_reduce({operator}, {name}); }})"
        ))
    }

    /// Makes the condition of `&&`, `||` or `?:` the context in which what follows communicates. Gives the name of the context.
    fn narrowed(&mut self, condition: &Expression, is_negated: bool, ahead: &mut Ahead) -> Option<String> {
        if !is_parallel(self.draft, condition) {
            self.error(
                condition,
                "this decides about what is done once or got from other positions, and is scalar",
                "use if",
            );
            return None;
        }
        let current = self.current.clone()?;
        self.inside(condition, ahead);
        let name = self.temporary();
        let sign = if is_negated { "!" } else { "!!" };
        let text = format!(
            "struct cstar_context {name} __attribute__((cleanup(cstar_leave))) = cstar_enter(&{}); {}{name}.mask[cstar_vp] = {sign}({}); cstar_narrow(&{name}); ",
            object(&current.name),
            positions(&current),
            self.text(condition),
        );
        ahead.then(&current, &text);
        Some(name)
    }

    /// `a && b`, `a || b` where something of b is done ahead: at the positions that a leaves.
    pub(super) fn narrow_logic(&mut self, op: usize, left: &Expression, right: &Expression, ahead: &mut Ahead) {
        let is_or = self.word(op) == "||";
        let (Some(name), Some(current)) = (self.narrowed(left, is_or, ahead), self.current.clone()) else { return };
        self.inside(right, ahead);
        ahead.then(&current, &format!("cstar_widen(&{name}); "));
        let sign = if is_or { "!" } else { "" };
        self.draft.edits.replace(left.first, left.last, &format!("{sign}{name}.mask[cstar_vp]"));
    }

    /// `a ? b : c` where something of b or c is done ahead.
    pub(super) fn narrow_choice(&mut self, expression: &Expression, parts: &[Expression], ahead: &mut Ahead) {
        let [condition, yes, no] = parts else {
            self.error(expression, "in `a ?: b` nothing is done once or got from other positions", "write `a ? a : b`");
            return;
        };
        let (Some(name), Some(current)) = (self.narrowed(condition, false, ahead), self.current.clone()) else {
            return;
        };
        self.inside(yes, ahead);
        ahead.then(&current, &format!("cstar_otherwise(&{name}); "));
        self.inside(no, ahead);
        ahead.then(&current, &format!("cstar_widen(&{name}); "));
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

/// The parallel variable that this is, or is a part of.
pub(super) fn variable_of(expression: &Expression) -> Option<&Expression> {
    match &expression.form {
        Form::Leaf => expression.ty.parallel.is_some().then_some(expression),
        Form::Index { .. } if expression.ty.parallel.is_some() => Some(expression),
        Form::Parentheses(part) | Form::Index { base: part, .. } => variable_of(part),
        Form::Member { base, is_arrow: false } => variable_of(base),
        _ => None,
    }
}
