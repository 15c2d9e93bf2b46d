//! Functions that know nothing of the protocol: sets as numbers, the memory of a node, data that travel.

use super::Export;
use super::lines::Lines;
use trivium_protocol::{BLOCK, StateId};

/// Where messages carry ranges of memory, a word is a digit of this base, and the data are a 1 and then the words; a list
/// has two digits for each of its words: the number of the word in memory, and what was there.
pub(super) const DIGIT: i64 = 256;
/// Most digits of the data of a message.
const MOST_DIGITS: u32 = 6;
/// The greatest data: one more than the greatest number of so many digits behind a 1.
pub(super) const MOST_DATA: u64 = 2 * 256_u64.pow(MOST_DIGITS);

const SETS: &str = "\
-- Rumur takes `&` and `|` for the logical operators where it cannot tell, hence functions.
function both(s: Int; r: Int): Int;
begin
  return (s + 0) & (r + 0);
end;

function either(s: Int; r: Int): Int;
begin
  return (s + 0) | (r + 0);
end;

function without(s: Int; r: Int): Int;
begin
  return (s + 0) & ~(r + 0);
end;

function has(s: Int; x: Int): boolean;
begin
  if x < 0 | x > 40 then return false; end;
  return ((s >> x) & 1) = 1;
end;

-- The set of one element of a type whose least element is lo.
function single(x: Int; lo: Int; count: Int): Int;
begin
  if x < lo | x >= lo + count then error \"fault: no such node or element\"; end;
  return 1 << (x - lo);
end;

function size(s: Int): Int;
var n: Int; r: Int;
begin
  n := 0;
  r := s;
  while r != 0 do
    n := n + r % 2;
    r := r / 2;
  end;
  return n;
end;

function least(s: Int): Int;
var n: Int;
begin
  if s = 0 then error \"fault: nothing to take: it is empty\"; end;
  n := 0;
  while !has(s, n) do n := n + 1; end;
  return n;
end;

-- The elements of a set counted from another least element: up by so many, or down.
function moved(s: Int; up: Int): Int;
begin
  if up >= 0 then return s << up; end;
  if ((s >> -up) << -up) != s then error \"fault: an element is outside its range\"; end;
  return s >> -up;
end;

function within(x: Int; lo: Int; hi: Int): Int;
begin
  if x < lo | x > hi then error \"fault: a number is outside its range\"; end;
  return x;
end;
";

