//! Programs in C* as trees.

use super::number::{Number, Operator, Prefix, Type, Value};

#[derive(Clone)]
pub struct Program {
    pub shapes: Vec<Shape>,
    pub structures: Vec<Structure>,
    /// All of the program, parameters and locals among them.
    pub variables: Vec<Variable>,
    /// Those at file scope, by their numbers.
    pub globals: Vec<usize>,
    pub functions: Vec<Function>,
    pub main: Vec<Statement>,
}

#[derive(Clone)]
pub struct Shape {
    pub name: String,
    pub sizes: Vec<i128>,
    /// Where there are as many nodes as the product: how many are below each other and side by side (`#pragma cstar dist`).
    pub blocks: Option<(usize, usize)>,
}

#[derive(Clone)]
pub struct Structure {
    pub name: String,
    pub fields: Vec<Field>,
}

/// A number of a structure, or an array of them.
#[derive(Clone)]
pub struct Field {
    pub name: String,
    pub of: Type,
    pub count: Option<usize>,
}

/// A shape by its number, or the one that is current where a function is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ShapeOf {
    Named(usize),
    Current,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Held {
    Number(Type),
    /// A structure by its number.
    Structure(usize),
}

#[derive(Clone)]
pub struct Variable {
    pub name: String,
    /// None: it is scalar.
    pub shape: Option<ShapeOf>,
    pub held: Held,
    /// How many, if it is an array.
    pub count: Option<usize>,
    /// A constant at file scope.
    pub initial: Option<Value>,
}

/// A function; one with parallel parameters or results has the shape `shape`.
#[derive(Clone)]
pub struct Function {
    pub name: String,
    /// Whether it is `static`: then all its calls are known.
    pub is_static: bool,
    pub result: Option<Type>,
    pub shape: Option<ShapeOf>,
    pub parameters: Vec<usize>,
    pub body: Vec<Statement>,
}

/// A variable, an element of it, a member, an element of that.
#[derive(Clone)]
pub struct Object {
    pub variable: usize,
    pub index: Option<Box<Expression>>,
    pub field: Option<(usize, Option<Box<Expression>>)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reduction {
    Add,
    Subtract,
    And,
    Or,
    Xor,
    Least,
    Most,
}

impl Reduction {
    pub const ALL: [Reduction; 7] = [
        Reduction::Add,
        Reduction::Subtract,
        Reduction::And,
        Reduction::Or,
        Reduction::Xor,
        Reduction::Least,
        Reduction::Most,
    ];

    /// What combines two.
    pub fn operator(self) -> Operator {
        match self {
            Reduction::Add | Reduction::Subtract => Operator::Add,
            Reduction::And => Operator::And,
            Reduction::Or => Operator::Or,
            Reduction::Xor => Operator::Xor,
            Reduction::Least => Operator::Least,
            Reduction::Most => Operator::Most,
        }
    }

    /// The operator of the same word.
    pub fn written(self) -> Operator {
        if self == Reduction::Subtract { Operator::Subtract } else { self.operator() }
    }

    pub fn of(operator: Operator) -> Option<Reduction> {
        Reduction::ALL.into_iter().find(|reduction| reduction.written() == operator)
    }

    pub fn is_of_bits(self) -> bool {
        matches!(self, Reduction::And | Reduction::Or | Reduction::Xor)
    }
}

/// Functions of `<math.h>` that give the same bits everywhere, and `abs`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Math {
    Abs,
    Fabs,
    Sqrt,
    Floor,
    Ceil,
    Trunc,
    Fmod,
    Copysign,
}

impl Math {
    pub fn name(self) -> &'static str {
        match self {
            Math::Abs => "abs",
            Math::Fabs => "fabs",
            Math::Sqrt => "sqrt",
            Math::Floor => "floor",
            Math::Ceil => "ceil",
            Math::Trunc => "trunc",
            Math::Fmod => "fmod",
            Math::Copysign => "copysign",
        }
    }

    pub fn result(self) -> Type {
        if self == Math::Abs { Type::Int } else { Type::Double }
    }
}

/// So many steps away in a dimension: around its end, or with another value for what is beyond it.
#[derive(Clone)]
pub struct Shift {
    pub object: Object,
    pub border: Option<Box<Expression>>,
    pub dimension: usize,
    pub distance: Box<Expression>,
}

