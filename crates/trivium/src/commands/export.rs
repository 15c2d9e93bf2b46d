//! `trivium export`

use super::check::system;
use crate::arguments::{Export, Target};
use crate::{Failure, library, output};
use trivium_export::{murphi, spin};

/// Writes a protocol, and the system in which `check` explores it, as a model for another checker.
pub fn export(arguments: &Export) -> Result<u8, Failure> {
    let settings = library::settings(&arguments.set)?.without_machine()?;
    let protocol = library::protocol_to_check(&arguments.protocol, &settings)?;
    let write = match arguments.to {
        Target::Murphi => murphi,
        Target::Spin => spin,
    };
    let text = write(&protocol, &system(&arguments.system, &protocol), arguments.channel)?;
    output::write(arguments.out.as_ref(), &text)?;
    Ok(0)
}
