// What Split-C does not allow: all of it is told in one run.
static int total;
double A[4][4]::;
double *spread everywhere;
struct record { int n; int list[4]::; };
double filled[2]:: = {1, 2};
int *global spread both;
typedef int dealt[8]::;

int splitc_main(void) {
    int here = 0, *local = &here, array[4];
    int *global there = toglobal(0, &total);
    double *spread walk = A;
    here := array[1];
    array := *there;
    *local :- 3;
    *there := *there;
    if (there == local) here = 1;
    walk = here ? walk : toglobal(0, A);
    here = A[1];
    global int *early;
    int inside[3]::;
    here = local - there;
    here = sizeof A;
    A++;
    here = everywhere[walk];
    for (int *global a = there, *b = local; a; a = 0) here++;
    void (*global work)(int);
    here = *_Generic(here, int: there, default: local);
    here = *__builtin_choose_expr(1, there, local);
    return 0
}

int after(void) { return *everywhere + }
double first = *everywhere;
//$ sim FILE -p stache -m typhoon -n 2
//! error: a member of a structure cannot be a spread array
//!  --> FILE:5:28
//!   |
//! 5 | struct record { int n; int list[4]::; };
//!   |                            ^^^^
//! help: make it a spread pointer, and give it memory of all_spread_malloc
//!
//! error: a spread array cannot be initialised here
//!  --> FILE:6:20
//!   |
//! 6 | double filled[2]:: = {1, 2};
//!   |                    ^
//! help: fill it in splitc_main: each processor its own part
//!
//! error: a pointer is either global or spread
//!  --> FILE:7:13
//!   |
//! 7 | int *global spread both;
//!   |             ^^^^^^
//! help: leave one out
//!
//! error: a type cannot be a spread array
//!  --> FILE:8:13
//!   |
//! 8 | typedef int dealt[8]::;
//!   |             ^^^^^
//! help: name the type of its elements instead
//!
//! error: `:=` moves a value between this processor and another, and neither side is a global object
//!   --> FILE:14:5
//!    |
//! 14 |     here := array[1];
//!    |     ^^^^^^^^^^^^^^^^
//! help: a plain `=` copies it
//!
//! error: `:=` moves one value, and this is an array
//!   --> FILE:15:5
//!    |
//! 15 |     array := *there;
//!    |     ^^^^^^^^^^^^^^^
//! help: use bulk_get, bulk_put or bulk_store
//!
//! error: `:-` stores through a global pointer, and this is no object that one points to
//!   --> FILE:16:5
//!    |
//! 16 |     *local :- 3;
//!    |     ^^^^^^
//! help: a plain `=` writes it; a label is parted from what follows it: `name: -value`
//!
//! error: both sides of `:=` are global objects
//!   --> FILE:17:5
//!    |
//! 17 |     *there := *there;
//!    |     ^^^^^^^^^^^^^^^^
//! help: get it into a variable, sync(), and put it from there
//!
//! error: a global pointer and a local pointer are compared
//!   --> FILE:18:9
//!    |
//! 18 |     if (there == local) here = 1;
//!    |         ^^^^^^^^^^^^^^
//! help: make one of the other: toglobal, tolocal, or a cast
//!
//! error: a spread pointer and a global pointer are the two results of a conditional expression
//!   --> FILE:19:19
//!    |
//! 19 |     walk = here ? walk : toglobal(0, A);
//!    |                   ^^^^
//! help: make one of the other: toglobal, tolocal, or a cast
//!
//! error: this spread array has several dimensions
//!   --> FILE:19:35
//!    |
//! 19 |     walk = here ? walk : toglobal(0, A);
//!    |                                   ^
//! help: name the place in each of them, in brackets
//!
//! error: this spread array has 2 dimensions left of `::`, and 1 of them stand here
//!   --> FILE:20:12
//!    |
//! 20 |     here = A[1];
//!    |            ^^^^
//! help: a part of a spread array is one element: name the place in each dimension
//!
//! error: `global` has no pointer before it
//!   --> FILE:21:5
//!    |
//! 21 |     global int *early;
//!    |     ^^^^^^
//! help: write it behind the star: int *global p
//!
//! error: a spread array cannot be declared in a function
//!   --> FILE:22:9
//!    |
//! 22 |     int inside[3]::;
//!    |         ^^^^^^
//! help: declare it at file scope, or use a spread pointer and all_spread_malloc
//!
//! error: a local pointer and a global pointer stand beside this operator
//!   --> FILE:23:12
//!    |
//! 23 |     here = local - there;
//!    |            ^^^^^^^^^^^^^
//! help: make one of the other: toglobal, tolocal, or a cast
//!
//! error: a spread array has no size on one processor
//!   --> FILE:24:19
//!    |
//! 24 |     here = sizeof A;
//!    |                   ^
//! help: multiply the sizes of its dimensions
//!
//! error: a spread array stays where it is
//!   --> FILE:25:5
//!    |
//! 25 |     A++;
//!    |     ^
//! help: use a spread pointer that points to its first element
//!
//! error: a function lies nowhere that a global pointer could point to
//!   --> FILE:28:11
//!    |
//! 28 |     void (*global work)(int);
//!    |           ^
//! help: a plain pointer to a function means the same function on every processor
//!
//! error: among what is chosen here are pointers of several kinds
//!   --> FILE:29:49
//!    |
//! 29 |     here = *_Generic(here, int: there, default: local);
//!    |                                                 ^^^^^
//! help: choose among pointers of one kind, or let `?:` decide while the program runs
//!
//! error: among what is chosen here are pointers of several kinds
//!   --> FILE:30:45
//!    |
//! 30 |     here = *__builtin_choose_expr(1, there, local);
//!    |                                             ^^^^^
//! help: choose among pointers of one kind, or let `?:` decide while the program runs
//!
//! error: `;` is expected here, not `}`
//!   --> FILE:32:1
//!    |
//! 32 | }
//!    | ^
//!
//! error: an expression is expected here, not `}`
//!   --> FILE:34:40
//!    |
//! 34 | int after(void) { return *everywhere + }
//!    |                                        ^
//!
//! error: spread pointers are followed and moved in functions only
//!   --> FILE:35:17
//!    |
//! 35 | double first = *everywhere;
//!    |                 ^^^^^^^^^^
//! help: do it in splitc_main
//= 2
