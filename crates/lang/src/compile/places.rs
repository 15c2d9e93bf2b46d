//! Variables: `owner`, `record.field`, `agent.count`, `home[b].owner`, and in invariants `cache at n .x`.

use super::frame::{Binding, Frame};
use super::*;
use trivium_diagnostic::Code;

/// What a name with members turned out to be.
pub(super) enum Target {
    /// A variable or a field of one.
    Place(Place, Type),
    /// A local or a field of one.
    Local(LocalId, Option<u16>, Type),
    /// An element of a list or array that is a variable, or a field of one.
    Element(Place, Expr, Option<u16>, Type),
    /// The same of a list or array that is a local.
    LocalElement(LocalId, Expr, Option<u16>, Type),
}

impl Target {
    fn ty(&self) -> &Type {
        match self {
            Target::Place(_, ty) | Target::Local(_, _, ty) => ty,
            Target::Element(_, _, _, ty) | Target::LocalElement(_, _, _, ty) => ty,
        }
    }
}

impl Compiler {
    /// The variable of a role by name.
    pub(super) fn var_of(&self, role: RoleId, name: &str) -> Option<VarId> {
        self.protocol.roles[role.index()].vars.iter().position(|v| v.name == name).map(|i| VarId(i as u16))
    }

    fn place(&self, owner: Owner, role: RoleId, var: VarId) -> Target {
        let ty = self.protocol.roles[role.index()].vars[var.index()].ty.clone();
        Target::Place(Place { owner, role, var, field: None }, ty)
    }

    /// The variable or local that an expression names; `None` (without a message) if it is something else.
    pub(super) fn target(&mut self, frame: &mut Frame, expr: &ast::Expr) -> Option<Target> {
        match &expr.kind {
            ast::ExprKind::Name(name) => match frame.look_up(name) {
                Some(Binding::Local(id)) => Some(Target::Local(id, None, frame.locals[id.index()].ty.clone())),
                Some(Binding::Kept(var)) => Some(self.place(Owner::Current, frame.role, var)),
                Some(Binding::Fault(..)) => None,
                None if frame.global => None,
                None => self.var_of(frame.seen, name).map(|var| self.place(Owner::Current, frame.seen, var)),
            },
            ast::ExprKind::Member(base, member) => self.member(frame, base, member),
            ast::ExprKind::Item(base, index) => self.element(frame, base, index),
            _ => None,
        }
    }

    /// `q[0]`, `credits[n]`.
    fn element(&mut self, frame: &mut Frame, base: &ast::Expr, index: &ast::Expr) -> Option<Target> {
        let whole = self.target(frame, base)?;
        let (by, of) = match whole.ty() {
            Type::List { of, .. } => (types::NUMBER, (**of).clone()),
            Type::Array { by, of } => ((**by).clone(), (**of).clone()),
            _ => return None,
        };
        // An access that an index performs would be performed before what the rest of the statement does.
        let performs = frame.performs.take();
        let index = self.expr_of(frame, index, &by);
        frame.performs = performs;
        match whole {
            Target::Place(place, _) => Some(Target::Element(place, index?, None, of)),
            Target::Local(local, None, _) => Some(Target::LocalElement(local, index?, None, of)),
            _ => None,
        }
    }

    /// What stands for an element is written several times: a node that is picked for it would be another each time.
    pub(super) fn needs_one_index(&mut self, index: &Expr) -> Option<()> {
        let mut picks = false;
        trivium_protocol::walk::visit(index, &mut |part| picks |= trivium_protocol::orders::picks_node(part));
        if picks {
            self.error(
                Code::Handler,
                index.span,
                "this element is looked at more than once, and `pick` may take another node each time",
            )
            .help("take the node first: `let n = pick(..)`");
            return None;
        }
        Some(())
    }

    fn member(&mut self, frame: &mut Frame, base: &ast::Expr, member: &ast::Ident) -> Option<Target> {
        if let Some((owner, role)) = self.owner(frame, base) {
            return match self.var_of(role, &member.text) {
                Some(var) => Some(self.place(owner, role, var)),
                None => {
                    let vars = &self.protocol.roles[role.index()].vars;
                    let known: Vec<String> =
                        vars.iter().map(|v| v.name.clone()).filter(|n| !n.starts_with('$')).collect();
                    self.unknown(member.span, "variable", &member.text, known.iter().map(String::as_str));
                    None
                }
            };
        }
        let target = self.target(frame, base)?;
        let Type::Record(record) = *target.ty() else { return None };
        let fields = &self.protocol.records[record.index()].fields;
        let Some(field) = fields.iter().position(|f| f.name == member.text) else {
            let known: Vec<String> = fields.iter().map(|f| f.name.clone()).collect();
            self.unknown(member.span, "field", &member.text, known.iter().map(String::as_str));
            return None;
        };
        let ty = fields[field].ty.clone();
        Some(match target {
            Target::Place(place, _) => Target::Place(Place { field: Some(field as u16), ..place }, ty),
            Target::Local(id, _, _) => Target::Local(id, Some(field as u16), ty),
            Target::Element(place, index, _, _) => Target::Element(place, index, Some(field as u16), ty),
            Target::LocalElement(id, index, _, _) => Target::LocalElement(id, index, Some(field as u16), ty),
        })
    }

