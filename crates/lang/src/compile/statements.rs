//! Statements that are one step.

use super::declare::access_of;
use super::frame::{Frame, Lowered, Origin};
use super::optional::{coerced, is_none, plain};
use super::places::Target;
use super::types::{ANY_NODE, NUMBER, is_set};
use super::*;
use crate::ast::{AssignSign, StatementKind as S, With};
use crate::diagnostics::counted;
use trivium_diagnostic::Code;

impl Compiler {
    /// A statement without inner statements; `None` after a mistake.
    pub(super) fn plain(&mut self, frame: &mut Frame, statement: &S, span: Span) -> Option<Vec<StepKind>> {
        let one = |kind| Some(vec![kind]);
        match statement {
            S::Assign { target, sign, value } => self.assign(frame, target, *sign, value, span),
            S::Let { name, value } => self.let_(frame, name, value),
            S::Send { message, args, with, of, to } => {
                let send = self.send(frame, message, args, with, of, to, span)?;
                let about = match &send {
                    StepKind::Send { object: Some(object), .. } => self.must_live(object.clone()),
                    _ => self.present_must_live(frame.seen, span),
                };
                Some(about.into_iter().chain([send]).collect())
            }
            S::Goto(_)
            | S::Resume
            | S::Complete
            | S::CompleteWith { .. }
            | S::Perform { .. }
            | S::Install { .. }
            | S::InstallOwn { .. }
            | S::Fill(..)
            | S::Upgrade
            | S::Free(_)
                if frame.wait.is_some() =>
            {
                let what = match statement {
                    S::Goto(_) => "goto",
                    S::Resume => "resume",
                    S::Complete | S::CompleteWith { .. } => "complete",
                    S::Perform { .. } => "perform",
                    S::Fill(..) => "fill",
                    S::Upgrade => "upgrade",
                    S::Free(_) => "free",
                    _ => "install",
                };
                self.error(Code::Handler, span, format!("`{what}` cannot stand in a `while waiting` clause"))
                    .help("such a clause may lower, assign, send and defer; when more depends on what arrives meanwhile, write states");
                None
            }
            S::Goto(state) => {
                frame.went.get_or_insert(("goto", span));
                one(StepKind::Goto(self.state_of(frame.seen, state)?))
            }
            S::Lower(access) => self.lower(frame, access, span),
            S::Resume => one(StepKind::Resume),
            S::Complete if self.protocol.cached => {
                self.error(Code::Handler, span, "`complete` is not for cached processors, which access their cache only")
                    .help("answer the request with `fill` or `upgrade`, or with `complete with` what the engine has performed for the thread");
                None
            }
            S::Complete => one(StepKind::Complete),
            S::CompleteWith { value, to } => one(self.complete_with(frame, value.as_ref(), to, span)?),
            S::Perform { access, other_end } => self.perform(frame, access, other_end.as_ref(), span),
            S::Fill(line, fields) => self.fill(frame, line_of(*line), fields.as_ref(), span),
            S::LetTake { name, line } => self.let_take(frame, name, line_of(*line), span),
            S::Upgrade | S::Take(_) | S::Invalidate => {
                self.needs_cache(frame, cache_word(statement), span)?;
                one(cache_step(statement))
            }
            S::Defer => {
                if self.protocol.roles[frame.role.index()].defers.is_none() {
                    self.needs_defer_space(frame.role, span);
                }
                one(StepKind::Defer)
            }
            S::Stall => one(self.stall(frame, span)?),
            S::Yield => {
                if !matches!(frame.event, EventKind::Task(_)) {
                    self.error(Code::Handler, span, "only a task can `yield`");
                    return None;
                }
                one(StepKind::Yield)
            }
            S::Impossible => one(StepKind::Impossible),
            S::Stop => one(StepKind::Stop),
            S::Assert(condition) => {
                one(StepKind::Assert(self.expr_of(frame, condition, &Type::Bool)?, Asserted::Written))
            }
            S::Free(object) => self.free(frame, object, span),
            S::Return { value, to } => self.give_back(frame, value.as_ref(), to.as_ref(), span).map(|k| vec![k]),
            S::Start { task, args } => self.start(frame, task, args),
            S::Install { at } => {
                self.needs_data(frame, "install", at.is_some(), span)?;
                let at = match at {
                    None => None,
                    Some(at) => Some(self.expr_of(frame, at, &Type::Address)?),
                };
                one(StepKind::Install(at))
            }
            S::InstallOwn { at } => {
                self.needs_bytes(frame, "install to", span)?;
                one(StepKind::InstallOwn(self.expr_of(frame, at, &NUMBER)?))
            }
            S::Copy { from, to, bytes } => {
                let from = self.expr_of(frame, from, &Type::Address);
                let to = self.expr_of(frame, to, &Type::Address);
                one(StepKind::Copy { from: from?, to: to?, bytes: self.expr_of(frame, bytes, &NUMBER)? })
            }
            S::If { .. } | S::For { .. } | S::Call(_) | S::Await(_) => None,
        }
    }

