//! Rewrites the bodies of the program's functions for the *fast build*: what hits in the cache never leaves Wasm.
//!
//! Memory 1 belongs to the host ([`crate::tags`] has its layout). It tells for each place in memory 0 what may happen
//! there without asking. A page of memory 0 out of the program's reach ([`crate::memory::HOST_PAGE`]) has the
//! *countdown*: how much work may still be done before a poll must ask the host. The host knows at which
//! count it will be 0, so the countdown is also the count. Where all operators have the same weight, the work tells how many
//! instructions there were. Where they have not, another number of the host's page is the *surplus*: by how much the work is more
//! than if each instruction had the weight of an integer operator.
//!
//! * The countdown is in a local, and so is the surplus where a function changes it. They are stored before everything that leaves the
//!   function or calls the host, and loaded after it. (To change the surplus in memory would be slow: in a short loop each change
//!   waits for the one before it.) What has been executed since the local was last brought up to date is known where the code is
//!   made, and with it the change of the surplus: a miss tells it, a hit pays nothing.
//! * A load or store looks up its address, of which the lowest two bits are rotated to the top: what is not aligned to
//!   4 bytes is found in the upper three quarters of memory 1, where nothing ever is.
//! * Of several accesses near to each other only the first looks its tag up, unless the host was asked in between or
//!   the line ends there: a tag tells also what may happen to the next bytes.
//! * On a processor with a TLB an access first looks its page up ([`crate::translations`]): what misses brings the page in, and takes the
//!   work that stands for it from the countdown. The host knows how often that was.
//! * A miss calls the same added functions as the reference build. What lies on the operand stack, and the locals of
//!   an inner loop, are put aside around the call ([`super::live`] says why).
//! * NaNs are made canonical by a branch that is never taken, and only where their bits can be seen.

use wasm_encoder::reencode::{self, Reencode};
use wasm_encoder::{BlockType, BranchHint, Function, Instruction as I, MemArg, ValType};
use wasmparser::{FuncToValidate, FunctionBody, Operator, ValidatorResources};

use super::access::{ACCESSES, Kind, find};
use super::ahead::{self, Look};
use super::analysis::{self, Note, Use};
use super::classes::class;
use super::code::{self, change, needs_count};
use super::strides::Covered;
use super::values::float;
use super::{Build, Layout};
use crate::memory::{ASIDE, HOST_PAGE, SURPLUS};
use crate::tags::{self, FIRST_PUBLISHED, GRANULE_BITS};
use crate::weights::{Executed, OperatorClass};

/// Index of the host's memory.
pub(super) const HOST_MEMORY: u32 = 1;

/// Values that can be put aside: more are left to the compiler.
const ROOM: usize = 64;

/// A function while it is rewritten.
pub(super) struct Body {
    function: Function,
    hints: Vec<BranchHint>,
    /// The types of the locals.
    pub(super) locals: Vec<ValType>,
    /// The local with the countdown.
    pub(super) left: u32,
    /// The local with the surplus, where an operator of the function changes it.
    pub(super) surplus: Option<u32>,
    /// The local with the first operand of an access.
    pub(super) base: u32,
    /// The local with the address of an access.
    pub(super) address: u32,
    /// The first of four locals with a value that is stored or loaded: i32, i64, f32, f64.
    values: u32,
    /// The first locals, of each type, for what lies on the operand stack beneath an access.
    beneath: [u32; NUMBERS.len()],
    /// The first of the locals for tags.
    tags: u32,
    /// What the local does not count yet.
    pub(super) pending: Executed,
    /// Open blocks, the function's own included.
    pub(super) depth: u32,
    /// In a loop that looks ahead.
    pub(super) look: Option<Look>,
}

