//! Compiles and runs a program in one way, and compares what it prints with what it must print.

use super::machine;
use super::text;
use super::tree::Program;
use crate::run::{reader, waited};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The protocol's name that stands for runs for real.
const RUN: &str = "run";

/// Warnings are not looked at. What is optimised less is compiled in half of the time, and that is most of a case.
const COMPILING: &str = "-w -O1 -g0";

/// Each operator is a loop there, and to optimise these takes longest of all.
const COMPILING_LOOPS: &str = "-w -O0 -g0";

/// The protocol's name that stands for `trivium interpret`, in whose place there is none.
const INTERPRET: &str = "interpret";

/// How a program is run: simulated under a protocol, for real, or interpreted; on each of these numbers of nodes, since it is compiled once for all. What the library
/// is asked for stands behind it: `uncached+trees+posts` is compiled with `CSTAR_TREES` and `CSTAR_POSTS`.
pub struct Setup {
    protocol: String,
    nodes: Vec<usize>,
}

impl Setup {
    fn new(protocol: &str, nodes: &[usize]) -> Setup {
        Setup { protocol: protocol.into(), nodes: nodes.to_vec() }
    }

    /// Each protocol that is asked for, on these numbers of nodes; else all. 64 nodes take as long as all else.
    pub fn asked(nodes: &[usize], protocols: &[String]) -> Vec<Setup> {
        if nodes.is_empty() && protocols.is_empty() {
            return vec![
                Setup::new("uncached", &[1, 2, 3, 8, 17]),
                Setup::new("swcc", &[3, 2, 8]),
                Setup::new("uncached", &[3, 64]),
                Setup::new("stache", &[5, 2, 8, 17]),
                Setup::new(INTERPRET, &[5, 1, 8, 64]),
                Setup::new("uncached+trees", &[8, 4, 2, 17]),
                Setup::new("msi", &[4, 3, 8]),
                Setup::new(RUN, &[3, 5, 2]),
                Setup::new("stache+posts", &[2, 7, 8]),
                Setup::new("uncached+accesses+naive", &[6, 3]),
                Setup::new("run+trees", &[4, 2]),
                Setup::new("swcc+trees+posts", &[3, 5]),
                Setup::new("uncached+bulk", &[3, 8, 2]),
                Setup::new("uncached+bulk+trees+posts", &[5, 4]),
            ];
        }
        let nodes = if nodes.is_empty() { &[3][..] } else { nodes };
        match protocols {
            [] => vec![Setup::new("uncached", nodes)],
            _ => protocols.iter().map(|protocol| Setup::new(protocol, nodes)).collect(),
        }
    }

    /// The same with one number of nodes.
    pub fn with(&self, nodes: usize) -> Setup {
        Setup::new(&self.protocol, &[nodes])
    }

    /// The same without more nodes than these.
    pub fn up_to(&self, most: usize) -> Setup {
        let nodes: Vec<usize> = self.nodes.iter().copied().filter(|nodes| *nodes <= most).collect();
        Setup::new(&self.protocol, &nodes)
    }

    /// One of its numbers of nodes: another one for the next number.
    pub fn one_of_nodes(&self, number: u64) -> usize {
        self.nodes[(number % self.nodes.len() as u64) as usize]
    }

    /// As it is asked for.
    pub fn protocol(&self) -> &str {
        &self.protocol
    }

    pub fn shown(&self) -> String {
        let nodes: Vec<String> = self.nodes.iter().map(usize::to_string).collect();
        format!("{} with {} nodes", self.protocol(), nodes.join(", "))
    }

    /// The command, as it is typed.
    pub fn command(&self, program: &Path, nodes: usize) -> String {
        let quoted = |word: &String| if word.contains(' ') { format!("\"{word}\"") } else { word.clone() };
        self.words(program, nodes).iter().map(quoted).collect::<Vec<_>>().join(" ")
    }

    /// The words of the command.
    fn words(&self, program: &Path, nodes: usize) -> Vec<String> {
        let nodes = nodes.to_string();
        let file = program.display().to_string();
        let (protocol, asked) = self.protocol.split_once('+').unwrap_or((&self.protocol, ""));
        let mut words: Vec<String> = match protocol {
            // Delays, so that nodes are where they seldom are at the same time.
            RUN => vec!["run".into(), file, "--delays".into(), nodes.clone(), "-p".into(), "stache".into()],
            INTERPRET => vec!["interpret".into(), file],
            protocol => vec!["sim".into(), file, "-m".into(), "typhoon".into(), "-p".into(), protocol.into()],
        };
        let mut how = format!("--cc={}", if protocol == INTERPRET { COMPILING_LOOPS } else { COMPILING });
        asked.split('+').filter(|way| !way.is_empty()).for_each(|way| {
            how.push_str(&format!(" -DCSTAR_{}", way.to_uppercase()));
        });
        words.extend(["-n", &nodes, &how].map(str::to_string));
        words
    }
}

