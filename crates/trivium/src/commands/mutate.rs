//! `trivium mutate`

use super::check::{half_of_memory, progress_bar, system, title};
use crate::arguments::{DEFAULT_SEED, Format, Mutate};
use crate::output::{self, Head, grouped};
use crate::settings::ResultSettings;
use crate::{Failure, failure, library, stop};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;
use trivium_check::{Config, Fate, Report, System, Verdict, explore, judge};
use trivium_diagnostic::Code;
use trivium_lang::mutate::{Mutation, mutant, mutations, probe};
use trivium_protocol::Protocol;

/// A mistake and what became of it; nothing if there was no time.
struct Tried<'m> {
    mutation: &'m Mutation,
    fate: Option<Fate>,
    /// Whether nothing ever comes by the statement that was deleted.
    unreached: bool,
}

/// The protocol, where it is explored, and what it is without a mistake.
struct Original<'p> {
    protocol: &'p Protocol,
    params: Vec<(String, i64)>,
    system: System,
    most_states: u64,
    memory: Option<u64>,
    without: Report,
}

/// Makes mistakes in a protocol, explores what comes of each, and lists those that nothing notices.
pub fn mutate(arguments: &Mutate) -> Result<u8, Failure> {
    let begun = Instant::now();
    let settings = library::settings(&arguments.set.set)?.without_machine()?;
    let protocol = library::protocol_to_check(&arguments.protocol, &settings)?;
    let cancel = stop::flag();
    let memory = half_of_memory().map(|bytes| bytes / u64::from(arguments.jobs.jobs.max(1)));
    let system = system(&arguments.system, &protocol);
    let whole = Config {
        system: system.clone(),
        jobs: arguments.jobs.jobs,
        memory: half_of_memory(),
        cancel: Some(&cancel),
        ..Config::default()
    };
    let without = unmutated(&protocol, &whole, &arguments.protocol)?;
    let most = arguments.max_states.unwrap_or(without.states.saturating_mul(4).saturating_add(1000));
    let subject = Original {
        protocol: &protocol,
        params: protocol.params.iter().map(|param| (param.name.clone(), param.value)).collect(),
        system,
        most_states: most,
        memory,
        without,
    };
    let all = mutations(&protocol.sources)?;
    let chosen = spread(&all, arguments.max_mutants);
    let tried = subject.try_all(&chosen, arguments.jobs.jobs, &cancel);
    let counts = Counts::of(&tried, all.len());
    let head = Head {
        command: "mutate",
        protocols: vec![protocol.name.clone()],
        hashes: vec![library::hash(&protocol)],
        nodes: subject.system.nodes,
        seed: DEFAULT_SEED,
        host_seconds: begun.elapsed().as_secs_f64(),
        settings: ResultSettings::new([&*protocol], &settings)
            .with_all(&subject.system)
            .with("max_mutants", arguments.max_mutants)
            .with("max_states", arguments.max_states),
        ..Head::default()
    };
    let objects = subject.without.objects;
    let result = match arguments.form.format {
        Format::Text => {
            format!("{}\n{}", title(&protocol.name, subject.system.nodes, objects), told(&subject, &tried, &counts))
        }
        Format::Json => output::pretty(&head.with(written(&subject, &tried, &counts))),
    };
    output::write(arguments.form.out.as_ref(), &result)?;
    Ok(if counts.incomplete + counts.untried > 0 { failure::INCOMPLETE } else { 0 })
}

/// What the protocol is without a mistake: it must hold.
fn unmutated(protocol: &Arc<Protocol>, config: &Config, named: &str) -> Result<Report, Failure> {
    let report = explore(protocol, config)?;
    match report.verdict {
        Verdict::Holds => Ok(report),
        Verdict::Violated => Err(Failure::input(
            Code::Search,
            format!("{named} does not hold, even without a mistake: {}", report.property.unwrap_or_default()),
            format!("fix it first; `trivium check {named}` with the same options shows what goes wrong"),
        )),
        Verdict::Incomplete => Err(Failure::new(
            (failure::INCOMPLETE, Code::Search),
            format!("{named} was not explored to its end: {}", report.reason.unwrap_or_default()),
            match config.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
                true => "",
                false => "take fewer nodes, objects or values, or limit what each thread does with `--ops`",
            },
        )),
    }
}

/// So many of the mistakes, spread evenly.
fn spread(all: &[Mutation], most: Option<u32>) -> Vec<&Mutation> {
    let count = most.map_or(all.len(), |most| all.len().min(most as usize));
    (0..count).map(|n| &all[n * all.len() / count]).collect()
}

