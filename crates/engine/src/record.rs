//! Records as people read them.

use crate::engine::Engine;
use crate::layout::{Cell, Shape};
use crate::mechanisms::Object;
use trivium_lang::protocol::{RoleId, Type, VarId};

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
}

impl Engine {
    /// The value of a variable.
    pub fn read_var(&self, role: RoleId, record: &[u8], var: VarId) -> Value {
        let fields = |cells: &[Cell], base: usize| cells.iter().map(|cell| cell.read(record, base)).collect();
        match &self.roles[role.index()].vars[var.index()] {
            Shape::Scalar(cell) => Value::Scalar(cell.read(record, 0)),
            Shape::Set(set) => Value::Set(set.read(record, 0).iter().map(|bit| bit + set.lo).collect()),
            Shape::List(list) => {
                Value::List((0..list.len(record)).map(|i| fields(&list.fields, list.element_at(i))).collect())
            }
            Shape::Record(cells) => Value::Record(fields(cells, 0)),
        }
    }

    /// A record in one line: `Lent owner=2 sharers={0,1} deferred=[GetRead from 3]`. Variables that have their
    /// first value, and those that an `await` keeps, are left out.
    pub fn describe(&self, role: RoleId, record: &[u8]) -> String {
        let declared = &self.protocol.roles[role.index()];
        let mut text = declared.states[self.state(role, record).index()].name.clone();
        for (i, var) in declared.vars.iter().enumerate() {
            let (at, bytes) = self.roles[role.index()].vars[i].extent();
            let untouched = record[at as usize..(at + bytes) as usize].iter().all(|&byte| byte == 0);
            if !untouched && !var.name.starts_with('$') {
                let value = self.read_var(role, record, VarId(i as u16));
                text += &format!(" {}={}", var.name, self.value_text(&var.ty, &value));
            }
        }
        let deferred = self.deferred(role, Object { kind: declared.object, id: 0 }, record);
        if !deferred.is_empty() {
            let events: Vec<String> = deferred.iter().map(|event| self.event_text(event)).collect();
            text += &format!(" deferred=[{}]", events.join(", "));
        }
        text
    }

    fn value_text(&self, ty: &Type, value: &Value) -> String {
        let numbers = |values: &[i64]| values.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
        match value {
            Value::Scalar(value) => scalar_text(ty, *value),
            Value::Set(elements) => format!("{{{}}}", numbers(elements)),
            Value::List(elements) => {
                let of = match ty {
                    Type::List { of, .. } => of,
                    other => other,
                };
                let each = elements.iter().map(|fields| self.fields_text(of, fields));
                format!("[{}]", each.collect::<Vec<_>>().join(", "))
            }
            Value::Record(fields) => self.fields_text(ty, fields),
        }
    }

    fn fields_text(&self, ty: &Type, fields: &[i64]) -> String {
        match ty {
            Type::Record(record) => {
                let names = self.protocol.records[record.index()].fields.iter();
                let each = names.zip(fields).map(|(f, v)| format!("{}={}", f.name, scalar_text(&f.ty, *v)));
                format!("({})", each.collect::<Vec<_>>().join(" "))
            }
            scalar => fields.iter().map(|v| scalar_text(scalar, *v)).collect::<Vec<_>>().join(" "),
        }
    }
}

fn scalar_text(ty: &Type, value: i64) -> String {
    match ty {
        Type::Bool => (value != 0).to_string(),
        Type::Node { .. } | Type::Thread if value == -1 => "none".into(),
        Type::Address => format!("{value:#x}"),
        Type::Word => (value as u64).to_string(),
        _ => value.to_string(),
    }
}