    /// A value of any type as one expression, or one a field for a record.
    pub(super) fn values(&mut self, frame: &mut Frame, expr: &ast::Expr, ty: &Type) -> Option<Vec<Expr>> {
        let Type::Record(record) = ty else { return Some(vec![self.expr_of(frame, expr, ty)?]) };
        let fields = self.protocol.records[record.index()].fields.clone();
        if let ast::ExprKind::Record(written) = &expr.kind {
            let mut values = Vec::new();
            for field in &fields {
                let Some((_, value)) = written.iter().find(|(n, _)| n.text == field.name) else {
                    self.error(Code::Handler, expr.span, format!("the field `{}` is missing", field.name));
                    return None;
                };
                values.push(self.expr_of(frame, value, &field.ty)?);
            }
            if let Some((extra, _)) = written.iter().find(|(n, _)| !fields.iter().any(|f| f.name == n.text)) {
                self.unknown(extra.span, "field", &extra.text, fields.iter().map(|f| f.name.as_str()));
                return None;
            }
            return Some(values);
        }
        let Some(target) = self.target(frame, expr) else {
            // It has no fields that could be moved: what it is instead is an error.
            let found = self.expr(frame, expr)?;
            self.require(expr.span, &found.ty, ty);
            return None;
        };
        let (found, make): (Type, Box<dyn Fn(u16) -> ExprKind>) = match target {
            Target::Local(id, None, ty) => (ty, Box::new(move |i| ExprKind::LocalField(id, i))),
            Target::Place(place, ty) => {
                (ty, Box::new(move |i| ExprKind::Var(Place { field: Some(i), ..place.clone() })))
            }
            Target::Local(_, Some(_), ty) => (ty, Box::new(|_| ExprKind::Me)),
            Target::Element(place, index, field, ty) => {
                self.needs_one_index(&index)?;
                let first = field.unwrap_or(0);
                (ty, Box::new(move |i| ExprKind::Element(place.clone(), Box::new(index.clone()), first + i)))
            }
            Target::LocalElement(id, index, field, ty) => {
                self.needs_one_index(&index)?;
                let first = field.unwrap_or(0);
                (ty, Box::new(move |i| ExprKind::LocalElement(id, Box::new(index.clone()), first + i)))
            }
        };
        if !self.require(expr.span, &found, ty) {
            return None;
        }
        let field = |(i, f): (usize, &Named)| Expr { kind: make(i as u16), ty: f.ty.clone(), span: expr.span };
        Some(fields.iter().enumerate().map(field).collect())
    }

    fn let_(&mut self, frame: &mut Frame, name: &ast::Ident, value: &ast::Expr) -> Option<Vec<StepKind>> {
        if super::declare::KEYWORDS.contains(&name.text.as_str()) {
            self.error(Code::Handler, name.span, format!("`{}` is a word of the language", name.text))
                .help("choose another name");
            return None;
        }
        if let Some((place, element)) = self.popped(frame, value) {
            let local = frame.local(&self.protocol, &name.text, element);
            return Some(vec![StepKind::Pop(place, local)]);
        }
        if let Some(
            Target::Local(_, None, ty @ Type::Record(_))
            | Target::Place(Place { field: None, .. }, ty @ Type::Record(_))
            | Target::Element(_, _, None, ty @ Type::Record(_))
            | Target::LocalElement(_, _, None, ty @ Type::Record(_)),
        ) = self.target(frame, value)
        {
            let values = self.values(frame, value, &ty)?;
            let local = frame.local(&self.protocol, &name.text, ty);
            return Some(vec![StepKind::Let(local, values)]);
        }
        let value = self.expr(frame, value)?;
        let local = frame.local(&self.protocol, &name.text, value.ty.clone());
        Some(vec![StepKind::Let(local, vec![value])])
    }

