//! Whether protocols fit a language: Split-C's data are its processors' own memory, which plain pointers use from the beginning; in C* all see after a
//! barrier what was stored before it.

use crate::{Failure, library};
use std::path::PathBuf;
use std::sync::Arc;
use trivium_diagnostic::Code;
use trivium_engine::Engine;
use trivium_protocol::{Access, Promise, Protocol};

/// Looks whether the data of a program's files in Split-C or C*, if it has any, can be under these protocols, which are used together.
///
/// # Errors
/// They cannot: why, and which protocols fit.
pub(super) fn fits(files: &[PathBuf], protocols: &[Arc<Protocol>]) -> Result<(), Failure> {
    fits_c_star(files, protocols)?;
    let Some(file) = files.iter().find(|file| file.extension().is_some_and(|ending| ending == "sc")) else {
        return Ok(());
    };
    let Some(default) = of_memory(protocols) else { return Ok(()) };
    let Some(why) = why_not(&default) else { return Ok(()) };
    let name = &default.protocol().name;
    let what = format!("the data of Split-C's processors cannot be under protocol `{name}`: {why}");
    let help = format!("protocols that fit are {}", fitting().join(", "));
    Err(Failure::at(Code::Program, what, file.display(), help))
}

fn fits_c_star(files: &[PathBuf], protocols: &[Arc<Protocol>]) -> Result<(), Failure> {
    let Some(file) = files.iter().find(|file| file.extension().is_some_and(|ending| ending == "cs")) else {
        return Ok(());
    };
    let Some(default) = of_memory(protocols).filter(Engine::answers_accesses) else { return Ok(()) };
    let protocol = default.protocol();
    let why = match protocol.weaker() {
        _ if protocol.has_phases() => "it has phases, which a program ends by a call",
        Some(Promise::Coherent) => "it promises `coherent` alone, which says nothing of when a store is seen",
        None if !protocol.promises.iter().any(Promise::is_about_loads) => {
            "it promises nothing about what loads return, so that old values may be read after a barrier"
        }
        _ => return Ok(()),
    };
    let what = format!("the variables of C* cannot be under protocol `{}`: {why}", protocol.name);
    let help = "after a barrier all nodes see what was stored before it: stache, msi, uncached and most others fit";
    Err(Failure::at(Code::Program, what, file.display(), help))
}

/// Of protocols that are used together, the default one of allocations.
pub(super) fn of_memory(protocols: &[Arc<Protocol>]) -> Option<Engine> {
    let engines = || protocols.iter().filter_map(|protocol| Engine::load(protocol.clone(), NODES).ok());
    engines().find(Engine::answers_accesses).or_else(|| engines().next())
}

/// What it is that does not fit does not depend on how many nodes there are, and nor does which calls a protocol has.
const NODES: u32 = 2;

/// Why processors cannot have their data under a protocol, if they cannot.
fn why_not(engine: &Engine) -> Option<String> {
    let protocol = engine.protocol();
    let Some(home) = engine.tag_role(true).filter(|_| engine.answers_accesses()) else {
        return Some("it answers no loads and stores".into());
    };
    if protocol.cached {
        return Some(
            "its processors have caches of their own, so that the home's copy is not the program's memory".into(),
        );
    }
    let access = match protocol.roles[home.index()].states[0].access {
        Access::Write => return None,
        Access::Read => "read access only",
        Access::None => "no access",
    };
    Some(format!(
        "a processor uses its own data by plain pointers from the beginning, and the home has {access} to a block that nobody has touched"
    ))
}

/// The built-in protocols that fit, and assume nothing of programs.
fn fitting() -> Vec<String> {
    let of_name = |name: &String| {
        let protocol = library::protocol(name, &[]).ok().filter(|protocol| protocol.assumptions.is_empty())?;
        let engine = Engine::load(protocol, NODES).ok()?;
        why_not(&engine).is_none().then(|| name.clone())
    };
    library::protocol_names().iter().filter(|name| !name.contains('/')).filter_map(of_name).collect()
}
