/* mm-log.c: the model of latency, occupancy and grain for LIFE on the M-Machine (M-Machine 1999): what it says, without any simulation.
 *
 * A generation of n cells a node takes n * C + 4 * (1 + sqrt(n)) * (k_o + 2 * v_o) + max(0, k_l - s) cycles. Without messages (one node) it is n * C. The speedup is over a serial
 * program of 31 cycles a cell: that figure is in no source, and is fitted on the model's published points.
 */
#include <math.h>
#include "options.h"

enum { FIXED, WORD, LATENCY, BESIDE, CELL, SERIAL, CELLS, OPTIONS };

static struct option options[OPTIONS] = {
    [FIXED] = {'k', 5, 0, 100000, "cycles that a message takes of its sender"},
    [WORD] = {'v', 1, 0, 1000, "and for each of its words"},
    [LATENCY] = {'l', 11, 0, 100000, "cycles of latency"},
    [BESIDE] = {'b', 0, 0, 100000, "and cycles of latency beside these"},
    [CELL] = {'c', 35, 1, 100000, "cycles of a cell"},
    [SERIAL] = {'s', 31, 1, 100000, "cycles of a cell in the serial program"},
    [CELLS] = {'n', 16384, 1, 1 << 24, "cells of the largest problem"},
};

/* Time until the first datum is needed: the last messages of a generation, and 6 cycles (9 a message). */
static double slack(double cells) {
    return cells < 4 ? 6 + 8 * 9 : 6 + 3 * 9;
}

static double generation(double cells, double fixed) {
    double messages = 4 * (1 + sqrt(cells)), late = (double)(options[LATENCY].value + options[BESIDE].value) - slack(cells);
    return cells * (double)options[CELL].value + messages * (fixed + 2 * (double)options[WORD].value) + (late > 0 ? late : 0);
}

static double efficiency(double cells, double fixed) {
    return cells * (double)options[SERIAL].value / generation(cells, fixed);
}

/* The largest fixed occupancy with at least this efficiency. */
static double bound(double cells, double least) {
    double at_none = cells * (double)options[CELL].value + 8 * (1 + sqrt(cells)) * (double)options[WORD].value;
    return (cells * (double)options[SERIAL].value / least - at_none) / (4 * (1 + sqrt(cells)));
}

/* The largest speedup with at least 30 % of linear. */
static double speedup(double fixed) {
    double best = 0;
    for (double cells = 1; cells <= (double)options[CELLS].value; cells *= 4) {
        double nodes = (double)options[CELLS].value / cells, of = efficiency(cells, fixed);
        if (of >= 0.3 && nodes * of > best) best = nodes * of;
    }
    return best;
}

int main(int argc, char **argv) {
    read_options(argc, argv, options, OPTIONS);
    if (trivium_node() != 0) return 0;
    double fixed = (double)options[FIXED].value;
    printf("latency: %lld\n", (long long)(options[LATENCY].value + options[BESIDE].value));
    for (int cells = 1; cells <= 16; cells *= 4) printf("generation, %d cells: %.0f\n", cells, generation(cells, fixed));
    printf("generation, 64 cells on one node: %.0f\n", 64 * (double)options[CELL].value);
    for (int cells = 1; cells <= 16; cells *= 4) printf("messages, %d cells: %.0f\nslack, %d cells: %.0f\n", cells, 4 * (1 + sqrt(cells)), cells, slack(cells));
    printf("of linear, 1 cell, no occupancy: %.2f\n", 100 * efficiency(1, 0));
    printf("of linear, 1 cell, occupancy 5: %.2f\n", 100 * efficiency(1, 5));
    printf("of linear, 1 cell, occupancy 100: %.2f\n", 100 * efficiency(1, 100));
    printf("of linear, 4 cells, occupancy 7: %.2f\n", 100 * efficiency(4, 7));
    printf("of linear, 64 cells, occupancy 7: %.2f\n", 100 * efficiency(64, 7));
    printf("speedup, occupancy 5: %.1f\nspeedup, occupancy 100: %.1f\n", speedup(5), speedup(100));
    printf("occupancy for 30 %%, 1 cell: %.2f\noccupancy for 30 %%, 64 cells: %.2f\n", bound(1, 0.3), bound(64, 0.3));
    printf("occupancy at which 64 nodes are no faster than one: %.2f\n", (64 * (double)options[SERIAL].value - (double)options[CELL].value) / 8 - 2 * (double)options[WORD].value);
    return 0;
}
