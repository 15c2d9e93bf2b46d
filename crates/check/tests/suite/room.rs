//! No message is sent on a lane that is full: what the compiler says that handlers may send, and what `room` leaves for them, is
//! counted anew at each send. A mistake in either shows as a fault of protocols that fill their lanes.

use crate::mutant::config;
use crate::rooms;
use crate::shipped::written;
use proptest::prelude::*;
use std::sync::Arc;
use trivium_check::{Config, Report, Search, System, Verdict, explore};
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

/// What an exploration has found.
fn found(report: &Report) -> (Verdict, Option<&str>, u64, u64, usize) {
    (report.verdict, report.property.as_deref(), report.states, report.transitions, report.counterexample.len())
}

proptest! {
    #![proptest_config(config(60))]

    /// Where queues may be full, handlers are remembered by nobody, and each answer is tried by both searches.
    #[test]
    fn the_fast_search_finds_what_the_brute_force_finds(seed: u64) {
        let text = rooms::protocol(seed);
        let protocol = written(&text);
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

/// Every `room` asks for one place: no more than it did in the text.
fn ask_for_one(steps: &mut [Step]) {
    for step in steps {
        match &mut step.kind {
            StepKind::If(condition, yes, no) => {
                one_place(condition);
                ask_for_one(yes);
                ask_for_one(no);
            }
            StepKind::ForRange(_, _, _, body) | StepKind::Elsewhere(_, _, body) => ask_for_one(body),
            _ => {}
        }
    }
}

fn one_place(condition: &mut Expr) {
    match &mut condition.kind {
        ExprKind::Room(_, wanted) => wanted.kind = ExprKind::Constant(Bound::fixed(1)),
        ExprKind::Binary(Operator::And, a, b) => {
            one_place(a);
            one_place(b);
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
