/* dsmc-regions.h: a box of cells that is divided among nodes, each of which has a box of them. */
#ifndef DSMC_REGIONS_H
#define DSMC_REGIONS_H

#include <stdint.h>
#include <stdlib.h>

#include "options.h"
#include "trivium.h"

struct regions {
    int side[3], cells;
    int *of_x, *of_y;  /* of a layer and of a row: the number of its first cell, from that of the layer on */
    int16_t *owner_of; /* of each cell: the node that has it, and its place there, from 0 on; on one node that is its number */
    int *place_of;
    int *cells_of; /* of each node */
};

static inline int cell_number(const struct regions *all, int x, int y, int z) {
    return all->of_x[x] + all->of_y[y] + z;
}

static inline int cell_at(const struct regions *all, const float *at) {
    return cell_number(all, (int)at[0], (int)at[1], (int)at[2]);
}

static inline void corner_of(const struct regions *all, int cell, int *corner) {
    corner[0] = cell / all->side[2] / all->side[1];
    corner[1] = cell / all->side[2] % all->side[1];
    corner[2] = cell % all->side[2];
}

static inline void have_region(struct regions *all, int node, const int *from, const int *to) {
    for (int x = from[0]; x < to[0]; x++) {
        for (int y = from[1]; y < to[1]; y++) {
            for (int z = from[2]; z < to[2]; z++) {
                int cell = cell_number(all, x, y, z);
                all->owner_of[cell] = (int16_t)node;
                all->place_of[cell] = all->cells_of[node]++;
            }
        }
    }
}

/* Divides a box among nodes: in two across one of its sides, and each part again. Of the ways to cut it that one is taken which leaves the fewest cells to a node where
 * there are the most; of equal ways the one across the longest side. */
static inline void divide_box(struct regions *all, int first, int nodes, const int *from, const int *to) {
    if (nodes == 1) {
        have_region(all, first, from, to);
        return;
    }
    int few = nodes / 2, many = nodes - few, across = -1, cut = 0;
    int64_t worst = 0, of = 1; /* cells for a node, as a fraction of all in the box, times `few * many` */
    for (int d = 0; d < 3; d++) {
        int64_t length = to[d] - from[d], at = (2 * length * few + nodes) / (2 * nodes);
        if (length < 2) continue;
        at = at < 1 ? 1 : at > length - 1 ? length - 1 : at;
        int64_t most = at * many > (length - at) * few ? at * many : (length - at) * few;
        if (across >= 0 && (most * of > worst * length || (most * of == worst * length && length <= of))) continue;
        across = d, cut = from[d] + (int)at, worst = most, of = length;
    }
    if (across < 0) trivium_fail("dsmc: a node has no cell: more cells (-x, -y, -z), or fewer nodes");
    int end[3] = {to[0], to[1], to[2]}, begin[3] = {from[0], from[1], from[2]};
    end[across] = begin[across] = cut;
    divide_box(all, first, few, from, end);
    divide_box(all, first + few, many, begin, to);
}

static inline void *room_for(size_t bytes) {
    void *memory = calloc(1, bytes);
    if (!memory) trivium_fail("dsmc: no memory for the cells");
    return memory;
}

static inline struct regions divide(int64_t x, int64_t y, int64_t z, int nodes) {
    enum { MOST = 1000000 };
    const int from[3] = {0, 0, 0};
    if (x * y * z > MOST) trivium_fail(sentence("dsmc: there are %lld cells, and room for %d: fewer of them (-x, -y, -z)", (long long)(x * y * z), MOST));
    struct regions all = {.side = {(int)x, (int)y, (int)z}, .cells = (int)(x * y * z)};
    all.of_x = room_for(sizeof *all.of_x * (size_t)x), all.of_y = room_for(sizeof *all.of_y * (size_t)y);
    for (int i = 0; i < x; i++) all.of_x[i] = (int)(i * y * z);
    for (int i = 0; i < y; i++) all.of_y[i] = (int)(i * z);
    all.owner_of = room_for(sizeof *all.owner_of * (size_t)all.cells), all.place_of = room_for(sizeof *all.place_of * (size_t)all.cells);
    all.cells_of = room_for(sizeof *all.cells_of * (size_t)nodes);
    divide_box(&all, 0, nodes, from, all.side);
    return all;
}

#endif
