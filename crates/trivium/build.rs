//! Built-in protocols and headers are part of the program: build it again when one of them changes or is new.

fn main() {
    println!("cargo::rerun-if-changed=../../protocols");
    println!("cargo::rerun-if-changed=../../protocols/broken");
    println!("cargo::rerun-if-changed=../../programs/include");
}
