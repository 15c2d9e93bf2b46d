//! `await` turned into waiting states.
//!
//! A waiting state exists once for each access that it can have: `lower none`, before the `await` or in a clause, leads to its
//! variant without access. What an await's bodies need of the handler that began it is kept in hidden variables (`$0`, `$1`, ..),
//! which waits that cannot be pending together share.

use super::declare::first_value;
use super::frame::{Binding, Frame, Lowered, Origin, Scope};
use super::limits::MAX_STATES;
use super::steps::Flow;
use super::types::{SOME_NODE, fits};
use super::*;
use std::cell::RefCell;
use trivium_diagnostic::Code;

/// An `await` in the text, as reached on one path.
#[derive(Debug)]
pub(super) struct Site {
    wait: ast::Await,
    /// The frame as the bodies see it: names of the outer handler are kept variables.
    frame: Frame,
    name: String,
    /// For each arm: who is still missing (`all`), or who must have sent it (`from`).
    missing: Vec<Option<VarId>>,
    from: Vec<Option<From>>,
    variants: RefCell<Vec<(Access, StateId)>>,
    /// The actions in whose text it stands: its bodies may not call them either.
    expanding: Vec<(RoleId, String)>,
}

#[derive(Clone, Debug)]
enum From {
    Var(VarId),
    Fixed(ExprKind),
}

/// A waiting state that wants its handlers.
pub(super) struct Variant {
    site: Rc<Site>,
    access: Access,
    state: StateId,
}

impl Compiler {
    pub(super) fn await_(&mut self, frame: &mut Frame, wait: &ast::Await, span: Span, steps: &mut Vec<Step>) -> Flow {
        if frame.seen != frame.role {
            self.error(Code::Handler, span, "an action of another role cannot wait");
            return Flow::Waits;
        }
        if frame.initially {
            self.error(Code::Handler, span, "`initially` cannot `await`: nothing else is there yet")
                .help("begin in a state that answers the message: `goto` it");
            return Flow::Waits;
        }
        if frame.wait.is_some() {
            self.error(Code::Handler, span, "an `await` cannot stand in a `while waiting` clause")
                .help("such a clause may lower, assign, send and defer; when more depends on what arrives meanwhile, write states");
            return Flow::Waits;
        }
        if let Some((word, at)) = frame.went.take() {
            let what = match word {
                "free" => "which waits: a free object is in its first state",
                _ => "which makes a state of its own: nothing happens in the state it names",
            };
            self.error(Code::Handler, at, format!("this `{word}` stands before an `await`, {what}"))
                .help("write it in the body of the `await`; a waiting state has the access of the state in which the handler started, or less after `lower none`");
            return Flow::Waits;
        }
        if self.protocol.roles[frame.role.index()].states.len() > MAX_STATES {
            if !std::mem::replace(&mut self.too_many_states, true) {
                self.error(Code::Handler, span, format!("this role has more than {MAX_STATES} states"))
                    .help("each `await` is a state of its own wherever its action is called: call it less often");
            }
            return Flow::Waits;
        }
        let names: Vec<&str> = wait.arms.iter().map(|a| a.message.text.as_str()).collect();
        let name = self.unused_name(frame.role, format!("{}.{}", frame.name, names.join("|")));
        let mut inner = Frame::new(frame.role, StateId(0), EventKind::Timer, name.clone(), frame.access);
        inner.sender = Origin::Nowhere;
        inner.caller = Origin::Nowhere;
        inner.call = frame.call;
        let written = wait;
        let access = frame.lowered.map_or(frame.access, |lowered| lowered.access);
        let wait = &self.extended_wait(frame.role, &variant_name(&name, access, frame.access), written);
        self.keep(frame, &mut inner, wait, steps, span);
        let missing: Vec<_> = wait.arms.iter().map(|arm| self.missing(frame, &mut inner, arm, steps)).collect();
        let from: Vec<_> = wait.arms.iter().map(|arm| self.from(frame, &mut inner, arm, steps)).collect();
        let site = Rc::new(Site {
            wait: written.clone(),
            frame: inner,
            name,
            missing: missing.clone(),
            from,
            variants: RefCell::default(),
            expanding: self.expanding.clone(),
        });
        let state = self.variant(&site, access);
        let goto = Step { kind: StepKind::Goto(state), span };
        // Where nobody is missing the body runs at once.
        let mut rest = vec![goto];
        for (arm, var) in wait.arms.iter().zip(&missing).rev() {
            let Some(var) = *var else { continue };
            let mut body = Vec::new();
            let lowered = frame.lowered;
            self.block(frame, &arm.body, &mut body);
            (frame.went, frame.lowered) = (None, lowered);
            rest = vec![Step { kind: StepKind::If(nobody(frame.role, var, span), body, rest), span }];
        }
        steps.extend(rest);
        frame.lowered = None;
        Flow::Waits
    }

