//! What a study is: its runs, which published rows come from which of them, and its pictures. Read from `study.toml`.

use super::class::Class;
use super::live::LivePlan;
use super::origin::{Measure, MissConfig};
use super::place::Place;
use crate::Failure;
use crate::library::{self, LoadedMachine, Settings};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use trivium_diagnostic::Code;

/// `study.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// What it is, in one line.
    pub about: String,
    /// The file of published rows, beside this one.
    pub published: String,
    /// How far ours may be from published, in percent, if a row does not say.
    pub tolerance: f64,
    /// How runs become short for a first look.
    pub quick: Quick,
    /// Whether rows are summed up by the source's tables, too.
    #[serde(default)]
    pub by_table: bool,
    /// Parts of it, by name: first and last rows of what belongs to each.
    #[serde(default)]
    pub parts: BTreeMap<String, Vec<[String; 2]>>,
    /// What was decided from the source before any result was seen.
    #[serde(default)]
    pub declared: Vec<Declared>,
    /// The runs, in families.
    #[serde(default)]
    pub runs: Vec<Family>,
    /// Tables of single misses.
    #[serde(default)]
    pub tables: Vec<MissTable>,
    /// Rows, singly or by ranges.
    #[serde(default)]
    pub rows: Vec<RowPlan>,
    /// Claims that the published file does not have as rows: derived figures and acceptance tests.
    #[serde(default)]
    pub derived: Vec<Derived>,
    /// Headlines, and what should not change them.
    #[serde(default)]
    pub sensitivity: Vec<Sensitivity>,
    /// The pictures.
    #[serde(default)]
    pub pictures: Vec<Picture>,
    /// What is run for real, if somebody asks for it.
    pub live: Option<LivePlan>,
    /// Files beside this one with more of it, as of each program one. Each is a part of the study, by its name.
    #[serde(default)]
    pub files: Vec<String>,
    /// Its files, first `study.toml`.
    #[serde(skip)]
    pub texts: Vec<Text>,
}

/// What a file beside `study.toml` may add.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct More {
    #[serde(default)]
    declared: Vec<Declared>,
    #[serde(default)]
    runs: Vec<Family>,
    #[serde(default)]
    rows: Vec<RowPlan>,
    #[serde(default)]
    derived: Vec<Derived>,
    #[serde(default)]
    sensitivity: Vec<Sensitivity>,
    #[serde(default)]
    pictures: Vec<Picture>,
}

/// A file of a study.
#[derive(Debug)]
pub struct Text {
    /// Where it is.
    pub path: PathBuf,
    /// What stands in it.
    text: String,
    /// How many `[[rows]]` the files before it have.
    rows_before: usize,
}

impl Text {
    fn read(path: PathBuf, rows_before: usize) -> Result<Text, Failure> {
        let text = library::read_text(&path, "study", "give the name of a folder in studies/, or the path of one")?;
        Ok(Text { path, text, rows_before })
    }

    fn parse<T: serde::de::DeserializeOwned>(&self) -> Result<T, Failure> {
        toml::from_str(&self.text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            let line = self.text[..at].matches('\n').count() + 1;
            let rows = rows_at(&self.text, at).map_or(String::new(), |ids| format!(" (of the rows `{ids}`)"));
            let what = format!("{}{rows}", error.message());
            Failure::at(Code::Study, what, format!("{}:{line}", self.path.display()), "see studies/tempest/study.toml")
        })
    }
}

/// Runs for a first look.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quick {
    /// New values of program arguments, by flag.
    pub args: BTreeMap<String, String>,
}

/// A choice of the configuration.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Declared {
    /// What is chosen.
    pub what: String,
    /// How.
    pub is: String,
    /// Why: what the source says, or that it is silent.
    pub why: String,
    /// A figure of ours that shows it.
    pub ours: Option<Measure>,
    /// The unit of the figure.
    #[serde(default)]
    pub unit: String,
    /// The part of the study that it belongs to; all if it is not said.
    pub part: Option<String>,
}

