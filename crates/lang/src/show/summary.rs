//! What a role does about each event, in short: what tables and diagrams are made of.

use trivium_protocol::*;

/// A role as a table: states × events.
pub(super) struct Table<'a> {
    pub role: &'a Role,
    /// The names of the events, column by column.
    pub events: Vec<String>,
    /// For each state and event what happens.
    pub cells: Vec<Vec<Cell>>,
}

/// What happens to an event in a state.
pub(super) enum Cell {
    /// One outcome for each guarded handler, in order.
    Handle(Vec<HandlerSummary>),
    Defer,
    Hold,
    Stall,
    Impossible,
    Passes,
}

/// What a handler does, in short.
pub(super) struct HandlerSummary {
    /// Its guard as written.
    pub guard: Option<String>,
    /// Its ways through, those that end in the same state taken together.
    pub paths: Vec<Path>,
}

/// What a handler does on the ways that end in one state.
#[derive(Clone, Default)]
pub(super) struct Path {
    /// What it may send, each message and destination once.
    pub sends: Vec<Sent>,
    /// `install`, `resume`, `return`, ..: what it does besides sending.
    pub deeds: Vec<String>,
    /// The state to which it goes, if it goes to another.
    pub target: Option<StateId>,
}

/// A message that a handler may send.
#[derive(Clone, PartialEq)]
pub(super) struct Sent {
    pub message: String,
    /// To whom, as written.
    pub to: String,
    /// Whether it stands in a loop.
    pub many: bool,
}

pub(super) fn tables(protocol: &Protocol) -> Vec<Table<'_>> {
    let roles = protocol.roles.iter().filter(|role| role.kind != RoleKind::Ghost);
    roles.map(|role| table(protocol, role)).collect()
}

fn table<'a>(protocol: &Protocol, role: &'a Role) -> Table<'a> {
    let events = role.events.iter().map(|&e| protocol.event_name(e)).collect();
    let cell = |(response, event): (&Response, &EventKind)| match response {
        Response::Defer => Cell::Defer,
        Response::Hold if matches!(event, EventKind::Message(_)) => Cell::Stall,
        Response::Hold => Cell::Hold,
        Response::Impossible => Cell::Impossible,
        Response::Passes => Cell::Passes,
        Response::Handle(list) => {
            Cell::Handle(list.iter().map(|h| outcome(protocol, &role.handlers[h.index()])).collect())
        }
    };
    let cells = role.table.iter().map(|row| row.iter().zip(&role.events).map(cell).collect()).collect();
    Table { role, events, cells }
}

/// The states in which a record may begin: the first, or those that the role's `initially` names.
pub(super) fn begins_in(protocol: &Protocol, role: &Role) -> Vec<StateId> {
    let Some(initially) = &role.initially else { return vec![StateId(0)] };
    let mut states: Vec<StateId> =
        outcome(protocol, initially).paths.iter().map(|path| path.target.unwrap_or_default()).collect();
    states.sort();
    states
}

fn outcome(protocol: &Protocol, handler: &Handler) -> HandlerSummary {
    let mut paths = follow(protocol, &handler.steps, false, vec![Path::default()]);
    for path in &mut paths {
        if path.target == Some(handler.state) {
            path.target = None;
        }
    }
    HandlerSummary { guard: handler.guard.as_ref().map(|g| written(protocol, g)), paths: merged(paths) }
}

/// The ways so far, each led on through some steps.
fn follow(protocol: &Protocol, steps: &[Step], many: bool, mut paths: Vec<Path>) -> Vec<Path> {
    for step in steps {
        match &step.kind {
            StepKind::Send { message, to, .. } => {
                let message = protocol.messages[message.index()].name.clone();
                let sent = Sent { message, to: written(protocol, to), many };
                paths.iter_mut().for_each(|p| add(&mut p.sends, sent.clone()));
            }
            StepKind::Goto(state) => {
                paths.iter_mut().for_each(|p| p.target = Some(*state));
                paths = merged(paths);
            }
            StepKind::If(_, a, b) => {
                let mut other = follow(protocol, b, many, paths.clone());
                paths = follow(protocol, a, many, paths);
                paths.append(&mut other);
                paths = merged(paths);
            }
            StepKind::ForSet(_, _, body) | StepKind::ForRange(_, _, _, body) | StepKind::ForList(_, _, body) => {
                paths = follow(protocol, body, true, paths);
            }
            StepKind::Elsewhere(_, role, body) => {
                // Another instance's states are not this one's.
                let inner = follow(protocol, body, many, vec![Path::default()]);
                let told = format!("tell {}", protocol.roles[role.index()].name);
                for path in &mut paths {
                    add(&mut path.deeds, told.clone());
                    for inner in &inner {
                        inner.sends.iter().for_each(|s| add(&mut path.sends, s.clone()));
                        inner.deeds.iter().for_each(|d| add(&mut path.deeds, d.clone()));
                    }
                }
            }
            other => {
                if let Some(deed) = deed(protocol, other) {
                    paths.iter_mut().for_each(|p| add(&mut p.deeds, deed.clone()));
                }
            }
        }
    }
    paths
}

