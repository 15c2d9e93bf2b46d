//! What is fuzzed: from which texts cases are made, and by which commands they are read.

use crate::change;
use crate::random::Random;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The kinds of cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A changed protocol.
    Protocol,
    /// A changed machine.
    Machine,
    /// A changed WebAssembly module.
    Module,
    /// A changed C program.
    C,
    /// A changed Split-C program.
    SplitC,
    /// Changed words of a command line.
    CommandLine,
    /// A changed recording of a counterexample.
    Recording,
    /// A changed study.
    Study,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 8] = [
        Kind::Protocol,
        Kind::Machine,
        Kind::Module,
        Kind::C,
        Kind::SplitC,
        Kind::CommandLine,
        Kind::Recording,
        Kind::Study,
    ];

    /// As it is written on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Protocol => "protocol",
            Kind::Machine => "machine",
            Kind::Module => "module",
            Kind::C => "c",
            Kind::SplitC => "split-c",
            Kind::CommandLine => "command-line",
            Kind::Recording => "recording",
            Kind::Study => "study",
        }
    }
}

/// One case: files to write below the folder in which the command is run, and the command's words.
pub struct Case {
    pub kind: Kind,
    pub files: Vec<(PathBuf, Vec<u8>)>,
    pub words: Vec<String>,
    /// Whether its work is bounded by what the words say, so that it must end by itself.
    pub bounded: bool,
}

/// What cases are made of.
pub struct Corpus {
    protocols: Vec<(PathBuf, String)>,
    machines: Vec<String>,
    modules: Vec<Vec<u8>>,
    programs: Vec<String>,
    split_c: Vec<String>,
    recordings: Vec<String>,
    /// The options of each command.
    options: BTreeMap<&'static str, Vec<String>>,
}

/// The folders that a command may name.
pub const FOLDERS: [&str; 3] = ["protocols", "machines", "programs"];

const STUDY: &str = include_str!("../study/study.toml");
const PUBLISHED: &str = include_str!("../study/small.csv");

const COMMANDS: [&str; 12] = [
    "sim programs/hello.c -p stache -m typhoon -n 2 --max-cycles 100000",
    "sim programs/litmus.c -p msi -m typhoon-1 -n 3 --max-cycles 100000 --blame --html page.html",
    "sim programs/lockbench-token.c -p stache -p token-lock -m typhoon -n 4 --max-cycles 200000 --trace trace.json",
    "miss -m typhoon --block 32 --kind upgrade --format json",
    "check msi --nodes 2 --objects 2 --max-states 3000 --svg out.svg",
    "check broken/stache-lost-upgrade --nodes 3 --max-states 3000 --format json --html page.html",
    "check german --nodes 2 --bitstate 1M --max-states 3000 --seed 7",
    "mutate msi --nodes 2 --max-mutants 2 --max-states 500",
    "export stache --to murphi --nodes 2 --out model.m",
    "compare programs/hello.c --protocols msi,stache --machines typhoon -n 2 --max-cycles 100000 --svg out.svg",
    "show stache --format markdown",
    "machine typhoon --format json --set machine.network.latency=7",
];

fn read_all(folder: &Path, ending: &str) -> Result<Vec<(PathBuf, String)>, String> {
    let told = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(told)? {
        let path = entry.map_err(told)?.path();
        if path.extension().is_some_and(|found| found == ending) {
            let text = std::fs::read_to_string(&path).map_err(told)?;
            files.push((path, text));
        }
    }
    files.sort();
    Ok(files)
}

