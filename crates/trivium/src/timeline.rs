//! What the parts of the nodes did in the region of interest, or in a window of cycles, as a picture (SVG): time goes to the right, each node has a
//! row for each of its parts, and an arrow is a message.

use crate::Failure;
use crate::output::grouped;
use crate::page::escaped;
use crate::tracks::{BUS, ENGINE, LINK_IN, LINK_OUT, PROCESSOR, TRACKS, stall_name, track};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write;
use std::ops::Range;
use trivium_diagnostic::Code;
use trivium_sim::{Handled, Note, Worker};

/// Boxes of a picture: with more nobody could tell them apart.
const MOST: usize = 20_000;
/// Notes that are kept before the region begins: those of some nodes come before another one says so.
const BEFORE: usize = 10_000;

/// Colours of messages and handlers, those that take longest first; the others have the last one.
const COLOURS: [&str; 9] =
    ["#336699", "#e08e2d", "#b83b3b", "#5a8f4d", "#6b4f8a", "#2f9c95", "#c06c9b", "#8a6d3b", "#8c959f"];

/// Pixels: the picture's width, what stands to the left of time, above and below, a row, and what lies between nodes.
const WIDTH: f64 = 1280.0;
const LEFT: f64 = 150.0;
const ABOVE: f64 = 56.0;
const BELOW: f64 = 60.0;
const ROW: f64 = 18.0;
const BETWEEN: f64 = 16.0;

/// What is gathered while a program runs.
#[derive(Default)]
struct Gathered {
    notes: VecDeque<Note>,
    /// When nodes have begun their regions of interest, and ended them.
    begun: Vec<u64>,
    ended: Vec<u64>,
    /// Whether some that were too early have gone.
    gone: bool,
    /// Whether there were more than a picture shows.
    too_many: bool,
}

/// A picture that is being made.
pub struct Timeline {
    /// The cycles that were asked for; without them it is the region of interest.
    window: Option<Range<u64>>,
    kept: RefCell<Gathered>,
}

/// A part of a node that did something.
struct Busy {
    node: u32,
    row: u32,
    cycles: Range<u64>,
    name: String,
}

impl Gathered {
    /// Whether all regions have ended at a cycle.
    fn is_over(&self, cycle: u64) -> bool {
        !self.begun.is_empty() && self.ended.len() >= self.begun.len() && self.ended.iter().all(|&end| end <= cycle)
    }
}

impl Timeline {
    /// A picture of these cycles, or of the region of interest.
    pub fn new(window: Option<Range<u64>>) -> Timeline {
        Timeline { window, kept: RefCell::default() }
    }

    /// Adds what a part of a node did.
    pub fn add(&self, note: &Note) {
        let kept = &mut *self.kept.borrow_mut();
        if let Note::Region { cycle, begins, .. } = note {
            if *begins { &mut kept.begun } else { &mut kept.ended }.push(*cycle);
            return;
        }
        if self.window.is_none() && kept.is_over(note.cycles().start) {
            return;
        }
        let is_awaited = self.window.is_none() && kept.begun.is_empty();
        if is_awaited && kept.notes.len() == BEFORE {
            kept.notes.pop_front();
            kept.gone = true;
        }
        if kept.notes.len() < MOST + BEFORE {
            kept.notes.push_back(note.clone());
        } else {
            kept.too_many = true;
        }
    }

    /// The picture.
    ///
    /// # Errors
    /// Nothing happened, or more than a picture shows.
    pub fn draw(&self, title: &str) -> Result<String, Failure> {
        let kept = self.kept.borrow();
        let cycles = self.cycles(&kept)?;
        let mut parts: Vec<Busy> =
            kept.notes.iter().filter_map(part_of).filter(|of| overlap(&of.cycles, &cycles)).collect();
        if parts.is_empty() {
            let what = format!("there is nothing to draw: nothing happened from cycle {} on", grouped(cycles.start));
            return Err(Failure::input(
                Code::Usage,
                what,
                "choose --trace-from and --trace-to within the run, whose `cycles` the result tells",
            ));
        }
        if kept.too_many || parts.len() > MOST {
            let what = format!("a picture shows {} things that nodes do, and there are more", grouped(MOST as u64));
            return Err(Failure::input(
                Code::Usage,
                what,
                "choose fewer cycles with --trace-from and --trace-to, or write a --trace",
            ));
        }
        shorten(&mut parts);
        let drawing = Drawing::new(cycles, &parts);
        Ok(drawing.svg(title, &parts, kept.notes.iter().filter_map(handled)))
    }