/// The body with counting, polls and access checks, and its branch hints.
pub(super) fn function(
    layout: &mut Layout,
    params: &[wasmparser::ValType],
    validate: FuncToValidate<ValidatorResources>,
    body: &FunctionBody<'_>,
) -> Result<(Function, Vec<BranchHint>), reencode::Error> {
    let analysis = analysis::analyse(layout, validate, body, params)?;
    let mut locals = analysis.locals;
    let left = locals.len() as u32;
    locals.extend([ValType::I64, ValType::I32, ValType::I32]);
    locals.extend(NUMBERS);
    let mut beneath = [0; NUMBERS.len()];
    for (first, ty) in beneath.iter_mut().zip(NUMBERS) {
        *first = locals.len() as u32;
        let of_type = |(_, note): &(_, Note)| note.beneath.iter().filter(|beneath| **beneath == ty).count();
        let most = analysis.operators.iter().map(of_type).max();
        locals.extend(std::iter::repeat_n(ty, most.unwrap_or(0)));
    }
    let tags = locals.len() as u32;
    locals.extend((0..analysis.tags).map(|_| ValType::I32));
    let changes_surplus = |(operator, _): &(_, _)| class(operator).is_some_and(|class| !layout.weights.is_plain(class));
    let surplus = analysis.operators.iter().any(changes_surplus).then_some(locals.len() as u32);
    locals.extend(surplus.map(|_| ValType::I64));
    let of_looks = ahead::LookLocals::new(&analysis.ahead, &mut locals);
    let mut rewritten = Body {
        function: Function::new_with_locals_types(locals[params.len()..].iter().copied()),
        hints: Vec::new(),
        left,
        surplus,
        base: left + 1,
        address: left + 2,
        values: left + 3,
        beneath,
        tags,
        pending: Executed::default(),
        depth: 1,
        look: None,
        locals,
    };
    rewritten.load_counts();
    rewritten.poll(layout, &Note::default());
    let mut done = 0;
    for ahead in &analysis.ahead {
        rewritten.operators(layout, &analysis.operators[done..ahead.head])?;
        rewritten.loop_ahead(layout, &analysis.operators[ahead.head..=ahead.end], ahead, of_looks)?;
        done = ahead.end + 1;
    }
    rewritten.operators(layout, &analysis.operators[done..])?;
    Ok((rewritten.function, rewritten.hints))
}

/// The types of numbers.
pub(super) const NUMBERS: [ValType; 4] = [ValType::I32, ValType::I64, ValType::F32, ValType::F64];

/// Which of [`NUMBERS`] a type is.
pub(super) fn number(ty: ValType) -> usize {
    NUMBERS.iter().position(|known| *known == ty).expect("a number's type")
}

/// Of the countdown or the surplus.
fn stored_count() -> MemArg {
    MemArg { offset: 0, align: 3, memory_index: 0 }
}

/// Where a value of a type is put aside.
fn aside(place: usize) -> MemArg {
    MemArg { offset: u64::from(ASIDE - HOST_PAGE) + 8 * place as u64, align: 2, memory_index: 0 }
}

/// Pushes the countdown as it was last stored.
pub(super) fn stored_countdown(function: &mut Function) {
    function.instruction(&I::I32Const(HOST_PAGE as i32));
    function.instruction(&I::I64Load(stored_count()));
}

/// In an added function: takes the work in a local from the stored countdown, or gives it back; where there is a surplus, that of the
/// next local is added to it, or taken back.
pub(super) fn adjust_countdown(layout: &Layout, function: &mut Function, local: u32, take: bool) {
    let mut adjust = |address, local, less| {
        change(function, address, |function| {
            function.instruction(&I::LocalGet(local));
            function.instruction(if less { &I::I64Sub } else { &I::I64Add });
        });
    };
    adjust(HOST_PAGE, local, take);
    if layout.counts_work() {
        adjust(SURPLUS, local + 1, !take);
    }
}

impl Body {
    pub(super) fn push(&mut self, instruction: &I<'_>) {
        self.function.instruction(instruction);
    }

    pub(super) fn byte_len(&self) -> usize {
        self.function.byte_len()
    }