impl Original<'_> {
    /// Tries mistakes side by side; what comes of them is in their order.
    fn try_all<'m>(&self, chosen: &[&'m Mutation], jobs: u32, cancel: &AtomicBool) -> Vec<Tried<'m>> {
        let bar = progress_bar();
        let next = AtomicUsize::new(0);
        let work = || {
            let mut done = Vec::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(mutation) = chosen.get(at) else { return done };
                bar.set_message(format!("mutant {} of {}", at + 1, chosen.len()));
                bar.tick();
                done.push((at, self.try_one(mutation, cancel)));
            }
        };
        let mut tried: Vec<(usize, Tried)> = std::thread::scope(|scope| {
            let others: Vec<_> = (1..jobs).map(|_| scope.spawn(work)).collect();
            let mut tried = work();
            for other in others {
                tried.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            tried
        });
        bar.finish_and_clear();
        tried.sort_unstable_by_key(|(at, _)| *at);
        tried.into_iter().map(|(_, tried)| tried).collect()
    }

    fn try_one<'m>(&self, mutation: &'m Mutation, cancel: &AtomicBool) -> Tried<'m> {
        let stopped = || cancel.load(Ordering::Relaxed);
        if stopped() {
            return Tried { mutation, fate: None, unreached: false };
        }
        let sources = &self.protocol.sources;
        let config = Config {
            system: self.system.clone(),
            max_states: Some(self.most_states),
            memory: self.memory,
            cancel: Some(cancel),
            ..Config::default()
        };
        let judged = |mutant| judge(&Arc::new(mutant), &config, &self.without);
        let fate = match mutant(sources, mutation, &self.params) {
            Ok(mutant) => judged(mutant),
            Err(wrong) => Fate::Rejected(wrong.list.first().map_or(String::new(), |first| first.message.clone())),
        };
        let probed = match fate {
            Fate::Survived { .. } => probe(sources, mutation, &self.params),
            _ => None,
        };
        let unreached = probed.is_some_and(|probed| matches!(judged(probed), Fate::Survived { .. }));
        // What the wish to stop has cut off says nothing.
        let fate = Some(fate).filter(|fate| !matches!(fate, Fate::Incomplete(_)) || !stopped());
        Tried { mutation, fate, unreached }
    }

    /// Where a mistake was made.
    fn place(&self, mutation: &Mutation) -> String {
        let place = self.protocol.sources.place(mutation.span);
        format!("{}:{}", place.file, place.line)
    }

    /// What a mistake that nothing notices does.
    fn effect(&self, tried: &Tried) -> Effect {
        match &tried.fate {
            Some(Fate::Survived { .. }) if tried.unreached => Effect::Unreached,
            Some(Fate::Survived { same: true, .. }) => Effect::Nothing,
            Some(Fate::Survived { states, transitions, .. }) => Effect::Others(*states, *transitions),
            _ => Effect::Nothing,
        }
    }
}

/// What a mistake does that nothing notices.
enum Effect {
    /// Nothing comes by the place.
    Unreached,
    /// As many states and transitions as without it.
    Nothing,
    /// So many states and transitions.
    Others(u64, u64),
}

/// How many mistakes there are of each fate.
#[derive(Default)]
struct Counts {
    /// Mistakes that can be made.
    all: usize,
    tried: usize,
    killed: usize,
    rejected: usize,
    incomplete: usize,
    survived: usize,
    /// Survivors that have only lost a check.
    checks: usize,
    untried: usize,
    killed_by: BTreeMap<String, u64>,
}

impl Counts {
    fn of(tried: &[Tried], all: usize) -> Counts {
        let mut counts = Counts { all, tried: tried.len(), ..Counts::default() };
        for one in tried {
            *match &one.fate {
                None => &mut counts.untried,
                Some(Fate::Rejected(_)) => &mut counts.rejected,
                Some(Fate::Killed(property)) => {
                    *counts.killed_by.entry(property.clone()).or_default() += 1;
                    &mut counts.killed
                }
                Some(Fate::Incomplete(_)) => &mut counts.incomplete,
                Some(Fate::Survived { .. }) if one.mutation.only_checks => &mut counts.checks,
                Some(Fate::Survived { .. }) => &mut counts.survived,
            } += 1;
        }
        counts
    }

    /// By what mistakes were noticed, the most frequent first.
    fn by_frequency(&self) -> Vec<(&str, u64)> {
        let mut all: Vec<(&str, u64)> = self.killed_by.iter().map(|(name, count)| (name.as_str(), *count)).collect();
        all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        all
    }
}

