//! A compiled protocol as a listing, step by step: what the accepting file tests expect.

use std::fmt::Write;
use trivium_protocol::*;

pub fn listing(protocol: &Protocol) -> String {
    let mut text = String::new();
    if protocol.sizes != CheckSizes::default() {
        let _ = writeln!(text, "check {:?}", protocol.sizes);
    }
    for role in &protocol.roles {
        let _ = writeln!(text, "role {} of {}", role.name, protocol.objects[role.object.index()]);
        for var in role.vars.iter().filter(|v| v.name.starts_with('$')) {
            let _ = writeln!(text, "  kept {}: {}", var.name, protocol.type_name(&var.ty));
        }
        if let Some(initially) = &role.initially {
            let _ = writeln!(text, "  initially  [{} steps]", initially.longest);
            Lister { protocol, role, handler: Some(initially) }.steps(&mut text, &initially.steps, 2);
        }
        for (state, row) in role.states.iter().zip(&role.table) {
            let access = if role.object == BLOCK { format!(": {}", state.access) } else { String::new() };
            let dead: Vec<&str> = state.dead.iter().map(|v| role.vars[v.index()].name.as_str()).collect();
            let clears = if dead.is_empty() { String::new() } else { format!(" clears {}", dead.join(", ")) };
            let after = state.timer.map_or(String::new(), |t| format!(" after {t}"));
            let _ = writeln!(text, "  state {}{access}{after}{clears}", state.name);
            for (event, response) in role.events.iter().zip(row) {
                answer(&mut text, protocol, role, *event, response);
            }
        }
        ghost(&mut text, protocol, role);
    }
    text
}

/// What a ghost does when it sees something.
fn ghost(text: &mut String, protocol: &Protocol, role: &Role) {
    for (watched, handler) in protocol
        .ghosts
        .iter()
        .filter(|ghost| protocol.roles[ghost.role.index()].name == role.name)
        .flat_map(|ghost| &ghost.clauses)
    {
        let handler = &role.handlers[handler.index()];
        let lister = Lister { protocol, role, handler: Some(handler) };
        let _ =
            writeln!(text, "    {} ({watched:?}, told {})  [{} steps]", handler.name, handler.args, handler.longest);
        lister.steps(text, &handler.steps, 3);
    }
}

fn answer(text: &mut String, protocol: &Protocol, role: &Role, event: EventKind, response: &Response) {
    let name = protocol.event_name(event);
    let Response::Handle(handlers) = response else {
        let _ = writeln!(text, "    {name}: {}", format!("{response:?}").to_lowercase());
        return;
    };
    for id in handlers {
        let handler = &role.handlers[id.index()];
        let lister = Lister { protocol, role, handler: Some(handler) };
        let guard = handler.guard.as_ref().map_or(String::new(), |g| format!(" when {}", lister.expr(g)));
        let sends: Vec<String> = handler
            .sends
            .iter()
            .zip(&protocol.lanes)
            .filter(|(s, _)| **s != Bound::fixed(0))
            .map(|(s, lane)| format!(", {s} on {}", lane.name))
            .collect();
        let _ = writeln!(text, "    {name}{guard}  [{} steps{}]", handler.longest, sends.concat());
        lister.steps(text, &handler.steps, 3);
    }
}

struct Lister<'a> {
    protocol: &'a Protocol,
    role: &'a Role,
    handler: Option<&'a Handler>,
}