    /// From when to when.
    fn cycles(&self, kept: &Gathered) -> Result<Range<u64>, Failure> {
        let last = kept.notes.iter().map(|note| note.cycles().end).max().unwrap_or(0);
        if let Some(window) = &self.window {
            return Ok(window.start..window.end.min(last).max(window.start));
        }
        match kept.begun.iter().min() {
            Some(&begun) => Ok(begun..kept.ended.iter().copied().max().unwrap_or(last)),
            None if kept.gone => Err(Failure::input(
                Code::Usage,
                "the program has no region of interest of which a picture could be",
                "choose cycles with --trace-from and --trace-to, or let the program call trivium_begin and trivium_end",
            )),
            None => Ok(0..last),
        }
    }
}

fn overlap(one: &Range<u64>, other: &Range<u64>) -> bool {
    one.start < other.end && other.start < one.end
}

fn handled(note: &Note) -> Option<&Handled> {
    if let Note::Handled(handled) = note { Some(handled) } else { None }
}

/// What a note is in the picture.
fn part_of(note: &Note) -> Option<Busy> {
    let (row, name) = match note {
        Note::Handled(handled) => (track(handled.worker), handled.event.clone()),
        Note::Compute { .. } => (PROCESSOR, "compute".to_string()),
        Note::Stall(stall) => (PROCESSOR, stall_name(stall.spent).to_string()),
        Note::Bus { transaction, .. } => (BUS, transaction.name().to_string()),
        Note::Queue { leaves, message, .. } => (if *leaves { LINK_OUT } else { LINK_IN }, message.clone()),
        Note::Region { .. } => return None,
    };
    let cycles = note.cycles();
    (!cycles.is_empty()).then(|| Busy { node: u32::from(note.node()), row, cycles, name })
}

/// Events and messages of one protocol go without its name.
fn shorten(parts: &mut [Busy]) {
    let of = |part: &Busy| part.name.split_once('.').map(|(protocol, _)| protocol.to_string());
    let protocols: BTreeSet<String> = parts.iter().filter_map(of).collect();
    if protocols.len() == 1 {
        for part in parts {
            part.name = part.name.rsplit('.').next().unwrap_or_default().to_string();
        }
    }
}

/// The colour of what a processor does; none of anything else.
fn colour_on_processor(name: &str) -> Option<&'static str> {
    Some(match name {
        "compute" => "#3f4a56",
        "read stall" => "#f2c9a1",
        "write stall" => "#e9b3b3",
        "TLB stall" => "#cfc3e0",
        "sync stall" => "#dfe4ea",
        _ => return None,
    })
}

/// What stands where.
struct Drawing {
    cycles: Range<u64>,
    /// The rows that are shown, each with its upper end: those of the nodes whose engines, buses or links do something.
    tops: BTreeMap<(u32, u32), f64>,
    /// What a colour stands for.
    legend: Vec<(String, &'static str)>,
    /// Nodes that are not shown.
    left_out: Vec<u32>,
    /// Where time ends, beside the legend.
    right: f64,
    height: f64,
}

impl Drawing {
    fn new(cycles: Range<u64>, parts: &[Busy]) -> Drawing {
        let mut rows: BTreeMap<u32, [bool; TRACKS.len()]> = BTreeMap::new();
        for of in parts {
            rows.entry(of.node).or_default()[of.row as usize] = true;
        }
        let is_idle = |rows: &[bool; TRACKS.len()]| !rows[ENGINE as usize..].contains(&true);
        let all_idle = rows.values().all(is_idle);
        let (mut tops, mut left_out, mut y) = (BTreeMap::new(), Vec::new(), ABOVE);
        for (&node, has) in &rows {
            if is_idle(has) && !all_idle {
                left_out.push(node);
                continue;
            }
            for (row, _) in (0..).zip(has).filter(|(_, has)| **has) {
                tops.insert((node, row), y);
                y += ROW;
            }
            y += BETWEEN;
        }
        let legend = legend(parts, &cycles);
        let height = (y + BELOW).max(ABOVE + 22.0 * legend.len() as f64 + 20.0);
        let longest = legend.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        let right = WIDTH - 60.0 - 7.5 * longest as f64;
        Drawing { cycles, tops, legend, left_out, right, height }
    }

