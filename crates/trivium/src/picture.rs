//! Stacked bars, lines and histograms as SVG.

mod histogram;

use crate::Failure;
pub use histogram::{Histogram, histograms};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use trivium_diagnostic::Code;

/// One bar.
#[derive(Clone, Debug)]
pub struct Bar {
    /// What stands below it.
    pub label: String,
    /// Its parts, from below.
    pub values: Vec<f64>,
    /// What stands above it, if not the sum of its parts.
    pub above: Option<String>,
}

/// Bars with a scale of their own.
#[derive(Clone, Copy, Debug)]
pub struct Panel<'a> {
    /// What the legend says of them, where there are several.
    pub name: &'a str,
    /// What the scale shows.
    pub unit: &'a str,
    /// The parts of each bar, from below.
    pub parts: &'a [&'a str],
    /// The bars.
    pub bars: &'a [Bar],
}

/// One line.
#[derive(Clone, Debug)]
pub struct Curve {
    /// What it is.
    pub name: String,
    /// The number of an earlier line that it goes with: it has the same colour, and is dashed.
    pub like: Option<usize>,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
}

/// Colours that can be told apart in print and by most eyes.
const COLOURS: [RGBColor; 6] = [
    RGBColor(0x33, 0x66, 0x99),
    RGBColor(0xe0, 0x8e, 0x2d),
    RGBColor(0xb8, 0x3b, 0x3b),
    RGBColor(0x5a, 0x8f, 0x4d),
    RGBColor(0x8f, 0xb0, 0xb8),
    RGBColor(0x6b, 0x4f, 0x8a),
];
const GRID: RGBColor = RGBColor(0xdd, 0xdd, 0xdd);

/// Width of most pictures, and height.
const WIDTH: u32 = 960;
const HEIGHT: u32 = 560;
/// What lies to the left of bars with their axis, and to the right with the legend.
const BESIDE: (u32, u32) = (98, 168);
/// Width of a letter for each pixel of the size that it is drawn with, which is of a line and not of letters; height of a line.
const LETTER: f64 = 0.5;
const LINE: i32 = 18;
/// Letters of a line below a bar, as far as words allow it.
const LETTERS: usize = 14;

/// What is drawn, as text.
fn drawn(draw: impl FnOnce(&mut String) -> Result<(), Box<dyn std::error::Error>>) -> Result<String, Failure> {
    let mut text = String::new();
    draw(&mut text).map_err(|e| Failure::input(Code::File, format!("the picture cannot be drawn: {e}"), ""))?;
    Ok(text)
}

/// How wide a text is.
fn wide(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * LETTER
}

/// A label in lines, broken between its words.
fn lines_of(label: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in label.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= LETTERS => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines
}

/// The size of letters with which a title is as wide as this at most.
fn title_size(title: &str, room: u32) -> f64 {
    (f64::from(room) / wide(title, 1.0)).min(22.0)
}

/// Draws bars with a legend for their parts.
///
/// # Errors
/// The picture cannot be drawn.
pub fn stacked_bars(title: &str, unit: &str, parts: &[&str], bars: &[Bar]) -> Result<String, Failure> {
    panels(title, &[Panel { name: "", unit, parts, bars }])
}

/// Draws bars with several scales beside each other, and one legend.
///
/// # Errors
/// The picture cannot be drawn.
pub fn panels(title: &str, panels: &[Panel]) -> Result<String, Failure> {
    drawn(|text| draw(text, title, panels))
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

impl Panel<'_> {
    /// The upper end of the scale.
    fn top(&self) -> f64 {
        self.bars.iter().map(total).fold(1.0, f64::max) * 1.12
    }

    /// What stands above a bar.
    fn figure(&self, bar: &Bar) -> String {
        bar.above.clone().unwrap_or_else(|| shown(total(bar), self.top()))
    }

    /// How much room each bar needs for what stands below and above it.
    fn pitch(&self) -> f64 {
        let below = self.bars.iter().flat_map(|bar| lines_of(&bar.label)).map(|line| wide(&line, 15.0));
        let above = self.bars.iter().map(|bar| wide(&self.figure(bar), 13.0));
        below.chain(above).fold(0.0, f64::max) + 8.0
    }

    /// The parts that have a place in the legend: not what is nothing everywhere.
    fn shown_parts(&self) -> Vec<usize> {
        (0..self.parts.len()).filter(|&i| self.bars.iter().any(|bar| bar.values[i] > 0.0)).collect()
    }
}