    fn operators(&mut self, layout: &mut Layout, operators: &[(Operator<'_>, Note)]) -> Result<(), reencode::Error> {
        for (operator, note) in operators {
            layout.moves(note.offset, self.byte_len());
            self.note_read(layout, note.offset);
            self.operator(layout, operator.clone(), note)?;
        }
        Ok(())
    }

    /// The operator at an offset of the module as it was may read a counter, which is noted.
    pub(super) fn note_read(&mut self, layout: &Layout, at: usize) {
        for instruction in layout.noting(at).into_iter().flatten() {
            self.push(&instruction);
        }
    }

    pub(super) fn operator(
        &mut self,
        layout: &mut Layout,
        operator: Operator<'_>,
        note: &Note,
    ) -> Result<(), reencode::Error> {
        if let Some((access, memarg)) = find(&operator) {
            self.pending += layout.weights.one(OperatorClass::Memory);
            // The validator has bounded a 32-bit memory's offset.
            self.access(layout, access, memarg.offset as u32, note);
            return Ok(());
        }
        if let Some(class) = class(&operator) {
            self.pending += layout.weights.one(class);
        }
        if needs_count(&operator) {
            self.count(layout);
        }
        if self.leaves(&operator) || code::may_trap(&operator) {
            self.store_counts();
        }
        match operator {
            Operator::Block { .. } | Operator::Loop { .. } | Operator::If { .. } => self.depth += 1,
            Operator::End => self.depth -= 1,
            _ => {}
        }
        let is_loop = matches!(operator, Operator::Loop { .. });
        let calls = matches!(operator, Operator::Call { .. } | Operator::CallIndirect { .. });
        let seen = float(&operator).filter(|_| note.is_seen);
        let by_host = layout.instead(&operator);
        match by_host {
            Some(ref instead) => instead.iter().for_each(|instruction| self.push(instruction)),
            None => {
                let instruction = layout.instruction(operator)?;
                self.function.instruction(&instruction);
            }
        }
        if let Some(ty) = seen {
            self.canonical(ty);
        }
        if calls || by_host.is_some() {
            self.load_counts();
        }
        if is_loop {
            self.poll(layout, note);
        }
        Ok(())
    }

    /// Whether control may leave the function in this operator, or the host look at the count.
    fn leaves(&self, operator: &Operator<'_>) -> bool {
        let outermost = self.depth - 1;
        match operator {
            Operator::Return | Operator::Call { .. } | Operator::CallIndirect { .. } => true,
            Operator::End => outermost == 0,
            Operator::Br { relative_depth } | Operator::BrIf { relative_depth } => *relative_depth == outermost,
            Operator::BrTable { targets } => {
                targets.default() == outermost || targets.targets().flatten().any(|target| target == outermost)
            }
            _ => code::asks_host(operator),
        }
    }

    /// Brings the locals up to date.
    pub(super) fn count(&mut self, layout: &Layout) {
        let pending = std::mem::take(&mut self.pending);
        if pending.work > 0 {
            self.push(&I::LocalGet(self.left));
            self.push(&I::I64Const(pending.work.cast_signed()));
            self.push(&I::I64Sub);
            self.push(&I::LocalSet(self.left));
        }
        let more = layout.weights.surplus(pending);
        if let Some(surplus) = self.surplus.filter(|_| more != 0) {
            self.push(&I::LocalGet(surplus));
            self.push(&I::I64Const(more));
            self.push(&I::I64Add);
            self.push(&I::LocalSet(surplus));
        }
    }

    /// Where the countdown and the surplus are stored, and the locals in which they are.
    fn counts(&self) -> impl Iterator<Item = (u32, u32)> + use<> {
        [(HOST_PAGE, Some(self.left)), (SURPLUS, self.surplus)]
            .into_iter()
            .filter_map(|(address, local)| Some((address, local?)))
    }

    pub(super) fn store_counts(&mut self) {
        for (address, local) in self.counts() {
            self.push(&I::I32Const(address as i32));
            self.push(&I::LocalGet(local));
            self.push(&I::I64Store(stored_count()));
        }
    }

    fn load_counts(&mut self) {
        for (address, local) in self.counts() {
            self.push(&I::I32Const(address as i32));
            self.push(&I::I64Load(stored_count()));
            self.push(&I::LocalSet(local));
        }
    }

    /// An `if` that is hardly ever taken.
    pub(super) fn if_rarely(&mut self) {
        self.hint(false);
        self.push(&I::If(BlockType::Empty));
    }

    /// Whether the branch that follows is likely to be taken.
    pub(super) fn hint(&mut self, taken: bool) {
        let branch_func_offset = self.function.byte_len() as u32;
        self.hints.push(BranchHint { branch_func_offset, branch_hint_value: taken.into() });
    }

    /// Makes a NaN on the stack the canonical one.
    fn canonical(&mut self, ty: ValType) {
        let value = self.value(ty);
        self.push(&I::LocalTee(value));
        self.push(&I::LocalGet(value));
        // One branch in compiled code; a comparison for (in)equality, or its negation, would be more.
        self.push(if ty == ValType::F32 { &I::F32Ge } else { &I::F64Ge });
        self.hint(true);
        self.push(&I::If(BlockType::Empty));
        self.push(&I::Else);
        match ty {
            ValType::F32 => self.push(&I::F32Const(f32::from_bits(0x7fc0_0000).into())),
            _ => self.push(&I::F64Const(f64::from_bits(0x7ff8_0000_0000_0000).into())),
        }
        self.push(&I::LocalSet(value));
        self.push(&I::End);
        self.push(&I::LocalGet(value));
    }

    /// At a loop head or a function entry: asks the host if the countdown has ended.
    pub(super) fn poll(&mut self, layout: &Layout, note: &Note) {
        self.push(&I::LocalGet(self.left));
        self.push(&I::I64Const(0));
        self.push(&I::I64LeS);
        self.if_rarely();
        self.store_counts();
        self.put_aside(&note.keep);
        self.push(&I::Call(layout.poll()));
        self.take_back(&note.keep);
        self.load_counts();
        self.push(&I::End);
    }

    /// The local for a value of a type.
    fn value(&self, ty: ValType) -> u32 {
        self.values + number(ty) as u32
    }

    /// A load or store: itself if the tags allow it, else the added function that asks the host.
    fn access(&mut self, layout: &Layout, access: u32, offset: u32, note: &Note) {
        let kind = &ACCESSES[access as usize];
        let value = self.value(kind.value);
        let at = MemArg { offset: offset.into(), align: 0, memory_index: 0 };
        let looked = self.look.filter(|look| look.is_sure).zip(note.covered);
        if let (Some((_, Covered::Always | Covered::UnlessAsked)), Some((tag, Use::Keep))) = (looked, note.tag) {
            // It may not be looked up.
            self.push(&I::I32Const(0));
            self.push(&I::LocalSet(self.tags + tag));
        }
        match looked {
            Some((_, Covered::Always)) => return self.push(&(kind.operator)(at)),
            Some((look, Covered::GivesUp)) => return self.access_or_give_up(kind, offset, note, look),
            _ => {}
        }
        if kind.store {
            self.push(&I::LocalSet(value));
        }
        self.push(&I::LocalSet(self.base));
        let beneath = self.flatten(&note.beneath);
        self.push(&I::Block(BlockType::Empty));
        let tried = note.tag.filter(|(_, how)| *how == Use::Try);
        if let Some((look, _)) = looked {
            self.push(&I::LocalGet(look.locals.sure));
        } else if let Some((tag, _)) = tried {
            self.push(&I::LocalGet(self.tags + tag));
            self.push(&I::I32Const(tags::allows_near(kind.store).into()));
            self.push(&I::I32And);
        }
        let is_tried = looked.is_some() || tried.is_some();
        if is_tried {
            self.push(&I::I32Eqz);
            self.if_rarely();
        }
        self.address(offset);
        self.translate(layout, note, &beneath);
        self.check(kind, offset, note);
        self.if_rarely();
        self.ask(layout, access, offset, note, &beneath);
        self.push(&I::Br(if is_tried { 2 } else { 1 }));
        self.push(&I::End);
        if is_tried {
            self.push(&I::End);
        }
        self.push(&I::LocalGet(self.base));
        if kind.store {
            self.push(&I::LocalGet(value));
        }
        self.push(&(kind.operator)(at));
        if !kind.store {
            self.push(&I::LocalSet(value));
        }
        self.push(&I::End);
        for local in beneath {
            self.push(&I::LocalGet(local));
        }
        if !kind.store {
            self.push(&I::LocalGet(value));
        }
    }

    /// A load or store in a round that can be given up: that is done if the tags do not allow it.
    fn access_or_give_up(&mut self, kind: &Kind, offset: u32, note: &Note, look: Look) {
        let value = self.value(kind.value);
        if kind.store {
            self.push(&I::LocalSet(value));
        }
        self.push(&I::LocalTee(self.base));
        let tried = note.tag.filter(|(_, how)| *how == Use::Try);
        if let Some((tag, _)) = tried {
            self.push(&I::LocalGet(self.tags + tag));
            self.push(&I::I32Const(tags::allows_near(kind.store).into()));
            self.push(&I::I32And);
            self.push(&I::I32Eqz);
            self.if_rarely();
        }
        self.address(offset);
        self.check(kind, offset, note);
        self.hint(false);
        self.push(&I::BrIf(self.depth - look.outside + u32::from(tried.is_some())));
        if tried.is_some() {
            self.push(&I::End);
        }
        if kind.store {
            self.push(&I::LocalGet(value));
        }
        self.push(&(kind.operator)(MemArg { offset: offset.into(), align: 0, memory_index: 0 }));
    }

    /// The added function asks the host for an access, and makes it; what it loads is in the local for its value.
    fn ask(&mut self, layout: &Layout, access: u32, offset: u32, note: &Note, beneath: &[u32]) {
        let kind = &ACCESSES[access as usize];
        let value = self.value(kind.value);
        self.store_counts();
        let mut aside: Vec<u32> = note.keep.iter().chain(beneath).copied().collect();
        aside.truncate(ROOM);
        self.put_aside(&aside);
        self.push(&I::LocalGet(self.base));
        if kind.store {
            self.push(&I::LocalGet(value));
        }
        self.push(&I::I32Const(offset as i32));
        self.push(&I::I64Const(self.pending.work.cast_signed()));
        if layout.counts_work() {
            self.push(&I::I64Const(layout.weights.surplus(self.pending)));
        }
        self.push(&I::Call(layout.access(access)));
        if !kind.store {
            self.push(&I::LocalSet(value));
        }
        self.take_back(&aside);
        self.load_counts();
        self.forget_tags(note);
        if let Some(look) = self.look {
            self.forget_look(look.locals);
        }
    }

    /// Tags that are kept are no longer right.
    fn forget_tags(&mut self, note: &Note) {
        for tag in &note.stale {
            self.push(&I::I32Const(0));
            self.push(&I::LocalSet(self.tags + tag));
        }
    }

    /// Looks up the page of an access, whose address is in its local, if there is a TLB that does not hold it. Another page leaves, so tags
    /// that are kept must be looked at again, and with them their pages.
    fn translate(&mut self, layout: &Layout, note: &Note, beneath: &[u32]) {
        let Some(tlb) = layout.tlb else { return };
        tlb.push_holds(&mut self.function, self.address);
        self.push(&I::I32Eqz);
        self.if_rarely();
        let mut aside: Vec<u32> = note.keep.iter().chain(beneath).copied().collect();
        aside.truncate(ROOM);
        self.put_aside(&aside);
        self.push(&I::LocalGet(self.address));
        self.push(&I::Call(layout.look_up()));
        self.take_back(&aside);
        self.push(&I::LocalGet(self.left));
        self.push(&I::I64Const(tlb.work().cast_signed()));
        self.push(&I::I64Sub);
        self.push(&I::LocalSet(self.left));
        self.forget_tags(note);
        self.push(&I::End);
    }

    /// Moves the upper values on the operand stack, of these types, to locals of their own.
    fn flatten(&mut self, types: &[ValType]) -> Vec<u32> {
        let mut free = self.beneath;
        let locals: Vec<u32> = types
            .iter()
            .map(|ty| {
                let next = &mut free[number(*ty)];
                *next += 1;
                *next - 1
            })
            .collect();
        for local in locals.iter().rev() {
            self.push(&I::LocalSet(*local));
        }
        locals
    }

    /// Stores locals out of the program's reach.
    fn put_aside(&mut self, locals: &[u32]) {
        for (place, local) in locals.iter().enumerate() {
            self.push(&I::I32Const(HOST_PAGE as i32));
            self.push(&I::LocalGet(*local));
            self.push(&match self.locals[*local as usize] {
                ValType::I32 => I::I32Store(aside(place)),
                ValType::I64 => I::I64Store(aside(place)),
                ValType::F32 => I::F32Store(aside(place)),
                _ => I::F64Store(aside(place)),
            });
        }
    }

    /// Loads them again.
    fn take_back(&mut self, locals: &[u32]) {
        for (place, local) in locals.iter().enumerate() {
            self.push(&I::I32Const(HOST_PAGE as i32));
            self.push(&match self.locals[*local as usize] {
                ValType::I32 => I::I32Load(aside(place)),
                ValType::I64 => I::I64Load(aside(place)),
                ValType::F32 => I::F32Load(aside(place)),
                _ => I::F64Load(aside(place)),
            });
            self.push(&I::LocalSet(*local));
        }
    }

    /// Sets the address of an access, whose base is in its local.
    fn address(&mut self, offset: u32) {
        self.push(&I::LocalGet(self.base));
        if offset > 0 {
            self.push(&I::I32Const(offset as i32));
            self.push(&I::I32Add);
        }
        self.push(&I::LocalSet(self.address));
    }

    /// From the address in its local: whether the host must be asked.
    fn check(&mut self, kind: &Kind, offset: u32, note: &Note) {
        self.push(&I::LocalGet(self.address));
        match kind.size {
            1 => {
                self.push(&I::I32Const(GRANULE_BITS as i32));
                self.push(&I::I32ShrU);
            }
            size => {
                if size == 2 {
                    // Either half of the granule.
                    self.push(&I::I32Const(!2));
                    self.push(&I::I32And);
                }
                self.push(&I::I32Const(GRANULE_BITS as i32));
                self.push(&I::I32Rotr);
            }
        }
        self.push(&I::I32Load8U(MemArg { offset: 0, align: 0, memory_index: HOST_MEMORY }));
        if let Some((tag, Use::Keep)) = note.tag {
            self.push(&I::LocalTee(self.tags + tag));
        }
        self.push(&I::I32Const(tags::allows(kind.size, kind.store).into()));
        self.push(&I::I32And);
        self.push(&I::I32Eqz);
        if offset >= FIRST_PUBLISHED {
            // The sum has wrapped around: out of bounds. With a smaller offset it would be below the first line
            // that is ever published.
            self.push(&I::LocalGet(self.address));
            self.push(&I::I32Const(offset as i32));
            self.push(&I::I32LtU);
            self.push(&I::I32Or);
        }
    }
}

impl Layout {
    /// The counting, as the host functions want it: instructions executed, or the countdown of work.
    pub(super) fn push_count(&self, function: &mut Function) {
        match self.build {
            Build::Reference => {
                function.instruction(&I::GlobalGet(self.counter));
            }
            Build::Fast => stored_countdown(function),
        }
    }
}