/// Runs that differ in machine, block, latency, number of nodes and a number in the arguments: all combinations.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Family {
    /// Name of each: `{machine}`, `{block}`, `{latency}`, `{nodes}` and `{x}` are filled in.
    pub name: String,
    /// The program.
    pub program: String,
    /// Flags of the C compiler, if it needs any.
    pub cc: Option<String>,
    /// The protocols.
    pub protocols: Vec<String>,
    /// The machines.
    pub machines: Vec<String>,
    /// Number of nodes.
    #[serde(deserialize_with = "one_or_more")]
    pub nodes: Vec<u32>,
    /// Bytes of a block.
    pub blocks: Vec<u32>,
    /// Numbers that stand for `{x}` in the arguments and in `set`; none if there is no such place.
    #[serde(default)]
    pub x: Vec<u64>,
    /// Network latencies in cycles; the machines' own if there are none.
    #[serde(default)]
    pub latencies: Vec<u64>,
    /// The program's arguments.
    pub args: String,
    /// Keys of the machine that are otherwise here, and as `protocol.NAME` parameters of the protocols; `{x}` is filled in.
    #[serde(default)]
    pub set: BTreeMap<String, String>,
    /// Another seed than the study's.
    pub seed: Option<u64>,
    /// Another number of host threads than the study's.
    pub jobs: Option<u32>,
    /// They take so long that they are carried out only if somebody asks for them.
    #[serde(default)]
    pub long: bool,
    /// The part of the study that they belong to; all if it is not said.
    pub part: Option<String>,
}

/// Rows about the steps of single misses.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MissTable {
    /// First and last row.
    pub ids: [String; 2],
    /// What a row's configuration means.
    pub configs: BTreeMap<String, MissConfig>,
    /// Bytes of a block.
    pub block: u32,
    /// How far ours may be from published, in percent.
    pub tolerance: f64,
    /// Or how far in the row's unit, where that is more.
    #[serde(default)]
    pub within: f64,
    /// Which steps make a row, by its quantity, in the order of the table: `LEG: STEP`. Legs are `out`, `there`, `home`, `back`, `in`.
    pub steps: Vec<(String, Vec<String>)>,
}

/// Published rows, and where ours come from.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowPlan {
    /// One id, or the first and the last.
    pub ids: Vec<String>,
    /// Where ours come from; missing if nowhere yet.
    pub ours: Option<Measure>,
    /// What kind of figure ours is, if not what its origin says.
    pub class: Option<Class>,
    /// How far ours may be from published, in percent.
    pub tolerance: Option<f64>,
    /// Why that is more than the study's.
    pub why: Option<String>,
    /// Published is a bound.
    #[serde(default)]
    pub bound: Side,
    /// Why there is no figure of ours.
    pub reason: Option<String>,
    /// There is nothing to simulate here: the reason says what the row is.
    #[serde(default)]
    pub context: bool,
    /// The row that has this figure already.
    pub under: Option<Under>,
    /// An experiment that removes what makes ours differ.
    pub explained: Option<Explained>,
    /// Experiments that were made because ours is off.
    #[serde(default)]
    pub tried: Vec<Experiment>,
}

/// A row is another one once more.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Under {
    /// The row that counts.
    pub id: String,
    /// How this one belongs to it.
    #[serde(rename = "as")]
    pub relation: Relation,
}

/// How a row that does not count belongs to one that does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Relation {
    /// The same figure, printed twice.
    Duplicate,
    /// The same in another unit or form.
    Restatement,
    /// The same of another configuration than the declared one.
    Alternative,
}

/// Why ours differs, as an experiment: without the cause ours is within the row's tolerance.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explained {
    /// The cause, and how it is removed.
    pub by: String,
    /// The figure without it.
    pub experiment: Measure,
    /// What ours is with it.
    pub expected: f64,
    /// How far ours may be from that, in percent; beyond, the row is off.
    pub limit: f64,
}

/// An experiment, and what it wins.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// What was changed.
    pub what: String,
    /// The figure with it.
    pub ours: Measure,
}

/// A claim that is not in the published file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Derived {
    /// Its id, by which rows speak of it.
    pub id: String,
    /// What it is about.
    pub config: String,
    /// What it is.
    pub quantity: String,
    /// Its unit.
    pub unit: String,
    /// What it should be.
    pub value: f64,
    /// The part of the study that it belongs to; all if it is not said.
    pub part: Option<String>,
}

