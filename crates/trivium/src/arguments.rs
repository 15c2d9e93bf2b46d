//! The command line, as `contract` fixes it.

mod checking;
pub mod environment;
mod parameters;
mod values;

pub use checking::{Check, Fairness, Network, System};
use clap::{Args, Parser, Subcommand, ValueEnum};
pub use parameters::OtherValues;
use std::path::PathBuf;
pub use values::Ops;
use values::{at_least_one, block_size, bytes, host_threads, node_count};
use values::{run_nodes, stall_limit, whole};

/// Write a communication protocol once: check every interleaving, simulate programs on machines, run programs for real.
#[derive(Debug, Parser)]
#[command(name = "trivium", bin_name = "trivium", version, about, propagate_version = true)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Simulate a parallel program under a protocol on a machine
    Sim(Sim),
    /// Run a parallel program for real under a protocol
    Run(Run),
    /// Show each step of one contention-free remote miss, with its cycles
    Miss(Miss),
    /// Check a protocol: explore every interleaving of a small system
    Check(Check),
    /// Put small mistakes into a protocol, one at a time, and list those that the checker does not find
    Mutate(Mutate),
    /// Execute a recorded counterexample again and compare its states
    Replay(Replay),
    /// Write a protocol as a model for another checker
    Export(Export),
    /// Simulate a program under several protocols on several machines, and print one table
    Compare(Compare),
    /// Run a study: compare published figures with ours, and draw pictures
    Study(Study),
    /// Print a protocol's table, or draw its states
    Show(Show),
    /// List the built-in protocols
    Protocols(Listing),
    /// List the built-in machines
    Machines(Listing),
    /// List the built-in programs
    Programs(Listing),
    /// Print every key of a machine with its value
    Machine(MachineArgs),
    /// Print the C header of a protocol's calls
    Header(Header),
    /// Print the C that a program in Split-C or C* becomes
    Translate(Translate),
    /// Run a program in C* as the language is defined, on one node without a protocol
    Interpret(Interpret),
    /// Compile and link C files of a program; works as CC="trivium cc" in a Makefile
    Cc(Cc),
    /// Make a new folder with a protocol, a program, and the headers for editors
    Init(Init),
    /// Print a completion script for a shell
    Completions(Completions),
    /// Print a manual page, for `man -l -`
    Man(Man),
}

/// Text for people, JSON for programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

