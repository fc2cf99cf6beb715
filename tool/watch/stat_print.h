/* The tables and the JSON of `crocprof stat`. */
#ifndef WATCH_STAT_PRINT_H
#define WATCH_STAT_PRINT_H

#include <stdio.h>

#include "samples.h"

struct stat_report {
    const struct samples *samples; /* sorted */
    unsigned runs, warmups;        /* that were */
    char *const *program;
};

void stat_print(const struct stat_report *report, FILE *file);
void stat_json(const struct stat_report *report, FILE *file);

#endif
