//! Runs a C program on perfect memory: `perfect NODES PROGRAM.c [ARGS]`.

#[path = "../tests/suite/world/mod.rs"]
mod world;

use trivium_guest::Program;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [nodes, path, rest @ ..] = args.as_slice() else {
        return Err("usage: perfect NODES PROGRAM.c [ARGS]".into());
    };
    let program = Program::load(&world::compile(path.as_ref())?, path)?;
    let args: Vec<&str> = rest.iter().map(String::as_str).collect();
    let run = world::run(&program, nodes.parse()?, &args, 0, u64::MAX);
    print!("{}", run.output);
    for (node, outcome) in run.outcomes.iter().enumerate() {
        println!("node {node}: {outcome:?}, {} instructions", run.instructions[node]);
    }
    Ok(())
}
