//! Who acts and what they may do: the most general client, or the threads of a scenario.

use crate::config::{System, refused};
use crate::system::body::Script;
use crate::system::late::{OpenStore, open_stores, seen_of_stores};
use crate::system::layout::BLOCK_BYTES;
use crate::system::mark::stored_values;
use crate::system::ways::{addresses_or_none, calls, what_is_missing, words_passed};
use crate::system::world::node;
use trivium_diagnostic::Diagnostic;
use trivium_engine::number::fit;
use trivium_engine::{Args, Engine, Node, Object};
use trivium_protocol::idle::idle_arguments;
use trivium_protocol::{
    BLOCK, BodyPlace, BodyStep, CallBody, EventKind, NODE, Named, ObjectKindId, Op, OpId, Protocol, Scenario,
    ScenarioAction, ScenarioValue, Type,
};

/// A state counts what a thread has left, its place in its script and which action it is at in 16 bits.
const MOST_COUNTED: usize = u16::MAX as usize;

/// Something that a thread may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Intent {
    /// A load of the word of a block that is looked at.
    Read {
        /// The block's number.
        block: u32,
    },
    /// A store to this word.
    Write {
        /// The block's number.
        block: u32,
        /// What is stored.
        value: u64,
    },
    /// A store to another word of the block than the one that is looked at. Its value is nobody's concern, but
    /// the word that is looked at must survive it.
    WriteBeside {
        /// The block's number.
        block: u32,
    },
    /// A read-modify-write of this word: an exchange.
    Rmw {
        /// The block's number.
        block: u32,
        /// What is stored.
        value: u64,
    },
    /// Any of these stores to the block: which is chosen when it is performed (`late`).
    Store {
        /// The block's number.
        block: u32,
    },
    /// What the body of a call does with the image of its object: which, says the place at which the thread is.
    Image {
        /// Whose image.
        object: Object,
    },
    /// A call of the protocol, or an event that a body says.
    Call {
        /// Which.
        op: OpId,
        /// Of which object.
        object: Object,
        /// With what.
        args: Args,
    },
}

impl Intent {
    /// The object that it is about.
    pub fn object(&self) -> Object {
        match self {
            Intent::Read { block }
            | Intent::Write { block, .. }
            | Intent::WriteBeside { block }
            | Intent::Rmw { block, .. }
            | Intent::Store { block } => Object { kind: BLOCK, id: *block },
            Intent::Image { object } | Intent::Call { object, .. } => *object,
        }
    }

    /// The objects that a call names: the one that it is about, and those among its arguments.
    pub fn named_objects(&self, engine: &Engine) -> Vec<Object> {
        let Intent::Call { op, object, args } = self else { return Vec::new() };
        let values = engine.argument_values(EventKind::Op(*op), args.words());
        let declared = engine.protocol().ops[op.index()].args.iter();
        let passed = declared.zip(&values).filter_map(|(arg, value)| match (arg.ty.object(), &value[..]) {
            (Some(kind), [id]) => Some(Object { kind, id: u32::try_from(*id).ok()? }),
            _ => None,
        });
        [*object].into_iter().chain(passed).collect()
    }

    /// Whether it is a load or a store.
    pub fn is_access(&self) -> bool {
        !matches!(self, Intent::Call { .. } | Intent::Image { .. })
    }

    /// Whether it happens in a line of the processor's cache, where the object has one: a load, a store, a look at an image.
    pub fn uses_line(&self) -> bool {
        !matches!(self, Intent::Call { .. })
    }
}

/// When an idle thread may begin something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offer {
    Always,
    /// A store that is left open: where it has to wait, and stores are chosen when they are performed.
    Open,
    /// A store that an open one may turn out to be: else.
    Chosen,
    /// What only a body does.
    Never,
}

/// A thread: its node, and its number there.
#[derive(Clone, Copy, Debug)]
pub struct ThreadPlace {
    /// Its node.
    pub node: Node,
    /// Its number there.
    pub number: u8,
}

/// The threads and what each may do.
pub struct Client {
    /// The threads.
    pub threads: Vec<ThreadPlace>,
    /// Threads of each node, by their number there.
    pub threads_of: Vec<Vec<u16>>,
    /// All that any thread may do.
    pub intents: Vec<Intent>,
    /// For each of these, when an idle thread may begin it.
    pub(crate) offers: Vec<Offer>,
    /// For each block the stores that are chosen when they are performed; empty where all are chosen when they begin.
    pub open_stores: Vec<OpenStore>,
    /// In a scenario: what its threads do.
    pub script: Option<Script>,
    /// Accesses and calls that each thread may make.
    pub ops: Option<u32>,
    /// For each call, which of its arguments have one value for all.
    pub(crate) idle: Vec<Vec<bool>>,
    /// Calls that no thread can make, because there is nothing to make them with, and why.
    pub unmakeable: Vec<(OpId, String)>,
    /// Arguments that may be an address or `none`, of calls of which only those with `none` can be made, as there is no memory: what, and whose.
    pub only_none: Vec<(OpId, String)>,
}

