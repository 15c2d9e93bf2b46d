//! Records: reading and writing variables in flat bytes.

/// The value of a variable, for reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A scalar; truth values 0 and 1, `none` -1.
    Scalar(i64),
    /// The elements of a set in ascending order.
    Set(Vec<i64>),
    /// The elements of a list, one number for each field.
    List(Vec<Vec<i64>>),
    /// The fields of a record.
    Record(Vec<i64>),
}