    fn x(&self, cycle: u64) -> f64 {
        let within = cycle.clamp(self.cycles.start, self.cycles.end) - self.cycles.start;
        LEFT + (self.right - LEFT) * within as f64 / (self.cycles.end - self.cycles.start).max(1) as f64
    }

    fn colour(&self, name: &str) -> &'static str {
        let other = COLOURS[COLOURS.len() - 1];
        self.legend.iter().find(|(of, _)| of == name).map_or(other, |&(_, colour)| colour)
    }

    fn svg<'n>(&self, title: &str, parts: &[Busy], handled: impl Iterator<Item = &'n Handled>) -> String {
        let height = self.height.ceil();
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\">\n\
             <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"white\"/>\n"
        );
        text(&mut out, (LEFT, 30.0), 18, "start", title);
        self.draw_scale(&mut out);
        self.draw_rows(&mut out);
        handled.for_each(|handled| self.draw_arrow(&mut out, handled));
        for of in parts {
            self.draw_part(&mut out, of);
        }
        for ((name, colour), y) in self.legend.iter().zip((0..).map(|row| ABOVE + 22.0 * f64::from(row))) {
            let x = self.right + 20.0;
            let _ = writeln!(out, "<rect x=\"{x}\" y=\"{y}\" width=\"14\" height=\"12\" fill=\"{colour}\"/>");
            text(&mut out, (x + 22.0, y + 11.0), 13, "start", name);
        }
        out.push_str("</svg>\n");
        out
    }

    /// Cycles below, from the beginning of the picture.
    fn draw_scale(&self, out: &mut String) {
        let long = self.cycles.end - self.cycles.start;
        let bottom = self.tops.values().copied().fold(ABOVE, f64::max) + ROW + 6.0;
        let step = step_of(long);
        for after in (0..).map(|n| n * step).take_while(|&after| after <= long) {
            let x = self.x(self.cycles.start + after);
            let _ = writeln!(
                out,
                "<line x1=\"{x:.1}\" y1=\"{:.1}\" x2=\"{x:.1}\" y2=\"{bottom:.1}\" stroke=\"#dddddd\"/>",
                ABOVE - 6.0
            );
            text(out, (x, bottom + 15.0), 12, "middle", &grouped(after));
        }
        let below = format!("cycles of the processor, from cycle {} on", grouped(self.cycles.start));
        text(out, (LEFT, bottom + 36.0), 13, "start", &below);
        if !self.left_out.is_empty() {
            let names: Vec<String> = self.left_out.iter().map(u32::to_string).collect();
            let what = format!("not shown, since only their processors do anything: nodes {}", names.join(", "));
            text(out, (self.right, bottom + 36.0), 13, "end", &what);
        }
    }

    fn draw_rows(&self, out: &mut String) {
        let mut last = None;
        for (&(node, row), &y) in &self.tops {
            if last != Some(node) {
                text(out, (12.0, y + 13.0), 13, "start", &format!("node {node}"));
            }
            last = Some(node);
            text(out, (LEFT - 8.0, y + 13.0), 12, "end", TRACKS[row as usize]);
            let _ = writeln!(
                out,
                "<line x1=\"{LEFT}\" y1=\"{0:.1}\" x2=\"{1}\" y2=\"{0:.1}\" stroke=\"#eeeeee\"/>",
                y + ROW - 2.0,
                self.right
            );
        }
    }

    fn draw_part(&self, out: &mut String, of: &Busy) {
        let Some(y) = self.tops.get(&(of.node, of.row)) else { return };
        let (from, to) = (self.x(of.cycles.start), self.x(of.cycles.end));
        let _ = writeln!(
            out,
            "<rect x=\"{from:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{}\" fill=\"{}\"><title>{}: {} to {}</title></rect>",
            (to - from).max(0.5),
            ROW - 4.0,
            self.colour(&of.name),
            escaped(&of.name),
            grouped(of.cycles.start),
            grouped(of.cycles.end)
        );
    }

    /// The way of a message, from the handler that sent it to the one that it starts.
    fn draw_arrow(&self, out: &mut String, handled: &Handled) {
        let Some(((_, (sent, by)), sender)) = handled.arrow.zip(handled.sender) else { return };
        if sent < self.cycles.start || handled.cycle >= self.cycles.end {
            return;
        }
        let top = |node: u16, worker: Worker| self.tops.get(&(u32::from(node), track(worker)));
        let (Some(from), Some(to)) = (top(sender, by), top(handled.node, handled.worker)) else {
            return;
        };
        let middle = (ROW - 4.0) / 2.0;
        let _ = writeln!(
            out,
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"#7d8894\" stroke-width=\"0.7\"/>",
            self.x(sent),
            from + middle,
            self.x(handled.cycle),
            to + middle
        );
    }
}

