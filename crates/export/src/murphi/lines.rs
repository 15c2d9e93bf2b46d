//! Text in indented lines.

/// Lines of the model.
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

    /// An empty line.
    pub fn blank(&mut self) {
        self.text.push('\n');
    }

    /// A comment.
    pub fn comment(&mut self, text: &str) {
        self.line(format!("-- {}", text.replace('\n', " ")));
    }

    /// A function whose body is given as lines; `head` is all before the semicolon.
    pub fn routine(&mut self, head: &str, locals: &[String], body: impl FnOnce(&mut Lines)) {
        self.line(format!("{head};"));
        if !locals.is_empty() {
            self.open("var");
            locals.iter().for_each(|local| self.line(format!("{local};")));
            self.depth -= 1;
        }
        self.open("begin");
        body(self);
        self.close("end;");
        self.blank();
    }

    /// Adds lines that were made apart, one step deeper than they are.
    pub fn include(&mut self, other: Lines) {
        other.text.lines().for_each(|line| self.line(line));
    }

    pub fn text(self) -> String {
        self.text
    }
}

/// A name of the protocol as a Murphi identifier; always used behind a prefix.
pub(super) fn identifier(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}
