/* unstructured.c: gas in a rigid body, on a static unstructured mesh (Tempest 1998; our specification 6.6).
 *
 * Waves of pressure run through a gas that a closed rigid body holds: a finite volume method on a mesh of tetrahedra (mesh.h). The values of a mesh node are its
 * pressure and velocity. In an iteration a loop over edges adds to both ends what flows between their cells, a loop over the triangles of the surface adds what the body
 * does to their corners, and each mesh node goes a step. Mesh nodes are divided among the processors by recursive coordinate bisection. An edge or a triangle is
 * computed by the owner of one of its ends, so that processors change what others own: each adds up in private memory, and then all merge what they have, the whole
 * array, section by section, as in moldyn.c.
 *
 * The sum at a mesh node has one order: what its owner has, then what the processors after the owner have, around the end. Each of these sums begins as +0 and so is
 * never -0: to add the +0 of a processor that has nothing changes no bit. The first iteration is not measured. On one processor nothing is merged: the program that
 * speedups are held against.
 *
 * It checks itself: Euler's formula, triangles that are sides of two tetrahedra or of one and the surface, the volume, cells that are closed, so that a body under even
 * pressure feels no force, mass, forces that add up to nothing, and all values: to the last bit against a computation by one processor that adds in the same order, and
 * within a bound against one that adds edge by edge. So values are the same under every sequentially consistent protocol at a given number of processors, with the sums merged through channels
 * (unstructured-channels.c) and with values pushed too (unstructured-update.c); at another number they differ by rounding, for which the bound is.
 *
 * With -x 12 -y 12 -z 55 the mesh has 9,464 nodes, 59,911 edges and 5,856 triangles of the surface. Published are 9,428, 59,863 and 5,864, to which no grid comes
 * nearer.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "mesh.h"
#include "options.h"
#include "stache-report.h"

/* The numbers of the computation: -DREAL=float for shorter ones. */
#ifndef REAL
#define REAL double
#endif

/* unstructured-update.c puts the values under another protocol, and defines these otherwise. */
#ifndef VALUES_UNDER
#define VALUES_UNDER 0
#define join_values() ((void)0)
#define end_iteration() trivium_barrier()
#endif

enum { X, Y, Z, ITERATIONS, MERGE, CHECK, SEED, OPTIONS };

/* How sums are merged in shared memory. */
enum { IN_STAGES, WITHOUT_ZEROS, BY_FLAGS, BY_OWNERS };

static struct option options[OPTIONS] = {
    [X] = {'x', 4, 1, 100, "cells of the mesh's grid in the first dimension, of six tetrahedra each (12: as published)"},
    [Y] = {'y', 4, 1, 100, "in the second (12: as published)"},
    [Z] = {'z', 10, 1, 100, "in the third (55: as published)"},
    [ITERATIONS] = {'i', 5, 1, 1000000, "iterations (5: as published)"},
    [MERGE] = {'m', IN_STAGES, IN_STAGES, BY_OWNERS, "sums are merged: 0 in stages; 1 in stages, without zeros; 2 in stages, with flags and no barriers; 3 by owners, who gather"},
    [CHECK] = {'c', 1, 0, 1, "0: neither mesh nor values are checked"},
    [SEED] = {'g', 1, 0, 1000000, "seed of the mesh nodes' places"},
};

/* The values of a mesh node, or what is added to them: pressure, and velocity in three dimensions. */
enum { PRESSURE, VELOCITY, WIDTH = 4 };
typedef REAL node_t[WIDTH];

struct edge {
    int ends[2];
    REAL area[3]; /* between their cells, from the first to the second */
};

struct triangle {
    int corners[3];
    REAL area[3]; /* a third of it, which closes the cell of each corner */
};

/* What a processor computes. */
struct part {
    struct edge *edges;
    struct triangle *triangles;
    double *volumes; /* of its mesh nodes' cells */
    int edge_count, triangle_count;
};

