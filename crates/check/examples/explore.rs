//! Explores a protocol's file: `cargo run --release -p trivium-check --example explore -- FILE NODES OBJECTS [OPS]`.

use std::sync::Arc;
use trivium_check::{System, explore, text};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, default: u32| args.get(at).map_or(Ok(default), |word| word.parse());
    let file = args.first().ok_or("usage: explore FILE [NODES [OBJECTS [OPS]]]")?;
    let protocol = trivium_lang::compile_file(file.as_ref(), &[])?;
    let ops = if args.len() > 3 { Some(number(3, 0)?) } else { None };
    let system = System { nodes: number(1, 3)?, objects: number(2, 1)?, ops, ..System::default() };
    let report = explore(&Arc::new(protocol), &system.into())?;
    print!("{}", text(&report));
    Ok(())
}
