//! What is kept of one simulator is not taken for another's: the fingerprint of its sources.

#[path = "../../sources.rs"]
mod sources;

use sources::fingerprint;

#[test]
fn any_change_of_a_source_is_another_simulator() {
    let make = |files: &[(&str, &str)]| {
        let root = crate::harness::folder();
        for (name, text) in files {
            let file = root.path().join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        fingerprint(root.path(), &["sim/src", "Cargo.lock"]).unwrap()
    };
    let first = make(&[("sim/src/a.rs", "1"), ("sim/src/deep/b.rs", "2"), ("Cargo.lock", "3")]);
    let same = make(&[("Cargo.lock", "3"), ("sim/src/deep/b.rs", "2"), ("sim/src/a.rs", "1"), ("docs/page.md", "4")]);
    assert_eq!(first, same, "elsewhere, and with another file that is no source");
    for other in [
        [("sim/src/a.rs", "1 "), ("sim/src/deep/b.rs", "2"), ("Cargo.lock", "3")],
        [("sim/src/a.rs", "1"), ("sim/src/deep/b.rs", "3"), ("Cargo.lock", "3")],
        [("sim/src/a.rs", "1"), ("sim/src/deep/c.rs", "2"), ("Cargo.lock", "3")],
        [("sim/src/a.rs", "1"), ("sim/src/deep/b.rs", "2"), ("Cargo.lock", "4")],
    ] {
        assert_ne!(first, make(&other), "{other:?}");
    }
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let parts = [
        "crates/protocol/src",
        "crates/lang/src",
        "crates/engine/src",
        "crates/guest/src",
        "crates/node/src",
        "crates/sim/src",
        "Cargo.lock",
    ];
    let now = fingerprint(std::path::Path::new(root), &parts).unwrap();
    assert_eq!(format!("{now:016x}"), env!("TRIVIUM_SIMULATOR"), "the program is built again when they change");
    let parts = ["crates/protocol/src", "crates/lang/src", "crates/engine/src", "crates/check/src", "Cargo.lock"];
    let now = fingerprint(std::path::Path::new(root), &parts).unwrap();
    assert_eq!(format!("{now:016x}"), env!("TRIVIUM_CHECKER"), "the program is built again when they change");
}
