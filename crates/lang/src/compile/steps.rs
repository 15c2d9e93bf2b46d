//! Statements that change control: blocks, branches, loops, actions.

use super::frame::{Frame, Lowered, Origin, Scope};
use super::places::Target;
use super::types::{NUMBER, SOME_NODE, is_set};
use super::*;
use trivium_diagnostic::Code;

/// Whether control reaches what stands behind a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// It does.
    Falls,
    /// An `await` has ended some path.
    Waits,
}

/// Most locals of a handler.
const MAX_LOCALS: usize = 2048;
/// How deep actions may call each other, and how often they may be expanded in a protocol.
const MAX_CALLS: usize = 32;
const MAX_EXPANSIONS: u32 = 20_000;
/// Most statements and expressions of a protocol after that, so that a short text cannot become too large a program.
const MAX_PARTS: usize = 1_000_000;

impl Compiler {
    /// The statements of a block, in a scope of their own.
    pub(super) fn block(&mut self, frame: &mut Frame, block: &[ast::Statement], steps: &mut Vec<Step>) -> Flow {
        frame.scopes.push(Scope::default());
        let flow = self.statements(frame, block, steps);
        frame.scopes.pop();
        flow
    }

    pub(super) fn statements(&mut self, frame: &mut Frame, block: &[ast::Statement], steps: &mut Vec<Step>) -> Flow {
        let mut flow = Flow::Falls;
        for statement in block {
            if frame.locals.len().max(usize::from(frame.scalars)) > MAX_LOCALS {
                self.error(Code::Type, statement.span, format!("this handler needs more than {MAX_LOCALS} locals"))
                    .help("actions are expanded in place: let them call each other less often");
                break;
            }
            if self.parts > MAX_PARTS {
                self.too_large(statement.span);
                break;
            }
            if flow == Flow::Waits {
                self.error(Code::Type, statement.span, "nothing can stand behind an `await`")
                    .help("what follows belongs into the braces of the `await`");
                break;
            }
            flow = self.statement(frame, statement, steps);
        }
        flow
    }

    /// Said once: what has become too large is not compiled further.
    fn too_large(&mut self, span: Span) {
        if !std::mem::replace(&mut self.too_many_parts, true) {
            self.error(Code::Type, span, format!("this protocol has more than {MAX_PARTS} statements and expressions"))
                .help("actions are expanded wherever they are called, and clauses for each event and state: write less of them, or a task");
        }
    }

    fn statement(&mut self, frame: &mut Frame, statement: &ast::Statement, steps: &mut Vec<Step>) -> Flow {
        self.parts += 1;
        let span = statement.span;
        match &statement.kind {
            ast::StatementKind::If { condition, then, otherwise } => {
                let condition = self.expr_of(frame, condition, &Type::Bool);
                if let (Some(asked), [ast::Statement { kind: ast::StatementKind::Stop, .. }]) =
                    (&condition, &otherwise[..])
                    && !matches!(asked.kind, ExprKind::Room(..))
                {
                    self.error(Code::Type, asked.span, "a loop goes on `while room(LANE, n)`, and while nothing else")
                        .help("ask for anything else inside the loop, with `if`");
                }
                let (mut yes, mut no) = (Vec::new(), Vec::new());
                let (before, lowered) = (frame.went, frame.lowered);
                let a = self.block(frame, then, &mut yes);
                let went = std::mem::replace(&mut frame.went, before);
                let lowered = std::mem::replace(&mut frame.lowered, lowered);
                let b = self.block(frame, otherwise, &mut no);
                frame.went = went.or(frame.went);
                self.join_lowered(frame, lowered, (a, b));
                if let Some(condition) = condition {
                    steps.push(Step { kind: StepKind::If(condition, yes, no), span });
                }
                if a == Flow::Waits || b == Flow::Waits { Flow::Waits } else { Flow::Falls }
            }
            ast::StatementKind::For { name, over, body } => {
                self.each(frame, name, over, body, span, steps);
                Flow::Falls
            }
            ast::StatementKind::Call(call) => self.call(frame, call, span, steps),
            ast::StatementKind::Await(wait) => self.await_(frame, wait, span, steps),
            other => {
                frame.performs = may_perform(other).then(Vec::new);
                let kinds = self.plain(frame, other, span);
                steps.extend(frame.performs.take().into_iter().flatten());
                if let Some(kinds) = kinds {
                    if !matches!(other, ast::StatementKind::Free(_)) {
                        let asked = self.changed_must_live(frame, &kinds, span);
                        steps.extend(asked.into_iter().map(|kind| Step { kind, span }));
                    }
                    steps.extend(kinds.into_iter().map(|kind| Step { kind, span }));
                }
                Flow::Falls
            }
        }
    }

