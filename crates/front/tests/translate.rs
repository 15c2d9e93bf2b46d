//! What becomes of text, without any compiler.

use trivium_diagnostic::Diagnostics;
use trivium_front::{Dialect, translate};

fn made(text: &str, dialect: Dialect) -> Result<String, Diagnostics> {
    translate(text, dialect, &|_| None)
}

/// C as headers and programs write it.
const C: &str = r#"
typedef unsigned long size_t; typedef struct { int x; } T, *PT; extern int printf(const char *restrict, ...) __attribute__((format(printf, 1, 2)));
typedef __builtin_va_list va_list; _Static_assert(sizeof(T) == 4, "size"); __extension__ typedef long long ll; enum e : int { A = 1, B = A << 2, };
static inline __attribute__((always_inline)) int f(int n, int a[static n], T (*g)(PT, int (*)(void))) { return a[n - 1] + g(0, 0).x; }
int (*table[3])(int), *(*chain(int a))(int (*)[4]), matrix[2][3] = {[0] = {1, 2}, [1][2] = 4, {[0 ... 1] = 7}}; struct s { unsigned a : 3, : 2, b; union { T t; float f; }; } s = {.t.x = 4};
_Atomic(int) counter; _Noreturn void stop(void); _Thread_local int here __asm__("elsewhere"); int old(a, b) int a; char *b; { return a + *b; }
_Complex double z; __int128 wide; void (*signal(int sig, void (*func)(int)))(int); const volatile char *const *p, * restrict q; [[deprecated]] int late;
int main(int argc, char **argv) {
    T T = {3}; size_t n = sizeof T.x, m = sizeof(int[n]), k = _Alignof(double); (void)argv; int x = (int)-1, y = (x) - 1, label;
    { typedef int argc; argc v = (argc)2; x = v; }
    for (int i = 0, j = 9; i < j; i++, j--) if (i) continue; else if (j > 3) break; else x ^= i ? j : -i;
    switch (x) { case 1 ... 3: x = 2; __attribute__((fallthrough)); case A: default: ; } goto out;
    do x--; while (x > 0 && !(y & ~x)); again: label = ({ int t = x; t * t; }); void *to = &&out; goto *to;
    x = (struct s){.b = 4}.b + ((PT)argv)->x + __builtin_offsetof(struct s, t.x) + _Generic(x, int: 1, default: 2) + (1, 2) + "ab" "c"[1] + 'x' + 3[matrix][1] + 0x1p3 + .5f;
    asm volatile("nop" : "=r"(x) : "0"(y) : "memory"); x = y ? : 3; x = y ? x :-y; x = y ?x:label; y = printf("%d %s\n", x, (char *)argv[argc - 1]), x = ~-+!y; __builtin_va_list ap; __builtin_va_arg(ap, int);
out:; __auto_type w = &s; return w->b;
}
"#;

#[test]
fn c_stays_as_it_is() {
    for dialect in [Dialect::C, Dialect::SplitC] {
        let out = made(C, dialect).unwrap_or_else(|wrong| panic!("{wrong}"));
        assert!(out.ends_with(C.trim_start()), "{out}");
    }
    assert_eq!(made(C, Dialect::C).unwrap(), C);
}

