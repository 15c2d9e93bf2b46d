//! Charts of known counterexamples, as text, picture and page: `tests/charts/*`. `UPDATE=1 cargo test -p trivium-check
//! --test suite charts::` writes what is drawn; look at the difference before you commit it.

use crate::slow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use trivium_check::chart::{self, Recording, Story};
use trivium_check::{Config, Report, System, explore};
use trivium_protocol::Protocol;

/// Counterexamples: a name, a protocol below `protocols/` or a file of `tests/files`, and how many nodes and objects.
const CASES: [(&str, &str, u32, u32); 6] = [
    ("lost-upgrade", "broken/stache-lost-upgrade.tri", 2, 1),
    ("forgotten-ack", "broken/msi-forgotten-ack.tri", 2, 1),
    ("squeezed-lanes", "broken/squeezed-lanes.tri", 3, 2),
    ("barrier", "broken/tree-barrier-late-reset.tri", 4, 1),
    ("defer-space", "defer-space-too-small.test", 3, 1),
    ("out-of-range", "number-out-of-range.test", 2, 1),
];

fn of(nodes: u32, objects: u32) -> Config<'static> {
    System { nodes, objects, ..System::default() }.into()
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn protocol(name: &str) -> Arc<Protocol> {
    let folder = if name.ends_with(".test") { here().join("tests/files") } else { here().join("../../protocols") };
    let load = |path: &str| std::fs::read_to_string(folder.join(path)).map_err(|e| e.to_string());
    let text = load(name).unwrap_or_else(|error| panic!("{name}: {error}"));
    let compiled = |params| {
        let options = trivium_lang::Options { params, load: Some(&load) };
        trivium_lang::compile(name, &text, &options).unwrap_or_else(|wrong| panic!("{wrong}"))
    };
    Arc::new(compiled(compiled(Vec::new()).sizes_to_check()))
}

fn explored(file: &str, config: &Config) -> (Arc<Protocol>, Report, Story) {
    let protocol = protocol(file);
    let report = explore(&protocol, config).unwrap();
    let story = chart::story(&protocol, &config.system, &report).unwrap().expect("it is violated");
    (protocol, report, story)
}

fn story(name: &str) -> Story {
    let (_, file, nodes, objects) = CASES.into_iter().find(|(case, ..)| *case == name).unwrap();
    explored(file, &of(nodes, objects)).2
}

fn compare(path: PathBuf, drawn: &str, wrong: &mut Vec<String>) {
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, drawn).unwrap();
    } else if std::fs::read_to_string(&path).ok().as_deref() != Some(drawn) {
        wrong.push(format!("{} is not what is drawn now:\n{drawn}", path.display()));
    }
}

