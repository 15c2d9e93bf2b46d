//! Statements, and blocks of them.

use super::expressions::Values;
use super::ranges::Made;
use super::{Generator, Role, Scope};
use crate::c_star::features::Feature;
use crate::c_star::number::{Operator, Type, Value};
use crate::c_star::tree::{Expression, Held, Math, Object, ShapeName, ShapeOf, Statement};

impl Generator {
    /// Gives each variable of a shape something else at each position.
    pub(super) fn filling(&mut self, shape: usize) -> Statement {
        let statements = self.in_shape(ShapeOf::Named(shape), |generator| generator.filled());
        Statement::With(ShapeName::Named(shape), statements)
    }

    fn filled(&mut self) -> Vec<Statement> {
        let mut statements = Vec::new();
        for variable in self.own_variables() {
            for object in self.program.numbers_of(variable) {
                let size = self.size(0).unwrap_or(1);
                let coordinate = Made::new(Expression::Coordinate(0), Type::Int, 0, size - 1);
                let factor = Made::constant(Value::int(self.random.below(30) as i128));
                let made = self.arithmetic(Operator::Multiply, coordinate, factor);
                let more = self.fresh(1, Values::Parallel);
                let made = self.arithmetic(Operator::Add, made, more);
                let of = self.program.type_of_object(&object);
                let made = self.assignable(made, of);
                statements.push(Statement::Assign(object, None, made.tree));
            }
        }
        statements
    }

    /// Up to so many statements, with blocks in blocks so deep. What is declared in it is known in it only.
    pub(super) fn block(&mut self, depth: usize, most: usize) -> Vec<Statement> {
        let before = self.scope.clone();
        let mut statements = Vec::new();
        for _ in 0..1 + self.random.below(most) {
            if self.left == 0 {
                break;
            }
            let Some(more) = self.statement(depth) else { continue };
            self.left = self.left.saturating_sub(1);
            statements.extend(more);
            if ends(&statements) {
                break;
            }
        }
        self.scope = before;
        statements
    }

    fn inner(&mut self, depth: usize) -> Vec<Statement> {
        self.block(depth - 1, 4)
    }

    fn statement(&mut self, depth: usize) -> Option<Vec<Statement>> {
        let one = |statement: Statement| Some(vec![statement]);
        if self.scope.current.is_none() && depth > 0 && self.random.once_in(2) {
            return one(self.with(depth));
        }
        let choice = match self.scope.is_quiet {
            true => QUIET[self.random.below(QUIET.len())],
            false => self.random.below(50),
        };
        match choice {
            0..=10 => self.parallel_assignment(),
            11..=13 => self.scalar_assignment(),
            14..=19 if depth > 0 => self.where_statement(depth),
            20 if depth > 0 => one(self.with(depth)),
            22 if depth > 0 && self.scope.current.is_some() => one(self.everywhere(depth)),
            23 if depth > 0 => one(self.if_statement(depth)),
            39 if depth > 0 => one(self.switch(depth)),
            40 if depth > 0 && self.scope.loops < 2 => one(self.tested_loop(depth, Statement::Do)),
            21 | 41 | 42 if depth > 0 => self.bounded(depth),
            43 | 44 => self.send_inside(),
            24 if depth > 0 && self.scope.loops < 2 => one(self.for_loop(depth)),
            25 if depth > 0 && self.scope.loops < 2 => one(self.tested_loop(depth, Statement::While)),
            26 | 27 => self.leave(),
            28 if self.random.once_in(2) => self.print(),
            28 => self.burst(),
            29 => self.procedure_call(),
            30 => one(self.scalar_declaration()),
            31 | 32 => self.parallel_declaration(),
            33 | 34 => self.send(),
            35 | 36 => self.combining_send(),
            37 if self.random.once_in(2) => self.copy(),
            37 => self.shift_to(),
            38 => one(self.step()),
            46 | 47 => self.sum_of_tenths(),
            48 | 49 if depth > 0 => self.quiet(depth),
            45 => self.own_checkpoint().map(|statement| vec![statement]),
            _ => self.parallel_assignment(),
        }
    }