    fn unused_name(&self, role: RoleId, wanted: String) -> String {
        // A variant with less access may be the only one that there is.
        let is_of = |state: &State, name: &str| state.name.split('(').next() == Some(name);
        let taken = |name: &str| self.protocol.roles[role.index()].states.iter().any(|s| is_of(s, name));
        if !taken(&wanted) {
            return wanted;
        }
        (2..).map(|i| format!("{wanted}.{i}")).find(|n| !taken(n)).expect("numbers do not end")
    }

    /// Keeps what the bodies use of the outer handler.
    fn keep(&mut self, frame: &mut Frame, inner: &mut Frame, wait: &ast::Await, steps: &mut Vec<Step>, span: Span) {
        let mut used = Vec::new();
        self.used_in_wait(wait, &mut used, &mut Vec::new());
        for said in self.said_of_wait(frame.role, &inner.name) {
            self.used_in_clause(&said.clause, wait, &mut used);
        }
        let is_used = |name: &str| used.iter().any(|u| u == name);
        for (name, binding) in frame.visible() {
            if !is_used(&name) {
                continue;
            }
            let kept = match binding {
                Binding::Kept(var) => Some(var),
                Binding::Local(id) => {
                    let ty = frame.locals[id.index()].ty.clone();
                    let values = self.local_values(id, &ty, span);
                    Some(self.keep_value(frame, inner, ty, values, steps, span))
                }
                Binding::Fault(kind, ty) => {
                    let value = Expr { kind, ty: ty.clone(), span };
                    Some(self.keep_value(frame, inner, ty, vec![value], steps, span))
                }
            };
            if let Some(var) = kept {
                inner.bind(&name, Binding::Kept(var));
            }
        }
        for (word, kind, ty) in [("sender", ExprKind::Sender, SOME_NODE), ("caller", ExprKind::Caller, Type::Thread)] {
            let origin = if word == "sender" { frame.sender } else { frame.caller };
            let kept = match origin {
                Origin::Event if is_used(word) => {
                    let value = Expr { kind, ty: ty.clone(), span };
                    Origin::Kept(self.keep_value(frame, inner, ty, vec![value], steps, span))
                }
                Origin::Event | Origin::Nowhere => Origin::Nowhere,
                kept => kept,
            };
            if word == "sender" {
                inner.sender = kept;
            } else {
                inner.caller = kept;
            }
        }
    }

    /// A local as what is assigned: a record by its fields.
    pub(super) fn local_values(&self, id: LocalId, ty: &Type, span: Span) -> Vec<Expr> {
        match ty {
            Type::Record(r) => {
                let fields = self.protocol.records[r.index()].fields.iter().enumerate();
                fields.map(|(i, f)| Expr { kind: ExprKind::LocalField(id, i as u16), ty: f.ty.clone(), span }).collect()
            }
            _ => vec![Expr { kind: ExprKind::Local(id), ty: ty.clone(), span }],
        }
    }

    fn keep_value(
        &mut self,
        frame: &Frame,
        inner: &mut Frame,
        ty: Type,
        values: Vec<Expr>,
        steps: &mut Vec<Step>,
        span: Span,
    ) -> VarId {
        let var = self.hidden_var(frame, inner, ty, span);
        let place = Place { owner: Owner::Current, role: frame.role, var, field: None };
        steps.push(Step { kind: StepKind::Assign(place, values), span });
        var
    }

