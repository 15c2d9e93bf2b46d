//! Images: `object lock image { .. }`, the events that bodies say, and what handlers do to the line (`docs/semantics.md`, section 8).

use super::frame::Frame;
use super::types::{NUMBER, fixed_range, is_for_bodies};
use super::*;
use trivium_diagnostic::Code;

fn at(kind: ExprKind, ty: Type, span: Span) -> Expr {
    Expr { kind, ty, span }
}

fn number(value: i64, span: Span) -> Expr {
    at(ExprKind::Constant(Bound::fixed(value)), NUMBER, span)
}

fn binary(operator: Operator, left: Expr, right: Expr, ty: Type) -> Expr {
    let span = left.span;
    at(ExprKind::Binary(operator, Box::new(left), Box::new(right)), ty, span)
}

/// A field of a word.
pub(super) fn field_of(word: Expr, field: &ImageField) -> Expr {
    let span = word.span;
    let shifted = binary(Operator::Divide, word, number(field.divisor(), span), NUMBER);
    binary(Operator::Remainder, shifted, number(field.modulus(), span), field.named.ty.clone())
}

/// The word of these fields.
pub(super) fn word_of(image: &Image, values: impl IntoIterator<Item = Expr>, span: Span) -> Expr {
    let placed = image.fields.iter().zip(values).map(|(field, value)| match field.divisor() {
        1 => value,
        divisor => binary(Operator::Multiply, value, number(divisor, span), NUMBER),
    });
    placed.reduce(|sum, part| binary(Operator::Add, sum, part, NUMBER)).unwrap_or_else(|| number(0, span))
}

impl Compiler {
    /// The images that kinds of objects have. What a handler takes out of one is a record, which no name stands for.
    pub(super) fn images(&mut self, file: &ast::File) {
        for item in &file.items {
            let ast::Item::Object(kinds) = item else { continue };
            for kind in kinds {
                let (Some(fields), Some(object)) =
                    (&kind.image, self.protocol.objects.iter().position(|name| *name == kind.name.text))
                else {
                    continue;
                };
                let object = ObjectKindId::at(object);
                if kind.up_to.is_some() {
                    self.error(Code::Handler, kind.name.span, "objects that handlers make have no image")
                        .help("leave `up to` out: a line has its object all the time");
                }
                self.image(object, fields, kind.name.span);
            }
        }
    }

    fn image(&mut self, object: ObjectKindId, fields: &[ast::Field], span: Span) {
        let rule = "the fields of an image are truth values and ranges from 0";
        let named = self.fields(fields, rule, types::is_scalar);
        let (mut placed, mut at) = (Vec::new(), 0);
        for field in &named {
            let bits = match field.ty {
                Type::Bool => 1,
                Type::Int { lo, hi } if lo == Bound::fixed(0) && hi.per_node == 0 && hi.constant < 1 << 32 => {
                    i64::BITS - hi.constant.leading_zeros()
                }
                _ => {
                    self.error(Code::Handler, field.span, rule)
                        .help("`held: bool`, `turn: 0..3`: nodes and ranges that depend on `nodes` stay in the role");
                    continue;
                }
            };
            placed.push(ImageField { named: field.clone(), at, bits: bits.max(1) });
            at += bits.max(1);
        }
        if at > Image::MOST_BITS {
            self.error(
                Code::Handler,
                span,
                format!("an image has at most {} bits, and these fields take {at}", Image::MOST_BITS),
            )
            .help("keep what the processor does not look at in the role");
        }
        if fields.is_empty() {
            self.error(Code::Handler, span, "an image without fields says nothing")
                .help("`object lock image { held: bool }`");
        }
        let name = format!("image of {}", self.protocol.objects[object.index()]);
        self.image_records.push(RecordId::at(self.protocol.records.len()));
        self.protocol.records.push(Record { name, fields: named });
        self.protocol.images.push(Image { object, fields: placed });
    }

    /// Where a line is composed, processors have caches: of blocks, too, if there are any.
    pub(super) fn images_are_cached(&mut self) {
        let Some(image) = self.protocol.images.first() else { return };
        if !self.protocol.cached && self.protocol.roles.iter().any(|role| role.object == BLOCK) {
            let span = image.fields.first().map_or(Span::default(), |field| field.named.span);
            self.error(Code::Handler, span, "a protocol with images and with blocks has cached processors")
                .help("declare `processor cached`, and answer requests for blocks with `fill`");
        }
        self.protocol.cached = true;
    }

