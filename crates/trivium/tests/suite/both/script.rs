//! Random small programs on what `check` has explored: its blocks, calls and objects, and nothing else.

use std::fmt::Write;
use trivium_protocol::{Assume, BLOCK, NODE, Op, OpId, Promise, Protocol, Type};

/// What a script may use.
pub struct Uses {
    pub nodes: u32,
    pub objects: u32,
    /// Accesses and calls of a node at most.
    pub ops: u32,
    /// Whether handlers only pass on what accesses are about, whatever it is.
    pub passes_on: bool,
}

/// A generator that is the same everywhere (SplitMix64, Steele, Lea, Flood 2014).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }
}

/// Whether handlers look at addresses, sizes or values of accesses, so that only two words with two values are as explored.
pub fn looks_at_accesses(protocol: &Protocol) -> bool {
    let text = format!("{:?}", protocol.roles);
    ["FaultAddress", "FaultSize", "FaultValue", "Memory", "Store("].iter().any(|word| text.contains(word))
}

/// Whether scripts can keep to what a file assumes and make its calls: they have no phases, and invent numbers only. Calls about blocks may
/// wait for what other nodes do, which have an end here.
pub fn can_use(protocol: &Protocol, calls_blocks: bool) -> bool {
    let kept = |assume: &Assume| matches!(assume, Assume::Alternate(..) | Assume::OneThreadPerNode);
    let barrier = protocol.promises.iter().any(|promise| matches!(promise, Promise::Barrier(_) | Promise::LastPhase));
    let number = |ty: &Type| {
        let given = ty.given().unwrap_or(ty);
        matches!(given, Type::Int { .. } | Type::Bool | Type::Object(_) | Type::Word | Type::Node { .. })
    };
    let passed = |ty: &Type| match ty {
        Type::List { of, .. } | Type::Array { of, .. } => number(of),
        scalar => number(scalar),
    };
    // A body is C, which a script has not.
    let callable = |op: &Op| {
        op.body.is_none()
            && !op.is_event
            && (calls_blocks || op.object != BLOCK)
            && op.args.iter().all(|arg| passed(&arg.ty))
    };
    protocol.assumptions.iter().all(kept)
        && !barrier
        && protocol.conditions.is_empty()
        && protocol.asymmetric.is_none()
        && protocol.ops.iter().all(callable)
}

/// Words of a block by which nodes race; the others belong to one node each.
const RACED: u32 = 1;

struct Writer<'p> {
    protocol: &'p Protocol,
    uses: &'p Uses,
    random: Random,
    text: String,
    /// Whether blocks are used, and whether in more than two words.
    blocks: bool,
    free: bool,
    /// Whether a role answers hints.
    hints: bool,
    /// For each node: increments of its own word of each block.
    counts: Vec<Vec<u32>>,
}

/// A program in text form: each node's script, and a look at its own words at the end.
pub fn program(protocol: &Protocol, uses: &Uses, seed: u64) -> String {
    let mut writer = Writer {
        protocol,
        uses,
        random: Random(seed),
        text: String::new(),
        blocks: protocol.uses(BLOCK) && trivium_protocol::ObjectKindId(0) == BLOCK && accesses(protocol),
        free: uses.passes_on || !looks_at_accesses(protocol),
        hints: protocol.roles.iter().any(|role| role.column(trivium_protocol::EventKind::Prefetch).is_some()),
        counts: vec![vec![0; uses.objects as usize]; uses.nodes as usize],
    };
    writer.head();
    for node in 0..uses.nodes {
        let _ = writeln!(writer.text, "(if (i32.eq (call $node) (i32.const {node})) (then");
        writer.script(node);
        writer.text.push_str("))\n");
    }
    writer.tail();
    writer.text
}

/// Whether some role gives access or answers accesses.
pub fn accesses(protocol: &Protocol) -> bool {
    use trivium_protocol::EventKind;
    let blocks = protocol.roles.iter().filter(|role| role.object == BLOCK);
    blocks.into_iter().any(|role| role.column(EventKind::Read).or(role.column(EventKind::Write)).is_some())
}

