//! Runs as one self-contained HTML page: where the time went, what was sent, what limits. It asks nothing of any server.

mod blame;
mod limits;

use crate::output::grouped;
use crate::settings::flat;
use std::fmt::Write;
use trivium_sim::{Counters, MissReport, NODE_STATISTICS, PARTS_OF_TIME, RUN_STATISTICS, SimResult, node_statistic};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// A run, and what one remote read miss costs on its machine under its first protocol, if that has such misses.
pub struct Shown<'a> {
    /// The run.
    pub result: &'a SimResult,
    /// The miss.
    pub miss: Option<MissReport>,
}

/// The page; `base` are the cycles of the best run on one node, if there is one.
pub fn page(runs: &[Shown], base: Option<u64>) -> String {
    let title = runs.first().map_or(String::new(), |run| title(run.result));
    let mut body = format!("<h1>{}</h1>\n", escaped(&title));
    if let Some(first) = runs.first() {
        let nodes = first.result.nodes;
        let _ = writeln!(
            body,
            "<p class=\"soft\">{nodes} nodes, blocks of {} bytes. Trivium {}</p>",
            first.result.block, first.result.version
        );
    }
    body.push_str(&overview(runs, base));
    runs.iter().for_each(|run| body.push_str(&section(run)));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n{body}</main>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        escaped(&title)
    )
}

fn title(result: &SimResult) -> String {
    format!("{} {}", result.program, result.args.join(" ")).trim_end().to_string()
}

fn name(result: &SimResult) -> String {
    format!("{} on {}", result.protocols.join(" + "), result.machine)
}

/// All runs in one table and one picture.
fn overview(runs: &[Shown], base: Option<u64>) -> String {
    let mut head = heads(&[("machine", ""), ("protocol", "")], true);
    for statistic in RUN_STATISTICS {
        head.push_str(&heads(&[(&statistic.name.replace('.', " "), statistic.definition())], false));
    }
    if base.is_some() {
        head.push_str(&heads(&[("speedup", "Time of the best run on one node divided by that of this run.")], false));
    }
    let row = |run: &Shown| {
        let words = [run.result.machine.clone(), run.result.protocols.join(" + ")]
            .map(|word| format!("<td class=\"word\">{}</td>", escaped(&word)));
        let numbers: String = RUN_STATISTICS.iter().map(|statistic| number((statistic.of)(run.result))).collect();
        let speedup = base.map_or(String::new(), |base| {
            let speedup = base as f64 / run.result.cycles.max(1) as f64;
            format!("<td data-value=\"{speedup}\">{speedup:.2}</td>")
        });
        format!("<tr>{}{numbers}{speedup}</tr>\n", words.concat())
    };
    let rows: String = runs.iter().map(row).collect();
    let longest = runs.iter().map(|run| run.result.cycles).max().unwrap_or(1).max(1);
    let bar = |run: &Shown| {
        let nodes = run.result.per_node.len().max(1) as u64;
        let sum = sum(run.result);
        let width = 100.0 * sum.cycles as f64 / nodes as f64 / longest as f64;
        let label = escaped(&name(run.result));
        format!(
            "<div>{label}</div>{}<div class=\"soft\">{}</div>\n",
            stack(&sum, width, ""),
            grouped(run.result.cycles)
        )
    };
    let bars: String = runs.iter().map(bar).collect();
    format!(
        "<section>\n<h2>Runs</h2>\n<div class=\"wide\"><table class=\"sortable\"><thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n\
         <h3>Where a node's time goes: the mean node, and the cycles of the run</h3>\n{}<div class=\"bars\">\n{bars}</div>\n</section>\n",
        legend()
    )
}

/// One run.
fn section(run: &Shown) -> String {
    let result = run.result;
    let mut out = format!("<section>\n<h2>{}</h2>\n", escaped(&name(result)));
    if let Some(why) = &result.incomplete {
        let _ = writeln!(out, "<p><b>Incomplete</b>: {}; counts are those so far.</p>", escaped(why));
    }
    let limits: String = limits::of(result).iter().map(|line| format!("<p>{}</p>", escaped(line))).collect();
    let _ = writeln!(out, "<div class=\"limits\">{limits}</div>");
    let _ = writeln!(out, "<h3>Nodes: share of time</h3>\n{}<div class=\"bars\">", legend());
    let longest = result.per_node.iter().map(|node| node.cycles).max().unwrap_or(1).max(1);
    for (number, node) in result.per_node.iter().enumerate() {
        let width = 100.0 * node.cycles as f64 / longest as f64;
        let busy = 100.0 * node.engine_busy as f64 / node.cycles.max(1) as f64;
        let _ = writeln!(
            out,
            "<div>{number}</div>{}<div class=\"soft\">engine {busy:.0} %</div>",
            stack(node, width, " thin")
        );
    }
    out.push_str("</div>\n<div class=\"pair\">\n");
    out.push_str(&messages(result));
    if let Some(miss) = &run.miss {
        out.push_str(&steps(miss, result.block));
    }
    out.push_str("</div>\n");
    out.push_str(&result.blame.as_ref().map_or(String::new(), blame::section));
    out.push_str(&nodes(result));
    out.push_str(&settings(result));
    if !result.output.is_empty() {
        let _ = writeln!(out, "<h3>Output</h3>\n<pre>{}</pre>", escaped(&result.output));
    }
    out.push_str("</section>\n");
    out
}

