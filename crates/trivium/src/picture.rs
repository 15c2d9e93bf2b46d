//! Stacked bars and lines as SVG.

use crate::Failure;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// One bar.
#[derive(Clone, Debug)]
pub struct Bar {
    /// What stands below it.
    pub label: String,
    /// Its parts, from below.
    pub values: Vec<f64>,
}

/// One line.
#[derive(Clone, Debug)]
pub struct Curve {
    /// What it is.
    pub name: String,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
}

/// Colours that can be told apart in print and by most eyes.
const COLOURS: [RGBColor; 5] = [
    RGBColor(0x33, 0x66, 0x99),
    RGBColor(0xe0, 0x8e, 0x2d),
    RGBColor(0xb8, 0x3b, 0x3b),
    RGBColor(0x8f, 0xb0, 0xb8),
    RGBColor(0x6b, 0x4f, 0x8a),
];

const SIZE: (u32, u32) = (960, 560);

/// Draws bars with a legend for their parts.
///
/// # Errors
/// The picture cannot be drawn.
pub fn stacked_bars(title: &str, unit: &str, parts: &[&str], bars: &[Bar]) -> Result<String, Failure> {
    let mut text = String::new();
    draw(&mut text, title, unit, parts, bars)
        .map_err(|e| Failure::input(format!("the picture cannot be drawn: {e}"), ""))?;
    Ok(text)
}

