//! What the nodes of a program have changed of its folder, put together.

use serde::Serialize;
use std::collections::BTreeMap;
use trivium_diagnostic::Code;
use trivium_engine::Node;
use trivium_guest::FileChange;
use trivium_node::NodeError;

/// Something that a program has changed of its folder. On the host it has not been, yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Changed {
    /// Its path in the folder.
    pub path: String,
    /// `written`, `folder` (made) or `removed`.
    pub change: &'static str,
    /// Bytes of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// SHA-256 of a file, in hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// The nodes that did it.
    pub nodes: Vec<Node>,
    /// Whether it has been carried out on the host.
    pub carried_out: bool,
    /// What to do.
    #[serde(skip)]
    pub what: FileChange,
}

/// What to do about nodes that disagree.
const HELP: &str = "let one node write it, or let each write a file of its own: nodes do not see each other's changes";

fn told(change: &FileChange) -> &'static str {
    match change {
        FileChange::Written(_) => "written",
        FileChange::Folder => "folder",
        FileChange::Removed => "removed",
    }
}

fn did(node: Node, change: &FileChange) -> String {
    match change {
        FileChange::Written(bytes) => format!("node {node} wrote {} bytes", bytes.len()),
        FileChange::Folder => format!("node {node} made a folder"),
        FileChange::Removed => format!("node {node} removed it"),
    }
}

/// The changes of all nodes, by path.
///
/// # Errors
/// Two nodes have made different things of one path.
pub(super) fn together(of_nodes: Vec<(Node, BTreeMap<String, FileChange>)>) -> Result<Vec<Changed>, NodeError> {
    let mut all: BTreeMap<String, Changed> = BTreeMap::new();
    for (node, changes) in of_nodes {
        for (path, change) in changes {
            let Some(known) = all.get_mut(&path) else {
                let bytes = match &change {
                    FileChange::Written(bytes) => Some(bytes.len() as u64),
                    FileChange::Folder | FileChange::Removed => None,
                };
                let (change, sha256, what) = (told(&change), change.hash(), change);
                let changed =
                    Changed { path: path.clone(), change, bytes, sha256, nodes: vec![node], carried_out: false, what };
                all.insert(path, changed);
                continue;
            };
            if known.what != change {
                return Err(disagree(&path, (known.nodes[0], &known.what), (node, &change)));
            }
            known.nodes.push(node);
        }
    }
    // What one node has put into a folder that another has removed would have no place.
    for changed in all.values().filter(|changed| changed.what != FileChange::Removed) {
        let mut above = changed.path.match_indices('/').filter_map(|(at, _)| all.get(&changed.path[..at]));
        if let Some(above) = above.rfind(|above| above.what != FileChange::Folder) {
            let error = disagree(&above.path, (above.nodes[0], &above.what), (changed.nodes[0], &changed.what));
            return Err(error.note(format!("that of node {} is {}, in it", changed.nodes[0], changed.path)));
        }
    }
    Ok(all.into_values().collect())
}

fn disagree(path: &str, (one, by_one): (Node, &FileChange), (other, by_other): (Node, &FileChange)) -> NodeError {
    let differ = match (by_one, by_other) {
        (FileChange::Written(_), FileChange::Written(_)) => ", with different contents",
        _ => "",
    };
    NodeError::subject(
        Code::Program,
        format!(
            "two nodes have changed {path} in the folder in different ways: {}, {}{differ}",
            did(one, by_one),
            did(other, by_other)
        ),
    )
    .help(HELP)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn written(text: &str) -> FileChange {
        FileChange::Written(Arc::new(text.as_bytes().to_vec()))
    }

    fn of(node: Node, changes: &[(&str, FileChange)]) -> (Node, BTreeMap<String, FileChange>) {
        (node, changes.iter().map(|(path, change)| (path.to_string(), change.clone())).collect())
    }

    #[test]
    fn equal_changes_are_one_and_different_ones_an_error() {
        let all = together(vec![
            of(0, &[("a", written("x")), ("d", FileChange::Folder), ("d/b", written("0"))]),
            of(1, &[("a", written("x")), ("d", FileChange::Folder), ("old", FileChange::Removed)]),
        ])
        .unwrap();
        let told: Vec<_> = all.iter().map(|one| (one.path.as_str(), one.change, one.nodes.as_slice())).collect();
        let expected: [(&str, &str, &[Node]); 4] =
            [("a", "written", &[0, 1]), ("d", "folder", &[0, 1]), ("d/b", "written", &[0]), ("old", "removed", &[1])];
        assert_eq!(told, expected);
        for (one, other, words) in [
            (
                ("a", written("x")),
                ("a", written("y")),
                ["a in", "node 3 wrote 1 bytes", "node 7 wrote", "different contents"],
            ),
            (("a", written("x")), ("a", FileChange::Removed), ["a in", "node 3 wrote", "node 7 removed it", ""]),
            (
                ("a", FileChange::Removed),
                ("a/b", written("y")),
                ["a in", "node 3 removed", "node 7 wrote", "in different ways"],
            ),
            (("a/b", written("")), ("a", written("y")), ["a in", "node 7 wrote 1 bytes", "node 3 wrote 0", ""]),
        ] {
            let error = together(vec![of(3, &[one]), of(7, &[other])]).unwrap_err().to_string();
            for word in words {
                assert!(error.contains(word), "`{word}` is missing in {error}");
            }
        }
    }
}
