//! The chart in a terminal: a column per node, time runs downwards.

use super::growth::Growth;
use super::story::{Arrow, Moment, Story};
use super::words::wrapped;
use trivium_engine::Node;
use trivium_engine::number::fit;

/// Columns of the terminal that a chart is made for, as far as its nodes fit.
pub const WIDTH: usize = 110;
/// Before the first node: the number of the step.
const GUTTER: usize = 6;
/// Least and most columns for a node.
const NARROWEST: usize = 20;
const WIDEST: usize = 48;

/// The chart in at most `width` columns (more only if there are too many nodes); ends with a line feed.
pub fn text(story: &Story, width: usize) -> String {
    let count = story.nodes.len().max(1);
    let column = (width.saturating_sub(GUTTER) / count).clamp(NARROWEST, WIDEST);
    let mut chart = Chart { story, column, out: String::new() };
    chart.head();
    for moment in &story.moments {
        chart.moment(moment);
    }
    chart.left_over();
    chart.end(width);
    chart.out
}

struct Chart<'s> {
    story: &'s Story,
    /// Width of a node's column.
    column: usize,
    out: String,
}

impl Chart<'_> {
    /// Where a node's line of life stands.
    fn life(&self, node: Node) -> usize {
        GUTTER + self.story.column(node) * self.column
    }

    /// A row with nothing but the lines of life.
    fn blank(&self) -> Vec<char> {
        let mut row = vec![' '; GUTTER + self.story.nodes.len() * self.column];
        for &node in &self.story.nodes {
            row[self.life(node)] = '│';
        }
        row
    }

    fn put(row: &mut [char], at: usize, text: &str) {
        for (place, letter) in row[at..].iter_mut().zip(text.chars()) {
            *place = letter;
        }
    }

    fn line(&mut self, row: &[char]) {
        let text: String = row.iter().collect();
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    /// Text beside a node's line of life, over as many rows as it needs.
    fn beside(&mut self, node: Node, sign: &str, text: &str) {
        let indent = sign.chars().count() + usize::from(!sign.is_empty());
        let width = self.column - 3 - indent;
        for (number, words) in wrapped(text, width).iter().enumerate() {
            let mut row = self.blank();
            let at = self.life(node) + 2;
            if number == 0 {
                Chart::put(&mut row, at, sign);
            }
            Chart::put(&mut row, at + indent, words);
            self.line(&row);
        }
    }

    /// The names of the nodes, and their first states.
    fn head(&mut self) {
        let mut row = vec![' '; GUTTER + self.story.nodes.len() * self.column];
        for &node in &self.story.nodes {
            let home = self.story.home_of(node);
            let name = if home.is_empty() { format!("node {node}") } else { format!("node {node} · {home}") };
            let cut: String = name.chars().take(self.column - 1).collect();
            Chart::put(&mut row, self.life(node), &cut);
        }
        self.line(&row);
        let cells: Vec<(Node, Vec<String>)> = self.story.frames[0]
            .nodes
            .iter()
            .map(|view| {
                let roles = view.roles.iter().map(|role| {
                    let object = if self.story.names_objects() && !role.object.is_empty() {
                        format!("{}: ", role.object)
                    } else {
                        String::new()
                    };
                    format!("{object}{}.{}{}", role.role, role.state, access(&role.access))
                });
                (view.node, roles.flat_map(|text| wrapped(&text, self.column - 3)).collect())
            })
            .collect();
        let rows = cells.iter().map(|(_, lines)| lines.len()).max().unwrap_or(0);
        for number in 0..rows {
            let mut row = self.blank();
            for (node, lines) in &cells {
                if let Some(line) = lines.get(number) {
                    let at = self.life(*node) + 2;
                    Chart::put(&mut row, at, line);
                }
            }
            self.line(&row);
        }
        let row = self.blank();
        self.line(&row);
    }

    fn moment(&mut self, moment: &Moment) {
        let gutter = format!("{}{:>3}", if moment.decisive { "✗" } else { " " }, moment.step);
        match moment.received {
            Some(arrow) => self.receipt(&gutter, &self.story.arrows[arrow]),
            None => self.happening(&gutter, moment),
        }
        if moment.shows_state() {
            let text = format!("{}{}", moment.after, access(&moment.access_after));
            self.beside(moment.node, "=", &text);
        }
        for change in &moment.also {
            let text = self.story.change_text(change) + &access(&change.access_after);
            self.beside(moment.node, "=", &text);
        }
        if let Some(fate) = &moment.fate {
            self.beside(moment.node, "…", fate);
        }
        for done in &moment.performed {
            self.beside(moment.node, "✓", done);
        }
        for what in &moment.forgotten {
            self.beside(moment.node, "…", what);
        }
        for &arrow in &moment.sent {
            self.departure(&self.story.arrows[arrow]);
        }
    }

    /// Something that happens on a node by itself.
    fn happening(&mut self, gutter: &str, moment: &Moment) {
        let lines = wrapped(&self.story.event_text(moment), self.column - 3);
        for (number, words) in lines.iter().enumerate() {
            let mut row = self.blank();
            if number == 0 {
                Chart::put(&mut row, 0, gutter);
                row[self.life(moment.node)] = '●';
            }
            let at = self.life(moment.node) + 2;
            Chart::put(&mut row, at, words);
            self.line(&row);
        }
    }

    /// A message arrives: an arrow from the sender's line of life to the receiver's. If it was sent earlier than
    /// in the step before, the arrow says when.
    fn receipt(&mut self, gutter: &str, arrow: &Arrow) {
        let late = arrow.received.is_some_and(|received| received > arrow.sent + 1);
        let label = self.story.arrow_text(arrow);
        let label = if late { format!("{label} ({})", arrow.sent) } else { label };
        let mut row = self.blank();
        Chart::put(&mut row, 0, gutter);
        let (from, to) = (self.life(arrow.from), self.life(arrow.to));
        if from == to {
            for (number, words) in wrapped(&format!("{label}, from itself"), self.column - 6).iter().enumerate() {
                if number > 0 {
                    row = self.blank();
                } else {
                    row[to] = '●';
                    Chart::put(&mut row, to + 1, "◀─");
                }
                Chart::put(&mut row, to + 4, words);
                self.line(&row);
            }
            return;
        }
        let (left, right) = (from.min(to), from.max(to));
        let fits = label.chars().count() + 6 <= right - left;
        if !fits {
            // The words stand above, over the line.
            let words = wrapped(&label, self.column - 4);
            for line in &words {
                let mut above = self.blank();
                let at = (left + right + 1).saturating_sub(line.chars().count()) / 2;
                let at = at.clamp(left + 1, (right - line.chars().count().min(right - left - 1)).max(left + 1));
                Chart::put(&mut above, at, line);
                self.line(&above);
            }
        }
        row[left + 1..right].fill('─');
        for &node in &self.story.nodes {
            let life = self.life(node);
            if left < life && life < right {
                row[life] = '┼';
            }
        }
        (row[from], row[to]) = (if from < to { '├' } else { '┤' }, '●');
        row[if from < to { to - 1 } else { to + 1 }] = if from < to { '▶' } else { '◀' };
        if fits {
            let words = format!(" {label} ");
            let at = (left + right + 1 - words.chars().count()) / 2;
            Chart::put(&mut row, at, &words);
        }
        self.line(&row);
    }

    /// A message leaves and does not arrive in the next step.
    fn departure(&mut self, arrow: &Arrow) {
        if arrow.received == Some(arrow.sent + 1) {
            return;
        }
        let label = self.story.arrow_text(arrow);
        let mut row = self.blank();
        let (from, to) = (self.life(arrow.from), self.life(arrow.to));
        let room = self.column - if from == to { 14 } else { 7 };
        let short: String = label.chars().take(room).collect();
        let cut =
            if short == label { short } else { format!("{}…", short.chars().take(room - 1).collect::<String>()) };
        match from.cmp(&to) {
            std::cmp::Ordering::Less => {
                row[from] = '├';
                Chart::put(&mut row, from + 1, &format!("┄ {cut} ┄▷"));
            }
            std::cmp::Ordering::Equal => Chart::put(&mut row, from + 1, &format!("┄ {cut} ┄▷ itself")),
            std::cmp::Ordering::Greater => {
                row[from] = '┤';
                let text = format!("◁┄ {cut} ┄");
                Chart::put(&mut row, from - text.chars().count(), &text);
            }
        }
        self.line(&row);
    }

    /// Messages that are still on their way at the end.
    fn left_over(&mut self) {
        let lost: Vec<&Arrow> = self.story.arrows.iter().filter(|a| a.is_on_its_way()).collect();
        if lost.is_empty() {
            return;
        }
        let row = self.blank();
        self.line(&row);
        for arrow in lost {
            let text = format!("{} ({}) from {}", self.story.arrow_text(arrow), arrow.sent, arrow.from);
            self.beside(arrow.to, "◌", &text);
        }
    }

    fn end(&mut self, width: usize) {
        self.out.push('\n');
        if let Some(reason) = &self.story.reason {
            self.paragraph("✗ ", "  ", reason, width);
        }
        let last = self.story.moments.last().filter(|_| self.story.waiting.is_empty());
        if let Some(source) = self.story.scenario.as_ref().or(last.and_then(|m| m.source.as_ref())) {
            let text = format!("at {}:{}: {}", source.file, source.first, source.text);
            self.paragraph("  ", "    ", &text, width);
        }
        if let Some(with) = self.story.with() {
            self.paragraph("  ", "    ", &with, width);
        }
        if let Some(growth) = &self.story.growth {
            self.growth(growth, width);
        }
        if !self.story.waiting.is_empty() {
            self.out.push_str("\nwho waits for whom\n");
            let width_of = |text: fn(&crate::report::deadlock::Waiting) -> &str| {
                self.story.waiting.iter().map(|w| text(w).chars().count()).max().unwrap_or(0)
            };
            let (who, what) = (width_of(|w| &w.who), width_of(|w| &w.waits_for));
            for line in &self.story.waiting {
                let state = if line.state.is_empty() { String::new() } else { format!("  ({})", line.state) };
                let text = format!("  {:who$}  waits for  {:what$}{state}", line.who, line.waits_for);
                self.out.push_str(text.trim_end());
                self.out.push('\n');
            }
        }
        self.legend(width);
    }

    fn growth(&mut self, growth: &Growth, width: usize) {
        let place = growth.declared.as_ref().map_or(String::new(), |s| format!(" in {}:{}", s.file, s.first));
        let head = format!("how {} grew, declared {}{place}", growth.what, growth.bound);
        self.out.push('\n');
        self.paragraph("", "  ", &head, width);
        let first = |step: u32| if step == 0 { "at first".to_string() } else { format!("step {step}") };
        let values: Vec<&str> = growth.points.iter().map(|p| &*p.value).chain([&*growth.beyond]).collect();
        let widest = values.iter().map(|v| v.chars().count()).max().unwrap_or(0).min(width / 2);
        for point in &growth.points {
            let event = if point.event.is_empty() { "" } else { &point.event };
            let line = format!("  {:<8}  {:<widest$}  {event}", first(point.step), point.value);
            self.out.push_str(line.trim_end());
            self.out.push('\n');
        }
        let event = self.story.moments.last().map_or("", |m| &m.event);
        let step = first(fit(self.story.moments.len(), "the number of a step"));
        self.out.push_str(&format!("✗ {step:<8}  {:<widest$}  {event}: does not fit\n", growth.beyond));
    }

    fn paragraph(&mut self, first: &str, next: &str, text: &str, width: usize) {
        let room = width.saturating_sub(next.chars().count().max(first.chars().count()));
        for (number, line) in wrapped(text, room).iter().enumerate() {
            self.out.push_str(&format!("{}{line}\n", if number == 0 { first } else { next }));
        }
    }

    /// What the signs mean, those that occur.
    fn legend(&mut self, width: usize) {
        let story = self.story;
        let late = |a: &Arrow| a.received != Some(a.sent + 1);
        let signs = [
            (true, "● happens on the node"),
            (story.moments.iter().any(|m| m.shows_state() || !m.also.is_empty()), "= state after it · access"),
            (story.moments.iter().any(|m| !m.performed.is_empty()), "✓ an access or a call is complete"),
            (story.arrows.iter().any(late), "┄▷ leaves now and arrives later, as (step that sent it)"),
            (story.arrows.iter().any(Arrow::is_on_its_way), "◌ still on its way at the end (step that sent it)"),
            (story.moments.iter().any(|m| m.decisive), "✗ where it goes wrong"),
        ];
        let silent = story.total_nodes as usize - story.nodes.len().min(story.total_nodes as usize);
        let mut text: Vec<&str> = signs.iter().filter(|(occurs, _)| *occurs).map(|(_, sign)| *sign).collect();
        let rest = format!("{silent} of {} nodes do nothing", story.total_nodes);
        if silent > 0 {
            text.push(&rest);
        }
        self.out.push('\n');
        self.paragraph("", "", &text.join(";  "), width);
    }
}

/// An access as charts write it behind a state.
fn access(access: &str) -> String {
    match access {
        "" => String::new(),
        "none" => " · no access".into(),
        access => format!(" · {access}"),
    }
}
