//! C*: what its constructs become, and what is said of wrong ones, with line and column.

use trivium_front::{Dialect, translate};

/// What comes of a file.
fn made(source: &str) -> Result<String, String> {
    let preprocessed = format!("# 1 \"a.cs\"\n{source}");
    let own = |file: &str| (file == "a.cs").then(|| source.to_string());
    translate(&preprocessed, Dialect::CStar, &own).map_err(|wrong| wrong.to_string())
}

const DECLARED: &str = "shape [13]S, [3][5]T;\nint:S x, y, w[3];\ndouble:T z;\nstatic int h(int n) { return n; } int:S g(int:S a); int:current k(int:current a, int n);\n";

/// A function with this body, line 6 of its file; without markers and white space.
fn body(body: &str) -> Result<String, String> {
    let text = made(&format!("{DECLARED}static void f(int s, int *v) {{\n{body}\n}}\n"))?;
    let plain = without_markers(&text);
    let begin = plain.find("int*v){").expect("the function") + "int*v){".len();
    let end = plain[begin..].find("}__attribute__((constructor(201)))").expect("its end") + begin;
    Ok(plain[begin..end].to_string())
}

/// The same of all of a text.
fn without_markers(text: &str) -> String {
    plain(&text.lines().filter(|line| !line.starts_with('#')).collect::<String>())
}

/// Text as [`body`] gives it.
fn plain(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_whitespace()).collect()
}

/// A loop over the positions of S.
fn in_loop(of: &str) -> String {
    let head = "for (struct { struct cstar_bounds at; } cstar_run = {0}; cstar_next_run(&cstar_shape_S, &cstar_run.at);)
        for (int cstar_vp = cstar_run.at.begin; cstar_vp < cstar_run.at.end; cstar_vp++) if (cstar_is_in(&cstar_run.at, cstar_vp)) ";
    format!("{head}{of}")
}

#[track_caller]
fn becomes(source: &str, wanted: &str) {
    assert_eq!(body(source).unwrap_or_else(|wrong| panic!("{wrong}")), plain(wanted));
}

#[test]
fn consecutive_parallel_statements_share_a_loop() {
    becomes(
        "with (S) { x = 1; y += x * s; s = 2; x++; }",
        &format!(
            "{{ {{ {} }} s = 2; {{ {} }} }}",
            in_loop("{ x[cstar_vp] = 1; y[cstar_vp] += x[cstar_vp] * s; }"),
            in_loop("{ x[cstar_vp]++; }")
        ),
    );
}

#[test]
fn a_scalar_value_is_found_once() {
    becomes(
        "with (S) x = h(s) + y;",
        &format!("{{ __auto_type cstar_1 = (h(s)); {} }}", in_loop("{ x[cstar_vp] = cstar_1 + y[cstar_vp]; }")),
    );
}

#[test]
fn a_context_is_kept_while_its_block_lasts() {
    becomes(
        "with (S) where (x > 1) y = 2; else { s = 3; y = 4; }",
        &format!(
            "{{ struct cstar_context cstar_1 __attribute__((cleanup(cstar_leave))) = cstar_enter(&cstar_shape_S);
               {} cstar_narrow(&cstar_1); {{ {} }} cstar_otherwise(&cstar_1); {{ s = 3; {{ {} }} }} }}",
            in_loop("cstar_1.mask[cstar_vp] = !!(x[cstar_vp] > 1);"),
            in_loop("{ y[cstar_vp] = 2; }"),
            in_loop("{ y[cstar_vp] = 4; }")
        ),
    );
}

/// What a position of S gets of a variable, from the position that lies opposite.
fn got(variable: &str) -> String {
    format!(
        "(*(__typeof__({variable}))cstar_at({variable}, sizeof *{variable}, &cstar_shape_S, &cstar_run.at, cstar_vp, (12 - cstar_coordinate(&cstar_shape_S, &cstar_run.at, cstar_vp, 0)) | (cstar_whole_number)0, 0, 0, 0))"
    )
}

#[test]
fn what_is_got_is_read_where_it_stands_if_nobody_writes_it() {
    becomes("with (S) x = [12 - .]y;", &format!("{{ {} }}", in_loop(&format!("{{ x[cstar_vp] = {}; }}", got("y")))));
}

