//! Where tokens stand in the user's own files. Line markers tell lines; columns are found by putting the tokens of a line beside those that the
//! file has there. What a macro has made stands where the macro is named.

use crate::lex::{Lexed, token_at};
use std::collections::HashMap;

/// Columns of tokens.
pub(crate) struct Places {
    /// For each token its column in bytes, from 1; and whether it was written there, not made by a macro. None: nobody knows.
    columns: Vec<Option<(usize, bool)>>,
    /// The lines of the files that could be read, by the file's number.
    lines: HashMap<usize, Vec<String>>,
}

/// Most steps for a line: behind it, tokens are found one by one.
const LONGEST: usize = 1 << 20;

impl Places {
    pub(crate) fn new(lexed: &Lexed, source: &dyn Fn(&str) -> Option<String>) -> Places {
        let mut lines = HashMap::new();
        for token in lexed.tokens.iter().filter(|token| !token.system) {
            lines.entry(token.file).or_insert_with(|| {
                let text = source(&lexed.files[token.file]).unwrap_or_default();
                text.lines().map(str::to_string).collect::<Vec<_>>()
            });
        }
        let mut places = Places { columns: vec![None; lexed.tokens.len()], lines };
        let mut first = 0;
        while first < lexed.tokens.len() {
            let of = |at: usize| (lexed.tokens[at].file, lexed.tokens[at].line, lexed.tokens[at].system);
            let mut end = first + 1;
            while end < lexed.tokens.len() && of(end) == of(first) {
                end += 1;
            }
            if !lexed.tokens[first].system {
                places.align(lexed, first, end);
            }
            first = end;
        }
        places
    }

    /// The line that a token stands in, if its file could be read.
    pub(crate) fn line(&self, lexed: &Lexed, token: usize) -> Option<&str> {
        let token = &lexed.tokens[token];
        self.lines.get(&token.file)?.get(token.line - 1).map(String::as_str)
    }

    /// The column of a token that is written there itself.
    pub(crate) fn written(&self, token: usize) -> Option<usize> {
        self.columns[token].filter(|(_, written)| *written).map(|(column, _)| column)
    }

    /// The column of a token, or of the macro that it comes from.
    pub(crate) fn column(&self, token: usize) -> Option<usize> {
        self.columns[token].map(|(column, _)| column)
    }

    /// Finds the columns of the tokens of one line.
    fn align(&mut self, lexed: &Lexed, first: usize, end: usize) {
        let Some(line) = self.line(lexed, first).map(str::to_string) else { return };
        let written = words(&line);
        let made: Vec<&str> = (first..end).map(|token| lexed.word(token)).collect();
        let matched = if written.len() * made.len() <= LONGEST {
            longest_common(&written, &made)
        } else {
            one_by_one(&written, &made)
        };
        let mut next = 0;
        for (i, word) in matched.iter().enumerate() {
            let place = match word {
                Some(word) => {
                    next = word + 1;
                    Some((written[*word].0 + 1, true))
                }
                // The first word that was not found is the macro's name.
                None => written.get(next).or(written.last()).map(|(column, _)| (column + 1, false)),
            };
            self.columns[first + i] = place;
        }
    }
}

/// The tokens of a line as it is written, with their columns from 0.
fn words(line: &str) -> Vec<(usize, &str)> {
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(first) = line[at..].chars().next() {
        let rest = &line[at..];
        if rest.starts_with("//") {
            break;
        }
        if let Some(comment) = rest.strip_prefix("/*") {
            at += comment.find("*/").map_or(rest.len(), |end| end + 4);
        } else if let Some((_, length)) = token_at(rest) {
            words.push((at, &rest[..length]));
            at += length;
        } else {
            at += first.len_utf8();
        }
    }
    words
}

/// For each made token the written one that it is, so that as many as possible are found.
fn longest_common(written: &[(usize, &str)], made: &[&str]) -> Vec<Option<usize>> {
    let width = made.len() + 1;
    let mut best = vec![0u32; (written.len() + 1) * width];
    for i in (0..written.len()).rev() {
        for j in (0..made.len()).rev() {
            best[i * width + j] = if written[i].1 == made[j] {
                best[(i + 1) * width + j + 1] + 1
            } else {
                best[(i + 1) * width + j].max(best[i * width + j + 1])
            };
        }
    }
    let mut matched = vec![None; made.len()];
    let (mut i, mut j) = (0, 0);
    while i < written.len() && j < made.len() {
        if written[i].1 == made[j] {
            matched[j] = Some(i);
            i += 1;
            j += 1;
        } else if best[(i + 1) * width + j] >= best[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    matched
}

/// The same for long lines: each token at the next place where it is written.
fn one_by_one(written: &[(usize, &str)], made: &[&str]) -> Vec<Option<usize>> {
    let mut next = 0;
    let mut find = |word: &&str| {
        let found = written[next..].iter().take(64).position(|(_, known)| known == word)? + next;
        next = found + 1;
        Some(found)
    };
    made.iter().map(&mut find).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_those_of_the_file() {
        let source = "int  f(int x) { return B +\tx; } // B + x\n";
        let made = "# 1 \"a.c\"\nint f(int x) { return ((7) + 1) + x; }\n";
        let lexed = crate::lex::lex(made);
        let places = Places::new(&lexed, &|name| (name == "a.c").then(|| source.to_string()));
        let at = |token: usize| (lexed.word(token), places.column(token), places.written(token).is_some());
        assert_eq!(at(1), ("f", Some(6), true));
        assert_eq!(at(8), ("(", Some(24), false));
        let last = lexed.tokens.len() - 4;
        assert_eq!(at(last), ("x", Some(28), true));
    }
}
