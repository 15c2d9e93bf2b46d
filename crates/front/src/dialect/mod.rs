//! What dialects of C add to it: each is one file, which says what its constructs become.

pub(crate) mod c_star;
pub(crate) mod split_c;
