//! Numbers and bytes in what ranks send each other: seven bits a byte, since most numbers are small.

use trivium_engine::number::index;

/// Writes a number.
pub(super) fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}

/// Writes bytes, with their number before them.
pub(super) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// What a rank has sent, from the first byte that was not read.
#[derive(Clone, Copy)]
pub(super) struct Letter<'l> {
    rest: &'l [u8],
}

impl<'l> Letter<'l> {
    pub fn new(letter: &'l [u8]) -> Letter<'l> {
        Letter { rest: letter }
    }

    pub fn is_read(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next number.
    pub fn take(&mut self) -> u64 {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.rest.split_off_first().expect("ranks of one version know what they send each other");
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return number;
            }
            shift += 7;
        }
    }

    /// The next bytes that were written with their number.
    pub fn take_bytes(&mut self) -> &'l [u8] {
        let len = index(self.take());
        self.rest.split_off(..len).expect("ranks of one version know what they send each other")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let numbers = [0, 1, 127, 128, 300, 1 << 20, 1 << 56, 1 << 63, u64::MAX];
        let mut letter = Vec::new();
        numbers.iter().for_each(|&number| put(&mut letter, number));
        put_bytes(&mut letter, b"states");
        put_bytes(&mut letter, b"");
        let mut read = Letter::new(&letter);
        assert!(numbers.iter().all(|&number| read.take() == number && !read.is_read()));
        assert_eq!((read.take_bytes(), read.take_bytes()), (&b"states"[..], &b""[..]));
        assert!(read.is_read());
    }
}