/// Each line of Split-C within a function, and what it becomes.
const CONSTRUCTS: [(&str, &str); 30] = [
    ("int *global p;", "int volatile GLOBAL * p;"),
    ("int *global p, q;", "int volatile GLOBAL * p; int q;"),
    ("int *global *spread p;", "int volatile GLOBAL * volatile SPREAD * p;"),
    ("int (*global p)[3];", "int volatile GLOBAL (* p)[3];"),
    ("g = (int *global)l;", "g = (int volatile GLOBAL *)(U)splitc_global_address((U)(l));"),
    ("l = (int *)g;", "l = (int *)(U)splitc_local_address((U)(g));"),
    ("g = (int *global)s;", "g = (int volatile GLOBAL *)(U)((U)(s));"),
    ("g = (int *global)((void *)0);", "g = (int volatile GLOBAL *)(U)((U)(((void *)0)));"),
    ("g = (int *global)9;", "g = (int volatile GLOBAL *)splitc_checked_address((U)(9));"),
    (
        "n := *g;",
        "({ __auto_type @1 = &(n ); __auto_type @2 = &( *g); _Static_assert(SAME(@1, @2), \"the two sides of := are of different types\"); if (0) *@1 = *@2; splitc_get(@1, @2, sizeof *@1); });",
    ),
    (
        "*g := n;",
        "({ __auto_type @1 = &(*g ); __typeof_unqual__(*@1) @2 = ( n); if (0) *@1 = @2; splitc_put(@1, &@2, sizeof @2); });",
    ),
    (
        "*g :- n;",
        "({ __auto_type @1 = &(*g ); __typeof_unqual__(*@1) @2 = ( n); if (0) *@1 = @2; splitc_store(@1, &@2, sizeof @2); });",
    ),
    ("n = n ? n :-n;", "n = n ? n :-n;"),
    (
        "s++;",
        "({ __auto_type @1 = &(s); __auto_type @2 = *@1; *@1 = (__typeof__(@2))splitc_spread_add((U)@2, 1, sizeof *@2); });",
    ),
    (
        "s -= n;",
        "({ __auto_type @2 = &(s ); __auto_type @1 = ( n); __auto_type @3 = *@2; *@2 = (__typeof__(@3))splitc_spread_add((U)@3, -(__INTPTR_TYPE__)((@1) | 0), sizeof *@3); });",
    ),
    ("n = *s;", "n = *({ __auto_type @1 = (s); (__typeof_unqual__(*@1) volatile GLOBAL *)splitc_at((U)@1); });"),
    (
        "n = s[2];",
        "n = (*({ __auto_type @1 = (s); (__typeof_unqual__(*@1) volatile GLOBAL *)splitc_at(splitc_spread_add((U)@1, ((2) | 0), sizeof *@1)); }));",
    ),
    (
        "s = 1 + s;",
        "s = ({ __auto_type @1 = (1 ); __auto_type @2 = ( s); (__typeof__(@2))splitc_spread_add((U)@2, ((@1) | 0), sizeof *@2); });",
    ),
    (
        "n = A[1][n];",
        "n = (*({ __auto_type @1 = (A); (__typeof_unqual__(*@1) volatile GLOBAL *)splitc_at(splitc_spread_add((U)@1, (((1) | 0) * (4) + ((n) | 0)), sizeof *@1)); }));",
    ),
    ("n = *g;", "n = *({ __auto_type @1 = (g); splitc_check(@1); @1; });"),
    ("n = g[n];", "n = (*({ __auto_type @1 = &(g[n]); splitc_check(@1); @1; }));"),
    ("g = &g[n];", "g = &g[n];"),
    ("g = &*g;", "g = &*g;"),
    ("n = sizeof *g;", "n = sizeof *g;"),
    ("typeof(*g) x, *p;", "__typeof_unqual__(*g) x, *p;"),
    ("typeof(*g) *global p;", "__typeof_unqual__(*g) volatile GLOBAL * p;"),
    ("register int *spread p;", "int volatile SPREAD * p;"),
    ("register int *spread p, q;", "int volatile SPREAD * p; int q;"),
    (
        "for (int *global p = g, *q = l; n; n--) l++;",
        "{ int volatile GLOBAL * p = g; int *q = l; for (; n; n--) l++; }",
    ),
    ("out:-n; goto out;", "out:-n; goto out;"),
];