    fn each(
        &mut self,
        frame: &mut Frame,
        name: &ast::Ident,
        over: &ast::Over,
        body: &[ast::Statement],
        span: Span,
        steps: &mut Vec<Step>,
    ) {
        frame.scopes.push(Scope::default());
        let mut inner = Vec::new();
        let kind = match over {
            ast::Over::Range(lo, hi) => {
                let (lo, hi) = (self.expr_of(frame, lo, &NUMBER), self.expr_of(frame, hi, &NUMBER));
                let local = frame.local(&self.protocol, &name.text, NUMBER);
                self.loop_body(frame, body, &mut inner);
                lo.zip(hi).map(|(lo, hi)| StepKind::ForRange(local, lo, hi, inner))
            }
            ast::Over::Each(expr) => {
                if let Some(Target::Local(list, None, Type::List { of, up_to, .. })) = self.target(frame, expr) {
                    self.each_of_local(frame, name, (list, *of, up_to), body, span)
                } else if let Some((place, element)) = self.list(frame, expr) {
                    let local = frame.local(&self.protocol, &name.text, element);
                    self.loop_body(frame, body, &mut inner);
                    Some(StepKind::ForList(local, place, inner))
                } else {
                    self.each_of_set(frame, name, expr, body, inner)
                }
            }
        };
        frame.scopes.pop();
        if let Some(kind) = kind {
            steps.push(Step { kind, span });
        }
    }

    /// A loop over a list that is a local: one over its numbers, each of which takes its element first.
    fn each_of_local(
        &mut self,
        frame: &mut Frame,
        name: &ast::Ident,
        (list, of, up_to): (LocalId, Type, Bound),
        body: &[ast::Statement],
        span: Span,
    ) -> Option<StepKind> {
        let number = |kind, ty| Expr { kind, ty, span };
        let at = frame.hidden_local(&self.protocol, "", NUMBER);
        let element = frame.local(&self.protocol, &name.text, of.clone());
        let part = |field: u16, ty: &Type| {
            let index = number(ExprKind::Local(at), NUMBER);
            Expr { kind: ExprKind::LocalElement(list, Box::new(index), field), ty: ty.clone(), span }
        };
        let parts = match &of {
            Type::Record(record) => {
                let fields = &self.protocol.records[record.index()].fields;
                (0..).zip(fields).map(|(field, declared)| part(field, &declared.ty)).collect()
            }
            scalar => vec![part(0, scalar)],
        };
        let mut inner = vec![Step { kind: StepKind::Let(element, parts), span }];
        self.loop_body(frame, body, &mut inner);
        let first = number(ExprKind::Constant(Bound::fixed(0)), NUMBER);
        let length = number(ExprKind::LocalLength(list), Type::Int { lo: Bound::fixed(0), hi: up_to });
        let one = number(ExprKind::Constant(Bound::fixed(1)), NUMBER);
        let last = number(ExprKind::Binary(Operator::Subtract, Box::new(length), Box::new(one)), NUMBER);
        Some(StepKind::ForRange(at, first, last, inner))
    }

    fn each_of_set(
        &mut self,
        frame: &mut Frame,
        name: &ast::Ident,
        expr: &ast::Expr,
        body: &[ast::Statement],
        mut inner: Vec<Step>,
    ) -> Option<StepKind> {
        let set = self.expr(frame, expr);
        let element = match set.as_ref().map(|s| &s.ty) {
            Some(Type::IntSet { lo, hi }) => Type::Int { lo: *lo, hi: *hi },
            Some(Type::NodeSet) | None => SOME_NODE,
            Some(other) => {
                let name = self.type_name(other);
                self.error(Code::Type, expr.span, format!("`for` goes over sets, lists and ranges, not over {name}"))
                    .help("every loop must be bounded: `for s in sharers`, `for i in 1..k`");
                return None;
            }
        };
        let local = frame.local(&self.protocol, &name.text, element);
        self.loop_body(frame, body, &mut inner);
        let set = set?;
        debug_assert!(is_set(&set.ty));
        Some(StepKind::ForSet(local, set, inner))
    }

