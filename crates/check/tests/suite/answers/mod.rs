//! What a search says.

use trivium_check::{Report, Verdict, text};

/// All that must not depend on how it was found, or where states are kept. What happens beside a violation is looked at batch
/// by batch.
pub fn answer(report: &Report) -> String {
    let mut report = report.clone();
    if report.verdict != Verdict::Holds {
        report.coverage = Default::default();
        (report.clauses, report.branches) = Default::default();
    }
    (report.seconds, report.method, report.checkpoint) = (0.0, None, None);
    (report.bytes_per_state, report.packed_bytes, report.disk_bytes_per_state) = (0.0, 0.0, None);
    format!("{}{}", text(&report), serde_json::to_string(&report).unwrap())
}

/// What does not depend on what a search leaves out: where nothing repeats itself, a counterexample is as short as any.
pub fn found(report: &Report) -> (Verdict, Option<String>, Option<usize>) {
    let repeats = ["starvation", "livelock"].map(Some).contains(&report.property.as_deref());
    (report.verdict, report.property.clone(), (!repeats).then_some(report.counterexample.len()))
}