/// What is wrong with a program's run.
pub struct Wrong {
    /// Whether it has no output, since it was refused or ended with an error.
    pub has_failed: bool,
    /// On how many nodes.
    pub nodes: usize,
    pub what: String,
}

/// A folder for programs and for what is compiled of them.
pub struct Bench {
    folder: PathBuf,
    /// It goes away with its contents.
    _passing: Option<tempfile::TempDir>,
    trivium: PathBuf,
}

impl Bench {
    /// # Errors
    /// There is no room.
    pub fn new(trivium: &Path) -> Result<Bench, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        Ok(Bench { folder: folder.path().to_path_buf(), _passing: Some(folder), trivium: trivium.to_path_buf() })
    }

    /// One that has this folder for itself: what is compiled of the same programs there is found again where programs are kept.
    #[cfg(test)]
    pub fn at(folder: PathBuf, trivium: &Path) -> Bench {
        Bench { folder, _passing: None, trivium: trivium.to_path_buf() }
    }

    /// What is wrong first with what a program prints, if anything is.
    ///
    /// # Errors
    /// It cannot be run, or the program is wrong.
    pub fn wrong(&self, program: &Program, setup: &Setup) -> Result<Option<Wrong>, String> {
        let file = self.folder.join("random.cs");
        std::fs::write(&file, text::written(program)).map_err(|error| format!("{}: {error}", file.display()))?;
        for nodes in &setup.nodes {
            if let Some(wrong) = self.wrong_on(program, setup, &file, *nodes)? {
                return Ok(Some(wrong));
            }
        }
        Ok(None)
    }

    fn wrong_on(&self, program: &Program, setup: &Setup, file: &Path, nodes: usize) -> Result<Option<Wrong>, String> {
        let seen = self.run(&setup.words(file, nodes))?;
        let heard: Vec<&str> = match &seen {
            // How many barriers there were, where they are counted, is told last.
            Ok(output) => output.lines().filter(|line| !line.starts_with("c-star: ")).collect(),
            Err(_) => Vec::new(),
        };
        let expected = machine::printed(program, nodes, &heard);
        let expected = expected
            .map_err(|what| format!("a program is wrong on {nodes} nodes: {what}\n{}", text::written(program)))?;
        Ok(match seen {
            Err(what) => Some(Wrong { has_failed: true, nodes, what }),
            Ok(_) => difference(&expected, &heard).map(|what| Wrong { has_failed: false, nodes, what }),
        })
    }

    /// The program's own output, or how it failed.
    fn run(&self, words: &[String]) -> Result<Result<String, String>, String> {
        let mut child = Command::new(&self.trivium)
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{} cannot be started: {error}", self.trivium.display()))?;
        let (out, err) = (reader(child.stdout.take()), reader(child.stderr.take()));
        let (status, slow) = waited(&mut child, true)?;
        let (out, err) = (out.join().unwrap_or_default(), err.join().unwrap_or_default());
        let (out, err) = (String::from_utf8_lossy(&out).into_owned(), String::from_utf8_lossy(&err).into_owned());
        if let Some(slow) = slow {
            return Ok(Err(slow));
        }
        if err.contains("there is no C compiler") {
            return Err(err);
        }
        if !status.success() {
            return Ok(Err(format!("{status}\n{}", err.trim_end())));
        }
        if words.first().is_some_and(|command| command == INTERPRET) {
            return Ok(Ok(out));
        }
        Ok(out
            .split_once("\noutput\n")
            .map(|(_, output)| output.to_string())
            .ok_or_else(|| format!("no output: {out}")))
    }
}

/// The first line that differs.
fn difference(expected: &[String], heard: &[&str]) -> Option<String> {
    let lines = expected.len().max(heard.len());
    let differs = |line: &usize| expected.get(*line).map(String::as_str) != heard.get(*line).copied();
    let line = (0..lines).find(differs)?;
    let told = |line: Option<&str>| line.map_or("nothing".to_string(), |line| format!("`{line}`"));
    let (wanted, printed) = (told(expected.get(line).map(String::as_str)), told(heard.get(line).copied()));
    Some(format!("line {} is {printed}, and must be {wanted}", line + 1))
}
