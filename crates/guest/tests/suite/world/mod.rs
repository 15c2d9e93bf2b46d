//! A machine with perfect memory: one copy of shared memory, which every access uses at once.
//! Programs run on it as on any machine, without a protocol and without time.

// Each test binary uses a part of it.
#![allow(dead_code)]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use proptest::prelude::ProptestConfig;
use proptest::test_runner::RngSeed;
use trivium_guest::{
    AccessKind, AccessStep, Build, Call, CallStep, CompileOptions, Executed, LoadStore, NodeOutcome, OperatorClass,
    OperatorWeights, Processor, Program, ProgramFault, ProgramNode, SHARED_BASE, Shelf, Stage, Switching, Tags,
    compile_c,
};

/// Bytes of a line of the cache of private lines.
const LINE: u32 = 32;
/// Lines of that cache.
const PLACES: u32 = 16;

/// A receiver of remote writes.
#[derive(Default)]
struct Buffer {
    base: u32,
    words: i64,
    finished: u32,
}

/// What the nodes share.
#[derive(Default)]
pub struct Shared {
    bytes: Vec<u8>,
    allocations: Vec<(u32, u64)>,
    arrived: BTreeMap<u64, u32>,
    locks: BTreeMap<i64, u32>,
    tree_barriers: BTreeMap<(i64, u64), u32>,
    buffers: BTreeMap<i64, Buffer>,
    pub output: Vec<u8>,
}

impl Shared {
    fn word(&mut self, addr: u32, size: u32) -> Result<&mut [u8], ProgramFault> {
        let start = (addr - SHARED_BASE) as usize;
        let bytes = self.bytes.get_mut(start..start + size as usize);
        bytes.ok_or_else(|| ProgramFault::new(format!("no shared memory at {addr:#x}")))
    }

    fn read(&mut self, addr: u32, size: u32) -> Result<u64, ProgramFault> {
        let mut word = [0; 8];
        let bytes = self.word(addr, size)?;
        word[..bytes.len()].copy_from_slice(bytes);
        Ok(u64::from_le_bytes(word))
    }

    fn write(&mut self, addr: u32, size: u32, value: u64) -> Result<(), ProgramFault> {
        self.word(addr, size)?.copy_from_slice(&value.to_le_bytes()[..size as usize]);
        Ok(())
    }
}

/// One node's processor. With `patience` > 0 it says `Wait` that often out of 16 polls and
/// accesses, pseudo-randomly.
pub struct Perfect {
    pub number: u32,
    pub nodes: u32,
    pub shared: Rc<RefCell<Shared>>,
    pub program: Program,
    pub patience: u64,
    pub random: u64,
    pub polls: u64,
    pub accesses: u64,
    /// A cache of private lines, in the fast build.
    pub tags: Option<Tags>,
    /// Its lines, by place.
    lines: [Option<u32>; PLACES as usize],
    allocated: usize,
    barriers: u64,
    tree_barriers: BTreeMap<i64, u64>,
    inside: bool,
}

impl Perfect {
    pub fn new(number: u32, nodes: u32, program: &Program, shared: Rc<RefCell<Shared>>) -> Perfect {
        Perfect {
            number,
            nodes,
            shared,
            program: program.clone(),
            patience: 0,
            random: u64::from(number) + 1,
            polls: 0,
            accesses: 0,
            tags: None,
            lines: [None; PLACES as usize],
            allocated: 0,
            barriers: 0,
            tree_barriers: BTreeMap::new(),
            inside: false,
        }
    }

    fn waits(&mut self) -> bool {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random >> 8 & 15 < self.patience
    }

    fn alloc(&mut self, bytes: u64) -> CallStep {
        let mut shared = self.shared.borrow_mut();
        if self.allocated == shared.allocations.len() {
            let start = (shared.bytes.len() as u64).next_multiple_of(4096);
            if start + bytes > 1 << 30 {
                return CallStep::Done(0);
            }
            shared.bytes.resize((start + bytes).next_multiple_of(8) as usize, 0);
            shared.allocations.push((SHARED_BASE + start as u32, bytes));
        }
        let (addr, of) = shared.allocations[self.allocated];
        assert_eq!(of, bytes, "allocations are collective");
        self.allocated += 1;
        CallStep::Done(i64::from(addr))
    }

