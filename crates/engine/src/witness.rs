//! Why an invariant is false: the part of its condition that decides, for which nodes, and the values in it.

use crate::engine::Engine;
use crate::evaluate::{array, scalar, set, truth};
use crate::fault::Try;
use crate::invariant::{SystemView, View};
use crate::mechanisms::{Node, Object};
use crate::record::set_text;
use crate::set::Set;
use trivium_protocol::{Access, Expr, ExprKind, Invariant, LocalId, Operator, Quantifier};

/// So many nodes, of which something else is to be told each, are told.
const MOST_PARTS: usize = 3;
/// Longer pieces of text are cut.
const LONGEST: usize = 90;

impl Engine {
    /// Why an invariant is false for an object: ``for node n = 2 `user at n is Out` is false (`user at n` is in In)``.
    /// Empty if that cannot be told.
    pub fn why_false<W: SystemView>(&self, invariant: &Invariant, object: Object, world: &W) -> String {
        let mut view = View::new(self, world, object, invariant.locals);
        let mut told = Telling { engine: self, view: &mut view };
        told.why(&invariant.condition).unwrap_or_default()
    }
}

struct Telling<'e, 'v, 'w, W> {
    engine: &'e Engine,
    view: &'v mut View<'e, 'w, W>,
}

impl<W: SystemView> Telling<'_, '_, '_, W> {
    /// Why a condition has the value that it has.
    fn why(&mut self, expr: &Expr) -> Try<String> {
        let holds = truth(self.view, expr)?;
        match &expr.kind {
            ExprKind::Not(inner) => self.why(inner),
            ExprKind::Binary(operator @ (Operator::And | Operator::Or), left, right) => {
                // One side decides if it makes an `and` false or an `or` true.
                let decides = *operator == Operator::Or;
                if truth(self.view, left)? == decides {
                    self.why(left)
                } else if holds == decides {
                    self.why(right)
                } else {
                    Ok(format!("{}, and {}", self.why(left)?, self.why(right)?))
                }
            }
            ExprKind::Over(quantifier @ (Quantifier::All | Quantifier::Any), local, body) => {
                let decides = *quantifier == Quantifier::Any;
                let nodes = self.nodes_where(*local, body, holds)?;
                // If no single node decides, all do alike.
                if holds != decides {
                    return Ok(self.plainly(expr, holds));
                }
                self.for_nodes(expr, *local, body, &nodes)
            }
            _ => {
                let mut values = Vec::new();
                self.values(expr, &mut values)?;
                let plain = self.plainly(expr, holds);
                // A state that a role is in, and a truth value, say no more.
                let known = matches!(&expr.kind, ExprKind::InState(_, _, states) if holds && states.len() == 1);
                if known || values.is_empty() || values.contains(&plain) {
                    return Ok(plain);
                }
                Ok(format!("{plain} ({})", values.join(", ")))
            }
        }
    }

    /// The nodes for which the body of a quantifier has a value.
    fn nodes_where(&mut self, local: LocalId, body: &Expr, holds: bool) -> Try<Vec<Node>> {
        let mut nodes = Vec::new();
        for node in (0..).take(self.engine.nodes as usize) {
            self.view.bind(local, node, body.span)?;
            if truth(self.view, body)? == holds {
                nodes.push(node);
            }
        }
        Ok(nodes)
    }

    fn for_nodes(&mut self, expr: &Expr, local: LocalId, body: &Expr, nodes: &[Node]) -> Try<String> {
        let text = self.text(expr);
        // `all n: ..`: the name stands between the quantifier and the colon.
        let name = text.split(':').next().and_then(|head| head.split_whitespace().nth(1));
        let named = name.map_or(String::new(), |name| format!("{name} = "));
        // Nodes of which the same is to be told are told together.
        let mut told: Vec<(Vec<Node>, String)> = Vec::new();
        for &node in nodes {
            self.view.bind(local, node, body.span)?;
            let why = self.why(body)?;
            match told.iter_mut().find(|(_, other)| *other == why) {
                Some((nodes, _)) => nodes.push(node),
                None => told.push((vec![node], why)),
            }
        }
        let part = |(nodes, why): &(Vec<Node>, String)| format!("for {} {why}", node_list(nodes, &named));
        let mut parts: Vec<String> = told.iter().take(MOST_PARTS).map(part).collect();
        let more: usize = told.iter().skip(MOST_PARTS).map(|(nodes, _)| nodes.len()).sum();
        if more > 0 {
            parts.push(format!("and so for {more} more"));
        }
        Ok(parts.join("; "))
    }

    /// The values of what a condition compares.
    fn values(&mut self, expr: &Expr, out: &mut Vec<String>) -> Try<()> {
        let value = match &expr.kind {
            ExprKind::Binary(_, left, right) => {
                self.values(left, out)?;
                return self.values(right, out);
            }
            ExprKind::SetEqual(left, right) => {
                self.set_value(left, out)?;
                return self.set_value(right, out);
            }
            ExprKind::ArrayEqual(left, right) => {
                self.array_value(left, out)?;
                return self.array_value(right, out);
            }
            ExprKind::In(element, of) => {
                self.values(element, out)?;
                return self.set_value(of, out);
            }
            ExprKind::Not(inner)
            | ExprKind::Given(inner)
            | ExprKind::Optional(inner)
            | ExprKind::Negate(inner)
            | ExprKind::Index(inner)
            | ExprKind::NodeAt(inner)
            | ExprKind::HomeOf(inner)
            | ExprKind::Made(inner, _)
            | ExprKind::AddressOf(inner)
            | ExprKind::BytesOf(inner) => {
                return self.values(inner, out);
            }
            ExprKind::SetCount(of) | ExprKind::Pick(of) => return self.set_value(of, out),
            // Constants, and the variables of quantifiers, which are told with the nodes.
            ExprKind::Constant(_) | ExprKind::Local(_) | ExprKind::LocalField(..) => return Ok(()),
            ExprKind::InState(..) => self.state(expr)?,
            ExprKind::Over(Quantifier::Count, local, body) => {
                let nodes = self.nodes_where(*local, body, true)?;
                let which = if nodes.is_empty() { String::new() } else { format!(": {}", node_list(&nodes, "")) };
                format!("`{}` is {}{which}", self.text(expr), nodes.len())
            }
            ExprKind::Over(..) => self.why(expr)?,
            ExprKind::Access(_) => {
                let access = match scalar(self.view, expr)? {
                    0 => Access::None,
                    1 => Access::Read,
                    _ => Access::Write,
                };
                format!("`{}` is {access}", self.text(expr))
            }
            _ => {
                let value = scalar(self.view, expr)?;
                format!("`{}` is {}", self.text(expr), self.engine.scalar_text(&expr.ty, value))
            }
        };
        if !out.contains(&value) {
            out.push(value);
        }
        Ok(())
    }

    fn array_value(&mut self, expr: &Expr, out: &mut Vec<String>) -> Try<()> {
        let values = array(self.view, expr)?;
        let text = self.engine.array_text(&expr.ty, &values);
        let value = format!("`{}` is {text}", self.text(expr));
        if !out.contains(&value) {
            out.push(value);
        }
        Ok(())
    }

    fn set_value(&mut self, expr: &Expr, out: &mut Vec<String>) -> Try<()> {
        match &expr.kind {
            ExprKind::SetOf(elements) => return elements.iter().try_for_each(|element| self.values(element, out)),
            ExprKind::AllNodes => return Ok(()),
            ExprKind::SetBinary(_, left, right) => {
                self.set_value(left, out)?;
                return self.set_value(right, out);
            }
            _ => {}
        }
        let mut elements = Set::default();
        set(self.view, expr, &mut elements)?;
        let (lo, _) = self.engine.set_range(&expr.ty);
        let value = format!("`{}` is {}", self.text(expr), set_text(elements.iter(false).map(|bit| bit + lo)));
        if !out.contains(&value) {
            out.push(value);
        }
        Ok(())
    }

    /// In which state a role really is.
    fn state(&mut self, expr: &Expr) -> Try<String> {
        let ExprKind::InState(owner, role, _) = &expr.kind else { return Ok(String::new()) };
        let declared = &self.engine.protocol.roles[role.index()];
        let text = self.text(expr);
        let who = text.rsplit_once(" is ").map_or(declared.name.as_str(), |(who, _)| who);
        Ok(match self.view.state(owner, *role, expr.span)? {
            Some(state) => format!("`{who}` is in {}", declared.states[state.index()].name),
            None => format!("`{who}` does not live there"),
        })
    }

    fn plainly(&self, expr: &Expr, holds: bool) -> String {
        format!("`{}` is {holds}", self.text(expr))
    }

    /// An expression as it was written, in one line and without brackets around all of it.
    fn text(&self, expr: &Expr) -> String {
        let sources = &self.engine.protocol.sources;
        let known = usize::from(expr.span.file) < sources.files().count();
        let written = if known { sources.excerpt(expr.span) } else { "" };
        let mut text = written.split_whitespace().collect::<Vec<_>>().join(" ");
        while let Some(inner) = bracketed(&text) {
            text = inner;
        }
        match text.char_indices().nth(LONGEST) {
            Some((at, _)) => format!("{}…", &text[..at]),
            None if text.is_empty() => "the condition".into(),
            None => text,
        }
    }
}

/// What stands inside the brackets, if one pair is around the whole text.
fn bracketed(text: &str) -> Option<String> {
    let inner = text.strip_prefix('(')?.strip_suffix(')')?;
    let mut open = 0;
    for letter in inner.chars() {
        match letter {
            '(' => open += 1,
            ')' if open == 0 => return None,
            ')' => open -= 1,
            _ => {}
        }
    }
    Some(inner.trim().to_string())
}

/// `node 1`, `nodes 0 and 2`; with the variable's name, `nodes n = 0 and 2`.
fn node_list(nodes: &[Node], named: &str) -> String {
    let texts: Vec<String> = nodes.iter().map(Node::to_string).collect();
    match texts.as_slice() {
        [one] => format!("node {named}{one}"),
        [most @ .., last] => format!("nodes {named}{} and {last}", most.join(", ")),
        [] => "no node".into(),
    }
}
