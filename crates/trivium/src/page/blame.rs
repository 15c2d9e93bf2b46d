//! Who is to blame for misses: a part of the page.

use super::{escaped, number};
use crate::blame::{KINDS, numbers, place, users};
use std::fmt::Write;
use trivium_sim::{AllocationBlame, Blamed, Kinds};

/// Allocations, lines, and which data are falsely shared.
pub fn section(blamed: &Blamed) -> String {
    let mut out = String::from("<h3>Misses by allocation</h3>\n");
    let of_kinds = |kinds: &Kinds, messages: u64, stall: u64| {
        let all = numbers(kinds).into_iter().chain([messages, stall]);
        all.map(number).collect::<String>()
    };
    let word = |text: &str| format!("<td class=\"word\">{}</td>", escaped(text));
    let allocations = blamed.allocations.iter().map(|of| {
        let made_at = of.made_at.as_deref().unwrap_or("");
        format!("<tr>{}{}{}</tr>\n", word(&of.name), word(made_at), of_kinds(&of.kinds, of.messages, of.stall))
    });
    out.push_str(&table(&["allocation", "made at"], allocations.collect()));
    out.push_str("<h3>Misses by line</h3>\n");
    let lines = blamed.lines.iter().map(|of| {
        let numbers = of_kinds(&of.kinds, of.messages, of.stall);
        format!("<tr>{}{}{numbers}</tr>\n", word(&place(of)), word(&of.allocation))
    });
    out.push_str(&table(&["line", "allocation"], lines.collect()));
    blamed.allocations.iter().filter(|of| !of.falsely_shared.is_empty()).for_each(|of| out.push_str(&shared(of)));
    out
}

fn table(words: &[&str], rows: String) -> String {
    let words: String = words.iter().map(|word| format!("<th class=\"word\">{word}</th>")).collect();
    let numbers: String =
        KINDS.iter().chain(&["messages", "stall cycles"]).map(|name| format!("<th>{name}</th>")).collect();
    format!(
        "<div class=\"wide\"><table class=\"sortable\"><thead><tr>{words}{numbers}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n"
    )
}

/// Which parts of an allocation's blocks are used by whom.
fn shared(of: &AllocationBlame) -> String {
    let mut rows = String::new();
    for share in &of.falsely_shared {
        for (at, part) in share.parts.iter().enumerate() {
            let block = if at == 0 { format!("block at byte {}", share.from) } else { String::new() };
            let misses = if at == 0 { number(share.misses) } else { "<td></td>".into() };
            let _ = writeln!(
                rows,
                "<tr><td class=\"word\">{block}</td>{misses}<td class=\"word\">{} to {}</td><td class=\"word\">{}</td></tr>",
                part.from,
                part.to - 1,
                escaped(&users(&part.read_by, &part.written_by))
            );
        }
    }
    format!(
        "<details open><summary><h3 style=\"display:inline\">Falsely shared: {}</h3></summary>\n<p class=\"soft\">Blocks in which nodes want different words. Data that different nodes use belong into different blocks: pad or align them.</p>\n\
         <div class=\"wide\"><table><thead><tr><th class=\"word\">block</th><th>misses by false sharing</th><th class=\"word\">bytes</th><th class=\"word\">used by</th></tr></thead>\n<tbody>\n{rows}</tbody></table></div></details>\n",
        escaped(&of.name)
    )
}
