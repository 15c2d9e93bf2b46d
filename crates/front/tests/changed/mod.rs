//! C* programs with words left out, doubled, exchanged and put in at random.

const PROGRAMS: [&str; 9] = [
    include_str!("../../../../programs/cstar/jacobi.cs"),
    include_str!("../../../../programs/cstar/gauss.cs"),
    include_str!("../../../../programs/cstar/ocean.cs"),
    include_str!("../../../../programs/cstar/misra.cs"),
    include_str!("../../../../programs/cstar/blur.cs"),
    include_str!("../../../../docs/cstar/places.cs"),
    include_str!("../../../../docs/cstar/sends.cs"),
    include_str!("../../../trivium/tests/c-star/language.cs"),
    include_str!("../../../trivium/tests/c-star/control.cs"),
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

fn changed_pieces(pieces: &[String], pool: &[String], random: &mut Random) -> String {
    let mut pieces = pieces.to_vec();
    for _ in 0..1 + random.below(3) {
        let at = random.below(pieces.len());
        match random.below(4) {
            0 => drop(pieces.remove(at)),
            1 => pieces.insert(at, pieces[at].clone()),
            2 => {
                let other = random.below(pieces.len());
                pieces.swap(at, other);
            }
            _ => pieces[at] = pool[random.below(pool.len())].clone(),
        }
    }
    pieces.concat()
}

/// The lines of a text that are for the preprocessor, or the others.
fn lines(text: &str, of_preprocessor: bool) -> String {
    text.lines().filter(|line| line.starts_with('#') == of_preprocessor).map(|line| format!("{line}\n")).collect()
}

/// So many changed programs, the same each time: the lines that the preprocessor reads, which are as they were, and the others.
pub fn changed(count: usize, seed: u64) -> impl Iterator<Item = (String, String)> {
    let of = |text: &&str| -> Vec<String> { pieces(&lines(text, false)).into_iter().map(str::to_string).collect() };
    let all: Vec<Vec<String>> = PROGRAMS.iter().map(of).collect();
    let pool: Vec<String> = all.concat().into_iter().filter(|piece| !piece.trim().is_empty()).collect();
    let mut random = Random(seed);
    (0..count).map(move |number| {
        let of = number % all.len();
        (lines(PROGRAMS[of], true), changed_pieces(&all[of], &pool, &mut random))
    })
}
