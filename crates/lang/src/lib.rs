//! The protocol language: text to checked, compiled protocol
