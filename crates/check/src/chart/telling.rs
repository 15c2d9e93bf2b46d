//! Executes a trace and writes down what a chart shows.

use super::growth::growth;
use super::recording::{Event, ToldIn, resolve};
use super::source::{self, Source};
use super::story::{Arrow, Frame, Moment, NodeView, RoleView, Spoken, Story};
use crate::config::System;
use crate::report::deadlock::{explain, stuck};
use crate::report::parameters::ParameterValue;
use crate::report::trace::{Subject, access_text, also, flight_text, image_text, message_text, subject};
use crate::report::{RecordChange, Report};
use crate::step::Stepper;
use crate::step::ghost;
use crate::system::action::{Action, event_kind};
use crate::system::client::Intent;
use crate::system::model::{Model, word_text};
use crate::system::promise::{DEADLOCK, Violation, check_state};
use crate::system::told::{self, Told};
use crate::system::world::{Flight, ThreadState, World};
use std::collections::BTreeSet;
use std::sync::Arc;
use trivium_diagnostic::Diagnostic;
use trivium_engine::number::fit;
use trivium_engine::{Disposition, Fault, Node, Object};
use trivium_protocol::{Access, BLOCK, EventKind, Line, NODE, Protocol, RoleId};

/// The story of a report's counterexample; none if nothing is violated.
///
/// # Errors
/// As [`crate::runs::explore`].
pub fn story(protocol: &Arc<Protocol>, system: &System, report: &Report) -> Result<Option<Story>, Diagnostic> {
    let Some(trace) = &report.trace else { return Ok(None) };
    let model = Model::new(protocol, system)?;
    let mut telling = Telling::new(&model);
    let mut actions = Vec::new();
    for (label, told) in &trace.labels {
        telling.stepper.actions(&telling.world, &mut actions);
        let Some(action) = label.resolve(&telling.stepper, &telling.world, &actions) else { break };
        if telling.happens(action, told).is_err() {
            break;
        }
    }
    let mut story = telling.end();
    if let Some(property) = &report.property {
        story.conclude(property, report.reason.as_ref(), &report.wait_cycle);
    }
    Ok(Some(story))
}

/// Executes recorded events, whose handlers are told what is recorded. An event that cannot happen is an error: its number, from 1.
///
/// # Errors
/// As [`crate::runs::explore`]; the inner error is the number of the first event that cannot happen.
pub fn replay(
    protocol: &Arc<Protocol>,
    system: &System,
    events: &[Event],
    told: &[ToldIn],
) -> Result<Result<Story, usize>, Diagnostic> {
    let model = Model::new(protocol, system)?;
    let mut telling = Telling::new(&model);
    let mut actions = Vec::new();
    for (number, event) in events.iter().enumerate() {
        telling.stepper.actions(&telling.world, &mut actions);
        let Some(action) = resolve(event, &telling.stepper, &telling.world, &actions) else {
            return Ok(Err(number + 1));
        };
        let told = told.iter().find(|told| told.step == number + 1).map_or(&[][..], |told| &told.told);
        if telling.happens(action, told).is_err() && number + 1 < events.len() {
            return Ok(Err(number + 2));
        }
    }
    Ok(Ok(telling.end()))
}

/// A story that is being told.
struct Telling<'m> {
    model: &'m Model,
    stepper: Stepper<'m>,
    world: World,
    /// All states so far, the present one excluded.
    worlds: Vec<World>,
    moments: Vec<Moment>,
    arrows: Vec<Arrow>,
    /// Messages on their way, oldest first, with their numbers among the arrows.
    on_the_way: Vec<(Flight, usize)>,
    violation: Option<Violation>,
}

