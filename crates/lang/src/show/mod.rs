//! A compiled protocol as people want to see it: tables, diagrams, and all of it as data.
//!
//! Tables and diagrams are made of the same summary of each handler (what it sends, what else it does, where it
//! goes), which is read off the compiled steps, so that they cannot say something else than what runs.

mod diagram;
mod dot;
mod json;
mod markdown;
mod suggest;
mod summary;
mod svg;
mod text;

pub use dot::dot;
pub use json::json;
pub use markdown::markdown;
pub use suggest::suggest;
pub use svg::svg;
pub use text::{table, table_of_width};
