//! Bodies of calls (`docs/semantics.md`, section 6): where a thread stands in one, and how it goes on from there.
//!
//! A thread in a body stands at an act, which it is about to do or within: a look at an image, a `swap`, an event. All other steps are done with the
//! act before them. The call itself stays what the thread is about; the act is an intent beside it.

use crate::system::body::passed;
use crate::system::client::Intent;
use crate::system::model::Model;
use crate::system::promise::{FAULT, Violation};
use crate::system::world::{ThreadState, World};
use trivium_engine::number::fit;
use trivium_engine::{Args, Object};
use trivium_protocol::source::Span;
use trivium_protocol::{BodyStep, CallAction, CallBody, Expr, NODE, OpId, Type};

/// How a call goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// It is at an act.
    Acts,
    /// It returns this.
    Returns(i64),
}

/// The call of a thread that is within a body, and that body.
pub(crate) struct Within<'m> {
    pub body: &'m CallBody,
    pub object: Object,
    args: &'m Args,
    op: OpId,
}

impl<'m> Within<'m> {
    /// Of an intent, if it is a call with a body.
    pub fn of(model: &'m Model, intent: &'m Intent) -> Option<Within<'m>> {
        let Intent::Call { op, object, args } = intent else { return None };
        let body = model.protocol().ops[op.index()].body.as_ref()?;
        Some(Within { body, object: *object, args, op: *op })
    }

    /// The arguments and variables of the body.
    fn locals(&self, model: &Model, world: &World, thread: usize) -> Vec<i64> {
        let variables = self.variables();
        let kept = (0..variables).map(|variable| world.variable(&model.layout, thread, variable));
        self.args.words().iter().copied().chain(kept).collect()
    }

    fn variables(&self) -> usize {
        self.body.locals.len() - self.args.words().len()
    }

    fn set(&self, model: &Model, world: &mut World, thread: usize, local: u16, value: i64) {
        let variable = usize::from(local) - self.args.words().len();
        world.set_variable(&model.layout, thread, variable, value);
    }
}

/// The call that a thread is about.
pub(crate) fn within<'m>(model: &'m Model, world: &World, thread: usize) -> Option<Within<'m>> {
    world.act(&model.layout, thread)?;
    let (_, number) = world.thread(&model.layout, thread);
    Within::of(model, model.client.intents.get(number)?)
}

/// What a thread does in a body.
pub(crate) fn act<'m>(model: &'m Model, world: &World, thread: usize) -> Option<&'m CallAction> {
    let (_, place) = world.act(&model.layout, thread)?;
    match &within(model, world, thread)?.body.steps.places.get(place)?.step {
        BodyStep::Act(action) => Some(action),
        _ => None,
    }
}

/// The statement at which a thread is in a body.
pub(crate) fn statement(model: &Model, world: &World, thread: usize) -> Option<Span> {
    let (_, place) = world.act(&model.layout, thread)?;
    Some(within(model, world, thread)?.body.steps.places.get(place)?.span)
}

/// Hears which way a body takes at a condition.
pub(crate) type Ways<'a> = &'a mut dyn FnMut(Span, bool);

/// A thread begins a call with a body.
///
/// # Errors
/// A value that cannot be worked out.
pub(crate) fn enter(model: &Model, world: &mut World, thread: usize, ways: Ways) -> Result<Next, Violation> {
    let (_, number) = world.thread(&model.layout, thread);
    let Some(call) = model.client.intents.get(number).and_then(|intent| Within::of(model, intent)) else {
        return Ok(Next::Acts);
    };
    go_on(model, world, thread, &call, 0, ways)
}

/// An act of a body is done, and has given this.
///
/// # Errors
/// As [`enter`].
pub(crate) fn done(
    model: &Model,
    world: &mut World,
    thread: usize,
    result: i64,
    ways: Ways,
) -> Result<Next, Violation> {
    let (Some(call), Some((_, place))) = (within(model, world, thread), world.act(&model.layout, thread)) else {
        return Ok(Next::Acts);
    };
    if let Some(local) = act(model, world, thread).and_then(CallAction::register) {
        call.set(model, world, thread, local, result);
    }
    go_on(model, world, thread, &call, place + 1, ways)
}

/// What a thread expects of an image that it is about to swap, and what it wants it to become; nothing if it looks.
///
/// # Errors
/// A value that cannot be worked out.
pub(crate) fn swap(model: &Model, world: &World, thread: usize) -> Result<Option<(i64, i64)>, Violation> {
    let (Some(call), Some(CallAction::Swap { seen, word, .. })) =
        (within(model, world, thread), act(model, world, thread))
    else {
        return Ok(None);
    };
    let locals = call.locals(model, world, thread);
    let word = model.engine.evaluate_of_body(word, call.object, &locals).map_err(Violation::fault)?;
    Ok(Some((locals[usize::from(*seen)], word)))
}

/// Whether a look for which an `until` waits changes nothing: it would look again.
pub(crate) fn looks_in_vain(model: &Model, world: &World, thread: usize, word: i64) -> bool {
    let (Some(call), Some((_, place))) = (within(model, world, thread), world.act(&model.layout, thread)) else {
        return false;
    };
    let (Some(condition), Some(CallAction::Look(local))) = (call.body.until(place), act(model, world, thread)) else {
        return false;
    };
    let mut locals = call.locals(model, world, thread);
    locals[usize::from(*local)] = word;
    model.engine.evaluate_of_body(condition, call.object, &locals) == Ok(0)
}