/// How many objects there may be of a kind that handlers make: all slots of all nodes.
fn most_made(protocol: &Protocol, kind: ObjectKindId, nodes: u32) -> u32 {
    let most = protocol.made_kind(kind).and_then(|made| u32::try_from(made.most).ok()).unwrap_or(0);
    most.saturating_mul(nodes)
}

/// How many objects of each kind there are.
pub(crate) fn object_counts(protocol: &Protocol, system: &System, scenario: Option<&Scenario>) -> Vec<u32> {
    let mut counts: Vec<u32> = (0..protocol.objects.len())
        .map(|kind| match ObjectKindId::at(kind) {
            NODE => 1,
            kind if protocol.made_kind(kind).is_some() => most_made(protocol, kind, system.nodes),
            kind if protocol.uses(kind) => {
                system.kinds.get(&protocol.objects[kind.index()]).copied().unwrap_or(system.objects)
            }
            _ => 0,
        })
        .collect();
    let mut there_is = |kind: ObjectKindId, id: u32| {
        // What handlers make is as much as there can be, whatever a scenario names.
        if kind != NODE && protocol.made_kind(kind).is_none() {
            counts[kind.index()] = counts[kind.index()].max(id.saturating_add(1));
        }
    };
    // Where its homes are told, they are there.
    for (kind, homes) in scenario.iter().flat_map(|scenario| &scenario.homes) {
        if let Some(kind) = protocol.objects.iter().position(|object| object == kind) {
            there_is(ObjectKindId::at(kind), u32::try_from(homes.len()).unwrap_or(u32::MAX).saturating_sub(1));
        }
    }
    for look in scenario.iter().flat_map(|s| s.looks()) {
        match look {
            ScenarioAction::Read { block, .. } | ScenarioAction::Write { block, .. } => there_is(BLOCK, *block),
            ScenarioAction::Call { op, object, args, .. } => {
                let declared = &protocol.ops[op.index()];
                there_is(declared.object, *object);
                // Objects among the arguments; those in lists are counted nowhere.
                let mut passed = &args[..];
                for arg in &declared.args {
                    let (own, rest) = passed.split_at(protocol.passed_for(&arg.ty).min(passed.len()));
                    passed = rest;
                    if let (Type::Object(kind) | Type::ObjectOrNone(kind), [value]) = (&arg.ty, own)
                        && let Ok(id) = u32::try_from(value.number)
                    {
                        there_is(*kind, id);
                    }
                }
            }
        }
        look.values().iter().filter_map(|value| value.block).for_each(|block| there_is(BLOCK, block));
    }
    counts
}

impl Client {
    /// Refuses what a state has no room to count.
    pub(crate) fn check_counts(&self) -> Result<(), Diagnostic> {
        let longest = self.script.iter().flat_map(|script| &script.places).map(Vec::len).max();
        let counted = [
            (self.intents.len(), "different accesses and calls", "take fewer objects or values"),
            (longest.unwrap_or(0), "steps of a thread of the scenario", "write shorter threads"),
            (
                self.ops.map_or(0, |ops| ops as usize),
                "accesses and calls of each thread",
                "lower `ops`, or set no limit",
            ),
        ];
        match counted.into_iter().find(|&(count, ..)| count > MOST_COUNTED) {
            Some((count, what, help)) => {
                Err(refused(format!("{count} {what} are more than the {MOST_COUNTED} that can be counted"), help))
            }
            None => Ok(()),
        }
    }

    /// Whether a node has several threads.
    pub(crate) fn shares_nodes(&self) -> bool {
        self.threads.len() > self.threads_of.len() || self.threads_of.iter().any(|threads| threads.len() > 1)
    }

    /// Which arguments of which calls have one value for all, as `fork(a0, a1)`.
    pub(crate) fn idle_arguments(&self, protocol: &Protocol) -> Vec<String> {
        let is_made = |op: usize| self.unmakeable.iter().all(|(other, _)| other.index() != op);
        let ops = protocol.ops.iter().zip(&self.idle).enumerate();
        let ops = ops.filter(|(op, (_, idle))| idle.contains(&true) && is_made(*op));
        let named = ops.map(|(_, (op, idle))| {
            let args = op.args.iter().zip(idle).filter(|(_, is_idle)| **is_idle);
            let names: Vec<&str> = args.map(|(arg, _)| arg.name.as_str()).collect();
            format!("{}({})", op.name, names.join(", "))
        });
        named.collect()
    }