#[test]
fn charts_are_as_drawn() {
    let mut wrong = Vec::new();
    for (name, file, nodes, objects) in CASES {
        let (_, _, story) = explored(file, &of(nodes, objects));
        let path = |ending: &str| here().join("tests/charts").join(format!("{name}.{ending}"));
        compare(path("txt"), &chart::text(&story, chart::WIDTH), &mut wrong);
        compare(path("svg"), &chart::svg(&story), &mut wrong);
    }
    let page = here().join("tests/charts/out-of-range.html");
    compare(page, &chart::html(&story("out-of-range")), &mut wrong);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_chart_tells_the_steps_of_the_report() {
    for (name, file, nodes, objects) in CASES {
        let (_, report, story) = explored(file, &of(nodes, objects));
        assert_eq!(story.moments.len(), report.counterexample.len(), "{name}");
        for (moment, step) in story.moments.iter().zip(&report.counterexample) {
            assert_eq!((moment.step, moment.node, &moment.event), (step.step, step.node, &step.event), "{name}");
            assert_eq!((&moment.before, &moment.after), (&step.before, &step.after), "{name}");
            assert_eq!(moment.sent.len(), step.sends.len(), "{name}");
            assert_eq!(moment.performed.len() + moment.forgotten.len(), step.performs.len(), "{name}");
        }
        assert_eq!((&story.property, &story.reason), (&report.property, &report.reason), "{name}");
        assert_eq!(story.waiting, report.wait_cycle, "{name}");
        let decisive: Vec<u32> = story.moments.iter().filter(|m| m.decisive).map(|m| m.step).collect();
        assert_eq!(decisive, [story.moments.len() as u32], "{name}");
    }
}

#[test]
fn every_receipt_has_its_send_and_channels_keep_their_order() {
    for (name, file, nodes, objects) in CASES {
        let (_, _, story) = explored(file, &of(nodes, objects));
        for moment in story.moments.iter().filter(|m| m.event.contains(" from ") && !m.event.starts_with("deferred")) {
            let arrow = &story.arrows[moment.received.expect("a message was sent before it is handled")];
            assert_eq!((arrow.to, arrow.received), (moment.node, Some(moment.step)), "{name}");
            assert!(arrow.sent < moment.step, "{name}");
        }
        for (first, a) in story.arrows.iter().enumerate() {
            for b in &story.arrows[first + 1..] {
                let same = (a.from, a.to, &a.lane) == (b.from, b.to, &b.lane);
                let step = |received: Option<u32>| received.unwrap_or(u32::MAX);
                assert!(!same || step(a.received) <= step(b.received), "{name}: {a:?} {b:?}");
            }
        }
    }
}

#[test]
fn a_chart_shows_the_first_values_of_ghosts() {
    let (_, _, story) = explored("ghost-sees-a-stale-read.test", &of(2, 1));
    let text = chart::text(&story, chart::WIDTH);
    let head = text.split(" 1  ").next().unwrap();
    assert!(head.contains("last=0"), "{text}");
}

#[test]
fn a_chart_shows_the_record_at_fault_though_it_did_not_change() {
    let (_, _, story) = explored("impossible-otherwise-of-the-role.test", &of(1, 1));
    let last = story.moments.last().unwrap();
    assert!(last.decisive && !last.changes(), "{last:?}");
    let text = chart::text(&story, chart::WIDTH);
    let end = text.split("✗").nth(1).unwrap();
    assert!(end.contains("= r.B"), "{text}");
}

#[test]
fn lines_of_a_chart_fit_the_terminal() {
    for (name, file, nodes, objects) in CASES {
        let (_, _, story) = explored(file, &of(nodes, objects));
        for width in [100, 110, 120] {
            let text = chart::text(&story, width);
            // Who waits for whom is a table whose lines are not broken.
            let drawn = text.split("who waits for whom").next().unwrap();
            let longest = drawn.lines().map(|line| line.chars().count()).max();
            assert!(longest <= Some(width), "{name}: {longest:?} of {width}\n{text}");
        }
    }
}

#[test]
fn a_page_asks_nothing_of_the_world_and_holds_the_whole_story() {
    let story = story("lost-upgrade");
    let page = chart::html(&story);
    for word in ["src=", "href=", "@import", "url(http", "fetch("] {
        assert!(!page.contains(word), "{word}");
    }
    let (_, rest) = page.split_once("id=\"story\">").unwrap();
    let (data, _) = rest.split_once("</script>").unwrap();
    let held: serde_json::Value = serde_json::from_str(data).unwrap();
    assert_eq!(held, serde_json::to_value(&story).unwrap());
}

#[test]
fn the_line_that_grants_without_data_is_named() {
    let story = story("lost-upgrade");
    let granted = story.arrows.iter().find(|arrow| arrow.label == "UpgradeGranted").unwrap();
    let source = story.moments[granted.sent as usize - 1].source.as_ref().unwrap();
    assert!(source.text.contains("send UpgradeGranted to sender"), "{source:?}");
    let texts: Vec<&str> = story.sources.iter().filter(|s| s.file == source.file).map(|s| &*s.text).collect();
    assert_eq!(texts[0].lines().nth(source.first as usize - 1).map(str::trim), Some(&*source.text));
}

#[test]
fn what_leaves_its_bound_is_told_from_the_beginning() {
    let growth = story("out-of-range").growth.unwrap();
    let values: Vec<(u32, &str)> = growth.points.iter().map(|p| (p.step, &*p.value)).collect();
    assert_eq!(values, [(0, "0"), (1, "1"), (2, "2")]);
    assert_eq!((&*growth.bound, &*growth.beyond), ("0..2", "3"));
    let growth = story("defer-space").growth.unwrap();
    assert_eq!(growth.points.last().unwrap().value, "1 (Acquire from 1)");
    assert_eq!(growth.bound, "up to 1");
    assert_eq!(story("lost-upgrade").growth, None);
}

#[test]
fn recordings_are_executed_again() {
    for (name, file, nodes, objects) in CASES {
        let (protocol, report, story) = explored(file, &of(nodes, objects));
        let recording = Recording::of(&protocol, &of(nodes, objects).system, &report, &story).unwrap().unwrap();
        let json = serde_json::to_string(&recording).unwrap();
        let read: Recording = serde_json::from_str(&json).unwrap();
        assert_eq!(read, recording, "{name}");
        let again = chart::replay(&protocol, &read.settings, &read.events, &read.told).unwrap().unwrap();
        assert_eq!(read.compare(&again), Ok(()), "{name}");
        assert_eq!(chart::text(&again, chart::WIDTH), chart::text(&story, chart::WIDTH), "{name}");
    }
}

/// A counterexample and where it comes from.
struct Told {
    file: String,
    protocol: Arc<Protocol>,
    system: System,
    report: Report,
    story: Story,
}

/// The story of every broken protocol, in the smallest system in which there is one; without `make test-slow` of those that are found
/// among few states.
fn broken() -> &'static [Told] {
    static TOLD: OnceLock<Vec<Told>> = OnceLock::new();
    TOLD.get_or_init(|| {
        let files = std::fs::read_dir(here().join("../../protocols/broken")).unwrap();
        let mut files: Vec<String> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        files.retain(|file| file.ends_with(".tri"));
        files.sort();
        assert!(files.len() > 10, "{files:?}");
        let all = files.len();
        let found: Vec<Told> = files.into_iter().filter_map(|file| told(format!("broken/{file}"))).collect();
        assert!(found.len() >= slow::all_or(all, all / 2), "{} of {all}", found.len());
        found
    })
}

