//! Functions that know nothing of the protocol: sets as numbers, the memory of a node, data that travel.

use super::Export;
use super::expressions::within;
use super::names::{
    A, B, BLOCKS, BYTES, CALLS, CODE, DATA, DIGIT, EFFECTS, FROM, FX, HI, I, INT, LIST, LO, ME, MEM, N, NODES, NOTHING,
    NUMBERS, R, S, STEP, T, TO, UP, VALUE, X, how,
};
use crate::model::{BOOLEAN, Block, Expr, Program, Term, any, call, choice, function, procedure};
use trivium_protocol::{BLOCK, StateId};

/// Where messages carry ranges of memory, a word is a digit of this base, and the data are a 1 and then the words; a list
/// has two digits for each of its words: the number of the word in memory, and what was there.
pub(super) const BASE: i64 = 256;
/// Most digits of the data of a message.
const MOST_DIGITS: u32 = 6;
/// The greatest data: one more than the greatest number of so many digits behind a 1.
pub(super) const MOST_DATA: u64 = 2 * 256_u64.pow(MOST_DIGITS);

/// Functions of sets, and of numbers that may be their elements.
fn sets(program: &mut Program) {
    let of_two = |name: &'static str| function(name, INT).takes_each([S, R], &INT);
    let comment = "Rumur takes `&` and `|` for the logical operators where it cannot tell, hence functions.";
    program.define(of_two("both").comment(comment), |out| out.give((S + 0) & (R + 0)));
    program.define(of_two("either"), |out| out.give((S + 0) | (R + 0)));
    program.define(of_two("without"), |out| out.give((S + 0) & (R + 0).complement()));
    program.define(function("has", BOOLEAN).takes_each([S, X], &INT), |out| {
        out.when(X.lt(0) | X.gt(40), |out| out.give(false));
        out.give(((S >> X) & 1).is(1));
    });
    let comment = "The set of one element of a type whose least element is lo.";
    program.define(function("single", INT).takes_each([X, LO, CALLS], &INT).comment(comment), |out| {
        out.refuse(X.lt(LO) | X.ge(LO + CALLS), "fault: no such node or element");
        out.give(Expr::from(1) << (X - LO));
    });
    program.define(function("size", INT).takes(S, INT).local(N, INT).local(R, INT), |out| {
        out.assign(N, 0);
        out.assign(R, S);
        out.while_(R.differs_from(0), |out| {
            out.assign(N, N + R % 2);
            out.assign(R, R / 2);
        });
        out.give(N);
    });
    program.define(function("least", INT).takes(S, INT).local(N, INT), |out| {
        out.refuse(S.is(0), "fault: nothing to take: it is empty");
        out.assign(N, 0);
        out.while_(!call("has", (S, N)), |out| out.increase(N, 1));
        out.give(N);
    });
    let comment = "The elements of a set counted from another least element: up by so many, or down.";
    program.define(function("moved", INT).takes_each([S, UP], &INT).comment(comment), |out| {
        out.when(UP.ge(0), |out| out.give(S << UP));
        out.refuse(((S >> -UP) << -UP).differs_from(S), "fault: an element is outside its range");
        out.give(S >> -UP);
    });
    program.define(function("within", INT).takes_each([X, LO, HI], &INT), |out| {
        out.refuse(X.lt(LO) | X.gt(HI), "fault: a number is outside its range");
        out.give(X);
    });
}

