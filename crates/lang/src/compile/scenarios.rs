//! Scenarios: what their threads may do in their bodies, and the outcome that they forbid.

use super::bodies::Bodies;
use super::frame::Binding;
use super::optional::is_none;
use super::*;
use crate::ast::ExprKind as Form;
use crate::diagnostics::counted;
use trivium_diagnostic::Code;

impl Compiler {
    pub(super) fn scenario(&mut self, scenario: &ast::Scenario) {
        let taken: Vec<String> = self.protocol.scenarios.iter().map(|s| s.name.clone()).collect();
        self.fresh(&scenario.name, "scenario", &taken);
        let mut bodies = Bodies::new(self, None);
        let mut threads = Vec::new();
        for (at, (node, statements)) in scenario.threads.iter().enumerate() {
            let Some(number) = bodies.compiler.number(node) else { continue };
            if !(0..256).contains(&number) {
                bodies.compiler.error(Code::Claim, node.span, "nodes are numbered 0 to 255");
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

/// What a thread of a scenario does.
impl Bodies<'_> {
    /// A variable of the thread, which its other statements see from here on, and `forbid`.
    pub(super) fn outcome(&mut self, name: &ast::Ident) -> Option<u16> {
        if let Some((_, _, thread)) = self.owners.iter().find(|(known, ..)| *known == name.text)
            && *thread != self.thread
        {
            self.compiler
                .error(Code::Claim, name.span, format!("another thread has a variable `{}`", name.text))
                .help("a variable belongs to one thread: take another name");
            return None;
        }
        let register = self.new_variable(&name.text, true, Type::Word);
        self.owners.push((name.text.clone(), register, self.thread));
        // Of the thread's scopes it belongs to the outermost: the one with the barrier.
        let outermost = self.frame.scopes.iter_mut().rfind(|scope| scope.barrier)?;
        outermost.names.push((name.text.clone(), Binding::Local(LocalId(register))));
        Some(register)
    }

    /// A call that gives a truth value is a condition: 1 is true.
    pub(super) fn truth(&self, expr: &ast::Expr) -> ast::Expr {
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

    pub(super) fn has_result(&mut self, function: &ast::Expr) -> Option<bool> {
        let Form::Name(name) = &function.kind else { return Some(false) };
        if name == "read" {
            return Some(true);
        }
        let gives = name != "write" && {
            let op = self.compiler.op_of(&ast::Ident { text: name.clone(), span: function.span })?;
            self.compiler.protocol.ops[op.index()].result.is_some()
        };
        if !gives {
            self.compiler
                .error(Code::Claim, function.span, format!("`{name}` gives no value"))
                .help("let it stand alone");
        }
        Some(gives)
    }

    /// An access or a call.
    pub(super) fn look(&mut self, look: &ast::Expr) -> Option<ScenarioAction> {
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
                .error(Code::Claim, function.span, "this protocol has no blocks to read or write")
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
                    .error(Code::Claim, function.span, format!("`{name}` has other arguments"))
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
            self.compiler.error(Code::Claim, name.span, error);
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
            self.compiler
                .error(Code::Claim, arg.span, format!("this is no {name}"))
                .help("write its elements: `{1, 2}`");
            return None;
        };
        if let (Type::Record(_), Some(first)) = (&**of, elements.first()) {
            self.compiler
                .error(Code::Claim, first.span, format!("a scenario passes no element of {name}, which is a record"))
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
            self.compiler.error(Code::Claim, arg.span, message);
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
            self.compiler.error(Code::Claim, arg.span, format!("this is not in {wanted}"));
            return None;
        }
        Some(())
    }

    fn object(&mut self, value: ScenarioValue, arg: &ast::Expr) -> Option<u32> {
        if value.block.is_some() {
            self.compiler
                .error(Code::Claim, arg.span, "an object is named by its number")
                .help("write `0` for the first one");
            return None;
        }
        u32::try_from(value.number).ok()
    }

    /// What is stored or passed: `3`, `address(1)`, `address(1) + 8`.
    fn argument(&mut self, arg: &ast::Expr) -> Option<ScenarioValue> {
        let value = self.sum(arg)?;
        if value.number < 0 || value.number > i64::from(u32::MAX) {
            self.compiler.error(Code::Claim, arg.span, format!("{} is not from 0 to {}", value.number, u32::MAX));
            return None;
        }
        Some(value)
    }

    fn sum(&mut self, arg: &ast::Expr) -> Option<ScenarioValue> {
        match &arg.kind {
            Form::Call(function, args) if matches!(&function.kind, Form::Name(name) if name == "address") => {
                let [block] = &args[..] else {
                    self.compiler
                        .error(Code::Claim, arg.span, "`address` is asked of one block")
                        .help("write `address(0)`");
                    return None;
                };
                if !self.compiler.protocol.uses(BLOCK) {
                    self.compiler.error(Code::Claim, arg.span, "this protocol has no blocks");
                    return None;
                }
                let number = self.argument(block)?;
                Some(ScenarioValue { block: Some(self.object(number, block)?), number: 0 })
            }
            Form::Binary("+", left, right) if has_address(left) || has_address(right) => {
                let (left, right) = (self.sum(left)?, self.sum(right)?);
                if left.block.is_some() && right.block.is_some() {
                    self.compiler.error(Code::Claim, arg.span, "two addresses have no sum");
                    return None;
                }
                let number = left.number.checked_add(right.number);
                Some(ScenarioValue { block: left.block.or(right.block), number: number.unwrap_or(-1) })
            }
            _ if self.names_variable(arg) => {
                self.compiler.error(Code::Claim, arg.span, "what a thread stores and passes is known before it runs").help(
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
    pub(super) fn forbidden(&mut self, forbid: &ast::Expr) -> Option<Expr> {
        for (name, register, _) in std::mem::take(&mut self.owners) {
            self.frame.bind(&name, Binding::Local(LocalId(register)));
        }
        self.known = None;
        let mut looks = Vec::new();
        let rest = self.without_looks(forbid, &mut looks)?;
        if let Some(look) = looks.first() {
            self.compiler.error(Code::Claim, look.span, "`forbid` speaks of variables").help("set one: `r = read(0)`");
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
