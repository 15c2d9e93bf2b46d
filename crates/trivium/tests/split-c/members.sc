// Bit-fields, unions, enumerations and arrays through a global pointer; _Generic, variable lengths, goto.
#include <stdio.h>
#include <stdint.h>
union u { float f; uint32_t i; struct { uint8_t b[4]; } p; };
static struct { unsigned a : 1, b : 12, c : 19; int64_t big; union u u; float f; double d; int arr[3][4]; enum { RED, GREEN = 5 } col; } s;
typedef __typeof__(s) st;
static int fact(int *global n) { if (*n <= 1) return 1; int k = (*n)--; return k * fact(n); }
static int counter;
int splitc_main(void) {
    int next = (MYPROC + 1) % PROCS;
    st *global g = toglobal(next, &s);
    g->a = 1; g->b = 0xABC; g->c = 0x7FFFF; g->b += 1; g->c >>= 3; g->a ^= 1;
    g->big = INT64_MIN; g->big >>= 5; g->big ^= 0x55; g->big |= 1LL << 33;
    g->u.f = 1.0f; g->u.p.b[3] |= 0x80; g->u.i += 1;
    g->f = 2.5f; g->f *= 3; g->f++; --g->f; g->d = 1e10; g->d /= 3; g->d -= g->f;
    for (int i = 0; i < 3; i++) for (int j = 0; j < 4; j++) g->arr[i][j] = i * j + MYPROC;
    g->col = GREEN;
    barrier();
    st *global m = toglobal(MYPROC, &s);
    int (*global row)[4] = m->arr + 1; int rr = (*row)[3] * 10 + row[1][2];
    int pre = ++m->arr[0][0], post = m->arr[0][0]++, now = m->arr[0][0];
    switch (m->col) { case RED: pre = -1; break; case GREEN: pre += 1000; }
    int n = 3; int vla[n]; for (int i = 0; i < n; i++) vla[i] := m->arr[2][i]; sync();
    int ve = 0; for (int i = 0; i < n; i++) ve += vla[i] * (i + 1);
    int se = ({ int q = m->arr[1][1]; q * 2; });
    int gen = _Generic(m->f, float: 1, double: 2, default: 3);
    *toglobal(MYPROC, &counter) = 5; int f = fact(toglobal(MYPROC, &counter));
    barrier();
    int k = 0;
loop: if (k < 3) { k++; *toglobal(next, &counter) += k; barrier(); goto loop; }
    int cv = *toglobal(MYPROC, &counter);
    float fl = m->u.f; double dd = m->d; long long bb = m->big; unsigned bits = m->a * 1 + m->b * 2 + m->c * 8192u;
    size_t sz = sizeof *g + sizeof(g->arr) + _Alignof(double);
    for (int p = 0; p < PROCS; p++) { if (p == MYPROC) printf("%d: %u %lld %.9g %.9g %.3f rr %d %d %d %d ve %d se %d %d f %d cv %d %zu\n", p, bits, bb, fl, (double)m->f, dd, rr - 11 * 0, pre, post, now, ve, se, gen, f, cv, sz); barrier(); }
    return 0;
}
