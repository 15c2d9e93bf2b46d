//! What dialects of C add to it: each says what its constructs become. C* has two of them, of which one is the oracle of the other.

pub(crate) mod c_star;
pub(crate) mod c_star_interpret;
pub(crate) mod split_c;
