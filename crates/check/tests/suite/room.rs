//! No message is sent on a lane that is full: what the compiler says that handlers may send, and what `room` leaves for them, is
//! counted anew at each send. A mistake in either shows as a fault of protocols that fill their lanes.

use crate::mutant::config;
use crate::rooms;
use crate::shipped::written;
use proptest::prelude::*;
use std::sync::Arc;
use trivium_check::{Config, Report, Search, System, Verdict, explore};
use trivium_engine::Engine;
use trivium_protocol::{Bound, Expr, ExprKind, Operator, Protocol, Step, StepKind};

/// States after which an exploration is left.
const MOST: u64 = 4000;

fn explored(protocol: &Arc<Protocol>, nodes: u32) -> Report {
    let system = System { nodes, ops: Some(3), ..System::default() };
    let config = Config { system, symmetry: false, liveness: false, max_states: Some(MOST), ..Config::default() };
    explore(protocol, &config).unwrap_or_else(|error| panic!("{error}"))
}

/// Whether a message was sent on a lane that was full.
fn overflows(report: &Report) -> bool {
    report.reason.as_ref().is_some_and(|reason| reason.contains("which is full"))
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn no_message_is_sent_on_a_lane_that_is_full(seed: u64, nodes in 1u32..3) {
        let text = rooms::protocol(seed);
        let report = explored(&written(&text), nodes);
        prop_assert!(!overflows(&report), "{}\\n{text}", trivium_check::text(&report));
    }
}

/// The random protocol of a number whose lanes share a queue of as few places as it loads with.
fn sharing(seed: u64) -> (String, Arc<Protocol>) {
    let tried = (1..100).find_map(|places| {
        let text = rooms::sharing(seed, places);
        let protocol = Arc::new(trivium_lang::compile("rooms.tri", &text, &Default::default()).ok()?);
        Engine::load(Arc::clone(&protocol), 2).is_ok().then_some((text, protocol))
    });
    tried.unwrap_or_else(|| panic!("{}", rooms::sharing(seed, 100)))
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn no_message_is_sent_into_a_shared_queue_that_is_full(seed: u64, nodes in 1u32..3) {
        let (text, protocol) = sharing(seed);
        let report = explored(&protocol, nodes);
        prop_assert!(!overflows(&report), "{}\n{text}", trivium_check::text(&report));
    }
}

/// What an exploration has found.
fn found(report: &Report) -> (Verdict, Option<&str>, u64, u64, usize) {
    (report.verdict, report.property.as_deref(), report.states, report.transitions, report.counterexample.len())
}

proptest! {
    #![proptest_config(config(60))]

    /// Where queues may be full, handlers are remembered by nobody, and each answer is tried by both searches.
    #[test]
    fn the_fast_search_finds_what_the_brute_force_finds(seed: u64, shares: bool) {
        let (text, protocol) = if shares { sharing(seed) } else { (rooms::protocol(seed), written(&rooms::protocol(seed))) };
        let system = System { nodes: 2, ops: Some(2), ..System::default() };
        let config = Config { system: system.unreduced(), symmetry: false, max_states: Some(MOST), ..Config::default() };
        let fast = explore(&protocol, &config).unwrap_or_else(|error| panic!("{error}"));
        let brute = explore(&protocol, &Config { search: Search::Brute, ..config }).unwrap_or_else(|error| panic!("{error}"));
        if fast.verdict != Verdict::Incomplete && brute.verdict != Verdict::Incomplete {
            prop_assert_eq!(found(&fast), found(&brute), "{}", text);
        }
    }
}

