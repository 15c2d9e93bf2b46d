//! How often something took how long, as bars.

use super::{COLOURS, GRID, LETTER, WIDTH, drawn, title_size};
use crate::Failure;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// How often each of several spans of time was met.
#[derive(Clone, Debug)]
pub struct Histogram {
    /// What was timed.
    pub name: String,
    /// One for each span, as many in all histograms of a picture.
    pub counts: Vec<u64>,
}

/// Height of the place of one of them.
const EACH: u32 = 220;

/// Draws histograms, two beside each other, over one logarithmic scale. `edges`: what stands below each bar.
///
/// # Errors
/// The picture cannot be drawn.
pub fn histograms(title: &str, below: &str, edges: &[String], all: &[Histogram]) -> Result<String, Failure> {
    drawn(|text| draw(text, title, below, edges, all))
}

fn draw(
    text: &mut String,
    title: &str,
    below: &str,
    edges: &[String],
    all: &[Histogram],
) -> Result<(), Box<dyn std::error::Error>> {
    let rows = all.len().div_ceil(2).max(1);
    let root = SVGBackend::with_string(text, (WIDTH, 40 + EACH * rows as u32)).into_drawing_area();
    root.fill(&WHITE)?;
    let places = root.titled(title, ("sans-serif", title_size(title, WIDTH - 36)))?.split_evenly((rows, 2));
    let most = all.iter().flat_map(|histogram| &histogram.counts).copied().max().unwrap_or(1).max(1);
    // The scale ends at the power of ten above; a bar of one is seen, since it begins below.
    let (bottom, top) = (0.5, 10_f64.powf((most as f64).log10().floor() + 1.0));
    for (place, histogram) in places.iter().zip(all) {
        let mut chart = ChartBuilder::on(place)
            .caption(&histogram.name, ("sans-serif", 15))
            .margin(8)
            .x_label_area_size(38)
            .y_label_area_size(52)
            .build_cartesian_2d(0.0..edges.len() as f64, (bottom..top).log_scale())?;
        chart
            .configure_mesh()
            .disable_mesh()
            .set_all_tick_mark_size(0)
            .x_label_formatter(&|_| String::new())
            .y_label_formatter(&|_| String::new())
            .x_desc(below)
            .axis_desc_style(("sans-serif", 13))
            .draw()?;
        let label = ("sans-serif", 11).into_text_style(&root);
        let mut power = 1.0;
        while power <= top {
            chart.draw_series([PathElement::new([(0.0, power), (edges.len() as f64, power)], GRID)])?;
            let (side, at) = chart.backend_coord(&(0.0, power));
            root.draw(&Text::new(format!("{power}"), (side - 6, at), label.pos(Pos::new(HPos::Right, VPos::Center))))?;
            power *= 10.0;
        }
        let bars = histogram.counts.iter().enumerate().filter(|(_, count)| **count > 0).map(|(number, count)| {
            let x = number as f64;
            Rectangle::new([(x + 0.15, bottom), (x + 0.85, *count as f64)], COLOURS[0].filled())
        });
        chart.draw_series(bars)?;
        let mut free_from = f64::MIN;
        for (number, edge) in edges.iter().enumerate() {
            let (at, base) = chart.backend_coord(&(number as f64 + 0.5, bottom));
            // A mark that would stand over the one before it is left out.
            let half = edge.chars().count() as f64 * 11.0 * LETTER / 2.0;
            if f64::from(at) - half >= free_from {
                free_from = f64::from(at) + half + 2.0;
                root.draw(&Text::new(edge.clone(), (at, base + 5), label.pos(Pos::new(HPos::Center, VPos::Top))))?;
            }
        }
    }
    root.present()?;
    Ok(())
}