    /// The most general client: any thread of the acting nodes, anything.
    pub(crate) fn general(
        engine: &Engine,
        protocol: &Protocol,
        system: &System,
        objects: &[u32],
        addresses: &[i64],
    ) -> Result<Client, Diagnostic> {
        let acting = system.clients.unwrap_or(system.nodes);
        let places = (0..node(acting)).flat_map(|node| {
            (0..fit::<_, u8>(system.threads_per_node, "the number of a thread of a node: there are at most 255"))
                .map(move |number| ThreadPlace { node, number })
        });
        let mut intents = Vec::new();
        for block in 0..objects[BLOCK.index()] {
            intents.push(Intent::Read { block });
            let values = stored_values(protocol, system.values, (acting * system.threads_per_node) as usize);
            intents.extend(values.clone().map(|value| Intent::Write { block, value }));
            intents.push(Intent::WriteBeside { block });
            if answers_rmw(protocol) {
                intents.extend(values.map(|value| Intent::Rmw { block, value }));
            }
        }
        let mut unmakeable = Vec::new();
        let idle = if system.idle_words { idle_arguments(protocol) } else { Vec::new() };
        let programs_call = |op: &usize| !protocol.ops[*op].is_event;
        for op in (0..protocol.ops.len()).filter(programs_call) {
            let (op, before) = (OpId::at(op), intents.len());
            let idle = idle.get(op.index()).map_or(&[][..], Vec::as_slice);
            calls(engine, op, idle, system, objects, addresses, &mut intents)?;
            if intents.len() == before {
                unmakeable.push((op, what_is_missing(protocol, op, system, objects, addresses)));
            }
        }
        let only_none = if addresses.is_empty() { addresses_or_none(protocol) } else { Vec::new() };
        let sees = seen_of_stores(protocol);
        let blocks = if system.late_values { objects[BLOCK.index()] } else { 0 };
        let open_stores = open_stores(blocks, sees, &mut intents);
        let mut offers: Vec<Offer> = (0..intents.len()).map(|intent| offer(&open_stores, intent)).collect();
        acts(engine, system, objects, &|_| true, &mut intents)?;
        offers.resize(intents.len(), Offer::Never);
        Ok(Client {
            offers,
            threads: places.clone().collect(),
            threads_of: threads_of(system.nodes, places),
            intents,
            open_stores,
            script: None,
            ops: system.ops,
            idle,
            unmakeable,
            only_none,
        })
    }

    /// The threads of a scenario.
    pub(crate) fn scenario(
        engine: &Engine,
        system: &System,
        scenario: &Scenario,
        objects: &[u32],
    ) -> Result<Client, Diagnostic> {
        let protocol = engine.protocol();
        let mut numbers = vec![0u8; system.nodes as usize];
        let (mut threads, mut intents, mut places) = (Vec::new(), Vec::new(), Vec::new());
        for thread in &scenario.threads {
            let Some(number) = numbers.get_mut(thread.node as usize) else {
                return Err(refused(
                    format!("scenario `{}` needs node {}, and there are {}", scenario.name, thread.node, system.nodes),
                    format!("check it with at least {} nodes", thread.node + 1),
                ));
            };
            threads.push(ThreadPlace { node: node(thread.node), number: *number });
            *number = number.checked_add(1).ok_or_else(|| {
                refused(format!("scenario `{}` has too many threads", scenario.name), "a node has at most 255")
            })?;
            for place in &thread.body.places {
                fits(protocol, system, scenario, place)?;
            }
            let mut looks = Vec::new();
            for place in &thread.body.places {
                looks.push(match &place.step {
                    BodyStep::Look(action) => Some(intent_number(engine, action, &mut intents)?),
                    _ => None,
                });
            }
            places.push(looks);
        }
        // Of an event that nobody says there may be more ways than anybody could explore.
        let is_called =
            |op: OpId| scenario.looks().any(|look| matches!(look, ScenarioAction::Call { op: of, .. } if *of == op));
        acts(engine, system, objects, &is_called, &mut intents)?;
        Ok(Client {
            threads_of: threads_of(system.nodes, threads.iter().copied()),
            threads,
            intents,
            offers: Vec::new(),
            open_stores: Vec::new(),
            script: Some(Script {
                loops: scenario.threads.iter().map(|thread| thread.body.has_loops()).collect(),
                scenario: scenario.clone(),
                places,
            }),
            ops: None,
            idle: Vec::new(),
            unmakeable: Vec::new(),
            only_none: Vec::new(),
        })
    }
}

