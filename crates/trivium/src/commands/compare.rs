//! `trivium compare`: one program, several protocols and machines: one table, one picture.

use super::compare_live::{self, Live, LiveRun, Pair, agreement, agreement_as_json, can_be_run};
use super::sim::{Bench, Ran, Room, failed, quiet_miss, verdict, warn};
use crate::arguments::{Compare, Format};
use crate::output::{self, Head, grouped, table};
use crate::page::{Shown, page};
use crate::picture::{Bar, Panel, panels, stacked_bars};
use crate::{Failure, library};
use serde_json::{Value, json};
use trivium_sim::{Counters, PARTS_OF_TIME, SimResult, node_statistic};

/// One column of the picture, one line of the table.
struct Entry {
    protocol: String,
    machine: String,
    result: SimResult,
}

/// The parts of a node's time, in the order of the bars.
fn parts(node: &Counters) -> [u64; PARTS_OF_TIME.len()] {
    PARTS_OF_TIME.map(|name| node_statistic(name).map_or(0, |statistic| (statistic.of)(node)))
}

/// Simulates all combinations, and each machine with one node for the speedup.
pub fn compare(arguments: &Compare) -> Result<u8, Failure> {
    can_be_run(arguments)?;
    let settings = library::settings(&arguments.common.set.set)?;
    let all = library::protocols(&arguments.protocols, &settings)?;
    let mut machines = Vec::new();
    for name in &arguments.machines {
        machines.push(library::machine(name, &settings)?);
    }
    for protocol in &all {
        super::fits::fits(&arguments.run.subject.programs, std::slice::from_ref(protocol))?;
    }
    let block = library::block(arguments.run.block, &machines);
    let (program, inputs) = super::program::of(&arguments.run, &all, block)?;
    let bench = Bench {
        set: settings,
        program,
        inputs,
        block,
        args: arguments.run.args.clone(),
        seed: arguments.common.seed.seed,
        max_cycles: arguments.run.max_cycles,
        stall_limit: arguments.run.stall_limit(),
        max_seconds: None,
        memory: Room::of(arguments.run.memory),
        sources: arguments.run.sources(),
        cc: arguments.run.subject.cc.clone(),
        window: None,
        jobs: arguments.common.jobs.jobs,
        blame: arguments.run.blame || arguments.run.html.is_some(),
    };
    let begun = std::time::Instant::now();
    let mut entries = Vec::new();
    let mut single: Vec<SimResult> = Vec::new();
    for protocol in &all {
        for machine in &machines {
            let loaded = std::slice::from_ref(protocol);
            let run = |nodes| {
                let ran = Ran { command: "compare", protocols: loaded, machine, nodes };
                bench
                    .run(loaded, machine, nodes)
                    .map_err(|wrong| failed(&arguments.common.form, &bench, &ran, Vec::new(), wrong))
            };
            let result = run(arguments.run.nodes)?;
            entries.push(Entry { protocol: protocol.name.clone(), machine: machine.machine.name.clone(), result });
            if single.len() < machines.len() {
                single.push(on_one_node(run(1), arguments)?);
            }
        }
    }
    let base = single.iter().map(|r| r.cycles).min().unwrap_or(0);
    let live = if arguments.live { Some(Live::run(arguments, &bench, &all)?) } else { None };
    let pairs: Vec<Pair> = live.iter().flat_map(|live| pairs(&entries, live)).collect();
    let text = match arguments.common.form.format {
        Format::Text => match &live {
            None => report(arguments, &entries, base),
            Some(live) => report_beside(arguments, &entries, base, live, &pairs),
        },
        Format::Json => {
            let head = Head {
                command: "compare",
                protocols: all.iter().map(|p| p.name.clone()).collect(),
                program: Some(arguments.run.program().display().to_string()),
                args: arguments.run.args.clone(),
                hashes: hashes(&entries),
                nodes: arguments.run.nodes,
                seed: arguments.common.seed.seed,
                host_seconds: begun.elapsed().as_secs_f64(),
                settings: bench.settings(&all).with("live", arguments.live),
                ..Head::default()
            };
            let mut runs: Vec<Value> = entries
                .iter()
                .map(|e| serde_json::to_value(&e.result).expect("a result can be written as JSON"))
                .collect();
            runs.extend(live.iter().flat_map(Live::json));
            let mut value = head.with(json!({
                "sources": bench.sources,
                "cc": bench.cc,
                "one_node_cycles": base,
            }));
            if let Some(live) = &live {
                value["one_node_wall_seconds"] = json!(live.one_node.result.wall_seconds);
                value["agreement"] = agreement_as_json(&pairs);
            }
            value["runs"] = json!(runs);
            output::pretty(&value)
        }
    };
    output::write(arguments.common.form.out.as_ref(), &text)?;
    if let Some(path) = &arguments.svg {
        output::write_file(path, draw(arguments, &entries, live.as_ref())?.as_bytes())?;
    }
    if let Some(path) = &arguments.run.html {
        let pairs = all.iter().flat_map(|protocol| machines.iter().map(move |machine| (protocol, machine)));
        let runs: Vec<Shown> = entries
            .iter()
            .zip(pairs)
            .map(|(entry, (protocol, machine))| Shown {
                result: &entry.result,
                miss: quiet_miss(protocol, machine, bench.block),
            })
            .collect();
        output::write_file(path, page(&runs, Some(base)).as_bytes())?;
    }
    let results: Vec<SimResult> = entries.into_iter().map(|e| e.result).chain(single).collect();
    if let Some(wrong) = results.iter().find(|result| !result.exit_codes.is_empty()) {
        tell(wrong);
    }
    if let Some(result) = results.iter().find(|result| !result.warnings.is_empty()) {
        warn(&result.warnings);
    }
    if let Some(run) = live.iter().flat_map(Live::all).find(|run| !run.result.warnings.is_empty()) {
        warn(&run.result.warnings);
    }
    if let Some(folder) = &arguments.run.dir_rw {
        crate::say!("note: `compare` carries out no changes of a folder: {} is as it was", folder.display());
    }
    match verdict(&results, arguments.run.program())? {
        0 => live.map_or(Ok(0), |live| live.verdict()),
        code => Ok(code),
    }
}

