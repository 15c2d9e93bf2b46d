//! Roles: their states' clauses become handlers, then a table without gaps.

use super::frame::{Binding, Frame, Scope};
use super::types::{NUMBER, OPERATION};
use super::*;
use crate::ast::{Body, Otherwise};
use crate::diagnostics::counted;
use trivium_diagnostic::Code;

/// The events of a block's role that are neither messages nor calls.
const BLOCK_EVENTS: [(&str, EventKind); 7] = [
    ("read", EventKind::Read),
    ("write", EventKind::Write),
    ("rmw", EventKind::Rmw),
    ("evict", EventKind::Evict),
    ("writeback", EventKind::WriteBack),
    ("prefetch", EventKind::Prefetch),
    ("prefetch_write", EventKind::PrefetchWrite),
];

/// The events of a role whose objects have an image.
const IMAGE_EVENTS: [(&str, EventKind); 3] =
    [("image", EventKind::Image), ("evict", EventKind::Evict), ("writeback", EventKind::WriteBack)];

impl Compiler {
    pub(super) fn roles(&mut self) {
        self.find_handling_roles();
        let asts = Rc::clone(&self.asts);
        for (r, role) in asts.iter().enumerate() {
            for (s, state) in role.states.iter().enumerate() {
                self.answers[r][s].otherwise = state.otherwise;
                for clause in &state.clauses {
                    let id = StateId(s as u16);
                    let access = self.protocol.roles[r].states[s].access;
                    let frame = Frame::new(RoleId(r as u8), id, EventKind::Timer, state.name.text.clone(), access);
                    self.clause(frame, Some(state), clause, &format!("{}.", state.name.text));
                }
            }
            self.tasks_of(r, role);
            self.waiting_states();
            self.unknown_waits(r);
            self.initially(r, role);
            self.check_defer_space(r, role);
        }
        if self.diagnostics.is_empty() {
            for r in 0..self.protocol.roles.len() {
                self.table(r, &asts[r]);
            }
            self.check_handled();
        }
    }

    /// Each message and call belongs to the role that has a clause for it.
    fn find_handling_roles(&mut self) {
        let asts = Rc::clone(&self.asts);
        for (r, role) in asts.iter().enumerate() {
            let mut names = Vec::new();
            for state in &role.states {
                state.clauses.iter().for_each(|c| named_events(c, &mut names));
            }
            role.clauses.iter().flatten().for_each(|c| named_events(&c.clause, &mut names));
            role.actions.iter().chain(&role.tasks).for_each(|a| awaited(&a.body, &mut names));
            for name in names {
                let Some(id) = self.protocol.message(&name.text) else {
                    self.handles_event(r, name);
                    continue;
                };
                let before = self.protocol.messages[id.index()].role;
                if before.0 != u8::MAX && before.index() != r {
                    let other = self.protocol.roles[before.index()].name.clone();
                    self.error(
                        Code::Answer,
                        name.span,
                        format!("the role `{other}` already handles the message `{}`", name.text),
                    )
                    .help("each message is handled by one role: use two names");
                    continue;
                }
                let message = &mut self.protocol.messages[id.index()];
                message.role = RoleId(r as u8);
                message.object = self.protocol.roles[r].object;
            }
        }
    }

    /// A role answers an event that bodies say: about its kind of object the event is.
    fn handles_event(&mut self, r: usize, name: &ast::Ident) {
        let Some(id) = self.protocol.op(&name.text).filter(|id| self.protocol.ops[id.index()].is_event) else { return };
        let role = &self.protocol.roles[r];
        if !matches!(role.kind, RoleKind::Everywhere | RoleKind::Agent) {
            let role = role.name.clone();
            self.error(
                Code::Answer,
                name.span,
                format!("`{}` comes from threads of any node, and `{role}` is not on each", name.text),
            )
            .help("let a role that lives `everywhere` answer it, and call an action of the other");
        }
        self.protocol.ops[id.index()].object = self.protocol.roles[r].object;
    }