/* A step in time, and what evens values out along an edge. */
static const REAL STEP = (REAL)0.1, EVENED = (REAL)0.05;

/* No sum of numbers about 1 that has so few terms is as wrong. */
static const double ROUNDING = 64 * (sizeof(REAL) == sizeof(double) ? DBL_EPSILON : FLT_EPSILON);

static int self, processors;
static mesh_t mesh;

/* What rounding changes at most in a sum over all mesh nodes, of so much in all: as many additions, and some for each. */
static double rounding_of_sums(double all) {
    return ROUNDING / 64 * (64 + mesh.nodes) * all;
}

static struct part mine;
static node_t *values; /* of all mesh nodes; each processor writes those of its own */
static int *sections;  /* in this and all arrays of mesh nodes: the place of each processor's first one, and behind the last */
static node_t *sums;   /* what this processor adds to all mesh nodes */

/* ---- Where mesh nodes are -------------------------------------------------------------------------- */

/* Room whose pages are touched where they are used, and no others. */
static void *allocate_room(size_t count, size_t bytes) {
    int64_t all = (int64_t)count * (int64_t)bytes;
    void *room = all < PRIVATE_BYTES ? malloc(all ? (size_t)all : 1) : NULL;
    if (!room) trivium_fail("unstructured: no private memory is left: a smaller mesh (-x, -y, -z), or leave the check out (-c 0)");
    return room;
}

static void *allocate(size_t count, size_t bytes) {
    return memset(allocate_room(count, bytes), 0, count * bytes);
}

static int count_of(int processor) {
    return mesh_first(&mesh, processor + 1) - mesh_first(&mesh, processor);
}

/* The place of a grid point's mesh node. */
static int place(int point) {
    int owner = mesh.owner[point];
    return sections[owner] + mesh.number[point] - mesh_first(&mesh, owner);
}

/* ---- How sums are merged --------------------------------------------------------------------------- */

/* Before the first iteration; before a processor adds up; and after, which gives the sums of this processor's mesh nodes. All but the second are collective. */
static void open_merge(void);
static void clear_sums(void);
static node_t *merge(void);

#ifndef OTHER_MERGE
static node_t *merged;          /* the sums of all mesh nodes; by owners, in private memory */
static node_t **given;          /* by owners: what each processor adds, where all see it */
static volatile int64_t **done; /* by flags: the stages that each processor has done since the beginning */

static void open_merge(void) {
    uint64_t bytes = sizeof(node_t) * (uint64_t)sections[processors];
    if (processors == 1) return;
    done = allocate((size_t)processors, sizeof *done), given = allocate((size_t)processors, sizeof *given);
    for (int p = 0; options[MERGE].value == BY_FLAGS && p < processors; p++) done[p] = trivium_alloc_on(p, sizeof **done);
    for (int p = 0; options[MERGE].value == BY_OWNERS && p < processors; p++) given[p] = trivium_alloc_first_touch(bytes);
    if (options[MERGE].value == BY_OWNERS) {
        free(sums);
        sums = given[self], merged = allocate_room((size_t)sections[processors], sizeof *merged);
    } else {
        merged = trivium_alloc_first_touch(bytes);
        trivium_name(merged, "merged");
        stache_watch("merged", merged, bytes, 0);
    }
}

static void clear_sums(void) {
    memset(sums, 0, sizeof *sums * sections[processors]);
}

/* Adds to a section what a processor has, which for its owner's are the first. */
static void add_section(int to, int processor, node_t *from) {
    for (int n = sections[to]; n < sections[to] + count_of(to); n++) {
        for (int k = 0; k < WIDTH; k++) merged[n][k] = processor == to ? from[n][k] : merged[n][k] + from[n][k];
    }
}

static void add_section_without_zeros(int to) {
    for (int n = sections[to]; n < sections[to] + count_of(to); n++) {
        for (int k = 0; k < WIDTH; k++) {
            if (sums[n][k] != 0) merged[n][k] += sums[n][k];
        }
    }
}

