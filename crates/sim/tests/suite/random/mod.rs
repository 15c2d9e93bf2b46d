//! Random programs in WebAssembly text: loads and stores of all kinds, aligned or not, to private and shared memory,
//! in loops, branches and calls, with atomic operations, copies and fills. All nodes race with each other.

use std::fmt::Write as _;

/// SplitMix64 (Steele, Lea, Flood 2014).
pub struct Random(pub u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }

    pub fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len() as u64) as usize]
    }
}

const LOADS: [&str; 14] = [
    "i32.load",
    "i64.load",
    "f32.load",
    "f64.load",
    "i32.load8_s",
    "i32.load8_u",
    "i32.load16_s",
    "i32.load16_u",
    "i64.load8_s",
    "i64.load8_u",
    "i64.load16_s",
    "i64.load16_u",
    "i64.load32_s",
    "i64.load32_u",
];
const STORES: [&str; 9] = [
    "i32.store",
    "i64.store",
    "f32.store",
    "f64.store",
    "i32.store8",
    "i32.store16",
    "i64.store8",
    "i64.store16",
    "i64.store32",
];

/// Bytes of private, and of shared, memory that a program walks over.
const REACH: u64 = 2048;

struct Writer {
    random: Random,
    text: String,
    /// Whether a program may do what ends it.
    wild: bool,
    /// Functions that the one being written may call: those before it.
    callable: u64,
    loops: u32,
}

/// The text of a program.
pub fn program(seed: u64, wild: bool) -> String {
    let mut writer = Writer { random: Random(seed), text: String::new(), wild, callable: 0, loops: 0 };
    writer.text.push_str(
        r#"(module
(import "trivium" "node" (func $node (result i32)))
(import "trivium" "alloc" (func $alloc (param i64 i32 i32 i32) (result i32)))
(import "trivium" "barrier" (func $barrier))
(import "trivium" "rmw" (func $rmw (param i32 i32 i32 i64 i64) (result i64)))
(import "trivium" "cycles" (func $cycles (result i64)))
(import "trivium" "prefetch" (func $prefetch (param i32 i32)))
(import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
(memory 2)
(global $shared (mut i32) (i32.const 0))
(global $sum (mut i64) (i64.const 0))
;; Passes through loops that are left: bodies may change the counters.
(global $left (mut i32) (i32.const 3000))
(type $function (func (param i32) (result i32)))
(table funcref (elem $f0 $f1 $f2 $f3))
"#,
    );
    for number in 0..4 {
        writer.function(number);
    }
    let rounds = 2 + writer.random.below(3);
    let _ = write!(
        writer.text,
        "(func (export \"_start\") (local $round i32)\n(global.set $shared (call $alloc (i64.const {})",
        REACH + 41
    );
    let placement = writer.random.below(3);
    let _ = write!(
        writer.text,
        " (i32.const {placement}) (i32.const 0) (i32.const 0)))
(loop $rounds
(drop (call $f3 (i32.add (call $node) (local.get $round))))
(drop (call $f2 (local.get $round)))
(call $barrier)
(br_if $rounds (i32.lt_u (local.tee $round (i32.add (local.get $round) (i32.const 1))) (i32.const {rounds}))))
(global.set $sum (i64.xor (global.get $sum) (call $cycles)))
(call $exit (i32.and (i32.wrap_i64 (i64.xor (global.get $sum) (i64.shr_u (global.get $sum) (i64.const 31)))) (i32.const 127)))))"
    );
    writer.text
}

impl Writer {
    fn function(&mut self, number: u64) {
        let _ = writeln!(
            self.text,
            "(func $f{number} (type $function) (local $i i32) (local $j i32) (local $k i32) (local $x i64)"
        );
        self.callable = number;
        let statements = 3 + self.random.below(6);
        for _ in 0..statements {
            self.statement(0);
        }
        self.text.push_str("(global.set $sum (i64.add (i64.mul (global.get $sum) (i64.const 31)) (local.get $x))) (i32.wrap_i64 (local.get $x)))\n");
    }

