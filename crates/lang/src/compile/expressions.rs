//! Expressions: names looked up, types checked, constants folded.

use super::frame::{Binding, Frame, Origin};
use super::optional::{self, coerced, is_none, plain};
use super::places::Target;
use super::types::{ANY_NODE, NUMBER, SOME_NODE, is_number, is_scalar, is_set};
use super::*;
use trivium_diagnostic::Code;

impl Compiler {
    /// A number that is known now, such as `2 * k` of a parameter.
    pub(super) fn number(&mut self, expr: &ast::Expr) -> Option<i64> {
        let bound = self.bound(expr)?;
        if bound.per_node != 0 {
            self.error(Code::Type, expr.span, "this must not depend on the number of nodes");
            return None;
        }
        Some(bound.constant)
    }

    /// A number that is known when the number of nodes is: `nodes - 1`.
    pub(super) fn bound(&mut self, expr: &ast::Expr) -> Option<Bound> {
        let mut frame = Frame::new(RoleId(u8::MAX), StateId(0), EventKind::Timer, String::new(), Access::None);
        frame.global = true;
        let lowered = self.expr(&mut frame, expr)?;
        match (&lowered.kind, is_number(&lowered.ty)) {
            (ExprKind::Constant(bound), true) => Some(*bound),
            _ => {
                self.error(Code::Type, expr.span, "expected a number that is known before the protocol runs")
                    .help("use numbers, parameters, `nodes`, `+`, `-`, `*`");
                None
            }
        }
    }

    /// A number that is known when the number of nodes is, and need not be linear in it: `nodes * (nodes - 1) / 2`.
    pub(super) fn formula(&mut self, expr: &ast::Expr) -> Option<Formula> {
        let operator = match &expr.kind {
            ast::ExprKind::Binary("+", ..) => Operator::Add,
            ast::ExprKind::Binary("-", ..) => Operator::Subtract,
            ast::ExprKind::Binary("*", ..) => Operator::Multiply,
            ast::ExprKind::Binary("/", ..) => Operator::Divide,
            _ => {
                let Bound { constant, per_node } = self.bound(expr)?;
                let nodes = Formula::of(Operator::Multiply, Formula::Number(per_node), Formula::Nodes);
                return Some(match (constant, per_node) {
                    (_, 0) => Formula::Number(constant),
                    (0, 1) => Formula::Nodes,
                    (0, _) => nodes,
                    _ => Formula::of(Operator::Add, nodes, Formula::Number(constant)),
                });
            }
        };
        let ast::ExprKind::Binary(_, left, right) = &expr.kind else { return None };
        let (left, right) = (self.formula(left), self.formula(right));
        Some(Formula::of(operator, left?, right?))
    }

    /// An expression of a wanted type.
    pub(super) fn expr_of(&mut self, frame: &mut Frame, expr: &ast::Expr, wanted: &Type) -> Option<Expr> {
        let lowered = match (&expr.kind, wanted) {
            (ast::ExprKind::Set(elements), Type::IntSet { .. }) => {
                let elements: Option<Vec<Expr>> = elements.iter().map(|e| self.expr_of(frame, e, &NUMBER)).collect();
                Expr { kind: ExprKind::SetOf(elements?), ty: wanted.clone(), span: expr.span }
            }
            (ast::ExprKind::Set(elements), Type::List { of, .. }) if elements.is_empty() || types::is_scalar(of) => {
                let elements: Option<Vec<Expr>> = elements.iter().map(|e| self.expr_of(frame, e, of)).collect();
                Expr { kind: ExprKind::SetOf(elements?), ty: wanted.clone(), span: expr.span }
            }
            _ if is_none(expr) => self.none(wanted, expr.span)?,
            _ => self.expr(frame, expr)?,
        };
        if !self.require(expr.span, &lowered.ty, wanted) {
            return None;
        }
        let is_given = !is_none(expr);
        if let (ExprKind::Constant(c), Type::Int { lo, hi }) = (&lowered.kind, wanted.given().unwrap_or(wanted))
            && is_given
            && c.per_node == 0
            && (c.constant < lo.at(1).min(lo.at(MAX_NODES)) || c.constant > hi.at(MAX_NODES).max(hi.at(1)))
        {
            let wanted = self.type_name(wanted);
            self.error(Code::Type, expr.span, format!("{c} is not in {wanted}"));
            return None;
        }
        Some(coerced(lowered, wanted))
    }

