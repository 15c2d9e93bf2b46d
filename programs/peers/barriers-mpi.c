/* barriers-mpi.c: ranks that do nothing but meet at MPI_Barrier, again and again. Rank 0 prints the 10th, 50th and 99th percentile of the time of a barrier,
 * in ns: each is the mean of some in a row, as in barriers.c.
 *
 *     mpirun -n RANKS barriers-mpi
 */
#include <mpi.h>

#include "percentiles.h"

enum { IN_A_ROW = 50, ROWS = 400 };

int main(int argc, char **argv) {
    static int64_t times[ROWS];
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int row = 0; row < ROWS; row++) {
        MPI_Barrier(MPI_COMM_WORLD);
        int64_t begun = now_ns();
        for (int i = 0; i < IN_A_ROW; i++) MPI_Barrier(MPI_COMM_WORLD);
        times[row] = (now_ns() - begun) / IN_A_ROW;
    }
    if (rank == 0) tell_percentiles(times, ROWS);
    MPI_Finalize();
    return 0;
}