#[test]
fn what_is_got_and_written_is_got_before_all_write() {
    becomes(
        "with (S) x = [12 - .]x;",
        &format!(
            "{{ __typeof_unqual__((*x)) *cstar_1 __attribute__((cleanup(cstar_release))) = cstar_space(&cstar_shape_S, sizeof *cstar_1);
               {} cstar_barrier(\"x got, then written\"); {} }}",
            in_loop(&format!("{{ cstar_1[cstar_vp] = {}; }}", got("x"))),
            in_loop("{ x[cstar_vp] = cstar_1[cstar_vp]; }")
        ),
    );
}

/// A reduction that follows parallel statements shares their loop, unless it gets what they write.
#[test]
fn a_reduction_shares_the_loop_before_it() {
    let begun = |value: &str| {
        format!(
            "__auto_type cstar_1 = ({{ struct {{ struct cstar_bounds at; void *near[16]; }} cstar_run __attribute__((unused)); int cstar_vp __attribute__((unused)) = 0; cstar_identity(CSTAR_ADD, 0 ? +({value}) : 0); }});"
        )
    };
    let added = |value: &str| format!("cstar_1 = cstar_combine(CSTAR_ADD, cstar_1, +({value}));");
    for source in ["with (S) { x = y; s = (+= x); }", "with (S) { x = y; s += x; }"] {
        let equals = if source.contains("s +=") { "s +=" } else { "s =" };
        becomes(
            source,
            &format!(
                "{{ {{ {} {} {equals} cstar_reduce(CSTAR_ADD, cstar_1); }} }}",
                begun("x[cstar_vp]"),
                in_loop(&format!("{{ x[cstar_vp] = y[cstar_vp]; {} }}", added("x[cstar_vp]")))
            ),
        );
    }
    let apart = body("with (S) { x = y; s = (+= [3 - .]x); }").unwrap();
    assert!(apart.contains("cstar_barrier") && apart.matches("cstar_next_run").count() == 2, "{apart}");
}

/// What lies at the same distance from all positions of a run is found once for the run; if all is found, nothing is tested at a position.
#[test]
fn what_is_near_is_found_by_runs() {
    let near = "cstar_near(y, sizeof *y, &cstar_shape_S, &cstar_run.at, -(int64_t)(1), 0, 0, 0)";
    let found = "(char *)cstar_run.near[0] + cstar_vp * (int)sizeof *y";
    let at = "cstar_far(y, sizeof *y, &cstar_shape_S, cstar_who(&cstar_run.at, cstar_vp), (cstar_coordinate(&cstar_shape_S, &cstar_run.at, cstar_vp, 0) - 1) | (cstar_whole_number)0, 0, 0, 0)";
    let each = "for (int cstar_vp = cstar_run.at.begin; cstar_vp < cstar_run.at.end; cstar_vp++)";
    becomes(
        "with (S) x = [. - 1]y;",
        &format!(
            "{{ for (struct {{ struct cstar_bounds at; void *near[1]; }} cstar_run = {{0}}; cstar_next_run(&cstar_shape_S, &cstar_run.at) && (cstar_run.near[0] = {near}, 1);)
               if (!cstar_run.at.mask && cstar_run.near[0]) {each} {{ x[cstar_vp] = (*(__typeof__(y))({found})); }}
               else {each} if (cstar_is_in(&cstar_run.at, cstar_vp))
               {{ x[cstar_vp] = (*(__typeof__(y))(cstar_run.near[0] ? {found} : (char *){at})); }} }}"
        ),
    );
}

/// Names of enumerations are types, which shapes follow, and not types that enumerations have.
#[test]
fn an_enumeration_may_be_parallel() {
    let made =
        made("enum color { RED, GREEN };\nenum size : char { SMALL };\nshape [3]S;\nenum color:S c;\nenum size:S t;\n")
            .unwrap();
    let made = without_markers(&made);
    assert!(made.contains("enumcolor*c;enumsize*t;"), "{made}");
}

/// Brackets in a list are designators if `=` follows them.
#[test]
fn a_list_may_have_left_indices() {
    let made = |list: &str| body(&format!("with (S) {{ int t[3] = {list}; }}"));
    let one = made("{[1]x, [2]x}").unwrap();
    assert_eq!(one.matches("cstar_at(x").count(), 2, "{one}");
    assert!(made("{[1] = 3, [2] = [2]x}").unwrap().contains("[1]=3,[2]=({"));
}