impl<'m> Telling<'m> {
    fn new(model: &'m Model) -> Telling<'m> {
        let world = model.first();
        let violation = crate::system::begin::check_first(model, &world).err();
        Telling {
            model,
            stepper: Stepper::new(model),
            world,
            worlds: Vec::new(),
            moments: Vec::new(),
            arrows: Vec::new(),
            on_the_way: Vec::new(),
            violation,
        }
    }

    /// An event happens, and its handlers are told this. Afterwards nothing more does if it violates something.
    fn happens(&mut self, action: Action, told: &[Told]) -> Result<(), ()> {
        let model = self.model;
        let step = fit::<_, u32>(self.moments.len(), "the number of a step") + 1;
        let about = subject(model, &self.world, action);
        let received = match action {
            Action::Deliver { flight } => self.receive(self.world.flights[flight].unplaced(), step),
            Action::Repeat { flight } => self.receive_copy(self.world.flights[flight].unplaced(), step),
            Action::Lose { flight } => {
                self.lose(self.world.flights[flight].unplaced());
                None
            }
            _ => None,
        };
        let (said, (before, access_before)) = (self.said(action), self.instance(&about));
        let ghosts = ghost::lines(model, &self.world);
        self.worlds.push(self.world.clone());
        let result = self.stepper.perform_told(&mut self.world, action, told);
        let result = result.and_then(|()| check_state(model, &self.world));
        let (after, access_after) = self.instance(&about);
        let mut also = also(model, &self.worlds[self.worlds.len() - 1], &self.world, &about);
        let fault = result.as_ref().err().and_then(|violation| violation.fault.as_deref());
        also.extend(fault.and_then(|fault| self.at_fault(fault, &about, &also)));
        let forgotten = model.forgotten(&self.worlds[self.worlds.len() - 1], &self.world, about.node, about.object);
        let sent = self.send(step);
        self.moments.push(Moment {
            step,
            node: about.node,
            object: object_text(model, about.object),
            event: about.event,
            before,
            after,
            access_before,
            access_after,
            also,
            received,
            sent,
            performed: self
                .performed()
                .into_iter()
                .chain(told::sentence(self.stepper.told()))
                .chain(ghost::changed(&ghosts, ghost::lines(model, &self.world)))
                .collect(),
            forgotten,
            returned: self.returned(),
            said,
            answered: self.answered(),
            body_fails: self.stepper.account.body_fails,
            fate: self.fate(),
            source: self.place(result.as_ref().err()),
            dispatched: self.stepper.account.outcome.is_some(),
            decisive: false,
        });
        self.violation = result.err();
        if self.violation.is_some() { Err(()) } else { Ok(()) }
    }

    fn receive(&mut self, flight: Flight, step: u32) -> Option<usize> {
        // Messages that are equal cannot be told apart; in a channel that keeps order the oldest is the one.
        let at = self.on_the_way.iter().position(|(other, _)| *other == flight)?;
        let (_, arrow) = self.on_the_way.remove(at);
        self.arrows[arrow].received = Some(step);
        Some(arrow)
    }

    /// A message that stays on its way: the one that is handled is drawn beside it.
    fn receive_copy(&mut self, flight: Flight, step: u32) -> Option<usize> {
        let (_, arrow) = self.on_the_way.iter().find(|(other, _)| *other == flight)?;
        let copy = Arrow { received: Some(step), ..self.arrows[*arrow].clone() };
        self.arrows.push(copy);
        Some(self.arrows.len() - 1)
    }

    fn lose(&mut self, flight: Flight) {
        if let Some(at) = self.on_the_way.iter().position(|(other, _)| *other == flight) {
            let (_, arrow) = self.on_the_way.remove(at);
            self.arrows[arrow].lost = true;
            self.arrows[arrow].label += " (lost)";
        }
    }

    /// Notes the messages that the event has sent.
    fn send(&mut self, step: u32) -> Vec<usize> {
        let protocol = self.model.protocol();
        let first = self.arrows.len();
        for flight in self.stepper.sends() {
            // Where messages are duplicated, one that is on its way stands for all that are like it.
            let form = &self.model.lanes[flight.lane.index()];
            let mut channel = self.on_the_way.iter().rev().filter(|(other, _)| other.channel() == flight.channel());
            let stands = if form.fifo {
                channel.next().is_some_and(|(other, _)| *other == flight.unplaced())
            } else {
                channel.any(|(other, _)| *other == flight.unplaced())
            };
            if form.duplicating && stands {
                continue;
            }
            self.arrows.push(Arrow {
                from: flight.from,
                to: flight.to,
                label: message_text(&self.stepper, flight.message, &flight.args, flight.payload),
                object: object_text(self.model, flight.object),
                lane: protocol.lanes[flight.lane.index()].name.clone(),
                sent: step,
                received: None,
                lost: false,
            });
            self.on_the_way.push((flight.unplaced(), self.arrows.len() - 1));
        }
        (first..self.arrows.len()).collect()
    }

    /// Accesses that were performed and calls that returned, without their node, which is that of the event.
    fn performed(&self) -> Vec<String> {
        let client = &self.model.client;
        let account = &self.stepper.account;
        let accesses = account.performed.iter().map(|p| {
            let what = match (&client.intents[p.intent], p.seen) {
                (_, Some(seen)) if p.elsewhere => format!("goes on with {seen}"),
                (_, None) if p.elsewhere => "goes on".to_string(),
                (Intent::Rmw { .. }, Some(seen)) => format!("exchanges {seen} for {}", p.left),
                (Intent::Write { .. }, Some(value)) => format!("writes {value}"),
                (Intent::WriteBeside { .. }, _) => "writes another word of the block".to_string(),
                (_, Some(seen)) => format!("reads {}", word_text(self.model, seen)),
                (_, None) => "reads".to_string(),
            };
            self.by_thread(p.thread, what)
        });
        let calls = account.returned.iter().map(|&(thread, intent, value)| {
            let Intent::Call { op, .. } = &client.intents[intent] else { return String::new() };
            let result = self.model.engine.result_text(*op, value).map_or(String::new(), |value| format!(" {value}"));
            self.by_thread(thread, format!("{} returns{result}", self.model.protocol().ops[op.index()].name))
        });
        let for_program = self.stepper.for_program().iter().map(|a| {
            let does = match (a.loaded, a.stored) {
                (Some(loaded), Some(stored)) => format!("makes {stored} of {loaded}"),
                (Some(loaded), None) => format!("reads {}", word_text(self.model, loaded)),
                (None, stored) => format!("writes {}", stored.unwrap_or(0)),
            };
            if a.asked { format!("{does} for node {}", a.node) } else { does }
        });
        for_program.chain(accesses).chain(calls).collect()
    }

    /// What the body of a call says in this event, which is still to happen.
    fn said(&self, action: Action) -> Option<Spoken> {
        let layout = &self.model.layout;
        let intent = match action {
            Action::Hear { thread } => self.world.told(layout, thread)?,
            Action::Act { thread } => self.world.act(layout, thread)?.0,
            _ => return None,
        };
        let Intent::Call { op, object, args } = &self.model.client.intents[intent] else { return None };
        let event = self.model.protocol().ops[op.index()].name.clone();
        Some(Spoken { event, object: object.id, args: args.words().to_vec() })
    }

    /// What bodies of calls have asked and were answered, with the answers.
    fn answered(&self) -> Vec<(String, i64)> {
        let answered = self.stepper.account.answered.iter().filter_map(|&(intent, value)| {
            let Intent::Call { op, .. } = &self.model.client.intents[intent] else { return None };
            Some((self.model.protocol().ops[op.index()].name.clone(), value))
        });
        answered.collect()
    }

    /// Calls that returned, with their results.
    fn returned(&self) -> Vec<(String, Option<i64>)> {
        let returned = self.stepper.account.returned.iter().filter_map(|&(_, intent, value)| {
            let Intent::Call { op, .. } = &self.model.client.intents[intent] else { return None };
            let op = &self.model.protocol().ops[op.index()];
            Some((op.name.clone(), op.result.is_some().then_some(value)))
        });
        returned.collect()
    }

    fn by_thread(&self, thread: usize, what: String) -> String {
        let place = self.model.client.threads[thread];
        match self.model.client.threads_of[usize::from(place.node)].len() {
            1 => what,
            _ => format!("thread {} {what}", place.number),
        }
    }

    fn fate(&self) -> Option<String> {
        Some(match self.stepper.account.outcome?.disposition {
            Disposition::Deferred => "deferred: kept for later".into(),
            Disposition::Held if self.stepper.account.outcome?.handler.is_some() => {
                "stalls: its thread tries again when what the answer looks at has changed".into()
            }
            Disposition::Held => "held: its thread tries again when the state has changed".into(),
            Disposition::Handled | Disposition::Passed => return None,
        })
    }

    fn place(&self, violation: Option<&Violation>) -> Option<Source> {
        if let Some(fault) = violation.and_then(|v| v.fault.as_ref()) {
            return source::of_fault(self.model, fault);
        }
        source::of_outcome(self.model, &self.stepper.account.outcome?)
    }

    /// The record that an event is about, and the access that it gives.
    fn instance(&self, about: &Subject) -> (String, String) {
        let model = self.model;
        let record =
            about.role.and_then(|role| Some((role, model.record(&self.world, about.node, role, about.object)?)));
        let Some((role, record)) = record else { return Default::default() };
        let name = &model.protocol().roles[role.index()].name;
        let access = access_text(about.object.kind, self.access(about.node, role, about.object, record));
        (format!("{name}.{}", model.engine.describe(role, record)), access)
    }

    /// The access to an object that a node has by a record.
    fn access(&self, node: Node, role: RoleId, object: Object, record: &[u8]) -> Access {
        match object.kind {
            BLOCK if self.model.protocol().cached => self.model.tag(&self.world, node, object.id),
            _ => self.model.engine.access(role, record),
        }
    }

    /// The record at fault, where it is another one of the node than the event is about, and has not changed.
    fn at_fault(&self, fault: &Fault, about: &Subject, also: &[RecordChange]) -> Option<RecordChange> {
        let (model, role) = (self.model, fault.role?);
        let object = object_text(model, fault.object);
        let name = &model.protocol().roles[role.index()].name;
        let is_told = also.iter().any(|change| change.role == *name && change.object == object);
        let is_event = (about.role, about.object) == (Some(role), fault.object);
        if fault.node != about.node || is_told || is_event || model.protocol().is_ghost(role) {
            return None;
        }
        let record = model.record(&self.world, fault.node, role, fault.object)?;
        let state = model.engine.describe(role, record);
        let access = access_text(fault.object.kind, self.access(fault.node, role, fault.object, record));
        Some(RecordChange {
            role: name.clone(),
            object,
            before: state.clone(),
            after: state,
            access_before: access.clone(),
            access_after: access,
        })
    }

    fn end(mut self) -> Story {
        let model = self.model;
        if self.violation.is_none() && stuck(&mut self.stepper, &self.world) {
            self.violation = Some(Violation::new(DEADLOCK, "nothing more can happen, and somebody waits"));
        }
        let violation = self.violation.take();
        let (property, reason, fault, scenario) = violation
            .map(|found| (Some(found.property), Some(found.sentence), found.fault, found.scenario))
            .unwrap_or_default();
        if property.is_some()
            && let Some(last) = self.moments.last_mut()
        {
            last.decisive = true;
        }
        let deadlock = property.as_deref() == Some(DEADLOCK);
        let waiting = if deadlock { explain(model, &self.world) } else { Vec::new() };
        let scenario = scenario.and_then(|place| source::lines(model.protocol(), place));
        let events: Vec<String> = self.moments.iter().map(|m| m.event.clone()).collect();
        let growth = fault.and_then(|fault| growth(model, &fault, &self.worlds, &events));
        self.worlds.push(self.world.clone());
        let nodes = self.taking_part();
        let frames = self.worlds.iter().map(|world| frame(model, world, &nodes, &self.stepper)).collect();
        Story {
            protocol: model.protocol().name.clone(),
            total_nodes: model.nodes,
            homes: homes(model),
            moments: self.moments,
            arrows: self.arrows,
            frames,
            property,
            reason,
            scenario,
            waiting,
            growth,
            parameters: ParameterValue::all(model.protocol()),
            settings: Vec::new(),
            sources: source::texts(model.protocol()),
            nodes,
        }
    }

    /// Nodes on which something happens or to which something is sent; all, if nothing happens at all.
    fn taking_part(&self) -> Vec<Node> {
        let mut nodes: BTreeSet<Node> = self.moments.iter().map(|m| m.node).collect();
        nodes.extend(self.arrows.iter().flat_map(|a| [a.from, a.to]));
        if nodes.is_empty() {
            nodes.extend(self.model.all_nodes());
        }
        nodes.into_iter().collect()
    }
}

fn object_text(model: &Model, object: Object) -> String {
    if object.kind == NODE { String::new() } else { model.object_name(object) }
}

fn homes(model: &Model) -> Vec<(String, Node)> {
    model.all_objects().map(|object| (model.object_name(object), model.home(object))).collect()
}

fn frame(model: &Model, world: &World, nodes: &[Node], stepper: &Stepper) -> Frame {
    let mut views: Vec<NodeView> = nodes.iter().map(|&node| node_view(model, world, node)).collect();
    for (node, role, object) in model.instances() {
        let Some(at) = nodes.iter().position(|&n| n == node) else { continue };
        let Some(record) = model.record(world, node, role, object) else { continue };
        let access = match object.kind {
            BLOCK if model.protocol().cached => model.tag(world, node, object.id),
            _ => model.engine.access(role, record),
        };
        views[at].roles.push(RoleView {
            role: model.protocol().roles[role.index()].name.clone(),
            object: object_text(model, object),
            state: if model.protocol().is_ghost(role) {
                model.engine.describe_whole(role, record)
            } else {
                model.engine.describe(role, record)
            },
            access: if model.protocol().is_ghost(role) { String::new() } else { access_text(object.kind, access) },
        });
    }
    Frame { nodes: views, messages: world.flights.iter().map(|flight| flight_text(stepper, flight)).collect() }
}

fn node_view(model: &Model, world: &World, node: Node) -> NodeView {
    let block =
        |block: u32| format!("block {block} = {}", word_text(model, world.number(model.layout.block(node, block))));
    let line = |object: Object| {
        let line = world.line(&model.layout, node, object);
        let (_, word) = model.layout.line(node, object).filter(|_| line.line != Line::Absent)?;
        let holds = line.line.access() != Access::None || line.written_back;
        let contents = match model.protocol().image_of(object.kind) {
            Some(image) if holds => format!(" {}", image_text(image, world.number(word).cast_signed())),
            None if holds => format!(" {}", word_text(model, world.number(word))),
            _ => String::new(),
        };
        Some(format!("cache of {} = {}{contents}", model.object_name(object), line.line))
    };
    let blocks = 0..model.objects[BLOCK.index()];
    let queue = world.queues.get(usize::from(node)).map_or(&[][..], Vec::as_slice);
    let threads = &model.client.threads_of[usize::from(node)];
    NodeView {
        node,
        roles: Vec::new(),
        memory: blocks.map(block).chain(model.layout.lined().filter_map(line)).collect(),
        threads: threads.iter().filter_map(|&thread| thread_text(model, world, usize::from(thread))).collect(),
        tasks: queue.iter().map(|queued| model.engine.call_text(EventKind::Task(queued.task), &queued.args)).collect(),
    }
}

fn thread_text(model: &Model, world: &World, thread: usize) -> Option<String> {
    let (phase, number) = world.thread(&model.layout, thread);
    if phase == ThreadState::Free {
        return None;
    }
    let intent = &model.client.intents[number];
    let object = intent.object();
    let about = if object.kind == NODE { String::new() } else { format!(" of {}", model.object_name(object)) };
    let what = match intent {
        Intent::Read { .. } => "read".to_string(),
        Intent::Store { .. } => "write".to_string(),
        Intent::Write { .. } if model.layout.mark.is_some() => "write".to_string(),
        Intent::Write { value, .. } => format!("write {value}"),
        Intent::WriteBeside { .. } => "write beside".to_string(),
        Intent::Rmw { .. } if model.layout.mark.is_some() => "exchange".into(),
        Intent::Rmw { value, .. } => format!("exchange for {value}"),
        Intent::Image { .. } => "image".to_string(),
        Intent::Call { args, .. } => model.engine.call_text(event_kind(intent), args),
    };
    let how = match phase {
        ThreadState::Held => "keeps",
        ThreadState::Deferred => "is deferred with",
        ThreadState::LetGo => "goes on with",
        ThreadState::Ready => "is in",
        ThreadState::Free | ThreadState::Waiting => "waits for",
    };
    Some(format!("thread {} {how} {what}{about}", model.client.threads[thread].number))
}