impl Writer<'_> {
    fn head(&mut self) {
        self.text.push_str(
            "(module\n(import \"trivium\" \"node\" (func $node (result i32)))\n\
             (import \"trivium\" \"barrier\" (func $barrier))\n\
             (import \"trivium\" \"alloc\" (func $alloc (param i64 i32 i32 i32) (result i32)))\n\
             (import \"trivium\" \"prefetch\" (func $prefetch (param i32 i32)))\n\
             (import \"wasi_snapshot_preview1\" \"proc_exit\" (func $exit (param i32)))\n",
        );
        for (number, op) in self.protocol.ops.iter().enumerate() {
            let count = self.protocol.passed_to(OpId(number as u16)) + usize::from(op.object != NODE);
            let params = " i64".repeat(count);
            let result = if op.result.is_some() { " (result i64)" } else { "" };
            let (name, op) = (&self.protocol.name, &op.name);
            let _ =
                writeln!(self.text, "(import \"trivium:{name}\" \"{op}\" (func $op{number} (param{params}){result}))");
        }
        self.text.push_str("(memory (export \"memory\") 1)\n");
        for block in 0..self.uses.objects {
            let _ = writeln!(self.text, "(global $b{block} (mut i32) (i32.const 0))");
        }
        self.text.push_str("(func (export \"_start\") (local $i i32) (local $x i64) (local $seen i64)\n");
        if self.blocks {
            for block in 0..self.uses.objects {
                let home = block % self.uses.nodes;
                let _ = writeln!(
                    self.text,
                    "(global.set $b{block} (call $alloc (i64.const 64) (i32.const 0) (i32.const {home}) (i32.const 0)))"
                );
            }
        }
    }

    fn script(&mut self, node: u32) {
        let mut left = self.uses.ops;
        while left > 0 {
            self.delay();
            let calls = self.protocol.ops.len() as u64;
            left = left.saturating_sub(match (self.blocks, calls) {
                (false, 0) => return,
                (true, 0) => self.access(node, left),
                (true, _) if self.random.below(2) == 0 => self.access(node, left),
                _ => self.call(node, left),
            });
        }
    }

    fn delay(&mut self) {
        let turns = [0, 0, 1, 10, 100, 400][self.random.below(6) as usize];
        if turns > 0 {
            let turns = 1 + self.random.below(turns);
            let _ = writeln!(
                self.text,
                "(local.set $i (i32.const {turns})) (loop $turn (br_if $turn (local.tee $i (i32.sub (local.get $i) (i32.const 1)))))"
            );
        }
    }

    /// One access, or two; gives how many.
    fn access(&mut self, node: u32, left: u32) -> u32 {
        let block = self.random.below(u64::from(self.uses.objects)) as u32;
        let raced = self.random.below(u64::from(RACED)) * 8;
        if self.hints && self.random.below(3) == 0 {
            let write = self.random.below(2);
            let _ = writeln!(self.text, "(call $prefetch (global.get $b{block}) (i32.const {write}))");
            self.delay();
        }
        match self.random.below(5) {
            0 | 1 => {
                let _ = writeln!(
                    self.text,
                    "(local.set $x (i64.xor (local.get $x) (i64.load offset={raced} (global.get $b{block}))))"
                );
                1
            }
            2 => {
                let value = self.random.below(2);
                let _ = writeln!(self.text, "(i64.store offset={raced} (global.get $b{block}) (i64.const {value}))");
                1
            }
            _ if self.free && left > 1 => {
                let own = 8 * (RACED + node);
                self.counts[node as usize][block as usize] += 1;
                let _ = writeln!(
                    self.text,
                    "(i64.store offset={own} (global.get $b{block}) (i64.add (i64.load offset={own} (global.get $b{block})) (i64.const 1)))"
                );
                2
            }
            _ => {
                // Where nodes have words of their own, nobody else stores there.
                let beside = if self.free { raced } else { 8 };
                let _ = writeln!(self.text, "(i64.store offset={beside} (global.get $b{block}) (i64.const 1))");
                1
            }
        }
    }

    /// One call, or two that the file wants together; gives how many.
    fn call(&mut self, node: u32, left: u32) -> u32 {
        let op = OpId(self.random.below(self.protocol.ops.len() as u64) as u16);
        let assumed = self.protocol.assumptions.iter().filter_map(|assume| match assume {
            Assume::Alternate(a, b) => Some((*a, *b)),
            _ => None,
        });
        let promised = self.protocol.promises.iter().filter_map(|promise| match promise {
            Promise::Mutex(a, b) => Some((*a, *b)),
            _ => None,
        });
        let pair = assumed.chain(promised).find(|(a, b)| *a == op || *b == op);
        // Of what handlers make, any number, and one too many.
        let made = self.protocol.made_kind(self.protocol.ops[op.index()].object);
        let objects =
            made.map_or(u64::from(self.uses.objects), |made| made.most.unsigned_abs() * u64::from(self.uses.nodes) + 1);
        let object = self.random.below(objects);
        match pair {
            Some(_) if left < 2 => left,
            Some((a, b)) => {
                self.one_call(a, object);
                self.delay();
                self.one_call(b, object);
                2
            }
            // A block's home need not have the role that answers.
            None if self.protocol.ops[op.index()].object == BLOCK && object as u32 % self.uses.nodes == node => 1,
            None => {
                self.one_call(op, object);
                1
            }
        }
    }

    /// A value of a scalar type that `check` passes, too.
    fn number(&mut self, ty: &Type) -> i64 {
        let mut from = |lo: i64, hi: i64| lo + self.random.below((hi - lo + 1).max(1).unsigned_abs()) as i64;
        match ty {
            Type::Int { lo, hi } => from(lo.at(self.uses.nodes), hi.at(self.uses.nodes)),
            Type::Object(_) => from(0, i64::from(self.uses.objects) - 1),
            Type::OrNone(_) if from(0, 2) == 0 => ty.none(),
            Type::OrNone(of) => self.number(of),
            Type::Node { optional } => from(-i64::from(*optional), i64::from(self.uses.nodes) - 1),
            _ => from(0, 1),
        }
    }

    fn one_call(&mut self, op: OpId, object: u64) {
        let declared = self.protocol.ops[op.index()].clone();
        let mut args = Vec::new();
        for arg in &declared.args {
            let numbers = self.protocol.passed_for(&arg.ty);
            match &arg.ty {
                Type::List { of, .. } => {
                    args.push(self.random.below(numbers as u64) as i64);
                    args.extend((1..numbers).map(|_| self.number(of)));
                }
                Type::Array { of, .. } => args.extend((0..numbers).map(|_| self.number(of))),
                scalar => args.push(self.number(scalar)),
            }
        }
        let object = match declared.object {
            NODE => String::new(),
            BLOCK => format!(" (i64.extend_i32_u (global.get $b{object}))"),
            _ => format!(" (i64.const {object})"),
        };
        let args: String = args.iter().map(|arg| format!(" (i64.const {arg})")).collect();
        let call = format!("(call $op{}{object}{args})", op.index());
        let _ = if declared.result.is_some() {
            writeln!(self.text, "(drop {call})")
        } else {
            writeln!(self.text, "{call}")
        };
    }

    /// After a barrier each node's own words hold what it has counted.
    fn tail(&mut self) {
        self.text.push_str("(call $barrier)\n");
        if self.blocks && self.free {
            for (node, counts) in self.counts.iter().enumerate() {
                let own = 8 * (RACED as usize + node);
                for (block, count) in counts.iter().enumerate() {
                    let _ = writeln!(
                        self.text,
                        "(if (i64.ne (i64.load offset={own} (global.get $b{block})) (i64.const {count})) (then (call $exit (i32.const {}))))",
                        10 + node
                    );
                }
            }
        }
        self.text.push_str("))\n");
    }
}