/// The C compiler would take the square of the loops of all functions that it puts into one.
#[test]
fn a_function_of_many_loops_is_never_a_part_of_its_callers() {
    let function = |count: usize, of: &str| {
        let statements = "x = [3 - .]y; y = [3 - .]x; ".repeat(count);
        let text = made(&format!("{DECLARED}{of} *f(int *v) {{ with (S) {{ {statements} }} return 0; }}\n"));
        without_markers(&text.unwrap())
    };
    assert!(function(10, "static int").contains("staticint__attribute__((noinline))*f("));
    assert!(!function(2, "static int").contains("noinline"));
    for of in ["__attribute__((always_inline)) inline int", "static inline int", "struct p { int a; }"] {
        assert!(!function(10, of).contains("noinline"), "{of}");
    }
}

/// The barriers of a body, each with the text from it to the next one.
fn barriers(source: &str) -> Vec<String> {
    let text = body(source).unwrap_or_else(|wrong| panic!("{wrong}"));
    let parts = text.split("cstar_barrier(\"").skip(1);
    parts.map(|part| part.split('"').next().unwrap_or_default().to_string()).collect()
}

/// One row for each line of the table of what must be parted, and one for each of what need not be.
#[test]
fn a_barrier_stands_where_nodes_must_come_together() {
    let shifted = "[(. + 1) % 13]";
    for (body, wanted) in [
        (format!("x = 1; y = {shifted}x;"), &["xwritten,thengot"][..]),
        (format!("{shifted}x = y; y = x;"), &["xsent,thenread"]),
        (format!("{shifted}x = y; w[0] = {shifted}x;"), &["xsent,thengot"]),
        (format!("y = {shifted}x; x = 2;"), &["xgot,thenwritten"]),
        (format!("y = x; {shifted}x = 2;"), &["xread,thensent"]),
        (format!("x = 1; {shifted}x = 2;"), &["xwritten,thensent"]),
        (format!("{shifted}x = y; x = 2;"), &["xsent,thenwritten"]),
        (format!("{shifted}x = y; {shifted}x = 2;"), &["xsent,thensent"]),
        (format!("y = {shifted}x; {shifted}x = 2;"), &["xgot,thensent"]),
        (format!("y = {shifted}x; w[0] = {shifted}x;"), &[]),
        ("x = 1; y = x; x = 2;".into(), &[]),
        // A reduction parts all that stands before it from all that follows.
        (format!("x = 1; s = (+= y); y = {shifted}x;"), &[]),
        // One barrier for two variables.
        (format!("{shifted}x = w[0]; {shifted}y = w[0]; w[0] = x; w[1] = y;"), &["xsent,thenread;ysent,thenread"]),
        // In a loop, for what comes round; before it, for what was done before.
        (format!("for (s = 0; s < 9; s++) {{ y = {shifted}x; x = y; }}"), &["xwritten,thengot", "xgot,thenwritten"]),
        (format!("x = 1; for (s = 0; s < 9; s++) y += {shifted}x;"), &["xwritten,thengot"]),
        // On one way of two; after both.
        (format!("if (s) x = 1; y = {shifted}x;"), &["xwritten,thengot"]),
        (format!("if (s) y = {shifted}x; else w[0] = 1; x = 2;"), &["xgot,thenwritten"]),
        (format!("while (s) {{ x = 1; if (s == 2) break; s++; }} y = {shifted}x;"), &["xwritten,thengot"]),
        (format!("switch (s) {{ case 1: x = 1; break; case 2: y = {shifted}x; }} x = 3;"), &["xgot,thenwritten"]),
        (format!("switch (s) {{ case 1: x = 1; case 2: y = {shifted}x; }}"), &["xwritten,thengot"]),
        // `continue` goes on at the condition of `do`, and at the last part of the head of `for`.
        (
            "do { x = 1; if (s) continue; v[0] = (+= y); } while ([0]x);".into(),
            &["xgot,thenwritten", "xwritten,thengot"],
        ),
        (
            "for (s = 0; s < 9; s += [0]x) { x = 1; if (s) continue; v[0] = (+= y); }".into(),
            &["xwritten,thengot", "xgot,thenwritten"],
        ),
        ("x = 1; s = [3]x;".into(), &["xwritten,thengot"]),
        ("s = s ? [3]x : [4]x; x = 2;".into(), &["xgot,thenwritten"]),
        ("x = 1; s = s ? [3]x : [4]x;".into(), &["xwritten,thengot", "xwritten,thengot"]),
        ("s = [3]x; [4]x = s;".into(), &["xgot,thenwritten"]),
        // What is combined by one operator comes in any order; it is sent as all else is.
        ("[y %% 13]x += 1; [y %% 13]x += y;".into(), &[]),
        ("[y %% 13]x += 1; [y %% 13]x <?= y;".into(), &["xsent,thensent"]),
        (format!("[y %% 13]x += 1; {shifted}x = y;"), &["xsent,thensent"]),
        ("[y %% 13]x += 1; y = x;".into(), &["xsent,thenread"]),
        ("x = 1; [y %% 13]x |= 1;".into(), &["xwritten,thensent"]),
        ("[y %% 13]x ^= x; x = 2;".into(), &["xread,thensent", "xsent,thenwritten"]),
        (format!("for (s = 0; s < 9; s++) [y %% 13]x += 1; y = {shifted}x;"), &["xsent,thengot"]),
    ] {
        assert_eq!(barriers(&format!("with (S) {{ {body} }}")), wanted, "{body}");
    }
}