/// A headline, and changes that should not matter.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sensitivity {
    /// The headline.
    pub what: String,
    /// Its unit.
    pub unit: String,
    /// Its figure as declared.
    pub ours: Measure,
    /// Its figure after each change.
    pub variants: Vec<Experiment>,
    /// The part of the study that it belongs to; all if it is not said.
    pub part: Option<String>,
}

/// On which sides of the published figure ours may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// On both, within the tolerance.
    #[default]
    Both,
    /// Above: published is a least value.
    AtLeast,
    /// Below: published is a greatest value.
    AtMost,
}

/// A number, or a list of them.
fn one_or_more<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<u32>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        One(u32),
        More(Vec<u32>),
    }
    Ok(match Written::deserialize(deserializer)? {
        Written::One(number) => vec![number],
        Written::More(numbers) => numbers,
    })
}

/// A picture.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Picture {
    /// Its file.
    pub file: String,
    /// What stands above it.
    pub title: String,
    /// How it is drawn.
    pub kind: PictureKind,
    /// What stands at the upright axis.
    pub unit: String,
    /// What stands below, for lines.
    #[serde(default)]
    pub below: String,
    /// The run whose time is 100 percent (bars) or 1 (lines); for `speedup` the run that is divided by the others; nothing for `rates`,
    /// `seconds`, `printed` and `rows`.
    #[serde(default)]
    pub base: String,
    /// Bars: label and run. Lines: name of the line, then run and place, one after the other.
    #[serde(default)]
    pub bars: Vec<(String, String)>,
    /// Lines: name, template of the run's name with `{x}`, places.
    #[serde(default)]
    pub lines: Vec<Line>,
    /// Histograms of each of `bars`: the texts after which its program prints how often each span of time was met.
    #[serde(default)]
    pub after: Vec<String>,
    /// The ends of these spans, as they stand below.
    #[serde(default)]
    pub edges: Vec<String>,
    /// The part of the study that it belongs to; all if it is not said.
    pub part: Option<String>,
}

/// A line of a picture.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// What it is called.
    pub name: String,
    /// The name of its runs, with `{x}`; nothing for `rows`.
    #[serde(default)]
    pub run: String,
    /// Of `rows`, one for each of its places.
    #[serde(default)]
    pub ids: Vec<String>,
    /// The values of `{x}`.
    pub x: Vec<u64>,
    /// The run whose time is 1, if not the picture's.
    pub base: Option<String>,
    /// Of `rates`, the work of each of its runs, or of all.
    #[serde(default)]
    pub work: Vec<f64>,
    /// Of `printed`, the text after which the number stands.
    pub after: Option<String>,
    /// Of `seconds`, a flag of the runs' programs by whose value their times are divided: iterations.
    pub each: Option<String>,
    /// The name of an earlier line that it goes with: it has the same colour, and is dashed.
    pub like: Option<String>,
}

/// How a picture is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PictureKind {
    /// Bars of the parts of a node's time, in percent of the base.
    Time,
    /// Bars of the base's time divided by each run's.
    Speedup,
    /// Lines of each run's time divided by the base's.
    Lines,
    /// Lines of each run's work divided by its time in microseconds.
    Rates,
    /// Lines of each run's time in seconds.
    Seconds,
    /// Lines of the number that each run's program prints after a text.
    Printed,
    /// Lines of figures of ours, and dashed ones of the published figures beside them.
    Rows,
    /// How often something took how long, from what runs print.
    Histogram,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunPlan {
    /// Its name.
    pub name: String,
    /// The program.
    pub program: String,
    /// Flags of the C compiler, if it needs any.
    pub cc: Option<String>,
    /// The protocols.
    pub protocols: Vec<String>,
    /// The machine.
    pub machine: String,
    /// Keys of the machine that are otherwise.
    pub set: BTreeMap<String, String>,
    /// Parameters of the protocols that are otherwise.
    pub parameters: Vec<(String, i64)>,
    /// Whether it is carried out only if somebody asks for long runs.
    pub is_long: bool,
    /// Another seed than the study's.
    pub seed: Option<u64>,
    /// Another number of host threads than the study's.
    pub jobs: Option<u32>,
    /// Nodes.
    pub nodes: u32,
    /// Bytes of a block.
    pub block: u32,
    /// Arguments.
    pub args: Vec<String>,
    /// Arguments as the study declares them, before `--quick` makes the run shorter.
    pub declared: Vec<String>,
}