    /// After an `if`, of which the first branch has left `lowered`: on each way that goes on the access must be the same.
    fn join_lowered(&mut self, frame: &mut Frame, lowered: Option<Lowered>, (a, b): (Flow, Flow)) {
        let left = |lowered: Option<Lowered>| lowered.map(|lowered| lowered.access);
        if a == Flow::Falls && b == Flow::Falls && left(lowered) != left(frame.lowered) {
            let span = lowered.or(frame.lowered).map_or(Span::default(), |lowered| lowered.span);
            self.error(Code::Type, span, "what follows this branch waits with another access if it is not taken")
                .help("write `lower` on both ways, or the `await` within the branch");
        }
        frame.lowered = if a == Flow::Falls { lowered } else { frame.lowered };
    }

    fn loop_body(&mut self, frame: &mut Frame, body: &[ast::Statement], inner: &mut Vec<Step>) {
        let lowered = frame.lowered;
        if self.block(frame, body, inner) == Flow::Waits
            && let Some(first) = body.first()
        {
            self.error(Code::Type, first.span, "an `await` cannot stand in a loop")
                .help("`await all M from S` waits for many; or write states");
        }
        if let Some(Lowered { span, .. }) = frame.lowered.filter(|_| frame.lowered != lowered) {
            self.error(Code::Type, span, "a `lower` cannot stand in a loop").help("write it before the loop");
            frame.lowered = lowered;
        }
    }

    /// `lend(sender)`, `q.push(x)`, `agent.count_one()`.
    fn call(&mut self, frame: &mut Frame, call: &ast::Expr, span: Span, steps: &mut Vec<Step>) -> Flow {
        let ast::ExprKind::Call(function, args) = &call.kind else { return Flow::Falls };
        match &function.kind {
            ast::ExprKind::Name(name) => {
                let ident = ast::Ident { text: name.clone(), span: function.span };
                let role = frame.seen;
                match self.enter(frame, role, &ident, args, steps) {
                    Some((action, scope)) => self.expand(frame, role, &action, scope, steps),
                    None => Flow::Falls,
                }
            }
            ast::ExprKind::Member(base, method) => {
                if let Some(ghost) = self.told_ghost(frame, base) {
                    self.tell_ghost(frame, ghost, (method, args), span, steps);
                } else if let Some((owner, role)) = self.owner(frame, base) {
                    let Some((action, scope)) = self.enter(frame, role, method, args, steps) else {
                        return Flow::Falls;
                    };
                    let mut inner = Vec::new();
                    let origins = self.carry(frame, &action, steps, span);
                    let went = frame.went;
                    if self.expand(frame, role, &action, scope, &mut inner) == Flow::Waits {
                        self.error(Code::Type, span, "an action of another role or object cannot wait");
                    }
                    (frame.sender, frame.caller) = origins;
                    // The state of another instance, as a rule.
                    frame.went = went;
                    if let Owner::RoleOf(_, object) = &owner {
                        steps.extend(self.must_live((**object).clone()).map(|kind| Step { kind, span }));
                    }
                    steps.push(Step { kind: StepKind::Elsewhere(owner, role, inner), span });
                } else if let Some(kind) = self.method(frame, base, method, args) {
                    let asked = self.changed_must_live(frame, std::slice::from_ref(&kind), span);
                    steps.extend(asked.into_iter().map(|kind| Step { kind, span }));
                    steps.push(Step { kind, span });
                }
                Flow::Falls
            }
            _ => {
                self.error(Code::Type, span, "this cannot be called");
                Flow::Falls
            }
        }
    }

    /// Before an action of another instance: what this one's record holds of the sender and the caller becomes local,
    /// since inside the action the record is another. Returns what they were.
    fn carry(
        &mut self,
        frame: &mut Frame,
        action: &ast::Action,
        steps: &mut Vec<Step>,
        span: Span,
    ) -> (Origin, Origin) {
        let before = (frame.sender, frame.caller);
        let used = self.used_in_action_body(action);
        for (name, ty) in [("sender", SOME_NODE), ("caller", Type::Thread)] {
            let origin = if name == "sender" { frame.sender } else { frame.caller };
            let Origin::Kept(var) = origin else { continue };
            if !used.iter().any(|u| u == name) {
                continue;
            }
            let place = Place { owner: Owner::Current, role: frame.role, var, field: None };
            let value = Expr { kind: ExprKind::Var(place), ty: ty.clone(), span };
            let local = frame.hidden_local(&self.protocol, name, ty);
            steps.push(Step { kind: StepKind::Let(local, vec![value]), span });
            *(if name == "sender" { &mut frame.sender } else { &mut frame.caller }) = Origin::Local(local);
        }
        before
    }

