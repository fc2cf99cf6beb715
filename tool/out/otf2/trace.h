/* What an OTF2 archive is written from: definitions, and events that refer to them by number. */
#ifndef OUT_OTF2_TRACE_H
#define OUT_OTF2_TRACE_H

#include "events.h"
#include "names/numbered.h"
#include "names/texts.h"
#include "out/process.h"

/* What happens in a region, in the order of regions.c's table. */
enum trace_kind {
    TRACE_HIP,
    TRACE_HSA,
    TRACE_MARKER,
    TRACE_RCCL,
    TRACE_ROCDECODE,
    TRACE_ROCJPEG,
    TRACE_HIPFILE,
    TRACE_ROCSHMEM,
    TRACE_OMPT,
    TRACE_KERNEL,
    TRACE_COPY,
    TRACE_ALLOCATION,
    TRACE_SCRATCH,
    TRACE_KFD,
    TRACE_EVENT,
    TRACE_KINDS
};

/* Where: what may overlap there is spread over as many locations of the archive as it needs. */
enum trace_place {
    TRACE_THREAD,
    TRACE_MARKERS,
    TRACE_QUEUE,
    TRACE_COPIES,
    TRACE_MEMORY,
    TRACE_DRIVER,
    TRACE_EVENTS
};

#define TRACE_NO_NODE UINT64_MAX
/* In event.what: a value of a counter, the rest is its metric; else a region. */
#define TRACE_METRIC 0x80000000u

struct trace {
    struct texts texts; /* names of everything; their numbers are those of the archive's strings */
    struct events events;
    struct numbered region_numbers, location_numbers, metric_numbers; /* uint32_t */
    struct trace_region {
        uint32_t name;
        enum trace_kind kind;
    } * regions;
    struct trace_location {
        uint32_t name, process;
        uint64_t node; /* of the agent, or TRACE_NO_NODE: the process's */
    } * locations;
    struct trace_metric {
        uint32_t name, description;
    } * metrics;
    struct trace_agent {
        uint32_t name, process;
        uint64_t node;
    } * agents;
    /* Whose rows came: one, or those of a job that were recorded (out/process.h). */
    struct trace_process {
        uint32_t name, host;
        const struct out_process *process; /* NULL: this one */
    } * processes;
    uint32_t region_count, location_count, metric_count, agent_count, process_count;
    uint64_t first_ns, last_ns; /* first_ns > last_ns: there are no events */
    int status;                 /* the first error */
};

void trace_open(struct trace *trace, const char *directory);
void trace_close(struct trace *trace);

/* times: what its times are by its own word; NULL: it says nothing. */
void trace_agent(struct trace *trace, uint64_t node, const char *name, const char *times);
/* The number of a thread or queue at a place, of an agent or none. */
uint32_t trace_location(struct trace *trace, enum trace_place place, uint64_t node,
                        uint64_t number);
uint32_t trace_region(struct trace *trace, enum trace_kind kind, const char *name);
uint32_t trace_metric(struct trace *trace, const char *name, const char *description);
void trace_event(struct trace *trace, const struct event *event);

#endif
