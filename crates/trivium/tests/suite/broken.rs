//! Each broken protocol is found broken as it stands, without an option: its file says with which sizes.

use crate::harness::{root, trivium};
use crate::slow;

/// Each file of `protocols/broken`, with what is violated.
const FOUND: [(&str, &str); 103] = [
    ("alternating-bit-unordered", "ghost order"),
    ("bank-queue-one-lane", "deadlock"),
    ("call-assembly-mixed", "ghost refused"),
    ("channel-taken", "invariant kept"),
    ("channel-unordered", "fault"),
    ("column-free-early", "fault"),
    ("column-unordered", "fault"),
    ("eager-exclusive-lent-early", "release_consistency(fence)"),
    ("eager-stale-upgrade", "invariant no_store_is_lost"),
    ("early-reply", "single_writer"),
    ("fbcopy-both-ask", "livelock"),
    ("fbcopy-calls-mixed", "last_write"),
    ("fbcopy-change-unseen", "invariant no_address_is_used_meanwhile"),
    ("fbcopy-flag-in-memory", "last_write"),
    ("fbcopy-hint-taken-seriously", "fault"),
    ("fbcopy-last-line-left", "scenario copied_on"),
    ("fbcopy-late-refusal", "deadlock"),
    ("fbcopy-memory-sent", "last_write"),
    ("fbcopy-owner-has-none", "deadlock"),
    ("fbcopy-owner-kept", "last_write"),
    ("fbcopy-pending-destination", "fault"),
    ("fbcopy-pending-source", "fault"),
    ("fbcopy-refused-landing-counted", "last_write"),
    ("fbcopy-sent-before-collected", "scenario next_dirty_there"),
    ("fbcopy-sharers-left", "deadlock"),
    ("fbcopy-sharers-untold", "last_write"),
    ("flash-barrier-early-lost", "deadlock"),
    ("flash-barrier-let-go-twice", "ghost round"),
    ("flash-barrier-line-kept", "deadlock"),
    ("flash-barrier-new-sense", "deadlock"),
    ("flash-barrier-reset-late", "deadlock"),
    ("flash-early-forgotten", "deadlock"),
    ("flash-fenced-at-ownership", "release_consistency(fence)"),
    ("flash-fenced-told-late", "scenario writer_elsewhere"),
    ("flash-listed-twice", "fault"),
    ("flash-lock-hint-of-any-turn", "mutex(acquire, release)"),
    ("flash-lock-leaving-missed", "fault"),
    ("flash-lock-timeout-blind", "fault"),
    ("flash-lock-token-kept", "mutex(acquire, release)"),
    ("flash-lock-unfair", "invariant first_come_first_served"),
    ("flash-lock-unlock-unseen", "fault"),
    ("flash-lock-writeback-lost", "deadlock"),
    ("flash-pending-served", "single_writer"),
    ("flash-pointer-unreserved", "fault"),
    ("flash-portion-forgotten", "single_writer"),
    ("flash-prefetch-dropped", "deadlock"),
    ("flash-relaxed-forgotten-writeback", "livelock"),
    ("flash-shared-lent", "fault"),
    ("flash-upgrade-believed", "fault"),
    ("flash-writeback-forgotten", "single_writer"),
    ("flash-writeback-ignored", "last_write"),
    ("mapped-coming-unmapped", "fault"),
    ("mapped-contents-lost", "deadlock"),
    ("mapped-frame-early", "fault"),
    ("mapped-frame-kept", "fault"),
    ("mm-ack-on-requests", "deadlock"),
    ("mm-few-buffers", "fault"),
    ("mm-newest-first", "starvation"),
    ("mm-out-of-turn", "fault"),
    ("mm-retry-throttled", "deadlock"),
    ("moesi-stale-writeback", "last_write"),
    ("moesi-store-lost", "last_write"),
    ("mshr-entry-lost", "deadlock"),
    ("mshr-one-lane", "deadlock"),
    ("msi-forgotten-ack", "deadlock"),
    ("msi-monitor-lost-wakeup", "deadlock"),
    ("pair-credits-to-itself", "fault"),
    ("peterson-turn-first", "scenario peterson"),
    ("pool-uncounted", "fault"),
    ("posted-writes-overtaken", "fault"),
    ("release-probe-copy-kept", "single_writer"),
    ("release-probe-release-waits", "deadlock"),
    ("remote-records-one-half", "fault"),
    ("remote-records-torn", "fault"),
    ("replies-apart", "deadlock"),
    ("retry-credits-forgotten", "deadlock"),
    ("retry-credits-given-twice", "fault"),
    ("squeezed-lanes", "deadlock"),
    ("stache-counted-forgotten", "invariant noted"),
    ("stache-counted-lent", "invariant noted"),
    ("stache-lost-upgrade", "last_write"),
    ("stache-pages-forgotten", "deadlock"),
    ("stache-prefetch-forgotten", "fault"),
    ("stache-unordered", "fault"),
    ("swcc-get-without-copy", "fault"),
    ("swcc-late-answer", "last_write"),
    ("swcc-lock-dropped-early", "last_write"),
    ("swcc-lock-refuses-invalidate", "livelock"),
    ("swcc-put-without-lock", "last_write"),
    ("swcc-store-leaves-readers", "single_writer"),
    ("token-list-forgotten", "deadlock"),
    ("token-list-kept", "fault"),
    ("token-list-noted-late", "deadlock"),
    ("token-lock-newcomer-first", "fault"),
    ("token-ring-everywhere", "mutex(acquire, release)"),
    ("tree-barrier-late-reset", "barrier(arrive)"),
    ("tso-cc-home-learns-nothing", "tso"),
    ("two-locks", "deadlock"),
    ("uncached-answered-early", "fault"),
    ("uncached-duplicated", "fault"),
    ("uncached-sync-without-waiting", "scenario put_is_done"),
    ("uncached-update-torn", "fault"),
    ("write-update-no-turn", "coherent"),
];

