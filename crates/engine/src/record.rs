//! Records, and the values in them and in events, as people read them.

use crate::engine::Engine;
use crate::event::Event;
use crate::layout::{Cell, Shape};
use crate::mechanisms::{Args, Object};
use crate::set::Set;
use std::collections::BTreeMap;
use trivium_protocol::{EventKind, Named, OpId, RoleId, Type, VarId};

/// So many elements of an array are written one after the other, even if they are all the same.
const MOST_IN_FULL: usize = 4;

/// The value of a variable, for reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A scalar; truth values 0 and 1, `none` -1.
    Scalar(i64),
    /// The elements of a set in ascending order.
    Set(Vec<i64>),
    /// The elements of a list, one number for each field.
    List(Vec<Vec<i64>>),
    /// The fields of a record.
    Record(Vec<i64>),
    /// What the first element of an array is called, and its elements, one number for each field.
    Array(i64, Vec<Vec<i64>>),
}

impl Engine {
    /// The value of a variable.
    pub fn read_var(&self, role: RoleId, record: &[u8], var: VarId) -> Value {
        let fields = |cells: &[Cell], base: usize| cells.iter().map(|cell| cell.read(record, base)).collect();
        match &self.roles[role.index()].vars[var.index()] {
            Shape::Scalar(cell) => Value::Scalar(cell.read(record, 0)),
            Shape::Set(set) => Value::Set(set.read(record, 0).iter(false).map(|bit| bit + set.lo).collect()),
            Shape::List(list) => {
                Value::List((0..list.len(record)).map(|i| fields(&list.fields, list.element_at(i))).collect())
            }
            Shape::Record(cells) => Value::Record(fields(cells, 0)),
            Shape::Array(array) => {
                Value::Array(array.lo, (0..array.count).map(|i| fields(&array.fields, array.element_at(i))).collect())
            }
        }
    }

    /// Whether a variable is a set without elements.
    pub fn is_empty_set(&self, role: RoleId, record: &[u8], var: VarId) -> bool {
        matches!(&self.roles[role.index()].vars[var.index()], Shape::Set(set) if set.read(record, 0).count(false) == 0)
    }

    /// A record in one line: `Lent owner=2 sharers={0,1} deferred=[GetRead from 3]`. Variables that have their
    /// first value, and those that an `await` keeps, are left out.
    pub fn describe(&self, role: RoleId, record: &[u8]) -> String {
        self.description(role, record, false)
    }

    /// The same with all variables, those included that have their first values.
    pub fn describe_whole(&self, role: RoleId, record: &[u8]) -> String {
        self.description(role, record, true)
    }

    fn description(&self, role: RoleId, record: &[u8], whole: bool) -> String {
        let declared = &self.protocol.roles[role.index()];
        let mut text = declared.states[self.state(role, record).index()].name.clone();
        for (i, var) in declared.vars.iter().enumerate() {
            let (at, bytes) = self.roles[role.index()].vars[i].extent();
            let untouched = record[at as usize..(at + bytes) as usize].iter().all(|&byte| byte == 0);
            if (whole || !untouched) && !var.name.starts_with('$') {
                text += &format!(" {}={}", var.name, self.var_text(role, record, VarId::at(i)));
            }
        }
        let deferred = self.deferred(role, Object { kind: declared.object, id: 0 }, record);
        if !deferred.is_empty() {
            let events: Vec<String> = deferred.iter().map(|event| self.event_text(event)).collect();
            text += &format!(" deferred=[{}]", events.join(", "));
        }
        text
    }

    /// An event with its arguments, each as its type is read: `Give(none, {2})`, `read`.
    pub fn call_text(&self, event: EventKind, args: &Args) -> String {
        let known = match event {
            EventKind::Message(m) => m.index() < self.protocol.messages.len(),
            EventKind::Op(o) => o.index() < self.protocol.ops.len(),
            EventKind::Task(t) => t.index() < self.protocol.tasks.len(),
            _ => true,
        };
        if !known {
            return "unknown event".into();
        }
        let name = self.protocol.event_name(event);
        if args.words().is_empty() { name } else { format!("{name}({})", self.args_text(event, args).join(", ")) }
    }

    /// The same with who sent it, if it is a message: `GetRead from 2`.
    pub fn event_text(&self, event: &Event) -> String {
        let text = self.call_text(event.kind, &event.args);
        match event.kind {
            EventKind::Message(_) => format!("{text} from {}", event.sender),
            _ => text,
        }
    }

    /// What a call returns; none if it returns nothing.
    pub fn result_text(&self, op: OpId, value: i64) -> Option<String> {
        let declared = self.protocol.ops.get(op.index())?;
        declared.result.as_ref().map(|ty| self.scalar_text(ty, value))
    }

    /// A variable's value as [`Engine::describe`] writes it.
    pub fn var_text(&self, role: RoleId, record: &[u8], var: VarId) -> String {
        let ty = &self.protocol.roles[role.index()].vars[var.index()].ty;
        self.value_text(ty, &self.read_var(role, record, var))
    }