fn told(file: String) -> Option<Told> {
    let protocol = protocol(&file);
    // Scenarios of the files that it uses come before its own.
    let own = protocol.scenarios.iter().find(|scenario| scenario.span.file == 0);
    let scenario = own.or(protocol.scenarios.first()).map(|scenario| scenario.name.clone());
    let sizes = [(2, 1), (3, 1), (3, 2), (4, 1)].map(|size| (size, scenario.clone()));
    // What that scenario does not show the general client does; it may take two objects.
    let general = [(2, 1), (3, 1), (2, 2), (4, 1)].map(|size| (size, None));
    // A file that is about the threads of one node says so.
    let alone = (System::declared(&protocol).nodes == 1).then_some(((1, 1), None));
    let mut told = alone.into_iter().chain(sizes).chain(general).filter_map(|((nodes, objects), scenario)| {
        let System { homes, threads_per_node, ops, values, .. } = System::declared(&protocol);
        // In a scenario each thread is given; else a file that is about several threads of a node says so.
        let is_given = scenario.is_some() || threads_per_node == 1;
        let threads_per_node = if is_given { 1 } else { threads_per_node };
        // Without a limit copies by engines have too many states, and so have more values than two.
        let ops = if file.starts_with("broken/fbcopy") || !is_given || values > 2 { ops } else { None };
        let system = System { nodes, objects, homes, scenario, threads_per_node, ops, values, ..System::default() };
        let config =
            Config { system: system.clone(), max_states: Some(slow::all_or(2_000_000, 3_000)), ..Config::default() };
        let report = explore(&protocol, &config).ok()?;
        let story = chart::story(&protocol, &system, &report).unwrap()?;
        Some((system, report, story))
    });
    let (system, report, story) = told.next()?;
    drop(told);
    Some(Told { file, protocol, system, report, story })
}

/// The search may exchange the names of nodes; the story that it tells is one execution with the same names throughout.
#[test]
fn nodes_keep_their_names_in_the_story_of_every_broken_protocol() {
    let mut exchanged = 0;
    for Told { file, protocol, system, report, story } in broken() {
        exchanged += u32::from(report.symmetry && system.nodes > 2);
        let recording = Recording::of(protocol, system, report, story).unwrap().unwrap();
        // Executed without any exchange of names.
        let mut again = chart::replay(protocol, system, &recording.events, &recording.told).unwrap().unwrap();
        recording.conclude(&mut again);
        assert_eq!(recording.compare(&again), Ok(()), "{file}");
        assert_eq!(chart::text(&again, chart::WIDTH), chart::text(story, chart::WIDTH), "{file}");
    }
    assert!(exchanged >= 2, "{exchanged} with symmetry among three nodes or more");
}

/// A text of a picture: what it says, and its left, top, right and bottom.
struct Words {
    text: String,
    area: [f64; 4],
}

impl Words {
    /// From a line of the picture. Letters are as wide as those of usual monospaced fonts.
    fn read(line: &str) -> Option<Words> {
        let (class, rest) = line.strip_prefix("<text class=\"")?.split_once('"')?;
        let text = rest.split_once('>')?.1.strip_suffix("</text>")?;
        let unescaped = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")];
        let text = unescaped.iter().fold(text.to_string(), |text, (from, to)| text.replace(from, to));
        let number = |name: &str| rest.split_once(&format!("{name}=\""))?.1.split_once('"')?.0.parse().ok();
        let (x, y): (f64, f64) = (number(" x")?, number(" y")?);
        let size = match class {
            "title" => 17.0,
            "node" => 13.0,
            "wire" => 11.5,
            _ => 12.0,
        };
        let width = text.chars().count() as f64 * size * 0.602;
        let left = match class {
            "wire" => x - width / 2.0,
            "number" => x - width,
            _ => x,
        };
        Some(Words { text, area: [left, y - 0.75 * size, left + width, y + 0.2 * size] })
    }