impl Corpus {
    /// Reads the repository, and has the program make modules and recordings.
    ///
    /// # Errors
    /// What is not there, or cannot be made.
    pub fn new(root: &Path, trivium: &Path) -> Result<Corpus, String> {
        let mut protocols = Vec::new();
        for (folder, place) in
            [("protocols", "protocols"), ("protocols/broken", "protocols/broken"), ("docs/tutorial", "protocols")]
        {
            let files = read_all(&root.join(folder), "tri")?;
            protocols.extend(files.into_iter().map(|(_, text)| (PathBuf::from(place), text)));
        }
        for (_, test) in read_all(&root.join("crates/lang/tests/files/accept"), "test")? {
            let text = test.split("---- ").next().unwrap_or("").to_string();
            protocols.push(("protocols".into(), text));
        }
        let texts = |files: Vec<(PathBuf, String)>| files.into_iter().map(|(_, text)| text).collect::<Vec<_>>();
        let machines = texts(read_all(&root.join("machines"), "toml")?);
        let mut programs = texts(read_all(&root.join("programs"), "c")?);
        programs.extend(texts(read_all(&root.join("programs/bad"), "c")?));
        let mut split_c = texts(read_all(&root.join("docs/split-c"), "sc")?);
        split_c.extend(texts(read_all(&root.join("crates/trivium/tests/bad/split-c"), "sc")?));
        let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
        let run = |words: &str| {
            let output = Command::new(trivium).args(words.split_whitespace()).current_dir(root).output();
            output.map_err(|error| format!("{} cannot be started: {error}", trivium.display()))
        };
        let mut modules = Vec::new();
        for program in ["hello", "litmus", "matmul"] {
            let module = scratch.path().join("module.wasm");
            let made = run(&format!("cc programs/{program}.c -o {}", module.display()))?;
            if !made.status.success() {
                return Err(String::from_utf8_lossy(&made.stderr).into_owned());
            }
            modules.push(std::fs::read(&module).map_err(|error| error.to_string())?);
        }
        let mut recordings = Vec::new();
        for protocol in ["stache-lost-upgrade", "msi-forgotten-ack", "two-locks", "tree-barrier-late-reset"] {
            let made = run(&format!("check broken/{protocol} --format json"))?;
            recordings.push(String::from_utf8_lossy(&made.stdout).into_owned());
        }
        let mut options = BTreeMap::new();
        for command in ["sim", "check", "mutate", "miss", "show", "export", "compare", "study", "replay", "machine"] {
            let help = run(&format!("{command} --help"))?;
            let help = String::from_utf8_lossy(&help.stdout).into_owned();
            let words = help.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
            let words = words.filter(|word| word.starts_with("--") && word.len() > 2);
            let mut of_command: Vec<String> = words.map(str::to_string).collect();
            of_command.sort();
            of_command.dedup();
            // These need a folder of their own, or ask for no work.
            of_command.retain(|option| !["--dir-rw", "--help", "--version"].contains(&option.as_str()));
            options.insert(command, of_command);
        }
        Ok(Corpus { protocols, machines, modules, programs, split_c, recordings, options })
    }

