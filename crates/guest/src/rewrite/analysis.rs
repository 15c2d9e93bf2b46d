//! What the fast build must know of a function before it rewrites it: which results of arithmetic can be seen, so that
//! their NaNs must be canonical, what an access that asks the host should put aside, and which accesses are near to
//! another.

use wasm_encoder::ValType;
use wasm_encoder::reencode::{self, Reencode};
use wasmparser::{FuncToValidate, FuncValidator, FunctionBody, Operator, ValidatorResources};

use super::strides::{self, Ahead, Covered};
use super::values::{LocalValue, Values};
use super::{Layout, access, code, live};
use crate::tags::{FIRST_PUBLISHED, GRANULE, SPAN};

/// What is known of an operator.
#[derive(Default)]
pub(super) struct Note {
    /// Where it is in the module.
    pub(super) offset: usize,
    /// It makes a floating-point number whose bits can be seen.
    pub(super) is_seen: bool,
    /// Of a load or store: the types of the numbers that lie on the operand stack beneath its operands, the lowest
    /// first, as far as they can be reached.
    pub(super) beneath: Vec<ValType>,
    /// Of a load, a store or a loop head: the locals worth putting aside while the host is asked.
    pub(super) keep: Vec<u32>,
    /// Of a load or store: the number of a tag that it should keep, or try before it looks it up.
    pub(super) tag: Option<(u32, Use)>,
    /// The tags that are no longer right once it has asked the host.
    pub(super) stale: Vec<u32>,
    /// Of a load or store in a loop that looks ahead: how far that stands for it.
    pub(super) covered: Option<Covered>,
}

/// What an access does with a tag.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Use {
    /// It looks it up and keeps it.
    Keep,
    /// It is so near to an access that keeps it that the same tag may allow both.
    Try,
}

/// A function's operators, and what is known of them.
pub(super) struct Analysis<'a> {
    pub(super) operators: Vec<(Operator<'a>, Note)>,
    /// The types of its locals, parameters included.
    pub(super) locals: Vec<ValType>,
    /// How many tags must be kept at once.
    pub(super) tags: u32,
    /// The loops that look ahead, in the order of their heads.
    pub(super) ahead: Vec<Ahead>,
}

/// Looks at a valid function.
pub(super) fn analyse<'a>(
    layout: &mut Layout,
    function: FuncToValidate<ValidatorResources>,
    body: &FunctionBody<'a>,
    params: &[wasmparser::ValType],
) -> Result<Analysis<'a>, reencode::Error> {
    let mut validator = function.into_validator(Default::default());
    let mut locals = params.iter().map(|ty| layout.val_type(*ty)).collect::<Result<Vec<_>, _>>()?;
    let offset = body.range().start;
    for local in body.get_locals_reader()? {
        let (count, ty) = local?;
        validator.define_locals(offset, count, ty)?;
        let ty = layout.val_type(ty)?;
        locals.extend((0..count).map(|_| ty));
    }
    let mut operators = Vec::new();
    let mut notes: Vec<Note> = Vec::new();
    let mut arities = Vec::new();
    let mut values = Values::new(locals.len());
    let mut checked = Checked::default();
    for operator in body.get_operators_reader()?.into_iter_with_offsets() {
        let (operator, at) = operator?;
        let index = operators.len();
        notes.push(Note { offset: at, ..Note::default() });
        if let Some((access, memarg)) = access::find(&operator) {
            let kind = &access::ACCESSES[access as usize];
            let operands = if kind.store { 2 } else { 1 };
            notes[index].beneath = numbers_beneath(&validator, operands);
            if let Some(place) = values.place(operands - 1) {
                checked.access(&mut notes, index, place, kind.size, memarg.offset);
            }
        }
        let arity = operator.operator_arity(&validator);
        arities.push(arity);
        values.step(&operator, arity, |maker| notes[maker].is_seen = true, index);
        if forgets(&operator) {
            checked.forget(&mut notes);
        }
        validator.op(offset, &operator)?;
        operators.push(operator);
    }
    for (index, kept) in live::worth_keeping(&operators, locals.len()) {
        notes[index].keep = kept.iter().filter(|local| is_number(locals[*local as usize])).collect();
    }
    let ahead = match layout.looks_ahead {
        true => strides::ahead(&operators, &arities, &locals, &layout.weights),
        false => Vec::new(),
    };
    for (index, covered) in ahead.iter().flat_map(|ahead| &ahead.covered) {
        notes[*index].covered = Some(*covered);
    }
    Ok(Analysis { operators: operators.into_iter().zip(notes).collect(), locals, tags: checked.most, ahead })
}

