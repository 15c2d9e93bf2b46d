//! What the comment of a function says of its parameters and its result.

use trivium_protocol::*;

/// What comments call the result of a call.
const RESULT: &str = "the result";

/// What the types cannot say: ranges, and what `none` is.
pub(super) fn comment(protocol: &Protocol, op: &Op) -> String {
    let mut said = Vec::new();
    if op.object_may_be_none {
        let kind = &protocol.objects[op.object.index()];
        let none = match op.object {
            BLOCK => "points to no block".to_string(),
            made if protocol.made_kind(made).is_some() => {
                format!("names no {kind} of this node that is there (-1 never does)")
            }
            _ => "is -1, for none".to_string(),
        };
        said.push(format!("where {kind} {none}, it returns at once"));
    }
    for (what, ty) in op.args.iter().map(|a| (a.name.as_str(), &a.ty)).chain(op.result.iter().map(|r| (RESULT, r))) {
        match ty {
            Type::Int { lo, hi } => said.push(format!("{what} is from {lo} to {hi}")),
            Type::Node { optional: true } => said.push(format!("{what} is a node, or -1 for none")),
            Type::Node { .. } => said.push(format!("{what} is a node")),
            Type::Bool => said.push(format!("{what} is 0 or 1")),
            Type::Address => said.push(format!("{what} points into shared memory")),
            Type::OrNone(of) => said.push(match &**of {
                Type::Int { lo, hi } => format!("{what} is from {lo} to {hi}, or -1 for none"),
                Type::Address => format!("{what} points into shared memory, or is null for none"),
                _ => format!("{what} is 0 or 1, or -1 for none"),
            }),
            Type::List { of, up_to, .. } => {
                let each = elements(protocol, of);
                said.push(format!("{what} points to {what}_length elements, at most {up_to}, {each}"));
            }
            Type::Array { by, of } => {
                let each = elements(protocol, of);
                said.push(format!("{what} points to the elements of {}, {each}", protocol.type_name(by)));
            }
            Type::Object(BLOCK) => said.push(format!("{what} points to a byte of a block")),
            Type::ObjectOrNone(BLOCK) if what == RESULT => {
                said.push(format!("{what} points to a block, or is null for none"));
            }
            Type::ObjectOrNone(BLOCK) => {
                said.push(format!("{what} points to a byte of a block: where none lies there, that is none"));
            }
            Type::Object(kind) => {
                said.push(format!("{what} is the number of {}", one(&protocol.objects[kind.index()])));
            }
            Type::ObjectOrNone(kind) => {
                said.push(format!("{what} is the number of {}, or -1 for none", one(&protocol.objects[kind.index()])));
            }
            _ => {}
        }
    }
    if said.is_empty() { String::new() } else { format!("/* {}. */\n", said.join("; ")) }
}

/// What stands in C for an element of a list or an array.
pub(super) fn elements(protocol: &Protocol, of: &Type) -> String {
    match of {
        Type::Record(record) => {
            let fields = protocol.records[record.index()].fields.iter().map(|field| field.name.as_str());
            format!("each {}", fields.collect::<Vec<_>>().join(", "))
        }
        Type::OrNone(_) => format!("each {}, where none is -1", protocol.type_name(of)),
        other => format!("each {}", protocol.type_name(other)),
    }
}

/// A word with its article.
fn one(word: &str) -> String {
    let article = if word.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {word}")
}
