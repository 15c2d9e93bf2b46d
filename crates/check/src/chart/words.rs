//! Breaking sentences into lines.

/// Lines of at most `width` characters; words that are longer are cut.
pub(super) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let width = width.max(4);
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let mut word: &str = word;
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(std::mem::take(&mut line));
        }
        while line.is_empty() && word.chars().count() > width {
            let at = cut(word, width);
            lines.push(word[..at].to_string());
            word = &word[at..];
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// Where to cut a long word: after a dot or bar if there is one in its second half, so that names of states break
/// between their parts.
fn cut(word: &str, width: usize) -> usize {
    let end = word.char_indices().nth(width).map_or(word.len(), |(at, _)| at);
    let soft = word[..end].rfind(['.', '|', ',', '(', '=']).map(|at| at + 1);
    soft.filter(|&at| at > end / 2).unwrap_or(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_whole_and_long_ones_break_at_dots() {
        assert_eq!(wrapped("the home waits", 8), ["the home", "waits"]);
        assert_eq!(wrapped("a cache.ReadOnly.write.Granted b", 16), ["a", "cache.ReadOnly.", "write.Granted b"]);
        assert_eq!(wrapped("", 10), Vec::<String>::new());
    }
}
