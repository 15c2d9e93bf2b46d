//! `trivium replay`

use super::check::draw;
use super::forced;
use crate::arguments::{DEFAULT_SEED, Format, Replay};
use crate::output::{self, Head};
use crate::settings::{ResultSettings, flat};
use crate::{Failure, failure, library};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use trivium_check::chart::{self, Recording, Story};
use trivium_diagnostic::Code;
use trivium_protocol::source::printable;
use trivium_protocol::{Protocol, ValueFrom};

const HELP: &str = "give the result of a violated `trivium check P --format json`";

/// Executes a recorded counterexample and compares every state with the recorded one.
pub fn replay(arguments: &Replay) -> Result<u8, Failure> {
    let begun = Instant::now();
    let recorded = read(&arguments.file)?;
    let settings = library::settings(&arguments.set.set)?;
    let settings = if arguments.machine.is_some() { settings } else { settings.without_machine()? };
    if let Some((key, value)) = settings.protocol.first() {
        let what = format!("`--set protocol.{key}={value}` has no effect: a recording keeps its parameters");
        return Err(Failure::input(Code::Replay, what, "leave it out, or check the protocol again with it"));
    }
    let protocol = protocol(arguments, &recorded)?;
    let mut story = execute(&arguments.file, &protocol, &recorded.recording)?;
    let machine = arguments.machine.as_ref().map(|name| library::machine(name, &settings)).transpose()?;
    let timed = match &machine {
        Some(loaded) => Some(forced::timed(&protocol, &loaded.machine, &recorded.recording, &story)?),
        None => None,
    };
    let of = ResultSettings::new([&*protocol], &settings).with_all(&recorded.recording.settings);
    story.settings = flat(&of.value(recorded.recording.settings.nodes, DEFAULT_SEED));
    let drawn = draw(Some(&story), arguments.svg.as_ref(), arguments.html.as_ref());
    let head = Head {
        command: "replay",
        protocols: vec![protocol.name.clone()],
        machine: machine.as_ref().map(|loaded| loaded.machine.name.clone()),
        hashes: [library::hash(&protocol)].into_iter().chain(machine.as_ref().map(library::machine_hash)).collect(),
        nodes: recorded.recording.settings.nodes,
        seed: DEFAULT_SEED,
        host_seconds: begun.elapsed().as_secs_f64(),
        settings: of,
        ..Head::default()
    };
    let result = match arguments.form.format {
        Format::Text => printable(&text(&story)).into_owned() + &timed.map_or(String::new(), |timed| timed.text()),
        Format::Json => {
            let body = json!({
                "verdict": "violated",
                "property": story.property,
                "reason": story.reason,
                "steps": story.moments.len(),
                "states_compared": story.frames.len(),
                "moments": story.moments,
                "messages": story.arrows,
                "wait_cycle": story.waiting,
                "growth": story.growth,
                "parameters": story.parameters,
                "timing": timed,
            });
            output::pretty(&head.with(body))
        }
    };
    output::write(arguments.form.out.as_ref(), &result)?;
    drawn?;
    Ok(failure::WRONG)
}

fn text(story: &Story) -> String {
    let property = story.property.as_deref().unwrap_or("nothing");
    format!(
        "{}: violated again: {property}\n\n{}\n{} steps, every state as it was recorded\n",
        story.protocol,
        chart::text(story, chart::WIDTH),
        story.moments.len()
    )
}

/// What a file holds.
struct Recorded {
    named: String,
    params: Vec<(String, i64)>,
    /// Where the values of parameters come from, where the recording says it.
    from: Vec<(String, ValueFrom)>,
    hash: String,
    recording: Recording,
}

fn read(path: &Path) -> Result<Recorded, Failure> {
    let wrong = |what: &str| Failure::at(Code::Replay, what, path.display(), HELP);
    let bytes = library::read(path, "recording", HELP)?;
    let file: Value = serde_json::from_slice(&bytes).map_err(|error| {
        let place = format!("{}:{}:{}", path.display(), error.line(), error.column());
        Failure::at(Code::Replay, "the recording is not JSON", place, HELP)
    })?;
    let Some(replay) = file.get("replay").and_then(Value::as_object) else {
        return Err(match file.get("verdict").and_then(Value::as_str) {
            Some(verdict @ ("holds" | "incomplete")) => {
                wrong(&format!("there is no counterexample: the verdict is `{verdict}`"))
            }
            _ => wrong("the file has no counterexample to replay"),
        });
    };
    let mut rest: Map<String, Value> = replay.clone();
    let named = rest.remove("protocol").unwrap_or_default();
    let recording: Recording = serde_json::from_value(Value::Object(rest))
        .map_err(|error| wrong(&format!("the recording is damaged: {error}")))?;
    let string = |key: &str| named.get(key).and_then(Value::as_str).map(str::to_string);
    let params = named.get("params").and_then(Value::as_object).and_then(|params| {
        params.iter().map(|(key, value)| Some((key.clone(), value.as_i64()?))).collect::<Option<Vec<_>>>()
    });
    let from = named.get("from").and_then(Value::as_object).into_iter().flatten();
    let from = from.filter_map(|(key, value)| Some((key.clone(), ValueFrom::named(value.as_str()?)?))).collect();
    match (string("named"), string("hash"), params) {
        (Some(named), Some(hash), Some(params)) => Ok(Recorded { named, params, from, hash, recording }),
        _ => Err(wrong("the recording is damaged: it does not name its protocol")),
    }
}

/// The protocol that was checked, and no other.
fn protocol(arguments: &Replay, recorded: &Recorded) -> Result<Arc<Protocol>, Failure> {
    let name = arguments.protocol.as_ref().unwrap_or(&recorded.named);
    let named = |failure: Failure| failure.noting(&format!("{} was recorded with it", arguments.file.display()));
    let mut protocol = Arc::unwrap_or_clone(library::protocol(name, &recorded.params).map_err(named)?);
    for param in &mut protocol.params {
        let known = recorded.from.iter().find(|(name, _)| *name == param.name);
        param.from = known.map_or(param.from, |(_, from)| *from);
    }
    if library::hash(&protocol).1 != recorded.hash {
        return Err(Failure::at(
            Code::Replay,
            format!("`{name}` is not the protocol that was recorded: its text or a parameter has changed"),
            arguments.file.display(),
            "check it again; or name the file as it was with `--protocol`",
        ));
    }
    Ok(Arc::new(protocol))
}

fn execute(path: &Path, protocol: &Arc<Protocol>, recording: &Recording) -> Result<Story, Failure> {
    let refused = |what: String| {
        Failure::at(
            Code::Replay,
            what,
            path.display(),
            "the recording was changed, or made by another version: check again",
        )
    };
    let executed = chart::replay(protocol, &recording.settings, &recording.events, &recording.told)
        .map_err(|error| error.at(path.display().to_string()))?;
    let mut story = executed.map_err(|step| refused(format!("step {step} of the recording cannot happen")))?;
    recording.compare(&story).map_err(|mismatch| refused(mismatch.to_string()))?;
    recording.conclude(&mut story);
    Ok(story)
}
