//! The whole model in Murphi: declarations, routines, rules, the first state, invariants.

use super::expressions::{SHORT, declared, lines, ty};
use super::statements::{comment, statements};
use crate::lines::Lines;
use crate::model::{Declared, Parameter, Program, Routine, Rule, Statement};

/// Writes the model of a protocol.
pub(super) fn write(program: &Program, protocol: &str) -> String {
    let mut out = Lines::default();
    out.line(comment(&format!("Protocol {protocol}, for Rumur; written by `trivium export --to murphi`.")));
    program.head.iter().for_each(|line| out.line(comment(line)));
    out.line(comment("rumur --deadlock-detection off --symmetry-reduction off -o model.c model.m"));
    out.line(comment("cc -O3 -mcx16 -o model model.c -lpthread && ./model"));
    out.blank();
    out.open("const");
    program.constants.iter().for_each(|(name, value)| out.line(format!("{name}: {value};")));
    out.middle("type");
    program.types.iter().for_each(|ty| declaration(ty, &mut out));
    out.middle("var");
    program.variables.iter().for_each(|variable| declaration(variable, &mut out));
    out.close("");
    program.routines.iter().for_each(|each| routine(each, &mut out));
    program.rules.iter().for_each(|each| rule(each, &mut out));
    out.line("startstate");
    out.open("begin");
    statements(&program.start, &mut out);
    out.close("end;");
    for (name, condition) in &program.invariants {
        out.blank();
        out.open(format!("invariant \"{name}\""));
        lines("", condition, ";", &mut out);
        out.end();
    }
    if !program.unchecked.is_empty() {
        out.blank();
        program.unchecked.iter().for_each(|line| out.line(comment(line)));
    }
    out.text()
}

/// A declaration, with what it is for: behind it where there is room.
fn declaration(given: &Declared, out: &mut Lines) {
    let line = format!("{};", declared(given));
    match given.comment.as_deref().map(comment) {
        None => out.line(line),
        Some(comment) if line.len() + comment.len() < SHORT => out.line(format!("{line} {comment}")),
        Some(comment) => {
            out.line(comment);
            out.line(line);
        }
    }
}

fn routine(routine: &Routine, out: &mut Lines) {
    if let Some(text) = &routine.comment {
        out.line(comment(text));
    }
    let parameters: Vec<String> = routine.parameters.iter().map(parameter).collect();
    let parameters = parameters.join("; ");
    out.line(match &routine.result {
        Some(result) => format!("function {}({parameters}): {};", routine.name, ty(result)),
        None => format!("procedure {}({parameters});", routine.name),
    });
    body(&routine.locals, &routine.body, out);
    out.blank();
}

fn parameter(parameter: &Parameter) -> String {
    let sign = if parameter.by_reference { "var " } else { "" };
    format!("{sign}{}", declared(&parameter.declared))
}

fn body(locals: &[Declared], of: &[Statement], out: &mut Lines) {
    let declared: Vec<String> = locals.iter().map(|local| format!("{};", declared(local))).collect();
    let line = declared.join(" ");
    if line.len() > SHORT {
        out.open("var");
        declared.iter().for_each(|local| out.line(local));
        out.end();
    } else if !locals.is_empty() {
        out.line(format!("var {line}"));
    }
    out.open("begin");
    statements(of, out);
    out.close("end;");
}

fn rule(rule: &Rule, out: &mut Lines) {
    let parameters: Vec<String> = rule.parameters.iter().map(declared).collect();
    if !parameters.is_empty() {
        out.open(format!("ruleset {} do", parameters.join("; ")));
    }
    out.open(format!("rule \"{}\"", rule.name));
    lines("", &rule.guard, " ==>", out);
    out.end();
    body(&rule.locals, &rule.body, out);
    if !parameters.is_empty() {
        out.close("end;");
    }
    out.blank();
}
