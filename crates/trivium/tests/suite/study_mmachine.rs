//! The study of the M-Machine's message interface: what is fitted comes out, what is composed is within its tolerance, the model's figures are exact.

use crate::harness::trivium;
use serde_json::Value;

#[test]
fn interfaces_are_composed_and_the_model_is_exact() {
    let work = tempfile::tempdir().unwrap();
    let work = work.path().to_str().unwrap().to_string();
    let result = trivium(&["study", "mmachine", "--format", "json", "--work", &work]).json(0);
    let rows = result["rows"].as_array().unwrap();
    let of_class = |class: &str| rows.iter().filter(|row| row["class"] == class).collect::<Vec<&Value>>();
    let ok = |rows: &[&Value]| rows.iter().filter(|row| row["status"] == "ok").count();
    // PING and RPC of MM and 11 basic models, the occupancy of PING on MM, k_o and v_o; PING and RPC of 12 composed interfaces.
    let (given, composed) = (of_class("given"), of_class("composed"));
    assert_eq!((given.len(), ok(&given)), (27, 27));
    assert_eq!((composed.len(), ok(&composed)), (24, 24));
    for (id, value) in [("MM-E6-1", 91.0), ("MM-E6-4", 224.0), ("MM-E6-16", 700.0), ("MM-E6-64", 2240.0)] {
        let row = rows.iter().find(|row| row["id"] == id).unwrap();
        assert_eq!(row["ours"].as_f64(), Some(value), "{row}");
    }
    // LIFE slows down by a cycle a generation for each cycle of latency, and its pictures have all runs.
    let slope = rows.iter().find(|row| row["id"] == "MM-LOGE-005").unwrap();
    assert_eq!(slope["status"], "ok", "{slope}");
    for picture in ["life-latency.svg", "life-occupancy.svg"] {
        let drawn = std::fs::read_to_string(std::path::Path::new(&work).join(picture)).unwrap();
        assert_eq!(drawn.matches("<circle").count(), 3 * (8 + 9), "{picture}: three runs and the model of each");
    }
    // All rows are judged, or it is said why not.
    let published = std::fs::read_to_string(crate::harness::root().join("studies/mmachine/mmachine.csv")).unwrap();
    let ids = published.lines().skip(1).filter(|line| line.starts_with("MM-")).count();
    assert_eq!((ids, rows.iter().filter(|row| !row["id"].as_str().unwrap().starts_with("MM-E6")).count()), (378, 378));
}
