//! A search is saved when something ends it before all is seen, and goes on from there as if nothing had ended it.
//!
//! What is saved is the search as it was before the batch that was the next: all states in their order, what is kept to
//! find starvation, and what has happened so far. What happened in a batch that was not finished happens again.

use super::FastSearch;
use super::arena::StateNumber;
use super::edges::Edges;
use super::frames::{FrameError, Framed, Unframed};
use crate::config::{Config, refused};
use crate::report::{Exchanged, Saved};
use crate::search::store::state_number;
use crate::system::model::Model;
use crate::system::payload::Data;
use serde_json::{Value, json};
use std::io::{self, BufReader, Read, Write};
use std::ops::Range;
use std::path::Path;
use std::time::Instant;
use trivium_diagnostic::Diagnostic;

/// How every checkpoint begins. The number is that of the form.
const MAGIC: &[u8; 22] = b"trivium checkpoint 3.\n";

/// How far a search was before the batch that is the next.
#[derive(Clone, Debug, Default)]
pub(super) struct Frontier {
    /// The states that lie as deep as those of the batch.
    pub level: Range<StateNumber>,
    /// The first state of the batch.
    pub from: StateNumber,
    /// States that were known.
    pub states: StateNumber,
    pub transitions: u64,
}

/// When the search was last saved, and what came of it.
pub(super) struct Keeping {
    last: Instant,
    pub saved: Option<Saved>,
}

impl Keeping {
    pub fn new() -> Keeping {
        Keeping { last: Instant::now(), saved: None }
    }
}

/// What a checkpoint is of: one is taken only for a search that says the same.
fn head(model: &Model, config: &Config, exchanged: Exchanged, liveness: bool) -> Value {
    json!({
        "version": config.origin.version,
        "protocol": model.protocol().name,
        "hash": config.origin.hash,
        "options": serde_json::to_value(&config.system).unwrap_or_default(),
        "symmetry": config.symmetry,
        "home_symmetry": exchanged.objects > 0,
        "value_symmetry": exchanged.values,
        "liveness": liveness,
    })
}

