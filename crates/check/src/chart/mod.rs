//! A counterexample told so that people see it: as a message sequence chart in text, as a picture, as a page to step
//! through, and as a recording that can be executed again.
//!
//! [`story`] executes a trace once more and writes down everything that a chart shows; the forms only draw.
//! They never look at the protocol again, so that all of them tell the same.
mod growth;
mod html;
mod labels;
mod recording;
mod source;
mod story;
mod svg;
mod telling;
mod text;
mod words;

pub use crate::system::action::Delivery;
pub use crate::system::told::Told;
pub use growth::{Growth, Point};
pub use html::html;
pub use recording::{Event, Mismatch, Recording, ToldIn};
pub use source::{Source, SourceText};
pub use story::{Arrow, Frame, Moment, NodeView, RoleView, Spoken, Story};
pub use svg::svg;
pub use telling::{replay, story};
pub use text::{WIDTH, text};
