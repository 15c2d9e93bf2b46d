//! Bodies of calls as C, from what was compiled: so `check`, which goes through the same places, and a program mean the same by them.

use super::comments::comment;
use super::names::{c_type, declaration, identifier, or_void, to_word, unreserved};
use super::params::params;
use std::collections::BTreeSet;
use std::fmt::Write;
use trivium_protocol::*;

/// What the image is called in a body.
const IMAGE: &str = "trivium_image";

/// Whether the function of a call looks whether a value is of a type, since that is narrower than C's.
fn is_narrow(ty: &Type) -> bool {
    inside(ty, "").is_some()
}

/// Whether values of a type are objects.
fn is_object(ty: &Type) -> bool {
    matches!(ty, Type::Object(_) | Type::ObjectOrNone(_))
}

/// Whether the function of a call asks which object it is about: a pointer may point to no block, and a number may be that of none.
fn names_its_object(protocol: &Protocol, op: &Op) -> bool {
    op.body.is_some() && (op.object == BLOCK || op.object_may_be_none || protocol.made_kind(op.object).is_some())
}

/// Whether the function of a call looks whether values are of their types.
fn is_checked(op: &Op) -> bool {
    let args = op.args.iter().map(|arg| &arg.ty).filter(|ty| !is_object(ty));
    op.body.is_some() && args.chain(&op.result).any(is_narrow)
}

/// Whether something is assumed about a call with a body, so that each is held against it.
fn is_assumed(protocol: &Protocol, op: &Op) -> bool {
    let is = |id: &OpId| protocol.ops[id.index()].name == op.name;
    let in_order = |assume: &Assume| match assume {
        Assume::Alternate(first, second) | Assume::Before(first, second) => is(first) || is(second),
        Assume::Once(only) => is(only),
        _ => false,
    };
    let is_used = |condition: &Condition| matches!(&condition.event, EventKind::Op(of) if is(of));
    op.body.is_some() && (protocol.assumptions.iter().any(in_order) || protocol.conditions.iter().any(is_used))
}

/// Whether the function of a call asserts something.
fn asserts(op: &Op) -> bool {
    let is_assert = |place: &BodyPlace| matches!(place.step, BodyStep::Assert(_));
    op.body.as_ref().is_some_and(|body| body.steps.places.iter().any(is_assert))
}

/// What functions of bodies call: those that give the places of this node's images, one that refuses a value outside of its type, and one that says that
/// what a body asserts is false.
pub(super) fn imports(text: &mut String, protocol: &Protocol, prefix: &str) {
    if protocol.ops.iter().any(is_checked) {
        let function = format!("void trivium_outside_{prefix}(int64_t call, int64_t parameter, int64_t value)");
        import(text, protocol, OUTSIDE_IMPORT, &function);
    }
    let names = |op: &Op| names_its_object(protocol, op) || op.args.iter().any(|arg| is_object(&arg.ty));
    if protocol.ops.iter().any(|op| op.body.is_some() && names(op)) {
        let function = format!("int64_t trivium_named_{prefix}(int64_t call, int64_t parameter, int64_t passed)");
        import(text, protocol, NAMED_IMPORT, &function);
    }
    for op in protocol.ops.iter().filter(|op| is_assumed(protocol, op)) {
        let function = format!("void trivium_begins_{prefix}_{}({})", op.name, words_of(op));
        import(text, protocol, &format!("{BEGINS_IMPORT}{}", op.name), &function);
    }
    if protocol.ops.iter().any(asserts) {
        let function = format!("void trivium_assert_{prefix}(int64_t call, int64_t object, int64_t place)");
        import(text, protocol, ASSERT_IMPORT, &function);
    }
    for image in &protocol.images {
        let kind = &protocol.objects[image.object.index()];
        let (name, object) = (function_of(prefix, kind), unreserved(kind));
        let function = format!("int64_t {name}_import(int64_t {object})");
        import(text, protocol, &format!("{IMAGE_IMPORT}{kind}"), &function);
        let _ = write!(
            text,
            "\n/* Where this node has its image of {object}. */\n\
             static inline volatile int64_t *{name}(int32_t {object}) {{\n\
             \x20   static int64_t first, step, most;\n\
             \x20   if (first == 0) {{\n\
             \x20       most = {name}_import(INT64_MIN);\n\
             \x20       first = {name}_import(0);\n\
             \x20       step = {name}_import(1) - first;\n\
             \x20   }}\n\
             \x20   int64_t place = first + {object} * step;\n\
             \x20   if ({object} < 0 || {object} >= most)\n\
             \x20       place = {name}_import({object}); /* which is an error */\n\
             \x20   return (volatile int64_t *)(uintptr_t)place;\n}}\n",
        );
    }
}

