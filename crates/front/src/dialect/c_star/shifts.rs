//! `from_torus_dim` and `from_grid_dim`: values of positions that are so many steps away in one dimension; `to_torus_dim` and `to_grid_dim`, which send
//! them there.

use super::Loops;
use super::communication::{Indexed, OWN, WHOLE};
use super::expressions::{SCALAR_HELP, dimensions};
use super::flow::{GET, SEND, WRITE};
use super::parallel::{Ahead, callee, is_parallel, positions, two_ways, variable_of};
use super::sends::Found;
use crate::edits::about;
use crate::tree::Expression;

/// Whether a call gives such values.
pub(super) fn is_shift(name: &str) -> bool {
    ["from_torus_dim", "from_grid_dim"].contains(&name)
}

/// Whether it sends them.
pub(super) fn is_shift_to(name: &str) -> bool {
    ["to_torus_dim", "to_grid_dim"].contains(&name)
}

/// What such a call says.
struct Shift<'e> {
    operand: &'e Expression,
    /// What is sent to it; none: values of it are given.
    sent: Option<&'e Expression>,
    /// What positions get that have none at this distance; none: the last one is beside the first.
    fill: Option<&'e Expression>,
    dimension: &'e Expression,
    distance: &'e Expression,
}

impl Shift<'_> {
    /// The position at a distance, in C; below 0 where there is none.
    fn place(&self, indexed: &Indexed, dimension: &str, distance: &str) -> String {
        let wraps = u8::from(self.fill.is_none());
        format!("cstar_shift({}, {OWN}, {}, {distance}, {wraps})", indexed.object, whole(dimension))
    }
}

/// A number of steps, or of a dimension: what has no bits is refused where it stands.
fn whole(text: &str) -> String {
    format!("(({text}) | {WHOLE})")
}

impl Loops<'_, '_> {
    /// `from_torus_dim(p, k, d)` is `[(. + d) %% dimof(S, k)]p` of dimension k, with `[.]` of the others. `from_grid_dim(p, f, k, d)` gives f where that is
    /// outside of the shape.
    pub(super) fn shifted(&mut self, expression: &Expression, parts: &[Expression], ahead: &mut Ahead) {
        let Some(current) = self.shape_for(expression) else { return };
        let Some(shift) = self.shift(expression, parts) else { return };
        let Some(indexed) = self.indexed(expression, None, shift.operand, ahead) else { return };
        let is_in_place = self.is_in_place(shift.operand);
        shift.fill.iter().for_each(|fill| self.inside(fill, ahead));
        [shift.dimension, shift.distance].iter().for_each(|part| self.once(part, ahead));
        let (dimension, distance) = (self.text(shift.dimension), self.text(shift.distance));
        let place = shift.place(&indexed, &dimension, &whole(&distance));
        // It has the type of what is shifted, wherever it comes from.
        let cast = if indexed.is_number { format!("({})", indexed.ty()) } else { String::new() };
        let fill = shift.fill.map(|fill| format!("{cast}({})", self.text(fill)));
        let mut near = None;
        let noted = self.noted(|loops| {
            loops.access(&indexed.name, GET);
            let steps = loops.steps_in(current.rank, shift.dimension, &distance).filter(|_| is_in_place);
            near = steps.and_then(|steps| loops.near_by(&indexed, steps));
        });
        let far = indexed.object(&indexed.of(&place));
        if is_in_place {
            self.noted.join(&noted);
            let far = fill.map_or(far.clone(), |fill| format!("({place} < 0 ? {fill} : {far})"));
            let value = match near {
                Some(near) => two_ways(&near, &indexed.object(&format!("({})", indexed.found(&near))), &far),
                None => far,
            };
            self.draft.edits.replace(expression.first, expression.last, &about(expression.first, &value));
            return;
        }
        let name = self.temporary();
        ahead.declare(&self.space(&indexed.ty(), &name, &current));
        let got = self.got(&indexed, &name, &indexed.object(&indexed.of("cstar_place")));
        let got = format!("{{ int cstar_place = {place}; if (cstar_place >= 0) {got}}} ");
        ahead.get(&about(expression.first, &got), &noted);
        let value = match fill {
            Some(fill) => format!("({place} < 0 ? {fill} : {name}[cstar_vp])"),
            None => format!("{name}[cstar_vp]"),
        };
        self.draft.edits.replace(expression.first, expression.last, &value);
    }