/// The result: its form, and where it goes.
#[derive(Debug, Args)]
pub struct Form {
    /// Form of the result
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Write the result into this file, whole or not at all
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// What is set otherwise than files say.
#[derive(Debug, Args)]
pub struct Set {
    /// Override a value: machine.KEY=V or protocol.KEY=V (repeatable)
    #[arg(long, value_name = "KEY=V")]
    pub set: Vec<String>,
}

/// How many threads of the host work.
#[derive(Debug, Args)]
pub struct Jobs {
    /// Threads of the host, 1 to 256; results do not depend on them
    #[arg(long, default_value_t = 1, allow_negative_numbers = true, value_parser = host_threads)]
    pub jobs: u32,
}

/// What random numbers begin with.
#[derive(Debug, Args)]
pub struct Seed {
    /// Seed of all random numbers
    #[arg(long, default_value_t = DEFAULT_SEED, allow_negative_numbers = true, value_parser = whole)]
    pub seed: u64,
}

/// The seed where none is given, and in the results of commands in which nothing is random.
pub const DEFAULT_SEED: u64 = 1;

/// What all commands take that explore or simulate: `trivium check`, `trivium sim` and `trivium compare`
#[derive(Debug, Args)]
pub struct Common {
    /// What is set otherwise
    #[command(flatten)]
    pub set: Set,
    /// What random numbers begin with
    #[command(flatten)]
    pub seed: Seed,
    /// How many threads work
    #[command(flatten)]
    pub jobs: Jobs,
    /// The result
    #[command(flatten)]
    pub form: Form,
}

/// A program and what it is made of: of all commands that execute one
#[derive(Debug, Args)]
pub struct Subject {
    /// The program: a name that `trivium programs` lists, one or more .c files (also .o and .a of `trivium cc`), or a .wasm file
    #[arg(value_name = "PROGRAM", required = true)]
    pub programs: Vec<PathBuf>,
    /// Flags of the C compiler, in quotes: --cc "-O3 -DSIZE=64 -Iinclude"
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    pub cc: Option<String>,
    /// A folder whose files the program may read, by their paths in it; links that lead out of it are refused
    #[arg(long, value_name = "DATA")]
    pub dir: Option<PathBuf>,
}

/// What is simulated, whatever under: of `trivium sim` and `trivium compare`
#[derive(Debug, Args)]
pub struct Simulated {
    /// What is executed
    #[command(flatten)]
    pub subject: Subject,
    /// As --dir, but the program may also write there. Each node sees its own changes. They are written to the folder when the
    /// run ends well; `compare` never writes them
    #[arg(long, value_name = "DATA", conflicts_with = "dir")]
    pub dir_rw: Option<PathBuf>,
    /// Number of nodes, 1 to 1024
    #[arg(long, short, default_value_t = 32, allow_negative_numbers = true, value_parser = node_count)]
    pub nodes: u32,
    /// Bytes of a coherence block, a power of two from 8 to 65536 (default: 64, or the machine's granule if that is larger)
    #[arg(long, allow_negative_numbers = true, value_parser = block_size)]
    pub block: Option<u32>,
    /// Stop (exit code 3) after this many cycles (default: no limit)
    #[arg(long, allow_negative_numbers = true, value_parser = whole)]
    pub max_cycles: Option<u64>,
    /// Fail when handlers run for so many cycles and no access and no call comes to its end; 0: never
    #[arg(long, value_name = "CYCLES", default_value_t = trivium_sim::STALL_LIMIT, allow_negative_numbers = true, value_parser = stall_limit)]
    pub stall_limit: u64,
    /// Stop (exit code 3) when the simulation takes this many bytes of the host's memory, for example 512M or 4G (default: the
    /// memory that is available; a program that allocates more is refused)
    #[arg(long, allow_negative_numbers = true, value_parser = bytes)]
    pub memory: Option<u64>,
    /// Tell for all misses whether they are cold, of capacity, or of true or false sharing, by allocation and by line;
    /// takes more host time
    #[arg(long)]
    pub blame: bool,
    /// Write a report of the runs, with --blame, into this HTML file
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Arguments of the program; {nodes} is replaced by the number of nodes
    #[arg(last = true)]
    pub args: Vec<String>,
}

impl Simulated {
    /// The first of its files, by which a program is known.
    pub fn program(&self) -> &std::path::Path {
        self.subject.programs.first().map_or(std::path::Path::new(""), PathBuf::as_path)
    }

    /// Cycles without progress after which a simulation fails, if it is to.
    pub fn stall_limit(&self) -> Option<u64> {
        Some(self.stall_limit).filter(|&limit| limit > 0)
    }