/// Through a tree a single value goes to all from its own node, which has read it before it goes on.
#[test]
fn a_tree_brings_a_single_value_without_a_barrier() {
    for (body, wanted) in
        [("x = 1; s = [3]x; x = 2;", 0), ("[(. + 1) % 13]x = y; s = [3]x;", 1), ("s = [3]x; [(. + 1) % 13]x = y;", 1)]
    {
        let text = format!("enum {{ cstar_trees = 1 }};\n{DECLARED}static void f(int s) {{ with (S) {{ {body} }} }}\n");
        let text = made(&text).unwrap();
        assert_eq!(count(&text), wanted, "{body}");
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        assert!(plain(&lines.collect::<String>()).contains("cstar_broadcast(&"), "{text}");
    }
}

/// An index of a store may be read from what is stored to: all have read it before any stores.
#[test]
fn a_store_finds_its_place_before_nodes_come_together() {
    let text = body("[[0]x]x = 1;").unwrap();
    let (place, barrier) = (text.find("cstar_place("), text.rfind("cstar_barrier("));
    assert!(place.is_some() && place < barrier && barrier < text.find("cstar_own("), "{text}");
}

/// A barrier before a loop of the program stands before it.
#[test]
fn a_barrier_that_a_loop_needs_once_stands_before_it() {
    let text = body("with (S) { x = 1; for (s = 0; s < 9; s++) y += [0]x * [.]x; }").unwrap();
    let (barrier, head) = (text.find("cstar_barrier"), text.find("for(s=0"));
    assert!(barrier.is_some() && barrier < head && text.matches("cstar_barrier").count() == 1, "{text}");
}

/// How many barriers there are in a text.
fn count(text: &str) -> usize {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    plain(&lines.collect::<String>()).matches("cstar_barrier(").count()
}

/// What is known of a function of the file, and what of others.
#[test]
fn calls_are_parted_by_what_the_function_does() {
    let shifted = "[(. + 1) % 13]";
    let functions = "static void writes(void) { with (S) x = 1; }\nstatic void gets(void) { with (S) y = [.]x; }\nvoid unknown(void);\n";
    for (calls, wanted) in [
        ("writes(); writes();", 0),
        ("writes(); gets();", 1),
        ("gets(); gets();", 0),
        ("gets(); writes(); gets();", 2),
        ("unknown(); gets();", 1),
        ("writes(); unknown();", 0),
    ] {
        let text = made(&format!("{DECLARED}{functions}static void f(void) {{ {calls} }}\n")).unwrap();
        let f = &text[text.find("void f(void)").unwrap()..];
        assert_eq!(count(f), wanted, "{calls}: {f}");
    }
    let own = made(&format!("{DECLARED}void f(void) {{ with (S) {{ y = {shifted}x; y = {shifted}x; }} }}\n")).unwrap();
    assert_eq!(count(&own), 1, "whoever has called it: {own}");
}