    /// Statements of one shape that nothing parts but what they do: mostly in a loop.
    fn quiet(&mut self, depth: usize) -> Option<Vec<Statement>> {
        self.scope.current?;
        let before = self.scope.is_quiet;
        self.scope.is_quiet = true;
        let statement = match self.random.below(4) {
            0 => self.switch(depth),
            1 if self.scope.loops < 2 => self.tested_loop(depth, Statement::Do),
            2 | 3 if self.scope.loops < 2 => self.for_loop(depth),
            _ => Statement::Block(self.inner(depth)),
        };
        self.scope.is_quiet = before;
        Some(vec![statement])
    }

    fn with(&mut self, depth: usize) -> Statement {
        let shape = self.random.below(self.program.shapes.len());
        let name = self.shape_name(shape);
        Statement::With(name, self.in_shape(ShapeOf::Named(shape), |generator| generator.inner(depth)))
    }

    fn everywhere(&mut self, depth: usize) -> Statement {
        let bounds = std::mem::take(&mut self.scope.bounds);
        let inner = self.inner(depth);
        self.scope.bounds = bounds;
        Statement::Everywhere(inner)
    }

    fn where_statement(&mut self, depth: usize) -> Option<Vec<Statement>> {
        self.scope.current?;
        let condition = self.parallel_condition()?;
        let inner = self.inner(depth);
        let otherwise = match self.random.below(6) {
            0 | 1 => Some(self.inner(depth)),
            // `else where`
            2 => {
                let condition = self.parallel_condition()?;
                let (inner, otherwise) = (self.inner(depth), self.random.once_in(2).then(|| self.inner(depth)));
                Some(vec![Statement::Where(condition, inner, otherwise)])
            }
            _ => None,
        };
        Some(vec![Statement::Where(condition, inner, otherwise)])
    }

    /// `where` about coordinates: so that positions know what is near.
    fn bounded(&mut self, depth: usize) -> Option<Vec<Statement>> {
        let before = self.scope.bounds.clone();
        let rank = (0..4).take_while(|dimension| self.size(*dimension).is_some()).count();
        let mut bounds: Vec<(i128, i128)> = (0..rank).filter_map(|dimension| self.bounds(dimension)).collect();
        let mut all: Option<Expression> = None;
        for _ in 0..1 + self.random.below(2) {
            let dimension = self.random.below(rank);
            let (low, high) = *bounds.get(dimension)?;
            let by = 1 + self.random.below(2) as i128;
            let coordinate = Expression::Coordinate(dimension);
            let condition = if self.random.once_in(2) && low + by <= high {
                bounds[dimension].0 = low + by;
                Expression::binary(Operator::GreaterOrEqual, coordinate, Expression::int(low + by))
            } else if high - by >= low {
                bounds[dimension].1 = high - by;
                Expression::binary(Operator::Less, coordinate, Expression::int(high - by + 1))
            } else {
                continue;
            };
            all = Some(match all {
                Some(all) if self.random.once_in(2) => Expression::binary(Operator::And, all, condition),
                Some(all) => Expression::Logical(true, Box::new(all), Box::new(condition)),
                None => condition,
            });
        }
        self.scope.bounds = bounds;
        let mut inner: Vec<Statement> = self.near_assignment().into_iter().collect();
        inner.extend(if all.is_some() { self.inner(depth) } else { Vec::new() });
        self.scope.bounds = before;
        let otherwise = self.random.once_in(4).then(|| self.inner(depth));
        Some(vec![Statement::Where(all?, inner, otherwise)])
    }

    fn parallel_condition(&mut self) -> Option<Expression> {
        self.begin_expression();
        let condition = self.condition(2, Values::Parallel).tree;
        Some(if self.program.is_parallel(&condition) {
            condition
        } else {
            let by = 2 + self.random.below(2) as i128;
            let size = self.size(0)?;
            let coordinate = Made::new(Expression::Coordinate(0), Type::Int, 0, size - 1);
            self.division(Operator::Remainder, coordinate, Made::constant(Value::int(by))).tree
        })
    }

