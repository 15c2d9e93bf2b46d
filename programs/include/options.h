/* options.h: the options of the example programs: `-x NUMBER`, each with a default and a range. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdarg.h>
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

/* A sentence that says what does not fit, and what would: for `trivium_fail`. */
__attribute__((format(printf, 1, 2))) static inline const char *sentence(const char *format, ...) {
    static char text[320];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return text;
}

/* What a node's private memory has, globals and stack included. */
#define PRIVATE_BYTES (1LL << 30)

/* Tells which options there are. */
static inline void tell_options(const char *program, const struct option *options, int count) {
    fprintf(stderr, "usage: %s [options]\n", program);
    for (int i = 0; i < count; i++) {
        fprintf(stderr, "  -%c NUMBER  %s (%lld to %lld, default %lld)\n", options[i].letter,
                options[i].what, (long long)options[i].least, (long long)options[i].most,
                (long long)options[i].value);
    }
}

/* Says what is wrong with an argument and what would be right, on one node only, and ends the
 * program on all. `option` is the one that it names, if it names one. */
static inline void refuse_option(int argc, char **argv, int arg, const struct option *option,
                                 const struct option *options, int count) {
    if (trivium_node() == 0 && option) {
        fprintf(stderr, "%s: wrong argument: %s %s: -%c is followed by a number from %lld to %lld: %s\n",
                argv[0], argv[arg], arg + 1 < argc ? argv[arg + 1] : "(its number is missing)",
                option->letter, (long long)option->least, (long long)option->most, option->what);
    } else if (trivium_node() == 0) {
        fprintf(stderr, "%s: wrong argument: %s: there is no such option\n", argv[0], argv[arg]);
        tell_options(argv[0], options, count);
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
        if (!good) refuse_option(argc, argv, arg, option, options, count);
        option->value = value;
    }
}

#endif
