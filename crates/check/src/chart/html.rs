//! The chart as a page in which one steps forward and back; everything is in the one file.

use super::story::Story;
use super::svg::{escaped, svg, title};

/// The page without what is particular to a story.
const PAGE: &str = include_str!("page.html");
/// What makes it move.
const SCRIPT: &str = include_str!("page.js");

/// A self-contained HTML page. It asks nothing of any server.
pub fn html(story: &Story) -> String {
    let data = serde_json::to_string(story).expect("a story can be written as JSON");
    // Inside a script element only a `<` could end the data early.
    let data = data.replace('<', "\\u003c");
    let parts = [
        ("{{title}}", escaped(&title(story))),
        ("{{chart}}", svg(story)),
        ("{{parameters}}", parameters(story)),
        ("{{settings}}", settings(story)),
        ("{{story}}", data),
        ("{{script}}", SCRIPT.into()),
    ];
    // Each mark stands once in the page, before any text of the story could look like one.
    let mut page = String::new();
    let mut rest = PAGE;
    while let Some((at, (mark, text))) =
        parts.iter().filter_map(|part| Some((rest.find(part.0)?, part))).min_by_key(|(at, _)| *at)
    {
        page.push_str(&rest[..at]);
        page.push_str(text);
        rest = &rest[at + mark.len()..];
    }
    page.push_str(rest);
    page
}

/// The protocol's parameters, if it has any.
fn parameters(story: &Story) -> String {
    list("Parameters", "parameters", story.parameters.iter().map(ToString::to_string))
}

/// What the search was made with, if that is known.
fn settings(story: &Story) -> String {
    list("Settings", "settings", story.settings.iter().map(|(name, value)| format!("{name} = {value}")))
}

/// Lines under a heading; nothing if there are none.
fn list(heading: &str, id: &str, lines: impl Iterator<Item = String>) -> String {
    let rows: String = lines.map(|line| format!("<li>{}</li>\n", escaped(&line))).collect();
    match rows.is_empty() {
        true => rows,
        false => format!("<h2>{heading}</h2>\n<ul id=\"{id}\">\n{rows}</ul>\n"),
    }
}
