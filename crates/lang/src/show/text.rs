//! The table for a terminal.

use super::summary::*;
use std::fmt::Write;
use trivium_protocol::*;

/// Columns that a table takes at most, if nobody says how many there are: a wider one is cut into several, one below the other.
pub const WIDTH: usize = 132;

/// The whole protocol as text: its head, and for each role a table of states × events with what happens in each case.
///
/// In a cell: `Shared → sender` is a message sent (`…` behind it: to many), `⇒ Clean` the next state, `⇒ await Shared` a
/// wait, `⇒ A | stay` one or the other; `hit` an access that passes, `hold` an event that its thread keeps, `-` one that cannot happen.
pub fn table(protocol: &Protocol) -> String {
    written_out(protocol, WIDTH, &|text, _| text)
}

/// The same for a terminal of so many columns: longer lines go on in the next. A single cell may be wider.
pub fn table_of_width(protocol: &Protocol, wide: usize) -> String {
    written_out(protocol, wide, &|text, indent| folded(&text, indent, wide))
}

/// What is made of a line before it is written, given the indentation of what goes on in the next one.
type Fold<'f> = &'f dyn Fn(String, usize) -> String;

fn written_out(protocol: &Protocol, wide: usize, fold: Fold) -> String {
    let mut text = String::new();
    head(&mut text, protocol, fold);
    for table in tables(protocol) {
        role(&mut text, protocol, &table, wide, fold);
    }
    text.push('\n');
    for line in LEGEND {
        let _ = writeln!(text, "{}", fold(line.into(), 0));
    }
    text
}

/// What the signs of a table mean.
const LEGEND: [&str; 2] = [
    "M → n: sends M to n (M… → n: in a loop)   ⇒ S: goes to S   stay: keeps its state   hit: the access passes",
    "hold: its thread keeps the event (a stall)   defer: kept until the state has changed   -: cannot happen",
];

/// A line in as many as it takes: broken between three spaces where there are any, else at a space.
fn folded(line: &str, indent: usize, wide: usize) -> String {
    let between = if line.contains("   ") && indent == 0 { "   " } else { " " };
    let mut out = String::new();
    let mut column = 0;
    for (number, part) in line.split(between).enumerate() {
        let length = part.chars().count();
        if number > 0 && column + between.len() + length <= wide {
            out.push_str(between);
            column += between.len();
        } else if number > 0 {
            let _ = write!(out, "\n{:indent$}", "");
            column = indent;
        }
        out.push_str(part);
        column += length;
    }
    out
}

fn head(text: &mut String, protocol: &Protocol, fold: Fold) {
    let _ = writeln!(text, "{}", protocol.name);
    if let Some(first) = protocol.about.lines().find(|l| !l.trim().is_empty()) {
        let _ = writeln!(text, "{}", fold(first.trim().into(), 0));
    }
    let _ = writeln!(text);
    for (name, lines) in facts(protocol) {
        for (i, line) in lines.iter().enumerate() {
            let name = if i == 0 { name } else { "" };
            let _ = writeln!(text, "{}", fold(format!("{name:<12} {line}"), 15));
        }
    }
}

/// What holds for the whole protocol: names with lines, without those that have none.
pub(super) fn facts(protocol: &Protocol) -> Vec<(&'static str, Vec<String>)> {
    let joined = |list: Vec<String>| if list.is_empty() { Vec::new() } else { vec![list.join(", ")] };
    let mut facts = vec![
        ("properties", joined(protocol.promises.iter().map(|p| protocol.promise_name(p)).collect())),
        ("assumes", joined(protocol.assumption_names())),
        ("invariants", protocol.invariants.iter().map(|i| invariant(protocol, i)).collect()),
        ("leads to", protocol.leads_to.iter().map(|l| leads_to(protocol, l)).collect()),
        ("waits", protocol.waits.iter().map(|w| wait(protocol, w)).collect()),
        ("ghosts", protocol.ghosts.iter().flat_map(|g| ghost(protocol, g)).collect()),
        ("parameters", protocol.params.iter().map(parameter).collect()),
        ("images", protocol.images.iter().map(|i| image(protocol, i)).collect()),
        ("calls", signatures(protocol, false)),
        ("events", signatures(protocol, true)),
        ("processor", if protocol.cached { vec!["cached".into()] } else { Vec::new() }),
        ("lanes", protocol.lanes.iter().map(|l| format!("{}: {}", l.name, lane_words(protocol, l))).collect()),
        ("messages", messages(protocol)),
        ("scenarios", joined(protocol.scenarios.iter().map(|s| s.name.clone()).collect())),
        ("waives", protocol.waivers.iter().map(|w| format!("{}: {}", w.rule, w.reason)).collect()),
    ];
    if let Some(span) = protocol.asymmetric {
        facts.push(("symmetry", vec![format!("off: nodes have numbers ({})", protocol.sources.place(span))]));
    }
    facts.retain(|(_, lines)| !lines.is_empty());
    facts
}

