//! Studies in parts and by tables, times that programs print, and the study of FLASH's locks and barriers.

use crate::harness::{self, trivium};
use serde_json::Value;

/// The run of these tests: a lock that is free, on three nodes.
const PLAN: &str = r#"
about = "a lock"
published = "p.csv"
tolerance = 15
by_table = true
[quick]
args = {}
[parts]
one = [["A", "A"], ["C", "C"]]
two = [["B", "B"]]
[[runs]]
name = "free"
program = "programs/locktime.c"
cc = "-DBASELINE_EXCLUSIVE"
protocols = ["flash-relaxed"]
machines = ["flash-craylink"]
nodes = 3
blocks = [128]
args = "-m 2"
part = "one"
[[derived]]
id = "D"
config = "c"
quantity = "q"
unit = "x"
value = 1
part = "one"
"#;

const ACQUIRE: &str = "{ printed_time = { run = \"free\", after = \"acquire: \" } }";

/// A study of these rows, or of a part of them.
fn study(rows: &str, part: &[&str]) -> harness::Run {
    let folder = crate::harness::folder();
    let published = "id,source,experiment,config,quantity,unit,value,note\n\
                     A,,first,c,q,us,1.45,\nB,,second,c,q,us,1.45,\nC,,first,c,q,us,3,\n";
    std::fs::write(folder.path().join("study.toml"), format!("{PLAN}{rows}")).unwrap();
    std::fs::write(folder.path().join("p.csv"), published).unwrap();
    let (name, work) = (folder.path().display().to_string(), folder.path().join("work").display().to_string());
    trivium(&[&["study", &name, "--work", &work, "--format", "json"], part].concat())
}

fn row_of(id: &str, ours: &str) -> String {
    format!("[[rows]]\nids = [\"{id}\"]\nours = {ours}\n")
}

fn row<'a>(result: &'a Value, id: &str) -> &'a Value {
    result["rows"].as_array().unwrap().iter().find(|row| row["id"] == id).unwrap_or(&Value::Null)
}

/// A program prints how often a lock that was free, and one that was not, took how long; each time that a node has had it is in one of the bars.
#[test]
fn times_of_a_lock_are_drawn_as_bars() {
    let runs = |after: &str| {
        format!(
            "[[runs]]\nname = \"bars\"\nprogram = \"programs/locktime.c\"\ncc = \"-DBARS=400 -DMCS\"\nprotocols = [\"flash-relaxed\"]\nmachines = [\"flash-craylink\"]\nnodes = 3\nblocks = [128]\nargs = \"-m 5 -n 50\"\n\
             [[pictures]]\nfile = \"bars.svg\"\ntitle = \"t\"\nkind = \"histogram\"\nunit = \"\"\nbars = [[\"MCS\", \"bars\"]]\nafter = [\"non-contended:\", \"{after}:\"]\nedges = {:?}\n",
            (1..=20).map(|edge| edge.to_string()).collect::<Vec<_>>()
        )
    };
    let rows = row_of("D", ACQUIRE) + &runs("contended");
    assert_eq!(study(&rows, &[]).json(0)["pictures"], serde_json::json!(["bars.svg"]));
    let wrong = study(&(row_of("D", ACQUIRE) + &runs("held")), &[]);
    assert!(wrong.err.contains("run `bars` printed no line of 20 numbers that begins with `held:`"), "{}", wrong.err);
    let lock = "--cc=-DBARS=400 -DMCS";
    let how =
        ["sim", "programs/locktime.c", "-p", "flash-relaxed", "-m", "flash-craylink", "-n", "3", "--block", "128"];
    let run = trivium(&[&how[..], &[lock, "--", "-m", "5", "-n", "50"]].concat());
    let counts = |what: &str| {
        let line = run.out.lines().find_map(|line| line.strip_prefix(what)).unwrap_or_else(|| panic!("{}", run.out));
        line.split_whitespace().map(|count| count.parse::<u64>().unwrap()).collect::<Vec<_>>()
    };
    let (free, held) = (counts("non-contended:"), counts("contended:"));
    assert!(free.len() == 20 && held.len() == 20 && free.iter().chain(&held).sum::<u64>() == 50, "{free:?} {held:?}");
}

