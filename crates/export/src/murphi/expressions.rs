//! Expressions in Murphi.

use crate::lines::Lines;
use crate::model::{Declared, Expr, Sign, TypeExpr};

/// Most characters of a line that could as well be several.
pub(super) const SHORT: usize = 110;

/// How strongly something holds together, from the weakest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Strength {
    Choice,
    Or,
    And,
    Not,
    Comparison,
    Shift,
    Sum,
    Product,
    Signed,
    Whole,
}

fn strength(sign: Sign) -> Strength {
    match sign {
        Sign::Or => Strength::Or,
        Sign::And => Strength::And,
        Sign::Equal | Sign::Different | Sign::Less | Sign::LessEqual | Sign::Greater | Sign::GreaterEqual => {
            Strength::Comparison
        }
        Sign::ShiftLeft | Sign::ShiftRight => Strength::Shift,
        Sign::Plus | Sign::Minus => Strength::Sum,
        Sign::Times | Sign::Divide | Sign::Remainder => Strength::Product,
    }
}

fn sign_text(sign: Sign) -> &'static str {
    match sign {
        Sign::And => "&",
        Sign::Or => "|",
        Sign::Equal => "=",
        Sign::Different => "!=",
        Sign::Less => "<",
        Sign::LessEqual => "<=",
        Sign::Greater => ">",
        Sign::GreaterEqual => ">=",
        Sign::ShiftLeft => "<<",
        Sign::ShiftRight => ">>",
        Sign::Plus => "+",
        Sign::Minus => "-",
        Sign::Times => "*",
        Sign::Divide => "/",
        Sign::Remainder => "%",
    }
}

/// An expression that stands alone.
pub(super) fn expression(expr: &Expr) -> String {
    written(expr).0
}

/// An expression that ends a line. Where that would be long, each operand of an outermost `&` or `|` has a line of its own.
pub(super) fn lines(before: &str, expr: &Expr, after: &str, out: &mut Lines) {
    let line = format!("{before}{}{after}", expression(expr));
    let mut operands = operands(expr);
    let Some(last) = operands.pop().filter(|_| line.len() > SHORT && !operands.is_empty()) else {
        return out.line(line);
    };
    let first = operands.remove(0);
    out.open(format!("{before}{first}"));
    operands.iter().for_each(|operand| out.line(operand));
    out.line(format!("{last}{after}"));
    out.end();
}

/// The operands of the outermost sign, if it is `&` or `|`: all but the first behind it.
fn operands(expr: &Expr) -> Vec<String> {
    let Expr::Binary(sign @ (Sign::And | Sign::Or), ..) = expr else { return vec![expression(expr)] };
    let (mut found, mut rest) = (Vec::new(), expr);
    while let Expr::Binary(inner, left, right) = rest
        && inner == sign
    {
        found.push(format!("{} {}", sign_text(*sign), operand(right, *sign, false)));
        rest = left;
    }
    found.push(operand(rest, *sign, true));
    found.reverse();
    found
}

/// An expression as a part of a larger one that holds together so strongly.
fn part(expr: &Expr, least: Strength) -> String {
    let (text, own) = written(expr);
    if own < least { format!("({text})") } else { text }
}

fn written(expr: &Expr) -> (String, Strength) {
    let whole = |text| (text, Strength::Whole);
    match expr {
        // A sign in front holds less than what stands behind a name.
        Expr::Number(value) if *value < 0 => (value.to_string(), Strength::Signed),
        Expr::Number(value) => whole(value.to_string()),
        Expr::Truth(value) => whole(value.to_string()),
        Expr::Name(name) => whole(name.to_string()),
        Expr::Field(of, name) => whole(format!("{}.{name}", part(of, Strength::Whole))),
        Expr::Index(of, index) => whole(format!("{}[{}]", part(of, Strength::Whole), expression(index))),
        Expr::Call(name, given) => whole(format!("{name}({})", arguments(given))),
        // The languages of checkers do not agree on what else belongs to a `!`.
        Expr::Not(inner) => (format!("!{}", part(inner, Strength::Whole)), Strength::Not),
        Expr::Negate(inner) => (format!("-{}", part(inner, Strength::Whole)), Strength::Signed),
        Expr::Complement(inner) => (format!("~{}", part(inner, Strength::Whole)), Strength::Signed),
        Expr::Binary(sign, left, right) => binary(*sign, left, right),
        Expr::Choice(condition, yes, no) => {
            let [condition, yes, no] = [condition, yes, no].map(|each| part(each, Strength::Or));
            whole(format!("({condition} ? {yes} : {no})"))
        }
        Expr::Over(all, over, body) => {
            let quantifier = if *all { "forall" } else { "exists" };
            (format!("{quantifier} {} do {} end", declared(over), expression(body)), Strength::Choice)
        }
    }
}

fn binary(sign: Sign, left: &Expr, right: &Expr) -> (String, Strength) {
    (format!("{} {} {}", operand(left, sign, true), sign_text(sign), operand(right, sign, false)), strength(sign))
}

fn operand(expr: &Expr, sign: Sign, is_left: bool) -> String {
    let (text, own) = written(expr);
    let of = strength(sign);
    let holds = own > of || own == of && is_left;
    if holds && !is_doubtful(expr, sign) { text } else { format!("({text})") }
}

/// Whether few know by heart that an operand needs no parentheses: in shifts and products, and where `&` and `|` are about bits.
fn is_doubtful(expr: &Expr, sign: Sign) -> bool {
    let Expr::Binary(inner, ..) = expr else { return false };
    match (strength(*inner), strength(sign)) {
        (Strength::Shift, _) => true,
        (Strength::Product, Strength::Product) => *inner != sign,
        (Strength::Sum | Strength::Product, of) => matches!(of, Strength::Shift | Strength::And | Strength::Or),
        _ => false,
    }
}

pub(super) fn arguments(given: &[Expr]) -> String {
    given.iter().map(expression).collect::<Vec<_>>().join(", ")
}

pub(super) fn declared(declared: &Declared) -> String {
    format!("{}: {}", declared.name, ty(&declared.ty))
}

/// A type, in one line.
pub(super) fn ty(expr: &TypeExpr) -> String {
    match expr {
        TypeExpr::Name(name) => name.to_string(),
        TypeExpr::Boolean => "boolean".into(),
        TypeExpr::Range(least, most) => format!("{least}..{most}"),
        TypeExpr::Array(by, of) => format!("array [{}] of {}", ty(by), ty(of)),
        TypeExpr::Record(fields) => {
            let fields: String = fields.iter().map(|field| format!(" {};", declared(field))).collect();
            format!("record{fields} end")
        }
    }
}
