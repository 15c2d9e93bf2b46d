//! In which ways the most general client makes a call: every object with every combination of arguments, but for those from which an assumption keeps every
//! node, whatever the state is.

use crate::config::{System, refused};
use crate::system::client::Intent;
use crate::system::layout::BLOCK_BYTES;
use crate::system::world::node;
use trivium_diagnostic::Diagnostic;
use trivium_engine::number::fit;
use trivium_engine::{Args, Engine, Object};
use trivium_protocol::{BLOCK, Condition, EventKind, ObjectKindId, Op, OpId, Protocol, Type};

/// More calls than this are a mistake in the declared ranges rather than something to explore.
const MOST_INTENTS: usize = 4096;

/// So many combinations of arguments are held against the assumptions.
const MOST_COMBINATIONS: usize = 1 << 20;

/// The arguments of a call from what is passed.
///
/// # Errors
/// A parameter cannot take it.
pub(crate) fn words_passed(engine: &Engine, op: OpId, passed: &[i64]) -> Result<Args, Diagnostic> {
    let words = engine.words_passed(op, passed).map_err(|what| {
        let name = &engine.protocol().ops[op.index()].name;
        refused(format!("`{name}`: {what}"), "check it with other parameters, or with more nodes")
    })?;
    Ok(Args::of(&words))
}

/// Adds every call of an operation: each object with each combination of arguments, of which idle ones have one value.
///
/// # Errors
/// There are too many, or there is one that cannot be made up.
pub(crate) fn calls(
    engine: &Engine,
    op: OpId,
    idle: &[bool],
    system: &System,
    objects: &[u32],
    addresses: &[i64],
    intents: &mut Vec<Intent>,
) -> Result<(), Diagnostic> {
    let protocol = engine.protocol();
    let declared = &protocol.ops[op.index()];
    // Once one has looked at a state, a later one is not reached where that one is broken.
    let about = |condition: &&Condition| condition.event == EventKind::Op(op);
    let of_call: Vec<&Condition> =
        protocol.conditions.iter().filter(about).take_while(|condition| condition.is_of_call()).collect();
    for id in 0..objects[declared.object.index()] {
        let object = Object { kind: declared.object, id };
        // A call about a block is about the word of it that is looked at.
        let word = [i64::from(id) * BLOCK_BYTES.cast_signed()];
        let addresses = if declared.object == BLOCK { &word } else { addresses };
        let most = if of_call.is_empty() { MOST_INTENTS } else { MOST_COMBINATIONS };
        for passed in combinations(declared, idle, Domains { protocol, system, objects, addresses }, most)? {
            let args = words_passed(engine, op, &passed)?;
            let is_kept =
                |condition: &&Condition, me| engine.evaluate_of_call(condition, me, object, args.words()) != Ok(false);
            if (0..system.nodes).any(|me| of_call.iter().all(|condition| is_kept(condition, node(me)))) {
                intents.push(Intent::Call { op, object, args });
            }
        }
        if intents.len() > MOST_INTENTS {
            return Err(too_many(declared));
        }
    }
    Ok(())
}

/// Why no address is passed to a call that is not about a block.
const NO_MEMORY: &str =
    "no handler writes words of memory and no message carries them, so that no memory is explored beside the blocks";

/// The arguments of calls about other objects than blocks that may be an address or `none`.
pub(crate) fn addresses_or_none(protocol: &Protocol) -> Vec<(OpId, String)> {
    let about_others = (0..).map(OpId).zip(&protocol.ops).filter(|(_, op)| op.object != BLOCK);
    let of = |(id, op): (OpId, &Op)| {
        let optional = op.args.iter().find(|arg| arg.ty.given() == Some(&Type::Address))?;
        Some((id, format!("only `none` is passed for its argument `{}`, since {NO_MEMORY}", optional.name)))
    };
    about_others.filter_map(of).collect()
}

/// Why a call cannot be made in any way.
pub(crate) fn what_is_missing(
    protocol: &Protocol,
    op: OpId,
    system: &System,
    objects: &[u32],
    addresses: &[i64],
) -> String {
    let declared = &protocol.ops[op.index()];
    let nothing = |kind: ObjectKindId| {
        format!("there are no objects of the kind `{}`: no role is about them", protocol.objects[kind.index()])
    };
    if objects[declared.object.index()] == 0 {
        return nothing(declared.object);
    }
    let values = Domains { protocol, system, objects, addresses };
    let empty = |ty: &Type| values.of(ty, false).is_some_and(|values| values.is_empty());
    let Some(arg) = declared.args.iter().find(|arg| empty(&arg.ty)) else {
        return "an assumption keeps every node from it".into();
    };
    let why = match &arg.ty {
        Type::Object(kind) => nothing(*kind),
        Type::Address => NO_MEMORY.into(),
        ty => format!("{} is empty with {} nodes", protocol.type_name(ty), system.nodes),
    };
    format!("its argument `{}` has no value, since {why}", arg.name)
}

