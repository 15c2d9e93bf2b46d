//! Split-C. A global pointer is a pointer of C in an address space of its own, so that the C compiler itself keeps it apart from plain ones, and accesses
//! through it are plain loads and stores; they are volatile, since other processors change what they read. A spread pointer is a pointer in another
//! space, with arithmetic by calls of `split-c.h`; an object that it points to is a global one.

use crate::draft::Draft;
use crate::edits::about;
use crate::tree::Body;
use crate::tree::{Expression, Form};
use crate::types::{AddressSpace, Shape};

/// How what a pointer of a kind points to is qualified.
pub(crate) fn qualifier(space: AddressSpace) -> String {
    format!(" volatile __attribute__((address_space({}))) ", space.number())
}

/// Where the pointers that spread arrays become lie: in pages of their own (`split-c.c` sees to that), so that no other processor takes
/// them away with something beside them.
pub(crate) const APART: &str = " __attribute__((section(\"splitc_spread\"))) ";

/// An integer of a pointer's size, by which pointers change their kind: the compiler's back end has no direct way.
const ADDRESS: &str = "(__UINTPTR_TYPE__)";

/// Behind a number that is to be a whole one, in parentheses of which one is open: the compiler refuses others.
const WHOLE: &str = ") | 0)";

/// The pointer to a global object that a spread pointer of this name points to.
fn as_global(name: &str) -> String {
    format!("(__typeof_unqual__(*{name}){}*)", qualifier(AddressSpace::Global))
}

/// Puts C in place of what is Split-C's own in a function, or in an expression outside of one: each expression has its meaning by itself.
pub(crate) fn body(draft: &mut Draft, body: &Body) {
    for whole in &body.wholes {
        let before = std::mem::replace(&mut draft.unevaluated, whole.unevaluated);
        Lowering { draft }.expression(&whole.expression, whole.used);
        draft.unevaluated = before;
    }
}

/// What stands at the beginning of a file: its data begin a page, zeroed ones and others, so that nothing of a library's own is in a block with them.
pub(crate) fn begin(draft: &mut Draft) {
    let page = "__attribute__((aligned(65536), used))";
    draft.edits.before(
        0,
        &format!("static char splitc_zeroed[1] {page} = {{0}}; static char splitc_data[1] {page} = {{1}}; "),
    );
}

/// What stands at the end of a file: memory for its spread arrays, and `main` if it has `splitc_main`.
pub(crate) fn end(draft: &mut Draft) {
    let mut text = String::new();
    if !draft.storage.is_empty() {
        text.push_str("\n__attribute__((constructor(200))) static void splitc_allocate(void) {\n");
        for array in &draft.storage {
            // What is wrong with its sizes is told where it is declared.
            let (name, count) = (&array.name, &array.count);
            let memory = format!("(__UINTPTR_TYPE__)splitc_spread_storage({count}, sizeof *{name});");
            let stored = about(array.token, &format!("{name} = (__typeof__({name})){memory}"));
            text.push_str(&format!("    {stored}\n# 1 \"<split-c>\"\n"));
        }
        text.push_str("}\n");
    }
    if let Some(main) = &draft.main {
        let arguments = if main.takes_arguments { "argc, argv" } else { "" };
        text.push_str("\nint main(int argc, char **argv) {\n    (void)argc, (void)argv;\n    splitc_begin();\n");
        text.push_str(&if main.gives {
            format!("    int code = splitc_main({arguments});\n    splitc_end();\n    return code;\n}}\n")
        } else {
            format!("    splitc_main({arguments});\n    splitc_end();\n    return 0;\n}}\n")
        });
    }
    let last = draft.lexed.tokens.len() - 1;
    if !text.is_empty() {
        draft.edits.before(last, &format!("\n# 1 \"<split-c>\"{text}"));
    }
}

struct Lowering<'p, 'a> {
    draft: &'p mut Draft<'a>,
}

impl Lowering<'_, '_> {
    /// Wraps an expression: text before it and behind it.
    fn wrap(&mut self, expression: &Expression, before: &str, after: &str) {
        self.draft.edits.before(expression.first, before);
        self.draft.edits.after(expression.last, after);
    }