    /// A value that changes as the program runs.
    fn index(&mut self) -> &'static str {
        self.random.one(&[
            "(local.get 0)",
            "(local.get $i)",
            "(local.get $j)",
            "(i32.mul (local.get $i) (i32.const 24))",
            "(i32.add (local.get $k) (i32.const 40))",
            "(i32.wrap_i64 (local.get $x))",
            "(i32.mul (call $node) (i32.const 100))",
        ])
    }

    /// An address, and a static offset behind it.
    fn address(&mut self) -> (String, u64) {
        if self.wild && self.random.below(400) == 0 {
            let base =
                self.random.one(&["(i32.const -4)", "(i32.const 131070)", "(local.get 0)", "(i32.const 0x7ffffff0)"]);
            return (base.to_string(), self.random.below(3) * 3000);
        }
        let index = self.index();
        // Mostly aligned, as compilers make them.
        let mask = REACH - [1, 4, 8, 8][self.random.below(4) as usize];
        let offset = [0, 0, 4, 8, 16, 3][self.random.below(6) as usize];
        match self.random.below(5) {
            0..2 => (format!("(i32.add (global.get $shared) (i32.and {index} (i32.const {mask})))"), offset),
            2 => (
                format!("(i32.and {index} (i32.const {mask}))"),
                offset + [0, 1024, 5000, 65536][self.random.below(4) as usize],
            ),
            _ => (format!("(i32.add (i32.const 4096) (i32.and {index} (i32.const {mask})))"), offset),
        }
    }

    /// An expression of type i64 with a load in it.
    fn load(&mut self) -> String {
        let load = self.random.one(&LOADS);
        let (address, offset) = self.address();
        let value = format!("({load} offset={offset} {address})");
        match &load[..3] {
            "i32" => format!("(i64.extend_i32_s {value})"),
            "f32" => format!("(i64.extend_i32_u (i32.reinterpret_f32 {value}))"),
            "f64" => format!("(i64.reinterpret_f64 {value})"),
            _ => value,
        }
    }

    fn store(&mut self) -> String {
        let store = self.random.one(&STORES);
        let (address, offset) = self.address();
        let value = match self.random.below(2) {
            0 => self.load(),
            _ => "(i64.add (local.get $x) (i64.extend_i32_u (local.get $i)))".into(),
        };
        let value = match &store[..3] {
            "i32" => format!("(i32.wrap_i64 {value})"),
            "f32" => format!("(f32.convert_i64_s {value})"),
            "f64" => format!("(f64.convert_i64_s {value})"),
            _ => value,
        };
        format!("({store} offset={offset} {address} {value})")
    }

    fn statement(&mut self, depth: u32) {
        match self.random.below(if depth < 3 { 16 } else { 9 }) {
            0..3 => {
                let load = self.load();
                let _ = writeln!(self.text, "(local.set $x (i64.add (i64.rotl (local.get $x) (i64.const 7)) {load}))");
            }
            3..6 => {
                let store = self.store();
                let _ = writeln!(self.text, "{store}");
            }
            6 => self.call(),
            7 => self.arithmetic(),
            8 => self.by_host(),
            9..13 => self.looped(depth),
            _ => self.branch(depth),
        }
    }

    fn call(&mut self) {
        if self.callable == 0 {
            return;
        }
        let (callee, index) = (self.random.below(self.callable), self.index());
        let call = match self.random.below(2) {
            0 => format!("(call $f{callee} {index})"),
            _ => format!("(call_indirect (type $function) {index} (i32.const {callee}))"),
        };
        let _ = writeln!(self.text, "(local.set $k {call})");
    }

    fn arithmetic(&mut self) {
        let index = self.index();
        let divisor = if self.wild && self.random.below(20) == 0 {
            index.to_string()
        } else {
            format!("(i32.or {index} (i32.const 1))")
        };
        let _ = writeln!(self.text, "(local.set $j (i32.rem_u (local.get $k) {divisor}))");
    }

    fn by_host(&mut self) {
        let (index, length) = (self.index(), self.random.below(70));
        let shared = format!("(i32.add (global.get $shared) (i32.and {index} (i32.const 1023)))");
        let private = format!("(i32.add (i32.const 3000) (i32.and {index} (i32.const 2047)))");
        let text = match self.random.below(4) {
            0 => format!("(memory.copy {shared} {private} (i32.const {length}))"),
            1 => format!("(memory.copy {private} {shared} (i32.const {length}))"),
            2 => format!(
                "(call $prefetch {shared} (i32.const {}))\n(memory.fill {private} (i32.const {length}) (i32.const {length}))",
                length % 2
            ),
            _ => format!(
                "(local.set $x (i64.add (local.get $x) (call $rmw (i32.and {shared} (i32.const -8)) (i32.const 8) (i32.const {}) (i64.const 3) (local.get $x))))",
                length % 6
            ),
        };
        let _ = writeln!(self.text, "{text}");
    }

    fn looped(&mut self, depth: u32) {
        let count = 1 + self.random.below(if depth == 0 { 12 } else { 5 });
        let counter = ["$i", "$j", "$k"][depth as usize];
        self.loops += 1;
        let label = self.loops;
        let _ = writeln!(self.text, "(local.set {counter} (i32.const 0)) (block $out{label} (loop $loop{label}");
        let ahead = format!("(i32.mul (local.get {counter}) (i32.const {}))", 64 << (label % 3));
        let _ = writeln!(
            self.text,
            "(call $prefetch (i32.add (global.get $shared) (i32.and {ahead} (i32.const 2047))) (i32.const {}))",
            label % 2
        );
        for _ in 0..1 + self.random.below(4) {
            self.statement(depth + 1);
        }
        let _ = writeln!(
            self.text,
            "(br_if $out{label} (i32.lt_s (global.get $left) (i32.const 0)))
(global.set $left (i32.sub (global.get $left) (i32.const 1)))
(local.set {counter} (i32.add (local.get {counter}) (i32.const 1)))
(br_if $loop{label} (i32.lt_u (local.get {counter}) (i32.const {count})))))"
        );
    }

    fn branch(&mut self, depth: u32) {
        let index = self.index();
        match self.random.below(4) {
            0 => {
                let _ = writeln!(self.text, "(if (i32.and {index} (i32.const 3)) (then");
                self.statement(depth + 1);
                self.text.push_str(") (else\n");
                self.statement(depth + 1);
                self.text.push_str("))\n");
            }
            1 => {
                let _ = writeln!(self.text, "(block (block (block (br_table 0 1 2 (i32.and {index} (i32.const 3))))");
                self.statement(depth + 1);
                self.text.push_str(")\n");
                self.statement(depth + 1);
                self.text.push_str(")\n");
            }
            2 => {
                let _ = writeln!(
                    self.text,
                    "(if (i32.eq (i32.and {index} (i32.const 255)) (i32.const 77)) (then (return (local.get $k))))"
                );
            }
            _ => {
                let load = self.load();
                let store = self.store();
                // Hints about what comes, or about nothing at all.
                let _ = writeln!(
                    self.text,
                    "(call $prefetch (i32.add (global.get $shared) {index}) (i32.const {}))\n(if (i64.eqz {load}) (then {store}))",
                    self.loops % 2
                );
            }
        }
    }
}
