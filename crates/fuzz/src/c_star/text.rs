//! Writes a program as C*. Parentheses stand only where C* needs them, so that it is also seen which operator binds stronger.

use super::number::{Number, Operator, Prefix, Type, Value};
use super::tree::{Expression, Function, Held, Object, Program, ShapeName, ShapeOf, Shift, Statement, Variable};
use std::fmt::Write as _;

const BEGINNING: &str = "#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n\
    static unsigned long long bits(double number) {\n    unsigned long long all;\n    memcpy(&all, &number, sizeof all);\n    \
    return all;\n}\n\n";

/// The text of a program.
pub fn written(program: &Program) -> String {
    let mut text = BEGINNING.to_string();
    for shape in &program.shapes {
        let sizes: String = shape.sizes.iter().map(|size| format!("[{size}]")).collect();
        let _ = writeln!(text, "shape {sizes}{};", shape.name);
        if let Some((below, across)) = shape.blocks {
            let _ = writeln!(text, "#pragma cstar dist {} block({below},{across})", shape.name);
        }
    }
    for structure in &program.structures {
        let _ = writeln!(text, "struct {} {{", structure.name);
        for field in &structure.fields {
            let count = field.count.map_or(String::new(), |count| format!("[{count}]"));
            let _ = writeln!(text, "    {} {}{count};", field.of.name(), field.name);
        }
        text.push_str("};\n");
    }
    let mut writer = Writer { program, text, depth: 0 };
    for variable in &program.globals {
        let initial = program.variables[*variable].initial.map(|value| constant(&value));
        let line = writer.declaration(*variable, initial.as_deref());
        writer.line(&line);
    }
    for function in &program.functions {
        let head = writer.head(function);
        writer.line(&format!("{head};"));
    }
    for function in &program.functions {
        let head = writer.head(function);
        writer.text.push('\n');
        writer.braced(&head, &function.body, "");
    }
    writer.text.push('\n');
    writer.braced("int main(void)", &program.main, "return 0;");
    writer.text
}

struct Writer<'p> {
    program: &'p Program,
    text: String,
    depth: usize,
}

/// How strongly what an expression is made of holds together: what stands in a weaker place is put into parentheses.
mod strength {
    pub const CONDITIONAL: u8 = 1;
    pub const OR: u8 = 2;
    pub const AND: u8 = 3;
    pub const PREFIX: u8 = 13;
    pub const POSTFIX: u8 = 14;
}

fn strength_of(operator: Operator) -> u8 {
    match operator {
        Operator::Or => 4,
        Operator::Xor => 5,
        Operator::And => 6,
        Operator::Equal | Operator::Unequal => 7,
        Operator::Less | Operator::LessOrEqual | Operator::Greater | Operator::GreaterOrEqual => 8,
        Operator::Least | Operator::Most => 9,
        Operator::Left | Operator::Right => 10,
        Operator::Add | Operator::Subtract => 11,
        _ => 12,
    }
}

/// Whether these two are always written with parentheses: it is not said which of them binds stronger.
fn is_unsaid(outer: Operator, inner: u8) -> bool {
    let is_of_these = |strength: u8| (9..=12).contains(&strength);
    matches!(outer, Operator::Least | Operator::Most) && is_of_these(inner)
        || is_of_these(strength_of(outer)) && inner == 9
}

fn constant(value: &Value) -> String {
    let text = match value.number {
        Number::Real(number) if value.of == Type::Float => format!("{:?}f", number as f32),
        Number::Real(number) => format!("{number:?}"),
        Number::Whole(number) if value.of.is_signed() && value.of.bits() >= 32 && number == value.of.least() => {
            format!("{}{suffix} - 1", number + 1, suffix = suffix(value.of))
        }
        Number::Whole(number) => format!("{number}{}", suffix(value.of)),
    };
    if text.starts_with('-') { format!("({text})") } else { text }
}