impl FastSearch<'_> {
    fn head(&self) -> Value {
        // As it was asked for: that starvation is no longer looked for is a part of what is saved.
        head(self.model, self.config, self.workers[0].exchanged(), self.config.liveness)
    }

    /// Saves the search if that is wanted and it is time.
    pub(super) fn save_in_time(&mut self) {
        let every = self.config.checkpoint.and_then(|checkpoint| checkpoint.every);
        if every.is_some_and(|every| self.keeping.last.elapsed() >= every) {
            self.save();
        }
    }

    /// Saves the search as it was before the present batch, if that is wanted.
    pub(super) fn save(&mut self) {
        let Some(checkpoint) = self.config.checkpoint else { return };
        let result = (checkpoint.save)(&mut |out| self.write(out));
        let before = self.keeping.saved.take().and_then(|saved| saved.states);
        let (states, error) = match result {
            Ok(()) => (Some(u64::from(self.place.states)), None),
            Err(why) => (before, Some(why)),
        };
        self.keeping.saved = Some(Saved { file: checkpoint.name.into(), states, error });
        self.keeping.last = Instant::now();
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(MAGIC)?;
        let mut out = Framed::new(out);
        out.put_all(self.head().to_string().as_bytes())?;
        self.write_place(&mut out)?;
        self.write_states(&mut out)?;
        self.write_seen(&mut out)?;
        let state = json!({ "not_looked": self.not_looked, "looks": self.liveness.is_some() });
        out.put_all(state.to_string().as_bytes())?;
        if let Some(liveness) = &self.liveness {
            out.put_all(liveness.content.saved(self.place.states as usize))?;
            liveness.edges.save(&mut out)?;
        }
        out.finish()
    }

    fn write_place(&self, out: &mut Framed) -> io::Result<()> {
        let place = &self.place;
        let numbers = [place.level.start, place.level.end, place.from, place.states, self.expanded, self.depth];
        numbers.into_iter().try_for_each(|number| out.put_u32(number))?;
        let seconds = self.seconds().to_bits();
        [place.transitions, seconds].into_iter().try_for_each(|n| out.put_u64(n))?;
        self.widths.all().iter().try_for_each(|&width| out.put_u64(width))
    }

    fn write_states(&self, out: &mut Framed) -> io::Result<()> {
        for (number, state) in self.states.arena.states(0..self.place.states as usize) {
            out.put_u32(self.states.arena.parent(number))?;
            out.put_u32(u32::try_from(state.len()).map_err(io::Error::other)?)?;
            out.put(state)?;
        }
        Ok(())
    }

    /// What has happened, and what messages have carried.
    fn write_seen(&self, out: &mut Framed) -> io::Result<()> {
        let marks = self.workers.iter().map(|worker| worker.stepper.reached.saved());
        let all = marks.reduce(|mut all, more| {
            all.iter_mut().zip(more).for_each(|(all, more)| *all |= more);
            all
        });
        out.put_all(&all.unwrap_or_default())?;
        let data = self.workers[0].stepper.payloads.all();
        out.put_all(&serde_json::to_vec(data).map_err(io::Error::other)?)
    }

    /// Goes on from a checkpoint.
    ///
    /// # Errors
    /// It is none, is not whole, or is of another search.
    pub(super) fn resume(&mut self, path: &Path) -> Result<(), Diagnostic> {
        self.read(path).map_err(|refused| refused.told(path))
    }

    fn read(&mut self, path: &Path) -> Result<(), Refused> {
        let mut file = BufReader::new(
            trivium_files::open(path).map_err(|unread| FrameError::Failed(io::Error::other(unread.why)))?,
        );
        let mut magic = [0; MAGIC.len()];
        match file.read_exact(&mut magic) {
            Ok(()) if magic == *MAGIC => {}
            Ok(()) => return Err(Refused::Other),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Err(Refused::Other),
            Err(error) => return Err(FrameError::Failed(error).into()),
        }
        let mut from = Unframed::new(file);
        let head = from.take_all()?;
        let head: Value = serde_json::from_slice(&head).map_err(|_| FrameError::Damaged)?;
        compare(&head, &self.head())?;
        self.read_place(&mut from)?;
        self.read_states(&mut from)?;
        self.read_seen(&mut from)?;
        self.read_liveness(&mut from)?;
        Ok(from.finish()?)
    }

    fn read_place(&mut self, from: &mut Unframed<impl Read>) -> Result<(), Refused> {
        let mut next = || from.take_u32();
        self.place.level = next()?..next()?;
        (self.place.from, self.place.states, self.expanded, self.depth) = (next()?, next()?, next()?, next()?);
        let mut next = || from.take_u64();
        self.transitions = next()?;
        self.place.transitions = self.transitions;
        self.seconds_before = f64::from_bits(next()?);
        self.widths = (0..=self.depth).map(|_| next()).collect::<Result<_, _>>()?;
        Ok(())
    }

    fn read_states(&mut self, from: &mut Unframed<impl Read>) -> Result<(), Refused> {
        let (mut bytes, mut before) = (Vec::new(), 0);
        for number in 0..self.place.states {
            let parent = from.take_u32()?;
            if !(before..=number).contains(&parent) {
                return Err(FrameError::Damaged.into());
            }
            before = parent;
            bytes.resize(from.take_u32()? as usize, 0);
            from.take(&mut bytes)?;
            self.states.arena.push(&bytes, parent);
        }
        self.states.find_all_again(self.workers.len());
        Ok(())
    }

    fn read_seen(&mut self, from: &mut Unframed<impl Read>) -> Result<(), Refused> {
        if !self.workers[0].stepper.reached.restore(&from.take_all()?) {
            return Err(FrameError::Damaged.into());
        }
        let data: Vec<Data> = serde_json::from_slice(&from.take_all()?).map_err(|_| FrameError::Damaged)?;
        for worker in &mut self.workers {
            data.iter().for_each(|data| _ = worker.stepper.payloads.handle(data.clone()));
        }
        Ok(())
    }

    fn read_liveness(&mut self, from: &mut Unframed<impl Read>) -> Result<(), Refused> {
        let state: Value = serde_json::from_slice(&from.take_all()?).map_err(|_| FrameError::Damaged)?;
        if state["looks"] != true {
            if self.liveness.is_some() {
                self.give_up_liveness(state["not_looked"].as_str().unwrap_or_default().into());
            }
            return Ok(());
        }
        let renames = self.workers[0].exchanged().renames();
        let liveness = self.liveness.as_mut().ok_or(FrameError::Damaged)?;
        if !liveness.content.restore(from.take_all()?, self.place.states as usize) {
            return Err(FrameError::Damaged.into());
        }
        liveness.edges = Edges::load(renames, from)?;
        Ok(())
    }

    /// The search goes on before this batch.
    pub(super) fn note_place(&mut self, level: &Range<StateNumber>, from: StateNumber) {
        let states = state_number(self.states.len());
        self.place = Frontier { level: level.clone(), from, states, transitions: self.transitions };
    }
}