    fn if_statement(&mut self, depth: usize) -> Statement {
        self.begin_expression();
        let condition = self.condition(2, Values::Scalar).tree;
        let inner = self.inner(depth);
        let otherwise = match self.random.below(4) {
            0 | 1 => Some(self.inner(depth)),
            // `else if`
            2 if self.left > 0 => Some(vec![self.if_statement(depth)]),
            _ => None,
        };
        Statement::If(condition, inner, otherwise)
    }

    /// `switch`, with and without `default`, which may stand anywhere; what stands behind a label may go on into the next.
    fn switch(&mut self, depth: usize) -> Statement {
        self.begin_expression();
        let count = 1 + self.random.below(4);
        let chosen = self.whole(2, Values::Scalar);
        let chosen = self.index_below(chosen, count as i128 + 1);
        let default = self.random.below(2 * count);
        let before = self.scope.clone();
        self.scope.switches += 1;
        let cases = (0..count).map(|number| {
            let label = if number == default { None } else { Some(number as i128) };
            let mut inner = self.inner(depth);
            if !self.random.once_in(3) && !ends(&inner) {
                inner.push(Statement::Break);
            }
            (label, inner)
        });
        let cases = cases.collect();
        self.scope = before;
        Statement::Switch(chosen, cases)
    }

    /// `do` or `while`, with a number of rounds besides its condition.
    fn tested_loop(
        &mut self,
        depth: usize,
        make: fn(usize, i128, Expression, Vec<Statement>) -> Statement,
    ) -> Statement {
        self.begin_expression();
        let condition = self.condition(2, Values::Scalar).tree;
        let count = 1 + self.random.below(4) as i128;
        let variable = self.variable('n', None, Type::Int);
        let inner = self.in_loop(depth, variable, count);
        // It is declared before the loop.
        Statement::Block(vec![make(variable, count, condition, inner)])
    }

    fn for_loop(&mut self, depth: usize) -> Statement {
        let count = 1 + self.random.below(4) as i128;
        let variable = self.variable('n', None, Type::Int);
        let inner = self.in_loop(depth, variable, count - 1);
        Statement::For(variable, count, inner)
    }

    fn in_loop(&mut self, depth: usize, variable: usize, most: i128) -> Vec<Statement> {
        self.ranges.insert(variable, (0, most));
        let before = self.scope.clone();
        self.scope.scalars.push(variable);
        self.scope.loops += 1;
        let inner = self.inner(depth);
        self.scope = before;
        inner
    }

    /// Leaves a loop or a function, now and then.
    fn leave(&mut self) -> Option<Vec<Statement>> {
        let is_of_loop = self.scope.loops > 0 && self.random.once_in(2);
        let leaving = match self.scope.function {
            _ if is_of_loop => [Statement::Break, Statement::Continue][self.random.below(2)].clone(),
            _ if self.scope.switches > 0 && self.random.once_in(2) => Statement::Break,
            Some(_) => self.return_statement(),
            None => return None,
        };
        if self.random.once_in(3) {
            return Some(vec![leaving]);
        }
        self.begin_expression();
        let condition = self.condition(1, Values::Scalar).tree;
        Some(vec![Statement::If(condition, vec![leaving], None)])
    }

    /// `return`, with what the function gives.
    pub(super) fn return_statement(&mut self) -> Statement {
        let Some(function) = self.scope.function else { return Statement::Return(None) };
        let Some(of) = self.program.functions[function].result else { return Statement::Return(None) };
        let values = match self.known[function] {
            Role::Parallel => Values::Parallel,
            _ => Values::Scalar,
        };
        // In another shape than the function's own nothing parallel can be given, or reduced.
        let current = self.scope.current;
        let is_elsewhere = values == Values::Parallel && current != self.program.functions[function].shape;
        if is_elsewhere {
            self.scope.current = None;
        }
        let made = self.fresh(2, if is_elsewhere { Values::Scalar } else { values });
        self.scope.current = current;
        Statement::Return(Some(self.assignable(made, of).tree))
    }