/* The section that this processor adds to in a stage is that of the one so many before it. */
static void add_in_stage(int stage) {
    int to = (self - stage + processors) % processors;
    if (options[MERGE].value == WITHOUT_ZEROS && stage) add_section_without_zeros(to);
    else add_section(to, self, sums);
}

static void merge_in_stages(void) {
    trivium_barrier();
    for (int stage = 0; stage < processors; stage++) {
        add_in_stage(stage);
        trivium_barrier();
    }
}

/* The processor before this one was the last to add to a section. */
static void wait_for_previous(int64_t stages) {
    volatile int64_t *of = done[(self + processors - 1) % processors];
    for (int64_t now = *of; now < stages;) now = trivium_wait_until_changed64(of, now);
}

static void merge_by_flags(void) {
    int64_t before = *done[self];
    for (int stage = 0; stage < processors; stage++) {
        if (stage > 0) wait_for_previous(before + stage);
        add_in_stage(stage);
        *done[self] = before + stage + 1;
    }
    wait_for_previous(before + processors);
}

static void merge_by_owners(void) {
    trivium_barrier();
    for (int stage = 0; stage < processors; stage++) {
        int from = (self + stage) % processors;
        add_section(self, from, given[from]);
    }
}

static node_t *merge(void) {
    if (processors == 1) return sums;
    switch (options[MERGE].value) {
    case BY_FLAGS: merge_by_flags(); break;
    case BY_OWNERS: merge_by_owners(); break;
    default: merge_in_stages();
    }
    return merged + sections[self];
}
#endif

/* ---- The computation ------------------------------------------------------------------------------- */

static void add_edges(const struct part *part, node_t *of, node_t *to) {
    for (int e = 0; e < part->edge_count; e++) {
        const struct edge *edge = &part->edges[e];
        const REAL *a = of[edge->ends[0]], *b = of[edge->ends[1]], *area = edge->area;
        REAL pressure = (a[PRESSURE] + b[PRESSURE]) / 2, flow = 0, change[WIDTH];
        for (int d = 0; d < 3; d++) {
            flow += area[d] * (a[VELOCITY + d] + b[VELOCITY + d]) / 2;
            change[VELOCITY + d] = EVENED * (b[VELOCITY + d] - a[VELOCITY + d]) - area[d] * pressure;
        }
        change[PRESSURE] = EVENED * (b[PRESSURE] - a[PRESSURE]) - flow;
        for (int k = 0; k < WIDTH; k++) to[edge->ends[0]][k] += change[k];
        for (int k = 0; k < WIDTH; k++) to[edge->ends[1]][k] -= change[k];
    }
}

/* Nothing flows through the body; its force is the opposite of the gas's on it. */
static void add_triangles(const struct part *part, node_t *of, node_t *to) {
    for (int t = 0; t < part->triangle_count; t++) {
        const struct triangle *triangle = &part->triangles[t];
        const int *corners = triangle->corners;
        REAL pressure = (of[corners[0]][PRESSURE] + of[corners[1]][PRESSURE] + of[corners[2]][PRESSURE]) / 3;
        for (int c = 0; c < 3; c++) {
            for (int d = 0; d < 3; d++) to[corners[c]][VELOCITY + d] -= triangle->area[d] * pressure;
        }
    }
}

/* The mesh nodes of a part go a step. */
static void advance(const struct part *part, int count, node_t *of, node_t *by) {
    for (int n = 0; n < count; n++) {
        REAL step = STEP / (REAL)part->volumes[n];
        for (int k = 0; k < WIDTH; k++) of[n][k] += step * by[n][k];
    }
}

static node_t *act(void) {
    clear_sums();
    add_edges(&mine, values, sums);
    add_triangles(&mine, values, sums);
    return merge();
}

/* ---- A part of the mesh ---------------------------------------------------------------------------- */

