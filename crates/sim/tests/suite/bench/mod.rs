//! Programs and protocols of the repository, compiled once, and runs of them.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use trivium_guest::{CompileOptions, Program, Shelf, Switching, compile_c};
use trivium_protocol::Protocol;
use trivium_sim::{Machine, NodeError, Note, Setup, SimResult, run, run_with_trace};

/// A file of the repository.
pub fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

/// A protocol of the repository.
pub fn protocol(name: &str) -> Arc<Protocol> {
    let protocol = trivium_lang::compile_file(&file(&format!("protocols/{name}.tri")), &[]);
    Arc::new(protocol.unwrap_or_else(|error| panic!("{error}")))
}

/// A machine with overrides.
pub fn machine(name: &str, set: &[(&str, &str)]) -> Machine {
    let set: Vec<_> = set.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    Machine::load(name, &set).unwrap()
}

/// A C program of the repository.
pub fn program(name: &str) -> Program {
    compiled(&file(&format!("programs/{name}.c")), name)
}

fn compiled(path: &Path, name: &str) -> Program {
    let shelf = Shelf::at(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs")).unwrap();
    let include_dirs = vec![file("programs/include"), file("crates/guest/tests/include")];
    let options = CompileOptions::with(include_dirs, shelf.clone());
    let bytes = compile_c(path, &options).unwrap_or_else(|error| panic!("{error}"));
    Program::load(&bytes, name).unwrap_or_else(|error| panic!("{error}")).kept_on(shelf)
}

/// A C program that a test brings with it.
pub fn source(text: &str) -> Program {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("program.c");
    std::fs::write(&path, text).unwrap();
    compiled(&path, "program")
}

/// A module in text form.
pub fn text_program(text: &str) -> Program {
    Program::load(&wat::parse_str(text).unwrap(), "text").unwrap_or_else(|error| panic!("{error}"))
}

/// A run in the making.
#[derive(Clone)]
pub struct Run {
    pub program: Program,
    pub protocols: Vec<Arc<Protocol>>,
    pub machine: Machine,
    pub nodes: u32,
    pub block: u64,
    pub args: Vec<String>,
    pub seed: u64,
    pub max_cycles: Option<u64>,
    pub window: Option<u64>,
    pub jobs: u32,
    pub blame: bool,
}

impl Run {
    pub fn of(name: &str, args: &[&str]) -> Run {
        Run::with(program(name), args)
    }

    pub fn with(program: Program, args: &[&str]) -> Run {
        Run {
            program,
            protocols: vec![protocol("stache")],
            machine: machine("typhoon", &[]),
            nodes: 2,
            block: 64,
            args: args.iter().map(|arg| arg.to_string()).collect(),
            seed: 1,
            max_cycles: None,
            window: None,
            blame: false,
            jobs: 1,
        }
    }

    pub fn on(mut self, machine: Machine) -> Run {
        self.machine = machine;
        self
    }

    pub fn under(mut self, protocols: &[&str]) -> Run {
        self.protocols = protocols.iter().map(|name| protocol(name)).collect();
        self
    }

    pub fn nodes(mut self, nodes: u32) -> Run {
        self.nodes = nodes;
        self
    }

    pub fn block(mut self, block: u64) -> Run {
        self.block = block;
        self
    }

    pub fn seed(mut self, seed: u64) -> Run {
        self.seed = seed;
        self
    }

    pub fn window(mut self, window: u64) -> Run {
        self.window = Some(window);
        self
    }

    pub fn blamed(mut self) -> Run {
        self.blame = true;
        self
    }

    pub fn jobs(mut self, jobs: u32) -> Run {
        self.jobs = jobs;
        self
    }

    pub fn max_cycles(mut self, cycles: u64) -> Run {
        self.max_cycles = Some(cycles);
        self
    }

    pub fn go(&self) -> Result<SimResult, NodeError> {
        self.go_and_tell(None)
    }

    pub fn go_and_tell(&self, trace: Option<&dyn Fn(&Note)>) -> Result<SimResult, NodeError> {
        let setup = Setup {
            program: &self.program,
            protocols: self.protocols.clone(),
            machine: self.machine.clone(),
            nodes: self.nodes,
            block: self.block,
            args: self.args.clone(),
            seed: self.seed,
            max_cycles: self.max_cycles,
            stall_limit: Some(trivium_sim::STALL_LIMIT),
            window: self.window,
            jobs: self.jobs,
            blame: self.blame,
            memory: None,
            cancel: None,
            progress: None,
        };
        match trace {
            Some(trace) => run_with_trace(&setup, (0..u64::MAX, trace)),
            None => run(&setup),
        }
    }

    /// The result of a run that must end well: the program has checked its answer itself.
    pub fn right(&self) -> SimResult {
        let what = format!(
            "{} {:?} on {} with {} nodes, block {}",
            self.program.name(),
            self.args,
            self.machine.name,
            self.nodes,
            self.block
        );
        let result = self.go().unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(
            result.exit_codes.is_empty() && result.incomplete.is_none(),
            "{what}: {}{}",
            result.output,
            result.errors
        );
        result
    }

    pub fn error(&self) -> NodeError {
        match self.go() {
            Err(error) => error,
            Ok(result) => panic!("no error, but {}{}", result.output, result.errors),
        }
    }
}

/// All that a run tells, but for the host's time.
pub fn told(run: &Run) -> String {
    match run.go() {
        Ok(mut result) => {
            result.host_seconds = 0.0;
            serde_json::to_string_pretty(&result).unwrap()
        }
        Err(error) => format!("{error:?}"),
    }
}

/// Compares the reference build in the reference order, whose programs take turns in the portable way, with the fast
/// build in these windows.
pub fn same_in(run: &Run, windows: &[u64]) -> String {
    let mut reference = run.clone().window(0).jobs(1);
    reference.program = reference.program.by_reference().switching_by(Switching::Fibres);
    let expected = told(&reference);
    for &window in windows {
        let fast = told(&run.clone().window(window));
        let what = || {
            format!(
                "{} {:?} on {}, {} nodes, seed {}",
                run.program.name(),
                run.args,
                run.machine.name,
                run.nodes,
                run.seed
            )
        };
        assert!(
            fast == expected,
            "{}, window {window}, {} host threads\n{}",
            what(),
            run.jobs,
            difference(&expected, &fast)
        );
    }
    expected
}

/// The first lines that differ.
fn difference(expected: &str, found: &str) -> String {
    let mut lines = expected.lines().zip(found.lines()).filter(|(a, b)| a != b);
    lines.next().map_or("one is longer".into(), |(a, b)| format!("reference: {a}\nfast:      {b}"))
}

/// Windows in which a run is tried: up to as far as the machine lets nodes be ahead of each other.
pub fn windows(run: &Run) -> [u64; 5] {
    let lookahead = run.machine.lookahead();
    [0, 1, 7, lookahead / 2, lookahead]
}
