//! What is run, and what its answer must be.

use crate::random::Random;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A run that takes longer has not ended.
const SECONDS: &str = "60";
/// Protocols under which a program may use memory as if there were one copy.
const SEQUENTIAL: [&str; 8] =
    ["msi", "stache", "swcc", "flash-coherence", "german", "migratory", "stache-pages", "uncached"];
const BLOCKS: [&str; 5] = ["32", "64", "64", "128", "1024"];

/// What a right answer looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The program has looked at it, and says this.
    Says(&'static str),
    /// Beside that, its output is what `trivium sim` gives, which is the same whatever the order.
    Simulated,
}

/// One run.
#[derive(Clone, Debug)]
pub struct Sample {
    pub program: PathBuf,
    pub protocols: Vec<String>,
    /// Further options.
    pub options: Vec<String>,
    pub nodes: usize,
    pub args: Vec<String>,
    pub delays: Option<u64>,
    pub answer: Answer,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Seen {
    pub code: Option<i32>,
    pub output: String,
    pub error: String,
}

impl Seen {
    /// What went wrong, in one line.
    pub fn why(&self) -> String {
        let line = self.error.lines().next().unwrap_or("it says nothing");
        line.strip_prefix("error: ").unwrap_or(line).to_string()
    }
}

/// Programs that share memory under one protocol.
fn shared(random: &mut Random) -> (&'static str, Vec<String>, Answer, usize) {
    let mut number = |from: usize, below: usize| (from + random.below(below - from)).to_string();
    let (program, words, answer, least): (_, Vec<(&str, String)>, _, _) = match number(0, 15).as_str() {
        "0" => {
            ("em3d.c", vec![("-n", number(4, 80)), ("-i", number(1, 5)), ("-g", number(1, 99))], Answer::Simulated, 2)
        }
        "1" => ("matmul.c", vec![("-n", number(2, 24)), ("-b", number(0, 7))], Answer::Simulated, 1),
        "2" => ("pingpong.c", vec![("-n", number(1, 60))], Answer::Says("ok"), 1),
        "3" => ("bodies.c", vec![("-k", number(1, 4)), ("-g", number(1, 99))], Answer::Simulated, 1),
        "9" => {
            ("moldyn.c", vec![("-b", number(2, 4)), ("-i", number(1, 6)), ("-g", number(1, 99))], Answer::Simulated, 1)
        }
        "10" => {
            ("appbt.c", vec![("-s", number(16, 20)), ("-i", number(1, 4)), ("-m", number(1, 9))], Answer::Simulated, 1)
        }
        "11" => (
            "unstructured.c",
            vec![("-z", number(1, 6)), ("-m", number(0, 4)), ("-g", number(1, 99))],
            Answer::Simulated,
            1,
        ),
        "12" => {
            ("dsmc.c", vec![("-n", number(1, 900)), ("-i", number(1, 9)), ("-g", number(1, 99))], Answer::Simulated, 1)
        }
        "13" => (
            "barnes.c",
            vec![("-n", number(2, 200)), ("-i", number(1, 4)), ("-g", number(1, 99))],
            Answer::Simulated,
            1,
        ),
        "4" => ("atomics.c", vec![("-n", number(1, 60)), ("-i", number(1, 9))], Answer::Says("ok"), 1),
        "5" => ("barrierbench.c", vec![("-n", number(1, 40)), ("-g", number(1, 99))], Answer::Says("ok"), 1),
        "6" => ("lockbench.c", vec![("-n", number(1, 300)), ("-g", number(1, 99))], Answer::Says("ok"), 1),
        "7" => ("litmus.c", vec![("-n", number(1, 60)), ("-d", number(1, 3000))], Answer::Says("ok"), 2),
        "8" => ("fetchadd.c", vec![("-n", number(1, 40))], Answer::Says("ok"), 1),
        _ => ("falsesharing.c", Vec::new(), Answer::Says("has counted to"), 1),
    };
    let args = words.into_iter().flat_map(|(name, value)| [name.to_string(), value]).collect();
    (program, args, answer, least)
}

/// Programs that need protocols of their own.
const CUSTOM: [(&str, &[&str], Answer); 19] = [
    ("em3d-update.c", &["stache", "deferred-update"], Answer::Simulated),
    ("bodies-update.c", &["stache", "update", "migratory"], Answer::Simulated),
    ("moldyn-channels.c", &["stache", "channel"], Answer::Simulated),
    ("appbt-columns.c", &["stache", "column"], Answer::Simulated),
    ("unstructured-channels.c", &["stache", "channel"], Answer::Simulated),
    ("unstructured-update.c", &["stache", "channel", "deferred-update"], Answer::Simulated),
    ("dsmc-write.c", &["stache", "remote-records"], Answer::Simulated),
    ("lockbench-token.c", &["stache", "token-lock"], Answer::Says("ok")),
    ("barrierbench-tree.c", &["stache", "tree-barrier"], Answer::Says("ok")),
    ("lockbench-flash.c", &["flash-coherence", "flash-lock"], Answer::Says("ok")),
    ("barrierbench-flash.c", &["stache", "flash-barrier"], Answer::Says("ok")),
    ("barriergrid.c", &["stache", "flash-barrier"], Answer::Says("ok")),
    ("splitphase.c", &["swcc"], Answer::Says("ok")),
    ("scatter.c", &["stache", "remote-write"], Answer::Says("ok")),
    ("allgather.c", &["stache", "channel"], Answer::Says("ok")),
    ("copy.c", &["stache-prefetch"], Answer::Says("ok")),
    ("copy.c", &["flash-prefetch"], Answer::Says("ok")),
    ("mm-life.c", &["stache", "mm"], Answer::Says("ok")),
    ("paging.c", &["mapped"], Answer::Says("ok")),
];

impl Sample {
    /// The sample that follows from a row of random numbers.
    pub fn of(random: &mut Random) -> Sample {
        let delays = (!random.once_in(8)).then(|| random.below(1 << 30) as u64);
        let options = vec!["--block".to_string(), random.one(&BLOCKS).to_string()];
        let (program, protocols, args, answer, least) = if random.once_in(4) {
            let (program, protocols, answer) = CUSTOM[random.below(CUSTOM.len())];
            (program, protocols.to_vec(), Vec::new(), answer, 2)
        } else {
            let (program, args, answer, least) = shared(random);
            (program, vec![SEQUENTIAL[random.below(SEQUENTIAL.len())]], args, answer, least)
        };
        Sample {
            program: Path::new("programs").join(program),
            protocols: protocols.into_iter().map(String::from).collect(),
            options,
            nodes: least + random.below(9 - least),
            args,
            delays,
            answer,
        }
    }

