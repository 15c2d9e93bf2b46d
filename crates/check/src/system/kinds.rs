//! What is said of the objects of each kind: how many there are, and where they live.

use crate::config::{System, refused};
use crate::system::model::MOST_OBJECTS;
use crate::system::world::node;
use trivium_diagnostic::Diagnostic;
use trivium_engine::{Node, Object};
use trivium_protocol::{NODE, ObjectKindId, Protocol, Scenario};

/// Of each kind, the homes of objects 0, 1 and so on; behind the last it begins anew.
#[derive(Clone, Debug)]
pub(crate) struct Homes(Vec<Vec<Node>>);

impl Homes {
    /// The homes in a system in which [`check`] has found nothing wrong.
    pub fn new(protocol: &Protocol, system: &System) -> Homes {
        let of = |name: &String| match system.homes.get(name) {
            Some(homes) => homes.iter().map(|&home| node(home)).collect(),
            None => (0..system.nodes).map(node).collect(),
        };
        Homes(protocol.objects.iter().map(of).collect())
    }

    /// The home of an object.
    pub fn of(&self, object: Object) -> Node {
        let homes = &self.0[object.kind.index()];
        homes[object.id as usize % homes.len()]
    }
}

/// The kinds of whose objects something is said are there, and their homes are.
pub(crate) fn check(protocol: &Protocol, system: &System, scenario: Option<&Scenario>) -> Result<(), Diagnostic> {
    let kinds = (0..protocol.objects.len()).map(|kind| ObjectKindId::at(kind));
    let used: Vec<&str> = kinds
        .filter(|&kind| kind != NODE && protocol.uses(kind))
        .map(|kind| protocol.objects[kind.index()].as_str())
        .collect();
    let named = || system.kinds.keys().chain(system.homes.keys());
    let is_made = |name: &&String| protocol.made.iter().any(|made| protocol.objects[made.object.index()] == **name);
    if let Some(name) = named().find(is_made) {
        return Err(refused(
            format!("objects of the kind `{name}` are made by handlers, each at home at the node that makes it"),
            format!("leave `{name}` out: how many there may be is said where the kind is declared, by `up to`"),
        ));
    }
    if let Some(name) = named().find(|name| !used.contains(&name.as_str())) {
        return Err(refused(
            format!("{} has no role about objects of the kind `{name}`", protocol.name),
            match used.as_slice() {
                [] => "it has roles about nodes only".to_string(),
                known => format!("there is `{}`", known.join("`, `")),
            },
        ));
    }
    if let Some((name, count)) = system.kinds.iter().find(|(_, count)| !(1..=MOST_OBJECTS).contains(*count)) {
        return Err(refused(format!("{count} objects of the kind `{name}`"), "explore 1 to 256 objects of a kind"));
    }
    for (name, homes) in &system.homes {
        let wrong = homes.iter().find(|home| **home >= system.nodes);
        if homes.is_empty() || wrong.is_some() {
            let found = wrong
                .map_or("none is named".to_string(), |home| format!("node {home} is not among {} nodes", system.nodes));
            let known = format!("name nodes 0 to {}, with `/` between them", system.nodes - 1);
            // Where the scenario says it, what it says has a place.
            let own = scenario.filter(|scenario| scenario.homes.get(name) == Some(homes));
            let at = own.and_then(|scenario| {
                scenario.homes_at.iter().find(|(kind, home, _)| kind == name && Some(home) == wrong)
            });
            return Err(match (own, at) {
                (Some(scenario), Some((_, _, span))) => refused(
                    format!(
                        "{}: the homes of `{name}` in the scenario `{}`: {found}",
                        protocol.sources.place(*span),
                        scenario.name
                    ),
                    format!("{known}; or check it with more nodes"),
                ),
                _ => refused(format!("the homes of `{name}`: {found}"), known),
            });
        }
    }
    Ok(())
}
