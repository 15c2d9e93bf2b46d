//! Wrong lists of what is dead, as mistakes in the analysis would make them: what compares explorations with and without
//! clearing must notice each.

use std::sync::Arc;
use trivium_lang::analyse::find_dead;
use trivium_protocol::walk::{expressions, visit};
use trivium_protocol::{ExprKind, Protocol, Step, StepKind, VarId};

/// A mistake in the analysis: in words, and what it makes of a protocol's lists.
pub type Mistake = (&'static str, fn(&mut Protocol));

pub const MISTAKES: [Mistake; 4] = [
    ("where called actions go is ignored", |protocol| find_by(protocol, |steps| without_called_gotos(steps))),
    ("what called actions read is forgotten", |protocol| find_by(protocol, |steps| only_called_gotos(steps))),
    ("what later states read is forgotten", |protocol| find_by(protocol, without_gotos)),
    ("every variable is dead everywhere", everything_dead),
];

/// What only a claim reads is taken for dead.
pub const CLAIMS_FORGOTTEN: Mistake = ("what claims read is forgotten", |protocol| {
    let mut changed = protocol.clone();
    changed.invariants.clear();
    changed.conditions.clear();
    find_dead(&mut changed);
    for (role, changed) in protocol.roles.iter_mut().zip(changed.roles) {
        role.states.iter_mut().zip(changed.states).for_each(|(state, changed)| state.dead = changed.dead);
    }
});

/// Mistakes in the analysis of copies.
pub const OF_COPIES: [Mistake; 5] = [
    ("what guards look at is forgotten", |protocol| {
        copies_by(protocol, |changed| {
            changed.roles.iter_mut().flat_map(|role| &mut role.handlers).for_each(|handler| handler.guard = None);
        })
    }),
    ("what steps look at is forgotten", |protocol| copies_by(protocol, without_looks)),
    ("what claims look at is forgotten", |protocol| copies_by(protocol, |changed| changed.invariants.clear())),
    ("what later states read is forgotten", |protocol| {
        copies_by(protocol, |changed| {
            changed
                .roles
                .iter_mut()
                .flat_map(|role| &mut role.handlers)
                .for_each(|handler| without_gotos(&mut handler.steps));
        })
    }),
    ("every copy is dead everywhere", |protocol| {
        protocol.roles.iter_mut().flat_map(|role| &mut role.states).for_each(|state| state.copy_is_dead = true);
    }),
];

/// The lists of copies of a protocol that is changed first.
fn copies_by(protocol: &mut Protocol, change: impl Fn(&mut Protocol)) {
    let mut changed = protocol.clone();
    change(&mut changed);
    find_dead(&mut changed);
    for (role, changed) in protocol.roles.iter_mut().zip(changed.roles) {
        for (state, changed) in role.states.iter_mut().zip(changed.states) {
            state.copy_is_dead = changed.copy_is_dead;
        }
    }
}

/// Without steps that look at words of memory.
fn without_looks(protocol: &mut Protocol) {
    fn drop_looks(steps: &mut Vec<Step>) {
        let looks = |step: &Step| {
            let mut found = false;
            for expr in expressions(&step.kind) {
                visit(expr, &mut |part| found |= matches!(part.kind, ExprKind::Memory(_)));
            }
            found
        };
        steps.retain(|step| !looks(step));
        bodies(steps).for_each(|(body, _)| drop_looks(body));
    }
    protocol.roles.iter_mut().flat_map(|role| &mut role.handlers).for_each(|handler| drop_looks(&mut handler.steps));
}

/// The protocol with the lists of a mistake; `None` where they are those that it has.
pub fn mistaken(protocol: &Arc<Protocol>, mistake: fn(&mut Protocol)) -> Option<Arc<Protocol>> {
    let mut wrong = Protocol::clone(protocol);
    mistake(&mut wrong);
    let lists = |p: &Protocol| -> Vec<(Vec<VarId>, bool)> {
        p.roles.iter().flat_map(|role| &role.states).map(|state| (state.dead.clone(), state.copy_is_dead)).collect()
    };
    (lists(&wrong) != lists(protocol)).then(|| Arc::new(wrong))
}

/// The lists of a protocol whose handlers have other steps.
fn find_by(protocol: &mut Protocol, change: fn(&mut Vec<Step>)) {
    let mut changed = protocol.clone();
    changed.roles.iter_mut().flat_map(|role| &mut role.handlers).for_each(|handler| change(&mut handler.steps));
    find_dead(&mut changed);
    for (role, changed) in protocol.roles.iter_mut().zip(changed.roles) {
        for (state, changed) in role.states.iter_mut().zip(changed.states) {
            state.dead = changed.dead;
        }
    }
}

fn without_gotos(steps: &mut Vec<Step>) {
    steps.retain(|step| !matches!(step.kind, StepKind::Goto(_)));
    bodies(steps).for_each(|(body, _)| without_gotos(body));
}

/// As it was once.
fn without_called_gotos(steps: &mut [Step]) {
    bodies(steps).for_each(|(body, called)| if called { without_gotos(body) } else { without_called_gotos(body) });
}

fn only_called_gotos(steps: &mut [Step]) {
    bodies(steps).for_each(|(body, called)| if called { only_gotos(body) } else { only_called_gotos(body) });
}

fn only_gotos(steps: &mut Vec<Step>) {
    for mut step in std::mem::take(steps) {
        let calls = matches!(step.kind, StepKind::Elsewhere(..));
        for (body, _) in bodies(std::slice::from_mut(&mut step)) {
            only_gotos(body);
            if !calls {
                steps.append(body);
            }
        }
        if calls || matches!(step.kind, StepKind::Goto(_)) {
            steps.push(step);
        }
    }
}

/// The steps inside steps, and whether they are those of an action that is called.
fn bodies(steps: &mut [Step]) -> impl Iterator<Item = (&mut Vec<Step>, bool)> {
    steps.iter_mut().flat_map(|step| match &mut step.kind {
        StepKind::If(_, yes, no) => vec![(yes, false), (no, false)],
        StepKind::ForSet(_, _, body) | StepKind::ForRange(_, _, _, body) | StepKind::ForList(_, _, body) => {
            vec![(body, false)]
        }
        StepKind::Elsewhere(_, _, body) => vec![(body, true)],
        _ => Vec::new(),
    })
}

fn everything_dead(protocol: &mut Protocol) {
    for role in &mut protocol.roles {
        let all: Vec<VarId> = (0..role.vars.len()).map(VarId::at).collect();
        role.states.iter_mut().for_each(|state| state.dead.clone_from(&all));
    }
}