/// Whether a file is tried: those in which engines copy take seconds each.
pub fn is_tried(name: &str) -> bool {
    slow::is_asked_for() || !name.starts_with("fbcopy")
}

#[test]
fn every_broken_protocol_is_found_broken_by_default() {
    let mut files: Vec<String> = std::fs::read_dir(root().join("protocols/broken"))
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    files.sort();
    assert_eq!(files, FOUND.map(|(name, _)| name), "a file of protocols/broken is not listed here");
    // The crate `check` finds each of them in the smallest system in which it is broken (`charts.rs`).
    for (name, property) in slow::one_in(3, FOUND.into_iter().filter(|(name, _)| is_tried(name))) {
        let found = trivium(&["check", &format!("broken/{name}"), "--format", "json"]).json(1);
        assert_eq!((&found["verdict"], &found["property"]), (&"violated".into(), &property.into()), "{name}");
    }
}

/// Each race of `flash-coherence` has a scenario, in which the variant that loses the race is caught.
#[test]
fn each_race_of_flash_coherence_has_a_scenario() {
    let races = [
        ("early-forgotten", "written_back_before_oxfer"),
        ("listed-twice", "hint_before_swb"),
        ("pending-served", "pending"),
        ("pointer-unreserved", "last_pointer"),
        ("portion-forgotten", "more_sharers_than_places"),
        ("shared-lent", "forwarded_too_early"),
        ("upgrade-believed", "late_upgrade"),
        ("writeback-forgotten", "owner_writes_back"),
        ("writeback-ignored", "home_writes_back"),
    ];
    let variants: Vec<&str> = FOUND.iter().filter_map(|(name, _)| name.strip_prefix("flash-")).collect();
    let variants: Vec<&str> = variants
        .into_iter()
        .filter(|name| !["barrier-", "fenced-", "lock-", "prefetch-", "relaxed-"].iter().any(|of| name.starts_with(of)))
        .collect();
    assert_eq!(variants, races.map(|(variant, _)| variant));
    let good = trivium(&["check", "flash-coherence", "--format", "json"]).json(0);
    let held: Vec<&str> = good["scenarios"].as_array().unwrap().iter().map(|s| s["name"].as_str().unwrap()).collect();
    assert_eq!(held.len(), races.len(), "{held:?}");
    for (variant, scenario) in races {
        assert!(held.contains(&scenario), "{scenario}: {held:?}");
        let lost = trivium(&["check", &format!("broken/flash-{variant}"), "--scenario", scenario, "--format", "json"]);
        assert_eq!(lost.json(1)["verdict"], "violated", "{variant}");
    }
}

#[test]
fn a_scenario_that_is_violated_is_told_after_the_general_client() {
    let found = trivium(&["check", "broken/two-locks", "--format", "json"]).json(1);
    assert_eq!(found["scenario"], "crossed");
    assert_eq!(found["scenarios"][0]["property"], "deadlock");
    assert_eq!(found["scenarios"][1]["verdict"], serde_json::Value::Null);
    assert!(!found["counterexample"].as_array().unwrap().is_empty());
    assert_eq!(found["replay"]["settings"]["scenario"], "crossed");
    let told = trivium(&["check", "broken/two-locks"]).out;
    for line in [
        "two-locks: 2 nodes, 2 objects\n",
        "2 objects, scenario crossed",
        "\ngeneral client: holds",
        "\nscenario ordered: not run\n",
    ] {
        assert!(told.contains(line), "`{line}` is missing in:\n{told}");
    }
    let skipped = trivium(&["check", "broken/two-locks", "--no-scenarios"]);
    assert_eq!(skipped.code, Some(0), "{skipped:?}");
    assert!(skipped.out.contains("scenario crossed: not run\n"), "{}", skipped.out);
}

#[test]
fn an_option_overrides_what_the_file_declares() {
    let declared = trivium(&["check", "token-lock", "--format", "json"]).json(0);
    assert_eq!((&declared["sizes"]["nodes"], &declared["nodes"]), (&4.into(), &4.into()));
    let told = trivium(&["check", "token-lock", "--nodes", "2", "--format", "json"]).json(0);
    assert_eq!(told["sizes"]["nodes"], 2);
    let exported = trivium(&["export", "broken/two-locks", "--to", "murphi"]);
    assert_eq!(exported.code, Some(0), "{exported:?}");
    let limited =
        trivium(&["check", "broken/swcc-late-answer", "--max-states", "100", "--no-scenarios", "--format", "json"]);
    assert_eq!(limited.json(3)["sizes"]["ops"], 2);
    let lifted = [
        "check",
        "broken/swcc-late-answer",
        "--ops",
        "none",
        "--max-states",
        "100",
        "--no-scenarios",
        "--format",
        "json",
    ];
    assert_eq!(trivium(&lifted).json(3)["sizes"]["ops"], serde_json::Value::Null);
    let beyond = trivium(&["check", "swcc", "--ops", "65536"]);
    assert_eq!(beyond.code, Some(2), "{beyond:?}");
    assert!(beyond.err.contains("from 1 to 65535, or `none`"), "{beyond:?}");
}