    /// Whether an expression names a role's instance: `agent`, `home`, `cache[b]`, `cache at n`.
    pub(super) fn owner(&mut self, frame: &mut Frame, expr: &ast::Expr) -> Option<(Owner, RoleId)> {
        match &expr.kind {
            ast::ExprKind::Name(name) => {
                if frame.look_up(name).is_some() {
                    return None;
                }
                let role = self.protocol.role(name)?;
                if frame.here {
                    return self.owner_here(frame, role, expr.span);
                }
                if frame.global {
                    self.claim_is_about(frame, name, self.protocol.roles[role.index()].object, expr.span)?;
                    return self.global_owner(role, expr.span);
                }
                self.may_look_at(frame, role, expr.span)?;
                Some((Owner::Role(role), role))
            }
            ast::ExprKind::Item(base, index) => {
                let ast::ExprKind::Name(name) = &base.kind else { return None };
                let role = self.protocol.role(name)?;
                let object = Type::Object(self.protocol.roles[role.index()].object);
                self.may_look_at(frame, role, expr.span)?;
                let index = self.expr_of(frame, index, &object)?;
                Some((Owner::RoleOf(role, Box::new(index)), role))
            }
            ast::ExprKind::At(name, _) if self.is_copy(name) => None,
            ast::ExprKind::At(name, node) => {
                let Some(role) = self.protocol.role(&name.text) else {
                    let known: Vec<String> = self.protocol.roles.iter().map(|r| r.name.clone()).collect();
                    self.unknown(name.span, "role", &name.text, known.iter().map(String::as_str));
                    return None;
                };
                if frame.here || !frame.global {
                    let who = if frame.here { "an assumption" } else { "a handler" };
                    self.error(Code::Handler, expr.span, format!("{who} sees only its own node"))
                        .help("`ROLE at NODE` is for invariants");
                    return None;
                }
                if self.protocol.is_ghost(role) {
                    self.error(Code::Handler, expr.span, format!("the ghost `{}` is on no node", name.text))
                        .help("there is one for each object: write its name alone");
                    return None;
                }
                self.claim_is_about(frame, &name.text, self.protocol.roles[role.index()].object, expr.span)?;
                let node = self.expr_of(frame, node, &types::ANY_NODE)?;
                Some((Owner::At(role, Box::new(node)), role))
            }
            _ => None,
        }
    }

    /// A role of the node of which an assumption speaks: about the same object, or the node's agent.
    fn owner_here(&mut self, frame: &Frame, role: RoleId, span: Span) -> Option<(Owner, RoleId)> {
        let declared = &self.protocol.roles[role.index()];
        let (name, kind, is_ghost) = (declared.name.clone(), declared.object, declared.kind == RoleKind::Ghost);
        if is_ghost {
            self.error(Code::Handler, span, format!("an assumption cannot look at the ghost `{name}`"))
                .help("ghosts are there for `check` alone; an assumption holds for programs too");
            return None;
        }
        if kind != NODE && Some(kind) != frame.about {
            let kind = self.protocol.objects[kind.index()].clone();
            self.error(Code::Handler, span, format!("`{name}` is about `{kind}`: which one?"))
                .help(format!("write `{name}[OBJECT]`"));
            return None;
        }
        Some((Owner::Role(role), role))
    }

    /// A claim is about one object, and looks at nothing of an object of another kind: that would be the one of the same number.
    pub(super) fn claim_is_about(&mut self, frame: &Frame, name: &str, kind: ObjectKindId, span: Span) -> Option<()> {
        if kind == NODE || frame.about.is_none_or(|about| about == kind) {
            return Some(());
        }
        let [kind, about] = [Some(kind), frame.about].map(|kind| &self.protocol.objects[kind.unwrap_or(NODE).index()]);
        let what = format!("`{name}` is about `{kind}`, and this claim about `{about}`");
        let help = format!("claim it of each `{kind}`, or keep what both need in a role of `node`");
        self.error(Code::Handler, span, what).help(help);
        None
    }

    /// In an invariant only the home's role may be named without saying at which node.
    fn global_owner(&mut self, role: RoleId, span: Span) -> Option<(Owner, RoleId)> {
        if matches!(self.protocol.roles[role.index()].kind, RoleKind::Home | RoleKind::Ghost) {
            let home = Expr { kind: ExprKind::Home, ty: types::SOME_NODE, span };
            return Some((Owner::At(role, Box::new(home)), role));
        }
        self.error(Code::Handler, span, "which node's?")
            .help("write `ROLE at n` under `all n:`, `any n:` or `count n:`");
        None
    }

    /// A list variable, for `push`, `pop`, `length`, `[..]` and loops.
    pub(super) fn list(&mut self, frame: &mut Frame, expr: &ast::Expr) -> Option<(Place, Type)> {
        match self.target(frame, expr) {
            Some(Target::Place(place, Type::List { of, .. })) => Some((place, *of)),
            _ => None,
        }
    }
}