impl RunPlan {
    /// Its machine as it is loaded: with the keys that are otherwise here.
    ///
    /// # Errors
    /// There is no such machine, or a key is wrong.
    pub fn machine(&self) -> Result<LoadedMachine, Failure> {
        let settings = Settings { machine: self.set.clone().into_iter().collect(), ..Settings::default() };
        library::machine(&self.machine, &settings)
    }
}

impl Plan {
    /// Reads a study's description.
    ///
    /// # Errors
    /// It cannot be read, or is not one.
    pub fn load(place: &Place) -> Result<Plan, Failure> {
        let folder = &place.folder;
        let first = Text::read(folder.join("study.toml"), 0)?;
        let mut plan: Plan = first.parse()?;
        if let Some(live) = &mut plan.live {
            live.root.clone_from(&place.root);
        }
        plan.texts.push(first);
        for name in plan.files.clone() {
            let text = Text::read(folder.join(&name), plan.rows.len())?;
            plan.add(name.trim_end_matches(".toml"), text.parse()?);
            plan.texts.push(text);
        }
        const RULES: &str = "docs/studies.md has the rules of a study and what its file says";
        for (at, row) in plan.rows.iter().enumerate() {
            let wrong =
                |what| Failure::at(Code::Study, format!("row {}: {what}", row.ids.join(" to ")), plan.place(at), RULES);
            row.check(plan.tolerance).map_err(wrong)?;
            row.measures().try_for_each(Measure::check).map_err(wrong)?;
        }
        plan.check().map_err(|what| Failure::at(Code::Study, what, plan.path().display(), RULES))?;
        Ok(plan)
    }

    /// Adds what stands in another file, as a part of the study.
    fn add(&mut self, part: &str, mut more: More) {
        let derived: BTreeSet<&String> = more.derived.iter().map(|derived| &derived.id).collect();
        let published = more.rows.iter().filter(|row| !row.ids.iter().any(|id| derived.contains(id)));
        let ranges = published.filter_map(|row| Some([row.ids.first()?.clone(), row.ids.last()?.clone()]));
        self.parts.insert(part.to_string(), ranges.collect());
        let declared = more.declared.iter_mut().map(|one| &mut one.part);
        let runs = more.runs.iter_mut().map(|one| &mut one.part);
        let derived = more.derived.iter_mut().map(|one| &mut one.part);
        let sensitivity = more.sensitivity.iter_mut().map(|one| &mut one.part);
        let pictures = more.pictures.iter_mut().map(|one| &mut one.part);
        let all = declared.chain(runs).chain(derived).chain(sensitivity).chain(pictures);
        all.for_each(|of| *of = Some(part.to_string()));
        self.declared.extend(more.declared);
        self.runs.extend(more.runs);
        self.rows.extend(more.rows);
        self.derived.extend(more.derived);
        self.sensitivity.extend(more.sensitivity);
        self.pictures.extend(more.pictures);
    }

    /// `study.toml`.
    pub fn path(&self) -> &Path {
        self.texts.first().map_or(Path::new("study.toml"), |text| &text.path)
    }

    /// Where `[[rows]]` with a number stands: file and line.
    pub fn place(&self, row: usize) -> String {
        let Some(Text { path, text, rows_before }) = self.texts.iter().rfind(|text| text.rows_before <= row) else {
            return self.path().display().to_string();
        };
        let mut heads = (1..).zip(text.lines()).filter(|(_, line)| line.trim_start().starts_with("[[rows]]"));
        heads
            .nth(row - rows_before)
            .map_or(path.display().to_string(), |(line, _)| format!("{}:{line}", path.display()))
    }

    /// The rows that are made of each run, by its name.
    pub fn users(&self) -> BTreeMap<String, Vec<String>> {
        let mut users: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for row in &self.rows {
            for run in row.ours.iter().flat_map(Measure::runs) {
                let of_run = users.entry(run).or_default();
                of_run.extend(row.ids.iter().filter(|id| !of_run.contains(*id)).cloned().collect::<Vec<_>>());
            }
        }
        users
    }

