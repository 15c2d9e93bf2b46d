//! Compiled protocols made by hand, so that the engine's tests need no compiler.

use std::sync::Arc;
use trivium_contract::empty_protocol;
use trivium_contract::local::Local;
use trivium_engine::{Engine, Event, Node, Object, Thread};
use trivium_protocol::source::Span;
use trivium_protocol::*;

/// A protocol with one lane, `main`, and one role, `home of block`.
pub struct Hand {
    pub protocol: Protocol,
}

pub const HOME: RoleId = RoleId(0);
pub const MAIN: LaneId = LaneId(0);

pub fn number() -> Type {
    range(i64::MIN, i64::MAX)
}

pub fn range(lo: i64, hi: i64) -> Type {
    Type::Int { lo: Bound::fixed(lo), hi: Bound::fixed(hi) }
}

pub fn some_node() -> Type {
    Type::Node { optional: false }
}

pub fn block(id: u32) -> Object {
    Object { kind: BLOCK, id }
}

pub fn step(kind: StepKind) -> Step {
    Step { kind, span: Span::default() }
}

pub fn expr(kind: ExprKind, ty: Type) -> Expr {
    Expr { kind, ty, span: Span::default() }
}

pub fn constant(value: i64) -> Expr {
    expr(ExprKind::Constant(Bound::fixed(value)), number())
}

pub fn local(id: u16) -> Expr {
    expr(ExprKind::Local(LocalId(id)), number())
}

pub fn place_of(role: RoleId, var: VarId) -> Place {
    Place { owner: Owner::Current, role, var, field: None }
}

pub fn place(var: VarId) -> Place {
    place_of(HOME, var)
}

pub fn var(var: VarId) -> Expr {
    expr(ExprKind::Var(place(var)), number())
}

pub fn binary(operator: Operator, left: Expr, right: Expr) -> Expr {
    expr(ExprKind::Binary(operator, Box::new(left), Box::new(right)), number())
}

pub fn assign(to: VarId, value: Expr) -> Step {
    step(StepKind::Assign(place(to), vec![value]))
}

pub fn goto(state: StateId) -> Step {
    step(StepKind::Goto(state))
}

pub fn send(message: MessageId, args: Vec<Expr>, to: Expr) -> Step {
    step(StepKind::Send { message, args, payload: PayloadSource::Nothing, object: None, to })
}

fn named(i: usize, ty: Type) -> Named {
    Named { name: format!("a{i}"), ty, span: Span::default() }
}

impl Hand {
    pub fn new() -> Hand {
        let mut protocol = empty_protocol();
        protocol.name = "hand".into();
        protocol.lanes.push(Lane {
            name: "main".into(),
            fifo: true,
            holds: None,
            queues: false,
            lossy: false,
            duplicating: false,
            merged: false,
            behind: None,
            span: Span::default(),
        });
        let mut hand = Hand { protocol };
        hand.role("home", RoleKind::Home, BLOCK);
        hand
    }

    pub fn role(&mut self, name: &str, kind: RoleKind, object: ObjectKindId) -> RoleId {
        self.protocol.roles.push(Role {
            name: name.into(),
            kind,
            object,
            states: Vec::new(),
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
            span: Span::default(),
        });
        RoleId(self.protocol.roles.len() as u8 - 1)
    }

    fn last(&mut self) -> &mut Role {
        self.protocol.roles.last_mut().unwrap()
    }

    /// Declarations below go to the role made last.
    pub fn state(&mut self, name: &str, access: Access) -> StateId {
        let role = self.last();
        role.states.push(State {
            name: name.into(),
            access,
            waiting: false,
            awaits: Vec::new(),
            dead: Vec::new(),
            copy_is_dead: false,
            keeps: false,
            contents: access != Access::None,
            timer: None,
            span: Span::default(),
        });
        role.table.push(vec![Response::Impossible; role.events.len()]);
        StateId(role.states.len() as u16 - 1)
    }

    pub fn var(&mut self, name: &str, ty: Type, initial: i64) -> VarId {
        let role = self.last();
        role.vars.push(Var { name: name.into(), ty, initial, span: Span::default() });
        VarId(role.vars.len() as u16 - 1)
    }

    pub fn record(&mut self, fields: &[Type]) -> Type {
        let fields = fields.iter().enumerate().map(|(i, ty)| named(i, ty.clone())).collect();
        self.protocol.records.push(Record { name: "pair".into(), fields });
        Type::Record(RecordId(self.protocol.records.len() as u16 - 1))
    }