#[derive(Clone)]
pub enum Expression {
    Constant(Value),
    /// The value of a variable; of a parallel one, at the own position.
    Own(Object),
    /// `pcoord(k)`
    Coordinate(usize),
    /// `.`, in the bracket of this number.
    Dot(usize),
    DimensionOf(ShapeName, usize),
    PositionsOf(ShapeName),
    RankOf(ShapeName),
    Prefix(Prefix, Box<Expression>),
    Binary(Operator, Box<Expression>, Box<Expression>),
    /// `&&`, or else `||`
    Logical(bool, Box<Expression>, Box<Expression>),
    Conditional(Box<[Expression; 3]>),
    Cast(Type, Box<Expression>),
    Math(Math, Vec<Expression>),
    Reduce(Reduction, Box<Expression>),
    Get(Vec<Expression>, Object),
    /// `from_torus_dim(x, k, d)`, `from_grid_dim(x, e, k, d)`
    Shift(Shift),
    Call(Call),
    /// `[i]x = e`, or `x = e`: it gives what each position sends.
    Send(Vec<Expression>, Object, Box<Expression>),
    /// `++s`, or `s++`, of a scalar; as a statement of its own also of what is parallel.
    Step {
        object: Object,
        is_prefix: bool,
    },
    /// The bits of a number, which are printed: it is the argument of a function of the program's beginning.
    Bits(Box<Expression>),
}

/// A shape in `dimof` and the like: by its name, or as that of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ShapeName {
    Named(usize),
    Of(usize),
}

#[derive(Clone)]
pub struct Call {
    pub function: usize,
    pub arguments: Vec<Expression>,
}

#[derive(Clone)]
pub enum Statement {
    Block(Vec<Statement>),
    /// A declaration; of a scalar, with a value.
    Declare(usize, Option<Expression>),
    /// `object op= e`, or `object = e`.
    Assign(Object, Option<Operator>, Expression),
    /// `[i]object op= e`, or `[i]object = e`.
    Send(Vec<Expression>, Object, Option<Operator>, Expression),
    /// `to_torus_dim(x, e, k, d);`, `to_grid_dim(x, e, f, k, d);`
    ShiftTo(Shift, Expression),
    /// Whole structures: `object = object`, also with left indices on either side.
    Copy(Vec<Expression>, Object, Vec<Expression>, Object),
    Evaluate(Expression),
    With(ShapeName, Vec<Statement>),
    Where(Expression, Vec<Statement>, Option<Vec<Statement>>),
    Everywhere(Vec<Statement>),
    If(Expression, Vec<Statement>, Option<Vec<Statement>>),
    /// `for (int variable = 0; variable < count; variable++)`
    For(usize, i128, Vec<Statement>),
    /// `while (variable < count && condition) { variable++; .. }`, of a variable that begins with 0.
    While(usize, i128, Expression, Vec<Statement>),
    /// `do { variable++; .. } while (variable < count && condition);`, of a variable that begins with 0.
    Do(usize, i128, Expression, Vec<Statement>),
    /// `switch`, with the statements behind each label, which go on into the next; none: `default`.
    Switch(Expression, Vec<(Option<i128>, Vec<Statement>)>),
    Break,
    Continue,
    Return(Option<Expression>),
    /// `printf` of a word and numbers.
    Print(String, Vec<Expression>),
    /// Prints all elements of a variable of whole numbers, and takes each that more than one position has sent as it is printed.
    Settle(Object),
}

impl Program {
    pub fn shape_of(&self, name: ShapeName) -> Option<ShapeOf> {
        match name {
            ShapeName::Named(shape) => Some(ShapeOf::Named(shape)),
            ShapeName::Of(variable) => self.variables[variable].shape,
        }
    }

    /// The type of a number.
    pub fn type_of_object(&self, object: &Object) -> Type {
        match (self.variables[object.variable].held, &object.field) {
            (Held::Number(of), _) => of,
            (Held::Structure(structure), Some((field, _))) => self.structures[structure].fields[*field].of,
            (Held::Structure(_), None) => Type::Int,
        }
    }

    pub fn type_of(&self, expression: &Expression) -> Type {
        match expression {
            Expression::Constant(value) => value.of,
            Expression::Own(object)
            | Expression::Get(_, object)
            | Expression::Send(_, object, _)
            | Expression::Shift(Shift { object, .. })
            | Expression::Step { object, .. } => self.type_of_object(object),
            Expression::Prefix(Prefix::Not, _) | Expression::Logical(..) => Type::Int,
            Expression::Prefix(_, operand) | Expression::Reduce(_, operand) => self.type_of(operand).promoted(),
            Expression::Binary(operator, left, right) => operator.result(self.type_of(left), self.type_of(right)),
            Expression::Conditional(parts) => self.type_of(&parts[1]).common(self.type_of(&parts[2])),
            Expression::Cast(of, _) => *of,
            Expression::Math(math, _) => math.result(),
            Expression::Call(call) => self.functions[call.function].result.unwrap_or(Type::Int),
            Expression::Bits(_) => Type::UnsignedLongLong,
            Expression::Coordinate(_)
            | Expression::Dot(_)
            | Expression::DimensionOf(..)
            | Expression::PositionsOf(_)
            | Expression::RankOf(_) => Type::Int,
        }
    }

