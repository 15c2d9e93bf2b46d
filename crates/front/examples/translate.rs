//! Makes C of preprocessed Split-C: `cc -E x.sc | cargo run --example translate > x.i`.

use std::io::Read as _;
use trivium_front::{Dialect, translate};

fn main() {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).expect("preprocessed text");
    let dialect = if std::env::args().any(|word| word == "--plain") {
        Dialect::C
    } else if std::env::args().any(|word| word == "--c-star") {
        Dialect::CStar
    } else {
        Dialect::SplitC
    };
    match translate(&text, dialect, &|file| std::fs::read_to_string(file).ok()) {
        Ok(text) => print!("{text}"),
        Err(wrong) => {
            eprint!("{wrong}");
            std::process::exit(1);
        }
    }
}
