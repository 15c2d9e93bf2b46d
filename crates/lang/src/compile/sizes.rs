//! The sizes with which a file is to be checked: `check nodes 3, objects 1`.

use super::*;
use crate::ast::{Item, SizeValue};
use std::collections::BTreeMap;
use trivium_diagnostic::Code;

/// The sizes that can be declared; all but the last two are numbers, from 1 to these.
const SIZES: [(&str, i64); 9] = [
    ("nodes", 256),
    ("clients", 256),
    ("objects", OBJECTS),
    ("values", 256),
    ("ops", 65_535),
    ("threads", 255),
    ("lanes", 65_535),
    ("homes", HOMES),
    ("network", 0),
];

/// The most objects of a kind, and the last node that can be a home.
const OBJECTS: i64 = 256;
const HOMES: i64 = 255;

/// Numbers that are said of a kind of objects, each with its place.
type NumbersOf = (String, Vec<(u32, Span)>);

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
                self.error(Code::Type, *span, "there is already a `check` line").help("write all sizes in one");
                return;
            }
        }
        // Each of several used files may say one for itself; that says nothing about all together.
        let [(sizes, _)] = lines[..] else { return };
        let mut seen: Vec<&str> = Vec::new();
        for size in sizes {
            if seen.contains(&size.name.text.as_str()) {
                self.error(Code::Type, size.name.span, format!("`{}` is already said", size.name.text))
                    .help("remove one of them");
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
            SizeValue::Kinds(kinds) if name == "homes" => {
                let homes = self.homes(kinds);
                return self.protocol.sizes.homes.extend(homes);
            }
            SizeValue::Kinds(kinds) => return self.kinds(kinds),
        };
        let Some(number) = self.number(expr) else { return };
        if !(1..=most).contains(&number) {
            self.error(Code::Type, expr.span, format!("`{name}` is a number from 1 to {most}, not {number}"));
            return;
        }
        if name == "lanes" && self.protocol.lanes.iter().all(|lane| lane.holds.is_none()) {
            self.error(Code::Type, size.name.span, "every lane of this protocol is buffered")
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

    /// `objects block=2 job=1`.
    fn kinds(&mut self, kinds: &[ast::KindSize]) {
        for (kind, numbers) in self.numbers_of(kinds, (1, OBJECTS), "there are objects of a kind") {
            if let [_, (_, span), ..] = numbers[..] {
                self.error(Code::Type, span, "a kind has one number of objects")
                    .help("`homes KIND=0/1` says where they live");
                continue;
            }
            self.protocol.sizes.kinds.insert(kind, numbers[0].0);
        }
    }

    /// `homes block=0/1`, for all or for one scenario.
    pub(super) fn homes(&mut self, kinds: &[ast::KindSize]) -> BTreeMap<String, Vec<u32>> {
        let homes = self.numbers_of(kinds, (0, HOMES), "a home is a node").into_iter();
        homes.map(|(kind, numbers)| (kind, numbers.into_iter().map(|(number, _)| number).collect())).collect()
    }

    /// Numbers of kinds of objects that exist, each said once and within these bounds.
    fn numbers_of(&mut self, kinds: &[ast::KindSize], (least, most): (i64, i64), what: &str) -> Vec<NumbersOf> {
        let mut said: Vec<NumbersOf> = Vec::new();
        for ast::KindSize { kind, numbers } in kinds {
            if !self.protocol.objects.contains(&kind.text) {
                let known = self.protocol.objects.clone();
                self.unknown(kind.span, "kind of object", &kind.text, known.iter().map(String::as_str));
                continue;
            }
            if said.iter().any(|(name, _)| *name == kind.text) {
                self.error(Code::Type, kind.span, format!("`{}` is already said", kind.text))
                    .help("remove one of them");
            }
            if let Some(&(number, span)) = numbers.iter().find(|(number, _)| !(least..=most).contains(number)) {
                self.error(Code::Type, span, format!("{what}, from {least} to {most}, not {number}"));
                continue;
            }
            let numbers = numbers.iter().filter_map(|&(number, span)| Some((u32::try_from(number).ok()?, span)));
            said.push((kind.text.clone(), numbers.collect()));
        }
        said
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
            self.error(Code::Type, size.name.span, format!("{clients} clients on {nodes} nodes"))
                .help("at most every node can act");
        }
    }
}
