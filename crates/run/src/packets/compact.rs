//! Numbers as bytes: small ones, which most are, take one or two.

/// Writes a number in groups of seven bits.
pub(crate) fn write_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}

/// Takes what [`write_number`] wrote off some bytes. Nothing where nobody has written what stands there.
pub(crate) fn read_number(from: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for place in 0..10 {
        let (&byte, rest) = from.split_first()?;
        *from = rest;
        number |= u64::from(byte & 0x7f).checked_shl(7 * place)?;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}
