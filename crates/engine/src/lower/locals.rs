//! In which registers a handler's locals are.

use std::collections::BTreeSet;
use trivium_protocol::walk::each_step;
use trivium_protocol::{Expr, ExprKind, Handler, Local, LocalId, Slot, StepKind, Type};

/// The register of a local, or the first of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// A scalar, or the fields of a record: so many.
    Scalars { at: u16, count: u16 },
    /// A set.
    Set(u16),
    /// A list or an array.
    Whole(u16),
}

/// The registers of all locals of a handler, and how many there are of each kind.
#[derive(Default)]
pub(super) struct Registers {
    pub kept: Vec<Kept>,
    pub scalars: u16,
    pub sets: u16,
    pub wholes: u16,
    /// Registers of scalars that get a value at one place only.
    pub fixed: BTreeSet<u16>,
}

impl Registers {
    /// Locals that are the same share a register: what an action is passed is a local of its own, and most often one of its caller's as it is.
    pub fn of(handler: &Handler) -> Registers {
        let (set, from) = where_set(handler);
        let same = same_as(handler, &set, &from);
        let mut registers = Registers::default();
        for ((local, same), times) in handler.locals.iter().zip(same).zip(set) {
            let kept = match same.and_then(|earlier| registers.kept.get(earlier)) {
                Some(&kept) => kept,
                None => registers.next(local),
            };
            registers.kept.push(kept);
            if let (Kept::Scalars { at, count: 1 }, 1) = (kept, times) {
                registers.fixed.insert(at);
            }
        }
        registers
    }

    fn next(&mut self, local: &Local) -> Kept {
        match local.slot {
            Slot::Scalars { count, .. } => {
                self.scalars += count;
                Kept::Scalars { at: self.scalars - count, count }
            }
            Slot::Set { .. } if is_whole(&local.ty) => {
                self.wholes += 1;
                Kept::Whole(self.wholes - 1)
            }
            Slot::Set { .. } => {
                self.sets += 1;
                Kept::Set(self.sets - 1)
            }
        }
    }
}

/// Whether a local of this type is kept as words.
fn is_whole(ty: &Type) -> bool {
    matches!(ty, Type::Array { .. } | Type::List { .. })
}

/// At how many places each local gets a value, and from which local it gets it, if it does so as it is.
fn where_set(handler: &Handler) -> (Vec<u32>, Vec<Option<usize>>) {
    let count = handler.locals.len();
    let (mut set, mut from) = (vec![0u32; count], vec![None; count]);
    set.iter_mut().take(usize::from(handler.args)).for_each(|times| *times += 1);
    each_step(&handler.steps, &mut |step| {
        let (local, values): (LocalId, &[Expr]) = match &step.kind {
            StepKind::Let(local, values) => (*local, values),
            StepKind::Pop(_, local)
            | StepKind::ForSet(local, ..)
            | StepKind::ForRange(local, ..)
            | StepKind::ForList(local, ..) => (*local, &[]),
            StepKind::Perform(perform) => match perform.result {
                Some(local) => (local, &[]),
                None => return,
            },
            _ => return,
        };
        if let Some(times) = set.get_mut(local.index()) {
            *times += 1;
            from[local.index()] = match values {
                [Expr { kind: ExprKind::Local(earlier), .. }] => Some(earlier.index()),
                _ => None,
            };
        }
    });
    (set, from)
}

/// Of each local, an earlier one that it is the same as. Both must get a value at one place only: then neither changes while the other can be seen, since where a
/// local is seen the one from which it has its value is seen too.
fn same_as(handler: &Handler, set: &[u32], from: &[Option<usize>]) -> Vec<Option<usize>> {
    let once = |local: usize| set.get(local) == Some(&1);
    let alike = |local: &Local, other: &Local| match (local.slot, other.slot) {
        (Slot::Scalars { count: 1, .. }, Slot::Scalars { count: 1, .. }) => true,
        (Slot::Set { .. }, Slot::Set { .. }) => local.ty == other.ty,
        _ => false,
    };
    let same = |(local, from): (usize, &Option<usize>)| {
        let earlier = from.filter(|&earlier| earlier < local && once(local) && once(earlier))?;
        alike(&handler.locals[local], &handler.locals[earlier]).then_some(earlier)
    };
    from.iter().enumerate().map(same).collect()
}
