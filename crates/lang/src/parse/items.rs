//! Declarations.

use super::*;
use trivium_diagnostic::Code;

impl Parser<'_> {
    /// `job`, `job up to 4`, `lock image { held: bool }`.
    fn object_kind(&mut self) -> Parsed<ObjectKind> {
        let name = self.name("the name of a kind of object")?;
        let (mut up_to, mut image) = (None, None);
        if !self.token().first && self.eat_word("up") {
            self.need_word("to")?;
            up_to = Some(self.sum()?);
        }
        if !self.token().first && self.eat_word("image") {
            image = Some(self.fields()?);
        }
        Ok(ObjectKind { name, up_to, image })
    }

    /// `want`, `want(n: 0..3)`, `join: bool`.
    fn event_item(&mut self) -> Parsed<EventItem> {
        let name = self.name("the event's name")?;
        let params = self.bracketed(Self::field)?;
        let result = if self.eat_mark(":") { Some(self.ty()?) } else { None };
        Ok(EventItem { name, params, result })
    }

    pub(super) fn file(&mut self) -> File {
        let mut file = File::default();
        if self.eat_word("protocol") {
            file.name = self.protocol_name().ok();
            self.diagnostics.lost_declarations |= file.name.is_none();
        }
        while !self.at_end() {
            match self.item() {
                Ok(item) => file.items.push(item),
                Err(Lost) => {
                    self.skip_item_unless_there();
                    self.diagnostics.lost_declarations = true;
                }
            }
            self.eat_mark(";");
        }
        file
    }

    fn skip_item_unless_there(&mut self) {
        let token = self.token();
        let there =
            matches!(&token.kind, TokenKind::Name(n) if token.first && ITEMS.contains(&n.as_str()) && n != "protocol");
        if !there {
            self.skip_item();
        }
    }

    /// `stache`, `token-lock`: the only name in which a dash may stand. After one, a word of the language is a word like others: `sleeps-on`.
    fn protocol_name(&mut self) -> Parsed<Ident> {
        let mut name = self.name("the protocol's name")?;
        while self.is_mark("-") && !self.token().first {
            self.advance();
            let TokenKind::Name(more) = &self.token().kind else {
                return self.expected("the rest of the protocol's name");
            };
            name = Ident { text: format!("{}-{more}", name.text), span: name.span.to(self.span()) };
            self.advance();
        }
        Ok(name)
    }

    fn item(&mut self) -> Parsed<Item> {
        self.operators = 0;
        let word = match &self.token().kind {
            TokenKind::Name(n) => n.clone(),
            _ => return self.expected("a declaration (`message`, `lane`, `role`, ..)"),
        };
        let span = self.span();
        if !ITEMS.contains(&word.as_str()) || word == "protocol" {
            return self.expected("a declaration (`message`, `lane`, `role`, ..)");
        }
        self.advance();
        Ok(match word.as_str() {
            "use" => match &self.token().kind {
                TokenKind::Text(file) => {
                    let file = file.clone();
                    self.advance();
                    Item::Use { file, span: span.to(self.previous_span()) }
                }
                _ => return self.expected("the name of a file in double quotes"),
            },
            "check" => {
                let sizes = self.listed(Self::size)?;
                Item::Check { sizes, span: span.to(self.previous_span()) }
            }
            "promises" => {
                let only = self.is_word("only").then(|| self.span());
                self.eat_word("only");
                Item::Promises { words: self.listed(Self::word)?, only }
            }
            "assume" => Item::Assume(self.listed(Self::assumption)?),
            "processor" => Item::Processor { kind: self.name("`cached` or `tagged`")? },
            "param" => self.param()?,
            "lane" => self.lane()?,
            "share" => self.share()?,
            "object" => Item::Object(self.listed(Self::object_kind)?),
            "record" => {
                let name = self.name("the record's name")?;
                Item::Record { name, fields: self.fields()? }
            }
            "message" => self.message()?,
            "op" => {
                let name = self.name("the call's name")?;
                let params = self.bracketed(Self::field)?;
                let result = if self.eat_mark(":") { Some(self.ty()?) } else { None };
                let body = if self.is_mark("{") { Some(self.body()?) } else { None };
                Item::Op { name, params, result, body }
            }
            "event" => Item::Event(self.listed(Self::event_item)?),
            "role" => Item::Role(self.role()?),
            "extend" => Item::Extend(Box::new(self.extension(span)?)),
            "ghost" => Item::Ghost(self.ghost()?),
            "invariant" => {
                let name = self.name("the invariant's name")?;
                let of = if self.eat_word("of") { Some(self.name("a kind of object")?) } else { None };
                self.need_mark(":")?;
                Item::Invariant { name, of, condition: self.expression()? }
            }
            "waits" => {
                let op = self.name("the name of a call")?;
                // Without a condition there is none that ends the excuse.
                let condition = if self.eat_word("until") {
                    self.expression()?
                } else if self.token().first || self.token().kind == TokenKind::End {
                    Expr { span: op.span, kind: ExprKind::Name("false".into()) }
                } else {
                    return self.expected("`until` and what the call waits for");
                };
                Item::Waits { op, condition }
            }
            "scenario" => Item::Scenario(self.scenario(span)?),
            _ => {
                let rule = self.name("the name of a rule")?;
                match &self.token().kind {
                    TokenKind::Text(reason) => {
                        let reason = reason.clone();
                        self.advance();
                        Item::Waive { rule, reason }
                    }
                    _ => return self.expected("the reason in double quotes"),
                }
            }
        })
    }

    /// `nodes 3`, `network unordered`, `objects block=2 job=1`, `homes block=0/1`.
    fn size(&mut self) -> Parsed<Size> {
        let name = self.name("a size such as `nodes`")?;
        let value = if name.text == "network" {
            SizeValue::Word(self.name("`fifo` or `unordered`")?)
        } else if name.text == "homes" || name.text == "objects" && self.next_is_mark("=") {
            SizeValue::Kinds(self.numbers_of_kinds()?)
        } else {
            SizeValue::Number(self.sum()?)
        };
        Ok(Size { name, value })
    }

    /// `block=2 job=1`, `block=0/1`.
    pub(super) fn numbers_of_kinds(&mut self) -> Parsed<Vec<KindSize>> {
        let mut kinds = Vec::new();
        loop {
            let kind = self.name("a kind of objects, as in `block=0/1`")?;
            self.need_mark("=")?;
            let mut numbers = vec![self.whole_number()?];
            while self.eat_mark("/") {
                numbers.push(self.whole_number()?);
            }
            kinds.push(KindSize { kind, numbers });
            if self.token().first || !self.next_is_mark("=") {
                return Ok(kinds);
            }
        }
    }

    fn whole_number(&mut self) -> Parsed<(i64, Span)> {
        let TokenKind::Int(number) = self.token().kind else { return self.expected("a number") };
        let span = self.advance().span;
        Ok((number, span))
    }

    fn word(&mut self) -> Parsed<Word> {
        let name = self.name("a word such as `single_writer`")?;
        let args = self.bracketed(|p| p.name("the name of a call"))?;
        Ok(Word { name, args, when: None })
    }

    /// `once(f)`, or `f when EXPR`, `f(x, y) when EXPR`.
    fn assumption(&mut self) -> Parsed<Word> {
        let name = self.name("a word such as `once`, a call, `read` or `write`")?;
        let args = self.bracketed(|p| p.name("the name of a call or of an argument"))?;
        let when = if self.eat_word("when") { Some(self.expression()?) } else { None };
        Ok(Word { name, args, when })
    }

    fn param(&mut self) -> Parsed<Item> {
        let name = self.name("the parameter's name")?;
        self.need_mark("=")?;
        let value = self.sum()?;
        let range = if self.eat_word("in") {
            let lo = self.sum()?;
            self.need_mark("..")?;
            Some((lo, self.sum()?))
        } else {
            None
        };
        // At the beginning of a line it is a declaration.
        let check = if !self.token().first && self.eat_word("check") { Some(self.sum()?) } else { None };
        Ok(Item::Param { name, value, range, check })
    }

    fn lane(&mut self) -> Parsed<Item> {
        let name = self.name("the lane's name")?;
        let unordered = self.eat_word("unordered");
        if !unordered {
            self.eat_word("fifo");
        }
        let mut merged = self.merged();
        let queues = self.is_word("queues");
        let holds = if self.eat_word("queues") || self.eat_word("holds") {
            Some(self.sum()?)
        } else {
            self.eat_word("buffered");
            None
        };
        let (mut lossy, mut duplicating) = (false, false);
        while self.is_word("lossy") || self.is_word("duplicating") {
            lossy |= self.is_word("lossy");
            duplicating |= self.is_word("duplicating");
            self.advance();
        }
        merged = merged.or(self.merged());
        let behind = if self.eat_word("behind") { Some(self.name("the name of a lane")?) } else { None };
        self.no_more_of_a_lane();
        Ok(Item::Lane { name, unordered, merged, holds, queues, lossy, duplicating, behind })
    }

    fn share(&mut self) -> Parsed<Item> {
        let lanes = self.listed(|parser| parser.name("the name of a lane"))?;
        if !self.eat_word("up") || !self.eat_word("to") {
            return self.expected("`up to`, and how many places the lanes share");
        }
        Ok(Item::Share { lanes, places: self.sum()? })
    }

    /// A word of a lane that stands behind all of them has been said before, or does not go with what was said.
    fn no_more_of_a_lane(&mut self) {
        const WORDS: [&str; 9] =
            ["unordered", "fifo", "merged", "queues", "holds", "buffered", "lossy", "duplicating", "behind"];
        let span = self.token().span;
        let Some(word) = WORDS.into_iter().find(|word| self.is_word(word)) else { return };
        self.diagnostics.error(Code::Syntax, span, format!("`{word}` is said twice of this lane, or stands in the wrong place")).help(
            "the order is: `unordered` or `fifo`, `merged`, `holds N`, `queues N` or `buffered`, `lossy`, `duplicating`, `behind LANE`",
        );
        self.advance();
        if matches!(word, "holds" | "queues" | "behind") && !self.token().first {
            self.advance();
        }
        self.no_more_of_a_lane();
    }

    /// Where a lane says that it is `merged`, if it does.
    fn merged(&mut self) -> Option<Span> {
        let span = self.token().span;
        self.eat_word("merged").then_some(span)
    }

    fn message(&mut self) -> Parsed<Item> {
        let messages = self.listed(|p| {
            let name = p.name("the message's name")?;
            Ok((name, p.bracketed(Self::field)?))
        })?;
        let lane = if self.eat_word("on") { Some(self.name("the name of a lane")?) } else { None };
        let with = if self.eat_word("with") { Some(self.name("`block`, `memory` or `list`")?) } else { None };
        Ok(Item::Message { messages, lane, with })
    }

    fn fields(&mut self) -> Parsed<Vec<Field>> {
        self.need_mark("{")?;
        let mut fields = Vec::new();
        while !self.is_mark("}") {
            fields.push(self.field()?);
            if !self.eat_mark(",") {
                self.eat_mark(";");
            }
        }
        self.need_mark("}")?;
        Ok(fields)
    }

    pub(super) fn field(&mut self) -> Parsed<Field> {
        let name = self.name("a name")?;
        self.need_mark(":")?;
        Ok(Field { name, ty: self.ty()? })
    }

    pub(super) fn ty(&mut self) -> Parsed<Type> {
        self.deeper(Self::ty_here)
    }

    fn ty_here(&mut self) -> Parsed<Type> {
        let start = self.span();
        if self.eat_word("set") {
            self.need_word("of")?;
            let of = Box::new(self.ty()?);
            return Ok(Type::Set { of, span: start.to(self.previous_span()) });
        }
        if self.is_word("list") || self.is_word("queue") {
            let queue = self.is_word("queue");
            self.advance();
            self.need_word("of")?;
            let of = Box::new(self.ty()?);
            self.need_word("up")?;
            self.need_word("to")?;
            let up_to = self.sum()?;
            return Ok(Type::List { of, up_to, queue, span: start.to(self.previous_span()) });
        }
        if self.eat_mark("[") {
            let by = Box::new(self.ty()?);
            self.need_mark("]")?;
            self.need_word("of")?;
            let of = Box::new(self.ty()?);
            return Ok(Type::Array { by, of, span: start.to(self.previous_span()) });
        }
        if matches!(&self.token().kind, TokenKind::Name(_)) && !self.next_is_mark("..") {
            let name = self.name("a type")?;
            let optional = self.eat_mark("?");
            return Ok(Type::Named { name, optional });
        }
        let lo = self.sum()?;
        self.need_mark("..")?;
        let hi = self.sum()?;
        Ok(Type::Range { lo, hi, optional: self.eat_mark("?") })
    }
}
