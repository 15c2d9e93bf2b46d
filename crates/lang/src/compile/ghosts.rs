//! Ghosts: declared as roles of a kind of their own, which nothing that runs a protocol has an instance of.

use super::frame::{Frame, Origin, Scope};
use super::types::SOME_NODE;
use super::*;
use crate::ast::{Item, StatementKind as S};
use crate::diagnostics::counted;
use trivium_diagnostic::Code;

/// Most words that a ghost is told of an event: those that an event can bring.
const MOST_TOLD: usize = 8;
/// The only state of a ghost.
const STATE: &str = "ghost";

impl Compiler {
    /// The ghosts' roles, behind the others.
    pub(super) fn ghost_heads(&mut self, file: &ast::File, asts: &mut Vec<ast::Role>) {
        for item in &file.items {
            let Item::Ghost(ghost) = item else { continue };
            let taken: Vec<String> = self.protocol.roles.iter().map(|r| r.name.clone()).collect();
            if !self.fresh(&ghost.name, "role or ghost", &taken) {
                continue;
            }
            let Some(object) = self.object_kind(&ghost.of) else { continue };
            if object == NODE || !self.protocol.uses(object) {
                self.error(Code::Claim, ghost.of.span, format!("a ghost cannot be of `{}`", ghost.of.text))
                    .help("a ghost is of `block`, or of a declared kind of object that a role is about");
                continue;
            }
            let state = State {
                name: STATE.into(),
                access: Access::None,
                waiting: false,
                awaits: Vec::new(),
                dead: Vec::new(),
                copy_is_dead: false,
                keeps: false,
                contents: false,
                timer: None,
                span: ghost.name.span,
            };
            self.answers.push(vec![Answers::default()]);
            self.protocol.ghosts.push(Ghost { role: RoleId(self.protocol.roles.len() as u8), clauses: Vec::new() });
            self.protocol.roles.push(Role {
                name: ghost.name.text.clone(),
                kind: RoleKind::Ghost,
                object,
                states: vec![state],
                vars: Vec::new(),
                defers: None,
                pushes_back: false,
                deferrable: Vec::new(),
                events: Vec::new(),
                table: Vec::new(),
                kept_answers: Vec::new(),
                exclusions: Vec::new(),
                handlers: Vec::new(),
                initially: None,
                span: ghost.name.span,
            });
            asts.push(ast::Role {
                name: ghost.name.clone(),
                of: ghost.of.clone(),
                everywhere: false,
                defers: None,
                pushes_back: false,
                vars: ghost.vars.clone(),
                actions: ghost.actions.clone(),
                tasks: Vec::new(),
                initially: None,
                states: Vec::new(),
                otherwise: None,
                exceptions: Vec::new(),
                clauses: Vec::new(),
            });
        }
    }

    /// What the ghosts do.
    pub(super) fn ghosts(&mut self, file: &ast::File) {
        for item in &file.items {
            let Item::Ghost(ghost) = item else { continue };
            let watches = |g: &Ghost| self.protocol.roles[g.role.index()].name == ghost.name.text;
            let Some(g) = self.protocol.ghosts.iter().position(watches) else { continue };
            for clause in &ghost.clauses {
                self.ghost_clause(g, clause);
            }
            for action in &ghost.actions {
                action.body.iter().for_each(|statement| self.only_watches(statement));
            }
        }
    }