/* An edge between two processors is the one's or the other's in turn, and so is a triangle. */
static int computes(const int *points, int count) {
    int sum = 0;
    for (int i = 0; i < count; i++) sum += mesh.number[points[i]];
    return mesh.owner[points[sum % count]];
}

/* The edges of a processor, without areas, in the order of the mesh nodes where they begin; in `index` each edge's number by point and step. */
static void list_edges(struct part *part, int processor, int *index) {
    part->edges = allocate_room((size_t)mesh.nodes * MESH_STEPS, sizeof *part->edges);
    for (int n = 0; n < mesh.nodes; n++) {
        for (int step = 1; step <= MESH_STEPS; step++) {
            int ends[2] = {mesh.point[n], mesh_step(&mesh, mesh.point[n], step)}, *at = &index[ends[0] * (MESH_STEPS + 1) + step];
            *at = -1;
            if (mesh_leaves(&mesh, ends[0], step) || computes(ends, 2) != processor) continue;
            *at = part->edge_count++;
            part->edges[*at] = (struct edge){.ends = {place(ends[0]), place(ends[1])}};
        }
    }
}

/* Adds what a tetrahedron has of the cells around its corners, and between them. */
static void add_tetrahedron(struct part *part, int processor, int point, int path, const int *index) {
    /* Of each edge, and then the other two corners so that they turn in the same way. */
    static const int turned[6][4] = {{0, 1, 2, 3}, {0, 2, 3, 1}, {0, 3, 1, 2}, {1, 2, 0, 3}, {1, 3, 2, 0}, {2, 3, 0, 1}};
    int steps[4], corners[4], is_near = 0;
    mesh_tetrahedron(path, steps);
    for (int c = 0; c < 4; c++) {
        corners[c] = mesh_step(&mesh, point, steps[c]);
        is_near |= mesh.owner[corners[c]] == processor;
    }
    if (!is_near) return;
    double volume = mesh_volume(&mesh, corners);
    if (volume <= 0) trivium_fail("unstructured: a tetrahedron is inside out");
    for (int c = 0; c < 4; c++) {
        if (mesh.owner[corners[c]] == processor) part->volumes[mesh.number[corners[c]] - mesh_first(&mesh, processor)] += volume / 4;
    }
    for (int e = 0; e < 6; e++) {
        int i = turned[e][0], j = turned[e][1], is_forward = steps[i] < steps[j];
        int edge = index[corners[is_forward ? i : j] * (MESH_STEPS + 1) + (steps[i] ^ steps[j])];
        if (edge < 0) continue;
        vector_t area = mesh_between(&mesh, corners[i], corners[j], corners[turned[e][2]], corners[turned[e][3]]);
        for (int d = 0; d < 3; d++) part->edges[edge].area[d] += (REAL)(is_forward ? area.x[d] : -area.x[d]);
    }
}

static void add_triangle(struct part *part, int processor, const int *points) {
    if (computes(points, 3) != processor) return;
    struct triangle *triangle = &part->triangles[part->triangle_count++];
    vector_t twice = vector_cross(mesh_way(&mesh, points[0], points[1]), mesh_way(&mesh, points[0], points[2]));
    for (int c = 0; c < 3; c++) triangle->corners[c] = place(points[c]);
    for (int d = 0; d < 3; d++) triangle->area[d] = (REAL)(twice.x[d] / 6);
}

