//! A recorded run as a file.

use super::entries::{node, read_bytes, write_bytes};
use sha2::{Digest, Sha256};
use trivium_engine::Node;

/// The first bytes of the file; the number is that of the format.
const MAGIC: &[u8] = b"trivium run recording 1\n";
/// Those of any format.
const KIND: &[u8] = b"trivium run recording ";
/// Bytes of the sum at the end.
const SUM: usize = 32;

/// What is needed to run a program again as it ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedRun {
    /// What was run, as names and values; a replay must be of the same.
    pub of: Vec<(String, String)>,
    /// What the programs read, as names and hashes.
    pub read: Vec<(String, String)>,
    /// The seed of the delays, if there were any.
    pub delays: Option<u64>,
    /// Nodes that did not answer when the run ended.
    pub(crate) given_up: Vec<Node>,
    /// Each node's history.
    pub(crate) histories: Vec<Vec<u8>>,
}

impl RecordedRun {
    /// Writes it.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        for pairs in [&self.of, &self.read] {
            out.extend((pairs.len() as u64).to_le_bytes());
            for (name, value) in pairs {
                write_bytes(&mut out, name.as_bytes());
                write_bytes(&mut out, value.as_bytes());
            }
        }
        let delays: Vec<u8> = self.delays.map_or_else(Vec::new, |seed| seed.to_le_bytes().to_vec());
        write_bytes(&mut out, &delays);
        let given_up: Vec<u8> = self.given_up.iter().flat_map(|&node| u64::from(node).to_le_bytes()).collect();
        write_bytes(&mut out, &given_up);
        out.extend((self.histories.len() as u64).to_le_bytes());
        self.histories.iter().for_each(|history| write_bytes(&mut out, history));
        let sum = Sha256::digest(&out);
        out.extend_from_slice(&sum);
        out
    }

    /// Reads it.
    ///
    /// # Errors
    /// What is wrong with the bytes, in a sentence without a full stop.
    pub fn read(bytes: &[u8]) -> Result<RecordedRun, &'static str> {
        if !bytes.starts_with(MAGIC) {
            return Err(match bytes.starts_with(KIND) {
                true => "it was recorded in the format of another version",
                false => "it is no recording of a run",
            });
        }
        let damaged = "it is damaged: bytes are missing, or were changed";
        let (rest, sum) = bytes.len().checked_sub(SUM).map(|at| bytes.split_at(at)).ok_or(damaged)?;
        if Sha256::digest(rest)[..] != *sum {
            return Err(damaged);
        }
        RecordedRun::parts(&rest[MAGIC.len().min(rest.len())..]).ok_or(damaged)
    }

    fn parts(mut rest: &[u8]) -> Option<RecordedRun> {
        let rest = &mut rest;
        let [of, read] = [pairs(rest)?, pairs(rest)?];
        let delays = match read_bytes(rest)? {
            [] => None,
            seed => Some(u64::from_le_bytes(seed.try_into().ok()?)),
        };
        let given_up = read_bytes(rest)?.chunks_exact(8).map(|one| node(u64::from_le_bytes(one.try_into().ok()?)));
        let given_up = given_up.collect::<Option<Vec<Node>>>()?;
        let histories = (0..count(rest)?).map(|_| read_bytes(rest).map(<[u8]>::to_vec)).collect::<Option<_>>()?;
        rest.is_empty().then_some(RecordedRun { of, read, delays, given_up, histories })
    }
}

fn count(rest: &mut &[u8]) -> Option<u64> {
    let (count, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(u64::from_le_bytes(*count))
}

fn pairs(rest: &mut &[u8]) -> Option<Vec<(String, String)>> {
    let text = |rest: &mut &[u8]| String::from_utf8(read_bytes(rest)?.to_vec()).ok();
    (0..count(rest)?).map(|_| Some((text(rest)?, text(rest)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn some() -> RecordedRun {
        RecordedRun {
            of: vec![("nodes".into(), "4".into()), ("block".into(), "64".into())],
            read: vec![("stdin".into(), "ff".into())],
            delays: Some(7),
            given_up: vec![3],
            histories: vec![vec![1, 2, 3], Vec::new()],
        }
    }

    #[test]
    fn what_is_read_is_what_was_written() {
        assert_eq!(RecordedRun::read(&some().to_bytes()), Ok(some()));
        assert_eq!(RecordedRun::read(&RecordedRun::default().to_bytes()), Ok(RecordedRun::default()));
    }

    #[test]
    fn another_format_is_named() {
        assert_eq!(RecordedRun::read(b"{}"), Err("it is no recording of a run"));
        let other = b"trivium run recording 2\n...";
        assert_eq!(RecordedRun::read(other), Err("it was recorded in the format of another version"));
    }

    proptest! {
        #[test]
        fn a_damaged_one_is_refused(at in 0usize..1000, change in 1u8.., length in 0usize..1000) {
            let whole = some().to_bytes();
            let mut changed = whole.clone();
            changed[at % whole.len()] ^= change;
            prop_assert!(RecordedRun::read(&changed).is_err());
            prop_assert!(RecordedRun::read(&whole[..length % whole.len()]).is_err());
        }

        #[test]
        fn any_parts_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = RecordedRun::parts(&bytes);
        }
    }
}
