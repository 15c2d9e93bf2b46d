//! What is said on standard error. Nobody may be there to hear it: that is no mistake, and changes no result.

/// Says something, and ends the line.
#[macro_export]
macro_rules! say {
    ($($said:tt)*) => {{
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), $($said)*);
    }};
}

/// Says something whose lines have their ends.
#[macro_export]
macro_rules! say_lines {
    ($($said:tt)*) => {{
        use std::io::Write;
        let _ = write!(std::io::stderr(), $($said)*);
    }};
}
