//! Programs give right answers on every machine, and the same results whatever the window.

use crate::bench::{self, Run, machine, program, same_in, source, text_program};
use crate::slow;
use trivium_sim::{Note, SimResult};

const MACHINES: [&str; 4] = ["simple-coma", "typhoon", "typhoon-1", "typhoon-0"];

/// Everything but the host's time.
fn bytes(mut result: SimResult) -> String {
    result.host_seconds = 0.0;
    serde_json::to_string_pretty(&result).unwrap()
}

fn adds_up(result: &SimResult) {
    for node in &result.per_node {
        let sum = node.compute + node.read_stall + node.write_stall + node.tlb_stall + node.sync_stall + node.handler;
        assert_eq!(sum, node.cycles, "{node:?}");
    }
    assert_eq!(
        result.messages.values().sum::<u64>(),
        result.per_node.iter().map(|node| node.messages_sent).sum::<u64>()
    );
}

#[test]
fn em3d_is_right_on_all_machines_and_slower_on_simpler_ones() {
    let em3d = Run::of("em3d", &["-n", "60", "-i", "2"]).nodes(4);
    let cycles = MACHINES.map(|name| {
        let result = em3d.clone().on(machine(name, &[])).right();
        assert!(result.misses.read > 0 && result.messages["stache.GetRead"] > 0, "{result:?}");
        adds_up(&result);
        result.cycles
    });
    assert!(cycles.is_sorted_by(|a, b| a < b), "{cycles:?}");
}

/// Under each protocol of whole blocks, for small numbers of nodes and all block sizes, and for many nodes.
fn right_everywhere(run: &Run, nodes: &[u32], blocks: &[u64]) {
    for protocol in ["msi", "stache", "swcc", "flash-coherence"] {
        for &nodes in nodes {
            for &block in blocks {
                adds_up(&run.clone().under(&[protocol]).nodes(nodes).block(block).right());
            }
        }
    }
}

/// Messages that come earlier or later change no bit of what it prints.
fn same_with_jitter(run: &Run, expected: &str) {
    for seed in 0..slow::all_or(8, 2) {
        let noisy = machine("typhoon-1", &[("network.jitter", "400")]);
        assert_eq!(run.clone().on(noisy).seed(seed).right().output, expected, "seed {seed}, {:?}", run.args);
    }
}

const BLOCKS: [u64; 7] = [32, 64, 128, 256, 512, 1024, 2048];

/// Blocks of programs that take long: all of them if slow tests are asked for.
fn blocks_of_many() -> &'static [u64] {
    slow::all_or(&BLOCKS, &[32, 512])
}

#[test]
fn em3d_is_right_everywhere() {
    let em3d = Run::of("em3d", &["-n", "20", "-i", "2"]);
    right_everywhere(&em3d, &[1, 2, 3], &BLOCKS);
    right_everywhere(&em3d, &[32, 64], &[64]);
}

/// The custom protocol changes no bit of the answer, on no machine and for no size of block.
#[test]
fn em3d_is_the_same_under_deferred_update() {
    for &(nodes, block) in slow::all_or(&[(1, 64), (2, 32), (5, 64), (8, 512)][..], &[(2, 32), (5, 64)]) {
        for packed in ["1", "0"] {
            let args = ["-n", "60", "-r", "30", "-p", packed];
            let run = Run::of("em3d", &args).nodes(nodes).block(block).right();
            let update = Run::of("em3d-update", &args).under(&["stache", "deferred-update"]).nodes(nodes).block(block);
            for name in MACHINES {
                assert_eq!(update.clone().on(machine(name, &[])).right().output, run.output, "{name}");
            }
        }
    }
}

/// More words than the home notes for a reader: those beside them had become readable, and were stale.
#[test]
fn words_that_are_not_noted_are_not_stale() {
    let args = ["-n", "2800", "-d", "10", "-r", "20", "-i", "3"];
    let run = Run::of("em3d", &args).nodes(2).right();
    let update = Run::of("em3d-update", &args).under(&["stache", "deferred-update"]).nodes(2).right();
    assert_eq!(update.output, run.output);
    assert!(update.messages["deferred-update.Look"] > 0, "all of them were noted: {:?}", update.messages);
}

/// A word that was noted for one phase only had been pushed for that one only.
#[test]
fn what_is_loaded_in_two_phases_is_pushed_for_both() {
    Run::of("../crates/sim/tests/programs/every-phase", &[]).under(&["stache", "deferred-update"]).nodes(3).right();
}

