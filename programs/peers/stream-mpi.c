/* stream-mpi.c: messages of some bytes from one rank to another with MPI_Send and MPI_Recv, as fast as they are taken, and one back when all of a series are
 * there. Rank 1 prints the 10th, 50th and 99th percentile of a message's time, in ns; each is the mean of a series.
 *
 *     mpirun -n 2 stream-mpi SERIES MESSAGES BYTES
 */
#include <mpi.h>

#include "percentiles.h"

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    if (argc != 4) MPI_Abort(MPI_COMM_WORLD, 1);
    int rank, series = atoi(argv[1]), messages = atoi(argv[2]), bytes = atoi(argv[3]);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char *message = calloc(1, (size_t)bytes);
    int64_t *times = malloc(sizeof *times * (size_t)series);
    for (int at = 0; at < series; at++) {
        int64_t begun = now_ns();
        for (int i = 0; i < messages; i++) {
            if (rank == 1) MPI_Send(message, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
            if (rank == 0) MPI_Recv(message, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        if (rank == 0) MPI_Send(message, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        if (rank == 1) MPI_Recv(message, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        times[at] = (now_ns() - begun) / messages;
    }
    if (rank == 1) tell_percentiles(times, series);
    MPI_Finalize();
    return 0;
}
