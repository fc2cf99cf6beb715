/*
 * Counters that need several runs of the program. Every run but the last writes its values to a
 * file in a directory that crocprof made; the last run adds them to its own. Values belong together
 * when kernel, device and number of the launch agree: the third launch of a kernel on a device is
 * the third in every run. Values are written and read on the delivery thread.
 */
#ifndef COLLECT_PASSES_H
#define COLLECT_PASSES_H

#include <stdbool.h>
#include <stdint.h>

#include "launch/settings.h"

struct passes_launch {
    const char *kernel;
    uint32_t node;   /* of the device */
    uint32_t number; /* launches of the kernel on it before this one */
    uint64_t grid[3], workgroup[3];
};

struct passes_value {
    const char *counter;
    double value;
    bool adds_up; /* a sum over launches means something */
    uint64_t id;  /* the counter's; 0: of another run, where it had another */
};

/* Which pass this run is, from 0; the one with 0 is the last. 0 when there is only one. */
uint32_t passes_number(const struct settings *settings);

/* Opens this process's files. Messages go to stderr. After an end, or in a forked child, that is
 * done again with the first value. */
void passes_open(const struct settings *settings);
/* Runs in a forked child: what there is is its parent's. */
void passes_forget(void);
/* A value of this run; kept only in runs before the last. */
void passes_write(const struct passes_launch *launch, const struct passes_value *value);
/* Calls `add` with what earlier runs counted for this launch. */
void passes_read(const struct passes_launch *launch,
                 void (*add)(const struct passes_value *value, void *data), void *data);
/* Says what did not match. */
void passes_close(void);

#endif
