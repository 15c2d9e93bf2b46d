//! Calls whose body the protocol spells out: `op acquire(l: lock) { .. }`. What the calling thread does there beside what any body may do.

use super::bodies::{Bodies, RESULT};
use super::frame::Binding;
use super::images::word_of;
use super::types::{fits, fixed_range, is_for_bodies, is_number, is_object};
use super::*;
use crate::ast::ExprKind as Form;
use crate::diagnostics::counted;
use std::collections::BTreeSet;
use trivium_diagnostic::Code;

/// What stands for the line of the object.
const IMAGE: &str = "image";

/// The call whose body is compiled.
pub(super) struct Call {
    op: OpId,
    /// The image of its object.
    image: Option<Image>,
    /// The variables that hold what the image held.
    words: BTreeSet<u16>,
}

impl Call {
    pub(super) fn op(&self) -> OpId {
        self.op
    }
}

impl Compiler {
    /// The bodies of calls. What events are about is known by now.
    pub(super) fn call_bodies(&mut self, file: &ast::File) {
        for image in self.protocol.images.clone() {
            let is_composed = |role: &Role| role.object == image.object && role.events.contains(&EventKind::Image);
            if self.diagnostics.is_empty() && !self.protocol.roles.iter().any(is_composed) {
                let kind = self.protocol.objects[image.object.index()].clone();
                let span = image.fields.first().map_or(Span::default(), |field| field.named.span);
                self.error(Code::Handler, span, format!("nobody composes the image of {kind}")).help(format!(
                    "write `on image {{ fill exclusive {{..}} }}` in a role of {kind} that lives `everywhere`"
                ));
            }
        }
        let mut said = BTreeSet::new();
        for item in &file.items {
            let ast::Item::Op { name, params, body: Some(body), .. } = item else { continue };
            let Some(op) = self.protocol.op(&name.text) else { continue };
            let declared = self.protocol.ops[op.index()].clone();
            if let Some(arg) = declared.args.iter().find(|arg| !is_for_bodies(&arg.ty)) {
                self.error(Code::Handler, arg.span, "a body is passed numbers, truth values and objects")
                    .help("let a handler answer the call: leave the body out");
                continue;
            }
            let names = params.iter().map(|param| &param.name);
            if let Some(taken) = names.into_iter().find(|name| name.text == IMAGE) {
                self.error(Code::Handler, taken.span, "`image` is what the line of the object holds")
                    .help("take another name");
                continue;
            }
            let image = self.protocol.image_of(declared.object).cloned();
            let call = Call { op, image, words: BTreeSet::new() };
            let mut bodies = Bodies::new(self, Some(call));
            // The object may be named: it is that of the image and the events.
            let object = params.first().filter(|_| declared.object != NODE).map(|param| param.name.text.clone());
            let compiled = bodies.body_of_call(&declared, body, object);
            said.extend(compiled.steps.places.iter().filter_map(|place| match &place.step {
                BodyStep::Act(CallAction::Say { event, .. }) => Some(*event),
                _ => None,
            }));
            self.protocol.ops[op.index()].body = Some(compiled);
        }
        let events = self.protocol.ops.iter().enumerate().filter(|(_, op)| op.is_event);
        let unsaid: Vec<(Span, String)> =
            events.filter(|(at, _)| !said.contains(&OpId::at(*at))).map(|(_, op)| (op.span, op.name.clone())).collect();
        for (span, name) in unsaid.into_iter().filter(|_| self.diagnostics.is_empty()).collect::<Vec<_>>() {
            self.error(Code::Handler, span, format!("no body says the event `{name}`"))
                .help(format!("write `tell {name}` in the body of a call, or remove the event"));
        }
    }
}

