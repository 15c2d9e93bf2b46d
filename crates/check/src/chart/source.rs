//! Where in the protocol's text an event is answered.

use crate::system::model::Model;
use serde::Serialize;
use trivium_engine::number::fit;
use trivium_engine::{Fault, Outcome};
use trivium_protocol::source::Span;
use trivium_protocol::{Protocol, Response};

/// Lines of a protocol's file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Source {
    /// The file's name as it was given.
    pub file: String,
    /// First line, from 1.
    pub first: u32,
    /// Last line.
    pub last: u32,
    /// The first line's text, without what stands before it.
    pub text: String,
}

/// A file of a protocol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceText {
    /// Its name as it was given.
    pub file: String,
    /// Its text.
    pub text: String,
}

/// The files that a protocol was read from.
pub(super) fn texts(protocol: &Protocol) -> Vec<SourceText> {
    protocol.sources.files().map(|(file, text)| SourceText { file: file.to_string(), text: text.to_string() }).collect()
}

/// The lines of a span; none in a protocol that was not read from text.
pub(super) fn lines(protocol: &Protocol, span: Span) -> Option<Source> {
    if usize::from(span.file) >= protocol.sources.files().count() || span.start == span.end {
        return None;
    }
    let place = protocol.sources.place(span);
    let more = protocol.sources.excerpt(span).trim_end().matches('\n').count();
    let text = protocol.sources.line(span).trim().to_string();
    Some(Source {
        file: place.file,
        first: place.line,
        last: place.line + fit::<_, u32>(more, "the number of a line"),
        text,
    })
}

/// Where it is said what an event does: its handler, or the state that defers or holds it.
pub(super) fn of_outcome(model: &Model, outcome: &Outcome) -> Option<Source> {
    let role = &model.protocol().roles[outcome.role.index()];
    let span = match outcome.handler {
        Some(handler) => role.handlers[handler.index()].span,
        None => role.states[outcome.before.index()].span,
    };
    lines(model.protocol(), span)
}

/// Where a fault happened; a handler says more than the state that it stands in.
pub(super) fn of_fault(model: &Model, fault: &Fault) -> Option<Source> {
    lines(model.protocol(), fault.span).or_else(|| {
        let role = &model.protocol().roles[fault.role?.index()];
        let kind = fault.event.as_ref()?.kind;
        let span = match (&role.table[fault.state?.index()][role.column(kind)?], fault.state) {
            (Response::Handle(handlers), _) => role.handlers[handlers.first()?.index()].span,
            (_, Some(state)) => role.states[state.index()].span,
            (_, None) => role.span,
        };
        lines(model.protocol(), span)
    })
}
