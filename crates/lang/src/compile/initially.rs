//! `initially { .. }`: what a role's records are before anything else happens. It makes one record, out of what is fixed
//! before the protocol runs; nothing that reaches beyond it has a meaning there.

use super::frame::{Frame, Origin, Scope};
use super::*;
use trivium_diagnostic::Code;
use trivium_protocol::walk::{expressions, place_of, visit};

impl Compiler {
    pub(super) fn initially(&mut self, r: usize, role: &ast::Role) {
        let Some(written) = &role.initially else { return };
        let access = self.protocol.roles[r].states.first().map_or(Access::None, |first| first.access);
        let name = "initially".to_string();
        let mut frame = Frame::new(RoleId(r as u8), StateId(0), EventKind::Timer, name.clone(), access);
        (frame.sender, frame.caller) = (Origin::Nowhere, Origin::Nowhere);
        frame.initially = true;
        frame.scopes.push(Scope::default());
        let mut steps = Vec::new();
        let before = self.diagnostics.len();
        self.statements(&mut frame, &written.body, &mut steps);
        if self.diagnostics.len() == before {
            self.only_begins(r, &steps);
        }
        self.protocol.roles[r].initially = Some(frame.into_handler(name, 0, None, steps, written.span));
    }

    /// Notes each step that would do more than make a record, and each look at more.
    fn only_begins(&mut self, r: usize, steps: &[Step]) {
        for step in steps {
            let mut foreign = None;
            for expr in expressions(&step.kind) {
                visit(expr, &mut |e| foreign = foreign.or(beyond(e).map(|what| (e.span, what))));
            }
            if let Some((span, what)) = foreign {
                self.error(Code::Type, span, format!("`initially` cannot look at {what}"))
                    .help("it sees `me`, `home`, `object`, `nodes`, parameters, and the variables of its own record");
            }
            match &step.kind {
                StepKind::If(_, yes, no) => {
                    self.only_begins(r, yes);
                    self.only_begins(r, no);
                }
                StepKind::ForSet(_, _, body) | StepKind::ForRange(_, _, _, body) | StepKind::ForList(_, _, body) => {
                    self.only_begins(r, body);
                }
                StepKind::Goto(state) => self.begins_in(r, *state, step.span),
                other => {
                    if let Some(what) = does_more(other) {
                        self.error(
                            Code::Type,
                            step.span,
                            format!("`initially` cannot {what}: nothing else is there yet"),
                        )
                        .help("it may assign to the variables of its record, branch, loop, `assert` and `goto`");
                    }
                }
            }
        }
    }

    /// Nobody enters the state, so that no tag changes and no time begins to run.
    fn begins_in(&mut self, r: usize, state: StateId, span: Span) {
        let states = &self.protocol.roles[r].states;
        let (first, wanted) = (&states[0], &states[state.index()]);
        let (first_name, name) = (first.name.clone(), wanted.name.clone());
        if wanted.access != first.access {
            let (access, first_access) = (wanted.access, first.access);
            self.error(Code::Type, span, format!("a record cannot begin in `{name}`, which gives the access {access}"))
                .help(format!(
                    "what a node may do with its copy at first is what `{first_name}` gives: {first_access}"
                ));
        } else if wanted.timer.is_some() {
            self.error(Code::Type, span, format!("a record cannot begin in `{name}`, which has an `after`"))
                .help("its time begins when the state is entered, and nobody enters it here");
        }
    }
}

/// What a step does that `initially` cannot.
fn does_more(step: &StepKind) -> Option<&'static str> {
    Some(match step {
        StepKind::Send { .. } => "send",
        step if place_of(step).is_some_and(|place| !matches!(place.owner, Owner::Current)) => "change another record",
        StepKind::Resume => "`resume`",
        StepKind::Complete => "`complete`",
        StepKind::CompleteWith(..) => "`complete`",
        StepKind::Perform(_) => "`perform` an access",
        StepKind::Return { .. } => "`return`",
        StepKind::Defer => "`defer`",
        StepKind::Stall => "`stall`",
        StepKind::Start(..) => "`start` a task",
        StepKind::Yield => "`yield`",
        StepKind::Install(_) | StepKind::InstallOwn(_) => "`install`",
        StepKind::Copy { .. } | StepKind::Store(..) => "write to memory",
        StepKind::Fill(_) | StepKind::Upgrade | StepKind::Take(_) | StepKind::Invalidate | StepKind::Compose(_) => {
            "touch a cache's line"
        }
        StepKind::Elsewhere(..) => "call an action of another role or object",
        _ => return None,
    })
}

/// What an expression looks at that `initially` cannot.
fn beyond(expr: &Expr) -> Option<&'static str> {
    let own = |owner: &Owner| matches!(owner, Owner::Current);
    Some(match &expr.kind {
        ExprKind::Var(place) | ExprKind::Length(place) | ExprKind::Element(place, ..) if !own(&place.owner) => {
            "another record"
        }
        ExprKind::InState(owner, ..) if !own(owner) => "the state of a record",
        ExprKind::Room(..) => "the room of a lane",
        ExprKind::Memory(_) => "memory",
        ExprKind::Probe => "a cache's line",
        ExprKind::Sender | ExprKind::Caller => "an event",
        ExprKind::FaultAddress
        | ExprKind::FaultSize
        | ExprKind::FaultValue
        | ExprKind::FaultOperation
        | ExprKind::FaultExpected => "an access",
        _ => return None,
    })
}
