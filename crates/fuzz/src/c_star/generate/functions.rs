//! Functions and their calls.

use super::expressions::Values;
use super::ranges::Made;
use super::{Generator, Role};
use crate::c_star::features::Feature;
use crate::c_star::number::{Operator, Type, Value};
use crate::c_star::tree::{Call, Expression, Function, Object, ShapeOf, Statement};

/// How often a function may call itself.
const DEEPEST: i128 = 2;

impl Generator {
    pub(super) fn is_small(&self, function: usize) -> bool {
        self.known[function] == Role::Small
    }

    /// A function that is known from now on; its body comes later.
    fn function(&mut self, role: Role, result: Option<Type>, shape: Option<ShapeOf>) -> usize {
        let number = self.program.functions.len();
        let name = format!("f{number}");
        let is_static = !self.random.once_in(3);
        let (parameters, body) = (Vec::new(), Vec::new());
        self.program.functions.push(Function { name, is_static, result, shape, parameters, body });
        self.known.push(role);
        self.scope.function = Some(number);
        (self.scope.loops, self.scope.switches) = (0, 0);
        self.scope.bounds.clear();
        number
    }

    fn parameter(&mut self, function: usize, letter: char, shape: Option<ShapeOf>, of: Type) -> usize {
        let variable = self.variable(letter, shape, of);
        self.program.functions[function].parameters.push(variable);
        if shape.is_some() {
            self.scope.parallels.push(variable);
        } else {
            self.scope.scalars.push(variable);
            self.scope.assignable.push(variable);
        }
        variable
    }

    /// The parameter that says how often the function may call itself.
    fn depth_parameter(&mut self, function: usize) -> usize {
        let variable = self.variable('d', None, Type::Int);
        self.program.functions[function].parameters.push(variable);
        self.ranges.insert(variable, (0, DEEPEST));
        self.scope.scalars.push(variable);
        variable
    }

    /// C, which notes that it was called.
    pub(super) fn small_function(&mut self) {
        let result = self.any_type();
        self.scope.parallels.clear();
        let function = self.function(Role::Small, Some(result), None);
        for _ in 0..1 + self.random.below(2) {
            let of = self.whole_type();
            self.parameter(function, 'a', None, of);
        }
        let first = self.program.functions[function].parameters[0];
        let factor = Expression::Constant(Value::whole(Type::Unsigned, 31));
        let noted = Expression::binary(Operator::Multiply, Expression::own(self.trace), factor);
        let noted = Expression::binary(
            Operator::Add,
            noted,
            Expression::Cast(Type::Unsigned, Box::new(Expression::own(first))),
        );
        let mut body = vec![Statement::Assign(Object::of(self.trace), None, noted)];
        if self.random.once_in(2) {
            self.effects = 0;
            self.communications = 0;
            let condition = self.expression(1, Values::Scalar).tree;
            let early = self.return_statement();
            body.push(Statement::If(condition, vec![early], None));
        }
        body.push(self.return_statement());
        self.program.functions[function].body = body;
    }

    /// Parallel statements, in the context of who calls it.
    pub(super) fn procedure(&mut self) {
        let result = if self.random.once_in(2) { Some(self.any_type()) } else { None };
        let function = self.function(Role::Procedure, result, None);
        let depth = self.depth_parameter(function);
        if self.random.once_in(2) {
            let of = self.any_type();
            self.parameter(function, 'a', None, of);
        }
        self.body(function, depth);
    }

    /// Of the current shape, or of one by name.
    pub(super) fn parallel_function(&mut self) {
        let result = self.any_type();
        let is_any = self.random.once_in(2);
        let shape =
            if is_any { ShapeOf::Current } else { ShapeOf::Named(self.random.below(self.program.shapes.len())) };
        if !Feature::CallsThatChange.is_on() {
            self.scope.assignable.clear();
            self.scope.parallels.clear();
        }
        let function = self.function(Role::Parallel, Some(result), Some(shape));
        let depth = self.depth_parameter(function);
        for _ in 0..1 + self.random.below(2) {
            let of = self.any_type();
            self.parameter(function, 'q', Some(shape), of);
        }
        self.scope.current = Some(shape);
        self.body(function, depth);
        self.scope.current = None;
    }

    fn body(&mut self, function: usize, depth: usize) {
        let left = std::mem::replace(&mut self.left, 2 + self.random.below(8));
        self.scope.is_quiet = self.random.once_in(2);
        let mut body = self.block(2, 6);
        if self.random.once_in(2) {
            body.extend(self.call_of_itself(function, depth));
        }
        body.push(self.return_statement());
        self.left = left;
        self.scope.is_quiet = false;
        self.program.functions[function].body = body;
    }