/// The calls, or the events that their bodies say.
fn signatures(protocol: &Protocol, are_events: bool) -> Vec<String> {
    let asked = protocol.ops.iter().filter(|op| op.is_event == are_events);
    asked.map(|op| call_signature(protocol, op)).collect()
}

/// `lock: held: bool, turn: 0..3`
fn image(protocol: &Protocol, image: &Image) -> String {
    let field = |field: &ImageField| format!("{}: {}", field.named.name, protocol.type_name(&field.named.ty));
    let fields: Vec<String> = image.fields.iter().map(field).collect();
    format!("{}: {}", protocol.objects[image.object.index()], fields.join(", "))
}

/// A parameter's value, with what the file declares.
fn parameter(param: &Param) -> String {
    let default = match param.value == param.declared {
        true => String::new(),
        false => format!(", default {}", param.declared),
    };
    let check = param.check.map_or(String::new(), |value| format!(", in check {value}"));
    format!("{} = {} (from {} to {}{default}{check})", param.name, param.value, param.lo, param.hi)
}

fn invariant(protocol: &Protocol, invariant: &Invariant) -> String {
    let kind = &protocol.objects[invariant.object.index()];
    format!("{} of {kind}: {}", invariant.name, claimed(protocol, invariant))
}

fn ghost(protocol: &Protocol, ghost: &Ghost) -> [String; 2] {
    let role = &protocol.roles[ghost.role.index()];
    let vars: Vec<String> = role.vars.iter().map(|v| format!("{}: {}", v.name, protocol.type_name(&v.ty))).collect();
    let sees: Vec<&str> = ghost.clauses.iter().map(|(_, h)| role.handlers[h.index()].name.as_str()).collect();
    let kind = &protocol.objects[role.object.index()];
    [format!("{} of {kind} ({})", role.name, vars.join(", ")), format!("  sees {}", sees.join(", "))]
}

fn leads_to(protocol: &Protocol, leads: &LeadsTo) -> String {
    let (from, to) = (written(protocol, &leads.from.condition), written(protocol, &leads.to.condition));
    let each = if leads.each { ", each node" } else { "" };
    format!("{} of {}{each}: {from} leads to {to}", leads.name, protocol.objects[leads.from.object.index()])
}

fn wait(protocol: &Protocol, wait: &WaitClause) -> String {
    let call = &protocol.ops[wait.op.index()].name;
    // Until something that nobody says: it need never return.
    let is_said = !matches!(wait.until.condition.kind, ExprKind::Constant(_));
    if is_said { format!("{call} until {}", written(protocol, &wait.until.condition)) } else { call.clone() }
}

fn messages(protocol: &Protocol) -> Vec<String> {
    let signatures: Vec<String> = protocol.messages.iter().map(|m| signature(protocol, &m.name, &m.args)).collect();
    let wide = signatures.iter().map(|s| s.chars().count()).max().unwrap_or(0);
    let lane = protocol.lanes.iter().map(|l| l.name.chars().count()).max().unwrap_or(0);
    let data = protocol.messages.iter().map(|m| payload_words(m).len()).max().unwrap_or(0);
    let data = if data == 0 { 0 } else { data + 2 };
    let line = |(message, signature): (&Message, &String)| {
        let role = &protocol.roles[message.role.index()].name;
        let on = &protocol.lanes[message.lane.index()].name;
        format!("{signature:<wide$}  on {on:<lane$}  {:<data$}to {role}", payload_words(message))
    };
    protocol.messages.iter().zip(&signatures).map(line).collect()
}

fn role(text: &mut String, protocol: &Protocol, table: &Table, most: usize, fold: Fold) {
    let role = table.role;
    let kind =
        if role.object == NODE { String::new() } else { format!(" of {}", protocol.objects[role.object.index()]) };
    let _ = writeln!(text, "\n{}", fold(format!("role {}{kind}, {}", role.name, lives(role)), 2));
    for line in role_facts(protocol, role) {
        let _ = writeln!(text, "{}", fold(format!("  {line}"), 4));
    }
    let _ = writeln!(text);
    grid(text, protocol, table, most);
}