    /// `to_torus_dim(q, p, k, d)` is `[(. + d) %% dimof(S, k)]q = p` of dimension k, with `[.]` of the others. `to_grid_dim(q, p, f, k, d)` sends nothing beyond the
    /// shape, and gives f to the positions to which nothing can be sent.
    pub(super) fn shift_to(&mut self, expression: &Expression, parts: &[Expression], ahead: &mut Ahead) {
        let Some(current) = self.shape_for(expression) else { return };
        let Some(shift) = self.shift(expression, parts) else { return };
        let Some(sent) = shift.sent else { return };
        [shift.dimension, shift.distance].iter().for_each(|part| self.once(part, ahead));
        let mut indexed = None;
        let noted = self.noted(|loops| {
            indexed = loops.indexed(expression, None, shift.operand, ahead);
            loops.inside(sent, ahead);
            shift.fill.iter().for_each(|fill| loops.inside(fill, ahead));
        });
        let Some(indexed) = indexed else { return };
        if indexed.is_of_position() {
            self.error(shift.operand, "which of several it goes to is a scalar here", "index by a scalar");
            return;
        }
        let (ty, place, value) = (indexed.ty(), self.temporary(), self.temporary());
        let found = Found { place, value, shape: current, ty };
        let (dimension, distance) = (self.text(shift.dimension), self.text(shift.distance));
        let distance = whole(&distance);
        let place = shift.place(&indexed, &dimension, &distance);
        let mut find = format!("{}[cstar_vp] = {place}; ", found.place);
        find.push_str(&format!("{} = ({}); ", found.own(), self.text(sent)));
        let mut spaces = self.spaces(&found);
        let filled = shift.fill.map(|fill| {
            let name = self.temporary();
            spaces.push_str(&self.space(&found.ty, &name, &found.shape));
            find.push_str(&format!("{name}[cstar_vp] = ({}); ", self.text(fill)));
            let own = indexed.object(&format!("(&{}[cstar_vp])", indexed.variable));
            let from = shift.place(&indexed, &dimension, &format!("-(int64_t){distance}"));
            format!("if ({from} < 0) {own} = {name}[cstar_vp]; ")
        });
        self.get_all(ahead);
        let over = self.loop_over(&found.shape, noted);
        ahead.declare(&about(expression.first, &format!("{spaces}{over}{{ {find}}} ")));
        // Nobody sends to a position that is given what is beyond the shape.
        let kinds = if filled.is_some() { SEND | WRITE } else { SEND };
        let filled = filled.unwrap_or_default();
        let text = if indexed.is_number {
            let noted = self.noted(|loops| loops.access(&indexed.name, kinds));
            let over = self.loop_over(&found.shape, noted);
            let stored = indexed.sent(&found.at(&indexed), &found.own(), self.draft.has_calls);
            let stored = format!("if ({}[cstar_vp] >= 0) {{ {stored} }} ", found.place);
            format!("{}{over}{{ {stored}{filled}}} ", indexed.is_word())
        } else {
            let (point, post) = (self.point_of_post(&indexed), self.post(&indexed, "=", &found));
            format!("{point}{post}{}{{ {filled}}} ", positions(&found.shape, &Default::default()))
        };
        ahead.declare(&about(expression.first, &text));
    }

    /// What is sent has no value.
    pub(super) fn no_shift_to(&mut self, expression: &Expression, parts: &[Expression]) {
        if self.shift(expression, parts).is_some() {
            let name = callee(self.draft, parts).to_string();
            self.error(expression, format!("`{name}` gives nothing: it is a statement of its own"), HELP_TO);
        }
    }

