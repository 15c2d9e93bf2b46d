//! `trivium show` and `trivium header`

use crate::arguments::{Header, Show, ShowFormat};
use crate::output;
use crate::{Failure, library};
// show is being written

/// Prints a protocol's table or draws its states.
pub fn show(arguments: &Show) -> Result<u8, Failure> {
    let settings = library::settings(&arguments.set)?;
    let protocol = library::protocol(&arguments.protocol, &settings.protocol)?;
    let text = match arguments.format {
        _ => format!("{} roles\n", protocol.roles.len()),
    };
    output::write(arguments.out.as_ref(), &text)?;
    Ok(0)
}

/// Prints the C header of a protocol's calls.
pub fn header(arguments: &Header) -> Result<u8, Failure> {
    let protocol = library::protocol(&arguments.protocol, &[])?;
    output::write(arguments.out.as_ref(), &trivium_lang::c_header(&protocol))?;
    Ok(0)
}