fn deed(protocol: &Protocol, step: &StepKind) -> Option<String> {
    Some(match step {
        StepKind::Start(task, _) => format!("start {}", protocol.tasks[task.index()].name),
        StepKind::Resume => "resume".into(),
        StepKind::Complete => "complete".into(),
        StepKind::CompleteWith(..) => "complete".into(),
        StepKind::Perform(perform) => match perform.kind {
            PerformKind::Read | PerformKind::ReadTo | PerformKind::ReadData => "perform read".into(),
            PerformKind::Write | PerformKind::WriteFrom | PerformKind::WriteData => "perform write".into(),
            PerformKind::Rmw => "perform rmw".into(),
        },
        StepKind::Return { .. } => "return".into(),
        StepKind::Defer => "defer".into(),
        StepKind::Stall => "stall".into(),
        StepKind::Yield => "yield".into(),
        StepKind::Install(_) | StepKind::InstallOwn(_) => "install".into(),
        StepKind::Copy { .. } => "copy".into(),
        StepKind::Store(..) => "store".into(),
        StepKind::Fill(line) => format!("fill {line}"),
        StepKind::Upgrade => "upgrade".into(),
        StepKind::Take(line) => format!("take {line}"),
        StepKind::Invalidate => "invalidate".into(),
        StepKind::Impossible => "fault".into(),
        StepKind::Insert(place, _) | StepKind::Remove(place, _) => {
            let made = protocol.made.iter().find(|made| made.role == place.role)?;
            let deed = if matches!(step, StepKind::Insert(..)) { "new" } else { "free" };
            format!("{deed} {}", protocol.objects[made.object.index()])
        }
        _ => return None,
    })
}

fn add<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

/// One path for each state in which some end.
fn merged(paths: Vec<Path>) -> Vec<Path> {
    let mut merged: Vec<Path> = Vec::new();
    for path in paths {
        match merged.iter_mut().find(|p| p.target == path.target) {
            None => merged.push(path),
            Some(same) => {
                path.sends.into_iter().for_each(|s| add(&mut same.sends, s));
                path.deeds.into_iter().for_each(|d| add(&mut same.deeds, d));
            }
        }
    }
    merged
}

impl HandlerSummary {
    /// What all ways do, together.
    pub(super) fn all(&self) -> Path {
        let mut all = Path::default();
        for path in &self.paths {
            path.sends.iter().for_each(|s| add(&mut all.sends, s.clone()));
            path.deeds.iter().for_each(|d| add(&mut all.deeds, d.clone()));
        }
        all
    }

    /// Whether it may end in the state in which it started.
    pub(super) fn stays(&self) -> bool {
        self.paths.iter().any(|p| p.target.is_none())
    }
}

/// An expression as the file writes it, on one line.
pub(super) fn written(protocol: &Protocol, expr: &Expr) -> String {
    let words: Vec<&str> = protocol.sources.excerpt(expr.span).split_whitespace().collect();
    words.join(" ")
}

/// What an invariant says: as the file writes it, or in words where no file does.
pub(super) fn claimed(protocol: &Protocol, invariant: &Invariant) -> String {
    let is_added = protocol.made.iter().any(|made| protocol.claim_of_made(made) == invariant.name);
    match is_added {
        true => format!("all records of a free {} are as at first", protocol.objects[invariant.object.index()]),
        false => written(protocol, &invariant.condition),
    }
}

/// A role with its longest handler, by the number of nodes that makes most of it.
pub(super) fn longest(role: &Role) -> Option<&Handler> {
    let mut longest: Option<&Handler> = None;
    for handler in &role.handlers {
        if longest.is_none_or(|l| handler.longest.at(MANY) > l.longest.at(MANY)) {
            longest = Some(handler);
        }
    }
    longest
}