/// What the bodies of calls that are made may do, behind all that a client does.
fn acts(
    engine: &Engine,
    system: &System,
    objects: &[u32],
    is_made: &dyn Fn(OpId) -> bool,
    intents: &mut Vec<Intent>,
) -> Result<(), Diagnostic> {
    let protocol = engine.protocol();
    for image in &protocol.images {
        let lines = (0..objects[image.object.index()]).map(|id| Object { kind: image.object, id });
        intents.extend(lines.map(|object| Intent::Image { object }));
    }
    let made = (0..).map(OpId).zip(&protocol.ops).filter(|(op, _)| is_made(*op));
    let bodies: Vec<&CallBody> = made.filter_map(|(_, op)| op.body.as_ref()).collect();
    for (event, _) in (0..).map(OpId).zip(&protocol.ops).filter(|(_, op)| op.is_event) {
        if bodies.iter().any(|body| body.says(event)) {
            calls(engine, event, &[], system, objects, &[], intents)?;
        }
    }
    Ok(())
}

/// Whether a call of a scenario takes the numbers that are passed, with so many nodes and these parameters.
///
/// # Errors
/// One that it does not take.
fn fits(protocol: &Protocol, system: &System, scenario: &Scenario, place: &BodyPlace) -> Result<(), Diagnostic> {
    let BodyStep::Look(ScenarioAction::Call { op, args, .. }) = &place.step else { return Ok(()) };
    let op = &protocol.ops[op.index()];
    for (value, arg, ty) in passed(protocol, op, args) {
        let Type::Int { lo, hi } = ty.given().unwrap_or(ty) else { continue };
        let (lo, hi, value) = (lo.at(system.nodes), hi.at(system.nodes), value.at(BLOCK_BYTES.cast_signed()));
        let is_none = ty.given().is_some() && value == ty.none();
        if !is_none && !(lo..=hi).contains(&value) {
            let at = protocol.sources.place(place.span);
            let what = format!(
                "{at}: the scenario `{}` passes {value} as `{}` of `{}`, which is from {lo} to {hi} here",
                scenario.name, arg.name, op.name
            );
            return Err(refused(
                what,
                "check it with other parameters or more nodes, or leave scenarios out (--no-scenarios)",
            ));
        }
    }
    Ok(())
}

/// What is passed to a call: each number, with its parameter and its type; of a list the elements that it has.
fn passed<'p>(
    protocol: &'p Protocol,
    op: &'p Op,
    args: &'p [ScenarioValue],
) -> impl Iterator<Item = (&'p ScenarioValue, &'p Named, &'p Type)> {
    let mut left = args;
    op.args.iter().flat_map(move |arg| {
        let (own, rest) = left.split_at(protocol.passed_for(&arg.ty).min(left.len()));
        left = rest;
        let (own, ty) = match (&arg.ty, own) {
            (Type::List { of, .. }, [length, elements @ ..]) => {
                (&elements[..usize::try_from(length.number).unwrap_or(0).min(elements.len())], &**of)
            }
            (Type::Array { of, .. }, elements) => (elements, &**of),
            (ty, own) => (own, ty),
        };
        own.iter().map(move |value| (value, arg, ty))
    })
}

/// Whether the client makes read-modify-writes: a role answers them. Where none does, they are stores.
fn answers_rmw(protocol: &Protocol) -> bool {
    protocol.roles.iter().any(|role| role.column(EventKind::Rmw).is_some())
}

fn offer(stores: &[OpenStore], intent: usize) -> Offer {
    match () {
        () if stores.iter().any(|store| store.open == intent) => Offer::Open,
        () if stores.iter().any(|store| store.ways.contains(&intent)) => Offer::Chosen,
        () => Offer::Always,
    }
}

fn threads_of(nodes: u32, places: impl Iterator<Item = ThreadPlace>) -> Vec<Vec<u16>> {
    let mut of = vec![Vec::new(); nodes as usize];
    for (thread, place) in places.enumerate() {
        of[place.node as usize].push(fit(thread, "the number of a thread: 256 nodes have 255 each at most"));
    }
    of
}

fn intent_number(
    engine: &Engine,
    action: &ScenarioAction,
    intents: &mut Vec<Intent>,
) -> Result<(u16, Option<u16>), Diagnostic> {
    let value = |value: &ScenarioValue| value.at(BLOCK_BYTES.cast_signed());
    let intent = match action {
        ScenarioAction::Read { block, .. } => Intent::Read { block: *block },
        ScenarioAction::Write { block, value: stored } => {
            Intent::Write { block: *block, value: value(stored).cast_unsigned() }
        }
        ScenarioAction::Call { op, object, args, .. } => {
            let kind = engine.protocol().ops[op.index()].object;
            let object = Object { kind, id: if kind == NODE { 0 } else { *object } };
            let args: Vec<i64> = args.iter().map(value).collect();
            Intent::Call { op: *op, object, args: words_passed(engine, *op, &args)? }
        }
    };
    let number = intents.iter().position(|known| *known == intent).unwrap_or_else(|| {
        intents.push(intent);
        intents.len() - 1
    });
    Ok((fit(number, "the number of an action: there are at most 65,535"), action.register()))
}
