//! Programs that run for real, with protocols under which they are right.

/// Protocols under which a program may use memory as if there were one copy.
pub const SEQUENTIAL: [&str; 8] =
    ["msi", "stache", "swcc", "flash-coherence", "german", "migratory", "stache-pages", "uncached"];
pub const PROGRAMS: [(&str, &[&str]); 15] = [
    ("em3d.c", &["-n", "60", "-i", "2"]),
    ("matmul.c", &["-n", "16", "-b", "5"]),
    ("pingpong.c", &["-n", "20"]),
    ("bodies.c", &[]),
    ("moldyn.c", &["-b", "2", "-i", "3"]),
    ("appbt.c", &["-s", "8", "-i", "2"]),
    ("unstructured.c", &["-z", "3", "-i", "2"]),
    ("dsmc.c", &["-n", "400", "-i", "6"]),
    ("barnes.c", &["-n", "100", "-i", "2"]),
    ("atomics.c", &[]),
    ("barrierbench.c", &[]),
    ("lockbench.c", &[]),
    ("lockbench-ticket.c", &[]),
    ("litmus.c", &[]),
    ("fetchadd.c", &[]),
];
/// Programs that need protocols of their own.
pub const CUSTOM: [(&str, &[&str]); 24] = [
    ("em3d-update.c", &["stache", "deferred-update"]),
    ("bodies-update.c", &["stache", "update", "migratory"]),
    ("moldyn-channels.c", &["stache", "channel"]),
    ("appbt-columns.c", &["stache", "column"]),
    ("unstructured-channels.c", &["stache", "channel"]),
    ("unstructured-update.c", &["stache", "channel", "deferred-update"]),
    ("dsmc-write.c", &["stache", "remote-records"]),
    ("barnes-update.c", &["stache", "update", "migratory"]),
    ("lockbench-token.c", &["stache", "token-lock"]),
    ("barrierbench-tree.c", &["stache", "tree-barrier"]),
    ("lockbench-flash.c", &["flash-coherence", "flash-lock"]),
    ("barrierbench-flash.c", &["flash-fenced", "flash-barrier"]),
    ("barriergrid.c", &["stache", "flash-barrier"]),
    ("splitphase.c", &["swcc"]),
    ("scatter.c", &["stache", "remote-write"]),
    ("allgather.c", &["stache", "channel"]),
    ("copy.c", &["stache-prefetch"]),
    ("copy.c", &["flash-prefetch"]),
    ("fbcopy.c", &["fbcopy"]),
    ("anycopy.c", &["fbcopy-whole"]),
    ("symmetric.c", &["stache"]),
    ("symmetric.c", &["swcc"]),
    ("mm-life.c", &["stache", "mm"]),
    ("paging.c", &["mapped"]),
];

/// A program that does not fit so few processors says so.
pub fn fits(program: &str, nodes: u32) -> bool {
    nodes > 1 || program != "em3d.c"
}
