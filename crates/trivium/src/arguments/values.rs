//! What the values of options may be, and what is said of one that may not.

use std::str::FromStr;
use std::time::Duration;
use trivium_protocol::MAX_NODES;

fn up_to(most: u32, text: &str) -> Result<u32, String> {
    let count = text.parse().ok().filter(|count| (1..=most).contains(count));
    count.ok_or_else(|| format!("there can be 1 to {most} nodes"))
}

/// Nodes that are simulated.
pub(super) fn node_count(text: &str) -> Result<u32, String> {
    up_to(MAX_NODES, text)
}

/// Nodes that run for real, each a thread: more have not been tried.
pub(super) fn run_nodes(text: &str) -> Result<u32, String> {
    up_to(256, text)
}

/// Nodes of a system that is checked.
pub(super) fn checked_nodes(text: &str) -> Result<u32, String> {
    up_to(trivium_check::MAX_NODES, text)
}

pub(super) fn block_size(text: &str) -> Result<u32, String> {
    let size = text.parse().ok().filter(|size: &u32| size.is_power_of_two() && (8..=1 << 16).contains(size));
    size.ok_or_else(|| "a block has 8, 16, 32 .. 32768 or 65536 bytes: a power of two".to_string())
}

/// Cycles without progress: none, or more than any access takes on any machine.
pub(super) fn stall_limit(text: &str) -> Result<u64, String> {
    let limit = text.parse().ok().filter(|limit| *limit == 0 || *limit >= 100_000);
    limit.ok_or_else(|| "it must be 0, or a whole number from 100000".to_string())
}

/// A number of at least one.
pub(super) fn at_least_one<Number: FromStr + PartialOrd + From<u8>>(text: &str) -> Result<Number, String> {
    let number = text.parse().ok().filter(|number| *number >= Number::from(1));
    number.ok_or_else(|| "it must be a whole number from 1".to_string())
}

/// More threads than any host has processors for would only end in none.
pub(super) fn host_threads(text: &str) -> Result<u32, String> {
    let count = text.parse().ok().filter(|count| (1..=256).contains(count));
    count.ok_or_else(|| "there can be 1 to 256 host threads".to_string())
}

/// How much each thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ops {
    /// So many accesses and calls.
    AtMost(u32),
    /// Any number, whatever the file declares.
    AnyNumber,
}

impl Ops {
    /// The limit, if there is one.
    pub fn limit(self) -> Option<u32> {
        match self {
            Ops::AtMost(most) => Some(most),
            Ops::AnyNumber => None,
        }
    }
}

/// The accesses and calls of a thread are counted in 16 bits.
pub(super) fn operations(text: &str) -> Result<Ops, String> {
    if text == "none" {
        return Ok(Ops::AnyNumber);
    }
    let most = text.parse().ok().filter(|most| (1..=u32::from(u16::MAX)).contains(most));
    most.map(Ops::AtMost).ok_or_else(|| "it must be a whole number from 1 to 65535, or `none` for no limit".to_string())
}

pub(super) fn whole(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "it must be a whole number that is not negative".to_string())
}

/// A number of bytes, perhaps in units of 2^10, 2^20 or 2^30.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    let (number, shift) = match text.strip_suffix(['K', 'M', 'G']) {
        Some(number) => (
            number,
            if text.ends_with('K') {
                10
            } else if text.ends_with('M') {
                20
            } else {
                30
            },
        ),
        None => (text, 0),
    };
    let is_whole = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
    let number = number.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
    let wrong = || match is_whole {
        true => "it must be less than 2 to the 64 bytes",
        false => "it must be a whole number of bytes, or one with K, M or G: 512M",
    };
    number.ok_or_else(|| wrong().to_string())
}

pub(super) fn name_bits(text: &str) -> Result<u32, String> {
    let bits = text.parse().ok().filter(|bits| (16..=64).contains(bits));
    bits.ok_or_else(|| "of a state 16 to 64 bits can be kept".to_string())
}

pub(super) fn bits_of_state(text: &str) -> Result<u32, String> {
    let bits = text.parse().ok().filter(|bits| (1..=32).contains(bits));
    bits.ok_or_else(|| "of a state 1 to 32 bits can be set".to_string())
}

/// A time in seconds, minutes or hours.
pub(super) fn time(text: &str) -> Result<Duration, String> {
    let unit = match text.chars().last() {
        Some('s') => 1,
        Some('m') => 60,
        Some('h') => 3600,
        _ => 0,
    };
    let number = text.get(..text.len().saturating_sub(1)).and_then(|number| number.parse::<u64>().ok());
    let seconds = number.filter(|_| unit > 0).and_then(|number| number.checked_mul(unit));
    seconds.map(Duration::from_secs).ok_or_else(|| "it must be a whole number with s, m or h: 90s, 30m, 2h".to_string())
}
