//! Reads expressions. From the weakest: `|`, `&`, `!`, comparisons, shifts, sums, products, signs.

use super::parser::{Parsed, Parser};
use super::syntax::{Expr, Sign};
use super::tokens::Token;

const COMPARISONS: [(&str, Sign); 6] = [
    ("=", Sign::Equal),
    ("!=", Sign::Different),
    ("<", Sign::Less),
    ("<=", Sign::LessEqual),
    (">", Sign::Greater),
    (">=", Sign::GreaterEqual),
];
const SHIFTS: [(&str, Sign); 2] = [("<<", Sign::ShiftLeft), (">>", Sign::ShiftRight)];
const SUMS: [(&str, Sign); 2] = [("+", Sign::Plus), ("-", Sign::Minus)];
const PRODUCTS: [(&str, Sign); 3] = [("*", Sign::Times), ("/", Sign::Divide), ("%", Sign::Remainder)];

impl Parser {
    pub fn expression(&mut self) -> Parsed<Expr> {
        let value = self.chain(&[("|", Sign::Or)], |parser| parser.chain(&[("&", Sign::And)], Parser::negation))?;
        if !self.take("?") {
            return Ok(value);
        }
        let yes = self.expression()?;
        self.expect(":")?;
        Ok(Expr::Choice(Box::new(value), Box::new(yes), Box::new(self.expression()?)))
    }

    /// Operands with signs between them, from the left.
    fn chain(&mut self, signs: &[(&str, Sign)], operand: impl Fn(&mut Parser) -> Parsed<Expr>) -> Parsed<Expr> {
        let mut left = operand(self)?;
        while let Some(&(text, sign)) = signs.iter().find(|(text, _)| self.is_sign(text)) {
            self.expect(text)?;
            left = Expr::Binary(sign, Box::new(left), Box::new(operand(self)?));
        }
        Ok(left)
    }

    fn negation(&mut self) -> Parsed<Expr> {
        if self.take("!") {
            return Ok(Expr::Not(Box::new(self.negation()?)));
        }
        self.chain(&COMPARISONS, |parser| {
            parser.chain(&SHIFTS, |parser| parser.chain(&SUMS, |parser| parser.chain(&PRODUCTS, Parser::signed)))
        })
    }

    fn signed(&mut self) -> Parsed<Expr> {
        if self.take("-") {
            return Ok(Expr::Negate(Box::new(self.signed()?)));
        }
        if self.take("~") {
            return Ok(Expr::Complement(Box::new(self.signed()?)));
        }
        match self.peek().clone() {
            Token::Number(number) => {
                self.advance();
                Ok(Expr::Number(number))
            }
            Token::Sign("(") => {
                self.advance();
                let inner = self.expression()?;
                self.expect(")")?;
                Ok(inner)
            }
            _ => self.place(),
        }
    }

    /// A name with what stands behind it, a quantifier, or a truth value.
    pub fn place(&mut self) -> Parsed<Expr> {
        let name = self.name()?;
        match name.as_str() {
            "true" | "false" => return Ok(Expr::Truth(name == "true")),
            "forall" | "exists" => {
                let over = self.declared()?;
                self.expect("do")?;
                let body = self.expression()?;
                self.expect("end")?;
                return Ok(Expr::Over(name == "forall", Box::new(over), Box::new(body)));
            }
            _ => {}
        }
        if self.is_sign("(") {
            return Ok(Expr::Call(name, self.arguments()?));
        }
        let mut place = Expr::Name(name);
        loop {
            if self.take("[") {
                let index = self.expression()?;
                self.expect("]")?;
                place = Expr::Index(Box::new(place), Box::new(index));
            } else if self.take(".") {
                place = Expr::Field(Box::new(place), self.name()?);
            } else {
                return Ok(place);
            }
        }
    }

    pub fn arguments(&mut self) -> Parsed<Vec<Expr>> {
        self.expect("(")?;
        let mut found = Vec::new();
        while !self.take(")") {
            found.push(self.expression()?);
            self.take(",");
        }
        Ok(found)
    }
}