/// For each lane on which a role sends unasked: the handler that sends most, and how many.
pub(super) fn worst_sends<'a>(protocol: &'a Protocol, role: &'a Role) -> Vec<(&'a Lane, &'a Handler, Bound)> {
    let mut found = Vec::new();
    for (i, lane) in protocol.lanes.iter().enumerate() {
        let mut worst: Option<(&Handler, Bound)> = None;
        for handler in &role.handlers {
            let sends = handler.sends[i];
            if sends != Bound::fixed(0) && worst.is_none_or(|(_, w)| sends.at(MANY) > w.at(MANY)) {
                worst = Some((handler, sends));
            }
        }
        found.extend(worst.map(|(handler, sends)| (lane, handler, sends)));
    }
    found
}

/// The greatest machine: bounds that depend on the number of nodes are compared there.
const MANY: u32 = MAX_NODES;

/// Where a role's instances live, in words.
pub(super) fn lives(role: &Role) -> &'static str {
    match role.kind {
        RoleKind::Home => "at its home",
        RoleKind::Elsewhere => "on every node but its home",
        RoleKind::Everywhere => "on every node",
        RoleKind::Agent => "once on every node",
        RoleKind::Ghost => "in `check` only",
    }
}

/// `none` for a state that gives no access; nothing for objects that are not blocks.
pub(super) fn access(role: &Role, state: &State) -> String {
    if role.object == BLOCK { state.access.to_string() } else { String::new() }
}

/// A state as a target: what a waiting one waits for, when that says enough.
pub(super) fn target_name(protocol: &Protocol, role: &Role, state: StateId) -> String {
    let state = &role.states[state.index()];
    if !state.waiting {
        return state.name.clone();
    }
    let awaits: Vec<&str> = state.awaits.iter().map(|m| protocol.messages[m.index()].name.as_str()).collect();
    let lowered = state.name.split_once('(').map_or("", |(_, rest)| rest.trim_end_matches(')'));
    match lowered {
        "" => format!("await {}", awaits.join("|")),
        access => format!("await {} ({access})", awaits.join("|")),
    }
}

/// `Put(base: address, w: word)`.
pub(super) fn signature(protocol: &Protocol, name: &str, args: &[Named]) -> String {
    if args.is_empty() {
        return name.to_string();
    }
    let args: Vec<String> = args.iter().map(|a| format!("{}: {}", a.name, protocol.type_name(&a.ty))).collect();
    format!("{name}({})", args.join(", "))
}

/// A call with the object that it is about.
pub(super) fn call_signature(protocol: &Protocol, op: &Op) -> String {
    let object = &protocol.objects[op.object.index()];
    let mut args = if op.object == NODE { Vec::new() } else { vec![object.clone()] };
    args.extend(op.args.iter().map(|a| format!("{}: {}", a.name, protocol.type_name(&a.ty))));
    let result = op.result.as_ref().map_or(String::new(), |ty| format!(": {}", protocol.type_name(ty)));
    format!("{}({}){result}", op.name, args.join(", "))
}

/// A lane's properties in words.
pub(super) fn lane_words(protocol: &Protocol, lane: &Lane) -> String {
    let order = match (lane.fifo, lane.merged) {
        (true, true) => "fifo, merged",
        (true, false) => "fifo",
        (false, _) => "unordered",
    };
    let behind = lane.behind.map_or(String::new(), |id| format!(", behind {}", protocol.lanes[id.index()].name));
    let room = lane.holds.as_ref().map_or("buffered".to_string(), |k| format!("{} {k}", lane.takes()));
    let lossy = if lane.lossy { ", lossy" } else { "" };
    let duplicating = if lane.duplicating { ", duplicating" } else { "" };
    let shared = shared_words(protocol, lane);
    format!("{order}, {room}{shared}{lossy}{duplicating}{behind}")
}

/// With which lanes a lane shares its queue, in words; nothing if with none.
fn shared_words(protocol: &Protocol, lane: &Lane) -> String {
    let is_it = |id: &&LaneId| protocol.lanes[id.index()].name == lane.name;
    let shared = protocol.shares.iter().find(|shared| shared.lanes.iter().any(|id| is_it(&id)));
    shared.map_or(String::new(), |shared| {
        let others = shared.lanes.iter().filter(|id| !is_it(id)).map(|id| protocol.lanes[id.index()].name.as_str());
        format!(", shares {} with {}", shared.holds, others.collect::<Vec<_>>().join(", "))
    })
}

/// The data of a message in words; nothing if it carries none.
pub(super) fn payload_words(message: &Message) -> &'static str {
    match message.payload {
        PayloadShape::Nothing => "",
        PayloadShape::Block => "with block",
        PayloadShape::Memory => "with memory",
        PayloadShape::List => "with list",
        PayloadShape::Bytes => "with bytes",
    }
}