    /// `q.pop()`.
    fn popped(&mut self, frame: &mut Frame, value: &ast::Expr) -> Option<(Place, Type)> {
        let ast::ExprKind::Call(function, args) = &value.kind else { return None };
        let ast::ExprKind::Member(base, method) = &function.kind else { return None };
        if method.text != "pop" || !args.is_empty() {
            return None;
        }
        self.list(frame, base)
    }

    fn assign(
        &mut self,
        frame: &mut Frame,
        target: &ast::Expr,
        sign: AssignSign,
        value: &ast::Expr,
        span: Span,
    ) -> Option<Vec<StepKind>> {
        if let ast::ExprKind::Item(base, index) = &target.kind
            && matches!(&base.kind, ast::ExprKind::Name(n) if n == "memory")
        {
            let address = self.expr_of(frame, index, &Type::Address)?;
            let value = self.expr_of(frame, value, &Type::Word)?;
            if sign != AssignSign::Set {
                self.error(Code::Handler, span, "memory takes `=` only");
            }
            return Some(vec![StepKind::Store(address, value)]);
        }
        let before = self.diagnostics.len();
        let (place, ty) = match self.target(frame, target) {
            Some(Target::Place(place, ty)) => (place, ty),
            Some(Target::Element(place, index, field, ty)) => {
                let element = (place, index, field.unwrap_or(0));
                return self.assign_element(frame, element, ty, sign, (target.span, value), span);
            }
            Some(Target::Local(..) | Target::LocalElement(..)) => {
                self.error(Code::Handler, target.span, "a local cannot be changed")
                    .help("declare a variable: `var x: ..`");
                return None;
            }
            None => {
                if self.diagnostics.len() == before {
                    self.not_assignable(frame, target);
                }
                return None;
            }
        };
        if frame.global {
            self.error(Code::Handler, span, "an invariant changes nothing");
            return None;
        }
        if let Some((pop, values)) = self.popped_values(frame, value, &ty, span) {
            return Some(vec![pop, StepKind::Assign(place, values)]);
        }
        if matches!(ty, Type::List { .. }) {
            if sign == AssignSign::Set && matches!(&value.kind, ast::ExprKind::Set(e) if e.is_empty()) {
                return Some(vec![StepKind::Clear(place)]);
            }
            if sign != AssignSign::Set {
                self.error(Code::Handler, span, "a list as a whole takes `=` only").help("add an element with `push`");
                return None;
            }
        }
        if sign == AssignSign::Set {
            let values = self.values(frame, value, &ty)?;
            return Some(vec![StepKind::Assign(place, values)]);
        }
        if matches!(ty, Type::Array { .. }) {
            self.error(Code::Handler, span, "an array as a whole takes `=` only")
                .help("change its elements: `x[n] += 1`");
            return None;
        }
        if is_set(&ty) {
            return self.set_change(frame, place, ty, sign, value, span);
        }
        let value = self.expr_of(frame, value, &NUMBER)?;
        self.require(target.span, &ty, &NUMBER);
        let old = Expr { kind: ExprKind::Var(place.clone()), ty: ty.clone(), span: target.span };
        let new = coerced(changed_by(sign, plain(old), value, span), &ty);
        Some(vec![StepKind::Assign(place, vec![new])])
    }

    /// What is assigned from `q.pop()`, if that is the value: the step that takes the element out, and what it is then.
    fn popped_values(
        &mut self,
        frame: &mut Frame,
        value: &ast::Expr,
        ty: &Type,
        span: Span,
    ) -> Option<(StepKind, Vec<Expr>)> {
        let (list, element) = self.popped(frame, value)?;
        self.require(value.span, &element, ty);
        let local = frame.hidden_local(&self.protocol, "", element.clone());
        let values = self.local_values(local, &element, span).into_iter().map(|value| match types::is_scalar(ty) {
            true => coerced(value, ty),
            false => value,
        });
        Some((StepKind::Pop(list, local), values.collect()))
    }

