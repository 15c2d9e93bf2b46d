//! The settings of a result: what it was made with, as keys beside the hashes, which say only that two results differ.

use crate::library;
use serde::Serialize;
use serde_json::{Map, Value, json};
use trivium_protocol::Protocol;

/// The settings of a result. The same settings of the same inputs give the same result; what changes no result, such as host
/// threads, is not among them.
#[derive(Clone, Debug, Default)]
pub struct ResultSettings(Map<String, Value>);

impl ResultSettings {
    /// The values of the parameters of these protocols, and what was set otherwise than files say.
    pub fn new<'p>(protocols: impl IntoIterator<Item = &'p Protocol>, set: &library::Settings) -> ResultSettings {
        let values = |protocol: &Protocol| -> Value {
            protocol.params.iter().map(|param| (param.name.clone(), json!(param.value))).collect::<Map<_, _>>().into()
        };
        let parameters: Map<String, Value> =
            protocols.into_iter().map(|protocol| (protocol.name.clone(), values(protocol))).collect();
        ResultSettings::default().with("parameters", parameters).with("set", overrides(set))
    }

    /// One more.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Serialize) -> ResultSettings {
        self.0.insert(key.into(), json!(value));
        self
    }

    /// All keys of an object more.
    #[must_use]
    pub fn with_all(mut self, object: impl Serialize) -> ResultSettings {
        if let Value::Object(object) = json!(object) {
            self.0.extend(object);
        }
        self
    }

    /// The number of nodes and the seed, which every result has, and then the others.
    pub fn value(&self, nodes: u32, seed: u64) -> Value {
        let mut all = Map::new();
        all.insert("nodes".into(), json!(nodes));
        all.insert("seed".into(), json!(seed));
        all.extend(self.0.clone());
        Value::Object(all)
    }
}

/// What `--set` gives: by its key, a number where it is one, else as it was written.
fn overrides(set: &library::Settings) -> Map<String, Value> {
    let of_protocols = set.protocol.iter().map(|(key, value)| (format!("protocol.{key}"), json!(value)));
    let of_machines = set.machine.iter().map(|(key, text)| {
        let value = serde_json::from_str::<Value>(text).ok().filter(|value| value.is_number() || value.is_boolean());
        (format!("machine.{key}"), value.unwrap_or_else(|| json!(text)))
    });
    of_protocols.chain(of_machines).collect()
}

/// The settings as names with values, for people: `parameters.tree-barrier.join`, `4`.
pub fn flat(settings: &Value) -> Vec<(String, String)> {
    fn add(above: &str, value: &Value, rows: &mut Vec<(String, String)>) {
        match value {
            Value::Object(object) => {
                for (key, value) in object {
                    add(&if above.is_empty() { key.clone() } else { format!("{above}.{key}") }, value, rows);
                }
            }
            Value::Null => {}
            Value::String(text) => rows.push((above.into(), text.clone())),
            value => rows.push((above.into(), value.to_string())),
        }
    }
    let mut rows = Vec::new();
    add("", settings, &mut rows);
    rows
}

/// Those that files and `--set` give, in a line for a report; none if there are none.
pub fn in_a_line(settings: &Value, key: &str) -> Option<String> {
    let rows = flat(&settings[key]).into_iter().map(|(name, value)| format!("{name} = {value}"));
    Some(rows.collect::<Vec<_>>().join(", ")).filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_keys_and_what_is_unset_is_not_shown() {
        let set = library::Settings {
            protocol: vec![("most".into(), 3)],
            machine: vec![("network.latency".into(), "500".into()), ("engine.kind".into(), "compute".into())],
        };
        let settings = ResultSettings::new([], &set).with("block", 64).with("max_cycles", None::<u64>).value(2, 7);
        let expected = json!({
            "nodes": 2, "seed": 7, "parameters": {},
            "set": { "protocol.most": 3, "machine.network.latency": 500, "machine.engine.kind": "compute" },
            "block": 64, "max_cycles": null,
        });
        assert_eq!(settings, expected);
        let names: Vec<String> = flat(&settings).into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        let set = ["set.protocol.most=3", "set.machine.network.latency=500", "set.machine.engine.kind=compute"];
        assert_eq!(names, [&["nodes=2", "seed=7"][..], &set, &["block=64"]].concat());
        assert_eq!(in_a_line(&settings, "parameters"), None);
    }
}