/// Each simulation with the live run under the same protocol.
fn pairs<'a>(entries: &'a [Entry], live: &'a Live) -> Vec<Pair<'a>> {
    // The simulations of each protocol stand together, in the order of protocols.
    let each = entries.len() / live.runs.len().max(1);
    let pair = |(number, entry): (usize, &'a Entry)| {
        live.runs.get(number / each.max(1)).map(|live| Pair { simulated: &entry.result, live })
    };
    entries.iter().enumerate().filter_map(pair).collect()
}

/// What a program has printed whose answer is wrong: the table has no room for it, and it is what tells why.
fn tell(wrong: &SimResult) {
    crate::say_lines!("{}{}", wrong.output, wrong.errors);
}

/// The run that the speedup is over. Nobody asked for it in so many words, so what goes wrong in it says whose it is.
fn on_one_node(ran: Result<SimResult, Failure>, arguments: &Compare) -> Result<SimResult, Failure> {
    let done = ran.and_then(|result| {
        verdict(std::slice::from_ref(&result), arguments.run.program()).inspect_err(|_| tell(&result))?;
        Ok(result)
    });
    done.map_err(|failure| {
        failure.noting(
            "this is the run on one node, which `trivium compare` makes for the speedup; a program that is told the \
             number of nodes can be told it as {nodes}: -- -p {nodes}",
        )
    })
}

/// Those of all results, each once, in order.
fn hashes(entries: &[Entry]) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    for pair in entries.iter().flat_map(|e| &e.result.hashes) {
        if !all.contains(pair) {
            all.push(pair.clone());
        }
    }
    all
}

/// What a run is, in a line.
fn heading(arguments: &Compare, entries: &[Entry]) -> String {
    let run = &arguments.run;
    let program = format!("{} {}", run.program().display(), run.args.join(" "));
    let block = entries.first().map_or(0, |entry| entry.result.block);
    format!("{} on {} nodes, blocks of {} bytes", program.trim_end(), run.nodes, block)
}

fn report(arguments: &Compare, entries: &[Entry], base: u64) -> String {
    let head = [
        "machine", "protocol", "cycles", "speedup", "faults", "messages", "bytes", "compute", "read", "write", "tlb",
        "sync", "handler",
    ];
    let row = |e: &Entry| {
        let sent = [e.result.messages.values().sum(), e.result.bytes];
        let shares = shares(e).map(percent);
        [&cells(e, grouped(e.result.cycles), base, sent)[..], &shares].concat()
    };
    let rows: Vec<Vec<String>> = entries.iter().map(row).collect();
    format!(
        "{}\n\n{}\nspeedup: over the best run on one node ({} cycles); below 1 it is slower than one node. faults: accesses that access control stopped. compute to handler: share of the nodes' time in percent.\n",
        heading(arguments, entries),
        table(&head, &rows),
        grouped(base)
    )
}

