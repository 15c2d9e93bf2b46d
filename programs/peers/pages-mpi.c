/* pages-mpi.c: 4 KB from rank 0's memory to rank 1's with MPI_Put, until they are there. Prints the 10th, 50th and 99th percentile, in ns.
 *
 *     mpirun -n 2 pages-mpi PAGES
 */
#include <mpi.h>

#include "percentiles.h"

enum { PAGE = 4096 };

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, rounds = argc > 1 ? atoi(argv[1]) : 10000;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char from[PAGE] = {0}, *to;
    MPI_Win window;
    MPI_Win_allocate(PAGE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &to, &window);
    if (rank == 0) {
        int64_t *times = malloc(sizeof *times * (size_t)rounds);
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
        for (int i = 0; i < rounds; i++) {
            from[i % PAGE] = (char)i;
            int64_t begun = now_ns();
            MPI_Put(from, PAGE, MPI_BYTE, 1, 0, PAGE, MPI_BYTE, window);
            MPI_Win_flush(1, window);
            times[i] = now_ns() - begun;
        }
        MPI_Win_unlock(1, window);
        tell_percentiles(times, rounds);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
