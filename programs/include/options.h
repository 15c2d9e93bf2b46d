/* options.h: the options of the example programs: `-x NUMBER`, each with a default and a range. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "trivium.h"

struct option {
    char letter;
    int64_t value; /* the default; then what the user gave */
    int64_t least, most;
    const char *what;
};

/* Tells how the program is used, on one node only, and ends it on all. */
static inline void refuse_options(const char *program, const struct option *options, int count) {
    if (trivium_node() == 0) {
        fprintf(stderr, "usage: %s [options]\n", program);
        for (int i = 0; i < count; i++) {
            fprintf(stderr, "  -%c NUMBER  %s (%lld to %lld, default %lld)\n", options[i].letter,
                    options[i].what, (long long)options[i].least, (long long)options[i].most,
                    (long long)options[i].value);
        }
    }
    exit(2);
}

/* Reads the arguments into `options`; ends the program if they are wrong. */
static inline void read_options(int argc, char **argv, struct option *options, int count) {
    for (int arg = 1; arg < argc; arg += 2) {
        struct option *option = NULL;
        for (int i = 0; i < count; i++) {
            if (argv[arg][0] == '-' && argv[arg][1] == options[i].letter && !argv[arg][2]) {
                option = &options[i];
            }
        }
        char *end = NULL;
        int64_t value = option && arg + 1 < argc ? strtoll(argv[arg + 1], &end, 10) : 0;
        int good = end && end != argv[arg + 1] && !*end && value >= option->least &&
                   value <= option->most;
        if (!good) {
            if (trivium_node() == 0) {
                fprintf(stderr, "%s: wrong argument: %s %s\n", argv[0], argv[arg],
                        arg + 1 < argc ? argv[arg + 1] : "(its number is missing)");
            }
            refuse_options(argv[0], options, count);
        }
        option->value = value;
    }
}

#endif