/// An access whose tag has been looked up.
struct Lookup {
    index: usize,
    place: LocalValue,
    /// The last access that uses what was found, and where that is kept.
    used: Option<(usize, u32)>,
}

/// What has been looked up since control last came from several places, or the host was called.
#[derive(Default)]
struct Checked {
    lookups: Vec<Lookup>,
    /// How many tags are kept at once, and were at most.
    kept: u32,
    most: u32,
}

impl Checked {
    /// An access of so many bytes, of which `offset` is a part of the place's distance to its local.
    fn access(&mut self, notes: &mut [Note], index: usize, mut place: LocalValue, size: u32, offset: u64) {
        place.add = place.add.wrapping_add(offset as u32);
        let is_near = |lookup: &&mut Lookup| {
            let distance = place.add.wrapping_sub(lookup.place.add);
            (lookup.place.local, lookup.place.version) == (place.local, place.version) && distance <= SPAN - size
        };
        // A larger offset might have wrapped around.
        let near = self.lookups.iter_mut().rev().find(is_near).filter(|_| offset < FIRST_PUBLISHED.into());
        if let Some(lookup) = near {
            let tag = lookup.used.map_or(self.kept, |(_, tag)| tag);
            self.kept = self.kept.max(tag + 1);
            self.most = self.most.max(self.kept);
            lookup.used = Some((index, tag));
            notes[lookup.index].tag = Some((tag, Use::Keep));
            notes[index].tag = Some((tag, Use::Try));
        } else if size >= GRANULE {
            self.lookups.push(Lookup { index, place, used: None });
        }
    }

    /// Nothing is known any more.
    fn forget(&mut self, notes: &mut [Note]) {
        for lookup in self.lookups.drain(..) {
            let Some((last, tag)) = lookup.used else { continue };
            notes[lookup.index..last].iter_mut().for_each(|note| note.stale.push(tag));
        }
        self.kept = 0;
    }
}

/// Whether control may come to behind an operator from elsewhere, or after the host was called.
fn forgets(operator: &Operator<'_>) -> bool {
    use Operator as O;
    matches!(operator, O::Loop { .. } | O::Else | O::End | O::Call { .. } | O::CallIndirect { .. })
        || code::asks_host(operator)
}

/// The types of the numbers on the operand stack beneath so many operands, the lowest first: down to where the block
/// begins, or to something else than a number.
fn numbers_beneath(validator: &FuncValidator<ValidatorResources>, operands: usize) -> Vec<ValType> {
    let height = validator.operand_stack_height() as usize;
    // Where no control arrives, types may be unknown.
    let frame = validator.get_control_frame(0).filter(|frame| !frame.unreachable);
    let reachable = frame.map_or(0, |frame| (height - frame.height).saturating_sub(operands));
    let types = (0..reachable).map_while(|depth| match validator.get_operand_type(depth + operands)?? {
        wasmparser::ValType::I32 => Some(ValType::I32),
        wasmparser::ValType::I64 => Some(ValType::I64),
        wasmparser::ValType::F32 => Some(ValType::F32),
        wasmparser::ValType::F64 => Some(ValType::F64),
        _ => None,
    });
    let mut types: Vec<ValType> = types.collect();
    types.reverse();
    types
}

fn is_number(ty: ValType) -> bool {
    matches!(ty, ValType::I32 | ValType::I64 | ValType::F32 | ValType::F64)
}