    /// An expression.
    pub(super) fn expr(&mut self, frame: &mut Frame, expr: &ast::Expr) -> Option<Expr> {
        self.parts += 1;
        let span = expr.span;
        let make = |kind, ty| Some(Expr { kind, ty, span });
        let before = self.diagnostics.len();
        if let ast::ExprKind::Member(base, member) = &expr.kind
            && let Some(found) = self.size_member(frame, base, member, span)
        {
            return Some(found);
        }
        if self.diagnostics.len() > before {
            return None;
        }
        if let Some(target) = self.target(frame, expr) {
            return match target {
                Target::Local(id, None, ty) => make(ExprKind::Local(id), ty),
                Target::Local(id, Some(field), ty) => make(ExprKind::LocalField(id, field), ty),
                Target::Place(place, ty) => make(ExprKind::Var(place), ty),
                Target::Element(place, index, field, ty) => {
                    make(ExprKind::Element(place, Box::new(index), field.unwrap_or(0)), ty)
                }
                Target::LocalElement(id, index, field, ty) => {
                    make(ExprKind::LocalElement(id, Box::new(index), field.unwrap_or(0)), ty)
                }
            };
        }
        if self.diagnostics.len() > before {
            return None;
        }
        match &expr.kind {
            ast::ExprKind::Int(i) => make(ExprKind::Constant(Bound::fixed(*i)), NUMBER),
            ast::ExprKind::Name(name) => self.name(frame, name, span),
            ast::ExprKind::Set(elements) => {
                let elements: Option<Vec<Expr>> = elements.iter().map(|e| self.expr(frame, e)).collect();
                let elements: Vec<Expr> = elements?.into_iter().map(plain).collect();
                let numbers = elements.first().is_some_and(|e| is_number(&e.ty));
                let ty = if numbers {
                    Type::IntSet { lo: Bound::fixed(0), hi: Bound::fixed(255) }
                } else {
                    for e in &elements {
                        self.require(e.span, &e.ty, &ANY_NODE);
                    }
                    Type::NodeSet
                };
                make(ExprKind::SetOf(elements), ty)
            }
            ast::ExprKind::Not(inner) => {
                let inner = self.expr_of(frame, inner, &Type::Bool)?;
                make(ExprKind::Not(Box::new(inner)), Type::Bool)
            }
            ast::ExprKind::Negate(inner) => {
                let inner = self.expr_of(frame, inner, &NUMBER)?;
                if let ExprKind::Constant(c) = inner.kind {
                    return make(
                        ExprKind::Constant(Bound {
                            constant: c.constant.wrapping_neg(),
                            per_node: c.per_node.wrapping_neg(),
                        }),
                        NUMBER,
                    );
                }
                make(ExprKind::Negate(Box::new(inner)), NUMBER)
            }
            ast::ExprKind::Binary(op, left, right) => self.binary(frame, op, left, right, span),
            ast::ExprKind::Item(base, index) => self.item(frame, base, index, span),
            ast::ExprKind::Call(function, args) => self.function(frame, function, args, span),
            ast::ExprKind::Over(quantifier, name, body) => self.over(frame, quantifier, name, body, span),
            ast::ExprKind::Is(role, states) => self.is(frame, role, states, span),
            ast::ExprKind::Flight(message, to) => {
                if frame.here || !frame.global {
                    let who = if frame.here { "an assumption" } else { "a handler" };
                    self.error(Code::Type, span, format!("{who} cannot see messages on their way"))
                        .help("`flight(..)` is for invariants");
                    return None;
                }
                let id = self.message_of(message)?;
                let kind =
                    self.protocol.roles.get(self.protocol.messages[id.index()].role.index()).map(|role| role.object);
                self.claim_is_about(frame, &message.text, kind.unwrap_or(NODE), span)?;
                let to = match to {
                    None => None,
                    Some(to) => Some(Box::new(self.expr_of(frame, to, &ANY_NODE)?)),
                };
                make(ExprKind::Flight(id, to), NUMBER)
            }
            ast::ExprKind::Perform(perform) => self.performed(frame, perform, span),
            ast::ExprKind::Ask(..) | ast::ExprKind::Swap { .. } => {
                let word = if matches!(expr.kind, ast::ExprKind::Ask(..)) { "ask" } else { "swap" };
                self.error(Code::Type, span, format!("`{word}` is for the bodies of calls"))
                    .help("`op NAME(..) { .. }`: the thread that calls says it, and handlers answer");
                None
            }
            ast::ExprKind::New(kind) => self.new_object(frame, kind, span),
            ast::ExprKind::LeadsTo(..) => {
                self.error(Code::Type, span, "`leads_to` is no value")
                    .help("it stands alone in an invariant, or under one `all n:`: `invariant served: leads_to(P, Q)`");
                None
            }
            ast::ExprKind::Record(_) => {
                self.error(
                    Code::Type,
                    span,
                    "a record value can only be assigned to a record variable or pushed on a list",
                );
                None
            }
            ast::ExprKind::Member(_, member) => {
                self.error(Code::Type, member.span, format!("there is nothing called `{}` in this", member.text)).help(
                    "there are fields of records, variables of other roles, `.count` of sets and `.length` of lists",
                );
                None
            }
            ast::ExprKind::At(name, node) if self.is_copy(name) && name.text != "access" => {
                let copy = if name.text == "memory" { CopyIn::Memory } else { CopyIn::Processor };
                let node = self.node_of_block(frame, &name.text, node, span)?;
                make(ExprKind::Contents(copy, node), Type::Word)
            }
            ast::ExprKind::At(name, _) if self.is_copy(name) => {
                self.error(Code::Type, span, "the access of a node is asked for")
                    .help("`access at n is (read, write)`");
                None
            }
            ast::ExprKind::Range(..) | ast::ExprKind::At(..) => {
                self.error(Code::Type, span, "this is not a value");
                None
            }
        }
    }