    /// A hidden variable that neither the outer nor the inner handler uses already.
    fn hidden_var(&mut self, frame: &Frame, inner: &mut Frame, ty: Type, span: Span) -> VarId {
        let in_use = |var: VarId| {
            let kept = |f: &Frame| {
                let named = f.scopes.iter().flat_map(|s| &s.names);
                let named = named.filter_map(|(_, b)| if let Binding::Kept(v) = b { Some(*v) } else { None });
                let origins = [f.sender, f.caller].into_iter();
                let origins = origins.filter_map(|o| if let Origin::Kept(v) = o { Some(v) } else { None });
                named.chain(origins).any(|v| v == var)
            };
            kept(frame) || kept(inner)
        };
        let vars = &self.protocol.roles[frame.role.index()].vars;
        let free =
            vars.iter().enumerate().find(|(i, v)| v.name.starts_with('$') && v.ty == ty && !in_use(VarId(*i as u16)));
        let var = match free {
            Some((i, _)) => VarId(i as u16),
            None => {
                let count = vars.iter().filter(|v| v.name.starts_with('$')).count();
                let initial = match &ty {
                    Type::Int { lo, .. } => lo.constant.max(0),
                    Type::Array { of, .. } => first_value(of),
                    _ => 0,
                };
                let var = Var { name: format!("${count}"), ty, initial, span };
                let vars = &mut self.protocol.roles[frame.role.index()].vars;
                vars.push(var);
                VarId(vars.len() as u16 - 1)
            }
        };
        // Under a name that cannot be written, so that the next one is another.
        inner.scopes[0].names.push((format!("${}", var.0), Binding::Kept(var)));
        var
    }

    fn missing(
        &mut self,
        frame: &mut Frame,
        inner: &mut Frame,
        arm: &ast::Arm,
        steps: &mut Vec<Step>,
    ) -> Option<VarId> {
        if !arm.all {
            return None;
        }
        if let Some(arg) = arm.args.as_ref().and_then(|args| args.first()) {
            self.error(
                Code::Handler,
                arg.span,
                "the messages of an `await all` have no arguments here: its body runs once, for all of them",
            )
            .help("write states, and look at each message");
        }
        let Some(from) = &arm.from else {
            self.error(Code::Handler, arm.message.span, "from whom?").help("`await all M from SET`");
            return None;
        };
        let set = self.expr(frame, from)?;
        if !self.require(from.span, &set.ty, &Type::NodeSet) {
            return None;
        }
        Some(self.keep_value(frame, inner, Type::NodeSet, vec![set], steps, from.span))
    }

    fn from(&mut self, frame: &mut Frame, inner: &mut Frame, arm: &ast::Arm, steps: &mut Vec<Step>) -> Option<From> {
        if arm.all {
            return None;
        }
        let from = self.expr_of(frame, arm.from.as_ref()?, &types::ANY_NODE)?;
        Some(match from.kind {
            ExprKind::Home | ExprKind::Me => From::Fixed(from.kind),
            _ => From::Var(self.keep_value(frame, inner, SOME_NODE, vec![from.clone()], steps, from.span)),
        })
    }

    /// The waiting state of a site with this access; made if it does not exist yet.
    pub(super) fn variant(&mut self, site: &Rc<Site>, access: Access) -> StateId {
        if let Some((_, state)) = site.variants.borrow().iter().find(|(a, _)| *a == access) {
            return *state;
        }
        let name = variant_name(&site.name, access, site.frame.access);
        let role = site.frame.role;
        let awaits = site.wait.arms.iter().filter_map(|a| self.protocol.message(&a.message.text)).collect();
        let span = site.wait.arms[0].message.span;
        let states = &mut self.protocol.roles[role.index()].states;
        let state = StateId(states.len() as u16);
        states.push(State {
            name,
            access,
            keeps: false,
            contents: false,
            waiting: true,
            awaits,
            dead: Vec::new(),
            copy_is_dead: false,
            timer: None,
            span,
        });
        self.answers[role.index()].push(Answers::default());
        site.variants.borrow_mut().push((access, state));
        self.pending.push(Variant { site: Rc::clone(site), access, state });
        state
    }