/// The survivors that have lost more than a check, and those that were not explored to their ends.
fn survivors<'t, 'm>(tried: &'t [Tried<'m>]) -> impl Iterator<Item = &'t Tried<'m>> {
    tried.iter().filter(|one| matches!(one.fate, Some(Fate::Survived { .. })) && !one.mutation.only_checks)
}

fn unfinished<'t>(tried: &'t [Tried]) -> impl Iterator<Item = (&'t Mutation, &'t str)> {
    tried.iter().filter_map(|one| match &one.fate {
        Some(Fate::Incomplete(why)) => Some((one.mutation, why.as_str())),
        _ => None,
    })
}

fn told(subject: &Original, tried: &[Tried], counts: &Counts) -> String {
    let mut out = format!(
        "{} mutants: {} killed, {} rejected, {} incomplete, {} survived",
        counts.tried, counts.killed, counts.rejected, counts.incomplete, counts.survived
    );
    if counts.checks > 0 {
        out += &format!(", {} lost only a check", counts.checks);
    }
    if counts.untried > 0 {
        out += &format!(", {} not tried: stopped", counts.untried);
    }
    out.push('\n');
    if counts.tried < counts.all {
        out += &format!("of {} that there are\n", counts.all);
    }
    let by: Vec<String> = counts.by_frequency().iter().map(|(name, count)| format!("{name} {count}")).collect();
    if !by.is_empty() {
        out += &format!("killed by     {}\n", by.join(", "));
    }
    let line = |mutation: &Mutation, effect: &str| {
        format!("  {}: {}\n      {effect}\n", subject.place(mutation), mutation.describe(&subject.protocol.sources))
    };
    if counts.survived > 0 {
        out += "\nit still holds\n";
    }
    for one in survivors(tried) {
        let effect = match subject.effect(one) {
            Effect::Unreached => "nothing ever comes by it".to_string(),
            Effect::Nothing => "changes nothing: as many states and transitions".to_string(),
            Effect::Others(states, transitions) => {
                format!("{} states, {} transitions", grouped(states), grouped(transitions))
            }
        };
        out += &line(one.mutation, &effect);
    }
    if counts.incomplete > 0 {
        out += "\nnot explored to the end\n";
    }
    for (mutation, why) in unfinished(tried) {
        out += &line(mutation, why);
    }
    let before = &subject.without;
    out + &format!(
        "\nwithout a mistake: {} states, {} transitions\n",
        grouped(before.states),
        grouped(before.transitions)
    )
}

fn written(subject: &Original, tried: &[Tried], counts: &Counts) -> Value {
    let change = |mutation: &Mutation| {
        json!({
            "at": subject.place(mutation),
            "change": mutation.describe(&subject.protocol.sources),
        })
    };
    let survivors: Vec<Value> = survivors(tried)
        .map(|one| {
            let mut value = change(one.mutation);
            value["effect"] = match subject.effect(one) {
                Effect::Unreached => "unreached".into(),
                Effect::Nothing => "none".into(),
                Effect::Others(..) => "states".into(),
            };
            if let Some(Fate::Survived { states, transitions, .. }) = one.fate {
                value["states"] = states.into();
                value["transitions"] = transitions.into();
            }
            value
        })
        .collect();
    let with = |key: &str, mutation: &Mutation, why: &str| {
        let mut value = change(mutation);
        value[key] = why.into();
        value
    };
    let unfinished: Vec<Value> = unfinished(tried).map(|(mutation, why)| with("reason", mutation, why)).collect();
    let rejected: Vec<Value> = tried
        .iter()
        .filter_map(|one| match &one.fate {
            Some(Fate::Rejected(why)) => Some(with("reason", one.mutation, why)),
            _ => None,
        })
        .collect();
    let checks: Vec<Value> = tried
        .iter()
        .filter(|one| matches!(one.fate, Some(Fate::Survived { .. })) && one.mutation.only_checks)
        .map(|one| change(one.mutation))
        .collect();
    json!({
        "verdict": if counts.incomplete + counts.untried > 0 { "incomplete" } else { "complete" },
        "states": subject.without.states,
        "transitions": subject.without.transitions,
        "possible": counts.all,
        "mutants": counts.tried,
        "killed": counts.killed,
        "rejected": counts.rejected,
        "incomplete": counts.incomplete,
        "survived": counts.survived,
        "checks": counts.checks,
        "untried": counts.untried,
        "killed_by": counts.killed_by,
        "survivors": survivors,
        "only_checks": checks,
        "unfinished": unfinished,
        "refused": rejected,
    })
}
