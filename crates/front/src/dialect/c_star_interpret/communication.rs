//! Values of other positions: gets, sends, single positions, reductions.

use super::expressions::{Changed, assigned};
use super::parallel::shape_of;
use super::{Meant, each, each_of_nodes, object};
use crate::tree::{Expression, Form};
use crate::types::ParallelShape;
use std::rc::Rc;

/// The greatest and the least value of the type of an object, after C's promotions.
fn extreme(object: &str, is_greatest: bool) -> String {
    let (sign, integer) = if is_greatest { ("", "") } else { ("-", " - 1") };
    let unsigned = |all: &str| if is_greatest { all.to_string() } else { "0".to_string() };
    format!(
        "_Generic({object}, int: {sign}__INT_MAX__{integer}, long: {sign}__LONG_MAX__{integer}, long long: {sign}__LONG_LONG_MAX__{integer}, unsigned: {}, unsigned long: {}, unsigned long long: {}, float: {sign}__builtin_inff(), double: {sign}__builtin_inf())",
        unsigned("~0u"),
        unsigned("~0ul"),
        unsigned("~0ull")
    )
}

/// The position so many steps away in a dimension, as the library finds it.
fn moved(shape: &ParallelShape, dimension: &str, distance: &str, wraps: bool) -> String {
    format!("cstar_moved(&{}, cstar_vp, {dimension}, {distance}, {})", object(shape), u8::from(wraps))
}

impl Meant<'_, '_> {
    /// Where a left index is: the number of a position, or an error that names the position that asks, if one does.
    fn position(&self, shape: &ParallelShape, asking: Option<&ParallelShape>, indices: &[String]) -> String {
        let asking = asking.map_or("0, 0".to_string(), |asking| format!("&{}, cstar_vp", object(asking)));
        format!(
            "cstar_position(&{}, {asking}, {}, (const long long[]){{{}}})",
            object(shape),
            indices.len(),
            indices.join(", ")
        )
    }

    fn indexed_shape(&self, operand: &Expression) -> Rc<ParallelShape> {
        shape_of(operand).unwrap_or_else(|| self.shape())
    }

    /// `[i]p` with a parallel index: each active position takes the value at the position that it names.
    pub(super) fn get(
        &mut self,
        expression: &Expression,
        axes: &[Expression],
        operand: &Expression,
        code: &mut String,
    ) -> String {
        let indices: Vec<String> = axes.iter().map(|axis| self.value(axis, code)).collect();
        let (name, shape, from) = (self.temporary(), self.shape(), self.indexed_shape(operand));
        let value = self.place(operand, "cstar_at", code);
        let position = self.position(&from, Some(&shape), &indices);
        let taken = format!("int cstar_at = {position}; {name}[cstar_vp] = {value};");
        let all = self.space(&name, &format!("__typeof_unqual__(({{ {value}; }}))")) + &each(&shape, &taken);
        code.push_str(&self.at(expression.first, &all));
        format!("{name}[cstar_vp]")
    }

    /// The value so many steps away in one dimension: around its end, or another one beyond it.
    pub(super) fn shifted(
        &mut self,
        operand: &Expression,
        border: Option<&Expression>,
        [dimension, distance]: [&Expression; 2],
        code: &mut String,
    ) -> String {
        let border = border.map(|border| self.value(border, code));
        let (dimension, distance) = (self.value(dimension, code), self.value(distance, code));
        let (name, shape) = (self.temporary(), self.shape());
        let value = self.place(operand, "cstar_at", code);
        let to = moved(&shape, &dimension, &distance, border.is_none());
        let taken = match border {
            Some(border) => format!("if (cstar_at < 0) {name}[cstar_vp] = {border}; else {name}[cstar_vp] = {value};"),
            None => format!("{name}[cstar_vp] = {value};"),
        };
        let ty = format!("__typeof_unqual__(({{ {value}; }}))");
        let all = self.space(&name, &ty) + &each(&shape, &format!("int cstar_at = {to}; {taken}"));
        code.push_str(&all);
        format!("{name}[cstar_vp]")
    }

    /// `[i]p` with scalar indices: the value at one position.
    pub(super) fn one_position(&mut self, expression: &Expression, axes: &[Expression], operand: &Expression) {
        let mut code = String::new();
        self.ahead(operand, &mut code);
        let indices: Vec<String> = axes.iter().map(|axis| self.value(axis, &mut code)).collect();
        let value = self.place(operand, "cstar_at", &mut code);
        let position = self.position(&self.indexed_shape(operand), None, &indices);
        let text = self.at(expression.first, &format!("({{ {code}int cstar_at = {position}; {value}; }})"));
        self.draft.edits.replace(expression.first, expression.last, &text);
    }

