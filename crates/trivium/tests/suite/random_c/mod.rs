//! Random programs in C that mean the same in three forms: as C; as Split-C that uses nothing of Split-C; and as Split-C whose pointers are global
//! and spread, whose arrays are spread over the processors, and whose assignments are split-phase. The words that differ are macros.
//!
//! No program does what C leaves undefined: numbers are unsigned and wide, places in arrays are masked, divisors are odd.

use std::fmt::Write as _;

/// In which form programs are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Words {
    /// Those of C.
    Plain,
    /// Those of Split-C.
    Split,
}

/// A file with programs from a number on, each of which prints a line with its number and what it has computed.
pub fn file(first: u64, count: u64, words: Words) -> String {
    let mut text =
        String::from("#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n");
    text.push_str(match words {
        Words::Plain => "#define global\n#define spread\n#define DEAL\n#define ON(p, x) (&(x))\n#define GETS =\n#define SYNC() ((void)0)\n",
        Words::Split => "#define DEAL ::\n#define ON(p, x) toglobal((p) % PROCS, &(x))\n#define GETS :=\n#define SYNC() sync()\n",
    });
    text.push_str("#define MIX(a, b) ((a) * UINT64_C(6364136223846793005) + (b))\n#define ODD(x) ((x) | 1)\n");
    for number in first..first + count {
        Program {
            random: number.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5DEE_CE66,
            number,
            locals: Vec::new(),
            text: String::new(),
            depth: 0,
            labels: 0,
        }
        .write(&mut text);
    }
    text.push_str(match words {
        Words::Plain => "\nint main(void) {\n",
        Words::Split => "\nint splitc_main(void) {\n    if (MYPROC != 0) return 0;\n",
    });
    for number in first..first + count {
        let _ = writeln!(text, "    program_{number}();");
    }
    text.push_str("    return 0;\n}\n");
    text
}

struct Program {
    random: u64,
    number: u64,
    /// Numbers that are in scope.
    locals: Vec<String>,
    text: String,
    depth: usize,
    labels: u32,
}

