//! The loop that runs flat code.

use super::Run;
use super::effects::{MOST_PERFORM, payload_of};
use crate::fault::{FaultKind, Try, trouble};
use crate::flat::{About, FaultPart, Op, Seek, SendPlan, SetReg, Source, Target, Whose, Word};
use crate::layout::ListCell;
use crate::lower::MOST_DEPTH;
use crate::mechanisms::{Args, Charge, Mechanisms, Node, Object, Outgoing, Payload};
use crate::set::Set;
use trivium_protocol::{BLOCK, EventKind, NODE, Operator, RoleId, SetOperator, StateId};

/// The value of a register.
macro_rules! reg {
    ($self:ident, $reg:expr) => {
        $self.frame.scalars[$reg as usize]
    };
}
macro_rules! set {
    ($self:ident, $set:expr) => {
        $self.frame.sets[$set as usize]
    };
}
/// The record in which a variable lies.
macro_rules! record {
    ($self:ident, $beside:ident, $other:expr) => {
        if $other { $self.m.record($beside.other.0, $beside.other.1) } else { $self.m.record($self.role, $self.object) }
    };
}
/// Where the instruction before a place was written.
macro_rules! span {
    ($self:ident, $at:ident) => {
        $self.engine.flat.spans.get($at - 1).copied().unwrap_or_default()
    };
}
/// What may go wrong does so where this instruction was written.
macro_rules! check {
    ($self:ident, $at:ident, $result:expr) => {
        match $result {
            Ok(value) => value,
            Err(kind) => return trouble(kind, span!($self, $at)),
        }
    };
}
/// Plain steps before what an instruction does.
macro_rules! charge {
    ($self:ident, $steps:expr) => {
        if $steps > 0 {
            $self.m.charge(Charge::Steps($steps));
        }
    };
}

// Behind what it uses of the above.
mod wholes;

/// A list that a loop goes over, as it was when the loop began.
struct Snapshot {
    elements: Vec<u8>,
    next: u32,
    len: u32,
}

/// What is known while instructions run, besides what every handler knows.
struct Beside {
    /// The record that was sought last.
    other: (RoleId, Object),
    /// Whose steps run outside of those that run, by how deep they lie.
    outer: [(RoleId, Object); MOST_DEPTH as usize],
    /// Data for the next message.
    gathered: Option<Payload>,
    /// Lists that loops go over, the innermost last.
    lists: Vec<Snapshot>,
    /// Numbers of lists and arrays that were taken and not given yet, the last ones last.
    taken: Vec<Vec<i64>>,
    /// Words that lists before the next argument have, without those that they could have.
    shift: isize,
}