#[test]
fn naive_barriers_stand_around_each_communication() {
    let text = "with (S) { y = [.]x; y = [.]x; s = 1; y = x; }";
    let naive = made(&format!("enum {{ cstar_naive = 1 }};\n{DECLARED}static void f(int s) {{ {text} }}\n")).unwrap();
    let sparing = made(&format!("{DECLARED}static void f(int s) {{ {text} }}\n")).unwrap();
    assert_eq!((count(&naive), count(&sparing)), (2, 0), "{naive}");
}

#[test]
fn words_of_c_star_are_names_where_they_are_declared() {
    let c = "int where(int with), everywhere, shape[3], current, with, pcoord;\nint f(void) { everywhere = 1; shape[0] = 2; return where(with); }\n";
    assert_eq!(made(c).unwrap(), format!("# 1 \"a.cs\"\n{c}"));
    let c = "int a(int x, int y) { return x < y ? x % y : x > y ? 1 : 2; }\nint b[2] = {[1] = 3};\nint *c = &b[1];\n";
    assert_eq!(made(c).unwrap(), format!("# 1 \"a.cs\"\n{c}"));
}

/// Bodies with the column of their first mistake, and what is said of it.
const WRONG: [(&str, usize, &str); 63] = [
    ("x = 3;", 1, "no shape is current here"),
    ("with (S) x = z;", 14, "`z` has the shape T, and the current shape is S"),
    ("with (T) { z = x + z; }", 16, "`x` has the shape S, and the current shape is T"),
    ("with (S) s = x;", 10, "a parallel value does not go into a scalar"),
    ("with (S) s *= x;", 10, "a parallel value does not go into a scalar"),
    ("with (S) if (x) s = 1;", 14, "a condition of `if`, `switch` or a loop is scalar, and this is parallel"),
    ("with (S) while (x > s) s = 2;", 17, "a condition of `if`, `switch` or a loop is scalar"),
    ("with (S) do s++; while (x);", 25, "a condition of `if`, `switch` or a loop is scalar"),
    ("with (S) for (s = 0; x; s++) ;", 22, "a condition of `if`, `switch` or a loop is scalar"),
    ("with (S) where (s) x = 2;", 17, "the condition of `where` is parallel, and this is scalar"),
    ("with (S) x = (*= y);", 15, "there is no reduction `*=`"),
    ("with (S) s = (+= s);", 18, "only what is parallel is reduced, and this is scalar"),
    ("with (S) x = [1][2]x;", 14, "the shape S has 1 dimension, and 2 indices stand here"),
    ("with (T) z = [.]z;", 14, "the shape T has 2 dimensions, and 1 index stands here"),
    ("with (S) x = [1]s;", 17, "this is scalar, and only parallel variables have a left index"),
    ("with (S) x = [.](x + y);", 17, "only parallel variables have a left index, and this is an expression"),
    ("with (S) [. + 1]x -= y;", 19, "there is no combining send `-=`"),
    ("with (S) [. + 1]s = y;", 17, "this is scalar, and only parallel variables have a left index"),
    ("[.]x = 2;", 1, "no shape is current here"),
    ("with (S) [x](x + y) = 2;", 13, "only parallel variables have a left index, and this is an expression"),
    ("with (S) v[x] = 2;", 10, "nothing is assigned to this: it is no parallel variable"),
    ("with (S) v[x]++;", 10, "nothing is assigned to this: it is no parallel variable"),
    ("with (S) x = x[2];", 14, "a parallel variable has no elements"),
    ("with (S) x = s && g(x);", 14, "this decides about what is done once, and is scalar"),
    ("with (S) x = s ? h(s) : y;", 14, "this decides about what is done once, and is scalar"),
    ("with (S) x = x ?: [.]x;", 14, "in `a ?: b` nothing is done once or got"),
    ("with (S) x = h(y);", 16, "this function has scalar parameters, and the argument is parallel"),
    ("with (S) x = g(y, 2);", 14, "this function has 1 parameters, not 2"),
    ("with (T) z = g(z);", 14, "this function has values of the shape S, and the current shape is T"),
    ("with (S) x = k(y, y);", 19, "this parameter is scalar, and what it gets is parallel"),
    ("with (S) s = (int)g;", 19, "a function with parallel parameters or results is only called"),
    ("x = g(2);", 1, "no shape is current here"),
    ("with (S) x = w;", 14, "an array of parallel variables is no value"),
    (
        "with (S) [.]w[x] += y;",
        13,
        "which of several it goes to is not sent with a structure, or with what is combined",
    ),
    ("return x;", 8, "the result of this function is scalar, and this is parallel"),
    ("int:current t;", 5, "no shape is current here"),
    ("with (S) { static int:S t; }", 12, "a parallel variable in a function has no storage class"),
    ("with (S) { int:S t = {2}; }", 20, "a parallel variable begins with a value, not with a list"),
    ("with (S) { int:T t = x; }", 22, "`x` has the shape S, and the current shape is T"),
    ("with (S) { int:S *t; }", 19, "pointers to parallel variables and functions are not there"),
    ("with (S) for (int:S t = 0; s; s++) ;", 21, "a parallel variable is not declared in a loop's head"),
    ("with (S) s = ({ int:S t; 2; });", 14, "statements and variables of C* have no place in a `({ .. })`"),
    ("with (current) s = 1;", 7, "`current` is not a shape"),
    ("with (S) x = *&y;", 15, "pointers to parallel variables, and parallel pointers, are not there"),
    ("with (S) x = pcoord(7);", 21, "the current shape has 1 dimension"),
    ("with (S) { shape [3]T; }", 12, "shapes in functions are not there yet"),
    ("with (S) { goto end; end: ; }", 12, "`goto` is not there yet"),
    ("with (S) x = from_torus_dim(x, 1, 2);", 32, "the current shape has 1 dimension"),
    ("with (S) x = from_torus_dim(s, 0, 2);", 29, "`from_torus_dim` is asked of a parallel variable"),
    ("with (S) x = from_torus_dim(z, 0, 2);", 29, "this has the shape T, and the current shape is S"),
    ("with (S) x = from_torus_dim(x, 0);", 14, "these are not the arguments of `from_torus_dim`"),
    ("with (S) to_torus_dim(x, y, 2, 1);", 29, "the current shape has 1 dimension"),
    ("with (S) to_torus_dim(s, y, 0, 1);", 23, "`to_torus_dim` sends to a parallel variable"),
    ("with (S) to_grid_dim(x, y, 0, 1);", 10, "these are not the arguments of `to_grid_dim`"),
    ("with (S) x = to_torus_dim(x, y, 0, 1);", 14, "`to_torus_dim` gives nothing"),
    ("with (S) x = 1, to_torus_dim(x, y, 0, 1);", 17, "`to_torus_dim` gives nothing"),
    ("with (S) to_torus_dim(w[y], y, 0, 1);", 23, "which of several it goes to is a scalar here"),
    ("with (S) x = from_grid_dim(x, y, 0, y);", 37, "a scalar is wanted here, and this is parallel"),
    ("with (S) x = from_grid_dim(x, y++, 0, 1);", 31, "the value at the border is not always evaluated"),
    ("with (s) x = 1;", 7, "`s` is not a shape"),
    ("everywhere s = 1;", 1, "no shape is current here"),
    ("with (S) s = shapeof(x);", 14, "a shape is no value"),
    ("with (S) s = dimof(shapeof(s), 0);", 20, "`shapeof` is asked of a parallel variable, and this is none"),
];