/// The same of the other two custom protocols: positions that anybody may read are updated through the home, and
/// velocities go to whoever owns a body. Positions come under the default protocol and back again between phases.
#[test]
fn bodies_are_the_same_under_update_and_migratory() {
    const CUSTOM: [&str; 3] = ["stache", "update", "migratory"];
    for (number, (nodes, block, args)) in [
        (1, 64, &[][..]),
        (2, 32, &["-m", "1", "-e", "2"]),
        (4, 64, &[]),
        (4, 2048, &["-n", "70", "-r", "9", "-i", "4"]),
    ]
    .into_iter()
    .enumerate()
    {
        let run = Run::of("bodies", args).nodes(nodes).block(block).right();
        let custom = Run::of("bodies-update", args).under(&CUSTOM).nodes(nodes).block(block);
        for name in slow::in_turn(2, number, MACHINES) {
            let result = custom.clone().on(machine(name, &[])).right();
            adds_up(&result);
            assert_eq!(result.output, run.output, "{name}");
            assert_eq!(nodes > 1, result.messages.contains_key("update.New"), "who reads is told");
            assert_eq!(nodes > 1, result.messages.contains_key("migratory.Data"), "owners change");
        }
    }
    let run = Run::of("bodies", &["-k", "1", "-i", "4"]).nodes(32).right();
    let custom = Run::of("bodies-update", &["-k", "1", "-i", "4"]).under(&CUSTOM).nodes(32);
    assert_eq!(custom.right().output, run.output);
    let custom = Run::of("bodies-update", &[]).under(&CUSTOM).nodes(5);
    same_with_jitter(&custom, &Run::of("bodies", &[]).nodes(5).right().output);
    right_everywhere(&Run::of("bodies", &["-k", "1"]), &[1, 3], &BLOCKS);
}

/// Molecules move to the same bits whichever machine and protocol they are on, and whichever way their forces are merged. On one node they are merged in no way, and nodes
/// without equally many have sections of several lengths.
#[test]
fn moldyn_is_the_same_by_stages_and_through_channels() {
    for (number, (nodes, block, args)) in [
        (1, 64, &[][..]),
        (2, 32, &["-e", "1"]),
        (5, 64, &["-i", "9"]),
        (8, 512, &["-b", "4", "-i", "2"]),
        (32, 64, &["-b", "2", "-i", "3"]),
    ]
    .into_iter()
    .enumerate()
    {
        let run = Run::of("moldyn", args).nodes(nodes).block(block).right();
        let custom = Run::of("moldyn-channels", args).under(&["stache", "channel"]).nodes(nodes).block(block);
        for name in slow::in_turn(4, number, MACHINES) {
            let result = custom.clone().on(machine(name, &[])).right();
            adds_up(&result);
            assert_eq!(result.output, run.output, "{name}");
            assert_eq!(nodes > 1, result.messages.contains_key("channel.Last"), "sections go round");
        }
    }
    for merged in ["1", "2", "3"] {
        let run = Run::of("moldyn", &["-m", merged]).nodes(5).right();
        assert_eq!(run.output, Run::of("moldyn", &[]).nodes(5).right().output, "way {merged} to merge");
    }
    let custom = Run::of("moldyn-channels", &["-b", "2"]).under(&["stache", "channel"]).nodes(7);
    same_with_jitter(&custom, &Run::of("moldyn", &["-b", "2"]).nodes(7).right().output);
    right_everywhere(&Run::of("moldyn", &["-b", "2", "-i", "3"]), &[1, 3], blocks_of_many());
}

/// What a program says of its answer.
fn digest(output: &str) -> &str {
    output.rsplit_once("digest ").expect("it has a digest").1
}

/// Particles of a gas move and collide to the same bits whichever machine and protocol they are on, at every number of nodes, and whether they go to other nodes through shared
/// buffers or in messages. Nodes have regions of several sizes; on one, nothing goes anywhere.
#[test]
fn dsmc_is_the_same_through_buffers_and_in_messages() {
    for args in [&[][..], &["-v", "200", "-g", "7", "-i", "9"]] {
        let alone = Run::of("dsmc", args).nodes(1).right();
        for (number, (nodes, block)) in [(1, 64), (2, 32), (5, 64), (7, 512), (32, 64)].into_iter().enumerate() {
            let run = Run::of("dsmc", args).nodes(nodes).block(block).right();
            assert_eq!(digest(&run.output), digest(&alone.output), "{nodes} nodes");
            let custom = Run::of("dsmc-write", args).under(&["stache", "remote-records"]).nodes(nodes).block(block);
            for name in slow::in_turn(4, number, MACHINES) {
                let result = custom.clone().on(machine(name, &[])).right();
                adds_up(&result);
                assert_eq!(result.output, run.output, "{name}");
                assert_eq!(
                    nodes > 1,
                    result.messages.contains_key("remote-records.Put"),
                    "particles go to other nodes"
                );
            }
        }
    }
    let custom = Run::of("dsmc-write", &["-v", "200"]).under(&["stache", "remote-records"]).nodes(6);
    same_with_jitter(&custom, &Run::of("dsmc", &["-v", "200"]).nodes(6).right().output);
    right_everywhere(&Run::of("dsmc", &["-n", "400", "-i", "4"]), &[1, 3], blocks_of_many());
}