    /// Gives waiting states their handlers, until none is left.
    pub(super) fn waiting_states(&mut self) {
        while let Some(variant) = self.pending.pop() {
            let site = Rc::clone(&variant.site);
            let role = site.frame.role;
            self.expanding.clone_from(&site.expanding);
            let name = self.protocol.roles[role.index()].states[variant.state.index()].name.clone();
            let wait = self.extended_wait(role, &name, &site.wait);
            for (i, arm) in wait.arms.iter().enumerate() {
                self.arm(&variant, i, arm);
            }
            for clause in &wait.clauses {
                let mut frame = site.frame.clone();
                frame.state = variant.state;
                frame.access = variant.access;
                frame.wait = Some(Rc::clone(&site));
                self.clause(frame, None, clause, &format!("{}.", site.name));
            }
            let answers = &mut self.answers[role.index()][variant.state.index()];
            answers.otherwise = wait.otherwise;
        }
        self.expanding.clear();
    }

    fn arm(&mut self, variant: &Variant, i: usize, arm: &ast::Arm) {
        let site = &variant.site;
        let Some(message) = self.message_of(&arm.message) else { return };
        let span = arm.message.span;
        let mut frame = site.frame.clone();
        frame.state = variant.state;
        frame.access = variant.access;
        frame.event = EventKind::Message(message);
        let declared = self.protocol.messages[message.index()].args.clone();
        self.bind_args(&mut frame, &declared, arm.args.as_deref(), span);
        frame.scopes.push(Scope::default());
        let role = frame.role;
        let sender = Expr { kind: ExprKind::Sender, ty: SOME_NODE, span };
        let mut steps = Vec::new();
        if let Some(Some(from)) = site.from.get(i) {
            let from = match from {
                From::Fixed(kind) => kind.clone(),
                From::Var(var) => var_kind(role, *var),
            };
            let from = Expr { kind: from, ty: SOME_NODE, span };
            let same = ExprKind::Binary(Operator::Equal, Box::new(sender.clone()), Box::new(from));
            steps.push(Step {
                kind: StepKind::Assert(Expr { kind: same, ty: Type::Bool, span }, Asserted::Written),
                span,
            });
        }
        let mut body = Vec::new();
        if let Some(var) = site.missing[i] {
            let set = Expr { kind: var_kind(role, var), ty: Type::NodeSet, span };
            let member = ExprKind::In(Box::new(sender.clone()), Box::new(set));
            steps.push(Step {
                kind: StepKind::Assert(Expr { kind: member, ty: Type::Bool, span }, Asserted::Written),
                span,
            });
            let place = Place { owner: Owner::Current, role, var, field: None };
            steps.push(Step { kind: StepKind::Remove(place, sender), span });
            self.block(&mut frame, &arm.body, &mut body);
            self.must_wait(&frame);
            self.must_leave(&body, arm);
            steps.push(Step { kind: StepKind::If(nobody(role, var, span), body, Vec::new()), span });
        } else {
            self.block(&mut frame, &arm.body, &mut body);
            self.must_wait(&frame);
            self.must_leave(&body, arm);
            steps.extend(body);
        }
        self.add_handler(frame, None, steps, &format!("{}.{}", site.name, arm.message.text), span);
    }

    /// At the end of a handler: what a `lower` leaves is the access of a waiting state, and there must be one.
    pub(super) fn must_wait(&mut self, frame: &Frame) {
        let Some(Lowered { span, .. }) = frame.lowered else { return };
        self.error(Code::Handler, span, "some path from this `lower` does not lead to an `await`")
            .help("it is the waiting state's access that it reduces: elsewhere, `goto` a state with less access");
    }

