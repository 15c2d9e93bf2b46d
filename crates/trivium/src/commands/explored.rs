//! What was explored of a protocol: the search that was asked for, and after it the scenarios of the file.

use serde_json::{Value, json};
use std::sync::Arc;
use trivium_check::{Config, Method, Report, System, Verdict, explore};
use trivium_diagnostic::Diagnostic;
use trivium_protocol::Protocol;

/// A search and the scenarios after it.
pub(super) struct Explored {
    pub protocol: Arc<Protocol>,
    pub system: System,
    pub report: Report,
    pub scenarios: Vec<ScenarioRun>,
}

/// A scenario of the file, which is run after the most general client.
pub(super) struct ScenarioRun {
    name: String,
    system: System,
    /// `None`: it was not run.
    report: Option<Report>,
}

impl Explored {
    /// Adds the scenarios of the file to a search: they are run if that is wanted and the search has found no violation.
    ///
    /// # Errors
    /// As [`explore`].
    pub fn of(
        protocol: &Arc<Protocol>,
        config: &Config,
        report: Report,
        scenarios: bool,
    ) -> Result<Explored, Diagnostic> {
        let wanted = scenarios && report.verdict != Verdict::Violated;
        let scenarios = run_scenarios(protocol, config, wanted)?;
        Ok(Explored { protocol: protocol.clone(), system: config.system.clone(), report, scenarios })
    }

    /// The first that is violated, and the system that it was explored in.
    pub fn violated(&self) -> Option<(&Report, &System)> {
        let own = (self.report.verdict == Verdict::Violated).then_some((&self.report, &self.system));
        own.or_else(|| self.violated_scenario())
    }

    /// The same of the scenarios alone.
    pub fn violated_scenario(&self) -> Option<(&Report, &System)> {
        self.scenarios.iter().find_map(ScenarioRun::violated)
    }

    /// All verdicts.
    pub fn verdicts(&self) -> impl Iterator<Item = Verdict> {
        let scenarios = self.scenarios.iter().filter_map(|scenario| Some(scenario.report.as_ref()?.verdict));
        scenarios.chain([self.report.verdict])
    }
}

/// Runs the scenarios of the file, if that is wanted, up to the first that is violated. Where a scenario was asked for, there
/// are no others.
fn run_scenarios(protocol: &Arc<Protocol>, config: &Config, wanted: bool) -> Result<Vec<ScenarioRun>, Diagnostic> {
    let mut ran: Vec<ScenarioRun> = Vec::new();
    if config.system.scenario.is_some() {
        return Ok(ran);
    }
    for scenario in &protocol.scenarios {
        // One that names more nodes than were asked for runs on so many.
        let nodes = config.system.nodes.max(scenario.nodes());
        let system = System { nodes, ..config.system.of_scenario(scenario) };
        let over = ran.iter().any(|before| before.violated().is_some());
        let report = match wanted && !over {
            true => {
                // They are small: each is explored whole.
                let (method, system) = (Method::Exact, system.clone());
                let config = Config { system, method, checkpoint: None, resume: None, group: None, ..config.clone() };
                Some(explore(protocol, &config)?)
            }
            false => None,
        };
        ran.push(ScenarioRun { name: scenario.name.clone(), system, report });
    }
    Ok(ran)
}

impl ScenarioRun {
    fn violated(&self) -> Option<(&Report, &System)> {
        let report = self.report.as_ref().filter(|report| report.verdict == Verdict::Violated)?;
        Some((report, &self.system))
    }

    /// What came of it, in a line.
    pub fn line(&self) -> String {
        let result = self.report.as_ref().map_or_else(|| "not run".to_string(), one_line);
        format!("scenario {}: {result}", self.name)
    }

    /// The same for programs.
    pub fn json(&self) -> Value {
        let report = self.report.as_ref();
        json!({
            "name": self.name,
            "verdict": report.map(|report| report.verdict),
            "property": report.and_then(|report| report.property.as_ref()),
            "states": report.map(|report| report.states),
        })
    }
}

/// What was found, in a few words.
pub(super) fn one_line(report: &Report) -> String {
    let why = match (&report.property, &report.reason) {
        (Some(why), _) | (None, Some(why)) => format!(": {why}"),
        (None, None) => String::new(),
    };
    format!("{}{why}, {} states", report.verdict, report.states)
}
