//! What a protocol claims: promises, assumptions, invariants. Its scenarios are in [`super::bodies`].

use super::frame::{Binding, Frame};
use super::*;
use crate::ast::Item;
use crate::diagnostics::counted;

impl Compiler {
    pub(super) fn claims(&mut self, file: &ast::File) {
        for item in &file.items {
            match item {
                Item::Promises { words, .. } => words.iter().for_each(|w| self.promise(w)),
                Item::Assume(words) => words.iter().for_each(|w| match &w.when {
                    Some(when) => self.condition(w, when),
                    None => self.assume(w),
                }),
                Item::Invariant { name, of, condition } => self.invariant(name, of.as_ref(), condition),
                Item::Waits { op, condition } => self.waits(op, condition),
                Item::Scenario(scenario) => self.scenario(scenario),
                _ => {}
            }
        }
        self.last_phase_has_one_writer(file);
        self.something_synchronises(file);
    }

    /// The place where a promise is made.
    fn promised_at(file: &ast::File, name: &str) -> Option<Span> {
        let words = file.items.iter().filter_map(|item| match item {
            Item::Promises { words, .. } => Some(words),
            _ => None,
        });
        words.flatten().find(|word| word.name.text == name).map(|word| word.name.span)
    }

    /// `release_consistency` means something only where something synchronises.
    fn something_synchronises(&mut self, file: &ast::File) {
        let promises = &self.protocol.promises;
        let alone = promises.contains(&Promise::ReleaseConsistency { acquire: None, release: None });
        if !alone || promises.iter().any(|p| matches!(p, Promise::Mutex(..) | Promise::Barrier(_))) {
            return;
        }
        if let Some(span) = Self::promised_at(file, "release_consistency") {
            self.error(span, "nothing synchronises here: `release_consistency` needs a call that releases")
                .help("name it: `release_consistency(release)` or `release_consistency(acquire, release)`; or promise `mutex` or `barrier`");
        }
    }

    /// The calls of `release_consistency`: none, the one that releases, or the one that acquires and the one that releases.
    fn release_consistency(&mut self, word: &ast::Word) -> Option<Promise> {
        if word.args.len() > 2 {
            self.error(word.name.span, "`release_consistency` names at most 2 calls")
                .help("write `release_consistency(release)` or `release_consistency(acquire, release)`");
            return None;
        }
        let calls = self.calls(word, word.args.len())?;
        let (acquire, release) = match calls[..] {
            [] => (None, None),
            [release] => (None, Some(release)),
            [acquire, release, ..] => (Some(acquire), Some(release)),
        };
        Some(Promise::ReleaseConsistency { acquire, release })
    }

    /// Of what loads return, one promise is made: the strongest that holds.
    fn one_promise_about_loads(&mut self, word: &ast::Word, promise: &Promise) -> bool {
        let clash =
            |a: &Promise, b: &Promise| a.is_about_loads() && b.is_about_loads() && (a.is_weaker() || b.is_weaker());
        let other = self.protocol.promises.iter().find(|other| clash(promise, other));
        let Some(other) = other.map(|other| self.protocol.promise_name(other)) else { return true };
        let name = self.protocol.promise_name(promise);
        self.error(word.name.span, format!("`{name}` beside `{other}`: only one of them can be checked")).help(
            "keep the stronger: `last_write` and `sequential`, then `tso` or `release_consistency`, then `coherent`",
        );
        false
    }

    /// `last_phase` means something only where nobody else writes what a node has written in the same phase.
    fn last_phase_has_one_writer(&mut self, file: &ast::File) {
        let protocol = &self.protocol;
        let one = [Assume::OneWriterPerPhase, Assume::HomeWrites].iter().any(|a| protocol.assumptions.contains(a));
        if one || !protocol.promises.contains(&Promise::LastPhase) {
            return;
        }
        if let Some(span) = Self::promised_at(file, "last_phase") {
            self.error(span, "`last_phase` needs one writer of a block in a phase")
                .help("add `assume one_writer_per_phase` or `assume home_writes`");
        }
    }

    /// The calls that a promise or assumption names.
    fn calls(&mut self, word: &ast::Word, wanted: usize) -> Option<Vec<OpId>> {
        if word.args.len() != wanted {
            self.error(word.name.span, format!("`{}` names {}", word.name.text, counted(wanted, "call")));
            return None;
        }
        word.args.iter().map(|arg| self.op_of(arg)).collect()
    }

    pub(super) fn op_of(&mut self, name: &ast::Ident) -> Option<OpId> {
        let found = self.protocol.op(&name.text);
        if found.is_none() {
            let known: Vec<String> = self.protocol.ops.iter().map(|o| o.name.clone()).collect();
            self.unknown(name.span, "call", &name.text, known.iter().map(String::as_str));
        }
        found
    }

    fn promise(&mut self, word: &ast::Word) {
        let promise = match word.name.text.as_str() {
            "single_writer" => Some(Promise::SingleWriter),
            "last_write" => Some(Promise::LastWrite),
            "last_phase" => Some(Promise::LastPhase),
            "sequential" => Some(Promise::Sequential),
            "coherent" => Some(Promise::Coherent),
            "tso" => Some(Promise::Tso),
            "release_consistency" => self.release_consistency(word),
            "mutex" => self.calls(word, 2).map(|c| Promise::Mutex(c[0], c[1])),
            "barrier" => self.calls(word, 1).map(|c| Promise::Barrier(c[0])),
            other => {
                self.unknown(
                    word.name.span,
                    "promise",
                    other,
                    [
                        "single_writer",
                        "last_write",
                        "last_phase",
                        "sequential",
                        "coherent",
                        "tso",
                        "release_consistency",
                        "mutex",
                        "barrier",
                    ],
                );
                None
            }
        };
        // A file that uses another may repeat its promises.
        let promise = promise.filter(|p| !self.protocol.promises.contains(p));
        if let Some(promise) = promise.filter(|p| self.one_promise_about_loads(word, p)) {
            self.protocol.promises.push(promise);
        }
    }