    /// What was waited for has come: whoever would still wait then would wait for ever.
    fn must_leave(&mut self, body: &[Step], arm: &ast::Arm) {
        if self.diagnostics.is_empty() && may_stay(body) {
            let name = &arm.message.text;
            self.error(
                Code::Handler,
                arm.message.span,
                format!("`await {name}` does not say where to go when `{name}` has come"),
            )
            .help("end each path of its body with `goto STATE`, or with another `await`");
        }
    }

    /// Names that the bodies of an await mention, with those of the actions they call as far as `sender`
    /// and `caller` go.
    fn used_in_wait(&self, wait: &ast::Await, used: &mut Vec<String>, seen: &mut Vec<*const ast::Action>) {
        for arm in &wait.arms {
            self.used_in_block(&arm.body, used, seen);
        }
        for clause in &wait.clauses {
            self.used_in_clause(clause, wait, used);
        }
    }

    /// Names that a clause of a waiting state mentions.
    fn used_in_clause(&self, clause: &ast::Clause, wait: &ast::Await, used: &mut Vec<String>) {
        let mut inner = Vec::new();
        if let Some(guard) = &clause.guard {
            used_in_expr(guard, &mut inner);
        }
        if let ast::Body::Steps(steps) = &clause.body {
            self.used_in_block(steps, &mut inner, &mut Vec::new());
        }
        // A clause has a sender and a caller of its own; what stands in the place of an awaited message's body has not.
        let awaited = wait.arms.iter().any(|a| clause.events.iter().any(|e| e.name.text == a.message.text));
        used.extend(inner.into_iter().filter(|n| awaited || (n != "sender" && n != "caller")));
    }

    fn used_in_block(&self, block: &[ast::Statement], used: &mut Vec<String>, seen: &mut Vec<*const ast::Action>) {
        use ast::StatementKind as S;
        for statement in block {
            match &statement.kind {
                S::Assign { target, value, .. } => [target, value].into_iter().for_each(|e| used_in_expr(e, used)),
                S::Let { value, .. } => used_in_expr(value, used),
                S::If { condition, then, otherwise } => {
                    used_in_expr(condition, used);
                    self.used_in_block(then, used, seen);
                    self.used_in_block(otherwise, used, seen);
                }
                S::For { over, body, .. } => {
                    match over {
                        ast::Over::Range(a, b) => [a, b].into_iter().for_each(|e| used_in_expr(e, used)),
                        ast::Over::Each(e) => used_in_expr(e, used),
                    }
                    self.used_in_block(body, used, seen);
                }
                S::Send { args, with, of, to, .. } => {
                    args.iter().chain(of).chain([to]).for_each(|e| used_in_expr(e, used));
                    match with {
                        ast::With::Memory(a, b) | ast::With::Own(a, b) => {
                            [a, b].into_iter().for_each(|e| used_in_expr(e, used))
                        }
                        ast::With::List(e) | ast::With::Performed(e) | ast::With::Block(Some(e)) => {
                            used_in_expr(e, used)
                        }
                        _ => {}
                    }
                }
                S::Return { value, to } => {
                    value.iter().chain(to).for_each(|e| used_in_expr(e, used));
                    if to.is_none() {
                        used.push("caller".into());
                    }
                }
                S::Start { args, .. } => args.iter().for_each(|e| used_in_expr(e, used)),
                S::Install { at } => at.iter().for_each(|e| used_in_expr(e, used)),
                S::InstallOwn { at } => used_in_expr(at, used),
                S::Perform { access, other_end } => {
                    let place = other_end.as_ref().and_then(ast::OtherEnd::place);
                    [access].into_iter().chain(place).for_each(|e| used_in_expr(e, used));
                }
                S::CompleteWith { value, to } => value.iter().chain([to]).for_each(|e| used_in_expr(e, used)),
                S::Copy { from, to, bytes } => [from, to, bytes].into_iter().for_each(|e| used_in_expr(e, used)),
                S::Assert(e) => used_in_expr(e, used),
                S::Call(call) => {
                    used_in_expr(call, used);
                    self.used_in_action(call, used, seen);
                }
                S::Await(wait) => {
                    wait.arms.iter().filter_map(|a| a.from.as_ref()).for_each(|e| used_in_expr(e, used));
                    self.used_in_wait(wait, used, seen);
                }
                _ => {}
            }
        }
    }

