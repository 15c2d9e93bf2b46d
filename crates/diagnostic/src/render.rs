//! A diagnostic as people read it. Lines of files are drawn by `annotate-snippets`.

use crate::{Diagnostic, Diagnostics, Place, Quoted, printable};
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use std::fmt;

/// `error: what`, ` --> place` and the line there, notes, help; no line feed at the end.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = printable(&self.message);
        let mut places = self.places.iter();
        // A title is drawn with the first line; the library would cut none, and set off further lines of a title.
        match places.next() {
            Some(Place { quoted: Some(quoted), .. }) if !message.contains('\n') => {
                drawn(f, &message, &self.places[0], quoted)?;
            }
            place => {
                write!(f, "error: {message}")?;
                place.map_or(Ok(()), |place| pointed(f, place))?;
            }
        }
        places.try_for_each(|place| pointed(f, place))?;
        self.notes.iter().try_for_each(|note| write!(f, "\nnote: {}", printable(note)))?;
        self.help.iter().try_for_each(|help| write!(f, "\nhelp: {}", printable(help)))
    }
}

/// One after the other, with an empty line between them.
impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, diagnostic) in self.list.iter().enumerate() {
            write!(f, "{}{diagnostic}", if i > 0 { "\n\n" } else { "" })?;
        }
        Ok(())
    }
}

fn pointed(f: &mut fmt::Formatter<'_>, place: &Place) -> fmt::Result {
    write!(f, "\n --> {}", printable(&place.to_string()))
}

fn drawn(f: &mut fmt::Formatter<'_>, message: &str, place: &Place, quoted: &Quoted) -> fmt::Result {
    let text = printable(&quoted.text);
    let byte = |characters: u32| text.char_indices().nth(characters as usize).map_or(text.len(), |(at, _)| at);
    let first = place.column.map_or(0, |column| column.saturating_sub(1));
    let meant = byte(first)..byte(first.saturating_add(quoted.length));
    let path = printable(&place.file);
    let snippet = Snippet::source(&*text)
        .path(&*path)
        .line_start(place.line.unwrap_or(1) as usize)
        .annotation(AnnotationKind::Primary.span(meant));
    let report = &[Level::ERROR.primary_title(message).element(snippet)];
    f.write_str(&Renderer::plain().render(report))
}