    /// An element of a list or array, from a field on, gets the value of an expression.
    fn assign_element(
        &mut self,
        frame: &mut Frame,
        (place, index, field): (Place, Expr, u16),
        ty: Type,
        sign: AssignSign,
        (target, value): (Span, &ast::Expr),
        span: Span,
    ) -> Option<Vec<StepKind>> {
        if frame.global {
            self.error(Code::Handler, span, "an invariant changes nothing");
            return None;
        }
        if let Some((pop, values)) = self.popped_values(frame, value, &ty, span) {
            return Some(vec![pop, StepKind::AssignElement(place, index, field, values)]);
        }
        if sign == AssignSign::Set {
            let values = self.values(frame, value, &ty)?;
            return Some(vec![StepKind::AssignElement(place, index, field, values)]);
        }
        self.needs_one_index(&index)?;
        let old = ExprKind::Element(place.clone(), Box::new(index.clone()), field);
        let old = Expr { kind: old, ty: ty.clone(), span: target };
        let new = if is_set(&ty) {
            let value = self.set_or_element(frame, value, &ty)?;
            let with = if is_set(&value.ty) {
                value
            } else {
                let span = value.span;
                Expr { kind: ExprKind::SetOf(vec![value]), ty: ty.clone(), span }
            };
            changed_set(sign, old, with, ty, span)
        } else {
            let value = self.expr_of(frame, value, &NUMBER)?;
            self.require(target, &ty, &NUMBER);
            coerced(changed_by(sign, plain(old), value, span), &ty)
        };
        Some(vec![StepKind::AssignElement(place, index, field, vec![new])])
    }

    fn not_assignable(&mut self, frame: &mut Frame, target: &ast::Expr) {
        let ast::ExprKind::Name(name) = &target.kind else {
            self.error(Code::Handler, target.span, "this cannot be assigned to");
            return;
        };
        let known: Vec<String> = match self.protocol.roles.get(frame.seen.index()) {
            Some(role) => role.vars.iter().map(|v| v.name.clone()).filter(|n| !n.starts_with('$')).collect(),
            None => Vec::new(),
        };
        self.no_variable(target.span, name, &known);
    }

    fn set_change(
        &mut self,
        frame: &mut Frame,
        place: Place,
        ty: Type,
        sign: AssignSign,
        value: &ast::Expr,
        span: Span,
    ) -> Option<Vec<StepKind>> {
        let value = self.set_or_element(frame, value, &ty)?;
        if is_set(&value.ty) {
            let old = Expr { kind: ExprKind::Var(place.clone()), ty: ty.clone(), span };
            return Some(vec![StepKind::Assign(place, vec![changed_set(sign, old, value, ty, span)])]);
        }
        Some(vec![if sign == AssignSign::Plus {
            StepKind::Insert(place, value)
        } else {
            StepKind::Remove(place, value)
        }])
    }

    /// What is added to a set or taken from it: another set, or one element.
    fn set_or_element(&mut self, frame: &mut Frame, value: &ast::Expr, ty: &Type) -> Option<Expr> {
        let value = match &value.kind {
            ast::ExprKind::Set(_) => self.expr_of(frame, value, ty)?,
            _ => self.expr(frame, value)?,
        };
        let wanted = match ty {
            _ if is_set(&value.ty) => ty.clone(),
            Type::NodeSet => ANY_NODE,
            _ => NUMBER,
        };
        self.require(value.span, &value.ty, &wanted);
        Some(coerced(value, &wanted))
    }

