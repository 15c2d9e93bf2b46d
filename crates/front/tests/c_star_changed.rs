//! C* programs with words left out, doubled, exchanged and put in at random: whatever comes is translated, or refused with a place.

use std::time::{Duration, Instant};
use trivium_front::{Dialect, translate};

const PROGRAMS: [&str; 9] = [
    include_str!("../../../programs/cstar/jacobi.cs"),
    include_str!("../../../programs/cstar/gauss.cs"),
    include_str!("../../../programs/cstar/ocean.cs"),
    include_str!("../../../programs/cstar/misra.cs"),
    include_str!("../../../programs/cstar/blur.cs"),
    include_str!("../../../docs/cstar/places.cs"),
    include_str!("../../../docs/cstar/sends.cs"),
    include_str!("../../trivium/tests/c-star/language.cs"),
    include_str!("../../trivium/tests/c-star/control.cs"),
];

/// A sequence of numbers that look random, the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

/// Pieces of a text, so that each is a word, a mark, or white space.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut begin = 0;
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    for (at, letter) in text.char_indices().skip(1) {
        let before = text[..at].chars().next_back().unwrap_or(' ');
        let goes_on = is_word(before) && is_word(letter) || before.is_whitespace() && letter.is_whitespace();
        if !goes_on {
            pieces.push(&text[begin..at]);
            begin = at;
        }
    }
    pieces.push(&text[begin..]);
    pieces
}

fn changed<'a>(pieces: &[&'a str], pool: &[&'a str], random: &mut Random) -> String {
    let mut pieces = pieces.to_vec();
    for _ in 0..1 + random.below(3) {
        let at = random.below(pieces.len());
        match random.below(4) {
            0 => drop(pieces.remove(at)),
            1 => pieces.insert(at, pieces[at]),
            2 => {
                let other = random.below(pieces.len());
                pieces.swap(at, other);
            }
            _ => pieces[at] = pool[random.below(pool.len())],
        }
    }
    pieces.concat()
}

fn changes(count: usize, seed: u64) {
    let plain: Vec<String> = PROGRAMS
        .iter()
        .map(|text| text.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n")).collect())
        .collect();
    let all: Vec<Vec<&str>> = plain.iter().map(|text| pieces(text)).collect();
    let pool: Vec<&str> = all.concat().into_iter().filter(|piece| !piece.trim().is_empty()).collect();
    let mut random = Random(seed);
    let mut refused = 0;
    for number in 0..count {
        let text = changed(&all[number % all.len()], &pool, &mut random);
        let begun = Instant::now();
        let made = translate(&format!("# 1 \"a.cs\"\n{text}"), Dialect::CStar, &|_| Some(text.clone()));
        assert!(begun.elapsed() < Duration::from_secs(5), "{number}: {text}");
        if let Err(wrong) = made {
            refused += 1;
            assert!(wrong.to_string().contains("--> a.cs:"), "{number}: {wrong}\n{text}");
        }
    }
    assert!(refused > count / 4 && refused < count, "{refused} of {count} were refused");
}

#[test]
fn changed_programs_are_taken_or_refused() {
    changes(1_000, 1);
}

#[test]
#[ignore = "takes minutes"]
fn many_changed_programs_are_taken_or_refused() {
    changes(50_000, 2);
}
