//! Scenarios: the bodies of their threads, and the outcome that they forbid.

use super::frame::{Binding, Frame, Scope};
use super::optional::is_none;
use super::types::NUMBER;
use super::*;
use crate::ast::{BodyForm, BodyStatement, ExprKind as Form};
use crate::diagnostics::counted;
use std::collections::BTreeSet;

/// What stands for the result of a look in the expression that makes it. No name can be written like this.
const RESULT: &str = "$result";

impl Compiler {
    pub(super) fn scenario(&mut self, scenario: &ast::Scenario) {
        let taken: Vec<String> = self.protocol.scenarios.iter().map(|s| s.name.clone()).collect();
        self.fresh(&scenario.name, "scenario", &taken);
        let mut bodies = Bodies::new(self);
        let mut threads = Vec::new();
        for (at, (node, statements)) in scenario.threads.iter().enumerate() {
            let Some(number) = bodies.compiler.number(node) else { continue };
            if !(0..256).contains(&number) {
                bodies.compiler.error(node.span, "nodes are numbered 0 to 255");
                continue;
            }
            threads.push(ScenarioThread { node: number as u32, body: bodies.thread(at, statements) });
        }
        let forbid = scenario.forbid.as_ref().and_then(|forbid| bodies.forbidden(forbid));
        let registers = bodies.variables;
        let name = scenario.name.text.clone();
        let homes = self.homes(&scenario.homes);
        let at =
            scenario.homes.iter().flat_map(|kind| kind.numbers.iter().map(move |number| (&kind.kind.text, number)));
        let homes_at = at.filter_map(|(kind, &(node, span))| Some((kind.clone(), u32::try_from(node).ok()?, span)));
        let homes_at = homes_at.collect();
        let span = scenario.span;
        self.protocol.scenarios.push(Scenario { name, homes, homes_at, threads, registers, forbid, span });
    }
}

/// Variables that have been set on every way to a place; nothing where no way leads there.
type SetBefore = Option<BTreeSet<u16>>;

/// A `loop` that is being compiled.
struct Loop {
    /// The places of its `break`s.
    breaks: Vec<usize>,
    /// What is known after it.
    after: SetBefore,
}

