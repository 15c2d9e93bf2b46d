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