    fn print(&mut self) -> Option<Vec<Statement>> {
        self.begin_expression();
        let mut numbers = Vec::new();
        for _ in 0..1 + self.random.below(2) {
            let made = self.expression(2, Values::Scalar);
            numbers.push(self.shown(made.tree));
        }
        Some(vec![Statement::Print("numbers".into(), numbers)])
    }

    /// `x++`, of a parallel variable whose type this never leaves, or of the scalar that is there for it.
    fn step(&mut self) -> Statement {
        let is_prefix = self.random.once_in(2);
        let variables = self.own_variables();
        self.begin_expression();
        let own = self.one_of(&variables).map(|variable| self.object(variable, Values::Parallel));
        let takes_all = |of: Type| !of.is_real() && (of.bits() < 32 || !of.is_signed());
        let own = own.filter(|object| takes_all(self.program.type_of_object(object)));
        let object = own.unwrap_or(Object::of(self.tick));
        Statement::Evaluate(Expression::Step { object, is_prefix })
    }

    fn parallel_assignment(&mut self) -> Option<Vec<Statement>> {
        let variables = self.own_variables();
        let variable = self.one_of(&variables)?;
        self.begin_expression();
        let object = self.object(variable, Values::Parallel);
        // What has an effect is written once.
        if self.effects == 0 {
            self.plain_assignment(object, Values::Parallel)
        } else {
            self.assignment(object, Values::Parallel)
        }
    }

    fn scalar_assignment(&mut self) -> Option<Vec<Statement>> {
        let variables = self.scope.assignable.clone();
        let object = Object::of(self.one_of(&variables)?);
        self.begin_expression();
        if self.scope.current.is_some() && self.random.once_in(3) {
            return self.reducing_assignment(object);
        }
        self.assignment(object, Values::Scalar)
    }

    /// `object = e`, or `object op= e`.
    fn assignment(&mut self, object: Object, values: Values) -> Option<Vec<Statement>> {
        let of = self.program.type_of_object(&object);
        if self.random.once_in(2) {
            return self.plain_assignment(object, values);
        }
        if of.is_real() { self.compound_of_real(object, values) } else { self.compound_of_whole(object, of, values) }
    }

    fn plain_assignment(&mut self, object: Object, values: Values) -> Option<Vec<Statement>> {
        let of = self.program.type_of_object(&object);
        let made = self.expression(3, values);
        let made = self.assignable(made, of);
        Some(vec![Statement::Assign(object, None, made.tree)])
    }

    /// The variable is brought back between the bounds of its type.
    fn compound_of_real(&mut self, object: Object, values: Values) -> Option<Vec<Statement>> {
        let all =
            [Operator::Add, Operator::Subtract, Operator::Multiply, Operator::Divide, Operator::Least, Operator::Most];
        let operator = all[self.random.below(6)];
        let made = match operator {
            Operator::Multiply => Made::constant(Value::real(Type::Double, self.random.below(9) as f64 / -8.0)),
            Operator::Divide => Made::constant(Value::real(Type::Float, self.random.below(9) as f64 + 1.0)),
            _ => self.expression(2, values),
        };
        let made = self.fit(made, super::REAL_LIMIT);
        let made = self.with_positive_zero(made);
        let mut statements = vec![Statement::Assign(object.clone(), Some(operator), made.tree)];
        if matches!(operator, Operator::Add | Operator::Subtract) {
            let bound = Expression::Constant(Value::real(Type::Double, 1009.0));
            let smaller = Expression::Math(Math::Fmod, vec![Expression::Own(object.clone()), bound]);
            statements.push(Statement::Assign(object, None, smaller));
        }
        Some(statements)
    }