/// What holds for a role: variables, where its records begin, defer space, longest handler, worst sends.
pub(super) fn role_facts(protocol: &Protocol, role: &Role) -> Vec<String> {
    let mut facts = Vec::new();
    let vars: Vec<String> = role
        .vars
        .iter()
        .filter(|v| !v.name.starts_with('$'))
        .map(|v| format!("{}: {}", v.name, protocol.type_name(&v.ty)))
        .collect();
    if !vars.is_empty() {
        facts.push(format!("variables: {}", vars.join(", ")));
    }
    facts.push(begins(protocol, role));
    if let Some(defers) = role.defers {
        let full = if role.pushes_back { ", and stalls more" } else { "" };
        facts.push(format!("defers up to {defers} events{full}"));
    }
    if let Some(handler) = longest(role) {
        facts.push(format!("longest handler: {} steps, {}", handler.longest, handler.name));
    }
    for (lane, handler, sends) in worst_sends(protocol, role) {
        facts.push(format!("most messages on lane {}: {sends}, by {}", lane.name, handler.name));
    }
    facts
}

/// In which state its records begin.
fn begins(protocol: &Protocol, role: &Role) -> String {
    let states: Vec<&str> =
        begins_in(protocol, role).iter().map(|state| role.states[state.index()].name.as_str()).collect();
    let states = states.join(" or ");
    match &role.initially {
        Some(initially) => {
            format!("begins in {states}, as `initially` says ({})", protocol.sources.place(initially.span))
        }
        None => format!("begins in {states}"),
    }
}

/// The table itself, in as many parts as its width asks for.
fn grid(text: &mut String, protocol: &Protocol, table: &Table, most: usize) {
    let role = table.role;
    let blocks = role.object == BLOCK;
    let mut first: Vec<Vec<Vec<String>>> = vec![column(role, "state", |s| wrapped(&s.name))];
    if blocks {
        first.push(column(role, "access", |s| vec![access(role, s)]));
    }
    let columns = event_columns(protocol, table);
    let lead: usize = first.iter().map(|c| width(c) + 3).sum();
    let mut at = 0;
    while at < columns.len() || at == 0 {
        let mut part = first.clone();
        let mut wide = lead;
        let from = at;
        while at < columns.len() && (at == from || wide + width(&columns[at]) + 3 <= most) {
            wide += width(&columns[at]) + 3;
            part.push(columns[at].clone());
            at += 1;
        }
        draw(text, &part);
        if columns.is_empty() {
            return;
        }
        if at < columns.len() {
            let _ = writeln!(text);
        }
    }
}

/// A column for each event: its name, then a cell for each state. Messages that only waiting states handle, and
/// that cannot come in any other, share one column.
pub(super) fn event_columns(protocol: &Protocol, table: &Table) -> Vec<Vec<Vec<String>>> {
    let role = table.role;
    let rows = || table.cells.iter().zip(&role.states);
    let is_answer = |i: usize| {
        rows().all(|(row, state)| {
            matches!(row[i], Cell::Impossible) || state.waiting && matches!(row[i], Cell::Handle(_))
        })
    };
    let mut columns: Vec<Vec<Vec<String>>> = Vec::new();
    let mut answers: Vec<usize> = Vec::new();
    for (i, event) in table.events.iter().enumerate() {
        if is_answer(i) {
            answers.push(i);
            continue;
        }
        let mut cells = vec![vec![event.clone()]];
        cells.extend(table.cells.iter().map(|row| lines(protocol, role, &row[i])));
        columns.push(cells);
    }
    if !answers.is_empty() {
        let mut cells = vec![vec!["awaited".to_string()]];
        cells.extend(table.cells.iter().map(|row| answer_lines(protocol, table, row, &answers)));
        columns.push(cells);
    }
    columns
}

fn answer_lines(protocol: &Protocol, table: &Table, row: &[Cell], answers: &[usize]) -> Vec<String> {
    let mut cell = Vec::new();
    for &i in answers.iter().filter(|&&i| matches!(row[i], Cell::Handle(_))) {
        cell.push(format!("{}:", table.events[i]));
        cell.extend(lines(protocol, table.role, &row[i]).iter().map(|l| format!("  {l}")));
    }
    if cell.is_empty() { vec!["-".to_string()] } else { cell }
}

fn column(role: &Role, title: &str, cell: impl Fn(&State) -> Vec<String>) -> Vec<Vec<String>> {
    let mut cells = vec![vec![title.to_string()]];
    cells.extend(role.states.iter().map(cell));
    cells
}

