//! Checks of values that go to a place, where it is not known that they may.

use super::Lowering;
use crate::flat::{Op, Reg};
use crate::layout::Cell;
use trivium_protocol::source::Span;
use trivium_protocol::{Expr, ExprKind};

impl Lowering<'_> {
    /// The register of a local that never changes, as far as it can be seen.
    fn fixed(&self, expr: &Expr) -> Option<Reg> {
        let ExprKind::Local(local) = expr.kind else { return None };
        self.local(local.index(), 0).filter(|register| self.fixed.contains(&u16::from(*register)))
    }

    /// A local has a value within these numbers from here on.
    pub fn lies_within(&mut self, register: Reg, lo: i64, hi: i64) {
        if self.fixed.contains(&u16::from(register)) {
            self.facts.add_range(register, lo, hi);
        }
    }

    /// The value of a local, if only one is possible.
    pub fn known_local(&self, expr: &Expr) -> Option<i64> {
        let register = self.fixed(expr)?;
        self.facts.ranges_of(register).find(|(lo, hi)| lo == hi).map(|(lo, _)| lo)
    }

    /// Whether the value of an expression, if that has one, is among these numbers.
    pub fn is_within(&self, expr: &Expr, lo: i64, hi: i64) -> bool {
        if let Some(value) = self.known(expr) {
            return (lo..=hi).contains(&value);
        }
        let Some(register) = self.fixed(expr) else { return false };
        self.facts.ranges_of(register).any(|(least, most)| lo <= least && most <= hi)
    }

    /// The value of an expression, which is in a register, is checked against a place, unless it is known that it may go there.
    pub fn check(&mut self, expr: &Expr, from: Reg, cell: Cell, span: Span) -> Option<()> {
        if !self.is_within(expr, cell.lo, cell.hi) {
            let number = self.cell(cell)?;
            self.emit(Op::CheckValue { from, cell: number }, span);
            if self.fixed(expr) == Some(from) {
                self.lies_within(from, cell.lo, cell.hi);
            }
        }
        Some(())
    }
}