    fn error(&mut self, expression: &Expression, message: impl Into<String>, help: &str) {
        self.draft.error(expression.first, expression.last, message).help(help);
    }

    fn word(&self, token: usize) -> String {
        self.draft.word_at(token).to_string()
    }

    fn temporary(&mut self) -> String {
        self.draft.temporary("splitc")
    }

    /// Statement expressions have no place outside of functions, and neither has what a processor's number decides.
    fn needs_function(&mut self, expression: &Expression) {
        if !self.draft.in_function {
            self.error(expression, "spread pointers are followed and moved in functions only", "do it in splitc_main");
        }
    }

    fn expression(&mut self, expression: &Expression, used: bool) {
        match &expression.form {
            Form::Leaf | Form::Block => {}
            // These are C*'s.
            Form::LeftIndex { .. }
            | Form::Coordinate(_)
            | Form::Reduce { .. }
            | Form::OwnBinary { .. }
            | Form::Shape(_) => {}
            Form::Parentheses(inner) => self.expression(inner, used),
            Form::Index { .. } | Form::Member { .. } => self.object(expression, true),
            Form::Prefix { op, operand } => self.prefix(expression, *op, operand),
            Form::Postfix { op, operand } => {
                self.expression(operand, true);
                if operand.ty.is_spread_pointer() {
                    self.step(expression, operand, *op, if used { Value::Old } else { Value::New });
                }
            }
            Form::Binary { op, left, right } => self.binary(expression, *op, left, right),
            Form::Assign { op, left, right } => self.assign(expression, *op, left, right),
            Form::SplitPhase { op, is_store, left, right } => {
                self.split_phase(expression, (*op, *is_store), left, right)
            }
            Form::Conditional { parts } => {
                self.expression(&parts[0], true);
                parts[1..].iter().for_each(|part| self.expression(part, used));
                if let [.., second, third] = &parts[..] {
                    self.alike(second, third, "are the two results of a conditional expression");
                }
            }
            Form::Comma { left, right } => {
                self.expression(left, false);
                self.expression(right, used);
            }
            Form::Cast { close, operand } => self.cast(expression, *close, operand),
            Form::SizeOf(operand) => {
                if matches!(operand.bare().ty.shape, Shape::SpreadArray(_)) {
                    self.error(
                        operand,
                        "a spread array has no size on one processor",
                        "multiply the sizes of its dimensions",
                    );
                }
                let before = std::mem::replace(&mut self.draft.unevaluated, true);
                self.expression(operand, true);
                self.draft.unevaluated = before;
            }
            Form::Parts(parts) => self.parts(parts),
        }
    }

    /// A call and the like. The compiler's own atomic functions follow their first argument.
    fn parts(&mut self, parts: &[Expression]) {
        const ATOMIC: [&str; 3] = ["__c11_atomic_", "__atomic_", "__sync_"];
        let is_atomic = parts.first().is_some_and(|callee| {
            let name = self.word(callee.first);
            ATOMIC.iter().any(|begin| name.starts_with(begin))
        });
        for (i, part) in parts.iter().enumerate() {
            if is_atomic && i == 1 {
                self.behind(part, true);
            } else {
                self.expression(part, true);
            }
        }
    }

    /// An object where it lies. `accessed`: whether it is read or written, or only its address is wanted.
    fn object(&mut self, expression: &Expression, accessed: bool) {
        match &expression.form {
            Form::Parentheses(inner) => self.object(inner, accessed),
            Form::Member { base, is_arrow: false } => self.object(base, accessed),
            Form::Member { base, is_arrow: true } => self.behind(base, accessed),
            Form::Prefix { op, operand } if self.word(*op) == "*" => self.behind(operand, accessed),
            Form::Index { base, index, .. } if spread_steps(expression).is_none() => {
                let is_part = matches!(base.ty.shape, Shape::Array(_));
                self.object(base, accessed || !is_part);
                self.expression(index, true);
                if index.ty.is_spread_pointer() {
                    self.error(index, "a spread pointer cannot be an index", "write the pointer before the brackets");
                }
                let is_followed = is_global_pointer(base) || is_global_pointer(index);
                if accessed && is_followed && self.is_evaluated() {
                    let name = self.temporary();
                    self.wrap(
                        expression,
                        &format!("(*({{ __auto_type {name} = &("),
                        &format!("); splitc_check({name}); {name}; }}))"),
                    );
                }
            }
            Form::Index { .. } => self.index(expression, Use::Object),
            _ => self.expression(expression, true),
        }
    }

