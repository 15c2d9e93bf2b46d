//! Static variables to which a program adds, and which it reads elsewhere: a counter that is meant to be one for all nodes is one on each.
//!
//! Whether that is meant, the code does not tell. But where one node reads what it has counted, and another has counted and never reads it, what that
//! one has counted is lost. So compiled code notes, for each of these variables, whether it has been read (`docs/programs.md`). In Split-C statics are
//! known to be a node's own.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use wasmparser::{DataKind, FuncValidatorAllocations, Operator};

use crate::inspect::Inspected;
use crate::memory::HOST_PAGE;
use crate::rewrite::{CounterReads, access_of};

/// In the host's page, behind what compiled code keeps there: a byte for each counter, 1 if it has been read.
const READS: u32 = HOST_PAGE + 0x4000;
/// No program has so many counters; what is more is not looked at.
const MOST: usize = 0x4000;

/// A static variable to which the program adds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StaticCounter {
    /// Where it lies.
    pub place: Range<u32>,
    /// What it holds at first.
    pub initial: Vec<u8>,
    /// Where the code is that adds to it, in the module.
    pub adds: usize,
    /// Where it is read and nothing is added, in the module.
    reads: BTreeSet<usize>,
}

/// What a node has done with a counter, by its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct CounterUse {
    /// It is not as it was at first.
    pub changed: bool,
    /// It was read, other than to be added to.
    pub read: bool,
}

/// The counters of a program, by address.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counters(Vec<StaticCounter>);

/// What is known of a value: the constant that it is, and the addresses that it was made from, each with the place of its load.
#[derive(Clone, Default)]
struct Followed {
    constant: Option<u32>,
    loads: BTreeSet<(u32, usize)>,
}

/// What a function does with constant addresses.
#[derive(Default)]
struct Uses {
    /// Loads: by address, with how many bytes.
    loads: BTreeMap<u32, BTreeMap<usize, u32>>,
    /// Stores of what was made of a load from the same address: the bytes, where, and the loads.
    adds: BTreeMap<u32, (u32, usize, BTreeSet<usize>)>,
    /// Constants that are used otherwise: they may be addresses, through which anybody loads.
    others: BTreeSet<u32>,
}

impl Counters {
    /// Those of a module that shares memory. None if it is not valid, or was translated from a language in which statics are known to be a node's own.
    pub fn of(module: &Inspected<'_>) -> Counters {
        let shares = module.imports.iter().any(|import| import.module == "trivium" && import.name == "alloc");
        if !shares
            || module.function_names.values().any(|name| name.starts_with("splitc_") || name.starts_with("cstar_"))
        {
            return Counters::default();
        }
        let mut uses = Uses::default();
        for (number, body) in module.code.clone().into_iter().flatten().enumerate() {
            if body.is_ok_and(|body| uses.function(module, number, &body).is_none()) {
                return Counters::default();
            }
        }
        let Uses { loads, adds, others } = uses;
        let counters = adds.into_iter().filter_map(|(address, (bytes, at, own))| {
            let place = address..address.checked_add(bytes)?;
            let reads = loads.range(..place.end).rev().take_while(|(other, _)| **other + 8 > address).flat_map(
                |(other, sites)| {
                    sites.iter().filter(move |(_, bytes)| other + **bytes > address).map(|(site, _)| *site)
                },
            );
            let reads: BTreeSet<usize> = reads.filter(|site| !own.contains(site)).collect();
            let is_pointed_to = others.range(place.clone()).next().is_some();
            (!reads.is_empty() && !is_pointed_to).then(|| StaticCounter {
                initial: initial(module, &place),
                place,
                adds: at,
                reads,
            })
        });
        Counters(counters.take(MOST).collect())
    }

    /// The operators that read a counter, by their places in the module, each with the address of the byte in which compiled code notes it.
    pub fn reads(&self) -> CounterReads {
        let of = |(counter, note): (&StaticCounter, u32)| {
            counter.reads.iter().map(move |site| (*site, note)).collect::<Vec<_>>()
        };
        self.0.iter().zip(READS..).flat_map(of).collect()
    }

    /// What a node has done with each, as its memory shows.
    pub fn uses(&self, memory: &crate::memory::Memory) -> Vec<CounterUse> {
        let of = |(note, counter): (u32, &StaticCounter)| {
            let (mut read, mut now) = ([0], counter.initial.clone());
            let known = memory.read(note, &mut read).and_then(|()| memory.read(counter.place.start, &mut now));
            CounterUse { changed: known.is_ok() && now != counter.initial, read: read[0] != 0 }
        };
        (READS..).zip(&self.0).map(of).collect()
    }

