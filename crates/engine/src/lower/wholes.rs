//! From expressions whose value is a list or an array to instructions.

use super::Lowering;
use super::locals::Kept;
use crate::flat::{MOST_WHOLES, Op, Reg, WholeOp, WholeReg};
use crate::whole::Whole;
use trivium_protocol::source::Span;
use trivium_protocol::{Expr, ExprKind, Place};

impl Lowering<'_> {
    fn emit_whole(&mut self, op: WholeOp, span: Span) {
        self.emit(Op::Whole(op), span);
    }

    /// A register for a list or an array that is free.
    fn whole_register(&mut self) -> Option<WholeReg> {
        let whole = u8::try_from(self.wholes).ok()?;
        self.wholes += 1;
        self.most_wholes = self.most_wholes.max(self.wholes);
        (self.wholes <= MOST_WHOLES).then_some(whole)
    }

    fn whole_for(&mut self, into: Option<WholeReg>) -> Option<WholeReg> {
        into.or_else(|| self.whole_register())
    }

    /// How a list or an array lies, among those that instructions name.
    pub fn whole_at(&mut self, whole: &Whole) -> Option<u16> {
        let at = self.code.wholes.iter().position(|known| known == whole).unwrap_or_else(|| {
            self.code.wholes.push(whole.clone());
            self.code.wholes.len() - 1
        });
        u16::try_from(at).ok()
    }

    /// The register of a local, and how it lies.
    pub fn local_whole(&self, at: usize) -> Option<(WholeReg, Whole)> {
        let Kept::Whole(register) = *self.kept.get(at)? else { return None };
        let shape = self.engine.local_shape(&self.locals.get(at)?.ty, Span::default()).ok()?;
        Some((u8::try_from(register).ok()?, Whole::of(shape)?))
    }

    /// The value of an expression as it is to lie, in the register of the local that it is, or else in the given one, of which it knows nothing, or a new one.
    /// Whether it may lie so is checked where the walk checks it, unless that is known.
    pub fn whole(&mut self, expr: &Expr, whole: &Whole, is_checked: bool, into: Option<WholeReg>) -> Option<WholeReg> {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Local(local) => {
                let (from, lies) = self.local_whole(local.index())?;
                if lies.lies_like(whole) {
                    // Nobody has looked at what a message brings, as far as flat code knows.
                    let is_known = whole.is_any() || self.facts.is_sound(from) && whole.takes(&lies);
                    if is_checked && !is_known {
                        if lies.takes(whole) {
                            self.facts.add_sound(from);
                        }
                        let whole = self.whole_at(whole)?;
                        self.emit_whole(WholeOp::Check { from, whole }, span);
                    }
                    return Some(from);
                }
            }
            ExprKind::Var(place) => {
                let lies = Whole::of(self.engine.shape(place)?)?;
                if lies.fits_words() && lies.lies_like(whole) {
                    let to = self.whole_for(into)?;
                    self.read_whole(place, &lies, to, span)?;
                    if is_checked && !whole.takes(&lies) {
                        let whole = self.whole_at(whole)?;
                        self.emit_whole(WholeOp::Check { from: to, whole }, span);
                    }
                    return Some(to);
                }
            }
            ExprKind::SetOf(elements) if matches!(whole, Whole::List(_)) && (is_checked || elements.is_empty()) => {
                let (from, count) = self.numbers(elements)?;
                let (to, whole) = (self.whole_for(into)?, self.whole_at(whole)?);
                self.emit_whole(WholeOp::Put { to, from, count, whole }, span);
                return Some(to);
            }
            _ => {}
        }
        self.take(expr)?;
        let (to, whole) = (self.whole_for(into)?, self.whole_at(whole)?);
        if is_checked {
            self.emit_whole(WholeOp::CheckTaken { whole }, span);
        }
        self.emit_whole(WholeOp::GiveWords { to, whole }, span);
        Some(to)
    }

    fn read_whole(&mut self, place: &Place, lies: &Whole, to: WholeReg, span: Span) -> Option<()> {
        let whole = self.whole_at(lies)?;
        let other = self.look(&place.owner, place.role, span)?;
        self.emit_whole(WholeOp::Read { to, other, whole }, span);
        Some(())
    }

    /// The elements of a list in registers one after the other, and how many they are.
    fn numbers(&mut self, elements: &[Expr]) -> Option<(Reg, u8)> {
        Some((self.values(elements)?, u8::try_from(elements.len()).ok()?))
    }

    /// The numbers of a list or an array are taken.
    fn take(&mut self, expr: &Expr) -> Option<()> {
        let span = expr.span;
        let op = match &expr.kind {
            ExprKind::Local(local) => {
                let (from, lies) = self.local_whole(local.index())?;
                WholeOp::TakeWords { from, whole: self.whole_at(&lies)? }
            }
            ExprKind::Var(place) => {
                let lies = Whole::of(self.engine.shape(place)?)?;
                let whole = self.whole_at(&lies)?;
                let other = self.look(&place.owner, place.role, span)?;
                WholeOp::TakeRecord { other, whole }
            }
            ExprKind::SetOf(elements) => {
                let (from, count) = self.numbers(elements)?;
                WholeOp::TakeNumbers { from, count }
            }
            _ => return None,
        };
        self.emit_whole(op, span);
        Some(())
    }

    /// A list or an array becomes a local's.
    pub fn bind_whole(&mut self, local: usize, expr: &Expr, span: Span) -> Option<()> {
        let (to, lies) = self.local_whole(local)?;
        // The walk checks arrays where they are stored.
        let is_list = matches!(lies, Whole::List(_));
        let from = self.whole(expr, &lies, is_list, Some(to))?;
        if from != to {
            self.emit_whole(WholeOp::Move { to, from }, span);
        }
        if is_list {
            self.facts.add_sound(to);
        }
        Some(())
    }

    /// A variable becomes a list or an array.
    pub fn assign_whole(&mut self, place: &Place, expr: &Expr, span: Span) -> Option<()> {
        let lies = Whole::of(self.engine.shape(place)?)?;
        let whole = self.whole_at(&lies)?;
        if lies.fits_words() {
            let from = self.whole(expr, &lies, true, None)?;
            let other = self.change(place, span)?;
            self.emit_whole(WholeOp::Write { from, other, whole }, span);
        } else {
            self.take(expr)?;
            self.emit_whole(WholeOp::CheckTaken { whole }, expr.span);
            let other = self.change(place, span)?;
            self.emit_whole(WholeOp::GiveRecord { other, whole }, span);
        }
        Some(())
    }

    /// Whether two are equal.
    pub fn same_whole(&mut self, left: &Expr, right: &Expr, to: Reg) -> Option<Op> {
        let wholes = self.wholes;
        let lies = self.lies(left).or_else(|| self.lies(right))?;
        let is_like = |this: &Self, expr: &Expr| match &expr.kind {
            ExprKind::SetOf(elements) => elements.is_empty() && matches!(lies, Whole::List(_)),
            _ => this.lies(expr).is_some_and(|other| other.fits_words() && other.lies_like(&lies)),
        };
        let op = if is_like(self, left) && is_like(self, right) {
            let (left, right) = (self.whole(left, &lies, false, None)?, self.whole(right, &lies, false, None)?);
            WholeOp::Same { to, left, right }
        } else {
            self.take(left)?;
            self.take(right)?;
            WholeOp::SameTaken { to }
        };
        self.wholes = wholes;
        Some(Op::Whole(op))
    }

    /// How a local or a variable lies.
    fn lies(&self, expr: &Expr) -> Option<Whole> {
        match &expr.kind {
            ExprKind::Local(local) => self.local_whole(local.index()).map(|(_, lies)| lies),
            ExprKind::Var(place) => Whole::of(self.engine.shape(place)?),
            _ => None,
        }
    }
}
