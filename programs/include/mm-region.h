/* mm-region.h: which node an object belongs to, as the M-Machine's tables say (M-Machine 1999; our specification 2.4): a region of the address space is dealt out over a rectangle of
 * nodes, so many pages to each in turn. And the header word of its messages (2.5).
 *
 * Programs place their memory by it: `mm_alloc` gives memory for each page, at home where the table says.
 */
#ifndef TRIVIUM_MM_REGION_H
#define TRIVIUM_MM_REGION_H

#include "trivium.h"

enum { MM_ENTRIES = 4, MM_SIDE = 32, MM_NOWHERE = -1 };

/* An entry of the table. Pages are numbers of 42 bits. */
struct mm_region {
    uint64_t tag, mask;         /* the pages p with (p & mask) == (tag & mask) */
    int base_x, base_y;         /* the first node of its rectangle */
    int extent_x, extent_y;     /* the logarithms of its width and height */
    int pages;                  /* the logarithm of how many pages one after the other are on a node */
};

/* A table of up to four entries. */
struct mm_table {
    struct mm_region entry[MM_ENTRIES];
    int entries;
};

#define MM_PAGE_BITS ((UINT64_C(1) << 42) - 1)

static inline int mm_hits(const struct mm_region *region, uint64_t page) {
    return ((page ^ region->tag) & region->mask & MM_PAGE_BITS) == 0;
}

/* The node of a page, y * 32 + x, or MM_NOWHERE. */
static inline int mm_node_of(const struct mm_table *table, uint64_t page) {
    for (int i = 0; i < table->entries; i++) {
        const struct mm_region *region = &table->entry[i];
        if (!mm_hits(region, page)) continue;
        uint64_t block = page >> region->pages;
        uint64_t x = block & ((UINT64_C(1) << region->extent_x) - 1);
        uint64_t y = (block >> region->extent_x) & ((UINT64_C(1) << region->extent_y) - 1);
        return (region->base_y + (int)y) * MM_SIDE + region->base_x + (int)x;
    }
    return MM_NOWHERE;
}

/* Puts an entry into the table. One that is outside of a mesh of `width` by `height` nodes, that has a page in common with another, or that is one too many ends the program. */
static inline void mm_install(struct mm_table *table, struct mm_region region, int width, int height) {
    if (table->entries == MM_ENTRIES) trivium_fail("mm-region: the table has four entries: install fewer regions");
    if (region.extent_x < 0 || region.extent_y < 0 || region.extent_x > 5 || region.extent_y > 5 || region.pages < 0 || region.pages > 41)
        trivium_fail("mm-region: extents are logarithms from 0 to 5, pages from 0 to 41");
    if (region.base_x < 0 || region.base_y < 0 || region.base_x + (1 << region.extent_x) > width || region.base_y + (1 << region.extent_y) > height)
        trivium_fail("mm-region: a region is not within the mesh: choose another base or a smaller extent");
    for (int i = 0; i < table->entries; i++) {
        const struct mm_region *other = &table->entry[i];
        if (((region.tag ^ other->tag) & region.mask & other->mask & MM_PAGE_BITS) == 0)
            trivium_fail("mm-region: two regions have a page in common: change the tag or the mask of one");
    }
    table->entry[table->entries++] = region;
}

/* Memory for pages `first`, `first + 1` and so on, each of `bytes`, at home where the table says; in a mesh of `width` nodes a row. Collective, as trivium_alloc_on. */
static inline void mm_alloc(const struct mm_table *table, uint64_t first, int pages, size_t bytes, int width, void **memory) {
    for (int i = 0; i < pages; i++) {
        int node = mm_node_of(table, first + (uint64_t)i);
        if (node == MM_NOWHERE) trivium_fail("mm-region: no region has the page: install one");
        memory[i] = trivium_alloc_on(node / MM_SIDE * width + node % MM_SIDE, bytes);
    }
}

/* The header word of a message: to and from nodes y * 32 + x, with so many words after the address of the object. */
static inline uint64_t mm_header(int to, int priority, int ordered, int words, int turns, int from) {
    return (uint64_t)to | (uint64_t)priority << 16 | (uint64_t)ordered << 17 | (uint64_t)words << 18 | (uint64_t)turns << 22 | (uint64_t)from << 33;
}

#endif