impl Lister<'_> {
    fn steps(&self, text: &mut String, steps: &[Step], depth: usize) {
        for step in steps {
            let pad = "  ".repeat(depth);
            let line = self.step(&step.kind);
            let _ = writeln!(text, "{pad}{line}");
            match &step.kind {
                StepKind::If(_, yes, no) => {
                    self.steps(text, yes, depth + 1);
                    if !no.is_empty() {
                        let _ = writeln!(text, "{pad}else");
                        self.steps(text, no, depth + 1);
                    }
                }
                StepKind::ForSet(_, _, body) | StepKind::ForRange(_, _, _, body) | StepKind::ForList(_, _, body) => {
                    self.steps(text, body, depth + 1);
                }
                StepKind::Elsewhere(_, role, body) => {
                    let inner = Lister { role: &self.protocol.roles[role.index()], ..*self };
                    inner.steps(text, body, depth + 1);
                }
                _ => {}
            }
        }
    }

    fn step(&self, step: &StepKind) -> String {
        match step {
            StepKind::Assign(place, values) => format!("{} = {}", self.place(place), self.list(values)),
            StepKind::AssignElement(place, i, _, values) => {
                format!("{}[{}] = {}", self.place(place), self.expr(i), self.list(values))
            }
            StepKind::Let(local, values) => format!("let {} = {}", self.local(*local), self.list(values)),
            StepKind::Insert(place, e) => format!("{} gains {}", self.place(place), self.expr(e)),
            StepKind::Remove(place, e) => format!("{} loses {}", self.place(place), self.expr(e)),
            StepKind::Push(place, values) => format!("{} push {}", self.place(place), self.list(values)),
            StepKind::Pop(place, local) => format!("let {} = pop {}", self.local(*local), self.place(place)),
            StepKind::Clear(place) => format!("clear {}", self.place(place)),
            StepKind::If(e, _, _) => format!("if {}", self.expr(e)),
            StepKind::ForSet(local, e, _) => format!("for {} in {}", self.local(*local), self.expr(e)),
            StepKind::ForRange(local, a, b, _) => {
                format!("for {} in {}..{}", self.local(*local), self.expr(a), self.expr(b))
            }
            StepKind::ForList(local, place, _) => format!("for {} in {}", self.local(*local), self.place(place)),
            StepKind::Send { message, args, payload, object, to } => {
                let message = &self.protocol.messages[message.index()];
                let args = if args.is_empty() { String::new() } else { format!("({})", self.list(args)) };
                let payload = match payload {
                    PayloadSource::Nothing => String::new(),
                    PayloadSource::Block => " with block".into(),
                    PayloadSource::BlockOf(block) => format!(" with block {}", self.expr(block)),
                    PayloadSource::Received => " with payload".into(),
                    PayloadSource::Memory { from, to } => {
                        format!(" with memory[{}..{}]", self.expr(from), self.expr(to))
                    }
                    PayloadSource::List(place) => format!(" with list {}", self.place(place)),
                    PayloadSource::Own { from, to } => format!(" with own[{}..{}]", self.expr(from), self.expr(to)),
                    PayloadSource::Performed(local) => format!(" with %{}", local.0),
                };
                let of = object.as_ref().map_or(String::new(), |o| format!(" of {}", self.expr(o)));
                format!("send {}{args}{payload}{of} to {}", message.name, self.expr(to))
            }
            StepKind::Goto(state) => format!("goto {}", self.role.states[state.index()].name),
            StepKind::Resume => "resume".into(),
            StepKind::Complete => "complete".into(),
            StepKind::CompleteWith(value, thread) => {
                format!("complete with {} to {}", self.expr(value), self.expr(thread))
            }
            StepKind::Perform(perform) => {
                let args: Vec<String> = perform.args.iter().map(|arg| self.expr(arg)).collect();
                let asked = match perform.whose {
                    PerformFor::Program => "",
                    PerformFor::ProgramOf => " for a program",
                    PerformFor::Thread => " for its asker",
                };
                let result = perform.result.map_or(String::new(), |local| format!("%{} = ", local.0));
                format!("{result}perform {:?}({}){asked}", perform.kind, args.join(", "))
            }
            StepKind::Return { value, to } => {
                let value = value.as_ref().map_or(String::new(), |v| format!(" {}", self.expr(v)));
                let to = to.as_ref().map_or(String::new(), |t| format!(" to {}", self.expr(t)));
                format!("return{value}{to}")
            }
            StepKind::Defer => "defer".into(),
            StepKind::Stall => "stall".into(),
            StepKind::Start(task, args) => {
                format!("start {}({})", self.protocol.tasks[task.index()].name, self.list(args))
            }
            StepKind::Yield => "yield".into(),
            StepKind::Stop => "stop".into(),
            StepKind::InstallOwn(at) => format!("install to {}", self.expr(at)),
            StepKind::Install(at) => at.as_ref().map_or("install".into(), |a| format!("install at {}", self.expr(a))),
            StepKind::Copy { from, to, bytes } => {
                format!("copy {} to {}, {}", self.expr(from), self.expr(to), self.expr(bytes))
            }
            StepKind::Store(a, v) => format!("memory[{}] = {}", self.expr(a), self.expr(v)),
            StepKind::Fill(line) => format!("fill {line}"),
            StepKind::Upgrade => "upgrade".into(),
            StepKind::Compose(word) => format!("compose {}", self.expr(word)),
            StepKind::Take(line) => format!("take {line}"),
            StepKind::Invalidate => "invalidate".into(),
            StepKind::Impossible => "impossible".into(),
            StepKind::Assert(e, Asserted::Written) => format!("assert {}", self.expr(e)),
            StepKind::Assert(e, Asserted::AtHome) => format!("at home {}", self.expr(e)),
            StepKind::Assert(e, Asserted::Lives) => format!("must live {}", self.expr(e)),
            StepKind::Elsewhere(owner, role, _) => format!("at {}", self.owner(owner, *role)),
        }
    }

    fn list(&self, list: &[Expr]) -> String {
        list.iter().map(|e| self.expr(e)).collect::<Vec<_>>().join(", ")
    }

    fn local(&self, local: LocalId) -> String {
        let name = self.handler.map_or("", |h| h.locals[local.index()].name.as_str());
        format!("{name}%{}", local.0)
    }

    fn owner(&self, owner: &Owner, role: RoleId) -> String {
        let name = &self.protocol.roles[role.index()].name;
        match owner {
            Owner::Current => name.clone(),
            Owner::Role(_) => format!("{name} here"),
            Owner::RoleOf(_, e) => format!("{name}[{}]", self.expr(e)),
            Owner::At(_, e) => format!("{name} at {}", self.expr(e)),
        }
    }

    fn place(&self, place: &Place) -> String {
        let role = &self.protocol.roles[place.role.index()];
        let var = &role.vars[place.var.index()];
        let field = match (&place.field, &var.ty) {
            (Some(f), Type::Record(r)) => format!(".{}", self.protocol.records[r.index()].fields[*f as usize].name),
            _ => String::new(),
        };
        match &place.owner {
            Owner::Current => format!("{}{field}", var.name),
            owner => format!("({}).{}{field}", self.owner(owner, place.role), var.name),
        }
    }

    fn expr(&self, expr: &Expr) -> String {
        let e = |e: &Expr| self.expr(e);
        match &expr.kind {
            ExprKind::Constant(c) => match expr.ty {
                Type::Bool => (c.constant != 0).to_string(),
                Type::Node { .. } | Type::Thread if c.constant == -1 => "none".into(),
                Type::OrNone(_) if c.constant == expr.ty.none() => "none".into(),
                _ => c.to_string(),
            },
            ExprKind::Local(l) => self.local(*l),
            ExprKind::LocalField(l, f) => format!("{}.{f}", self.local(*l)),
            ExprKind::Var(place) => self.place(place),
            ExprKind::Sender => "sender".into(),
            ExprKind::Me => "me".into(),
            ExprKind::Home => "home".into(),
            ExprKind::AddressOf(a) => format!("address({})", e(a)),
            ExprKind::BytesOf(a) => format!("bytes({})", e(a)),
            ExprKind::BlockAt(a) => format!("block({})", e(a)),
            ExprKind::Made(a, most) => format!("made({} of {most})", e(a)),
            ExprKind::HomeOf(a) => format!("home({})", e(a)),
            ExprKind::Caller => "caller".into(),
            ExprKind::Object => "object".into(),
            ExprKind::FaultAddress => "fault.address".into(),
            ExprKind::FaultSize => "fault.size".into(),
            ExprKind::FaultValue => "fault.value".into(),
            ExprKind::FaultOperation => "fault.operation".into(),
            ExprKind::FaultExpected => "fault.expected".into(),
            ExprKind::Not(a) => format!("not {}", e(a)),
            ExprKind::Given(a) => format!("given({})", e(a)),
            ExprKind::Optional(a) => format!("optional({})", e(a)),
            ExprKind::Negate(a) => format!("-{}", e(a)),
            ExprKind::Binary(op, a, b) => {
                let op = match op {
                    Operator::Add => "+",
                    Operator::Subtract => "-",
                    Operator::Multiply => "*",
                    Operator::Divide => "/",
                    Operator::Remainder => "%",
                    Operator::Equal => "==",
                    Operator::Different => "!=",
                    Operator::Less => "<",
                    Operator::LessEqual => "<=",
                    Operator::And => "and",
                    Operator::Or => "or",
                };
                format!("({} {op} {})", e(a), e(b))
            }
            ExprKind::SetOf(list) => format!("{{{}}}", self.list(list)),
            ExprKind::AllNodes => "all".into(),
            ExprKind::SetBinary(op, a, b) => {
                let op = match op {
                    SetOperator::Union => "|",
                    SetOperator::Difference => "\\",
                    SetOperator::Intersection => "&",
                };
                format!("({} {op} {})", e(a), e(b))
            }
            ExprKind::LocalLength(l) => format!("{}.length", self.local(*l)),
            ExprKind::LocalElement(l, i, _) => format!("{}[{}]", self.local(*l), e(i)),
            ExprKind::SetEqual(a, b) | ExprKind::ArrayEqual(a, b) => format!("({} = {})", e(a), e(b)),
            ExprKind::In(a, b) => format!("({} in {})", e(a), e(b)),
            ExprKind::SetCount(a) => format!("{}.count", e(a)),
            ExprKind::Pick(a) => format!("pick({})", e(a)),
            ExprKind::Length(place) => format!("{}.length", self.place(place)),
            ExprKind::Element(place, i, _) => format!("{}[{}]", self.place(place), e(i)),
            ExprKind::Index(a) => format!("index({})", e(a)),
            ExprKind::NodeAt(a) => format!("node({})", e(a)),
            ExprKind::Room(lane, n, together) => {
                let beside = if *together == Bound::fixed(0) { String::new() } else { format!(", {together} in all") };
                format!("room({}, {}{beside})", self.protocol.lanes[lane.index()].name, e(n))
            }
            ExprKind::Memory(a) => format!("memory[{}]", e(a)),
            ExprKind::Probe => "probe".into(),
            ExprKind::ImageWord => "image".into(),
            ExprKind::Over(q, l, a) => format!("{q:?} {}: {}", self.local(*l), e(a)),
            ExprKind::InState(owner, role, states) => {
                let names = states.iter().map(|s| self.protocol.roles[role.index()].states[s.index()].name.as_str());
                format!("{} is ({})", self.owner(owner, *role), names.collect::<Vec<_>>().join(", "))
            }
            ExprKind::Contents(copy, node) => format!("{copy:?} at {}", self.expr(node)),
            ExprKind::Access(node) => format!("access at {}", self.expr(node)),
            ExprKind::Flight(m, to) => {
                let to = to.as_ref().map_or(String::new(), |t| format!(" to {}", e(t)));
                format!("flight({}{to})", self.protocol.messages[m.index()].name)
            }
        }
    }
}