    fn op(&mut self, import: usize, args: &[i64]) -> Result<CallStep, ProgramFault> {
        let call = self.program.calls()[import].clone();
        let mut shared = self.shared.borrow_mut();
        let done = Ok(CallStep::Done(0));
        match (call.protocol.as_str(), call.op.as_str()) {
            ("token-lock", "acquire") => match shared.locks.get(&args[0]) {
                Some(_) => return Ok(CallStep::Wait),
                None => shared.locks.insert(args[0], self.number),
            },
            ("token-lock", "release") => {
                let holder = shared.locks.remove(&args[0]);
                if holder != Some(self.number) {
                    return Err(ProgramFault::new("released a lock that it did not hold"));
                }
                return done;
            }
            ("tree-barrier", "arrive") => {
                let round = self.tree_barriers.entry(args[0]).or_default();
                let arrived = shared.tree_barriers.entry((args[0], *round)).or_default();
                *arrived += u32::from(!self.inside);
                self.inside = *arrived < self.nodes;
                if self.inside {
                    return Ok(CallStep::Wait);
                }
                *round += 1;
                return done;
            }
            ("remote-write", "open") => {
                shared.buffers.entry(args[0]).or_default().base = args[1] as u32;
                return done;
            }
            ("remote-write", "put") => {
                let buffer = shared.buffers.get_mut(&args[0]).expect("an open buffer");
                let addr = buffer.base + 8 * buffer.words as u32;
                buffer.words += 1;
                shared.write(addr, 8, args[1] as u64)?;
                return Ok(CallStep::Done(1));
            }
            ("remote-write", "finish") => {
                let buffer = shared.buffers.get_mut(&args[0]).expect("an open buffer");
                buffer.finished += u32::from(!self.inside);
                self.inside = buffer.finished < self.nodes;
                return Ok(if self.inside { CallStep::Wait } else { CallStep::Done(buffer.words) });
            }
            _ => return Err(ProgramFault::new(format!("no protocol call {call:?}"))),
        };
        done
    }
}

impl Processor for Perfect {
    fn access(&mut self, _: Executed, access: LoadStore) -> Result<AccessStep, ProgramFault> {
        if self.waits() {
            return Ok(AccessStep::Wait);
        }
        self.accesses += 1;
        assert!(access.addr % 8 + access.size <= 8, "{access:?} crosses a word");
        if access.addr < SHARED_BASE {
            if let Some(tags) = &self.tags {
                let line = access.addr / LINE;
                if let Some(left) = self.lines[(line % PLACES) as usize].replace(line) {
                    tags.set(left * LINE, LINE, false, false);
                }
                tags.set(line * LINE, LINE, true, self.random >> 20 & 1 == 0);
            }
            return Ok(AccessStep::Go);
        }
        let mut shared = self.shared.borrow_mut();
        Ok(AccessStep::Complete(match access.kind {
            AccessKind::Read => shared.read(access.addr, access.size)?,
            AccessKind::Write => {
                shared.write(access.addr, access.size, access.value)?;
                0
            }
        }))
    }

    fn poll(&mut self, _: Executed) -> Result<AccessStep, ProgramFault> {
        if self.waits() {
            return Ok(AccessStep::Wait);
        }
        self.polls += 1;
        Ok(AccessStep::Go)
    }

    fn call(&mut self, executed: Executed, call: &Call) -> Result<CallStep, ProgramFault> {
        Ok(match call {
            Call::Node => CallStep::Done(self.number.into()),
            Call::Nodes => CallStep::Done(self.nodes.into()),
            Call::Alloc { bytes, .. } => self.alloc(*bytes),
            Call::Bind { .. } | Call::Place { .. } | Call::ParallelStart | Call::Name { .. } | Call::Shared { .. } => {
                CallStep::Done(0)
            }
            Call::Freeing { .. } | Call::IsHome { .. } | Call::Free { .. } => CallStep::Done(0),
            Call::SplitPhase { .. } | Call::Prefetch { .. } | Call::Fence => CallStep::Done(0),
            Call::Barrier => {
                let mut shared = self.shared.borrow_mut();
                let arrived = shared.arrived.entry(self.barriers).or_default();
                *arrived += u32::from(!self.inside);
                self.inside = *arrived < self.nodes;
                if self.inside {
                    return Ok(CallStep::Wait);
                }
                self.barriers += 1;
                CallStep::Done(0)
            }
            Call::ReadModifyWrite(rmw) => {
                let mut shared = self.shared.borrow_mut();
                let old = shared.read(rmw.addr, rmw.size)?;
                shared.write(rmw.addr, rmw.size, rmw.apply(old))?;
                CallStep::Done(old as i64)
            }
            Call::LoadLinked { addr, size, .. } => CallStep::Done(self.shared.borrow_mut().read(*addr, *size)? as i64),
            Call::StoreConditional { addr, size, value } => {
                self.shared.borrow_mut().write(*addr, *size, *value)?;
                CallStep::Done(1)
            }
            Call::WaitUntilChanged { addr, size, old } => {
                let now = self.shared.borrow_mut().read(*addr, *size)?;
                if now == *old { CallStep::Wait } else { CallStep::Done(now as i64) }
            }
            Call::RegionBegin | Call::RegionEnd => CallStep::Done(0),
            Call::Cycles | Call::Nanoseconds => CallStep::Done(executed.instructions as i64),
            Call::Sleep { .. } => CallStep::Done(0),
            Call::Print { bytes, .. } => {
                self.shared.borrow_mut().output.extend(bytes);
                CallStep::Done(0)
            }
            Call::Op { import, args } => self.op(*import, args)?,
        })
    }
}

/// What came of a run on all nodes.
pub struct Run {
    pub outcomes: Vec<NodeOutcome>,
    pub instructions: Vec<u64>,
    pub output: String,
}