    fn check_handled(&mut self) {
        for m in 0..self.protocol.messages.len() {
            let message = &self.protocol.messages[m];
            if message.role.0 == u8::MAX {
                let (span, name) = (message.span, message.name.clone());
                self.error(Code::Answer, span, format!("no role handles the message `{name}`"))
                    .help("handle it or remove it");
            }
        }
        for o in 0..self.protocol.ops.len() {
            let op = EventKind::Op(OpId(o as u16));
            let (declared, is_handled) =
                (&self.protocol.ops[o], self.protocol.roles.iter().any(|r| r.events.contains(&op)));
            let (span, name, what) =
                (declared.span, declared.name.clone(), if declared.is_event { "event" } else { "call" });
            match (is_handled, self.spelled_out.contains(&OpId(o as u16))) {
                (false, false) => {
                    self.error(Code::Answer, span, format!("no role handles the {what} `{name}`"))
                        .help("handle it or remove it");
                }
                (true, true) => {
                    self.error(Code::Answer, span, format!("the call `{name}` has a body, and a role handles it, too"))
                        .help("remove one of them: `event` is what a body says to its engine");
                }
                _ => {}
            }
        }
        self.check_one_role_for_each_call();
        self.check_access_roles();
    }

    /// A call is answered by one role of a node.
    fn check_one_role_for_each_call(&mut self) {
        for o in 0..self.protocol.ops.len() {
            let op = EventKind::Op(OpId(o as u16));
            for is_home in [true, false] {
                let answers = |r: &&Role| r.events.contains(&op) && r.kind.lives_at(is_home);
                let roles: Vec<(Span, String)> =
                    self.protocol.roles.iter().filter(answers).map(|r| (r.span, r.name.clone())).collect();
                if let [(_, first), (span, second), ..] = &roles[..] {
                    let name = self.protocol.ops[o].name.clone();
                    self.error(
                        Code::Answer,
                        *span,
                        format!("on one node both `{first}` and `{second}` handle the call `{name}`"),
                    )
                    .help("one role of a node answers a call; let it call an action of the other");
                    break;
                }
            }
        }
    }

    /// For a block, at most one role of a node gives access.
    fn check_access_roles(&mut self) {
        for is_home in [true, false] {
            let gives = |r: &&Role| {
                r.object == BLOCK
                    && r.kind.lives_at(is_home)
                    && (r.states.iter().any(|s| s.access != Access::None)
                        || r.events.iter().any(|e| e.wants().is_some()))
            };
            let roles: Vec<(Span, String)> =
                self.protocol.roles.iter().filter(gives).map(|r| (r.span, r.name.clone())).collect();
            if let [(_, first), (span, second), ..] = &roles[..] {
                let whom = if is_home { "at a block's home" } else { "away from a block's home" };
                self.error(Code::Answer, *span, format!("{whom}, both `{first}` and `{second}` give access to it"))
                    .help("one role of a node gives access; let the other call its actions");
            }
        }
    }

    /// A clause of a state, or of a wait: one handler for each event.
    pub(super) fn clause(&mut self, frame: Frame, state: Option<&ast::State>, clause: &ast::Clause, prefix: &str) {
        for event in &clause.events {
            let Some(kind) = self.event(&frame, event, clause) else { continue };
            let r = frame.role.index();
            let s = frame.state.index();
            match &clause.body {
                Body::Otherwise(what) => {
                    if clause.guard.is_some() {
                        let word = match what {
                            Otherwise::Defer => "defer",
                            Otherwise::Stall => "stall",
                            Otherwise::Impossible => "impossible",
                        };
                        self.error(Code::Answer, clause.span, "a guard needs a handler in braces")
                            .help(format!("write `on X when G {{ {word} }}`"));
                    }
                    self.direct(r, s, kind, *what, clause.span);
                }
                Body::As(message) => self.handled_as(&frame, state, kind, event, message, prefix),
                Body::Steps(steps) => {
                    self.handler(frame.clone(), kind, event, clause.guard.as_ref(), steps, prefix, clause.span);
                }
            }
        }
    }