fn width(column: &[Vec<String>]) -> usize {
    column.iter().flatten().map(|line| line.chars().count()).max().unwrap_or(0)
}

fn draw(text: &mut String, columns: &[Vec<Vec<String>>]) {
    let widths: Vec<usize> = columns.iter().map(|c| width(c)).collect();
    for row in 0..columns[0].len() {
        let height = columns.iter().map(|c| c[row].len()).max().unwrap_or(1).max(1);
        for i in 0..height {
            let mut line = String::from(" ");
            for (c, (column, width)) in columns.iter().zip(&widths).enumerate() {
                let cell = column[row].get(i).map_or("", String::as_str);
                let _ = write!(line, "{}{cell:<width$}", if c == 0 { " " } else { " │ " });
            }
            let _ = writeln!(text, "{}", line.trim_end());
        }
        let (dash, cross) = if row == 0 { ("═", "═╪═") } else { ("─", "─┼─") };
        if row + 1 < columns[0].len() {
            let rule: Vec<String> = widths.iter().map(|w| dash.repeat(*w)).collect();
            let _ = writeln!(text, "  {}", rule.join(cross));
        }
    }
}

/// A cell as lines.
pub(super) fn lines(protocol: &Protocol, role: &Role, cell: &Cell) -> Vec<String> {
    let word = match cell {
        Cell::Defer => "defer",
        Cell::Hold => "hold",
        Cell::Stall => "stall",
        Cell::Impossible => "-",
        Cell::Passes => "hit",
        Cell::Handle(outcomes) => {
            let guarded = outcomes.len() > 1 || outcomes.iter().any(|o| o.guard.is_some());
            return outcomes.iter().flat_map(|o| outcome_lines(protocol, role, o, guarded)).collect();
        }
    };
    vec![word.to_string()]
}

fn outcome_lines(protocol: &Protocol, role: &Role, outcome: &HandlerSummary, guarded: bool) -> Vec<String> {
    let mut lines = Vec::new();
    match &outcome.guard {
        Some(guard) => lines.push(format!("when {}:", shortened(guard, 24))),
        None if guarded => lines.push("else:".into()),
        None => {}
    }
    let start = lines.len();
    let all = outcome.all();
    lines.extend(all.sends.iter().map(sent_words));
    if !all.deeds.is_empty() {
        lines.push(all.deeds.join(", "));
    }
    if let Some(next) = next_words(protocol, role, outcome) {
        lines.extend(wrapped(&next));
    } else if lines.len() == start {
        lines.push("stay".into());
    }
    if guarded {
        lines[start..].iter_mut().for_each(|l| l.insert_str(0, "  "));
    }
    lines
}

pub(super) fn sent_words(sent: &Sent) -> String {
    let to = match sent.to.split_once('(') {
        Some((function, _)) if sent.to.chars().count() > 20 => format!("{function}(…)"),
        _ => shortened(&sent.to, 20),
    };
    format!("{}{} → {to}", sent.message, if sent.many { "…" } else { "" })
}

/// `⇒ Clean`, `⇒ await Shared | stay`; nothing if the state does not change.
pub(super) fn next_words(protocol: &Protocol, role: &Role, outcome: &HandlerSummary) -> Option<String> {
    let mut names: Vec<String> = Vec::new();
    for target in outcome.paths.iter().filter_map(|p| p.target) {
        let name = target_name(protocol, role, target);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() {
        return None;
    }
    if outcome.stays() {
        names.push("stay".into());
    }
    Some(format!("⇒ {}", names.join(" | ")))
}

/// Names longer than this go on in the next line.
const LONG: usize = 26;

/// A name in lines: broken behind a dot, before a bar, or at a space.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest: Vec<char> = text.chars().collect();
    while rest.len() > LONG {
        let breaks = |i: &usize| match rest[*i] {
            '|' => rest[*i - 1] != ' ',
            ' ' => true,
            _ => rest[*i - 1] == '.',
        };
        let Some(at) = (8..LONG).rev().find(breaks) else { break };
        lines.push(rest[..at].iter().collect::<String>());
        let indented = "  ".chars().chain(rest[at..].iter().copied().skip_while(|c| *c == ' '));
        rest = indented.collect();
    }
    lines.push(rest.into_iter().collect());
    lines
}

pub(super) fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_string();
    }
    let kept: String = text.chars().take(most - 1).collect();
    format!("{}…", kept.trim_end())
}
