//! The protocols that are shipped, and those that a test writes.

use std::path::Path;
use std::sync::Arc;
use trivium_protocol::Protocol;

/// One of them, with its parameters as small as it says for exploration.
pub fn protocol(file: &str) -> Arc<Protocol> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols").join(file);
    let with = |params: &[_]| trivium_lang::compile_file(&path, params).unwrap_or_else(|e| panic!("{e}"));
    Arc::new(with(&with(&[]).sizes_to_check()))
}

/// One that a test has written.
pub fn written(text: &str) -> Arc<Protocol> {
    let compiled = trivium_lang::compile("test.tri", text, &Default::default());
    Arc::new(compiled.unwrap_or_else(|error| panic!("{error}\n{text}")))
}
