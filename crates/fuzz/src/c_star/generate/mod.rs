//! Random programs. None does what C leaves undefined: of each expression it is known between which numbers it lies, and where an operator
//! would leave its type the operands are made smaller. At most one effect stands in an expression, so that no order is left open.

mod communication;
mod digest;
mod expressions;
mod functions;
mod leaves;
mod ranges;
mod shifts;
mod statements;

use super::features::Feature;
use super::number::{Type, Value};
use super::tree::{Field, Held, Object, Program, Shape, ShapeName, ShapeOf, Statement, Structure, Variable};
use crate::random::Random;
use std::collections::BTreeMap;

/// No real variable holds a greater number, or a smaller one than its negative.
const REAL_LIMIT: i128 = 1_000_000;

/// The program of a row of random numbers, which is tried on so many nodes among others.
pub fn generated(random: Random, nodes: usize) -> Program {
    let mut generator = Generator {
        random,
        program: Program {
            shapes: Vec::new(),
            structures: Vec::new(),
            variables: Vec::new(),
            globals: Vec::new(),
            functions: Vec::new(),
            main: Vec::new(),
        },
        ranges: BTreeMap::new(),
        nodes,
        known: Vec::new(),
        scope: Scope::default(),
        trace: 0,
        tick: 0,
        effects: 0,
        communications: 0,
        left: 0,
    };
    generator.whole_program();
    generator.program
}

struct Generator {
    random: Random,
    program: Program,
    /// Between which numbers variables lie that do not take all of their types.
    ranges: BTreeMap<usize, (i128, i128)>,
    /// The nodes that shapes are dealt out to.
    nodes: usize,
    /// What functions there are, by their numbers.
    known: Vec<Role>,
    scope: Scope,
    /// A scalar that functions change as they are called, and one that `++` changes in expressions: nothing but the output reads them.
    trace: usize,
    tick: usize,
    /// How many effects and communications the expression may still have.
    effects: usize,
    communications: usize,
    /// How many statements may still be made.
    left: usize,
}

/// What a function is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// It is called in expressions, and does no more than C.
    Small,
    /// It is called in statements of its own, or for a scalar, and has parallel statements. Its first parameter says how often it may call itself.
    Procedure,
    /// It has parallel parameters and gives a parallel value.
    Parallel,
}

/// Where the next statement or expression stands.
#[derive(Clone, Default)]
struct Scope {
    current: Option<ShapeOf>,
    /// Scalars that may be read, and those of them that may be assigned.
    scalars: Vec<usize>,
    assignable: Vec<usize>,
    parallels: Vec<usize>,
    /// Arrays of scalars that nothing changes.
    tables: Vec<usize>,
    /// Loops and switches around it, in its function.
    loops: usize,
    switches: usize,
    /// The function that is being written; none in main.
    function: Option<usize>,
    /// Whether it stands behind `&&`, `||` or `?:`.
    is_narrow: bool,
    /// Whether nothing may stand here at which all nodes come together by itself.
    is_quiet: bool,
    /// Whether nothing may stand here that is done once: calls, gets and reductions.
    is_blocked: bool,
    /// The bracket of a left index in which it stands.
    dot: Option<usize>,
    /// Between which coordinates the active positions lie, if that is known: of each dimension.
    bounds: Vec<(i128, i128)>,
}

impl Generator {
    fn whole_program(&mut self) {
        self.shapes();
        if Feature::Structures.is_on() && self.random.once_in(2) {
            self.structure();
        }
        self.global_variables();
        let globals = self.scope.clone();
        self.left = 8 + self.random.below(30);
        for _ in 0..self.random.below(3) {
            self.small_function();
            self.scope = globals.clone();
        }
        for _ in 0..self.random.below(3) {
            if Feature::ParallelFunctions.is_on() && self.random.once_in(2) {
                self.parallel_function();
            } else {
                self.procedure();
            }
            self.scope = globals.clone();
        }
        self.left = 10 + self.random.below(40);
        let mut main = self.tables();
        for shape in 0..self.program.shapes.len() {
            main.push(self.filling(shape));
        }
        while self.left > 0 {
            let more = self.block(3, 8);
            main.extend(more);
        }
        main.extend(self.checkpoint());
        self.program.main = main;
    }

