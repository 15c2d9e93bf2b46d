//! What expressions are made of: constants, variables, coordinates, and what is asked of shapes.

use super::Generator;
use super::expressions::Values;
use super::ranges::Made;
use crate::c_star::number::{Type, Value};
use crate::c_star::tree::{Expression, Object, ShapeOf};

impl Generator {
    /// Of what no operator makes; what is called, got or reduced has so much depth.
    pub(super) fn leaf(&mut self, depth: usize, values: Values) -> Made {
        let choice = self.random.below(20);
        let made = match (values, choice) {
            (Values::Parallel, 0..=7) => self.own(),
            (Values::Parallel, 8..=10) => self.coordinate(),
            (Values::Parallel, 11) => self.get(depth),
            (Values::Parallel, 12) if self.random.once_in(2) => self.get(depth),
            (Values::Parallel, 12) => self.shifted(),
            (Values::Parallel, 13) => self.parallel_call(depth),
            (_, 14) => self.reduction(depth),
            (_, 15) => self.effect(depth),
            (_, 16) => self.asked_of_shape(),
            (Values::Scalar, 0) => self.get_of_one(depth),
            (Values::Scalar, 1..=9) => self.scalar_variable(),
            (_, 17) => self.scalar_variable(),
            (_, 18) => self.table(values),
            _ => None,
        };
        made.unwrap_or_else(|| self.any_constant())
    }

    pub(super) fn any_constant(&mut self) -> Made {
        let number = self.random.below(110) as i128 - 10;
        Made::constant(match self.random.below(12) {
            0 => Value::real(Type::Double, number as f64 / 8.0),
            1 => Value::real(Type::Double, number as f64 / 10.0),
            2 => Value::real(Type::Float, number as f64 / 10.0),
            3 => Value::whole(Type::Unsigned, number),
            4 => {
                let of = [Type::Long, Type::UnsignedLong, Type::LongLong, Type::UnsignedLongLong][self.random.below(4)];
                Value::whole(of, number)
            }
            5 => {
                let of = [Type::Int, Type::Unsigned, Type::LongLong, Type::UnsignedLongLong][self.random.below(4)];
                Value::whole(of, if self.random.once_in(2) { of.most() } else { of.least() })
            }
            _ => Value::int(number),
        })
    }

    /// The value of an object, between the numbers that it may hold.
    pub(super) fn read(&mut self, tree: Expression, object: &Object) -> Made {
        let of = self.program.type_of_object(object);
        let known = self.ranges.get(&object.variable).copied();
        let of_type = if of.is_real() { (-super::REAL_LIMIT, super::REAL_LIMIT) } else { (of.least(), of.most()) };
        let (low, high) = known.unwrap_or(of_type);
        Made::new(tree, of, low, high)
    }

    fn scalar_variable(&mut self) -> Option<Made> {
        let variables = self.scope.scalars.clone();
        let object = Object::of(self.one_of(&variables)?);
        Some(self.read(Expression::Own(object.clone()), &object))
    }

    /// An element of an array of scalars: another one for each position, now and then.
    fn table(&mut self, values: Values) -> Option<Made> {
        let tables = self.scope.tables.clone();
        let variable = self.one_of(&tables)?;
        let object = self.object(variable, values);
        Some(self.read(Expression::Own(object.clone()), &object))
    }

    fn own(&mut self) -> Option<Made> {
        let variables = self.own_variables();
        let variable = self.one_of(&variables)?;
        let object = self.object(variable, Values::Parallel);
        Some(self.read(Expression::Own(object.clone()), &object))
    }

    fn coordinate(&mut self) -> Option<Made> {
        if let Some(dimension) = self.scope.dot
            && !self.random.once_in(3)
        {
            let size = self.size(dimension)?;
            return Some(Made::new(Expression::Dot(dimension), Type::Int, 0, size - 1));
        }
        let rank = (0..4).take_while(|dimension| self.size(*dimension).is_some()).count();
        let dimension = if rank == 0 { return None } else { self.random.below(rank) };
        let size = self.size(dimension)?;
        Some(Made::new(Expression::Coordinate(dimension), Type::Int, 0, size - 1))
    }

    fn asked_of_shape(&mut self) -> Option<Made> {
        let shape = self.random.below(self.program.shapes.len());
        let name = self.shape_name(shape);
        let sizes = self.program.shapes[shape].sizes.clone();
        let dimension = self.random.below(sizes.len());
        let positions = self.positions(ShapeOf::Named(shape));
        let (tree, number) = match self.random.below(3) {
            0 => (Expression::DimensionOf(name, dimension), sizes[dimension]),
            1 => (Expression::PositionsOf(name), positions),
            _ => (Expression::RankOf(name), sizes.len() as i128),
        };
        Some(Made::new(tree, Type::Int, number, number))
    }

    /// A call of a small function, or `++` of the scalar that is there for it.
    fn effect(&mut self, depth: usize) -> Option<Made> {
        if self.effects == 0 || !self.may_be_once() || self.scope.function.is_some_and(|of| self.is_small(of)) {
            return None;
        }
        self.effects -= 1;
        if self.random.once_in(3) {
            let object = Object::of(self.tick);
            let is_prefix = self.random.once_in(2);
            return Some(self.read(Expression::Step { object: object.clone(), is_prefix }, &object));
        }
        self.small_call(depth)
    }
}
