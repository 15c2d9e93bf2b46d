//! `poll_oneoff` of WASI preview 1: what a C library sleeps by, and waits for descriptors.

use super::errno::{BAD_DESCRIPTOR, INVALID, SUCCESS};
use wasmtime::Result;

use super::NodeState;
use super::files::is_ready;
use super::wasi::begin_of;
use crate::processor::{Call, Processor};

// Kinds of events.
const CLOCK: u8 = 0;
const READABLE: u8 = 1;
const WRITABLE: u8 = 2;

/// A time is that of the clock, not from now on.
const ABSOLUTE: u64 = 1;

const SUBSCRIPTION_BYTES: u32 = 48;
const EVENT_BYTES: u32 = 32;

/// More things than a program opens files.
const MOST: u32 = 1 << 16;

/// One of the things that a program waits for.
struct Subscription {
    /// Whose event is to be told so.
    user: [u8; 8],
    kind: u8,
    /// An error, or in how many nanoseconds it happens.
    when: Result<u64, i64>,
}

impl Subscription {
    /// As it lies in memory, at nanosecond `now` of the program.
    fn read<P: Processor>(node: &NodeState<P>, bytes: &[u8], now: i64) -> Subscription {
        let number = |at: usize, size: usize| {
            let mut word = [0; 8];
            word[..size].copy_from_slice(&bytes[at..at + size]);
            u64::from_le_bytes(word)
        };
        let kind = bytes[8];
        let when = match kind {
            CLOCK => match begin_of(number(16, 4).cast_signed()) {
                None => Err(INVALID),
                Some(began) if number(40, 2) & ABSOLUTE != 0 => Ok(number(24, 8).saturating_sub((began + now) as u64)),
                Some(_) => Ok(number(24, 8)),
            },
            READABLE | WRITABLE => match is_ready(node, number(16, 4).cast_signed(), kind == WRITABLE) {
                true => Ok(0),
                false => Err(BAD_DESCRIPTOR),
            },
            _ => Err(INVALID),
        };
        Subscription { user: number(0, 8).to_le_bytes(), kind, when }
    }

    /// What is told of it.
    fn event(&self) -> [u8; EVENT_BYTES as usize] {
        let mut event = [0; EVENT_BYTES as usize];
        event[..8].copy_from_slice(&self.user);
        event[8..10].copy_from_slice(&(self.when.err().unwrap_or(SUCCESS) as u16).to_le_bytes());
        event[10] = self.kind;
        event
    }
}

/// Waits until the first of the subscriptions at `args[0]` happens, and tells those that have by then.
pub(super) async fn poll<P: Processor>(node: &NodeState<P>, args: &[i64]) -> Result<i64> {
    let (from, into, count) = (args[0] as u32, args[1] as u32, args[2] as u32);
    if count == 0 || count > MOST {
        return Ok(INVALID);
    }
    node.check(into, (count * EVENT_BYTES).into(), "a write by the system")?;
    let bytes = node.read_bytes(from, count * SUBSCRIPTION_BYTES).await?;
    let now = node.call(Call::Nanoseconds).await?;
    let each = bytes.chunks_exact(SUBSCRIPTION_BYTES as usize);
    let subscriptions: Vec<Subscription> = each.map(|bytes| Subscription::read(node, bytes, now)).collect();
    let first = subscriptions.iter().map(|one| one.when.unwrap_or(0)).min().unwrap_or(0);
    node.call(Call::Sleep { nanoseconds: first }).await?;
    let happened = subscriptions.iter().filter(|one| one.when.is_ok_and(|when| when <= first) || one.when.is_err());
    let mut told = 0u32;
    for one in happened {
        node.write_bytes(into + told * EVENT_BYTES, &one.event()).await?;
        told += 1;
    }
    node.write_bytes(args[3] as u32, &told.to_le_bytes()).await?;
    Ok(SUCCESS)
}