    #[allow(clippy::too_many_arguments)]
    fn send(
        &mut self,
        frame: &mut Frame,
        name: &ast::Ident,
        args: &[ast::Expr],
        with: &With,
        of: &Option<ast::Expr>,
        to: &ast::Expr,
        span: Span,
    ) -> Option<StepKind> {
        let id = self.message_of(name)?;
        let message = self.protocol.messages[id.index()].clone();
        if message.args.len() != args.len() {
            let wanted: Vec<&str> = message.args.iter().map(|a| a.name.as_str()).collect();
            self.error(
                Code::Handler,
                span,
                format!("`{}` has {}, not {}", name.text, counted(wanted.len(), "argument"), args.len()),
            )
            .help(format!("it was declared as `{}({})`", name.text, wanted.join(", ")));
            return None;
        }
        let mut values = Vec::new();
        for (arg, declared) in args.iter().zip(&message.args) {
            values.push(self.expr_of(frame, arg, &declared.ty)?);
        }
        let payload = self.payload(frame, with, message.payload, name)?;
        if matches!(payload, PayloadSource::Received) {
            self.needs_data(frame, "with payload", true, span)?;
        }
        let object = match of {
            None => None,
            Some(expr) => {
                let kind = Type::Object(self.message_object(id, expr.span)?);
                Some(self.expr_of(frame, expr, &kind)?)
            }
        };
        let to = self.expr_of(frame, to, &ANY_NODE)?;
        let present = self.protocol.roles[frame.seen.index()].object;
        let wanted = self.message_object(id, span)?;
        if object.is_none() && wanted != NODE && wanted != present {
            let wanted = self.protocol.objects[wanted.index()].clone();
            self.error(
                Code::Handler,
                span,
                format!("`{}` is about an object of kind `{wanted}`: which one?", name.text),
            )
            .help(format!("say it: `send {} of OBJECT to ..`", name.text));
            return None;
        }
        if matches!(payload, PayloadSource::Block) && wanted != BLOCK {
            let wanted = &self.protocol.objects[wanted.index()];
            let what = format!("`{}` is about an object of kind `{wanted}`: which block does it carry?", name.text);
            self.error(Code::Handler, span, what).help(format!("say it: `send {} with block BLOCK ..`", name.text));
            return None;
        }
        Some(StepKind::Send { message: id, args: values, payload, object, to })
    }

    /// The kind of object that a message is about: that of the role which has a clause for it.
    fn message_object(&mut self, id: MessageId, span: Span) -> Option<ObjectKindId> {
        match self.protocol.messages[id.index()].role {
            RoleId(u8::MAX) => {
                let name = self.protocol.messages[id.index()].name.clone();
                self.error(Code::Handler, span, format!("no role handles the message `{name}`"))
                    .help(format!("add `on {name} {{ .. }}` to the state of a role that can get it"));
                None
            }
            role => Some(self.protocol.roles[role.index()].object),
        }
    }

    fn payload(
        &mut self,
        frame: &mut Frame,
        with: &With,
        shape: PayloadShape,
        name: &ast::Ident,
    ) -> Option<PayloadSource> {
        Some(match (with, shape) {
            (With::Declared, PayloadShape::Nothing) => PayloadSource::Nothing,
            (With::Declared | With::Block(None), PayloadShape::Block) => PayloadSource::Block,
            (With::Block(Some(block)), PayloadShape::Block) => {
                PayloadSource::BlockOf(self.expr_of(frame, block, &Type::Object(BLOCK))?)
            }
            (With::Payload, PayloadShape::Block | PayloadShape::Memory | PayloadShape::List | PayloadShape::Bytes) => {
                PayloadSource::Received
            }
            (With::Own(from, to), PayloadShape::Bytes) => {
                let from = self.expr_of(frame, from, &NUMBER)?;
                PayloadSource::Own { from, to: self.expr_of(frame, to, &NUMBER)? }
            }
            (With::Performed(access), PayloadShape::Bytes) => {
                PayloadSource::Performed(self.performed_data(frame, access)?)
            }
            (With::Memory(from, to), PayloadShape::Memory) => {
                let from = self.expr_of(frame, from, &Type::Address)?;
                PayloadSource::Memory { from, to: self.expr_of(frame, to, &Type::Address)? }
            }
            (With::List(list), PayloadShape::List) => match self.list(frame, list) {
                Some((place, _)) => PayloadSource::List(place),
                None => {
                    self.error(Code::Handler, list.span, "expected a list variable");
                    return None;
                }
            },
            (With::Declared, _) => {
                self.error(Code::Handler, name.span, format!("`{}` carries data: which?", name.text)).help(
                    match shape {
                        PayloadShape::Bytes => "`with own[p..q]`, `with perform read(a, n)` or `with payload`",
                        _ => "`with memory[a..b]`, `with list L` or `with payload`",
                    },
                );
                return None;
            }
            _ => {
                self.error(Code::Handler, name.span, format!("`{}` was not declared to carry that", name.text))
                    .help("see its `message` line: `with block`, `with bytes`, `with memory` or `with list`");
                return None;
            }
        })
    }

