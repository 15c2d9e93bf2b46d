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
