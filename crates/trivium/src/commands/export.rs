//! `trivium export`

use crate::arguments::{Export, Network};
use crate::{Failure, failure, library, output};
use trivium_check::{Config, murphi};

/// Writes a protocol, and the system in which `check` explores it, as a model for another checker.
pub fn export(arguments: &Export) -> Result<u8, Failure> {
    let settings = library::settings(&arguments.set)?.without_machine()?;
    let protocol = library::protocol_to_check(&arguments.protocol, &settings)?;
    let config = Config {
        nodes: arguments.nodes,
        clients: arguments.clients,
        objects: arguments.objects,
        values: arguments.values,
        ops: arguments.ops,
        threads_per_node: arguments.threads_per_node,
        network: match arguments.network {
            None => trivium_check::Network::Declared,
            Some(Network::Fifo) => trivium_check::Network::Fifo,
            Some(Network::Unordered) => trivium_check::Network::Unordered,
        },
        lane_capacity: arguments.lane_capacity,
        scenario: arguments.scenario.clone(),
        ..Config::default()
    };
    let text = murphi(&protocol, &config, arguments.channel)
        .map_err(|e| Failure::rendered(failure::BAD_INPUT, format!("error: {e}")))?;
    output::write(arguments.out.as_ref(), &text)?;
    Ok(0)
}