/// Runs a program on perfect memory, resuming the nodes in turn until all have ended. At most
/// `turns` rounds; a node that still waits then is reported as suspended. It is the same however the nodes switch.
pub fn run(program: &Program, nodes: u32, args: &[&str], patience: u64, turns: u64) -> Run {
    let run =
        |switching: &Switching| run_switching(&program.clone().switching_by(*switching), nodes, args, patience, turns);
    let mut runs = Switching::all().iter().map(run);
    let first = runs.next().expect("there is always one");
    for other in runs {
        assert_eq!((&first.outcomes, &first.output), (&other.outcomes, &other.output));
        // How deep a recursion is too deep may depend on it.
        let is_deep =
            |outcome: &NodeOutcome| matches!(outcome, NodeOutcome::Trapped { message, .. } if message.contains("deep"));
        assert!(first.instructions == other.instructions || first.outcomes.iter().any(is_deep));
    }
    first
}

fn run_switching(program: &Program, nodes: u32, args: &[&str], patience: u64, turns: u64) -> Run {
    let shared = Rc::new(RefCell::new(Shared::default()));
    let args: Vec<String> = args.iter().map(|arg| arg.to_string()).collect();
    let stage = Stage::new(program, Build::Reference).expect("a stage");
    let mut running: Vec<ProgramNode<Perfect>> = (0..nodes)
        .map(|number| {
            let mut processor = Perfect::new(number, nodes, program, shared.clone());
            processor.patience = patience;
            let processor = Rc::new(RefCell::new(processor));
            stage.node(number, &args, processor).expect("a node")
        })
        .collect();
    let mut outcomes = vec![NodeOutcome::Suspended; nodes as usize];
    for _ in 0..turns {
        let mut waiting = false;
        for (node, outcome) in running.iter_mut().zip(&mut outcomes) {
            if *outcome == NodeOutcome::Suspended {
                *outcome = node.resume();
                waiting |= *outcome == NodeOutcome::Suspended;
            }
        }
        if !waiting || outcomes.iter().any(|outcome| matches!(outcome, NodeOutcome::Trapped { .. })) {
            break;
        }
    }
    let output = String::from_utf8_lossy(&shared.borrow().output).into_owned();
    Run { outcomes, instructions: running.iter().map(|node| node.executed().instructions).collect(), output }
}

/// Runs a program on one node that says `Go` or `Wait` to everything; how it ended, the first
/// `length` bytes of its memory, and what it has executed.
pub fn run_alone(program: &Program, build: Build, patience: u64, length: usize) -> (NodeOutcome, Vec<u8>, Executed) {
    let shared = Rc::new(RefCell::new(Shared::default()));
    let mut processor = Perfect::new(0, 1, program, shared);
    processor.patience = patience;
    let processor = Rc::new(RefCell::new(processor));
    let mut node = ProgramNode::in_build(program, build, 0, &[], processor.clone()).expect("a node");
    processor.borrow_mut().tags = node.tags();
    let outcome = (0..10_000_000)
        .map(|_| node.resume())
        .find(|outcome| *outcome != NodeOutcome::Suspended)
        .unwrap_or(NodeOutcome::Suspended);
    let mut memory = vec![0; length];
    node.memory().read(0, &mut memory).expect("in memory");
    (outcome, memory, node.executed())
}

/// Weights of which hardly one is the sum of others.
pub fn odd_weights() -> OperatorWeights {
    let weight = |class: OperatorClass| [7, 130, 1_048_576, 11, 3, 170, 997, 13, 5, 1, 20, 2][class as usize];
    OperatorWeights::new(weight).expect("weights that are allowed")
}

/// The repository's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compiles a C program, with `programs/include` and the tests' own headers.
pub fn compile(path: &Path) -> Result<Vec<u8>, trivium_diagnostic::Diagnostic> {
    let include_dirs = vec![root().join("programs/include"), root().join("crates/guest/tests/include")];
    compile_c(path, &CompileOptions::with(include_dirs, shelf()?)).map_err(|mut wrong| wrong.list.remove(0))
}

/// Where what is compiled is kept for the next test.
fn shelf() -> Result<Shelf, trivium_diagnostic::Diagnostic> {
    Shelf::at(&root().join("target/programs"))
}

/// Compiles and loads one of `programs/`.
pub fn load(name: &str) -> Program {
    let bytes = compile(&root().join("programs").join(name)).unwrap_or_else(|error| panic!("{error}"));
    let kept = |program: Program| shelf().map(|shelf| program.kept_on(shelf));
    Program::load(&bytes, name).and_then(kept).unwrap_or_else(|error| panic!("{error}"))
}

/// A test of so many cases, the same in every run; or of as many others as the variable `PROPTEST_CASES` says.
pub fn cases(cases: u32) -> ProptestConfig {
    let default = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => default,
        None => ProptestConfig { cases, rng_seed: RngSeed::Fixed(1), ..default },
    }
}
