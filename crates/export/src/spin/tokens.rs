//! The words and signs of a model.

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Word(String),
    Number(i64),
    Text(String),
    Sign(&'static str),
    End,
}

/// Longer signs stand before those with which they begin.
const SIGNS: [&str; 28] = [
    "==>", ":=", "..", "!=", "<=", ">=", "<<", ">>", "(", ")", "[", "]", ":", ";", ",", ".", "=", "<", ">", "+", "-",
    "*", "/", "%", "&", "|", "!", "~",
];

/// The tokens of a text, each with its line.
pub(super) fn tokens(text: &str) -> Result<Vec<(Token, usize)>, String> {
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let mut rest = line.trim_start();
        while !rest.is_empty() && !rest.starts_with("--") {
            let (token, length) = first(rest).ok_or_else(|| format!("line {number}: {rest}"))?;
            found.push((token, number));
            rest = rest[length..].trim_start();
        }
    }
    found.push((Token::End, text.lines().count()));
    Ok(found)
}

/// The token with which a line begins, and its length.
fn first(line: &str) -> Option<(Token, usize)> {
    let run = |is: fn(char) -> bool| line.find(|c: char| !is(c)).unwrap_or(line.len());
    let start = line.chars().next()?;
    if start.is_ascii_digit() {
        let length = run(|c| c.is_ascii_digit());
        return Some((Token::Number(line[..length].parse().ok()?), length));
    }
    if start.is_ascii_alphabetic() || start == '_' {
        let length = run(|c| c.is_ascii_alphanumeric() || c == '_');
        return Some((Token::Word(line[..length].to_string()), length));
    }
    if start == '"' {
        let inner = line[1..].split_once('"')?.0;
        return Some((Token::Text(inner.to_string()), inner.len() + 2));
    }
    if start == '?' {
        return Some((Token::Sign("?"), 1));
    }
    let sign = SIGNS.iter().find(|sign| line.starts_with(**sign))?;
    Some((Token::Sign(sign), sign.len()))
}
