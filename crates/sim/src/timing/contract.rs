//! What every kind of engine and every network must keep.

use super::calendar::Calendar;
use super::engines::{self, Job, KINDS};
use super::model::NodeModel;
use super::networks;
use super::ports::{self, Passing};
use super::pricing::{Did, HandlerTime, Trigger};
use crate::machine::{EngineKind, Machine};
use trivium_engine::Object;
use trivium_node::{DataFrom, Primitive};
use trivium_protocol::{Access, BLOCK};

fn machine(kind: EngineKind) -> Machine {
    let mut machine = Machine::load("typhoon-1", &[]).unwrap();
    machine.engine.kind = kind;
    machine.engine.interval = 7;
    if kind == EngineKind::Pipeline {
        machine.pipeline = Machine::load("flash", &[]).unwrap().pipeline;
    }
    if kind == EngineKind::Compute {
        (machine.engine.save, machine.engine.restore) = (30, 20);
    }
    machine
}

/// Prices a handler with two messages and a resumption.
fn price(model: &mut NodeModel, machine: &Machine, start: u64, interrupts: bool) -> HandlerTime {
    let block = Object { kind: BLOCK, id: 7 };
    let data = Some((DataFrom::Block(block), 64));
    let effects = [
        Primitive::Record(true),
        Primitive::Send { words: 2, data: None },
        Primitive::Resume,
        Primitive::Send { words: 0, data },
        Primitive::Tag(block, Access::Write, Access::None),
    ];
    let mut time = HandlerTime { stretches: Some(Vec::new()), ..HandlerTime::default() };
    let did = Did { trigger: Trigger::Task, effects: &effects, given: None };
    let job = Job { machine, block: 64, did, records: &[], ready: start, start, speculates: false, software: false };
    if !model.lay(&job, &mut time) {
        model.price(machine, 64, did, (start, interrupts), &mut time);
    }
    time
}

#[test]
fn all_kinds_are_held_against_the_contract() {
    for kind in KINDS {
        let made = engines::make(&machine(kind));
        // A kind that is added and not listed does not compile.
        let shares = match kind {
            EngineKind::Ideal | EngineKind::Processor | EngineKind::Pipeline => false,
            EngineKind::Compute | EngineKind::Library => true,
        };
        assert_eq!(made.shares_processor(), shares, "{kind:?}");
        assert!(!made.only_in_library() || shares, "{kind:?}: who has an engine waits for no program");
    }
}

#[test]
fn a_handler_has_its_parts_in_order_and_keeps_the_engine() {
    for kind in KINDS {
        for interrupts in [false, true] {
            let machine = machine(kind);
            let mut model = NodeModel::new(&machine, 0, 4, 1);
            let start = model.accept(1000, 0);
            // A pipeline chooses an event before its handler begins, and what a handler sends may leave after its end.
            let staged = kind == EngineKind::Pipeline;
            let chosen = start - 1000;
            assert_eq!(chosen > 0, staged, "{kind:?}: nothing else is to do");
            let time = price(&mut model, &machine, start, interrupts);
            let (resume, end) = (time.resume.unwrap(), time.end);
            assert!(start <= time.sends[0] && time.sends[0] <= time.sends[1], "{kind:?}");
            assert!(staged || time.sends[1] <= end, "{kind:?}");
            assert!(start <= resume && (staged || resume <= end), "{kind:?}");
            let stretches = time.stretches.unwrap();
            let told = stretches.iter().map(|part| part.to - part.from).sum::<u64>();
            assert_eq!(told, end - start + chosen, "{kind:?}");
            assert_eq!(time.ways.len(), if staged { time.sends.len() } else { 0 }, "{kind:?}");
            for (way, left) in time.ways.iter().zip(&time.sends) {
                assert!(way.windows(2).all(|pair| pair[0].to == pair[1].from), "{kind:?}: {way:?}");
                assert_eq!(way.last().map(|part| part.to), Some(*left), "{kind:?}: {way:?}");
            }
            assert!(stretches.windows(2).all(|pair| pair[0].to <= pair[1].from), "{kind:?}: {stretches:?}");
            let busy = model.occupy(start..end);
            assert!(busy > 0 && model.free() == start + busy, "{kind:?}");
            assert_eq!(model.accept(start, 0), start + busy, "{kind:?}: the next begins behind it");
            assert_eq!(model.accept(end + 5000, 0), end + 5000 + chosen, "{kind:?}: who comes later does not wait");
            if model.shares_processor() {
                assert!(busy >= end - start && resume == end, "{kind:?}: the processor goes on behind it");
                assert_eq!(model.accept(start, end + 9000), end + 9000, "{kind:?}: its own work goes first");
            } else {
                assert_eq!(model.accept(start, end + 9000), start + busy, "{kind:?}: the processor is another");
            }
        }
    }
}

