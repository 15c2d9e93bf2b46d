//! From the steps of a handler to its instructions.

mod checks;
mod expressions;
mod facts;
mod locals;
mod sets;
mod steps;
mod wholes;

use crate::engine::Engine;
use crate::flat::{Code, Entry, MOST_SCALARS, MOST_SETS, Op, Reaction, Reg, SetReg, Target, Way, WholeOp};
use crate::frame::{LargeFlatRoom, NoSetRoom, OneSetRoom, OneWholeRoom, SmallFlatRoom, WholesRoom, WideFlatRoom};
use crate::layout::{Cell, ListCell, SetCell, Shape};
use crate::optional::Optional;
use crate::whole::Whole;
use facts::Facts;
use locals::{Kept, Registers};
use std::collections::BTreeSet;
use trivium_protocol::source::Span;
use trivium_protocol::walk::visit;
use trivium_protocol::{ExprKind, Handler, Local, Place, Response, RoleId};

/// How deep steps of other roles and objects can lie within each other.
pub(crate) const MOST_DEPTH: u8 = 4;

impl Code {
    /// The code of all handlers of a protocol.
    pub fn of(engine: &Engine) -> Code {
        let mut code = Code::default();
        for (number, role) in engine.protocol.roles.iter().enumerate() {
            let entries = role.handlers.iter().map(|handler| code.add(engine, RoleId::at(number), handler)).collect();
            code.handlers.push(entries);
            let ways = role.table.iter().flatten().map(|response| code.reaction(number, response)).collect();
            code.ways.push(ways);
        }
        code
    }

    /// What is asked of the handlers of a response at each event.
    fn reaction(&self, role: usize, response: &Response) -> Reaction {
        let Response::Handle(handlers) = response else { return Reaction::default() };
        let Some(handler) = handlers.first() else { return Reaction::default() };
        let at = self.handlers[role][handler.index()].as_ref().map_or(0, |entry| entry.at);
        Reaction { way: self.way(role, response), handler: *handler, at }
    }

    /// How the handlers of a response run.
    fn way(&self, role: usize, response: &Response) -> Way {
        let Response::Handle(handlers) = response else { return Way::Walk };
        let entries = &self.handlers[role];
        let fits =
            |suffices: fn(&Entry) -> bool| handlers.iter().all(|id| entries[id.index()].as_ref().is_some_and(suffices));
        if fits(NoSetRoom::suffices_flat) {
            Way::NoSet
        } else if fits(OneSetRoom::suffices_flat) {
            Way::OneSet
        } else if fits(SmallFlatRoom::suffices_flat) {
            Way::Small
        } else if fits(OneWholeRoom::suffices_flat) {
            Way::OneWhole
        } else if fits(WideFlatRoom::suffices_flat) {
            Way::Wide
        } else if fits(WholesRoom::suffices_flat) {
            Way::Wholes
        } else if fits(LargeFlatRoom::suffices_flat) {
            Way::Large
        } else {
            Way::Walk
        }
    }

    /// Adds a handler, unless it needs more of something than instructions can name.
    fn add(&mut self, engine: &Engine, role: RoleId, handler: &Handler) -> Option<Entry> {
        let Registers { kept, scalars, sets, wholes, fixed } = Registers::of(handler);
        let before = self.ops.len();
        let mut lowering = Lowering {
            engine,
            code: self,
            locals: &handler.locals,
            kept,
            role,
            first: role,
            depth: 0,
            scalars,
            most_scalars: scalars,
            sets,
            most_sets: sets,
            wholes,
            most_wholes: wholes,
            fixed,
            facts: Facts::default(),
            charges: 0,
            steps: 0,
            stops: Vec::new(),
        };
        let entry = lowering.handler(handler);
        if entry.is_none() {
            self.ops.truncate(before);
            self.spans.truncate(before);
        }
        entry
    }
}

/// A handler that is being lowered. What cannot be lowered is `None`.
pub(super) struct Lowering<'a> {
    pub engine: &'a Engine,
    pub code: &'a mut Code,
    pub locals: &'a [Local],
    /// Where each local is.
    kept: Vec<Kept>,
    /// Whose steps run: `Owner::Current`.
    pub role: RoleId,
    /// Whose handler it is.
    pub first: RoleId,
    /// How many other roles and objects these steps lie in.
    pub depth: u8,
    /// Registers in use.
    pub scalars: u16,
    pub most_scalars: u16,
    pub sets: u16,
    pub most_sets: u16,
    pub wholes: u16,
    pub most_wholes: u16,
    /// Registers of locals that never change.
    fixed: BTreeSet<u16>,
    /// What is known on the way to here.
    facts: Facts,
    /// Plain steps that have not been charged yet.
    pub charges: u16,
    /// Steps that have not been counted yet.
    pub steps: u16,
    /// Jumps out of the innermost loop, which are to go behind it.
    pub stops: Vec<usize>,
}