    fn compound_of_whole(&mut self, object: Object, of: Type, values: Values) -> Option<Vec<Statement>> {
        use Operator::{Add, And, Divide, Least, Left, Most, Multiply, Or, Remainder, Right, Subtract, Xor};
        let all = [Add, Subtract, Multiply, And, Or, Xor, Divide, Remainder, Least, Most, Right, Left];
        let operator = all[self.random.below(12)];
        let operator = if operator == Left && of.is_signed() { Right } else { operator };
        let made = self.whole(2, values);
        let mut statements = Vec::new();
        let made = match operator {
            Left | Right => self.bits(And, made, Made::constant(Value::int(7))),
            Divide | Remainder => self.divisor(Some(made)),
            Add | Subtract | Multiply if of.promoted().is_signed() || made.of.bits() > of.bits() => {
                // The variable is made small before, unless its type is.
                if of.bits() >= 32 {
                    let modulus = Expression::int(30_011);
                    statements.push(Statement::Assign(object.clone(), Some(Remainder), modulus));
                }
                self.fit(made, 10_000)
            }
            _ => made,
        };
        statements.push(Statement::Assign(object, Some(operator), made.tree));
        Some(statements)
    }

    /// `s += x` of a parallel x.
    fn reducing_assignment(&mut self, object: Object) -> Option<Vec<Statement>> {
        use Operator::{Add, And, Least, Most, Or, Subtract, Xor};
        let of = self.program.type_of_object(&object);
        let operand = self.surely_parallel(2)?;
        let operand = if of.is_real() { operand } else { self.as_whole(operand) };
        // A sum, so that what comes of no position is 0: else it may be too great for the variable.
        if of.is_real() {
            let operand = self.fit(operand, 1009);
            let operator = [Add, Subtract][self.random.below(2)];
            let fitted = Statement::Assign(object.clone(), Some(operator), operand.tree);
            let own = Made::new(Expression::Own(object.clone()), of, i128::MIN / 4, i128::MAX / 4);
            let smaller = self.fit(own, 1009);
            return Some(vec![fitted, Statement::Assign(object, None, smaller.tree)]);
        }
        let operator = [Add, Subtract, And, Or, Xor, Least, Most][self.random.below(7)];
        let mut statements = Vec::new();
        let operand = if matches!(operator, Add | Subtract) {
            if of.bits() >= 32 {
                statements.push(Statement::Assign(object.clone(), Some(Operator::Remainder), Expression::int(30_011)));
            }
            self.fit(operand, 30_011)
        } else {
            operand
        };
        statements.push(Statement::Assign(object, Some(operator), operand.tree));
        Some(statements)
    }

    fn scalar_declaration(&mut self) -> Statement {
        let of = self.any_type();
        let made = self.fresh(2, Values::Scalar);
        let made = self.assignable(made, of);
        let variable = self.variable('l', None, of);
        self.scope.scalars.push(variable);
        self.scope.assignable.push(variable);
        Statement::Declare(variable, Some(made.tree))
    }

    fn parallel_declaration(&mut self) -> Option<Vec<Statement>> {
        if !Feature::Locals.is_on() {
            return None;
        }
        let before = self.scope.clone();
        let shape = match self.scope.current {
            Some(current) if !self.random.once_in(4) => current,
            // What `current` is where another shape has been chosen in a function is seen by other programs.
            _ => ShapeOf::Named(self.random.below(self.program.shapes.len())),
        };
        let variable = self.parallel_variable('v', shape);
        let declared = std::mem::replace(&mut self.scope, before);
        let held = self.program.variables[variable].held;
        let value = match held {
            Held::Number(of) if self.can_have_value(variable) && self.random.once_in(2) => {
                let made = match self.scope.current == Some(shape) {
                    true => self.fresh(2, Values::Parallel),
                    false => self.in_shape(shape, |generator| generator.fresh(2, Values::Parallel)),
                };
                Some(self.assignable(made, of).tree)
            }
            _ => None,
        };
        self.scope = Scope { current: self.scope.current, ..declared };
        Some(vec![Statement::Declare(variable, value)])
    }
}

/// What stands in a quiet statement: assignments, sends, what is made of them, and calls.
const QUIET: [usize; 20] = [0, 1, 2, 3, 4, 5, 14, 20, 23, 26, 29, 29, 29, 33, 33, 39, 41, 42, 43, 43];

/// Whether nothing behind these statements would be done.
fn ends(statements: &[Statement]) -> bool {
    matches!(statements.last(), Some(Statement::Break | Statement::Continue | Statement::Return(_)))
}
