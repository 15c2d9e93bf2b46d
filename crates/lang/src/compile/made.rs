//! Objects that handlers make and give back: `object job up to 4`, `new job`, `free object`.
//!
//! Each node keeps which of its own there are in a set, the variable `used` of a role that the compiler adds (`made_job`). So `new` and `free`
//! become steps that every backend has. The object of slot s of node n has the number s * nodes + n, and its home is n.

use super::frame::Frame;
use super::performs::constant;
use super::types::{NUMBER, SOME_NODE};
use super::*;
use trivium_diagnostic::Code;
use trivium_protocol::walk::changed_place;

/// Most objects of a kind that a node may have made at one time.
const MAX_MADE: i64 = 64;

/// The variable in which a node keeps the slots that are in use.
const USED: &str = "used";

/// The role in which a node keeps which objects of a kind it has made.
fn role_of(kind: &str) -> String {
    format!("made_{kind}")
}

/// Adds to a file the role of each kind of object that is made.
pub(super) fn add_roles(file: &mut ast::File) {
    let kinds =
        file.items.iter().filter_map(|item| if let ast::Item::Object(kinds) = item { Some(kinds) } else { None });
    let made = kinds.flatten().filter_map(|kind| Some((&kind.name, kind.up_to.as_ref()?)));
    let roles: Vec<ast::Item> = made.map(|(name, up_to)| ast::Item::Role(role(name, up_to))).collect();
    file.items.extend(roles);
}

fn role(kind: &ast::Ident, up_to: &ast::Expr) -> ast::Role {
    let span = kind.span;
    let ident = |text: &str| ast::Ident { text: text.into(), span };
    let mut role = ast::Role::new(ident(&role_of(&kind.text)), ident("node"));
    let zero = ast::Expr { kind: ast::ExprKind::Int(0), span };
    // One number more than there are slots: of those that are not used the least is always there, and it is this one where none is free.
    // That the number of nodes may not say how many is an error where it stands, and not one of this set, too.
    let is_constant = !matches!(&up_to.kind, ast::ExprKind::Name(name) if name == "nodes");
    let hi = if is_constant { up_to.clone() } else { zero.clone() };
    let of = Box::new(ast::Type::Range { lo: zero, hi, optional: false });
    role.vars.push(ast::Var { name: ident(USED), ty: ast::Type::Set { of, span }, initial: None });
    role.states.push(ast::State {
        name: ident("Counted"),
        access: None,
        keeps: None,
        clauses: Vec::new(),
        otherwise: None,
    });
    role
}

fn at(kind: ExprKind, ty: Type, span: Span) -> Expr {
    Expr { kind, ty, span }
}

fn binary(operator: Operator, left: Expr, right: Expr, ty: Type) -> Expr {
    let span = left.span;
    at(ExprKind::Binary(operator, Box::new(left), Box::new(right)), ty, span)
}

/// The slot of an object on its node.
fn slot_of(object: Expr) -> Expr {
    let span = object.span;
    let nodes = at(ExprKind::Constant(Bound { constant: 0, per_node: 1 }), NUMBER, span);
    binary(Operator::Divide, Expr { ty: NUMBER, ..object }, nodes, NUMBER)
}

fn used(made: &Made, owner: Owner) -> Place {
    Place { owner, role: made.role, var: VarId(0), field: None }
}

/// The type of the set of slots.
fn slots(made: &Made) -> Type {
    Type::IntSet { lo: Bound::fixed(0), hi: Bound::fixed(made.most) }
}

/// Whether an object is there, as its home knows.
fn lives(made: &Made, object: Expr, owner: Owner) -> Expr {
    let span = object.span;
    let in_use = at(ExprKind::Var(used(made, owner)), slots(made), span);
    at(ExprKind::In(Box::new(slot_of(object)), Box::new(in_use)), Type::Bool, span)
}

impl Compiler {
    /// After the roles are known: which kinds are made, and how many of each.
    pub(super) fn made_kinds(&mut self, file: &ast::File) {
        for item in &file.items {
            let ast::Item::Object(kinds) = item else { continue };
            for kind in kinds {
                let Some(up_to) = &kind.up_to else { continue };
                // Of one whose number is wrong there is one, so that its uses are not mistakes of their own.
                let most = self.number(up_to).unwrap_or(1);
                if !(1..=MAX_MADE).contains(&most) {
                    self.error(
                        Code::Handler,
                        up_to.span,
                        format!("a node has from 1 to {MAX_MADE} objects of such a kind, not {most}"),
                    );
                }
                let found = self.protocol.objects.iter().position(|known| *known == kind.name.text);
                let (Some(object), Some(role)) = (found, self.protocol.role(&role_of(&kind.name.text))) else {
                    continue;
                };
                self.protocol.made.push(Made { object: ObjectKindId::at(object), most, role });
            }
        }
        self.made_in_lists_of_calls();
        self.free_objects_do_nothing();
    }