    fn name(&mut self, frame: &mut Frame, name: &str, span: Span) -> Option<Expr> {
        let make = |kind, ty| Some(Expr { kind, ty, span });
        let constant = |c, ty| Some(Expr { kind: ExprKind::Constant(Bound::fixed(c)), ty, span });
        if let Some(Binding::Fault(kind, ty)) = frame.look_up(name) {
            return make(kind, ty);
        }
        if let Some(param) = self.protocol.params.iter().find(|p| p.name == name) {
            return constant(param.value, NUMBER);
        }
        match name {
            "true" => return constant(1, Type::Bool),
            "false" => return constant(0, Type::Bool),
            "none" => return constant(-1, ANY_NODE),
            "nodes" => return make(ExprKind::Constant(Bound { constant: 0, per_node: 1 }), NUMBER),
            "all" => return make(ExprKind::AllNodes, Type::NodeSet),
            _ => {}
        }
        if frame.role.0 != u8::MAX || frame.global {
            match name {
                "me" if self.protocol.is_ghost(frame.seen) => {
                    self.error(Code::Type, span, "a ghost is on no node")
                        .help("the node that acts is the first argument of what it sees: `on write(n, v)`");
                    return None;
                }
                "me" if frame.here || !frame.global => return make(ExprKind::Me, SOME_NODE),
                "home" => return make(ExprKind::Home, SOME_NODE),
                "object" if frame.here => return make(ExprKind::Object, Type::Object(frame.about.unwrap_or(NODE))),
                "object" if frame.seen.0 != u8::MAX => {
                    let kind = self.protocol.roles[frame.seen.index()].object;
                    return make(ExprKind::Object, Type::Object(kind));
                }
                "sender" if !frame.global => {
                    return self.origin(frame, frame.sender, ExprKind::Sender, SOME_NODE, name, span);
                }
                "caller" if !frame.global => {
                    return self.origin(frame, frame.caller, ExprKind::Caller, Type::Thread, name, span);
                }
                "probe" => {
                    self.error(Code::Type, span, "`probe` is asked what the processor's cache has")
                        .help("`probe is shared`, `probe is (absent, leaving)`");
                    return None;
                }
                _ => {}
            }
        }
        let mut known: Vec<String> = frame.visible().into_iter().map(|(n, _)| n).collect();
        if frame.seen.0 != u8::MAX {
            let vars = &self.protocol.roles[frame.seen.index()].vars;
            known.extend(vars.iter().map(|v| v.name.clone()).filter(|n| !n.starts_with('$')));
        }
        known.extend(self.protocol.params.iter().map(|p| p.name.clone()));
        known.extend(self.given(frame).map(String::from));
        if frame.seen.0 != u8::MAX && !GIVEN.contains(&name) {
            self.no_variable(span, name, &known);
        } else {
            self.unknown(span, "variable", name, known.iter().map(String::as_str));
        }
        None
    }

