//! Images: lines of each node's processor's cache that its own engine composes (`docs/semantics.md`, section 8).
//!
//! What a line holds is one word. The fields lie in it one after the other from the least bit on, in the order of declaration: a truth
//! value takes one bit, a number from 0 to n as many as n has.

use super::*;

/// Before the name of a kind of object, the name by which a program imports the function that gives the place of this node's image of one.
pub const IMAGE_IMPORT: &str = "image:";

/// How a program imports what ends it where a body of a call is passed, or returns, a value outside of its type: the number of the call, that
/// of the argument or [`RESULT_OF_CALL`], and the value.
pub const OUTSIDE_IMPORT: &str = "outside:";

/// Before the name of a call with a body, the name by which a program imports what holds each such call against the assumptions about it.
pub const BEGINS_IMPORT: &str = "begins:";

/// How a program imports what says which object a call with a body is passed: the number of the call, that of the argument or
/// [`OBJECT_OF_CALL`], and what is passed. It gives a pointer to the first byte of a block and the number of another object, or what stands for `none` in C.
pub const NAMED_IMPORT: &str = "named:";

/// How a program imports what ends it where a body of a call asserts something false: the number of the call, its object or 0, and the place in the body.
pub const ASSERT_IMPORT: &str = "assert:";

/// What stands for the result where the arguments of a call are numbered.
pub const RESULT_OF_CALL: i64 = -1;

/// What stands for the object where the arguments of a call are numbered.
pub const OBJECT_OF_CALL: i64 = -2;

/// The image of a kind of object: each node has a line for each object of the kind.
#[derive(Clone, Debug)]
pub struct Image {
    /// The kind.
    pub object: ObjectKindId,
    /// Its contents.
    pub fields: Vec<ImageField>,
}

/// A field of an image.
#[derive(Clone, Debug)]
pub struct ImageField {
    /// Its name and type: [`Type::Bool`], or a range from 0.
    pub named: Named,
    /// Its first bit.
    pub at: u32,
    /// How many bits it has.
    pub bits: u32,
}

impl ImageField {
    /// What a word is divided by before [`ImageField::modulus`] is taken of it.
    #[must_use]
    pub fn divisor(&self) -> i64 {
        1 << self.at
    }

    /// One more than the highest number that the field's bits can hold.
    #[must_use]
    pub fn modulus(&self) -> i64 {
        1 << self.bits
    }
}

impl Image {
    /// Most bits that the fields of an image may take together: a word is never negative.
    pub const MOST_BITS: u32 = 62;

    /// The bits that its fields take.
    #[must_use]
    pub fn bits(&self) -> u32 {
        self.fields.last().map_or(0, |field| field.at + field.bits)
    }

    /// The field of a name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&ImageField> {
        self.fields.iter().find(|field| field.named.name == name)
    }

    /// The fields of a word, by name.
    pub fn values(&self, word: i64) -> impl Iterator<Item = (&Named, i64)> {
        self.fields.iter().map(move |field| (&field.named, word / field.divisor() % field.modulus()))
    }
}

impl Protocol {
    /// The image of the objects of a kind.
    #[must_use]
    pub fn image_of(&self, object: ObjectKindId) -> Option<&Image> {
        self.images.iter().find(|image| image.object == object)
    }
}