    fn overlaps(&self, other: &Words) -> bool {
        let [left, top, right, bottom] = self.area;
        let [other_left, other_top, other_right, other_bottom] = other.area;
        left < other_right && other_left < right && top < other_bottom && other_top < bottom
    }

    /// Whether a line goes through them; it is followed in small steps.
    fn are_crossed(&self, [x1, y1, x2, y2]: [f64; 4]) -> bool {
        let [left, top, right, bottom] = self.area;
        (0..=1000).map(|step| f64::from(step) / 1000.0).any(|along| {
            let (x, y) = (x1 + (x2 - x1) * along, y1 + (y2 - y1) * along);
            left < x && x < right && top < y && y < bottom
        })
    }
}

/// The first line of an arrow.
fn line_of(path: &str) -> Option<[f64; 4]> {
    let (_, points) = path.strip_prefix("<path class=\"arrow\"")?.split_once(" d=\"M")?;
    let numbers: Vec<f64> = points.split(|c: char| !c.is_ascii_digit() && c != '.').flat_map(str::parse).collect();
    numbers.try_into().ok()
}

#[test]
fn words_of_a_picture_stand_beside_each_other_and_beside_their_arrows() {
    let mut wrong = Vec::new();
    let mut arrows = 0;
    for Told { file, story, .. } in broken() {
        let picture = chart::svg(story);
        let words: Vec<Words> = picture.lines().filter_map(Words::read).collect();
        assert_eq!(words.len(), picture.matches("<text").count(), "{file}");
        for (number, first) in words.iter().enumerate() {
            let over = words[number + 1..].iter().filter(|second| first.overlaps(second));
            wrong.extend(over.map(|second| format!("{file}: `{}` over `{}`", first.text, second.text)));
        }
        for message in picture.split("<g class=\"message\"").skip(1) {
            let message = message.split_once("</g>").unwrap().0;
            let words = message.lines().find_map(Words::read).unwrap();
            let crossed = message.lines().filter_map(line_of).inspect(|_| arrows += 1).any(|l| words.are_crossed(l));
            wrong.extend(crossed.then(|| format!("{file}: the arrow of `{}` goes through it", words.text)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(arrows > 100, "{arrows} lines of arrows");
}

/// `swcc` has several roles for a block, of which one gives the access.
#[test]
fn a_line_of_life_shows_what_any_role_of_the_node_allows() {
    let file = "broken/swcc-lock-dropped-early.tri";
    let scenario = Some("home_hears_late".to_string());
    let picture = chart::svg(&explored(file, &System { nodes: 2, scenario, ..System::default() }.into()).2);
    for access in ["write", "read", "none"] {
        assert!(picture.contains(&format!("class=\"life {access}\"")), "{access}: {picture}");
    }
    assert!(!picture.contains("life plain"), "{picture}");
    assert!(picture.contains("violates last_write") && story("squeezed-lanes").property.as_deref() == Some("deadlock"));
    assert!(chart::svg(&story("squeezed-lanes")).contains("<title>squeezed-lanes: deadlock</title>"));
}

#[test]
fn a_recording_that_was_changed_is_noticed() {
    let (_, file, nodes, objects) = CASES[0];
    let (protocol, report, story) = explored(file, &of(nodes, objects));
    let recording = Recording::of(&protocol, &of(nodes, objects).system, &report, &story).unwrap().unwrap();
    let executed = |recording: &Recording| {
        chart::replay(&protocol, &of(nodes, objects).system, &recording.events, &recording.told).unwrap()
    };

    let mut other = recording.clone();
    other.states[4].nodes[0].roles[0].state = "Idle".into();
    let mismatch = other.compare(&executed(&other).unwrap()).unwrap_err();
    assert_eq!(mismatch.step, 4);
    assert!(mismatch.to_string().contains("home of block 0 on node 0: Idle"), "{mismatch}");

    let mut other = recording.clone();
    other.property = "single_writer".into();
    assert!(
        other.compare(&executed(&other).unwrap()).unwrap_err().to_string().contains("a violation of single_writer")
    );

    // The first read is left out: nobody sends what the home is to handle.
    let mut other = recording.clone();
    other.events.remove(0);
    assert_eq!(executed(&other).err(), Some(1));

    let mut other = recording.clone();
    other.events.pop();
    assert!(other.compare(&executed(&other).unwrap()).is_err());
}
