//! Names and types as C has them.

use std::fmt::Write;
use trivium_protocol::*;

pub(super) fn c_type(ty: &Type) -> &'static str {
    match ty {
        Type::OrNone(of) => c_type(of),
        Type::Bool => "int",
        Type::Address | Type::Object(BLOCK) | Type::ObjectOrNone(BLOCK) => "void *",
        Type::Node { .. } | Type::Object(_) | Type::ObjectOrNone(_) => "int32_t",
        _ => "int64_t",
    }
}

/// `int32_t l`, `void *base`.
pub(super) fn declaration(ty: &str, name: &str) -> String {
    if ty.ends_with('*') { format!("{ty}{name}") } else { format!("{ty} {name}") }
}

pub(super) fn to_word(ty: &str, name: &str) -> String {
    if ty == "void *" { format!("(int64_t)(uintptr_t){name}") } else { name.to_string() }
}

pub(super) fn or_void(list: &[String]) -> String {
    if list.is_empty() { "void".into() } else { list.join(", ") }
}

/// A protocol's name as a part of a C name: dashes become underscores, other letters than ASCII their number.
pub(super) fn identifier(name: &str) -> String {
    let mut made = String::new();
    for c in name.chars() {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => made.push(c),
            '-' => made.push('_'),
            other => {
                let _ = write!(made, "u{:x}", other as u32);
            }
        }
    }
    made
}

/// A parameter's name in C, which has words of its own.
pub(super) fn unreserved(name: &str) -> String {
    const WORDS: [&str; 37] = [
        "asm", "auto", "bool", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum",
        "extern", "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return", "short",
        "signed", "sizeof", "static", "struct", "switch", "typedef", "typeof", "union", "unsigned", "void", "volatile",
        "while",
    ];
    let name = identifier(name);
    if WORDS.contains(&name.as_str()) { format!("{name}_") } else { name }
}