/// A call could be named as an image is, so these functions have a prefix that no call has.
fn function_of(prefix: &str, kind: &str) -> String {
    format!("trivium_image_{prefix}_{}", identifier(kind))
}

/// An event that bodies say: imported as calls are, and called by nobody else.
pub(super) fn event(text: &mut String, protocol: &Protocol, prefix: &str, op: &Op) {
    let result = if op.result.is_some() { "int64_t" } else { "void" };
    let function = format!("{result} trivium_{prefix}_{}({})", op.name, words_of(op));
    import(text, protocol, &op.name, &function);
}

/// A function that a program imports of a protocol.
fn import(text: &mut String, protocol: &Protocol, name: &str, function: &str) {
    let module = &protocol.name;
    let _ =
        write!(text, "\n__attribute__((import_module(\"trivium:{module}\"), import_name(\"{name}\")))\n{function};\n");
}

/// What a call or an event is passed, its object among it, as parameters without names.
fn words_of(op: &Op) -> String {
    or_void(&vec!["int64_t".to_string(); usize::from(op.object != NODE) + op.args.len()])
}

/// A call with a body, as a function.
pub(super) fn call(text: &mut String, protocol: &Protocol, prefix: &str, op: &Op, body: &CallBody) {
    let params = params(protocol, op);
    let typed: Vec<String> = params.iter().map(|(param, _)| param.declared()).collect();
    let function = format!("{prefix}_{}", op.name);
    let result = op.result.as_ref().map_or("void", c_type);
    let words: Vec<String> = params.iter().map(|(param, _)| to_word(param.ty, &param.name)).collect();
    let about = usize::from(op.object != NODE);
    // Which object one is gets a name of its own.
    let named = |at: usize| {
        let mut name = format!("named_{}", params[at].0.name);
        while words.contains(&name) {
            name.push('_');
        }
        name
    };
    let object = (about == 1).then(|| if names_its_object(protocol, op) { named(0) } else { words[0].clone() });
    let args =
        (about..params.len()).map(|at| if is_object(&op.args[at - about].ty) { named(at) } else { words[at].clone() });
    let body = BodyInC { protocol, prefix, op, body, object, args: &args.collect::<Vec<_>>(), words: &words };
    let _ = write!(
        text,
        "\n{}static inline {}({}) {{\n{}}}\n",
        comment(protocol, op),
        declaration(result, &function),
        or_void(&typed),
        body.text(),
    );
}

struct BodyInC<'a> {
    protocol: &'a Protocol,
    prefix: &'a str,
    op: &'a Op,
    body: &'a CallBody,
    /// What the object is called.
    object: Option<String>,
    /// What the arguments are called, which are the first locals.
    args: &'a [String],
    /// What the function is passed, its object among it, as numbers.
    words: &'a [String],
}

