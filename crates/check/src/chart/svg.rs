//! The chart as a picture.
//!
//! A message is an arrow from where it is sent to where it is handled. One that is not handled in the next step waits
//! on a dotted line before its receiver, so that no arrow crosses what happens meanwhile. The lines of life show by
//! their colour what a node may do with the block at that time.

use super::labels::{Area, Places, Segment};
use super::story::{Arrow, Frame, Moment, Story};
use super::words::wrapped;
use crate::system::promise::{DEADLOCK, FAULT, LIVELOCK, STARVATION};
use std::fmt::Write;
use trivium_engine::Node;

/// Pixels: around everything, for the numbers of steps, for a node, for a line of text.
const MARGIN: f64 = 20.0;
const GUTTER: f64 = 44.0;
const COLUMN: f64 = 250.0;
const LINE: f64 = 17.0;
/// Between two steps, between two messages that leave, and from where a message arrives to what it does.
const GAP: f64 = 12.0;
const DEPARTURE: f64 = 21.0;
const BELOW: f64 = 11.0;
/// From a line of life to the text beside it; waiting messages stand between.
const TEXT: f64 = 26.0;
/// Width of a letter (12 pixels, monospace).
const LETTER: f64 = 7.25;
/// How many letters a width in points has room for.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "whole letters, of a width that is not negative"
)]
const fn letters(width: f64) -> usize {
    (width / LETTER) as usize
}

/// Letters beside a line of life.
const LETTERS: usize = letters(COLUMN - TEXT - 14.0);