    /// `on EVENT defer`, `on EVENT impossible`; behind clauses with guards it is what happens when none of these holds.
    fn direct(&mut self, r: usize, s: usize, event: EventKind, what: Otherwise, span: Span) {
        if what == Otherwise::Stall && matches!(event, EventKind::Timer | EventKind::Task(_)) {
            self.error(Code::Answer, span, "a task or a timer cannot stall")
                .help("leave the clause out, or say what happens");
            return;
        }
        // `on prefetch as M`, where M is deferred or impossible: nobody waits for what is not answered.
        if event.is_hint() {
            return;
        }
        let at = self.answers[r][s].list.iter().position(|(e, _)| *e == event);
        let Some(at) = at else {
            self.answers[r][s].list.push((event, Answer::Direct(what, span)));
            return;
        };
        let guarded = match &self.answers[r][s].list[at].1 {
            Answer::Handlers(list) if self.is_guarded(r, list) => list.clone(),
            _ => {
                self.error(Code::Answer, span, "an earlier clause answers this event already")
                    .help("remove one of them");
                return;
            }
        };
        if what == Otherwise::Defer && self.protocol.roles[r].defers.is_none() {
            self.needs_defer_space(RoleId(r as u8), span);
        }
        if what == Otherwise::Impossible {
            self.refuse(r, s, event, ExcludedBy::Clause, span);
        }
        let id = self.fallback(r, s, &guarded, Some(what), span);
        if let Answer::Handlers(list) = &mut self.answers[r][s].list[at].1 {
            list.push(id);
        }
    }

    /// Whether none of these handlers may run because of their guards.
    pub(super) fn is_guarded(&self, r: usize, list: &[HandlerId]) -> bool {
        list.last().is_some_and(|last| self.protocol.roles[r].handlers[last.index()].guard.is_some())
    }

    /// A handler for what is left when no guard of these holds; without a `what`, nothing is done then.
    pub(super) fn fallback(
        &mut self,
        r: usize,
        s: usize,
        list: &[HandlerId],
        what: Option<Otherwise>,
        span: Span,
    ) -> HandlerId {
        let kind = what.map(|what| match what {
            Otherwise::Stall => StepKind::Stall,
            Otherwise::Defer => StepKind::Defer,
            Otherwise::Impossible => StepKind::Impossible,
        });
        let role = &mut self.protocol.roles[r];
        let last = &role.handlers[list.last().expect("a clause has a handler").index()];
        let mut fallback = last.clone();
        fallback.guard = None;
        fallback.name = format!("{}.otherwise", last.name);
        fallback.steps = kind.map(|kind| Step { kind, span }).into_iter().collect();
        fallback.state = StateId(s as u16);
        fallback.span = span;
        role.handlers.push(fallback);
        HandlerId(role.handlers.len() as u16 - 1)
    }