impl BodyInC<'_> {
    fn text(&self) -> String {
        let places = &self.body.steps.places;
        let mut text = self.objects();
        if places.iter().any(|place| matches!(place.step, BodyStep::Act(CallAction::Look(_) | CallAction::Swap { .. })))
        {
            let kind = &self.protocol.objects[self.op.object.index()];
            let object = self.object.as_deref().unwrap_or("0");
            let name = function_of(self.prefix, kind);
            let _ = writeln!(text, "    volatile int64_t *{IMAGE} = {name}({object});");
        }
        for (at, arg) in self.op.args.iter().enumerate() {
            if let Some(is_inside) = inside(&arg.ty, &self.local(at)).filter(|_| !is_object(&arg.ty)) {
                let _ = writeln!(text, "    if (!({is_inside})) {};", self.outside(at as i64, &self.local(at)));
            }
        }
        if is_assumed(self.protocol, self.op) {
            let object = self.object.iter().cloned();
            let args: Vec<String> = object.chain(self.args.iter().cloned()).collect();
            let _ = writeln!(text, "    trivium_begins_{}_{}({});", self.prefix, self.op.name, args.join(", "));
        }
        for local in self.args.len()..self.body.locals.len() {
            // Without a sign, a field is a shift and a mask.
            let ty = match self.body.locals[local].ty {
                Type::Int { lo, .. } if lo.at(1) >= 0 => "uint64_t",
                _ => "int64_t",
            };
            let _ = writeln!(text, "    __attribute__((unused)) {ty} {} = 0;", self.local(local));
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

    /// Which objects the function is passed. A call about none returns at once.
    fn objects(&self) -> String {
        let call = self.protocol.op(&self.op.name).map_or(0, OpId::index);
        let asks = |name: &str, parameter: i64, passed: &str| {
            format!(
                "    __attribute__((unused)) int64_t {name} = trivium_named_{}({call}, {parameter}, {passed});\n",
                self.prefix
            )
        };
        let mut text = String::new();
        if let Some(object) = self.object.as_ref().filter(|_| names_its_object(self.protocol, self.op)) {
            text += &asks(object, OBJECT_OF_CALL, &self.words[0]);
            if self.op.object_may_be_none {
                let none = none_in_c(&Type::ObjectOrNone(self.op.object));
                let _ = writeln!(text, "    if ({object} == {none})\n        return{};", self.nothing());
            }
        }
        let about = self.words.len() - self.args.len();
        for (at, _) in self.op.args.iter().enumerate().filter(|(_, arg)| is_object(&arg.ty)) {
            text += &asks(&self.args[at], at as i64, &self.words[about + at]);
        }
        text
    }

    /// What a call about none returns, with a space before it.
    fn nothing(&self) -> String {
        let Some(ty) = &self.op.result else { return String::new() };
        let nothing = if self.op.nothing() == ty.none() { none_in_c(ty) } else { self.op.nothing() };
        format!(" {}", result_of(ty, &nothing.to_string()))
    }

    /// A local's name: a variable's is its own with its number, since two blocks may have one of the same name.
    fn local(&self, local: usize) -> String {
        if let Some(arg) = self.args.get(local) {
            return arg.clone();
        }
        let name = unreserved(&self.body.locals[local].name);
        let mut name = if name.is_empty() { format!("seen_{local}") } else { format!("{name}_{local}") };
        while self.words.contains(&name) || self.args.contains(&name) || self.object.as_ref() == Some(&name) {
            name.push('_');
        }
        name
    }

    /// The call of what refuses a value: of the argument with that number, or of the result.
    fn outside(&self, parameter: i64, value: &str) -> String {
        let call = self.protocol.op(&self.op.name).map_or(0, OpId::index);
        format!("trivium_outside_{}({call}, {parameter}, {value})", self.prefix)
    }

    /// The call of what says that an assertion is false.
    fn is_false(&self, at: usize) -> String {
        let call = self.protocol.op(&self.op.name).map_or(0, OpId::index);
        format!("trivium_assert_{}({call}, {}, {at})", self.prefix, self.object.as_deref().unwrap_or("0"))
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
            BodyStep::Assert(condition) => format!("if (!{}) {};", self.value(condition), self.is_false(at)),
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
            BodyStep::Return(Some(value)) => {
                let value = self.value(value);
                let Some(ty) = &self.op.result else { return format!("return {value};") };
                match inside(ty, "trivium_result") {
                    None => format!("return {};", result_of(ty, &value)),
                    Some(is_inside) => {
                        let outside = self.outside(RESULT_OF_CALL, "trivium_result");
                        let result = result_of(ty, "trivium_result");
                        format!(
                            "{{\n        int64_t trivium_result = {value};\n        if (!({is_inside})) {outside};\n        return {result};\n    }}"
                        )
                    }
                }
            }
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
            // The only object that has a name of its own is none.
            ExprKind::Constant(_) if !matches!(expr.ty, Type::Int { .. } | Type::Word | Type::Bool) => {
                none_in_c(&expr.ty).to_string()
            }
            ExprKind::Constant(bound) => number(*bound),
            ExprKind::Object => self.object.clone().unwrap_or_else(|| "0".into()),
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

/// A number that may depend on how many nodes there are.
fn number(bound: Bound) -> String {
    match bound.per_node {
        0 => format!("INT64_C({})", bound.constant),
        each => format!("(INT64_C({}) + INT64_C({each}) * trivium_nodes())", bound.constant),
    }
}

/// What stands for `none` in C: no block is a null pointer, and nothing else's number is -1.
fn none_in_c(ty: &Type) -> i64 {
    match ty {
        Type::Object(BLOCK) | Type::ObjectOrNone(BLOCK) => 0,
        _ => ty.none(),
    }
}

/// A number as what a function returns.
fn result_of(ty: &Type, value: &str) -> String {
    match c_type(ty) {
        "int64_t" | "int" => value.to_string(),
        "void *" => format!("(void *)(uintptr_t){value}"),
        other => format!("({other}){value}"),
    }
}

/// Whether a value is of a type, where that is narrower than C's.
fn inside(ty: &Type, value: &str) -> Option<String> {
    match ty {
        Type::Int { lo, hi } => Some(format!("{} <= {value} && {value} <= {}", number(*lo), number(*hi))),
        Type::Bool => Some(format!("{value} == 0 || {value} == 1")),
        Type::Object(_) => Some(format!("{value} != {}", none_in_c(ty))),
        _ => None,
    }
}
