//! What a node's run depended on that no other run repeats: which packets it took in when, and what the host's clock showed. Recorded, it
//! lets the node do exactly the same again. All else that a node does follows from it: its program counts instructions exactly, and
//! handlers get their turn at instructions that depend on nothing else.

mod entries;
pub(crate) mod meeting;
mod recording;

pub(crate) use entries::{Moment, PastEntry, PastEvent};
pub use recording::RecordedRun;

use entries::{HistoryReader, HistoryWriter};
use meeting::Meeting;

/// Most bytes of all nodes' histories.
const MOST: usize = 1 << 30;

/// Whether a node's run is recorded, or repeats one that was.
#[derive(Debug, Default)]
pub(crate) enum History {
    /// Neither.
    #[default]
    None,
    /// With the most bytes that there may be of it.
    Recorded(HistoryWriter, usize),
    Replayed(Box<Replaying>),
}

/// A history that is repeated.
#[derive(Debug)]
pub(crate) struct Replaying {
    reader: HistoryReader,
    next: Option<PastEntry>,
    meeting: Meeting,
}

impl History {
    /// That of one of so many nodes.
    pub(crate) fn recorded(nodes: u32) -> History {
        History::Recorded(HistoryWriter::default(), MOST / nodes.max(1) as usize - (1 << 16))
    }

    pub(crate) fn replayed(bytes: Vec<u8>, meeting: Meeting) -> History {
        let mut reader = HistoryReader::new(bytes);
        let next = reader.next();
        History::Replayed(Box::new(Replaying { reader, next, meeting }))
    }

    /// Where packets come from, if a history is repeated.
    pub(crate) fn meeting(&self) -> Option<&Meeting> {
        match self {
            History::Replayed(script) => Some(&script.meeting),
            _ => None,
        }
    }

    /// Something has happened.
    pub(crate) fn note(&mut self, at: Moment, event: PastEvent) {
        if let History::Recorded(writer, _) = self {
            writer.add(&PastEntry::At(at, event));
        }
    }

    /// Whether more is recorded than there is room for.
    pub(crate) fn is_full(&self) -> bool {
        matches!(self, History::Recorded(writer, most) if writer.len() > *most)
    }

    /// What happens at this moment, where a history is repeated.
    pub(crate) fn due(&self, at: Moment) -> Option<&PastEvent> {
        match self {
            History::Replayed(script) => match &script.next {
                Some(PastEntry::At(moment, event)) if *moment == at => Some(event),
                _ => None,
            },
            _ => None,
        }
    }

    /// It has happened.
    pub(crate) fn passed(&mut self) {
        if let History::Replayed(script) = self {
            script.next = script.reader.next();
        }
    }

    /// What the clock shows, or showed. Nothing if nobody looked at it then.
    pub(crate) fn clock(&mut self, now: u64) -> Option<u64> {
        match self {
            History::None => Some(now),
            History::Recorded(writer, _) => {
                writer.add(&PastEntry::Clock(now));
                Some(now)
            }
            History::Replayed(script) => match script.next {
                Some(PastEntry::Clock(then)) => {
                    script.next = script.reader.next();
                    Some(then)
                }
                _ => None,
            },
        }
    }

    /// How long something takes, or took. Nothing if nobody measured it then.
    pub(crate) fn took(&mut self, nanoseconds: u64) -> Option<u64> {
        match self {
            History::None => Some(nanoseconds),
            History::Recorded(writer, _) => {
                writer.add(&PastEntry::Took(nanoseconds));
                Some(nanoseconds)
            }
            History::Replayed(script) => match script.next {
                Some(PastEntry::Took(then)) => {
                    script.next = script.reader.next();
                    Some(then)
                }
                _ => None,
            },
        }
    }

    /// What comes next in a history that is repeated, in words.
    pub(crate) fn expected(&self) -> String {
        let History::Replayed(script) = self else { return "nothing".into() };
        match &script.next {
            None => "nothing more".into(),
            Some(PastEntry::Clock(_) | PastEntry::Took(_)) => "a look at the clock".into(),
            Some(PastEntry::At(moment, event)) => {
                let what = match event {
                    PastEvent::Packet(from) | PastEvent::Late(from) => format!("a packet of node {from}"),
                    PastEvent::Released(_) => "a message that was kept back".into(),
                    PastEvent::Timer(_) => "the end of a timer".into(),
                    PastEvent::Woken => "the end of a sleep".into(),
                    PastEvent::Reported | PastEvent::Asked | PastEvent::Stalled => "a question about the run".into(),
                    PastEvent::Stopped(_) => "the end of the run".into(),
                };
                format!("{what} at instruction {}", moment.instructions)
            }
        }
    }

    /// What was recorded.
    pub(crate) fn bytes(self) -> Vec<u8> {
        match self {
            History::Recorded(writer, _) => writer.bytes(),
            _ => Vec::new(),
        }
    }
}
