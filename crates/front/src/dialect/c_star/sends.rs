//! Sends: values that go to other positions, or to one; stored, combined where they lie, or posted to the node that they are for.

use super::Loops;
use super::communication::{Indexed, NOBODY, OWN};
use super::flow::{Flow, READ, SEND, WRITE, combined};
use super::parallel::{Ahead, NOWHERE, Noted, object, positions};
use crate::edits::about;
use crate::tree::{Expression, Form};
use crate::types::ParallelShape;
use std::rc::Rc;

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

impl Indexed {
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

    /// Whether it is a number that is no member of a structure, which may be less than bytes.
    fn is_whole_number(&self) -> bool {
        self.is_number && !self.after.contains('.')
    }
}

impl Loops<'_, '_> {
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
}
