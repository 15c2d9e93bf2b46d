//! What the C compiler says of a translated text, in the words of the user's own.

use crate::types::AddressSpace;

/// The compiler's messages with Split-C's words for kinds of pointers, and with the lines of the user's own files. `source`: as for
/// [`translate`](crate::translate).
pub fn explain(said: &str, source: &dyn Fn(&str) -> Option<String>) -> String {
    let mut file: Option<Vec<String>> = None;
    let mut meant = 0;
    let mut kept = Some(0);
    let mut explained = String::new();
    let mut of_library = false;
    let lines: Vec<&str> = said.lines().collect();
    for (at, line) in lines.iter().copied().enumerate() {
        if is_about_library(line) {
            of_library = true;
            // What a construct of the language calls, nobody has written.
            if !lines.get(at + 1).is_some_and(|shown| {
                (shown.contains("splitc_") || shown.contains("cstar_")) && !shown.contains("#define ")
            }) {
                explained.push_str(&with_words(line));
                explained.push('\n');
            }
            continue;
        }
        // Its text has names of its own for global and spread.
        if of_library && line.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ').starts_with('|') {
            continue;
        }
        of_library = false;
        if let Some((name, number)) = place_of(line) {
            file = source(name).map(|text| text.lines().map(str::to_string).collect());
            meant = number;
        }
        if let Some((number, shown)) = shown_line(line) {
            // Of what is said about several lines, that about the first.
            kept = (number == meant).then(|| line.len() - shown.len());
            let own = file.as_ref().and_then(|lines| lines.get(number.checked_sub(1)?));
            if let (Some(begin), Some(own)) = (kept, own) {
                explained.push_str(&format!("{}{own}\n", &line[..begin]));
                kept = Some(begin + own.len());
                continue;
            }
        }
        let is_mark = line.trim_start().starts_with("| ");
        match kept {
            None if is_mark || shown_line(line).is_some() => continue,
            // What is marked behind the end of the user's line stands in the translation only.
            Some(end) if is_mark && file.is_some() => {
                explained.push_str(line.get(..end.min(line.len())).unwrap_or(line).trim_end())
            }
            _ => explained.push_str(&with_words(line)),
        }
        explained.push('\n');
    }
    explained
}

/// The file and line of `file:12:3: error: ...`.
fn place_of(line: &str) -> Option<(&str, usize)> {
    let (place, _) =
        [": error: ", ": warning: ", ": note: ", ": fatal error: "].iter().find_map(|kind| line.split_once(kind))?;
    let (rest, column) = place.rsplit_once(':')?;
    let (name, number) = rest.rsplit_once(':')?;
    column.parse::<u32>().ok().and(number.parse().ok()).map(|number| (name, number))
}

/// The line and text of `   12 | text`.
fn shown_line(line: &str) -> Option<(usize, &str)> {
    let (number, shown) = line.split_once(" | ")?;
    Some((number.trim().parse().ok()?, shown))
}

/// Whether a message is about a line of the library's header.
fn is_about_library(line: &str) -> bool {
    let headers = ["split-c.h", "cstar.h"];
    place_of(line).is_some_and(|(name, _)| headers.contains(&name.rsplit('/').next().unwrap_or(name)))
}

/// `'int *global'` for `'typeof (*global(x)) *' (aka 'int *global')`: a type that the translation names by an expression.
fn without_expressions(line: &str) -> String {
    let mut text = line.to_string();
    while let Some(aka) = text.find("' (aka '") {
        let Some(begin) = text[..aka].rfind('\'') else { return text };
        let Some(end) = text[aka + 8..].find("')").map(|end| aka + 8 + end) else { return text };
        let is_expression = text[begin..aka].contains("typeof");
        let replacement = if is_expression {
            format!("'{}'", &text[aka + 8..end])
        } else {
            format!("{} \u{0}aka '{}')", &text[begin..=aka], &text[aka + 8..end])
        };
        text.replace_range(begin..end + 2, &replacement);
    }
    text.replace('\u{0}', "(")
}

/// `T *global` for what the compiler calls `volatile __attribute__((address_space(2))) T *`.
fn with_words(line: &str) -> String {
    let mut text = line.to_string();
    // The library's header lies in a folder that nobody has heard of.
    if let Some(at) = text.find("/split-c.h:").filter(|at| !text[..*at].contains(' ')) {
        text.replace_range(..=at, "");
    }
    let spaces = [(AddressSpace::Global, "global"), (AddressSpace::Spread, "spread")];
    // The compiler leaves volatile away where it is not what differs.
    let qualifiers = spaces.iter().flat_map(|(space, word)| {
        let plain = format!("__attribute__((address_space({})))", space.number());
        [(format!("volatile {plain}"), *word), (plain, *word)]
    });
    for (qualifier, word) in qualifiers {
        while let Some(at) = text.find(&qualifier) {
            let mut end = at + qualifier.len();
            end += usize::from(text[end..].starts_with(' '));
            text.replace_range(at..end, "");
            // What it qualifies is what the next star points to.
            let quote = text[at..].find('\'').map_or(text.len(), |end| at + end);
            if let Some(star) = text[at..quote].find('*') {
                let end = at + star + 1;
                let space = if text[end..].starts_with(|c: char| c == '*' || c.is_alphabetic()) { " " } else { "" };
                text.insert_str(end, &format!("{word}{space}"));
            } else {
                text.insert_str(at, &format!("{word} "));
            }
        }
    }
    without_expressions(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_about_the_users_file() {
        let qualifier = "volatile __attribute__((address_space(2)))";
        let said = format!(
            "a.sc:2:8: error: assigning 'int *' to '{qualifier} int *{qualifier} *' changes address space of pointer\n    2 |     gp = lp;\n      |        ^ ~~\n"
        );
        let source = |name: &str| (name == "a.sc").then(|| "x\nab; gp = lp; c\n".to_string());
        assert_eq!(
            explain(&said, &source),
            "a.sc:2:8: error: assigning 'int *' to 'int *global *global' changes address space of pointer\n    2 | ab; gp = lp; c\n      |        ^ ~~\n"
        );
    }
}
