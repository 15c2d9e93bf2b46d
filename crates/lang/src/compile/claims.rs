//! What a protocol claims: promises, assumptions, invariants. Its scenarios are in [`super::bodies`].

use super::frame::{Binding, Frame};
use super::*;
use crate::ast::Item;
use crate::diagnostics::counted;
use trivium_diagnostic::Code;

impl Compiler {
    pub(super) fn claims(&mut self, file: &ast::File) {
        for item in &file.items {
            match item {
                Item::Promises { words, .. } => words.iter().for_each(|w| self.promise(file, w)),
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
        self.copies_are_compared_and_quiet(file);
        self.something_synchronises(file);
    }

    /// The place where a promise is made.
    fn promised_at(file: &ast::File, name: &str) -> Option<Span> {
        Self::named_at(file, name, |item| if let Item::Promises { words, .. } = item { Some(words) } else { None })
    }

    /// The place where an assumption is made.
    fn assumed_at(file: &ast::File, name: &str) -> Option<Span> {
        Self::named_at(file, name, |item| if let Item::Assume(words) = item { Some(words) } else { None })
    }

    fn named_at<'f>(
        file: &'f ast::File,
        name: &str,
        words: impl Fn(&'f Item) -> Option<&'f Vec<ast::Word>>,
    ) -> Option<Span> {
        let mut all = file.items.iter().filter_map(words).flatten();
        all.find(|word| word.name.text == name).map(|word| word.name.span)
    }

    /// `release_consistency` means something only where something synchronises.
    fn something_synchronises(&mut self, file: &ast::File) {
        let promises = &self.protocol.promises;
        let alone = promises.contains(&Promise::ReleaseConsistency { acquire: None, release: None });
        if !alone || promises.iter().any(|p| matches!(p, Promise::Mutex(..) | Promise::Barrier(_))) {
            return;
        }
        if let Some(span) = Self::promised_at(file, "release_consistency") {
            self.error(Code::Claim, span, "nothing synchronises here: `release_consistency` needs a call that releases")
                .help("name it: `release_consistency(release)` or `release_consistency(acquire, release)`; or promise `mutex` or `barrier`");
        }
    }

    /// The call that copies, and the one that says that it is done: the same where one is named.
    fn copying_calls(&mut self, word: &ast::Word) -> Option<(OpId, OpId)> {
        if !(1..=2).contains(&word.args.len()) {
            let name = &word.name.text;
            self.error(
                Code::Claim,
                word.name.span,
                format!(
                    "`{name}` names the call that copies, and where that is another the one that says that it is done"
                ),
            )
            .help(format!("write `{name}(copy)` or `{name}(copy, wait)`"));
            return None;
        }
        let calls = self.calls(word, if word.args.len() == 1 { 1 } else { 2 })?;
        Some((calls[0], *calls.last()?))
    }

    /// The calls of `copies`, and which of their parameters are the ends of the copy.
    fn copies(&mut self, file: &ast::File, word: &ast::Word) -> Option<Promise> {
        let (copy, wait) = self.copying_calls(word)?;
        let (copied, waited) = (&self.protocol.ops[copy.index()], &self.protocol.ops[wait.index()]);
        let is_named_by_result = match copied.result {
            Some(Type::Object(kind) | Type::ObjectOrNone(kind)) => kind == waited.object,
            _ => false,
        };
        if !is_named_by_result && copied.object != waited.object {
            let (copy, wait) = (&copied.name, &waited.name);
            let what = format!("nothing says of which copy `{wait}` speaks");
            let help =
                format!("let `{copy}` return the object that `{wait}` is about, or let both be about the same kind");
            self.error(Code::Claim, word.name.span, what).help(help);
            return None;
        }
        let first = file.items.iter().find_map(|item| match item {
            Item::Op { name, params, .. } if name.text == copied.name => {
                params.first().map(|param| param.name.text.clone())
            }
            _ => None,
        });
        let argument =
            |name: &str| copied.args.iter().position(|arg| arg.name == name).and_then(|at| u16::try_from(at).ok());
        let is_block =
            |at: u16| matches!(copied.args[usize::from(at)].ty, Type::Object(BLOCK) | Type::ObjectOrNone(BLOCK));
        let end = |name: &str| match argument(name) {
            Some(at) => is_block(at).then_some(BlockParameter::Argument(at)),
            None => (copied.object == BLOCK && first.as_deref() == Some(name)).then_some(BlockParameter::Object),
        };
        let (Some(to), Some(from)) = (end("to"), end("from")) else {
            let what = format!("`{}` has no blocks `to` and `from`, so that nothing says what it copies", copied.name);
            self.error(Code::Claim, word.name.span, what)
                .help("declare them: `op copy(to: block?, from: block?, n: 1..8): job?`");
            return None;
        };
        let (blocks, skip) = (argument("n"), argument("skip"));
        let is_no_number = |at: u16| !matches!(copied.args[usize::from(at)].ty, Type::Int { .. });
        let numbers = [
            ("n", blocks, "how many blocks it copies", "1..8"),
            ("skip", skip, "how many words it leaves out", "0..15"),
        ];
        if let Some((name, _, says, range)) = numbers.into_iter().find(|(_, at, ..)| at.is_some_and(is_no_number)) {
            let what = format!("`{name}` of `{}` says {says}, and is no number", copied.name);
            self.error(Code::Claim, word.name.span, what).help(format!("give it a range: `{name}: {range}`"));
            return None;
        }
        Some(Promise::Copies(Copies { copy, wait, to, from, blocks, skip, is_named_by_result }))
    }

    /// `copies` means something only where loads are compared, and nobody disturbs a copy; `quiet` only where there are copies.
    fn copies_are_compared_and_quiet(&mut self, file: &ast::File) {
        self.quiet_is_about_copies(file);
        let protocol = &self.protocol;
        let Some(copies) = protocol.promises.iter().find_map(|promise| match promise {
            Promise::Copies(copies)
                if !protocol.assumptions.contains(&Assume::Quiet(copies.copy, copies.wait))
                    || !protocol
                        .promises
                        .iter()
                        .any(|p| matches!(p, Promise::LastWrite | Promise::Sequential | Promise::Coherent)) =>
            {
                Some(*copies)
            }
            _ => None,
        }) else {
            return;
        };
        let Some(span) = Self::promised_at(file, "copies") else { return };
        let quiet = self.protocol.assume_name(&Assume::Quiet(copies.copy, copies.wait));
        if self.protocol.assumptions.contains(&Assume::Quiet(copies.copy, copies.wait)) {
            self.error(Code::Claim, span, "`copies` says what loads return, and no promise compares them with copies")
                .help("promise `last_write`, `sequential` or `coherent` as well");
        } else {
            self.error(Code::Claim, span, "`copies` needs to know who uses the memory while a copy is under way")
                .help(format!("say that nobody stores to the source or uses the destination: `assume {quiet}`"));
        }
    }

    fn quiet_is_about_copies(&mut self, file: &ast::File) {
        let protocol = &self.protocol;
        if !protocol.has_copies() && Self::promised_at(file, "copies").is_some() {
            return; // what is wrong with them has been said
        }
        let promised = |copy: &OpId, wait: &OpId| {
            let is_it = |promise: &Promise| matches!(promise, Promise::Copies(c) if (c.copy, c.wait) == (*copy, *wait));
            protocol.promises.iter().any(is_it)
        };
        let alone = |assume: &&Assume| matches!(assume, Assume::Quiet(copy, wait) if !promised(copy, wait));
        let Some(quiet) = protocol.assumptions.iter().find(alone) else { return };
        let Some(span) = Self::assumed_at(file, "quiet") else { return };
        let name = protocol.assume_name(quiet);
        let copies = name.replacen("quiet", "copies", 1);
        self.error(Code::Claim, span, format!("`{name}` is about copies, and none by these calls are promised"))
            .help(format!("promise `{copies}`, also in a file that says `promises only`"));
    }

    /// The calls of `release_consistency`: none, the one that releases, or the one that acquires and the one that releases.
    fn release_consistency(&mut self, word: &ast::Word) -> Option<Promise> {
        if word.args.len() > 2 {
            self.error(Code::Claim, word.name.span, "`release_consistency` names at most 2 calls")
                .help("write `release_consistency(release)` or `release_consistency(acquire, release)`");
            return None;
        }
        let calls = self.calls(word, word.args.len())?;
        let (acquire, release) = match calls[..] {
            [] => (None, None),
            [release] => (None, Some(release)),
            [acquire, release, ..] => (Some(acquire), Some(release)),
        };
        let has_body = |op: &&OpId| self.protocol.ops[op.index()].body.is_some();
        if let Some(op) = [acquire, release].iter().flatten().find(has_body) {
            let name = self.protocol.ops[op.index()].name.clone();
            self.error(
                Code::Claim,
                word.name.span,
                format!("`{name}` has a body, and is called where a fence stands: a handler answers it"),
            )
            .help("leave its body out, or this promise");
            return None;
        }
        Some(Promise::ReleaseConsistency { acquire, release })
    }

    /// Of what loads return, one promise is made: the strongest that holds.
    fn one_promise_about_loads(&mut self, word: &ast::Word, promise: &Promise) -> bool {
        let clash =
            |a: &Promise, b: &Promise| a.is_about_loads() && b.is_about_loads() && (a.is_weaker() || b.is_weaker());
        let other = self.protocol.promises.iter().find(|other| clash(promise, other));
        let Some(other) = other.map(|other| self.protocol.promise_name(other)) else { return true };
        let name = self.protocol.promise_name(promise);
        self.error(Code::Claim, word.name.span, format!("`{name}` beside `{other}`: only one of them can be checked")).help(
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
            self.error(Code::Claim, span, "`last_phase` needs one writer of a block in a phase")
                .help("add `assume one_writer_per_phase` or `assume home_writes`");
        }
    }

    /// The calls that a promise or assumption names.
    fn calls(&mut self, word: &ast::Word, wanted: usize) -> Option<Vec<OpId>> {
        if word.args.len() != wanted {
            self.error(Code::Claim, word.name.span, format!("`{}` names {}", word.name.text, counted(wanted, "call")));
            return None;
        }
        word.args.iter().map(|arg| self.op_of(arg)).collect()
    }

    /// Two calls about the same object, which are of one kind.
    fn calls_about_one(&mut self, word: &ast::Word) -> Option<Vec<OpId>> {
        let calls = self.calls(word, 2)?;
        let [first, second] = [calls[0], calls[1]].map(|call| &self.protocol.ops[call.index()]);
        if first.object == second.object {
            return Some(calls);
        }
        let [one, other] =
            [first, second].map(|op| format!("`{}` about `{}`", op.name, self.protocol.objects[op.object.index()]));
        let what = format!("`{}` speaks of two calls about the same object: {one}, {other}", word.name.text);
        self.error(Code::Claim, word.name.span, what)
            .help("name calls whose first parameters are objects of one kind, or which have none");
        None
    }

    pub(super) fn op_of(&mut self, name: &ast::Ident) -> Option<OpId> {
        let found = self.protocol.op(&name.text);
        if found.is_none() {
            let known: Vec<String> = self.protocol.ops.iter().map(|o| o.name.clone()).collect();
            self.unknown(name.span, "call", &name.text, known.iter().map(String::as_str));
        }
        if found.is_some_and(|found| self.protocol.ops[found.index()].is_event) {
            self.error(Code::Claim, name.span, format!("`{}` is an event, which bodies of calls say", name.text))
                .help("programs and scenarios make calls; name the call whose body says it");
            return None;
        }
        found
    }

    fn promise(&mut self, file: &ast::File, word: &ast::Word) {
        let promise = match word.name.text.as_str() {
            "single_writer" => Some(Promise::SingleWriter),
            "last_write" => Some(Promise::LastWrite),
            "last_phase" => Some(Promise::LastPhase),
            "sequential" => Some(Promise::Sequential),
            "coherent" => Some(Promise::Coherent),
            "tso" => Some(Promise::Tso),
            "release_consistency" => self.release_consistency(word),
            "mutex" => self.calls_about_one(word).map(|c| Promise::Mutex(c[0], c[1])),
            "barrier" => self.calls(word, 1).map(|c| Promise::Barrier(c[0])),
            "copies" => self.copies(file, word),
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
                        "copies",
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
            "alternate" => self.calls_about_one(word).map(|c| Assume::Alternate(c[0], c[1])),
            "once" => self.calls(word, 1).map(|c| Assume::Once(c[0])),
            "before" => self.calls_about_one(word).map(|c| Assume::Before(c[0], c[1])),
            "quiet" => self.copying_calls(word).map(|(copy, wait)| Assume::Quiet(copy, wait)),
            other => {
                self.unknown(
                    word.name.span,
                    "assumption",
                    other,
                    [
                        "one_writer_per_phase",
                        "one_thread_per_node",
                        "home_writes",
                        "alternate",
                        "once",
                        "before",
                        "quiet",
                    ],
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
            self.error(Code::Claim, name.span, format!("what `{}` waits for is said twice", name.text))
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