    fn ghost_clause(&mut self, g: usize, clause: &ast::GhostClause) {
        let role = self.protocol.ghosts[g].role;
        let Some((watched, event, told)) = self.watched(role, clause) else { return };
        let span = clause.event.name.span;
        if self.protocol.ghosts[g].clauses.iter().any(|(other, _)| *other == watched) {
            self.error(Code::Claim, span, "an earlier clause of the ghost sees this already").help("put both into one");
            return;
        }
        let names = clause.event.args.as_deref().unwrap_or(&[]);
        if names.len() > told.len() || told.len() > MOST_TOLD {
            let most = told.len().min(MOST_TOLD);
            self.error(Code::Claim, span, format!("a ghost is told {} here at most", counted(most, "thing"))).help(
                "`read(node, value)`, `write(node, value)`, `CALL(node, arguments)`, `return CALL(node, result)`",
            );
            return;
        }
        let before = self.diagnostics.len();
        clause.body.iter().for_each(|statement| self.only_watches(statement));
        if self.diagnostics.len() > before {
            return;
        }
        let word =
            if clause.returned { format!("return {}", clause.event.name.text) } else { clause.event.name.text.clone() };
        let mut frame = Frame::new(role, StateId(0), event, word.clone(), Access::None);
        (frame.sender, frame.caller) = (Origin::Nowhere, Origin::Nowhere);
        for (at, ty) in told.iter().enumerate() {
            match names.get(at) {
                Some(name) => frame.local(&self.protocol, &name.text, ty.clone()),
                None => frame.hidden_local(&self.protocol, "", ty.clone()),
            };
        }
        frame.scopes.push(Scope::default());
        let mut steps = Vec::new();
        self.statements(&mut frame, &clause.body, &mut steps);
        let handlers = &mut self.protocol.roles[role.index()].handlers;
        handlers.push(frame.into_handler(word, told.len(), None, steps, span));
        let id = HandlerId(handlers.len() as u16 - 1);
        self.protocol.ghosts[g].clauses.push((watched, id));
    }

    /// What a clause is about, the event that is nearest to it, and what the ghost is told.
    fn watched(&mut self, role: RoleId, clause: &ast::GhostClause) -> Option<(GhostEvent, EventKind, Vec<Type>)> {
        let (name, span) = (clause.event.name.text.as_str(), clause.event.name.span);
        let object = self.protocol.roles[role.index()].object;
        let access = match name {
            "read" => Some((GhostEvent::Read, EventKind::Read)),
            "write" => Some((GhostEvent::Write, EventKind::Write)),
            _ => None,
        };
        if let Some((watched, event)) = access.filter(|_| !clause.returned) {
            if object != BLOCK {
                self.error(Code::Claim, span, format!("only ghosts of a block see `{name}`"));
                return None;
            }
            return Some((watched, event, vec![SOME_NODE, Type::Word]));
        }
        let Some(op) = self.protocol.op(name) else {
            let mut known: Vec<String> = ["read", "write"].map(String::from).to_vec();
            known.extend(self.protocol.ops.iter().map(|o| o.name.clone()));
            self.unknown(span, "access or call", name, known.iter().map(String::as_str));
            return None;
        };
        let declared = &self.protocol.ops[op.index()];
        if declared.is_event {
            self.error(Code::Claim, span, format!("`{name}` is an event, which bodies of calls say: no ghost sees it"))
                .help("watch the call whose body says it");
            return None;
        }
        if declared.object != object {
            let (wanted, found) =
                (self.protocol.objects[declared.object.index()].clone(), self.protocol.objects[object.index()].clone());
            self.error(Code::Claim, span, format!("the call `{name}` is about `{wanted}`, this ghost about `{found}`"));
            return None;
        }
        let more: Vec<Type> = match clause.returned {
            true => declared.result.iter().cloned().collect(),
            false => declared.args.iter().map(|arg| arg.ty.clone()).collect(),
        };
        let told = [SOME_NODE].into_iter().chain(more).collect();
        let watched = if clause.returned { GhostEvent::Return(op) } else { GhostEvent::Call(op) };
        Some((watched, EventKind::Op(op), told))
    }