    fn used_in_action(&self, call: &ast::Expr, used: &mut Vec<String>, seen: &mut Vec<*const ast::Action>) {
        let ast::ExprKind::Call(function, _) = &call.kind else { return };
        let name = match &function.kind {
            ast::ExprKind::Name(name) => name,
            ast::ExprKind::Member(_, method) => &method.text,
            _ => return,
        };
        for action in self.asts.iter().flat_map(|r| &r.actions).filter(|a| a.name.text == *name) {
            if seen.contains(&std::ptr::from_ref(action)) {
                continue;
            }
            seen.push(action);
            let mut inner = Vec::new();
            self.used_in_block(&action.body, &mut inner, seen);
            used.extend(inner.into_iter().filter(|n| n == "sender" || n == "caller"));
        }
    }

    /// Names that the body of an action mentions.
    pub(super) fn used_in_action_body(&self, action: &ast::Action) -> Vec<String> {
        let mut used = Vec::new();
        self.used_in_block(&action.body, &mut used, &mut Vec::new());
        used
    }
}

/// What a waiting state is called where it has this access, and the state in which its handler started had that of `whole`.
fn variant_name(site: &str, access: Access, whole: Access) -> String {
    if access == whole { site.to_string() } else { format!("{site}({access})") }
}

/// Whether some path goes nowhere, and neither defers the message nor is a fault.
fn may_stay(steps: &[Step]) -> bool {
    steps.iter().all(|step| match &step.kind {
        StepKind::Goto(_) | StepKind::Impossible | StepKind::Defer | StepKind::Stall => false,
        StepKind::If(_, a, b) => may_stay(a) || may_stay(b),
        _ => true,
    })
}

fn var_kind(role: RoleId, var: VarId) -> ExprKind {
    ExprKind::Var(Place { owner: Owner::Current, role, var, field: None })
}

/// `missing == {}`.
fn nobody(role: RoleId, var: VarId, span: Span) -> Expr {
    let set = Expr { kind: var_kind(role, var), ty: Type::NodeSet, span };
    let empty = Expr { kind: ExprKind::SetOf(Vec::new()), ty: Type::NodeSet, span };
    debug_assert!(fits(&set.ty, &empty.ty));
    Expr { kind: ExprKind::SetEqual(Box::new(set), Box::new(empty)), ty: Type::Bool, span }
}

fn used_in_expr(expr: &ast::Expr, used: &mut Vec<String>) {
    use ast::ExprKind as E;
    match &expr.kind {
        E::Int(_) | E::New(_) => {}
        E::Name(name) => used.push(name.clone()),
        E::Set(list) => list.iter().for_each(|e| used_in_expr(e, used)),
        E::Record(fields) => fields.iter().for_each(|(_, e)| used_in_expr(e, used)),
        E::Member(e, _) | E::Not(e) | E::Negate(e) | E::Over(_, _, e) | E::At(_, e) | E::Is(e, _) => {
            used_in_expr(e, used);
        }
        E::Item(a, b) | E::Range(a, b) | E::Binary(_, a, b) => {
            used_in_expr(a, used);
            used_in_expr(b, used);
        }
        E::Call(function, args) => {
            used_in_expr(function, used);
            args.iter().for_each(|e| used_in_expr(e, used));
        }
        E::LeadsTo(from, to) => {
            used_in_expr(from, used);
            used_in_expr(to, used);
        }
        E::Ask(_, args) => args.iter().for_each(|e| used_in_expr(e, used)),
        E::Swap { seen, with } => {
            used.push(seen.text.clone());
            used_in_expr(with, used);
        }
        E::Flight(_, to) => to.iter().for_each(|e| used_in_expr(e, used)),
        E::Perform(perform) => {
            perform.args.iter().for_each(|e| used_in_expr(e, used));
            let Some(asker) = &perform.asker else { return };
            asker.parts().for_each(|e| used_in_expr(e, used));
            if let ast::Asker::Thread(_, None) = asker {
                used.push("sender".into());
            }
        }
    }
}
