//! Parallel variables: arrays of all positions of their shapes, which begin with zeros.

use super::expressions::Changed;
use super::{Meant, each, object};
use crate::dialect::c_star::held_against_other_files;
use crate::draft::{Draft, FileVariable, Linkage};
use crate::tree::{LocalVariable, Statement};

/// What stands at the end of a file: its parallel variables get memory before `main` begins.
pub(crate) fn end(draft: &mut Draft) {
    let (told, held) = held_against_other_files(draft);
    let mut text = format!("\n# 1 \"<c-star>\"\n{told}");
    text.push_str("__attribute__((constructor(201))) static void cstar_shapes_of_file(void) {\n");
    for shape in draft.shapes.iter().filter(|shape| !shape.is_elsewhere) {
        let (down, across) = shape.blocks;
        text.push_str(&format!("    cstar_count(&{}, {down}, {across});\n", shape.object));
    }
    text.push_str("}\n__attribute__((constructor(202))) static void cstar_variables_of_file(void) {\n");
    for shape in draft.shapes.iter().filter(|shape| shape.is_elsewhere) {
        text.push_str(&format!("    cstar_check(&{});\n", shape.object));
    }
    text.push_str(&held);
    for variable in draft.parallel.iter().filter(|variable| variable.linkage != Linkage::Elsewhere) {
        text.push_str(&format!("    {}\n", begun(variable)));
    }
    text.push_str("}\n");
    let last = draft.lexed.tokens.len() - 1;
    draft.edits.before(last, &text);
}

/// The memory of a variable, and what it begins with.
fn begun(variable: &FileVariable) -> String {
    let (name, object) = (&variable.name, object(&variable.shape));
    if variable.dimensions > 0 {
        return arrays(name, &object, variable.dimensions);
    }
    let memory = format!("{name} = cstar_array(&{object}, sizeof *{name});");
    match &variable.initial {
        Some(initial) => {
            let filled =
                each(&variable.shape, &format!("((__typeof_unqual__(*{name}) *){name})[cstar_vp] = cstar_initial;"));
            format!("{memory} {{ static const __typeof__(*{name}) cstar_initial = {initial}; {filled}}}")
        }
        None => memory,
    }
}

/// Memory for each of an array of variables.
fn arrays(name: &str, object: &str, dimensions: usize) -> String {
    let first = format!("{name}{}", "[0]".repeat(dimensions));
    format!("cstar_arrays(&{object}, sizeof *{first}, (void **){name}, sizeof {name} / sizeof {first});")
}

impl Meant<'_, '_> {
    /// A declaration in a block.
    pub(super) fn locals(&mut self, statement: &Statement, locals: &[LocalVariable]) {
        for local in locals {
            let (name, object) = (self.word(local.name), object(&local.shape));
            if local.dimensions > 0 {
                let held = self.temporary();
                let text = format!(
                    "; struct cstar_arrays {held} __attribute__((cleanup(cstar_release_arrays))) = {}",
                    arrays(&name, &object, local.dimensions).trim_end_matches(';')
                );
                self.draft.edits.after(local.last, &text);
                continue;
            }
            let memory = format!(" __attribute__((cleanup(cstar_release))) = cstar_array(&{object}, sizeof *{name})");
            let Some((equals, number)) = local.initial else {
                self.draft.edits.after(local.last, &memory);
                continue;
            };
            let expression = self.named(number);
            let before = self.current.replace(local.shape.clone());
            let mut code = String::new();
            self.ahead(expression, &mut code);
            let value = self.value(expression, &mut code);
            let place = format!("{name}[cstar_vp]");
            let filled = format!("((__typeof_unqual__(*{name}) *){name})[cstar_vp] = {value};");
            code.push_str(&each(&local.shape, &filled));
            let changed = Changed { name: (local.name, local.name), value: place, shape: local.shape.clone() };
            // One of several is told alone.
            let told =
                if locals.len() == 1 { (statement.first, statement.last) } else { (local.name, expression.last) };
            self.tell(told, Some(changed), &mut code);
            self.current = before;
            self.draft.edits.replace(equals, expression.last, &format!("{memory}; {{ {code}}}"));
        }
    }
}
