//! All tests of the language that use it as other crates do, in one program.

mod docs;
mod files;
mod header;
mod limits;
mod listing;
mod mutant;
mod property;
mod show;