impl<'e, M: Mechanisms> Run<'e, '_, M> {
    /// Runs a handler that begins at an instruction: its guard, and if that holds all of it. Whether it does; the end is
    /// not settled yet.
    // Only what most handlers do is here, so that the loop has registers and little code; what has large values, or is rare,
    // is in functions of its own.
    pub fn flat(&mut self, at: Target) -> Try<bool> {
        let code = &self.engine.flat;
        let ops = &code.ops[..];
        let own = (self.role, self.object);
        let mut beside = Beside {
            other: own,
            outer: [own; MOST_DEPTH as usize],
            gathered: None,
            lists: Vec::new(),
            taken: Vec::new(),
            shift: 0,
        };
        let mut at = at as usize;
        loop {
            // Not copied: most instructions are smaller than the largest.
            let op = &ops[at];
            at += 1;
            match *op {
                Op::Number { to, value } => reg!(self, to) = value,
                Op::Move { to, from } => reg!(self, to) = reg!(self, from),
                Op::Argument { to, word } => {
                    reg!(self, to) = self.event.args.words().get(word as usize).copied().unwrap_or(0);
                }
                Op::Read { to, other, cell } => {
                    let cell = &code.cells[cell as usize];
                    reg!(self, to) = cell.read(record!(self, beside, other), 0);
                }
                Op::Sender { to } => {
                    reg!(self, to) = i64::from(self.sender());
                }
                Op::Me { to } => reg!(self, to) = i64::from(self.me),
                Op::Home { to } => reg!(self, to) = i64::from(self.m.home(self.object)),
                Op::Not { to, from } => reg!(self, to) = i64::from(reg!(self, from) == 0),
                Op::Truth { to, from } => reg!(self, to) = i64::from(reg!(self, from) != 0),
                Op::Equal { to, left, right } => reg!(self, to) = i64::from(reg!(self, left) == reg!(self, right)),
                Op::Different { to, left, right } => reg!(self, to) = i64::from(reg!(self, left) != reg!(self, right)),
                Op::Less { to, left, right } => reg!(self, to) = i64::from(reg!(self, left) < reg!(self, right)),
                Op::LessEqual { to, left, right } => reg!(self, to) = i64::from(reg!(self, left) <= reg!(self, right)),
                Op::Arithmetic { operator, to, left, right } => {
                    reg!(self, to) = check!(self, at, arithmetic(operator, reg!(self, left), reg!(self, right)));
                }
                Op::InRecord { to, element, other, cell, lo } => {
                    let bit = reg!(self, element).wrapping_sub(i64::from(lo));
                    reg!(self, to) = i64::from(code.sets[cell as usize].contains(record!(self, beside, other), 0, bit));
                }
                Op::NodeBit { to, from } => {
                    reg!(self, to) = i64::from(check!(self, at, self.engine.node(reg!(self, from))))
                }
                Op::Write { from, other, cell } => {
                    let value = reg!(self, from);
                    code.cells[cell as usize].write(record!(self, beside, other), 0, value);
                }
                Op::CheckAndWrite { from, cell } => {
                    let (value, cell) = (reg!(self, from), &code.cells[cell as usize]);
                    check!(self, at, cell.check(value));
                    cell.write(self.m.record(self.role, self.object), 0, value);
                }
                Op::Insert { bit, other, cell } => {
                    let bit = reg!(self, bit);
                    code.sets[cell as usize].insert(record!(self, beside, other), 0, bit);
                }
                Op::Remove { bit, other, cell } => {
                    let bit = reg!(self, bit);
                    code.sets[cell as usize].remove(record!(self, beside, other), 0, bit);
                }
                Op::Charge { steps } => self.m.charge(Charge::Steps(steps)),
                Op::Taken { steps } => self.steps += u32::from(steps),
                Op::Jump { steps, to } => {
                    self.steps += u32::from(steps);
                    at = to as usize;
                }
                Op::JumpIf { from, to } => {
                    if reg!(self, from) != 0 {
                        at = to as usize;
                    }
                }
                Op::JumpUnless { from, to } => {
                    if reg!(self, from) == 0 {
                        at = to as usize;
                    }
                }
                Op::Branch { from, charge, steps, otherwise } => {
                    charge!(self, charge);
                    self.steps += u32::from(steps);
                    let holds = reg!(self, from) != 0;
                    self.m.way(span!(self, at), holds);
                    if !holds {
                        at = otherwise as usize;
                    }
                }
                Op::Guard { from } => {
                    if reg!(self, from) == 0 {
                        return Ok(false);
                    }
                }
                Op::End { charge, steps } => {
                    charge!(self, charge);
                    self.steps += u32::from(steps);
                    return Ok(true);
                }
                Op::Goto { charge, to } => {
                    charge!(self, charge);
                    self.goto(to);
                }
                Op::Resume => self.m.resume(self.object),
                Op::Install => check!(self, at, self.install_here()),
                Op::CheckValue { from, cell } => check!(self, at, code.cells[cell as usize].check(reg!(self, from))),
                Op::Count { to, set } => reg!(self, to) = i64::from(set!(self, set).count(self.engine.few())),
                Op::Empty { set } => set!(self, set).clear(self.engine.few()),
                Op::MoveSet { to, from } => self.move_set(to, from),
                Op::ReadSet { set, other, cell } => {
                    let few = self.engine.few();
                    code.sets[cell as usize].read_into(record!(self, beside, other), 0, &mut set!(self, set), few);
                }
                Op::WriteSet { set, other, cell } => {
                    code.sets[cell as usize].write(record!(self, beside, other), 0, &set!(self, set));
                }
                Op::AnyOfSet { set } => self.m.way(span!(self, at), set!(self, set).least(self.engine.few()).is_some()),
                Op::NextOfSet { set, to, lo, exit } => match set!(self, set).take_least(self.engine.few()) {
                    Some(bit) => {
                        self.m.charge(Charge::Element);
                        reg!(self, to) = bit + i64::from(lo);
                    }
                    None => at = exit as usize,
                },
                Op::JoinNode { set, element } => {
                    let node = check!(self, at, self.engine.node(reg!(self, element)));
                    set!(self, set).insert(i64::from(node));
                }
                Op::LeaveNode { set, element } => {
                    let node = check!(self, at, self.engine.node(reg!(self, element)));
                    set!(self, set).remove(i64::from(node));
                }
                Op::SendTo { home, charge, plan } => {
                    charge!(self, charge);
                    let to = if home { self.m.home(self.object) } else { self.sender() };
                    let to = check!(self, at, self.engine.node(i64::from(to)));
                    self.send_flat(&code.sends[plan as usize], to, &mut beside.gathered);
                }
                Op::Send { to, charge, plan } => {
                    charge!(self, charge);
                    let to = check!(self, at, self.engine.node(reg!(self, to)));
                    self.send_flat(&code.sends[plan as usize], to, &mut beside.gathered);
                }
                Op::All { .. }
                | Op::Merge { .. }
                | Op::JoinNumber { .. }
                | Op::InSet { .. }
                | Op::Pick { .. }
                | Op::PickNode { .. }
                | Op::Same { .. }
                | Op::Shift { .. }
                | Op::CheckSet { .. }
                | Op::BitsOfSet { .. }
                | Op::SetOfBits { .. }
                | Op::ArgumentSet { .. } => self.on_sets(op, at)?,
                Op::Whole(op) => self.on_whole(op, at, &mut beside)?,
                _ => at = self.seldom(op, at, &mut beside)?,
            }
        }
    }

    /// Who sent the present message; of other events this node.
    #[inline]
    fn sender(&self) -> Node {
        match self.event.kind {
            EventKind::Message(_) => self.event.sender,
            _ => self.me,
        }
    }

    /// A set becomes the same as another.
    #[inline]
    fn move_set(&mut self, to: SetReg, from: SetReg) {
        let few = self.engine.few();
        // Otherwise it is the same register.
        if let Ok([to, from]) = self.frame.sets.get_disjoint_mut([to as usize, from as usize]) {
            to.copy(from, few);
        }
    }

    /// Instructions on sets; the one that lies before a place.
    #[inline(never)]
    fn on_sets(&mut self, op: &Op, at: usize) -> Try<()> {
        let code = &self.engine.flat;
        match *op {
            Op::All { set } => set!(self, set) = Set::all(self.engine.nodes),
            Op::Merge { operator, into, with } => {
                let few = self.engine.few();
                if let Ok([into, with]) = self.frame.sets.get_disjoint_mut([into as usize, with as usize]) {
                    merge(operator, into, with, few);
                } else {
                    let with = set!(self, with);
                    merge(operator, &mut set!(self, into), &with, few);
                }
            }
            Op::JoinNumber { set, element, lo, count } => {
                let bit = check!(self, at, bit_of(reg!(self, element), lo, count));
                set!(self, set).insert(bit);
            }
            Op::InSet { to, element, set, lo } => {
                reg!(self, to) = i64::from(set!(self, set).contains(reg!(self, element).wrapping_sub(i64::from(lo))));
            }
            Op::Pick { to, set, lo } => {
                let least = set!(self, set).least(self.engine.few());
                reg!(self, to) = check!(self, at, least.ok_or(FaultKind::Empty)) + i64::from(lo);
            }
            Op::PickNode { to, set } => {
                let taken = self.m.choose(set!(self, set).nodes(self.engine.few()));
                reg!(self, to) = i64::from(check!(self, at, taken.ok_or(FaultKind::Empty)));
            }
            Op::Same { to, left, right } => reg!(self, to) = i64::from(set!(self, left) == set!(self, right)),
            Op::Shift { set, from, lo } => {
                let shifted = shift(&set!(self, set), i64::from(from), i64::from(lo), self.engine.most_elements());
                set!(self, set) = check!(self, at, shifted);
            }
            Op::BitsOfSet { to, set } => reg!(self, to) = set!(self, set).0[0].cast_signed(),
            Op::SetOfBits { set, from } => {
                let bits = reg!(self, from).cast_unsigned();
                set!(self, set).clear(self.engine.few());
                set!(self, set).0[0] = bits;
            }
            Op::CheckSet { set, cell } => {
                let cell = &code.sets[cell as usize];
                if let Some(outside) = set!(self, set).first_from(cell.count, self.engine.few()) {
                    check!(self, at, cell.bit(outside + cell.lo));
                }
            }
            Op::ArgumentSet { to, word, words } => {
                let given = self.event.args.words();
                let from = (word as usize).min(given.len());
                let end = (from + words as usize).min(given.len());
                set!(self, to) = Set::of_words(&given[from..end]);
            }
            _ => return trouble(FaultKind::Malformed, span!(self, at)),
        }
        Ok(())
    }

    /// Instructions that few handlers have; the place from which to go on.
    #[inline(never)]
    fn seldom(&mut self, op: &Op, mut at: usize, beside: &mut Beside) -> Try<usize> {
        let code = &self.engine.flat;
        match *op {
            Op::Caller { to } => reg!(self, to) = self.caller(),
            Op::ObjectNumber { to } => reg!(self, to) = i64::from(self.object.id),
            Op::Fault { to, part } => {
                let pending = self.m.pending(self.event.thread);
                reg!(self, to) = match part {
                    FaultPart::Address => pending.address.cast_signed(),
                    FaultPart::Size => i64::from(pending.size),
                    FaultPart::Value => pending.value.cast_signed(),
                    FaultPart::Operation => pending.operation.number(),
                    FaultPart::Expected => pending.expected.cast_signed(),
                }
            }
            Op::Negate { to, from } => {
                reg!(self, to) = check!(self, at, reg!(self, from).checked_neg().ok_or(FaultKind::Overflow))
            }
            Op::Index { to, from } => reg!(self, to) = i64::from(check!(self, at, self.engine.node(reg!(self, from)))),
            Op::AddressOf { to, from } => {
                let id = check!(self, at, u32::try_from(reg!(self, from)).map_err(|_| FaultKind::NoObject));
                reg!(self, to) = (u64::from(id) * self.m.block_bytes()).cast_signed();
            }
            Op::BytesOf { to, from } => {
                check!(self, at, u32::try_from(reg!(self, from)).map_err(|_| FaultKind::NoObject));
                reg!(self, to) = self.m.block_bytes().cast_signed();
            }
            Op::BlockAt { to, address } => {
                reg!(self, to) = self.m.block_at(reg!(self, address).cast_unsigned()).map_or(-1, i64::from);
            }
            Op::HomeOf { to, kind, from } => {
                let id = check!(self, at, u32::try_from(reg!(self, from)).map_err(|_| FaultKind::NoObject));
                reg!(self, to) = i64::from(self.m.home(Object { kind, id }));
            }
            Op::Made { to, from, most } => {
                reg!(self, to) = self.engine.made(self.m.me(), reg!(self, from), i64::from(most));
            }
            Op::NodeAt { to, from } => {
                let number = reg!(self, from);
                reg!(self, to) =
                    i64::from(check!(self, at, self.engine.node(number).map_err(|_| FaultKind::NoSuchNode(number))));
            }
            Op::Length { to, other, list } => {
                reg!(self, to) = i64::from(code.lists[list as usize].len(record!(self, beside, other)));
            }
            Op::Element { to, index, field, other, list } => {
                let list = &code.lists[list as usize];
                let index = reg!(self, index);
                let record = record!(self, beside, other);
                let place = u32::try_from(index).ok().filter(|&place| place < list.len(record));
                let place = check!(self, at, place.ok_or(FaultKind::NoElement(index)));
                reg!(self, to) = list.fields[field as usize].read(record, list.element_at(place));
            }
            Op::ElementOfArray { to, index, field, other, array } => {
                let array = &code.arrays[array as usize];
                let place = check!(self, at, array.place(reg!(self, index)));
                let record = record!(self, beside, other);
                reg!(self, to) = array.fields[field as usize].read(record, array.element_at(place));
            }
            Op::Room { to, count, lane, together } => {
                // It has been checked.
                let count = u32::try_from(reg!(self, count)).unwrap_or(u32::MAX);
                reg!(self, to) = i64::from(self.m.room(lane, count, together));
            }
            Op::Load { to, address } => reg!(self, to) = self.m.load(reg!(self, address).cast_unsigned()).cast_signed(),
            Op::Probe { to } => reg!(self, to) = self.m.probe(self.object) as i64,
            Op::ImageWord { to } => reg!(self, to) = self.m.image_word(self.object).cast_signed(),
            Op::InState { to, states } => {
                let (role, object) = beside.other;
                reg!(self, to) = i64::from(self.in_state(role, object, &code.states[states as usize]));
            }
            Op::CheckGiven { from, none } => {
                if reg!(self, from) == none {
                    return trouble(FaultKind::NoValue, span!(self, at));
                }
            }
            Op::Optional { to, optional } => {
                reg!(self, to) = check!(self, at, code.optionals[optional as usize].of(reg!(self, to)));
            }
            Op::CheckNode { from } => {
                check!(self, at, self.engine.node(reg!(self, from)));
            }
            Op::CheckObject { from } => {
                let value = reg!(self, from);
                if u32::try_from(value).is_err() {
                    return trouble(FaultKind::Range { value, lo: 0, hi: i64::from(u32::MAX) }, span!(self, at));
                }
            }
            Op::CheckAddress { from } => {
                if reg!(self, from) < 0 {
                    return trouble(FaultKind::BadAddress(reg!(self, from)), span!(self, at));
                }
            }
            Op::CheckOrder { from, to } => {
                if reg!(self, to) < reg!(self, from) {
                    return trouble(FaultKind::BadAddress(reg!(self, to)), span!(self, at));
                }
            }
            Op::CheckThread { from } => {
                if reg!(self, from) == -1 {
                    return trouble(FaultKind::NoneUsed, span!(self, at));
                }
            }
            Op::CheckData => {
                check!(self, at, self.data());
            }
            Op::NumberBit { to, from, lo, count } => {
                reg!(self, to) = check!(self, at, bit_of(reg!(self, from), lo, count))
            }
            Op::WriteElement { index, from, first, fields, other, list } => {
                let list = &code.lists[list as usize];
                let index = reg!(self, index);
                let values = &self.frame.scalars[from as usize..from as usize + fields as usize];
                let record = record!(self, beside, other);
                let place = u32::try_from(index).ok().filter(|&place| place < list.len(record));
                let place = check!(self, at, place.ok_or(FaultKind::NoElement(index)));
                for (cell, &value) in list.fields[first as usize..].iter().zip(values) {
                    cell.write(record, list.element_at(place), value);
                }
            }
            Op::WriteElementOfArray { index, from, first, fields, other, array } => {
                let array = &code.arrays[array as usize];
                let place = check!(self, at, array.place(reg!(self, index)));
                let values = &self.frame.scalars[from as usize..from as usize + fields as usize];
                let record = record!(self, beside, other);
                for (cell, &value) in array.fields[first as usize..].iter().zip(values) {
                    cell.write(record, array.element_at(place), value);
                }
            }
            Op::Push { from, fields, other, list } => {
                let list = &code.lists[list as usize];
                let values = &self.frame.scalars[from as usize..from as usize + fields as usize];
                let record = record!(self, beside, other);
                let len = list.len(record);
                if len >= list.capacity {
                    return trouble(FaultKind::ListFull, span!(self, at));
                }
                list.set_len(record, len + 1);
                for (cell, &value) in list.fields.iter().zip(values) {
                    cell.write(record, list.element_at(len), value);
                }
            }
            Op::Pop { to, other, list } => {
                let list = &code.lists[list as usize];
                let record = record!(self, beside, other);
                if list.len(record) == 0 {
                    return trouble(FaultKind::Empty, span!(self, at));
                }
                read_element(list, record, list.element_at(0), &mut self.frame.scalars[to as usize..]);
                list.remove(record, 0);
            }
            Op::Clear { other, at, bytes } => record!(self, beside, other)[at as usize..(at + bytes) as usize].fill(0),
            Op::Seek { whose, seek, role, object } => {
                let object = reg!(self, object);
                let (role, object) = check!(self, at, self.meant(whose, role, object));
                if seek != Seek::Find {
                    self.touch(role, object, seek == Seek::Change, span!(self, at))?;
                }
                beside.other = (role, object);
            }
            Op::AnyOfRange { from, to } => self.m.way(span!(self, at), reg!(self, from) <= reg!(self, to)),
            Op::AnyNodeOfSet { set, to, exit } => match self.m.choose(set!(self, set).nodes(self.engine.few())) {
                Some(node) => {
                    let node = i64::from(node);
                    self.m.charge(Charge::Element);
                    set!(self, set).remove(node);
                    reg!(self, to) = node;
                }
                None => at = exit as usize,
            },
            Op::NextOfRange { next, last, to, exit } => {
                let (value, end) = (reg!(self, next), reg!(self, last));
                if value > end {
                    at = exit as usize;
                } else {
                    self.m.charge(Charge::Element);
                    // Behind the last there may be no number.
                    (reg!(self, next), reg!(self, last)) = if value < end { (value + 1, end) } else { (1, 0) };
                    reg!(self, to) = value;
                }
            }
            Op::AllOfList { other, list } => {
                let list = &code.lists[list as usize];
                let record = record!(self, beside, other);
                let len = list.len(record);
                let elements = record[list.element_at(0)..list.element_at(len)].to_vec();
                beside.lists.push(Snapshot { elements, next: 0, len });
                self.m.way(span!(self, at), len > 0);
            }
            Op::NextOfList { to, list, exit } => match beside.lists.last_mut() {
                Some(known) if known.next < known.len => {
                    self.m.charge(Charge::Element);
                    let list = &code.lists[list as usize];
                    let from = (known.next * list.element) as usize;
                    read_element(list, &known.elements, from, &mut self.frame.scalars[to as usize..]);
                    known.next += 1;
                }
                _ => {
                    beside.lists.pop();
                    at = exit as usize;
                }
            },
            Op::Enter { depth } => {
                if let Some(outer) = beside.outer.get_mut(usize::from(depth)) {
                    *outer = (self.role, self.object);
                }
                (self.role, self.object) = beside.other;
            }
            Op::Leave { depth } => {
                // Whoever enters leaves.
                if let Some(&outer) = beside.outer.get(usize::from(depth)) {
                    (self.role, self.object) = outer;
                }
            }
            Op::Asserted => self.m.way(span!(self, at), true),
            Op::Assert { from, why } => {
                if reg!(self, from) == 0 {
                    return trouble(FaultKind::of_assertion(why), span!(self, at));
                }
            }
            Op::Impossible => return trouble(FaultKind::Impossible, span!(self, at)),
            Op::Received => beside.gathered = Some(check!(self, at, self.event.payload.ok_or(FaultKind::NoData))),
            Op::GatherMemory { from, to } => {
                let (from, to) = (reg!(self, from).cast_unsigned(), reg!(self, to).cast_unsigned());
                beside.gathered = Some(self.m.gather_memory(from, to));
            }
            Op::GatherOwn { from, to } => {
                let (from, to) = (reg!(self, from).cast_unsigned(), reg!(self, to).cast_unsigned());
                beside.gathered = Some(self.m.gather_own(from, to));
            }
            Op::GatherBlock { block } => {
                let id = object_number(reg!(self, block));
                beside.gathered = Some(self.m.gather_block(Object { kind: BLOCK, id }));
            }
            Op::Gathered { from } => beside.gathered = Some(check!(self, at, payload_of(reg!(self, from)))),
            Op::GatherList { other, blocks, list } => {
                let list = &code.lists[list as usize];
                let record = record!(self, beside, other);
                let items: Vec<i64> =
                    (0..list.len(record)).map(|i| list.fields[0].read(record, list.element_at(i))).collect();
                beside.gathered = Some(self.m.gather_list(blocks, &items));
            }
            Op::Start { plan } => {
                let plan = &code.sends[plan as usize];
                let mut args = Args::NONE;
                self.words(&plan.args, &mut args);
                self.m.start(plan.task, beside.other.1, args);
            }
            Op::Yield => match self.event.kind {
                EventKind::Task(task) => self.m.start(task, self.event.object, self.event.args),
                _ => return trouble(FaultKind::Malformed, span!(self, at)),
            },
            Op::Complete => self.m.complete(self.object),
            Op::CompleteWith { value, thread } => {
                let (value, thread) = (reg!(self, value), reg!(self, thread));
                check!(self, at, self.complete_with(thread, value, span!(self, at)));
            }
            Op::Perform { kind, whose, args, count, result } => {
                let mut words = [0; MOST_PERFORM];
                let given = &self.frame.scalars[args as usize..args as usize + count as usize];
                words[..given.len()].copy_from_slice(given);
                let value = check!(self, at, self.perform(kind, whose, &words[..given.len()], span!(self, at)));
                if let Some(to) = result {
                    reg!(self, to) = value;
                }
            }
            Op::Return { value, thread } => {
                let (value, thread) = (reg!(self, value), reg!(self, thread));
                check!(self, at, self.answer_to(thread, value));
            }
            Op::Defer => check!(self, at, self.defer()),
            Op::Stall => check!(self, at, self.stall()),
            Op::InstallAt { address } => {
                let (payload, _) = check!(self, at, self.data());
                self.m.install_memory(payload, Some(reg!(self, address).cast_unsigned()));
            }
            Op::InstallOwn { at: place } => {
                let (payload, _) = check!(self, at, self.data());
                self.m.install_own(payload, reg!(self, place).cast_unsigned());
            }
            Op::Copy { from, to, bytes } => {
                let (from, to) = (reg!(self, from).cast_unsigned(), reg!(self, to).cast_unsigned());
                self.m.copy(from, to, reg!(self, bytes).cast_unsigned());
            }
            Op::Store { address, value } => {
                self.m.store(reg!(self, address).cast_unsigned(), reg!(self, value).cast_unsigned());
            }
            Op::Line { step } => check!(self, at, self.line(step)),
            Op::Compose { word } => self.m.compose(self.object, reg!(self, word).cast_unsigned()),
            _ => return trouble(FaultKind::Malformed, span!(self, at)),
        }
        Ok(at)
    }

    /// Goes on to the end of a handler that has run: what is dead is cleared, changes of states are told. Gives the state.
    #[inline(always)]
    pub fn settle_all(&mut self) -> StateId {
        let after = self.settle(self.first);
        if !self.others.is_empty() {
            self.settle_others();
        }
        after
    }

    #[inline(never)]
    fn settle_others(&mut self) {
        let mut at = 0;
        while let Some(touch) = self.others.get(at) {
            if touch.written {
                self.settle(touch);
            }
            at += 1;
        }
    }

    /// Whose record is meant.
    fn meant(&self, whose: Whose, role: RoleId, object: i64) -> Result<(RoleId, Object), FaultKind> {
        Ok(match whose {
            Whose::Own => (self.role, self.object),
            Whose::First => (role, self.first.object),
            Whose::SameObject => (role, self.object),
            Whose::Agent => (role, Object { kind: NODE, id: 0 }),
            Whose::Given => {
                let kind = self.engine.protocol.roles[role.index()].object;
                (role, Object { kind, id: object_number(object) })
            }
            Whose::Nowhere => return Err(FaultKind::NotHere),
        })
    }

    /// The arguments of a message or a task.
    #[inline]
    fn words(&self, plan: &[Word], args: &mut Args) {
        for word in plan {
            match *word {
                Word::Scalar(from) => args.push(self.frame.scalars[from as usize]),
                Word::Set(set, words) => {
                    let set = &self.frame.sets[set as usize];
                    set.0[..words as usize].iter().for_each(|&word| args.push(word.cast_signed()));
                }
                Word::Whole(from, whole) => {
                    let own = self.engine.flat.wholes[whole as usize].argument(&self.frame.wholes[from as usize]);
                    own.iter().for_each(|&word| args.push(word.cast_signed()));
                }
            }
        }
    }

    #[inline]
    fn send_flat(&mut self, plan: &SendPlan, to: Node, gathered: &mut Option<Payload>) {
        let id = match plan.about {
            About::Agent => 0,
            About::Present => self.object.id,
            About::Given(from) => object_number(self.frame.scalars[from as usize]),
        };
        let object = Object { kind: plan.kind, id };
        let mut outgoing = Outgoing { message: plan.message, object, args: Args::NONE, payload: None };
        self.words(&plan.args, &mut outgoing.args);
        if plan.data == Source::Block {
            return self.m.send_block(to, &mut outgoing);
        }
        if plan.data == Source::Gathered {
            outgoing.payload = gathered.take();
        }
        self.m.send(to, &outgoing);
    }
}

