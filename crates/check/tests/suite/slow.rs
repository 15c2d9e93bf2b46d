//! What takes long is tried in part by `make test`, and in whole by `make test-slow`, which sets TRIVIUM_SLOW.

/// Whether all is tried.
pub fn is_asked_for() -> bool {
    std::env::var_os("TRIVIUM_SLOW").is_some()
}

/// The whole where all is tried, else the part.
pub fn all_or<T>(whole: T, part: T) -> T {
    if is_asked_for() { whole } else { part }
}