    /// What the types alone cannot say.
    fn check(&self) -> Result<(), String> {
        let tolerances = self.tables.iter().flat_map(|table| [table.tolerance, table.within]).chain([self.tolerance]);
        if let Some(wrong) = tolerances.into_iter().find(|tolerance| !is_tolerance(*tolerance)) {
            return Err(format!("a tolerance is {wrong}, which is not a number from 0"));
        }
        let headlines = self.sensitivity.iter().flat_map(|headline| {
            [&headline.ours].into_iter().chain(headline.variants.iter().map(|variant| &variant.ours))
        });
        let mut elsewhere = headlines.chain(self.declared.iter().filter_map(|declared| declared.ours.as_ref()));
        elsewhere
            .try_for_each(Measure::check)
            .map_err(|what| format!("a figure of `[[sensitivity]]` or `[[declared]]`: {what}"))?;
        let mut names = BTreeSet::new();
        for run in self.runs.iter().flat_map(Family::runs) {
            if run.name.contains('{') {
                return Err(format!(
                    "run `{}`: what stands in braces is {{machine}}, {{block}}, {{latency}}, {{nodes}} or {{x}}",
                    run.name
                ));
            }
            if !names.insert(run.name.clone()) {
                return Err(format!("two runs have the name `{}`", run.name));
            }
        }
        if let Some(family) =
            self.runs.iter().find(|f| !f.latencies.is_empty() && f.set.contains_key("network.latency"))
        {
            return Err(format!("run `{}` has `latencies` and sets network.latency, too", family.name));
        }
        let settings = self.runs.iter().flat_map(|family| &family.set);
        let is_number = |value: &String| at_place(value, 0).parse::<i64>().is_ok();
        if let Some((key, value)) =
            settings.into_iter().find(|(key, value)| key.starts_with(PARAMETER) && !is_number(value))
        {
            return Err(format!("`{key}` is set to `{value}`, and a parameter of a protocol is a whole number"));
        }
        let unread = |line: &&Line| line.after.is_none();
        let printed = self.pictures.iter().filter(|picture| picture.kind == PictureKind::Printed);
        if let Some(line) = printed.flat_map(|picture| &picture.lines).find(unread) {
            return Err(format!(
                "line `{}` of a picture of numbers that are printed does not say after which text",
                line.name
            ));
        }
        let given = |flag: &&String| !self.runs.iter().any(|f| f.args.split_whitespace().any(|arg| arg == *flag));
        match self.quick.args.keys().find(given).filter(|_| !self.runs.is_empty()) {
            Some(flag) => Err(format!("[quick] has a value for `{flag}`, which no run is given")),
            None => Ok(()),
        }
    }

    /// All runs, in order, as they are written or short.
    pub fn all_runs(&self, quick: bool) -> Vec<RunPlan> {
        let mut runs: Vec<RunPlan> = self.runs.iter().flat_map(Family::runs).collect();
        if quick {
            for run in &mut runs {
                for (flag, value) in &self.quick.args {
                    if let Some(at) = run.args.iter().position(|arg| arg == flag)
                        && let Some(old) = run.args.get_mut(at + 1)
                    {
                        old.clone_from(value);
                    }
                }
            }
        }
        runs
    }
}

impl RowPlan {
    /// All figures that it names.
    fn measures(&self) -> impl Iterator<Item = &Measure> {
        let experiments = self.explained.iter().map(|explained| &explained.experiment);
        self.ours.iter().chain(experiments).chain(self.tried.iter().map(|tried| &tried.ours))
    }

