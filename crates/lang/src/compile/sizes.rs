//! The sizes with which a file is to be checked: `check nodes 3, objects 1`.

use super::*;
use crate::ast::{Item, SizeValue};

/// The sizes that can be declared; all but the last two are numbers, from 1 to these.
const SIZES: [(&str, i64); 9] = [
    ("nodes", 256),
    ("clients", 256),
    ("objects", 256),
    ("values", 256),
    ("ops", 65_535),
    ("threads", 255),
    ("lanes", 65_535),
    ("homes", 255),
    ("network", 0),
];

/// The nodes of a system of which nobody says how many it has.
const USUAL_NODES: u32 = 3;

impl Compiler {
    pub(super) fn sizes(&mut self, file: &ast::File) {
        let lines: Vec<_> = file
            .items
            .iter()
            .filter_map(|item| match item {
                Item::Check { sizes, span } => Some((sizes, *span)),
                _ => None,
            })
            .collect();
        for (at, (_, span)) in lines.iter().enumerate() {
            if lines[..at].iter().any(|(_, before)| before.file == span.file) {
                self.error(*span, "there is already a `check` line").help("write all sizes in one");
                return;
            }
        }
        // Each of several used files may say one for itself; that says nothing about all together.
        let [(sizes, _)] = lines[..] else { return };
        let mut seen: Vec<&str> = Vec::new();
        for size in sizes {
            if seen.contains(&size.name.text.as_str()) {
                self.error(size.name.span, format!("`{}` is already said", size.name.text)).help("remove one of them");
            }
            seen.push(&size.name.text);
            self.size(size);
        }
        self.clients_fit(sizes);
    }

    fn size(&mut self, size: &ast::Size) {
        let Some((name, most)) = SIZES.into_iter().find(|(name, _)| *name == size.name.text) else {
            return self.unknown(size.name.span, "size", &size.name.text, SIZES.map(|(name, _)| name));
        };
        let expr = match &size.value {
            SizeValue::Number(expr) => expr,
            SizeValue::Word(word) => return self.network(word),
            SizeValue::Kinds(kinds) => return self.kinds(name == "homes", most, kinds),
        };
        let Some(number) = self.number(expr) else { return };
        if !(1..=most).contains(&number) {
            self.error(expr.span, format!("`{name}` is a number from 1 to {most}, not {number}"));
            return;
        }
        if name == "lanes" && self.protocol.lanes.iter().all(|lane| lane.holds.is_none()) {
            self.error(size.name.span, "every lane of this protocol is buffered")
                .help("leave `lanes` out, or declare a lane that `holds` a number of messages");
            return;
        }
        let number = u32::try_from(number).ok();
        let sizes = &mut self.protocol.sizes;
        match name {
            "nodes" => sizes.nodes = number,
            "clients" => sizes.clients = number,
            "objects" => sizes.objects = number,
            "values" => sizes.values = number,
            "ops" => sizes.ops = number,
            "threads" => sizes.threads = number,
            _ => sizes.lanes = number,
        }
    }

    /// `objects block=2 job=1`, `homes block=0/1`.
    fn kinds(&mut self, are_homes: bool, most: i64, kinds: &[ast::KindSize]) {
        let mut said: Vec<&str> = Vec::new();
        for ast::KindSize { kind, numbers } in kinds {
            if !self.protocol.objects.contains(&kind.text) {
                let known = self.protocol.objects.clone();
                self.unknown(kind.span, "kind of object", &kind.text, known.iter().map(String::as_str));
                continue;
            }
            if said.contains(&kind.text.as_str()) {
                self.error(kind.span, format!("`{}` is already said", kind.text)).help("remove one of them");
            }
            said.push(&kind.text);
            let least = i64::from(!are_homes);
            let what = if are_homes { "a home is a node" } else { "there are objects of a kind" };
            if let Some(&(number, span)) = numbers.iter().find(|(number, _)| !(least..=most).contains(number)) {
                self.error(span, format!("{what}, from {least} to {most}, not {number}"));
                continue;
            }
            if let ([_, (_, span), ..], false) = (&numbers[..], are_homes) {
                self.error(*span, "a kind has one number of objects").help("`homes KIND=0/1` says where they live");
                continue;
            }
            let numbers: Vec<u32> = numbers.iter().filter_map(|&(number, _)| u32::try_from(number).ok()).collect();
            let sizes = &mut self.protocol.sizes;
            if are_homes {
                sizes.homes.insert(kind.text.clone(), numbers);
            } else {
                sizes.kinds.insert(kind.text.clone(), numbers[0]);
            }
        }
    }

    fn network(&mut self, word: &ast::Ident) {
        match word.text.as_str() {
            "fifo" => self.protocol.sizes.fifo = Some(true),
            "unordered" => self.protocol.sizes.fifo = Some(false),
            other => self.unknown(word.span, "order of messages", other, ["fifo", "unordered"]),
        }
    }

    fn clients_fit(&mut self, sizes: &[ast::Size]) {
        let (nodes, clients) = (self.protocol.sizes.nodes.unwrap_or(USUAL_NODES), self.protocol.sizes.clients);
        let Some(clients) = clients.filter(|&clients| clients > nodes) else { return };
        if let Some(size) = sizes.iter().find(|size| size.name.text == "clients") {
            self.error(size.name.span, format!("{clients} clients on {nodes} nodes"))
                .help("at most every node can act");
        }
    }
}