/// At the published size particles become 72,000 in 400 iterations, but for 130.
#[test]
#[ignore = "a minute"]
fn dsmc_has_the_particles_of_its_published_size() {
    let published = ["-x", "30", "-y", "18", "-z", "18", "-n", "48000", "-f", "184", "-i", "400", "-c", "0"];
    let run = Run::of("dsmc", &published).nodes(32).right();
    assert!(
        run.output.starts_with("dsmc: 48000 particles of 32 bytes, 9720 cells of 20 bytes, 252 to 324 of a node\n")
    );
    assert!(run.output.contains("dsmc: after 400 iterations 72130 particles, 73600 have come in, 49470 have left\n"));
}

/// As many pairs as Tempest's study has molecules for: those of 8,788 on a lattice within 4.2 and within 3.5.
#[test]
#[ignore = "half a minute"]
fn moldyn_has_the_pairs_of_its_published_size() {
    let run = Run::of("moldyn", &["-b", "13", "-i", "1"]).nodes(32).right();
    assert!(run.output.starts_with("moldyn: 1089712 pairs are listed, 615160 act\n"), "{}", run.output);
}

/// A cube of cells gets the same values on any number of nodes, whichever machine and protocol they are on, and whichever way columns of faces go to the neighbours. Subcubes are of several sizes,
/// and on one node there is nothing to send.
#[test]
fn appbt_is_the_same_on_all_numbers_of_nodes_and_by_messages() {
    let alone = Run::of("appbt", &["-i", "2"]).right();
    for (number, (nodes, block, args)) in [
        (1, 64, &["-k", "1"][..]),
        (2, 32, &["-m", "3"]),
        (5, 64, &["-a", "1"]),
        (7, 64, &[]),
        (12, 512, &["-k", "1", "-m", "2"]),
        (32, 64, &[]),
        (64, 128, &["-m", "64"]),
    ]
    .into_iter()
    .take(slow::all_or(7, 5))
    .enumerate()
    {
        let args = [&["-i", "2"][..], args].concat();
        assert_eq!(Run::of("appbt", &args).nodes(nodes).block(block).right().output, alone.output, "{nodes} nodes");
        let custom = Run::of("appbt-columns", &args).under(&["stache", "column"]).nodes(nodes).block(block);
        for name in slow::in_turn(4, number, MACHINES) {
            let result = custom.clone().on(machine(name, &[])).right();
            adds_up(&result);
            assert_eq!(result.output, alone.output, "{nodes} nodes, {name}");
            assert_eq!(nodes > 1, result.messages.contains_key("column.Last"), "columns are sent");
        }
    }
    same_with_jitter(&Run::of("appbt-columns", &["-i", "2"]).under(&["stache", "column"]).nodes(6), &alone.output);
    right_everywhere(&Run::of("appbt", &["-s", "6", "-i", "2"]), &[1, 3], blocks_of_many());
}

/// The benchmarks of which it is one publish what comes out of their smallest size, to many digits.
#[test]
fn appbt_finds_the_published_values() {
    let run = Run::of("appbt", &["-s", "12", "-i", "60"]).nodes(slow::all_or(4, 2)).right();
    assert!(run.output.contains("appbt: residuals and errors are the published ones\n"), "{}", run.output);
}

#[test]
fn appbt_refuses_nodes_that_do_not_fit_its_cube() {
    let error = Run::of("appbt", &[]).nodes(17).error();
    assert!(error.to_string().contains("17 nodes are 17 x 1 x 1"), "{error}");
}

/// What the mesh is and what comes of it, without the digest.
fn without_digest(output: &str) -> String {
    let told = output.lines().filter(|line| !line.contains("digest") && !line.contains("a processor has"));
    told.collect::<Vec<_>>().join("\n")
}

/// A gas on an unstructured mesh is the same to the last bit however sums are merged and values come to those who read them; at another number of nodes it differs
/// by less than is printed.
#[test]
fn unstructured_is_the_same_by_stages_gathered_through_channels_and_pushed() {
    const CUSTOM: [&str; 3] = ["stache", "channel", "deferred-update"];
    let alone = without_digest(&Run::of("unstructured", &[]).nodes(1).right().output);
    for (number, (nodes, block)) in [(1, 64), (2, 32), (5, 64), (8, 512), (32, 64)].into_iter().enumerate() {
        let run = Run::of("unstructured", &[]).nodes(nodes).block(block).right();
        assert_eq!(without_digest(&run.output), alone, "{nodes} nodes");
        for way in slow::in_turn(3, number, ["1", "2", "3"]) {
            let merged = Run::of("unstructured", &["-m", way]).nodes(nodes).block(block).right();
            assert_eq!(merged.output, run.output, "-m {way}");
        }
        for name in slow::in_turn(4, number, MACHINES) {
            let on = |run: Run| run.nodes(nodes).block(block).on(machine(name, &[])).right();
            let channels = on(Run::of("unstructured-channels", &[]).under(&CUSTOM[..2]));
            let pushed = on(Run::of("unstructured-update", &[]).under(&CUSTOM));
            for result in [&channels, &pushed] {
                adds_up(result);
                assert_eq!(result.output, run.output, "{name}");
                assert_eq!(nodes > 1, result.messages.contains_key("channel.Last"), "sums go to owners");
            }
            assert_eq!(nodes > 1, pushed.messages.contains_key("deferred-update.Push"), "values go to readers");
        }
    }
    let custom = Run::of("unstructured-update", &["-z", "3"]).under(&CUSTOM).nodes(7);
    same_with_jitter(&custom, &Run::of("unstructured", &["-z", "3"]).nodes(7).right().output);
    right_everywhere(&Run::of("unstructured", &["-z", "3", "-i", "2"]), &[1, 3], blocks_of_many());
}