    fn shapes(&mut self) {
        for number in 0..1 + self.random.below(4) {
            let rank = [1, 1, 1, 2, 2, 2, 2, 3, 4][self.random.below(9)];
            let most = [24, 7, 4, 3][rank - 1];
            let blocks = if rank == 2 { self.blocks() } else { None };
            // Rectangles have several rows and columns, mostly.
            let (least, most) = if blocks.is_some() { (3, 6) } else { (1, most) };
            let sizes = (0..rank).map(|_| (least + self.random.below(most)) as i128).collect();
            self.program.shapes.push(Shape { name: format!("S{number}"), sizes, blocks });
        }
    }

    /// How a shape of two dimensions is dealt out, now and then: to as many nodes as there are, mostly.
    fn blocks(&mut self) -> Option<(usize, usize)> {
        let nodes = if self.nodes == 1 || self.random.once_in(8) { 2 + self.random.below(7) } else { self.nodes };
        let below: Vec<usize> = (1..=nodes).filter(|below| nodes.is_multiple_of(*below)).collect();
        let below = self.one_of(&below)?;
        (!self.random.once_in(4)).then_some((below, nodes / below))
    }

    fn structure(&mut self) {
        let fields = (0..1 + self.random.below(3))
            .map(|number| Field {
                name: format!("m{number}"),
                of: self.any_type(),
                count: self.random.once_in(3).then(|| 1 + self.random.below(3)),
            })
            .collect();
        self.program.structures.push(Structure { name: "record".into(), fields });
    }

    fn any_type(&mut self) -> Type {
        use Type::{Double, Float, Int};
        match self.random.below(4) {
            0 => Int,
            1 => [Float, Double][self.random.below(2)],
            _ => Type::ALL[self.random.below(Type::ALL.len())],
        }
    }

    fn whole_type(&mut self) -> Type {
        let of = self.any_type();
        if of.is_real() { Type::Int } else { of }
    }

    /// Makes a variable known; gives its number.
    fn variable(&mut self, letter: char, shape: Option<ShapeOf>, of: Type) -> usize {
        let number = self.program.variables.len();
        let name = format!("{letter}{number}");
        self.program.variables.push(Variable { name, shape, held: Held::Number(of), count: None, initial: None });
        number
    }

    fn global_variables(&mut self) {
        for (letter, what) in [('t', 0), ('k', 1)] {
            let variable = self.variable(letter, None, Type::Unsigned);
            self.program.globals.push(variable);
            if what == 0 { self.trace = variable } else { self.tick = variable }
        }
        for _ in 0..2 + self.random.below(4) {
            let of = self.any_type();
            let variable = self.variable('s', None, of);
            self.program.variables[variable].initial = Some(Value::int(self.random.below(100) as i128));
            self.program.globals.push(variable);
            self.scope.scalars.push(variable);
            self.scope.assignable.push(variable);
        }
        if self.random.once_in(2) {
            let of = self.any_type();
            let variable = self.variable('c', None, of);
            self.program.variables[variable].count = Some(2 + self.random.below(3));
            self.program.globals.push(variable);
            self.scope.tables.push(variable);
        }
        for shape in 0..self.program.shapes.len() {
            for _ in 0..2 + self.random.below(3) {
                let variable = self.parallel_variable('p', ShapeOf::Named(shape));
                if Feature::Initialisers.is_on() && self.can_have_value(variable) && self.random.once_in(4) {
                    self.program.variables[variable].initial = Some(Value::int(self.random.below(100) as i128));
                }
                self.program.globals.push(variable);
            }
        }
    }

    /// Gives tables their numbers.
    fn tables(&mut self) -> Vec<Statement> {
        let objects: Vec<Object> =
            self.scope.tables.iter().flat_map(|variable| self.program.numbers_of(*variable)).collect();
        let number = |object| {
            let constant = self.any_constant();
            let of = self.program.type_of_object(&object);
            Statement::Assign(object, None, self.assignable(constant, of).tree)
        };
        objects.into_iter().map(number).collect()
    }