/// What colours stand for: what processors do, then the handlers and messages that take longest, and the others together.
fn legend(parts: &[Busy], cycles: &Range<u64>) -> Vec<(String, &'static str)> {
    let mut long: BTreeMap<&str, u64> = BTreeMap::new();
    for of in parts {
        *long.entry(&of.name).or_default() += of.cycles.end.min(cycles.end) - of.cycles.start.max(cycles.start);
    }
    let mut names: Vec<(&str, u64)> = long.into_iter().collect();
    names.sort_by_key(|&(name, long)| (std::cmp::Reverse(long), name));
    let (processors, others): (Vec<_>, Vec<_>) =
        names.into_iter().map(|(name, _)| name).partition(|name| colour_on_processor(name).is_some());
    let own = processors.into_iter().filter_map(|name| Some((name.to_string(), colour_on_processor(name)?)));
    let last = COLOURS.len() - 1;
    let more = others.len() > last;
    let colours = others.into_iter().zip(&COLOURS[..last]).map(|(name, &colour)| (name.to_string(), colour));
    let rest = more.then(|| ("others".to_string(), COLOURS[last]));
    own.chain(colours).chain(rest).collect()
}

/// A round number of cycles, of which so many fit at most ten times.
fn step_of(cycles: u64) -> u64 {
    let mut step = 1;
    loop {
        for round in [1, 2, 5] {
            if step * round * 10 >= cycles {
                return step * round;
            }
        }
        step *= 10;
    }
}

fn text(out: &mut String, (x, y): (f64, f64), size: u32, anchor: &str, what: &str) {
    let _ = writeln!(
        out,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" text-anchor=\"{anchor}\" fill=\"#1d2733\">{}</text>",
        escaped(what)
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn computes(cycles: Range<u64>) -> Note {
        Note::Compute { node: 0, cycles }
    }

    #[test]
    fn a_picture_is_of_the_region_of_interest() {
        let line = Timeline::new(None);
        line.add(&computes(0..100));
        line.add(&Note::Region { node: 0, cycle: 100, begins: true });
        line.add(&computes(100..700));
        line.add(&Note::Region { node: 0, cycle: 700, begins: false });
        line.add(&computes(700..9000));
        let svg = line.draw("a < b").unwrap_or_else(|error| panic!("{error:?}"));
        assert!(svg.contains("compute: 100 to 700") && !svg.contains("compute: 0 to 100"), "{svg}");
        assert!(!svg.contains("9,000") && svg.contains("a &lt; b"), "{svg}");
    }

    #[test]
    fn what_no_picture_can_show_is_refused() {
        let empty = Timeline::new(Some(5..10));
        assert!(empty.draw("").is_err());
        let long = Timeline::new(None);
        (0..2 * MOST as u64).for_each(|n| long.add(&computes(n..n + 1)));
        assert!(long.draw("").is_err(), "it has no region");
        let full = Timeline::new(Some(0..u64::MAX));
        (0..2 * MOST as u64).for_each(|n| full.add(&computes(n..n + 1)));
        assert!(full.draw("").is_err(), "it has too many parts");
    }

    #[test]
    fn steps_are_round() {
        assert_eq!([0, 9, 10, 11, 999, 14_040].map(step_of), [1, 1, 1, 2, 100, 2000]);
    }
}