    /// The events that bodies say. About which kind of object one is, is known when a role handles it.
    pub(super) fn events(&mut self, file: &ast::File) {
        for item in &file.items {
            let ast::Item::Event(events) = item else { continue };
            for event in events {
                let taken: Vec<String> = self.protocol.ops.iter().map(|op| op.name.clone()).collect();
                if !self.fresh(&event.name, "call or event", &taken) {
                    continue;
                }
                let rule = "the parameters of an event are numbers, truth values and objects";
                let args = self.fields(&event.params, rule, is_for_bodies);
                let result = event.result.as_ref().and_then(|ty| self.ty(ty));
                if result.as_ref().is_some_and(|ty| !is_for_bodies(ty)) {
                    self.error(
                        Code::Handler,
                        event.name.span,
                        "the result of an event is a number, a truth value or an object",
                    );
                }
                self.protocol.ops.push(Op {
                    name: event.name.text.clone(),
                    object: NODE,
                    object_may_be_none: false,
                    args,
                    result,
                    body: None,
                    is_event: true,
                    span: event.name.span,
                });
            }
        }
    }

    /// The image of the objects of a role, if they have one.
    pub(super) fn image_of_role(&self, role: RoleId) -> Option<&Image> {
        self.protocol.image_of(self.protocol.roles[role.index()].object)
    }

    /// `fill exclusive {held: true}`.
    pub(super) fn fill(
        &mut self,
        frame: &mut Frame,
        line: Line,
        fields: Option<&ast::Expr>,
        span: Span,
    ) -> Option<Vec<StepKind>> {
        self.needs_cache(frame, "fill", span)?;
        let image = self.image_of_role(frame.seen).cloned();
        let (image, fields) = match (image, fields) {
            (None, None) => return Some(vec![StepKind::Fill(line)]),
            (None, Some(fields)) => {
                self.error(Code::Handler, fields.span, "a block is filled with the engine's contents of it")
                    .help("leave the fields out: they are for images");
                return None;
            }
            (Some(image), None) => {
                let names: Vec<String> = image.fields.iter().map(|f| format!("{}: ..", f.named.name)).collect();
                self.error(Code::Handler, span, "with what? An image has nothing but what the engine composes")
                    .help(format!("`fill {line} {{{}}}`", names.join(", ")));
                return None;
            }
            (Some(image), Some(fields)) => (image, fields),
        };
        let record = self.record_of_image(&image);
        let values = self.values(frame, fields, &Type::Record(record))?;
        let mut steps: Vec<StepKind> =
            image.fields.iter().zip(&values).filter_map(|(field, value)| fits_in(field, value)).collect();
        steps.push(StepKind::Compose(word_of(&image, values, span)));
        steps.push(StepKind::Fill(line));
        Some(steps)
    }

    /// `let v = take exclusive`.
    pub(super) fn let_take(
        &mut self,
        frame: &mut Frame,
        name: &ast::Ident,
        line: Line,
        span: Span,
    ) -> Option<Vec<StepKind>> {
        self.needs_cache(frame, "take", span)?;
        if self.image_of_role(frame.seen).is_none() {
            self.error(Code::Handler, span, "`take` of a block gives no value: its contents go to the engine's side")
                .help(format!("write `take {line}` alone"));
            return None;
        }
        let taken = self.taken(frame, &name.text, span)?;
        Some(vec![StepKind::Take(line), taken])
    }

    /// What was taken, or came with the event, as a local.
    pub(super) fn taken(&mut self, frame: &mut Frame, name: &str, span: Span) -> Option<StepKind> {
        let image = self.image_of_role(frame.seen)?.clone();
        let word = at(ExprKind::ImageWord, NUMBER, span);
        let fields = image.fields.iter().map(|field| field_of(word.clone(), field)).collect();
        let record = Type::Record(self.record_of_image(&image));
        Some(StepKind::Let(frame.local(&self.protocol, name, record), fields))
    }

    fn record_of_image(&self, image: &Image) -> RecordId {
        let at = self.protocol.images.iter().position(|other| other.object == image.object);
        at.map_or_else(RecordId::default, |at| self.image_records[at])
    }
}

/// The step that looks whether a number has its place in a field, where its type does not say so.
fn fits_in(field: &ImageField, value: &Expr) -> Option<StepKind> {
    let Type::Int { hi, .. } = field.named.ty else { return None };
    let constant = match value.kind {
        ExprKind::Constant(bound) if bound.per_node == 0 => Some((bound.constant, bound.constant)),
        _ => None,
    };
    let mut known = fixed_range(&value.ty).into_iter().chain(constant);
    if known.any(|(least, most)| least >= 0 && most <= hi.constant) {
        return None;
    }
    let span = value.span;
    let low = binary(Operator::LessEqual, number(0, span), value.clone(), Type::Bool);
    let high = binary(Operator::LessEqual, value.clone(), number(hi.constant, span), Type::Bool);
    Some(StepKind::Assert(binary(Operator::And, low, high, Type::Bool), Asserted::Written))
}
