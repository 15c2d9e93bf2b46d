//! What is written.

/// What was written, or what SPIN cannot express.
pub(super) type Translated<T> = Result<T, String>;

/// A text that may stand in a string of C within Promela: SPIN copies these, and counts braces even there.
pub(super) fn harmless(text: &str) -> String {
    let plain = |c: char| match c {
        '{' => '(',
        '}' => ')',
        '"' | '\'' => '`',
        '\\' => '/',
        '%' => '#',
        other if other.is_ascii() && !other.is_ascii_control() => other,
        _ => '?',
    };
    text.chars().map(plain).collect()
}