    /// A scalar as its type is read: truth values and nodes by their names, addresses in hexadecimal, objects with
    /// their kind.
    pub fn scalar_text(&self, ty: &Type, value: i64) -> String {
        match ty {
            Type::Bool => (value != 0).to_string(),
            Type::Node { .. } | Type::ObjectOrNone(_) | Type::OrNone(_) | Type::Thread if value == ty.none() => {
                "none".into()
            }
            Type::OrNone(of) => self.scalar_text(of, value),
            Type::Address => format!("{value:#x}"),
            Type::Word => value.cast_unsigned().to_string(),
            Type::Object(kind) | Type::ObjectOrNone(kind) => match self.protocol.objects.get(kind.index()) {
                Some(name) => format!("{name} {value}"),
                None => value.to_string(),
            },
            _ => value.to_string(),
        }
    }

    /// Arguments, one text each. Those that do not fit what was declared, which is a fault, are left out.
    fn args_text(&self, event: EventKind, args: &Args) -> Vec<String> {
        let declared: &[Named] = match event {
            EventKind::Message(m) => &self.protocol.messages[m.index()].args,
            EventKind::Op(o) => &self.protocol.ops[o.index()].args,
            EventKind::Task(t) => &self.protocol.tasks[t.index()].args,
            _ => &[],
        };
        let mut words = args.words();
        let mut texts = Vec::new();
        for (named, shape) in declared.iter().zip(self.args.of(event)) {
            let Some((mine, rest)) = shape.split(words) else { break };
            words = rest;
            texts.push(match shape {
                Shape::Set(set) => set_text(Set::of_words(mine).iter(false).map(|bit| bit + set.lo)),
                Shape::Array(array) => {
                    let values: Vec<i64> = array.values_of_words(&Set::of_words(mine)).collect();
                    self.array_text(&named.ty, &values)
                }
                Shape::List(list) => {
                    let values: Vec<i64> = list.values_of_words(&Set::of_words(mine)).collect();
                    self.array_text(&named.ty, &values)
                }
                _ => self.scalar_text(&named.ty, mine[0]),
            });
        }
        texts
    }

    pub(crate) fn value_text(&self, ty: &Type, value: &Value) -> String {
        match value {
            Value::Scalar(value) => self.scalar_text(ty, *value),
            Value::Set(elements) => set_text(elements.iter().copied()),
            Value::List(elements) => format!("[{}]", self.elements_text(ty, elements).join(", ")),
            Value::Record(fields) => self.fields_text(ty, fields),
            Value::Array(_, elements) => self.array_of(ty, &self.elements_text(ty, elements)),
        }
    }

    /// An array or a list by all its numbers.
    pub(crate) fn array_text(&self, ty: &Type, values: &[i64]) -> String {
        let width = match ty {
            Type::Array { of, .. } | Type::List { of, .. } => self.protocol.numbers_of(of).max(1),
            _ => 1,
        };
        let elements: Vec<Vec<i64>> = values.chunks(width).map(<[i64]>::to_vec).collect();
        let texts = self.elements_text(ty, &elements);
        match ty {
            Type::Array { .. } => self.array_of(ty, &texts),
            _ => format!("[{}]", texts.join(", ")),
        }
    }

    /// An array by the texts of its elements: where it is long and most are the same, only the others by themselves, `[3 at node 1, else 8]`.
    fn array_of(&self, ty: &Type, elements: &[String]) -> String {
        let whole = || format!("[{}]", elements.join(", "));
        if elements.len() <= MOST_IN_FULL {
            return whole();
        }
        let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
        elements.iter().for_each(|text| *counts.entry(text).or_default() += 1);
        let Some((most, _)) = counts.into_iter().max_by_key(|&(_, count)| count) else { return whole() };
        let (first, what) = match ty {
            Type::Array { by, .. } => match &**by {
                Type::Int { lo, .. } => (lo.at(self.nodes), ""),
                _ => (0, "node "),
            },
            _ => return whole(),
        };
        let others = (first..).zip(elements).filter(|(_, text)| *text != most);
        let others: Vec<String> = others.map(|(at, text)| format!("{text} at {what}{at}")).collect();
        match others.len() {
            0 => format!("[{most} for all]"),
            few if few <= elements.len() / 4 => format!("[{}, else {most}]", others.join(", ")),
            _ => whole(),
        }
    }

    /// The elements of a list or array, one text each.
    pub fn elements_text(&self, ty: &Type, elements: &[Vec<i64>]) -> Vec<String> {
        let of = match ty {
            Type::List { of, .. } | Type::Array { of, .. } => of,
            other => other,
        };
        elements.iter().map(|fields| self.fields_text(of, fields)).collect()
    }

    fn fields_text(&self, ty: &Type, fields: &[i64]) -> String {
        match ty {
            Type::Record(record) => {
                let names = self.protocol.records[record.index()].fields.iter();
                let each = names.zip(fields).map(|(f, v)| format!("{}={}", f.name, self.scalar_text(&f.ty, *v)));
                format!("({})", each.collect::<Vec<_>>().join(" "))
            }
            set @ (Type::NodeSet | Type::IntSet { .. }) => {
                let (lo, _) = self.set_range(set);
                let set = Set::of_words(fields);
                set_text(set.iter(false).map(|bit| bit + lo))
            }
            scalar => fields.iter().map(|v| self.scalar_text(scalar, *v)).collect::<Vec<_>>().join(" "),
        }
    }
}

/// A set by its elements, in ascending order.
pub(crate) fn set_text(elements: impl Iterator<Item = i64>) -> String {
    let elements: Vec<String> = elements.map(|element| element.to_string()).collect();
    format!("{{{}}}", elements.join(","))
}
