//! Changes what users write at random places, and looks whether `trivium` keeps its word about it: exit codes 0 to 3, an error
//! that says what is wrong, an end. `make fuzz MINUTES=10`; every case is told by two numbers and can be run again:
//! `make fuzz SEED=3 CASE=1234`.

mod c_star;
mod change;
mod random;
mod run;
mod stress;
mod subject;

use random::Random;
use run::Place;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use subject::{Case, Corpus, Kind};

const USAGE: &str = "usage: trivium-fuzz [--minutes M] [--seed S] [--case N] [--only KIND] [--keep FOLDER] [--trivium PROGRAM]\n\
    kinds: protocol, machine, module, c, command-line, recording, study\n\
    trivium-fuzz stress [--minutes M] [--seed S] [--case N] [--keep FOLDER] [--trivium PROGRAM]: `trivium run` with delays at random\n\
    trivium-fuzz c-star [--cases N] [--seed S] [--case K] [--nodes 1,3] [--protocols stache,run,interpret] [--keep FOLDER] [--trivium PROGRAM]:\n    \
    random programs in C*\n\
    trivium-fuzz c-star-mutants [--cases N] [--seed S] [--case K]: whether they find mistakes in the compiler; K: only this one\n\
    It is run in the repository's root.\n";

/// What is to be done.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Task {
    /// What users write is changed.
    Fuzz,
    /// `trivium run` is stressed.
    Stress,
    /// Programs in C* are tried.
    CStar,
    /// The compiler of C* has mistakes, and it is seen whether programs show them.
    Mutants,
}

impl Task {
    /// The task of this name, if it is one, and the folder for what it finds.
    const NAMED: [(&str, Task, &str); 3] = [
        ("stress", Task::Stress, "stress-out"),
        ("c-star", Task::CStar, "c-star-out"),
        ("c-star-mutants", Task::Mutants, "c-star-out"),
    ];
}

struct Options {
    task: Task,
    minutes: f64,
    seed: u64,
    case: Option<u64>,
    cases: u64,
    nodes: Vec<usize>,
    protocols: Vec<String>,
    only: Option<Kind>,
    keep: PathBuf,
    trivium: PathBuf,
}

fn options() -> Result<Options, String> {
    let mut words = std::env::args().skip(1).peekable();
    let named = words.peek().and_then(|word| Task::NAMED.iter().find(|(name, ..)| name == word));
    words.next_if(|_| named.is_some());
    let (task, keep) = named.map_or((Task::Fuzz, "fuzz-out"), |(_, task, keep)| (*task, *keep));
    let is_of_c_star = matches!(task, Task::CStar | Task::Mutants);
    let mut options = Options {
        task,
        minutes: 1.0,
        seed: 1,
        case: None,
        cases: 100,
        nodes: Vec::new(),
        protocols: Vec::new(),
        only: None,
        keep: keep.into(),
        trivium: "target/release/trivium".into(),
    };
    while let Some(option) = words.next() {
        let value = words.next().ok_or_else(|| format!("{option} has no value"))?;
        let wrong = || format!("{option} {value} is not understood");
        match option.as_str() {
            "--minutes" if !is_of_c_star => options.minutes = value.parse().map_err(|_| wrong())?,
            "--seed" => options.seed = value.parse().map_err(|_| wrong())?,
            "--case" => options.case = Some(value.parse().map_err(|_| wrong())?),
            "--cases" if is_of_c_star => options.cases = value.parse().map_err(|_| wrong())?,
            "--nodes" if is_of_c_star => {
                let nodes = value.split(',').map(|nodes| nodes.parse().ok().filter(|nodes| *nodes > 0));
                options.nodes = nodes.collect::<Option<_>>().ok_or_else(wrong)?;
            }
            "--protocols" if is_of_c_star => options.protocols = value.split(',').map(str::to_string).collect(),
            "--only" if task == Task::Fuzz => {
                options.only = Some(*Kind::ALL.iter().find(|kind| kind.name() == value).ok_or_else(wrong)?)
            }
            "--keep" => options.keep = value.into(),
            "--trivium" => options.trivium = value.into(),
            _ => return Err(wrong()),
        }
    }
    options.trivium =
        options.trivium.canonicalize().map_err(|error| format!("{}: {error}", options.trivium.display()))?;
    Ok(options)
}