#[test]
fn mistakes_have_their_places() {
    for (source, column, message) in WRONG {
        let wrong = body(source).expect_err(source);
        assert!(wrong.starts_with(&format!("error: {message}")), "{source}\n{wrong}");
        let place = format!("--> a.cs:6:{column}\n");
        assert!(wrong.contains(&place), "{source}\nnot {place}{wrong}");
        assert!(wrong.contains("\nhelp: "), "{source}\n{wrong}");
    }
}

/// Declarations with the column of their first mistake, and what is said of it.
const WRONG_DECLARATIONS: [(&str, usize, &str); 30] = [
    ("shape [1][2][3][4][5]V;", 22, "a shape has 1 to 4 dimensions, and `V` has 5 dimensions"),
    ("shape V;", 7, "a shape has 1 to 4 dimensions, and `V` has no sizes"),
    ("shape []V;", 8, "the number of positions (shapes without sizes are not there yet) is expected here"),
    ("double:Q w;", 8, "`Q` is not a shape"),
    ("int:S *q;", 8, "pointers to parallel variables and functions are not there"),
    ("int:S (*q)(int:S a);", 9, "pointers to parallel variables and functions are not there"),
    ("int *:S q;", 5, "pointers to parallel variables, and parallel pointers, are not there"),
    ("int q:S;", 6, "the shape stands after the type, and not after the name"),
    ("enum e { A } *:S q;", 14, "pointers to parallel variables, and parallel pointers, are not there"),
    ("shape [4]S;", 10, "the shape `S` is there already"),
    ("int:T x;", 7, "`x` has the shape S where it was declared before, and T here"),
    ("int:S h;", 7, "`h` was declared before, and is not parallel there"),
    ("void q(int a:S);", 13, "the shape stands after the type, and not after the name"),
    ("void q(int:Q a);", 12, "`Q` is not a shape"),
    ("int S;", 5, "`S` is a shape"),
    ("int:S *q(void);", 8, "a function gives no pointer to parallel values"),
    ("int q(int:S *a);", 14, "a parallel parameter of this type is not there"),
    ("int:S q(int:T a);", 7, "the values of a function have one shape, and these have T and S"),
    ("void:S q(void);", 8, "a parallel result of this type is not there"),
    ("typedef int:S q;", 15, "names of parallel types are not there"),
    ("struct p { int:S q; };", 12, "a member of a structure cannot be parallel"),
    ("int:current q;", 5, "no shape is current here"),
    ("int:S q = {3};", 9, "a parallel variable begins with a value, not with a list"),
    ("extern int:S q = 3;", 16, "what is defined elsewhere does not begin here"),
    ("int:S q = x;", 11, "a scalar is wanted here, and this is parallel"),
    (
        "int:S g(int:S a) { with (T) return z; }",
        36,
        "the result of this function has the shape S, which is not current here",
    ),
    ("#pragma cstar dist S block(2,4)", 1, "a shape of two dimensions is dealt out in blocks, and `S` has 1"),
    ("#pragma cstar dist Q block(2,4)", 1, "`Q` is not a shape of this file"),
    ("#pragma cstar dist T block(2,0)", 1, "this pragma is not understood"),
    ("[[noreturn]] void g(void);", 1, "`[[` begins a left index in C*"),
];