/// The mesh of Tempest's study: no trimmed one, but as near as a grid comes to its 9,428 nodes, 59,863 edges and 5,864 triangles.
#[test]
#[ignore = "ten seconds"]
fn unstructured_has_the_mesh_of_its_published_size() {
    let run = Run::of("unstructured", &["-x", "12", "-y", "12", "-z", "55", "-i", "1"]).nodes(32).right();
    let mesh = "unstructured: mesh nodes 9464, edges 59911, triangles of the surface 5856, tetrahedra 47520\n";
    assert!(run.output.contains(mesh), "{}", run.output);
}

/// The tree is the same whoever inserts a body first, and sums go by octants: on any number of nodes all is to the same bits.
#[test]
fn barnes_is_the_same_on_any_number_of_nodes() {
    for args in
        [&["-n", "100", "-i", "3"][..], &["-n", "40", "-o", "1", "-t", "50"], &["-n", "60", "-f", "1"], &["-n", "2"]]
    {
        let alone = Run::of("barnes", args).nodes(1).right();
        for (nodes, name) in slow::all_or([2, 3, 16, 64], [2, 3, 9, 5]).into_iter().zip(MACHINES) {
            let run = Run::of("barnes", args).nodes(nodes).on(machine(name, &[])).right();
            adds_up(&run);
            assert_eq!(run.output, alone.output, "{nodes} nodes, {args:?}");
        }
        same_with_jitter(&Run::of("barnes", args).nodes(5), &alone.output);
    }
    right_everywhere(&Run::of("barnes", &["-n", "60", "-i", "2"]), &[1, 3], blocks_of_many());
}

/// The three parts of a body are updated and moved under protocols of their own, to the same bits; a position has 64 bytes.
#[test]
fn barnes_is_the_same_in_three_parts() {
    const CUSTOM: [&str; 3] = ["stache", "update", "migratory"];
    for (number, (nodes, block, args)) in
        [(1, 64, &[][..]), (2, 32, &["-i", "3"]), (5, 64, &["-o", "1"]), (16, 64, &["-n", "100", "-f", "1"])]
            .into_iter()
            .enumerate()
    {
        let run = Run::of("barnes", args).nodes(3).right();
        let custom = Run::of("barnes-update", args).under(&CUSTOM).nodes(nodes).block(block);
        for name in slow::in_turn(2, number, MACHINES) {
            let result = custom.clone().on(machine(name, &[])).right();
            adds_up(&result);
            assert_eq!(result.output, run.output, "{name}");
            assert_eq!(nodes > 1, result.messages.contains_key("update.New"), "who reads is told");
            assert_eq!(nodes > 1, result.messages.contains_key("migratory.Data"), "owners change");
        }
    }
    let custom = Run::of("barnes-update", &["-n", "100"]).under(&CUSTOM).nodes(5);
    same_with_jitter(&custom, &Run::of("barnes", &["-n", "100"]).nodes(5).right().output);
}

/// At the published size forces are within a hundredth of what all other bodies do, on the mean of 64 bodies, and energy is kept to a thousandth.
#[test]
#[ignore = "a quarter of a minute"]
fn barnes_is_right_at_its_published_size() {
    let run = Run::of("barnes", &["-n", "16384"]).nodes(32).right();
    let lines = [
        "255.2 interactions of a body",
        "forces on 64 bodies are 0.949 % off, at worst 2.478 %, and 0.048 % with cells opened from 0.3 on",
        "energy -0.260660, then -0.260591",
    ];
    for line in lines {
        assert!(run.output.contains(line), "{line}: {}", run.output);
    }
    assert_eq!(Run::of("barnes", &["-n", "16384"]).nodes(1).right().output, run.output);
}

#[test]
fn matmul_is_right_everywhere() {
    right_everywhere(&Run::of("matmul", &["-n", "12"]), &[1, 2, 3], &BLOCKS);
    right_everywhere(&Run::of("matmul", &["-n", "16", "-b", "4"]), &[3, 32], &[64]);
}

#[test]
fn litmus_outcomes_are_allowed_whatever_the_jitter() {
    let litmus = program("litmus");
    for seed in 0..20 {
        for protocol in ["msi", "stache", "swcc", "flash-coherence"] {
            let run = Run::with(litmus.clone(), &["-n", "5", "-g", &seed.to_string()]).under(&[protocol]);
            run.on(machine("simple-coma", &[("network.jitter", "300")])).nodes(4).seed(seed).right();
        }
    }
}

