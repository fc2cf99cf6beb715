/* What a program did since the last look: kernels by time, copies, calls. */
#ifndef WATCH_TOP_H
#define WATCH_TOP_H

#include <stdbool.h>
#include <stdint.h>

#include "samples.h"

struct top {
    const char *directory;  /* of snapshots */
    const char *what;       /* the program, for people */
    struct samples samples; /* two "runs": before, and now */
    uint64_t begin_ns, before_ns, now_ns;
};

/* False: memory is out. */
bool top_begin(struct top *top, const char *directory, const char *what);
void top_free(struct top *top);

/* Reads what there is now. */
void top_look(struct top *top);
/* Draws the page, or prints a line. */
void top_draw(const struct top *top);
void top_line(const struct top *top);

#endif