/// A number of an object that has been checked.
fn object_number(checked: i64) -> u32 {
    u32::try_from(checked).unwrap_or(u32::MAX)
}

fn arithmetic(operator: Operator, left: i64, right: i64) -> Result<i64, FaultKind> {
    let result = match operator {
        Operator::Add => left.checked_add(right),
        Operator::Subtract => left.checked_sub(right),
        Operator::Multiply => left.checked_mul(right),
        Operator::Divide | Operator::Remainder if right == 0 => return Err(FaultKind::DivisionByZero),
        Operator::Divide => left.checked_div(right),
        Operator::Remainder => left.checked_rem(right),
        // The others have instructions of their own.
        _ => return Err(FaultKind::Malformed),
    };
    result.ok_or(FaultKind::Overflow)
}

/// The bit of an element in a set of `count` numbers from `lo` on.
fn bit_of(element: i64, lo: i32, count: u16) -> Result<i64, FaultKind> {
    let (lo, count) = (i64::from(lo), i64::from(count));
    let bit = element.wrapping_sub(lo);
    if (0..count).contains(&bit) { Ok(bit) } else { Err(FaultKind::Range { value: element, lo, hi: lo + count - 1 }) }
}

fn merge(operator: SetOperator, into: &mut Set, with: &Set, few: bool) {
    for (l, r) in into.0.iter_mut().zip(with.words(few)) {
        match operator {
            SetOperator::Union => *l |= r,
            SetOperator::Difference => *l &= !r,
            SetOperator::Intersection => *l &= r,
        }
    }
}

/// A set whose elements counted from `from`, with elements that count from `lo`.
fn shift(set: &Set, from: i64, lo: i64, most: i64) -> Result<Set, FaultKind> {
    let mut shifted = Set::default();
    for bit in set.iter(false) {
        let element = bit.wrapping_add(from);
        let bit = element.wrapping_sub(lo);
        if !(0..most).contains(&bit) {
            return Err(FaultKind::Range { value: element, lo, hi: lo.saturating_add(most - 1) });
        }
        shifted.insert(bit);
    }
    Ok(shifted)
}

/// The fields of a list's element, each into a register.
fn read_element(list: &ListCell, record: &[u8], at: usize, registers: &mut [i64]) {
    for (register, cell) in registers.iter_mut().zip(&list.fields) {
        *register = cell.read(record, at);
    }
}
