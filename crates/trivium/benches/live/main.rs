//! `trivium run` beside programs that do the same without it: `make bench`.
//!
//! What is compared takes turns, since machines are never quiet. The bare programs are in `programs/peers`, and share no code with
//! Trivium; `plain.rs` runs a program's own module without checks, polls and counting. A row is judged by the ratio of medians, unless
//! the machine was too busy for that: see `judge.rs`.

mod judge;
mod plain;
mod start;

use judge::{Row, Times};
use start::Programs;

/// Options of a run on one node.
fn alone<'a>(options: &[&'a str]) -> Vec<&'a str> {
    [&["--nodes", "1", "--pin"], options].concat()
}

fn rows(programs: &Programs) -> Vec<Row<'_>> {
    let em3d = ["-n", "16384", "-d", "10", "-c", "0"];
    let far = ["-n", "16384", "-d", "10", "-r", "20", "-i", "20", "-c", "0"];
    let eight = ["-t", "32768", "-d", "10", "-r", "20", "-i", "20", "-c", "0"];
    let matmul = ["-n", "256", "-b", "32", "-c", "0"];
    let misses = "programs/peers/misses.c";
    let (pages, lines) = ("programs/peers/pages.c", ["--nodes", "2", "--pin", "--block", "128"]);
    let (locks, entries, barriers) =
        ("programs/peers/locks.c", "programs/peers/entries.c", "programs/peers/barriers.c");
    let (flash_lock, flash_barrier) = (["-p", "flash-lock"], ["-p", "flash-barrier"]);
    let pinned = |nodes| ["--nodes", nodes, "--pin"];
    // Messages of mm: bytes of an empty one and of its answer, and of one with a word.
    let (messages, pings, stream) = (["-p", "mm"], "programs/peers/mm-pings.c", "programs/peers/mm-stream.c");
    let (empty, word) = (["100000", "56", "24"], ["200", "200", "64"]);
    let mut rows = vec![
        Row::new("read miss, stache, home waiting: threads, over a ping-pong", (1.8, 1.4))
            .ours(move || programs.misses(&["--nodes", "2", "--pin"], misses, &[]))
            .bare(|| programs.peer("pingpong-threads", &["100000"])),
        Row::new("remote read, uncached, home waiting: threads, over a ping-pong", (1.8, 1.4))
            .ours(move || programs.misses_under("uncached", &["--nodes", "2", "--pin"], misses))
            .bare(|| programs.peer("pingpong-threads", &["100000"])),
        Row::new("1,000 software hits, swcc", (15_000.0, 5_000.0))
            .ours(move || programs.told_under("swcc", &["--nodes", "2", "--pin"], "programs/peers/hits.c")),
        Row::new("the same, over raw loads", (f64::NAN, f64::NAN))
            .ours(move || programs.told_under("swcc", &["--nodes", "2", "--pin"], "programs/peers/hits.c"))
            .bare(|| programs.peer("hits", &[])),
        Row::new("read miss while the home computes", (5_000.0, 2_000.0))
            .ours(move || programs.misses(&["--nodes", "2", "--pin"], misses, &["-n", "20000", "-c", "1"])),
        Row::new("polls, over none: EM3D, one node", (1.10, 1.05))
            .ours(move || programs.seconds(&alone(&[]), "programs/em3d.c", &em3d))
            .bare(move || programs.seconds(&alone(&["--poll-every", "1000000000000"]), "programs/em3d.c", &em3d)),
        Row::new("polls every 1,000 instructions, over none", (f64::NAN, f64::NAN))
            .ours(move || programs.seconds(&alone(&["--poll-every", "1000"]), "programs/em3d.c", &em3d))
            .bare(move || programs.seconds(&alone(&["--poll-every", "1000000000000"]), "programs/em3d.c", &em3d)),
        Row::new("hits, one node, over the same module alone: EM3D", (3.0, 2.2))
            .ours(move || programs.seconds(&alone(&[]), "programs/em3d.c", &em3d))
            .bare(move || programs.plain("programs/em3d.c", &em3d)),
        Row::new("hits, one node, over the same module alone: matrix product", (3.0, 2.2))
            .ours(move || programs.seconds(&alone(&[]), "programs/matmul.c", &matmul))
            .bare(move || programs.plain("programs/matmul.c", &matmul)),
        Row::new("memcpy of 8 MiB, over the host's", (5.0, 2.0))
            .ours(move || programs.told(&alone(&[]), "programs/peers/copies.c"))
            .bare(|| programs.peer("copies", &[])),
        Row::new("4 KB copied by the engines: threads, over the same bytes through a ring", (2.0, 2.0))
            .ours(move || programs.told_under("fbcopy-whole", &lines, pages))
            .bare(|| programs.peer("pages-threads", &["10000"])),
        Row::new("the same, over its processor's word by word", (f64::NAN, f64::NAN))
            .ours(move || programs.told_under("fbcopy-whole", &lines, pages))
            .bare(move || programs.told_under("fbcopy-whole", &[&lines[..], &["--cc=-DPROCESSOR"]].concat(), pages)),
        Row::new("EM3D, 8 threads over 2", (4.0, 2.0))
            .ours(move || programs.seconds(&["--nodes", "8"], "programs/em3d.c", &eight))
            .bare(move || programs.seconds(&["--nodes", "2"], "programs/em3d.c", &eight)),
        Row::new("free lock of another node, flash-lock: threads, over a read miss", (1.3, 1.0))
            .ours(move || programs.told(&[&pinned("2")[..], &flash_lock].concat(), locks))
            .bare(move || programs.misses(&pinned("2"), misses, &[])),
        Row::new("entry that 4 nodes contend for, flash-lock, over pthread's mutex", (f64::NAN, f64::NAN))
            .ours(move || programs.told(&[&pinned("4")[..], &flash_lock].concat(), entries))
            .bare(|| programs.peer("entries", &["4"])),
        Row::new("barrier of 4 nodes, flash-barrier: threads, over pthread_barrier_wait", (2.0, 1.0))
            .ours(move || programs.told(&[&pinned("4")[..], &flash_barrier].concat(), barriers))
            .bare(|| programs.peer("barriers", &["4"])),
        Row::new("barrier of 2 nodes, flash-barrier: threads, over pthread_barrier_wait", (2.0, 1.0))
            .ours(move || programs.told(&[&pinned("2")[..], &flash_barrier].concat(), barriers))
            .bare(|| programs.peer("barriers", &["2"])),
        Row::new("round trip of mm's messages: threads, over a ping-pong", (1.5, 1.2))
            .ours(move || programs.told(&[&pinned("2")[..], &messages].concat(), pings))
            .bare(move || programs.peer("pingpong-threads", &empty)),
        Row::new("a message of mm, as many as it may: threads, over the same bytes through a ring", (1.5, 1.2))
            .ours(move || programs.told(&[&pinned("2")[..], &messages].concat(), stream))
            .bare(move || programs.peer("stream-threads", &word)),
    ];
    if programs.has_mpi() {
        let custom = ["-p", "deferred-update", "--set", "protocol.most=8000"];
        rows.extend([
            Row::new("read miss, stache, home waiting: MPI, over MPI_Send and MPI_Recv", (2.0, 1.5))
                .ours(move || programs.ranks_misses(misses))
                .bare(|| programs.peer_ranks("pingpong-mpi", &["100000"])),
            Row::new("4 KB copied by the engines: MPI, over MPI_Put", (2.0, 2.0))
                .ours(move || programs.ranks_told("fbcopy-whole", &["--block", "128"], pages))
                .bare(|| programs.peer_ranks("pages-mpi", &["10000"])),
            Row::new("EM3D, deferred-update, 2 ranks, over MPI by hand", (5.0, 3.0))
                .ours(move || programs.ranks_seconds(&custom, "programs/em3d-update.c", &far))
                .bare(move || programs.em3d_by_hand(&far)),
            Row::new("EM3D, stache with blocks of 1,024, 2 ranks, over MPI by hand", (f64::NAN, f64::NAN))
                .ours(move || programs.ranks_seconds(&["--block", "1024"], "programs/em3d.c", &far))
                .bare(move || programs.em3d_by_hand(&far)),
            Row::new("free lock of another node, flash-lock: MPI, over a read miss", (1.3, 1.0))
                .ours(move || programs.ranks_told("stache", &flash_lock, locks))
                .bare(move || programs.ranks_misses(misses)),
            Row::new("barrier of 4 ranks, flash-barrier, over MPI_Barrier", (2.0, 1.5))
                .ours(move || programs.told_of_ranks(4, "stache", &flash_barrier, barriers))
                .bare(|| programs.peer_of_ranks(4, "barriers-mpi", &[])),
            Row::new("round trip of mm's messages: MPI, over MPI_Send and MPI_Recv", (1.5, 1.2))
                .ours(move || programs.ranks_told("stache", &messages, pings))
                .bare(move || programs.peer_ranks("pingpong-mpi", &empty)),
            Row::new("a message of mm, as many as it may: MPI, over MPI_Send and MPI_Recv", (1.5, 1.2))
                .ours(move || programs.ranks_told("stache", &messages, stream))
                .bare(move || programs.peer_ranks("stream-mpi", &word)),
            Row::new("barrier of 2 ranks, flash-barrier, over MPI_Barrier", (f64::NAN, f64::NAN))
                .ours(move || programs.told_of_ranks(2, "stache", &flash_barrier, barriers))
                .bare(|| programs.peer_of_ranks(2, "barriers-mpi", &[])),
        ]);
    }
    rows
}

fn main() {
    let programs = Programs::ready();
    // Of words on the command line, those rows whose names have one of them; without any, all.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    println!("{}", Times::heading());
    for row in rows(&programs).iter().filter(|row| row.is_wanted(&wanted)) {
        println!("{}", row.judged());
    }
    if !programs.has_mpi() {
        println!("not measured: rows over MPI (`make mpi` says what is missing)");
    }
}
