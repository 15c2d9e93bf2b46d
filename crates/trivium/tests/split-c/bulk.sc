// Bulk accesses of many lengths at places that are not aligned.
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
static _Alignas(65536) unsigned char src[65536]; static _Alignas(65536) unsigned char dst[5000], box[5000];
int splitc_main(void) {
    int next = (MYPROC + 1) % PROCS, prev = (MYPROC + PROCS - 1) % PROCS;
    unsigned bad = 0;
    for (int i = 0; i < 5000; i++) src[i] = (unsigned char)(i * 7 + MYPROC * 13);
    barrier();
    int sizes[] = { 0, 1, 2, 3, 5, 7, 8, 9, 15, 17, 63, 64, 65, 100, 255, 256, 257, 1000, 1023, 1025 };
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int off = 0; off < 11; off += 3) {
            int n = sizes[s];
            unsigned char *lp = malloc(n + 32); memset(lp, 0xAA, n + 32);
            bulk_read(lp + 5, toglobal(next, src + off), n);
            for (int i = 0; i < n; i++) bad += lp[5 + i] != (unsigned char)((i + off) * 7 + next * 13);
            bad += lp[4] != 0xAA || lp[5 + n] != 0xAA;
            memset(lp, 0xBB, n + 32);
            bulk_get(lp + 3, toglobal(prev, src + off + 1), n);
            sync();
            for (int i = 0; i < n; i++) bad += lp[3 + i] != (unsigned char)((i + off + 1) * 7 + prev * 13);
            bad += lp[2] != 0xBB || lp[3 + n] != 0xBB;
            free(lp);
        }
    barrier();
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        int n = sizes[s], off = (int)s;
        barrier();
        bulk_write(toglobal(next, dst + off + 1), src + 2, n);
        bulk_put(toglobal(next, box + off + 3), src + 9, n);
        sync(); barrier();
        unsigned char *global d = toglobal(MYPROC, dst), *global b = toglobal(MYPROC, box);
        for (int i = 0; i < n; i++) { bad += d[off + 1 + i] != (unsigned char)((i + 2) * 7 + prev * 13); bad += b[off + 3 + i] != (unsigned char)((i + 9) * 7 + prev * 13); }
        barrier();
        bulk_store(toglobal(prev, dst + off + 2), src + 4, n);
        store_sync(n);
        for (int i = 0; i < n; i++) bad += d[off + 2 + i] != (unsigned char)((i + 4) * 7 + next * 13);
        barrier();
        bulk_store(toglobal(next, box + off), src + 1, n);
        all_store_sync();
        for (int i = 0; i < n; i++) bad += b[off + i] != (unsigned char)((i + 1) * 7 + prev * 13);
        barrier();
    }
    int all = all_reduce_to_all_add((int)bad);
    if (MYPROC == 0) printf("bulk bad %d\n", all);
    return all != 0;
}
