//! Steps that change variables and locals.

use super::Run;
use crate::evaluate::{array, array_words, bits, scalar, set_bit, set_for, set_from};
use crate::fault::{FaultKind, Locate, Try, trouble};
use crate::layout::{MAX_FIELDS, SetCell, Shape};
use crate::mechanisms::{Charge, Mechanisms};
use crate::set::Set;
use trivium_protocol::source::Span;
use trivium_protocol::{Expr, LocalId, Place, Slot, Type};

impl<'e, M: Mechanisms> Run<'e, '_, M> {
    pub(super) fn assign(&mut self, place: &Place, exprs: &[Expr], span: Span) -> Try<()> {
        self.m.charge(Charge::Steps(1));
        match (self.engine.shape(place), exprs) {
            (Some(Shape::Set(cell)), [expr]) => {
                let mut value = Set::default();
                set_for(self, expr, cell, &mut value)?;
                cell.write(self.record_mut(place, span)?, 0, &value);
                Ok(())
            }
            (Some(Shape::Array(cell)), [expr]) => {
                let values = array(self, expr)?;
                cell.check(values.iter().copied()).at(expr.span)?;
                cell.write(self.record_mut(place, span)?, 0, values.into_iter());
                Ok(())
            }
            (Some(Shape::List(cell)), [expr]) => {
                let values = array(self, expr)?;
                cell.check(&values).at(expr.span)?;
                cell.write(self.record_mut(place, span)?, 0, &values);
                Ok(())
            }
            (Some(Shape::Record(fields)), exprs) if place.field.is_none() => {
                let values = self.values(exprs, span)?;
                for ((cell, value), expr) in fields.iter().zip(values).zip(exprs) {
                    cell.check(value).at(expr.span)?;
                }
                let record = self.record_mut(place, span)?;
                for (cell, value) in fields.iter().zip(values).take(exprs.len()) {
                    cell.write(record, 0, value);
                }
                Ok(())
            }
            (Some(Shape::Scalar(_) | Shape::Record(_)), [expr]) => {
                let cell = self.engine.cell(place, span)?;
                let value = scalar(self, expr)?;
                cell.check(value).at(expr.span)?;
                cell.write(self.record_mut(place, span)?, 0, value);
                Ok(())
            }
            _ => trouble(FaultKind::Malformed, span),
        }
    }

    pub(super) fn bind(&mut self, local: LocalId, exprs: &[Expr], span: Span) -> Try<()> {
        self.m.charge(Charge::Steps(1));
        let declared = &self.handler.locals[local.index()];
        match (declared.slot, exprs) {
            (Slot::Set { at }, [expr]) if matches!(declared.ty, Type::Array { .. } | Type::List { .. }) => {
                let values = array(self, expr)?;
                self.frame.sets[at as usize] = array_words(self.engine, &declared.ty, values, expr.span)?;
            }
            (Slot::Set { at }, [expr]) => {
                let (lo, _) = self.engine.set_range(&declared.ty);
                let mut value = Set::default();
                set_from(self, expr, lo, &mut value)?;
                self.frame.sets[at as usize] = value;
            }
            (Slot::Scalars { at, count: 1.. }, [expr]) => {
                let value = scalar(self, expr)?;
                if let Some((lo, hi)) = self.engine.range_of_local(&declared.ty, expr)
                    && !(lo..=hi).contains(&value)
                {
                    return trouble(FaultKind::Range { value, lo, hi }, span);
                }
                self.frame.scalars[at as usize] = value;
            }
            (Slot::Scalars { at, count }, exprs) if exprs.len() <= count as usize => {
                let values = self.values(exprs, span)?;
                let at = at as usize;
                self.frame.scalars[at..at + exprs.len()].copy_from_slice(&values[..exprs.len()]);
            }
            _ => return trouble(FaultKind::Malformed, span),
        }
        Ok(())
    }

    pub(super) fn change_set(
        &mut self,
        place: &Place,
        element: &Expr,
        change: impl Fn(&SetCell, &mut [u8], usize, i64),
        span: Span,
    ) -> Try<()> {
        self.m.charge(Charge::Steps(1));
        let value = scalar(self, element)?;
        let cell = self.engine.set_cell(place, span)?;
        let ty = &self.engine.protocol.roles[place.role.index()].vars[place.var.index()].ty;
        let bit = set_bit(self.engine, ty, value).at(element.span)?;
        change(&cell, self.record_mut(place, span)?, 0, bit);
        Ok(())
    }

    /// Some fields of an element of a list or array get values, from one of them on.
    pub(super) fn assign_element(
        &mut self,
        place: &Place,
        index: &Expr,
        first: u16,
        exprs: &[Expr],
        span: Span,
    ) -> Try<()> {
        self.m.charge(Charge::Steps(1));
        let engine = self.engine;
        let named = scalar(self, index)?;
        let values = match exprs {
            [expr] if matches!(expr.ty, Type::NodeSet | Type::IntSet { .. }) => {
                let mut values = [0; MAX_FIELDS];
                values[0] = bits(self, place, expr)?;
                values
            }
            exprs => self.values(exprs, span)?,
        };
        let fields = match engine.shape(place) {
            Some(Shape::Array(array)) => &array.fields,
            Some(Shape::List(list)) => &list.fields,
            _ => return trouble(FaultKind::Malformed, span),
        };
        let fields = fields.get(usize::from(first)..).unwrap_or(&[]);
        for ((cell, value), expr) in fields.iter().zip(values).zip(exprs) {
            cell.check(value).at(expr.span)?;
        }
        let record = self.record_mut(place, span)?;
        let at = match engine.shape(place) {
            Some(Shape::Array(array)) => array.element_at(array.place(named).at(index.span)?),
            _ => {
                let list = engine.list_cell(place, span)?;
                let len = list.len(record);
                match u32::try_from(named).ok().filter(|&at| at < len) {
                    Some(at) => list.element_at(at),
                    None => return trouble(FaultKind::NoElement(named), index.span),
                }
            }
        };
        for ((cell, value), _) in fields.iter().zip(values).zip(exprs) {
            cell.write(record, at, value);
        }
        Ok(())
    }

    pub(super) fn push(&mut self, place: &Place, exprs: &[Expr], span: Span) -> Try<()> {
        self.m.charge(Charge::Steps(1));
        let list = self.engine.list_cell(place, span)?;
        let values = self.values(exprs, span)?;
        for ((cell, value), expr) in list.fields.iter().zip(values).zip(exprs) {
            cell.check(value).at(expr.span)?;
        }
        let record = self.record_mut(place, span)?;
        let len = list.len(record);
        if len >= list.capacity {
            return trouble(FaultKind::ListFull, span);
        }
        list.set_len(record, len + 1);
        for (cell, value) in list.fields.iter().zip(values).take(exprs.len()) {
            cell.write(record, list.element_at(len), value);
        }
        Ok(())
    }

    pub(super) fn pop(&mut self, place: &Place, local: LocalId, span: Span) -> Try<()> {
        self.m.charge(Charge::Steps(1));
        let list = self.engine.list_cell(place, span)?;
        let record = self.record_mut(place, span)?;
        if list.len(record) == 0 {
            return trouble(FaultKind::Empty, span);
        }
        let mut values = [0; MAX_FIELDS];
        for (value, cell) in values.iter_mut().zip(&list.fields) {
            *value = cell.read(record, list.element_at(0));
        }
        list.remove(record, 0);
        self.set_fields(local, &values[..list.fields.len()], span)
    }

    pub(super) fn clear(&mut self, place: &Place, span: Span) -> Try<()> {
        self.m.charge(Charge::Steps(1));
        let Some(shape) = self.engine.shape(place) else { return trouble(FaultKind::Malformed, span) };
        let (at, bytes) = shape.extent();
        self.record_mut(place, span)?[at as usize..(at + bytes) as usize].fill(0);
        Ok(())
    }

    /// Gives a scalar or record local its values.
    pub(super) fn set_fields(&mut self, local: LocalId, values: &[i64], span: Span) -> Try<()> {
        match self.handler.locals[local.index()].slot {
            Slot::Scalars { at, count } if values.len() <= count as usize => {
                let at = at as usize;
                self.frame.scalars[at..at + values.len()].copy_from_slice(values);
                Ok(())
            }
            _ => trouble(FaultKind::Malformed, span),
        }
    }
}