    /// The rules that a row keeps by itself.
    fn check(&self, usual: f64) -> Result<(), &'static str> {
        let is_wider = self.tolerance.is_some_and(|tolerance| tolerance > usual);
        match self {
            RowPlan { ours: Some(_), reason: Some(_), .. } => Err(
                "a `reason` is for a row without a figure of ours; what explains a figure is an experiment (`explained`)",
            ),
            RowPlan { ours: Some(_), context: true, .. } => Err("what is context has no figure of ours"),
            RowPlan { context: true, reason: None, .. } => Err("what is context says by `reason` what it is"),
            RowPlan { ours: None, explained: Some(_), .. } => Err("there is no figure of ours to be explained"),
            RowPlan { tolerance: Some(_), bound: Side::AtLeast | Side::AtMost, .. } => {
                Err("a bound has no slack: leave out its `tolerance`, or its `bound`")
            }
            RowPlan { tolerance: Some(tolerance), .. } if !is_tolerance(*tolerance) => {
                Err("its `tolerance` is not a number from 0")
            }
            RowPlan { why, .. } if is_wider && why.as_deref().unwrap_or("").trim().is_empty() => {
                Err("its `tolerance` is wider than the study's, and `why` does not say on what ground")
            }
            RowPlan { ours: Some(ours), class: Some(class), .. } if *class > Class::of(ours) => {
                Err("its `class` says more of the figure than where it comes from")
            }
            RowPlan { ours: Some(ours), explained: Some(explained), .. }
                if Class::of(&explained.experiment) != Class::of(ours) =>
            {
                Err("the experiment that explains a figure is of the figure's own class")
            }
            RowPlan { explained: Some(explained), .. } if !(0.0..=100.0).contains(&explained.limit) => {
                Err("the `limit` of an explanation is from 0 to 100 percent")
            }
            _ => Ok(()),
        }
    }
}

/// What `ids` says of the `[[rows]]` around a place of a study's file, if it is in one.
fn rows_at(text: &str, at: usize) -> Option<&str> {
    let begun = text[..at].rfind("\n[").map_or(0, |at| at + 1);
    let end = text[at..].find("\n[").map_or(text.len(), |behind| at + behind);
    let table = text[begun..end].strip_prefix("[[rows]]")?;
    table.lines().find_map(|line| line.trim().strip_prefix("ids = ")).map(|ids| ids.trim_matches(['[', ']']))
}

fn is_tolerance(number: f64) -> bool {
    number.is_finite() && number >= 0.0
}

/// With it begin keys of `set` that are parameters of protocols.
const PARAMETER: &str = "protocol.";

/// A text in which `{x}` is this place.
pub fn at_place(template: &str, x: u64) -> String {
    template.replace("{x}", &x.to_string())
}

/// What stands for a place in a list that may be shorter: its last is for all behind it.
pub fn at_or_last<Number: Copy>(list: &[Number], at: usize) -> Option<Number> {
    list.get(at).or(list.last()).copied()
}

impl Family {
    fn runs(&self) -> Vec<RunPlan> {
        let latencies: Vec<Option<u64>> =
            if self.latencies.is_empty() { vec![None] } else { self.latencies.iter().copied().map(Some).collect() };
        let places: Vec<Option<u64>> =
            if self.x.is_empty() { vec![None] } else { self.x.iter().copied().map(Some).collect() };
        let mut runs = Vec::new();
        for machine in &self.machines {
            for &block in &self.blocks {
                for &latency in &latencies {
                    for &nodes in &self.nodes {
                        runs.extend(places.iter().map(|&x| self.run(machine, (block, nodes), latency, x)));
                    }
                }
            }
        }
        runs
    }

    fn run(&self, machine: &str, (block, nodes): (u32, u32), latency: Option<u64>, x: Option<u64>) -> RunPlan {
        let place = |text: &str| x.map_or(text.to_string(), |x| at_place(text, x));
        let name = place(&self.name).replace("{machine}", machine).replace("{block}", &block.to_string());
        let name = name.replace("{nodes}", &nodes.to_string());
        let args: Vec<String> = place(&self.args).split_whitespace().map(str::to_string).collect();
        let parameter =
            |(key, value): (&String, &String)| Some((key.strip_prefix(PARAMETER)?.to_string(), value.parse().ok()?));
        let all: BTreeMap<String, String> = self.set.iter().map(|(key, value)| (key.clone(), place(value))).collect();
        let mut set = all.clone();
        set.retain(|key, _| !key.starts_with(PARAMETER));
        set.extend(latency.map(|latency| ("network.latency".to_string(), latency.to_string())));
        RunPlan {
            name: name.replace("{latency}", &latency.map_or(String::new(), |l| l.to_string())),
            program: self.program.clone(),
            cc: self.cc.clone(),
            protocols: self.protocols.clone(),
            machine: machine.to_string(),
            set,
            parameters: all.iter().filter_map(parameter).collect(),
            is_long: self.long,
            seed: self.seed,
            jobs: self.jobs,
            nodes,
            block,
            declared: args.clone(),
            args,
        }
    }
}
