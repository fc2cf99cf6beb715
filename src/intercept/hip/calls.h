/*
 * Traced HIP calls that are open on a thread, whichever way the library announces them. Internal to
 * this folder.
 */
#ifndef INTERCEPT_HIP_CALLS_H
#define INTERCEPT_HIP_CALLS_H

#include <string.h>

#include "intercept/hip/events.h"
#include "intercept/hip/graphs.h"
#include "intercept/hip/legacy.h"
#include "intercept/hip/streams.h"
#include "model/hip_facts.h"

enum { HIP_IDS_MAX = 1024 };

struct hip_call {
    struct trace_frame frame; /* set is NULL when only the stream or the kernel is of interest */
    struct hip_native native;
    uint64_t correlation;    /* 0: nobody listens */
    uint32_t interest;       /* HIP_INTEREST_*, as it was when the call began */
    int32_t operation;       /* of HIP_RUNTIME_API; -1: of another domain */
    const char *kernel_name; /* NULL: unknown */
    uint64_t bytes;          /* that it copies; 0: unknown */
    rocprofiler_callback_tracing_hip_api_data_t payload;
    struct hip_stream_scope stream;
    struct hip_graph_scope graph;
    struct hip_event_scope event;
    void *data; /* room for the library's hip_api_data_t, when it wants ours */
    bool entered;
};

/* Matches the library's ids with operations by name; returns one more than the largest id known.
 * `data_size_bytes` is the room for hip_api_data_t (0: none), `arguments` reads what the library
 * puts there (NULL: nobody understands it), `phase_data_offset` where in it the pointer to a tool's
 * word stands (0: nowhere), `result` what the call just ended returned. `ready` runs at the first
 * question, see arm.h. */
struct hip_calls_setup {
    const char *(*api_name)(uint32_t id);
    int (*result)(void);
    void (*ready)(void);
    size_t data_size_bytes;
    void (*arguments)(uint32_t id, const void *data, rocprofiler_hip_api_args_t *to);
    uint32_t phase_data_offset;
    bool kernel_names;   /* calls that launch are looked at while finished kernels are wanted */
    bool transfer_sizes; /* and calls that copy while finished copies are */
};
uint32_t hip_calls_prepare(const struct hip_calls_setup *setup);
bool hip_calls_known(uint32_t id);

/* For a library that is not hooked: only its numbers are known. No effect once one is. */
void hip_calls_number(const char *(*api_name)(uint32_t id));

/* NULL: the SDK has no operation of that name. */
const struct hip_operation *hip_operation_find(const char *name);

/* Who wants to know of a call just now: asked once a call, and kept with it. */
enum {
    HIP_INTEREST_CALL = 1,   /* listeners of the function; `set` are they */
    HIP_INTEREST_STREAM = 2, /* listeners of what it does to a stream */
    HIP_INTEREST_WORK =
        4, /* those of the kernel or copy that it causes, which needs a name or size */
    HIP_INTEREST_GRAPH = 8,  /* listeners of what it does to an instantiated graph */
    HIP_INTEREST_EVENT = 16, /* listeners of what it has the device do for an event */
};
struct hip_interest {
    uint32_t mask;
    const struct trace_set *set;
};
/* The first question lets tools configure. */
struct hip_interest hip_call_interest(uint32_t id);

/* Every generation's hip_api_data_t begins with the correlation id. */
static inline void hip_data_correlate(void *data, const struct hip_call *call)
{
    memcpy(data, &call->correlation, sizeof call->correlation);
}

/* A call begins: NULL when nobody is interested. Otherwise it is open until hip_call_close(). */
struct hip_call *hip_call_open(const struct hip_interest *interest);
struct hip_call *hip_call_innermost(void);
void hip_call_enter(struct hip_call *call, uint32_t id, const void *data);
void hip_call_exit(struct hip_call *call);
void hip_call_close(void);

#endif
