//! Which random programs are tried.

use super::tree::Program;
use super::trial::Setup;
use super::{generate, machine, text};
use crate::random::Random;

/// A random program, which is not too long.
///
/// # Errors
/// The generator has made one that is wrong.
pub fn program(seed: u64, case: u64) -> Result<Program, String> {
    let setups = Setup::asked(&[], &[]);
    let (round, number) = (case / setups.len() as u64, case % setups.len() as u64);
    let nodes = setups[number as usize].one_of_nodes(round);
    for attempt in 0..20 {
        let program = generate::generated(Random::of_case(seed.wrapping_mul(1009).wrapping_add(attempt), case), nodes);
        match machine::printed(&program, 1, &[]) {
            Ok(_) => return Ok(program),
            Err(what) if what.contains("does too much") => {}
            Err(what) => {
                return Err(format!("the generator has made a wrong program: {what}\n{}", text::written(&program)));
            }
        }
    }
    Err("20 programs in a row are too long".into())
}
