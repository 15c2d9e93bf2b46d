/* mesh.h: a mesh of tetrahedra for programs on static unstructured meshes.
 *
 * A body of x * y * z cells, each cut into six tetrahedra along its diagonal (Freudenthal 1942, Kuhn 1960), with every mesh node moved a little at random. Mesh nodes
 * are renumbered by recursive coordinate bisection: first into as many parts as there are owners, then on to single ones, so that what is near in space is near in
 * memory, and nothing is left of the grid.
 *
 * Beside the mesh there is what a finite volume method needs: a mesh node's cell of the median dual mesh has for each edge a face, whose area (a vector, from the edge's
 * lower end to the other) and a third of each triangle of the surface close it.
 */
#ifndef MESH_H
#define MESH_H

#include <stdlib.h>

#include "random.h"
#include "trivium.h"

enum { MESH_STEPS = 7, MESH_PATHS = 6 };

typedef struct {
    double x[3];
} vector_t;

typedef struct {
    int nodes, owners;
    int cells[3];
    vector_t *at; /* of each grid point, as are all that follow */
    int *number;  /* of its mesh node */
    int *point;   /* the other way */
    int *owner;
} mesh_t;

/* The first mesh node of an owner; those of one follow each other. */
static inline int mesh_first(const mesh_t *mesh, int owner) {
    return (int)((int64_t)mesh->nodes * owner / mesh->owners);
}

/* The grid point one step away, in the dimensions that are bits of `step`. */
static inline int mesh_step(const mesh_t *mesh, int point, int step) {
    int row = mesh->cells[2] + 1, plane = (mesh->cells[1] + 1) * row;
    return point + (step & 1 ? plane : 0) + (step & 2 ? row : 0) + (step & 4 ? 1 : 0);
}

static inline int mesh_coordinate(const mesh_t *mesh, int point, int dimension) {
    int row = mesh->cells[2] + 1, plane = (mesh->cells[1] + 1) * row;
    return dimension == 0 ? point / plane : dimension == 1 ? point % plane / row : point % row;
}

static inline int mesh_leaves(const mesh_t *mesh, int point, int step) {
    for (int d = 0; d < 3; d++) {
        if (step >> d & 1 && mesh_coordinate(mesh, point, d) == mesh->cells[d]) return 1;
    }
    return 0;
}

/* ---- Numbers and owners --------------------------------------------------------------------------- */

/* Whether a grid point comes before another in a dimension: those at the same place by their numbers. */
static inline int mesh_before(const mesh_t *mesh, int a, int b, int dimension) {
    double x = mesh->at[a].x[dimension], y = mesh->at[b].x[dimension];
    return x < y || (x == y && a < b);
}

/* Brings the points so that those before `middle` come before it in a dimension, and others after (Hoare 1961). */
static inline void mesh_select(mesh_t *mesh, int first, int end, int middle, int dimension) {
    int *points = mesh->point;
    while (end - first > 1) {
        int pivot = points[first + (end - first) / 2], low = first, high = end - 1;
        while (low <= high) {
            while (mesh_before(mesh, points[low], pivot, dimension)) low++;
            while (mesh_before(mesh, pivot, points[high], dimension)) high--;
            if (low > high) break;
            int point = points[low];
            points[low++] = points[high];
            points[high--] = point;
        }
        if (middle <= high) end = high + 1;
        else if (middle >= low) first = low;
        else return;
    }
}

static inline int mesh_longest(const mesh_t *mesh, int first, int end) {
    int longest = 0;
    double length = -1;
    for (int d = 0; d < 3; d++) {
        double least = mesh->at[mesh->point[first]].x[d], most = least;
        for (int i = first + 1; i < end; i++) {
            double x = mesh->at[mesh->point[i]].x[d];
            if (x < least) least = x;
            if (x > most) most = x;
        }
        if (most - least > length) length = most - least, longest = d;
    }
    return longest;
}

/* Numbers the mesh nodes of `owners` owners: two parts across the longest side, with as many as their owners have, and so on. */
static inline void mesh_bisect(mesh_t *mesh, int first, int end, int owner, int owners) {
    if (end - first < 2) {
        if (end > first) mesh->owner[mesh->point[first]] = owner;
        return;
    }
    int middle = owners > 1 ? mesh_first(mesh, owner + owners / 2) : first + (end - first) / 2;
    mesh_select(mesh, first, end, middle, mesh_longest(mesh, first, end));
    mesh_bisect(mesh, first, middle, owner, owners > 1 ? owners / 2 : 1);
    mesh_bisect(mesh, middle, end, owner + owners / 2, owners - owners / 2);
}

