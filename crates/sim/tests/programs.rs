//! Programs give right answers on every machine, and the same results whatever the window.

mod bench;

use bench::{Run, machine};

#[test]
fn em3d_is_right_on_all_machines() {
    for name in ["simple-coma", "typhoon", "typhoon-1", "typhoon-0"] {
        let result = Run::of("em3d", &["-n", "40", "-i", "2"]).on(machine(name, &[])).nodes(4).right();
        assert!(result.misses.read > 0 && result.messages["stache.GetRead"] > 0, "{result:?}");
        for node in &result.per_node {
            let sum = node.compute + node.read_stall + node.write_stall + node.sync_stall + node.handler;
            assert_eq!(sum, node.cycles, "{node:?}");
        }
    }
}