fn too_many(op: &Op) -> Diagnostic {
    refused(
        format!("`{}` can be called in more than {MOST_INTENTS} ways", op.name),
        "narrow the types of its arguments, or check a scenario",
    )
}

/// Every combination of what can be passed to a call.
fn combinations(op: &Op, idle: &[bool], domains: Domains, most: usize) -> Result<Vec<Vec<i64>>, Diagnostic> {
    let mut combinations = vec![Vec::new()];
    for (i, arg) in op.args.iter().enumerate() {
        let values = domains.of(&arg.ty, idle.get(i) == Some(&true)).ok_or_else(|| {
            refused(
                format!("the client cannot invent a value for argument `{}` of `{}`", arg.name, op.name),
                "check a scenario, which says what to pass",
            )
        })?;
        if combinations.len().saturating_mul(values.len()) > most {
            return Err(too_many(op));
        }
        combinations = each_with_each(&combinations, &values);
    }
    Ok(combinations)
}

fn each_with_each(heads: &[Vec<i64>], tails: &[Vec<i64>]) -> Vec<Vec<i64>> {
    heads.iter().flat_map(|head| tails.iter().map(move |tail| [head.as_slice(), tail].concat())).collect()
}

/// What the client passes for a parameter.
#[derive(Clone, Copy)]
struct Domains<'m> {
    protocol: &'m Protocol,
    system: &'m System,
    objects: &'m [u32],
    addresses: &'m [i64],
}

impl Domains<'_> {
    /// All values of a type as what is passed, if the client can enumerate them; of an idle one the first, of an idle list the first for each length. More
    /// than [`MOST_INTENTS`] are not all there.
    fn of(&self, ty: &Type, idle: bool) -> Option<Vec<Vec<i64>>> {
        let mut values = match ty {
            Type::List { of, up_to, .. } => return self.lists(of, up_to.at(self.system.nodes), idle),
            Type::Array { of, .. } => {
                let count = self.protocol.passed_for(ty) / self.protocol.numbers_of(of).max(1);
                self.elements(of)?.repeated(count)
            }
            scalar => self.scalars(scalar)?,
        };
        if idle {
            values.truncate(1);
        }
        Some(values)
    }

    fn lists(&self, of: &Type, most: i64, idle: bool) -> Option<Vec<Vec<i64>>> {
        let most = usize::try_from(most).ok()?;
        let numbers = self.protocol.numbers_of(of);
        let mut element = self.elements(of)?;
        if idle {
            element.0.truncate(1);
        }
        let mut lists = Vec::new();
        for length in 0..=most {
            for mut list in element.repeated(length) {
                list.resize(most * numbers, 0);
                list.insert(0, fit(length, "the length of a list: it is at most 65,535"));
                lists.push(list);
            }
            if lists.len() > MOST_INTENTS {
                break;
            }
        }
        Some(lists)
    }

    fn elements(&self, of: &Type) -> Option<Elements> {
        let Type::Record(record) = of else { return self.scalars(of).map(Elements) };
        let mut values = vec![Vec::new()];
        for field in &self.protocol.records[record.index()].fields {
            values = each_with_each(&values, &self.scalars(&field.ty)?);
            values.truncate(MOST_INTENTS + 1);
        }
        Some(Elements(values))
    }

    fn scalars(&self, ty: &Type) -> Option<Vec<Vec<i64>>> {
        let single = |values: std::ops::Range<i64>| Some(values.map(|v| vec![v]).collect());
        let Domains { system, objects, addresses, .. } = *self;
        let nodes = i64::from(system.nodes);
        match ty {
            Type::Bool => single(0..2),
            Type::Int { lo, hi } => {
                let (lo, hi) = (lo.at(system.nodes), hi.at(system.nodes));
                if hi.saturating_sub(lo) >= MOST_INTENTS.cast_signed() as i64 {
                    None
                } else {
                    Some((lo..=hi).map(|v| vec![v]).collect())
                }
            }
            Type::Node { optional } => single(if *optional { -1 } else { 0 }..nodes),
            Type::Address => Some(addresses.iter().map(|&address| vec![address]).collect()),
            Type::Word => single(0..i64::from(system.values)),
            Type::Object(kind) => single(0..i64::from(objects[kind.index()])),
            Type::ObjectOrNone(kind) => single(-1..i64::from(objects[kind.index()])),
            Type::OrNone(of) => {
                let mut values = vec![vec![ty.none()]];
                values.extend(self.scalars(of)?);
                Some(values)
            }
            Type::NodeSet | Type::IntSet { .. } | Type::Thread => None,
            Type::List { .. } | Type::Record(_) | Type::Array { .. } => None,
        }
    }
}

/// The values of an element of a list or an array, each as its numbers.
struct Elements(Vec<Vec<i64>>);

impl Elements {
    /// So many elements, each with each value; of more than [`MOST_INTENTS`] only some.
    fn repeated(&self, count: usize) -> Vec<Vec<i64>> {
        let mut all = vec![Vec::new()];
        for _ in 0..count {
            all = each_with_each(&all, &self.0);
            all.truncate(MOST_INTENTS + 1);
        }
        all
    }
}
