//! Invariants, which look at all nodes at once, and outcomes of scenarios.

use crate::engine::Engine;
use crate::evaluate::{Scope, quantify, scalar};
use crate::fault::{Fault, FaultKind, Locate, Try, place, trouble};
use crate::layout::MAX_RECORD_BYTES;
use crate::mechanisms::{Node, Object};
use crate::set::Set;
use trivium_protocol::source::Span;
use trivium_protocol::{
    Access, BLOCK, Condition, CopyIn, Expr, ExprKind, Invariant, LocalId, MessageId, NODE, Owner, RoleId, StateId, Type,
};

/// The record of a role where it has no instance: untouched.
static NO_RECORD: [u8; MAX_RECORD_BYTES] = [0; MAX_RECORD_BYTES];

/// The state of the whole system, as an invariant sees it.
pub trait SystemView {
    /// The home of an object.
    fn home(&self, object: Object) -> Node;

    /// How many bytes a block has.
    fn block_bytes(&self) -> u64;
    /// The record of a role for an object on a node. Asked only where the role lives.
    fn record(&self, node: Node, role: RoleId, object: Object) -> &[u8];
    /// Whether that record is there; if not, it is what its role says initially.
    fn is_touched(&self, _: Node, _: RoleId, _: Object) -> bool {
        true
    }
    /// The word that is looked at of a node's copy of a block.
    fn contents(&self, node: Node, block: Object, copy: CopyIn) -> u64;
    /// The access that a node has to a block.
    fn access(&self, node: Node, block: Object) -> Access;
    /// How many messages of a kind about an object are on their way, to `to` if given.
    fn in_flight(&self, message: MessageId, object: Object, to: Option<Node>) -> u32;
}

impl Engine {
    /// Whether an invariant of the protocol holds for an object.
    ///
    /// # Errors
    /// A fault in the condition itself, such as a division by zero.
    pub fn evaluate_invariant<W: SystemView>(
        &self,
        invariant: &Invariant,
        object: Object,
        world: &W,
    ) -> Result<bool, Fault> {
        self.evaluate_with(invariant, object, [], world)
    }

    /// Whether a condition holds for an object whose first locals are given: the node that it is about, the arguments of a call.
    ///
    /// # Errors
    /// A fault in the condition itself.
    pub fn evaluate_with<W: SystemView>(
        &self,
        condition: &Invariant,
        object: Object,
        given: impl IntoIterator<Item = i64>,
        world: &W,
    ) -> Result<bool, Fault> {
        let mut locals = vec![0; condition.locals as usize];
        locals.iter_mut().zip(given).for_each(|(local, value)| *local = value);
        let mut view = View { locals, ..View::new(self, world, object, 0) };
        self.condition(&mut view, &condition.condition, object)
    }

    /// Whether an assumption about a use is kept when a node makes a call, with these arguments, or begins an access. Of
    /// the world only that node is looked at.
    ///
    /// # Errors
    /// A fault in the condition itself, such as a look at a role that the node has not.
    pub fn evaluate_condition<W: SystemView>(
        &self,
        condition: &Condition,
        me: Node,
        object: Object,
        args: &[i64],
        world: &W,
    ) -> Result<bool, Fault> {
        let locals = self.first_words(condition.event, args);
        let mut view = View { engine: self, world, object, me: Some(me), locals };
        self.condition(&mut view, &condition.condition, object)
    }

    /// The same of an assumption that looks at nothing but the call ([`Condition::is_of_call`]).
    ///
    /// # Errors
    /// As [`Self::evaluate_condition`].
    pub fn evaluate_of_call(
        &self,
        condition: &Condition,
        me: Node,
        object: Object,
        args: &[i64],
    ) -> Result<bool, Fault> {
        self.evaluate_condition(condition, me, object, args, &Nowhere)
    }

    /// The value of an expression over variables of a scenario's threads, such as of its `forbid`.
    ///
    /// # Errors
    /// A fault in the expression itself.
    pub fn evaluate_registers(&self, expr: &Expr, registers: &[i64]) -> Result<i64, Fault> {
        let object = Object { kind: BLOCK, id: 0 };
        let mut view = View { engine: self, world: &Nowhere, object, me: None, locals: registers.to_vec() };
        self.value(&mut view, expr, object, "a scenario")
    }

    /// The value of an expression in the body of a call about an object, over the body's locals.
    ///
    /// # Errors
    /// A fault in the expression itself.
    pub fn evaluate_of_body(&self, expr: &Expr, object: Object, locals: &[i64]) -> Result<i64, Fault> {
        let mut view = View { engine: self, world: &Nowhere, object, me: None, locals: locals.to_vec() };
        self.value(&mut view, expr, object, "the body of a call")
    }

    fn condition<W: SystemView>(&self, view: &mut View<W>, condition: &Expr, object: Object) -> Result<bool, Fault> {
        self.value(view, condition, object, "a condition").map(|value| value != 0)
    }

    fn value<W: SystemView>(
        &self,
        view: &mut View<W>,
        expr: &Expr,
        object: Object,
        within: &str,
    ) -> Result<i64, Fault> {
        scalar(view, expr).map_err(|trouble| Fault {
            kind: trouble.kind,
            node: 0,
            role: None,
            object,
            state: None,
            event: None,
            span: trouble.span,
            message: format!("in {within}: {}{}", trouble.kind, place(&self.protocol, trouble.span)),
        })
    }
}

/// A world without records and messages, for conditions over registers.
struct Nowhere;

impl SystemView for Nowhere {
    fn block_bytes(&self) -> u64 {
        0
    }

    fn home(&self, _: Object) -> Node {
        0
    }

    fn record(&self, _: Node, _: RoleId, _: Object) -> &[u8] {
        &NO_RECORD
    }