#[test]
#[ignore = "minutes: a thousand seeds"]
fn litmus_outcomes_are_allowed_over_a_thousand_seeds() {
    let litmus = program("litmus");
    for seed in 0..1000 {
        for protocol in ["msi", "stache", "swcc", "flash-coherence"] {
            let run = Run::with(litmus.clone(), &["-n", "20", "-g", &seed.to_string()]).under(&[protocol]);
            run.on(machine("simple-coma", &[("network.jitter", "500")])).nodes(4).seed(seed).right();
        }
    }
}

/// Caches of a few lines, so that what a processor owns is on its way out while another asks for it, and messages that
/// overtake each other between different nodes.
#[test]
fn evictions_and_interventions_meet_whatever_the_jitter() {
    let programs = [
        ("em3d", &["-n", "16", "-i", "2", "-r", "50"][..]),
        ("matmul", &["-n", "10"]),
        ("lockbench", &["-n", "10"]),
        ("litmus", &["-n", "4"]),
    ];
    let mut sent: std::collections::BTreeMap<String, u64> = Default::default();
    for (name, args) in programs {
        let run = Run::of(name, args).under(&["flash-coherence"]).nodes(4);
        for (bytes, line, block) in [("64", "32", 64), ("256", "32", 32), ("256", "64", 128), ("1024", "32", 64)] {
            for (seed, jitter) in [(1, "0"), (2, "300"), (3, "300"), (4, "3000")] {
                let set = [
                    ("access_control.granule", if line == "64" { "64" } else { "32" }),
                    ("cache.bytes", bytes),
                    ("cache.line", line),
                    ("network.jitter", jitter),
                ];
                for on in ["typhoon", "typhoon-0"] {
                    let result = run.clone().on(machine(on, &set)).block(block).seed(seed).right();
                    adds_up(&result);
                    result.messages.into_iter().for_each(|(message, count)| *sent.entry(message).or_default() += count);
                }
            }
        }
    }
    // Lines were given up, clean and dirty; owners were asked for what they had just given up; requests were refused.
    for message in ["RPLHINT", "WB", "FWDNAK", "NAK", "OXFER", "SWB", "INVAL"] {
        let count = sent.get(&format!("flash-coherence.{message}")).copied().unwrap_or(0);
        assert!(count > 100, "{count} of {message} in {sent:?}");
    }
}

#[test]
fn locks_barriers_and_messages_work() {
    for &nodes in slow::all_or(&[1, 2, 3, 8][..], &[1, 3]) {
        Run::of("lockbench", &["-n", "24"]).nodes(nodes).right();
        Run::of("lockbench-ticket", &["-n", "24"]).nodes(nodes).right();
        Run::of("lockbench-token", &["-n", "24"]).under(&["stache", "token-lock"]).nodes(nodes).right();
        Run::of("barrierbench", &["-n", "5"]).nodes(nodes).right();
        Run::of("barrierbench-tree", &["-n", "5"]).under(&["stache", "tree-barrier"]).nodes(nodes).right();
        Run::of("lockbench-flash", &["-n", "24"]).under(&["stache", "flash-lock"]).nodes(nodes).right();
        Run::of("barrierbench-flash", &["-n", "5"]).under(&["stache", "flash-barrier"]).nodes(nodes).right();
        for way in ["0", "1"] {
            let grid = Run::of("barriergrid", &["-c", if nodes < 2 { "1" } else { "2" }, "-n", "4", "-s", way]);
            grid.under(&["stache", "flash-barrier"]).nodes(nodes).right();
        }
        Run::of("scatter", &["-n", "40"]).under(&["stache", "remote-write"]).nodes(nodes).right();
        // Longer than a range, and with packets that are full and not.
        for words in ["32", "33", slow::all_or("50000", "5000")] {
            Run::of("allgather", &["-n", words]).under(&["stache", "channel"]).nodes(nodes).right();
        }
    }
    // A line of cells, cells that are their own neighbours, and tori on which a node is a neighbour several times.
    let lives =
        [(1, "1", "1"), (2, "1", "1"), (3, "1", "8"), (4, "4", "4"), (6, "2", "3"), (16, "2", "2"), (64, "1", "1")];
    for (nodes, x, y) in lives {
        Run::of("mm-life", &["-x", x, "-y", y, "-g", "9"]).under(&["stache", "mm"]).nodes(nodes).right();
    }
    Run::of("pingpong", &["-n", "10"]).right();
    for protocol in ["stache", "msi", "swcc", "german", "migratory"] {
        for &(nodes, block) in slow::all_or(&[(1, 32), (2, 256), (3, 2048), (8, 64)][..], &[(3, 256)]) {
            Run::of("symmetric", &["-n", "500"]).under(&[protocol]).nodes(nodes).block(block).right();
        }
    }
}