    /// What a pointer points to.
    fn behind(&mut self, pointer: &Expression, accessed: bool) {
        self.expression(pointer, true);
        if pointer.ty.is_spread_pointer() {
            self.follow(pointer);
        } else if accessed && is_global_pointer(pointer) && self.is_evaluated() {
            let name = self.temporary();
            let check = format!("); splitc_check({name}); {name}; }})");
            self.wrap(pointer, &format!("({{ __auto_type {name} = ("), &check);
        }
    }

    /// Whether an address can be looked at here, and is used.
    fn is_evaluated(&self) -> bool {
        self.draft.in_function && !self.draft.unevaluated
    }

    /// Puts the global pointer to what a spread pointer points to in its place.
    fn follow(&mut self, pointer: &Expression) {
        self.needs_function(pointer);
        let name = self.temporary();
        let global = as_global(&name);
        let end = format!("); {global}splitc_at({ADDRESS}{name}); }})");
        self.wrap(pointer, &format!("({{ __auto_type {name} = ("), &end);
    }

    /// An element of what a spread pointer points to. `A[i][j]` of a spread array is one step.
    fn index(&mut self, expression: &Expression, wanted: Use) {
        let Some((array, steps)) = spread_steps(expression) else { return };
        self.needs_function(expression);
        self.expression(array, true);
        steps.iter().for_each(|step| self.expression(step.index, true));
        let sizes: Vec<String> = match &array.bare().ty.shape {
            Shape::SpreadArray(array) => array.dimensions.clone(),
            _ => vec![String::new()],
        };
        if sizes.len() != steps.len() {
            let (given, all) = (steps.len(), sizes.len());
            self.error(
                expression,
                format!("this spread array has {all} dimensions left of `::`, and {given} of them stand here"),
                "a part of a spread array is one element: name the place in each dimension",
            );
            return;
        }
        let name = self.temporary();
        let (kind, end) = match wanted {
            Use::Object => (format!("{}splitc_at(", as_global(&name)), "); }))"),
            Use::Pointer => (format!("(__typeof__({name}))"), "; }))"),
        };
        let begin = if wanted == Use::Object { "(*({ " } else { "(({ " };
        self.draft.edits.before(array.first, &format!("{begin}__auto_type {name} = ("));
        let count = steps.len();
        for (i, step) in steps.iter().enumerate() {
            if i == 0 {
                let open = "(".repeat(count + 1);
                self.draft.edits.instead(step.open, &format!("); {kind}splitc_spread_add({ADDRESS}{name}, {open}"));
            } else {
                self.draft.edits.instead(step.open, &format!(" * ({}) + ((", sizes[i]));
            }
            // Of the places in a dimension, those before are multiplied as a whole.
            let close = if i == 0 { WHOLE.to_string() } else { format!("{WHOLE})") };
            let close = if i + 1 == count { format!("{close}, sizeof *{name}){end}") } else { close };
            self.draft.edits.instead(step.close, &about(step.index.first, &close));
        }
    }

    fn prefix(&mut self, expression: &Expression, op: usize, operand: &Expression) {
        match self.word(op).as_str() {
            "*" => {
                self.one_dimension(operand);
                self.object(expression, true);
            }
            "&" => self.address(op, operand),
            "++" | "--" => {
                self.expression(operand, true);
                if operand.ty.is_spread_pointer() {
                    self.draft.edits.remove(op);
                    self.step(expression, operand, op, Value::New);
                }
            }
            _ => self.expression(operand, true),
        }
    }