/// A mistake in what is known of room.
type Mistake = (&'static str, fn(&mut Protocol));

const MISTAKES: [Mistake; 3] = [
    ("dispatch keeps no place", |protocol| {
        let handlers = protocol.roles.iter_mut().flat_map(|role| &mut role.handlers);
        handlers.for_each(|handler| handler.sends.fill(Bound::fixed(0)));
    }),
    ("of many unasked sends, one is counted", |protocol| {
        let handlers = protocol.roles.iter_mut().flat_map(|role| &mut role.handlers);
        handlers.flat_map(|handler| &mut handler.sends).for_each(|sends| sends.constant = sends.constant.min(1));
    }),
    ("`room` asks for one place, whatever is sent besides", |protocol| {
        protocol
            .roles
            .iter_mut()
            .flat_map(|role| &mut role.handlers)
            .for_each(|handler| ask_for_one(&mut handler.steps));
    }),
];

/// Mistakes in what is known of a queue that lanes share.
const MISTAKES_OF_SHARED: [Mistake; 2] = [
    ("dispatch keeps no place of the shared queue", |protocol| {
        let lanes = protocol.lanes.len();
        let handlers = protocol.roles.iter_mut().flat_map(|role| &mut role.handlers);
        handlers.for_each(|handler| handler.sends[lanes..].fill(Bound::fixed(0)));
    }),
    ("`room` asks the shared queue for no more than the lane", |protocol| {
        let handlers = protocol.roles.iter_mut().flat_map(|role| &mut role.handlers);
        handlers.for_each(|handler| {
            each_room(&mut handler.steps, &mut |asked| {
                if let ExprKind::Room(_, _, together) = &mut asked.kind {
                    *together = Bound::fixed(0);
                }
            });
        });
    }),
];

#[test]
fn mistakes_about_shared_queues_are_noticed() {
    let mut noticed = MISTAKES_OF_SHARED.map(|_| 0);
    for seed in 0..80 {
        let (_, right) = sharing(seed * 7919);
        for ((_, mistake), noticed) in MISTAKES_OF_SHARED.iter().zip(&mut noticed) {
            let mut wrong = Protocol::clone(&right);
            mistake(&mut wrong);
            *noticed += usize::from(overflows(&explored(&Arc::new(wrong), 1)));
        }
    }
    println!("noticed: {noticed:?}");
    assert!(noticed.iter().all(|&noticed| noticed > 5), "{noticed:?}");
}

/// Every `room` asks for one place: no more than it did in the text.
fn ask_for_one(steps: &mut [Step]) {
    each_room(steps, &mut |asked| {
        if let ExprKind::Room(_, wanted, _) = &mut asked.kind {
            wanted.kind = ExprKind::Constant(Bound::fixed(1));
        }
    });
}

/// Calls with each `room` that is a condition, or a part of one.
fn each_room(steps: &mut [Step], call: &mut impl FnMut(&mut Expr)) {
    for step in steps {
        match &mut step.kind {
            StepKind::If(condition, yes, no) => {
                rooms_of(condition, call);
                each_room(yes, call);
                each_room(no, call);
            }
            StepKind::ForRange(_, _, _, body) | StepKind::Elsewhere(_, _, body) => each_room(body, call),
            _ => {}
        }
    }
}

fn rooms_of(condition: &mut Expr, call: &mut impl FnMut(&mut Expr)) {
    match &mut condition.kind {
        ExprKind::Room(..) => call(condition),
        ExprKind::Binary(Operator::And, a, b) => {
            rooms_of(a, call);
            rooms_of(b, call);
        }
        _ => {}
    }
}

/// The property above would say nothing if lanes were never full, or if nobody looked.
#[test]
fn mistakes_about_room_are_noticed() {
    let mut whole = 0;
    let mut noticed = MISTAKES.map(|_| 0);
    for seed in 0..60 {
        let right = written(&rooms::protocol(seed * 7919));
        whole += usize::from(explored(&right, 1).verdict != Verdict::Incomplete);
        for ((_, mistake), noticed) in MISTAKES.iter().zip(&mut noticed) {
            let mut wrong = Protocol::clone(&right);
            mistake(&mut wrong);
            *noticed += usize::from(overflows(&explored(&Arc::new(wrong), 1)));
        }
    }
    let told: Vec<_> = MISTAKES.iter().map(|(name, _)| name).zip(noticed).collect();
    println!("{whole} explored to their end; noticed: {told:?}");
    assert!(whole > 30, "{whole} were explored to their end");
    assert!(noticed.iter().all(|&noticed| noticed > 5), "{told:?}");
}