    /// A free object is in the first state of its roles, where nothing happens by itself, and has no values but first ones.
    fn free_objects_do_nothing(&mut self) {
        let asts = Rc::clone(&self.asts);
        for (r, role) in asts.iter().enumerate() {
            let object = self.protocol.roles[r].object;
            if let (Some(made), Some(initially)) = (self.protocol.made_kind(object), &role.initially) {
                let kind = self.protocol.objects[made.object.index()].clone();
                self.error(
                    Code::Handler,
                    initially.span,
                    format!("records of a `{kind}`, which is made, have no `initially`"),
                )
                .help("let an action set what is new, and call it where the object is made");
            }
            let first = role.states.first().into_iter().flat_map(|state| &state.clauses);
            let timer = first.flat_map(|clause| &clause.events).find(|event| event.after.is_some());
            if let (Some(made), Some(timer)) = (self.protocol.made_kind(object), timer) {
                let kind = self.protocol.objects[made.object.index()].clone();
                self.error(
                    Code::Handler,
                    timer.name.span,
                    format!("a free `{kind}` is in this state, the first, and does nothing by itself"),
                )
                .help("let the action that begins it go to another state, and write `on after` there");
            }
        }
    }

    /// Whether each is there is looked at where calls begin, of single values.
    fn made_in_lists_of_calls(&mut self) {
        let is_made = |ty: &Type| ty.object().is_some_and(|kind| self.protocol.made_kind(kind).is_some());
        let names = |ty: &Type| match ty {
            Type::Record(record) => self.protocol.records[record.index()].fields.iter().any(|field| is_made(&field.ty)),
            scalar => is_made(scalar),
        };
        let args = self.protocol.ops.iter().flat_map(|op| &op.args);
        let lists = args.filter(|arg| matches!(&arg.ty, Type::List { of, .. } | Type::Array { of, .. } if names(of)));
        let wrong: Vec<Span> = lists.map(|arg| arg.span).collect();
        for span in wrong {
            self.error(Code::Handler, span, "a list or an array of a call has no objects that handlers make")
                .help("pass them one by one, each a parameter");
        }
    }

    /// `new job`: the steps come before the rest of the statement, and the object, or `none`, is a local.
    pub(super) fn new_object(&mut self, frame: &mut Frame, kind: &ast::Ident, span: Span) -> Option<Expr> {
        let Some(found) = self.protocol.objects.iter().position(|known| *known == kind.text) else {
            let known = self.made_names();
            self.unknown(kind.span, "kind of object", &kind.text, known.iter().map(String::as_str));
            return None;
        };
        let Some(made) = self.protocol.made_kind(ObjectKindId::at(found)).cloned() else {
            self.error(Code::Handler, kind.span, format!("objects of the kind `{}` are not made", kind.text))
                .help(format!("declare how many of them a node may have: `object {} up to 4`", kind.text));
            return None;
        };
        if frame.performs.is_none() || frame.wait.is_some() {
            self.error(Code::Handler, span, "nothing can be made here")
                .help(format!("make it in a statement before: `let j = new {}`", kind.text));
            return None;
        }
        let owner = Owner::Role(made.role);
        let all = (0..=made.most).map(|slot| constant(slot, NUMBER, span)).collect();
        let all = at(ExprKind::SetOf(all), slots(&made), span);
        let in_use = at(ExprKind::Var(used(&made, owner.clone())), slots(&made), span);
        let left = ExprKind::SetBinary(SetOperator::Difference, Box::new(all), Box::new(in_use));
        let least = at(ExprKind::Pick(Box::new(at(left, slots(&made), span))), NUMBER, span);
        let slot = frame.hidden_local(&self.protocol, "", NUMBER);
        let ty = Type::ObjectOrNone(made.object);
        let result = frame.hidden_local(&self.protocol, "", ty.clone());
        let slot_now = || at(ExprKind::Local(slot), NUMBER, span);
        let is_free = binary(Operator::Less, slot_now(), constant(made.most, NUMBER, span), Type::Bool);
        let object = at(ExprKind::Made(Box::new(slot_now()), made.most), ty.clone(), span);
        let step = |kind| Step { kind, span };
        frame.performs.get_or_insert_default().extend([
            step(StepKind::Let(slot, vec![least])),
            step(StepKind::If(is_free, vec![step(StepKind::Insert(used(&made, owner), slot_now()))], Vec::new())),
            step(StepKind::Let(result, vec![object])),
        ]);
        Some(at(ExprKind::Local(result), ty, span))
    }

