//! The study of the M-Machine's message interface: what is fitted comes out, what is composed is within its tolerance, the model's figures are exact.

use crate::harness::trivium;
use serde_json::Value;

#[test]
fn interfaces_are_composed_and_the_model_is_exact() {
    let work = crate::harness::folder();
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

/// A row of the table of past and present machines: system, what, round trip, cycles.
fn machines() -> Vec<[String; 4]> {
    let page = std::fs::read_to_string(crate::harness::root().join("docs/studies.md")).unwrap();
    let (_, table) = page.split_once("| system | what | round trip | cycles |\n").unwrap();
    let lines = table.lines().skip(1).map_while(|line| line.trim().strip_prefix("| "));
    let cells = |line: &str| line.trim_end_matches('|').split('|').map(|cell| cell.trim().to_string()).collect();
    lines.map(cells).map(|row: Vec<String>| row.try_into().unwrap()).collect()
}

/// The page has each published round trip, in cycles of the system's clock, too; and what our machines take, as they take it.
#[test]
fn the_table_of_past_and_present_machines_is_true() {
    let csv = std::fs::read_to_string(crate::harness::root().join("studies/mmachine/mmachine.csv")).unwrap();
    let rows = csv.lines().filter(|line| line.starts_with("MM-T21-")).map(|line| line.split(',').collect::<Vec<_>>());
    let (clocks, figures): (Vec<_>, Vec<_>) = rows.partition(|row| row[4] == "processor clock");
    let clock = |system: &str| {
        let of = clocks.iter().find(|row| system.starts_with(row[3])).unwrap_or_else(|| panic!("{system}"));
        of[6].parse::<f64>().unwrap()
    };
    let times = figures.iter().filter(|row| ["us", "ns", "cycles"].contains(&row[5]) && row[3] != "*T");
    let written = |cycles: f64| {
        let digits = format!("{cycles:.0}");
        let at = digits.len().checked_sub(3).filter(|at| *at > 0);
        at.map_or(digits.clone(), |at| format!("{},{}", &digits[..at], &digits[at..]))
    };
    let shown = machines();
    let mut count = 0;
    for row in times {
        let value: f64 = row[6].parse().unwrap();
        let cycles = match row[5] {
            "us" => value * clock(row[3]),
            "ns" => value * clock(row[3]) / 1000.0,
            _ => value,
        };
        let line = [row[3].to_string(), row[4].to_string(), format!("{} {}", row[6], row[5]), written(cycles)];
        let same = |shown: &&[String; 4]| {
            let what = shown[1].trim_end_matches(" (about)");
            [&shown[0], what, &shown[2], &shown[3]] == [&line[0], &line[1], &line[2], &line[3]]
        };
        assert!(shown.iter().any(|shown| same(&shown)), "{line:?}");
        count += 1;
    }
    assert_eq!(count, 23);
    for machine in ["m-machine", "typhoon", "flash", "now"] {
        let run = trivium(&["sim", "mm-ping", "-p", "mm", "-m", machine, "-n", "2", "--", "-n", "10"]);
        let cycles = run.out.split_once("latency ").unwrap().1.split(' ').next().unwrap().parse::<f64>().unwrap();
        let about = trivium(&["machine", machine, "--format", "json"]).json(0);
        let mhz = about["values"]["processor"]["mhz"].as_f64().unwrap();
        let line = shown.iter().find(|row| row[0] == format!("ours: `{machine}`")).unwrap();
        assert_eq!(line[3], written(cycles), "{machine}");
        let us: f64 = line[2].trim_end_matches(" us").parse().unwrap();
        assert!((us / (cycles / mhz) - 1.0).abs() < 0.005, "{machine}: {us} us, {cycles} cycles");
    }
}
