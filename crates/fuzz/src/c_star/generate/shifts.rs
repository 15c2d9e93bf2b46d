//! Values of positions that are so many steps away in a dimension.

use super::Generator;
use super::expressions::Values;
use super::ranges::Made;
use crate::c_star::number::Type;
use crate::c_star::tree::{Expression, Object, ShapeOf, Shift, Statement};

impl Generator {
    /// `from_torus_dim(x, k, d)`, `from_grid_dim(x, e, k, d)`
    pub(super) fn shifted(&mut self) -> Option<Made> {
        if !self.may_communicate() {
            return None;
        }
        let object = self.own_object()?;
        self.communications -= 1;
        let made = self.read(Expression::Own(object.clone()), &object);
        let of = made.of;
        let border = if self.random.once_in(2) { Some(self.border(of)?) } else { None };
        let (low, high) = border
            .as_ref()
            .map_or((made.low, made.high), |border| (made.low.min(border.low), made.high.max(border.high)));
        let border = border.map(|border| Box::new(border.tree));
        let (dimension, distance) = self.way()?;
        let shift = Shift { object, border, dimension, distance: Box::new(distance) };
        Some(Made::new(Expression::Shift(shift), of, low, high))
    }

    /// `to_torus_dim(x, e, k, d);`, `to_grid_dim(x, e, f, k, d);`
    pub(super) fn shift_to(&mut self) -> Option<Vec<Statement>> {
        self.begin_expression();
        let object = self.own_object()?;
        let of = self.program.type_of_object(&object);
        self.begin_expression();
        let value = self.expression(2, Values::Parallel);
        let value = self.assignable(value, of).tree;
        let border = match self.random.once_in(2) {
            true => {
                let border = self.surely_parallel(1)?;
                Some(Box::new(self.assignable(border, of).tree))
            }
            false => None,
        };
        let (dimension, distance) = self.way()?;
        let shift = Shift { object, border, dimension, distance: Box::new(distance) };
        Some(vec![Statement::ShiftTo(shift, value)])
    }

    /// Of the current shape.
    fn own_object(&mut self) -> Option<Object> {
        let variables = self.own_variables();
        let variable = self.one_of(&variables)?;
        let (effects, communications) = (self.effects, self.communications);
        let object = self.plain_object(variable);
        (self.effects, self.communications) = (effects, communications);
        Some(object)
    }

    /// What does nothing.
    fn border(&mut self, of: Type) -> Option<Made> {
        let size = self.size(0)?;
        let made = match self.random.once_in(2) {
            true => Made::new(Expression::Coordinate(0), Type::Int, 0, size - 1),
            false => {
                let object = self.own_object()?;
                self.read(Expression::Own(object.clone()), &object)
            }
        };
        Some(self.assignable(made, of))
    }

    /// A dimension, and how far.
    fn way(&mut self) -> Option<(usize, Expression)> {
        let dimension = match self.scope.current? {
            ShapeOf::Named(shape) => self.random.below(self.program.shapes[shape].sizes.len()),
            ShapeOf::Current => 0,
        };
        let is_fit = |variable: &&usize| {
            let of = self.program.type_of_object(&Object::of(**variable));
            !of.is_real() && of.most() <= i128::from(i64::MAX)
        };
        let variables: Vec<usize> = self.scope.scalars.iter().filter(is_fit).copied().collect();
        if let Some(variable) = self.one_of(&variables).filter(|_| self.random.once_in(3)) {
            return Some((dimension, Expression::own(variable)));
        }
        // Up to twice around, most of them one step.
        let size = self.size(dimension)?;
        let far = self.random.below(4 * size as usize + 1) as i128 - 2 * size;
        let distance = if self.random.once_in(2) { far.clamp(-1, 1) } else { far };
        Some((dimension, Expression::int(distance)))
    }
}