    fn made_names(&self) -> Vec<String> {
        self.protocol.made.iter().map(|made| self.protocol.objects[made.object.index()].clone()).collect()
    }

    /// `free object`: its records at home become as at first, and its slot is free.
    pub(super) fn free(&mut self, frame: &mut Frame, object: &ast::Expr, span: Span) -> Option<Vec<StepKind>> {
        if !matches!(&object.kind, ast::ExprKind::Name(name) if name == "object") {
            self.error(Code::Handler, object.span, "an object is freed by one of its own roles")
                .help("write `free object` in an action of such a role, and call it: `source[j].end()`");
            return None;
        }
        let seen = &self.protocol.roles[frame.seen.index()];
        let Some(made) = self.protocol.made_kind(seen.object).cloned() else {
            let kind = self.protocol.objects[seen.object.index()].clone();
            self.error(Code::Handler, span, format!("objects of the kind `{kind}` are not made, and so not freed"))
                .help(format!("declare how many of them a node may have: `object {kind} up to 4`"));
            return None;
        };
        if frame.seen == frame.role {
            frame.went.get_or_insert(("free", span));
        }
        let present = || at(ExprKind::Object, Type::Object(made.object), span);
        let owner = Owner::Role(made.role);
        let here =
            binary(Operator::Equal, at(ExprKind::Home, SOME_NODE, span), at(ExprKind::Me, SOME_NODE, span), Type::Bool);
        let is_there = lives(&made, present(), owner.clone());
        let mut kinds = vec![
            StepKind::Assert(here, Asserted::AtHome),
            StepKind::Assert(is_there, Asserted::Lives),
            StepKind::Remove(used(&made, owner), slot_of(present())),
        ];
        for r in 0..self.protocol.roles.len() {
            let role = &self.protocol.roles[r];
            if role.object != made.object || role.kind == RoleKind::Ghost || !role.kind.lives_at(true) {
                continue;
            }
            let id = RoleId(r as u8);
            let mut steps = Vec::new();
            // What an `await` keeps is not looked at in the first state, and may still be: `return true` to the caller that it has kept.
            let declared = role.vars.iter().take_while(|var| !var.name.starts_with('$')).count();
            for var in 0..declared {
                self.renew(frame, (id, VarId(var as u16)), span, &mut steps);
            }
            steps.push(StepKind::Goto(StateId(0)));
            if id == frame.seen {
                kinds.extend(steps);
            } else {
                let steps = steps.into_iter().map(|kind| Step { kind, span }).collect();
                kinds.push(StepKind::Elsewhere(Owner::Role(id), id, steps));
            }
        }
        Some(kinds)
    }

    /// A variable of the present record gets its first value.
    fn renew(&self, frame: &mut Frame, (role, var): (RoleId, VarId), span: Span, steps: &mut Vec<StepKind>) {
        let place = Place { owner: Owner::Current, role, var, field: None };
        let declared = self.protocol.roles[role.index()].vars[var.index()].clone();
        match &declared.ty {
            Type::List { .. } => steps.push(StepKind::Clear(place)),
            Type::Array { by, of } => {
                let values = self.first_values(of, declared.initial, span);
                let all = at(ExprKind::AllNodes, Type::NodeSet, span);
                let (element, set) = match by.as_ref() {
                    Type::Int { lo, hi } => {
                        let local = frame.hidden_local(&self.protocol, "", NUMBER);
                        (local, Err([*lo, *hi].map(|end| at(ExprKind::Constant(end), NUMBER, span))))
                    }
                    _ => (frame.hidden_local(&self.protocol, "", SOME_NODE), Ok(all)),
                };
                let ty = if set.is_ok() { SOME_NODE } else { NUMBER };
                let index = at(ExprKind::Local(element), ty, span);
                let inner = vec![Step { kind: StepKind::AssignElement(place, index, 0, values), span }];
                steps.push(match set {
                    Ok(all) => StepKind::ForSet(element, all, inner),
                    Err([lo, hi]) => StepKind::ForRange(element, lo, hi, inner),
                });
            }
            ty => steps.push(StepKind::Assign(place, self.first_values(ty, declared.initial, span))),
        }
    }

    /// What a variable holds that nobody has set: one value, or one for each field.
    fn first_values(&self, ty: &Type, initial: i64, span: Span) -> Vec<Expr> {
        if let Type::Record(record) = ty {
            let fields = &self.protocol.records[record.index()].fields;
            let value = |field: &Named| self.first_values(&field.ty, super::declare::first_value(&field.ty), span);
            return fields.iter().flat_map(value).collect();
        }
        let kind = match ty {
            Type::NodeSet | Type::IntSet { .. } => ExprKind::SetOf(Vec::new()),
            Type::Node { .. } | Type::ObjectOrNone(_) | Type::Thread => ExprKind::Constant(Bound::fixed(-1)),
            _ => ExprKind::Constant(Bound::fixed(initial)),
        };
        let ty = if matches!(ty, Type::Node { .. }) { Type::Node { optional: true } } else { ty.clone() };
        vec![at(kind, ty, span)]
    }

