//! What writers of random protocols need: numbers, and a text with its indents.
#![allow(dead_code, reason = "not every writer needs everything")]

use std::fmt::Write;

/// A random number generator: small, and the same everywhere.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    pub fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len() as u64) as usize]
    }

    /// Once in so many times.
    pub fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }
}

/// Lines, each as deep as what is open.
#[derive(Default)]
pub struct Text {
    pub written: String,
    pub depth: usize,
}

impl Text {
    pub fn line(&mut self, line: &str) {
        let _ = writeln!(self.written, "{:1$}{line}", "", 2 * self.depth);
    }

    pub fn open(&mut self, line: &str) {
        self.line(line);
        self.depth += 1;
    }

    pub fn close(&mut self) {
        self.depth -= 1;
        self.line("}");
    }
}
