//! Which locals are live, and which of them an access that asks the host should put aside.
//!
//! A call leaves few registers alone. Were the call that asks the host made while the locals of an inner loop lie in
//! registers, the compiler would keep them on the stack for the whole loop. They are put aside by hand instead, just
//! around that call, which is hardly ever made.

use wasmparser::Operator;

use super::{access, code};

/// A set of locals.
#[derive(Clone, PartialEq, Default)]
pub(super) struct Locals(Vec<u64>);

impl Locals {
    fn none(of: usize) -> Locals {
        Locals(vec![0; of.div_ceil(64)])
    }

    fn add(&mut self, local: u32) {
        self.0[local as usize / 64] |= 1 << (local % 64);
    }

    fn remove(&mut self, local: u32) {
        self.0[local as usize / 64] &= !(1 << (local % 64));
    }

    fn clear(&mut self) {
        self.0.fill(0);
    }

    fn unite(&mut self, other: &Locals) {
        self.0.iter_mut().zip(&other.0).for_each(|(mine, other)| *mine |= other);
    }

    fn common(&self, other: &Locals) -> Locals {
        Locals(self.0.iter().zip(&other.0).map(|(mine, other)| mine & other).collect())
    }

    /// The locals, the lowest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> {
        let bits = |(word, bits): (usize, &u64)| {
            let bits = *bits;
            (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| word as u32 * 64 + bit)
        };
        self.0.iter().enumerate().flat_map(bits)
    }
}

/// A loop of the program.
struct Loop {
    /// The locals that it reads or writes.
    uses: Locals,
    /// Whether it calls a function, so that little stays in registers anyway.
    calls: bool,
    /// The locals that are live at its head, as far as that is known.
    live: Locals,
}

/// A block, loop or `if`, looked at from behind.
struct Block {
    /// The locals that are live where a branch to it goes.
    at_label: Locals,
    /// The locals that are live where an `if` without its condition goes.
    otherwise: Locals,
    /// Its index among the loops.
    is_loop: Option<usize>,
}

/// The loops of a function in the order of their heads, and the innermost loop around each operator.
fn loops(operators: &[Operator<'_>], locals: usize) -> (Vec<Loop>, Vec<Option<usize>>) {
    let mut all: Vec<Loop> = Vec::new();
    let mut around = Vec::new();
    let mut open: Vec<Option<usize>> = Vec::new();
    for operator in operators {
        match operator {
            Operator::Loop { .. } => {
                open.push(Some(all.len()));
                all.push(Loop { uses: Locals::none(locals), calls: false, live: Locals::none(locals) });
            }
            Operator::Block { .. } | Operator::If { .. } => open.push(None),
            _ => {}
        }
        around.push(open.iter().rev().find_map(|opened| *opened));
        for index in open.iter().flatten() {
            match operator {
                Operator::LocalGet { local_index }
                | Operator::LocalSet { local_index }
                | Operator::LocalTee { local_index } => all[*index].uses.add(*local_index),
                Operator::Call { .. } | Operator::CallIndirect { .. } => all[*index].calls = true,
                _ => all[*index].calls |= code::asks_host(operator),
            }
        }
        if matches!(operator, Operator::End) {
            open.pop();
        }
    }
    (all, around)
}

/// For loads, stores and heads of loops that make no calls: the locals that are live there and in use in the loop.
pub(super) fn worth_keeping(operators: &[Operator<'_>], locals: usize) -> Vec<(usize, Locals)> {
    let (mut loops, around) = loops(operators, locals);
    let ends: Vec<Option<usize>> = openers(operators);
    loop {
        let (kept, is_settled) = backwards(operators, &mut loops, &around, &ends, locals);
        if is_settled {
            return kept;
        }
    }
}

/// For each `end`: the index of the operator that it ends, if it is not the function's.
fn openers(operators: &[Operator<'_>]) -> Vec<Option<usize>> {
    let mut open = Vec::new();
    let opener = |(index, operator): (usize, &Operator<'_>)| match operator {
        Operator::Block { .. } | Operator::Loop { .. } | Operator::If { .. } => {
            open.push(index);
            None
        }
        Operator::End => open.pop(),
        _ => None,
    };
    operators.iter().enumerate().map(opener).collect()
}

/// One pass over a function from its end; whether what was assumed of its loops was right.
fn backwards(
    operators: &[Operator<'_>],
    loops: &mut [Loop],
    around: &[Option<usize>],
    openers: &[Option<usize>],
    locals: usize,
) -> (Vec<(usize, Locals)>, bool) {
    let mut is_settled = true;
    let mut kept = Vec::new();
    let mut live = Locals::none(locals);
    let mut blocks: Vec<Block> = Vec::new();
    for (index, operator) in operators.iter().enumerate().rev() {
        let label = |depth: u32| blocks.len().checked_sub(1 + depth as usize).map(|at| &blocks[at].at_label);
        match operator {
            Operator::LocalGet { local_index } => live.add(*local_index),
            Operator::LocalSet { local_index } | Operator::LocalTee { local_index } => live.remove(*local_index),
            Operator::End => {
                let is_loop = openers[index].and_then(|opener| match operators[opener] {
                    Operator::Loop { .. } => around[opener],
                    _ => None,
                });
                let at_label = is_loop.map_or(&live, |head| &loops[head].live).clone();
                blocks.push(Block { at_label, otherwise: live.clone(), is_loop });
            }
            Operator::Else => {
                if let Some(block) = blocks.last_mut() {
                    block.otherwise = std::mem::replace(&mut live, block.at_label.clone());
                }
            }
            Operator::If { .. } => live.unite(&blocks.pop().expect("it has an end").otherwise),
            Operator::Block { .. } => drop(blocks.pop()),
            Operator::Loop { .. } => {
                let head = blocks.pop().and_then(|block| block.is_loop).expect("its end knows it");
                is_settled &= loops[head].live == live;
                loops[head].live.clone_from(&live);
            }
            Operator::Br { relative_depth } => live = label(*relative_depth).expect("a valid depth").clone(),
            Operator::BrIf { relative_depth } => live.unite(label(*relative_depth).expect("a valid depth")),
            Operator::BrTable { targets } => {
                live.clear();
                let others = targets.targets().flatten();
                for depth in others.chain([targets.default()]) {
                    live.unite(label(depth).expect("a valid depth"));
                }
            }
            Operator::Return | Operator::Unreachable => live.clear(),
            _ => {}
        }
        let asks = access::find(operator).is_some() || matches!(operator, Operator::Loop { .. });
        if let Some(innermost) = around[index].filter(|_| asks).map(|head| &loops[head]).filter(|head| !head.calls) {
            kept.push((index, live.common(&innermost.uses)));
        }
    }
    (kept, is_settled)
}