    fn words(&self) -> Vec<String> {
        let mut words = vec![self.program.display().to_string(), "--nodes".into(), self.nodes.to_string()];
        self.protocols.iter().for_each(|protocol| words.extend(["-p".to_string(), protocol.clone()]));
        words.extend(self.options.iter().cloned());
        words
    }
}

/// Where samples are run: in the repository's root, with a folder for what they write.
pub struct Site {
    root: PathBuf,
    folder: tempfile::TempDir,
    trivium: PathBuf,
}

impl Site {
    /// # Errors
    /// There is no room.
    pub fn new(root: &Path, trivium: &Path) -> Result<Site, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        Ok(Site { root: root.to_path_buf(), folder, trivium: trivium.to_path_buf() })
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A file of the repository.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn text(&self, path: &str) -> Result<String, String> {
        std::fs::read_to_string(self.root.join(path)).map_err(|error| format!("{path}: {error}"))
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A sample's command line, for people.
    pub fn shown(&self, sample: &Sample) -> String {
        let mut words = vec!["run".to_string()];
        words.extend(sample.words());
        words.extend(sample.delays.map(|seed| format!("--delays {seed}")));
        if !sample.args.is_empty() {
            words.push("--".into());
            words.extend(sample.args.iter().cloned());
        }
        words.join(" ")
    }

    /// Runs a sample and records it.
    ///
    /// # Errors
    /// The program cannot be started.
    pub fn record(&self, sample: &Sample, file: &Path) -> Result<Seen, String> {
        let mut words = vec!["--record".to_string(), file.display().to_string()];
        words.extend(sample.delays.map(|seed| format!("--delays={seed}")));
        self.start("run", sample, &words)
    }

    /// Runs it as it was recorded.
    ///
    /// # Errors
    /// The program cannot be started.
    pub fn replay(&self, sample: &Sample, file: &Path) -> Result<Seen, String> {
        self.start("run", sample, &["--replay".to_string(), file.display().to_string()])
    }

    fn start(&self, command: &str, sample: &Sample, more: &[String]) -> Result<Seen, String> {
        let mut words = vec![command.to_string()];
        words.extend(sample.words());
        words.extend(more.iter().cloned());
        if command == "run" && !sample.options.iter().any(|option| option == "--max-seconds") {
            words.extend(["--max-seconds", SECONDS].map(String::from));
        }
        words.extend(["--format", "json", "--"].map(String::from));
        words.extend(sample.args.iter().cloned());
        let ended = Command::new(&self.trivium).args(&words).current_dir(&self.root).stdin(Stdio::null()).output();
        let ended = ended.map_err(|error| format!("{} cannot be started: {error}", self.trivium.display()))?;
        let result: serde_json::Value = serde_json::from_slice(&ended.stdout).unwrap_or_default();
        let output = result["output"].as_str().unwrap_or_default().to_string();
        Ok(Seen { code: ended.status.code(), output, error: String::from_utf8_lossy(&ended.stderr).into_owned() })
    }

    /// What is wrong with an answer, if anything.
    ///
    /// # Errors
    /// The program cannot be started.
    pub fn wrong(&self, sample: &Sample, seen: &Seen) -> Result<Option<String>, String> {
        if seen.code != Some(0) {
            return Ok(Some(format!("exit code {:?}: {}", seen.code.unwrap_or(-1), seen.why())));
        }
        match sample.answer {
            Answer::Says(what) if sample.nodes > 1 && !seen.output.contains(what) => {
                Ok(Some(format!("the output does not say `{what}`")))
            }
            Answer::Says(_) => Ok(None),
            Answer::Simulated => {
                let simulated = self.start("sim", sample, &["--machine".to_string(), "typhoon".to_string()])?;
                let is_wrong = simulated.code != Some(0) || simulated.output != seen.output;
                Ok(is_wrong.then(|| format!("the output is not that of the simulator, {:?}", simulated.output)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_is_a_function_of_its_numbers() {
        let mut protocols = std::collections::BTreeSet::new();
        for case in 0..500 {
            let of = |seed| Sample::of(&mut Random::of_case(seed, case));
            assert_eq!(format!("{:?}", of(1)), format!("{:?}", of(1)));
            assert!((1..=8).contains(&of(1).nodes));
            protocols.extend(of(1).protocols);
        }
        assert!(protocols.len() > 11, "{protocols:?}");
    }
}
