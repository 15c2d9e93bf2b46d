//! Error numbers of WASI preview 1.

pub(super) const SUCCESS: i64 = 0;
pub(super) const NOT_ALLOWED: i64 = 2;
pub(super) const BAD_DESCRIPTOR: i64 = 8;
pub(super) const BUSY: i64 = 10;
pub(super) const THERE: i64 = 20;
pub(super) const TOO_LARGE: i64 = 22;
pub(super) const INVALID: i64 = 28;
pub(super) const FOLDER: i64 = 31;
pub(super) const LINK: i64 = 32;
pub(super) const MISSING: i64 = 44;
pub(super) const NO_FOLDER: i64 = 54;
pub(super) const NOT_EMPTY: i64 = 55;
pub(super) const UNSUPPORTED: i64 = 58;
pub(super) const OUTSIDE: i64 = 63;
pub(super) const READ_ONLY: i64 = 69;
pub(super) const CANNOT_SEEK: i64 = 70;