/// A text in the words of the table above.
fn short(text: &str) -> String {
    let mut text = text
        .replace("__attribute__((address_space(2)))", "GLOBAL")
        .replace("__attribute__((address_space(3)))", "SPREAD");
    text = text
        .replace("(__UINTPTR_TYPE__)", "(U)")
        .replace("splitc_1", "@1")
        .replace("splitc_2", "@2")
        .replace("splitc_3", "@3");
    text = text.replace("__builtin_types_compatible_p(__typeof_unqual__(*@1), __typeof_unqual__(*@2))", "SAME(@1, @2)");
    text.retain(|letter| letter != '\u{1}');
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn each_construct_becomes_c() {
    let before = "double A[3][4]::; void f(int *global g, int *spread s, int *l, int n) {\n";
    for (split_c, c) in CONSTRUCTS {
        let out = made(&format!("{before}{split_c}\n}}\n"), Dialect::SplitC)
            .unwrap_or_else(|wrong| panic!("{split_c}\n{wrong}"));
        let body = out.split_once("int n) {\n").unwrap().1.split_once("\n}\n").unwrap().0;
        assert_eq!(short(body), short(c), "{split_c}");
    }
}

#[test]
fn words_of_split_c_are_names_in_c() {
    let text = "int global, spread; int *global; int f(int a) { return a ? global :-spread; }\n";
    assert_eq!(made(text, Dialect::C).unwrap(), text);
    assert!(made(text, Dialect::SplitC).is_err());
}

/// The lines of mistakes.
fn lines(text: &str) -> Vec<u32> {
    made(text, Dialect::SplitC).unwrap_err().list.iter().map(|mistake| mistake.place().unwrap().line.unwrap()).collect()
}

#[test]
fn reading_goes_on_behind_a_mistake() {
    let text = "# 1 \"a.sc\"\nint f( { }\nint g(int x) {\n  x = ;\n  if (x { x = 1; }\n  x = 2 2;\n  { x = [; }\n  return x;\n}\nunknown y;\nint *global z = (;\nstruct s { int a b; };\nint h(void) { return 1; }\nglobal int w;\n";
    assert_eq!(lines(text), [1, 3, 4, 5, 6, 9, 10, 11, 13]);
}

#[test]
fn nothing_is_too_deep_or_too_short() {
    for open in ["(", "[", "{", "int x = (", "int *", "a ? ", "-", "f(", "if (1) ", "int (", "struct { "] {
        for text in [open.repeat(20_000), format!("int f(void) {{ {}", open.repeat(20_000))] {
            let _ = made(&text, Dialect::SplitC);
        }
    }
    for end in (0..C.len()).step_by(3).filter(|end| C.is_char_boundary(*end)) {
        let _ = made(&C[..end], Dialect::SplitC);
        let _ = made(&C[end..], Dialect::SplitC);
    }
}

#[test]
fn each_word_stands_where_the_user_wrote_it() {
    let source = "#define TWICE(x) ((x) + (x))\nint  f(int *global   g, int n) {\n\tint m = TWICE(n) +   n;  *g := m;  return  *g;\n}\n";
    let preprocessed =
        "# 1 \"a.sc\"\n\nint f(int *global g, int n) {\n int m = ((n) + (n)) + n; *g := m; return *g;\n}\n";
    let out = translate(preprocessed, Dialect::SplitC, &|file| (file == "a.sc").then(|| source.to_string())).unwrap();
    let wanted: Vec<&str> = source.lines().collect();
    let mut line = 1;
    let mut seen = 0;
    for text in out.lines() {
        if let Some(marked) = text.strip_prefix("# ") {
            line = marked.split(' ').next().unwrap().parse().unwrap();
            continue;
        }
        // What was put in stands where something was written that it is about.
        if let (Some(column), Some(own)) = (text.find(|letter: char| letter != ' '), wanted.get(line - 1)) {
            let is_begin = |at: usize| !own[at..].starts_with([' ', '\t']) && own.is_char_boundary(at);
            assert!(column < own.len() && is_begin(column), "column {column} in line {line}: {text}");
        }
        for word in ["g,", "int n)", "return", "; }"] {
            if let (Some(found), Some(written)) = (text.find(word), wanted.get(line - 1).and_then(|own| own.find(word)))
            {
                seen += 1;
                assert_eq!(found, written, "{word} in line {line}: {text}");
            }
        }
        line += 1;
    }
    assert!(seen >= 3, "{seen}: {out}");
}