/// Why a checkpoint is not taken.
enum Refused {
    /// It is no checkpoint.
    Other,
    Unread(FrameError),
    /// It is of another search: what the checkpoint is, and what this search is.
    Differs(String),
}

impl From<FrameError> for Refused {
    fn from(unread: FrameError) -> Refused {
        Refused::Unread(unread)
    }
}

impl Refused {
    fn told(self, path: &Path) -> Diagnostic {
        let place = path.display();
        let another = "save the search again by `--checkpoint FILE`";
        match self {
            Refused::Other => {
                refused(format!("{place} is no checkpoint"), "name a file that `--checkpoint FILE` has written")
            }
            Refused::Unread(FrameError::Truncated) => {
                refused(format!("the checkpoint {place} is not whole: its end is missing"), another)
            }
            Refused::Unread(FrameError::Damaged) => {
                refused(format!("the checkpoint {place} is damaged: it is not what was written"), another)
            }
            Refused::Unread(FrameError::Failed(error)) => {
                refused(format!("the checkpoint {place} cannot be read: {error}"), "name another file")
            }
            Refused::Differs(how) => refused(
                format!("the checkpoint {place} is of another search: {how}"),
                "say what was said when it was saved, or search from the beginning",
            ),
        }
    }
}

/// Whether a checkpoint is of the search that is to go on.
fn compare(theirs: &Value, ours: &Value) -> Result<(), Refused> {
    let differs = |how: String| Err(Refused::Differs(how));
    for (key, what) in [("version", "was made by version"), ("protocol", "is of protocol")] {
        if theirs[key] != ours[key] {
            let name = |value: &Value| value.as_str().unwrap_or_default().to_string();
            return differs(format!("it {what} {}, and this is {}", name(&theirs[key]), name(&ours[key])));
        }
    }
    if theirs["hash"] != ours["hash"] {
        let name = ours["protocol"].as_str().unwrap_or_default();
        return differs(format!("the text or the parameters of protocol {name} have changed since"));
    }
    let none = serde_json::Map::new();
    let options = |of: &Value| of["options"].as_object().unwrap_or(&none).clone();
    for (key, ours) in options(ours) {
        let theirs = options(theirs).get(&key).cloned().unwrap_or_default();
        if theirs != ours {
            return differs(difference(&key, &theirs, &ours));
        }
    }
    for key in ["symmetry", "home_symmetry", "value_symmetry", "liveness"] {
        if theirs[key] != ours[key] {
            return differs(difference(key, &theirs[key], &ours[key]));
        }
    }
    Ok(())
}

/// How an option differs, by the name that the command line has for it.
fn difference(key: &str, theirs: &Value, ours: &Value) -> String {
    let name = key.replace('_', "-");
    let option = |value: &Value| match value {
        Value::Bool(true) => format!("without `--no-{name}`"),
        Value::Bool(false) => format!("with `--no-{name}`"),
        Value::Null => format!("without `--{name}`"),
        Value::String(text) => format!("with `--{name} {text}`"),
        other => format!("with `--{name} {other}`"),
    };
    format!("it was made {}, and this is {}", option(theirs), option(ours))
}
