//! What positions get, send and reduce.

use super::Generator;
use super::expressions::{MOST_COMMUNICATIONS, Values};
use super::ranges::Made;
use crate::c_star::features::Feature;
use crate::c_star::number::{Operator, Type, Value};
use crate::c_star::tree::{Expression, Held, Object, Reduction, ShapeOf, Statement};

impl Generator {
    pub(super) fn may_communicate(&self) -> bool {
        let is_small = self.scope.function.is_some_and(|of| self.is_small(of));
        self.communications > 0 && self.may_be_once() && !is_small
    }

    /// One index for each dimension of a shape.
    pub(super) fn indices(&mut self, shape: usize, depth: usize, values: Values) -> Vec<Expression> {
        let dot = self.scope.dot;
        let sizes = self.program.shapes[shape].sizes.clone();
        let mut indices = Vec::new();
        for (bracket, size) in sizes.into_iter().enumerate() {
            let own = self.size(bracket).filter(|_| values == Values::Parallel);
            self.scope.dot = own.map(|_| bracket);
            if own.is_some()
                && self.random.once_in(2)
                && let Some(near) = self.nearby(bracket, size)
            {
                indices.push(near);
                continue;
            }
            let index = match own {
                Some(own) if self.random.once_in(2) => Made::new(Expression::Dot(bracket), Type::Int, 0, own - 1),
                _ => self.whole(depth, values),
            };
            let index = match self.random.below(3) {
                0 => index,
                1 => self.arithmetic(Operator::Add, index, Made::constant(Value::int(1))),
                _ => self.arithmetic(Operator::Subtract, Made::constant(Value::int(size - 1)), index),
            };
            indices.push(self.index_below(index, size));
        }
        self.scope.dot = dot;
        indices
    }

    /// `. + k` and the like: what is so far away from all active positions is in a dimension of this size.
    fn nearby(&mut self, bracket: usize, size: i128) -> Option<Expression> {
        let (low, high) = self.bounds(bracket)?;
        let (least, most) = (-low, size - 1 - high);
        let dot = Expression::Dot(bracket);
        if least > most {
            return None;
        }
        // By a scalar that is small.
        let is_fit =
            |variable: &&usize| self.ranges.get(variable).is_some_and(|(low, high)| *low >= least && *high <= most);
        let variables: Vec<usize> = self.scope.scalars.iter().filter(is_fit).copied().collect();
        if let Some(variable) = self.one_of(&variables).filter(|_| self.random.once_in(3)) {
            return Some(Expression::binary(Operator::Add, dot, Expression::own(variable)));
        }
        let distance = least + self.random.below((most - least + 1) as usize) as i128;
        let distance = if self.random.once_in(2) { distance.clamp(-1, 1).clamp(least, most) } else { distance };
        Some(match distance {
            0 => dot,
            _ if distance < 0 => Expression::binary(Operator::Subtract, dot, Expression::int(-distance)),
            _ => Expression::binary(Operator::Add, dot, Expression::int(distance)),
        })
    }

    /// `x = [. + 1][.]y`, of the current shape.
    pub(super) fn near_assignment(&mut self) -> Option<Statement> {
        let ShapeOf::Named(shape) = self.scope.current? else { return None };
        let variables = self.own_variables();
        let (to, from) = (self.one_of(&variables)?, self.one_of(&variables)?);
        let (to, from) = (self.plain_object(to), self.plain_object(from));
        let sizes = self.program.shapes[shape].sizes.clone();
        let indices = sizes.iter().enumerate().map(|(bracket, size)| self.nearby(bracket, *size));
        let indices = indices.collect::<Option<Vec<Expression>>>()?;
        let made = self.read(Expression::Get(indices, from.clone()), &from);
        let of = self.program.type_of_object(&to);
        let made = self.assignable(made, of);
        Some(Statement::Assign(to, None, made.tree))
    }

    /// An object of a parallel variable that another position has: which element it is, all agree.
    fn other(&mut self) -> Option<(Object, usize)> {
        let variables = self.named_variables();
        let (variable, shape) = self.one_of(&variables)?;
        Some((self.object(variable, Values::Scalar), shape))
    }

    /// `[i]x` with parallel indices.
    pub(super) fn get(&mut self, depth: usize) -> Option<Made> {
        if !self.may_communicate() || self.scope.current.is_none() {
            return None;
        }
        self.communications -= 1;
        let (object, shape) = self.other()?;
        let indices = self.indices(shape, depth.min(2), Values::Parallel);
        Some(self.read(Expression::Get(indices, object.clone()), &object))
    }