    /// The counters that some node has changed and never read, and another has read: each with one such node, and one that has read it.
    pub fn lost<'a>(&'a self, nodes: &'a [Vec<CounterUse>]) -> impl Iterator<Item = (&'a StaticCounter, usize, usize)> {
        self.0.iter().enumerate().filter_map(|(number, counter)| {
            let of = |is: fn(&CounterUse) -> bool| nodes.iter().position(|uses| uses.get(number).is_some_and(is));
            Some((counter, of(|used| used.changed && !used.read)?, of(|used| used.read)?))
        })
    }
}

impl Uses {
    /// Follows the operand stack of a function as if control never branched: what is taken for a read is one, and of what is added something may be missed.
    fn function(&mut self, module: &Inspected<'_>, number: usize, body: &wasmparser::FunctionBody<'_>) -> Option<()> {
        let mut validator = module.to_validate(number).into_validator(FuncValidatorAllocations::default());
        let mut reader = body.get_binary_reader();
        validator.read_locals(&mut reader).ok()?;
        let mut stack: Vec<Followed> = Vec::new();
        // Those that are no parameters are 0 at first.
        let params = module.params_of(number)?;
        let zero = Followed { constant: Some(0), ..Followed::default() };
        let mut locals: BTreeMap<u32, Followed> =
            (params..validator.len_locals()).map(|local| (local, zero.clone())).collect();
        for operator in body.get_operators_reader().ok()?.into_iter_with_offsets() {
            let (operator, at) = operator.ok()?;
            let (takes, gives) = operator.operator_arity(&validator).unwrap_or((0, 0));
            let first = stack.len().saturating_sub(takes as usize);
            let taken = stack.split_off(first);
            let mut made = Followed::default();
            if let Some((bytes, store, memarg)) = access_of(&operator) {
                let address = taken
                    .first()
                    .and_then(|base| base.constant)
                    .and_then(|base| base.checked_add(u32::try_from(memarg.offset).ok()?));
                let value = taken.get(1);
                match (address, store) {
                    (Some(address), false) => {
                        made.loads.insert((address, at));
                        self.loads.entry(address).or_default().insert(at, bytes);
                    }
                    (Some(address), true) => {
                        let from: BTreeSet<usize> = value
                            .into_iter()
                            .flat_map(|value| &value.loads)
                            .filter(|load| load.0 == address)
                            .map(|load| load.1)
                            .collect();
                        if !from.is_empty() {
                            self.adds.entry(address).or_insert((bytes, at, BTreeSet::new())).2.extend(from);
                        }
                    }
                    // A constant behind another base is one of an array.
                    (None, _) => drop(u32::try_from(memarg.offset).map(|offset| self.others.insert(offset))),
                }
                self.others.extend(value.and_then(|value| value.constant));
            } else {
                match operator {
                    Operator::I32Const { value } => made.constant = Some(value.cast_unsigned()),
                    Operator::LocalGet { local_index } => made = locals.get(&local_index).cloned().unwrap_or_default(),
                    Operator::LocalSet { local_index } | Operator::LocalTee { local_index } => {
                        made = taken.first().cloned().unwrap_or_default();
                        // Compilers put the offset of a variable beside a base of 0: another constant may be the address of one.
                        self.others.extend(made.constant.filter(|constant| *constant > 0));
                        locals.insert(local_index, made.clone());
                    }
                    _ => {
                        self.others.extend(taken.iter().filter_map(|value| value.constant));
                        made.loads.extend(taken.iter().flat_map(|value| &value.loads).copied());
                    }
                }
            }
            stack.extend((0..gives).map(|_| made.clone()));
            validator.op(at, &operator).ok()?;
            // Behind a branch there is what the block had.
            stack.resize(validator.operand_stack_height() as usize, Followed::default());
        }
        Some(())
    }
}

/// What a place holds when a program begins.
fn initial(module: &Inspected<'_>, place: &Range<u32>) -> Vec<u8> {
    let mut bytes = vec![0; place.len()];
    for data in module.data.clone().into_iter().flatten().flatten() {
        let DataKind::Active { offset_expr, .. } = data.kind else { continue };
        let Ok(Operator::I32Const { value }) = offset_expr.get_operators_reader().read() else { continue };
        for (at, byte) in (value.cast_unsigned()..).zip(data.data) {
            if place.contains(&at) {
                bytes[(at - place.start) as usize] = *byte;
            }
        }
    }
    bytes
}
