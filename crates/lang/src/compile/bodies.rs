//! Bodies: what the threads of scenarios (`scenarios`) and those that make a call (`calls`) do, one step after the other.

use super::calls::{Call, does_something, filled, looks_at_image};
use super::frame::{Binding, Frame, Scope};
use super::types::NUMBER;
use super::*;
use crate::ast::{BodyForm, BodyStatement, ExprKind as Form};
use std::collections::BTreeSet;
use trivium_diagnostic::Code;

/// What stands for the result of a look in the expression that makes it. No name can be written like this.
pub(super) const RESULT: &str = "$result";

/// Variables that have been set on every way to a place; nothing where no way leads there.
type SetBefore = Option<BTreeSet<u16>>;

/// A `loop` that is being compiled.
struct Loop {
    /// The places of its `break`s.
    breaks: Vec<usize>,
    /// What is known after it.
    after: SetBefore,
}

/// The bodies of one scenario, or that of one call.
pub(super) struct Bodies<'c> {
    pub compiler: &'c mut Compiler,
    /// The call; a scenario has none.
    pub call: Option<Call>,
    /// The names of the present thread; locals are numbered as variables are.
    pub frame: Frame,
    pub variables: Vec<ScenarioVariable>,
    /// How many of these, the first ones, are the arguments of the call.
    pub passed: u16,
    /// For each variable of the outcome, its thread.
    pub owners: Vec<(String, u16, usize)>,
    /// The variables for what a look finds within an expression, one for each type. They are never looked at after another look.
    scratch: Vec<(Type, u16)>,
    pub thread: usize,
    places: Vec<BodyPlace>,
    pub known: SetBefore,
    /// Whether some way comes to the end of the body.
    pub ends_open: bool,
    loops: Vec<Loop>,
    heads: Vec<(usize, Span)>,
}

/// What is left of two ways that come together.
fn meet(a: SetBefore, b: SetBefore) -> SetBefore {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.intersection(&b).copied().collect()),
        (a, b) => a.or(b),
    }
}