static struct part build(int processor) {
    struct part part = {0};
    int *index = allocate_room((size_t)mesh.nodes * (MESH_STEPS + 1), sizeof *index), corners[2][3];
    part.volumes = allocate((size_t)count_of(processor), sizeof *part.volumes);
    list_edges(&part, processor, index);
    part.triangles = allocate_room((size_t)4 * mesh.nodes, sizeof *part.triangles);
    for (int n = 0; n < mesh.nodes; n++) {
        int point = mesh.point[n];
        for (int path = 0; path < MESH_PATHS && !mesh_leaves(&mesh, point, MESH_STEPS); path++) add_tetrahedron(&part, processor, point, path, index);
        for (int side = 0; side < 6; side++) {
            if (!mesh_on_side(&mesh, point, side / 2, side % 2)) continue;
            mesh_triangles(&mesh, point, side / 2, side % 2, corners);
            for (int t = 0; t < 2; t++) add_triangle(&part, processor, corners[t]);
        }
    }
    free(index);
    part.edges = realloc(part.edges, sizeof *part.edges * (part.edge_count + 1));
    part.triangles = realloc(part.triangles, sizeof *part.triangles * (part.triangle_count + 1));
    return part;
}

/* The gas is at rest, and its pressure greatest near one end of the body. */
static void initialise(int processor, node_t *of) {
    for (int n = 0; n < count_of(processor); n++) {
        const double *x = mesh.at[mesh.point[mesh_first(&mesh, processor) + n]].x;
        double square = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
        for (int k = 0; k < WIDTH; k++) of[n][k] = 0;
        of[n][PRESSURE] = (REAL)(1 + 1 / (1 + square / 16));
    }
}

/* ---- What is checked --------------------------------------------------------------------------- */

/* The triangles that are sides of tetrahedra, at the lowest of their corners: as many as there can be. */
enum { SIDES = 36 };
struct side {
    int middle, highest, count;
};

/* A triangle's place among those of its lowest corner, where it is put if it is not there. */
static struct side *side_of(struct side *sides, const int *corners) {
    int low = corners[0], middle = corners[1], high = corners[2], swap;
    if (low > middle) swap = low, low = middle, middle = swap;
    if (middle > high) swap = middle, middle = high, high = swap;
    if (low > middle) swap = low, low = middle, middle = swap;
    struct side *side = sides + (size_t)low * SIDES;
    for (int s = 0; s < SIDES; s++, side++) {
        if (side->count == 0) *side = (struct side){middle, high, 0};
        if (side->middle == middle && side->highest == high) return side;
    }
    trivium_fail("unstructured: too many triangles have a corner in common");
}

/* Counts how often each triangle is a tetrahedron's side. Gives the number of tetrahedra. */
static int count_sides(struct side *sides) {
    int tetrahedra = 0, steps[4];
    for (int point = 0; point < mesh.nodes; point++) {
        for (int path = 0; path < MESH_PATHS && !mesh_leaves(&mesh, point, MESH_STEPS); path++, tetrahedra++) {
            mesh_tetrahedron(path, steps);
            for (int opposite = 0; opposite < 4; opposite++) {
                int corners[3];
                for (int c = 0; c < 3; c++) corners[c] = place(mesh_step(&mesh, point, steps[(opposite + 1 + c) % 4]));
                side_of(sides, corners)->count++;
            }
        }
    }
    return tetrahedra;
}

static void check_mesh(const struct part *parts) {
    struct side *sides = allocate((size_t)sections[processors] * SIDES, sizeof *sides);
    int tetrahedra = count_sides(sides), edges = 0, triangles = 0, surface = 0;
    for (int p = 0; p < processors; p++) {
        edges += parts[p].edge_count;
        for (int e = 0; e < parts[p].edge_count; e++) {
            const REAL *area = parts[p].edges[e].area;
            if (area[0] == 0 && area[1] == 0 && area[2] == 0) trivium_fail("unstructured: an edge is in no tetrahedron");
        }
        for (int t = 0; t < parts[p].triangle_count; t++, surface++) {
            struct side *side = side_of(sides, parts[p].triangles[t].corners);
            if (side->count != 1) trivium_fail("unstructured: a triangle of the surface is not the side of one tetrahedron");
            side->count = 2;
        }
    }
    for (int s = 0; s < sections[processors] * SIDES; s++) {
        triangles += sides[s].count != 0;
        if (sides[s].count != 0 && sides[s].count != 2) trivium_fail("unstructured: a triangle is not the side of two tetrahedra, nor of the surface");
    }
    free(sides);
    if (mesh.nodes - edges + triangles - tetrahedra != 1) trivium_fail("unstructured: this mesh is no body without holes: Euler's formula does not hold");
    printf("unstructured: mesh nodes %d, edges %d, triangles of the surface %d, tetrahedra %d\n", mesh.nodes, edges, surface, tetrahedra);
}