#[test]
fn a_part_has_its_rows_and_runs_alone() {
    let twice = format!("{{ sum = [{ACQUIRE}, {ACQUIRE}] }}");
    let quotient = format!("{{ over = [{twice}, {ACQUIRE}] }}");
    let rows = ["A", "B"].map(|id| row_of(id, ACQUIRE)).concat() + &row_of("C", &twice) + &row_of("D", &quotient);
    let all = study(&rows, &[]).json(0);
    let ids = |result: &Value| -> Vec<String> {
        result["rows"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_string()).collect()
    };
    assert_eq!(ids(&all), ["A", "B", "C", "D"]);
    let one = study(&rows, &["--part", "one"]).json(0);
    assert!(ids(&one) == ["A", "C", "D"] && one["settings"]["part"] == "one", "{one}");
    // A sum says no more than arithmetic, and neither does a quotient of one.
    for (id, class) in [("A", "simulated"), ("C", "arithmetic")] {
        assert!(row(&one, id)["class"] == class && row(&one, id)["status"] == "ok", "{one}");
        assert_eq!(row(&one, id), row(&all, id));
    }
    assert!(row(&one, "D")["ours"] == 2.0 && row(&one, "D")["class"] == "arithmetic", "{one}");
    assert!(one["tables"]["first"]["rows"] == 2 && one["tables"]["second"] == Value::Null, "{one}");
    assert_eq!(one["tables"]["first"]["counts"]["ok"], 2, "{one}");
    // The other part's row has no run of its own.
    let two = study(&rows, &["--part", "two"]).json(0);
    assert!(ids(&two) == ["B"] && row(&two, "B")["status"] == "missing", "{two}");
}

#[test]
fn parts_and_quotients_that_mean_nothing_are_refused() {
    study("", &["--part", "three"]).refuses(2, &["the study has no part `three`", "one, two"]);
    trivium(&["study", "swcc", "--part", "one"]).refuses(2, &["the study has no part `one`", "leave out --part"]);
    let refused = |ours: &str, says: &str| study(&row_of("A", ours), &[]).refuses(2, &[says, "study.toml"]);
    refused(&format!("{{ over = [{ACQUIRE}] }}"), "`over` is of two figures");
    refused(&format!("{{ over = [{ACQUIRE}, {{ nodes = \"free\" }}] }}"), "`over` is of times");
}

/// How many messages of each kind of a protocol a round of a program sends, beyond those of its first.
fn messages(program: &str, flags: &str, protocol: &str, args: &[&str], kinds: [&str; 2]) -> [u64; 2] {
    let sent = |rounds: &str| {
        let run = ["sim", program, "--cc", flags, "-p", "flash-relaxed", "-p", protocol, "-m", "flash-craylink"];
        let result =
            trivium(&[&run[..], &["--block", "128", "--format", "json"], args, &["-r", rounds]].concat()).json(0);
        let of = |kind: &str| result["messages"][format!("{protocol}.{kind}")].as_u64().unwrap_or(0);
        // None is of another kind: nothing is refused.
        let all =
            result["messages"].as_object().unwrap().keys().filter(|name| name.starts_with(&format!("{protocol}.")));
        assert!(all.clone().count() <= kinds.len(), "{:?}", all.collect::<Vec<_>>());
        kinds.map(of)
    };
    let (one, two) = (sent("1"), sent("2"));
    [two[0] - one[0], two[1] - one[1]]
}