/* A mesh; mesh nodes are moved from their grid points by up to an eighth of a cell. The same on every node of the machine that makes it. */
static inline mesh_t mesh_make(int x, int y, int z, int owners, uint64_t seed) {
    int nodes = (x + 1) * (y + 1) * (z + 1);
    mesh_t mesh = {.nodes = nodes, .owners = owners, .cells = {x, y, z}};
    mesh.at = malloc(sizeof *mesh.at * nodes), mesh.number = malloc(sizeof(int) * nodes);
    mesh.point = malloc(sizeof(int) * nodes), mesh.owner = malloc(sizeof(int) * nodes);
    if (!mesh.at || !mesh.number || !mesh.point || !mesh.owner) trivium_fail("mesh: no memory");
    uint64_t random = seed;
    for (int p = 0; p < nodes; p++) {
        const int at[3] = {p / (z + 1) / (y + 1), p / (z + 1) % (y + 1), p % (z + 1)};
        for (int d = 0; d < 3; d++) mesh.at[p].x[d] = at[d] + (random_unit(&random) - 0.5) / 4;
        mesh.point[p] = p;
    }
    mesh_bisect(&mesh, 0, nodes, 0, owners);
    for (int i = 0; i < nodes; i++) mesh.number[mesh.point[i]] = i;
    return mesh;
}

/* ---- Edges, triangles, tetrahedra ----------------------------------------------------------------- */

/* The steps by which the six tetrahedra of a cell go along its sides from one corner to the opposite one; every other one turns the other way around. */
static const int mesh_paths[MESH_PATHS][3] = {{1, 2, 4}, {1, 4, 2}, {2, 4, 1}, {2, 1, 4}, {4, 1, 2}, {4, 2, 1}};

/* The corners of a tetrahedron, as steps from its cell's grid point: the last three turn to the left seen from the first. */
static inline void mesh_tetrahedron(int path, int corners[4]) {
    const int *steps = mesh_paths[path];
    corners[0] = 0;
    corners[1 + path % 2] = steps[0];
    corners[2 - path % 2] = steps[0] | steps[1];
    corners[3] = 7;
}

static inline vector_t mesh_way(const mesh_t *mesh, int from, int to) {
    vector_t way;
    for (int d = 0; d < 3; d++) way.x[d] = mesh->at[to].x[d] - mesh->at[from].x[d];
    return way;
}

static inline vector_t vector_cross(vector_t a, vector_t b) {
    return (vector_t){{a.x[1] * b.x[2] - a.x[2] * b.x[1], a.x[2] * b.x[0] - a.x[0] * b.x[2], a.x[0] * b.x[1] - a.x[1] * b.x[0]}};
}

static inline double mesh_volume(const mesh_t *mesh, const int c[4]) {
    vector_t side = vector_cross(mesh_way(mesh, c[0], c[1]), mesh_way(mesh, c[0], c[2])), up = mesh_way(mesh, c[0], c[3]);
    return (side.x[0] * up.x[0] + side.x[1] * up.x[1] + side.x[2] * up.x[2]) / 6;
}

/* What a tetrahedron adds to the area between the cells of its corners i and j, from i to j; k and l are the others, so that (i, j, k, l) is the tetrahedron turned. */
static inline vector_t mesh_between(const mesh_t *mesh, int i, int j, int k, int l) {
    vector_t a = mesh_way(mesh, i, k), b = mesh_way(mesh, j, l), across = mesh_way(mesh, k, l);
    for (int d = 0; d < 3; d++) a.x[d] = (a.x[d] + b.x[d]) / 24;
    return vector_cross(a, across);
}

/* Whether a grid point is on a side of the body, and a cell's face of that side begins there. */
static inline int mesh_on_side(const mesh_t *mesh, int point, int dimension, int high) {
    return mesh_coordinate(mesh, point, dimension) == (high ? mesh->cells[dimension] : 0) && !mesh_leaves(mesh, point, 7 & ~(1 << dimension));
}

/* The two triangles of that face: corners turn to the left seen from outside. */
static inline void mesh_triangles(const mesh_t *mesh, int point, int dimension, int high, int corners[2][3]) {
    int u = 1 << (dimension + 1) % 3, v = 1 << (dimension + 2) % 3;
    for (int t = 0; t < 2; t++) {
        int turned = t == high;
        corners[t][0] = point;
        corners[t][1 + turned] = mesh_step(mesh, point, t ? v : u);
        corners[t][2 - turned] = mesh_step(mesh, point, u | v);
    }
}

#endif