    /// `[i]x` with scalar indices.
    pub(super) fn get_of_one(&mut self, depth: usize) -> Option<Made> {
        if !self.may_communicate() {
            return None;
        }
        self.communications -= 1;
        let (object, shape) = self.other()?;
        let indices = self.indices(shape, depth.min(1), Values::Scalar);
        Some(self.read(Expression::Get(indices, object.clone()), &object))
    }

    /// An expression that has a value at each position.
    pub(super) fn surely_parallel(&mut self, depth: usize) -> Option<Made> {
        self.scope.current?;
        let made = self.expression(depth, Values::Parallel);
        if self.program.is_parallel(&made.tree) {
            return Some(made);
        }
        let size = self.size(0)?;
        Some(self.arithmetic(Operator::Add, Made::new(Expression::Coordinate(0), Type::Int, 0, size - 1), made))
    }

    /// `(+= x)`
    pub(super) fn reduction(&mut self, depth: usize) -> Option<Made> {
        if !self.may_communicate() {
            return None;
        }
        let current = self.scope.current.filter(|_| !self.scope.is_quiet)?;
        self.communications -= 1;
        let dot = self.scope.dot.take();
        let operand = self.surely_parallel(depth.min(2));
        self.scope.dot = dot;
        let reduction = Reduction::ALL[self.random.below(7)];
        Some(self.reduced(reduction, operand?, self.positions(current)))
    }

    pub(super) fn reduced(&mut self, reduction: Reduction, operand: Made, positions: i128) -> Made {
        let operand = if reduction.is_of_bits() { self.as_whole(operand) } else { operand };
        match reduction {
            Reduction::Least | Reduction::Most => self.extreme(reduction, operand),
            Reduction::Add | Reduction::Subtract => {
                let of = operand.of.promoted();
                let range = self.range_of_reduction(of, &operand, positions);
                let operand = if range.is_some() { operand } else { self.fit(operand, 30_011) };
                let of = operand.of.promoted();
                let range = self.range_of_reduction(of, &operand, positions);
                let (low, high) = range.unwrap_or((of.least(), of.most()));
                Made::new(Expression::Reduce(reduction, Box::new(operand.tree)), of, low, high)
            }
            _ => {
                let of = operand.of.promoted();
                Made::new(Expression::Reduce(reduction, Box::new(operand.tree)), of, of.least(), of.most())
            }
        }
    }

    /// The least or greatest; of reals, with a bound for what comes of no position.
    fn extreme(&mut self, reduction: Reduction, operand: Made) -> Made {
        if !operand.of.is_real() {
            let of = operand.of.promoted();
            let (low, high) = match reduction {
                Reduction::Least => (operand.low, of.most()),
                _ => (of.least(), operand.high),
            };
            return Made::new(Expression::Reduce(reduction, Box::new(operand.tree)), of, low, high);
        }
        let operand = self.fit(operand, super::REAL_LIMIT);
        let operand = self.with_positive_zero(operand);
        let of = operand.of;
        let bound = super::REAL_LIMIT as f64 * if reduction == Reduction::Least { 1.0 } else { -1.0 };
        let reduced = Expression::Reduce(reduction, Box::new(operand.tree));
        let bound = Expression::Constant(Value::real(of, bound));
        let tree = Expression::binary(reduction.operator(), reduced, bound);
        Made::new(tree, of, -2 * super::REAL_LIMIT, 2 * super::REAL_LIMIT)
    }

    /// A sum of numbers that are rounded, of which another order gives other bits: printed, or sent to one position.
    pub(super) fn sum_of_tenths(&mut self) -> Option<Vec<Statement>> {
        self.begin_expression();
        let operand = self.surely_parallel(1)?;
        let operand = self.fit(operand, 1009);
        let of = [Type::Float, Type::Double][self.random.below(2)];
        let tenth = Made::constant(Value::real(of, 0.1 + self.random.below(7) as f64 / 10.0));
        let made = self.arithmetic(Operator::Multiply, operand, tenth);
        let places = self.named_variables();
        let is_real = |(variable, _): &&(usize, usize)| {
            let variable = &self.program.variables[*variable];
            variable.count.is_none() && variable.held == Held::Number(made.of)
        };
        let places: Vec<(usize, usize)> = places.iter().filter(is_real).copied().collect();
        match self.one_of(&places).filter(|_| self.random.once_in(2)) {
            Some((variable, shape)) => {
                let made = self.with_positive_zero(made);
                let sizes = self.program.shapes[shape].sizes.clone();
                let indices =
                    sizes.iter().map(|size| Expression::int(self.random.below(*size as usize) as i128)).collect();
                let send = Statement::Send(indices, Object::of(variable), Some(Operator::Add), made.tree);
                let smaller = self.made_small(&Object::of(variable), shape);
                Some(vec![send, smaller])
            }
            None => {
                let sum = Expression::Reduce(Reduction::Add, Box::new(made.tree));
                Some(vec![Statement::Print("sum".into(), vec![Expression::Bits(Box::new(sum))])])
            }
        }
    }

