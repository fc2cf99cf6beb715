/* What has a number in records and a place in the trace. */
#ifndef ROCTRACER_PLUGIN_PERFETTO_TRACKS_H
#define ROCTRACER_PLUGIN_PERFETTO_TRACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "names/numbered.h"
#include "out/perfetto/lanes.h"
#include "out/perfetto/perfetto.h"

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
