//! A handler that is being compiled: its locals, and what names mean in it.

use trivium_protocol::source::Span;
use trivium_protocol::*;

/// What a name stands for inside a handler.
#[derive(Clone, Debug)]
pub(super) enum Binding {
    /// A local of the handler.
    Local(LocalId),
    /// What an earlier part of the handler left in the record when it began to wait.
    Kept(VarId),
    /// The address, value or size of the access that faulted.
    Fault(ExprKind, Type),
}

/// Names of one block. Beyond a barrier nothing is seen: an action does not see its caller's locals.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    pub names: Vec<(String, Binding)>,
    pub barrier: bool,
}

/// Where `sender` and `caller` come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The event that is being handled.
    Event,
    /// The record: the event that began the wait.
    Kept(VarId),
    /// A local: what the record of another instance holds, taken along into its actions.
    Local(LocalId),
    /// There is none.
    Nowhere,
}

/// A `lower` before an `await`: what access it leaves, and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lowered {
    pub access: Access,
    pub span: Span,
}

/// A handler being compiled.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    /// The role whose handler this is.
    pub role: RoleId,
    /// The role whose names are seen: another one inside `other.action(..)`.
    pub seen: RoleId,
    pub state: StateId,
    pub event: EventKind,
    /// What waiting states that begin here are named after.
    pub name: String,
    /// The access that a waiting state that begins here inherits.
    pub access: Access,
    pub locals: Vec<Local>,
    pub scalars: u16,
    pub sets: u16,
    pub scopes: Vec<Scope>,
    pub sender: Origin,
    pub caller: Origin,
    /// The wait that a `while waiting` clause belongs to.
    pub wait: Option<std::rc::Rc<super::waiting::Site>>,
    /// The call whose thread `caller` is, if that is known: what `return` must fit.
    pub call: Option<OpId>,
    /// A `goto` or `free` of this instance that some path to here has passed: the word, and where it stands.
    pub went: Option<(&'static str, Span)>,
    /// A `lower` that every path to here has passed, for the `await` that follows: the access that it leaves.
    pub lowered: Option<Lowered>,
    /// The accesses that the present statement performs before the rest of it, where it may perform any.
    pub performs: Option<Vec<Step>>,
    /// Whether this is an invariant, where other nodes may be looked at.
    pub global: bool,
    /// Whether it is about one node, whose roles are seen, though it stands outside of them: an assumption.
    pub here: bool,
    /// Whether it makes first records: no event has happened.
    pub initially: bool,
    /// Outside of roles: the kind of the object that is spoken of.
    pub about: Option<ObjectKindId>,
}

impl Frame {
    pub fn new(role: RoleId, state: StateId, event: EventKind, name: String, access: Access) -> Frame {
        Frame {
            role,
            seen: role,
            state,
            event,
            name,
            access,
            locals: Vec::new(),
            scalars: 0,
            sets: 0,
            scopes: vec![Scope::default()],
            sender: Origin::Event,
            caller: Origin::Event,
            wait: None,
            call: None,
            went: None,
            lowered: None,
            performs: None,
            global: false,
            here: false,
            initially: false,
            about: None,
        }
    }

    /// The handler, when all its steps are known. What analyses find out about it is still to come.
    pub fn into_handler(self, name: String, args: usize, guard: Option<Expr>, steps: Vec<Step>, span: Span) -> Handler {
        Handler {
            name,
            event: self.event,
            guard,
            locals: self.locals,
            args: args as u16,
            scalars: self.scalars,
            sets: self.sets,
            steps,
            longest: Bound::fixed(0),
            sends: Vec::new(),
            state: self.state,
            span,
        }
    }

    /// A new local, known by its name in the innermost scope.
    pub fn local(&mut self, protocol: &Protocol, name: &str, ty: Type) -> LocalId {
        let id = self.hidden_local(protocol, name, ty);
        self.bind(name, Binding::Local(id));
        id
    }

    /// A new local that no name stands for.
    pub fn hidden_local(&mut self, protocol: &Protocol, name: &str, ty: Type) -> LocalId {
        let slot = match &ty {
            Type::NodeSet | Type::IntSet { .. } | Type::Array { .. } | Type::List { .. } => {
                self.sets += 1;
                Slot::Set { at: self.sets - 1 }
            }
            Type::Record(r) => {
                let count = protocol.records[r.index()].fields.len() as u16;
                self.scalars += count;
                Slot::Scalars { at: self.scalars - count, count }
            }
            _ => {
                self.scalars += 1;
                Slot::Scalars { at: self.scalars - 1, count: 1 }
            }
        };
        self.locals.push(Local { name: name.to_string(), ty, slot });
        LocalId(self.locals.len() as u16 - 1)
    }

    pub fn bind(&mut self, name: &str, binding: Binding) {
        let scope = self.scopes.last_mut().expect("a frame has a scope");
        scope.names.push((name.to_string(), binding));
    }

    pub fn look_up(&self, name: &str) -> Option<Binding> {
        for scope in self.scopes.iter().rev() {
            if let Some((_, binding)) = scope.names.iter().rev().find(|(n, _)| n == name) {
                return Some(binding.clone());
            }
            if scope.barrier {
                return None;
            }
        }
        None
    }

    /// All names that can be seen, the innermost meaning of each.
    pub fn visible(&self) -> Vec<(String, Binding)> {
        let mut seen: Vec<(String, Binding)> = Vec::new();
        for scope in self.scopes.iter().rev() {
            for (name, binding) in scope.names.iter().rev() {
                if !seen.iter().any(|(n, _)| n == name) {
                    seen.push((name.clone(), binding.clone()));
                }
            }
            if scope.barrier {
                break;
            }
        }
        seen.reverse();
        seen
    }
}