    /// `if (d > 0) f(d - 1, ..);`
    fn call_of_itself(&mut self, function: usize, depth: usize) -> Vec<Statement> {
        self.begin_expression();
        let deeper = Expression::binary(Operator::Subtract, Expression::own(depth), Expression::int(1));
        let call = self.call(function, Some(deeper), 1);
        let condition = Expression::binary(Operator::Greater, Expression::own(depth), Expression::int(0));
        let calling = match (self.known[function], self.program.functions[function].parameters.get(1)) {
            // Its value goes into its first parallel parameter.
            (Role::Parallel, Some(parameter)) => {
                let to = self.program.type_of_object(&Object::of(*parameter));
                let object = Object::of(*parameter);
                let made = self.assignable(call, to);
                Statement::Assign(object, None, made.tree)
            }
            _ => Statement::Evaluate(call.tree),
        };
        vec![Statement::If(condition, vec![calling], None)]
    }

    /// A call of a function; the first argument of some says how often it may call itself.
    fn call(&mut self, function: usize, first: Option<Expression>, depth: usize) -> Made {
        let parameters = self.program.functions[function].parameters.clone();
        let mut arguments = Vec::new();
        let has_depth = !self.is_small(function);
        if has_depth {
            let some = Expression::int(self.random.below(DEEPEST as usize + 1) as i128);
            arguments.push(first.unwrap_or(some));
        }
        for parameter in parameters.iter().skip(usize::from(has_depth)) {
            let is_parallel = self.program.variables[*parameter].shape.is_some();
            let of = self.program.type_of_object(&Object::of(*parameter));
            let made = self.expression(depth.min(1), if is_parallel { Values::Parallel } else { Values::Scalar });
            arguments.push(self.assignable(made, of).tree);
        }
        let of = self.program.functions[function].result;
        let tree = Expression::Call(Call { function, arguments });
        let of = of.unwrap_or(Type::Int);
        let (low, high) = match of.is_real() {
            true => (-super::REAL_LIMIT, super::REAL_LIMIT),
            false => (of.least(), of.most()),
        };
        Made::new(tree, of, low, high)
    }

    fn of_role(&self, role: Role) -> Vec<usize> {
        // A function calls only those before it, so that each ends.
        let end = self.scope.function.unwrap_or(self.known.len());
        (0..end).filter(|function| self.known[*function] == role).collect()
    }

    pub(super) fn small_call(&mut self, depth: usize) -> Option<Made> {
        let functions = self.of_role(Role::Small);
        let function = self.one_of(&functions)?;
        Some(self.call(function, None, depth))
    }

    /// A parallel function has statements with effects of their own: it is the one effect of its expression.
    pub(super) fn parallel_call(&mut self, depth: usize) -> Option<Made> {
        let current = self.scope.current?;
        let is_off = !Feature::ParallelFunctions.is_on() || !self.may_be_once();
        if is_off || self.scope.is_quiet || self.effects == 0 || self.scope.dot.is_some() {
            return None;
        }
        let functions: Vec<usize> = self.of_role(Role::Parallel);
        let is_fit = |function: &&usize| {
            let shape = self.program.functions[**function].shape;
            shape == Some(ShapeOf::Current) || shape == Some(current)
        };
        let functions: Vec<usize> = functions.iter().filter(is_fit).copied().collect();
        let function = self.one_of(&functions)?;
        self.effects = 0;
        Some(self.call(function, None, depth))
    }

    /// `f(..);` and `s = f(..);`
    pub(super) fn procedure_call(&mut self) -> Option<Vec<Statement>> {
        let functions = self.of_role(Role::Procedure);
        let function = self.one_of(&functions)?;
        self.begin_expression();
        if self.program.functions[function].result.is_some() && self.random.once_in(3) {
            return self.chosen_call(function);
        }
        let call = self.call(function, None, 1);
        let variables = self.scope.assignable.clone();
        let to = self.one_of(&variables).filter(|_| self.random.once_in(2));
        Some(vec![match (to, self.program.functions[function].result) {
            (Some(variable), Some(_)) => {
                let of = self.program.type_of_object(&Object::of(variable));
                Statement::Assign(Object::of(variable), None, self.assignable(call, of).tree)
            }
            _ => Statement::Evaluate(call.tree),
        }])
    }

    /// `s = c && f(..);` and the like: whether the function is called, hangs on what comes before.
    fn chosen_call(&mut self, function: usize) -> Option<Vec<Statement>> {
        let condition = self.condition(1, Values::Scalar).tree;
        self.effects = 0;
        let call = self.call(function, None, 1);
        let variables = self.scope.assignable.clone();
        let variable = self.one_of(&variables)?;
        let value = match self.random.below(3) {
            0 => {
                let other = Made::constant(Value::int(self.random.below(9) as i128));
                let (yes, no) = if self.random.once_in(2) { (call, other) } else { (other, call) };
                let made = self.conditional(condition, yes, no);
                let of = self.program.type_of_object(&Object::of(variable));
                self.assignable(made, of).tree
            }
            is_and => Expression::Logical(is_and == 1, Box::new(condition), Box::new(call.tree)),
        };
        Some(vec![Statement::Assign(Object::of(variable), None, value)])
    }
}