#[test]
fn mistakes_in_declarations_have_their_places() {
    for (source, column, message) in WRONG_DECLARATIONS {
        let wrong = made(&format!("{DECLARED}{source}\n")).expect_err(source);
        assert!(wrong.contains(&format!("error: {message}")), "{source}\n{wrong}");
        assert!(wrong.contains(&format!("--> a.cs:5:{column}\n")), "{source}\nnot column {column}: {wrong}");
    }
}

#[test]
fn several_mistakes_are_told_in_one_run() {
    let wrong = body("with (S) { s = x; x = z; where (s) x = 1; }").expect_err("three mistakes");
    assert_eq!(wrong.matches("error: ").count(), 3, "{wrong}");
}

/// Nothing ends the compiler: pieces of a program, and the program with each of its tokens left out.
#[test]
fn any_text_is_taken() {
    let text = format!(
        "{DECLARED}int f(int s) {{ with (S) {{ where (x > 1 && y) {{ x = [. + 1][[2]x]y <? 3; y >?= x %% 2; }} else everywhere x = pcoord(0); s += x; }} return (+= x) + dimof(T, 1); }}\n"
    );
    for end in 0..text.len() {
        let _ = made(&text[..end]);
        let _ = made(&text[end..]);
    }
    let words: Vec<&str> = text.split_inclusive(' ').collect();
    for left_out in 0..words.len() {
        let rest: String = words.iter().enumerate().filter(|(i, _)| *i != left_out).map(|(_, word)| *word).collect();
        let _ = made(&rest);
    }
    for open in ["[", "[.", "with (S) ", "where (", "where (x) ", "everywhere ", "(+= ", "<? ", "shape [", "int:S "] {
        let _ = made(&open.repeat(20_000));
        let _ = made(&format!("{DECLARED}void f(void) {{ {}", open.repeat(20_000)));
    }
}
