//! Parameters of a protocol: numbers of its file that may be set from outside.

/// Where the value of a parameter comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ValueFrom {
    /// The default: the value that the file gives, which `sim` and `run` take.
    #[default]
    Default,
    /// The value that the file gives for `check`.
    Check,
    /// It was set from outside.
    Set,
    /// It is one of the parameter's range, which `check` tries after a search with another value.
    Tried,
}

impl ValueFrom {
    const ALL: [ValueFrom; 4] = [ValueFrom::Default, ValueFrom::Check, ValueFrom::Set, ValueFrom::Tried];

    /// As results write it.
    pub fn name(self) -> &'static str {
        match self {
            ValueFrom::Default => "default",
            ValueFrom::Check => "check",
            ValueFrom::Set => "set",
            ValueFrom::Tried => "tried",
        }
    }

    /// The one of a name.
    pub fn named(name: &str) -> Option<ValueFrom> {
        ValueFrom::ALL.into_iter().find(|from| from.name() == name)
    }
}

/// A parameter with the value that is in force, and what its file declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// The name as written.
    pub name: String,
    /// The value in force: the declared one, or one set from outside.
    pub value: i64,
    /// Where the value in force comes from.
    pub from: ValueFrom,
    /// The default: the value that the file declares.
    pub declared: i64,
    /// Least value allowed.
    pub lo: i64,
    /// Greatest value allowed.
    pub hi: i64,
    /// The value that `check` takes unless another is set: small, so that the search ends.
    pub check: Option<i64>,
}

impl Param {
    /// All other values of its range, if the range has at most so many: the default first, then upwards.
    pub fn others(&self, most: i64) -> Vec<i64> {
        // A range may be as wide as a number.
        if self.hi.checked_sub(self.lo).is_none_or(|width| width >= most) {
            return Vec::new();
        }
        let default = (self.declared != self.value).then_some(self.declared);
        let rest = (self.lo..=self.hi).filter(|&value| value != self.value && value != self.declared);
        default.into_iter().chain(rest).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranged(value: i64, declared: i64, (lo, hi): (i64, i64)) -> Param {
        Param { name: "p".into(), value, from: ValueFrom::Check, declared, lo, hi, check: Some(value) }
    }

    #[test]
    fn the_default_is_the_first_of_the_other_values() {
        assert_eq!(ranged(1, 8, (1, 8)).others(8), [8, 2, 3, 4, 5, 6, 7]);
        assert_eq!(ranged(2, 2, (0, 3)).others(8), [0, 1, 3]);
        assert_eq!(ranged(4, 4, (4, 4)).others(8), []);
    }

    #[test]
    fn a_range_of_more_values_has_no_others() {
        assert_eq!(ranged(1, 8, (0, 8)).others(8), []);
        assert_eq!(ranged(1, 8, (i64::MIN, i64::MAX)).others(8), []);
    }

    #[test]
    fn a_name_says_where_a_value_comes_from() {
        for from in ValueFrom::ALL {
            assert_eq!(ValueFrom::named(from.name()), Some(from));
        }
        assert_eq!(ValueFrom::named("elsewhere"), None);
    }
}
