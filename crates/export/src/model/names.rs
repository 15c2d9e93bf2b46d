//! Names of variables, fields, types and routines.

use std::borrow::Cow;
use std::fmt;

/// A name of the model: of a variable, a field, a type or a routine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name(Cow<'static, str>);

impl Name {
    /// One that is always the same.
    pub const fn new(text: &'static str) -> Name {
        Name(Cow::Borrowed(text))
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&'static str> for Name {
    fn from(text: &'static str) -> Name {
        Name::new(text)
    }
}

impl From<String> for Name {
    fn from(text: String) -> Name {
        Name(Cow::Owned(text))
    }
}

impl From<&Name> for Name {
    fn from(name: &Name) -> Name {
        name.clone()
    }
}

/// A name that is made up of several parts.
pub(crate) fn name(text: String) -> Name {
    text.into()
}