impl Export<'_> {
    pub fn basics(&self, program: &mut Program) {
        sets(program);
        if self.packs_arrays() {
            self.array_functions(program);
        }
        program.define(procedure("begin_effects").changes(FX, EFFECTS), |out| {
            out.assign(how(), NOTHING);
            out.for_each(B, BLOCKS, |out| out.assign(FX.field("resumed").at(B), false));
            out.for_each(T, NUMBERS, |out| {
                out.assign(FX.field("answered").at(T), false);
                out.assign(FX.field("value").at(T), 0);
            });
        });
        program.define(procedure("answer").takes_each([T, VALUE], &INT).changes(FX, EFFECTS), |out| {
            let last = self.threads_per_node - 1;
            out.refuse(T.lt(0) | T.gt(last), "fault: a call returns to nobody");
            out.refuse(FX.field("answered").at(T), "fault: a call returns twice");
            out.assign(FX.field("answered").at(T), true);
            out.assign(FX.field("value").at(T), VALUE);
        });
    }

    /// Data of messages that are ranges of memory or lists.
    fn travelling_memory(&self, program: &mut Program) {
        let head = function("behind", INT).takes_each([CODE, DIGIT], &INT).comment("One digit more.");
        program.define(head, |out| {
            let too_many = format!("the model's messages carry {MOST_DIGITS} words");
            out.refuse(CODE.ge(BASE.pow(MOST_DIGITS)), too_many);
            out.give(CODE * BASE + within(DIGIT, 0, BASE - 1));
        });
        let head = function("gather", INT).takes(ME, NODES).takes_each([FROM, TO], &INT);
        program.define(head.local(CODE, INT).local(A, INT), |out| {
            out.refuse((FROM % 8).differs_from(0) | (TO % 8).differs_from(0), "the model moves whole words only");
            out.refuse(TO.lt(FROM), "fault: a range of memory ends before it begins");
            out.assign(CODE, 1);
            out.assign(A, FROM);
            out.while_(A.lt(TO), |out| {
                out.assign(CODE, call("behind", (CODE, call("load", (ME, A)))));
                out.increase(A, 8);
            });
            out.give(CODE + 1);
        });
        let head = procedure("spread").takes(ME, NODES).takes_each([DATA, TO], &INT).takes(LIST, BOOLEAN);
        let head = head.comment("Words go to an address; of a list, every second digit.");
        program.define(head.local(CODE, INT).local(A, INT).local(STEP, INT), |out| {
            out.assign(STEP, choice(LIST, BASE * BASE, BASE));
            out.assign(A, TO);
            out.assign(CODE, DATA - 1);
            out.while_(CODE.gt(1), |out| {
                out.increase(A, 8);
                out.assign(CODE, CODE / STEP);
            });
            out.assign(CODE, DATA - 1);
            out.while_(CODE.gt(1), |out| {
                out.assign(A, A - 8);
                out.call("store", (ME, A, CODE % BASE));
                out.assign(CODE, CODE / STEP);
            });
        });
        let head = procedure("return_words").takes(ME, NODES).takes(DATA, INT).local(CODE, INT);
        program.define(head.comment("Words of a list go back to where they came from."), |out| {
            out.assign(CODE, DATA - 1);
            out.while_(CODE.gt(1), |out| {
                let address = Expr::from(8) * ((CODE / BASE) % BASE);
                out.call("store", (ME, address, CODE % BASE));
                out.assign(CODE, CODE / (BASE * BASE));
            });
        });
    }

    /// Words of a node's memory. Where a protocol does not address memory, only the first word of each block is
    /// kept; the second is always 0.
    pub fn memory(&self, program: &mut Program) {
        if self.words == 0 {
            return;
        }
        let skip = trivium_check::WORDS_PER_BLOCK / self.stride;
        let check = |out: &mut Block| {
            let is_outside = A.lt(0) | (A % 8).differs_from(0) | (A / 8).ge(self.words * skip);
            out.refuse(is_outside, "fault: an address is not in the explored memory");
        };
        let word = || MEM.at(ME).at(A / (8 * skip));
        program.define(function("load", INT).takes(ME, NODES).takes(A, INT), |out| {
            check(out);
            out.when(((A / 8) % skip).differs_from(0), |out| out.give(0));
            out.give(word());
        });
        program.define(procedure("store").takes(ME, NODES).takes_each([A, VALUE], &INT), |out| {
            check(out);
            out.when(((A / 8) % skip).is(0), |out| out.assign(word(), VALUE));
        });
        let head = procedure("copy").takes(ME, NODES).takes_each([FROM, TO, BYTES], &INT).local(I, INT);
        program.define(head, |out| {
            out.refuse((BYTES % 8).differs_from(0), "the model copies whole words only");
            out.assign(I, 0);
            out.while_(I.lt(BYTES), |out| {
                let moves =
                    |out: &mut Block, from: Expr, to: Expr| out.call("store", (ME, to, call("load", (ME, from))));
                let from_above = |address: Expr| address + BYTES - 8 - I;
                out.when_else(
                    TO.le(FROM),
                    |out| moves(out, FROM + I, TO + I),
                    |out| moves(out, from_above(FROM.into()), from_above(TO.into())),
                );
                out.increase(I, 8);
            });
        });
        if self.moves_memory {
            self.travelling_memory(program);
        }
    }

    /// A node's copy of a block has no contents.
    pub fn empty(&self, node: impl Into<Expr>, block: impl Into<Expr>, out: &mut Block) {
        let (copies, block) = (MEM.at(node), block.into());
        for word in 0..self.stride {
            let contents = if word == 0 { self.model.garbage } else { 0 };
            out.assign((&copies).at(&block * self.stride + word), contents);
        }
    }

    /// A node whose states say that it has no contents of a block has forgotten them when a handler has ended.
    pub fn forget_contents(&self, out: &mut Block) {
        if !self.model.forgets_contents || self.words == 0 {
            return;
        }
        let lasting = self.model.kept.iter().flat_map(|(role, contents)| {
            let states = (0..contents.len()).filter(|&state| contents[state]);
            states.map(|state| self.is_in(*role, StateId::at(state), ME, B))
        });
        let lasting: Vec<Expr> = lasting.collect();
        let away = self.is_at_home(B, ME, false);
        let forgets = if lasting.is_empty() { away } else { away & !any(lasting) };
        out.for_each(B, BLOCKS, |out| out.when(forgets, |out| self.empty(ME, B, out)));
    }

    /// Memory in the first state: only the homes of blocks have their contents.
    pub fn first_memory(&self, out: &mut Block) {
        out.clear(MEM);
        if self.model.objects[BLOCK.index()] > 0 {
            out.for_each(N, NODES, |out| {
                out.for_each(B, BLOCKS, |out| {
                    out.when(self.is_at_home(B, N, false), |out| self.empty(N, B, out));
                });
            });
        }
    }
}
