//! Where something is wrong.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;

/// A place in a file, a file, or what stands for one: `--set machine.nodes=x`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The file's name as it was given, or what stands for it.
    pub file: String,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The column in characters, from 1.
    pub column: Option<u32>,
    /// The text there, where it is known.
    pub quoted: Option<Quoted>,
}

/// A line of a file, of which something is meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quoted {
    /// The whole line, without its end.
    pub text: String,
    /// The characters that are meant, from the place's column on: at least one.
    pub length: u32,
}

impl Place {
    /// The place of some bytes of a file's text; what goes over the end of a line is meant up to there.
    pub fn in_text(file: &str, text: &str, bytes: Range<usize>) -> Place {
        let boundary = |at: usize| (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        let (start, end) = (boundary(bytes.start), boundary(bytes.end));
        let from = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let to = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let whole = text[from..to].trim_end_matches('\r');
        let meant = text[start..end.max(start)].lines().next().unwrap_or("").chars().count() as u32;
        let rest = (whole.chars().count() as u32).saturating_sub(text[from..start].chars().count() as u32).max(1);
        Place {
            file: file.into(),
            line: Some(text[..start].matches('\n').count() as u32 + 1),
            column: Some(text[from..start].chars().count() as u32 + 1),
            quoted: Some(Quoted { text: whole.into(), length: meant.clamp(1, rest) }),
        }
    }
}

/// `FILE`, `FILE:LINE` or `FILE:LINE:COLUMN`.
impl From<&str> for Place {
    fn from(text: &str) -> Place {
        let number = |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten();
        let last =
            |text: &str| text.rsplit_once(':').and_then(|(before, after)| Some((before.to_string(), number(after)?)));
        let place = |file: String, line, column| Place { file, line, column, quoted: None };
        match last(text) {
            None => place(text.into(), None, None),
            Some((before, second)) => match last(&before) {
                None => place(before, Some(second), None),
                Some((file, first)) => place(file, Some(first), Some(second)),
            },
        }
    }
}

impl From<String> for Place {
    fn from(text: String) -> Place {
        Place::from(text.as_str())
    }
}

impl From<&String> for Place {
    fn from(text: &String) -> Place {
        Place::from(text.as_str())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        self.line.map_or(Ok(()), |line| write!(f, ":{line}"))?;
        self.column.map_or(Ok(()), |column| write!(f, ":{column}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_a_place() {
        for text in ["a.tri", "a.tri:3", "a.tri:3:7", "--set machine.a:b=3", "name, function `f`", "a:", ":", ""] {
            assert_eq!(Place::from(text).to_string(), text);
        }
        assert_eq!(Place::from("a.tri:3:7").line, Some(3));
        assert_eq!(Place::from("a.c:12").line, Some(12));
    }

    #[test]
    fn what_is_meant_ends_with_its_line() {
        let place = Place::in_text("a", "été x\r\nnext", 6..20);
        assert_eq!((place.line, place.column), (Some(1), Some(5)));
        assert_eq!(place.quoted, Some(Quoted { text: "été x".into(), length: 1 }));
        let end = Place::in_text("a", "ab", 2..2);
        assert_eq!((end.column, end.quoted.map(|quoted| quoted.length)), (Some(3), Some(1)));
        assert_eq!(Place::in_text("a", "", 5..9).line, Some(1));
    }
}