    /// `&sp[3]` and `&*sp` are spread pointers: what they come from is.
    fn address(&mut self, op: usize, operand: &Expression) {
        let bare = operand.bare();
        match &bare.form {
            Form::Index { .. } if spread_steps(bare).is_some() => {
                self.draft.edits.remove(op);
                self.index(bare, Use::Pointer);
            }
            Form::Prefix { op: star, operand: pointer }
                if self.word(*star) == "*" && pointer.ty.is_spread_pointer() =>
            {
                self.expression(pointer, true);
                self.draft.edits.remove(op);
                self.draft.edits.remove(*star);
            }
            _ => {
                if matches!(bare.ty.shape, Shape::SpreadArray(_)) {
                    self.error(
                        operand,
                        "there are no pointers to spread arrays",
                        "without `&` it is a spread pointer to the first element",
                    );
                }
                self.object(operand, false);
            }
        }
    }

    /// `sp++` and the like.
    fn step(&mut self, expression: &Expression, operand: &Expression, op: usize, value: Value) {
        self.no_array(operand);
        let by = if self.word(op) == "++" { "1" } else { "-1" };
        if matches!(expression.form, Form::Postfix { .. }) {
            self.draft.edits.remove(op);
        }
        self.move_by(expression, (operand, op), value, by);
    }

    /// Moves the spread pointer at a place, as an operator says.
    fn move_by(&mut self, expression: &Expression, (place, op): (&Expression, usize), value: Value, by: &str) {
        self.needs_function(expression);
        let (to, old) = (self.temporary(), self.temporary());
        let moved = format!("*{to} = (__typeof__({old}))splitc_spread_add({ADDRESS}{old}, {by}, sizeof *{old})");
        let result = if value == Value::Old { format!("; {old}") } else { String::new() };
        self.draft.edits.before(place.first, &format!("({{ __auto_type {to} = &("));
        let moved = about(op, &format!("__auto_type {old} = *{to}; {moved}{result}; }})"));
        self.draft.edits.after(expression.last, &format!("); {moved}"));
    }

    fn no_array(&mut self, operand: &Expression) {
        if matches!(operand.bare().ty.shape, Shape::SpreadArray(_)) {
            self.error(
                operand,
                "a spread array stays where it is",
                "use a spread pointer that points to its first element",
            );
        }
    }

    fn binary(&mut self, expression: &Expression, op: usize, left: &Expression, right: &Expression) {
        self.expression(left, true);
        self.expression(right, true);
        let word = self.word(op);
        let (first, second) = (left.ty.is_spread_pointer(), right.ty.is_spread_pointer());
        match word.as_str() {
            "==" | "!=" => self.alike(left, right, "are compared"),
            "-" | "<" | ">" | "<=" | ">=" if first && second => {
                self.one_dimension(left);
                self.one_dimension(right);
                self.needs_function(expression);
                let (a, b) = (self.temporary(), self.temporary());
                let compared = if word == "-" { String::new() } else { format!(" {word} 0") };
                self.draft.edits.before(left.first, &format!("({{ __auto_type {a} = ("));
                self.draft.edits.instead(op, &format!("); __auto_type {b} = ("));
                let difference = format!("splitc_spread_difference({ADDRESS}{a}, {ADDRESS}{b}, sizeof *{a}){compared}");
                self.draft.edits.after(right.last, &format!("); (void)({a} == {b}); {difference}; }})"));
            }
            "-" | "<" | ">" | "<=" | ">=" if left.ty.pointee().is_some() && right.ty.pointee().is_some() => {
                self.alike(left, right, "stand beside this operator");
            }
            "+" | "-" if first || second => {
                self.one_dimension(if first { left } else { right });
                self.needs_function(expression);
                self.moved(op, left, right, first, word == "-");
            }
            _ => {}
        }
    }