    /// `to_torus_dim`, `to_grid_dim`: each position sends a value so many steps away, around the end, or nowhere beyond it; then those to which nothing is sent
    /// from within have what stands at the border.
    pub(super) fn shifted_to(&mut self, parts: &[Expression], code: &mut String) -> Option<Changed> {
        let (operand, sent, border, dimension, distance) = match parts {
            [_, operand, sent, dimension, distance] => (operand, sent, None, dimension, distance),
            [_, operand, sent, border, dimension, distance] => (operand, sent, Some(border), dimension, distance),
            _ => return None,
        };
        let shape = self.shape();
        let (dimension, distance) = (self.value(dimension, code), self.value(distance, code));
        let place = self.place(operand, "cstar_at", code);
        let ty = format!("__typeof_unqual__(({{ {place}; }}))");
        let mut kept = |of: &Expression, meant: &mut Self| {
            let (value, name) = (meant.value(of, code), meant.temporary());
            code.push_str(&(meant.space(&name, &ty) + &each(&shape, &format!("{name}[cstar_vp] = {value};"))));
            format!("{name}[cstar_vp]")
        };
        let value = kept(sent, self);
        let filled = border.map(|border| kept(border, self));
        let moved = |distance: &str| moved(&shape, &dimension, distance, border.is_none());
        let to = format!("int cstar_at = {}; if (cstar_at >= 0) {place} = {value};", moved(&distance));
        code.push_str(&each_of_nodes(&shape, "", &to));
        let own = self.place(operand, "cstar_vp", code);
        if let Some(filled) = filled {
            let from = moved(&format!("-({distance})"));
            code.push_str(&each(&shape, &format!("if ({from} < 0) {own} = {filled};")));
        }
        Some(Changed { name: (operand.first, operand.last), value: own, shape })
    }

    /// `[i]p = s`, all of it scalar: one value goes to one position.
    pub(super) fn store(
        &mut self,
        expression: &Expression,
        (op, width): (usize, usize),
        left: &Expression,
        right: &Expression,
    ) {
        let Form::LeftIndex { axes, operand } = &left.bare().form else { return };
        let mut code = String::new();
        self.ahead(operand, &mut code);
        let indices: Vec<String> = axes.iter().map(|axis| self.value(axis, &mut code)).collect();
        let place = self.place(operand, "cstar_at", &mut code);
        let position = self.position(&self.indexed_shape(operand), None, &indices);
        let value = self.value(right, &mut code);
        let name = self.temporary();
        let assigned = assigned(&place, (&self.word(op), width), &name);
        let text = format!("({{ {code}int cstar_at = {position}; __auto_type {name} = {value}; {assigned}; }})");
        let text = self.at(left.first, &text);
        self.draft.edits.replace(expression.first, expression.last, &text);
    }

    /// `[i]p = e`, `[i]p += e`: all values and places are found first. Then each position, in the order of the nodes that would have them, has its value stored, or combined with what is there. Gives
    /// the values, and what has changed.
    pub(super) fn send(
        &mut self,
        (op, width): (usize, usize),
        left: &Expression,
        right: &Expression,
        code: &mut String,
    ) -> (String, Option<Changed>) {
        let Form::LeftIndex { axes, operand } = &left.bare().form else { return (String::new(), None) };
        let (shape, to) = (self.shape(), self.indexed_shape(operand));
        let indices: Vec<String> = axes.iter().map(|axis| self.value(axis, code)).collect();
        let place = self.place(operand, "cstar_at", code);
        let value = self.value(right, code);
        let value = if self.word(op) == "=" {
            // What is stored has the type of its place.
            let stored = self.temporary();
            let ty = format!("__typeof_unqual__(({{ {place}; }}))");
            code.push_str(&self.space(&stored, &ty));
            code.push_str(&each(&shape, &format!("{stored}[cstar_vp] = {value};")));
            format!("{stored}[cstar_vp]")
        } else {
            self.array(&value, code)
        };
        let position = self.position(&to, Some(&shape), &indices);
        let position = self.array(&position, code);
        let stored = assigned(&place, (&self.word(op), width), &value);
        code.push_str(&each_of_nodes(&shape, "", &format!("int cstar_at = {position}; {stored};")));
        // Told at the positions that it has.
        let changed = self.place(operand, "cstar_vp", code);
        (value, Some(Changed { name: (operand.first, operand.last), value: changed, shape: to }))
    }

    /// `(+= p)`.
    pub(super) fn reduction(&mut self, expression: &Expression, op: usize, operand: &Expression) {
        let word = self.word(op);
        let text = self.reduced(operand, &word);
        self.draft.edits.replace(expression.first, expression.last, &text);
    }

    /// What comes of all active positions. Each of the nodes that there would be combines what it has of them, in their order; then each node, from the last to the
    /// first, takes what its children in a binary tree have.
    pub(super) fn reduced(&mut self, operand: &Expression, word: &str) -> String {
        let mut code = String::new();
        self.ahead(operand, &mut code);
        let value = self.value(operand, &mut code);
        let parts = self.temporary();
        let own = format!("{parts}[cstar_node]");
        let begin = match word {
            "&=" => format!("~(__typeof__({own}))0"),
            "<" => extreme(&own, true),
            ">" => extreme(&own, false),
            _ => "0".into(),
        };
        let with = |other: &str| match word {
            "<" | ">" => format!("{own} = {own} {word} {other} ? {own} : {other};"),
            "-=" => format!("{own} += {other};"),
            _ => format!("{own} {word} {other};"),
        };
        let sign = if word == "-=" { "-" } else { "" };
        let owns = each_of_nodes(&self.shape(), &format!("{own} = {begin}; "), &with(&format!("+({value})")));
        format!(
            "({{ {code}__typeof_unqual__(+({value})) *{parts} __attribute__((cleanup(cstar_release))) = cstar_of_nodes(sizeof *{parts}); {owns}\
             for (int cstar_node = trivium_nodes() - 1; cstar_node >= 0; cstar_node--) \
             for (int cstar_child = 2 * cstar_node + 1; cstar_child <= 2 * cstar_node + 2 && cstar_child < trivium_nodes(); cstar_child++) {{ {} }} \
             {sign}{parts}[0]; }})",
            with(&format!("{parts}[cstar_child]")),
        )
    }
}
