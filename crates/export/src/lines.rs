//! Text in indented lines: all that the languages share.

/// Lines of a text.
#[derive(Default)]
pub(crate) struct Lines {
    text: String,
    depth: usize,
}

impl Lines {
    /// A line.
    pub fn line(&mut self, text: impl AsRef<str>) {
        for _ in 0..self.depth {
            self.text += "  ";
        }
        self.text += text.as_ref();
        self.text.push('\n');
    }

    /// A line after which lines are indented.
    pub fn open(&mut self, text: impl AsRef<str>) {
        self.line(text);
        self.depth += 1;
    }

    /// A line between two indented parts: `else`, `begin`.
    pub fn middle(&mut self, text: impl AsRef<str>) {
        self.depth -= 1;
        self.open(text);
    }

    /// The line that ends an indented part.
    pub fn close(&mut self, text: impl AsRef<str>) {
        self.depth -= 1;
        self.line(text);
    }

    /// The end of an indented part that has no line of its own.
    pub fn end(&mut self) {
        self.depth -= 1;
    }

    /// An empty line.
    pub fn blank(&mut self) {
        self.text.push('\n');
    }

    pub fn text(self) -> String {
        self.text
    }
}