impl Export<'_> {
    pub fn basics(&self, out: &mut Lines) {
        SETS.lines().for_each(|line| out.line(line));
        out.blank();
        if self.packs_arrays() {
            self.array_functions(out);
        }
        out.routine("procedure begin_effects(var fx: Effects)", &[], |out| {
            out.line("fx.how := 0;");
            out.line("for b: Obj_block do fx.resumed[b] := false; end;");
            out.line("for t: Number do fx.answered[t] := false; fx.value[t] := 0; end;");
        });
        out.routine("procedure answer(t: Int; value: Int; var fx: Effects)", &[], |out| {
            out.line(format!(
                "if t < 0 | t > {} then error \"fault: a call returns to nobody\"; end;",
                self.threads_per_node - 1
            ));
            out.line("if fx.answered[t] then error \"fault: a call returns twice\"; end;");
            out.line("fx.answered[t] := true;");
            out.line("fx.value[t] := value;");
        });
    }

    /// Data of messages that are ranges of memory or lists.
    fn travelling_memory(&self, out: &mut Lines) {
        out.comment("One digit more.");
        out.routine("function behind(code: Int; digit: Int): Int", &[], |out| {
            let most = DIGIT.pow(MOST_DIGITS);
            out.line(format!("if code >= {most} then error \"the model's messages carry {MOST_DIGITS} words\"; end;"));
            out.line(format!("return code * {DIGIT} + within(digit, 0, {});", DIGIT - 1));
        });
        let locals = ["code: Int".to_string(), "a: Int".to_string()];
        out.routine("function gather(me: Node; from_: Int; to_: Int): Int", &locals, |out| {
            out.line("if from_ % 8 != 0 | to_ % 8 != 0 then error \"the model moves whole words only\"; end;");
            out.line("if to_ < from_ then error \"fault: a range of memory ends before it begins\"; end;");
            out.line("code := 1;");
            out.line("a := from_;");
            out.line("while a < to_ do code := behind(code, load(me, a)); a := a + 8; end;");
            out.line("return code + 1;");
        });
        let locals = ["code: Int".to_string(), "a: Int".to_string(), "step: Int".to_string()];
        out.comment("Words go to an address; of a list, every second digit.");
        out.routine("procedure spread(me: Node; data: Int; to_: Int; list: boolean)", &locals, |out| {
            out.line(format!("step := (list ? {} : {DIGIT});", DIGIT * DIGIT));
            out.line("a := to_;");
            out.line("code := data - 1;");
            out.line("while code > 1 do a := a + 8; code := code / step; end;");
            out.line("code := data - 1;");
            out.line(format!("while code > 1 do a := a - 8; store(me, a, code % {DIGIT}); code := code / step; end;"));
        });
        out.comment("Words of a list go back to where they came from.");
        out.routine("procedure return_words(me: Node; data: Int)", &locals[..1], |out| {
            out.line("code := data - 1;");
            out.open("while code > 1 do");
            out.line(format!("store(me, 8 * ((code / {DIGIT}) % {DIGIT}), code % {DIGIT});"));
            out.line(format!("code := code / {};", DIGIT * DIGIT));
            out.close("end;");
        });
    }

    /// Words of a node's memory. Where a protocol does not address memory, only the first word of each block is
    /// kept; the second is always 0.
    pub fn memory(&self, out: &mut Lines) {
        if self.words == 0 {
            return;
        }
        let skip = trivium_check::WORDS_PER_BLOCK / self.stride;
        let check = format!(
            "if a < 0 | a % 8 != 0 | a / 8 >= {} then error \"fault: an address is not in the explored memory\"; end;",
            self.words * skip
        );
        out.routine("function load(me: Node; a: Int): Int", &[], |out| {
            out.line(&check);
            out.line(format!("if (a / 8) % {skip} != 0 then return 0; end;"));
            out.line(format!("return mem[me][a / {}];", 8 * skip));
        });
        out.routine("procedure store(me: Node; a: Int; value: Int)", &[], |out| {
            out.line(&check);
            out.line(format!("if (a / 8) % {skip} = 0 then mem[me][a / {}] := value; end;", 8 * skip));
        });
        let locals = ["i: Int".to_string()];
        out.routine("procedure copy(me: Node; from_: Int; to_: Int; bytes: Int)", &locals, |out| {
            out.line("if bytes % 8 != 0 then error \"the model copies whole words only\"; end;");
            out.line("i := 0;");
            out.open("while i < bytes do");
            out.open("if to_ <= from_ then");
            out.line("store(me, to_ + i, load(me, from_ + i));");
            out.middle("else");
            out.line("store(me, to_ + bytes - 8 - i, load(me, from_ + bytes - 8 - i));");
            out.close("end;");
            out.line("i := i + 8;");
            out.close("end;");
        });
        if self.moves_memory {
            self.travelling_memory(out);
        }
    }

    /// A node's copy of a block has no contents.
    pub fn empty(&self, node: &str, block: &str, out: &mut Lines) {
        let stride = self.stride;
        for word in 0..stride {
            let contents = if word == 0 { self.model.garbage } else { 0 };
            out.line(format!("mem[{node}][{block} * {stride} + {word}] := {contents};"));
        }
    }

    /// A node whose states say that it has no contents of a block has forgotten them when a handler has ended.
    pub fn forget_contents(&self, out: &mut Lines) {
        if !self.model.forgets_contents || self.words == 0 {
            return;
        }
        let lasting = self.model.kept.iter().flat_map(|(role, contents)| {
            let states = (0..contents.len()).filter(|&state| contents[state]);
            states.map(|state| {
                format!("{}[me][b] = {}", self.state_var(*role), self.state_name(*role, StateId::at(state)))
            })
        });
        let lasting: Vec<String> = lasting.collect();
        let kept = if lasting.is_empty() { String::new() } else { format!(" & !({})", lasting.join(" | ")) };
        out.open("for b: Obj_block do");
        out.open(format!("if b % {} != me{kept} then", self.model.nodes));
        self.empty("me", "b", out);
        out.close("end;");
        out.close("end;");
    }

    /// Memory in the first state: only the homes of blocks have their contents.
    pub fn first_memory(&self, out: &mut Lines) {
        out.line("clear mem;");
        if self.model.objects[BLOCK.index()] > 0 {
            out.open("for n: Node do for b: Obj_block do");
            out.open(format!("if b % {} != n then", self.model.nodes));
            self.empty("n", "b", out);
            out.close("end;");
            out.close("end; end;");
        }
    }
}