/// An acquisition is two messages, or three where neither has the lock at home, and a hand-off one; a barrier is 2 (P - 1).
#[test]
fn flash_sends_no_message_too_many() {
    let lock = "-DFLASH=flash_lock -DFLASH_HEADER=\\\"trivium/flash-lock.h\\\"";
    let of_lock = |nodes: &str, mode: &str| {
        messages("locktime", lock, "flash-lock", &["-n", nodes, "--", "-m", mode], ["LockReq", "Grant"])
    };
    // Two acquisitions a round; the third way goes through the home to the holder.
    assert_eq!(["0", "1", "2", "3"].map(|mode| of_lock("3", mode)), [[2, 2], [2, 2], [4, 2], [0, 0]]);
    // All eight have it once a round, and ask before; the first who asks finds the home at the end of the queue, and so does the home.
    assert_eq!(of_lock("8", "4"), [14, 8]);
    for radix in ["1", "2", "5"] {
        let flags = format!("-DFLASH -DJOIN={radix} -DRELEASE={radix}");
        let args = ["-n", "13", "--", "-m", "1", "-q", "2000"];
        assert_eq!(messages("barriertime", &flags, "flash-barrier", &args, ["BarJoin", "BarRelease"]), [12, 12]);
    }
}

/// FLASH's locks and barriers, and those by shared memory: what agrees, what is off and stays so, and what is missing (docs/studies.md).
#[test]
#[ignore = "two minutes: some 600 runs"]
fn locks_and_barriers_are_as_published() {
    let work = crate::harness::folder();
    let work = work.path().display().to_string();
    let result = trivium(&["study", "flash-sync", "--part", "micro", "--format", "json", "--work", &work]).json(0);
    let rows = result["rows"].as_array().unwrap();
    let published = rows.iter().filter(|row| row["id"].as_str().unwrap().starts_with("sync-")).count();
    assert_eq!(published, 423);
    let statuses = |table: &str, wanted: &str| -> Vec<String> {
        let of = rows.iter().filter(|row| row["status"] == wanted);
        of.filter_map(|row| row["id"].as_str()?.strip_prefix(table).map(str::to_string)).collect()
    };
    assert_eq!(
        statuses("sync-t6.2-", "ok"),
        ["001", "002", "003", "005", "006", "007", "009", "010", "011", "013", "014", "015"]
    );
    // The hand-off of FLASH's lock is flat; what is too long of it is the second look at the line.
    for number in 30..36 {
        let id = format!("sync-t6.3-{number:03}");
        assert_eq!(row(&result, &id)["status"], "explained", "{}", row(&result, &id));
    }
    // Simultaneous arrivals at FLASH's barrier: all but those of 3-, 4- and 5-ary trees of four nodes.
    let simultaneous = statuses("sync-t6.6-", "ok").into_iter().filter(|id| id.as_str() > "036").count();
    assert_eq!(simultaneous, 27);
    for id in ["R6.3-flat", "R6.8-naive", "R6.20-flash", "R-messages-4", "R-messages-32", "order-6.6-64-chain"] {
        assert_eq!(row(&result, id)["status"], "ok", "{}", row(&result, id));
    }
    // A root that comes last is out too early.
    assert!(statuses("sync-t6.5-", "off").iter().filter(|id| id.as_str() > "036").count() == 30);
    // MCS's hand-off makes a step from two nodes to four, and is flat from there on.
    let mcs: Vec<String> = (16..22).map(|number| format!("sync-t6.3-{number:03}")).collect();
    for id in mcs.iter().map(String::as_str).chain(["R6.3-step", "sync-text-008", "R6.20-mcs"]) {
        assert_eq!(row(&result, id)["status"], "ok", "{}", row(&result, id));
    }
    assert_eq!(statuses("sync-t6.8-", "ok"), ["001", "002", "004", "006", "007", "009", "010", "016"]);
    // Linked loads at the cliff: as the protocol is, there is none.
    for id in ["sync-t6.5-004", "R6.5-cliff", "sync-t6.8-005"] {
        assert_eq!(row(&result, id)["status"], "off", "{}", row(&result, id));
    }
    // A master who goes on alone costs what is published, whatever the barrier itself takes.
    assert_eq!(row(&result, "sync-text-033")["status"], "ok");
}
