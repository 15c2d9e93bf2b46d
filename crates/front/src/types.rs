//! Types, as far as a dialect must know them: what is a pointer, to what, and in which space that lies. Numbers are not told apart; the C
//! compiler knows them.

use std::rc::Rc;

/// Where an object lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressSpace {
    /// In the processor's own memory: a plain pointer reaches it.
    Private,
    /// In some processor's memory: a `global` pointer reaches it.
    Global,
    /// As [`AddressSpace::Global`]; a pointer to it is a `spread` pointer.
    Spread,
}

impl AddressSpace {
    /// The number of the address space by which the C compiler tells it.
    pub fn number(self) -> u32 {
        match self {
            AddressSpace::Private => 0,
            AddressSpace::Global => 2,
            AddressSpace::Spread => 3,
        }
    }

    /// The space of that number: others are the compiler's own, and as good as private here.
    pub(crate) fn of_number(number: &str) -> AddressSpace {
        match number {
            "2" => AddressSpace::Global,
            "3" => AddressSpace::Spread,
            _ => AddressSpace::Private,
        }
    }
}

/// The type of an object or value, and of an object where it lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Type {
    /// What it is.
    pub shape: Shape,
    /// Where an object of this type lies.
    pub space: AddressSpace,
    /// Whether it is `const`.
    pub is_const: bool,
    /// The shape of C* that it has at each position of, if it is parallel.
    pub parallel: Option<Rc<ParallelShape>>,
}

/// A shape of C*.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParallelShape {
    /// As the program names it.
    pub name: String,
    /// How many dimensions it has; 0 for `current`, where that depends on the call.
    pub rank: usize,
}

impl ParallelShape {
    /// The shape that is current where a function is called.
    pub(crate) fn current() -> ParallelShape {
        ParallelShape { name: "current".into(), rank: 0 }
    }

    /// Whether only the run tells what it is.
    pub(crate) fn is_current(&self) -> bool {
        self.rank == 0
    }
}

/// What the values of a parallel parameter or result are, in C, and their shape.
#[derive(Debug, Clone)]
pub(crate) struct ParallelValue {
    pub c: String,
    pub shape: Rc<ParallelShape>,
}

/// A function that has parallel parameters or a parallel result.
#[derive(Debug, Clone)]
pub(crate) struct Signature {
    /// None for what is scalar.
    pub parameters: Vec<Option<ParallelValue>>,
    pub result: Option<ParallelValue>,
    /// The shape of all these values: it is current where the function is called, and where its body begins.
    pub shape: Rc<ParallelShape>,
}

/// What a type is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// Not known: the C compiler will tell what is wrong.
    Unknown,
    /// `void`.
    Void,
    /// A number of any kind, enumerations included.
    Number,
    /// A pointer to an object of this type, whose space says which kind of pointer.
    Pointer(Rc<Type>),
    /// An array of elements of this type.
    Array(Rc<Type>),
    /// A function with this result.
    Function(Rc<Type>),
    /// A structure or union, by its number.
    Record(usize),
    /// A spread array.
    SpreadArray(Rc<SpreadArray>),
}

/// A spread array: a spread pointer to its first element, and how many elements lie in each dimension left of `::`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpreadArray {
    /// The one contiguous object on one processor; its space is [`AddressSpace::Spread`].
    pub element: Type,
    /// For each dimension left of `::` an expression in C.
    pub dimensions: Vec<String>,
    /// The token that each begins with.
    pub(crate) tokens: Vec<usize>,
}

impl Type {
    /// A private object.
    pub(crate) fn of(shape: Shape) -> Type {
        Type { shape, space: AddressSpace::Private, is_const: false, parallel: None }
    }

    pub(crate) fn unknown() -> Type {
        Type::of(Shape::Unknown)
    }

    pub(crate) fn number() -> Type {
        Type::of(Shape::Number)
    }

    /// A pointer to objects of this type.
    pub(crate) fn pointer(self) -> Type {
        Type::of(Shape::Pointer(Rc::new(self)))
    }

    /// An array of such elements lies where they lie.
    pub(crate) fn array(self) -> Type {
        let space = self.space;
        Type { space, ..Type::of(Shape::Array(Rc::new(self))) }
    }

    /// The same where it lies elsewhere.
    pub(crate) fn within(mut self, space: AddressSpace) -> Type {
        self.space = space;
        if let Shape::Array(of) = &self.shape {
            self.shape = Shape::Array(Rc::new((**of).clone().within(space)));
        }
        self
    }

    /// What becomes of an object when its value is used: arrays and functions become pointers.
    pub(crate) fn value(self) -> Type {
        match self.shape {
            Shape::Array(of) => Type::of(Shape::Pointer(of)),
            Shape::SpreadArray(array) => array.element.clone().pointer(),
            Shape::Function(_) => self.pointer(),
            shape => Type::of(shape),
        }
    }

    /// What a pointer of this type points to, if it is one; an array too.
    pub(crate) fn pointee(&self) -> Option<&Type> {
        match &self.shape {
            Shape::Pointer(to) | Shape::Array(to) => Some(to),
            Shape::SpreadArray(array) => Some(&array.element),
            _ => None,
        }
    }

    /// The elements of an array, however many dimensions it has, and how many these are; else the type itself.
    pub(crate) fn innermost(&self) -> (&Type, usize) {
        match &self.shape {
            Shape::Array(of) => {
                let (element, dimensions) = of.innermost();
                (element, dimensions + 1)
            }
            _ => (self, 0),
        }
    }

    /// Whether it is an array of parallel variables.
    pub(crate) fn is_of_variables(&self) -> bool {
        self.parallel.is_none() && self.innermost().0.parallel.is_some()
    }

    /// The kind of a pointer.
    pub(crate) fn pointer_space(&self) -> Option<AddressSpace> {
        self.pointee().map(|to| to.space)
    }

    pub(crate) fn is_spread_pointer(&self) -> bool {
        self.pointer_space() == Some(AddressSpace::Spread)
    }

    pub(crate) fn is_unknown(&self) -> bool {
        self.shape == Shape::Unknown
    }
}