/// What stands outside the roles.
pub fn claims(protocol: &Protocol) -> String {
    let mut text = String::new();
    let promises: Vec<String> = protocol.promises.iter().map(|p| protocol.promise_name(p)).collect();
    let assumes: Vec<String> = protocol.assumptions.iter().map(|p| protocol.assume_name(p)).collect();
    for (name, list) in [("promises", promises), ("assume", assumes)] {
        if !list.is_empty() {
            let _ = writeln!(text, "{name} {}", list.join(", "));
        }
    }
    for condition in &protocol.conditions {
        let lister = Lister { protocol, role: &protocol.roles[0], handler: None };
        let event = protocol.event_name(condition.event);
        let _ = writeln!(text, "assume {event} when {}", lister.expr(&condition.condition));
    }
    for param in &protocol.params {
        let _ = writeln!(text, "param {} = {} in {}..{}", param.name, param.value, param.lo, param.hi);
    }
    for lane in &protocol.lanes {
        let order = if lane.fifo { "fifo" } else { "unordered" };
        let takes = if lane.queues { "queues" } else { "holds" };
        let holds = lane.holds.as_ref().map_or("buffered".into(), |k| format!("{takes} {k}"));
        let lossy = if lane.lossy { " lossy" } else { "" };
        let duplicating = if lane.duplicating { " duplicating" } else { "" };
        let _ = writeln!(text, "lane {} {order} {holds}{lossy}{duplicating}", lane.name);
    }
    for shared in &protocol.shares {
        let _ = writeln!(text, "share {} up to {}", protocol.names_of_shared(shared), shared.holds);
    }
    let Some(role) = protocol.roles.first() else { return text };
    let lister = Lister { protocol, role, handler: None };
    for invariant in &protocol.invariants {
        let of = &protocol.objects[invariant.object.index()];
        let _ = writeln!(text, "invariant {} of {of}: {}", invariant.name, lister.expr(&invariant.condition));
    }
    for op in &protocol.ops {
        if let Some(called) = &op.body {
            let _ = writeln!(text, "op {}", op.name);
            text.push_str(&body(&lister, &called.steps));
        }
    }
    for scenario in &protocol.scenarios {
        let threads: Vec<String> =
            scenario.threads.iter().map(|t| format!("{}: {}", t.node, t.body.places.len())).collect();
        let forbid = scenario.forbid.as_ref().map_or("nothing".into(), |f| lister.expr(f));
        let _ = writeln!(
            text,
            "scenario {} ({}) registers {} forbids {forbid}",
            scenario.name,
            threads.join(", "),
            scenario.outcome_names().collect::<Vec<_>>().join(", ")
        );
        for thread in &scenario.threads {
            text.push_str(&body(&lister, &thread.body));
        }
    }
    text
}