/// Simulations and live runs in one table.
fn report_beside(arguments: &Compare, entries: &[Entry], base: u64, live: &Live, pairs: &[Pair]) -> String {
    let head = [
        "machine", "protocol", "time", "speedup", "faults", "messages", "bytes", "compute", "wait", "read", "write",
        "sync", "tlb", "handler",
    ];
    let simulated = |e: &Entry| {
        let whole = &e.result.whole_program;
        let [compute, read, write, tlb, sync, handler] = shares(e);
        let shares = [compute, read + write + sync, read, write, sync, tlb, handler].map(percent);
        let time = format!("{} cycles", grouped(e.result.cycles));
        [&cells(e, time, base, [whole.messages.values().sum(), whole.bytes])[..], &shares].concat()
    };
    let real = |run: &LiveRun| {
        let r = &run.result;
        let [compute, wait, handler] = run.parts().map(|part| percent(part / r.wall_seconds.max(1e-9)));
        let none = String::from("-");
        vec![
            "live".to_string(),
            run.protocol.clone(),
            format!("{:.6} s", r.wall_seconds),
            format!("{:.4}", live.speedup(run)),
            grouped(r.misses.read + r.misses.write + r.misses.upgrade),
            grouped(r.messages.values().sum()),
            grouped(r.bytes),
            compute,
            wait,
            none.clone(),
            none.clone(),
            none.clone(),
            none,
            handler,
        ]
    };
    let rows: Vec<Vec<String>> = entries.iter().map(simulated).chain(live.runs.iter().map(real)).collect();
    format!(
        "{}\n\n{}\nlive: nodes are threads of the host {}, which has {} processors; one run each.\ntime: of machines in their cycles, of live runs in seconds of the host. Between the two, only speedups and shares can be compared.\nspeedup: over the best simulated run on one node ({} cycles), or over the live run on one node ({:.6} s).\nfaults: accesses that access control stopped. messages, bytes: of the whole program. compute to handler: share of the nodes' time in percent; wait: read, write and sync, which a live run does not tell apart; what the host's TLB takes is in its compute.\n\n{}",
        heading(arguments, entries),
        table(&head, &rows),
        live.host,
        live.processors,
        grouped(base),
        live.one_node.result.wall_seconds,
        agreement(pairs),
    )
}

fn percent(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

/// The shares of the nodes' time that the parts of it take.
fn shares(entry: &Entry) -> [f64; PARTS_OF_TIME.len()] {
    let nodes = &entry.result.per_node;
    let time: u64 = nodes.iter().map(|n| n.cycles).sum();
    std::array::from_fn(|i| nodes.iter().map(|n| parts(n)[i]).sum::<u64>() as f64 / time.max(1) as f64)
}

/// What stands in the table before the shares.
fn cells(entry: &Entry, time: String, base: u64, [messages, bytes]: [u64; 2]) -> Vec<String> {
    let r = &entry.result;
    let speedup = base as f64 / r.cycles.max(1) as f64;
    let misses = r.misses.read + r.misses.write + r.misses.upgrade;
    let (machine, protocol) = (entry.machine.clone(), entry.protocol.clone());
    vec![machine, protocol, time, format!("{speedup:.2}"), grouped(misses), grouped(messages), grouped(bytes)]
}

fn draw(arguments: &Compare, entries: &[Entry], live: Option<&Live>) -> Result<String, Failure> {
    let several = arguments.protocols.len() > 1;
    let bars: Vec<Bar> = entries
        .iter()
        .map(|e| {
            let nodes = e.result.per_node.len().max(1) as f64;
            let sums = e.result.per_node.iter().fold([0u64; PARTS_OF_TIME.len()], |mut sum, n| {
                sum.iter_mut().zip(parts(n)).for_each(|(s, p)| *s += p);
                sum
            });
            let label = if several { format!("{} / {}", e.machine, e.protocol) } else { e.machine.clone() };
            Bar {
                label,
                values: sums.iter().map(|s| *s as f64 / nodes).collect(),
                above: Some(grouped(e.result.cycles)),
            }
        })
        .collect();
    let program = arguments.run.program().file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let title = format!("{program}: where a node's time goes ({} nodes)", arguments.run.nodes);
    let headings = PARTS_OF_TIME.map(|name| name.replace('_', " "));
    let headings = headings.each_ref().map(String::as_str);
    let Some(live) = live else { return stacked_bars(&title, "cycles per node", &headings, &bars) };
    let (real, unit) = live.bars();
    let simulated = Panel { name: "simulated (left)", unit: "cycles per node", parts: &headings, bars: &bars };
    let live = Panel { name: "live (right)", unit: &unit, parts: &compare_live::PARTS, bars: &real };
    panels(&title, &[simulated, live])
}