/// A program that allocates no shared memory looks at its images, of which there are more than two.
#[test]
fn images_need_no_allocation() {
    let text = r#"
#include "trivium/flash-lock.h"
int main(void) {
    for (int i = 0; i < 9; i++) flash_lock_acquire(i % 3 * 7), flash_lock_release(i % 3 * 7);
    return 0;
}
"#;
    Run::with(source(text), &[]).under(&["flash-lock"]).nodes(3).right();
}

/// A read-modify-write happens once, whoever performs it: the node when it has the block, or a handler. Who waits for a
/// word to change does not miss the change.
#[test]
fn atomic_operations_are_right_under_every_protocol_of_whole_blocks() {
    for protocol in ["msi", "stache", "migratory", "german", "swcc", "flash-coherence", "uncached"] {
        for &nodes in slow::all_or(&[1, 2, 3, 8][..], &[5]) {
            Run::of("lockbench", &["-n", "24"]).under(&[protocol]).nodes(nodes).right();
            let atomics = Run::of("atomics", &["-n", "12"]).under(&[protocol]).nodes(nodes);
            for block in [32, 2048] {
                adds_up(&atomics.clone().block(block).right());
            }
        }
    }
}

/// 30 remote fetch-and-adds of 3 nodes make 30, and neighbours in a word survive stores of all sizes.
#[test]
fn remote_accesses_keep_to_their_bytes_and_happen_once() {
    for protocol in ["uncached", "stache", "swcc"] {
        let result = Run::of("fetchadd", &[]).under(&[protocol]).nodes(3).right();
        assert_eq!(result.output, "fetchadd: ok, sum 30\n", "{protocol}");
    }
    for block in BLOCKS {
        adds_up(&Run::of("fetchadd", &["-n", "4"]).under(&["uncached"]).nodes(5).block(block).right());
    }
    for program in ["em3d", "matmul", "bodies", "falsesharing"] {
        let run = Run::of(program, &[]).nodes(3);
        assert_eq!(run.clone().under(&["uncached"]).right().output, run.right().output.clone(), "{program}");
    }
}

#[test]
fn accesses_that_do_not_wait_are_right_everywhere() {
    let split = Run::of("splitphase", &["-n", "6", "-i", "2", "-k", "12"]).under(&["swcc"]);
    for nodes in [1, 2, 3, 8] {
        for block in [32, 256, 2048] {
            adds_up(&split.clone().nodes(nodes).block(block).right());
        }
    }
    for name in MACHINES {
        split.clone().on(machine(name, &[])).nodes(5).right();
    }
    Run::of("splitphase", &["-n", "2", "-i", "2", "-k", "6"]).under(&["swcc"]).nodes(32).right();
    for seed in 0..10 {
        split.clone().on(machine("typhoon", &[("network.jitter", "300")])).nodes(4).seed(seed).right();
    }
}

/// How often a message to a node is handled before one that the same node sent it earlier.
fn overtakings(protocol: &str, jitter: &str) -> usize {
    let lines = std::cell::RefCell::new(Vec::new());
    let run = Run::of("em3d", &["-n", "40", "-i", "2", "-r", "50"]).under(&[protocol]).nodes(4).seed(3);
    let run = run.on(machine("typhoon", &[("network.jitter", jitter)]));
    run.go_and_tell(Some(&|event| lines.borrow_mut().push(event.clone()))).unwrap();
    let mut under_way: std::collections::BTreeMap<(u16, u16), Vec<(String, String)>> = Default::default();
    let mut overtakings = 0;
    for note in lines.into_inner() {
        let Note::Handled(line) = note else { continue };
        if let Some(sender) = line.sender {
            let sent = under_way.get_mut(&(sender, line.node)).expect("what arrives was sent");
            let is_it = |m: &(String, String)| line.event == format!("{protocol}.{}", m.0) && line.object == m.1;
            let at = sent.iter().position(is_it).expect("it was sent");
            overtakings += usize::from(at > 0);
            sent.remove(at);
        }
        for send in &line.sends {
            let (name, to) = send.split_once(" to ").unwrap();
            let sent = under_way.entry((line.node, to.parse().unwrap())).or_default();
            sent.push((name.to_string(), line.object.clone()));
        }
    }
    overtakings
}

#[test]
fn messages_overtake_each_other_on_unordered_lanes_only_and_with_jitter_only() {
    assert_eq!(overtakings("stache", "500"), 0);
    assert_eq!(overtakings("swcc", "0"), 0);
    assert!(overtakings("swcc", "500") > 0);
}

/// Exact means: byte-identical to the reference order for every window up to the lookahead.
fn same_in_every_window(run: Run) {
    let lookahead = run.machine.lookahead();
    let reference = bytes(run.clone().window(0).right());
    for window in [1, 7, lookahead / 2, lookahead] {
        assert_eq!(bytes(run.clone().window(window).right()), reference, "window {window}");
    }
    assert_eq!(bytes(run.right()), reference, "the default window");
}