    pub fn message(&mut self, name: &str, args: &[Type], payload: PayloadShape) -> MessageId {
        let role = RoleId(self.protocol.roles.len() as u8 - 1);
        let object = self.last().object;
        let args = args.iter().enumerate().map(|(i, ty)| named(i, ty.clone())).collect();
        let span = Span::default();
        self.protocol.messages.push(Message { name: name.into(), lane: MAIN, args, payload, role, object, span });
        MessageId(self.protocol.messages.len() as u16 - 1)
    }

    pub fn op(&mut self, name: &str, args: &[Type]) -> OpId {
        let object = self.last().object;
        let args = args.iter().enumerate().map(|(i, ty)| named(i, ty.clone())).collect();
        self.protocol.ops.push(Op {
            name: name.into(),
            object,
            object_may_be_none: false,
            body: None,
            is_event: false,
            args,
            result: None,
            span: Span::default(),
        });
        OpId(self.protocol.ops.len() as u16 - 1)
    }

    pub fn answer(&mut self, state: StateId, event: EventKind, response: Response) {
        let role = self.last();
        let column = role.column(event).unwrap_or_else(|| {
            role.events.push(event);
            role.table.iter_mut().for_each(|row| row.push(Response::Impossible));
            role.events.len() - 1
        });
        role.table[state.index()][column] = response;
    }

    /// A handler; its locals are the event's arguments, then `locals`.
    pub fn on(&mut self, state: StateId, event: EventKind, locals: &[Type], steps: Vec<Step>) {
        self.on_when(state, event, None, locals, steps);
    }

    pub fn on_when(
        &mut self,
        state: StateId,
        event: EventKind,
        guard: Option<Expr>,
        locals: &[Type],
        steps: Vec<Step>,
    ) {
        let args: Vec<Type> = match event {
            EventKind::Message(m) => &self.protocol.messages[m.index()].args[..],
            EventKind::Op(o) => &self.protocol.ops[o.index()].args[..],
            EventKind::Task(t) => &self.protocol.tasks[t.index()].args[..],
            _ => &[],
        }
        .iter()
        .map(|a| a.ty.clone())
        .collect();
        let (mut scalars, mut sets) = (0, 0);
        let all = args.iter().chain(locals).map(|ty| {
            let slot = match ty {
                Type::NodeSet | Type::IntSet { .. } => {
                    sets += 1;
                    Slot::Set { at: sets - 1 }
                }
                Type::Record(r) => {
                    let count = self.protocol.records[r.index()].fields.len() as u16;
                    scalars += count;
                    Slot::Scalars { at: scalars - count, count }
                }
                _ => {
                    scalars += 1;
                    Slot::Scalars { at: scalars - 1, count: 1 }
                }
            };
            Local_ { name: String::new(), ty: ty.clone(), slot }
        });
        let locals: Vec<Local_> = all.collect();
        let lanes = self.protocol.lanes.len();
        let role = self.last();
        let id = HandlerId(role.handlers.len() as u16);
        role.handlers.push(Handler {
            name: format!("h{}", id.0),
            event,
            guard,
            args: args.len() as u16,
            scalars,
            sets,
            locals,
            steps,
            longest: Bound::fixed(1),
            sends: vec![Bound::fixed(0); lanes],
            state,
            span: Span::default(),
        });
        let known = role.column(event).map(|c| role.table[state.index()][c].clone());
        let mut handlers = match known {
            Some(Response::Handle(handlers)) => handlers,
            _ => Vec::new(),
        };
        handlers.push(id);
        self.answer(state, event, Response::Handle(handlers));
    }

    pub fn defers(&mut self, up_to: i64, events: &[EventKind]) {
        let role = self.last();
        role.defers = Some(Bound::fixed(up_to));
        role.deferrable = events.to_vec();
    }

    pub fn load(self, nodes: u32) -> Engine {
        Engine::load(Arc::new(self.protocol), nodes).unwrap()
    }
}

use trivium_protocol::Local as Local_;

/// The home of blocks 0 and 4, of four nodes.
pub fn node0(engine: &Engine) -> Local {
    Local::new(engine, 0, 8, 32)
}

pub fn arrival(message: MessageId, sender: Node, args: &[i64]) -> Event {
    Event { sender, args: trivium_engine::Args::of(args), ..Event::local(EventKind::Message(message), block(0), 0) }
}

pub fn call(op: OpId, thread: Thread, args: &[i64]) -> Event {
    Event { args: trivium_engine::Args::of(args), ..Event::local(EventKind::Op(op), block(0), thread) }
}
