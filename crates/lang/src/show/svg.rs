//! The state diagrams, drawn.

use super::diagram::{Edge, Graph, Node, graph, joined};
use super::summary::*;
use std::fmt::Write;
use trivium_protocol::*;

mod place;

use place::{Point, Rect};

/// Width of a letter and height of a line of the labels, in pixels (a sans-serif of 11 pixels, generously).
const LETTER: f64 = 6.2;
const LINE: f64 = 14.0;
/// The same of a state's name (13 pixels, bold).
const NAME_LETTER: f64 = 8.0;
const NAME_LINE: f64 = 17.0;
/// And of a role's heading (14 pixels, bold).
const HEADING_LETTER: f64 = 8.6;

/// A self-contained SVG: for each role its states from left to right, waiting ones dashed, with arrows labelled
/// `event / messages sent`. What leaves a state as it is stands inside its box.
pub fn svg(protocol: &Protocol) -> String {
    let mut body = String::new();
    let (mut width, mut y) = (0.0f64, 50.0);
    for table in tables(protocol) {
        let graph = graph(protocol, &table);
        let role = table.role;
        let title = format!("{} of {}, {}", role.name, protocol.objects[role.object.index()], lives(role));
        let _ = writeln!(body, "<text x=\"20\" y=\"{y:.0}\" class=\"role\">{}</text>", escaped(&title));
        let placed = place::place(&graph);
        let _ = writeln!(body, "<g transform=\"translate(20 {:.0})\">", y + 16.0);
        draw(&mut body, &graph, &placed);
        body.push_str("</g>\n");
        width = width.max(placed.width).max(title.chars().count() as f64 * HEADING_LETTER);
        y += placed.height + 60.0;
    }
    let (width, height) = (width + 40.0, y - 20.0);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\">\n\
         <title>{name}</title>\n<style>\n\
         text {{ font-family: Helvetica, Arial, sans-serif; font-size: 11px; fill: #222 }}\n\
         .title {{ font-size: 18px; font-weight: bold }}\n.role {{ font-size: 14px; font-weight: bold; fill: #555 }}\n\
         .name {{ font-size: 13px; font-weight: bold }}\n.access {{ fill: #666 }}\n\
         rect.state {{ fill: #eef3fa; stroke: #33557f; stroke-width: 1.4 }}\n\
         rect.read {{ fill: #e5f4e3 }}\nrect.write {{ fill: #fbe9d7 }}\nrect.waiting {{ stroke-dasharray: 5 3 }}\nrect.first {{ stroke-width: 3 }}\n\
         path.edge {{ fill: none; stroke: #555; stroke-width: 1.2 }}\nrect.label {{ fill: white; fill-opacity: 0.88 }}\n</style>\n\
         <defs><marker id=\"tip\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">\
         <path d=\"M0 0L10 5L0 10z\" fill=\"#555\"/></marker></defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text x=\"20\" y=\"26\" class=\"title\">{name}</text>\n{body}</svg>\n",
        name = escaped(&protocol.name),
    )
}

fn draw(body: &mut String, graph: &Graph, placed: &place::Placed) {
    for curve in &placed.curves {
        let [a, b, c, d] = curve.points;
        let _ = writeln!(
            body,
            "<path class=\"edge\" marker-end=\"url(#tip)\" d=\"M{:.1} {:.1}C{:.1} {:.1} {:.1} {:.1} {:.1} {:.1}\"/>",
            a.x, a.y, b.x, b.y, c.x, c.y, d.x, d.y
        );
    }
    for (node, rect) in graph.nodes.iter().zip(&placed.nodes) {
        state(body, node, rect);
    }
    for (edge, curve) in graph.edges.iter().zip(&placed.curves) {
        let rect = curve.label;
        let _ = writeln!(
            body,
            "<rect class=\"label\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
            rect.x, rect.y, rect.width, rect.height
        );
        for (i, line) in joined(&edge.labels).iter().enumerate() {
            text(body, "", Point { x: rect.x + rect.width / 2.0, y: rect.y + LINE * (i as f64 + 0.8) }, line);
        }
    }
}

fn state(body: &mut String, node: &Node, rect: &Rect) {
    let mut class = String::from("state");
    match node.access {
        Access::None => {}
        Access::Read => class.push_str(" read"),
        Access::Write => class.push_str(" write"),
    }
    if node.waiting {
        class.push_str(" waiting");
    }
    if node.first {
        class.push_str(" first");
    }
    let _ = writeln!(
        body,
        "<rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"8\"/>",
        rect.x, rect.y, rect.width, rect.height
    );
    let (names, small) = node_lines(node);
    let tall = names.len() as f64 * NAME_LINE + small.len() as f64 * LINE;
    let mut at = Point { x: rect.x + rect.width / 2.0, y: rect.y + (rect.height - tall) / 2.0 };
    for name in &names {
        text(body, "name", Point { x: at.x, y: at.y + 13.0 }, name);
        at.y += NAME_LINE;
    }
    for line in &small {
        text(body, "access", Point { x: at.x, y: at.y + 11.0 }, line);
        at.y += LINE;
    }
}

/// The lines in a state's box: its name; its access and what leaves it as it is.
fn node_lines(node: &Node) -> (Vec<String>, Vec<String>) {
    let names = node.name.lines().map(String::from).collect();
    let mut small = Vec::new();
    if node.access != Access::None {
        small.push(format!("access: {}", node.access));
    }
    small.extend(joined(&node.loops).iter().map(|l| format!("stays: {l}")));
    (names, small)
}

/// Width and height of a state's box, without room for arrows.
fn node_size(node: &Node) -> (f64, f64) {
    let (names, small) = node_lines(node);
    let widest =
        |lines: &[String], letter: f64| lines.iter().map(|l| l.chars().count() as f64 * letter).fold(0.0, f64::max);
    let width = widest(&names, NAME_LETTER).max(widest(&small, LETTER)) + 20.0;
    (width, names.len() as f64 * NAME_LINE + small.len() as f64 * LINE + 14.0)
}

/// Width and height of an arrow's label.
fn label_size(edge: &Edge) -> (f64, f64) {
    let lines = joined(&edge.labels);
    let width = lines.iter().map(|l| l.chars().count() as f64 * LETTER).fold(0.0, f64::max);
    (width + 6.0, lines.len() as f64 * LINE + 2.0)
}

fn text(body: &mut String, class: &str, at: Point, words: &str) {
    let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
    let _ = writeln!(
        body,
        "<text{class} text-anchor=\"middle\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
        at.x,
        at.y,
        escaped(words)
    );
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
