//! Random numbers that are the same everywhere: SplitMix64, of Steele, Lea and Flood, "Fast splittable pseudorandom number
//! generators", 2014.

/// A row of random numbers.
pub struct Random(u64);

impl Random {
    /// The row of one case.
    pub fn of_case(seed: u64, case: u64) -> Random {
        let mut random = Random(seed ^ case.wrapping_mul(0xd134_2543_de82_ef95));
        random.next();
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`; 0 if that is 0.
    pub fn below(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { (self.next() % end as u64) as usize }
    }

    /// True once in so many times.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of several.
    pub fn one<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
    }
}
