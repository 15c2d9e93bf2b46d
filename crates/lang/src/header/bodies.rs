//! Bodies of calls as C, from what was compiled: so `check`, which goes through the same places, and a program mean the same by them.

use super::comments::comment;
use super::names::{c_type, declaration, identifier, or_void, unreserved};
use super::params::{CParam, params};
use std::collections::BTreeSet;
use std::fmt::Write;
use trivium_protocol::*;

/// What the image is called in a body.
const IMAGE: &str = "trivium_image";

/// The functions that give the places of this node's images.
pub(super) fn images(text: &mut String, protocol: &Protocol, prefix: &str) {
    for image in &protocol.images {
        let kind = &protocol.objects[image.object.index()];
        let (name, object) = (function_of(prefix, kind), unreserved(kind));
        let _ = write!(
            text,
            "\n__attribute__((import_module(\"trivium:{}\"), import_name(\"{IMAGE_IMPORT}{kind}\")))\n\
             int64_t trivium_{name}(int64_t {object});\n\
             \n/* Where this node has its image of {object}. */\n\
             static inline volatile int64_t *{name}(int32_t {object}) {{\n\
             \x20   static int64_t first, step, most;\n\
             \x20   if (first == 0) {{\n\
             \x20       most = trivium_{name}(-1);\n\
             \x20       first = trivium_{name}(0);\n\
             \x20       step = trivium_{name}(1) - first;\n\
             \x20   }}\n\
             \x20   int64_t place = first + {object} * step;\n\
             \x20   if ({object} < 0 || {object} >= most)\n\
             \x20       place = trivium_{name}({object}); /* which is an error */\n\
             \x20   return (volatile int64_t *)(uintptr_t)place;\n}}\n",
            protocol.name,
        );
    }
}

fn function_of(prefix: &str, kind: &str) -> String {
    format!("{prefix}_image_{}", identifier(kind))
}

/// An event that bodies say: imported as calls are, and called by nobody else.
pub(super) fn event(text: &mut String, protocol: &Protocol, prefix: &str, op: &Op) {
    let result = if op.result.is_some() { "int64_t" } else { "void" };
    let words = usize::from(op.object != NODE) + op.args.len();
    let _ = write!(
        text,
        "\n__attribute__((import_module(\"trivium:{}\"), import_name(\"{}\")))\n{result} trivium_{prefix}_{}({});\n",
        protocol.name,
        op.name,
        op.name,
        or_void(&vec!["int64_t".to_string(); words]),
    );
}

/// A call with a body, as a function.
pub(super) fn call(text: &mut String, protocol: &Protocol, prefix: &str, op: &Op, body: &CallBody) {
    let params = params(protocol, op);
    let typed: Vec<String> = params.iter().map(|(param, _)| param.declared()).collect();
    let function = format!("{prefix}_{}", op.name);
    let result = op.result.as_ref().map_or("void", c_type);
    let object = params.first().filter(|_| op.object != NODE).map(|(param, _)| param.name.clone());
    let body = BodyInC { protocol, prefix, op, body, object, passed: op.args.len(), params: &typed_names(&params) };
    let _ = write!(
        text,
        "\n{}static inline {}({}) {{\n{}}}\n",
        comment(protocol, op),
        declaration(result, &function),
        or_void(&typed),
        body.text(),
    );
}

/// The names of the arguments beside the object's.
fn typed_names(params: &[(CParam, usize)]) -> Vec<String> {
    params.iter().map(|(param, _)| param.name.clone()).collect()
}

struct BodyInC<'a> {
    protocol: &'a Protocol,
    prefix: &'a str,
    op: &'a Op,
    body: &'a CallBody,
    /// What the object is called.
    object: Option<String>,
    /// How many locals are arguments.
    passed: usize,
    params: &'a [String],
}