/// Messages by kind, each with a bar.
fn messages(result: &SimResult) -> String {
    let most = result.messages.values().max().copied().unwrap_or(0).max(1);
    let row = |(kind, count): (&String, &u64)| {
        let width = 100.0 * *count as f64 / most as f64;
        format!(
            "<div>{}</div><div class=\"bar thin\"><span class=\"accent\" style=\"width:{width:.2}%\"></span></div><div>{}</div>\n",
            escaped(kind),
            grouped(*count)
        )
    };
    let rows: String = result.messages.iter().map(row).collect();
    let rows = if rows.is_empty() { "<div class=\"soft\">none</div>".to_string() } else { rows };
    format!("<div><h3>Messages</h3>\n<div class=\"bars\">\n{rows}</div></div>\n")
}

/// The steps of a miss.
fn steps(miss: &MissReport, block: u64) -> String {
    let row = |node: &str, step: &str, cycles: u64, class: &str| {
        format!(
            "<tr{class}><td class=\"word\">{}</td><td class=\"word\">{}</td><td>{}</td></tr>\n",
            escaped(node),
            escaped(step),
            grouped(cycles)
        )
    };
    let rows: String = miss.steps.iter().map(|step| row(&step.node, &step.step, step.cycles, "")).collect();
    format!(
        "<div class=\"wide\"><h3>A remote read miss of {block} bytes on the quiet machine</h3>\n<table><tbody>\n{rows}{}</tbody></table></div>\n",
        row("total", "", miss.total, " class=\"sum\"")
    )
}

/// The counters of the nodes.
fn nodes(result: &SimResult) -> String {
    let mut head = heads(&[("node", "")], false);
    for statistic in NODE_STATISTICS {
        head.push_str(&heads(&[(&statistic.heading(), statistic.definition())], false));
    }
    let row = |(at, node): (usize, &Counters)| {
        let cells: String = NODE_STATISTICS.iter().map(|statistic| number((statistic.of)(node))).collect();
        format!("<tr>{}{cells}</tr>\n", number(at as u64))
    };
    let rows: String = result.per_node.iter().enumerate().map(row).collect();
    format!(
        "<details><summary><h3 style=\"display:inline\">Counters of the nodes</h3></summary>\n<div class=\"wide\"><table class=\"sortable\"><thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody></table></div></details>\n"
    )
}

/// What the run was made with.
fn settings(result: &SimResult) -> String {
    let row = |(name, value): &(String, String)| {
        format!("<tr><td class=\"word\">{}</td><td class=\"word\">{}</td></tr>\n", escaped(name), escaped(value))
    };
    let rows: String = flat(&result.settings).iter().map(row).collect();
    format!(
        "<details class=\"settings\"><summary><h3 style=\"display:inline\">Settings</h3></summary>\n<div class=\"wide\"><table><tbody>\n{rows}</tbody></table></div></details>\n"
    )
}

/// The parts of a node's time as a bar.
fn stack(node: &Counters, width: f64, class: &str) -> String {
    let time = node.cycles.max(1) as f64;
    let part = |name: &&str| {
        let cycles = node_statistic(name).map_or(0, |statistic| (statistic.of)(node));
        let share = 100.0 * cycles as f64 / time;
        let heading = name.replace('_', " ");
        format!(
            "<span class=\"{name}\" style=\"width:{:.3}%\" title=\"{heading}: {share:.1} %\"></span>",
            share * width / 100.0
        )
    };
    let parts: String = PARTS_OF_TIME.iter().map(part).collect();
    format!("<div class=\"bar{class}\">{parts}</div>")
}

fn legend() -> String {
    let item = |name: &&str| {
        let definition = node_statistic(name).map_or("", |statistic| statistic.definition());
        format!("<li title=\"{}\"><i class=\"{name}\"></i>{}</li>", escaped(definition), name.replace('_', " "))
    };
    format!("<ul class=\"legend\">{}</ul>\n", PARTS_OF_TIME.iter().map(item).collect::<String>())
}

/// The sum over all nodes.
fn sum(result: &SimResult) -> Counters {
    result.per_node.iter().fold(Counters::default(), |sum, node| sum.plus(node))
}

fn heads(heads: &[(&str, &str)], words: bool) -> String {
    let class = if words { " class=\"word\"" } else { "" };
    heads.iter().map(|(name, what)| format!("<th{class} title=\"{}\">{}</th>", escaped(what), escaped(name))).collect()
}

fn number(value: u64) -> String {
    format!("<td data-value=\"{value}\">{}</td>", grouped(value))
}

/// Text for HTML or SVG, between tags and in attributes.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