    /// The ghost whose action a handler calls, if it calls one: that of the handler's object.
    pub(super) fn told_ghost(&mut self, frame: &Frame, base: &ast::Expr) -> Option<RoleId> {
        let ast::ExprKind::Name(name) = &base.kind else { return None };
        let ghost = self.protocol.role(name).filter(|role| self.protocol.is_ghost(*role))?;
        let is_handler = !frame.global && !frame.here && !self.protocol.is_ghost(frame.seen);
        if !is_handler || frame.look_up(name).is_some() {
            return None;
        }
        let of = |role: RoleId| self.protocol.roles[role.index()].object;
        let (wanted, found) = (of(ghost), of(frame.seen));
        if wanted != found {
            let [wanted, found] = [wanted, found].map(|kind| self.protocol.objects[kind.index()].clone());
            self.error(
                Code::Claim,
                base.span,
                format!("the ghost `{name}` is about {wanted}, and this is done for {found}"),
            )
            .help("a handler tells the ghosts of its own object");
        }
        Some(ghost)
    }

    /// A handler tells a ghost: `order.came(sender)`. What is passed is worked out for the ghost alone.
    pub(super) fn tell_ghost(
        &mut self,
        frame: &mut Frame,
        ghost: RoleId,
        (action, args): (&ast::Ident, &[ast::Expr]),
        span: Span,
        steps: &mut Vec<Step>,
    ) -> Option<()> {
        let locals = frame.locals.len();
        let (action, scope) = self.enter(frame, ghost, action, args, steps)?;
        for local in &mut frame.locals[locals..] {
            local.name = TOLD.into();
        }
        let mut told = Vec::new();
        let event = (frame.sender, frame.caller);
        (frame.sender, frame.caller) = (Origin::Nowhere, Origin::Nowhere);
        self.expand(frame, ghost, &action, scope, &mut told);
        (frame.sender, frame.caller) = event;
        steps.push(Step { kind: StepKind::Elsewhere(Owner::Role(ghost), ghost, told), span });
        Some(())
    }

    /// Notes a statement that would do more than watch.
    fn only_watches(&mut self, statement: &ast::Statement) {
        let is_memory = |e: &ast::Expr| matches!(&e.kind, ast::ExprKind::Item(base, _) if matches!(&base.kind, ast::ExprKind::Name(n) if n == "memory"));
        match &statement.kind {
            S::If { then, otherwise, .. } => then.iter().chain(otherwise).for_each(|s| self.only_watches(s)),
            S::For { body, .. } => body.iter().for_each(|s| self.only_watches(s)),
            S::Assign { target, .. } if !is_memory(target) => {}
            S::Let { .. } | S::Call(_) | S::Assert(_) => {}
            _ => {
                self.error(Code::Claim, statement.span, "a ghost only watches")
                    .help("it may assign to its variables, branch, loop and `assert`");
            }
        }
    }

    /// Notes that a ghost, or a claim, asks for what only a node's handler sees.
    pub(super) fn only_in_handlers(&mut self, frame: &Frame, what: &str, span: Span) -> Option<()> {
        if frame.global {
            self.error(Code::Claim, span, format!("only a handler can look at `{what}`"))
                .help("say it about the states of the roles");
            return None;
        }
        if self.protocol.is_ghost(frame.seen) {
            self.error(Code::Claim, span, format!("a ghost has no `{what}`: it is on no node"))
                .help("it sees its own variables, and what it is told");
            return None;
        }
        Some(())
    }

    /// Notes that a handler names a ghost, or a ghost another's record.
    pub(super) fn may_look_at(&mut self, frame: &Frame, role: RoleId, span: Span) -> Option<()> {
        if frame.global {
            return Some(());
        }
        let name = self.protocol.roles[role.index()].name.clone();
        if self.protocol.is_ghost(frame.seen) {
            self.error(Code::Claim, span, format!("a ghost cannot look at `{name}`"))
                .help("it sees its own variables, and what it is told; an invariant can compare the two");
            return None;
        }
        if self.protocol.is_ghost(role) {
            self.error(Code::Claim, span, format!("the protocol cannot look at the ghost `{name}`"))
                .help("ghosts are there for `check` alone: look at them in invariants; a handler may tell one something, `GHOST.ACTION(..)`");
            return None;
        }
        Some(())
    }
}