    /// A case of this kind.
    pub fn case(&self, kind: Kind, random: &mut Random) -> Case {
        let mut files = Vec::new();
        let mut bounded = true;
        let words = match kind {
            Kind::Protocol => {
                let (folder, text) = &self.protocols[random.below(self.protocols.len())];
                let (_, other) = &self.protocols[random.below(self.protocols.len())];
                let file = folder.join("case.tri");
                files.push((file.clone(), change::text(random, text, other).into_bytes()));
                let words = protocols_words(random, &file.display().to_string());
                // How many states the protocol itself has is limited by no option of `mutate`.
                bounded = words[0] != "mutate";
                words
            }
            Kind::Machine => {
                let text = &self.machines[random.below(self.machines.len())];
                let other = &self.machines[random.below(self.machines.len())];
                files.push(("case.toml".into(), change::text(random, text, other).into_bytes()));
                let commands = [
                    "machine case.toml",
                    "miss -m case.toml --format json",
                    "sim programs/litmus.c -p stache -m case.toml -n 3 --max-cycles 30000",
                ];
                split(random.one(&commands))
            }
            Kind::Module => {
                let module = &self.modules[random.below(self.modules.len())];
                files.push(("case.wasm".into(), change::bytes(random, module)));
                split("sim case.wasm -p stache -m typhoon -n 2 --max-cycles 50000 --memory 1G")
            }
            Kind::C => {
                let text = &self.programs[random.below(self.programs.len())];
                let other = &self.programs[random.below(self.programs.len())];
                files.push(("case.c".into(), change::text(random, text, other).into_bytes()));
                split("sim case.c -p stache -p token-lock -m typhoon -n 2 --max-cycles 50000 --memory 1G")
            }
            Kind::SplitC => {
                let text = &self.split_c[random.below(self.split_c.len())];
                let other = &self.split_c[random.below(self.split_c.len())];
                files.push(("case.sc".into(), change::text(random, text, other).into_bytes()));
                split("sim case.sc -p stache -m typhoon -n 2 --max-cycles 50000 --memory 1G")
            }
            Kind::CommandLine => {
                bounded = false;
                let command = split(random.one(&COMMANDS));
                let words: Vec<&str> = command.iter().map(String::as_str).collect();
                let own = self.options.get(words[0]).filter(|_| !random.once_in(8));
                let all = self.options.values().nth(random.below(self.options.len()));
                change::words(random, &words, own.or(all).map_or(&[], Vec::as_slice))
            }
            Kind::Recording => {
                let text = &self.recordings[random.below(self.recordings.len())];
                let other = &self.recordings[random.below(self.recordings.len())];
                files.push(("case.json".into(), change::text(random, text, other).into_bytes()));
                split(random.one(&[
                    "replay case.json",
                    "replay case.json -m typhoon --format json",
                    "replay case.json --html a.html",
                ]))
            }
            Kind::Study => {
                let (mut study, mut published) = (STUDY.to_string(), PUBLISHED.to_string());
                match random.once_in(4) {
                    true => published = change::text(random, &published, PUBLISHED),
                    false => study = change::text(random, &study, STUDY),
                }
                files.push(("case/study.toml".into(), study.into_bytes()));
                files.push(("case/small.csv".into(), published.into_bytes()));
                bounded = false;
                split(random.one(&["study case --quick", "study case --quick --format json"]))
            }
        };
        Case { kind, files, words, bounded }
    }
}

fn split(command: &str) -> Vec<String> {
    command.split_whitespace().map(str::to_string).collect()
}

fn protocols_words(random: &mut Random, file: &str) -> Vec<String> {
    let mut words = split(random.one(&[
        "check FILE --max-states 3000 --memory 500M",
        "check FILE --max-states 3000 --memory 500M",
        "check FILE --max-states 3000 --memory 500M --format json --html a.html",
        "check FILE --max-states 1000 --memory 500M --brute",
        "check FILE --hash-compact --max-states 3000 --memory 500M --jobs 2",
        "check FILE --random-walks 20 --depth 50",
        "show FILE",
        "show FILE --format json",
        "show FILE --format svg",
        "show FILE --format markdown",
        "header FILE",
        "export FILE --to murphi",
        "export FILE --to spin",
        "mutate FILE --max-mutants 2 --max-states 300",
        "miss -p FILE -m typhoon",
        "sim programs/litmus.c -p FILE -m typhoon-1 -n 3 --max-cycles 50000 --memory 1G",
    ]));
    words.iter_mut().filter(|word| *word == "FILE").for_each(|word| *word = file.to_string());
    if ["check", "export", "mutate"].contains(&words[0].as_str()) {
        for (option, values) in [
            ("--nodes", &["1", "2", "3", "4"][..]),
            ("--objects", &["1", "2"]),
            ("--threads-per-node", &["1", "2"]),
            ("--ops", &["1", "2", "none"]),
        ] {
            if random.once_in(3) {
                words.extend([option.to_string(), random.one(values).to_string()]);
            }
        }
    }
    words
}
