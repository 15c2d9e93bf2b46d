//! Parallel variables: they get memory when their file or their block begins, and their first values in a loop.

use super::Loops;
use super::flow::{Accesses, MEMORY, REUSE, WRITE};
use super::parallel::{Ahead, Noted, object, positions};
use crate::draft::{Draft, FileVariable, Linkage};
use crate::tree::{LocalVariable, Statement};
use crate::types::ParallelShape;
use std::collections::HashSet;

/// What stands at the end of a file: its shapes are laid out, then its parallel variables get memory.
pub(crate) fn end(draft: &mut Draft) {
    if draft.shapes.is_empty() && draft.parallel.is_empty() {
        return;
    }
    let (told, held) = held_against_other_files(draft);
    let mut text = String::from(
        "\n# 1 \"<c-star>\"\n__attribute__((constructor(201))) static void cstar_shapes_of_file(void) {\n",
    );
    for shape in draft.shapes.iter().filter(|shape| !shape.is_elsewhere) {
        let (below, across) = shape.blocks;
        text.push_str(&format!("    cstar_lay_out(&{}, {below}, {across});\n", shape.object));
    }
    text.push_str(&format!("}}\n{told}"));
    text.push_str("__attribute__((constructor(202))) static void cstar_variables_of_file(void) {\n");
    for shape in draft.shapes.iter().filter(|shape| shape.is_elsewhere) {
        text.push_str(&format!("    cstar_is_same(&{});\n", shape.object));
    }
    text.push_str(&held);
    for variable in draft.parallel.iter().filter(|variable| variable.linkage != Linkage::Elsewhere) {
        text.push_str(&format!("    {}\n", allocated(variable)));
    }
    if draft.parallel.iter().any(|variable| variable.initial.is_some()) {
        text.push_str("    cstar_barrier(\"variables begin with values\");\n");
    }
    text.push_str("}\n");
    let last = draft.lexed.tokens.len() - 1;
    draft.edits.before(last, &text);
}

/// What shapes and types variables have that several files name: where they are defined, for other files; and how this one holds its own declarations against that.
pub(crate) fn held_against_other_files(draft: &Draft) -> (String, String) {
    let (mut told, mut held, mut names) = (String::new(), String::new(), HashSet::new());
    for FileVariable { name, linkage, shape, dimensions, .. } in &draft.parallel {
        let (object, first) = (object(&shape.name), first_of(name, *dimensions));
        match linkage {
            Linkage::Defined if names.insert(name) => told.push_str(&format!(
                "const struct cstar_variable cstar_variable_{name} = {{&{object}, sizeof *{first}}};\n"
            )),
            Linkage::Elsewhere => {
                told.push_str(&format!(
                    "extern const struct cstar_variable cstar_variable_{name} __attribute__((weak));\n"
                ));
                held.push_str(&format!(
                    "    cstar_is_variable(&cstar_variable_{name}, &{object}, sizeof *{first}, \"{name}\");\n"
                ));
            }
            _ => {}
        }
    }
    (told, held)
}

/// A pointer to a variable of an array of them, as C names it: the first one.
fn first_of(name: &str, dimensions: usize) -> String {
    format!("{name}{}", "[0]".repeat(dimensions))
}

fn allocated(variable: &FileVariable) -> String {
    let (name, shape) = (&variable.name, object(&variable.shape.name));
    let first = first_of(name, variable.dimensions);
    if variable.dimensions > 0 {
        return format!(
            "for (size_t i = 0; i < sizeof {name} / sizeof {first}; i++) ((void **){name})[i] = cstar_allocate(&{shape}, sizeof *{first}, \"{name}\");"
        );
    }
    let mut text = format!("{name} = cstar_allocate(&{shape}, sizeof *{name}, \"{name}\");");
    if let Some(initial) = &variable.initial {
        // A constant, as all of C's variables at file scope begin with.
        text.push_str(&format!(
            " {{ static const __typeof__(*{name}) initial = {initial}; {}((__typeof_unqual__(*{name}) *){name})[cstar_vp] = initial; }}",
            positions(&variable.shape, &Noted::default())
        ));
    }
    text
}

impl Loops<'_, '_> {
    /// A declaration in a block, which gives the memory back at its end.
    pub(super) fn locals(&mut self, statement: &Statement, locals: &[LocalVariable]) {
        let mark = self.temporary();
        // They begin with zeros, which each node writes.
        let mut accesses = Accesses::default();
        accesses.add(MEMORY, REUSE);
        locals.iter().for_each(|local| accesses.add(&self.word(local.name), WRITE));
        let place = self.point(accesses);
        self.draft.edits.before(statement.first, &format!("{place}{}", marked(&mark)));
        for local in locals {
            let name = self.word(local.name);
            self.locals.insert(name.clone());
            let (shape, first) = (object(&local.shape.name), first_of(&name, local.dimensions));
            if local.dimensions > 0 {
                let text = format!(
                    "; cstar_locals(&{shape}, sizeof *{first}, (void **){name}, sizeof {name} / sizeof {first}, \"{name}\")"
                );
                self.draft.edits.after(local.last, &text);
                continue;
            }
            let Some((equals, number)) = local.initial else {
                self.draft.edits.after(local.last, &format!(" = {}", memory(&local.shape, &name, false)));
                continue;
            };
            let whole = self.main(number);
            self.begin(&whole.expression);
            let before = self.current.replace(local.shape.clone());
            let mut ahead = Ahead::default();
            let noted = self.noted(|loops| loops.inside(&whole.expression, &mut ahead));
            let (ahead, over) = (self.done(ahead), self.loop_over(&local.shape, noted));
            self.current = before;
            let begin = format!(
                " = {}; {{ {ahead}{over}((__typeof_unqual__(*{name}) *){name})[cstar_vp] =",
                memory(&local.shape, &name, true)
            );
            self.draft.edits.instead(equals, &begin);
            self.draft.edits.after(whole.expression.last, "; }");
        }
    }
}

/// A variable that gives back all memory of parallel variables that is taken while it lasts.
pub(super) fn marked(name: &str) -> String {
    format!("int {name} __attribute__((cleanup(cstar_unwind))) = cstar_mark(); ")
}

/// Memory for a parallel variable of a pointer's name. `is_filled`: all active positions are written next.
pub(super) fn memory(shape: &ParallelShape, name: &str, is_filled: bool) -> String {
    format!("cstar_local(&{}, sizeof *{name}, {}, \"{name}\")", object(&shape.name), u8::from(is_filled))
}