    /// Notes that there is no processor's cache to act on here.
    pub(super) fn needs_cache(&mut self, frame: &Frame, what: &str, span: Span) -> Option<()> {
        if self.image_of_role(frame.seen).is_some() {
            return Some(());
        }
        if !self.protocol.cached {
            self.error(
                Code::Handler,
                span,
                format!("`{what}` is about a processor's cache, which this protocol has not"),
            )
            .help("declare `processor cached`; with tagged processors a state gives the access");
            return None;
        }
        if self.protocol.roles[frame.seen.index()].object != BLOCK {
            self.error(Code::Handler, span, format!("`{what}` is about a block, and this role is not"))
                .help("call an action of a role of the block");
            return None;
        }
        Some(())
    }

    /// Notes that the event that is being handled carries no data, or none that can be used so.
    fn needs_data(&mut self, frame: &Frame, what: &str, placed: bool, span: Span) -> Option<()> {
        let shape = match frame.event {
            EventKind::Message(m) => self.protocol.messages[m.index()].payload,
            EventKind::WriteBack => PayloadShape::Block,
            _ => PayloadShape::Nothing,
        };
        if shape == PayloadShape::Nothing {
            let event = self.protocol.event_name(frame.event);
            self.error(Code::Handler, span, format!("`{what}`: the event `{event}` brings no data"))
                .help("the body of `await all` also runs at once, within the outer event, when nobody is missing; messages bring data that are declared `with ..`");
            return None;
        }
        if shape == PayloadShape::Bytes && what.starts_with("install") && what != "install to" {
            self.error(Code::Handler, span, "these bytes are those of an access, or of the program's own memory")
                .help("`perform write(a, n) from payload`, or `install to p`");
            return None;
        }
        let of_block = self.protocol.roles[frame.role.index()].object == BLOCK;
        if !placed && shape != PayloadShape::List && (!of_block || shape == PayloadShape::Memory) {
            self.error(Code::Handler, span, "`install` goes to the object's block, which there is not here")
                .help("say where: `install at ADDRESS`");
            return None;
        }
        Some(())
    }

    /// Notes that the event that is being handled brings no bytes.
    pub(super) fn needs_bytes(&mut self, frame: &Frame, what: &str, span: Span) -> Option<()> {
        self.needs_data(frame, what, true, span)?;
        let EventKind::Message(message) = frame.event else { return Some(()) };
        let message = &self.protocol.messages[message.index()];
        if message.payload != PayloadShape::Bytes {
            let what = format!("`{what}` is for the bytes of a message, and `{}` carries no such", message.name);
            self.error(Code::Handler, span, what).help("declare it `with bytes`");
            return None;
        }
        Some(())
    }

    pub(super) fn state_of(&mut self, role: RoleId, name: &ast::Ident) -> Option<StateId> {
        let states = &self.protocol.roles[role.index()].states;
        let found = states.iter().position(|s| !s.waiting && s.name == name.text);
        if found.is_none() {
            let known: Vec<String> = states.iter().filter(|s| !s.waiting).map(|s| s.name.clone()).collect();
            self.unknown(name.span, "state", &name.text, known.iter().map(String::as_str));
        }
        found.map(|i| StateId(i as u16))
    }

    fn stall(&mut self, frame: &mut Frame, span: Span) -> Option<StepKind> {
        if frame.seen != frame.role {
            self.error(Code::Handler, span, "an action of another role or object cannot stall this handler's event")
                .help("look at the other record in a condition, and stall in the handler");
            return None;
        }
        if frame.initially {
            self.error(Code::Handler, span, "`initially` cannot stall: there is no event");
            return None;
        }
        if matches!(frame.event, EventKind::Timer | EventKind::Task(_)) {
            self.error(Code::Handler, span, "a task or a timer cannot stall")
                .help("nobody else would run it: go to a state that begins it again");
            return None;
        }
        Some(StepKind::Stall)
    }

