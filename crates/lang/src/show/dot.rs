//! The state diagrams for Graphviz.

use super::diagram::{graph, joined};
use super::summary::*;
use std::fmt::Write;
use trivium_protocol::*;

/// One directed graph with a cluster for each role: waiting states dashed, edges labelled `event / messages sent`.
pub fn dot(protocol: &Protocol) -> String {
    let mut text = format!("digraph {} {{\n  rankdir=TB;\n  compound=true;\n", quoted(&protocol.name));
    text.push_str(
        "  node [shape=box, style=rounded, fontname=\"Helvetica\"];\n  edge [fontname=\"Helvetica\", fontsize=10];\n",
    );
    for (r, table) in tables(protocol).iter().enumerate() {
        let role = table.role;
        let graph = graph(protocol, table);
        let title = format!("{} of {}", role.name, protocol.objects[role.object.index()]);
        let _ = write!(text, "\n  subgraph cluster_{r} {{\n    label={};\n    color=gray;\n", quoted(&title));
        for (n, node) in graph.nodes.iter().enumerate() {
            let access = if node.access == Access::None { String::new() } else { format!("\n{}", node.access) };
            let style = if node.waiting { ", style=\"rounded,dashed\"" } else { "" };
            let start = if node.first { ", penwidth=2" } else { "" };
            let _ = writeln!(text, "    r{r}s{n} [label={}{style}{start}];", quoted(&format!("{}{access}", node.name)));
        }
        for edge in &graph.edges {
            let label = joined(&edge.labels).join("\n");
            let _ = writeln!(text, "    r{r}s{} -> r{r}s{} [label={}];", edge.from, edge.to, quoted(&label));
        }
        for (n, node) in graph.nodes.iter().enumerate().filter(|(_, node)| !node.loops.is_empty()) {
            let label = joined(&node.loops).join("\n");
            let _ = writeln!(text, "    r{r}s{n} -> r{r}s{n} [label={}];", quoted(&label));
        }
        text.push_str("  }\n");
    }
    text.push_str("}\n");
    text
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