fn main() -> ExitCode {
    let options = match options() {
        Ok(options) => options,
        Err(wrong) => {
            eprint!("error: {wrong}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done(options) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(wrong) => {
            eprintln!("error: {wrong}");
            ExitCode::from(2)
        }
    }
}

/// Does what is asked for; gives the number of findings.
fn done(options: Options) -> Result<u64, String> {
    match options.task {
        Task::Fuzz => fuzz(&options),
        Task::Stress => {
            let Options { minutes, seed, case, keep, trivium, .. } = options;
            stress::stress(&stress::StressOptions { minutes, seed, case, keep, trivium })
        }
        Task::CStar | Task::Mutants => {
            let task = options.task;
            let Options { cases, seed, case, nodes, protocols, keep, trivium, .. } = options;
            let options = c_star::CStarOptions { cases, seed, case, nodes, protocols, keep, trivium };
            if task == Task::CStar { c_star::try_programs(&options) } else { c_star::mutants::try_mutants(&options) }
        }
    }
}

/// Runs cases until the time is over; gives the number of findings.
fn fuzz(options: &Options) -> Result<u64, String> {
    let root = std::env::current_dir().map_err(|error| error.to_string())?;
    let corpus = Corpus::new(&root, &options.trivium)?;
    let place = Place::new(&root)?;
    let until = Instant::now() + Duration::from_secs_f64(options.minutes * 60.0);
    let mut counts: BTreeMap<(Kind, Option<i32>), u64> = BTreeMap::new();
    let (mut number, mut findings) = (options.case.unwrap_or(0), 0);
    loop {
        let mut random = Random::of_case(options.seed, number);
        let kind = options.only.unwrap_or_else(|| Kind::ALL[random.below(Kind::ALL.len())]);
        let case = corpus.case(kind, &mut random);
        let ended = place.run(&case, &options.trivium)?;
        *counts.entry((case.kind, ended.code)).or_default() += 1;
        if let Some(what) = ended.finding {
            findings += 1;
            report(options, number, &case, &what, &ended.said)?;
        } else if options.case.is_some() {
            println!("case {number}: exit code {:?}\n{}", ended.code, ended.said);
        }
        number += 1;
        if options.case.is_some() || Instant::now() >= until {
            break;
        }
    }
    println!("seed {}: {} cases, {findings} findings", options.seed, counts.values().sum::<u64>());
    for ((kind, code), count) in counts {
        let code = code.map_or("a signal".to_string(), |code| format!("exit code {code}"));
        println!("  {:<12}  {code}: {count}", kind.name());
    }
    Ok(findings)
}

/// Keeps what is needed to see it again, and says where.
fn report(options: &Options, number: u64, case: &Case, what: &str, said: &str) -> Result<(), String> {
    let folder: PathBuf = Path::new(&options.keep).join(format!("{}-{number}", options.seed));
    run::write(&folder, case)?;
    let told = |error: std::io::Error| format!("{}: {error}", folder.display());
    std::fs::create_dir_all(&folder).map_err(told)?;
    let words: Vec<String> = case.words.iter().map(|word| format!("{word:?}")).collect();
    let only = options.only.map_or(String::new(), |kind| format!(" ONLY={}", kind.name()));
    let text = format!("{what}\ntrivium {}\n\n{said}", words.join(" "));
    std::fs::write(folder.join("finding.txt"), text).map_err(told)?;
    println!("FINDING ({}): {what}", case.kind.name());
    println!("  trivium {}", words.join(" "));
    println!("  {}; again: make fuzz SEED={} CASE={number}{only}", folder.display(), options.seed);
    Ok(())
}
