//! What the first of several ranks reads, for all.

use crate::arguments::Check;
use crate::{Failure, failure, library};
use serde_json::{Value, json};
use std::sync::Arc;
use trivium_check::group::{Group, spread};
use trivium_protocol::Protocol;

/// The protocol that is checked: the first rank reads its files and sends them, and no other opens any. `read` is called there only.
///
/// # Errors
/// What is wrong with it, on all ranks; its text only on the first.
pub fn protocol(
    group: &dyn Group,
    read: impl FnOnce() -> Result<Arc<Protocol>, Failure>,
) -> Result<Arc<Protocol>, Failure> {
    if group.rank() == 0 {
        let own = read();
        let letter = match &own {
            Ok(protocol) => texts(protocol),
            Err(failure) => json!({ "failed": failure.code }),
        };
        spread(group, 0, letter.to_string().into_bytes());
        return own;
    }
    let letter = spread(group, 0, Vec::new());
    let letter: Value = serde_json::from_slice(&letter).unwrap_or_default();
    match letter["failed"].as_u64() {
        Some(code) => Err(Failure::silent(u8::try_from(code).unwrap_or(failure::BAD_INPUT))),
        None => compile(&letter).map(Arc::new),
    }
}

/// The files that a protocol was made of, the first one first, and the values of its parameters: for [`compile`] on other ranks.
pub(super) fn texts(protocol: &Protocol) -> Value {
    let files: Vec<(&str, &str)> = protocol.sources.files().collect();
    let params: Vec<(&str, i64)> = protocol.params.iter().map(|param| (param.name.as_str(), param.value)).collect();
    json!({ "files": files, "params": params })
}

/// The protocol that the first rank has read.
///
/// # Errors
/// It is none.
pub(super) fn compile(letter: &Value) -> Result<Protocol, Failure> {
    let files: Vec<(String, String)> = serde_json::from_value(letter["files"].clone()).unwrap_or_default();
    let params: Vec<(String, i64)> = serde_json::from_value(letter["params"].clone()).unwrap_or_default();
    if files.is_empty() {
        return Err(Failure::silent(failure::BAD_INPUT));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let compiled = library::from_texts(&files, params);
    Ok(compiled?)
}

/// The exit code of the first rank, for all: what it has still to do, the others wait for.
///
/// # Errors
/// The same as there; its text only on the first.
pub fn ended(group: &dyn Group, own: Option<Result<u8, Failure>>) -> Result<u8, Failure> {
    let code = match &own {
        Some(Ok(code)) => *code,
        Some(Err(failure)) => failure.code,
        None => 0,
    };
    let told = spread(group, 0, vec![code]);
    own.unwrap_or(Ok(told.first().copied().unwrap_or(failure::BAD_INPUT)))
}

/// How much memory the states of this rank may take if nobody says: its share of half of what its machine has to give.
pub fn share_of_memory(arguments: &Check, group: &dyn Group) -> Option<u64> {
    let neighbours = group.neighbours() as u64;
    arguments.memory.or_else(|| Some(super::check::half_of_memory()? / neighbours))
}

#[cfg(test)]
mod tests {
    use super::*;
    use trivium_check::group::in_process;

    #[test]
    fn all_ranks_have_the_protocol_that_the_first_has_read() {
        let hashes: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = in_process(3)
                .into_iter()
                .map(|member| {
                    scope.spawn(move || {
                        let read = || {
                            assert_eq!(member.rank(), 0, "only the first reads");
                            library::protocol_to_check("broken/pool-uncounted", &library::Settings::default())
                        };
                        library::hash(&protocol(&member, read).unwrap()).1
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(hashes.iter().all(|hash| *hash == hashes[0]));
    }

    #[test]
    fn what_is_wrong_is_said_once_and_known_by_all() {
        let failures: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = in_process(2)
                .into_iter()
                .map(|member| scope.spawn(move || protocol(&member, || library::protocol("nowhere", &[])).unwrap_err()))
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(failures[0].what(), "there is no protocol `nowhere`");
        assert!(failures[1].errors.is_empty() && failures[1].code == failures[0].code);
    }
}