    /// `lower` in a `while waiting` clause, or before an `await`, which then takes it into account.
    fn lower(&mut self, frame: &mut Frame, access: &ast::Ident, span: Span) -> Option<Vec<StepKind>> {
        if frame.seen != frame.role || frame.initially {
            self.error(
                Code::Handler,
                span,
                "`lower` is about the access of this handler's own instance while it waits",
            )
            .help("write it in the handler, before its `await`");
            return None;
        }
        let before = frame.lowered.map_or(frame.access, |lowered| lowered.access);
        let wanted = access_of(&access.text).min(before);
        if let Some(site) = frame.wait.clone() {
            return Some(vec![StepKind::Goto(self.variant(&site, wanted))]);
        }
        frame.lowered = Some(Lowered { access: wanted, span });
        Some(Vec::new())
    }

    fn give_back(
        &mut self,
        frame: &mut Frame,
        value: Option<&ast::Expr>,
        to: Option<&ast::Expr>,
        span: Span,
    ) -> Option<StepKind> {
        let call = if to.is_none() { frame.call } else { None };
        if let Some(told) = call.map(|call| &self.protocol.ops[call.index()]).filter(|op| op.is_told()) {
            let name = told.name.clone();
            self.error(Code::Handler, span, format!("nobody waits for `{name}`, which bodies tell"))
                .help(format!("leave `return` out, or give the event a result, `event {name}: bool`, and `ask` it"));
            return None;
        }
        let value = match (value, self.none_returned(call)) {
            (None, _) => None,
            (Some(value), Some(ty)) if is_none(value) => Some(self.expr_of(frame, value, &ty)?),
            (Some(value), _) => Some(self.expr(frame, value)?),
        };
        self.returned(frame, call, value.as_ref(), span)?;
        let value = value.map(|value| self.as_result(value, call));
        let to = match (to, frame.caller) {
            (Some(to), _) => Some(self.expr_of(frame, to, &Type::Thread)?),
            (None, Origin::Event) if matches!(frame.event, EventKind::Op(_)) => None,
            (None, Origin::Local(local)) => Some(Expr { kind: ExprKind::Local(local), ty: Type::Thread, span }),
            (None, Origin::Kept(var)) => {
                let place = Place { owner: Owner::Current, role: frame.role, var, field: None };
                Some(Expr { kind: ExprKind::Var(place), ty: Type::Thread, span })
            }
            (None, _) => {
                self.error(Code::Handler, span, "to whom?")
                    .help("outside the handler of a call, write `return v to THREAD`");
                return None;
            }
        };
        Some(StepKind::Return { value, to })
    }

    /// The types that a call returns, or that calls do.
    fn results(&self, call: Option<OpId>) -> impl Iterator<Item = &Type> {
        let ops = self.protocol.ops.iter().enumerate().filter(move |(i, _)| call.is_none_or(|call| call.index() == *i));
        ops.filter_map(|(_, op)| op.result.as_ref())
    }

    /// The type of `none` as the result of a call, or of some call, where that is no node.
    fn none_returned(&self, call: Option<OpId>) -> Option<Type> {
        let is_optional =
            |ty: &&Type| matches!(ty, Type::ObjectOrNone(_) | Type::OrNone(_) | Type::Node { optional: true });
        let first = self.results(call).find(is_optional);
        first.filter(|ty| !matches!(ty, Type::Node { .. })).cloned()
    }

    /// A value as what a call returns; as it is, if several calls return values of different types that may be none.
    fn as_result(&self, value: Expr, call: Option<OpId>) -> Expr {
        let fitting: Vec<&Type> = self.results(call).filter(|result| types::fits(&value.ty, result)).collect();
        match fitting[..] {
            [first, ref others @ ..] if others.iter().all(|other| *other == first) => coerced(value, first),
            [..] if fitting.iter().any(|ty| ty.given().is_some()) => value,
            [..] => plain(value),
        }
    }