/// A thread goes on from a place to the next act, or to the end of its call.
fn go_on(
    model: &Model,
    world: &mut World,
    thread: usize,
    call: &Within,
    mut at: usize,
    ways: Ways,
) -> Result<Next, Violation> {
    let value_of = |world: &World, expr: &Expr| {
        let locals = call.locals(model, world, thread);
        model.engine.evaluate_of_body(expr, call.object, &locals).map_err(Violation::fault)
    };
    let steps = &call.body.steps;
    let next = loop {
        let Some(place) = steps.places.get(at) else { break Next::Returns(0) };
        at = match &place.step {
            // Nobody sees that something is told before the engine hears of it, which it does later: so that takes no step of its own.
            BodyStep::Act(CallAction::Say { event, .. })
                if model.protocol().ops[event.index()].is_told() && world.told(&model.layout, thread).is_none() =>
            {
                let told = intent_of(model, world, thread, call, at)?;
                world.set_told(&model.layout, thread, Some(told));
                at + 1
            }
            BodyStep::Act(_) => break Next::Acts,
            BodyStep::Return(None) => break Next::Returns(0),
            BodyStep::Return(Some(value)) => {
                let value = value_of(world, value)?;
                is_result(model, call, at, value)?;
                break Next::Returns(value);
            }
            BodyStep::Assert(condition) => {
                let holds = value_of(world, condition)? != 0;
                if !holds {
                    return Err(is_false(model, thread, call, condition.span));
                }
                at + 1
            }
            step => {
                let (next, set) = passed(step, at, |expr| value_of(world, expr))?;
                if let Some((local, value)) = set {
                    call.set(model, world, thread, local, value);
                }
                if let BodyStep::Unless(..) = step {
                    ways(place.span, next == at + 1);
                }
                next
            }
        };
    };
    let (_, number) = world.thread(&model.layout, thread);
    if next != Next::Acts {
        world.leave_body(&model.layout, thread);
        return Ok(next);
    }
    for local in &steps.forgets[at] {
        call.set(model, world, thread, *local, 0);
    }
    let act = intent_of(model, world, thread, call, at)?;
    world.set_act(&model.layout, thread, act, fit(at, "the number of a place: there are at most 65,535"));
    world.set_thread(&model.layout, thread, ThreadState::Ready, number);
    Ok(next)
}

/// The intent of an act.
fn intent_of(model: &Model, world: &World, thread: usize, call: &Within, at: usize) -> Result<usize, Violation> {
    let own = call.object;
    let BodyStep::Act(action) = &call.body.steps.places[at].step else {
        return Err(Violation::new(FAULT, "a body stands at no act"));
    };
    let CallAction::Say { event, args, .. } = action else {
        let is_own = |intent: &Intent| matches!(intent, Intent::Image { object } if *object == own);
        return model.client.intents.iter().position(is_own).ok_or_else(|| unknown(model, call, at));
    };
    let locals = call.locals(model, world, thread);
    let mut words = Args::NONE;
    for arg in args {
        words.push(model.engine.evaluate_of_body(arg, own, &locals).map_err(Violation::fault)?);
    }
    let declared = &model.protocol().ops[event.index()];
    let object = if declared.object == NODE { Object { kind: NODE, id: 0 } } else { own };
    let is_said = |intent: &Intent| matches!(intent, Intent::Call { op, object: about, args } if op == event && *about == object && *args == words);
    model.client.intents.iter().position(is_said).ok_or_else(|| unknown(model, call, at))
}

/// What a body asserts is false.
fn is_false(model: &Model, thread: usize, call: &Within, condition: Span) -> Violation {
    let protocol = model.protocol();
    let (text, place) = (protocol.sources.excerpt(condition), protocol.sources.place(condition));
    let (name, node) = (&protocol.ops[call.op.index()].name, model.client.threads[thread].node);
    let object = model.object_name(call.object);
    Violation::new(FAULT, format!("node {node}: `{name}` of {object} asserts `{text}`, which is false ({place})"))
}

/// Whether a call may return a value: one outside of its type is a fault (`docs/semantics.md`, section 6).
fn is_result(model: &Model, call: &Within, at: usize, value: i64) -> Result<(), Violation> {
    let protocol = model.protocol();
    let declared = &protocol.ops[call.op.index()];
    let wrong = match &declared.result {
        Some(Type::Int { lo, hi }) => {
            let (lo, hi) = (lo.at(model.nodes), hi.at(model.nodes));
            (!(lo..=hi).contains(&value)).then(|| format!("{value}, which is outside {lo}..{hi}"))
        }
        Some(ty @ Type::Object(_)) if value == ty.none() => {
            Some(format!("none, which is no {}", protocol.type_name(ty)))
        }
        _ => None,
    };
    let Some(wrong) = wrong else { return Ok(()) };
    let place = protocol.sources.place(call.body.steps.places[at].span);
    Err(Violation::new(FAULT, format!("`{}` returns {wrong} ({place})", declared.name)))
}

fn unknown(model: &Model, call: &Within, at: usize) -> Violation {
    let protocol = model.protocol();
    let place = protocol.sources.place(call.body.steps.places[at].span);
    let name = &protocol.ops[call.op.index()].name;
    Violation::new(FAULT, format!("`{name}` says an event with a value that is outside of its type ({place})"))
}
