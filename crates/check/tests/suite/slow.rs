//! What takes long is tried in part by `make test`, and in whole by `make test-slow`, which sets TRIVIUM_SLOW.

/// Whether all is tried.
pub fn is_asked_for() -> bool {
    std::env::var_os("TRIVIUM_SLOW").is_some()
}

/// All where all is tried, else one in so many, the first among them.
#[allow(dead_code, reason = "not every program of tests has such a list")]
pub fn one_in<I: IntoIterator>(many: usize, all: I) -> impl Iterator<Item = I::Item> {
    in_turn(many, 0, all)
}

/// The same for one of a row of cases: each next one has the next of them, so that all are met by some case.
#[allow(dead_code, reason = "not every program of tests has such a list")]
pub fn in_turn<I: IntoIterator>(many: usize, turn: usize, all: I) -> impl Iterator<Item = I::Item> {
    let (first, step) = all_or((0, 1), (turn % many, many));
    all.into_iter().skip(first).step_by(step)
}

/// The whole where all is tried, else the part.
pub fn all_or<T>(whole: T, part: T) -> T {
    if is_asked_for() { whole } else { part }
}
