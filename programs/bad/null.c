/* Stores through a null pointer; with an argument, loads through it. */
struct pair {
    int first[3];
    int second;
};

__attribute__((noinline)) static int use(volatile struct pair *pair, int load) {
    if (load) return pair->second;
    pair->second = 1;
    return 0;
}

int main(int argc, char **argv) {
    (void)argv;
    return use(argc > 2 ? (void *)argv : 0, argc > 1);
}