    fn assume(&mut self, word: &ast::Word) {
        let assume = match word.name.text.as_str() {
            "home_writes" => Some(Assume::HomeWrites),
            "one_writer_per_phase" => Some(Assume::OneWriterPerPhase),
            "one_thread_per_node" => Some(Assume::OneThreadPerNode),
            "alternate" => self.calls(word, 2).map(|c| Assume::Alternate(c[0], c[1])),
            "once" => self.calls(word, 1).map(|c| Assume::Once(c[0])),
            "before" => self.calls(word, 2).map(|c| Assume::Before(c[0], c[1])),
            other => {
                self.unknown(
                    word.name.span,
                    "assumption",
                    other,
                    ["one_writer_per_phase", "one_thread_per_node", "home_writes", "alternate", "once", "before"],
                );
                None
            }
        };
        self.protocol.assumptions.extend(assume.filter(|a| !self.protocol.assumptions.contains(a)));
    }

    fn invariant(&mut self, name: &ast::Ident, of: Option<&ast::Ident>, condition: &ast::Expr) {
        let invariants = self.protocol.invariants.iter().map(|i| i.name.clone());
        let taken: Vec<String> = invariants.chain(self.protocol.leads_to.iter().map(|l| l.name.clone())).collect();
        self.fresh(name, "invariant", &taken);
        let object = match of {
            Some(of) => match self.object_kind(of) {
                Some(kind) => kind,
                None => return,
            },
            None => {
                let used = self.protocol.roles.iter().map(|r| r.object).find(|o| *o != NODE);
                used.unwrap_or(BLOCK)
            }
        };
        let mut frame = Frame::new(RoleId(u8::MAX), StateId(0), EventKind::Timer, String::new(), Access::None);
        frame.global = true;
        frame.about = Some(object);
        let (each, inner) = match &condition.kind {
            ast::ExprKind::Over("all", node, inner) => (Some(node), &**inner),
            _ => (None, condition),
        };
        if let ast::ExprKind::LeadsTo(from, to) = &inner.kind {
            return self.leads_to(name, object, each, from, to);
        }
        let Some(condition) = self.expr_of(&mut frame, condition, &Type::Bool) else { return };
        let locals = frame.scalars;
        self.protocol.invariants.push(Invariant { name: name.text.clone(), object, condition, locals });
    }

    /// `leads_to(from, to)`, perhaps for each node.
    fn leads_to(
        &mut self,
        name: &ast::Ident,
        object: ObjectKindId,
        each: Option<&ast::Ident>,
        from: &ast::Expr,
        to: &ast::Expr,
    ) {
        let mut condition = |condition: &ast::Expr| {
            let mut frame = Frame::new(RoleId(u8::MAX), StateId(0), EventKind::Timer, String::new(), Access::None);
            if let Some(node) = each {
                frame.local(&self.protocol, &node.text, types::SOME_NODE);
            }
            frame.global = true;
            frame.about = Some(object);
            let condition = self.expr_of(&mut frame, condition, &Type::Bool)?;
            Some(Invariant { name: name.text.clone(), object, condition, locals: frame.scalars })
        };
        if let (Some(from), Some(to)) = (condition(from), condition(to)) {
            self.protocol.leads_to.push(LeadsTo { name: name.text.clone(), each: each.is_some(), from, to });
        }
    }

    /// A call that may wait, and for what: the condition sees the calling node as `me`, and the call's arguments.
    fn waits(&mut self, name: &ast::Ident, condition: &ast::Expr) {
        let Some(op) = self.op_of(name) else { return };
        if self.protocol.waits.iter().any(|wait| wait.op == op) {
            self.error(name.span, format!("what `{}` waits for is said twice", name.text))
                .help("join the two conditions with `and` or `or`");
            return;
        }
        let mut frame = Frame::new(RoleId(u8::MAX), StateId(0), EventKind::Timer, String::new(), Access::None);
        let me = frame.hidden_local(&self.protocol, "me", types::SOME_NODE);
        frame.bind("me", Binding::Local(me));
        for arg in self.protocol.ops[op.index()].args.clone() {
            if !types::is_scalar(&arg.ty) {
                // A list would need a place of another kind; a condition about one is rejected as an unknown name.
                frame.hidden_local(&self.protocol, &arg.name, Type::Word);
                continue;
            }
            let local = frame.hidden_local(&self.protocol, &arg.name, arg.ty);
            frame.bind(&arg.name, Binding::Local(local));
        }
        let object = self.protocol.ops[op.index()].object;
        frame.global = true;
        frame.about = Some(object);
        let Some(condition) = self.expr_of(&mut frame, condition, &Type::Bool) else { return };
        let locals = frame.scalars;
        let name = format!("waits {}", name.text);
        self.protocol.waits.push(WaitClause { op, until: Invariant { name, object, condition, locals } });
    }
}