    fn method(
        &mut self,
        frame: &mut Frame,
        base: &ast::Expr,
        method: &ast::Ident,
        args: &[ast::Expr],
    ) -> Option<StepKind> {
        let Some((place, element)) = self.list(frame, base) else {
            if let Some(Target::Local(_, None, Type::List { .. })) = self.target(frame, base) {
                self.error(Code::Type, base.span, "a local cannot be changed")
                    .help("declare a variable: `var l: list of ..`");
                return None;
            }
            self.error(Code::Type, base.span, "this is neither a list nor a role")
                .help("`q.push(x)`, `agent.action()`");
            return None;
        };
        match (method.text.as_str(), args) {
            ("push", [value]) => Some(StepKind::Push(place, self.values(frame, value, &element)?)),
            ("pop", []) => {
                let local = frame.hidden_local(&self.protocol, "", element);
                Some(StepKind::Pop(place, local))
            }
            ("clear", []) => Some(StepKind::Clear(place)),
            _ => {
                self.unknown(
                    method.span,
                    "method with these arguments called",
                    &method.text,
                    ["push(x)", "pop()", "clear()"],
                );
                None
            }
        }
    }

    /// Looks an action up and evaluates its arguments where it is called.
    pub(super) fn enter(
        &mut self,
        frame: &mut Frame,
        role: RoleId,
        name: &ast::Ident,
        args: &[ast::Expr],
        steps: &mut Vec<Step>,
    ) -> Option<(ast::Action, Scope)> {
        let asts = Rc::clone(&self.asts);
        let Some(action) = asts[role.index()].actions.iter().find(|a| a.name.text == name.text) else {
            let known: Vec<&str> = asts[role.index()].actions.iter().map(|a| a.name.text.as_str()).collect();
            self.unknown(name.span, "action", &name.text, known);
            return None;
        };
        if self.expanding.contains(&(role, name.text.clone())) {
            self.error(Code::Type, name.span, format!("the action `{}` calls itself", name.text))
                .help("actions are expanded in place and cannot be recursive");
            return None;
        }
        self.expansions += 1;
        if self.expanding.len() >= MAX_CALLS || self.expansions > MAX_EXPANSIONS {
            if self.expansions <= MAX_EXPANSIONS + 1 {
                self.error(Code::Type, name.span, "actions call each other too deeply or too often").help(format!(
                    "they are expanded in place: at most {MAX_CALLS} deep and {MAX_EXPANSIONS} times in a protocol"
                ));
            }
            return None;
        }
        if action.params.len() != args.len() {
            let wanted = crate::diagnostics::counted(action.params.len(), "argument");
            self.error(Code::Type, name.span, format!("`{}` takes {wanted}, not {}", name.text, args.len()));
            return None;
        }
        let mut scope = Scope { names: Vec::new(), barrier: true };
        for (param, arg) in action.params.iter().zip(args) {
            let ty = self.ty(&param.ty)?;
            let value = self.values(frame, arg, &ty)?;
            let local = frame.hidden_local(&self.protocol, &param.name.text, ty);
            steps.push(Step { kind: StepKind::Let(local, value), span: arg.span });
            scope.names.push((param.name.text.clone(), frame::Binding::Local(local)));
        }
        Some((action.clone(), scope))
    }

    /// Expands an action in place.
    pub(super) fn expand(
        &mut self,
        frame: &mut Frame,
        role: RoleId,
        action: &ast::Action,
        scope: Scope,
        steps: &mut Vec<Step>,
    ) -> Flow {
        let seen = std::mem::replace(&mut frame.seen, role);
        frame.scopes.push(scope);
        self.expanding.push((role, action.name.text.clone()));
        let flow = self.statements(frame, &action.body, steps);
        self.expanding.pop();
        frame.scopes.pop();
        frame.seen = seen;
        flow
    }
}

/// Whether accesses may be performed within a statement.
fn may_perform(statement: &ast::StatementKind) -> bool {
    use ast::StatementKind as S;
    matches!(
        statement,
        S::Let { .. }
            | S::Assign { .. }
            | S::Send { .. }
            | S::Return { .. }
            | S::CompleteWith { .. }
            | S::Perform { .. }
    )
}
