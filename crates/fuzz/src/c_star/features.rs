//! What of the language programs use.

/// Each is a construct of the language's page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Feature {
    /// `[i]x = e`
    Sends,
    /// `[i]x += e`
    CombiningSends,
    /// `struct p:S q;`
    Structures,
    /// `int:S v[3];`
    Arrays,
    /// `v[k]` of a parallel `k`
    ParallelIndices,
    /// `int:S x = 3;`
    Initialisers,
    /// Parallel variables in blocks.
    Locals,
    /// `int:current f(int:current x)`
    ParallelFunctions,
    /// `shapeof(x)`
    ShapeOfVariables,
    /// Left indices, reductions and calls behind `&&`, `||` and `?:`.
    Narrowing,
    /// `%%` of unsigned numbers.
    UnsignedModulus,
    /// Parallel functions that change what the statement reads that calls them.
    CallsThatChange,
}

/// What no program uses, since it is not there yet.
pub const OFF: &[Feature] = &[Feature::CallsThatChange];

impl Feature {
    pub fn is_on(self) -> bool {
        !OFF.contains(&self)
    }
}