impl BodyInC<'_> {
    fn text(&self) -> String {
        let places = &self.body.steps.places;
        let mut text = String::new();
        if places.iter().any(|place| matches!(place.step, BodyStep::Act(CallAction::Look(_) | CallAction::Swap { .. })))
        {
            let kind = &self.protocol.objects[self.op.object.index()];
            let object = self.object.as_deref().unwrap_or("0");
            let name = function_of(self.prefix, kind);
            let _ = writeln!(text, "    volatile int64_t *{IMAGE} = {name}({object});");
        }
        for local in self.passed..self.body.locals.len() {
            // Without a sign, a field is a shift and a mask.
            let ty = match self.body.locals[local].ty {
                Type::Int { lo, .. } if lo.at(1) >= 0 => "uint64_t",
                _ => "int64_t",
            };
            let _ = writeln!(text, "    {ty} {} = 0;", self.local(local));
        }
        let targets: BTreeSet<usize> = (0..places.len()).filter_map(|at| self.goes_to(at)).collect();
        for (at, place) in places.iter().enumerate() {
            if targets.contains(&at) {
                let _ = writeln!(text, "at_{at}:");
            }
            let _ = writeln!(text, "    {}", self.step(at, &place.step));
        }
        if targets.contains(&places.len()) {
            let _ = writeln!(text, "at_{}:\n    return;", places.len());
        }
        text
    }

    /// A local's name: a variable's is its own with its number, since two blocks may have one of the same name.
    fn local(&self, local: usize) -> String {
        if local < self.passed {
            return self.params[local + usize::from(self.op.object != NODE)].clone();
        }
        let name = unreserved(&self.body.locals[local].name);
        if name.is_empty() { format!("seen_{local}") } else { format!("{name}_{local}") }
    }

    /// Where a place may go beside the next one: an `until` that looks again waits for a change, and judges what it has seen then.
    fn goes_to(&self, at: usize) -> Option<usize> {
        match &self.body.steps.places[at].step {
            BodyStep::Unless(_, to) if self.looks_again(at, *to).is_some() => Some(at),
            BodyStep::Unless(_, to) | BodyStep::Goto(to) => Some(*to),
            _ => None,
        }
    }

    /// The variable of the look to which an `until` goes back.
    fn looks_again(&self, at: usize, to: usize) -> Option<u16> {
        match &self.body.steps.places[to.min(at)].step {
            BodyStep::Act(CallAction::Look(local)) if to + 1 == at => Some(*local),
            _ => None,
        }
    }

    fn step(&self, at: usize, step: &BodyStep) -> String {
        match step {
            BodyStep::Look(_) => ";".into(),
            BodyStep::Fence => "trivium_fence();".into(),
            BodyStep::Goto(to) => format!("goto at_{to};"),
            BodyStep::Unless(condition, to) => {
                let condition = self.value(condition);
                let Some(local) = self.looks_again(at, *to) else { return format!("if (!{condition}) goto at_{to};") };
                let seen = self.local(local.into());
                format!(
                    "if (!{condition}) {{\n        {seen} = trivium_wait_until_changed64({IMAGE}, {seen});\n        goto at_{at};\n    }}"
                )
            }
            BodyStep::Set(local, value) => format!("{} = {};", self.local((*local).into()), self.value(value)),
            BodyStep::Return(None) => "return;".into(),
            BodyStep::Return(Some(value)) => format!("return {};", self.value(value)),
            BodyStep::Act(CallAction::Look(local)) => {
                // What is swapped later is remembered.
                let is_swapped =
                    self.body.steps.places.iter().any(
                        |place| matches!(&place.step, BodyStep::Act(CallAction::Swap { seen, .. }) if seen == local),
                    );
                let look =
                    if is_swapped { format!("trivium_load_linked64({IMAGE})") } else { format!("(uint64_t)*{IMAGE}") };
                format!("{} = {look};", self.local((*local).into()))
            }
            BodyStep::Act(CallAction::Swap { word, result, .. }) => {
                let (result, word) = (self.local((*result).into()), self.value(word));
                format!("{result} = trivium_store_conditional64({IMAGE}, {word});")
            }
            BodyStep::Act(CallAction::Say { event, args, result }) => {
                let event = &self.protocol.ops[event.index()];
                let object = self.object.clone().filter(|_| event.object != NODE);
                let args: Vec<String> = object.into_iter().chain(args.iter().map(|arg| self.value(arg))).collect();
                let called = format!("trivium_{}_{}({})", self.prefix, event.name, args.join(", "));
                match result {
                    Some(result) => format!("{} = {called};", self.local((*result).into())),
                    None => format!("{called};"),
                }
            }
        }
    }

    /// An expression, in brackets where it is more than a name or a number. Arithmetic is on 64-bit numbers.
    fn value(&self, expr: &Expr) -> String {
        match &expr.kind {
            ExprKind::Constant(bound) if bound.per_node == 0 => format!("INT64_C({})", bound.constant),
            ExprKind::Constant(bound) => {
                format!("(INT64_C({}) + INT64_C({}) * trivium_nodes())", bound.constant, bound.per_node)
            }
            ExprKind::Local(local) => self.local(local.index()),
            ExprKind::Not(inner) => format!("!{}", self.value(inner)),
            ExprKind::Negate(inner) => format!("(-{})", self.value(inner)),
            ExprKind::Binary(operator, left, right) => {
                let operator = match operator {
                    Operator::Add => "+",
                    Operator::Subtract => "-",
                    Operator::Multiply => "*",
                    Operator::Divide => "/",
                    Operator::Remainder => "%",
                    Operator::Equal => "==",
                    Operator::Different => "!=",
                    Operator::Less => "<",
                    Operator::LessEqual => "<=",
                    Operator::And => "&&",
                    Operator::Or => "||",
                };
                format!("({} {operator} {})", self.value(left), self.value(right))
            }
            ExprKind::Given(inner) | ExprKind::Optional(inner) => self.value(inner),
            // Nothing else is seen in a body.
            _ => "0".into(),
        }
    }
}