/* Volumes of all cells against what the surface holds; and each cell is closed, so that nothing comes of even pressure, at a mesh node or on the whole body. */
static void check_cells(const struct part *parts) {
    int *points = allocate((size_t)sections[processors], sizeof *points);
    node_t *even = allocate((size_t)sections[processors], sizeof *even), *by = allocate((size_t)sections[processors], sizeof *by);
    double cells = 0, held = 0, force[3] = {0};
    for (int p = 0; p < mesh.nodes; p++) points[place(p)] = p, even[place(p)][PRESSURE] = 1;
    for (int p = 0; p < processors; p++) {
        add_edges(&parts[p], even, by), add_triangles(&parts[p], even, by);
        for (int n = 0; n < count_of(p); n++) cells += parts[p].volumes[n];
        for (int t = 0; t < parts[p].triangle_count; t++) {
            const struct triangle *triangle = &parts[p].triangles[t];
            for (int c = 0; c < 3; c++) {
                for (int d = 0; d < 3; d++) held += triangle->area[d] * mesh.at[points[triangle->corners[c]]].x[d] / 3;
            }
            for (int d = 0; d < 3; d++) force[d] += triangle->area[d];
        }
    }
    if (!(fabs(cells - held) <= rounding_of_sums(cells))) trivium_fail("unstructured: the surface holds another volume than the cells have");
    for (int d = 0; d < 3; d++) {
        if (!(fabs(force[d]) <= rounding_of_sums(cells))) trivium_fail("unstructured: even pressure moves the body: its surface is not closed");
    }
    for (int n = 0; n < sections[processors]; n++) {
        for (int k = 0; k < WIDTH; k++) {
            if (!(fabs((double)by[n][k]) <= ROUNDING)) trivium_fail("unstructured: something comes of even pressure: a cell is not closed");
        }
    }
    free(points), free(even), free(by);
}

/* The sums of an iteration, each processor's apart, added in the order in which they are merged. */
static void add_in_order(const struct part *parts, node_t *of, node_t *apart, node_t *to) {
    int all = sections[processors];
    memset(apart, 0, sizeof *apart * all * processors);
    for (int p = 0; p < processors; p++) add_edges(&parts[p], of, apart + (size_t)all * p), add_triangles(&parts[p], of, apart + (size_t)all * p);
    for (int p = 0; p < processors; p++) {
        for (int n = sections[p]; n < sections[p] + count_of(p); n++) {
            for (int k = 0; k < WIDTH; k++) {
                to[n][k] = apart[(size_t)all * p + n][k];
                for (int next = p + 1; next < p + processors; next++) to[n][k] += apart[(size_t)all * (next % processors) + n][k];
            }
        }
    }
}