fn total(bar: &Bar) -> f64 {
    bar.values.iter().sum()
}

/// The colour of a part. What has the same name in two panels has the same colour.
fn colour_of(panels: &[Panel], name: &str) -> RGBColor {
    let mut names: Vec<&str> = Vec::new();
    for part in panels.iter().flat_map(|panel| panel.parts) {
        if !names.contains(part) {
            names.push(part);
        }
    }
    COLOURS[names.iter().position(|known| *known == name).unwrap_or(0) % COLOURS.len()]
}

/// Room for a scale and its unit.
const SCALE: u32 = 80;

fn draw(text: &mut String, title: &str, panels: &[Panel]) -> Result<(), Box<dyn std::error::Error>> {
    let pitch = panels.iter().map(Panel::pitch).fold(0.0, f64::max);
    let count: usize = panels.iter().map(|panel| panel.bars.len()).sum();
    let scales = SCALE * (panels.len().max(1) - 1) as u32;
    let width = WIDTH.max(BESIDE.0 + BESIDE.1 + scales + (pitch * count as f64).ceil() as u32);
    let labels = panels.iter().flat_map(|panel| panel.bars).map(|bar| lines_of(&bar.label).len());
    let tallest = labels.max().unwrap_or(1).max(1) as i32;
    let height = HEIGHT + (tallest - 1) as u32 * LINE as u32;
    let root = SVGBackend::with_string(text, (width, height)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut rest =
        root.margin(18, 18, 18, 150).titled(title, ("sans-serif", title_size(title, width - BESIDE.1 - 18)))?;
    let pitch = f64::from(rest.dim_in_pixel().0.saturating_sub(SCALE * panels.len() as u32)) / count.max(1) as f64;
    for (number, panel) in panels.iter().enumerate() {
        let area = if number + 1 == panels.len() {
            rest.clone()
        } else {
            let (left, right) = rest.split_horizontally(SCALE + (pitch * panel.bars.len() as f64).round() as u32);
            rest = right;
            left
        };
        draw_panel(&root, &area, panel, panels, tallest)?;
    }
    legend(&root, width as i32 - 140, panels)?;
    root.present()?;
    Ok(())
}

fn draw_panel(
    root: &Area,
    area: &Area,
    panel: &Panel,
    panels: &[Panel],
    tallest: i32,
) -> Result<(), Box<dyn std::error::Error>> {
    let top = panel.top();
    let mut chart = ChartBuilder::on(area)
        .x_label_area_size(36 + LINE * (tallest - 1))
        .y_label_area_size(SCALE)
        .build_cartesian_2d(0.0..panel.bars.len() as f64, 0.0..top)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(0)
        .y_desc(panel.unit)
        .y_label_formatter(&|v| shown(*v, top))
        .axis_desc_style(("sans-serif", 15))
        .label_style(("sans-serif", 13))
        .light_line_style(WHITE)
        .draw()?;
    for i in panel.shown_parts() {
        let colour = colour_of(panels, panel.parts[i]);
        let boxes = panel.bars.iter().enumerate().map(|(b, bar)| {
            let below: f64 = bar.values[..i].iter().sum();
            let x = b as f64;
            Rectangle::new([(x + 0.2, below), (x + 0.8, below + bar.values[i])], colour.filled())
        });
        chart.draw_series(boxes)?;
    }
    let below = ("sans-serif", 15).into_text_style(root).pos(Pos::new(HPos::Center, VPos::Top));
    let above = ("sans-serif", 13).into_text_style(root).pos(Pos::new(HPos::Center, VPos::Bottom));
    for (b, bar) in panel.bars.iter().enumerate() {
        let (x, y) = chart.backend_coord(&(b as f64 + 0.5, 0.0));
        for (n, line) in (0..).zip(lines_of(&bar.label)) {
            root.draw(&Text::new(line, (x, y + 10 + LINE * n), below.clone()))?;
        }
        let (x, y) = chart.backend_coord(&(b as f64 + 0.5, total(bar)));
        root.draw(&Text::new(panel.figure(bar), (x, y - 4), above.clone()))?;
    }
    Ok(())
}

/// A figure of an axis that goes up to `top`: with a place after the point where whole numbers say too little.
fn shown(value: f64, top: f64) -> String {
    if top < 100.0 { format!("{value:.1}") } else { crate::output::grouped(value.round() as u64) }
}

/// Two pictures side by side, each with its own scales.
pub fn beside(left: &str, right: &str) -> String {
    let size = |svg: &str, name: &str| -> u32 {
        let number = svg.split_once(&format!("{name}=\"")).and_then(|(_, rest)| rest.split_once('"'));
        number.and_then(|(number, _)| number.parse().ok()).unwrap_or(WIDTH)
    };
    let (across, upright) = (size(left, "width"), size(left, "height").max(size(right, "height")));
    let width = across + size(right, "width");
    let right = right.replacen("<svg ", &format!("<svg x=\"{across}\" "), 1);
    format!(
        "<svg width=\"{width}\" height=\"{upright}\" viewBox=\"0 0 {width} {upright}\" xmlns=\"http://www.w3.org/2000/svg\">\n{left}{right}</svg>\n"
    )
}

/// Draws lines over logarithmic axes, with a legend.
///
/// # Errors
/// The picture cannot be drawn.
pub fn curves(title: &str, below: &str, beside: &str, lines: &[Curve]) -> Result<String, Failure> {
    drawn(|text| draw_curves(text, title, below, beside, lines))
}

fn draw_curves(
    text: &mut String,
    title: &str,
    below: &str,
    beside: &str,
    lines: &[Curve],
) -> Result<(), Box<dyn std::error::Error>> {
    // To the right there is room for the longest name.
    let beside_lines = 38 + lines.iter().map(|line| wide(&line.name, 14.0).ceil() as i32).max().unwrap_or(0);
    let beside_lines = beside_lines.max(180);
    let width = WIDTH + (beside_lines - 180) as u32;
    let root = SVGBackend::with_string(text, (width, HEIGHT)).into_drawing_area();
    root.fill(&WHITE)?;
    let all = || lines.iter().flat_map(|line| line.points.iter());
    let span = |of: fn(&(f64, f64)) -> f64| {
        let (least, most) = (all().map(of).fold(f64::MAX, f64::min), all().map(of).fold(f64::MIN, f64::max));
        // Some room, and more if the lines are almost flat.
        let room = if most < 1.5 * least { 1.25 } else { 1.12 };
        (least / room)..(most * room)
    };
    let (across, upright) = (span(|p| p.0), span(|p| p.1));
    let mut chart = ChartBuilder::on(&root)
        .caption(title, ("sans-serif", title_size(title, WIDTH - 226)))
        .margin(18)
        .margin_right(beside_lines + 10)
        .x_label_area_size(48)
        .y_label_area_size(72)
        .build_cartesian_2d(across.clone().log_scale(), upright.clone().log_scale())?;
    chart
        .configure_mesh()
        .disable_mesh()
        .set_all_tick_mark_size(0)
        .x_label_formatter(&|_| String::new())
        .y_label_formatter(&|_| String::new())
        .x_desc(below)
        .y_desc(beside)
        .axis_desc_style(("sans-serif", 15))
        .draw()?;
    // The places that were measured are marked below; at the side, round numbers.
    let mut places: Vec<f64> = all().map(|point| point.0).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let label = ("sans-serif", 13).into_text_style(&root);
    let mut free_from = f64::MIN;
    for x in places {
        chart.draw_series([PathElement::new([(x, upright.start), (x, upright.end)], GRID)])?;
        let (at, base) = chart.backend_coord(&(x, upright.start));
        // A mark that would stand over the one before it is left out; its line is there.
        let half = wide(&marked(x), 13.0) / 2.0;
        if f64::from(at) - half < free_from {
            continue;
        }
        free_from = f64::from(at) + half + 4.0;
        root.draw(&Text::new(marked(x), (at, base + 6), label.pos(Pos::new(HPos::Center, VPos::Top))))?;
    }
    for y in round_numbers(&upright) {
        chart.draw_series([PathElement::new([(across.start, y), (across.end, y)], GRID)])?;
        let (side, at) = chart.backend_coord(&(across.start, y));
        root.draw(&Text::new(marked(y), (side - 8, at), label.pos(Pos::new(HPos::Right, VPos::Center))))?;
    }
    let colours = colours(lines);
    for (line, colour) in lines.iter().zip(&colours) {
        let (points, style) = (line.points.iter().copied(), colour.stroke_width(3));
        if line.like.is_some() {
            chart.draw_series(DashedLineSeries::new(points, 8, 5, style))?;
        } else {
            chart.draw_series(LineSeries::new(points, style))?;
        }
        chart.draw_series(line.points.iter().map(|point| Circle::new(*point, 4, colour.filled())))?;
    }
    let style = ("sans-serif", 14).into_text_style(&root).pos(Pos::new(HPos::Left, VPos::Center));
    for (row, (line, colour)) in lines.iter().zip(&colours).enumerate() {
        let (x, y) = (width as i32 - beside_lines, 90 + 24 * row as i32);
        let pieces = if line.like.is_some() { vec![(0, 8), (13, 21)] } else { vec![(0, 21)] };
        for (from, to) in pieces {
            root.draw(&Rectangle::new([(x + from, y - 1), (x + to, y + 2)], colour.filled()))?;
        }
        root.draw(&Text::new(line.name.clone(), (x + 28, y), style.clone()))?;
    }
    root.present()?;
    Ok(())
}

/// Each line's colour: its own, or that of the one that it goes with.
fn colours(lines: &[Curve]) -> Vec<RGBColor> {
    let mut colours: Vec<RGBColor> = Vec::new();
    let mut own = 0;
    for line in lines {
        let like = line.like.and_then(|like| colours.get(like).copied());
        colours.push(like.unwrap_or_else(|| {
            own += 1;
            COLOURS[(own - 1) % COLOURS.len()]
        }));
    }
    colours
}

/// Marks of a logarithmic axis: three at least, as round as that allows.
fn round_numbers(span: &std::ops::Range<f64>) -> Vec<f64> {
    const DIGITS: [&[f64]; 4] = [
        &[1.0],
        &[1.0, 2.0, 5.0],
        &[1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0],
        &[1.0, 1.1, 1.2, 1.3, 1.4, 1.6, 1.8, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
    ];
    let within = |digits: &[f64]| -> Vec<f64> {
        let decades = span.start.log10().floor() as i32..=span.end.log10().ceil() as i32;
        let all = decades.flat_map(|decade| digits.iter().map(move |digit| digit * 10f64.powi(decade)));
        all.filter(|mark| span.contains(mark)).collect()
    };
    let marks = DIGITS.map(within);
    let enough = marks.iter().find(|marks| marks.len() >= 3);
    enough.or(marks.last()).cloned().unwrap_or_default()
}

/// A mark, with as many places as it needs.
fn marked(value: f64) -> String {
    if value >= 100.0 {
        return crate::output::grouped(value.round() as u64);
    }
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// To the right of the bars, the uppermost part first, as it lies in them.
fn legend(root: &Area, x: i32, panels: &[Panel]) -> Result<(), Box<dyn std::error::Error>> {
    let style = ("sans-serif", 15).into_text_style(root).pos(Pos::new(HPos::Left, VPos::Center));
    let several = panels.len() > 1;
    let mut y = 90;
    for panel in panels {
        let shown_parts = panel.shown_parts();
        if several {
            root.draw(&Text::new(panel.name.to_string(), (x, y), style.clone()))?;
            y += 26;
        } else if shown_parts.len() < 2 {
            continue;
        }
        for &i in shown_parts.iter().rev() {
            let colour = colour_of(panels, panel.parts[i]);
            root.draw(&Rectangle::new([(x, y - 7), (x + 14, y + 7)], colour.filled()))?;
            root.draw(&Text::new(panel.parts[i].to_string(), (x + 22, y), style.clone()))?;
            y += 26;
        }
        y += 14;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_marks_whatever_their_span() {
        let marks = |span| round_numbers(&span).into_iter().map(marked).collect::<Vec<_>>().join(" ");
        assert_eq!(marks(0.9..42.0), "1 2 5 10 20");
        assert_eq!(marks(0.28..1.2), "0.3 0.4 0.6 0.8 1");
        assert_eq!(marks(0.9..2.8), "1 1.5 2");
        assert_eq!(marks(0.9..1200.0), "1 10 100 1,000");
        assert_eq!(marks(0.85..1.25), "0.9 1 1.1 1.2");
        assert_eq!([0.3, 1.0, 1.5, 20.0, 10_000.0].map(marked), ["0.3", "1", "1.5", "20", "10,000"]);
    }

    #[test]
    fn a_line_that_goes_with_another_has_its_colour_and_is_dashed() {
        let line = |name: &str, like| Curve { name: name.into(), like, points: vec![(32.0, 1.0), (512.0, 2.5)] };
        let lines = [line("SC", None), line("T", None), line("T custom", Some(1)), line("T-1", None)];
        assert_eq!(colours(&lines), [COLOURS[0], COLOURS[1], COLOURS[1], COLOURS[2]]);
        let svg = curves("title", "bytes", "time", &lines).unwrap();
        for mark in ["32", "512", "1", "1.5", "2", "T custom"] {
            assert!(svg.contains(&format!("\n{mark}\n")), "{mark} in {svg}");
        }
    }

    #[test]
    fn what_is_nothing_everywhere_is_not_in_the_legend() {
        let bars = [Bar { label: "SC".into(), values: vec![70.0, 0.0, 30.0], above: None }];
        let svg = stacked_bars("title", "percent", &["compute", "handler", "read stall"], &bars).unwrap();
        assert!(svg.contains("read stall") && !svg.contains("handler"), "{svg}");
    }

    #[test]
    fn bars_of_two_scales_stand_beside_each_other_with_one_legend() {
        let bars = |value| [Bar { label: "bar".into(), values: vec![value, 1.0], above: None }];
        let (many, few) = (bars(90_000.0), bars(3.0));
        let svg = panels(
            "title",
            &[
                Panel { name: "left", unit: "cycles", parts: &["compute", "read"], bars: &many },
                Panel { name: "right", unit: "seconds", parts: &["compute", "wait"], bars: &few },
            ],
        );
        let svg = svg.unwrap();
        for words in ["left", "right", "cycles", "seconds", "90,001", "4.0"] {
            assert!(svg.contains(&format!("\n{words}\n")), "{words} in {svg}");
        }
        // A bar and a place in the legend on each side: the same part has the same colour.
        let of = |colour: RGBColor| svg.matches(&format!("#{:02X}{:02X}{:02X}", colour.0, colour.1, colour.2)).count();
        assert_eq!([COLOURS[0], COLOURS[1], COLOURS[2]].map(of), [4, 2, 2], "{svg}");
    }
}
