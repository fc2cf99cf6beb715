/* What has a number in records and a place in the trace. One thread at a time. */
#ifndef ROCTRACER_PLUGIN_PERFETTO_TRACKS_H
#define ROCTRACER_PLUGIN_PERFETTO_TRACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "out/perfetto/lanes.h"
#include "out/perfetto/perfetto.h"

/* Elements of one size by key; zero-initialise all but the size. Keys are any numbers. */
struct numbered {
    size_t element_bytes;
    struct numbered_slot {
        uint64_t key;
        void *element; /* NULL: free; elements do not move */
    } * slots;
    uint32_t used, capacity;
};

/* A zeroed element when the key is new. NULL: no memory. */
void *numbered_get(struct numbered *numbered, uint64_t key, bool *is_new);
/* NULL: there is none. */
void *numbered_find(const struct numbered *numbered, uint64_t key);
void numbered_each(const struct numbered *numbered, void (*each)(void *element));
void numbered_free(struct numbered *numbered);

struct thread_track {
    perfetto_track track;
    uint32_t open_ranges; /* pushed and not popped */
};

struct queue_track {
    struct lanes lanes;
    char name[48];
};

/* roctxRangeStart without its stop. */
struct open_range {
    bool is_open;
    uint64_t begin_ns;
    perfetto_text name;
};

#endif
