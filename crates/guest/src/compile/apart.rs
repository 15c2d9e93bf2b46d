//! Keeps static variables apart: each begins a block of its own.
//!
//! The compiler gives each variable a segment of its own (`-fdata-sections`), and says in the object's section `linking` to which power of
//! two it is aligned. The linker does as it is told there, so that a larger number puts what follows into the next block. Constants stay
//! where they are: nobody stores to them. Variables of the C library are aligned as they were, and may follow the last of an object: so another
//! object stands between, whose variables are aligned like all ([`BETWEEN`]). (The linker puts what an object needs of a library before it.)

use wasmparser::{BinaryReader, BinaryReaderError, Parser, Payload};

/// Asks for a segment for each variable.
pub(super) const FLAG: &str = "-fdata-sections";

/// What stands after each object: a variable with a value and one without, which nobody uses.
pub(super) const BETWEEN: &str = "__attribute__((used)) static char full[1] = {1}, empty[1];\n";

/// The part of the section `linking` that is about segments (WASM_SEGMENT_INFO).
const SEGMENTS: u8 = 5;
/// Segments of variables: their names go on after it.
const OF_VARIABLES: [&str; 3] = [".data.", ".bss.", ".tdata."];

/// Aligns each variable of an object to `bytes`, a power of two, if it is not aligned to more.
///
/// # Errors
/// This is no object.
pub(super) fn keep_apart(object: &mut [u8], bytes: u32) -> Result<(), BinaryReaderError> {
    let power = u8::try_from(bytes.trailing_zeros()).expect("a 32 bit number has so many");
    for at in alignments(object)? {
        // A power of two below 128 is one byte.
        if object[at] < power {
            object[at] = power;
        }
    }
    Ok(())
}

/// Where the object says how its variables are aligned.
fn alignments(object: &[u8]) -> Result<Vec<usize>, BinaryReaderError> {
    let mut found = Vec::new();
    for payload in Parser::new(0).parse_all(object) {
        let Payload::CustomSection(section) = payload? else { continue };
        if section.name() != "linking" {
            continue;
        }
        let mut reader = BinaryReader::new(section.data(), section.data_offset());
        let _version = reader.read_var_u32()?;
        while !reader.eof() {
            let kind = reader.read_u8()?;
            let length = reader.read_var_u32()?;
            let begin = reader.original_position();
            let part = reader.read_bytes(length as usize)?;
            if kind == SEGMENTS {
                segments(BinaryReader::new(part, begin), &mut found)?;
            }
        }
    }
    Ok(found)
}

fn segments(mut reader: BinaryReader, found: &mut Vec<usize>) -> Result<(), BinaryReaderError> {
    for _ in 0..reader.read_var_u32()? {
        let name = reader.read_string()?;
        let at = reader.original_position();
        let _alignment = reader.read_var_u32()?;
        let _flags = reader.read_var_u32()?;
        if OF_VARIABLES.iter().any(|begin| name.starts_with(begin)) {
            found.push(at);
        }
    }
    Ok(())
}