    /// `[i]x = e`, and where several may send to one, what shows which stayed.
    pub(super) fn send(&mut self) -> Option<Vec<Statement>> {
        if !Feature::Sends.is_on() {
            return None;
        }
        self.begin_expression();
        let (object, shape) = self.other()?;
        let of = self.program.type_of_object(&object);
        let values = if self.scope.current.is_some() { Values::Parallel } else { Values::Scalar };
        let is_own = self.scope.current == Some(ShapeOf::Named(shape));
        if is_own && self.random.once_in(2) {
            let indices = self.permutation(shape);
            let value = self.expression(2, values);
            let value = self.assignable(value, of);
            return Some(vec![Statement::Send(indices, object, None, value.tree)]);
        }
        if of.is_real() || !self.is_fixed(&object) {
            let indices = self.indices(shape, 1, Values::Scalar);
            let value = self.expression(2, Values::Scalar);
            let value = self.assignable(value, of);
            return Some(vec![Statement::Send(indices, object, None, value.tree)]);
        }
        let indices = self.indices(shape, 1, values);
        let value = self.expression(2, values);
        let value = self.assignable(value, of);
        Some(vec![Statement::Send(indices, object.clone(), None, value.tree), Statement::Settle(object)])
    }

    /// Whether all indices within the object are constants.
    fn is_fixed(&self, object: &Object) -> bool {
        let of_field = object.field.as_ref().and_then(|(_, index)| index.as_deref());
        [object.index.as_deref(), of_field].into_iter().flatten().all(|index| index.as_constant().is_some())
    }

    /// Indices of the current shape that are those of another position for each.
    fn permutation(&mut self, shape: usize) -> Vec<Expression> {
        let sizes = self.program.shapes[shape].sizes.clone();
        let mut indices = Vec::new();
        for (bracket, size) in sizes.into_iter().enumerate() {
            let dot = Made::new(Expression::Dot(bracket), Type::Int, 0, size - 1);
            let by = Made::constant(Value::int(self.random.below(5) as i128));
            let index = match self.random.below(3) {
                0 => dot,
                1 => self.arithmetic(Operator::Add, dot, by),
                _ => self.arithmetic(Operator::Subtract, Made::constant(Value::int(size - 1)), dot),
            };
            indices.push(self.index_below(index, size));
        }
        indices
    }

    /// `[i]x op= e`; what may leave its type is made smaller before, and real numbers after.
    pub(super) fn combining_send(&mut self) -> Option<Vec<Statement>> {
        if !Feature::CombiningSends.is_on() {
            return None;
        }
        self.begin_expression();
        let (object, shape) = self.other()?;
        // The object is written twice, in two shapes.
        if self.effects == 0 || self.communications < MOST_COMMUNICATIONS {
            return None;
        }
        let of = self.program.type_of_object(&object);
        let all = [Operator::Add, Operator::Least, Operator::Most, Operator::And, Operator::Or, Operator::Xor];
        let operator = all[self.random.below(if of.is_real() { 3 } else { 6 })];
        let values = if self.scope.current.is_some() { Values::Parallel } else { Values::Scalar };
        let indices = self.indices(shape, 1, values);
        let value = self.expression(2, values);
        let value = if of.is_real() { value } else { self.as_whole(value) };
        let value = match operator {
            _ if of.is_real() => self.fit(value, super::REAL_LIMIT),
            Operator::Add => self.fit(value, 30_011),
            Operator::Least | Operator::Most if self.random.once_in(2) => self.beyond(value),
            _ => value,
        };
        let value = self.with_positive_zero(value);
        let send = Statement::Send(indices, object.clone(), Some(operator), value.tree);
        let smaller = operator == Operator::Add && (of.is_real() || of.is_signed() && of.bits() >= 32);
        if !smaller {
            return Some(vec![send]);
        }
        let made_small = self.made_small(&object, shape);
        Some(if of.is_real() { vec![send, made_small] } else { vec![made_small, send] })
    }

