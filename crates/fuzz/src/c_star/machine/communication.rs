//! What positions get from others and send to them, and reductions.

use super::{Machine, Result, View, at_none};
use crate::c_star::number::{Operator, Prefix, Type, Value};
use crate::c_star::tree::{Expression, Object, Reduction, Shift};

impl Reduction {
    /// What comes of no position.
    fn identity(self, of: Type) -> Value {
        match self {
            Reduction::Add | Reduction::Subtract | Reduction::Or | Reduction::Xor => Value::zero(of),
            Reduction::And => Value::whole(of, -1),
            Reduction::Least if of.is_real() => Value::real(of, f64::INFINITY),
            Reduction::Most if of.is_real() => Value::real(of, f64::NEG_INFINITY),
            Reduction::Least => Value::whole(of, of.most()),
            Reduction::Most => Value::whole(of, of.least()),
        }
    }
}

impl Machine<'_> {
    /// The positions of a node one after the other, then the tree: a node's own, its first child's, its second child's.
    pub(super) fn reduced(&mut self, reduction: Reduction, operand: &Expression, view: &View) -> Result<Value> {
        let of = self.program.type_of(operand).promoted();
        let values = self.parallel(operand, view)?;
        let mut of_nodes = vec![reduction.identity(of); self.nodes];
        for (node, at) in self.in_order(view) {
            let of_node = &mut of_nodes[node];
            *of_node = reduction.operator().apply(*of_node, values[at].to(of)?)?;
        }
        let whole = of_tree(reduction.operator(), &of_nodes, 0)?;
        if reduction == Reduction::Subtract { whole.prefix(Prefix::Minus) } else { Ok(whole) }
    }

    /// The active positions in the order of the nodes, each with its node: blocks of what follows in C's rows, or rectangles where there are as many nodes
    /// as a shape is dealt out to.
    fn in_order(&self, view: &View) -> Vec<(usize, usize)> {
        let shape = &self.program.shapes[view.shape];
        let blocks = shape.blocks.filter(|(below, across)| below * across == self.nodes);
        let Some((below, across)) = blocks else {
            let block = view.mask.len().div_ceil(self.nodes);
            return view.active().map(|at| (at / block, at)).collect();
        };
        let (rows, columns) = (shape.sizes[0] as usize, shape.sizes[1] as usize);
        let (high, wide) = (rows.div_ceil(below), columns.div_ceil(across));
        let node_of = |at: usize| at / columns / high * across + at % columns / wide;
        let mut all: Vec<(usize, usize)> = view.active().map(|at| (node_of(at), at)).collect();
        all.sort();
        all
    }

    /// The coordinates of a position: of C's rows.
    pub(super) fn coordinates(&self, shape: usize, position: usize) -> Vec<i128> {
        let mut rest = position as i128;
        let sizes = &self.program.shapes[shape].sizes;
        let mut coordinates = vec![0; sizes.len()];
        for (coordinate, size) in coordinates.iter_mut().zip(sizes).rev() {
            *coordinate = rest % size;
            rest /= size;
        }
        coordinates
    }

    fn position(&self, shape: usize, coordinates: &[i128]) -> Result<usize> {
        let mut position = 0;
        for (coordinate, size) in coordinates.iter().zip(&self.program.shapes[shape].sizes) {
            if !(0..*size).contains(coordinate) {
                return Err(format!("the left index {coordinate} of a dimension of {size}"));
            }
            position = position * size + coordinate;
        }
        Ok(position as usize)
    }

    fn shape_of(&mut self, object: &Object) -> Result<(usize, usize)> {
        let storage = self.storage(object.variable)?;
        let shape = storage.shape.ok_or("a left index of a scalar")?;
        Ok((shape, storage.cells))
    }

    /// For each active position, which number of the variable of any shape its indices choose.
    pub(super) fn elsewhere(&mut self, indices: &[Expression], object: &Object, view: &View) -> Result<Vec<usize>> {
        let mut axes = Vec::new();
        for index in indices {
            axes.push(self.parallel(index, view)?);
        }
        let places = self.places(object, view)?;
        let (shape, cells) = self.shape_of(object)?;
        let mut found = vec![0; view.mask.len()];
        for at in view.active() {
            let coordinates: Vec<i128> = axes.iter().map(|axis| axis[at].as_whole()).collect::<Result<_>>()?;
            found[at] = self.position(shape, &coordinates)? * cells + places[at];
        }
        Ok(found)
    }

    /// `[i]x`, with a parallel index.
    pub(super) fn got(&mut self, indices: &[Expression], object: &Object, view: &View) -> Result<Vec<Value>> {
        let found = self.elsewhere(indices, object, view)?;
        let storage = self.storage(object.variable)?;
        let mut values = at_none(view);
        for at in view.active() {
            values[at] = storage.values[found[at]];
        }
        Ok(values)
    }

    /// The number that scalar indices choose.
    pub(super) fn one_place(&mut self, indices: &[Expression], object: &Object, view: Option<&View>) -> Result<usize> {
        let mut coordinates = Vec::new();
        for index in indices {
            coordinates.push(self.scalar(index, view)?.as_whole()?);
        }
        let place = self.cell(object, view)?;
        let (shape, cells) = self.shape_of(object)?;
        Ok(self.position(shape, &coordinates)? * cells + place)
    }

    /// `[i]x`, with scalar indices.
    pub(super) fn one_position(
        &mut self,
        indices: &[Expression],
        object: &Object,
        view: Option<&View>,
    ) -> Result<Value> {
        let place = self.one_place(indices, object, view)?;
        Ok(self.storage(object.variable)?.values[place])
    }

    /// `[i]x = e` and `[i]x op= e`: all is evaluated at all active positions first.
    pub(super) fn send(
        &mut self,
        indices: &[Expression],
        object: &Object,
        operator: Option<Operator>,
        value: &Expression,
    ) -> Result<()> {
        let view = self.view();
        let sent = match &view {
            Some(view) if self.is_sent_by_all(indices, object, value) => {
                let found = self.elsewhere(indices, object, view)?;
                let values = self.parallel(value, view)?;
                self.in_order(view).into_iter().map(|(_, at)| (found[at], values[at])).collect()
            }
            _ => {
                let value = self.scalar(value, view.as_ref())?;
                vec![(self.one_place(indices, object, view.as_ref())?, value)]
            }
        };
        self.stored(object, operator, &sent)
    }

    /// `[i]x = e` in an expression: what each position sends, as `x` has it.
    pub(super) fn sent(
        &mut self,
        indices: &[Expression],
        object: &Object,
        value: &Expression,
        view: &View,
    ) -> Result<Vec<Value>> {
        let of = self.program.type_of_object(object);
        let found = if indices.is_empty() { self.cells(object, view)? } else { self.elsewhere(indices, object, view)? };
        let values = self.parallel(value, view)?;
        let sent: Vec<(usize, Value)> = view.active().map(|at| (found[at], values[at])).collect();
        self.stored(object, None, &sent)?;
        let mut given = at_none(view);
        for at in view.active() {
            given[at] = values[at].to(of)?;
        }
        Ok(given)
    }

    /// The position that is so many steps away; none if it is beyond the shape.
    fn moved(&self, shape: usize, at: usize, shift: &Shift, distance: i128) -> Result<Option<usize>> {
        let mut coordinates = self.coordinates(shape, at);
        let size = self.program.shapes[shape].sizes[shift.dimension];
        let to = coordinates[shift.dimension] + distance;
        if shift.border.is_some() && !(0..size).contains(&to) {
            return Ok(None);
        }
        coordinates[shift.dimension] = to.rem_euclid(size);
        self.position(shape, &coordinates).map(Some)
    }

    /// `from_torus_dim`, `from_grid_dim`
    pub(super) fn shifted(&mut self, shift: &Shift, view: &View) -> Result<Vec<Value>> {
        let distance = self.scalar(&shift.distance, Some(view))?.as_whole()?;
        let border = shift.border.as_deref().map(|border| self.parallel(border, view)).transpose()?;
        let of = self.program.type_of_object(&shift.object);
        let places = self.places(&shift.object, view)?;
        let mut values = at_none(view);
        for at in view.active() {
            let from = self.moved(view.shape, at, shift, distance)?;
            let storage = self.storage(shift.object.variable)?;
            values[at] = match (from, &border) {
                (Some(from), _) => storage.values[from * storage.cells + places[at]],
                (None, Some(border)) => border[at].to(of)?,
                (None, None) => return Err("around the end there is always a position".into()),
            };
        }
        Ok(values)
    }

    /// `to_torus_dim`, `to_grid_dim`
    pub(super) fn shift_to(&mut self, shift: &Shift, value: &Expression) -> Result<()> {
        let view = self.needed_view()?;
        let distance = self.scalar(&shift.distance, Some(&view))?.as_whole()?;
        let values = self.parallel(value, &view)?;
        let border = shift.border.as_deref().map(|border| self.parallel(border, &view)).transpose()?;
        let places = self.places(&shift.object, &view)?;
        let cells = self.storage(shift.object.variable)?.cells;
        let mut sent = Vec::new();
        for at in view.active() {
            if let Some(to) = self.moved(view.shape, at, shift, distance)? {
                sent.push((to * cells + places[at], values[at]));
            }
            if let (None, Some(border)) = (self.moved(view.shape, at, shift, -distance)?, &border) {
                sent.push((at * cells + places[at], border[at]));
            }
        }
        self.stored(&shift.object, None, &sent)
    }

    fn is_sent_by_all(&self, indices: &[Expression], object: &Object, value: &Expression) -> bool {
        let get = Expression::Get(indices.to_vec(), object.clone());
        self.program.is_parallel(&get) || self.program.is_parallel(value)
    }

    /// What was sent goes into its places, in the order of the senders; of plain ones the contenders are kept in mind.
    fn stored(&mut self, object: &Object, operator: Option<Operator>, sent: &[(usize, Value)]) -> Result<()> {
        let of = self.program.type_of_object(object);
        let storage = self.storage(object.variable)?;
        let cells = storage.cells;
        let mut contenders = std::collections::BTreeMap::<_, Vec<Value>>::new();
        for (place, value) in sent {
            let held = &mut storage.values[*place];
            match operator {
                Some(operator) => *held = operator.apply(*held, *value)?.to(of)?,
                None => {
                    *held = value.to(of)?;
                    contenders.entry((place / cells, place % cells)).or_default().push(*held);
                }
            }
        }
        contenders.retain(|_, values| values.iter().any(|value| *value != values[0]));
        self.contenders = contenders;
        Ok(())
    }
}

/// What a node's subtree gives.
fn of_tree(operator: Operator, of_nodes: &[Value], node: usize) -> Result<Value> {
    let mut value = of_nodes[node];
    for child in [2 * node + 1, 2 * node + 2] {
        if child < of_nodes.len() {
            value = operator.apply(value, of_tree(operator, of_nodes, child)?)?;
        }
    }
    Ok(value)
}