    fn event(&mut self, frame: &Frame, event: &ast::Event, clause: &ast::Clause) -> Option<EventKind> {
        let name = event.name.text.as_str();
        let role = &self.protocol.roles[frame.role.index()];
        let of_block = role.object == BLOCK;
        let of_blocks = BLOCK_EVENTS.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind);
        if self.image_of_role(frame.role).is_some()
            && let Some((_, kind)) = IMAGE_EVENTS.iter().find(|(known, _)| *known == name)
        {
            return self.event_of_image(frame.role, *kind, event.name.span);
        }
        match name {
            "writeback" if of_block && !self.protocol.cached => {
                self.error(
                    Code::Answer,
                    event.name.span,
                    "`writeback` is about a processor's cache, which this protocol has not",
                )
                .help("declare `processor cached`; with tagged processors there is `evict`");
                None
            }
            _ if of_blocks.is_some_and(EventKind::is_hint) && !matches!(clause.body, Body::Steps(_) | Body::As(_)) => {
                self.error(
                    Code::Answer,
                    event.name.span,
                    format!("`{name}` is a hint: where nothing answers it, nothing happens"),
                )
                .help(format!("leave this out, or write `on {name} {{ .. }}`"));
                None
            }
            _ if of_block && of_blocks.is_some() => of_blocks,
            _ if of_blocks.is_some() => {
                self.error(Code::Answer, event.name.span, format!("only roles of a block have the event `{name}`"));
                None
            }
            "after" => {
                if event.after.is_none() {
                    self.error(Code::Answer, event.name.span, "after how long?").help("`on after TIME { .. }`");
                }
                let time = event.after.as_ref().and_then(|t| self.bound(t))?;
                let state = &mut self.protocol.roles[frame.role.index()].states[frame.state.index()];
                if state.timer.replace(time).is_some() {
                    self.error(Code::Answer, clause.span, "a state has at most one `after`");
                }
                Some(EventKind::Timer)
            }
            _ => {
                if let Some(id) = self.protocol.message(name) {
                    return Some(EventKind::Message(id));
                }
                if let Some(id) = self.protocol.op(name) {
                    let wanted = self.protocol.ops[id.index()].object;
                    let found = self.protocol.roles[frame.role.index()].object;
                    if wanted != found {
                        let (w, f) = (
                            self.protocol.objects[wanted.index()].clone(),
                            self.protocol.objects[found.index()].clone(),
                        );
                        self.error(
                            Code::Answer,
                            event.name.span,
                            format!("the call `{name}` is about `{w}`, this role about `{f}`"),
                        )
                        .help("the first parameter of a call names its object");
                        return None;
                    }
                    return Some(EventKind::Op(id));
                }
                if let Some(task) = self.task_of(frame.role, name) {
                    if matches!(clause.body, Body::Otherwise(Otherwise::Impossible)) {
                        return Some(EventKind::Task(task));
                    }
                    self.error(
                        Code::Answer,
                        event.name.span,
                        format!("what the task `{name}` does is said where it is declared"),
                    )
                    .help(format!("a state can only say `on {name} impossible`"));
                    return None;
                }
                let mut known: Vec<String> = BLOCK_EVENTS.iter().map(|(name, _)| name.to_string()).collect();
                known.extend(self.protocol.messages.iter().map(|m| m.name.clone()));
                known.extend(self.protocol.ops.iter().map(|o| o.name.clone()));
                self.unknown(event.name.span, "event", name, known.iter().map(String::as_str));
                None
            }
        }
    }

    /// `on read as GetRead`, `on prefetch as read`: the handlers of the message, or of another local event, in the same state, for the local event.
    fn handled_as(
        &mut self,
        frame: &Frame,
        state: Option<&ast::State>,
        kind: EventKind,
        event: &ast::Event,
        message: &ast::Ident,
        prefix: &str,
    ) {
        let Some(state) = state else {
            self.error(Code::Answer, message.span, "`as` is for the clauses of a state");
            return;
        };
        let is_local = BLOCK_EVENTS.iter().any(|(name, _)| *name == message.text);
        let has_arguments = match is_local {
            true => named(state, message).any(|(_, event)| event.args.is_some()),
            false => self.message_of(message).is_some_and(|m| !self.protocol.messages[m.index()].args.is_empty()),
        };
        if has_arguments {
            self.error(
                Code::Answer,
                message.span,
                format!("`{}` has arguments, which a local event has not", message.text),
            )
            .help("write an action and call it from both handlers");
            return;
        }
        let mut found = false;
        for (clause, _) in named(state, message) {
            found = true;
            match &clause.body {
                Body::Steps(steps) => {
                    self.handler(frame.clone(), kind, event, clause.guard.as_ref(), steps, prefix, clause.span);
                }
                Body::Otherwise(what) => {
                    self.direct(frame.role.index(), frame.state.index(), kind, *what, event.name.span);
                }
                Body::As(_) => {
                    self.error(Code::Answer, message.span, "this leads to another `as`");
                }
            }
        }
        if !found {
            self.error(Code::Answer, message.span, format!("this state has no handler for `{}`", message.text));
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn handler(
        &mut self,
        mut frame: Frame,
        kind: EventKind,
        event: &ast::Event,
        guard: Option<&ast::Expr>,
        body: &[ast::Statement],
        prefix: &str,
        span: Span,
    ) {
        let name = format!("{prefix}{}", event.name.text);
        frame.event = kind;
        frame.name = name.clone();
        frame.sender = frame::Origin::Event;
        frame.call = if let EventKind::Op(op) = kind { Some(op) } else { None };
        frame.caller = match kind {
            EventKind::Op(_) | EventKind::Read | EventKind::Write | EventKind::Rmw | EventKind::Image => {
                frame::Origin::Event
            }
            _ => frame::Origin::Nowhere,
        };
        let mut steps = Vec::new();
        match kind {
            EventKind::Message(m) => {
                let declared = self.protocol.messages[m.index()].args.clone();
                self.bind_args(&mut frame, &declared, event.args.as_deref(), event.name.span);
            }
            EventKind::Op(o) => {
                let op = &self.protocol.ops[o.index()];
                let declared = op.args.clone();
                let skip = usize::from(op.object != NODE);
                // The object may be named too: it is the present one.
                if let Some([object, rest @ ..]) = event.args.as_deref()
                    && skip == 1
                    && rest.len() == declared.len()
                {
                    let kind = Type::Object(self.protocol.ops[o.index()].object);
                    frame.bind(&object.text, Binding::Fault(ExprKind::Object, kind));
                }
                let names = event
                    .args
                    .as_deref()
                    .map(|names| if names.len() == declared.len() + skip { &names[skip..] } else { names });
                self.bind_args(&mut frame, &declared, names, event.name.span);
            }
            EventKind::Read | EventKind::Write | EventKind::Rmw => self.bind_fault(&mut frame, kind, event),
            _ if kind.is_hint() => self.no_arguments(event),
            EventKind::WriteBack => {
                frame.sender = frame::Origin::Nowhere;
                self.written_back(&mut frame, event, &mut steps);
            }
            _ => {
                frame.sender = frame::Origin::Nowhere;
            }
        }
        frame.scopes.push(Scope::default());
        let is_guarded = guard.is_some();
        let guard = guard.and_then(|g| self.expr_of(&mut frame, g, &Type::Bool));
        self.statements(&mut frame, body, &mut steps);
        self.must_wait(&frame);
        // A mistake in a guard is told once: without its guard the clause would hide those behind it.
        if guard.is_some() || !is_guarded {
            self.add_handler(frame, guard, steps, &name, span);
        }
    }

    /// `on image`, `on writeback(v)`: one role of a kind composes its image, on every node.
    fn event_of_image(&mut self, role: RoleId, kind: EventKind, span: Span) -> Option<EventKind> {
        let object = self.protocol.roles[role.index()].object;
        if self.protocol.roles[role.index()].kind != RoleKind::Everywhere {
            self.error(Code::Answer, span, "each node's own engine composes its line")
                .help("write this in a role that lives `everywhere`, and call an action of the other");
            return None;
        }
        let composed = |other: &usize| {
            self.protocol.roles[*other].object == object
                && self.answers[*other]
                    .iter()
                    .flat_map(|state| &state.list)
                    .any(|(event, _)| matches!(event, EventKind::Image | EventKind::WriteBack | EventKind::Evict))
        };
        if let Some(other) = (0..role.index()).find(composed) {
            let other = self.protocol.roles[other].name.clone();
            self.error(Code::Answer, span, format!("the role `{other}` composes this image already"))
                .help("one role does; let it call an action of this one");
            return None;
        }
        Some(kind)
    }

    /// `on writeback(v)` of an image: what the line held.
    fn written_back(&mut self, frame: &mut Frame, event: &ast::Event, steps: &mut Vec<Step>) {
        let is_image = self.image_of_role(frame.role).is_some();
        let [name] = event.args.as_deref().unwrap_or(&[]) else {
            if event.args.is_some() {
                self.error(Code::Answer, event.name.span, "`writeback` brings one thing, what the line held")
                    .help("`on writeback(v)`");
            }
            return;
        };
        if !is_image {
            self.error(Code::Answer, name.span, "what a block's line held has no name: `install` brings it to memory");
            return;
        }
        let span = event.name.span;
        steps.push(Step { kind: StepKind::Install(None), span });
        steps.extend(self.taken(frame, &name.text, span).map(|kind| Step { kind, span }));
    }

    /// A hint is about a block: it has no address.
    fn no_arguments(&mut self, event: &ast::Event) {
        if event.args.is_some() {
            self.error(
                Code::Answer,
                event.name.span,
                format!("`{}` is about a block and has no arguments", event.name.text),
            )
            .help("no access is made yet, which could have an address");
        }
    }

    /// `read(a, n)`, `write(a, v, n)`, `rmw(a, n, op, x, y)`: as many of them as are named.
    fn bind_fault(&mut self, frame: &mut Frame, kind: EventKind, event: &ast::Event) {
        let word = (ExprKind::FaultValue, Type::Word);
        let address = (ExprKind::FaultAddress, Type::Address);
        let size = (ExprKind::FaultSize, NUMBER);
        let meanings = match kind {
            EventKind::Read => vec![address, size],
            EventKind::Rmw => {
                let operation = (ExprKind::FaultOperation, OPERATION);
                vec![address, size, operation, word, (ExprKind::FaultExpected, Type::Word)]
            }
            _ => vec![address, word, size],
        };
        let names = event.args.as_deref().unwrap_or(&[]);
        if names.len() > meanings.len() {
            self.error(Code::Answer, event.name.span, format!("`{}` has at most {} arguments", event.name.text, meanings.len()))
                .help("`read(address, size)`, `write(address, value, size)`, `rmw(address, size, operation, operand, expected)`");
        }
        for (name, (kind, ty)) in names.iter().zip(meanings) {
            frame.bind(&name.text, Binding::Fault(kind, ty));
        }
    }

    /// Makes locals of an event's arguments, under their declared names or those given here.
    pub(super) fn bind_args(
        &mut self,
        frame: &mut Frame,
        declared: &[Named],
        names: Option<&[ast::Ident]>,
        span: Span,
    ) {
        if let Some(names) = names
            && names.len() != declared.len()
        {
            self.error(
                Code::Answer,
                span,
                format!(
                    "there {} {}, not {}",
                    if declared.len() == 1 { "is" } else { "are" },
                    counted(declared.len(), "argument"),
                    names.len()
                ),
            );
        }
        for (i, arg) in declared.iter().enumerate() {
            let name = names.and_then(|n| n.get(i)).map_or(arg.name.as_str(), |n| n.text.as_str());
            frame.local(&self.protocol, name, arg.ty.clone());
        }
    }

    /// A finished handler joins its role, and its state's answers.
    pub(super) fn add_handler(
        &mut self,
        frame: Frame,
        guard: Option<Expr>,
        mut steps: Vec<Step>,
        name: &str,
        span: Span,
    ) {
        // Nothing stands before a `stall`; there each step that has an effect looks for itself.
        let may_stall = trivium_protocol::walk::contains_stall(&steps);
        if let Some(kind) = self.present_must_live(frame.role, span).filter(|_| !may_stall) {
            steps.insert(0, Step { kind, span });
        }
        let args = match frame.event {
            EventKind::Message(m) => self.protocol.messages[m.index()].args.len(),
            EventKind::Op(o) => self.protocol.ops[o.index()].args.len(),
            EventKind::Task(t) => self.protocol.tasks[t.index()].args.len(),
            _ => 0,
        };
        let role = &mut self.protocol.roles[frame.role.index()];
        let id = HandlerId(role.handlers.len() as u16);
        let guarded = guard.is_some();
        let (in_role, state, event) = (frame.role, frame.state, frame.event);
        role.handlers.push(frame.into_handler(name.to_string(), args, guard, steps, span));
        let answers = &mut self.answers[in_role.index()][state.index()];
        let before = answers.list.iter_mut().find(|(e, _)| *e == event);
        match before {
            None => answers.list.push((event, Answer::Handlers(vec![id]))),
            Some((_, Answer::Handlers(list))) => {
                let last = list.last().copied();
                list.push(id);
                let shadowed = last.is_some_and(|l| role.handlers[l.index()].guard.is_none());
                if shadowed {
                    self.error(Code::Answer, span, "an earlier clause answers this event already").help(if guarded {
                        "put the clause with the guard first"
                    } else {
                        "remove one of them"
                    });
                }
            }
            Some((_, Answer::Direct(..))) => {
                self.error(Code::Answer, span, "an earlier clause answers this event already")
                    .help("remove one of them");
            }
        }
    }

    fn task_of(&self, role: RoleId, name: &str) -> Option<TaskId> {
        let found = self.protocol.tasks.iter().position(|task| task.name == name && task.role == role);
        found.map(|at| TaskId(at as u16))
    }

    fn tasks_of(&mut self, r: usize, role: &ast::Role) {
        for task in &role.tasks {
            let Some(id) = self.task_of(RoleId(r as u8), &task.name.text) else { continue };
            // A task may get its turn in any declared state that does not call it impossible.
            for s in 0..role.states.len() {
                if self.answers[r][s].list.iter().any(|(event, _)| *event == EventKind::Task(id)) {
                    continue;
                }
                let name = format!("{}.{}", role.states[s].name.text, task.name.text);
                let access = self.protocol.roles[r].states[s].access;
                let kind = EventKind::Task(id);
                let mut frame = Frame::new(RoleId(r as u8), StateId(s as u16), kind, name.clone(), access);
                frame.sender = frame::Origin::Nowhere;
                frame.caller = frame::Origin::Nowhere;
                let declared = self.protocol.tasks[id.index()].args.clone();
                self.bind_args(&mut frame, &declared, None, task.name.span);
                frame.scopes.push(Scope::default());
                let mut steps = Vec::new();
                self.statements(&mut frame, &task.body, &mut steps);
                self.must_wait(&frame);
                self.add_handler(frame, None, steps, &name, task.name.span);
            }
        }
    }

    fn check_defer_space(&mut self, r: usize, role: &ast::Role) {
        if role.defers.is_some() {
            return;
        }
        let direct = self.answers[r].iter().any(|a| {
            matches!(a.otherwise, Some((Otherwise::Defer, _)))
                || a.list.iter().any(|(_, x)| matches!(x, Answer::Direct(Otherwise::Defer, _)))
        });
        if direct || matches!(role.otherwise, Some((Otherwise::Defer, _))) {
            self.needs_defer_space(RoleId(r as u8), role.name.span);
        }
    }
}

/// The clauses of a state for an event of a name.
fn named<'a>(state: &'a ast::State, name: &'a ast::Ident) -> impl Iterator<Item = (&'a ast::Clause, &'a ast::Event)> {
    let event = |clause: &'a ast::Clause| clause.events.iter().find(|event| event.name.text == name.text);
    state.clauses.iter().filter_map(move |clause| Some((clause, event(clause)?)))
}

/// The events that a clause names, its awaits included.
fn named_events<'a>(clause: &'a ast::Clause, names: &mut Vec<&'a ast::Ident>) {
    names.extend(clause.events.iter().map(|e| &e.name));
    if let Body::Steps(steps) = &clause.body {
        awaited(steps, names);
    }
}

fn awaited<'a>(block: &'a [ast::Statement], names: &mut Vec<&'a ast::Ident>) {
    for statement in block {
        match &statement.kind {
            ast::StatementKind::If { then, otherwise, .. } => {
                awaited(then, names);
                awaited(otherwise, names);
            }
            ast::StatementKind::For { body, .. } => awaited(body, names),
            ast::StatementKind::Await(wait) => {
                for arm in &wait.arms {
                    names.push(&arm.message);
                    awaited(&arm.body, names);
                }
                wait.clauses.iter().for_each(|c| named_events(c, names));
            }
            _ => {}
        }
    }
}
