//! Where the labels of a picture stand, whatever has drawn it.

/// A label with its left, top, right and bottom.
struct Label {
    text: String,
    area: [f64; 4],
}

fn attribute<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    tag.split_once(&format!(" {name}=\""))?.1.split_once('"').map(|(value, _)| value)
}

fn number(tag: &str, name: &str) -> f64 {
    attribute(tag, name).and_then(|value| value.parse().ok()).unwrap_or(0.0)
}

/// Size of the letters, and whether they are all equally wide, of a class of a chart or of a drawing of states.
fn of_class(svg: &str, class: &str) -> (f64, bool) {
    let size = |class: &str| {
        let rule = svg.split_once(&format!("{class} {{"))?.1.split_once('}')?.0;
        let size = rule.split_once("font-size: ")?.1;
        size[..size.find("px")?].parse().ok()
    };
    let is_chart = svg.contains("class=\"chart\"");
    let general = if is_chart { ".chart text" } else { "text" };
    let own = if class.is_empty() { None } else { size(&format!(".{class}")) };
    (own.or_else(|| size(general)).unwrap(), is_chart)
}

/// The texts of a picture, wherever it is from, and of those that stand beside each other in it.
fn labels(svg: &str) -> Vec<Label> {
    let of_part = |part: &str| {
        let tag = format!(" {}", part.split_once('>').unwrap().0);
        let (dx, dy) = (number(&tag, "x"), number(&tag, "y"));
        let moved = move |Label { text, area: [left, top, right, bottom] }| Label {
            text,
            area: [left + dx, top + dy, right + dx, bottom + dy],
        };
        labels_of(svg, part).into_iter().map(moved).collect::<Vec<_>>()
    };
    svg.split("<svg ").skip(1).flat_map(of_part).collect()
}

/// The texts of a part of a picture. Letters are as wide as those of usual fonts.
fn labels_of(svg: &str, part: &str) -> Vec<Label> {
    let body = part.split_once("</style>").map_or(part, |(_, body)| body);
    let label = |text: &str| {
        let (tag, rest) = text.split_once('>').unwrap();
        let tag = format!(" {tag}");
        let text = rest.split_once("</text>").unwrap().0.trim_matches('\n');
        let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&apos;", "'");
        let text = text.replace("&amp;", "&");
        let class = attribute(&tag, "class").unwrap_or_default();
        let (size, is_mono) = match attribute(&tag, "font-size") {
            Some(size) => (size.parse().unwrap(), false),
            None => of_class(svg, class),
        };
        let anchor = match (attribute(&tag, "text-anchor"), is_mono, class) {
            (Some(anchor), ..) => anchor,
            (None, true, "wire") => "middle",
            (None, true, "number") => "end",
            _ => "start",
        };
        let width = text.chars().count() as f64 * size * if is_mono { 0.602 } else { 0.56 };
        let left = match anchor {
            "middle" => -width / 2.0,
            "end" => -width,
            _ => 0.0,
        };
        let down = match attribute(&tag, "dy") {
            Some("0.76em") => 0.76 * size,
            Some("0.5ex") => 0.27 * size,
            Some("-0.5ex") => -0.27 * size,
            None => 0.0,
            Some(other) => panic!("dy={other}"),
        };
        let (x, y) = (number(&tag, "x"), number(&tag, "y"));
        let (top, bottom) = (down - 0.75 * size, down + 0.2 * size);
        let area = match attribute(&tag, "transform") {
            // It reads from below.
            Some(_) => [x + top, y - left - width, x + bottom, y - left],
            None => [x + left, y + top, x + left + width, y + bottom],
        };
        Label { text, area }
    };
    // Roles of a drawing of states are moved as a whole.
    let mut all = Vec::new();
    for (number_of_group, group) in body.split("<g transform=\"translate(").enumerate() {
        let (moved, after) = group.split_once("</g>").unwrap_or((group, ""));
        let (dx, dy) = match moved.split_once(')').filter(|_| number_of_group > 0) {
            Some((by, _)) => by.split_once(' ').map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap())).unwrap(),
            None => (0.0, 0.0),
        };
        let (moved, after) = if number_of_group > 0 { (moved, after) } else { ("", group) };
        all.extend(moved.split("<text").skip(1).map(|text| {
            let Label { text, area: [left, top, right, bottom] } = label(text);
            Label { text, area: [left + dx, top + dy, right + dx, bottom + dy] }
        }));
        all.extend(after.split("<text").skip(1).map(label));
    }
    all
}

/// What is wrong with the labels of a picture.
fn wrong(name: &str, svg: &str) -> Vec<String> {
    let mut labels = labels(svg);
    assert_eq!(labels.len(), svg.matches("<text").count(), "{name}");
    labels.retain(|label| !label.text.is_empty());
    assert!(labels.len() > 2, "{name} has {} labels", labels.len());
    let tag = svg.split_once("<svg").unwrap().1.split_once('>').unwrap().0;
    let (width, height) = (number(tag, "width"), number(tag, "height"));
    let mut wrong = Vec::new();
    for (at, Label { text, area: [left, top, right, bottom] }) in labels.iter().enumerate() {
        if *left < 0.0 || *top < 0.0 || *right > width || *bottom > height {
            wrong.push(format!("{name}: `{text}` is cut off"));
        }
        for Label { text: other, area } in &labels[at + 1..] {
            if *left < area[2] && area[0] < *right && *top < area[3] && area[1] < *bottom {
                wrong.push(format!("{name}: `{text}` over `{other}`"));
            }
        }
    }
    wrong
}

/// Fails unless the labels of some pictures, each with its name, stand beside each other and within.
#[track_caller]
pub fn stand_apart(pictures: impl IntoIterator<Item = (String, String)>) {
    let wrong: Vec<String> = pictures.into_iter().flat_map(|(name, svg)| wrong(&name, &svg)).collect();
    assert!(wrong.is_empty(), "{} labels:\n{}", wrong.len(), wrong.join("\n"));
}
