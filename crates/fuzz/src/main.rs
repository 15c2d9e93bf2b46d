//! Changes what users write at random places, and looks whether `trivium` keeps its word about it: exit codes 0 to 3, an error
//! that says what is wrong, an end. `make fuzz MINUTES=10`; every case is told by two numbers and can be run again:
//! `make fuzz SEED=3 CASE=1234`.

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
    It is run in the repository's root.\n";

struct Options {
    /// Whether `trivium run` is stressed, and nothing changed.
    is_stress: bool,
    minutes: f64,
    seed: u64,
    case: Option<u64>,
    only: Option<Kind>,
    keep: PathBuf,
    trivium: PathBuf,
}

fn options() -> Result<Options, String> {
    let mut words = std::env::args().skip(1).peekable();
    let is_stress = words.next_if(|word| word == "stress").is_some();
    let mut options = Options {
        is_stress,
        minutes: 1.0,
        seed: 1,
        case: None,
        only: None,
        keep: if is_stress { "stress-out" } else { "fuzz-out" }.into(),
        trivium: "target/release/trivium".into(),
    };
    while let Some(option) = words.next() {
        let value = words.next().ok_or_else(|| format!("{option} has no value"))?;
        let wrong = || format!("{option} {value} is not understood");
        match option.as_str() {
            "--minutes" => options.minutes = value.parse().map_err(|_| wrong())?,
            "--seed" => options.seed = value.parse().map_err(|_| wrong())?,
            "--case" => options.case = Some(value.parse().map_err(|_| wrong())?),
            "--only" if !is_stress => {
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
    let found = if options.is_stress {
        let Options { minutes, seed, case, keep, trivium, .. } = options;
        stress::stress(&stress::StressOptions { minutes, seed, case, keep, trivium })
    } else {
        fuzz(&options)
    };
    match found {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(wrong) => {
            eprintln!("error: {wrong}");
            ExitCode::from(2)
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