/// What takes an argument, and whether it has to come before the guard.
struct Argument {
    op: Op,
    is_early: bool,
}

/// The numbers of the locals that the guard of a handler looks at.
fn looked_at_by_guard(handler: &Handler) -> BTreeSet<usize> {
    let mut seen = BTreeSet::new();
    handler.guard.iter().for_each(|guard| {
        visit(guard, &mut |expr| match expr.kind {
            ExprKind::Local(local)
            | ExprKind::LocalField(local, _)
            | ExprKind::LocalElement(local, ..)
            | ExprKind::LocalLength(local) => {
                seen.insert(local.index());
            }
            _ => {}
        });
    });
    seen
}

impl Lowering<'_> {
    fn handler(&mut self, handler: &Handler) -> Option<Entry> {
        let at = self.here()?;
        let arguments = self.arguments(handler)?;
        // A guard that does not hold needs no more than it looks at, and where a list is among the arguments the rest is not little.
        let (first, rest): (Vec<Argument>, Vec<Argument>) =
            arguments.into_iter().partition(|argument| argument.is_early || handler.guard.is_none());
        for argument in first {
            self.emit(argument.op, handler.span);
        }
        if let Some(guard) = &handler.guard {
            let (scalars, sets) = (self.scalars, self.sets);
            self.charges += 1;
            let from = self.register()?;
            self.scalar(guard, from)?;
            self.flush(guard.span);
            self.emit(Op::Guard { from }, guard.span);
            (self.scalars, self.sets) = (scalars, sets);
        }
        for argument in rest {
            self.emit(argument.op, handler.span);
        }
        self.steps(&handler.steps)?;
        let (charge, steps) = (std::mem::take(&mut self.charges), std::mem::take(&mut self.steps));
        self.emit(Op::End { charge, steps }, handler.span);
        Some(Entry { at, scalars: self.most_scalars, sets: self.most_sets, wholes: self.most_wholes })
    }

    /// The event's arguments become the first locals. Where those lie that stand behind a list depends on its length, so that all are early if there are such.
    fn arguments(&mut self, handler: &Handler) -> Option<Vec<Argument>> {
        let guarded = looked_at_by_guard(handler);
        let (mut arguments, mut word, mut is_behind) = (Vec::new(), 0u8, false);
        for (number, local) in handler.locals.get(..handler.args as usize)?.iter().enumerate() {
            let (op, words) = match *self.kept.get(number)? {
                Kept::Scalars { at, .. } => {
                    let to = u8::try_from(at).ok()?;
                    let behind = Op::Whole(WholeOp::ScalarBehind { to, word });
                    (if is_behind { behind } else { Op::Argument { to, word } }, 1)
                }
                Kept::Set(at) => {
                    let (_, count) = self.engine.set_range(&local.ty);
                    let words = u8::try_from(count.div_euclid(64) + i64::from(count.rem_euclid(64) > 0)).ok()?;
                    let to = u8::try_from(at).ok()?;
                    let behind = Op::Whole(WholeOp::SetBehind { to, word, words });
                    (if is_behind { behind } else { Op::ArgumentSet { to, word, words } }, words)
                }
                Kept::Whole(_) => {
                    let (to, lies) = self.local_whole(number)?;
                    let whole = self.whole_at(&lies)?;
                    is_behind |= matches!(lies, Whole::List(_));
                    (Op::Whole(WholeOp::Argument { to, word, whole }), u8::try_from(lies.most_words()).ok()?)
                }
            };
            arguments.push(Argument { op, is_early: guarded.contains(&number) });
            word = word.checked_add(words)?;
        }
        let is_behind = |argument: &Argument| {
            matches!(argument.op, Op::Whole(WholeOp::ScalarBehind { .. } | WholeOp::SetBehind { .. }))
        };
        // A list behind another, too, lies where that ends.
        let lists = |argument: &&Argument| matches!(argument.op, Op::Whole(WholeOp::Argument { .. }));
        if arguments.iter().any(is_behind) || arguments.iter().filter(lists).count() > 1 {
            arguments.iter_mut().for_each(|argument| argument.is_early = true);
        }
        Some(arguments)
    }

    /// Adds an instruction, and gives its place.
    pub fn emit(&mut self, op: Op, span: Span) -> usize {
        self.code.ops.push(op);
        self.code.spans.push(span);
        self.code.ops.len() - 1
    }

    /// The place of the next instruction.
    pub fn here(&self) -> Option<Target> {
        u32::try_from(self.code.ops.len()).ok()
    }

    /// A jump that was added, and is to go to the next instruction.
    pub fn land(&mut self, jump: usize) -> Option<()> {
        let here = self.here()?;
        match &mut self.code.ops[jump] {
            Op::Jump { to, .. } | Op::JumpIf { to, .. } | Op::JumpUnless { to, .. } => *to = here,
            Op::Branch { otherwise, .. } => *otherwise = here,
            Op::NextOfSet { exit, .. }
            | Op::AnyNodeOfSet { exit, .. }
            | Op::NextOfRange { exit, .. }
            | Op::NextOfList { exit, .. } => *exit = here,
            _ => return None,
        }
        Some(())
    }

    /// Charges the plain steps so far, before something that has an effect, or another way.
    pub fn flush(&mut self, span: Span) {
        let steps = std::mem::take(&mut self.charges);
        if steps > 0 {
            self.emit(Op::Charge { steps }, span);
        }
    }

    /// A register that is free.
    pub fn register(&mut self) -> Option<Reg> {
        self.registers(1)
    }

    /// So many that are free, one after the other; the first.
    pub fn registers(&mut self, count: usize) -> Option<Reg> {
        let first = u8::try_from(self.scalars).ok()?;
        self.scalars = self.scalars.checked_add(u16::try_from(count).ok()?)?;
        self.most_scalars = self.most_scalars.max(self.scalars);
        (self.scalars <= MOST_SCALARS).then_some(first)
    }

    /// A register for a set that is free.
    pub fn set_register(&mut self) -> Option<SetReg> {
        let set = u8::try_from(self.sets).ok()?;
        self.sets += 1;
        self.most_sets = self.most_sets.max(self.sets);
        (self.sets <= MOST_SETS).then_some(set)
    }

    /// The register of a scalar local, or of a field of a record local.
    pub fn local(&self, at: usize, field: u16) -> Option<Reg> {
        match *self.kept.get(at)? {
            Kept::Scalars { at, count } if field < count => u8::try_from(at + field).ok(),
            _ => None,
        }
    }

    /// The first register of a local that has room for so many scalars.
    pub fn fields(&self, at: usize, needed: usize) -> Option<Reg> {
        match *self.kept.get(at)? {
            Kept::Scalars { at, count } if needed <= count as usize => u8::try_from(at).ok(),
            _ => None,
        }
    }

    /// The register of a set local.
    pub fn local_set(&self, at: usize) -> Option<SetReg> {
        match *self.kept.get(at)? {
            Kept::Set(at) => u8::try_from(at).ok(),
            _ => None,
        }
    }

    /// A cell among those that instructions name.
    pub fn cell(&mut self, cell: Cell) -> Option<u16> {
        let at = self.code.cells.iter().position(|known| *known == cell).unwrap_or_else(|| {
            self.code.cells.push(cell);
            self.code.cells.len() - 1
        });
        u16::try_from(at).ok()
    }

    /// What a scalar must be that becomes one that may be `none`, among those that instructions name.
    pub fn optional_of(&mut self, optional: Optional) -> Option<u16> {
        let at = self.code.optionals.iter().position(|known| *known == optional).unwrap_or_else(|| {
            self.code.optionals.push(optional);
            self.code.optionals.len() - 1
        });
        u16::try_from(at).ok()
    }

    /// The cell of a scalar variable, or of a field of a record.
    pub fn cell_of(&mut self, place: &Place) -> Option<u16> {
        let cell = self.engine.cell(place, Span::default()).ok()?;
        self.cell(cell)
    }

    /// A set among those that instructions name.
    pub fn set_cell(&mut self, cell: SetCell) -> Option<u16> {
        let at = self.code.sets.iter().position(|known| *known == cell).unwrap_or_else(|| {
            self.code.sets.push(cell);
            self.code.sets.len() - 1
        });
        u16::try_from(at).ok()
    }

    /// An array among those that instructions name.
    pub fn array_of(&mut self, place: &Place) -> Option<u16> {
        let Shape::Array(array) = self.engine.shape(place)? else { return None };
        let at = self.code.arrays.iter().position(|known| known == array).unwrap_or_else(|| {
            self.code.arrays.push(array.clone());
            self.code.arrays.len() - 1
        });
        u16::try_from(at).ok()
    }

    /// A list among those that instructions name.
    pub fn list_of(&mut self, place: &Place) -> Option<u16> {
        let Shape::List(list) = self.engine.shape(place)? else { return None };
        let list: &ListCell = list;
        let at = self.code.lists.iter().position(|known| known == list).unwrap_or_else(|| {
            self.code.lists.push(list.clone());
            self.code.lists.len() - 1
        });
        u16::try_from(at).ok()
    }
}
