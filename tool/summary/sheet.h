/*
 * What a process prints at once: it appears in one piece, also where other processes print to the
 * same terminal, pipe or file at that moment. Single thread.
 */
#ifndef SUMMARY_SHEET_H
#define SUMMARY_SHEET_H

#include <stdbool.h>
#include <stdio.h>

struct sheet {
    FILE *file; /* what to print to until sheet_end(); as wide as the target */
    FILE *target;
    char *buffer;
};

void sheet_begin(struct sheet *sheet, FILE *target);
/* False, with errno: it was not written. The target stays open. */
bool sheet_end(struct sheet *sheet);

#endif