fn draw(
    text: &mut String,
    title: &str,
    unit: &str,
    parts: &[&str],
    bars: &[Bar],
) -> Result<(), Box<dyn std::error::Error>> {
    let root = SVGBackend::with_string(text, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let total = |bar: &Bar| bar.values.iter().sum::<f64>();
    let top = bars.iter().map(total).fold(1.0, f64::max) * 1.12;
    let mut chart = ChartBuilder::on(&root)
        .caption(title, ("sans-serif", 22))
        .margin(18)
        .margin_right(150)
        .x_label_area_size(36)
        .y_label_area_size(96)
        .build_cartesian_2d(0.0..bars.len() as f64, 0.0..top)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(0)
        .y_desc(unit)
        .y_label_formatter(&|v| shown(*v, top))
        .axis_desc_style(("sans-serif", 15))
        .label_style(("sans-serif", 13))
        .light_line_style(WHITE)
        .draw()?;
    for (i, part) in parts.iter().enumerate() {
        let colour = COLOURS[i % COLOURS.len()];
        let boxes = bars.iter().enumerate().map(|(b, bar)| {
            let below: f64 = bar.values[..i].iter().sum();
            let x = b as f64;
            Rectangle::new([(x + 0.2, below), (x + 0.8, below + bar.values[i])], colour.filled())
        });
        chart
            .draw_series(boxes)?
            .label(*part)
            .legend(move |(x, y)| Rectangle::new([(x, y - 6), (x + 12, y + 6)], colour.filled()));
    }
    let below = ("sans-serif", 15).into_text_style(&root).pos(Pos::new(HPos::Center, VPos::Top));
    let above = ("sans-serif", 13).into_text_style(&root).pos(Pos::new(HPos::Center, VPos::Bottom));
    for (b, bar) in bars.iter().enumerate() {
        let (x, y) = chart.backend_coord(&(b as f64 + 0.5, 0.0));
        root.draw(&Text::new(bar.label.clone(), (x, y + 10), below.clone()))?;
        let (x, y) = chart.backend_coord(&(b as f64 + 0.5, total(bar)));
        root.draw(&Text::new(shown(total(bar), top), (x, y - 4), above.clone()))?;
    }
    legend(&root, parts)?;
    root.present()?;
    Ok(())
}

/// Whether it is 1, 2 or 5 times a power of ten: there is no room for more on a logarithmic axis.
fn is_round(value: f64) -> bool {
    let digit = value / 10f64.powf(value.log10().floor());
    [1.0, 2.0, 5.0, 10.0].iter().any(|round| (digit - round).abs() < 1e-6)
}

/// A figure of an axis that goes up to `top`: with a place after the point where whole numbers say too little.
fn shown(value: f64, top: f64) -> String {
    if top < 100.0 { format!("{value:.1}") } else { crate::output::grouped(value.round() as u64) }
}

/// Draws lines over logarithmic axes, with a legend.
///
/// # Errors
/// The picture cannot be drawn.
pub fn curves(title: &str, below: &str, beside: &str, lines: &[Curve]) -> Result<String, Failure> {
    let mut text = String::new();
    draw_curves(&mut text, title, below, beside, lines)
        .map_err(|e| Failure::input(format!("the picture cannot be drawn: {e}"), ""))?;
    Ok(text)
}

fn draw_curves(
    text: &mut String,
    title: &str,
    below: &str,
    beside: &str,
    lines: &[Curve],
) -> Result<(), Box<dyn std::error::Error>> {
    let root = SVGBackend::with_string(text, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let all = || lines.iter().flat_map(|line| line.points.iter());
    let span = |of: fn(&(f64, f64)) -> f64| {
        let (least, most) = (all().map(of).fold(f64::MAX, f64::min), all().map(of).fold(f64::MIN, f64::max));
        // A logarithmic axis of less than this has hardly a mark.
        let room = if most < 3.0 * least { 1.5 } else { 1.12 };
        (least / room)..(most * room)
    };
    let mut chart = ChartBuilder::on(&root)
        .caption(title, ("sans-serif", 22))
        .margin(18)
        .margin_right(190)
        .x_label_area_size(48)
        .y_label_area_size(72)
        .build_cartesian_2d(span(|p| p.0).log_scale(), span(|p| p.1).log_scale())?;
    chart
        .configure_mesh()
        .x_desc(below)
        .y_desc(beside)
        .x_label_formatter(&|v| if is_round(*v) { crate::output::grouped(v.round() as u64) } else { String::new() })
        .y_label_formatter(&|v| match *v {
            v if v < 9.5 => format!("{v:.1}"),
            v if is_round(v) => format!("{v:.0}"),
            _ => String::new(),
        })
        .axis_desc_style(("sans-serif", 15))
        .label_style(("sans-serif", 13))
        .bold_line_style(RGBColor(0xdd, 0xdd, 0xdd))
        .light_line_style(WHITE)
        .draw()?;
    for (i, line) in lines.iter().enumerate() {
        let colour = COLOURS[i % COLOURS.len()];
        // More lines than colours: those of the second round are drawn thinner.
        let width = if i < COLOURS.len() { 3 } else { 1 };
        chart.draw_series(LineSeries::new(line.points.iter().copied(), colour.stroke_width(width)))?;
        chart.draw_series(line.points.iter().map(|point| Circle::new(*point, 4, colour.filled())))?;
    }
    let style = ("sans-serif", 14).into_text_style(&root).pos(Pos::new(HPos::Left, VPos::Center));
    for (row, line) in lines.iter().enumerate() {
        let (x, y) = (SIZE.0 as i32 - 180, 90 + 24 * row as i32);
        let colour = COLOURS[row % COLOURS.len()];
        let thick = if row < COLOURS.len() { 3 } else { 1 };
        root.draw(&Rectangle::new([(x, y - thick), (x + 16, y + thick)], colour.filled()))?;
        root.draw(&Text::new(line.name.clone(), (x + 22, y), style.clone()))?;
    }
    root.present()?;
    Ok(())
}

/// To the right of the bars, the uppermost part first, as it lies in them.
fn legend(
    root: &DrawingArea<SVGBackend, plotters::coord::Shift>,
    parts: &[&str],
) -> Result<(), Box<dyn std::error::Error>> {
    let style = ("sans-serif", 15).into_text_style(root).pos(Pos::new(HPos::Left, VPos::Center));
    let x = SIZE.0 as i32 - 140;
    for (row, i) in (0..parts.len()).rev().enumerate() {
        let y = 90 + 26 * row as i32;
        let colour = COLOURS[i % COLOURS.len()];
        root.draw(&Rectangle::new([(x, y - 7), (x + 14, y + 7)], colour.filled()))?;
        root.draw(&Text::new(parts[i].to_string(), (x + 22, y), style.clone()))?;
    }
    Ok(())
}