    /// `sp + k`, `k + sp`, `sp - k`.
    fn moved(&mut self, op: usize, left: &Expression, right: &Expression, pointer_first: bool, back: bool) {
        let (a, b) = (self.temporary(), self.temporary());
        let (pointer, by) = if pointer_first { (&a, &b) } else { (&b, &a) };
        let sign = if back { "-(__INTPTR_TYPE__)" } else { "" };
        self.draft.edits.before(left.first, &format!("({{ __auto_type {a} = ("));
        self.draft.edits.instead(op, &format!("); __auto_type {b} = ("));
        let sum = format!(
            "(__typeof__({pointer}))splitc_spread_add({ADDRESS}{pointer}, {sign}(({by}{WHOLE}, sizeof *{pointer})"
        );
        self.draft.edits.after(right.last, &format!("); {}; }})", about(op, &sum)));
    }

    fn one_dimension(&mut self, expression: &Expression) {
        if matches!(&expression.bare().ty.shape, Shape::SpreadArray(array) if array.dimensions.len() > 1) {
            self.error(
                expression,
                "this spread array has several dimensions",
                "name the place in each of them, in brackets",
            );
        }
    }

    /// Pointers of two kinds have nothing to do with each other; null is of any kind.
    fn alike(&mut self, left: &Expression, right: &Expression, what: &str) {
        let (Some(one), Some(other)) = (left.ty.pointer_space(), right.ty.pointer_space()) else { return };
        if one != other && !self.is_null(left) && !self.is_null(right) {
            let message = format!("a {} pointer and a {} pointer {what}", kind(one), kind(other));
            self.error(left, message, "make one of the other: toglobal, tolocal, or a cast");
            self.draft.wrong.last_mut().expect("just noted").last = right.last;
        }
    }

    /// `0`, `(void *)0` and so on.
    fn is_null(&self, expression: &Expression) -> bool {
        match &expression.bare().form {
            Form::Cast { operand, .. } => self.is_null(operand),
            Form::Leaf => {
                expression.bare().first == expression.bare().last && self.draft.word_at(expression.bare().first) == "0"
            }
            _ => false,
        }
    }

    fn assign(&mut self, expression: &Expression, op: usize, left: &Expression, right: &Expression) {
        self.expression(left, true);
        self.expression(right, true);
        if !left.ty.is_spread_pointer() {
            return;
        }
        self.no_array(left);
        let sign = match self.word(op).as_str() {
            "+=" => "",
            "-=" => "-(__INTPTR_TYPE__)",
            _ => return,
        };
        let by = self.temporary();
        self.draft.edits.instead(op, &format!("); __auto_type {by} = ("));
        self.move_by(expression, (left, op), Value::New, &format!("{sign}(({by}{WHOLE}"));
    }

    /// `x := *gp`, `*gp := x`, `*gp :- x`.
    fn split_phase(
        &mut self,
        expression: &Expression,
        (op, is_store): (usize, bool),
        left: &Expression,
        right: &Expression,
    ) {
        let is_global = |side: &Expression| side.ty.space == AddressSpace::Global && side.bare_is_object();
        for side in [left, right] {
            // The library looks at the address of what it moves.
            self.object(side, !is_global(side));
        }
        let sign = if is_store { ":-" } else { ":=" };
        if matches!(left.ty.shape, Shape::Array(_)) || matches!(right.ty.shape, Shape::Array(_)) && is_global(right) {
            self.error(
                expression,
                format!("`{sign}` moves one value, and this is an array"),
                "use bulk_get, bulk_put or bulk_store",
            );
            return;
        }
        let (to_global, from_global) = (is_global(left), is_global(right));
        if is_store && !to_global {
            self.error(
                left,
                "`:-` stores through a global pointer, and this is no object that one points to",
                "a plain `=` writes it; a label is parted from what follows it: `name: -value`",
            );
            return;
        }
        if !to_global && !from_global {
            self.error(
                expression,
                "`:=` moves a value between this processor and another, and neither side is a global object",
                "a plain `=` copies it",
            );
            return;
        }
        if to_global && from_global {
            self.error(
                expression,
                format!("both sides of `{sign}` are global objects"),
                "get it into a variable, sync(), and put it from there",
            );
            return;
        }
        // An assignment that is never done, for what the compiler says of one.
        let (to, from) = (self.temporary(), self.temporary());
        self.draft.edits.before(left.first, &format!("({{ __auto_type {to} = &("));
        self.draft.edits.remove(op + 1);
        if to_global {
            let call = if is_store { "splitc_store" } else { "splitc_put" };
            self.draft.edits.instead(op, &format!("); __typeof_unqual__(*{to}) {} = (", about(op, &from)));
            let check = about(op, &format!("if (0) *{to} = {from}"));
            self.draft.edits.after(right.last, &format!("); {check}; {call}({to}, &{from}, sizeof {from}); }})"));
        } else {
            self.draft.edits.instead(op, &format!("); __auto_type {from} = &("));
            let same = format!("__builtin_types_compatible_p(__typeof_unqual__(*{to}), __typeof_unqual__(*{from}))");
            let check = format!("_Static_assert({}, \"the two sides of := are of different types\")", about(op, &same));
            self.draft.edits.after(
                right.last,
                &format!("); {check}; if (0) *{to} = *{from}; splitc_get({to}, {from}, sizeof *{to}); }})"),
            );
        }
    }

