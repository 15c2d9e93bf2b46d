//! Compiles the named protocols and tells how many states and handlers each has.
fn main() {
    for path in std::env::args().skip(1) {
        match trivium_lang::compile_file(path.as_ref(), &[]) {
            Ok(p) => {
                for role in &p.roles {
                    println!("{path}: {}: {} states, {} handlers", role.name, role.states.len(), role.handlers.len());
                    for (s, row) in role.states.iter().zip(&role.table) {
                        println!("  {} {} dead {:?} {row:?}", s.name, s.access, s.dead);
                    }
                }
            }
            Err(e) => println!("{e}"),
        }
    }
}