/* All iterations again, in order and edge by edge. */
static void check_values(const struct part *parts) {
    int all = sections[processors];
    node_t *ordered = allocate(all, sizeof *ordered), *plain = allocate(all, sizeof *plain), *by = allocate(all, sizeof *by);
    node_t *apart = allocate((size_t)all * processors, sizeof *apart);
    for (int p = 0; p < processors; p++) initialise(p, ordered + sections[p]), initialise(p, plain + sections[p]);
    for (int64_t iteration = 0; iteration < options[ITERATIONS].value; iteration++) {
        add_in_order(parts, ordered, apart, by);
        for (int p = 0; p < processors; p++) advance(&parts[p], count_of(p), ordered + sections[p], by + sections[p]);
        memset(by, 0, sizeof *by * all);
        for (int p = 0; p < processors; p++) add_edges(&parts[p], plain, by);
        for (int p = 0; p < processors; p++) add_triangles(&parts[p], plain, by);
        for (int p = 0; p < processors; p++) advance(&parts[p], count_of(p), plain + sections[p], by + sections[p]);
    }
    double most = ROUNDING * (double)options[ITERATIONS].value;
    for (int p = 0; p < processors; p++) {
        for (int n = sections[p]; n < sections[p] + count_of(p); n++) {
            if (memcmp(values[n], ordered[n], sizeof(node_t))) trivium_fail("unstructured: a value is not what one processor computes in the same order");
            for (int k = 0; k < WIDTH; k++) {
                if (!(fabs((double)(values[n][k] - plain[n][k])) <= most)) trivium_fail("unstructured: a value is too far from what one processor computes edge by edge");
            }
        }
    }
    free(ordered), free(plain), free(by), free(apart);
}

/* The same by one processor, alone. */
static void check(void) {
    struct part *parts = allocate((size_t)processors, sizeof *parts);
    for (int p = 0; p < processors; p++) parts[p] = build(p);
    check_mesh(parts);
    check_cells(parts);
    check_values(parts);
}

static double mass_of_all(void) {
    double mass = 0;
    for (int n = 0; n < count_of(self); n++) mass += mine.volumes[n] * values[sections[self] + n][PRESSURE];
    return trivium_reduce_sum(mass);
}

/* The forces on the gas and that on the body add up to nothing, but for rounding in as many additions as there are mesh nodes, and some for each. Collective. */
static void check_forces(double force[3]) {
    node_t *by = act();
    double size = 0, of_all;
    for (int e = 0; e < mine.edge_count; e++) {
        const struct edge *edge = &mine.edges[e];
        for (int d = 0; d < 3; d++) size += fabs((double)edge->area[d]) * (values[edge->ends[0]][PRESSURE] + values[edge->ends[1]][PRESSURE]);
    }
    size = trivium_reduce_sum(size);
    for (int d = 0; d < 3; d++) {
        double body = 0, gas = 0;
        for (int t = 0; t < mine.triangle_count; t++) {
            for (int c = 0; c < 3; c++) body += (double)mine.triangles[t].area[d] * values[mine.triangles[t].corners[c]][PRESSURE];
        }
        for (int n = 0; n < count_of(self); n++) gas += by[n][VELOCITY + d];
        force[d] = trivium_reduce_sum(body), of_all = trivium_reduce_sum(gas) + force[d];
        if (!(fabs(of_all) <= rounding_of_sums(size))) trivium_fail("unstructured: the forces on gas and body do not add up to nothing");
    }
}

/* How the mesh is divided: of a processor, its edges and the share of them that have an end elsewhere. Collective. */
static void tell_parts(void) {
    int64_t remote = 0;
    for (int e = 0; e < mine.edge_count; e++) {
        for (int end = 0; end < 2; end++) remote += mine.edges[e].ends[end] < sections[self] || mine.edges[e].ends[end] >= sections[self + 1];
    }
    double share = mine.edge_count ? 100.0 * (double)remote / mine.edge_count : 0;
    double least = trivium_reduce_min(share), most = trivium_reduce_max(share);
    long long fewest = trivium_reduce_min64(mine.edge_count), all = trivium_reduce_max64(mine.edge_count);
    if (self == 0) printf("unstructured: a processor has %lld to %lld edges, %.1f to %.1f %% of them with an end elsewhere\n", fewest, all, least, most);
}