    /// Whether a value, or none, is what the call returns; for a stored thread, what some call returns.
    fn returned(&mut self, frame: &Frame, call: Option<OpId>, value: Option<&Expr>, span: Span) -> Option<()> {
        // Those of this role's object first, since mistakes are told by them.
        let object = self.protocol.roles[frame.seen.index()].object;
        let mut ops: Vec<(usize, &Op)> = self.protocol.ops.iter().enumerate().collect();
        ops.retain(|(i, _)| call.is_none_or(|call| call.index() == *i));
        ops.sort_by_key(|(_, op)| op.object != object);
        let results: Vec<Option<Type>> = ops.into_iter().map(|(_, op)| op.result.clone()).collect();
        let agrees = |result: &Option<Type>| match (result, value) {
            (None, None) => true,
            (Some(wanted), Some(value)) => types::fits(&value.ty, wanted),
            _ => false,
        };
        if results.is_empty() || results.iter().any(agrees) {
            return Some(());
        }
        let what = call.map_or("no call".to_string(), |c| format!("`{}`", self.protocol.ops[c.index()].name));
        let none = if call.is_some() { "no value" } else { "a value" };
        match (value, results.into_iter().flatten().next()) {
            (Some(value), None) => {
                self.error(Code::Handler, value.span, format!("{what} returns {none}"))
                    .help("write `return` alone, or give the call a type: `op NAME(..): TYPE`");
            }
            (Some(value), Some(wanted)) => {
                self.require(value.span, &value.ty, &wanted);
            }
            (None, wanted) => {
                let wanted = wanted.map_or(String::new(), |t| self.type_name(&t));
                self.error(Code::Handler, span, format!("`return` needs a value of type {wanted} here"))
                    .help("write `return VALUE`");
            }
        }
        None
    }

    fn start(&mut self, frame: &mut Frame, task: &ast::Ident, args: &[ast::Expr]) -> Option<Vec<StepKind>> {
        let found = self.protocol.tasks.iter().position(|t| t.name == task.text && t.role == frame.seen);
        let Some(found) = found else {
            let tasks = self.protocol.tasks.iter().filter(|t| t.role == frame.seen);
            let known: Vec<String> = tasks.map(|t| t.name.clone()).collect();
            self.unknown(task.span, "task of this role", &task.text, known.iter().map(String::as_str));
            return None;
        };
        let declared = self.protocol.tasks[found].args.clone();
        if declared.len() != args.len() {
            self.error(
                Code::Handler,
                task.span,
                format!("`{}` takes {}, not {}", task.text, counted(declared.len(), "argument"), args.len()),
            );
            return None;
        }
        let mut values = Vec::new();
        for (arg, declared) in args.iter().zip(&declared) {
            values.push(self.expr_of(frame, arg, &declared.ty)?);
        }
        Some(vec![StepKind::Start(TaskId(found as u16), values)])
    }

    pub(super) fn needs_defer_space(&mut self, role: RoleId, span: Span) {
        let role = self.protocol.roles[role.index()].name.clone();
        self.error(Code::Handler, span, format!("the role `{role}` has no space for deferred events"))
            .help(format!("declare it: `role {role} of .. defers up to nodes {{`"));
    }
}

fn cache_word(statement: &S) -> &'static str {
    match statement {
        S::Upgrade => "upgrade",
        S::Take(_) => "take",
        _ => "invalidate",
    }
}

fn line_of(line: ast::LineState) -> Line {
    match line {
        ast::LineState::Shared => Line::Shared,
        ast::LineState::Exclusive => Line::Exclusive,
    }
}

fn cache_step(statement: &S) -> StepKind {
    match statement {
        S::Take(state) => StepKind::Take(line_of(*state)),
        S::Upgrade => StepKind::Upgrade,
        _ => StepKind::Invalidate,
    }
}

/// What `+=` or `-=` makes of a set.
fn changed_set(sign: AssignSign, old: Expr, with: Expr, ty: Type, span: Span) -> Expr {
    let op = if sign == AssignSign::Plus { SetOperator::Union } else { SetOperator::Difference };
    Expr { kind: ExprKind::SetBinary(op, Box::new(old), Box::new(with)), ty, span }
}

/// What `+=` or `-=` makes of a number.
fn changed_by(sign: AssignSign, old: Expr, value: Expr, span: Span) -> Expr {
    let op = if sign == AssignSign::Plus { Operator::Add } else { Operator::Subtract };
    Expr { kind: ExprKind::Binary(op, Box::new(old), Box::new(value)), ty: NUMBER, span }
}