    /// Brings all numbers of an object of a shape below a bound.
    fn made_small(&mut self, object: &Object, shape: usize) -> Statement {
        let of = self.program.type_of_object(object);
        let own = Expression::Own(object.clone());
        let least = if of.is_real() { i128::MIN / 4 } else { of.least() };
        let fitted = self.fit(Made::new(own, of, least, of.most()), 30_011);
        let assign = Statement::Assign(object.clone(), None, fitted.tree);
        Statement::With(crate::c_star::tree::ShapeName::Named(shape), vec![Statement::Everywhere(vec![assign])])
    }

    /// `x = ([i]y = e) + k`, `x = c && ([i]y = e)`, and without a left index: nothing else of the expression names y.
    pub(super) fn send_inside(&mut self) -> Option<Vec<Statement>> {
        let current = self.scope.current?;
        let own = self.own_variables();
        let (to, sent) = (self.one_of(&own)?, self.one_of(&own)?);
        let ShapeOf::Named(shape) = current else { return None };
        if to == sent {
            return None;
        }
        let (object, target) = (self.plain_object(sent), self.plain_object(to));
        self.begin_expression();
        let of = self.program.type_of_object(&object);
        let is_behind = self.random.once_in(3);
        let condition = if is_behind { Some(self.condition(1, Values::Parallel).tree) } else { None };
        let condition =
            condition.filter(|condition| self.program.is_parallel(condition) && !self.names(condition, sent));
        let indices = self.permutation_or_none(shape);
        self.scope.is_narrow |= condition.is_some();
        let value = self.surely_parallel(2).map(|value| self.assignable(value, of).tree);
        self.scope.is_narrow = false;
        let value = value?;
        // Now and then to two variables.
        let value = match self.one_of(&own).filter(|other| ![to, sent].contains(other) && self.random.once_in(3)) {
            Some(other) if condition.is_none() => {
                let object = self.plain_object(other);
                let of = self.program.type_of_object(&object);
                if of.is_real() == self.program.type_of(&value).is_real() && !of.is_real() {
                    Expression::Send(self.permutation_or_none(shape), object, Box::new(value))
                } else {
                    value
                }
            }
            _ => value,
        };
        let sending = Expression::Send(indices, object.clone(), Box::new(value));
        let made = self.read(sending, &object);
        let made = match condition {
            Some(condition) => {
                let is_and = self.random.once_in(2);
                Made::truth(Expression::Logical(is_and, Box::new(condition), Box::new(made.tree)))
            }
            None => {
                let more = Made::constant(Value::int(self.random.below(9) as i128));
                self.arithmetic(Operator::Add, made, more)
            }
        };
        let of = self.program.type_of_object(&target);
        let made = self.assignable(made, of);
        Some(vec![Statement::Assign(target, None, made.tree)])
    }

    /// A number that smaller types do not have, at every other position.
    fn beyond(&mut self, value: Made) -> Made {
        let value = self.fit(value, 30_011);
        let size =
            Made::constant(Value::whole(Type::LongLong, if self.random.once_in(2) { 100_003 } else { -400_009 }));
        let value = self.arithmetic(Operator::Multiply, size, value);
        let more = Made::constant(Value::whole(Type::LongLong, self.random.below(1 << 33) as i128));
        self.arithmetic(Operator::Subtract, value, more)
    }

    /// Whole numbers are added to, by whole and by real ones in turn.
    fn mixed_sends(&mut self) -> Option<Vec<Statement>> {
        self.begin_expression();
        let (variable, shape) = {
            let others = self.named_variables();
            self.one_of(&others)?
        };
        let object = self.plain_object(variable);
        let of = self.program.type_of_object(&object);
        if of.is_real() || !of.is_signed() || of.bits() < 32 || self.scope.current.is_none() {
            return None;
        }
        let mut all = vec![self.made_small(&object, shape)];
        for _ in 0..4 {
            self.begin_expression();
            let indices = self.indices(shape, 1, Values::Parallel);
            let value = self.surely_parallel(1)?;
            let value = self.as_whole(value);
            let value = self.fit(value, 997);
            let value = if self.random.once_in(2) { self.cast(value, Type::Double) } else { value };
            all.push(Statement::Send(indices, object.clone(), Some(Operator::Add), value.tree));
        }
        Some(all)
    }

