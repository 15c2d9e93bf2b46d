//! The graph of a role: which state leads to which, on what event.

use super::summary::*;
use super::text::{lines, sent_words, shortened};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use trivium_protocol::*;

/// A role's states with what leads from one to another.
pub(super) struct Graph {
    pub nodes: Vec<Node>,
    /// One edge for each pair of nodes, with a line for each event that leads from the first to the second.
    pub edges: Vec<Edge>,
}

/// A state, or several waiting states that begin in one state and behave alike.
pub(super) struct Node {
    pub name: String,
    pub access: Access,
    pub waiting: bool,
    /// Whether records may begin in it.
    pub first: bool,
    /// The events that leave it as it is.
    pub loops: Vec<String>,
}

pub(super) struct Edge {
    pub from: usize,
    pub to: usize,
    pub labels: Vec<String>,
}

/// The graph of a role.
pub(super) fn graph(protocol: &Protocol, table: &Table) -> Graph {
    let role = table.role;
    let begins = begins_in(protocol, role);
    let mut graph = Graph { nodes: Vec::new(), edges: Vec::new() };
    let mut node_of: Vec<usize> = Vec::new();
    let mut waiting: HashMap<Vec<String>, usize> = HashMap::new();
    let mut edge_of = HashMap::new();
    for (s, state) in role.states.iter().enumerate() {
        // Waiting states that are alike are one box.
        let same = match waiting.entry(key(protocol, table, s)) {
            Entry::Occupied(one) if state.waiting => Some(*one.get()),
            Entry::Vacant(place) if state.waiting => {
                place.insert(graph.nodes.len());
                None
            }
            _ => None,
        };
        node_of.push(same.unwrap_or(graph.nodes.len()));
        match same {
            Some(box_of_both) => also_known_as(&mut graph.nodes[box_of_both].name, &state.name),
            None => graph.nodes.push(Node {
                name: state.name.clone(),
                access: state.access,
                waiting: state.waiting,
                first: begins.contains(&StateId::at(s)),
                loops: Vec::new(),
            }),
        }
    }
    for (s, row) in table.cells.iter().enumerate() {
        for (event, cell) in table.events.iter().zip(row) {
            let Cell::Handle(outcomes) = cell else { continue };
            for outcome in outcomes {
                add(&mut graph, &mut edge_of, &node_of, s, event, outcome);
            }
        }
    }
    graph
}

/// What must be equal in two waiting states for them to be drawn as one.
fn key(protocol: &Protocol, table: &Table, s: usize) -> Vec<String> {
    let state = &table.role.states[s];
    let begins = state.name.split('.').next().unwrap_or("").to_string();
    let lowered = state.name.split_once('(').map_or(String::new(), |(_, l)| l.to_string());
    let mut key = vec![begins, lowered, state.access.to_string(), format!("{:?}", state.awaits)];
    key.extend(table.cells[s].iter().map(|cell| lines(protocol, table.role, cell).join("\n")));
    key
}

/// `Lent.GetWrite.Back` and `Lent.write.Back` are `Lent.GetWrite|write.Back` together.
fn also_known_as(name: &mut String, other: &str) {
    let mut parts: Vec<String> = name.split('.').map(String::from).collect();
    let others: Vec<&str> = other.split('.').collect();
    let differ = (0..parts.len().min(others.len())).filter(|&i| parts[i] != others[i]);
    match (&differ.collect::<Vec<_>>()[..], parts.len() == others.len()) {
        ([one], true) => parts[*one] = format!("{}|{}", parts[*one], others[*one]),
        _ => {
            name.push_str(&format!("\n{other}"));
            return;
        }
    }
    *name = parts.join(".");
}

/// `edge_of` finds the edge between two nodes.
fn add(
    graph: &mut Graph,
    edge_of: &mut HashMap<(usize, usize), usize>,
    node_of: &[usize],
    from: usize,
    event: &str,
    outcome: &HandlerSummary,
) {
    let from = node_of[from];
    for path in &outcome.paths {
        let label = label(event, outcome.guard.as_deref(), path);
        let to = path.target.map_or(from, |t| node_of[t.index()]);
        if to == from {
            push(&mut graph.nodes[from].loops, label);
            continue;
        }
        match edge_of.entry((from, to)) {
            Entry::Occupied(edge) => push(&mut graph.edges[*edge.get()].labels, label),
            Entry::Vacant(place) => {
                place.insert(graph.edges.len());
                graph.edges.push(Edge { from, to, labels: vec![label] });
            }
        }
    }
}

fn push(labels: &mut Vec<String>, label: String) {
    if !labels.contains(&label) {
        labels.push(label);
    }
}

/// `GetRead / Shared → sender`.
fn label(event: &str, guard: Option<&str>, path: &Path) -> String {
    let guard = guard.map_or(String::new(), |g| format!(" [{}]", shortened(g, 24)));
    if path.sends.is_empty() {
        return format!("{event}{guard}");
    }
    let sends: Vec<String> = path.sends.iter().map(sent_words).collect();
    format!("{event}{guard} / {}", sends.join(", "))
}

/// Lines that say the same but for the event are one: `GetRead, read / Recall → owner`.
pub(super) fn joined(labels: &[String]) -> Vec<String> {
    let mut lines: Vec<(Vec<&str>, &str)> = Vec::new();
    for label in labels {
        let (event, rest) = label.split_once(" / ").unwrap_or((label, ""));
        match lines.iter_mut().find(|(_, r)| *r == rest) {
            Some((events, _)) => events.push(event),
            None => lines.push((vec![event], rest)),
        }
    }
    let line = |(events, rest): &(Vec<&str>, &str)| match *rest {
        "" => events.join(", "),
        rest => format!("{} / {rest}", events.join(", ")),
    };
    lines.iter().map(line).collect()
}
