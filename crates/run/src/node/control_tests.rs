//! What node 0 decides from what nodes report.

use super::*;

fn report(round: u64, doing: Told) -> Report {
    Report {
        round,
        doing,
        told: String::new(),
        moved: 0,
        went_on: 0,
        sent: 0,
        received: 0,
        is_quiet: true,
        goes_on_by_itself: false,
        asks: None,
        taken: Vec::new(),
    }
}

/// All nodes answer a question with these.
fn answer(known: &mut Coordinator, reports: &[Report]) -> Option<Order> {
    let round = known.round;
    let mut order = None;
    for (node, report) in (0..).zip(reports) {
        order = known.heard(node, Report { round, ..report.clone() });
    }
    order
}

#[test]
fn the_barrier_opens_when_all_have_come() {
    let mut known = Coordinator::new(2);
    for _ in 0..2 {
        assert_eq!(known.heard(1, report(0, Told::AtBarrier(Purpose::Barrier))), None);
        assert_eq!(known.heard(0, report(0, Told::AtBarrier(Purpose::Barrier))), Some(Order::Open));
    }
    assert_eq!(known.heard(0, report(0, Told::AtBarrier(Purpose::Barrier))), None);
    let other = known.heard(1, report(0, Told::AtBarrier(Purpose::Start)));
    assert_eq!(other, Some(Order::Disagree((0, Purpose::Barrier), (1, Purpose::Start))));
}

/// A host that stands still for a while has all nodes tell that they wait, and node 0 ask. A node that goes on meanwhile, and comes to the
/// barrier before all have answered, is there.
#[test]
fn the_barrier_opens_for_one_that_came_behind_its_answer() {
    let barrier = Told::AtBarrier(Purpose::Barrier);
    let mut known = Coordinator::new(2);
    assert_eq!(known.heard(0, report(0, Told::Waits)), None);
    assert_eq!(known.heard(1, report(0, Told::Waits)), Some(Order::Ask(1)));
    assert_eq!(known.heard(1, report(1, Told::Runs)), None);
    assert_eq!(known.heard(1, report(0, barrier)), None);
    assert_eq!(known.heard(0, report(1, Told::Waits)), None, "somebody waits, and it is not known for what");
    assert_eq!(known.heard(0, report(0, barrier)), Some(Order::Open));
}

#[test]
fn a_region_is_bound_when_no_message_is_on_its_way() {
    let mut known = Coordinator::new(2);
    let bind = Purpose::Bind(Binding { region: 3, protocol: 1 });
    let at = Told::AtBarrier(bind);
    known.heard(0, report(0, at));
    assert_eq!(known.heard(1, report(0, at)), Some(Order::Ask(1)));
    let on_its_way = [Report { sent: 5, ..report(0, at) }, Report { received: 4, ..report(0, at) }];
    assert_eq!(answer(&mut known, &on_its_way), None);
    std::thread::sleep(AGAIN);
    assert_eq!(known.is_due().then(|| known.ask_again()).flatten(), Some(Order::Ask(2)));
    assert_eq!(answer(&mut known, &on_its_way), None, "the same, but one message has not arrived");
    for round in [3, 4] {
        std::thread::sleep(AGAIN);
        assert_eq!(known.is_due().then(|| known.ask_again()).flatten(), Some(Order::Ask(round)));
        let arrived = [on_its_way[0].clone(), Report { received: 5, ..report(0, at) }];
        let order = answer(&mut known, &arrived);
        assert_eq!(order, (round == 4).then_some(Order::Arrange(bind)), "it must be seen twice");
    }
    assert_eq!((known.arranged(), known.arranged()), (None, Some(Order::Open)));
}

#[test]
fn a_deadlock_is_one_if_nothing_moves() {
    let mut known = Coordinator::new(2);
    known.heard(1, report(0, Told::HasEnded));
    assert_eq!(known.heard(0, report(0, Told::Waits)), Some(Order::Ask(1)));
    let waits = |moved, goes_on_by_itself| {
        [Report { moved, goes_on_by_itself, ..report(0, Told::Waits) }, report(0, Told::HasEnded)]
    };
    let mut ask = |reports: &[Report]| {
        let order = answer(&mut known, reports);
        std::thread::sleep(AGAIN_STUCK);
        known.is_due().then(|| known.ask_again()).flatten();
        order
    };
    assert_eq!(ask(&waits(1, false)), None);
    assert_eq!(ask(&waits(2, false)), None, "it has moved");
    assert_eq!(ask(&waits(2, true)), None, "a timer runs");
    assert_eq!(ask(&waits(2, true)), None, "a timer still runs");
    assert_eq!(ask(&waits(2, false)), None, "it has ended");
    assert_eq!(ask(&waits(2, false)), Some(Order::Deadlock(vec![(0, String::new())], BTreeMap::new())));
}

#[test]
fn it_is_told_when_handlers_run_and_no_program_goes_on() {
    let mut known = Coordinator::new(1);
    known.stall_limit = Some(4 * AGAIN_STUCK);
    assert_eq!(known.heard(0, report(0, Told::Waits)), Some(Order::Ask(1)));
    for moved in 1..100 {
        // The program goes on three times, and then no more.
        let told = Report { moved, went_on: moved.min(3), ..report(0, Told::Waits) };
        assert_eq!(answer(&mut known, &[told]), None, "{moved}");
        std::thread::sleep(AGAIN_STUCK);
        if known.is_stalled() {
            assert!(moved > 3);
            assert_eq!(known.stalled(), Some(Order::Stalled(vec![(0, String::new())], None)));
            return;
        }
        assert!(known.is_due().then(|| known.ask_again()).flatten().is_some());
    }
    panic!("it is not told");
}

#[test]
fn a_node_that_runs_again_is_asked_again_only_when_it_waits() {
    let mut known = Coordinator::new(1);
    assert_eq!(known.heard(0, report(0, Told::Waits)), Some(Order::Ask(1)));
    assert_eq!(answer(&mut known, &[report(0, Told::Runs)]), None);
    assert_eq!(known.is_due().then(|| known.ask_again()).flatten(), None);
    assert_eq!(known.heard(0, report(0, Told::HasEnded)), Some(Order::Ask(2)));
}

#[test]
fn two_nodes_that_store_to_a_block_in_one_phase_are_caught() {
    let mut known = Coordinator::new(2);
    assert_eq!(known.stores(0, 0, &[1, 2]), None);
    assert_eq!(known.stores(0, 1, &[3]), None);
    assert_eq!(known.stores(1, 0, &[3]), None, "another phase");
    assert_eq!(known.stores(1, 1, &[3]), Some(Order::TwoWriters(0, 1, 3, 1)));
}
