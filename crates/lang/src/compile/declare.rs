//! Everything that has a name, before any handler is looked at.

use super::optional::is_none;
use super::*;
use crate::ast::Item;
use trivium_diagnostic::Code;

/// Most fields of a record, and arguments of a message, call or task.
const MAX_FIELDS: usize = 16;

/// Names that mean something in every expression or type.
pub(super) const KEYWORDS: [&str; 32] = [
    "me",
    "home",
    "sender",
    "caller",
    "nodes",
    "object",
    "all",
    "any",
    "count",
    "true",
    "false",
    "none",
    "bool",
    "node",
    "address",
    "word",
    "thread",
    "block",
    "memory",
    "index",
    "room",
    "pick",
    "probe",
    "flight",
    "after",
    "evict",
    "prefetch",
    "prefetch_write",
    "writeback",
    "read",
    "write",
    "rmw",
];

impl Compiler {
    pub(super) fn declare(&mut self, file: &ast::File, options: &Options) {
        match &file.name {
            Some(name) => self.protocol.name = name.text.clone(),
            None => {
                let span = Span { file: 0, start: 0, end: 1 };
                self.error(Code::Declaration, span, "a protocol's file begins with `protocol NAME`");
            }
        }
        self.processor(file);
        self.params(file, options);
        self.objects(file);
        self.records(file);
        self.images(file);
        self.lanes(file);
        self.sizes(file);
        self.ops(file);
        self.events(file);
        self.role_heads(file);
        self.made_kinds(file);
        self.images_are_cached();
        if self.protocol.roles.is_empty() && self.diagnostics.is_empty() {
            let span = file.name.as_ref().map_or(Span::default(), |n| n.span);
            self.error(Code::Declaration, span, "a protocol has at least one role")
                .help("declare one: `role home of block { .. }`");
        }
        self.messages(file);
        self.tasks();
        self.waivers(file);
    }

