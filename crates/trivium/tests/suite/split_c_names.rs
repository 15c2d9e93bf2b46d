//! What is said of a wrong program in Split-C names what its author has written, and nothing that its translation has made up.

use crate::harness::command;
use crate::slow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Of every program.
const BEFORE: &str = "#include <split-c/split-c.h>
struct point { double x; int n; int list[4]; };
int total; double sums[8]; struct point pt; const int fixed = 3;
int *global gp; double *global gd; int *spread sp; struct point *global gr; int dealt[10]::; struct point recs[5]::[2];
void *global gv; int (*fn)(int); void takes(int *global p);
int splitc_main(void) {
    int here = 0, i = 1; double real = 0; char text[8]; struct point mine; int *lp = &here;
    ";

/// One mistake in each, or some.
const WRONG: [&str; 46] = [
    "gp = 3.5; gp = \"text\"; gp = lp; lp = gp; *gp = mine; *gp = \"text\";",
    "gr->y = 1; gr->list = 3; (*gr).n();",
    "gp(); gp[mine] = 3;",
    "gp + gp; gp * 2;",
    "gp + 1.5;",
    "gp - gd;",
    "gp < lp;",
    "sp += 1.5;",
    "sp += mine;",
    "sp++ = 3;",
    "sp[1][2] = 3;",
    "here := *gd; mine := *gp;",
    "*gp := mine;",
    "*gp := text;",
    "*gp :- \"text\"; *gp :- mine;",
    "*gv := 3;",
    "here := *gv;",
    "*gp := undeclared;",
    "dealt[1] = mine; dealt[1] = \"text\";",
    "dealt[mine] = 2;",
    "recs[1][2].y = 3;",
    "recs[1][2][3] = 3; recs[1].x = 2;",
    "takes(lp); takes(sp); takes(gp, 1); takes(here);",
    "bulk_read(gp, lp, 4); bulk_write(gp, gp, 4); bulk_get(lp);",
    "toglobal(mine, lp); toglobal(1, here);",
    "tolocal(here);",
    "toproc(mine);",
    "here = (int *global)mine; lp = (int *)mine;",
    "(*gp)++ = 4; gp++ = gp; *gp++ := mine;",
    "if (gr) { } else if (mine) { } switch (gp) { case 1: break; }",
    "sp = all_spread_malloc(3); all_spread_malloc(mine, 3); spread_free(lp);",
    "store_sync(mine); barrier(3); is_sync(3);",
    "fetch_and_add(lp, 1); fetch_and_add(gp, mine); exchange(gp, \"x\"); compare_and_swap(gp, 1);",
    "gr->list[1] := mine; mine.list := *gp;",
    "fixed := *gp; pt = *gp; *gr = 3;",
    "return gp;",
    "here ? mine : gp; *gp ? gp : lp;",
    "-gp; gp | 1;",
    "sp[0] = sp; *sp = lp;",
    "sp->x = 1;",
    "(sp + 1)->x = 2;",
    "sp[2] := mine;",
    "mine := sp[1];",
    "sp->n += 1;",
    "gr->n &= 1.5; __builtin_memcpy(gp, lp, 4);",
    "MYPROC = 3; PROCS++; &MYPROC;",
];

/// How names begin that nobody has written, in front of what follows them.
const MADE_UP: [&str; 8] =
    ["splitc_", "SPLITC_", "__auto_type", "address_space", "__UINTPTR", "typeof", "uintptr_t", "<split-c>"];

#[test]
fn no_message_names_what_nobody_has_written() {
    let folder = crate::harness::folder();
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(mistakes) = WRONG.get(next.fetch_add(slow::all_or(1, 3), Ordering::Relaxed)) {
                    let number = WRONG.iter().position(|other| other == mistakes).unwrap();
                    let file = folder.path().join(format!("wrong{number}.sc"));
                    std::fs::write(&file, format!("{BEFORE}{mistakes}\n    return 0;\n}}\n")).unwrap();
                    let run = command(&["run", file.to_str().unwrap(), "-p", "swcc", "-n", "2"]).output().unwrap();
                    let said = String::from_utf8(run.stderr).unwrap();
                    assert_eq!(run.status.code(), Some(2), "{mistakes}: {said}");
                    let is_made_up = |line: &&str| {
                        let line = line.replace("splitc_main", "");
                        MADE_UP.iter().any(|name| line.contains(name))
                    };
                    if let Some(line) = said.lines().find(is_made_up) {
                        wrong.lock().unwrap().push(format!("{mistakes}: {line}"));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