    /// The arguments, if they are right.
    fn shift<'e>(&mut self, expression: &Expression, parts: &'e [Expression]) -> Option<Shift<'e>> {
        let name = callee(self.draft, parts).to_string();
        let shift = match (name.as_str(), parts) {
            ("from_torus_dim", [_, operand, dimension, distance]) => {
                Shift { operand, sent: None, fill: None, dimension, distance }
            }
            ("from_grid_dim", [_, operand, fill, dimension, distance]) => {
                Shift { operand, sent: None, fill: Some(fill), dimension, distance }
            }
            ("to_torus_dim", [_, operand, sent, dimension, distance]) => {
                Shift { operand, sent: Some(sent), fill: None, dimension, distance }
            }
            ("to_grid_dim", [_, operand, sent, fill, dimension, distance]) => {
                Shift { operand, sent: Some(sent), fill: Some(fill), dimension, distance }
            }
            _ => {
                let help = if is_shift_to(&name) { HELP_TO } else { HELP };
                self.error(expression, format!("these are not the arguments of `{name}`"), help);
                return None;
            }
        };
        let current = self.shape_for(expression)?;
        let rank = current.rank;
        let of_variable = variable_of(shift.operand).and_then(|variable| variable.ty.parallel.clone());
        let number = self.number(shift.dimension);
        let Some(own) = of_variable else {
            let (what, help) = if shift.sent.is_some() { ("sends to", HELP_TO) } else { ("is asked of", HELP) };
            self.error(shift.operand, format!("`{name}` {what} a parallel variable"), help);
            return None;
        };
        if own != current {
            let message = format!("this has the shape {}, and the current shape is {}", own.name, current.name);
            self.error(shift.operand, message, "choose its shape: with");
        } else if let Some(scalar) =
            [shift.dimension, shift.distance].into_iter().find(|part| is_parallel(self.draft, part))
        {
            self.error(scalar, "a scalar is wanted here, and this is parallel", SCALAR_HELP);
        } else if number.is_some_and(|number| rank > 0 && number >= rank) {
            let message = format!("the current shape has {}", dimensions(rank));
            self.error(shift.dimension, message, "they are numbered from 0");
        } else if let (None, Some(fill)) = (shift.sent, shift.fill.filter(|fill| !self.all_written(fill).is_empty())) {
            self.error(
                fill,
                "the value at the border is not always evaluated, and this does something",
                "do it before",
            );
        } else {
            return Some(shift);
        }
        None
    }

    /// How far away in each dimension, if it is known in which.
    fn steps_in(&self, rank: usize, dimension: &Expression, distance: &str) -> Option<Vec<String>> {
        let number = self.number(dimension)?;
        let step = |axis| if axis == number { format!("(int64_t)({distance})") } else { "0".into() };
        (number < rank).then(|| (0..rank).map(step).collect())
    }

    /// Such a call where only its type is wanted, or nothing of it is parallel.
    pub(super) fn scalar_shift(&mut self, expression: &Expression, parts: &[Expression]) {
        let unevaluated = self.draft.unevaluated;
        let Some(shift) = self.shift(expression, parts) else { return };
        if !unevaluated {
            self.error(expression, "a scalar is wanted here, and this is parallel", SCALAR_HELP);
        } else if let Some(indexed) = self.indexed(expression, None, shift.operand, &mut Ahead::default()) {
            let text = indexed.object(&indexed.variable);
            self.draft.edits.replace(expression.first, expression.last, &text);
        }
    }
}

const HELP: &str = "write from_torus_dim(p, 0, 1), or from_grid_dim(p, value at the border, 0, 1)";
const HELP_TO: &str = "write to_torus_dim(p, value, 0, 1), or to_grid_dim(p, value, value at the border, 0, 1)";