impl Program {
    fn next(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.random;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn one_of<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len() as u64) as usize]
    }

    /// Writes lines of the present depth; `@` stands for the program's number.
    fn line(&mut self, line: &str) {
        let line = line.replace('@', &self.number.to_string());
        let _ = writeln!(self.text, "{}{line}", "    ".repeat(self.depth));
    }

    /// An expression that is a `uint64_t`.
    fn number(&mut self, deep: u32) -> String {
        if deep == 0 || self.below(5) == 0 {
            return self.leaf();
        }
        let (a, b) = (self.number(deep - 1), self.number(deep - 1));
        match self.below(16) {
            0 => format!("({a} / ODD({b}))"),
            1 => format!("({a} % ODD({b}))"),
            2 => format!("({a} << ({b} & 31))"),
            3 => format!("({a} >> ({b} & 63))"),
            4 => format!("({a} < {b} ? {} : ({b}, {a} - {b}))", self.leaf()),
            5 => format!("MIX({a}, {b})"),
            6 => format!("(uint64_t)(({a} == {b}) || !({b} > 9))"),
            7 => format!("(uint64_t)(uint{}_t)~{a}", self.one_of(&["8", "16", "32"])),
            8 => format!("({{ uint64_t t = {a}; t ^= t >> 7; t + {b}; }})"),
            9 => format!("apply_@({a}, {b})"),
            10 => format!("((struct pair_@){{.b = {a}, .a = {b}}}).{}", self.one_of(&["a", "b"])),
            11 => format!("({a} + sizeof(struct pair_@) / sizeof(uint64_t) - {b})"),
            12 => format!("({a} ? : {b})"),
            _ => {
                let op = self.one_of(&["+", "-", "*", "^", "&", "|"]);
                format!("({a} {op} {b})")
            }
        }
    }

    fn leaf(&mut self) -> String {
        let place = self.below(1 << 20);
        match self.below(12) {
            0 => format!("UINT64_C({})", self.next()),
            1 => format!("UINT64_C({})", self.below(100)),
            2 => format!("(uint64_t){}", self.one_of(&["FIRST_@", "SECOND_@", "'x'", "0x1Fu", "LAST_@"])),
            3 => format!("(uint64_t)row_@[{}]", self.place(16)),
            4 => format!("(uint64_t)grid_@[{}][{}][{}]", self.place(4), self.place(4), place % 3),
            5 => {
                format!("(uint64_t)at->{}", self.one_of(&["a", "b[1]", "in.x", "next->a", "next->next->b[2]", "in.y"]))
            }
            6 => format!("(uint64_t)walk[{}]", place % 4),
            7 => "*ON(3, total_@)".to_string(),
            8 => format!("(uint64_t)private_@[{}]", self.place(8)),
            9 => "(uint64_t)*(walk + 1)".to_string(),
            _ => {
                let count = self.locals.len() as u64;
                let at = self.below(count);
                self.locals[at as usize].clone()
            }
        }
    }

    /// A place in an array of so many elements, a power of two.
    fn place(&mut self, of: u64) -> String {
        let local = self.below(self.locals.len() as u64) as usize;
        match self.below(3) {
            0 => format!("{}", self.below(of)),
            _ => format!("({} + {}) & {}", self.locals[local].clone(), self.below(of), of - 1),
        }
    }

    /// What can be assigned to.
    fn object(&mut self) -> String {
        let place = self.below(1 << 20);
        match self.below(9) {
            0 => format!("row_@[{}]", self.place(16)),
            1 => format!("grid_@[{}][{}][{}]", self.place(4), self.place(4), place % 3),
            2 => format!("at->{}", self.one_of(&["a", "b[1]", "in.x", "next->a", "b[3]", "in.y"])),
            3 => format!("walk[{}]", place % 4),
            4 => "*ON(3, total_@)".to_string(),
            5 => format!("private_@[{}]", self.place(8)),
            6 => "*walk".to_string(),
            _ => self.local(),
        }
    }

    fn local(&mut self) -> String {
        let writable: Vec<String> = self.locals.iter().filter(|name| !name.starts_with('i')).cloned().collect();
        writable[self.below(writable.len() as u64) as usize].clone()
    }

    fn statement(&mut self, deep: u32) {
        let number = self.number(3);
        match self.below(if deep == 0 { 9 } else { 16 }) {
            0 | 1 => {
                let object = self.object();
                self.line(&format!("{object} = {number};"));
            }
            2 => {
                let (object, op) = (self.object(), self.one_of(&["+=", "-=", "^=", "|=", "*="]));
                self.line(&format!("{object} {op} {number};"));
            }
            3 => {
                // It stays between places 0 and 12.
                let (by, room) = match self.below(7) {
                    0 => ("walk++", "walk - row_@ < 12"),
                    1 => ("walk--", "walk > row_@"),
                    2 => ("++walk", "walk < row_@ + 12"),
                    3 => ("walk += 2", "walk <= &row_@[10]"),
                    4 => ("walk -= 3", "walk - row_@ >= 3"),
                    5 => ("walk = 1 + walk", "!(walk >= row_@ + 12)"),
                    _ => ("walk = &walk[-1]", "row_@ != walk"),
                };
                self.line(&format!("if ({room}) {by};"));
            }
            4 => {
                let choice = self.choice();
                self.line(&format!("at = {choice};"));
            }
            5 => {
                let object = self.local();
                let whole = self.one_of(&["*ON(3, total_@)", "grid_@[1][2][0]", "*wide", "at->wide"]);
                self.line(&format!("{object} GETS {whole};"));
                self.line("SYNC();");
            }
            6 => {
                let whole = self.one_of(&["*ON(3, total_@)", "grid_@[3][1][2]", "*wide", "at->wide"]);
                self.line(&format!("{whole} GETS (uint64_t)({number});"));
                self.line("SYNC();");
            }
            7 => {
                let local = self.local();
                self.line(&format!(
                    "{local} = sum_@(16, row_@) + (uint64_t)(walk - row_@) * (uint64_t)(walk == &row_@[3]);"
                ));
            }
            8 => {
                let local = self.local();
                self.line(&format!("{local} += old_@((uint64_t)({number}), wide), wide = (uint64_t *global)wide;"));
            }
            9 | 10 => {
                let name = format!("i{}", self.locals.len());
                let times = self.below(6) + 1;
                self.line(&format!("for (uint64_t {name} = 0; {name} < {times}; {name}++) {{"));
                self.locals.push(name);
                self.block(deep);
                self.locals.pop();
                self.line("}");
            }
            11 => {
                self.line(&format!("if ({number} & 1) {{"));
                self.block(deep);
                self.line("} else if (at && !(walk == 0)) {");
                self.block(deep);
                self.line("}");
            }
            12 => {
                self.line(&format!("switch ({number} % 4) {{"));
                self.line("case 0:");
                self.block(deep);
                self.line("    break;");
                self.line("case FIRST_@ ... 2: {");
                self.block(deep);
                self.line("}");
                self.line("default:;");
                self.line("}");
            }
            13 => {
                self.labels += 1;
                let (label, local) = (self.labels, self.local());
                self.line(&format!("if ({number} > {local}) goto out_{label};"));
                self.block(deep);
                self.line(&format!("out_{label}:;"));
            }
            14 => {
                let local = self.local();
                self.line("{");
                self.line(&format!(
                    "    struct pair_@ pair = {{{number}, {local}}}, *pointer = &pair; struct pair_@ kept;"
                ));
                self.line("    *ON(1, shared_@) = *pointer; kept = *ON(1, shared_@);");
                self.line(&format!("    {local} = kept.a ^ (*&pointer)->b + sizeof kept;"));
                self.line("}");
            }
            _ => {
                self.labels += 1;
                let name = format!("v{}", self.labels);
                self.line(&format!("do {{ uint64_t {name} = {number};"));
                self.locals.push(name);
                self.block(deep);
                self.locals.pop();
                self.line("} while (0);");
            }
        }
    }

    fn choice(&mut self) -> &'static str {
        self.one_of(&[
            "at->next",
            "ON(1, nodes_@[1])",
            "ON(0, nodes_@[0])->next ? at : 0 ? 0 : at",
            "&*at->next",
            "(struct node_@ *global)(void *global)at",
        ])
    }

    fn block(&mut self, deep: u32) {
        self.depth += 1;
        for _ in 0..self.below(3) + 1 {
            self.statement(deep - 1);
        }
        self.depth -= 1;
    }

    fn write(mut self, into: &mut String) {
        let small = self.one_of(&["uint8_t", "uint16_t", "unsigned short", "unsigned"]);
        let row = self.one_of(&["uint32_t", "uint16_t", "uint64_t", "unsigned char"]);
        self.line("");
        self.line(&format!("typedef {small} small_@;"));
        self.line("enum kind_@ { FIRST_@ = 1, SECOND_@, LAST_@ = 7 };");
        self.line("struct pair_@ { uint64_t a, b; };");
        self.line("struct node_@ {");
        self.line("    uint32_t a; small_@ b[4], *unused; struct { uint8_t x : 5, y : 3; } in;");
        self.line("    uint64_t wide; struct node_@ *global next;");
        self.line("};");
        self.line("static struct node_@ nodes_@[3];");
        self.line("static struct pair_@ shared_@;");
        self.line(&format!("typedef {row} row_type_@;"));
        self.line("row_type_@ row_@[16] DEAL; uint64_t grid_@[4][4] DEAL [3];");
        self.line("static uint64_t total_@ = 0, private_@[8] = {[2] = 7, 1, [6 ... 7] = LAST_@};");
        self.line("static uint64_t apply_@(uint64_t a, uint64_t b) { return a ^ (b << 3); }");
        self.line("static uint64_t sum_@(int n, row_type_@ v[n] DEAL) {");
        self.line("    uint64_t (*with)(uint64_t, uint64_t) = apply_@, all = 0;");
        self.line("    row_type_@ *spread end = v + n, *spread p;");
        self.line("    for (p = v; p < end; p++) all = with(all, *p);");
        self.line("    return all;");
        self.line("}");
        self.line("static uint64_t old_@(x, p) uint64_t x, *global p; { *p += x; return p ? *p : 0; }");
        self.line("static void program_@(void) {");
        self.depth = 1;
        self.locals = ["x", "y", "z"].map(str::to_string).to_vec();
        self.line(&format!("uint64_t x = {}, y = {}, z = MIX(x, y);", self.number, self.number % 7));
        self.line("struct node_@ *global at = ON(0, nodes_@[0]); row_type_@ *spread walk = row_@ + 3;");
        self.line("uint64_t *global wide = ON(3, total_@);");
        self.line("for (int i = 0; i < 3; i++) {");
        self.line("    struct node_@ *global node = ON(i, nodes_@[i]);");
        self.line("    node->next = ON((i + 1) % 3, nodes_@[(i + 1) % 3]); node->a = i; node->b[1] = node->a + 1;");
        self.line("}");
        for _ in 0..self.below(6) + 5 {
            self.statement(2);
        }
        self.line("for (int i = 0; i < 16; i++) x = MIX(x, row_@[i]);");
        self.line("for (int i = 0; i < 48; i++) y = MIX(y, grid_@[i / 12][i / 3 % 4][i % 3]);");
        self.line("for (int i = 0; i < 3; i++) z = MIX(z, ON(i, nodes_@[i])->wide + ON(i, nodes_@[i])->b[1]);");
        self.line("printf(\"@ %llu\\n\", (unsigned long long)(x ^ y ^ z ^ *wide));");
        self.depth = 0;
        self.line("}");
        into.push_str(&self.text);
    }
}