/// What the body of a call does.
impl Bodies<'_> {
    fn body_of_call(&mut self, op: &Op, statements: &[ast::BodyStatement], object: Option<String>) -> CallBody {
        for arg in &op.args {
            let local = self.new_variable(&arg.name, false, arg.ty.clone());
            self.frame.bind(&arg.name, Binding::Local(LocalId(local)));
        }
        self.passed = op.args.len() as u16;
        if let Some(object) = object {
            self.frame.bind(&object, Binding::Fault(ExprKind::Object, Type::Object(op.object)));
        }
        let steps = self.thread(0, statements);
        if let (true, Some(result)) = (self.ends_open, &op.result) {
            let result = self.compiler.type_name(result);
            self.compiler
                .error(
                    Code::Handler,
                    op.span,
                    format!("`{}` may end without its result, which is of type {result}", op.name),
                )
                .help("let each way through the body end with `return VALUE`");
        }
        let locals = self.frame.locals.iter().map(|local| Named {
            name: local.name.clone(),
            ty: local.ty.clone(),
            span: op.span,
        });
        CallBody { locals: locals.collect(), steps }
    }

    /// `return`, `return e`.
    pub(super) fn returns(&mut self, op: OpId, value: Option<&ast::Expr>, span: Span) -> Option<()> {
        let declared = self.compiler.protocol.ops[op.index()].clone();
        let value = match (value, &declared.result) {
            (None, None) => None,
            (Some(value), Some(wanted)) => {
                let rest = self.looked_at_first(value, span)?;
                Some(self.seen_as(&rest, wanted)?)
            }
            (None, Some(wanted)) => {
                let wanted = self.compiler.type_name(wanted);
                self.compiler.error(Code::Handler, span, format!("`return` needs a value of type {wanted} here"));
                return None;
            }
            (Some(value), None) => {
                self.compiler
                    .error(Code::Handler, value.span, format!("`{}` returns no value", declared.name))
                    .help("write `return` alone, or give the call a type: `op NAME(..): TYPE`");
                return None;
            }
        };
        self.put(BodyStep::Return(value), span);
        Some(())
    }

    /// What stands alone: `ask flush`, whose result nobody wants.
    pub(super) fn act_alone(&mut self, look: &ast::Expr, span: Span) -> Option<()> {
        if !matches!(look.kind, Form::Ask(..) | Form::Swap { .. }) {
            self.compiler
                .error(
                    Code::Handler,
                    look.span,
                    "in the body of a call stand looks at its image, `swap`, `tell` and `ask`",
                )
                .help("what blocks hold, and other calls, are for programs and scenarios");
            return None;
        }
        let (ty, action) = self.act(look)?;
        let scratch = self.scratch(ty);
        self.put(BodyStep::Act(filled(action, scratch)), span);
        Some(())
    }

    /// `tell want`.
    pub(super) fn tell(&mut self, event: &ast::Ident, args: &[ast::Expr], span: Span) -> Option<()> {
        let said = self.say(event, args, true)?;
        self.put(BodyStep::Act(said), span);
        Some(())
    }

    /// What stands in place of something that only a body of a call says, and whether that is a look: `image`, `image.t`, `v.t`, `ask join`.
    /// The first is nothing after a mistake.
    pub(super) fn place_of_act(&mut self, expr: &ast::Expr) -> Option<(Option<ast::Expr>, bool)> {
        let span = expr.span;
        let named = |name: &str| ast::Expr { kind: Form::Name(name.into()), span };
        self.call.as_ref()?;
        match &expr.kind {
            Form::Name(name) if name == IMAGE => Some((Some(named(RESULT)), true)),
            Form::Ask(..) | Form::Swap { .. } => Some((Some(named(RESULT)), true)),
            Form::Member(base, field) => match &base.kind {
                Form::Name(name) if name == IMAGE => Some((self.member(named(RESULT), field), true)),
                Form::Name(name) => {
                    let seen = self.seen_before(name, base.span);
                    Some((seen.and_then(|()| self.member(named(name), field)), false))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// A field of what an image held.
    fn member(&mut self, word: ast::Expr, name: &ast::Ident) -> Option<ast::Expr> {
        let image = self.image(name.span)?;
        let Some(field) = image.field(&name.text) else {
            let known = image.fields.iter().map(|field| field.named.name.as_str());
            self.compiler.unknown(name.span, "field of the image", &name.text, known);
            return None;
        };
        Some(field_in_text(word, field))
    }

    /// The image of the call's object.
    fn image(&mut self, span: Span) -> Option<Image> {
        let call = self.call.as_ref()?;
        if call.image.is_none() {
            let op = &self.compiler.protocol.ops[call.op.index()];
            let kind = self.compiler.protocol.objects[op.object.index()].clone();
            self.compiler
                .error(Code::Handler, span, format!("{kind} has no image to look at"))
                .help(format!("declare what its line holds: `object {kind} image {{ held: bool }}`"));
            return None;
        }
        call.image.clone()
    }

    /// Whether a name stands for what the image has held, and has been set.
    fn seen_before(&mut self, name: &str, span: Span) -> Option<()> {
        match self.frame.look_up(name) {
            Some(Binding::Local(local)) if self.is_word(local.0) => {
                let is_set = self.known.as_ref().is_none_or(|known| known.contains(&local.0));
                if !is_set {
                    self.compiler.error(Code::Handler, span, format!("`{name}` may be looked at before it is set"));
                }
                is_set.then_some(())
            }
            _ => {
                self.compiler
                    .error(Code::Handler, span, format!("`{name}` is nothing that the image has held"))
                    .help(format!("`let {name} = image`, then `{name}.FIELD`, or `swap {name} with {{..}}`"));
                None
            }
        }
    }

    /// What a body does there, and the type of what that gives.
    pub(super) fn act(&mut self, look: &ast::Expr) -> Option<(Type, CallAction)> {
        match &look.kind {
            Form::Ask(event, args) => {
                let said = self.say(event, args, false)?;
                let CallAction::Say { event, .. } = said else { return None };
                let result = self.compiler.protocol.ops[event.index()].result.clone();
                Some((result?, said))
            }
            Form::Swap { seen, with } => self.swap(seen, with),
            _ => {
                let most = (1 << self.image(look.span)?.bits()) - 1;
                Some((Type::Int { lo: Bound::fixed(0), hi: Bound::fixed(most) }, CallAction::Look(0)))
            }
        }
    }

    /// `swap v with {held: true}`: fields that are not named stay.
    fn swap(&mut self, seen: &ast::Ident, with: &ast::Expr) -> Option<(Type, CallAction)> {
        self.seen_before(&seen.text, seen.span)?;
        let Some(Binding::Local(local)) = self.frame.look_up(&seen.text) else { return None };
        let image = self.call.as_ref()?.image.clone()?;
        let fields: &[(ast::Ident, ast::Expr)] = match &with.kind {
            Form::Record(fields) => fields,
            _ => {
                self.compiler
                    .error(Code::Handler, with.span, "which fields change?")
                    .help("`swap v with {held: true}`");
                return None;
            }
        };
        if let Some((extra, _)) = fields.iter().find(|(name, _)| image.field(&name.text).is_none()) {
            let known = image.fields.iter().map(|field| field.named.name.as_str());
            self.compiler.unknown(extra.span, "field of the image", &extra.text, known);
            return None;
        }
        let word = Expr { kind: ExprKind::Local(local), ty: Type::Word, span: seen.span };
        let mut values = Vec::new();
        for field in &image.fields {
            values.push(match fields.iter().find(|(name, _)| name.text == field.named.name) {
                Some((_, value)) => {
                    let value = self.without_more_looks(value)?;
                    self.in_field(field, &value)?
                }
                None => super::images::field_of(word.clone(), field),
            });
        }
        let word = word_of(&image, values, with.span);
        Some((Type::Bool, CallAction::Swap { seen: local.0, word, result: 0 }))
    }

    /// A value that goes into a field, which it must fit: nobody looks when it happens.
    fn in_field(&mut self, field: &ImageField, value: &ast::Expr) -> Option<Expr> {
        let compiled = self.seen_as(value, &field.named.ty)?;
        let Type::Int { hi, .. } = field.named.ty else { return Some(compiled) };
        let fits = self.range_of(&compiled).is_some_and(|(lo, most)| lo >= 0 && most <= hi.constant.into());
        if !fits {
            let ty = self.compiler.type_name(&field.named.ty);
            self.compiler
                .error(Code::Handler, value.span, format!("this may be outside of {ty}"))
                .help("what may go into it is known of numbers, of fields of the image, of parameters, and of what is made of these: `(v.turn + 1) % 4`");
            return None;
        }
        Some(compiled)
    }

    /// The least and the greatest value of a number, where that is known: a variable that a body keeps may be any, and a field of the image holds what fits it.
    fn range_of(&self, expr: &Expr) -> Option<(i128, i128)> {
        let of_type = |ty: &Type| fixed_range(ty).map(|(lo, hi)| (i128::from(lo), i128::from(hi)));
        if let Some(field) = self.field_in(expr) {
            return of_type(&field.named.ty);
        }
        match &expr.kind {
            ExprKind::Constant(bound) if bound.per_node == 0 => Some((bound.constant.into(), bound.constant.into())),
            ExprKind::Local(local) => of_type(&self.frame.locals[local.index()].ty),
            ExprKind::Binary(operator, left, right) => {
                let ((lo, hi), (least, most)) = (self.range_of(left)?, self.range_of(right)?);
                match operator {
                    Operator::Add => Some((lo + least, hi + most)),
                    Operator::Subtract => Some((lo - most, hi - least)),
                    Operator::Multiply if lo >= 0 && least >= 0 => Some((lo * least, hi * most)),
                    Operator::Divide if lo >= 0 && least > 0 => Some((lo / most, hi / least)),
                    Operator::Remainder if lo >= 0 && least > 0 => Some((0, hi.min(most - 1))),
                    _ => None,
                }
            }
            _ => None,
        }
        // What does not fit 64 bits is a fault, or something else in C.
        .filter(|&(lo, hi)| lo >= i64::MIN.into() && hi <= i64::MAX.into())
    }

    /// The field of what the image held that an expression is, as `field_in_text` says it.
    fn field_in(&self, expr: &Expr) -> Option<&ImageField> {
        let ExprKind::Binary(Operator::Remainder, quotient, modulus) = &expr.kind else { return None };
        let ExprKind::Binary(Operator::Divide, word, divisor) = &quotient.kind else { return None };
        let ExprKind::Local(word) = word.kind else { return None };
        let is = |expr: &Expr, number: i64| matches!(&expr.kind, ExprKind::Constant(b) if *b == Bound::fixed(number));
        let image = self.call.as_ref()?.image.as_ref().filter(|_| self.is_word(word.0))?;
        image.fields.iter().find(|field| is(divisor, field.divisor()) && is(modulus, field.modulus()))
    }

    /// An event with its arguments, which is told or asked.
    fn say(&mut self, event: &ast::Ident, args: &[ast::Expr], is_told: bool) -> Option<CallAction> {
        let protocol = &self.compiler.protocol;
        let Some(id) = protocol.op(&event.text).filter(|id| protocol.ops[id.index()].is_event) else {
            let known: Vec<String> = protocol.ops.iter().filter(|op| op.is_event).map(|op| op.name.clone()).collect();
            self.compiler.unknown(event.span, "event", &event.text, known.iter().map(String::as_str));
            return None;
        };
        let declared = protocol.ops[id.index()].clone();
        let own = self.call.as_ref().map_or(NODE, |call| protocol.ops[call.op.index()].object);
        let name = &event.text;
        if declared.object != NODE && declared.object != own {
            let kind = protocol.objects[declared.object.index()].clone();
            self.compiler
                .error(Code::Handler, event.span, format!("`{name}` is about {kind}, and this call is not"))
                .help("the event is about the object of the call whose body says it");
            return None;
        }
        if is_told != declared.is_told() {
            let (message, help) = match is_told {
                true => (format!("`{name}` has a result: somebody must wait for it"), format!("write `ask {name}`")),
                false => (
                    format!("`{name}` gives nothing to wait for"),
                    format!("write `tell {name}`, or give it a result: `event {name}: bool`"),
                ),
            };
            self.compiler.error(Code::Handler, event.span, message).help(help);
            return None;
        }
        if args.len() != declared.args.len() {
            let wanted = counted(declared.args.len(), "argument");
            self.compiler.error(Code::Handler, event.span, format!("`{name}` takes {wanted}, not {}", args.len()));
            return None;
        }
        let mut values = Vec::new();
        for (arg, field) in args.iter().zip(&declared.args) {
            let rest = self.without_more_looks(arg)?;
            values.push(self.seen_as(&rest, &field.ty)?);
        }
        Some(CallAction::Say { event: id, args: values, result: None })
    }

    /// What stands within something that a body does, and does nothing itself.
    fn without_more_looks(&mut self, expr: &ast::Expr) -> Option<ast::Expr> {
        let mut looks = Vec::new();
        let rest = self.without_looks(expr, &mut looks)?;
        if let Some(look) = looks.first() {
            self.compiler
                .error(Code::Handler, look.span, "an expression makes one look")
                .help("others may act between two: keep this one in a variable, `let a = ..`");
            return None;
        }
        Some(rest)
    }

    /// An expression of a wanted type. In C an object is a pointer or a number: so none is taken for a number here, and no number for one.
    pub(super) fn seen_as(&mut self, expr: &ast::Expr, wanted: &Type) -> Option<Expr> {
        let value = self.compiler.expr_of(&mut self.frame, expr, wanted)?;
        let is_moved = is_object(&value.ty) == is_object(wanted);
        self.objects_are_no_numbers(value, is_moved)
    }

    /// An expression of whatever type, as [`Bodies::seen_as`].
    pub(super) fn seen(&mut self, expr: &ast::Expr) -> Option<Expr> {
        let value = self.compiler.expr(&mut self.frame, expr)?;
        self.objects_are_no_numbers(value, true)
    }

    fn objects_are_no_numbers(&mut self, value: Expr, is_moved: bool) -> Option<Expr> {
        let is_none = |part: &Expr| matches!(&part.kind, ExprKind::Constant(_)) && !is_number(&part.ty);
        let takes_object = |part: &Expr| is_object(&part.ty) || is_none(part);
        let mut wrong = (!is_moved).then_some(value.span);
        walk::visit(&value, &mut |part| {
            let is_wrong = match &part.kind {
                ExprKind::Binary(operator, left, right) if is_object(&left.ty) || is_object(&right.ty) => {
                    let compares = matches!(operator, Operator::Equal | Operator::Different);
                    !(compares && takes_object(left) && takes_object(right))
                }
                ExprKind::Negate(inner) => is_object(&inner.ty),
                _ => false,
            };
            if is_wrong {
                wrong.get_or_insert(part.span);
            }
        });
        let Some(span) = wrong else { return Some(value) };
        self.compiler.error(Code::Handler, span, "an object is no number in a body, and a number is no object").help(
            "an object is kept, said, returned, and compared by `==` and `!=` with another or with `none`; handlers see more of it",
        );
        None
    }

    /// Whether a variable holds what the image held.
    pub(super) fn is_word(&self, variable: u16) -> bool {
        self.call.as_ref().is_some_and(|call| call.words.contains(&variable))
    }

    /// A variable holds from now on what the image held.
    pub(super) fn holds_word(&mut self, variable: u16) {
        if let Some(call) = &mut self.call {
            call.words.insert(variable);
        }
    }

    /// The type of a variable that is given such a value.
    pub(super) fn kept_as(&mut self, ty: &Type, span: Span) -> Option<Type> {
        match ty {
            Type::Bool => Some(Type::Bool),
            ty if is_object(ty) => Some(ty.clone()),
            ty if is_number(ty) && fits(ty, &Type::Word) => Some(Type::Word),
            other => {
                let other = self.compiler.type_name(other);
                self.compiler.error(
                    Code::Handler,
                    span,
                    format!("a body keeps numbers, truth values and objects, and this is {other}"),
                );
                None
            }
        }
    }
}

/// Whether an expression is a look at the image: `image`, `image.held`.
pub(super) fn looks_at_image(expr: &ast::Expr) -> bool {
    match &expr.kind {
        Form::Name(name) => name == IMAGE,
        Form::Member(base, _) => looks_at_image(base),
        _ => false,
    }
}

/// Whether an expression asks or swaps, beside looking.
pub(super) fn does_something(expr: &ast::Expr) -> bool {
    match &expr.kind {
        Form::Ask(..) | Form::Swap { .. } => true,
        Form::Not(inner) | Form::Negate(inner) => does_something(inner),
        Form::Binary(_, left, right) => does_something(left) || does_something(right),
        _ => false,
    }
}

/// A field of what an image held, as text of the language would say it.
fn field_in_text(word: ast::Expr, field: &ImageField) -> ast::Expr {
    let span = word.span;
    let number = |value: i64| Box::new(ast::Expr { kind: Form::Int(value), span });
    let binary =
        |op, left: ast::Expr, value: i64| ast::Expr { kind: Form::Binary(op, Box::new(left), number(value)), span };
    let value = binary("%", binary("/", word, field.divisor()), field.modulus());
    if field.named.ty == Type::Bool { binary("!=", value, 0) } else { value }
}

/// The same act with the variable for its result.
pub(super) fn filled(action: CallAction, variable: u16) -> CallAction {
    match action {
        CallAction::Look(_) => CallAction::Look(variable),
        CallAction::Swap { seen, word, .. } => CallAction::Swap { seen, word, result: variable },
        CallAction::Say { event, args, .. } => CallAction::Say { event, args, result: Some(variable) },
    }
}
