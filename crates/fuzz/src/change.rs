//! Changes of texts, of bytes, and of words.

use crate::random::Random;

/// Numbers at which something ends.
const NUMBERS: [&str; 22] = [
    "0",
    "1",
    "2",
    "3",
    "-1",
    "8",
    "31",
    "32",
    "63",
    "64",
    "255",
    "256",
    "257",
    "1024",
    "65535",
    "65536",
    "2147483647",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "18446744073709551616",
    "1e308",
];

/// Pieces that no well-meant text has.
const STRANGE: [&str; 14] = [
    "\0",
    "\u{1b}[31m",
    "\u{feff}",
    "é",
    "\u{202e}",
    "\"",
    "'",
    "/*",
    "//",
    "\r",
    "\\",
    "%s",
    "((((((((",
    "\u{10ffff}",
];

/// A text in pieces: words, numbers, single marks, white space.
fn pieces(text: &str) -> Vec<&str> {
    let sort = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 0,
        ' ' | '\t' => 1,
        _ => 2,
    };
    let mut pieces = Vec::new();
    let mut begin = 0;
    let mut before = 2;
    for (at, c) in text.char_indices() {
        if at > begin && (sort(c) == 2 || sort(c) != before) {
            pieces.push(&text[begin..at]);
            begin = at;
        }
        before = sort(c);
    }
    pieces.push(&text[begin..]);
    pieces
}

/// A text with one change, or a few; `other` is a text of the same kind, of which parts are taken.
pub fn text(random: &mut Random, text: &str, other: &str) -> String {
    let mut text = text.to_string();
    let changes = if random.once_in(2) { 1 } else { 1 + random.below(4) };
    for _ in 0..changes {
        text = match random.below(12) {
            0 => of_lines(random, &text, other),
            1 => strange(random, &text),
            _ => of_pieces(random, &text, other),
        };
    }
    text
}

fn is_word(piece: &&str) -> bool {
    piece.starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

fn of_pieces(random: &mut Random, text: &str, other: &str) -> String {
    let mut list = pieces(text);
    let others = pieces(other);
    let at = random.below(list.len());
    let again = random.below(list.len());
    let words: Vec<usize> = (0..list.len()).filter(|&i| is_word(&list[i])).collect();
    match random.below(12) {
        0 => drop(list.drain(at..(at + 1 + random.below(8)).min(list.len()))),
        1 => list.swap(at, again),
        2 => list[at] = others[random.below(others.len())],
        3 => {
            let end = (again + 1 + random.below(30)).min(list.len());
            let copied = list[again..end].to_vec();
            list.splice(at..at, copied);
        }
        4 => {
            let from = random.below(others.len());
            let end = (from + 1 + random.below(30)).min(others.len());
            list.splice(at..at, others[from..end].to_vec());
        }
        5..=7 => {
            let numbers = list.iter().enumerate().filter(|(_, p)| p.starts_with(|c: char| c.is_ascii_digit()));
            let numbers: Vec<usize> = numbers.map(|(i, _)| i).collect();
            let at = if numbers.is_empty() { at } else { numbers[random.below(numbers.len())] };
            list[at] = random.one(&NUMBERS);
        }
        // Words for words leave most often what is still a text of its kind.
        8 if !words.is_empty() => {
            let other: Vec<&str> = others.iter().copied().filter(is_word).collect();
            if !other.is_empty() {
                list[words[random.below(words.len())]] = other[random.below(other.len())];
            }
        }
        _ if !words.is_empty() => list[words[random.below(words.len())]] = list[words[random.below(words.len())]],
        _ => list[at] = list[again],
    }
    list.concat()
}

fn of_lines(random: &mut Random, text: &str, other: &str) -> String {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let others: Vec<&str> = other.split_inclusive('\n').collect();
    if lines.is_empty() {
        return other.to_string();
    }
    let (at, again) = (random.below(lines.len()), random.below(lines.len()));
    match random.below(4) {
        0 => drop(lines.remove(at)),
        1 => lines.swap(at, again),
        2 => lines.insert(at, lines[again]),
        _ => lines.insert(at, others.get(random.below(others.len())).copied().unwrap_or("")),
    }
    lines.concat()
}

fn strange(random: &mut Random, text: &str) -> String {
    let mut at = random.below(text.len() + 1);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    match random.below(8) {
        0 => text[..at].to_string(),
        1 => {
            let deep = random.one(&["(", "{", "[", "if 1 { ", "not ", "- ", "a.", "{\"a\":", "[[", "1 + "]);
            format!("{}{}{}", &text[..at], deep.repeat(1 << random.below(16)), &text[at..])
        }
        _ => format!("{}{}{}", &text[..at], random.one(&STRANGE), &text[at..]),
    }
}

/// Bytes with a few changes.
pub fn bytes(random: &mut Random, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..1 + random.below(6) {
        let at = random.below(bytes.len());
        match random.below(10) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..(at + 1 + random.below(16)).min(bytes.len()))),
            2 => bytes.insert(at, random.below(256) as u8),
            _ if bytes.is_empty() => {}
            3 => bytes[at] = [0, 0x7f, 0x80, 0xff][random.below(4)],
            4 => bytes[at] ^= 1 << random.below(8),
            // The sections that say what there is lie at the beginning.
            5 | 6 => {
                let near = random.below(bytes.len().min(2000));
                bytes[near] = random.below(256) as u8;
            }
            _ => bytes[at] = random.below(256) as u8,
        }
    }
    bytes
}

fn value(random: &mut Random) -> String {
    let strange = random.once_in(2);
    random.one(if strange { &STRANGE_WORDS } else { &NUMBERS }).to_string()
}

/// The words of a command line with one to three changes; `options` are those that its command has, with what stands behind
/// them where that is said.
pub fn words(random: &mut Random, words: &[&str], options: &[String]) -> Vec<String> {
    let mut words: Vec<String> = words.iter().map(|word| word.to_string()).collect();
    for _ in 0..1 + random.below(3) {
        let at = random.below(words.len());
        match random.below(16) {
            0 if !words.is_empty() => drop(words.remove(at)),
            1 if !words.is_empty() => {
                let again = random.below(words.len());
                words.swap(at, again);
            }
            2 if !words.is_empty() => words.insert(at, words[random.below(words.len())].clone()),
            3 if !words.is_empty() => words[at] = value(random),
            4 => words.insert(at, options[random.below(options.len())].clone()),
            _ => {
                let option = options[random.below(options.len())].clone();
                let value = value(random);
                match random.below(4) {
                    0 => words.push(option),
                    1 => words.push(format!("{option}={value}")),
                    _ => words.extend([option, value]),
                }
            }
        }
    }
    words
}

/// Words that stand where others are expected.
const STRANGE_WORDS: [&str; 24] = [
    "",
    "-",
    "--",
    "msi",
    "stache",
    "broken/msi-forgotten-ack",
    "typhoon",
    "simple-coma",
    "programs/hello.c",
    "json",
    "text",
    "svg",
    "none",
    "unordered",
    "512M",
    "1s",
    "\u{1b}[31m",
    "é",
    "a/b/c",
    ".",
    "protocols/msi.tri",
    "machine.network.latency=5",
    "protocol.join=2",
    "out.file",
];
