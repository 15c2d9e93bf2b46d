//! `trivium export`

use super::check::system;
use crate::arguments::Export;
use crate::{Failure, failure, library, output};
use trivium_check::murphi;

/// Writes a protocol, and the system in which `check` explores it, as a model for another checker.
pub fn export(arguments: &Export) -> Result<u8, Failure> {
    let settings = library::settings(&arguments.set)?.without_machine()?;
    let protocol = library::protocol_to_check(&arguments.protocol, &settings)?;
    let text = murphi(&protocol, &system(&arguments.system), arguments.channel)
        .map_err(|e| Failure::rendered(failure::BAD_INPUT, format!("error: {e}")))?;
    output::write(arguments.out.as_ref(), &text)?;
    Ok(0)
}
