//! What every kind of engine and every network must keep.

use super::calendar::Calendar;
use super::engines::{self, Assembled, Job, KINDS};
use super::folding::Numbered;
use super::gtlb::Addressed;
use super::interface::Interface;
use super::model::NodeModel;
use super::networks::{self, Hop, Traveller};
use super::ports::{self, Passing};
use super::pricing::{Did, HandlerTime, Trigger};
use crate::events::Envelope;
use crate::machine::{EngineKind, Machine};
use std::collections::BTreeMap;
use trivium_engine::{Args, Object};
use trivium_node::{DataFrom, Primitive};
use trivium_protocol::{Access, BLOCK, LaneId, ObjectKindId};

fn machine(kind: EngineKind) -> Machine {
    let mut machine = Machine::load("typhoon-1", &[]).unwrap();
    machine.engine.kind = kind;
    machine.engine.interval = 7;
    if kind == EngineKind::Pipeline {
        machine.pipeline = Machine::load("flash", &[]).unwrap().pipeline;
    }
    if kind == EngineKind::Slots {
        machine.slots = Machine::load("m-machine", &[]).unwrap().slots;
        machine.interface.cut_through = true;
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
    let job = job(machine, did, start, start);
    if !model.lay(&job, &mut time) {
        model.price(machine, (64, &Numbered::default()), did, (start, interrupts), &mut time);
    }
    time
}

#[test]
fn all_kinds_are_held_against_the_contract() {
    for kind in KINDS {
        let made = engines::make(&machine(kind));
        // A kind that is added and not listed does not compile.
        let shares = match kind {
            EngineKind::Ideal | EngineKind::Processor | EngineKind::Pipeline | EngineKind::Slots => false,
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
            // Several engines let messages leave by ways of their own, too.
            let has_ways = staged || kind == EngineKind::Slots;
            assert_eq!(time.ways.len(), if has_ways { time.sends.len() } else { 0 }, "{kind:?}");
            for (way, left) in time.ways.iter().zip(&time.sends) {
                assert!(way.windows(2).all(|pair| pair[0].to == pair[1].from), "{kind:?}: {way:?}");
                assert_eq!(way.last().map(|part| part.to), Some(*left), "{kind:?}: {way:?}");
            }
            assert!(stretches.windows(2).all(|pair| pair[0].to <= pair[1].from), "{kind:?}: {stretches:?}");
            let busy = model.occupy(start..end, 0);
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

/// Each of several engines takes its own events, whatever the others do.
#[test]
fn slots_do_not_wait_for_each_other() {
    let machine = machine(EngineKind::Slots);
    let mut model = NodeModel::new(&machine, 0, 4, 1);
    let lanes = [0, 1, 2].map(LaneId::at);
    assert_eq!(lanes.map(|lane| model.engine_of(lane)), [1, 2, 2], "further lanes share the last");
    let [first, second, _] = lanes.map(|lane| model.accept_on(lane, 1000));
    assert_eq!(model.occupy(first..first + 500, 1), 500);
    assert_eq!(model.accept_on(lanes[0], 1000), first + 500);
    assert_eq!([1, 2].map(|lane| model.accept_on(lanes[lane], 1000)), [second; 2]);
    assert_eq!(model.accept(1000, 0), 1000, "nor do other events wait");
    model.occupy(1000..1900, 0);
    assert_eq!((model.accept(1000, 0), model.accept_on(lanes[1], 1000)), (1900, second));
    assert_eq!(model.free(), 1900);
    let one = NodeModel::new(&Machine::load("typhoon", &[]).unwrap(), 0, 4, 1);
    assert!(!one.has_slots() && lanes.iter().all(|lane| one.engine_of(*lane) == 0));
}

/// A handler that begins at a cycle, and whose message has been whole since another.
fn job<'a>(machine: &'a Machine, did: Did<'a>, start: u64, whole: u64) -> Job<'a> {
    Job {
        machine,
        block: 64,
        did,
        records: &[],
        ready: start,
        whole,
        start,
        addressed: None,
        assembled: Assembled::default(),
        events_free: 0,
        speculates: false,
        software: false,
    }
}

/// What a handler with a message, or a call, takes on an engine with slots, whose stages are changed so.
fn of_slots(set: &[(&str, &str)], trigger: Trigger, effects: &[Primitive], whole: u64) -> HandlerTime {
    let set: Vec<_> = set.iter().map(|(key, value)| (format!("slots.{key}"), value.to_string())).collect();
    let machine = &Machine::load("m-machine", &set).unwrap();
    let did = Did { trigger, effects, given: None };
    let job = job(machine, did, 1000, whole);
    let mut time = HandlerTime::default();
    assert!(NodeModel::new(machine, 0, 4, 1).lay(&job, &mut time));
    time
}

/// A word is read when it is there, or all are when the last is. Words that ride in the header take nothing.
#[test]
fn a_handler_of_a_slot_waits_for_the_words_that_it_reads() {
    let message = Trigger::Message { words: 5 + 10, packets: 0 };
    let end = |streams, whole| of_slots(&[("extract.streams", streams)], message, &[], whole).end;
    // The jump, ten words.
    assert_eq!(end("true", 1000), 1000 + 3 + 10);
    assert_eq!(end("true", 1012), 1000 + 3 + 10, "words come as fast as they are read");
    assert_eq!(end("true", 1040), 1040 + 1, "the last one is waited for");
    assert_eq!(end("false", 1040), 1040 + 3 + 10);
    let empty = of_slots(&[], Trigger::Message { words: 5, packets: 0 }, &[], 1040);
    assert_eq!((empty.end, empty.uses.dispatch, empty.uses.extract), (1000 + 3, 3, 6));
}

/// Words of messages that have not been read are in the receive queue. What does not fit there waits at its sender, and so do those that follow.
#[test]
fn receive_queues_hold_so_many_words() {
    let machine = Machine::load("m-machine", &[]).unwrap();
    let lane = LaneId::at(0);
    let new = || {
        let mut interface = Interface::new(&machine, 0, 3, 1);
        interface.has_own_credits(0, lane);
        interface
    };
    let leaves = |interface: &mut Interface, to, words: usize| {
        let args = Args::of(&vec![0i64; 5 + words]);
        interface.send(100, false, Box::new(Envelope { to, lane, args, ..Envelope::default() })).is_some()
    };
    // Ten words and four more are there, of 32.
    let mut interface = new();
    assert_eq!([10, 10, 10, 0].map(|words| leaves(&mut interface, 1, words)), [true, true, false, false]);
    assert!(leaves(&mut interface, 2, 10), "another node has a queue of its own");
    assert!(interface.has_waiting());
    let (at, third) = interface.credit(200, 1, 0, lane).unwrap();
    assert_eq!((at, third.args.words().len()), (200, 15), "the first has been read");
    let (at, fourth) = interface.another(200, 1, 0, lane).unwrap();
    assert_eq!((at, fourth.args.words().len()), (200, 5), "28 and 4 words");
    assert!(interface.another(200, 1, 0, lane).is_none() && !interface.has_waiting());
    // It knows of four messages.
    let mut interface = new();
    assert_eq!([0; 5].map(|words| leaves(&mut interface, 1, words)), [true, true, true, true, false]);
    // One that is longer passes through the queue alone.
    let small = Machine::load("m-machine", &[("slots.queues.in".into(), "8".into())]).unwrap();
    let mut interface = Interface::new(&small, 0, 3, 1);
    interface.has_own_credits(0, lane);
    assert_eq!([10, 0].map(|words| leaves(&mut interface, 1, words)), [true, false]);
    assert!(interface.credit(300, 1, 0, lane).is_some());
}

/// What a message takes to leave, and for how long its program is held up, are two things.
#[test]
fn a_message_leaves_a_slot_by_its_stages() {
    let effects = [Primitive::Send { words: 5 + 4, data: None }, Primitive::Resume];
    let of = |set: &[(&str, &str)], trigger| of_slots(set, trigger, &effects, 1000);
    let plain = of(&[], Trigger::Call(9));
    // SEND takes 5, and its thread has to do with it for four words more. To the port it is 4.
    assert_eq!((plain.sends[0], plain.resume, plain.end), (1000 + 5 + 4, Some(1009), 1009));
    assert_eq!((plain.tails[0], plain.uses.inject, plain.uses.translate), (0, 9, 0));
    let streaming = of(&[("inject.streams", "true"), ("inject.latency.word", "3")], Trigger::Call(9));
    assert_eq!((streaming.sends[0], streaming.tails[0], streaming.end), (1000 + 5 + 4, 12, 1000 + 17));
    let late = [("inject.latency.fixed", "50"), ("translate.latency.fixed", "20"), ("translate.occupancy.fixed", "30")];
    let translated = of(&late, Trigger::Call(9));
    assert_eq!((translated.sends[0], translated.end), (1000 + 20 + 50 + 4, 1000 + 20 + 9));
    assert_eq!(translated.uses.translate, 30);
}

/// A message that does not find its node in the table is sent again by the engine of events. Ordered ones that come later wait for that, others do not.
#[test]
fn a_miss_of_the_table_delays_its_message_and_later_ordered_ones() {
    let set = [("gtlb.entries", "1"), ("gtlb.objects", "2"), ("gtlb.lookup", "1")];
    let machine = &Machine::load("m-machine", &set.map(|(key, value)| (key.to_string(), value.to_string()))).unwrap();
    let mut model = NodeModel::new(machine, 0, 4, 1);
    let effects = [Primitive::Send { words: 5 + 2, data: None }];
    let did = Did { trigger: Trigger::Call(4), effects: &effects, given: None };
    let mut sends = |start, id, ordered| {
        let object = Object { kind: ObjectKindId(2), id };
        let addressed = Some(Addressed { object: (0, object), ordered });
        let job = Job { addressed, ..job(machine, did, start, start) };
        let mut time = HandlerTime::default();
        assert!(model.lay(&job, &mut time));
        (time.sends[0] - start, time.end - start, time.gtlb_misses, model.accept(start, 0))
    };
    // SEND takes 5 cycles, and two more until its words are read; the look-up 1, the way to the port 4. What is named first is there from the start.
    assert_eq!(sends(1000, 0, true), (5 + 1 + 4, 7, 0, 1000));
    assert_eq!(sends(1100, 1, true), (10, 7, 0, 1100), "it is in the same region");
    // 18 and three a word of the miss, and SEND again. The program has gone on.
    assert_eq!(sends(1200, 2, true), (7 + 1 + 24 + 5 + 4, 7, 1, 1239));
    assert_eq!(sends(1207, 3, false), (10, 7, 0, 1239), "it need not wait");
    assert_eq!(sends(1214, 3, true), (25 + 10, 25 + 7, 0, 1239), "it waits until cycle 1239");
    // The table has one entry, and the engine of events has to do with the one before.
    assert_eq!(sends(1300, 0, false), (41, 7, 1, 1339));
    assert_eq!(sends(1310, 2, false), (29 + 24 + 5 + 4, 7, 1, 1370), "from cycle 1339 on");
    let without = Machine { gtlb: None, ..machine.clone() };
    model = NodeModel::new(&without, 0, 4, 1);
    let job = job(&without, did, 0, 0);
    let mut time = HandlerTime::default();
    assert!(model.lay(&job, &mut time));
    assert_eq!((time.sends[0], time.end, time.gtlb_misses), (9, 7, 0));
}

/// What a program has done for a message before its call: streaming interfaces have taken the words meanwhile, and of a buffer that keeps them only new ones count.
#[test]
fn a_message_leaves_sooner_that_is_assembled_already() {
    let effects = [Primitive::Send { words: 5 + 4, data: None }];
    let of = |streams: &str, keeps: &str, cycles, fresh| {
        let set = [
            ("streams", streams),
            ("keeps", keeps),
            ("latency.fixed", "10"),
            ("latency.word", "3"),
            ("hold.fixed", "10"),
            ("hold.word", "3"),
        ];
        let set = set.map(|(key, value)| (format!("slots.inject.{key}"), value.to_string()));
        let machine = &Machine::load("m-machine", &set).unwrap();
        let did = Did { trigger: Trigger::Call(9), effects: &effects, given: None };
        let job = Job { assembled: Assembled { cycles, fresh }, ..job(machine, did, 1000, 1000) };
        let mut time = HandlerTime::default();
        assert!(NodeModel::new(machine, 0, 4, 1).lay(&job, &mut time));
        // To the port it is 4.
        (time.sends[0] - 1004, time.tails[0], time.end - 1000)
    };
    assert_eq!(of("false", "false", 100, Some(1)), (22, 0, 22), "ten and four words of three");
    assert_eq!(of("false", "true", 100, None), (22, 0, 22), "there was no message like it");
    assert_eq!(of("false", "true", 100, Some(1)), (13, 0, 13));
    assert_eq!(of("false", "true", 100, Some(9)), (22, 0, 22), "others of its words ride in the header");
    assert_eq!(of("true", "false", 0, Some(1)), (10, 12, 22), "the head leaves when the channel is open");
    assert_eq!(of("true", "false", 7, None), (3, 12, 15), "it has been opened for seven cycles");
    assert_eq!(of("true", "false", 16, None), (0, 6, 6), "two words have gone by then");
    assert_eq!(of("true", "false", 100, None), (0, 0, 0));
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

/// Alone, a message takes the lookahead and its way. Two between the same nodes keep their order, and one that meets others takes no less.
#[test]
fn a_shared_network_is_no_faster_than_one_without_others() {
    for (topology, latency, per_hop) in [("hypercube", 20, 9), ("mesh", 1, 0), ("ring", 300, 7)] {
        let numbers = [latency, per_hop].map(|number: u64| number.to_string());
        let set = [
            ("network.latency", numbers[0].as_str()),
            ("network.topology", topology),
            ("network.per_hop", &numbers[1]),
            ("network.data_latency", "13"),
        ];
        let of = |set: &[(&str, &str)]| {
            let set: Vec<_> = set.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
            Machine::load("typhoon", &set).unwrap()
        };
        let free = of(&set);
        let machine = of(&[&set[..], &[("network.link_cycles_per_word", "3")]].concat());
        assert!(networks::shared(&free, 9).is_none());
        let message = |n: u64| {
            let (from, to) = ((n * 5 % 9) as u16, (n * n % 9) as u16);
            Traveller { from, to, words: 2 + n % 7, has_data: n.is_multiple_of(3) }
        };
        let departed = |n: u64| 4 * n;
        let is_away = |n: &u64| message(*n).from != message(*n).to;
        // By message: its arrival, and for how long it has waited.
        let arrivals = || {
            let mut network = networks::shared(&machine, 9).unwrap();
            let start = |n: u64| ((departed(n), n), (u64::from(message(n).from), 0));
            let mut on_way: BTreeMap<_, _> = (0..300).filter(is_away).map(start).collect();
            let mut arrived = BTreeMap::new();
            while let Some(((time, n), (router, before))) = on_way.pop_first() {
                let Hop { time: next, waited, router } = network.hop(time, router, &message(n));
                let waited = before + waited;
                match router {
                    Some(router) => drop(on_way.insert((next, n), (router, waited))),
                    None => {
                        assert!(next >= time + machine.lookahead());
                        arrived.insert(n, (next, waited));
                    }
                }
            }
            arrived
        };
        let all = arrivals();
        assert_eq!(all, arrivals(), "{topology}: it repeats itself");
        assert!(all.values().any(|(_, waited)| *waited > 0), "{topology}");
        for (&n, &(arrival, waited)) in &all {
            let Traveller { from, to, has_data, .. } = message(n);
            let alone = networks::make(&free, from, 9, 5).arrival(departed(n), to, has_data);
            assert_eq!(arrival, alone + waited, "{topology}: {n}");
            // What has data takes longer at the end: of those with and those without, each keeps its order.
            let same = |other: u64| {
                let other = message(other);
                (other.from, other.to, other.has_data) == (from, to, has_data)
            };
            assert!(all.range(..n).all(|(&before, &(time, _))| !same(before) || time < arrival), "{topology}: {n}");
        }
        for (me, has_data) in [(0, false), (3, true)] {
            let to_self = |machine| networks::make(machine, me, 9, 5).arrival(100, me, has_data);
            assert_eq!(to_self(&machine), to_self(&free), "{topology}: a message to its sender meets nobody");
        }
    }
}

/// No message passes a port before it is handed over, two are never in a queue together, and those that are longer take no less.
#[test]
fn a_port_is_left_by_one_message_after_the_other() {
    for name in ["typhoon", "flash", "flash-craylink", "now", "simple-coma", "m-machine"] {
        let machine = Machine::load(name, &[]).unwrap();
        let port = ports::make(&machine);
        for bytes in [0, 64, 4096] {
            let message = |words| Passing { packets: 1 + bytes / 1024, words, bytes, tail: 0 };
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
