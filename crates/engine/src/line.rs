//! A line of a processor's cache: what happens to it, the same on every backend (`docs/semantics.md`, section 8).

use trivium_protocol::{EventKind, Line};

/// What a processor's cache has of a block, and what its interface to the engine remembers about it. The contents are
/// kept by whoever keeps this.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CacheLine {
    /// What the cache has.
    pub line: Line,
    /// Of a line that leaves: whether it was exclusive, so that its contents go back with it.
    pub written_back: bool,
    /// Whether an intervention has removed the line, or would have, since the processor made its request.
    pub overtaken: bool,
    /// Whether a request is outstanding for which no thread waits: a prefetch.
    pub hinted: bool,
}

impl CacheLine {
    /// As a number below 32; 0 is an absent line of which nothing is remembered.
    pub fn number(self) -> u8 {
        self.line as u8 | u8::from(self.written_back) << 2 | u8::from(self.overtaken) << 3 | u8::from(self.hinted) << 4
    }

    /// Back from [`CacheLine::number`].
    pub fn of(number: u8) -> CacheLine {
        CacheLine {
            line: Line::ALL[usize::from(number & 3)],
            written_back: number & 4 != 0,
            overtaken: number & 8 != 0,
            hinted: number & 16 != 0,
        }
    }

    /// The processor's request is answered with contents. Returns whether they go into the line: not if they are
    /// shared and an intervention has overtaken them, which makes the answer a refusal.
    pub fn fill(&mut self, to: Line) -> bool {
        let stale = self.overtaken && to == Line::Shared;
        self.answered();
        if !stale {
            self.line = to;
        }
        !stale
    }

    /// The request is answered without contents.
    pub fn upgrade(&mut self) {
        *self = CacheLine { line: Line::Exclusive, ..CacheLine::default() };
    }

    /// The request is refused, or has been answered.
    pub fn answered(&mut self) {
        (self.overtaken, self.hinted) = (false, false);
    }

    /// A request for which no thread waits is dispatched.
    pub fn hint(&mut self) {
        self.hinted = true;
    }

    /// The engine takes the contents, and leaves the cache a shared line or (exclusive) none.
    pub fn take(&mut self, as_: Line, requested: bool) {
        if as_ == Line::Exclusive {
            self.line = Line::Absent;
            self.overtaken |= requested;
        } else {
            self.line = Line::Shared;
        }
    }

    /// The cache loses its line; one that leaves has gone already.
    pub fn invalidate(&mut self, requested: bool) {
        if self.line != Line::Leaving {
            self.line = Line::Absent;
        }
        self.overtaken |= requested;
    }

    /// The cache gives its line up, for which no request is outstanding. `heard`: whether the protocol wants to hear
    /// of shared lines that go.
    pub fn evict(&mut self, heard: bool) {
        let exclusive = self.line == Line::Exclusive;
        self.line = if exclusive || heard { Line::Leaving } else { Line::Absent };
        self.written_back = exclusive;
    }

    /// The engine hears of the line that left.
    pub fn left(&mut self) -> EventKind {
        let event = if self.written_back { EventKind::WriteBack } else { EventKind::Evict };
        self.line = Line::Absent;
        self.written_back = false;
        event
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        for number in 0..32 {
            assert_eq!(CacheLine::of(number).number(), number);
        }
        assert_eq!(CacheLine::default().number(), 0);
    }

    #[test]
    fn a_shared_fill_that_was_overtaken_is_a_refusal_and_an_exclusive_one_is_not() {
        for (to, fills) in [(Line::Shared, false), (Line::Exclusive, true)] {
            let mut line = CacheLine::default();
            line.invalidate(true);
            assert_eq!(line.fill(to), fills);
            assert!(!line.overtaken);
        }
        let mut line = CacheLine::default();
        line.invalidate(false);
        assert!(line.fill(Line::Shared));
    }

    #[test]
    fn an_exclusive_line_leaves_with_its_contents_and_a_shared_one_only_if_somebody_listens() {
        let shared = CacheLine { line: Line::Shared, ..CacheLine::default() };
        let exclusive = CacheLine { line: Line::Exclusive, ..CacheLine::default() };
        for (before, heard, after, event) in [
            (shared, true, Line::Leaving, EventKind::Evict),
            (exclusive, true, Line::Leaving, EventKind::WriteBack),
            (exclusive, false, Line::Leaving, EventKind::WriteBack),
        ] {
            let mut line = before;
            line.evict(heard);
            assert_eq!(line.line, after);
            line.invalidate(false);
            assert_eq!(line.line, Line::Leaving, "an intervention does not reach it");
            assert_eq!(line.left(), event);
            assert_eq!(line, CacheLine::default());
        }
        let mut line = shared;
        line.evict(false);
        assert_eq!(line, CacheLine::default());
    }
}
