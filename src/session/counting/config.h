/*
 * A configuration in the form that collecting needs, and the slots that carry one collection each.
 * Private to src/session/counting.
 */
#ifndef SESSION_COUNTING_CONFIG_H
#define SESSION_COUNTING_CONFIG_H

#include <pthread.h>
#include <stdatomic.h>

#include "gpu/aql/vendor.h"
#include "gpu/sqtt/sqtt.h"
#include "model/counting.h"
#include "session/counting/counting.h"

struct counting_slot;

/* What the two packets of a slot do: counting around a kernel, one reading, on and off. */
enum counting_slot_kind {
    COUNTING_SLOT_DISPATCH, /* before: start; after: read and stop */
    COUNTING_SLOT_SAMPLE,   /* after: read; the counters run on. Counters only. */
    COUNTING_SLOT_SWITCH,   /* before: start; after: stop; no results but a trace */
    COUNTING_SLOT_BETWEEN,  /* before and after: read; the counters run on. Counters only. */
    COUNTING_SLOT_KINDS
};

/* Offsets within a slot's memory; addresses are the same for host and GPU. */
struct counting_layout {
    size_t after, look, control, result, bytes; /* the commands before are first */
};

struct counting_config {
    uint64_t handle;
    /* Of the table, each slot in use, and whoever acquired it. Writers: each of them (relaxed to
     * begin, acq_rel to end); the last one frees it. */
    _Atomic uint32_t references;
    const struct counting_agent *agent;
    const struct catalog *catalog;
    const struct counter **counters; /* asked for, without duplicates */
    uint32_t counter_count;
    struct plan_event *plan; /* the hardware events that they need */
    uint32_t plan_count;
    uint32_t record_count;    /* values of one collection */
    uint32_t value_count;     /* doubles of all hardware events together */
    uint32_t workspace_count; /* doubles that the largest expression needs */
    bool has_trace;
    struct counting_trace_options trace; /* where it has */

    pthread_mutex_t lock; /* everything below; a leaf, nobody is called under it */
    struct counting_slot *idle[COUNTING_SLOT_KINDS]; /* slots built and not in use */
    int is_built;                                    /* the members below exist */
    struct gpu_event *events;                        /* every instance of every hardware event */
    uint32_t event_count;
    uint32_t *result_index; /* where value i lies in a slot's result buffer */
    uint32_t result_bytes;
    struct counting_layout layout[COUNTING_SLOT_KINDS]; /* of all its slots; bytes 0: not known */
};

/* One collection: command buffers, result buffer, evaluation space. */
struct counting_slot {
    struct counting_slot *next;
    struct counting_config *config;
    enum counting_slot_kind kind;
    uint32_t generation; /* of the runtime whose memory it has */
    /* The collection, and whoever looks at its trace. Writers: each of them (relaxed to begin,
     * acquire-release to end: whoever is the last gives it back, after all that the others did). */
    _Atomic uint32_t holders;
    struct aql_pm4_packet before, after;
    /* Finds how far the trace is. Only slots that trace and do not read have it. */
    struct aql_pm4_packet look;
    void *memory;           /* GPU-visible, see slot.c; NULL when there is nothing to program */
    const uint64_t *result; /* within memory */
    const uint64_t *first;  /* BETWEEN: what `before` read; otherwise NULL */
    double *values;         /* hardware events, then the workspace */
    rocprofiler_counter_record_t *records;
    uint64_t *record_ids; /* of the records, in their order */
    /* The configuration's trace with its addresses; where it has none, all is 0. */
    struct sqtt_config trace;
    struct counting_buffer trace_buffer;
    const struct sqtt_control *trace_control; /* within memory, engine by engine */
};

/* A slot for one collection on `hsa_agent`, with a reference to its config; NULL when memory cannot
 * be had. May call the runtime. */
struct counting_slot *counting_slot_acquire(struct counting_config *config,
                                            enum counting_slot_kind kind, uint64_t hsa_agent);
/* Ends one hold; with the last one the slot goes back to the config's pool. */
void counting_slot_release(struct counting_slot *slot);
static inline void counting_slot_hold(struct counting_slot *slot)
{
    atomic_fetch_add_explicit(&slot->holders, 1, memory_order_relaxed);
}

/* Its memory is of a runtime that has gone. */
bool counting_slot_is_stale(const struct counting_slot *slot);
struct trace_packets;
/* What is to be put around the kernel; nothing for a slot that programs nothing. `packets` is
 * zeroed. */
void counting_slot_packets(const struct counting_slot *slot, struct trace_packets *packets);

/* True when a slot of this kind has anything to program in the hardware. */
bool counting_slot_kind_programs(const struct counting_config *config,
                                 enum counting_slot_kind kind);
/* Copies bytes out of a trace's buffer, for trace.c. */
bool counting_buffer_read(const struct counting_slot *slot, size_t offset, void *to, size_t bytes);

/* Turns the result buffer into slot->records; returns how many. */
uint32_t counting_slot_evaluate(struct counting_slot *slot, rocprofiler_dispatch_id_t dispatch,
                                rocprofiler_user_data_t user_data);

void counting_slots_free(struct counting_config *config);

#endif