    fn is_parallel_object(&self, object: &Object) -> bool {
        let field_index = object.field.as_ref().and_then(|(_, index)| index.as_deref());
        self.variables[object.variable].shape.is_some() || self.has_parallel_index(object) || {
            field_index.is_some_and(|index| self.is_parallel(index))
        }
    }

    /// Whether an index within the object, which no left index chooses, is parallel.
    fn has_parallel_index(&self, object: &Object) -> bool {
        let field_index = object.field.as_ref().and_then(|(_, index)| index.as_deref());
        [object.index.as_deref(), field_index].into_iter().flatten().any(|index| self.is_parallel(index))
    }

    /// Whether it has a value at each position.
    pub fn is_parallel(&self, expression: &Expression) -> bool {
        let is = |part: &Expression| self.is_parallel(part);
        match expression {
            Expression::Own(object) => self.is_parallel_object(object),
            Expression::Coordinate(_) | Expression::Dot(_) | Expression::Shift(_) => true,
            Expression::Get(indices, object) => indices.iter().any(is) || self.has_parallel_index(object),
            Expression::Send(indices, object, value) => {
                indices.iter().any(is) || self.has_parallel_index(object) || is(value)
            }
            Expression::Prefix(_, operand) | Expression::Cast(_, operand) | Expression::Bits(operand) => is(operand),
            Expression::Binary(_, left, right) | Expression::Logical(_, left, right) => is(left) || is(right),
            Expression::Conditional(parts) => parts.iter().any(is),
            Expression::Math(_, arguments) => arguments.iter().any(is),
            Expression::Call(call) => {
                let function = &self.functions[call.function];
                function.shape.is_some() && function.result.is_some()
            }
            Expression::Constant(_)
            | Expression::Reduce(..)
            | Expression::Step { .. }
            | Expression::DimensionOf(..)
            | Expression::PositionsOf(_)
            | Expression::RankOf(_) => false,
        }
    }

    /// How many numbers a number or a structure is.
    pub fn cells_of(&self, held: Held) -> usize {
        match held {
            Held::Number(_) => 1,
            Held::Structure(structure) => {
                self.structures[structure].fields.iter().map(|field| field.count.unwrap_or(1)).sum()
            }
        }
    }

    /// Every number that a variable has at a position, as an object with constant indices.
    pub fn numbers_of(&self, variable: usize) -> Vec<Object> {
        let constant = |k: usize| Some(Box::new(Expression::Constant(Value::int(k as i128))));
        let elements: Vec<Option<usize>> = match self.variables[variable].count {
            Some(count) => (0..count).map(Some).collect(),
            None => vec![None],
        };
        let mut all = Vec::new();
        for element in elements {
            let index = element.and_then(constant);
            match self.variables[variable].held {
                Held::Number(_) => all.push(Object { variable, index, field: None }),
                Held::Structure(structure) => {
                    for (number, field) in self.structures[structure].fields.iter().enumerate() {
                        let places: Vec<Option<usize>> =
                            field.count.map_or(vec![None], |count| (0..count).map(Some).collect());
                        for place in places {
                            let field = Some((number, place.and_then(constant)));
                            all.push(Object { variable, index: index.clone(), field });
                        }
                    }
                }
            }
        }
        all
    }
}

impl Object {
    pub fn of(variable: usize) -> Object {
        Object { variable, index: None, field: None }
    }
}

impl Expression {
    pub fn int(number: i128) -> Expression {
        Expression::Constant(Value::int(number))
    }

    pub fn binary(operator: Operator, left: Expression, right: Expression) -> Expression {
        Expression::Binary(operator, Box::new(left), Box::new(right))
    }

    pub fn own(variable: usize) -> Expression {
        Expression::Own(Object::of(variable))
    }

    /// The constant, if it is a whole one.
    pub fn as_constant(&self) -> Option<i128> {
        match self {
            Expression::Constant(Value { number: Number::Whole(number), .. }) => Some(*number),
            _ => None,
        }
    }
}