    /// Before something that concerns an object of a kind: if it is made, and at home here, it is there. `None`: nothing is to be looked at.
    pub(super) fn must_live(&self, object: Expr) -> Option<StepKind> {
        let made = self.protocol.made_kind(object.ty.object()?)?;
        let span = object.span;
        let home = at(ExprKind::HomeOf(Box::new(object.clone())), SOME_NODE, span);
        let elsewhere = binary(Operator::Different, home, at(ExprKind::Me, SOME_NODE, span), Type::Bool);
        let lives = lives(made, object, Owner::Role(made.role));
        Some(StepKind::Assert(binary(Operator::Or, elsewhere, lives, Type::Bool), Asserted::Lives))
    }

    /// What a statement changes must be there: what must hold before its steps. What the compiler keeps itself cannot be changed.
    pub(super) fn changed_must_live(&mut self, frame: &Frame, kinds: &[StepKind], span: Span) -> Vec<StepKind> {
        // What `initially` may not do is told where it is compiled.
        if self.protocol.made.is_empty() || frame.initially {
            return Vec::new();
        }
        let mut asked = Vec::new();
        for kind in kinds {
            if matches!(kind, StepKind::Goto(_) | StepKind::Start(..)) {
                asked.extend(self.present_must_live(frame.seen, span));
            }
            let Some(place) = changed_place(kind) else { continue };
            if self.protocol.made.iter().any(|made| made.role == place.role) {
                let name = self.protocol.roles[place.role.index()].name.clone();
                self.error(
                    Code::Handler,
                    span,
                    format!("`{name}` is kept by `new` and `free`, and only looked at otherwise"),
                )
                .help("make an object, or free it");
            }
            match &place.owner {
                Owner::RoleOf(_, object) => asked.extend(self.must_live((**object).clone())),
                _ => asked.extend(self.present_must_live(place.role, span)),
            }
        }
        asked
    }

    /// The same of the object of a role that is present.
    pub(super) fn present_must_live(&self, role: RoleId, span: Span) -> Option<StepKind> {
        let object = self.protocol.roles[role.index()].object;
        self.must_live(at(ExprKind::Object, Type::Object(object), span))
    }

    /// Claims that `check` adds: as long as an object is free, each of its records, on every node, is in the first state.
    pub(super) fn claims_of_made(&mut self) {
        for made in self.protocol.made.clone() {
            let span = self.protocol.roles[made.role.index()].span;
            let home = || at(ExprKind::Home, SOME_NODE, span);
            let present = at(ExprKind::Object, Type::Object(made.object), span);
            let mut condition = lives(&made, present, Owner::At(made.role, Box::new(home())));
            let mut at_first: Option<Expr> = None;
            let node = || at(ExprKind::Local(LocalId(0)), SOME_NODE, span);
            for (r, role) in self.protocol.roles.iter().enumerate() {
                if role.object != made.object || role.kind == RoleKind::Ghost {
                    continue;
                }
                let id = RoleId(r as u8);
                let in_first = |node: Expr| {
                    at(ExprKind::InState(Owner::At(id, Box::new(node)), id, vec![StateId(0)]), Type::Bool, span)
                };
                let is_first = match role.kind {
                    RoleKind::Home => in_first(home()),
                    kind => {
                        let mut holds = in_first(node());
                        if !kind.lives_at(true) {
                            let is_home = binary(Operator::Equal, node(), home(), Type::Bool);
                            holds = binary(Operator::Or, is_home, holds, Type::Bool);
                        }
                        at(ExprKind::Over(Quantifier::All, LocalId(0), Box::new(holds)), Type::Bool, span)
                    }
                };
                at_first = Some(match at_first {
                    Some(before) => binary(Operator::And, before, is_first, Type::Bool),
                    None => is_first,
                });
            }
            let Some(at_first) = at_first else { continue };
            condition = binary(Operator::Or, condition, at_first, Type::Bool);
            let name = self.protocol.claim_of_made(&made);
            if self.protocol.invariants.iter().any(|invariant| invariant.name == name) {
                self.error(
                    Code::Handler,
                    span,
                    format!("there is already an invariant `{name}`, which is added for this kind"),
                )
                .help("choose another name for it");
            }
            self.protocol.invariants.push(Invariant { name, object: made.object, condition, locals: 1 });
        }
    }
}
