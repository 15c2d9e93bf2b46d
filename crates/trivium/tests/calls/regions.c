/* regions.c: the table that says where objects live, by the vectors of the specification (2.4.3, 2.5), and memory that is placed by it. With an argument, what may not be. */
#include <stdio.h>
#include "mm-region.h"

struct vector { uint64_t page; int x, y; };

static int wrong;

static void expect(const struct mm_table *table, const struct vector *vectors, int number) {
    for (int i = 0; i < number; i++) {
        int node = mm_node_of(table, vectors[i].page), wanted = vectors[i].x < 0 ? MM_NOWHERE : vectors[i].y * MM_SIDE + vectors[i].x;
        if (node != wanted) wrong++;
    }
}

int main(int argc, char **argv) {
    uint64_t all = MM_PAGE_BITS;
    struct mm_region spread = {.tag = 0x1000, .mask = all & ~UINT64_C(0xfff), .base_x = 2, .base_y = 1, .extent_x = 2, .extent_y = 1, .pages = 1};
    struct mm_table first = {0}, whole = {0}, one = {0}, small = {0};
    mm_install(&first, spread, 32, 32);
    static const struct vector of_first[] = {{0x1000, 2, 1}, {0x1001, 2, 1}, {0x1002, 3, 1}, {0x1007, 5, 1}, {0x1008, 2, 2}, {0x100d, 4, 2}, {0x100f, 5, 2}, {0x1010, 2, 1}, {0x1fff, 5, 2}, {0x2000, -1, 0}};
    expect(&first, of_first, sizeof of_first / sizeof *of_first);
    mm_install(&whole, (struct mm_region){.extent_x = 5, .extent_y = 5}, 32, 32);
    static const struct vector of_whole[] = {{0, 0, 0}, {31, 31, 0}, {32, 0, 1}, {1023, 31, 31}, {1024, 0, 0}};
    expect(&whole, of_whole, sizeof of_whole / sizeof *of_whole);
    mm_install(&one, (struct mm_region){.tag = 0x40, .mask = all, .base_x = 7, .base_y = 9}, 32, 32);
    static const struct vector of_one[] = {{0x40, 7, 9}, {0x41, -1, 0}};
    expect(&one, of_one, sizeof of_one / sizeof *of_one);
    wrong += mm_header(2 << 5 | 3, 0, 1, 8, 5, 1 << 5 | 4) != UINT64_C(0x4801620043);
    wrong += mm_header(31 << 5 | 31, 1, 0, 10, 7, 31 << 5 | 31) != UINT64_C(0x7fe01e903ff);
    if (argc > 1) switch (argv[1][0]) {
        case 'm': mm_install(&first, (struct mm_region){.tag = 0x9000, .mask = all, .base_x = 31, .extent_x = 1}, 32, 32); break;
        case 'o': mm_install(&first, (struct mm_region){.tag = 0x1008, .mask = all}, 32, 32); break;
        case 'f': for (int i = 0; i < 4; i++) mm_install(&first, (struct mm_region){.tag = 0x9000 + (uint64_t)i, .mask = all}, 32, 32); break;
        case 'p': { void *page; mm_alloc(&one, 0x41, 1, 8, 32, &page); break; }
    }
    /* On four nodes, two a row: page p is at node p % 4. */
    mm_install(&small, (struct mm_region){.extent_x = 1, .extent_y = 1}, 2, 2);
    int64_t *pages[8];
    mm_alloc(&small, 0, 8, 4096, 2, (void **)pages);
    trivium_barrier();
    for (int i = 0; i < 8; i++) wrong += trivium_is_home(pages[i]) != (i % 4 == trivium_node());
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