    /// Several in a row of what comes to all nodes, or of what is posted, with nothing between them.
    pub(super) fn burst(&mut self) -> Option<Vec<Statement>> {
        if self.random.once_in(3) {
            return self.mixed_sends();
        }
        if self.random.once_in(2) {
            self.begin_expression();
            let others = self.named_variables();
            let mut numbers = Vec::new();
            for _ in 0..8 {
                let (variable, shape) = self.one_of(&others)?;
                let object = self.plain_object(variable);
                let sizes = self.program.shapes[shape].sizes.clone();
                let indices =
                    sizes.iter().map(|size| Expression::int(self.random.below(*size as usize) as i128)).collect();
                numbers.push(self.shown(Expression::Get(indices, object)));
            }
            return Some(vec![Statement::Print("others".into(), numbers)]);
        }
        let mut all = Vec::new();
        for _ in 0..3 {
            all.extend(self.combining_send()?);
        }
        Some(all)
    }

    fn permutation_or_none(&mut self, shape: usize) -> Vec<Expression> {
        if self.random.once_in(3) { Vec::new() } else { self.permutation(shape) }
    }

    /// An object whose indices do nothing.
    pub(super) fn plain_object(&mut self, variable: usize) -> Object {
        (self.effects, self.communications) = (0, 0);
        self.object(variable, Values::Scalar)
    }

    /// `q = r`, `q = [i]r`, `[i]q = r` and `[i]q = [j]r`, of structures.
    pub(super) fn copy(&mut self) -> Option<Vec<Statement>> {
        let current = self.scope.current?;
        let of_structures = |variable: usize| matches!(self.program.variables[variable].held, Held::Structure(_));
        let own: Vec<usize> = self.own_variables().into_iter().filter(|variable| of_structures(*variable)).collect();
        let others: Vec<(usize, usize)> =
            self.named_variables().into_iter().filter(|(variable, _)| of_structures(*variable)).collect();
        self.begin_expression();
        let ShapeOf::Named(shape) = current else { return None };
        if self.random.once_in(5) {
            // From one position to one.
            let ((to, of_to), (from, of_from)) = (self.one_of(&others)?, self.one_of(&others)?);
            let places = self.indices(of_to, 1, Values::Scalar);
            let to = Object { field: None, ..self.object(to, Values::Scalar) };
            let indices = self.indices(of_from, 1, Values::Scalar);
            let from = Object { field: None, ..self.object(from, Values::Scalar) };
            return Some(vec![Statement::Copy(places, to, indices, from)]);
        }
        let to = self.one_of(&own)?;
        let to = Object { field: None, ..self.object(to, Values::Scalar) };
        let (from, indices) = match self.one_of(&others).filter(|_| self.random.once_in(2)) {
            Some((from, shape)) => (from, self.indices(shape, 1, Values::Parallel)),
            None => (self.one_of(&own)?, Vec::new()),
        };
        let places = if self.random.once_in(2) { self.permutation(shape) } else { Vec::new() };
        let is_parallel =
            |indices: &[Expression]| indices.is_empty() || indices.iter().any(|index| self.program.is_parallel(index));
        if !is_parallel(&indices) || !is_parallel(&places) {
            return None;
        }
        let from = Object { field: None, ..self.object(from, Values::Scalar) };
        Some(vec![Statement::Copy(places, to, indices, from)])
    }

    /// Whether an expression names a variable.
    fn names(&self, expression: &Expression, variable: usize) -> bool {
        let is = |part: &Expression| self.names(part, variable);
        let of_object = |object: &Object| {
            let of_field = object.field.as_ref().and_then(|(_, index)| index.as_deref());
            object.variable == variable || [object.index.as_deref(), of_field].into_iter().flatten().any(is)
        };
        match expression {
            Expression::Own(object) | Expression::Step { object, .. } => of_object(object),
            Expression::Get(indices, object) => indices.iter().any(is) || of_object(object),
            Expression::Send(indices, object, value) => indices.iter().any(is) || of_object(object) || is(value),
            Expression::Prefix(_, part)
            | Expression::Cast(_, part)
            | Expression::Reduce(_, part)
            | Expression::Bits(part) => is(part),
            Expression::Binary(_, left, right) | Expression::Logical(_, left, right) => is(left) || is(right),
            Expression::Conditional(parts) => parts.iter().any(is),
            Expression::Shift(shift) => {
                of_object(&shift.object) || shift.border.as_deref().is_some_and(is) || is(&shift.distance)
            }
            Expression::Math(_, parts) => parts.iter().any(is),
            Expression::Call(call) => call.arguments.iter().any(is),
            Expression::Constant(_)
            | Expression::Coordinate(_)
            | Expression::Dot(_)
            | Expression::DimensionOf(..)
            | Expression::PositionsOf(_)
            | Expression::RankOf(_) => false,
        }
    }
}
