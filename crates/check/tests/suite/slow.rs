//! What takes long is tried in part by `make test`, and in whole by `make test-slow`, which sets TRIVIUM_SLOW.

/// Whether all is tried.
pub fn is_asked_for() -> bool {
    std::env::var_os("TRIVIUM_SLOW").is_some()
}

/// All where all is tried, else one in so many, the first among them.
#[allow(dead_code, reason = "not every program of tests has such a list")]
pub fn one_in<I: IntoIterator>(many: usize, all: I) -> std::iter::StepBy<I::IntoIter> {
    all.into_iter().step_by(all_or(1, many))
}

/// The whole where all is tried, else the part.
pub fn all_or<T>(whole: T, part: T) -> T {
    if is_asked_for() { whole } else { part }
}