impl<'c> Bodies<'c> {
    pub fn new(compiler: &'c mut Compiler, call: Option<Call>) -> Bodies<'c> {
        let mut frame = Frame::new(RoleId(u8::MAX), StateId(0), EventKind::Timer, String::new(), Access::None);
        frame.global = true;
        Bodies {
            compiler,
            call,
            frame,
            variables: Vec::new(),
            passed: 0,
            owners: Vec::new(),
            scratch: Vec::new(),
            thread: 0,
            places: Vec::new(),
            known: Some(BTreeSet::new()),
            ends_open: false,
            loops: Vec::new(),
            heads: Vec::new(),
        }
    }

    pub fn thread(&mut self, thread: usize, statements: &[BodyStatement]) -> ThreadBody {
        self.thread = thread;
        self.known = Some((0..self.passed).collect());
        // Threads do not see each other's names; a call sees its arguments.
        self.frame.scopes.push(Scope { names: Vec::new(), barrier: self.call.is_none() });
        self.block(statements);
        self.ends_open = self.known.is_some();
        self.frame.scopes.pop();
        let mut body = ThreadBody { places: std::mem::take(&mut self.places), forgets: Vec::new() };
        let end = body.places.len();
        for place in &mut body.places {
            if let BodyStep::Goto(to) = &mut place.step {
                *to = end.min(*to);
            }
        }
        self.waits_somewhere(&body);
        body.forgets = forgets(&body, &self.variables);
        body
    }

    /// Every way round a loop passes an access or a call.
    fn waits_somewhere(&mut self, body: &ThreadBody) {
        let heads = std::mem::take(&mut self.heads);
        if let Some((_, span)) = heads.into_iter().find(|(head, _)| self.comes_back_unseen(body, *head)) {
            let (what, passes) = match self.call {
                None => ("makes no access and no call", "an access or a call"),
                Some(_) => ("only looks, or tells", "an `ask` or a `swap`"),
            };
            self.compiler
                .error(Code::Handler, span, format!("this loop spins without waiting: a way round it {what}"))
                .help(format!(
                    "every way round a `loop` passes an `until`, {passes}, between which others do something"
                ));
        }
    }

    fn block(&mut self, statements: &[BodyStatement]) {
        self.frame.scopes.push(Scope::default());
        for statement in statements {
            if self.known.is_none() {
                self.compiler
                    .error(Code::Handler, statement.span, "no way leads here")
                    .help("remove it, or what is before it");
                self.known = Some((0..self.variables.len() as u16).collect());
            }
            self.statement(statement);
        }
        self.frame.scopes.pop();
    }

    fn statement(&mut self, statement: &BodyStatement) {
        let span = statement.span;
        match &statement.kind {
            BodyForm::Set { is_new, name, value } => self.set(*is_new, name, value, span),
            BodyForm::Look(look) if self.call.is_some() => {
                self.act_alone(look, span);
            }
            BodyForm::Look(look) => {
                if let Some(action) = self.look(look) {
                    self.put(BodyStep::Look(action), span);
                }
            }
            BodyForm::Tell { event, args } => match self.call {
                Some(_) => {
                    self.tell(event, args, span);
                }
                None => self.only_in_calls("tell", span),
            },
            BodyForm::Fence => match self.call {
                // What a thread has stored before has been performed: a protocol's file knows no stores of other protocols.
                Some(_) => {
                    self.put(BodyStep::Fence, span);
                }
                None => self.only_in_calls("fence", span),
            },
            BodyForm::Assert(condition) => match self.call {
                Some(_) => {
                    if let Some(condition) = self.condition(condition, span) {
                        self.put(BodyStep::Assert(condition), span);
                    }
                }
                None => self.only_in_calls("assert", span),
            },
            BodyForm::If { condition, then, otherwise } => self.branch(condition, (then, otherwise)),
            BodyForm::Loop(statements) => self.cycle(statements, span),
            BodyForm::Until(condition) => {
                let head = self.places.len();
                let Some(condition) = self.condition(condition, span) else { return };
                if self.places.len() == head {
                    self.compiler
                        .error(
                            Code::Handler,
                            span,
                            "this `until` looks at nothing, so that what it waits for does not change",
                        )
                        .help(match self.call {
                            None => "let it make an access or a call: `until read(0) == 1`",
                            Some(_) => "let it look at the image, or ask: `until image.free`",
                        });
                }
                self.put(BodyStep::Unless(condition, head), span);
            }
            BodyForm::Break => {
                let at = self.put(BodyStep::Goto(0), span);
                let known = self.known.take();
                match self.loops.last_mut() {
                    Some(innermost) => {
                        innermost.breaks.push(at);
                        innermost.after = meet(innermost.after.take(), known);
                    }
                    None => {
                        self.compiler
                            .error(Code::Handler, span, "`break` stands in no `loop`")
                            .help("`return` ends the thread");
                    }
                }
            }
            BodyForm::Return(value) => {
                if let Some(op) = self.call.as_ref().map(Call::op) {
                    self.returns(op, value.as_ref(), span);
                    self.known = None;
                    return;
                }
                if let Some(value) = value {
                    self.compiler
                        .error(Code::Handler, value.span, "a thread of a scenario returns nothing")
                        .help("keep it in a variable, which `forbid` sees: `r = ..`");
                }
                // Behind the last place: where that is, is known at the end.
                self.put(BodyStep::Goto(usize::MAX), span);
                self.known = None;
            }
        }
    }

    fn branch(&mut self, condition: &ast::Expr, ways: (&[BodyStatement], &[BodyStatement])) {
        let span = condition.span;
        let Some(condition) = self.condition(condition, span) else { return };
        let fork = self.put(BodyStep::Unless(condition, 0), span);
        let before = self.known.clone();
        self.block(ways.0);
        if ways.1.is_empty() {
            self.land(fork, self.places.len());
            self.known = meet(self.known.take(), before);
            return;
        }
        let leaves = self.known.is_some().then(|| self.put(BodyStep::Goto(0), span));
        self.land(fork, self.places.len());
        let after = std::mem::replace(&mut self.known, before);
        self.block(ways.1);
        self.known = meet(after, self.known.take());
        if let Some(leaves) = leaves {
            self.land(leaves, self.places.len());
        }
    }

    fn cycle(&mut self, statements: &[BodyStatement], span: Span) {
        let head = self.places.len();
        self.heads.push((head, span));
        self.loops.push(Loop { breaks: Vec::new(), after: None });
        self.block(statements);
        if self.known.is_some() {
            self.put(BodyStep::Goto(head), span);
        }
        let Some(Loop { breaks, after }) = self.loops.pop() else { return };
        breaks.into_iter().for_each(|at| self.land(at, self.places.len()));
        self.known = after;
    }

    fn only_in_calls(&mut self, word: &str, span: Span) {
        self.compiler
            .error(Code::Handler, span, format!("`{word}` is for the bodies of calls"))
            .help("a scenario makes accesses and calls: `read(0)`, `write(0, 1)`, `acquire(0)`");
    }

    pub fn put(&mut self, step: BodyStep, span: Span) -> usize {
        self.places.push(BodyPlace { step, span });
        self.places.len() - 1
    }

    /// Says where a step goes that was put before its goal was known.
    fn land(&mut self, at: usize, goal: usize) {
        match &mut self.places[at].step {
            BodyStep::Unless(_, to) | BodyStep::Goto(to) => *to = goal,
            _ => {}
        }
    }

    /// `let v = e`, `v = e`.
    fn set(&mut self, is_new: bool, name: &ast::Ident, value: &ast::Expr, span: Span) {
        let step = self.value(value, span);
        let ty = step.as_ref().map_or(Type::Word, |(ty, _)| ty.clone());
        // After the value, in which the name has no value yet; and where that is wrong, too, so that this is told once.
        let register = self.variable(is_new, name, &ty);
        if let (Some((_, step)), Some(register)) = (step, register) {
            let is_word = matches!(step, BodyStep::Act(CallAction::Look(_)));
            if is_word && is_new {
                self.holds_word(register);
            } else if is_word != self.is_word(register) {
                self.compiler
                    .error(Code::Handler, name.span, format!("`{}` was declared with another value", name.text))
                    .help("what an image held and a number are not the same: take two variables");
            }
            self.put(filling(step, register), span);
        }
    }

    /// The step that gives a variable a value, after the look that this needs.
    fn value(&mut self, value: &ast::Expr, span: Span) -> Option<(Type, BodyStep)> {
        let mut looks = Vec::new();
        let rest = self.without_looks(value, &mut looks)?;
        let look = self.one_look(&looks)?;
        if let (Some(look), Form::Name(name)) = (look, &rest.kind)
            && name == RESULT
        {
            return self.step_of(look);
        }
        self.look_first(look, span)?;
        if self.call.is_some() {
            let value = self.seen(&rest)?;
            let ty = self.kept_as(&value.ty, rest.span)?;
            return Some((ty, BodyStep::Set(0, value)));
        }
        let value = self.compiler.expr(&mut self.frame, &rest)?;
        if value.ty == Type::Bool {
            self.compiler
                .error(Code::Handler, rest.span, "what a scenario's thread keeps is a number, not bool")
                .help("`let again = 1`, then `if again == 1 { .. }`");
            return None;
        }
        self.compiler.require(rest.span, &value.ty, &NUMBER).then_some((Type::Word, BodyStep::Set(0, value)))
    }

    /// The step of a look, with the type of what it gives.
    fn step_of(&mut self, look: &ast::Expr) -> Option<(Type, BodyStep)> {
        match self.call {
            None => Some((Type::Word, BodyStep::Look(self.look(look)?))),
            Some(_) => {
                let (ty, action) = self.act(look)?;
                // What an image held is a number of its own kind; all others are kept alike.
                let ty = match action {
                    CallAction::Look(_) => ty,
                    _ => self.kept_as(&ty, look.span)?,
                };
                Some((ty, BodyStep::Act(action)))
            }
        }
    }

    /// The variable that a name stands for where it is set: a new one of this block, the one that is seen here, or one of the outcome.
    fn variable(&mut self, is_new: bool, name: &ast::Ident, ty: &Type) -> Option<u16> {
        let seen = match self.frame.look_up(&name.text) {
            Some(Binding::Local(local)) => Some(local.0),
            _ => None,
        };
        if self.compiler.protocol.params.iter().any(|param| param.name == name.text) {
            self.compiler
                .error(Code::Handler, name.span, format!("`{}` is a parameter", name.text))
                .help("take another name");
            return None;
        }
        if self.call.is_some() && name.text == "image" {
            self.compiler
                .error(Code::Handler, name.span, "`image` is what the line of the object holds")
                .help("take another name; `swap` and what is told change it");
            return None;
        }
        if let Some(Binding::Fault(..)) = self.frame.look_up(&name.text) {
            self.compiler
                .error(Code::Handler, name.span, format!("`{}` is the object of the call, and stays", name.text))
                .help("take another name");
            return None;
        }
        let register = match (is_new, seen) {
            (true, Some(_)) => {
                self.compiler
                    .error(Code::Handler, name.span, format!("there is already a variable `{}`", name.text))
                    .help("take another name, or leave `let` out to give it another value");
                return None;
            }
            (true, None) => {
                let register = self.new_variable(&name.text, false, ty.clone());
                self.frame.bind(&name.text, Binding::Local(LocalId(register)));
                register
            }
            (false, Some(register)) => {
                let kept = self.frame.locals[usize::from(register)].ty.clone();
                if register < self.passed {
                    self.compiler.error(
                        Code::Handler,
                        name.span,
                        format!("`{}` was passed to the call, and stays", name.text),
                    );
                    return None;
                }
                self.compiler.require(name.span, ty, &kept).then_some(register)?
            }
            (false, None) if self.call.is_some() => {
                self.compiler
                    .error(Code::Handler, name.span, format!("there is no variable `{}`", name.text))
                    .help(format!("a new one is declared: `let {} = ..`", name.text));
                return None;
            }
            (false, None) => self.outcome(name)?,
        };
        self.known.get_or_insert_default().insert(register);
        Some(register)
    }

    pub fn new_variable(&mut self, name: &str, is_outcome: bool, ty: Type) -> u16 {
        let local = self.frame.hidden_local(&self.compiler.protocol, name, ty);
        self.variables.push(ScenarioVariable { name: name.to_string(), is_outcome });
        local.0
    }

    /// A condition, with the look that it makes before it.
    fn condition(&mut self, condition: &ast::Expr, span: Span) -> Option<Expr> {
        let truth = if self.call.is_some() { condition.clone() } else { self.truth(condition) };
        let rest = self.looked_at_first(&truth, span)?;
        match self.call {
            None => self.compiler.expr_of(&mut self.frame, &rest, &Type::Bool),
            Some(_) => self.seen_as(&rest, &Type::Bool),
        }
    }

    /// An expression whose look, if it makes one, comes before it.
    pub fn looked_at_first(&mut self, expr: &ast::Expr, span: Span) -> Option<ast::Expr> {
        let mut looks = Vec::new();
        let rest = self.without_looks(expr, &mut looks)?;
        let look = self.one_look(&looks)?;
        self.look_first(look, span)?;
        Some(rest)
    }

    fn one_look<'e>(&mut self, looks: &[&'e ast::Expr]) -> Option<Option<&'e ast::Expr>> {
        if let [_, second, ..] = looks {
            self.compiler.error(Code::Handler, second.span, "an expression makes one access or call").help(
                "others may act between two: keep each in a variable, `let a = ..`, and write the expression of these",
            );
            return None;
        }
        Some(looks.first().copied())
    }

    /// The look of an expression, before the expression: its result is `RESULT` from here on.
    fn look_first(&mut self, look: Option<&ast::Expr>, span: Span) -> Option<()> {
        let Some(look) = look else { return Some(()) };
        let (ty, action) = self.step_of(look)?;
        let scratch = self.scratch(ty);
        self.frame.bind(RESULT, Binding::Local(LocalId(scratch)));
        self.put(filling(action, scratch), span);
        Some(())
    }

    /// The variable for what a look of a type finds.
    pub fn scratch(&mut self, ty: Type) -> u16 {
        if let Some((_, variable)) = self.scratch.iter().find(|(known, _)| *known == ty) {
            return *variable;
        }
        let variable = self.new_variable("", false, ty.clone());
        self.scratch.push((ty, variable));
        variable
    }

    /// An expression with a name in place of each look, which is noted. Everything in it is something that a thread sees.
    pub fn without_looks<'e>(&mut self, expr: &'e ast::Expr, looks: &mut Vec<&'e ast::Expr>) -> Option<ast::Expr> {
        if let Some((place, is_look)) = self.place_of_act(expr) {
            // All that an expression sees of an image is one look at it.
            if is_look && !(looks_at_image(expr) && looks.iter().any(|look| looks_at_image(look))) {
                looks.push(expr);
            }
            return place;
        }
        let kind = match &expr.kind {
            Form::Int(number) => Form::Int(*number),
            Form::Name(name) => {
                self.is_set_before(name, expr.span)?;
                Form::Name(name.clone())
            }
            Form::Not(inner) => Form::Not(Box::new(self.without_looks(inner, looks)?)),
            Form::Negate(inner) => Form::Negate(Box::new(self.without_looks(inner, looks)?)),
            Form::Binary(op @ ("and" | "or"), left, right) if does_something(left) || does_something(right) => {
                self.compiler
                    .error(
                        Code::Handler,
                        expr.span,
                        format!("what is asked or swapped here happens whatever the rest of this `{op}` is"),
                    )
                    .help("let it stand alone in a condition of its own: `if a { if swap v with {..} { .. } }`");
                return None;
            }
            Form::Binary(op, left, right) => {
                let left = self.without_looks(left, looks)?;
                Form::Binary(op, Box::new(left), Box::new(self.without_looks(right, looks)?))
            }
            Form::Set(elements) => {
                let elements: Option<Vec<ast::Expr>> = elements.iter().map(|e| self.without_looks(e, looks)).collect();
                Form::Set(elements?)
            }
            Form::Call(function, _) if self.call.is_none() && matches!(function.kind, Form::Name(_)) => {
                looks.push(expr);
                if !self.has_result(function)? {
                    return None;
                }
                Form::Name(RESULT.into())
            }
            _ => {
                self.unseen(expr.span);
                return None;
            }
        };
        Some(ast::Expr { kind, span: expr.span })
    }

    fn unseen(&mut self, span: Span) {
        self.compiler
            .error(
                Code::Handler,
                span,
                match self.call {
                    None => "a thread sees variables of its own, and what its accesses and calls give",
                    Some(_) => "a body sees variables of its own, the image of its object, and what events give",
                },
            )
            .help("roles, states and messages are seen by invariants and ghosts");
    }

    /// Whether a name that is seen in an expression stands for something that has a value there.
    pub fn is_set_before(&mut self, name: &str, span: Span) -> Option<()> {
        match self.frame.look_up(name) {
            Some(Binding::Local(local)) => {
                if self.is_word(local.0) && name != RESULT {
                    self.compiler
                        .error(Code::Handler, span, format!("`{name}` is all that the image held"))
                        .help(format!("look at a field of it: `{name}.FIELD`"));
                    return None;
                }
                let is_set = self.known.as_ref().is_none_or(|known| known.contains(&local.0));
                if !is_set {
                    self.compiler
                        .error(Code::Handler, span, format!("`{name}` may be looked at before it is set"))
                        .help("some way to here does not set it: set it first, for instance to 0");
                    return None;
                }
            }
            _ if self.owners.iter().any(|(known, ..)| known == name) => {
                self.compiler
                    .error(Code::Handler, span, format!("`{name}` is a variable of another thread"))
                    .help("threads see of each other what they load, and what calls give them");
                return None;
            }
            _ if self.compiler.protocol.role(name).is_some() || matches!(name, "me" | "home" | "all") => {
                self.unseen(span);
                return None;
            }
            _ if self.compiler.protocol.params.iter().any(|param| param.name == name) => {}
            // The object of the call.
            Some(Binding::Fault(..)) => {}
            _ if matches!(name, "nodes" | "true" | "false" | "none") => {}
            _ => {
                let seen = self.frame.visible().into_iter().map(|(known, _)| known).filter(|known| known != RESULT);
                let params = self.compiler.protocol.params.iter().map(|param| param.name.clone());
                let known: Vec<String> = seen.chain(params).collect();
                self.compiler.unknown(span, "variable", name, known.iter().map(String::as_str));
                return None;
            }
        }
        Some(())
    }

    /// Where control may go from a place while nobody else does anything that this thread waits for.
    fn ways_unseen(&self, body: &ThreadBody, at: usize) -> Vec<usize> {
        let is_until =
            || matches!(body.places.get(at + 1).map(|place| &place.step), Some(BodyStep::Unless(_, to)) if *to == at);
        match &body.places[at].step {
            BodyStep::Act(CallAction::Look(_)) if !is_until() => vec![at + 1],
            BodyStep::Act(CallAction::Say { event, .. }) if self.compiler.protocol.ops[event.index()].is_told() => {
                vec![at + 1]
            }
            _ => body.silent_ways(at),
        }
    }

    /// Whether control can come from a place back to it without waiting for others: without an access or a call in a scenario, without
    /// `until`, `ask` or `swap` in the body of a call.
    fn comes_back_unseen(&self, body: &ThreadBody, head: usize) -> bool {
        let mut seen = vec![false; body.places.len()];
        let mut waiting = vec![head];
        while let Some(at) = waiting.pop() {
            if at >= body.places.len() {
                continue;
            }
            for to in self.ways_unseen(body, at) {
                if to == head {
                    return true;
                }
                if let Some(seen) = seen.get_mut(to).filter(|seen| !**seen) {
                    *seen = true;
                    waiting.push(to);
                }
            }
        }
        false
    }
}