/// The places of a body, where it has more than one access or call after the other.
fn body(lister: &Lister, body: &ThreadBody) -> String {
    let values = |values: &[ScenarioValue]| {
        let value = |value: &ScenarioValue| match value.block {
            Some(block) => format!("address({block}) + {}", value.number),
            None => value.number.to_string(),
        };
        values.iter().map(value).collect::<Vec<_>>().join(", ")
    };
    let look = |action: &ScenarioAction| {
        let what = match action {
            ScenarioAction::Read { block, .. } => format!("read {block}"),
            ScenarioAction::Write { block, .. } => format!("write {block}"),
            ScenarioAction::Call { op, object, .. } => {
                format!("{} of {object}", lister.protocol.ops[op.index()].name)
            }
        };
        let register = action.register().map_or(String::new(), |register| format!(" into %{register}"));
        format!("{what} ({}){register}", values(action.values()))
    };
    let is_plain = |value: &ScenarioValue| value.block.is_none();
    let is_straight = !body.places.is_empty() && body.looks().count() == body.places.len();
    if is_straight && body.looks().all(|look| look.values().iter().all(is_plain)) {
        return String::new();
    }
    let steps = body.places.iter().map(|place| match &place.step {
        BodyStep::Look(action) => look(action),
        BodyStep::Set(register, value) => format!("%{register} = {}", lister.expr(value)),
        BodyStep::Unless(condition, to) => format!("unless {} goto {to}", lister.expr(condition)),
        BodyStep::Goto(to) => format!("goto {to}"),
        BodyStep::Fence => "fence".into(),
        BodyStep::Assert(condition) => format!("assert {}", lister.expr(condition)),
        BodyStep::Return(None) => "return".into(),
        BodyStep::Return(Some(value)) => format!("return {}", lister.expr(value)),
        BodyStep::Act(CallAction::Look(local)) => format!("image into %{local}"),
        BodyStep::Act(CallAction::Swap { seen, word, result }) => {
            format!("swap %{seen} with {} into %{result}", lister.expr(word))
        }
        BodyStep::Act(CallAction::Say { event, args, result }) => {
            let args: Vec<String> = args.iter().map(|arg| lister.expr(arg)).collect();
            let result = result.map_or(String::new(), |result| format!(" into %{result}"));
            format!("say {}({}){result}", lister.protocol.ops[event.index()].name, args.join(", "))
        }
    });
    let ends = steps.chain(["end".to_string()]).zip(&body.forgets).enumerate();
    let lines = ends.map(|(at, (step, forgets))| {
        let forgets: Vec<String> = forgets.iter().map(|register| format!(" -%{register}")).collect();
        format!("  {at}: {step}{}\n", forgets.join(""))
    });
    "  body\n".to_string() + &lines.collect::<String>()
}