    /// All of its files.
    pub fn sources(&self) -> Vec<String> {
        self.subject.programs.iter().map(|file| file.display().to_string()).collect()
    }
}

/// `trivium sim`
#[derive(Debug, Args)]
pub struct Sim {
    /// What is simulated
    #[command(flatten)]
    pub run: Simulated,
    /// Protocol: a name or a .tri file; the first is the default of shared regions (repeatable)
    #[arg(long, short, required = true)]
    pub protocol: Vec<String>,
    /// Machine: a name or a .toml file (repeatable: one result each)
    #[arg(long, short, required = true)]
    pub machine: Vec<String>,
    /// Stop each simulation (exit code 3) after this many seconds of the host's time (default: no limit)
    #[arg(long, allow_negative_numbers = true, value_parser = at_least_one::<u64>)]
    pub max_seconds: Option<u64>,
    /// Write a trace of all processors, engines, buses and links into this file, as Chrome trace events (for Perfetto); it takes
    /// one machine
    #[arg(long, value_name = "FILE", group = "traced")]
    pub trace: Option<PathBuf>,
    /// Draw (SVG) what processors, engines, buses and links do into this file, and the ways of messages: in the region of interest, or from
    /// --trace-from to --trace-to; it takes one machine
    #[arg(long, value_name = "FILE", group = "traced")]
    pub svg: Option<PathBuf>,
    /// Trace only what happens from this cycle on
    #[arg(long, value_name = "CYCLE", requires = "traced", allow_negative_numbers = true, value_parser = whole)]
    pub trace_from: Option<u64>,
    /// Trace only what begins before this cycle
    #[arg(long, value_name = "CYCLE", requires = "traced", allow_negative_numbers = true, value_parser = whole)]
    pub trace_to: Option<u64>,
    /// Ask the host at every access, as the oracle of the fast build does; changes speed, never results
    #[arg(long, hide = true)]
    pub reference: bool,
    /// Host-side lookahead in cycles; changes speed, never results (default: as far as is exact)
    #[arg(long, hide = true)]
    pub window: Option<u64>,
    /// What is set otherwise, and the result
    #[command(flatten)]
    pub common: Common,
}

/// How nodes are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Transport {
    /// Each node is a thread of one process.
    Threads,
    /// Each node is a rank of a job of MPI, which mpirun has started.
    Mpi,
}

/// `trivium run`
#[derive(Debug, Args)]
pub struct Run {
    /// What is executed
    #[command(flatten)]
    pub subject: Subject,
    /// Protocol: a name or a .tri file; the first is the default of shared regions (repeatable)
    #[arg(long, short, required = true)]
    pub protocol: Vec<String>,
    /// Number of nodes, 1 to 256 (default: 2, or the ranks that mpirun has started)
    #[arg(long, short, allow_negative_numbers = true, value_parser = run_nodes)]
    pub nodes: Option<u32>,
    /// How nodes are run (default: threads, or mpi under mpirun)
    #[arg(long, value_enum)]
    pub transport: Option<Transport>,
    /// Bytes of a coherence block, a power of two from 8 to 65536
    #[arg(long, default_value_t = 64, allow_negative_numbers = true, value_parser = block_size)]
    pub block: u32,
    /// Stop (exit code 3) after this many seconds (default: no limit)
    #[arg(long, allow_negative_numbers = true, value_parser = at_least_one::<u64>)]
    pub max_seconds: Option<u64>,
    /// Write into this file what is needed to run it again exactly as it ran (threads only)
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    pub record: Option<PathBuf>,
    /// Run it exactly as it ran when this file was recorded; all else on the command line must be as it was (threads only)
    #[arg(long, value_name = "FILE")]
    pub replay: Option<PathBuf>,
    /// Write a trace of what programs and handlers do into this file, as Chrome trace events (for Perfetto)
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Trace only what happens from this microsecond of the run on
    #[arg(long, value_name = "MICROSECOND", requires = "trace", allow_negative_numbers = true, value_parser = whole)]
    pub trace_from: Option<u64>,
    /// Trace only what begins before this microsecond
    #[arg(long, value_name = "MICROSECOND", requires = "trace", allow_negative_numbers = true, value_parser = whole)]
    pub trace_to: Option<u64>,
    /// Delay nodes and messages at random, from this seed, so that rare orders occur
    #[arg(long, value_name = "SEED", allow_negative_numbers = true, conflicts_with = "replay")]
    pub delays: Option<u64>,
    /// Fail when handlers run for so many seconds and no access and no call comes to its end; 0: never
    #[arg(long, value_name = "SECONDS", default_value_t = trivium_run::STALL_LIMIT.as_secs(), allow_negative_numbers = true, value_parser = whole)]
    pub stall_limit: u64,
    /// Do not look at accesses by plain pointers to memory of trivium_share and Split-C: one to a block that another node has reads an old value, or is lost, in silence
    #[arg(long)]
    pub no_check_unchecked: bool,
    /// Keep each node on one of the processors that this process may use (threads only; mpirun has --bind-to)
    #[arg(long)]
    pub pin: bool,
    /// Each node computes for so many milliseconds before its program begins, so that a host that was idle gives each a processor
    #[arg(long, value_name = "MS", default_value_t = 0, allow_negative_numbers = true, value_parser = whole)]
    pub warm_up: u64,
    /// A program that computes looks for messages after so many instructions (default: 1,000 to 16,000, as messages come)
    #[arg(long, value_name = "INSTRUCTIONS", allow_negative_numbers = true, value_parser = at_least_one::<u64>,
        conflicts_with_all = ["record", "replay", "delays"])]
    pub poll_every: Option<u64>,
    /// Override a value: protocol.KEY=V (repeatable)
    #[arg(long, value_name = "KEY=V")]
    pub set: Vec<String>,
    /// The result
    #[command(flatten)]
    pub form: Form,
    /// Arguments of the program; {nodes} in them stands for the number of nodes
    #[arg(last = true)]
    pub args: Vec<String>,
}