    /// Casts that change the kind of a pointer.
    fn cast(&mut self, expression: &Expression, close: usize, operand: &Expression) {
        self.expression(operand, true);
        let Some(to) = expression.ty.pointer_space() else { return };
        let from = operand.ty.clone().value();
        if from.is_unknown() && to != AddressSpace::Private {
            self.error(
                operand,
                "the type of this is not known, so that it cannot be made a global or spread pointer",
                "give it to a variable first, and cast that",
            );
            return;
        }
        let is_number = from.shape == Shape::Number && to != AddressSpace::Private && self.draft.in_function;
        if is_number && !self.is_null(operand) && !self.word(operand.first).starts_with("splitc_") {
            self.draft.edits.after(close, &format!("splitc_checked_address({ADDRESS}("));
            self.draft.edits.after(operand.last, "))");
            return;
        }
        let Some(space) = from.pointer_space().filter(|space| *space != to) else { return };
        let call = match (space, to) {
            _ if self.is_null(operand) => "",
            (AddressSpace::Private, _) => "splitc_global_address",
            (_, AddressSpace::Private) => "splitc_local_address",
            _ => "",
        };
        self.draft.edits.after(close, &format!("{ADDRESS}{call}({ADDRESS}("));
        self.draft.edits.after(operand.last, "))");
    }
}

/// What is wanted of an element.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Object,
    Pointer,
}

/// What the value of `sp++` is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Value {
    Old,
    New,
}

struct Step<'e> {
    open: usize,
    index: &'e Expression,
    close: usize,
}

/// Of `sp[i]` and `A[i][j]`: the pointer or array, and the places in its dimensions.
fn spread_steps(expression: &Expression) -> Option<(&Expression, Vec<Step<'_>>)> {
    let Form::Index { base, open, index, close } = &expression.form else { return None };
    if !base.ty.is_spread_pointer() {
        return None;
    }
    let step = Step { open: *open, index, close: *close };
    if let Some((array, mut steps)) = spread_steps(base).filter(|_| matches!(base.ty.shape, Shape::SpreadArray(_))) {
        steps.push(step);
        return Some((array, steps));
    }
    Some((base, vec![step]))
}

/// Whether this is a pointer, not an array, to what lies on some processor.
fn is_global_pointer(expression: &Expression) -> bool {
    matches!(&expression.ty.shape, Shape::Pointer(to) if to.space == AddressSpace::Global)
}

fn kind(space: AddressSpace) -> &'static str {
    match space {
        AddressSpace::Private => "local",
        AddressSpace::Global => "global",
        AddressSpace::Spread => "spread",
    }
}

impl Expression {
    /// Whether this names an object, not a value.
    fn bare_is_object(&self) -> bool {
        matches!(self.bare().form, Form::Index { .. } | Form::Member { .. } | Form::Prefix { .. })
    }
}
