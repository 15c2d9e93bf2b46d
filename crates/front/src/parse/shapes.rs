//! What C* adds to the syntax of C. Its words are names in headers, and where the program has declared them itself.

use super::{Parse, Parser};
use crate::Dialect;
use crate::dialect::c_star;
use crate::draft::FileShape;
use crate::lex::Kind;
use crate::scope::Symbol;
use crate::tree::{Expression, Form, StatementForm};
use crate::types::{ParallelShape, Type};
use std::rc::Rc;

/// Operators of reductions, and assignments that are none.
const REDUCTIONS: [&str; 5] = ["+=", "-=", "&=", "|=", "^="];
const NO_REDUCTIONS: [&str; 5] = ["*=", "/=", "%=", "<<=", ">>="];

/// Most dimensions of a shape.
const RANK: usize = 4;

impl Parser<'_> {
    /// Whether what stands here may be C*'s own.
    pub(super) fn is_c_star(&self) -> bool {
        self.dialect == Dialect::CStar && !self.token().system
    }

    /// Whether these marks stand there and touch: `<?=`.
    fn are_marks(&self, at: usize, marks: &[&str]) -> bool {
        let tokens = &self.draft.lexed.tokens;
        self.dialect == Dialect::CStar
            && at + marks.len() < tokens.len()
            && marks.iter().enumerate().all(|(i, mark)| {
                self.word_at(at + i) == *mark && (i == 0 || tokens[at + i - 1].end == tokens[at + i].start)
            })
    }

    /// Of `<?`, `>?` and `%%`: how strongly it binds.
    pub(super) fn own_operator(&self, comparison: usize, product: usize) -> Option<usize> {
        let is_least = self.are_marks(self.at, &["<", "?"]) || self.are_marks(self.at, &[">", "?"]);
        if is_least && !self.is_own_assignment() {
            return Some(comparison);
        }
        self.are_marks(self.at, &["%", "%"]).then_some(product)
    }

    /// `<?=` and `>?=`.
    pub(super) fn is_own_assignment(&self) -> bool {
        self.are_marks(self.at, &["<", "?", "="]) || self.are_marks(self.at, &[">", "?", "="])
    }

    /// A word of C* that a program has not declared as its own.
    fn is_own_word(&self, word: &str) -> bool {
        self.is_c_star() && self.is(word) && self.scopes.find(word).is_none()
    }

    pub(super) fn shape_named(&self, at: usize) -> Option<Rc<ParallelShape>> {
        match self.scopes.find(self.word_at(at)) {
            Some(Symbol::Shape(shape)) if self.dialect == Dialect::CStar => Some(shape.clone()),
            None if self.word_at(at) == "current" && self.is_c_star() => self.current.clone(),
            _ => None,
        }
    }

    /// The name of a shape, or `shapeof ( variable )`, if it stands here.
    pub(super) fn shape_here(&mut self) -> Parse<Option<Rc<ParallelShape>>> {
        if let Some(shape) = self.shape_named(self.at) {
            self.at += 1;
            return Ok(Some(shape));
        }
        if !(self.is_own_word("shapeof") && self.is_next("(")) {
            return Ok(None);
        }
        let first = self.at;
        self.at += 2;
        let variable = self.deeper(Self::unary)?;
        self.expect(")")?;
        let shape = variable.ty.innermost().0.parallel.clone();
        if shape.is_none() {
            self.error(first, self.at - 1, "`shapeof` is asked of a parallel variable, and this is none")
                .help("name the shape");
            return Err(super::Failed);
        }
        Ok(shape)
    }

    /// `#pragma cstar dist S block(2,4)`, if it stands here: how many nodes are below each other and side by side.
    pub(super) fn distribution(&mut self) -> bool {
        if !self.is_c_star() || !self.word().starts_with('#') {
            return false;
        }
        let word = self.word().to_string();
        let at = self.at;
        self.draft.edits.remove(at);
        self.at += 1;
        let Some((name, below, across)) = blocks(&word) else {
            self.error(at, at, "this pragma is not understood").help("there is: #pragma cstar dist S block(2,4)");
            return true;
        };
        let shape = self.draft.shapes.iter_mut().find(|shape| shape.name == name && !shape.is_elsewhere);
        match shape {
            Some(shape) if shape.rank == 2 => shape.blocks = (below, across),
            Some(shape) => {
                let message =
                    format!("a shape of two dimensions is dealt out in blocks, and `{name}` has {}", shape.rank);
                self.error(at, at, message).help("leave the pragma out");
            }
            None => {
                self.error(at, at, format!("`{name}` is not a shape of this file"))
                    .help("write the pragma after the shape's declaration, in the file that has no `extern` before it");
            }
        }
        true
    }

    /// A declaration of shapes, if it stands here.
    pub(super) fn shapes(&mut self, is_file: bool) -> Parse<bool> {
        let is_extern = self.is_c_star() && self.is_one_of(&["extern", "static"]) && self.is_next("shape");
        let is_own = self.is_own_word("shape") && (self.is_next("[") || self.token_is_name(self.at + 1));
        if !(is_own || is_extern && self.scopes.find("shape").is_none()) {
            return Ok(false);
        }
        let first = self.at;
        let storage = if is_extern { format!("{} ", self.word()) } else { String::new() };
        if is_extern {
            self.draft.edits.remove(first);
            self.at += 1;
        }
        if !is_file {
            self.error(self.at, self.at, "shapes in functions are not there yet").help("declare it at file scope");
        }
        self.draft.edits.instead(self.at, "static const struct cstar_shape __attribute__((unused))");
        self.at += 1;
        let (mut states, mut asserted) = (Vec::new(), String::new());
        loop {
            states.push(self.shape(storage == "extern ", &mut asserted)?);
            if !self.eat(",") {
                break;
            }
        }
        self.expect(";")?;
        self.draft.edits.before(first, &format!("{storage}struct cstar_state {}; ", states.join(", ")));
        self.draft.edits.after(self.at - 1, &asserted);
        Ok(true)
    }

    fn token_is_name(&self, at: usize) -> bool {
        self.draft.token_at(at).kind == Kind::Name
    }

    /// `[n][m] name`: the sizes become what the object of that name begins with. Gives the object of what is known when the program begins.
    fn shape(&mut self, is_elsewhere: bool, asserted: &mut String) -> Parse<String> {
        let first = self.at;
        let mut sizes = Vec::new();
        while self.eat("[") {
            let begin = self.at;
            if self.is("]") {
                return Err(self.expected("the number of positions (shapes without sizes are not there yet)"));
            }
            let size = self.conditional()?;
            self.whole(size, true);
            let text = self.draft.edits.text(self.draft.lexed, begin, self.at - 1);
            asserted.push_str(&format!(
                " _Static_assert((({text}) | {}) > 0 && ({text}) <= 0x7fffffff, \"a shape has one position or more in each dimension, and at most 2147483647\");",
                c_star::WHOLE
            ));
            sizes.push(format!("({text})"));
            self.expect("]")?;
        }
        let name = self.at;
        if self.kind() != Kind::Name {
            return Err(self.expected("the name of a shape"));
        }
        let word = self.word().to_string();
        self.at += 1;
        if sizes.is_empty() || sizes.len() > RANK {
            let has = if sizes.is_empty() { "no sizes".to_string() } else { format!("{} dimensions", sizes.len()) };
            self.error(name, name, format!("a shape has 1 to {RANK} dimensions, and `{word}` has {has}"))
                .help("write its sizes before its name: shape [100][100]name;");
            sizes.truncate(RANK);
        }
        if name > first {
            self.draft.edits.replace(first, name - 1, "");
        }
        let (rank, state) = (sizes.len(), format!("cstar_state_{word}"));
        // Declared again, it is held against what was declared before, and not used.
        let again = self.draft.shapes.iter().filter(|shape| shape.name == word).count();
        let is_defined = self.draft.shapes.iter().any(|shape| shape.name == word && !shape.is_elsewhere);
        if is_defined && !is_elsewhere {
            self.error(name, name, format!("the shape `{word}` is there already"))
                .help("give this one another name, or leave it out");
        }
        let object = c_star::object(&if again > 0 { format!("{word}__{again}") } else { word.clone() });
        let below: Vec<String> = (0..rank).map(|axis| product(&sizes[axis + 1..])).collect();
        let begin = format!(
            "{object} = {{.name = \"{word}\", .rank = {rank}, .size = {{{}}}, .below = {{{}}}, .state = &{state}}}",
            sizes.join(", "),
            below.join(", ")
        );
        self.draft.edits.instead(name, &begin);
        self.draft.shapes.push(FileShape { name: word.clone(), object, is_elsewhere, rank, blocks: (0, 0) });
        self.scopes.declare(&word, Symbol::Shape(Rc::new(ParallelShape { name: word.clone(), rank })));
        Ok(state)
    }

    /// `with`, `where` or `everywhere`, if one stands here.
    pub(super) fn context(&mut self) -> Parse<Option<StatementForm>> {
        if self.is_own_word("with") && self.is_next("(") {
            self.own_statements += 1;
            return self.with().map(Some);
        }
        if self.is_own_word("where") && self.is_next("(") {
            self.own_statements += 1;
            return self.where_statement().map(Some);
        }
        if self.is_own_word("everywhere") && !self.is_next("=") {
            self.own_statements += 1;
            self.at += 1;
            return Ok(Some(StatementForm::Everywhere(self.inner()?)));
        }
        if self.is_c_star() && self.is("goto") {
            self.error(self.at, self.at, "`goto` is not there yet: it could leave a context behind")
                .help("use break, continue or return");
        }
        Ok(None)
    }

    fn with(&mut self) -> Parse<StatementForm> {
        self.at += 2;
        let Some(shape) = self.shape_here()? else {
            let word = self.word().to_string();
            let help = if word == "current" {
                "it is the shape that is current where a function is called that has it in its type"
            } else {
                "declare it at file scope: shape [100]name;"
            };
            self.error(self.at, self.at, format!("`{word}` is not a shape")).help(help);
            return Err(super::Failed);
        };
        let close = self.at;
        self.expect(")")?;
        let before = self.current.replace(shape.clone());
        let inner = self.inner();
        self.current = before;
        Ok(StatementForm::With { shape, close, inner: inner? })
    }

    fn where_statement(&mut self) -> Parse<StatementForm> {
        self.at += 1;
        let condition = self.condition()?;
        let close = self.at - 1;
        let inner = self.inner()?;
        let at = self.at;
        let otherwise = if self.eat("else") { Some((at, self.inner()?)) } else { None };
        Ok(StatementForm::Where { condition, close, inner, otherwise })
    }

    /// A left index or a reduction, if one stands here.
    pub(super) fn own_prefix(&mut self) -> Parse<Option<Expression>> {
        let first = self.at;
        if !self.is_c_star() || self.kind() != Kind::Mark {
            return Ok(None);
        }
        if self.is("[") {
            return self.left_index().map(Some);
        }
        if self.is_one_of(&NO_REDUCTIONS) {
            let word = self.word().to_string();
            self.error(first, first, format!("there is no reduction `{word}`"))
                .help("there are += -= &= |= ^= <?= and >?=");
            return Err(super::Failed);
        }
        let width = if self.is_one_of(&REDUCTIONS) {
            1
        } else if self.is_own_assignment() {
            3
        } else {
            return Ok(None);
        };
        self.at += width;
        let operand = Box::new(self.deeper(Self::cast)?);
        let last = operand.last;
        Ok(Some(Expression { form: Form::Reduce { op: first, operand }, ty: Type::number(), first, last }))
    }

    fn left_index(&mut self) -> Parse<Expression> {
        let first = self.at;
        let mut axes = Vec::new();
        while self.is("[") {
            self.at += 1;
            let before = (self.axis.replace(axes.len()), std::mem::take(&mut self.in_middle));
            let index = self.deeper(Self::expression);
            (self.axis, self.in_middle) = before;
            axes.push(index?);
            self.expect("]")?;
        }
        let operand = Box::new(self.deeper(Self::unary)?);
        let last = operand.last;
        Ok(Expression { form: Form::LeftIndex { axes, operand }, ty: Type::number(), first, last })
    }

    /// `.` in a left index.
    pub(super) fn own_coordinate(&mut self) -> Option<Expression> {
        let axis = self.axis.filter(|_| self.is_c_star() && self.is("."))?;
        let first = self.at;
        self.at += 1;
        Some(Expression { form: Form::Coordinate(axis), ty: Type::number(), first, last: first })
    }
}

/// A product in C, cut to an `int`: one that is too large is told when the shape is laid out.
fn product(sizes: &[String]) -> String {
    let all: String = sizes.iter().map(|size| format!(" * (unsigned){size}")).collect();
    format!("(int)(1u{all})")
}

/// The shape and the numbers of `#pragma cstar dist S block(2,4)`.
fn blocks(pragma: &str) -> Option<(String, u32, u32)> {
    let rest = pragma.strip_prefix('#')?.trim_start().strip_prefix("pragma")?.trim_start().strip_prefix("cstar")?;
    let (name, rest) = rest.trim_start().strip_prefix("dist")?.trim_start().split_once(char::is_whitespace)?;
    let inner = rest.trim().strip_prefix("block")?.trim_start().strip_prefix('(')?.strip_suffix(')')?;
    let (below, across) = inner.split_once(',')?;
    let number = |text: &str| text.trim().parse().ok().filter(|number| (1..=1 << 16).contains(number));
    Some((name.to_string(), number(below)?, number(across)?))
}