    pub(super) fn fresh<'a>(
        &mut self,
        name: &ast::Ident,
        what: &str,
        taken: impl IntoIterator<Item = &'a String>,
    ) -> bool {
        let article = if what.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        if KEYWORDS.contains(&name.text.as_str()) && !(what == "role" && name.text == "home") {
            self.error(
                Code::Name,
                name.span,
                format!("`{}` is a word of the language and cannot name {article} {what}", name.text),
            )
            .help("choose another name");
            return false;
        }
        if taken.into_iter().any(|t| *t == name.text) {
            self.error(Code::Name, name.span, format!("there is already {article} {what} `{}`", name.text))
                .help("choose another name");
            return false;
        }
        true
    }

    fn processor(&mut self, file: &ast::File) {
        for item in &file.items {
            let Item::Processor { kind } = item else { continue };
            match kind.text.as_str() {
                "cached" => self.protocol.cached = true,
                "tagged" => self.protocol.cached = false,
                other => self.unknown(kind.span, "kind of processor", other, ["cached", "tagged"]),
            }
        }
    }

    fn params(&mut self, file: &ast::File, options: &Options) {
        for item in &file.items {
            let Item::Param { name, value, range, check } = item else { continue };
            let taken: Vec<String> = self.protocol.params.iter().map(|p| p.name.clone()).collect();
            if !self.fresh(name, "parameter", &taken) {
                continue;
            }
            let Some(declared) = self.number(value) else { continue };
            let (lo, hi) = match range {
                Some((lo, hi)) => match (self.number(lo), self.number(hi)) {
                    (Some(lo), Some(hi)) => (lo, hi),
                    _ => continue,
                },
                None => (0, 1 << 20),
            };
            let set = options.params.iter().rev().find(|(n, _)| *n == name.text).map(|(_, v)| *v);
            let check = check.as_ref().and_then(|c| Some((self.number(c)?, c.span)));
            if let Some((check, span)) = check
                && (check < lo || check > hi)
            {
                self.error(
                    Code::Declaration,
                    span,
                    format!("the parameter `{}` must be from {lo} to {hi}, not {check}", name.text),
                );
            }
            let mut value = set.unwrap_or(declared);
            if value < lo || value > hi {
                let what = format!("the parameter `{}` must be from {lo} to {hi}, not {value}", name.text);
                let error = self.error(Code::Declaration, name.span, what);
                if set.is_some() {
                    let own = &name.text;
                    error.help(format!(
                        "give `--set protocol.{own}=N` such a number, or leave it out: it is {declared} then"
                    ));
                }
                // It stays declared, so that its uses are not mistakes of their own.
                value = declared.min(hi).max(lo);
            }
            self.protocol.params.push(Param {
                name: name.text.clone(),
                value,
                from: if set.is_some() { ValueFrom::Set } else { ValueFrom::Default },
                declared,
                lo,
                hi,
                check: check.map(|(c, _)| c),
            });
        }
        for (name, _) in &options.params {
            if !self.protocol.params.iter().any(|p| p.name == *name) {
                let known: Vec<String> = self.protocol.params.iter().map(|p| p.name.clone()).collect();
                let span = file.name.as_ref().map_or(Span::default(), |n| n.span);
                self.unknown(span, "parameter", name, known.iter().map(String::as_str));
            }
        }
    }

    fn objects(&mut self, file: &ast::File) {
        for item in &file.items {
            let Item::Object(names) = item else { continue };
            for ast::ObjectKind { name, .. } in names {
                let taken = self.protocol.objects.clone();
                if self.fresh(name, "kind of object", &taken) {
                    self.protocol.objects.push(name.text.clone());
                }
            }
        }
    }

    fn records(&mut self, file: &ast::File) {
        for item in &file.items {
            let Item::Record { name, fields } = item else { continue };
            let taken: Vec<String> = self.protocol.records.iter().map(|r| r.name.clone()).collect();
            if !self.fresh(name, "record", &taken) {
                continue;
            }
            let fields = self.fields(fields, "the fields of a record are scalars", types::is_scalar);
            self.protocol.records.push(Record { name: name.text.clone(), fields });
        }
    }

    /// Fields, arguments or parameters; each type must be `allowed`.
    pub(super) fn fields(&mut self, fields: &[ast::Field], rule: &str, allowed: fn(&Type) -> bool) -> Vec<Named> {
        let mut named: Vec<Named> = Vec::new();
        if let Some(extra) = fields.get(MAX_FIELDS) {
            self.error(Code::Declaration, extra.name.span, format!("there are more than {MAX_FIELDS} of these"))
                .help("send or keep less at once");
            return named;
        }
        for field in fields {
            let taken: Vec<String> = named.iter().map(|n| n.name.clone()).collect();
            self.fresh(&field.name, "field or argument", &taken);
            let Some(ty) = self.ty(&field.ty) else { continue };
            if !allowed(&ty) {
                let help = match &ty {
                    Type::Record(_) if allowed(&Type::NodeSet) => "send its fields".to_string(),
                    Type::IntSet { .. } if allowed(&Type::NodeSet) => {
                        "send an array of truth values, `[0..3] of bool`, or a list".to_string()
                    }
                    Type::Array { .. } | Type::List { .. } => {
                        "keep it in a role, and pass what changes of it, an element at a time".to_string()
                    }
                    _ => String::new(),
                };
                let error = self.error(Code::Declaration, field.name.span, rule);
                if !help.is_empty() {
                    error.help(help);
                }
            }
            named.push(Named { name: field.name.text.clone(), ty, span: field.name.span });
        }
        named
    }

    fn lanes(&mut self, file: &ast::File) {
        for item in &file.items {
            let Item::Lane { name, unordered, merged, holds, queues, lossy, duplicating, behind: _ } = item else {
                continue;
            };
            let taken: Vec<String> = self.protocol.lanes.iter().map(|l| l.name.clone()).collect();
            if !self.fresh(name, "lane", &taken) {
                continue;
            }
            if let Some(expr) = holds.as_ref().filter(|_| *lossy || *duplicating) {
                self.error(Code::Declaration, expr.span, "a lane that loses or duplicates messages is buffered").help(
                    match queues {
                        true => "leave `queues` out",
                        false => "leave `holds` out: nobody knows when the place of a lost message is free again",
                    },
                );
            }
            if let Some(span) = merged.filter(|_| *unordered || *lossy || *duplicating) {
                self.error(
                    Code::Declaration,
                    span,
                    "a lane that is `merged` is `fifo`, and neither `lossy` nor `duplicating`",
                )
                .help("leave `merged` out: without order, no message waits for another");
            }
            let mut lane = Lane {
                name: name.text.clone(),
                fifo: !unordered,
                merged: merged.is_some(),
                behind: None,
                holds: None,
                queues: *queues,
                lossy: *lossy,
                duplicating: *duplicating,
                span: name.span,
            };
            if let Some(expr) = holds {
                lane.holds = self.formula(expr);
                self.check_holds(&lane, expr.span);
            }
            self.protocol.lanes.push(lane);
        }
        self.orders_of_lanes(file);
        self.shares(file);
    }

    /// Which lanes are behind others.
    fn orders_of_lanes(&mut self, file: &ast::File) {
        for item in &file.items {
            let Item::Lane { name, behind: Some(behind), .. } = item else { continue };
            let names: Vec<String> = self.protocol.lanes.iter().map(|lane| lane.name.clone()).collect();
            let find = |wanted: &str| names.iter().position(|name| name == wanted);
            let (Some(own), Some(other)) = (find(&name.text), find(&behind.text)) else {
                if find(&behind.text).is_none() {
                    self.unknown(behind.span, "lane", &behind.text, names.iter().map(String::as_str));
                }
                continue;
            };
            let is_certain = |lane: &Lane| !lane.lossy && !lane.duplicating;
            let (lane, before) = (&self.protocol.lanes[own], &self.protocol.lanes[other]);
            let (what, help) = if own == other {
                ("a lane cannot be behind itself", "leave `behind` out: a `fifo` lane keeps its own order")
            } else if !before.fifo || !is_certain(before) {
                (
                    "a lane is behind one that is `fifo`, and neither `lossy` nor `duplicating`",
                    "declare that lane `fifo`: which of its messages came earlier must be known",
                )
            } else if !is_certain(lane) {
                ("a lane that loses or duplicates messages is behind no other", "leave `behind` out, or the other word")
            } else {
                self.protocol.lanes[own].behind = Some(LaneId::at(other));
                continue;
            };
            self.error(Code::Declaration, behind.span, what).help(help);
        }
    }

    /// For some number of nodes a finite lane must hold something; for which, is asked when the protocol is loaded.
    fn check_holds(&mut self, lane: &Lane, span: Span) {
        let Some(holds) = &lane.holds else { return };
        if (1..=MAX_NODES).any(|nodes| lane.room(nodes).is_some()) {
            return;
        }
        let most = Lane::MOST;
        let ever = if holds.is_fixed() { "" } else { ", whatever the number of nodes" };
        let takes = lane.takes();
        self.error(Code::Declaration, span, format!("a lane {takes} 1 to {most} messages, not {holds}{ever}"));
    }

    fn ops(&mut self, file: &ast::File) {
        for item in &file.items {
            let Item::Op { name, params, result, body } = item else { continue };
            let taken: Vec<String> = self.protocol.ops.iter().map(|o| o.name.clone()).collect();
            if !self.fresh(name, "call", &taken) {
                continue;
            }
            let rule = "the parameters of a call are scalars, and lists and arrays by number, not of addresses or blocks, whose size does not depend on `nodes`";
            let mut args = self.fields(params, rule, types::is_passed);
            let names_places = |of: &Type| match of {
                Type::Record(record) => {
                    let fields = &self.protocol.records[record.index()].fields;
                    !fields.iter().all(|field| types::is_same_to_a_program(&field.ty))
                }
                _ => false,
            };
            let is_list_of_places =
                |ty: &Type| matches!(ty, Type::List { of, .. } | Type::Array { of, .. } if names_places(of));
            if let Some(at) = args.iter().position(|arg| is_list_of_places(&arg.ty)) {
                self.error(Code::Declaration, args[at].span, rule)
                    .help("pass what a list or an array has of them one by one");
            }
            let (object, object_may_be_none) = match args.first().map(|a| &a.ty) {
                Some(Type::Object(kind)) => (*kind, false),
                Some(Type::ObjectOrNone(kind)) => (*kind, true),
                _ => (NODE, false),
            };
            if object != NODE {
                args.remove(0);
            }
            let written = result.as_ref();
            let result = written.and_then(|ty| self.ty(ty));
            if result.as_ref().is_some_and(|ty| !types::is_scalar(ty) || *ty == Type::Thread) {
                self.error(Code::Declaration, name.span, "the result of a call is a scalar")
                    .help("return what is in it, or write to memory");
            }
            if let Some(result) = result.as_ref().filter(|_| object_may_be_none)
                && !types::has_value_for_none(result)
            {
                let (kind, result) = (&self.protocol.objects[object.index()], self.type_name(result));
                let what =
                    format!("a call about no {kind} returns 0, `false` or `none`, and `{result}` has none of them");
                self.error(Code::Declaration, name.span, what)
                    .help("let the result have one, or the first parameter no `?`");
            }
            let op = Op {
                name: name.text.clone(),
                object,
                object_may_be_none,
                args,
                result,
                body: None,
                is_event: false,
                span: name.span,
            };
            self.refuse_optional_words(&op);
            if body.is_some() {
                self.spelled_out.push(OpId::at(self.protocol.ops.len()));
            }
            self.protocol.ops.push(op);
        }
    }

    fn role_heads(&mut self, file: &ast::File) {
        let mut asts = Vec::new();
        for item in &file.items {
            let Item::Role(role) = item else { continue };
            let taken: Vec<String> = self.protocol.roles.iter().map(|r| r.name.clone()).collect();
            if !self.fresh(&role.name, "role", &taken) {
                continue;
            }
            let Some(object) = self.object_kind(&role.of) else { continue };
            let kind = match role.name.text.as_str() {
                _ if object == NODE => RoleKind::Agent,
                "home" => RoleKind::Home,
                _ if role.everywhere => RoleKind::Everywhere,
                _ => RoleKind::Elsewhere,
            };
            if kind == RoleKind::Home && role.everywhere {
                self.error(Code::Declaration, role.name.span, "the role `home` lives at the home only")
                    .help("choose another name, or remove `everywhere`");
            }
            let defers = role.defers.as_ref().and_then(|d| self.bound(d));
            if let (Some(bound), Some(written)) = (defers, &role.defers)
                && (bound.at(1) < 1 || bound.at(COMPILED_FOR) > 65_536)
            {
                self.error(
                    Code::Declaration,
                    written.span,
                    format!("a role has room for at least 1 and at most 65536 deferred events, not for {bound}"),
                );
            }
            self.action_heads(role);
            if role.states.is_empty() {
                self.error(Code::Declaration, role.name.span, format!("the role `{}` has no state", role.name.text))
                    .help("declare at least one: `state Idle { .. }`");
            }
            let states = self.state_heads(role);
            self.answers.push(states.iter().map(|_| Answers::default()).collect());
            self.protocol.roles.push(Role {
                name: role.name.text.clone(),
                kind,
                object,
                states,
                vars: Vec::new(),
                defers,
                pushes_back: role.pushes_back,
                deferrable: Vec::new(),
                events: Vec::new(),
                table: Vec::new(),
                kept_answers: Vec::new(),
                exclusions: Vec::new(),
                handlers: Vec::new(),
                initially: None,
                span: role.name.span,
            });
            asts.push(role.clone());
        }
        self.ghost_heads(file, &mut asts);
        self.asts = Rc::new(asts);
        for r in 0..self.protocol.roles.len() {
            self.vars(r);
        }
    }

    /// The names of actions and of their parameters; their bodies are looked at where they are called.
    fn action_heads(&mut self, role: &ast::Role) {
        let mut actions: Vec<String> = Vec::new();
        for action in &role.actions {
            self.fresh(&action.name, "action", &actions);
            actions.push(action.name.text.clone());
            let mut params: Vec<String> = Vec::new();
            for param in &action.params {
                self.fresh(&param.name, "parameter", &params);
                params.push(param.name.text.clone());
            }
        }
    }

    fn state_heads(&mut self, role: &ast::Role) -> Vec<State> {
        let mut states: Vec<State> = Vec::new();
        for state in &role.states {
            let taken: Vec<String> = states.iter().map(|s| s.name.clone()).collect();
            self.fresh(&state.name, "state", &taken);
            let access = state.access.as_ref().map_or(Access::None, |a| access_of(&a.text));
            if access != Access::None && role.of.text != "block" {
                self.error(Code::Declaration, state.name.span, "only states of a block give access")
                    .help(format!("`{}` is of {}", role.name.text, role.of.text));
            }
            if access != Access::None && self.protocol.cached {
                self.error(
                    Code::Declaration,
                    state.name.span,
                    "with `processor cached` states give no access: the processor's cache does",
                )
                .help("leave the access out, and answer requests with `fill`");
            }
            if let Some(span) = state.keeps
                && role.of.text != "block"
            {
                self.error(Code::Declaration, span, "only states of a block keep contents")
                    .help(format!("`{}` is of {}", role.name.text, role.of.text));
            }
            states.push(State {
                name: state.name.text.clone(),
                access,
                keeps: state.keeps.is_some(),
                contents: false,
                waiting: false,
                awaits: Vec::new(),
                dead: Vec::new(),
                copy_is_dead: false,
                timer: None,
                span: state.name.span,
            });
        }
        states
    }

    fn vars(&mut self, r: usize) {
        let asts = Rc::clone(&self.asts);
        for var in &asts[r].vars {
            let taken: Vec<String> = self.protocol.roles[r].vars.iter().map(|v| v.name.clone()).collect();
            self.fresh(&var.name, "variable", &taken);
            let Some(ty) = self.ty(&var.ty) else { continue };
            let of = if let Type::Array { of, .. } = &ty { of } else { &ty };
            let initial = match &var.initial {
                None => first_value(of),
                Some(expr) => self.initial(expr, of),
            };
            self.protocol.roles[r].vars.push(Var { name: var.name.text.clone(), ty, initial, span: var.name.span });
        }
    }

    fn initial(&mut self, expr: &ast::Expr, ty: &Type) -> i64 {
        match (&expr.kind, ty) {
            (_, Type::OrNone(_)) if is_none(expr) => ty.none(),
            (_, Type::OrNone(of)) => self.initial(expr, of),
            (ast::ExprKind::Name(n), Type::Bool) if n == "true" => 1,
            (ast::ExprKind::Name(n), Type::Bool) if n == "false" => 0,
            (_, Type::Bool) => {
                self.error(Code::Declaration, expr.span, "a truth value is `true` or `false`")
                    .help("write one of the two");
                0
            }
            (_, Type::Int { lo, hi }) => match self.number(expr) {
                Some(n) if n >= lo.at(1) && n <= hi.at(MAX_NODES) => n,
                Some(n) => {
                    let ty = self.type_name(ty);
                    self.error(Code::Declaration, expr.span, format!("{n} is not in {ty}"));
                    0
                }
                None => 0,
            },
            _ => {
                self.error(Code::Declaration, expr.span, "only truth values and numbers have an initial value")
                    .help("nodes start as none, sets and lists empty");
                0
            }
        }
    }

    fn messages(&mut self, file: &ast::File) {
        for item in &file.items {
            let Item::Message { messages, lane, with } = item else { continue };
            let payload = match with.as_ref().map(|w| w.text.as_str()) {
                None => PayloadShape::Nothing,
                Some("block") => PayloadShape::Block,
                Some("memory") => PayloadShape::Memory,
                Some("list") => PayloadShape::List,
                Some("bytes") => PayloadShape::Bytes,
                Some(other) => {
                    let span = with.as_ref().map_or(Span::default(), |w| w.span);
                    self.error(
                        Code::Declaration,
                        span,
                        format!("a message carries a `block`, `bytes`, `memory` or a `list`, not `{other}`"),
                    );
                    PayloadShape::Nothing
                }
            };
            let lane = match lane {
                Some(name) => self.lane_of(name),
                None if self.protocol.lanes.len() == 1 => Some(LaneId(0)),
                None => {
                    let span = messages[0].0.span;
                    self.error(Code::Declaration, span, "on which lane does this message travel?")
                        .help("add `on LANE`");
                    None
                }
            };
            // Goes on after a mistake, so that the message is known where it is used.
            let lane = lane.unwrap_or_default();
            for (name, fields) in messages {
                let taken: Vec<String> = self.protocol.messages.iter().map(|m| m.name.clone()).collect();
                if !self.fresh(name, "message", &taken) {
                    continue;
                }
                let rule = "the arguments of a message are scalars, sets of nodes, arrays or lists";
                let args = self.fields(fields, rule, types::is_sent);
                self.protocol.messages.push(Message {
                    name: name.text.clone(),
                    lane,
                    args,
                    payload,
                    role: RoleId(u8::MAX),
                    object: BLOCK,
                    span: name.span,
                });
            }
        }
    }

    pub(super) fn lane_of(&mut self, name: &ast::Ident) -> Option<LaneId> {
        let found = self.protocol.lanes.iter().position(|l| l.name == name.text);
        if found.is_none() {
            let known: Vec<String> = self.protocol.lanes.iter().map(|l| l.name.clone()).collect();
            self.unknown(name.span, "lane", &name.text, known.iter().map(String::as_str));
        }
        found.map(|i| LaneId(i as u8))
    }

    fn tasks(&mut self) {
        let asts = Rc::clone(&self.asts);
        for (r, role) in asts.iter().enumerate() {
            for task in &role.tasks {
                let taken: Vec<String> = self.protocol.tasks.iter().map(|t| t.name.clone()).collect();
                if !self.fresh(&task.name, "task", &taken) {
                    continue;
                }
                let rule = "the arguments of a task are scalars, sets of nodes, arrays or lists";
                let args = self.fields(&task.params, rule, types::is_sent);
                self.protocol.tasks.push(Task { name: task.name.text.clone(), args, role: RoleId(r as u8) });
            }
        }
    }

    fn waivers(&mut self, file: &ast::File) {
        for item in &file.items {
            let Item::Waive { rule, reason } = item else { continue };
            if rule.text == "lane_rule" {
                self.protocol.waivers.push(Waiver { rule: rule.text.clone(), reason: reason.clone() });
            } else {
                self.unknown(rule.span, "rule that can be waived called", &rule.text, ["lane_rule"]);
            }
        }
    }
}

/// What a variable, or each element of an array, holds at first where nothing is said.
pub(super) fn first_value(ty: &Type) -> i64 {
    match ty {
        Type::Int { lo, .. } => lo.constant,
        Type::OrNone(_) => ty.none(),
        _ => 0,
    }
}

/// The access of its word, which the parser has checked.
pub(super) fn access_of(word: &str) -> Access {
    match word {
        "write" => Access::Write,
        "read" => Access::Read,
        _ => Access::None,
    }
}