fn suffix(of: Type) -> &'static str {
    match of {
        Type::Unsigned => "u",
        Type::Long => "l",
        Type::UnsignedLong => "ul",
        Type::LongLong => "ll",
        Type::UnsignedLongLong => "ull",
        _ => "",
    }
}

/// Whether a `for` has its condition in its head: what is the same in a program each time it is written.
fn has_condition(variable: usize) -> bool {
    !variable.is_multiple_of(4)
}

impl Writer<'_> {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{:1$}{line}", "", 4 * self.depth);
    }

    fn shape(&self, shape: ShapeOf) -> &str {
        match shape {
            ShapeOf::Named(shape) => &self.program.shapes[shape].name,
            ShapeOf::Current => "current",
        }
    }

    fn shape_name(&self, name: ShapeName) -> String {
        match name {
            ShapeName::Named(shape) => self.program.shapes[shape].name.clone(),
            ShapeName::Of(variable) => format!("shapeof({})", self.program.variables[variable].name),
        }
    }

    fn type_of(&self, variable: &Variable) -> String {
        let held = match variable.held {
            Held::Number(of) => of.name().to_string(),
            Held::Structure(structure) => format!("struct {}", self.program.structures[structure].name),
        };
        match variable.shape {
            Some(shape) => format!("{held}:{}", self.shape(shape)),
            None => held,
        }
    }

    fn declaration(&self, variable: usize, value: Option<&str>) -> String {
        let variable = &self.program.variables[variable];
        let count = variable.count.map_or(String::new(), |count| format!("[{count}]"));
        let value = value.map_or(String::new(), |value| format!(" = {value}"));
        format!("{} {}{count}{value};", self.type_of(variable), variable.name)
    }

    fn head(&self, function: &Function) -> String {
        let result = match (function.result, function.shape) {
            (None, _) => "void".to_string(),
            (Some(of), None) => of.name().to_string(),
            (Some(of), Some(shape)) => format!("{}:{}", of.name(), self.shape(shape)),
        };
        let parameters: Vec<String> = function
            .parameters
            .iter()
            .map(|parameter| &self.program.variables[*parameter])
            .map(|parameter| format!("{} {}", self.type_of(parameter), parameter.name))
            .collect();
        let parameters = if parameters.is_empty() { "void".into() } else { parameters.join(", ") };
        let linkage = if function.is_static { "static " } else { "" };
        format!("{linkage}{result} {}({parameters})", function.name)
    }

    fn braced(&mut self, head: &str, inner: &[Statement], last: &str) {
        self.line(&format!("{head}{}{{", if head.is_empty() { "" } else { " " }));
        self.depth += 1;
        inner.iter().for_each(|statement| self.statement(statement));
        if !last.is_empty() {
            self.line(last);
        }
        self.depth -= 1;
        self.line("}");
    }

    /// What a statement is about: without braces if it is one simple statement. So that no `else` goes to another `if`, those stay in theirs.
    fn inner(&mut self, head: &str, inner: &[Statement]) {
        match inner {
            [
                simple @ (Statement::Assign(..)
                | Statement::Send(..)
                | Statement::ShiftTo(..)
                | Statement::Evaluate(_)
                | Statement::Copy(..)
                | Statement::Break
                | Statement::Continue
                | Statement::Return(_)
                | Statement::Print(..)),
            ] => {
                self.line(head);
                self.depth += 1;
                self.statement(simple);
                self.depth -= 1;
            }
            _ => self.braced(head, inner, ""),
        }
    }

    fn shift(&self, way: &str, shift: &Shift, value: Option<&Expression>) -> String {
        let Shift { object, border, dimension, distance } = shift;
        let kind = if border.is_some() { "grid" } else { "torus" };
        let mut arguments = vec![self.object(object)];
        arguments.extend(value.into_iter().chain(border.as_deref()).map(|part| self.expression(part, 0)));
        arguments.extend([dimension.to_string(), self.expression(distance, 0)]);
        format!("{way}_{kind}_dim({})", arguments.join(", "))
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Block(inner) => self.braced("", inner, ""),
            Statement::Declare(variable, value) => {
                let value = value.as_ref().map(|value| self.expression(value, 0));
                let line = self.declaration(*variable, value.as_deref());
                self.line(&line);
            }
            Statement::Assign(object, operator, value) => {
                let (object, value) = (self.object(object), self.expression(value, 0));
                self.line(&format!("{object} {}= {value};", operator.map_or("", Operator::word)));
            }
            Statement::Send(indices, object, operator, value) => {
                let (to, value) = (self.left_indexed(indices, object), self.expression(value, 0));
                self.line(&format!("{to} {}= {value};", operator.map_or("", Operator::word)));
            }
            Statement::ShiftTo(shift, value) => {
                let text = self.shift("to", shift, Some(value));
                self.line(&format!("{text};"));
            }
            Statement::Copy(places, to, indices, from) => {
                let (to, from) = (self.left_indexed(places, to), self.left_indexed(indices, from));
                self.line(&format!("{to} = {from};"));
            }
            Statement::Evaluate(expression) => {
                let text = self.expression(expression, 0);
                self.line(&format!("{text};"));
            }
            Statement::With(shape, inner) => {
                let head = format!("with ({})", self.shape_name(*shape));
                self.inner(&head, inner);
            }
            Statement::Where(condition, inner, otherwise) => {
                self.choice("where", condition, inner, otherwise.as_deref())
            }
            Statement::If(condition, inner, otherwise) => self.choice("if", condition, inner, otherwise.as_deref()),
            Statement::Everywhere(inner) => self.inner("everywhere", inner),
            Statement::For(variable, count, inner) => {
                let name = self.program.variables[*variable].name.clone();
                if !has_condition(*variable) {
                    let begin = format!("if ({name} == {count}) break;");
                    self.rounds(&format!("for (int {name} = 0;; {name}++) {{"), &begin, inner, "}");
                    return;
                }
                self.inner(&format!("for (int {name} = 0; {name} < {count}; {name}++)"), inner);
            }
            Statement::While(variable, count, condition, inner) => {
                let name = self.program.variables[*variable].name.clone();
                let condition = self.expression(condition, strength::AND + 1);
                self.line(&format!("int {name} = 0;"));
                let head = format!("while ({name} < {count} && {condition}) {{");
                self.rounds(&head, &format!("{name}++;"), inner, "}");
            }
            Statement::Do(variable, count, condition, inner) => {
                let name = self.program.variables[*variable].name.clone();
                let condition = self.expression(condition, strength::AND + 1);
                self.line(&format!("int {name} = 0;"));
                let end = format!("}} while ({name} < {count} && {condition});");
                self.rounds("do {", &format!("{name}++;"), inner, &end);
            }
            Statement::Switch(chosen, cases) => {
                let chosen = self.expression(chosen, 0);
                self.line(&format!("switch ({chosen}) {{"));
                for (label, inner) in cases {
                    let label = label.map_or("default".to_string(), |label| format!("case {label}"));
                    self.inner(&format!("{label}:"), inner);
                }
                self.line("}");
            }
            Statement::Break => self.line("break;"),
            Statement::Continue => self.line("continue;"),
            Statement::Return(None) => self.line("return;"),
            Statement::Return(Some(value)) => {
                let value = self.expression(value, 0);
                self.line(&format!("return {value};"));
            }
            Statement::Print(word, numbers) => self.print(word, numbers),
            Statement::Settle(object) => self.settle(object),
        }
    }

    /// A loop, with what each round begins with.
    fn rounds(&mut self, head: &str, begin: &str, inner: &[Statement], end: &str) {
        self.line(head);
        self.depth += 1;
        self.line(begin);
        inner.iter().for_each(|statement| self.statement(statement));
        self.depth -= 1;
        self.line(end);
    }

    /// `where` and `if`.
    fn choice(&mut self, word: &str, condition: &Expression, inner: &[Statement], otherwise: Option<&[Statement]>) {
        let condition = self.expression(condition, 0);
        self.inner(&format!("{word} ({condition})"), inner);
        match otherwise {
            // `else if`, and `else where`.
            Some([Statement::If(condition, inner, otherwise)]) => {
                self.choice("else if", condition, inner, otherwise.as_deref());
            }
            Some([Statement::Where(condition, inner, otherwise)]) => {
                self.choice("else where", condition, inner, otherwise.as_deref());
            }
            Some(otherwise) => self.inner("else", otherwise),
            None => {}
        }
    }

    fn print(&mut self, word: &str, numbers: &[Expression]) {
        let mut format = word.to_string();
        let mut arguments = String::new();
        for number in numbers {
            let (how, cast) = self.printed(number);
            let text = self.expression(number, strength::PREFIX);
            let _ = write!(format, " {how}");
            let _ = write!(arguments, ", {cast}{text}");
        }
        self.line(&format!("printf(\"{format}\\n\"{arguments});"));
    }

    /// How `printf` writes a number, and the type that it takes it in.
    fn printed(&self, number: &Expression) -> (&'static str, &'static str) {
        match number {
            Expression::Bits(_) => ("%016llx", ""),
            _ if self.program.type_of(number) == Type::UnsignedLongLong => ("%llu", ""),
            _ => ("%lld", "(long long)"),
        }
    }

    /// A line for each position, in the order of C's rows.
    fn settle(&mut self, object: &Object) {
        let Some(ShapeOf::Named(shape)) = self.program.variables[object.variable].shape else { return };
        let sizes = self.program.shapes[shape].sizes.clone();
        let mut place = "0".to_string();
        let mut indices = String::new();
        let depth = self.depth;
        for (axis, size) in sizes.iter().enumerate() {
            self.line(&format!("for (int c{axis} = 0; c{axis} < {size}; c{axis}++)"));
            self.depth += 1;
            place = if axis == 0 { "c0".into() } else { format!("({place}) * {size} + c{axis}") };
            let _ = write!(indices, "[c{axis}]");
        }
        let name = self.program.variables[object.variable].name.clone();
        let (how, cast) = self.printed(&Expression::Own(object.clone()));
        let object = self.object(object);
        self.line(&format!("printf(\"{name}[%d] {how}\\n\", {place}, {cast}{indices}{object});"));
        self.depth = depth;
    }

    fn object(&self, object: &Object) -> String {
        let variable = &self.program.variables[object.variable];
        let mut text = variable.name.clone();
        let bracket =
            |index: &Option<Box<Expression>>| index.as_ref().map(|index| format!("[{}]", self.expression(index, 0)));
        text.push_str(&bracket(&object.index).unwrap_or_default());
        if let (Held::Structure(structure), Some((field, index))) = (variable.held, &object.field) {
            let _ = write!(text, ".{}", self.program.structures[structure].fields[*field].name);
            text.push_str(&bracket(index).unwrap_or_default());
        }
        text
    }

    fn left_indexed(&self, indices: &[Expression], object: &Object) -> String {
        let indices: String = indices.iter().map(|index| format!("[{}]", self.expression(index, 0))).collect();
        format!("{indices}{}", self.object(object))
    }

    /// An expression in a place that needs this strength.
    fn expression(&self, expression: &Expression, needed: u8) -> String {
        let (text, strength) = self.with_strength(expression);
        if strength < needed { format!("({text})") } else { text }
    }

    fn operand(&self, outer: Operator, operand: &Expression, needed: u8) -> String {
        let (text, strength) = self.with_strength(operand);
        if strength < needed || is_unsaid(outer, strength) { format!("({text})") } else { text }
    }

    fn call(&self, name: &str, arguments: &[Expression]) -> String {
        let arguments: Vec<String> = arguments.iter().map(|argument| self.expression(argument, 0)).collect();
        format!("{name}({})", arguments.join(", "))
    }

    fn with_strength(&self, expression: &Expression) -> (String, u8) {
        match expression {
            Expression::Constant(value) => (constant(value), strength::POSTFIX),
            Expression::Own(object) => (self.object(object), strength::POSTFIX),
            Expression::Coordinate(dimension) => (format!("pcoord({dimension})"), strength::POSTFIX),
            Expression::Dot(_) => (".".into(), strength::POSTFIX),
            Expression::DimensionOf(shape, dimension) => {
                (format!("dimof({}, {dimension})", self.shape_name(*shape)), strength::POSTFIX)
            }
            Expression::PositionsOf(shape) => (format!("positionsof({})", self.shape_name(*shape)), strength::POSTFIX),
            Expression::RankOf(shape) => (format!("rankof({})", self.shape_name(*shape)), strength::POSTFIX),
            Expression::Prefix(prefix, operand) => {
                let word = match prefix {
                    Prefix::Minus => "-",
                    Prefix::Complement => "~",
                    Prefix::Not => "!",
                };
                let text = self.expression(operand, strength::PREFIX);
                // Two of `-` in a row would be one of `--`.
                let text = if text.starts_with('-') { format!("({text})") } else { text };
                (format!("{word}{text}"), strength::PREFIX)
            }
            Expression::Binary(operator, left, right) => {
                let strength = strength_of(*operator);
                // The compiler takes a comparison of a comparison for a mistake.
                let of_left = if operator.is_comparison() { strength + 1 } else { strength };
                let left = self.operand(*operator, left, of_left);
                let right = self.operand(*operator, right, strength + 1);
                (format!("{left} {} {right}", operator.word()), strength)
            }
            Expression::Logical(is_and, left, right) => {
                let (word, strength) = if *is_and { ("&&", strength::AND) } else { ("||", strength::OR) };
                let (left, right) = (self.expression(left, strength), self.expression(right, strength + 1));
                (format!("{left} {word} {right}"), strength)
            }
            Expression::Conditional(parts) => {
                let condition = self.expression(&parts[0], strength::CONDITIONAL + 1);
                let (yes, no) = (self.expression(&parts[1], 0), self.expression(&parts[2], strength::CONDITIONAL));
                (format!("{condition} ? {yes} : {no}"), strength::CONDITIONAL)
            }
            Expression::Cast(of, operand) => {
                (format!("({}){}", of.name(), self.expression(operand, strength::PREFIX)), strength::PREFIX)
            }
            Expression::Math(math, arguments) => (self.call(math.name(), arguments), strength::POSTFIX),
            Expression::Reduce(reduction, operand) => {
                let operand = self.expression(operand, strength::PREFIX);
                (format!("({}= {operand})", reduction.written().word()), strength::POSTFIX)
            }
            Expression::Get(indices, object) => (self.left_indexed(indices, object), strength::PREFIX),
            Expression::Shift(shift) => (self.shift("from", shift, None), strength::POSTFIX),
            Expression::Call(call) => {
                (self.call(&self.program.functions[call.function].name, &call.arguments), strength::POSTFIX)
            }
            Expression::Send(indices, object, value) => {
                let (to, value) = (self.left_indexed(indices, object), self.expression(value, 0));
                (format!("{to} = {value}"), 0)
            }
            Expression::Step { object, is_prefix: true } => (format!("++{}", self.object(object)), strength::PREFIX),
            Expression::Step { object, .. } => (format!("{}++", self.object(object)), strength::POSTFIX),
            Expression::Bits(operand) => (format!("bits({})", self.expression(operand, 0)), strength::POSTFIX),
        }
    }
}