#[test]
fn a_handler_that_interrupts_costs_at_least_as_much() {
    for kind in KINDS {
        let machine = machine(kind);
        let of = |interrupts| price(&mut NodeModel::new(&machine, 0, 4, 1), &machine, 0, interrupts).end;
        let (waits, runs) = (of(false), of(true));
        assert_eq!(runs - waits, machine.engine.save + machine.engine.restore, "{kind:?}");
    }
}

#[test]
fn no_network_is_faster_than_the_lookahead_and_all_repeat_themselves() {
    let settings = [("0", "0", "0", None), ("100", "0", "0", None), ("100", "40", "300", None)];
    let far = ["hypercube", "mesh", "ring"].map(|topology| ("100", "0", "300", Some(topology)));
    for (latency, data, jitter, topology) in settings.into_iter().chain(far) {
        let mut set = vec![("network.latency", latency), ("network.data_latency", data), ("network.jitter", jitter)];
        set.extend(topology.into_iter().flat_map(|name| [("network.topology", name), ("network.per_hop", "30")]));
        let set: Vec<_> = set.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        let machine = Machine::load("typhoon", &set).unwrap();
        let arrivals = |me| {
            let mut network = networks::make(&machine, me, 4, 5);
            (0..200u64).map(|n| network.arrival(10 * n, (n % 4) as u16, n % 3 == 0)).collect::<Vec<_>>()
        };
        let first = arrivals(2);
        assert!(first.iter().zip(0..).all(|(arrival, n)| *arrival >= 10 * n + machine.lookahead()), "{set:?}");
        assert_eq!(first, arrivals(2), "{set:?}");
        assert_eq!(jitter == "0", first == arrivals(3), "{set:?}: each node has its own share");
    }
}

/// No message passes a port before it is handed over, two are never in a queue together, and those that are longer take no less.
#[test]
fn a_port_is_left_by_one_message_after_the_other() {
    for name in ["typhoon", "flash", "flash-craylink", "now", "simple-coma"] {
        let machine = Machine::load(name, &[]).unwrap();
        let port = ports::make(&machine);
        for bytes in [0, 64, 4096] {
            let message = |words| Passing { packets: 1 + bytes / 1024, words, bytes };
            let mut out = Calendar::default();
            let mut before = 0;
            for number in 0..20 {
                let at = 1000 + 7 * number;
                let (queue, departure) = port.leave(&mut out, at, message(2 + number % 5));
                assert!(departure >= at && queue.end >= departure, "{name}: {queue:?} {departure}");
                assert!(queue.is_empty() || queue.start >= before, "{name}: {queue:?} after {before}");
                before = before.max(queue.end);
            }
            let taken = |words| {
                let (queue, _) = port.leave(&mut Calendar::default(), 1000, message(words));
                (queue.end - queue.start, port.enter(message(words)))
            };
            assert!(taken(2).0 <= taken(9).0 && taken(2).1 <= taken(9).1, "{name}, {bytes} bytes");
        }
    }
}
