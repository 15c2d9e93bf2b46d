//! Expressions: scalar ones have one value, parallel ones one at each active position.

use super::statements::Flow;
use super::{Frame, Machine, Result, Storage, View, at_none};
use crate::c_star::number::{Operator, Prefix, Type, Value};
use crate::c_star::tree::{Call, Expression, Held, Math, Object, ShapeName};

impl Machine<'_> {
    pub(super) fn scalar(&mut self, expression: &Expression, view: Option<&View>) -> Result<Value> {
        self.step(0)?;
        match expression {
            Expression::Constant(value) => Ok(*value),
            Expression::Own(object) => {
                let cell = self.cell(object, view)?;
                Ok(self.storage(object.variable)?.values[cell])
            }
            Expression::DimensionOf(shape, dimension) => {
                let shape = self.named(*shape)?;
                Ok(Value::int(self.program.shapes[shape].sizes[*dimension]))
            }
            Expression::PositionsOf(shape) => {
                let shape = self.named(*shape)?;
                Ok(Value::int(self.positions(shape) as i128))
            }
            Expression::RankOf(shape) => {
                let shape = self.named(*shape)?;
                Ok(Value::int(self.program.shapes[shape].sizes.len() as i128))
            }
            Expression::Prefix(prefix, operand) => self.scalar(operand, view)?.prefix(*prefix),
            Expression::Binary(operator, left, right) => {
                let left = self.scalar(left, view)?;
                operator.apply(left, self.scalar(right, view)?)
            }
            Expression::Logical(is_and, left, right) => {
                let left = self.scalar(left, view)?.is_true();
                if left != *is_and {
                    return Ok(Value::truth(left));
                }
                Ok(Value::truth(self.scalar(right, view)?.is_true()))
            }
            Expression::Conditional(parts) => {
                let common = self.program.type_of(expression);
                let chosen = if self.scalar(&parts[0], view)?.is_true() { &parts[1] } else { &parts[2] };
                self.scalar(chosen, view)?.to(common)
            }
            Expression::Cast(of, operand) => self.scalar(operand, view)?.to(*of),
            Expression::Math(math, arguments) => {
                let values: Vec<Value> =
                    arguments.iter().map(|argument| self.scalar(argument, view)).collect::<Result<_>>()?;
                math.of(&values)
            }
            Expression::Reduce(reduction, operand) => {
                let view = view.ok_or("nothing is reduced where no shape is current")?;
                self.reduced(*reduction, operand, view)
            }
            Expression::Get(indices, object) => self.one_position(indices, object, view),
            Expression::Call(call) => self.call_scalar(call, view),
            Expression::Step { object, is_prefix } => {
                let cell = self.cell(object, view)?;
                let place = &mut self.storage(object.variable)?.values[cell];
                let before = *place;
                *place = Operator::Add.apply(before, Value::int(1))?.to(before.of)?;
                Ok(if *is_prefix { *place } else { before })
            }
            Expression::Bits(operand) => {
                let bits = self.scalar(operand, view)?.as_real().to_bits();
                Ok(Value::whole(Type::UnsignedLongLong, i128::from(bits)))
            }
            Expression::Coordinate(_) | Expression::Dot(_) | Expression::Send(..) | Expression::Shift(_) => {
                Err("a scalar is wanted, and this is parallel".into())
            }
        }
    }

    /// Behind `&&`, `||` and `?:` fewer positions are active; what is scalar is done once all the same.
    pub(super) fn parallel(&mut self, expression: &Expression, view: &View) -> Result<Vec<Value>> {
        self.step(view.mask.len())?;
        if !self.program.is_parallel(expression) {
            let value = self.scalar(expression, Some(view))?;
            return Ok(vec![value; view.mask.len()]);
        }
        let mut values = at_none(view);
        match expression {
            Expression::Own(object) => {
                let cells = self.cells(object, view)?;
                let storage = self.storage(object.variable)?;
                for at in view.active() {
                    values[at] = storage.values[cells[at]];
                }
            }
            Expression::Coordinate(dimension) | Expression::Dot(dimension) => {
                for at in view.active() {
                    values[at] = Value::int(self.coordinates(view.shape, at)[*dimension]);
                }
            }
            Expression::Get(indices, object) => return self.got(indices, object, view),
            Expression::Shift(shift) => return self.shifted(shift, view),
            Expression::Prefix(prefix, operand) => {
                let operands = self.parallel(operand, view)?;
                for at in view.active() {
                    values[at] = operands[at].prefix(*prefix)?;
                }
            }
            Expression::Binary(operator, left, right) => {
                let left = self.parallel(left, view)?;
                let right = self.parallel(right, view)?;
                for at in view.active() {
                    values[at] = operator.apply(left[at], right[at])?;
                }
            }
            Expression::Logical(is_and, left, right) => {
                let is_narrowing = self.program.is_parallel(left);
                let left = self.parallel(left, view)?;
                let narrow = view.narrowed(|at| !is_narrowing || left[at].is_true() == *is_and);
                let right = self.parallel(right, &narrow)?;
                for at in view.active() {
                    let is = if left[at].is_true() == *is_and { right[at].is_true() } else { !is_and };
                    values[at] = Value::truth(is);
                }
            }
            Expression::Conditional(parts) => self.chosen(expression, parts, view, &mut values)?,
            Expression::Cast(of, operand) => {
                let operands = self.parallel(operand, view)?;
                for at in view.active() {
                    values[at] = operands[at].to(*of)?;
                }
            }
            Expression::Math(math, arguments) => {
                let arguments: Vec<Vec<Value>> =
                    arguments.iter().map(|argument| self.parallel(argument, view)).collect::<Result<_>>()?;
                for at in view.active() {
                    let of_this: Vec<Value> = arguments.iter().map(|argument| argument[at]).collect();
                    values[at] = math.of(&of_this)?;
                }
            }
            Expression::Call(call) => return self.call_parallel(call, view),
            Expression::Send(indices, object, value) => return self.sent(indices, object, value, view),
            Expression::Bits(_) => return Err("bits of a parallel value".into()),
            Expression::Constant(_)
            | Expression::DimensionOf(..)
            | Expression::PositionsOf(_)
            | Expression::RankOf(_)
            | Expression::Reduce(..)
            | Expression::Step { .. } => {}
        }
        Ok(values)
    }

    /// `c ? a : b`, in each of a and b the positions that take it.
    fn chosen(
        &mut self,
        expression: &Expression,
        parts: &[Expression; 3],
        view: &View,
        values: &mut [Value],
    ) -> Result<()> {
        let common = self.program.type_of(expression);
        let is_narrowing = self.program.is_parallel(&parts[0]);
        let condition = self.parallel(&parts[0], view)?;
        for (part, wanted) in [(&parts[1], true), (&parts[2], false)] {
            let takes = |at: usize| condition[at].is_true() == wanted;
            let narrow = view.narrowed(|at| !is_narrowing || takes(at));
            let of_part = self.parallel(part, &narrow)?;
            for at in view.active().filter(|at| takes(*at)) {
                values[at] = of_part[at].to(common)?;
            }
        }
        Ok(())
    }

    pub(super) fn named(&self, name: ShapeName) -> Result<usize> {
        let shape = self.program.shape_of(name).ok_or("a scalar has no shape")?;
        self.meant(shape)
    }

    /// Which of the numbers at one position an object is, or of those of a scalar variable; its indices are scalar.
    pub(super) fn cell(&mut self, object: &Object, view: Option<&View>) -> Result<usize> {
        let mut indices = Vec::new();
        for index in [object.index.as_deref(), object.field.as_ref().and_then(|(_, index)| index.as_deref())] {
            indices.push(index.map(|index| self.scalar(index, view)?.as_whole()).transpose()?);
        }
        self.place(object, indices[0], indices[1])
    }

    /// For each active position, which number of its parallel or scalar variable an object is.
    pub(super) fn cells(&mut self, object: &Object, view: &View) -> Result<Vec<usize>> {
        let places = self.places(object, view)?;
        let program = self.program;
        let storage = self.storage(object.variable)?;
        let Some(shape) = storage.shape else { return Ok(places) };
        if shape != view.shape {
            return Err(format!("`{}` is not of the current shape", program.variables[object.variable].name));
        }
        let cells = storage.cells;
        Ok(places.iter().enumerate().map(|(at, place)| at * cells + place).collect())
    }

    /// For each active position, which of the numbers at one position an object is.
    pub(super) fn places(&mut self, object: &Object, view: &View) -> Result<Vec<usize>> {
        let mut indices = Vec::new();
        for index in [object.index.as_deref(), object.field.as_ref().and_then(|(_, index)| index.as_deref())] {
            indices.push(index.map(|index| self.parallel(index, view)).transpose()?);
        }
        let mut places = vec![0; view.mask.len()];
        for at in view.active() {
            let of_this = |k: usize| indices[k].as_ref().map(|values| values[at].as_whole()).transpose();
            places[at] = self.place(object, of_this(0)?, of_this(1)?)?;
        }
        Ok(places)
    }

    fn place(&self, object: &Object, index: Option<i128>, of_field: Option<i128>) -> Result<usize> {
        let variable = &self.program.variables[object.variable];
        let within = |index: Option<i128>, count: Option<usize>| {
            let (index, count) = (index.unwrap_or(0), count.unwrap_or(1));
            usize::try_from(index).ok().filter(|index| *index < count).ok_or_else(|| {
                format!("the element {index} of `{}`, or of its member, which has {count}", variable.name)
            })
        };
        let mut place = within(index, variable.count)? * self.program.cells_of(variable.held);
        if let (Held::Structure(structure), Some((field, _))) = (variable.held, &object.field) {
            let fields = &self.program.structures[structure].fields;
            place += fields[..*field].iter().map(|field| field.count.unwrap_or(1)).sum::<usize>();
            place += within(of_field, fields[*field].count)?;
        }
        Ok(place)
    }

    fn call_scalar(&mut self, call: &Call, view: Option<&View>) -> Result<Value> {
        let function = &self.program.functions[call.function];
        let mut frame = Frame::default();
        for (parameter, argument) in function.parameters.iter().zip(&call.arguments) {
            let mut made = self.made(*parameter)?;
            made.values[0] = self.scalar(argument, view)?.to(made.values[0].of)?;
            frame.locals.insert(*parameter, made);
        }
        let given = self.called(call.function, frame)?;
        Ok(given.and_then(|values| values.first().copied()).unwrap_or(Value::int(0)))
    }

    /// Calls a parallel function at these positions; what it gives at positions that were not active where it returned is 0.
    pub(super) fn call_parallel(&mut self, call: &Call, view: &View) -> Result<Vec<Value>> {
        let function = &self.program.functions[call.function];
        let mut frame = Frame { called_in: Some(view.shape), shape: Some(view.shape), ..Frame::default() };
        for (parameter, argument) in function.parameters.iter().zip(&call.arguments) {
            let declared = &self.program.variables[*parameter];
            let of = self.program.type_of_object(&Object::of(*parameter));
            if declared.shape.is_none() {
                let mut made = self.made(*parameter)?;
                made.values[0] = self.scalar(argument, Some(view))?.to(of)?;
                frame.locals.insert(*parameter, made);
                continue;
            }
            let values = self.parallel(argument, view)?;
            let mut held = vec![Value::zero(of); values.len()];
            for at in view.active() {
                held[at] = values[at].to(of)?;
            }
            frame.locals.insert(*parameter, Storage { shape: Some(view.shape), cells: 1, values: held });
        }
        let none = vec![Value::zero(function.result.unwrap_or(Type::Int)); view.mask.len()];
        let before = self.contexts[view.shape].replace(view.mask.clone());
        let given = self.called(call.function, frame);
        self.contexts[view.shape] = before;
        Ok(given?.unwrap_or(none))
    }

    fn called(&mut self, function: usize, frame: Frame) -> Result<Option<Vec<Value>>> {
        if self.frames.len() > 40 {
            return Err("the program does too much: functions call each other too deeply".into());
        }
        self.frames.push(frame);
        let flow = self.block(&self.program.functions[function].body);
        self.frames.pop();
        let result = self.program.functions[function].result;
        match (flow?, result) {
            (Flow::Return(Some(values)), Some(of)) => {
                values.into_iter().map(|value| value.to(of)).collect::<Result<_>>().map(Some)
            }
            _ => Ok(None),
        }
    }
}

impl Math {
    fn of(self, arguments: &[Value]) -> Result<Value> {
        if self == Math::Abs {
            let number = arguments[0].to(Type::Int)?;
            return if number.as_whole()? < 0 { number.prefix(Prefix::Minus) } else { Ok(number) };
        }
        let real = |k: usize| arguments[k].to(Type::Double).map(Value::as_real);
        let a = real(0)?;
        let number = match self {
            Math::Abs | Math::Fabs => a.abs(),
            Math::Sqrt => a.sqrt(),
            Math::Floor => a.floor(),
            Math::Ceil => a.ceil(),
            Math::Trunc => a.trunc(),
            Math::Fmod => a % real(1)?,
            Math::Copysign => a.copysign(real(1)?),
        };
        if number.is_nan() {
            Err(format!("{}({a}) is no number", self.name()))
        } else {
            Ok(Value::real(Type::Double, number))
        }
    }
}
