//! Statements in Murphi. What is short stands in one line.

use super::expressions::{SHORT, arguments, expression, lines, ty};
use crate::lines::Lines;
use crate::model::{Expr, Statement};

/// Most statements that stand beside each other within another.
const FEW: usize = 2;

pub(super) fn statements(statements: &[Statement], out: &mut Lines) {
    statements.iter().for_each(|each| statement(each, out));
}

fn statement(statement: &Statement, out: &mut Lines) {
    if let Some(line) = in_one_line(statement) {
        return out.line(line);
    }
    match statement {
        Statement::If(branches, otherwise) => {
            for (b, (condition, body)) in branches.iter().enumerate() {
                match b {
                    0 => out.open(format!("if {} then", expression(condition))),
                    _ => out.middle(format!("elsif {} then", expression(condition))),
                }
                statements(body, out);
            }
            if !otherwise.is_empty() {
                out.middle("else");
                statements(otherwise, out);
            }
            out.close("end;");
        }
        Statement::Switch(value, cases) => {
            out.open(format!("switch {}", expression(value)));
            cases.iter().for_each(|(label, body)| case(label, body, out));
            out.close("end;");
        }
        Statement::While(condition, body) => within(&format!("while {} do", expression(condition)), body, out),
        Statement::For(name, each, body) => within(&format!("for {name}: {} do", ty(each)), body, out),
        Statement::Return(Some(value)) => lines("return ", value, ";", out),
        _ => {}
    }
}

/// Statements between a line and its `end`.
fn within(head: &str, body: &[Statement], out: &mut Lines) {
    out.open(head);
    statements(body, out);
    out.close("end;");
}

fn case(label: &Expr, body: &[Statement], out: &mut Lines) {
    let head = format!("case {}:", expression(label));
    match beside(body).filter(|line| line.len() + head.len() <= SHORT) {
        Some(line) => out.line(format!("{head}{line}")),
        None => {
            out.open(head);
            statements(body, out);
            out.end();
        }
    }
}

/// A few short statements beside each other, each behind a space; none if they need lines of their own.
fn beside(statements: &[Statement]) -> Option<String> {
    let is_comment = |statement: &Statement| matches!(statement, Statement::Comment(_));
    if statements.len() > FEW || statements.iter().any(is_comment) {
        return None;
    }
    statements.iter().map(|each| Some(format!(" {}", in_one_line(each)?))).collect()
}

/// A statement that needs no further line.
fn in_one_line(statement: &Statement) -> Option<String> {
    let line = match statement {
        Statement::Comment(text) => return Some(comment(text)),
        Statement::Assign(place, value) => return Some(format!("{} := {};", expression(place), expression(value))),
        Statement::Call(name, given) => return Some(format!("{name}({});", arguments(given))),
        Statement::Clear(place) => return Some(format!("clear {};", expression(place))),
        Statement::Error(text) => return Some(format!("error \"{text}\";")),
        Statement::Assume(condition) => return Some(format!("assume {};", expression(condition))),
        Statement::Return(None) => return Some("return;".into()),
        Statement::Return(Some(value)) => format!("return {};", expression(value)),
        Statement::If(branches, otherwise) => {
            let [(condition, yes)] = &branches[..] else { return None };
            let (yes, no) = (beside(yes)?, beside(otherwise)?);
            let no = if otherwise.is_empty() { no } else { format!(" else{no}") };
            format!("if {} then{yes}{no} end;", expression(condition))
        }
        Statement::While(condition, body) => {
            let body = beside(body)?;
            format!("while {} do{body} end;", expression(condition))
        }
        Statement::For(name, each, body) => {
            let body = beside(body)?;
            format!("for {name}: {} do{body} end;", ty(each))
        }
        Statement::Switch(..) => return None,
    };
    Some(line).filter(|line| line.len() <= SHORT)
}

pub(super) fn comment(text: &str) -> String {
    format!("-- {}", text.replace('\n', " "))
}
