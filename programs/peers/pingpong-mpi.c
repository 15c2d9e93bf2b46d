/* pingpong-mpi.c: a request of 20 bytes and an answer of 84 between two ranks, with MPI_Send and MPI_Recv: the bytes of a read
 * miss of stache with blocks of 64 bytes. Rank 1 prints the 10th, 50th and 99th percentile of round trips, in ns.
 *
 *     mpirun -n 2 pingpong-mpi ROUND-TRIPS [BYTES OF A REQUEST, BYTES OF AN ANSWER]
 */
#include <mpi.h>
#include <string.h>

#include "percentiles.h"

enum { MOST = 256 };

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, rounds = argc > 1 ? atoi(argv[1]) : 100000;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int request_bytes = argc > 3 ? atoi(argv[2]) : 20, answer_bytes = argc > 3 ? atoi(argv[3]) : 84;
    if (request_bytes < (int)sizeof(int) || request_bytes > MOST || answer_bytes < (int)sizeof(int) || answer_bytes > MOST) MPI_Abort(MPI_COMM_WORLD, 1);
    char request[MOST] = {0}, block[MOST] = {0};
    if (rank == 0) {
        for (int i = 0; i < rounds; i++) {
            MPI_Recv(request, request_bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            memcpy(block, request, sizeof(int));
            MPI_Send(block, answer_bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        }
    } else if (rank == 1) {
        int64_t *times = malloc(sizeof *times * (size_t)rounds);
        for (int i = 0; i < rounds; i++) {
            int64_t begun = now_ns();
            memcpy(request, &i, sizeof i);
            MPI_Send(request, request_bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
            MPI_Recv(block, answer_bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            times[i] = now_ns() - begun;
        }
        tell_percentiles(times, rounds);
    }
    MPI_Finalize();
    return 0;
}