#[test]
fn results_do_not_depend_on_the_window() {
    for name in MACHINES {
        same_in_every_window(Run::of("em3d", &["-n", "20", "-i", "2"]).on(machine(name, &[])).nodes(5));
    }
    same_in_every_window(Run::of("lockbench", &["-n", "20"]).nodes(5));
    same_in_every_window(Run::of("em3d-update", &["-n", "30"]).under(&["stache", "deferred-update"]).nodes(4));
    same_in_every_window(Run::of("barrierbench-tree", &["-n", "4"]).under(&["stache", "tree-barrier"]).nodes(6));
    same_in_every_window(Run::of("bodies-update", &[]).under(&["stache", "update", "migratory"]).nodes(3));
    same_in_every_window(
        Run::of("litmus", &["-n", "4"]).on(machine("typhoon-1", &[("network.jitter", "77")])).nodes(4).seed(9),
    );
    same_in_every_window(Run::of("scatter", &["-n", "20"]).under(&["msi", "remote-write"]).nodes(3));
    let noisy = machine("typhoon-0", &[("network.jitter", "120")]);
    same_in_every_window(Run::of("splitphase", &["-n", "4", "-i", "2"]).under(&["swcc"]).on(noisy).nodes(4).seed(2));
}

#[test]
fn the_seed_matters_only_with_jitter() {
    let quiet = Run::of("em3d", &["-n", "20", "-i", "1"]).nodes(3);
    assert_eq!(quiet.clone().seed(1).right().cycles, quiet.clone().seed(2).right().cycles);
    let noisy = quiet.on(machine("typhoon", &[("network.jitter", "200")]));
    assert_ne!(noisy.clone().seed(1).right().cycles, noisy.seed(2).right().cycles);
}

#[test]
fn two_runs_print_the_same_bytes() {
    let run = Run::of("em3d", &["-n", "20", "-i", "1"]).nodes(3);
    assert_eq!(bytes(run.right()), bytes(run.right()));
}

/// Every node stores to pages that nobody has placed, and then reads all of them.
const FIRST_TOUCH: &str = r#"(module
    (import "trivium" "node" (func $node (result i32)))
    (import "trivium" "nodes" (func $nodes (result i32)))
    (import "trivium" "barrier" (func $barrier))
    (import "trivium" "begin" (func $begin))
    (import "trivium" "end" (func $end))
    (import "trivium" "alloc" (func $alloc (param i64 i32 i32 i32) (result i32)))
    (memory (export "memory") 1)
    (func (export "_start") (local $base i32) (local $i i32)
        (local.set $base (call $alloc (i64.const 65536) (i32.const 2) (i32.const 0) (i32.const 0)))
        (call $begin)
        (i32.store (i32.add (local.get $base) (i32.mul (call $node) (i32.const 4096))) (i32.add (call $node) (i32.const 1)))
        (call $end)
        (call $barrier)
        (loop $next
            (if (i32.ne (i32.load (i32.add (local.get $base) (i32.mul (local.get $i) (i32.const 4096)))) (i32.add (local.get $i) (i32.const 1)))
                (then unreachable))
            (local.set $i (i32.add (local.get $i) (i32.const 1)))
            (br_if $next (i32.lt_u (local.get $i) (call $nodes))))
        (call $barrier)))"#;

#[test]
fn pages_live_where_they_are_first_touched_and_only_the_region_counts() {
    let run = Run::with(bench::text_program(FIRST_TOUCH), &[]).nodes(4);
    let result = run.clone().right();
    // The store is to the node's own page then: it asks the page's manager, and misses in its own memory.
    assert_eq!((result.misses.read, result.misses.write, result.messages.len()), (0, 0, 0), "{result:?}");
    for node in &result.per_node {
        assert_eq!(node.write_stall, 2 * 100 + 41, "{node:?}");
        assert_eq!(node.instructions, 7, "{node:?}");
    }
    same_in_every_window(run);
}

#[test]
#[ignore = "minutes: every program, protocol, machine, number of nodes and block size"]
fn all_programs_are_right_everywhere() {
    for name in MACHINES {
        for (program, args) in
            [("em3d", &["-n", "24", "-i", "2"][..]), ("matmul", &["-n", "16", "-b", "4"]), ("litmus", &["-n", "4"])]
        {
            right_everywhere(&Run::of(program, args).on(machine(name, &[])), &[1, 2, 3, 32, 64], &BLOCKS);
        }
    }
}

#[test]
fn a_trace_tells_every_event_in_order_whatever_the_window() {
    let trace = |window: u64| {
        let lines = std::cell::RefCell::new(Vec::new());
        let run = Run::of("pingpong", &["-n", "3"]).nodes(2).window(window);
        let keep = |note: &Note| {
            if let Note::Handled(event) = note {
                lines.borrow_mut().push(event.clone());
            }
        };
        let result = run.go_and_tell(Some(&keep)).unwrap();
        (result, lines.into_inner())
    };
    let (result, lines) = trace(100);
    assert!(lines.is_sorted_by_key(|line| (line.cycle, line.node)));
    let sent: usize = lines.iter().map(|line| line.sends.len()).sum();
    let counted = result.messages.values().sum::<u64>();
    assert!(counted > 10 && sent as u64 >= counted, "the region of interest counts a part of {sent}: {counted}");
    assert_eq!((lines[0].event.as_str(), lines[0].after.as_str()), ("stache.read", "Invalid.read.Readable"));
    assert_eq!(trace(1).1, lines);
}