/// What kind of miss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum MissKind {
    /// A load of a block that is idle at its home.
    #[default]
    Read,
    /// A store to a block that is idle at its home.
    Write,
    /// A store to a block of which the node has a readable copy, the only one.
    Upgrade,
}

/// `trivium miss`
#[derive(Debug, Args)]
pub struct Miss {
    /// Protocol: a name or a .tri file
    #[arg(long, short, default_value = "stache")]
    pub protocol: String,
    /// Machine: a name or a .toml file (repeatable: one result each)
    #[arg(long, short, required = true)]
    pub machine: Vec<String>,
    /// Kind of the access that misses
    #[arg(long, value_enum, default_value_t)]
    pub kind: MissKind,
    /// Where the block is
    #[arg(long = "where", value_enum, default_value_t)]
    pub place: MissPlace,
    /// Bytes of a coherence block (default: 64, or the machine's granule if that is larger)
    #[arg(long, allow_negative_numbers = true, value_parser = block_size)]
    pub block: Option<u32>,
    /// In what the cycles are told
    #[arg(long, value_enum, default_value_t)]
    pub unit: MissUnit,
    /// What is set otherwise
    #[command(flatten)]
    pub set: Set,
    /// The result
    #[command(flatten)]
    pub form: Form,
}

/// Where a block is that a node misses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum MissPlace {
    /// In the memory of the node that misses.
    Local,
    /// In the memory of another node.
    #[default]
    Remote,
    /// In the cache of its home's processor, which has stored to it.
    Home,
    /// In the cache of a third node, which has stored to it.
    Third,
}

/// In what a miss is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum MissUnit {
    /// Cycles of the compute processor.
    #[default]
    Processor,
    /// Cycles of the engine, where it has a clock of its own (`engine.kind = "pipeline"`).
    #[value(alias = "magic")]
    Engine,
}

/// `trivium mutate`
#[derive(Debug, Args)]
pub struct Mutate {
    /// A name or a .tri file
    pub protocol: String,
    /// What is explored
    #[command(flatten)]
    pub system: System,
    /// Number of mistakes to try, spread over the text (default: all)
    #[arg(long, allow_negative_numbers = true, value_parser = at_least_one::<u32>)]
    pub max_mutants: Option<u32>,
    /// Stop exploring a mutant after this many states (default: four times as many as the protocol has, plus 1000)
    #[arg(long, allow_negative_numbers = true, value_parser = whole)]
    pub max_states: Option<u64>,
    /// What is set otherwise
    #[command(flatten)]
    pub set: Set,
    /// How many threads work
    #[command(flatten)]
    pub jobs: Jobs,
    /// The result
    #[command(flatten)]
    pub form: Form,
}

/// `trivium replay`
#[derive(Debug, Args)]
pub struct Replay {
    /// The result of `trivium check --format json`
    pub file: PathBuf,
    /// Show the times of the steps on this machine too: a name or a .toml file
    #[arg(long, short)]
    pub machine: Option<String>,
    /// The protocol, if its file has moved since it was checked
    #[arg(long, short)]
    pub protocol: Option<String>,
    /// Draw the counterexample as a message sequence chart (SVG) into this file
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Write the counterexample as an HTML page to step through
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// What is set otherwise
    #[command(flatten)]
    pub set: Set,
    /// The result
    #[command(flatten)]
    pub form: Form,
}