    fn contents(&self, _: Node, _: Object, _: CopyIn) -> u64 {
        0
    }

    fn access(&self, _: Node, _: Object) -> Access {
        Access::None
    }

    fn in_flight(&self, _: MessageId, _: Object, _: Option<Node>) -> u32 {
        0
    }
}

/// The scope of an invariant.
pub(crate) struct View<'e, 'w, W> {
    engine: &'e Engine,
    world: &'w W,
    object: Object,
    /// The node of which an assumption speaks.
    me: Option<Node>,
    locals: Vec<i64>,
}

impl<'e, 'w, W: SystemView> View<'e, 'w, W> {
    /// The scope of an invariant with so many locals.
    pub fn new(engine: &'e Engine, world: &'w W, object: Object, locals: u16) -> View<'e, 'w, W> {
        View { engine, world, object, me: None, locals: vec![0; usize::from(locals)] }
    }

    /// Gives a quantifier's variable its node.
    pub fn bind(&mut self, local: LocalId, node: Node, span: Span) -> Try<()> {
        match self.locals.get_mut(local.index()) {
            Some(place) => *place = i64::from(node),
            None => return trouble(FaultKind::Malformed, span),
        }
        Ok(())
    }

    /// The state of a role's instance; none where it does not live.
    pub fn state(&mut self, owner: &Owner, role: RoleId, span: Span) -> Try<Option<StateId>> {
        let (node, object) = self.resolve(owner, role, span)?;
        let lives = self.lives(node, role, object);
        Ok(lives.then(|| self.engine.state(role, self.world.record(node, role, object))))
    }

    /// Where the record that an owner means lies: node, role, object. A role at no given node is the one at the
    /// object's home.
    fn resolve(&mut self, owner: &Owner, role: RoleId, span: Span) -> Try<(Node, Object)> {
        let kind = self.engine.protocol.roles[role.index()].object;
        let object = match owner {
            Owner::RoleOf(_, id) => {
                let value = scalar(self, id)?;
                let range = FaultKind::Range { value, lo: 0, hi: i64::from(u32::MAX) };
                Object { kind, id: u32::try_from(value).map_err(|_| range).at(span)? }
            }
            _ if kind == NODE => Object { kind, id: 0 },
            _ => Object { kind, id: self.object.id },
        };
        let node = match owner {
            Owner::At(_, node) => {
                let node = scalar(self, node)?;
                self.engine.node(node).at(span)?
            }
            _ => match self.me {
                Some(me) => me,
                None if kind == NODE => return trouble(FaultKind::NotHere, span),
                None => self.world.home(object),
            },
        };
        Ok((node, object))
    }

    fn lives(&self, node: Node, role: RoleId, object: Object) -> bool {
        let kind = self.engine.protocol.roles[role.index()].kind;
        object.kind == NODE || kind.is_kept_at(self.world.home(object) == node)
    }
}

impl<'e, W: SystemView> Scope<'e> for View<'e, '_, W> {
    fn engine(&self) -> &'e Engine {
        self.engine
    }

    fn local(&self, local: LocalId, _: u16) -> Option<i64> {
        self.locals.get(local.index()).copied()
    }

    fn local_set(&self, _: LocalId) -> Option<Set> {
        None
    }

    fn local_type(&self, _: LocalId) -> Option<&'e Type> {
        None
    }

    fn record(&mut self, owner: &Owner, role: RoleId, span: Span) -> Try<&[u8]> {
        let (node, object) = self.resolve(owner, role, span)?;
        match self.lives(node, role, object) {
            true => Ok(self.world.record(node, role, object)),
            false if self.me.is_some() => trouble(FaultKind::NotHere, span),
            false => Ok(&NO_RECORD),
        }
    }

    fn home(&mut self, object: Object) -> Node {
        self.world.home(object)
    }

    fn block_bytes(&self) -> u64 {
        self.world.block_bytes()
    }

    fn own(&mut self, expr: &Expr) -> Try<i64> {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Me => match self.me {
                Some(me) => Ok(i64::from(me)),
                None => trouble(FaultKind::Malformed, span),
            },
            ExprKind::Home if self.object.kind == NODE => self.own(&Expr { kind: ExprKind::Me, ..expr.clone() }),
            ExprKind::Home => Ok(i64::from(self.world.home(self.object))),
            ExprKind::Object => Ok(i64::from(self.object.id)),
            ExprKind::InState(owner, role, states) => {
                let state = self.state(owner, *role, span)?;
                Ok(i64::from(state.is_some_and(|state| states.contains(&state))))
            }
            ExprKind::Contents(copy, node) => {
                let node = scalar(self, node)?;
                let node = self.engine.node(node).at(span)?;
                Ok(self.world.contents(node, self.object, *copy).cast_signed())
            }
            ExprKind::Access(node) => {
                let node = scalar(self, node)?;
                let node = self.engine.node(node).at(span)?;
                Ok(self.world.access(node, self.object) as i64)
            }
            ExprKind::Flight(message, to) => {
                let to = match to {
                    Some(node) => {
                        let node = scalar(self, node)?;
                        Some(self.engine.node(node).at(span)?)
                    }
                    None => None,
                };
                Ok(i64::from(self.world.in_flight(*message, self.object, to)))
            }
            ExprKind::Over(quantifier, local, body) => {
                let mut held = 0;
                for node in (0..).take(self.engine.nodes as usize) {
                    self.bind(*local, node, span)?;
                    held += u32::from(scalar(self, body)? != 0);
                }
                Ok(quantify(*quantifier, held, self.engine.nodes))
            }
            _ => trouble(FaultKind::Malformed, span),
        }
    }
}