/* All values' bits, in the order of the mesh nodes. Collective. */
static void print_digest(void) {
    uint64_t digest = 0;
    for (int n = 0; n < count_of(self); n++) {
        for (int k = 0; k < WIDTH; k++) {
            double value = values[sections[self] + n][k];
            digest = digest * 1000003u + (uint64_t)trivium_bits(value);
        }
    }
    uint64_t of_all = 0;
    for (int p = 0; p < processors; p++) of_all = of_all * 1000003u + (uint64_t)trivium_broadcast64((int64_t)digest, p);
    if (self == 0) printf("unstructured: ok, digest %016llx\n", (unsigned long long)of_all);
}

/* Checks all, and tells what has come of it. Collective. */
static void tell(double mass_before) {
    double force[3], mass = mass_of_all();
    tell_parts();
    check_forces(force);
    if (!(fabs(mass - mass_before) <= (double)options[ITERATIONS].value * rounding_of_sums(mass))) trivium_fail("unstructured: mass has come from nowhere");
    /* Now processor 0 reads what it never did: under the default protocol. */
    for (int p = 0; p < processors && VALUES_UNDER; p++) trivium_bind(values + sections[p], 0);
    if (self == 0 && options[CHECK].value) check();
    if (self == 0) printf("unstructured: mass %.9f, force on the body %.6f, %.6f, %.6f\n", mass, force[0], force[1], force[2]);
    print_digest();
}

/* ---- The program ------------------------------------------------------------------------------- */

/* Each section is allocated by itself, and so begins on a page: no page holds mesh nodes of two processors. Places are distances from the first. */
static void allocate_nodes(void) {
    sections = allocate((size_t)processors + 1, sizeof *sections);
    for (int p = 0; p < processors; p++) {
        node_t *part = trivium_alloc_first_touch_under(VALUES_UNDER, sizeof(node_t) * (uint64_t)count_of(p));
        trivium_name(part, "values");
        stache_watch("values", part, sizeof(node_t) * (uint64_t)count_of(p), 0);
        values = p ? values : part;
        sections[p] = (int)(part - values);
        sections[p + 1] = sections[p] + count_of(p);
    }
    sums = allocate_room((size_t)sections[processors], sizeof *sums);
}

/* Each processor has a mesh node; and processor 0, if it checks the values, has all that each adds to all. */
static void check_sizes(int64_t mesh_nodes) {
    if (mesh_nodes < processors) {
        trivium_fail(sentence("unstructured: a processor has no mesh node, for there are %lld and %d processors: more cells (-x, -y, -z), or fewer nodes of the machine",
                              (long long)mesh_nodes, processors));
    }
    int64_t checked = options[CHECK].value ? mesh_nodes * processors * (int64_t)sizeof(node_t) : 0;
    if (checked > PRIVATE_BYTES) {
        trivium_fail(sentence("unstructured: to check the values processor 0 takes %lld bytes of private memory, which has %lld: leave that out (-c 0), or take a smaller mesh (-x, -y, -z)",
                              (long long)checked, PRIVATE_BYTES));
    }
}

int main(int argc, char **argv) {
    read_options(argc, argv, options, OPTIONS);
    self = trivium_node(), processors = trivium_nodes();
    int x = (int)options[X].value, y = (int)options[Y].value, z = (int)options[Z].value;
    check_sizes((int64_t)(x + 1) * (y + 1) * (z + 1));
    mesh = mesh_make(x, y, z, processors, (uint64_t)options[SEED].value);
    allocate_nodes();
    mine = build(self);
    open_merge();
    initialise(self, values + sections[self]);
    trivium_barrier();
    join_values();

    double mass = mass_of_all();
    for (int64_t iteration = 0; iteration < options[ITERATIONS].value; iteration++) {
        if (iteration == (options[ITERATIONS].value > 1)) stache_forget();
        if (iteration == (options[ITERATIONS].value > 1)) trivium_begin();
        node_t *by = act();
        /* Whoever has read the values of this processor's mesh nodes has added to their sums, too, which have been merged. */
        advance(&mine, count_of(self), values + sections[self], by);
        end_iteration();
    }
    trivium_end();
    stache_report(REPORT_LINES);
    tell(mass);
    return 0;
}
