//! `from_torus_dim` and `from_grid_dim`: values of positions that are so many steps away in one dimension.

use super::Loops;
use super::communication::OWN;
use super::expressions::{SCALAR_HELP, dimensions};
use super::flow::GET;
use super::parallel::{Ahead, callee, is_parallel, two_ways, variable_of};
use crate::edits::about;
use crate::tree::Expression;

/// The names; with how many arguments they are called.
const SHIFTS: [(&str, usize); 2] = [("from_torus_dim", 3), ("from_grid_dim", 4)];

/// Whether a call is one of them.
pub(super) fn is_shift(name: &str) -> bool {
    SHIFTS.iter().any(|(shift, _)| *shift == name)
}

/// What such a call says.
struct Shift<'e> {
    operand: &'e Expression,
    /// What positions get that have none at this distance; none: the last one is beside the first.
    fill: Option<&'e Expression>,
    dimension: &'e Expression,
    distance: &'e Expression,
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
        let wraps = u8::from(shift.fill.is_none());
        let place = format!("cstar_shift({}, {OWN}, ({dimension}) | 0, ({distance}) | 0, {wraps})", indexed.object);
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

    /// The arguments, if they are right.
    fn shift<'e>(&mut self, expression: &Expression, parts: &'e [Expression]) -> Option<Shift<'e>> {
        let name = callee(self.draft, parts).to_string();
        let shift = match parts {
            [_, operand, dimension, distance] if name == SHIFTS[0].0 => {
                Shift { operand, fill: None, dimension, distance }
            }
            [_, operand, fill, dimension, distance] if name == SHIFTS[1].0 => {
                Shift { operand, fill: Some(fill), dimension, distance }
            }
            _ => {
                self.error(expression, format!("these are not the arguments of `{name}`"), HELP);
                return None;
            }
        };
        let current = self.shape_for(expression)?;
        let rank = current.rank;
        let of_variable = variable_of(shift.operand).and_then(|variable| variable.ty.parallel.clone());
        let number = self.number(shift.dimension);
        let Some(own) = of_variable else {
            self.error(shift.operand, format!("`{name}` is asked of a parallel variable"), HELP);
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
        } else if let Some(fill) = shift.fill.filter(|fill| !self.all_written(fill).is_empty()) {
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
