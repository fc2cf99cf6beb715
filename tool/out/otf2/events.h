/*
 * Events of a trace, sorted by location and time: those that do not fit into memory wait, in sorted
 * runs, in a file without a name. One thread.
 */
#ifndef OUT_OTF2_EVENTS_H
#define OUT_OTF2_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event {
    uint64_t begin_ns, end_ns, correlation_id;
    uint64_t value;       /* what it is depends on what happened */
    uint64_t modelled_ns; /* how long a kernel takes by its device's own model; 0: it has none */
    uint32_t location, what;
};

struct events {
    const char *directory; /* borrowed */
    struct event *chunk;
    size_t count, room;
    int file; /* -1: everything is in memory */
    int status;
    struct events_run {
        uint64_t at, left; /* in the file, in events */
        struct event *buffer;
        size_t buffered, next;
    } * runs;
    size_t run_count, run_room;
    size_t buffer_events;
    struct events_run **heap; /* of those that have events left, by their next one */
    size_t heap_count;
};

void events_open(struct events *events, const char *directory);
void events_add(struct events *events, const struct event *event);
/* All have been added. 0, or -errno of the first error. */
int events_sort(struct events *events);
/* In order: by location, begin, and what contains before what is contained. False: there are no
 * more, or an error (`status`). */
bool events_next(struct events *events, struct event *event);
void events_close(struct events *events);

#endif
