//! Values that may be `none`: what is left out of the search, or exchanged in it, is seen by nobody, and each search and the flat code see the same.

mod protocol;

pub use protocol::protocol;

use crate::arrays::agree;
use crate::mutant::config;
use crate::shipped::written;
use crate::slow;
use proptest::prelude::*;
use trivium_check::{Config, System, Verdict, explore, text};
use trivium_engine::Engine;

proptest! {
    #![proptest_config(config(slow::all_or(200, 40)))]

    #[test]
    fn random_protocols_with_none_are_the_same_with_all_kept(seed: u64) {
        let source = protocol(seed);
        agree(&written(&source), 2).map_err(|error| match error {
            TestCaseError::Fail(error) => TestCaseError::fail(format!("{error}\n{source}")),
            rejected => rejected,
        })?;
    }
}

#[test]
fn random_protocols_with_none_hold_or_fail() {
    let mut verdicts = [0; 3];
    for seed in 0..60u64 {
        let Ok(Some(report)) = agree(&written(&protocol(seed * 7919)), 2) else { continue };
        verdicts[report.verdict as usize] += 1;
    }
    assert!(verdicts[Verdict::Holds as usize] > 2 && verdicts[Verdict::Violated as usize] > 2, "{verdicts:?}");
}

/// One block that its home lends, beside a word and a truth value that may be none.
const LENT: &str = "
protocol lent
promises last_write
lane main fifo buffered
message Ask on main
message Lend, Back on main with block
role home of block defers up to nodes {
  var last: word?
  var free: bool? = true
  state Here: write {
    on Ask when free == true { last = 1; free = none; send Lend to sender; goto Lent }
    on Ask, Back impossible
  }
  state Lent {
    on Back { install; last = none; free = true; resume; goto Here }
    on read, write, Ask defer
  }
}
role cell of block {
  state Away {
    on read, write { send Ask to home; await Lend { install; goto There; resume } }
    on Lend impossible
  }
  state There: write { on after 10 { send Back to home; goto Away } on Lend impossible }
}
";

#[test]
fn stored_values_are_exchanged_beside_what_may_be_none() {
    let protocol = written(LENT);
    let explored = |value_symmetry: bool| {
        let system = System { nodes: 2, ..System::default() };
        explore(&protocol, &Config { value_symmetry, ..system.into() }).unwrap()
    };
    let (exchanged, apart) = (explored(true), explored(false));
    assert_eq!((exchanged.verdict, apart.verdict), (Verdict::Holds, Verdict::Holds), "{}", text(&apart));
    assert!(exchanged.states < apart.states, "{} of {}", exchanged.states, apart.states);
}

#[test]
fn handlers_with_values_that_may_be_none_run_as_flat_code() {
    let source = "
protocol flat
object seat
op put(s: seat, n: 0..2?): bool?
role clerk of seat everywhere {
  var n: 1..3?
  var w: word?
  state Only { on put(x) { if x != none { n = x + 1; w = n } else { n = none }; return n == w } }
}
";
    let engine = Engine::load(written(source), 2).unwrap();
    assert!(engine.walked().is_empty(), "{:?}", engine.walked());
}