/// A call about a block touches its page, as an access does: it waits until the page has a home.
#[test]
fn a_call_about_a_block_gives_its_page_a_home() {
    let protocol = r"protocol where
        op whose(b: block): word
        lane main fifo buffered
        message Get on main
        message Data on main with block
        role home of block {
            state Here: write { on whose { return 1 } on Get { send Data to sender } }
        }
        role copy of block {
            state Away { on whose { return 2 } on read, write { send Get to home; await Data { install; goto Near; resume } } on Data impossible }
            state Near: write { on whose { return 3 } on Data impossible }
        }";
    let protocol = trivium_lang::compile("where.tri", protocol, &Default::default()).unwrap_or_else(|e| panic!("{e}"));
    // Node 1 asks about a block of a page that nobody has touched, and stores to it; then node 0 asks about it.
    let text = r#"(module
        (import "trivium" "node" (func $node (result i32)))
        (import "trivium" "barrier" (func $barrier))
        (import "trivium" "alloc" (func $alloc (param i64 i32 i32 i32) (result i32)))
        (import "trivium:where" "whose" (func $whose (param i64) (result i64)))
        (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
        (memory (export "memory") 1)
        (func (export "_start") (local $at i32) (local $said i32)
            (local.set $at (call $alloc (i64.const 4096) (i32.const 2) (i32.const 0) (i32.const 0)))
            (if (call $node) (then
                (local.set $said (i32.wrap_i64 (call $whose (i64.extend_i32_u (local.get $at)))))
                (i32.store (local.get $at) (i32.const 7))))
            (call $barrier)
            (if (i32.eqz (call $node)) (then (local.set $said (i32.wrap_i64 (call $whose (i64.extend_i32_u (local.get $at)))))))
            (call $exit (local.get $said))))"#;
    for window in [0, 1, 100] {
        let mut run = Run::with(text_program(text), &[]).window(window);
        run.protocols = vec![std::sync::Arc::new(protocol.clone())];
        let result = run.go().unwrap_or_else(|error| panic!("{error}"));
        let said: Vec<i32> = result.exit_codes.values().copied().collect();
        assert_eq!(said, [2, 1], "node 1 is the home, and node 0 is not");
        assert_eq!(result.messages.values().sum::<u64>(), 0, "{:?}", result.messages);
    }
}

/// Blocks of 8 bytes, on a machine that looks at accesses so finely, to blocks larger than a page.
#[test]
fn blocks_of_all_sizes() {
    let fine = machine("typhoon", &[("cache.line", "8"), ("access_control.granule", "8")]);
    for &block in slow::all_or(&[8, 16, 4096, 8192, 65536][..], &[8, 65536]) {
        for (program, protocols, args) in [
            ("em3d", &["stache"][..], &["-n", "60", "-i", "2"][..]),
            ("matmul", &["swcc"], &["-n", "16", "-b", "4"]),
            ("symmetric", &["msi"], &["-n", "300"]),
            ("splitphase", &["swcc"], &["-n", "4", "-i", "2"]),
            ("atomics", &["german"], &["-n", "4"]),
        ] {
            same_in(&Run::of(program, args).under(protocols).nodes(3).on(fine.clone()).block(block), &[0, 7]);
        }
    }
    let error = Run::of("em3d", &[]).block(16).error().to_string();
    assert!(error.contains("access control has granules of 32 bytes") && error.contains("cache.line=8"), "{error}");
    for block in [0, 4, 24, 131_072] {
        let error = Run::of("em3d", &[]).on(fine.clone()).block(block).error().to_string();
        assert!(
            error.contains("a power of two from 8 to 65536") || error.contains("granules of 8"),
            "{block}: {error}"
        );
    }
    let few = machine("typhoon", &[("memory.frames", "4")]);
    let error = Run::of("em3d", &[]).on(few).block(8192).error().to_string();
    assert!(error.contains("memory.frames"), "{error}");
}

/// Shared memory is under the first protocol that answers accesses, wherever it is named.
#[test]
fn protocols_may_be_named_in_any_order() {
    for protocols in [["stache", "token-lock"], ["token-lock", "stache"]] {
        Run::of("lockbench-token", &["-n", "6"]).under(&protocols).nodes(3).right();
    }
    for protocols in [["stache", "channel"], ["channel", "stache"]] {
        Run::of("allgather", &["-n", "40"]).under(&protocols).nodes(3).right();
    }
    let error = Run::of("em3d", &[]).under(&["token-lock"]).error().to_string();
    assert!(error.contains("which is not about blocks") && error.contains("--protocol stache"), "{error}");
}