/// How everything looks; the page uses it too.
pub(super) const STYLE: &str = "\
.chart text { font-family: ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; font-size: 12px; fill: #1d2733 }
.chart .title { font-size: 17px; font-weight: bold }
.chart .node { font-weight: bold; font-size: 13px }
.chart .faint { fill: #6b7785 }
.chart .number { fill: #6b7785; text-anchor: end }
.chart .event { font-weight: bold }
.chart .done { fill: #1b6e3c }
.chart .wrong { fill: #b3261e; font-weight: bold }
.chart .wire { font-size: 11.5px; fill: #234a7d; text-anchor: middle; paint-order: stroke; stroke: white; stroke-width: 4px; stroke-linejoin: round }
.chart .box { fill: #f3f5f8; stroke: #9aa7b5 }
.chart .life { stroke-width: 5 }
.chart .plain { stroke: #b8c2cd }
.chart .none { stroke: #b8c2cd; fill: #eef1f4 }
.chart .read { stroke: #5aa469; fill: #e2f3e4 }
.chart .write { stroke: #e08a3c; fill: #fce8d5 }
.chart .chip { stroke-width: 1 }
.chart .dot { fill: #1d2733; stroke: white; stroke-width: 1.5 }
.chart .dot.decisive { fill: #b3261e }
.chart .arrow { fill: none; stroke: #3469b0; stroke-width: 1.6 }
.chart .waits { fill: none; stroke: #3469b0; stroke-width: 1.4; stroke-dasharray: 2 3 }
.chart .lost { fill: white; stroke: #3469b0; stroke-width: 1.6 }
.chart .band { fill: transparent }
.chart .band.decisive { fill: #fdecea }
.chart .tip { fill: #3469b0 }
";

/// A self-contained SVG.
pub fn svg(story: &Story) -> String {
    let drawing = Drawing::new(story);
    let body = drawing.body();
    let (width, height) = (drawing.width, drawing.height);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n\
         <defs><marker id=\"tip\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"7\" markerHeight=\"7\" \
         orient=\"auto\"><path class=\"tip\" d=\"M0 0L10 5L0 10z\"/></marker></defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{body}</svg>\n",
        title = escaped(&title(story)),
    )
}

/// What the picture is headed by.
pub(super) fn title(story: &Story) -> String {
    let subject = &story.protocol;
    let title = match story.property.as_deref() {
        // These are what happens; the others are what is promised.
        Some(event @ (FAULT | DEADLOCK | LIVELOCK | STARVATION)) => format!("{subject}: {event}"),
        Some(property) => format!("{subject} violates {property}"),
        None => subject.clone(),
    };
    match story.parameters.iter().find(|parameter| parameter.is_tried()) {
        Some(tried) => format!("{title}, with {}", tried.setting()),
        None => title,
    }
}

/// Text as markup.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// At most so many characters of a text; what is left out is shown.
fn shortened(text: &str, most: usize) -> String {
    match wrapped(text, most - 2).as_slice() {
        [line, _, ..] => format!("{line} …"),
        _ => text.to_string(),
    }
}

/// A line of text of a step.
struct Row {
    class: &'static str,
    text: String,
    /// Drawn on a ground of the colour of this access.
    chip: Option<String>,
}

/// A step with its place.
struct Placed {
    top: f64,
    /// Where its text begins: below the arrow of a message that arrives.
    text: f64,
    rows: Vec<Row>,
    /// Where each message that it sends leaves.
    departures: Vec<f64>,
    bottom: f64,
}

struct Drawing<'s> {
    story: &'s Story,
    steps: Vec<Placed>,
    head: f64,
    /// For each arrow: which of the waiting lines before its receiver it takes.
    lanes: Vec<usize>,
    end: f64,
    width: f64,
    height: f64,
    footer: Vec<(&'static str, String)>,
}

impl<'s> Drawing<'s> {
    fn new(story: &'s Story) -> Drawing<'s> {
        let width = 2.0 * MARGIN + GUTTER + COLUMN * story.nodes.len() as f64;
        let first = first_rows(story);
        let tallest = first.iter().map(Vec::len).max().unwrap_or(0) as f64;
        let head = MARGIN + 34.0;
        let mut y = head + 30.0 + tallest * LINE + 16.0;
        let mut steps = Vec::new();
        for moment in &story.moments {
            let placed = place(story, moment, y);
            y = placed.bottom + GAP;
            steps.push(placed);
        }
        let end = y;
        let footer = footer(story, letters(width - 2.0 * MARGIN));
        let height = end + 20.0 + footer.len() as f64 * LINE + MARGIN;
        let lanes = lanes(story);
        Drawing { story, steps, head, lanes, end, width, height, footer }
    }

    fn life(&self, node: Node) -> f64 {
        MARGIN + GUTTER + 10.0 + COLUMN * self.story.column(node) as f64
    }

    fn body(&self) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        label(out, "title", MARGIN, MARGIN + 14.0, &title(self.story))?;
        for (moment, placed) in self.story.moments.iter().zip(&self.steps) {
            let decisive = if moment.decisive { " decisive" } else { "" };
            writeln!(
                out,
                "<rect class=\"band{decisive}\" data-step=\"{}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"4\"/>",
                moment.step,
                MARGIN / 2.0,
                placed.top - GAP / 2.0 - 2.0,
                self.width - MARGIN,
                placed.bottom - placed.top + GAP,
            )?;
        }
        self.lives(out)?;
        self.heads(out)?;
        let routes: Vec<Route> = (0..self.story.arrows.len()).map(|number| self.route(number)).collect();
        let mut places = self.places(&routes);
        for (arrow, route) in self.story.arrows.iter().zip(&routes) {
            self.arrow(out, arrow, route, &mut places)?;
        }
        for (moment, placed) in self.story.moments.iter().zip(&self.steps) {
            self.step(out, moment, placed)?;
        }
        for (number, (class, text)) in self.footer.iter().enumerate() {
            label(out, class, MARGIN, self.end + 24.0 + number as f64 * LINE, text)?;
        }
        Ok(())
    }

    /// The lines of life, coloured by access where there is one block.
    fn lives(&self, out: &mut String) -> std::fmt::Result {
        let top = self.steps.first().map_or(self.end, |s| s.top) - 16.0;
        for &node in &self.story.nodes {
            let x = self.life(node);
            let mut from = top;
            let mut class = self.access_at(0, node);
            for (step, placed) in self.steps.iter().enumerate() {
                let next = self.access_at(step + 1, node);
                if next != class {
                    let y = placed.top + LINE / 2.0;
                    life(out, &class, x, from, y)?;
                    (from, class) = (y, next);
                }
            }
            life(out, &class, x, from, self.end)?;
        }
        Ok(())
    }

    /// What a node may do with the only block in a state, which at most one of its roles allows; `plain` if there is no
    /// one block.
    fn access_at(&self, frame: usize, node: Node) -> String {
        let view = self.story.frames.get(frame).and_then(|f| f.nodes.iter().find(|view| view.node == node));
        let roles = || view.into_iter().flat_map(|v| &v.roles).filter(|role| !role.access.is_empty());
        let Some(first) = roles().next() else { return "plain".into() };
        if roles().any(|role| role.object != first.object) {
            return "plain".into();
        }
        roles().find(|role| role.access != "none").unwrap_or(first).access.clone()
    }

    fn heads(&self, out: &mut String) -> std::fmt::Result {
        for (&node, rows) in self.story.nodes.iter().zip(first_rows(self.story)) {
            let x = self.life(node) - 10.0;
            writeln!(
                out,
                "<rect class=\"box\" x=\"{x:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"5\"/>",
                self.head,
                COLUMN - 14.0,
                26.0 + rows.len() as f64 * LINE,
            )?;
            let home = self.story.home_of(node);
            let name = if home.is_empty() { format!("node {node}") } else { format!("node {node} · {home}") };
            label(out, "node", x + 8.0, self.head + 17.0, &shortened(&name, letters(COLUMN) - 4))?;
            for (number, text) in rows.iter().enumerate() {
                label(out, "faint", x + 8.0, self.head + 17.0 + LINE * (number as f64 + 1.0), text)?;
            }
        }
        Ok(())
    }

    fn step(&self, out: &mut String, moment: &Moment, placed: &Placed) -> std::fmt::Result {
        writeln!(out, "<g class=\"step\" data-step=\"{}\">", moment.step)?;
        let x = self.life(moment.node);
        let decisive = if moment.decisive { " decisive" } else { "" };
        let y = placed.top + LINE / 2.0;
        let number = if moment.decisive { format!("✗ {}", moment.step) } else { moment.step.to_string() };
        label(out, "number", MARGIN + GUTTER - 16.0, y + 4.0, &number)?;
        writeln!(out, "<circle class=\"dot{decisive}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\"/>")?;
        for (row, baseline) in placed.lines() {
            if let Some(access) = &row.chip {
                writeln!(
                    out,
                    "<rect class=\"chip {access}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"3\"/>",
                    x + TEXT - 4.0,
                    baseline - 12.0,
                    row.text.chars().count() as f64 * LETTER + 8.0,
                    LINE - 1.5,
                )?;
            }
            label(out, row.class, x + TEXT, baseline, &row.text)?;
        }
        writeln!(out, "</g>")
    }

    /// What arrows' words must not stand over.
    fn places(&self, routes: &[Route]) -> Places {
        let mut words = Vec::new();
        for (moment, placed) in self.story.moments.iter().zip(&self.steps) {
            let left = self.life(moment.node) + TEXT;
            for (row, baseline) in placed.lines() {
                let right = left + row.text.chars().count() as f64 * LETTER;
                // With the ground on which it may be drawn.
                words.push(Area { left: left - 4.0, top: baseline - 12.0, right: right + 4.0, bottom: baseline + 4.5 });
            }
        }
        let lives = self.story.nodes.iter().map(|&node| self.life(node)).collect();
        Places { words, lines: routes.iter().flat_map(|route| route.lines(self.end)).collect(), lives }
    }

    fn route(&self, number: usize) -> Route {
        let arrow = &self.story.arrows[number];
        let sender = &self.steps[arrow.sent as usize - 1];
        let moment = &self.story.moments[arrow.sent as usize - 1];
        let nth = moment.sent.iter().position(|&n| n == number).unwrap_or(0);
        let (x1, y1) = (self.life(arrow.from), sender.departures[nth]);
        let side = if arrow.from < arrow.to { -1.0 } else { 1.0 };
        let x2 = self.life(arrow.to);
        let receipt = arrow.received.map(|step| self.steps[step as usize - 1].top + LINE / 2.0);
        match receipt {
            Some(y2) if arrow.received == Some(arrow.sent + 1) && arrow.from != arrow.to => {
                Route { first: Segment { from: (x1, y1), to: (x2 + 6.0 * side, y2) }, waits: None }
            }
            _ => {
                let lane = x2 + side * (9.0 + 5.0 * self.lanes[number] as f64);
                let near = x2 + 4.0 * side;
                Route { first: Segment { from: (x1, y1), to: (lane, y1 + 8.0) }, waits: Some((near, receipt)) }
            }
        }
    }

    fn arrow(&self, out: &mut String, arrow: &Arrow, route: &Route, places: &mut Places) -> std::fmt::Result {
        let received = arrow.received.unwrap_or(0);
        writeln!(out, "<g class=\"message\" data-sent=\"{}\" data-received=\"{received}\">", arrow.sent)?;
        let Segment { from: (x1, y1), to: (x2, y2) } = route.first;
        let tip = if route.waits.is_none() { " marker-end=\"url(#tip)\"" } else { "" };
        writeln!(out, "<path class=\"arrow\"{tip} d=\"M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}\"/>")?;
        match route.waits {
            None => {}
            Some((near, Some(receipt))) => {
                let (above, at) = (receipt - 7.0, receipt - 2.0);
                writeln!(out, "<path class=\"waits\" d=\"M{x2:.1} {y2:.1}L{x2:.1} {above:.1}\"/>")?;
                writeln!(
                    out,
                    "<path class=\"arrow\" marker-end=\"url(#tip)\" d=\"M{x2:.1} {above:.1}L{near:.1} {at:.1}\"/>"
                )?;
            }
            Some((_, None)) => {
                let end = self.end;
                writeln!(out, "<path class=\"waits\" d=\"M{x2:.1} {y2:.1}L{x2:.1} {end:.1}\"/>")?;
                writeln!(out, "<circle class=\"lost\" cx=\"{x2:.1}\" cy=\"{end:.1}\" r=\"4\"/>")?;
            }
        }
        let text = self.story.arrow_text(arrow);
        let letters = text.chars().count();
        let (x, y) = if arrow.from == arrow.to {
            places.right_of((x1 + TEXT, y1 + 4.0), letters)
        } else {
            // Over its middle, in the sender's half if it crosses other nodes.
            let apart = (x2 - x1).abs();
            let best = if apart > COLUMN * 1.5 { COLUMN / 2.0 / apart } else { 0.5 };
            places.beside(&route.first, best, letters)
        };
        label(out, "wire", x, y, &text)?;
        writeln!(out, "</g>")
    }
}

/// The lines of an arrow.
struct Route {
    /// From its sender to its receiver, or to where it waits before it.
    first: Segment,
    /// If it waits: where it then arrives, and when, if ever.
    waits: Option<(f64, Option<f64>)>,
}

impl Route {
    fn lines(&self, end: f64) -> impl Iterator<Item = Segment> {
        let (x, y) = self.first.to;
        let waits = self.waits.map(|(_, receipt)| Segment { from: (x, y), to: (x, receipt.unwrap_or(end)) });
        std::iter::once(self.first).chain(waits)
    }
}

impl Placed {
    /// The rows of its text with their baselines.
    fn lines(&self) -> impl Iterator<Item = (&Row, f64)> {
        self.rows.iter().enumerate().map(|(number, row)| (row, self.text + LINE * number as f64 + 12.5))
    }
}

/// The first states of each node's roles.
fn first_rows(story: &Story) -> Vec<Vec<String>> {
    let view = |node: &Node| story.frames[0].nodes.iter().find(|view| view.node == *node);
    let rows = |node: &Node| {
        let roles = view(node).into_iter().flat_map(|view| &view.roles).map(|role| {
            let object = if story.names_objects() && !role.object.is_empty() {
                format!("{}: ", role.object)
            } else {
                String::new()
            };
            format!("{object}{}.{}", role.role, role.state)
        });
        roles.flat_map(|text| wrapped(&text, LETTERS)).collect()
    };
    story.nodes.iter().map(rows).collect()
}

fn place(story: &Story, moment: &Moment, top: f64) -> Placed {
    let mut rows = Vec::new();
    let mut add = |class, text: &str, chip: Option<String>| {
        rows.extend(wrapped(text, LETTERS).into_iter().map(|text| Row { class, text, chip: chip.clone() }));
    };
    add("event", &story.event_text(moment), None);
    if moment.shows_state() {
        let chip = if moment.access_after.is_empty() { "none".to_string() } else { moment.access_after.clone() };
        add("state", &moment.after, Some(chip));
    }
    for change in &moment.also {
        let chip = if change.access_after.is_empty() { "none".to_string() } else { change.access_after.clone() };
        add("state", &story.change_text(change), Some(chip));
    }
    if let Some(fate) = &moment.fate {
        add("faint", &format!("… {fate}"), None);
    }
    for done in &moment.performed {
        add("done", &format!("✓ {done}"), None);
    }
    for what in &moment.forgotten {
        add("faint", &format!("… {what}"), None);
    }
    let text = if moment.received.is_some() { top + BELOW } else { top };
    let below = text + rows.len() as f64 * LINE;
    let departures = (0..moment.sent.len()).map(|n| below + DEPARTURE * (n as f64 + 0.8)).collect();
    let bottom = below + DEPARTURE * moment.sent.len() as f64;
    Placed { top, text, rows, departures, bottom }
}

/// Which of the waiting lines before a receiver each arrow takes: the first that is free from its sending on.
fn lanes(story: &Story) -> Vec<usize> {
    let mut taken: Vec<(Node, bool, usize, u32, u32)> = Vec::new();
    let end = |arrow: &Arrow| arrow.received.unwrap_or(u32::MAX);
    let mut lanes = Vec::new();
    for arrow in &story.arrows {
        let side = arrow.from < arrow.to;
        let free = |lane: usize| {
            !taken.iter().any(|&(to, s, l, from, until)| {
                (to, s, l) == (arrow.to, side, lane) && from <= end(arrow) && arrow.sent <= until
            })
        };
        let waits = arrow.received != Some(arrow.sent + 1) || arrow.from == arrow.to;
        let lane = if waits { (0..3).find(|&lane| free(lane)).unwrap_or(2) } else { 0 };
        if waits {
            taken.push((arrow.to, side, lane, arrow.sent, end(arrow)));
        }
        lanes.push(lane);
    }
    lanes
}

fn footer(story: &Story, letters: usize) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    let mut add = |class, text: &str| rows.extend(wrapped(text, letters).into_iter().map(|line| (class, line)));
    if let Some(reason) = &story.reason {
        add("wrong", &format!("✗ {reason}"));
    }
    for arrow in story.arrows.iter().filter(|arrow| arrow.is_on_its_way()) {
        let what = format!("{} from {} to {}", story.arrow_text(arrow), arrow.from, arrow.to);
        add("plain-text", &format!("◌ {what} (sent in step {}) is still on its way", arrow.sent));
    }
    for line in &story.waiting {
        let state = if line.state.is_empty() { String::new() } else { format!(" ({})", line.state) };
        add("plain-text", &format!("{} waits for {}{state}", line.who, line.waits_for));
    }
    if let Some(growth) = &story.growth {
        let values: Vec<String> = growth.points.iter().map(|p| p.value.clone()).collect();
        add(
            "plain-text",
            &format!("{}, declared {}: {}, and then {}", growth.what, growth.bound, values.join(", "), growth.beyond),
        );
    }
    if let Some(with) = story.with() {
        add("faint", &with);
    }
    let gives_access = |frame: &Frame| frame.nodes.iter().flat_map(|v| &v.roles).any(|role| !role.access.is_empty());
    if story.frames.iter().any(gives_access) {
        add("faint", "the node may: orange write, green read, grey neither");
    }
    rows
}

fn life(out: &mut String, class: &str, x: f64, from: f64, to: f64) -> std::fmt::Result {
    writeln!(out, "<line class=\"life {class}\" x1=\"{x:.1}\" y1=\"{from:.1}\" x2=\"{x:.1}\" y2=\"{to:.1}\"/>")
}

fn label(out: &mut String, class: &str, x: f64, y: f64, text: &str) -> std::fmt::Result {
    writeln!(out, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" xml:space=\"preserve\">{}</text>", escaped(text))
}