/// The same step for this variable.
fn filling(step: BodyStep, register: u16) -> BodyStep {
    let result = Some(register);
    match step {
        BodyStep::Act(action) => BodyStep::Act(filled(action, register)),
        BodyStep::Set(_, value) => BodyStep::Set(register, value),
        BodyStep::Look(ScenarioAction::Read { block, .. }) => {
            BodyStep::Look(ScenarioAction::Read { block, register: result })
        }
        BodyStep::Look(ScenarioAction::Call { op, object, args, .. }) => {
            BodyStep::Look(ScenarioAction::Call { op, object, args, register: result })
        }
        other => other,
    }
}

/// For each place, and the end, the variables beside the outcome that nobody looks at from there on before they are set.
fn forgets(body: &ThreadBody, variables: &[ScenarioVariable]) -> Vec<Vec<u16>> {
    let end = body.places.len();
    let mut needed = vec![BTreeSet::new(); end + 1];
    loop {
        let before = needed.clone();
        for at in (0..end).rev() {
            let mut here: BTreeSet<u16> = BTreeSet::new();
            for to in body.ways(at) {
                here.extend(&needed[to.min(end)]);
            }
            match &body.places[at].step {
                BodyStep::Look(action) => {
                    action.register().map(|register| here.remove(&register));
                }
                BodyStep::Act(action) => {
                    action.register().map(|register| here.remove(&register));
                    let (values, seen) = action.reads();
                    values.iter().for_each(|value| looked_at(value, &mut here));
                    here.extend(seen);
                }
                BodyStep::Return(value) => value.iter().for_each(|value| looked_at(value, &mut here)),
                BodyStep::Set(register, value) => {
                    here.remove(register);
                    looked_at(value, &mut here);
                }
                BodyStep::Unless(condition, _) | BodyStep::Assert(condition) => looked_at(condition, &mut here),
                BodyStep::Goto(_) | BodyStep::Fence => {}
            }
            needed[at] = here;
        }
        if needed == before {
            break;
        }
    }
    let set: BTreeSet<u16> = body
        .places
        .iter()
        .filter_map(|place| match &place.step {
            BodyStep::Look(action) => action.register(),
            BodyStep::Act(action) => action.register(),
            BodyStep::Set(register, _) => Some(*register),
            _ => None,
        })
        .filter(|register| !variables[usize::from(*register)].is_outcome)
        .collect();
    needed.iter().map(|needed| set.difference(needed).copied().collect()).collect()
}

fn looked_at(expr: &Expr, found: &mut BTreeSet<u16>) {
    walk::visit(expr, &mut |part| {
        if let ExprKind::Local(local) = part.kind {
            found.insert(local.0);
        }
    });
}