/// The bodies of one scenario.
struct Bodies<'c> {
    compiler: &'c mut Compiler,
    /// The names of the present thread; locals are numbered as variables are.
    frame: Frame,
    variables: Vec<ScenarioVariable>,
    /// For each variable of the outcome, its thread.
    owners: Vec<(String, u16, usize)>,
    /// The variable for what a look finds within an expression. It is never looked at after another look.
    scratch: Option<u16>,
    thread: usize,
    places: Vec<BodyPlace>,
    known: SetBefore,
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
    fn new(compiler: &'c mut Compiler) -> Bodies<'c> {
        let mut frame = Frame::new(RoleId(u8::MAX), StateId(0), EventKind::Timer, String::new(), Access::None);
        frame.global = true;
        Bodies {
            compiler,
            frame,
            variables: Vec::new(),
            owners: Vec::new(),
            scratch: None,
            thread: 0,
            places: Vec::new(),
            known: Some(BTreeSet::new()),
            loops: Vec::new(),
            heads: Vec::new(),
        }
    }

    fn thread(&mut self, thread: usize, statements: &[BodyStatement]) -> ThreadBody {
        self.thread = thread;
        self.known = Some(BTreeSet::new());
        self.frame.scopes.push(Scope { names: Vec::new(), barrier: true });
        self.block(statements);
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
        if let Some((_, span)) = heads.into_iter().find(|(head, _)| comes_back_unseen(body, *head)) {
            self.compiler.error(span, "this loop spins without waiting: a way round it makes no access and no call").help(
                "every way round a `loop` passes an `until`, an access or a call, between which others do something",
            );
        }
    }

    fn block(&mut self, statements: &[BodyStatement]) {
        self.frame.scopes.push(Scope::default());
        for statement in statements {
            if self.known.is_none() {
                self.compiler.error(statement.span, "no way leads here").help("remove it, or what is before it");
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
            BodyForm::Look(look) => {
                if let Some(action) = self.look(look) {
                    self.put(BodyStep::Look(action), span);
                }
            }
            BodyForm::If { condition, then, otherwise } => self.branch(condition, (then, otherwise)),
            BodyForm::Loop(statements) => self.cycle(statements, span),
            BodyForm::Until(condition) => {
                let head = self.places.len();
                let Some(condition) = self.condition(condition, span) else { return };
                if self.places.len() == head {
                    self.compiler
                        .error(span, "this `until` looks at nothing, so that what it waits for does not change")
                        .help("let it make an access or a call: `until read(0) == 1`");
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
                        self.compiler.error(span, "`break` stands in no `loop`").help("`return` ends the thread");
                    }
                }
            }
            BodyForm::Return(value) => {
                if let Some(value) = value {
                    self.compiler
                        .error(value.span, "a thread of a scenario returns nothing")
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

    fn put(&mut self, step: BodyStep, span: Span) -> usize {
        self.places.push(BodyPlace { step, span });
        self.places.len() - 1
    }

    /// Says where a step goes that was put before its goal was known.
    fn land(&mut self, at: usize, goal: usize) {
        match &mut self.places[at].step {
            BodyStep::Unless(_, to) | BodyStep::Goto(to) => *to = goal,
            BodyStep::Look(_) | BodyStep::Set(..) => {}
        }
    }

    /// `let v = e`, `v = e`.
    fn set(&mut self, is_new: bool, name: &ast::Ident, value: &ast::Expr, span: Span) {
        let step = self.value(value, span);
        // After the value, in which the name has no value yet; and where that is wrong, too, so that this is told once.
        let register = self.variable(is_new, name);
        if let (Some(step), Some(register)) = (step, register) {
            self.put(filling(step, register), span);
        }
    }

    /// The step that gives a variable a value, after the look that this needs.
    fn value(&mut self, value: &ast::Expr, span: Span) -> Option<BodyStep> {
        let mut looks = Vec::new();
        let rest = self.without_looks(value, &mut looks)?;
        let look = self.one_look(&looks)?;
        if let (Some(look), Form::Name(name)) = (look, &rest.kind)
            && name == RESULT
        {
            return self.look(look).map(BodyStep::Look);
        }
        self.look_first(look, span)?;
        let value = self.compiler.expr(&mut self.frame, &rest)?;
        if value.ty == Type::Bool {
            self.compiler
                .error(rest.span, "what a scenario's thread keeps is a number, not bool")
                .help("`let again = 1`, then `if again == 1 { .. }`");
            return None;
        }
        self.compiler.require(rest.span, &value.ty, &NUMBER).then_some(BodyStep::Set(0, value))
    }

    /// The variable that a name stands for where it is set: a new one of this block, the one that is seen here, or one of the outcome.
    fn variable(&mut self, is_new: bool, name: &ast::Ident) -> Option<u16> {
        let seen = match self.frame.look_up(&name.text) {
            Some(Binding::Local(local)) => Some(local.0),
            _ => None,
        };
        if self.compiler.protocol.params.iter().any(|param| param.name == name.text) {
            self.compiler.error(name.span, format!("`{}` is a parameter", name.text)).help("take another name");
            return None;
        }
        let register = match (is_new, seen) {
            (true, Some(_)) => {
                self.compiler
                    .error(name.span, format!("there is already a variable `{}`", name.text))
                    .help("take another name, or leave `let` out to give it another value");
                return None;
            }
            (true, None) => {
                let register = self.new_variable(&name.text, false);
                self.frame.bind(&name.text, Binding::Local(LocalId(register)));
                register
            }
            (false, Some(register)) => register,
            (false, None) => self.outcome(name)?,
        };
        self.known.get_or_insert_default().insert(register);
        Some(register)
    }

    /// A variable of the thread, which its other statements see from here on, and `forbid`.
    fn outcome(&mut self, name: &ast::Ident) -> Option<u16> {
        if let Some((_, _, thread)) = self.owners.iter().find(|(known, ..)| *known == name.text)
            && *thread != self.thread
        {
            self.compiler
                .error(name.span, format!("another thread has a variable `{}`", name.text))
                .help("a variable belongs to one thread: take another name");
            return None;
        }
        let register = self.new_variable(&name.text, true);
        self.owners.push((name.text.clone(), register, self.thread));
        // Of the thread's scopes it belongs to the outermost: the one with the barrier.
        let outermost = self.frame.scopes.iter_mut().rfind(|scope| scope.barrier)?;
        outermost.names.push((name.text.clone(), Binding::Local(LocalId(register))));
        Some(register)
    }

    fn new_variable(&mut self, name: &str, is_outcome: bool) -> u16 {
        let local = self.frame.hidden_local(&self.compiler.protocol, name, Type::Word);
        self.variables.push(ScenarioVariable { name: name.to_string(), is_outcome });
        local.0
    }

    /// A condition, with the look that it makes before it.
    fn condition(&mut self, condition: &ast::Expr, span: Span) -> Option<Expr> {
        let mut looks = Vec::new();
        let truth = self.truth(condition);
        let rest = self.without_looks(&truth, &mut looks)?;
        let look = self.one_look(&looks)?;
        self.look_first(look, span)?;
        self.compiler.expr_of(&mut self.frame, &rest, &Type::Bool)
    }

    /// A call that gives a truth value is a condition: 1 is true.
    fn truth(&self, expr: &ast::Expr) -> ast::Expr {
        let boxed = |inner| Box::new(self.truth(inner));
        let kind = match &expr.kind {
            Form::Not(inner) => Form::Not(boxed(inner)),
            Form::Binary(op @ ("and" | "or"), left, right) => Form::Binary(op, boxed(left), boxed(right)),
            Form::Call(function, _) if self.gives_truth(function) => {
                let zero = ast::Expr { kind: Form::Int(0), span: expr.span };
                Form::Binary("!=", Box::new(expr.clone()), Box::new(zero))
            }
            other => other.clone(),
        };
        ast::Expr { kind, span: expr.span }
    }

    fn gives_truth(&self, function: &ast::Expr) -> bool {
        let Form::Name(name) = &function.kind else { return false };
        let protocol = &self.compiler.protocol;
        protocol.op(name).is_some_and(|op| protocol.ops[op.index()].result == Some(Type::Bool))
    }

    fn one_look<'e>(&mut self, looks: &[&'e ast::Expr]) -> Option<Option<&'e ast::Expr>> {
        if let [_, second, ..] = looks {
            self.compiler.error(second.span, "an expression makes one access or call").help(
                "others may act between two: keep each in a variable, `let a = ..`, and write the expression of these",
            );
            return None;
        }
        Some(looks.first().copied())
    }

    /// The look of an expression, before the expression: its result is `RESULT` from here on.
    fn look_first(&mut self, look: Option<&ast::Expr>, span: Span) -> Option<()> {
        let Some(look) = look else { return Some(()) };
        let action = BodyStep::Look(self.look(look)?);
        let scratch = self.scratch.unwrap_or_else(|| self.new_variable("", false));
        self.scratch = Some(scratch);
        self.frame.bind(RESULT, Binding::Local(LocalId(scratch)));
        self.put(filling(action, scratch), span);
        Some(())
    }

    /// An expression with a name in place of each look, which is noted. Everything in it is something that a thread sees.
    fn without_looks<'e>(&mut self, expr: &'e ast::Expr, looks: &mut Vec<&'e ast::Expr>) -> Option<ast::Expr> {
        let kind = match &expr.kind {
            Form::Int(number) => Form::Int(*number),
            Form::Name(name) => {
                self.is_set_before(name, expr.span)?;
                Form::Name(name.clone())
            }
            Form::Not(inner) => Form::Not(Box::new(self.without_looks(inner, looks)?)),
            Form::Negate(inner) => Form::Negate(Box::new(self.without_looks(inner, looks)?)),
            Form::Binary(op, left, right) => {
                let left = self.without_looks(left, looks)?;
                Form::Binary(op, Box::new(left), Box::new(self.without_looks(right, looks)?))
            }
            Form::Set(elements) => {
                let elements: Option<Vec<ast::Expr>> = elements.iter().map(|e| self.without_looks(e, looks)).collect();
                Form::Set(elements?)
            }
            Form::Call(function, _) if matches!(function.kind, Form::Name(_)) => {
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
            .error(span, "a thread sees variables of its own, and what its accesses and calls give")
            .help("roles, states and messages are seen by invariants and ghosts");
    }

    /// Whether a name that is seen in an expression stands for something that has a value there.
    fn is_set_before(&mut self, name: &str, span: Span) -> Option<()> {
        match self.frame.look_up(name) {
            Some(Binding::Local(local)) => {
                let is_set = self.known.as_ref().is_none_or(|known| known.contains(&local.0));
                if !is_set {
                    self.compiler
                        .error(span, format!("`{name}` may be looked at before it is set"))
                        .help("some way to here does not set it: set it first, for instance to 0");
                    return None;
                }
            }
            _ if self.owners.iter().any(|(known, ..)| known == name) => {
                self.compiler
                    .error(span, format!("`{name}` is a variable of another thread"))
                    .help("threads see of each other what they load, and what calls give them");
                return None;
            }
            _ if self.compiler.protocol.role(name).is_some() || matches!(name, "me" | "home" | "all") => {
                self.unseen(span);
                return None;
            }
            _ if self.compiler.protocol.params.iter().any(|param| param.name == name) => {}
            _ if matches!(name, "nodes" | "true" | "false" | "none") => {}
            _ => {
                let seen = self.frame.visible().into_iter().map(|(known, _)| known).filter(|known| known != RESULT);
                let params = self.compiler.protocol.params.iter().map(|param| param.name.clone());
                let known: Vec<String> = seen.chain(params).collect();
                self.compiler.unknown(span, "variable or value", name, known.iter().map(String::as_str));
                return None;
            }
        }
        Some(())
    }

    fn has_result(&mut self, function: &ast::Expr) -> Option<bool> {
        let Form::Name(name) = &function.kind else { return Some(false) };
        if name == "read" {
            return Some(true);
        }
        let gives = name != "write" && {
            let op = self.compiler.op_of(&ast::Ident { text: name.clone(), span: function.span })?;
            self.compiler.protocol.ops[op.index()].result.is_some()
        };
        if !gives {
            self.compiler.error(function.span, format!("`{name}` gives no value")).help("let it stand alone");
        }
        Some(gives)
    }

    /// An access or a call.
    fn look(&mut self, look: &ast::Expr) -> Option<ScenarioAction> {
        let Form::Call(function, args) = &look.kind else { return None };
        let Form::Name(name) = &function.kind else { return None };
        let is_access = matches!(name.as_str(), "read" | "write");
        if !is_access {
            return self.call(&ast::Ident { text: name.clone(), span: function.span }, args);
        }
        let values: Option<Vec<ScenarioValue>> = args.iter().map(|arg| self.argument(arg)).collect();
        let values = values?;
        if !self.compiler.protocol.uses(BLOCK) {
            self.compiler
                .error(function.span, "this protocol has no blocks to read or write")
                .help("a scenario makes the calls that the protocol declares");
            return None;
        }
        match (name.as_str(), &values[..]) {
            ("read", [block]) => Some(ScenarioAction::Read { block: self.object(*block, &args[0])?, register: None }),
            ("write", [block, value]) => {
                Some(ScenarioAction::Write { block: self.object(*block, &args[0])?, value: *value })
            }
            _ => {
                self.compiler
                    .error(function.span, format!("`{name}` has other arguments"))
                    .help("write `read(block)` or `write(block, value)`");
                None
            }
        }
    }

    fn call(&mut self, name: &ast::Ident, args: &[ast::Expr]) -> Option<ScenarioAction> {
        let op = self.compiler.op_of(name)?;
        let declared = self.compiler.protocol.ops[op.index()].clone();
        let skip = usize::from(declared.object != NODE);
        let wanted = declared.args.len() + skip;
        if args.len() != wanted {
            let error = format!("`{}` takes {}", name.text, counted(wanted, "argument"));
            self.compiler.error(name.span, error);
            return None;
        }
        let object = match skip {
            0 => 0,
            _ => {
                let number = self.argument(&args[0])?;
                self.object(number, &args[0])?
            }
        };
        let mut values = Vec::new();
        for (arg, field) in args[skip..].iter().zip(&declared.args) {
            self.passed(arg, &field.ty, &mut values)?;
        }
        Some(ScenarioAction::Call { op, object, args: values, register: None })
    }

    /// What is passed for a parameter ([`Protocol::passed_for`]): `3`, or of a list or array `{1, 2}`.
    fn passed(&mut self, arg: &ast::Expr, ty: &Type, values: &mut Vec<ScenarioValue>) -> Option<()> {
        let (Type::List { of, .. } | Type::Array { of, .. }) = ty else {
            values.push(self.scalar_passed(arg, ty)?);
            return Some(());
        };
        let name = self.compiler.type_name(ty);
        let Form::Set(elements) = &arg.kind else {
            self.compiler.error(arg.span, format!("this is no {name}")).help("write its elements: `{1, 2}`");
            return None;
        };
        if let (Type::Record(_), Some(first)) = (&**of, elements.first()) {
            self.compiler
                .error(first.span, format!("a scenario passes no element of {name}, which is a record"))
                .help("pass an empty list, `{}`, or look at it under the most general client (--no-scenarios)");
            return None;
        }
        let (all, given) = (self.compiler.protocol.passed_for(ty), elements.len());
        let (is_list, at) = (matches!(ty, Type::List { .. }), values.len());
        if is_list {
            values.push(number(given as i64));
        }
        for element in elements {
            values.push(self.scalar_passed(element, of)?);
        }
        let taken = values.len() - at;
        if taken > all || (!is_list && taken < all) {
            let message =
                format!("{} given, and {name} takes {}", counted(given, "element"), all - usize::from(is_list));
            self.compiler.error(arg.span, message);
            return None;
        }
        values.resize(at + all, number(0));
        Some(())
    }

    /// A number, or `none` where that is passed.
    fn scalar_passed(&mut self, arg: &ast::Expr, ty: &Type) -> Option<ScenarioValue> {
        let may_be_none = matches!(ty, Type::OrNone(_) | Type::ObjectOrNone(_) | Type::Node { optional: true });
        if may_be_none && is_none(arg) {
            return Some(number(ty.none()));
        }
        let value = self.argument(arg)?;
        self.fits(value, arg, ty)?;
        Some(value)
    }

    /// Whether a call takes an argument. With other parameters than the file declares `check` looks, where the scenario is run: the file means something
    /// without it.
    fn fits(&mut self, value: ScenarioValue, arg: &ast::Expr, ty: &Type) -> Option<()> {
        let is_outside = match ty.given().unwrap_or(ty) {
            Type::Int { .. } if self.compiler.protocol.params.iter().any(|param| param.value != param.declared) => {
                false
            }
            Type::Int { lo, hi } if value.block.is_none() => {
                value.number < lo.at(1).min(lo.at(MAX_NODES)) || value.number > hi.at(MAX_NODES).max(hi.at(1))
            }
            Type::Bool => value.block.is_some() || value.number > 1,
            Type::Address | Type::Word => false,
            _ => value.block.is_some(),
        };
        if is_outside {
            let wanted = self.compiler.type_name(ty);
            self.compiler.error(arg.span, format!("this is not in {wanted}"));
            return None;
        }
        Some(())
    }

    fn object(&mut self, value: ScenarioValue, arg: &ast::Expr) -> Option<u32> {
        if value.block.is_some() {
            self.compiler.error(arg.span, "an object is named by its number").help("write `0` for the first one");
            return None;
        }
        u32::try_from(value.number).ok()
    }

    /// What is stored or passed: `3`, `address(1)`, `address(1) + 8`.
    fn argument(&mut self, arg: &ast::Expr) -> Option<ScenarioValue> {
        let value = self.sum(arg)?;
        if value.number < 0 || value.number > i64::from(u32::MAX) {
            self.compiler.error(arg.span, format!("{} is not from 0 to {}", value.number, u32::MAX));
            return None;
        }
        Some(value)
    }

    fn sum(&mut self, arg: &ast::Expr) -> Option<ScenarioValue> {
        match &arg.kind {
            Form::Call(function, args) if matches!(&function.kind, Form::Name(name) if name == "address") => {
                let [block] = &args[..] else {
                    self.compiler.error(arg.span, "`address` is asked of one block").help("write `address(0)`");
                    return None;
                };
                if !self.compiler.protocol.uses(BLOCK) {
                    self.compiler.error(arg.span, "this protocol has no blocks");
                    return None;
                }
                let number = self.argument(block)?;
                Some(ScenarioValue { block: Some(self.object(number, block)?), number: 0 })
            }
            Form::Binary("+", left, right) if has_address(left) || has_address(right) => {
                let (left, right) = (self.sum(left)?, self.sum(right)?);
                if left.block.is_some() && right.block.is_some() {
                    self.compiler.error(arg.span, "two addresses have no sum");
                    return None;
                }
                let number = left.number.checked_add(right.number);
                Some(ScenarioValue { block: left.block.or(right.block), number: number.unwrap_or(-1) })
            }
            _ if self.names_variable(arg) => {
                self.compiler.error(arg.span, "what a thread stores and passes is known before it runs").help(
                    "write one access or call for each value, after `if`: `if v == 1 { write(0, 1) } else { write(0, 2) }`",
                );
                None
            }
            _ => Some(ScenarioValue { block: None, number: self.compiler.number(arg)? }),
        }
    }

    fn names_variable(&self, expr: &ast::Expr) -> bool {
        match &expr.kind {
            Form::Name(name) => matches!(self.frame.look_up(name), Some(Binding::Local(_))),
            Form::Negate(inner) => self.names_variable(inner),
            Form::Binary(_, left, right) => self.names_variable(left) || self.names_variable(right),
            _ => false,
        }
    }

    /// The outcome that must not be, over the variables of all threads.
    fn forbidden(&mut self, forbid: &ast::Expr) -> Option<Expr> {
        for (name, register, _) in std::mem::take(&mut self.owners) {
            self.frame.bind(&name, Binding::Local(LocalId(register)));
        }
        self.known = None;
        let mut looks = Vec::new();
        let rest = self.without_looks(forbid, &mut looks)?;
        if let Some(look) = looks.first() {
            self.compiler.error(look.span, "`forbid` speaks of variables").help("set one: `r = read(0)`");
            return None;
        }
        self.compiler.expr_of(&mut self.frame, &rest, &Type::Bool)
    }
}

fn number(number: i64) -> ScenarioValue {
    ScenarioValue { block: None, number }
}

fn has_address(expr: &ast::Expr) -> bool {
    match &expr.kind {
        Form::Call(function, _) => matches!(&function.kind, Form::Name(name) if name == "address"),
        Form::Binary(_, left, right) => has_address(left) || has_address(right),
        _ => false,
    }
}

/// The same step for this variable.
fn filling(step: BodyStep, register: u16) -> BodyStep {
    let filled = Some(register);
    match step {
        BodyStep::Set(_, value) => BodyStep::Set(register, value),
        BodyStep::Look(ScenarioAction::Read { block, .. }) => {
            BodyStep::Look(ScenarioAction::Read { block, register: filled })
        }
        BodyStep::Look(ScenarioAction::Call { op, object, args, .. }) => {
            BodyStep::Look(ScenarioAction::Call { op, object, args, register: filled })
        }
        other => other,
    }
}

/// Whether control can come from a place back to it without an access or a call.
fn comes_back_unseen(body: &ThreadBody, head: usize) -> bool {
    let mut seen = vec![false; body.places.len()];
    let mut waiting = vec![head];
    while let Some(at) = waiting.pop() {
        if at >= body.places.len() {
            continue;
        }
        for to in body.silent_ways(at) {
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
                BodyStep::Set(register, value) => {
                    here.remove(register);
                    looked_at(value, &mut here);
                }
                BodyStep::Unless(condition, _) => looked_at(condition, &mut here),
                BodyStep::Goto(_) => {}
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
