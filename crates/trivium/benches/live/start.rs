//! Starts `trivium run`, and the programs that it is compared with.

use crate::judge::Times;
use crate::plain::Plain;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;

/// Programs that are compiled, and what was started so far.
pub struct Programs {
    root: PathBuf,
    built: PathBuf,
    trivium: PathBuf,
    mpi: bool,
    plain: Mutex<BTreeMap<String, Plain>>,
}

impl Programs {
    /// The peers are compiled by the host's compilers; those over MPI, if there is one that `trivium` was built with.
    pub fn ready() -> Programs {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let built = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
        let mpi = cfg!(feature = "mpi");
        let programs =
            Programs { trivium: env!("CARGO_BIN_EXE_trivium").into(), root, built, mpi, plain: Mutex::default() };
        for name in ["pingpong-threads", "pages-threads", "copies", "hits", "barriers", "entries", "stream-threads"] {
            programs.compile("cc", name, &["-lpthread"]);
        }
        for name in ["pingpong-mpi", "pages-mpi", "em3d-mpi", "barriers-mpi", "stream-mpi"].iter().filter(|_| mpi) {
            programs.compile("mpicc", name, &["-lm"]);
        }
        programs
    }

    pub fn has_mpi(&self) -> bool {
        self.mpi
    }

    fn compile(&self, compiler: &str, name: &str, libraries: &[&str]) {
        let mut command = Command::new(compiler);
        command.args(["-O2", "-w", "-I"]).arg(self.root.join("programs/include"));
        command.arg(self.root.join(format!("programs/peers/{name}.c"))).arg("-o").arg(self.built.join(name));
        done(command.args(libraries));
    }

    /// A peer that prints percentiles.
    pub fn peer(&self, name: &str, args: &[&str]) -> Times {
        percentiles(&text(done(Command::new(self.built.join(name)).args(args))))
    }

    /// A peer of two ranks that prints percentiles.
    pub fn peer_ranks(&self, name: &str, args: &[&str]) -> Times {
        self.peer_of_ranks(2, name, args)
    }

    /// The same of so many ranks.
    pub fn peer_of_ranks(&self, count: u32, name: &str, args: &[&str]) -> Times {
        percentiles(&text(done(ranks(count).arg(self.built.join(name)).args(args))))
    }

    /// Seconds of an iteration of EM3D by hand.
    pub fn em3d_by_hand(&self, args: &[&str]) -> Times {
        let told = text(done(ranks(2).arg(self.built.join("em3d-mpi")).args(args)));
        let seconds = told.split_whitespace().next().and_then(|word| word.parse::<f64>().ok());
        Times::once(seconds.unwrap_or_else(|| panic!("{told}")) * 1e9)
    }

    fn run(&self, mut command: Command, protocol: &str, options: &[&str], program: &str, args: &[&str]) -> Value {
        command.arg("run").arg(self.root.join(program)).args(["-p", protocol, "--format", "json"]);
        let told = text(done(command.args(options).arg("--").args(args)));
        serde_json::from_str(&told).unwrap_or_else(|error| panic!("{error}: {told}"))
    }

    fn on_threads(&self, options: &[&str], program: &str, args: &[&str]) -> Value {
        self.run(Command::new(&self.trivium), "stache", options, program, args)
    }

    fn on_ranks(&self, count: u32, protocol: &str, options: &[&str], program: &str, args: &[&str]) -> Value {
        let mut command = ranks(count);
        command.arg(&self.trivium);
        self.run(command, protocol, options, program, args)
    }

    /// How long misses took on threads under a protocol.
    pub fn misses_under(&self, protocol: &str, options: &[&str], program: &str) -> Times {
        latency(&self.run(Command::new(&self.trivium), protocol, options, program, &[]))
    }

    /// Percentiles that a program prints on threads under a protocol.
    pub fn told_under(&self, protocol: &str, options: &[&str], program: &str) -> Times {
        let result = self.run(Command::new(&self.trivium), protocol, options, program, &[]);
        printed(&result)
    }

    /// How long misses took.
    pub fn misses(&self, options: &[&str], program: &str, args: &[&str]) -> Times {
        latency(&self.on_threads(options, program, args))
    }

    /// The same over MPI.
    pub fn ranks_misses(&self, program: &str) -> Times {
        latency(&self.on_ranks(2, "stache", &[], program, &[]))
    }

    /// The time of the region of interest.
    pub fn seconds(&self, options: &[&str], program: &str, args: &[&str]) -> Times {
        seconds(&self.on_threads(options, program, args))
    }

    /// The time of an iteration, of 20 without the first.
    pub fn ranks_seconds(&self, options: &[&str], program: &str, args: &[&str]) -> Times {
        let times = seconds(&self.on_ranks(2, "stache", options, program, args));
        Times::once(times.p50 / 19.0)
    }

    /// Percentiles that a program prints.
    pub fn told(&self, options: &[&str], program: &str) -> Times {
        let result = self.on_threads(options, program, &[]);
        printed(&result)
    }

    /// Percentiles that a program prints over ranks under a protocol.
    pub fn ranks_told(&self, protocol: &str, options: &[&str], program: &str) -> Times {
        self.told_of_ranks(2, protocol, options, program)
    }

    /// The same over so many ranks.
    pub fn told_of_ranks(&self, count: u32, protocol: &str, options: &[&str], program: &str) -> Times {
        let result = self.on_ranks(count, protocol, options, program, &[]);
        printed(&result)
    }

    /// The time of the region of interest of the same module, without Trivium.
    pub fn plain(&self, program: &str, args: &[&str]) -> Times {
        let mut plain = self.plain.lock().expect("nobody panics with it");
        let loaded = plain.entry(program.to_string()).or_insert_with(|| {
            let module = self.built.join("plain.wasm");
            let mut compile = Command::new(&self.trivium);
            done(compile.args(["cc", "-O2", "-o"]).arg(&module).arg(self.root.join(program)));
            Plain::load(&module)
        });
        Times::once(loaded.seconds(args) * 1e9)
    }
}

/// The launcher of so many ranks. There may be more than processors, which Open MPI refuses unless it is told.
fn ranks(count: u32) -> Command {
    let mut command = Command::new("mpirun");
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    command.env("OMPI_MCA_rmaps_base_oversubscribe", "1").args(["-n", &count.to_string()]);
    command
}

fn done(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

fn text(output: Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Percentiles that a program has printed.
fn printed(result: &Value) -> Times {
    percentiles(result["output"].as_str().unwrap_or_default())
}

fn percentiles(told: &str) -> Times {
    let numbers: Vec<f64> = told.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    match numbers[..] {
        [p10, p50, p99] => Times { p10, p50, p99 },
        _ => panic!("no percentiles: {told}"),
    }
}

fn latency(result: &Value) -> Times {
    let of = |name: &str| result["miss_latency"][name].as_f64().unwrap_or_else(|| panic!("{result}"));
    Times { p10: of("p10"), p50: of("p50"), p99: of("p99") }
}

fn seconds(result: &Value) -> Times {
    Times::once(result["wall_seconds"].as_f64().unwrap_or_else(|| panic!("{result}")) * 1e9)
}