    /// The names that the language gives and that mean something in this frame.
    fn given(&self, frame: &Frame) -> impl Iterator<Item = &'static str> + use<> {
        let of_a_role = frame.role.0 != u8::MAX;
        let in_handler = of_a_role && !frame.global;
        let about_one = frame.here || frame.seen.0 != u8::MAX;
        let me = (in_handler || frame.here) && !self.protocol.is_ghost(frame.seen);
        let given = [
            ("sender", in_handler),
            ("me", me),
            ("home", of_a_role || frame.global),
            ("nodes", true),
            ("object", about_one),
            ("caller", in_handler),
        ];
        given.into_iter().filter(|(_, means)| *means).map(|(name, _)| name)
    }

    pub(super) fn origin(
        &mut self,
        frame: &Frame,
        origin: Origin,
        kind: ExprKind,
        ty: Type,
        name: &str,
        span: Span,
    ) -> Option<Expr> {
        match origin {
            Origin::Event => Some(Expr { kind, ty, span }),
            Origin::Kept(var) => {
                let place = Place { owner: Owner::Current, role: frame.role, var, field: None };
                Some(Expr { kind: ExprKind::Var(place), ty, span })
            }
            Origin::Local(local) => Some(Expr { kind: ExprKind::Local(local), ty, span }),
            Origin::Nowhere => {
                self.error(Code::Type, span, format!("there is no `{name}` here"))
                    .help("a task, a timer and `initially` have none");
                None
            }
        }
    }

    /// `S.count`, `q.length`.
    fn size_member(&mut self, frame: &mut Frame, base: &ast::Expr, member: &ast::Ident, span: Span) -> Option<Expr> {
        match member.text.as_str() {
            "length" => {
                let (kind, ty) = match self.target(frame, base)? {
                    Target::Place(place, Type::List { .. }) => (ExprKind::Length(place), NUMBER),
                    Target::Local(local, None, Type::List { up_to, .. }) => {
                        (ExprKind::LocalLength(local), Type::Int { lo: Bound::fixed(0), hi: up_to })
                    }
                    _ => return None,
                };
                Some(Expr { kind, ty, span })
            }
            "count" => {
                let set = self.expr(frame, base)?;
                if !is_set(&set.ty) {
                    return None;
                }
                Some(Expr { kind: ExprKind::SetCount(Box::new(set)), ty: NUMBER, span })
            }
            _ => None,
        }
    }

    fn item(&mut self, frame: &mut Frame, base: &ast::Expr, index: &ast::Expr, span: Span) -> Option<Expr> {
        if matches!(&base.kind, ast::ExprKind::Name(n) if n == "memory") {
            self.only_in_handlers(frame, "memory", span)?;
            let address = self.expr_of(frame, index, &Type::Address)?;
            return Some(Expr { kind: ExprKind::Memory(Box::new(address)), ty: Type::Word, span });
        }
        self.error(Code::Type, span, "only lists, arrays and `memory` have elements");
        None
    }

    fn function(&mut self, frame: &mut Frame, function: &ast::Expr, args: &[ast::Expr], span: Span) -> Option<Expr> {
        let ast::ExprKind::Name(name) = &function.kind else {
            self.error(Code::Type, span, "this cannot be called in an expression")
                .help("a `pop` stands alone: `let x = q.pop()`");
            return None;
        };
        let count = |n: usize| args.len() == n;
        let make = |kind, ty| Some(Expr { kind, ty, span });
        match name.as_str() {
            "home" if count(1) => {
                let named = self.expr(frame, &args[0])?;
                if named.ty.object().is_none() {
                    let found = self.type_name(&named.ty);
                    self.error(Code::Type, args[0].span, format!("`home(..)` is asked of an object, not of {found}"))
                        .help("`home` alone is the home of the object that this is about");
                    return None;
                }
                make(ExprKind::HomeOf(Box::new(named)), SOME_NODE)
            }
            "address" | "bytes" if count(1) => {
                let block = self.expr_of(frame, &args[0], &Type::Object(BLOCK))?;
                match name.as_str() {
                    "bytes" => make(ExprKind::BytesOf(Box::new(block)), NUMBER),
                    _ => make(ExprKind::AddressOf(Box::new(block)), Type::Address),
                }
            }
            "block" if count(1) => {
                self.only_in_handlers(frame, "block(..)", span)?;
                let address = self.expr_of(frame, &args[0], &Type::Address)?;
                make(ExprKind::BlockAt(Box::new(address)), Type::ObjectOrNone(BLOCK))
            }
            "index" if count(1) => {
                let node = self.expr_of(frame, &args[0], &ANY_NODE)?;
                self.protocol.asymmetric.get_or_insert(span);
                make(ExprKind::Index(Box::new(node)), NUMBER)
            }
            "node" if count(1) => {
                let number = self.expr_of(frame, &args[0], &NUMBER)?;
                self.protocol.asymmetric.get_or_insert(span);
                make(ExprKind::NodeAt(Box::new(number)), SOME_NODE)
            }
            "room" if count(2) => {
                self.only_in_handlers(frame, "room", span)?;
                let ast::ExprKind::Name(lane) = &args[0].kind else {
                    self.error(Code::Type, args[0].span, "expected the name of a lane");
                    return None;
                };
                let lane = self.lane_of(&ast::Ident { text: lane.clone(), span: args[0].span })?;
                let wanted = self.expr_of(frame, &args[1], &NUMBER)?;
                make(ExprKind::Room(lane, Box::new(wanted), Bound::fixed(0)), Type::Bool)
            }
            "pick" if count(1) => {
                let set = self.expr(frame, &args[0])?;
                let ty = match &set.ty {
                    Type::NodeSet => SOME_NODE,
                    Type::IntSet { lo, hi } => Type::Int { lo: *lo, hi: *hi },
                    _ => {
                        self.error(Code::Type, args[0].span, "`pick` takes an element of a set");
                        return None;
                    }
                };
                make(ExprKind::Pick(Box::new(set)), ty)
            }
            _ => {
                self.unknown(
                    span,
                    "function with these arguments called",
                    name,
                    [
                        "home(b)",
                        "address(b)",
                        "bytes(b)",
                        "block(a)",
                        "index(n)",
                        "node(i)",
                        "room(lane, n)",
                        "pick(set)",
                    ],
                );
                None
            }
        }
    }

    fn over(
        &mut self,
        frame: &mut Frame,
        quantifier: &str,
        name: &ast::Ident,
        body: &ast::Expr,
        span: Span,
    ) -> Option<Expr> {
        if !frame.global || frame.here || frame.role.0 != u8::MAX {
            self.error(Code::Type, span, "`all n:`, `any n:` and `count n:` are for invariants");
            return None;
        }
        let quantifier = match quantifier {
            "all" => Quantifier::All,
            "any" => Quantifier::Any,
            _ => Quantifier::Count,
        };
        frame.scopes.push(Default::default());
        let local = frame.local(&self.protocol, &name.text, SOME_NODE);
        let body = self.expr_of(frame, body, &Type::Bool);
        frame.scopes.pop();
        let ty = if quantifier == Quantifier::Count { NUMBER } else { Type::Bool };
        Some(Expr { kind: ExprKind::Over(quantifier, local, Box::new(body?)), ty, span })
    }

    fn is(&mut self, frame: &mut Frame, role: &ast::Expr, states: &[ast::Ident], span: Span) -> Option<Expr> {
        if matches!(&role.kind, ast::ExprKind::Name(name) if name == "probe") {
            return self.probe(frame, states, span);
        }
        if let ast::ExprKind::At(name, node) = &role.kind
            && self.is_copy(name)
            && name.text == "access"
        {
            return self.access_at(frame, node, states, span);
        }
        let before = self.diagnostics.len();
        let Some((owner, role)) = self.owner(frame, role) else {
            if self.diagnostics.len() > before {
                return None;
            }
            self.error(Code::Type, role.span, "expected a role before `is`").help("`cache at n is Dirty`");
            return None;
        };
        let mut ids = Vec::new();
        for state in states {
            let all = &self.protocol.roles[role.index()].states;
            match all.iter().position(|s| s.name == state.text) {
                Some(i) => ids.push(StateId(i as u16)),
                None => {
                    let known: Vec<String> = all.iter().filter(|s| !s.waiting).map(|s| s.name.clone()).collect();
                    self.unknown(state.span, "state", &state.text, known.iter().map(String::as_str));
                    return None;
                }
            }
        }
        Some(Expr { kind: ExprKind::InState(owner, role, ids), ty: Type::Bool, span })
    }

    /// Whether `NAME at n` is about a node's copy of a block, and not about a role of that name.
    pub(super) fn is_copy(&self, name: &ast::Ident) -> bool {
        matches!(name.text.as_str(), "contents" | "memory" | "access") && self.protocol.role(&name.text).is_none()
    }

    /// The node of `contents at n`, `memory at n` and `access at n`, which are about the block of an invariant.
    fn node_of_block(&mut self, frame: &mut Frame, what: &str, node: &ast::Expr, span: Span) -> Option<Box<Expr>> {
        if frame.here || !frame.global {
            let who = if frame.here { "an assumption" } else { "a handler" };
            self.error(Code::Type, span, format!("{who} sees only its own node"))
                .help(format!("`{what} at NODE` is for invariants"));
            return None;
        }
        if frame.about != Some(BLOCK) {
            self.error(Code::Type, span, format!("`{what} at NODE` is about a block"))
                .help("say it in an `invariant NAME of block`");
            return None;
        }
        Some(Box::new(self.expr_of(frame, node, &ANY_NODE)?))
    }

    /// `access at n is read`, `access at n is (none, read)`.
    fn access_at(&mut self, frame: &mut Frame, node: &ast::Expr, accesses: &[ast::Ident], span: Span) -> Option<Expr> {
        let node = self.node_of_block(frame, "access", node, span)?;
        let names = [Access::None, Access::Read, Access::Write].map(|access| access.to_string());
        let asked = Expr { kind: ExprKind::Access(node), ty: NUMBER, span };
        self.one_of(asked, "access", &names, accesses, span)
    }

    /// `probe is shared`, `probe is (absent, leaving)`.
    fn probe(&mut self, frame: &Frame, lines: &[ast::Ident], span: Span) -> Option<Expr> {
        self.only_in_handlers(frame, "probe", span)?;
        self.needs_cache(frame, "probe", span)?;
        let names = Line::ALL.map(|line| line.to_string());
        let probe = Expr { kind: ExprKind::Probe, ty: NUMBER, span };
        self.one_of(probe, "state of a cache's line", &names, lines, span)
    }

    /// Whether a number is that of one of these names.
    fn one_of(&mut self, asked: Expr, what: &str, names: &[String], wanted: &[ast::Ident], span: Span) -> Option<Expr> {
        let mut any: Option<Expr> = None;
        for name in wanted {
            let Some(number) = names.iter().position(|known| *known == name.text) else {
                self.unknown(name.span, what, &name.text, names.iter().map(String::as_str));
                return None;
            };
            let number = Expr { kind: ExprKind::Constant(Bound::fixed(number as i64)), ty: NUMBER, span };
            let same = ExprKind::Binary(Operator::Equal, Box::new(asked.clone()), Box::new(number));
            let same = Expr { kind: same, ty: Type::Bool, span };
            any = Some(match any {
                None => same,
                Some(other) => {
                    let or = ExprKind::Binary(Operator::Or, Box::new(other), Box::new(same));
                    Expr { kind: or, ty: Type::Bool, span }
                }
            });
        }
        any
    }

    fn binary(&mut self, frame: &mut Frame, op: &str, left: &ast::Expr, right: &ast::Expr, span: Span) -> Option<Expr> {
        let make = |kind, ty| Some(Expr { kind, ty, span });
        if op == "in" {
            let element = self.expr(frame, left)?;
            let set = self.expr(frame, right)?;
            let wanted = match &set.ty {
                Type::NodeSet => ANY_NODE,
                Type::IntSet { .. } => NUMBER,
                other => {
                    let name = self.type_name(other);
                    self.error(Code::Type, right.span, format!("expected a set after `in`, found {name}"));
                    return None;
                }
            };
            self.require(left.span, &element.ty, &wanted);
            return make(ExprKind::In(Box::new(coerced(element, &wanted)), Box::new(set)), Type::Bool);
        }
        if matches!(op, "and" | "or") {
            let left = self.expr_of(frame, left, &Type::Bool)?;
            let right = self.expr_of(frame, right, &Type::Bool)?;
            let op = if op == "and" { Operator::And } else { Operator::Or };
            return make(ExprKind::Binary(op, Box::new(left), Box::new(right)), Type::Bool);
        }
        // What is written out has the type of what it is compared with.
        let is_written_out = |side: &ast::Expr| matches!(side.kind, ast::ExprKind::Set(_));
        let comes_second = |side: &ast::Expr| is_written_out(side) || is_none(side);
        if matches!(op, "==" | "!=") && comes_second(left) && !comes_second(right) {
            return self.binary(frame, op, right, left, span);
        }
        let left = self.expr(frame, left)?;
        if is_set(&left.ty) {
            return self.set_binary(frame, op, left, right, span);
        }
        if matches!(left.ty, Type::Array { .. } | Type::List { .. }) {
            return self.array_binary(frame, op, left, right, span);
        }
        if matches!(op, "==" | "!=") {
            let right = if is_none(right) && is_scalar(&left.ty) || left.ty == Type::Thread {
                self.expr_of(frame, right, &left.ty.clone())?
            } else {
                self.expr(frame, right)?
            };
            if !types::fits(&right.ty, &left.ty) && !types::fits(&left.ty, &right.ty)
                || !is_scalar(&left.ty)
                || !is_scalar(&right.ty)
            {
                let (l, r) = (self.type_name(&left.ty), self.type_name(&right.ty));
                if matches!(left.ty, Type::Record(_)) {
                    let text = |span| self.diagnostics.sources.excerpt(span).to_string();
                    let (one, other) = (text(left.span), text(right.span));
                    self.error(
                        Code::Type,
                        span,
                        format!("`{one}` and `{other}` cannot be compared: they are {l} and {r}"),
                    )
                    .help(format!("compare the fields of records: `{one}.F == {other}.F and ..`"));
                    return None;
                }
                self.error(Code::Type, span, format!("{l} and {r} cannot be compared"));
                return None;
            }
            let equal = optional::equal(left, right, span);
            return Some(match (op, equal.kind) {
                ("!=", ExprKind::Binary(Operator::Equal, left, right)) => {
                    Expr { kind: ExprKind::Binary(Operator::Different, left, right), ..equal }
                }
                ("!=", kind) => {
                    let equal = Expr { kind, ty: Type::Bool, span };
                    Expr { kind: ExprKind::Not(Box::new(equal)), ty: Type::Bool, span }
                }
                (_, kind) => Expr { kind, ty: equal.ty, span },
            });
        }
        if matches!(left.ty, Type::Node { .. }) {
            self.error(Code::Type, span, "nodes have no order and no arithmetic")
                .help("`index(n)` is a node's number, `node(i)` the node of a number; they switch symmetry off");
            return None;
        }
        let right = self.expr_of(frame, right, &NUMBER)?;
        self.require(left.span, &left.ty, &NUMBER);
        let left = plain(left);
        let (op, swap, ty) = match op {
            "+" => (Operator::Add, false, NUMBER),
            "-" => (Operator::Subtract, false, NUMBER),
            "*" => (Operator::Multiply, false, NUMBER),
            "/" => (Operator::Divide, false, NUMBER),
            "%" => (Operator::Remainder, false, NUMBER),
            "<" => (Operator::Less, false, Type::Bool),
            "<=" => (Operator::LessEqual, false, Type::Bool),
            ">" => (Operator::Less, true, Type::Bool),
            ">=" => (Operator::LessEqual, true, Type::Bool),
            _ => {
                self.error(Code::Type, span, format!("`{op}` is for sets"));
                return None;
            }
        };
        let ty = match (&left.ty, &ty) {
            (Type::Address, Type::Int { .. }) => Type::Address,
            _ => ty,
        };
        let (left, right) = if swap { (right, left) } else { (left, right) };
        if let Some(folded) = fold(op, &left, &right) {
            return make(ExprKind::Constant(folded), ty);
        }
        make(ExprKind::Binary(op, Box::new(left), Box::new(right)), ty)
    }

    /// Arrays and lists are equal or not; everything else is asked of their elements.
    fn array_binary(&mut self, frame: &mut Frame, op: &str, left: Expr, right: &ast::Expr, span: Span) -> Option<Expr> {
        if !matches!(op, "==" | "!=") {
            self.error(Code::Type, span, format!("`{op}` is not for arrays"))
                .help("arrays have `==` and `!=`; ask the rest of each element: `for n in all { .. c[n] .. }`");
            return None;
        }
        let right = self.expr_of(frame, right, &left.ty)?;
        let equal = ExprKind::ArrayEqual(Box::new(left), Box::new(right));
        let equal = Expr { kind: equal, ty: Type::Bool, span };
        Some(match op {
            "==" => equal,
            _ => Expr { kind: ExprKind::Not(Box::new(equal)), ty: Type::Bool, span },
        })
    }

    fn set_binary(&mut self, frame: &mut Frame, op: &str, left: Expr, right: &ast::Expr, span: Span) -> Option<Expr> {
        let set_type = left.ty.clone();
        let right = match &right.kind {
            ast::ExprKind::Set(_) => self.expr_of(frame, right, &set_type)?,
            _ => self.expr(frame, right)?,
        };
        let right = if is_set(&right.ty) {
            self.require(right.span, &right.ty, &set_type);
            right
        } else {
            let wanted = if set_type == Type::NodeSet { ANY_NODE } else { NUMBER };
            self.require(right.span, &right.ty, &wanted);
            let (span, right) = (right.span, plain(right));
            Expr { kind: ExprKind::SetOf(vec![right]), ty: set_type.clone(), span }
        };
        let (left, right) = (Box::new(left), Box::new(right));
        let kind = match op {
            "+" | "|" => ExprKind::SetBinary(SetOperator::Union, left, right),
            "-" => ExprKind::SetBinary(SetOperator::Difference, left, right),
            "&" => ExprKind::SetBinary(SetOperator::Intersection, left, right),
            "==" => return Some(Expr { kind: ExprKind::SetEqual(left, right), ty: Type::Bool, span }),
            "!=" => {
                let equal = Expr { kind: ExprKind::SetEqual(left, right), ty: Type::Bool, span };
                return Some(Expr { kind: ExprKind::Not(Box::new(equal)), ty: Type::Bool, span });
            }
            _ => {
                self.error(Code::Type, span, format!("`{op}` is not for sets"))
                    .help("sets have `+ - & == != in` and `.count`");
                return None;
            }
        };
        Some(Expr { kind, ty: set_type, span })
    }

    pub(super) fn message_of(&mut self, name: &ast::Ident) -> Option<MessageId> {
        let found = self.protocol.message(&name.text);
        if found.is_none() {
            let known: Vec<String> = self.protocol.messages.iter().map(|m| m.name.clone()).collect();
            self.unknown(name.span, "message", &name.text, known.iter().map(String::as_str));
        }
        found
    }
}

/// Arithmetic on what is known now.
fn fold(op: Operator, left: &Expr, right: &Expr) -> Option<Bound> {
    let (ExprKind::Constant(a), ExprKind::Constant(b)) = (&left.kind, &right.kind) else { return None };
    let both = |f: fn(i64, i64) -> Option<i64>| {
        Some(Bound { constant: f(a.constant, b.constant)?, per_node: f(a.per_node, b.per_node)? })
    };
    match op {
        Operator::Add => both(i64::checked_add),
        Operator::Subtract => both(i64::checked_sub),
        Operator::Multiply if a.per_node == 0 => {
            Some(Bound { constant: a.constant.checked_mul(b.constant)?, per_node: a.constant.checked_mul(b.per_node)? })
        }
        Operator::Multiply if b.per_node == 0 => {
            Some(Bound { constant: a.constant.checked_mul(b.constant)?, per_node: b.constant.checked_mul(a.per_node)? })
        }
        Operator::Divide if a.per_node == 0 && b.per_node == 0 => a.constant.checked_div(b.constant).map(Bound::fixed),
        Operator::Remainder if a.per_node == 0 && b.per_node == 0 => {
            a.constant.checked_rem(b.constant).map(Bound::fixed)
        }
        _ => None,
    }
}
