//! Where a program's static variables lie, out of the debug information that a C compiler leaves in a module (DWARF).

use std::ops::Range;

use addr2line::gimli::{
    AttributeValue, Dwarf, EndianSlice, LittleEndian, Operation, Unit, UnitOffset, constants as dw,
};

type Slice<'a> = EndianSlice<'a, LittleEndian>;

/// A static variable of a program, of a file or of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Where it lies in the program's own memory, in bytes.
    pub place: Range<u32>,
    /// Its name in the source.
    pub name: String,
}

/// A type made of types made of types: more deeply than any that a person writes.
const DEEPEST: usize = 32;

/// The variables of which something lies in a range of the program's own memory, by address. What the debug information does not tell, or
/// tells in a way that is not understood, is missing.
pub(crate) fn variables_in(dwarf: &Dwarf<Slice>, range: &Range<u32>) -> Vec<Variable> {
    let mut found = Vec::new();
    let mut headers = dwarf.units();
    while let Ok(Some(header)) = headers.next() {
        let Ok(unit) = dwarf.unit(header) else { continue };
        let mut entries = unit.entries();
        while let Ok(Some(entry)) = entries.next_dfs() {
            if entry.tag() != dw::DW_TAG_variable {
                continue;
            }
            let place = entry.attr_value(dw::DW_AT_location).and_then(|place| address(dwarf, &unit, place));
            let Some(start) = place.filter(|&start| start < range.end) else { continue };
            let bytes = type_of(entry.attr_value(dw::DW_AT_type)).and_then(|of| size(&unit, of, 0)).unwrap_or(1);
            let end = u32::try_from(u64::from(start) + bytes.max(1)).unwrap_or(u32::MAX);
            let name = entry.attr_value(dw::DW_AT_name).and_then(|name| dwarf.attr_string(&unit, name).ok());
            if let Some(name) = name.filter(|_| end > range.start) {
                found.push(Variable { place: start..end, name: name.to_string_lossy().into_owned() });
            }
        }
    }
    found.sort_by(|a, b| (a.place.start, &a.name).cmp(&(b.place.start, &b.name)));
    found.dedup();
    found
}

/// The address that a variable always has.
fn address(dwarf: &Dwarf<Slice>, unit: &Unit<Slice>, place: AttributeValue<Slice>) -> Option<u32> {
    let AttributeValue::Exprloc(expression) = place else { return None };
    let mut operations = expression.operations(unit.encoding());
    let address = match operations.next().ok()?? {
        Operation::Address { address } => address,
        Operation::AddressIndex { index } => dwarf.address(unit, index).ok()?,
        _ => return None,
    };
    // One that goes on is about a part of it, or about what it points to.
    operations.next().ok()?.is_none().then_some(())?;
    u32::try_from(address).ok()
}

fn type_of(value: Option<AttributeValue<Slice>>) -> Option<UnitOffset> {
    match value? {
        AttributeValue::UnitRef(offset) => Some(offset),
        _ => None,
    }
}

/// The bytes of a type.
fn size(unit: &Unit<Slice>, of: UnitOffset, deep: usize) -> Option<u64> {
    if deep > DEEPEST {
        return None;
    }
    let mut tree = unit.entries_tree(Some(of)).ok()?;
    let root = tree.root().ok()?;
    let entry = root.entry();
    if let Some(bytes) = entry.attr_value(dw::DW_AT_byte_size).and_then(|bytes| bytes.udata_value()) {
        return Some(bytes);
    }
    if entry.tag() == dw::DW_TAG_pointer_type {
        return Some(u64::from(unit.encoding().address_size));
    }
    let is_array = entry.tag() == dw::DW_TAG_array_type;
    let mut bytes = size(unit, type_of(entry.attr_value(dw::DW_AT_type))?, deep + 1)?;
    let mut dimensions = root.children();
    while let Some(dimension) = dimensions.next().ok()?.filter(|_| is_array) {
        let value = |name| dimension.entry().attr_value(name).and_then(|value| value.udata_value());
        let count = value(dw::DW_AT_count).or(value(dw::DW_AT_upper_bound).and_then(|last| last.checked_add(1)))?;
        bytes = bytes.checked_mul(count)?;
    }
    Some(bytes)
}
