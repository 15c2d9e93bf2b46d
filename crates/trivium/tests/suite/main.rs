//! All tests of the command line but those that need ranks (`tests/mpi`, `tests/group.rs`), in one program.

mod architecture;
#[path = "../../../check/tests/suite/arrays/protocol.rs"]
mod arrays;
mod barriers;
mod block_arguments;
#[path = "../../../check/tests/suite/blocks/mod.rs"]
mod blocks;
mod bodies_both;
mod both;
mod broken;
mod c_star;
#[path = "../../../check/tests/suite/calls/mod.rs"]
mod calls;
mod calls_lists;
mod channel;
mod combining;
mod commands;
mod compare_live;
mod contents;
mod contract;
mod counters;
mod documents;
#[path = "../../../check/tests/suite/elsewhere/mod.rs"]
mod elsewhere;
mod ends;
mod engine_of_cache;
mod fbcopy;
mod fingerprint;
mod folder;
mod freed;
mod ghosts;
mod harness;
mod inputs;
mod interpret;
mod large;
mod linked;
mod live_trace;
mod locks;
mod m_machine;
#[path = "../../../check/tests/suite/made/mod.rs"]
mod made;
mod made_objects;
mod message_words;
mod mm_life;
mod modules;
#[path = "../../../lang/tests/suite/mutant/mod.rs"]
mod mutant;
mod narrow;
#[path = "../../../check/tests/suite/optional/protocol.rs"]
mod optional;
mod optional_arguments;
mod outputs;
mod page;
mod paging;
mod parameters;
mod perfetto;
mod pictures;
mod placing;
mod programs;
#[path = "../../../check/tests/suite/random/mod.rs"]
mod random;
mod random_c;
mod replay;
#[path = "../../../check/tests/suite/rooms/mod.rs"]
mod rooms;
mod run;
mod run_litmus;
mod run_recorded;
mod said;
mod sessions;
mod settings;
#[path = "../../../check/tests/suite/slow.rs"]
mod slow;
mod split_c;
mod split_c_calls;
mod split_c_faults;
mod split_c_language;
mod split_c_names;
mod split_c_own;
mod split_c_programs;
mod split_c_wrong;
mod stall;
mod study;
mod study_live;
mod study_mmachine;
mod study_swcc;
mod study_sync;
mod trace;
mod two_protocols;
mod viewer;
#[path = "../../../check/tests/suite/waiting/protocol.rs"]
mod waiting;
