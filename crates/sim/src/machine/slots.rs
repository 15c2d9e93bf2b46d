//! A node with several engines: the machine's table `slots` (M-Machine dissertation, our specification 2.1 and 4).
//!
//! What a message passes on its way is a *stage*: it is translated and injected at its sender, dispatched and extracted at its receiver. A stage's
//! *latency* is by how much it delays the message; its *occupancy* is for how many cycles a unit that issues instructions is used for it, or kept from others.

use super::ratio::Ratio;
use serde::Deserialize;

/// The engines of a node, and the stages of its messages. All times are cycles of the compute processor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlotsModel {
    /// Engines for messages, 1 to 8: those of a protocol's first lane go to the first one, and so on; further lanes share the last. One more
    /// engine takes all other events. Each has a queue of its own in the network interface.
    pub lanes: u64,
    /// What finds out to which node a message goes.
    #[serde(default)]
    pub translate: Stage,
    /// What gives a message away.
    pub inject: Stage,
    /// From when a message is there to its handler.
    pub dispatch: Stage,
    /// What brings its words to its handler.
    pub extract: Stage,
    /// How many words the queues to and from the network hold; unlimited, if not said.
    pub queues: Option<QueuesModel>,
}

/// The queues between a node and its network, in words: one out and one in for each lane of a protocol (4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueuesModel {
    /// Words of an outgoing queue, 1 to 2^20.
    pub out: u64,
    /// A message is let into it when so many words are free, 1 to `out`: those of the longest message (2.3).
    pub admit: u64,
    /// Words of a receive queue, 1 to 2^20.
    #[serde(rename = "in")]
    pub incoming: u64,
    /// Messages that it knows of at most, 1 to 2^20 (2.6.1).
    pub messages: u64,
    /// Words that a message has there beside those that do not ride in its header (2.5), 0 to 64.
    pub header: u64,
}

impl QueuesModel {
    /// The same as a sender sees them through a network that takes so many cycles. Words on their way are in no receive queue yet, and the sender hears of those that were
    /// read when that has come back: at a word a cycle both ways have as many words as they take cycles.
    pub(crate) fn seen_through(self, latency: u64) -> QueuesModel {
        let on_way = 2 * latency;
        let messages = self.messages + on_way / self.header.max(1);
        QueuesModel { incoming: self.incoming + on_way, messages, ..self }
    }
}

/// A stage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    /// By how much it delays the message. Where words are handed on one by one, what they take delays the last word and not the first.
    #[serde(default)]
    pub latency: Linear,
    /// For how many cycles it uses a unit: opportunities to issue an instruction, of all units together.
    #[serde(default)]
    pub occupancy: Linear,
    /// Of `inject`, if it does not stream: for how long what its thread does next waits for it; `latency`, if it is not said. If it streams, that is until
    /// the last word has gone.
    pub hold: Option<Linear>,
    /// Of `inject` and `extract`: whether words go on one by one. If `inject` does, it takes them while the program makes them.
    #[serde(default)]
    pub streams: bool,
    /// Of `inject`: whether the words of the last message stay where they are, so that only those which differ are put there again.
    #[serde(default)]
    pub keeps: bool,
}

/// Cycles of a message: so many, and so many for each of its words.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Linear {
    /// Of each message.
    #[serde(default = "Ratio::zero")]
    pub fixed: Ratio,
    /// Of each word of its arguments that does not ride in its header.
    #[serde(default = "Ratio::zero")]
    pub word: Ratio,
}

impl Default for Linear {
    fn default() -> Linear {
        Linear { fixed: Ratio::zero(), word: Ratio::zero() }
    }
}

impl Linear {
    /// Cycles of a message of so many words.
    pub fn of(&self, words: u64) -> u64 {
        self.fixed.of(1) + self.word.of(words)
    }
}

impl SlotsModel {
    /// The stages, by the names of their keys.
    pub fn stages(&self) -> [(&'static str, &Stage); 4] {
        [
            ("translate", &self.translate),
            ("inject", &self.inject),
            ("dispatch", &self.dispatch),
            ("extract", &self.extract),
        ]
    }
}