    /// A parallel variable in scope: of numbers, of structures, or an array of either.
    fn parallel_variable(&mut self, letter: char, shape: ShapeOf) -> usize {
        let of = self.any_type();
        let variable = self.variable(letter, Some(shape), of);
        if !self.program.structures.is_empty() && self.random.once_in(4) {
            self.program.variables[variable].held = Held::Structure(0);
        }
        if Feature::Arrays.is_on() && self.random.once_in(5) {
            self.program.variables[variable].count = Some(1 + self.random.below(3));
        }
        self.scope.parallels.push(variable);
        variable
    }

    /// Whether a declaration may have a value: arrays and structures may not.
    fn can_have_value(&self, variable: usize) -> bool {
        let variable = &self.program.variables[variable];
        variable.count.is_none() && matches!(variable.held, Held::Number(_))
    }

    /// The name of a shape in `dimof` and the like.
    fn shape_name(&mut self, shape: usize) -> ShapeName {
        if Feature::ShapeOfVariables.is_on() && self.random.once_in(3) {
            let of_shape = |variable: &&usize| {
                let variable = &self.program.variables[**variable];
                variable.shape == Some(ShapeOf::Named(shape)) && variable.count.is_none()
            };
            let variables: Vec<usize> = self.scope.parallels.iter().filter(of_shape).copied().collect();
            if !variables.is_empty() {
                return ShapeName::Of(variables[self.random.below(variables.len())]);
            }
        }
        ShapeName::Named(shape)
    }

    fn positions(&self, shape: ShapeOf) -> i128 {
        let of_shape = |shape: &Shape| shape.sizes.iter().product();
        match shape {
            ShapeOf::Named(shape) => of_shape(&self.program.shapes[shape]),
            ShapeOf::Current => self.program.shapes.iter().map(of_shape).max().unwrap_or(1),
        }
    }

    /// The greatest size of a dimension of the current shape, if it surely has that.
    fn size(&self, dimension: usize) -> Option<i128> {
        match self.scope.current? {
            ShapeOf::Named(shape) => self.program.shapes[shape].sizes.get(dimension).copied(),
            // Its rank is not known, but that it has one dimension.
            ShapeOf::Current if dimension == 0 => self.program.shapes.iter().map(|shape| shape.sizes[0]).max(),
            ShapeOf::Current => None,
        }
    }

    /// The least and the greatest coordinate that active positions may have.
    fn bounds(&self, dimension: usize) -> Option<(i128, i128)> {
        let of_shape = (0, self.size(dimension)? - 1);
        Some(self.scope.bounds.get(dimension).copied().unwrap_or(of_shape))
    }

    /// What is made where another shape is current.
    fn in_shape<T>(&mut self, shape: ShapeOf, make: impl FnOnce(&mut Self) -> T) -> T {
        let current = self.scope.current.replace(shape);
        let bounds = std::mem::take(&mut self.scope.bounds);
        let made = make(self);
        self.scope.current = current;
        self.scope.bounds = bounds;
        made
    }

    /// Parallel variables of the current shape.
    fn own_variables(&self) -> Vec<usize> {
        let is_own = |variable: &&usize| {
            self.scope.current.is_some() && self.program.variables[**variable].shape == self.scope.current
        };
        self.scope.parallels.iter().filter(is_own).copied().collect()
    }

    /// Parallel variables whose shape is known by name.
    fn named_variables(&self) -> Vec<(usize, usize)> {
        let named = |variable: &usize| match self.program.variables[*variable].shape {
            Some(ShapeOf::Named(shape)) => Some((*variable, shape)),
            _ => None,
        };
        self.scope.parallels.iter().filter_map(named).collect()
    }

    fn one_of<T: Copy>(&mut self, several: &[T]) -> Option<T> {
        if several.is_empty() { None } else { Some(several[self.random.below(several.len())]) }
    }
}
