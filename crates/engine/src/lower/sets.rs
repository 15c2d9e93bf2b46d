//! From expressions whose value is a set to instructions. Elements count from the least possible one.

use super::Lowering;
use crate::flat::{Op, SetReg};
use trivium_protocol::{Expr, ExprKind, SetOperator, Type};

impl Lowering<'_> {
    /// The register with the value of a set expression: that of a local, or a new one. It is not changed.
    pub fn set(&mut self, expr: &Expr) -> Option<SetReg> {
        if let ExprKind::Local(local) = expr.kind {
            return self.local_set(local.index());
        }
        let set = self.set_register()?;
        self.fill(expr, set)?;
        Some(set)
    }

    /// The same with elements that count from `lo`.
    pub fn set_from(&mut self, expr: &Expr, lo: i64) -> Option<SetReg> {
        let (from, _) = self.engine.set_range(&expr.ty);
        if from == lo {
            return self.set(expr);
        }
        let set = self.set_register()?;
        self.fill_from(expr, lo, set)?;
        Some(set)
    }

    /// Puts the value into a register of which the expression knows nothing, counted from `lo`.
    fn fill_from(&mut self, expr: &Expr, lo: i64, set: SetReg) -> Option<()> {
        self.fill(expr, set)?;
        let (from, _) = self.engine.set_range(&expr.ty);
        if from != lo {
            let (from, lo) = (i32::try_from(from).ok()?, i32::try_from(lo).ok()?);
            self.emit(Op::Shift { set, from, lo }, expr.span);
        }
        Some(())
    }

    fn fill(&mut self, expr: &Expr, set: SetReg) -> Option<()> {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Local(local) => {
                let from = self.local_set(local.index())?;
                self.emit(Op::MoveSet { to: set, from }, span);
            }
            ExprKind::Var(place) => {
                let cell = self.engine.set_cell(place, span).ok()?;
                let cell = self.set_cell(cell)?;
                let other = self.look(&place.owner, place.role, span)?;
                self.emit(Op::ReadSet { set, other, cell }, span);
            }
            ExprKind::SetOf(elements) => {
                self.emit(Op::Empty { set }, span);
                for element in elements {
                    let scalars = self.scalars;
                    let value = self.value(element)?;
                    let op = match expr.ty {
                        Type::NodeSet => Op::JoinNode { set, element: value },
                        _ => {
                            let (lo, count) = self.engine.set_range(&expr.ty);
                            let (lo, count) = (i32::try_from(lo).ok()?, u16::try_from(count).ok()?);
                            Op::JoinNumber { set, element: value, lo, count }
                        }
                    };
                    self.emit(op, element.span);
                    self.scalars = scalars;
                }
            }
            // Nodes that are named one by one need no set of their own.
            ExprKind::SetBinary(operator @ (SetOperator::Union | SetOperator::Difference), left, right)
                if let ExprKind::SetOf(nodes) = &right.kind
                    && right.ty == Type::NodeSet
                    && expr.ty == Type::NodeSet =>
            {
                let (lo, _) = self.engine.set_range(&expr.ty);
                self.fill_from(left, lo, set)?;
                for node in nodes {
                    let scalars = self.scalars;
                    let element = self.value(node)?;
                    let op = match operator {
                        SetOperator::Union => Op::JoinNode { set, element },
                        _ => Op::LeaveNode { set, element },
                    };
                    self.emit(op, node.span);
                    self.scalars = scalars;
                }
            }
            ExprKind::Element(..) | ExprKind::LocalElement(..) => {
                let scalars = self.scalars;
                let from = self.value(expr)?;
                self.emit(Op::SetOfBits { set, from }, span);
                self.scalars = scalars;
            }
            ExprKind::AllNodes => {
                self.emit(Op::All { set }, span);
            }
            ExprKind::SetBinary(operator, left, right) => {
                let (lo, _) = self.engine.set_range(&expr.ty);
                self.fill_from(left, lo, set)?;
                let sets = self.sets;
                let with = self.set_from(right, lo)?;
                self.emit(Op::Merge { operator: *operator, into: set, with }, span);
                self.sets = sets;
            }
            _ => return None,
        }
        Some(())
    }
}
