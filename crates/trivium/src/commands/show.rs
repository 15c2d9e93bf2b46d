//! `trivium show` and `trivium header`

use crate::arguments::{DEFAULT_SEED, Header, Show, ShowFormat};
use crate::output::{self, Head};
use crate::settings::ResultSettings;
use crate::{Failure, library};
use std::sync::Arc;
use trivium_lang::show as shown;
use trivium_protocol::Protocol;

/// Prints a protocol's table or draws its states.
pub fn show(arguments: &Show) -> Result<u8, Failure> {
    let begun = std::time::Instant::now();
    let settings = library::settings(&arguments.set)?.without_machine()?;
    let protocol = library::protocols(std::slice::from_ref(&arguments.protocol), &settings)?.remove(0);
    // What every use of it would refuse, `show` does not show as if it were sound.
    fits_its_nodes(&protocol)?;
    if arguments.source {
        let mut files = protocol.sources.files();
        let text = files.next().map_or("", |(_, text)| text);
        for (used, _) in files {
            let name = used.strip_suffix(".tri").unwrap_or(used);
            crate::say!("note: it uses `{name}`, whose text `trivium show {name} --source` prints");
        }
        output::write(arguments.out.as_ref(), text)?;
        return Ok(0);
    }
    let text = match arguments.format {
        ShowFormat::Text => match output::columns().filter(|_| arguments.out.is_none()) {
            Some(columns) => shown::table_of_width(&protocol, columns),
            None => shown::table(&protocol),
        },
        ShowFormat::Markdown => shown::markdown(&protocol),
        ShowFormat::Dot => shown::dot(&protocol),
        ShowFormat::Svg => shown::svg(&protocol),
        ShowFormat::Json => {
            let head = Head {
                command: "show",
                protocols: vec![protocol.name.clone()],
                hashes: vec![library::hash(&protocol)],
                seed: DEFAULT_SEED,
                host_seconds: begun.elapsed().as_secs_f64(),
                settings: ResultSettings::new([&*protocol], &settings),
                ..Head::default()
            };
            output::pretty(&head.with(shown::json(&protocol)))
        }
    };
    output::write(arguments.out.as_ref(), &text)?;
    if let Some(path) = &arguments.svg {
        output::write_file(path, shown::svg(&protocol).as_bytes())?;
    }
    Ok(0)
}

/// Whether the protocol fits the nodes with which it is checked, unless somebody says otherwise.
fn fits_its_nodes(protocol: &Arc<Protocol>) -> Result<(), Failure> {
    let nodes = trivium_check::System::declared(protocol).nodes;
    let loaded = trivium_engine::Engine::load(protocol.clone(), nodes);
    Ok(loaded.map(drop).map_err(|error| error.help("change what it names"))?)
}

/// Prints the C header of a protocol's calls.
pub fn header(arguments: &Header) -> Result<u8, Failure> {
    let protocol = library::protocol(&arguments.protocol, &[])?;
    output::write(arguments.out.as_ref(), &trivium_lang::c_header(&protocol))?;
    Ok(0)
}
