//! The whole model: declarations, routines, and a process that fires rules.

use super::expressions::{Kind, Scope, Signature, Variable};
use super::text::{Translated, harmless};
use super::types::{TypeId, Types};
use crate::lines::Lines;
use crate::model::{Program, Routine, Rule};

/// SPIN reads no longer piece of C than 65,536 characters.
const LONGEST_PIECE: usize = 60_000;
/// Most choices of parameters of all rules.
const MOST_CHOICES: u64 = 20_000;
/// What SPIN itself adds to a state, with room to spare.
const OVERHEAD: u64 = 256;

/// Arithmetic as Murphi has it: what overflows or is out of range is an error.
const BASICS: &str = "\
static jmp_buf out_of_rule;
static const char *failure;
static struct Model before;
static int not_fired;
static void fail(const char *text) { failure = text; longjmp(out_of_rule, 1); }
static inline int64_t in_range(int64_t x, int64_t least, int64_t most) {
  if (x < least || x > most) fail(\"an out-of-range value\");
  return x;
}
static inline int64_t at(int64_t x, int64_t least, int64_t most) {
  if (x < least || x > most) fail(\"an out-of-range index\");
  return x - least;
}
static inline int64_t add(int64_t x, int64_t y) {
  int64_t z;
  if (__builtin_add_overflow(x, y, &z)) fail(\"an out-of-range sum\");
  return z;
}
static inline int64_t subtract(int64_t x, int64_t y) {
  int64_t z;
  if (__builtin_sub_overflow(x, y, &z)) fail(\"an out-of-range difference\");
  return z;
}
static inline int64_t multiply(int64_t x, int64_t y) {
  int64_t z;
  if (__builtin_mul_overflow(x, y, &z)) fail(\"an out-of-range product\");
  return z;
}
static inline int64_t divide(int64_t x, int64_t y) {
  if (y == 0) fail(\"fault: a division by zero\");
  return x / y;
}
static inline int64_t remainder_of(int64_t x, int64_t y) {
  if (y == 0) fail(\"fault: a division by zero\");
  return x % y;
}
static inline int64_t shift_left(int64_t x, int64_t y) {
  if (x < 0 || y < 0 || y > 62 || x > (INT64_MAX >> y)) fail(\"an out-of-range shift\");
  return x << y;
}
static inline int64_t shift_right(int64_t x, int64_t y) {
  if (y < 0 || y > 63) fail(\"an out-of-range shift\");
  return x >> y;
}
";

/// Writes the model of a protocol.
pub(super) fn write(program: &Program, protocol: &str) -> Translated<String> {
    let mut types = Types::default();
    program.types.iter().try_for_each(|ty| types.define(ty))?;
    let mut variables = Vec::new();
    for variable in &program.variables {
        let ty = types.resolve(&variable.ty)?;
        variables.push(Variable { name: variable.name.clone(), ty, text: format!("S.{}_", variable.name) });
    }
    let mut signatures = Vec::new();
    for routine in &program.routines {
        signatures.push(signature(routine, &mut types)?);
    }
    let mut writer = Writer { program, types, variables, signatures };
    let mut pieces = writer.routines()?;
    for (number, rule) in program.rules.iter().enumerate() {
        pieces.push(writer.rule(number, rule)?);
    }
    pieces.push(writer.start()?);
    pieces.push(writer.sound()?);
    let choices = writer.choices()?;
    let mut text = writer.head(protocol);
    let mut before: Vec<String> = vec![BASICS.to_string()];
    before.extend(writer.types.clearings());
    before.extend(writer.prototypes());
    text += &fragments(before.into_iter().chain(pieces))?;
    text += &process(&choices);
    Ok(text)
}

fn signature(routine: &Routine, types: &mut Types) -> Translated<Signature> {
    let parameters = routine.parameters.iter().map(|p| Ok((types.resolve(&p.declared.ty)?, p.by_reference)));
    let parameters = parameters.collect::<Translated<Vec<_>>>()?;
    let result = routine.result.as_ref().map(|ty| types.resolve(ty)).transpose()?;
    Ok(Signature { name: routine.name.clone(), parameters, result })
}

/// Pieces of C, as many together as SPIN reads at once.
fn fragments(pieces: impl Iterator<Item = String>) -> Translated<String> {
    let mut text = String::new();
    let mut together = String::new();
    let mut put = |together: &mut String| {
        if !together.is_empty() {
            text += &format!("c_code {{\n{together}}}\n");
            together.clear();
        }
    };
    for mut piece in pieces {
        if !piece.ends_with('\n') {
            piece.push('\n');
        }
        if piece.len() > LONGEST_PIECE {
            let line = piece.lines().next().unwrap_or_default();
            return Err(format!("a routine is longer than SPIN reads: {line}"));
        }
        if together.len() + piece.len() > LONGEST_PIECE {
            put(&mut together);
        }
        together += &piece;
    }
    put(&mut together);
    Ok(text)
}

struct Writer<'p> {
    program: &'p Program,
    types: Types,
    variables: Vec<Variable>,
    signatures: Vec<Signature>,
}

impl Writer<'_> {
    fn scope(&mut self, result: Option<TypeId>) -> Scope<'_> {
        Scope {
            types: &mut self.types,
            constants: &self.program.constants,
            signatures: &self.signatures,
            variables: self.variables.clone(),
            result,
        }
    }

    fn head(&self, protocol: &str) -> String {
        let mut out = Lines::default();
        let size = self.variables.iter().fold(OVERHEAD, |sum, v| sum.saturating_add(self.types.size(v.ty)));
        out.line(format!("/* Protocol {protocol}, for SPIN; written by `trivium export --to spin`."));
        self.program.head.iter().for_each(|line| out.line(format!("   {line}")));
        out.line("   spin -a model.pml");
        out.line("   cc -O2 -w -DSAFETY -DBFS -o pan pan.c && ./pan");
        out.line("   One state more than there are is stored: before the first step. */");
        out.open("c_decl {");
        out.line("\\#include <setjmp.h>");
        out.line("\\#include <stdint.h>");
        out.line("\\#include <stdio.h>");
        out.line("\\#ifndef VECTORSZ");
        out.line(format!("\\#define VECTORSZ {size}"));
        out.line("\\#endif");
        self.types.definitions().iter().for_each(|definition| out.line(definition));
        out.open("struct Model {");
        for variable in &self.variables {
            out.line(format!("{} {}_;", self.types.name(variable.ty), variable.name));
        }
        out.close("} __attribute__((packed));");
        out.line("struct Model S;");
        out.close("}");
        out.line("c_track \"&S\" \"sizeof(struct Model)\"");
        out.text()
    }

    /// `static int64_t f_x(int64_t a_, T1 *b_)`.
    fn routine_head(&self, s: usize) -> String {
        let (routine, signature) = (&self.program.routines[s], &self.signatures[s]);
        let parameters: Vec<String> = routine
            .parameters
            .iter()
            .zip(&signature.parameters)
            .map(|(parameter, &(ty, by_reference))| {
                let sign = if by_reference { "*" } else { "" };
                format!("{} {sign}{}_", self.types.local(ty), parameter.declared.name)
            })
            .collect();
        let result = signature.result.map_or("void".to_string(), |ty| self.types.local(ty));
        let parameters = if parameters.is_empty() { "void".to_string() } else { parameters.join(", ") };
        format!("static {result} f_{}({parameters})", signature.name)
    }

    fn prototypes(&self) -> Vec<String> {
        (0..self.signatures.len()).map(|s| format!("{};", self.routine_head(s))).collect()
    }

    fn routines(&mut self) -> Translated<Vec<String>> {
        (0..self.program.routines.len()).map(|s| self.routine(s)).collect()
    }

    fn routine(&mut self, s: usize) -> Translated<String> {
        let program = self.program;
        let routine = &program.routines[s];
        let head = self.routine_head(s);
        let result = self.signatures[s].result;
        let parameters = self.signatures[s].parameters.clone();
        let mut scope = self.scope(result);
        for (parameter, (ty, by_reference)) in routine.parameters.iter().zip(parameters) {
            let name = &parameter.declared.name;
            scope.bind(name, ty);
            if let (true, Some(bound)) = (by_reference, scope.variables.last_mut()) {
                bound.text = format!("(*{name}_)");
            }
        }
        let mut out = Lines::default();
        out.open(format!("{head} {{"));
        scope.locals(&routine.locals, &mut out)?;
        scope.statements(&routine.body, &mut out)?;
        if result.is_some() {
            out.line(format!("fail(\"the model: {} gives nothing\");", routine.name));
        }
        out.close("}");
        Ok(out.text())
    }

    /// Whether a rule can fire, and its firing. What goes wrong in a guard goes wrong in the firing.
    fn rule(&mut self, number: usize, rule: &Rule) -> Translated<String> {
        let names: Vec<String> = rule.parameters.iter().map(|p| format!("int64_t {}_", p.name)).collect();
        let given: Vec<String> = rule.parameters.iter().map(|p| format!("{}_", p.name)).collect();
        let parameters = if names.is_empty() { "void".to_string() } else { names.join(", ") };
        let given = given.join(", ");
        let mut scope = self.scope(None);
        for parameter in &rule.parameters {
            let ty = scope.types.resolve(&parameter.ty)?;
            scope.bind(&parameter.name, ty);
        }
        let mut out = Lines::default();
        out.line(format!("/* {} */", harmless(&rule.name).replace("*/", "")));
        let guard = scope.value(&rule.guard)?;
        if guard.kind != Kind::Truth {
            return Err(format!("a guard that is a number: {}", rule.name));
        }
        out.line(format!("static int guard_{number}({parameters}) {{ return {}; }}", guard.text));
        out.open(format!("static void body_{number}({parameters}) {{"));
        scope.locals(&rule.locals, &mut out)?;
        scope.statements(&rule.body, &mut out)?;
        out.close("}");
        out.open(format!("static int can_{number}({parameters}) {{"));
        out.line("if (setjmp(out_of_rule)) return 1;");
        if rule.assumes() {
            // Fired to find out, and taken back. What goes wrong goes wrong again when it is fired for good.
            out.line(format!("if (!guard_{number}({given})) return 0;"));
            out.line("before = S;");
            out.line("not_fired = 0;");
            out.line(format!("if (!setjmp(out_of_rule)) body_{number}({given});"));
            out.line("S = before;");
            out.line("return !not_fired;");
        } else {
            out.line(format!("return guard_{number}({given});"));
        }
        out.close("}");
        out.open(format!("static void do_{number}({parameters}) {{"));
        out.line("failure = 0;");
        out.line("if (setjmp(out_of_rule)) return;");
        out.line(format!("if (guard_{number}({given})) body_{number}({given});"));
        out.close("}");
        Ok(out.text())
    }

    fn start(&mut self) -> Translated<String> {
        let program = self.program;
        let mut out = Lines::default();
        out.open("static void start(void) {");
        out.line("failure = 0;");
        out.line("if (setjmp(out_of_rule)) return;");
        self.scope(None).statements(&program.start, &mut out)?;
        out.close("}");
        Ok(out.text())
    }

    /// Whether nothing went wrong and every invariant holds.
    fn sound(&mut self) -> Translated<String> {
        let program = self.program;
        let mut scope = self.scope(None);
        let mut out = Lines::default();
        out.open("static int sound(void) {");
        out.open("if (!failure) {");
        out.open("if (!setjmp(out_of_rule)) {");
        for (name, condition) in &program.invariants {
            let condition = scope.value(condition)?.text;
            out.line(format!("if (!{condition}) fail(\"invariant {} failed\");", harmless(name)));
        }
        out.close("}");
        out.close("}");
        out.line("if (failure) printf(\"wrong: %s\\n\", failure);");
        out.line("return !failure;");
        out.close("}");
        Ok(out.text())
    }

    /// Each choice of the parameters of each rule: what to print, and the call without its first word.
    fn choices(&mut self) -> Translated<Vec<(String, String)>> {
        let mut found = Vec::new();
        for (number, rule) in self.program.rules.iter().enumerate() {
            let mut given: Vec<(String, String)> = vec![(String::new(), String::new())];
            for parameter in &rule.parameters {
                let ty = self.types.resolve(&parameter.ty)?;
                let (least, most) = self.types.bounds(ty).ok_or("a ruleset over something that is no range")?;
                let values = u64::try_from(most.saturating_sub(least).saturating_add(1)).unwrap_or(0);
                let all = values.saturating_mul(given.len() as u64).saturating_add(found.len() as u64);
                if all > MOST_CHOICES {
                    return Err(format!("more than {MOST_CHOICES} events are possible in such a system"));
                }
                let one_more = |(told, call): &(String, String), value: i64| {
                    let comma = if call.is_empty() { "" } else { ", " };
                    (format!("{told}, {} = {value}", parameter.name), format!("{call}{comma}{value}"))
                };
                given = given.iter().flat_map(|so_far| (least..=most).map(move |v| one_more(so_far, v))).collect();
            }
            let name = harmless(&rule.name);
            found.extend(given.into_iter().map(|(told, call)| (format!("{name}{told}"), format!("_{number}({call})"))));
        }
        Ok(found)
    }
}

/// The process: any rule that can fire fires, for ever.
fn process(choices: &[(String, String)]) -> String {
    let mut out = Lines::default();
    out.open("active proctype model() {");
    out.line("d_step { c_code { start(); }; assert(c_expr { (sound()) }) }");
    out.line("end: do");
    for (told, call) in choices {
        // SPIN takes what begins with a name and a parenthesis for something with side effects.
        out.line(format!(
            ":: d_step {{ c_expr {{ (can{call}) }} -> printf(\"{told}\\n\"); c_code {{ do{call}; }}; \
             assert(c_expr {{ (sound()) }}) }}"
        ));
    }
    out.line("od");
    out.close("}");
    out.text()
}