/// The other checker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Target {
    /// Murphi, as Rumur reads it.
    Murphi,
    /// Promela with C in it, as SPIN reads it.
    Spin,
}

/// `trivium export`
#[derive(Debug, Args)]
pub struct Export {
    /// A name or a .tri file
    pub protocol: String,
    /// The other checker
    #[arg(long, value_enum)]
    pub to: Target,
    /// What is explored
    #[command(flatten)]
    pub system: System,
    /// Most messages of a lane (virtual channel) in flight between two nodes; the model reports when a run reaches this bound
    #[arg(long, default_value_t = 4, allow_negative_numbers = true, value_parser = at_least_one::<u32>)]
    pub channel: u32,
    /// Override a parameter: protocol.KEY=V (repeatable)
    #[arg(long, value_name = "KEY=V")]
    pub set: Vec<String>,
    /// Write the model into this file, whole or not at all
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// `trivium compare`
#[derive(Debug, Args)]
pub struct Compare {
    /// What is simulated
    #[command(flatten)]
    pub run: Simulated,
    /// Protocols: names or .tri files (repeatable, or separated by commas)
    #[arg(long, short, visible_alias = "protocol", value_delimiter = ',', required = true)]
    pub protocols: Vec<String>,
    /// Machines: names or .toml files (repeatable, or separated by commas)
    #[arg(long, short, visible_alias = "machine", value_delimiter = ',', required = true)]
    pub machines: Vec<String>,
    /// Draw the bars (SVG) into this file
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Beside the simulations, run the program for real under each protocol, as `trivium run` does on threads of this host (up to
    /// 256 nodes). Limits, --blame, --seed and --jobs are for the simulations
    #[arg(long, conflicts_with_all = ["html", "dir_rw"])]
    pub live: bool,
    /// Stop each live run (exit code 3) after this many seconds (default: no limit)
    #[arg(long, allow_negative_numbers = true, value_parser = at_least_one::<u64>, requires = "live")]
    pub max_seconds: Option<u64>,
    /// What is set otherwise, and the result
    #[command(flatten)]
    pub common: Common,
}

/// `trivium study`
#[derive(Debug, Args)]
pub struct Study {
    /// A folder in studies/, a built-in study, or the path of a folder
    pub name: String,
    /// Folder for pictures and for results of runs (default: study-out/NAME). Results that are there are used again
    #[arg(long, value_name = "DIR")]
    pub work: Option<PathBuf>,
    /// Fewer iterations, for a first look; the sizes stay as declared
    #[arg(long)]
    pub quick: bool,
    /// Only this part of it
    #[arg(long)]
    pub part: Option<String>,
    /// Also the runs that take long
    #[arg(long)]
    pub long: bool,
    /// Also the study's live part: programs on this host, beside simulations of them
    #[arg(long)]
    pub live: bool,
    /// What random numbers begin with
    #[command(flatten)]
    pub seed: Seed,
    /// How many threads work
    #[command(flatten)]
    pub jobs: Jobs,
    /// The result
    #[command(flatten)]
    pub form: Form,
}

/// How a protocol is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ShowFormat {
    /// A table.
    #[default]
    Text,
    /// A table in Markdown.
    Markdown,
    /// A state diagram for Graphviz.
    Dot,
    /// A drawn state diagram.
    Svg,
    /// Everything.
    Json,
}

/// `trivium show`
#[derive(Debug, Args)]
pub struct Show {
    /// A name or a .tri file
    pub protocol: String,
    /// Form of the result
    #[arg(long, value_enum, default_value_t)]
    pub format: ShowFormat,
    /// Print the protocol's text as it was written
    #[arg(long, conflicts_with_all = ["format", "set"])]
    pub source: bool,
    /// Draw the states and transitions (SVG) into this file too
    #[arg(long, value_name = "FILE", conflicts_with = "source")]
    pub svg: Option<PathBuf>,
    /// Override a parameter: protocol.KEY=V (repeatable)
    #[arg(long, value_name = "KEY=V")]
    pub set: Vec<String>,
    /// Write the result into this file
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// `trivium protocols`, `trivium machines`
#[derive(Debug, Args)]
pub struct Listing {
    /// The result
    #[command(flatten)]
    pub form: Form,
}

/// `trivium machine`
#[derive(Debug, Args)]
pub struct MachineArgs {
    /// A name or a .toml file
    pub machine: String,
    /// Print the file itself, which may say only what differs from its `base`
    #[arg(long, conflicts_with = "set")]
    pub source: bool,
    /// What is set otherwise
    #[command(flatten)]
    pub set: Set,
    /// The result
    #[command(flatten)]
    pub form: Form,
}

/// `trivium header`
#[derive(Debug, Args)]
pub struct Header {
    /// A name or a .tri file
    pub protocol: String,
    /// Write the header into this file
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// `trivium translate`
#[derive(Debug, Args)]
pub struct Translate {
    /// A program in Split-C or C*: a .sc or .cs file
    #[arg(value_name = "PROGRAM")]
    pub program: PathBuf,
    /// Flags of the C compiler, in quotes: --cc "-DSIZE=64 -Iinclude"
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    pub cc: Option<String>,
    /// With all headers, as it is compiled
    #[arg(long)]
    pub whole: bool,
    /// Write the C into this file
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// `trivium interpret`
#[derive(Debug, Args)]
pub struct Interpret {
    /// The program: one or more .cs files, and .c, .o and .a files beside them
    #[arg(value_name = "PROGRAM", required = true)]
    pub programs: Vec<PathBuf>,
    /// Number of nodes in whose order reductions combine their values, 1 to 1024
    #[arg(long, short, default_value_t = 1, allow_negative_numbers = true, value_parser = node_count)]
    pub nodes: u32,
    /// Flags of the C compiler, in quotes: --cc "-DSIZE=64 -Iinclude"
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    pub cc: Option<String>,
    /// A folder whose files the program may read, by their paths in it; links that lead out of it are refused
    #[arg(long, value_name = "DATA")]
    pub dir: Option<PathBuf>,
    /// Print each parallel statement that is executed, the positions that are active, and the values that it leaves
    #[arg(long)]
    pub trace: bool,
    /// Arguments of the program; {nodes} in them stands for the number of nodes
    #[arg(last = true)]
    pub args: Vec<String>,
}

/// `trivium init`
#[derive(Debug, Args)]
pub struct Init {
    /// The folder to make; it may exist if it is empty
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}

/// A shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// GNU Bash: save it as ~/.local/share/bash-completion/completions/trivium
    Bash,
    /// Zsh: save it as _trivium in a folder of $fpath
    Zsh,
    /// Fish: save it as ~/.config/fish/completions/trivium.fish
    Fish,
}

/// `trivium completions`
#[derive(Debug, Args)]
pub struct Completions {
    /// For which shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// `trivium man`
#[derive(Debug, Args)]
pub struct Man {
    /// The command (default: `trivium` itself, with the list of commands)
    pub command: Option<String>,
}

/// `trivium cc`
#[derive(Debug, Args)]
#[command(
    disable_help_flag = true,
    disable_version_flag = true,
    after_help = "Objects are WebAssembly objects, and linking makes a module, which `trivium sim`, `run` and `compare` take. `trivium.h` \
                  and the headers of the built-in protocols are found without a flag. `trivium cc -help` lists all of Clang's flags."
)]
pub struct Cc {
    /// Print this help, where it is the first word
    #[arg(long, action = clap::ArgAction::Help)]
    pub help: Option<bool>,
    /// Sources, objects and flags: -c, -o FILE, -MD, -I, -D, -O2 and whatever else Clang takes
    #[arg(value_name = "WORDS", trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    pub words: Vec<std::ffi::OsString>,
}
