/* The inside of a recording, for the files of this folder. */
#ifndef RECORDING_PARTS_H
#define RECORDING_PARTS_H

#include <sqlite3.h>

#include "names/numbered.h"
#include "names/texts.h"
#include "recording.h"

/* How rows of a category, which is what rocpd calls a kind, are shown. */
struct category {
    const char *name;
    enum out_table_id table; /* OUT_TABLE_COUNT: none that rows.h has */
    bool is_marker;
};

struct agent {
    struct out_agent_row row;
    bool is_gpu;
    int64_t absolute, logical, type_index;
};

/* Statements that look something up by its id. */
enum lookup {
    LOOKUP_STRING,
    LOOKUP_THREAD,
    LOOKUP_THREAD_NAME, /* by what the system called it */
    LOOKUP_PROCESS,
    LOOKUP_AGENT,
    LOOKUP_NODE,
    LOOKUP_CODE_OBJECT,
    LOOKUP_KERNEL,
    LOOKUP_COUNTER,
    LOOKUP_DIMENSIONS,
    LOOKUP_KFD,
    LOOKUP_HIP_EVENT,
    LOOKUP_COUNT
};

/* A process, and what its rows refer to, each read when it is first referred to. */
struct part {
    struct recording_part shown; /* first: parts are handed out as these */
    struct recording *recording;
    struct numbered strings;    /* by id: const char * */
    struct numbered categories; /* by id: struct category */
    struct numbered threads;    /* by id: uint64_t, what the system called it */
    struct numbered processes;  /* the same */
    struct numbered agents;     /* by id: struct agent */
    struct numbered nodes;      /* by the driver's number of an agent: uint64_t, its id */
    struct numbered code_objects, kernels, counters;
    sqlite3_stmt *select[LOOKUP_COUNT];
};

enum { MESSAGES_KEPT_BYTES = 32 << 20, MESSAGES_LATEST = 16 };

struct recording {
    char path[4096];
    sqlite3 *database;
    struct texts texts;
    struct part **parts;
    unsigned part_count;
    char *damage, *oddity; /* the latter is told if there is no damage */
    /* Messages of markers: there may be as many as rows. */
    size_t message_bytes;
    char *latest[MESSAGES_LATEST];
    unsigned latest_at;
};

/* Keeps the first damage. */
__attribute__((format(printf, 2, 3))) void recording_damaged(struct recording *recording,
                                                             const char *format, ...);
/* Keeps the first; all rows are read. */
void recording_odd(struct recording *recording, const char *what);

/* Lives as long as the recording; "" for NULL, and without memory. */
const char *recording_text(struct recording *recording, const char *text);
const char *recording_message(struct recording *recording, const char *text);

/* What ids mean. Never NULL but for kernels' and counters' details; what is not there is "", 0 or
 * the id itself. */
const char *part_string(struct part *part, int64_t id);
const struct category *part_category(struct part *part, int64_t id);
uint64_t part_thread(struct part *part, int64_t id);
uint64_t part_process(struct part *part, int64_t id);
const struct agent *part_agent(struct part *part, int64_t id);
/* NULL for OUT_NO_AGENT. */
const struct agent *part_node_agent(struct part *part, uint64_t node);
/* What the event of that id says of a driver's event: of agents, in `nodes` only. */
void part_kfd(struct part *part, int64_t event, struct out_kfd_row *row);
/* The same of an event of HIP's: of the agent, in `node` only. */
void part_hip_event(struct part *part, int64_t event, struct out_event_row *row);
const struct out_kernel *part_kernel(struct part *part, int64_t id);
const struct out_counter *part_counter(struct part *part, int64_t id);
void part_free(struct part *part);

#endif
