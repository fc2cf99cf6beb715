/*
 * What the files of librocprofiler64 share. Private to this folder.
 *
 * Locks: none is held while a tool is called. A standalone context's own (sampling.c) and those of
 * dispatch.c, hsa_callbacks.c and metrics.c are held while the engine is called, a context's
 * bytes_lock while it copies a trace. They are taken in this order: a standalone context's, a
 * context's bytes_lock, its `lock`. Handles are looked up without one (life.h).
 */
#ifndef API_ROCPROFILER_V1_INTERNAL_H
#define API_ROCPROFILER_V1_INTERNAL_H

#include "api/rocprofiler_v1/life.h"
#include "session/front/engine.h"

/* The SDK's version macros have the names of ours. */
#undef ROCPROFILER_VERSION_MAJOR
#undef ROCPROFILER_VERSION_MINOR
#include <rocprofiler/rocprofiler.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define engine (crocprof_engine())

/* ---- error.c */

/* Keeps the message for this thread's rocprofiler_error_string and returns `status`. */
__attribute__((format(printf, 2, 3))) hsa_status_t fail(hsa_status_t status, const char *format,
                                                        ...);
/* The message kept last. */
const char *failure(void);

/* ---- hsa.c: the runtime's functions, as the program would call them */

struct hsa_calls {
    __typeof__(&hsa_iterate_agents) iterate_agents;
    __typeof__(&hsa_agent_get_info) agent_get_info;
    __typeof__(&hsa_queue_create) queue_create;
    __typeof__(&hsa_queue_destroy) queue_destroy;
    __typeof__(&hsa_signal_create) signal_create;
    __typeof__(&hsa_signal_destroy) signal_destroy;
    __typeof__(&hsa_signal_wait_scacquire) signal_wait;
    __typeof__(&hsa_signal_store_screlease) signal_store;
    __typeof__(&hsa_queue_cas_write_index_scacq_screl) queue_cas_write_index;
    __typeof__(&hsa_queue_load_write_index_scacquire) queue_load_write_index;
    __typeof__(&hsa_queue_load_read_index_scacquire) queue_load_read_index;
    __typeof__(&hsa_system_get_major_extension_table) extension_table;
};
/* NULL, with a message: no HSA runtime is loaded. A pointer stays valid. */
const struct hsa_calls *hsa_calls(void);

/* ---- agents.c */

struct metric_set;
struct gpu {
    hsa_agent_t hsa;
    const struct counting_agent *agent;
    uint32_t node; /* the driver's number */
};
enum { GPUS_MAX = 128 };
/* Copies what is known of the GPU. False, with a message: we know of no such GPU. */
bool gpu_find(hsa_agent_t agent, struct gpu *gpu);
/* Lists the runtime's GPUs in its order and returns their number; -1, with a message: there is no
 * runtime. */
int gpus_list(struct gpu gpus[GPUS_MAX]);

/* ---- metrics_xml.c: the files that ROCP_METRICS names */

struct xml_metric {
    const char *scope; /* "gfx9", "gfx90a", "global" */
    const char *name, *block, *expr, *description;
    uint32_t event, line;
};
struct xml_scope {
    const char *name, *base; /* base: NULL: none */
    /* What has not been read of it yet; NULL: nothing. */
    char *body, *body_end;
    const char *path;
    uint32_t line; /* where the body begins */
    int depth;     /* of includes */
};
struct xml_file {
    struct xml_metric *metrics;
    struct xml_scope *scopes;
    uint32_t metric_count, metric_capacity, scope_count, scope_capacity;
    uint32_t problems;
    struct xml_text *texts; /* what the strings live in */
};
/* Takes what is right in a file; problems are logged as FILE:LINE and counted. A part that ends at
 * the beginning of a line is only found here and read when it is asked for: a file has the metrics
 * of all GPUs that there are, and a machine has few. False: the file cannot be read. */
bool xml_open(struct xml_file *file, const char *path);
/* Reads all parts of that name. NULL: all parts. */
void xml_scope_read(struct xml_file *file, const char *name);
void xml_free(struct xml_file *file);

/* ---- metrics.c: what can be asked for by name, per kind of GPU; built once, then constant */

struct metric {
    const char *name, *description;
    const char *expr;  /* NULL: a hardware counter */
    const char *block; /* NULL: computed */
    uint32_t event, instances, registers;
    uint32_t rank; /* while a set is built: what counts among equal names */
};
struct metric_set {
    struct metric_set *next;
    const struct counting_agent *agent; /* an example */
    struct metric *metrics;
    uint32_t *by_name; /* positions, sorted */
    uint32_t count;
    bool from_catalog; /* expressions are the engine's: names without an index mean all instances */
};
/* NULL, with a message: there are none. */
const struct metric_set *metrics_of(const struct counting_agent *agent);
const struct metric *metric_find(const struct metric_set *set, const char *name, size_t length);
/* NULL: the agent has no block of that name. */
const struct counter_block *metric_block(const struct counting_agent *agent, const char *name,
                                         size_t length);

/* ---- formula.c: expressions over hardware counters, as a list of steps on a stack */

enum reduction { REDUCE_SUM, REDUCE_AVERAGE, REDUCE_MIN, REDUCE_MAX };

/* One number of a collection: samples of a counter in one. */
struct input {
    rocprofiler_counter_id_t counter;
    int32_t instance; /* -1: all of them */
    enum reduction reduction;
    uint32_t group; /* that collects it; plan.c */
    uint32_t value; /* where the group puts it; plan.c */
};

enum step_kind {
    STEP_NUMBER,
    STEP_INPUT,
    STEP_ADD,
    STEP_SUBTRACT,
    STEP_MULTIPLY,
    STEP_DIVIDE,
    STEP_NEGATE,
    STEP_REDUCE
};
struct step {
    enum step_kind kind;
    enum reduction reduction; /* STEP_REDUCE */
    uint32_t index;           /* STEP_INPUT: input; STEP_REDUCE: how many values */
    double number;
};
enum { STACK_MAX = 512 };
struct formula {
    struct step *steps;
    struct input *inputs;
    uint32_t step_count, step_capacity, input_count, input_capacity;
    bool is_counter; /* of a hardware counter itself: an integer */
};
/* Compiles a feature's name. False, with a message: it is wrong. The formula is to be freed in
 * either case. */
bool formula_compile(struct formula *formula, const struct metric_set *set,
                     const struct counting_agent *agent, const char *name);
void formula_free(struct formula *formula);
/* `value_of` tells the value of an input. */
double formula_evaluate(const struct formula *formula,
                        double (*value_of)(const struct input *input, const void *data),
                        const void *data);
/* One number of several; 0 of none. */
double reduce(enum reduction reduction, const double *values, uint32_t count);

/* ---- plan.c: features and the groups that collect them; constant, shared by contexts of a pool */

struct plan_group {
    rocprofiler_counter_config_id_t config;
    rocprofiler_feature_t **features; /* that have a value, or a part of it, in this group */
    uint32_t feature_count;
    struct input *inputs;
    uint32_t input_count;
    uint32_t record_count; /* that the engine delivers */
};
struct plan {
    _Atomic uint32_t references; /* writers: who holds the plan (acq_rel); the last one frees it */
    struct gpu gpu;
    rocprofiler_feature_t *features; /* the client's */
    rocprofiler_feature_t *own;      /* `features`, where they are ours: of a set */
    uint32_t feature_count;
    struct formula *formulas; /* of each feature; a trace's is empty */
    bool has_trace;           /* in group 0 */
    uint32_t trace_feature;
    struct counting_trace_options trace;
    struct plan_group *groups;
    uint32_t group_count;
};
/* NULL, with a message and *status: there is no such plan. `single`: one group must do. */
struct plan *plan_create(const struct gpu *gpu, rocprofiler_feature_t *features, uint32_t count,
                         bool single, hsa_status_t *status);
struct plan *plan_reference(struct plan *plan);
void plan_release(struct plan *plan);

/* ---- context.c */

/* A line of its own: two threads write to it in turn, and nobody else is to wait for that. */
struct record {
    _Alignas(64) rocprofiler_dispatch_record_t public; /* first */
    struct record *next;
};

enum group_state {
    GROUP_IDLE,
    GROUP_FLYING, /* a kernel is on its way */
    GROUP_READY,  /* `values` are there */
    GROUP_LOST
};
struct v1_context;
struct pool;
struct group {
    struct v1_context *context;
    uint32_t index;
    /* An enum group_state. Writers: who makes it FLYING has the group and its record until the
     * landing (compare-exchange, acquire); the landing and standalone contexts (release, under the
     * context's lock, so that who waits there sees it); who empties it (group_clear, relaxed:
     * exchanges go on with the landing's release). Readers: acquire. */
    _Atomic uint32_t state;
    double *values;                       /* of the plan's inputs; under the context's lock */
    struct record *record;                /* of the last dispatch */
    struct counting_collector *collector; /* made for the first kernel; NULL: none yet */
    struct counting_slot *trace;          /* of the last collection, with a hold; NULL: none */
    struct trace_bytes *bytes; /* its copy, under the context's bytes_lock, too; NULL: not made */
};
/* Where a context of a pool is. */
enum entry_state {
    ENTRY_FREE,
    ENTRY_FETCHED,   /* the tool's, until a kernel takes it and ends */
    ENTRY_COMPLETED, /* its handler is to be called, or is being called */
};

/* A kernel's submission needs the first two lines, which the thread that completes the kernel
 * writes to as well; the rest is the completion's. */
struct v1_context {
    _Alignas(64) struct life life; /* first; inside: calls, and each flying group */
    /* Of the only group, for those who ask without entering; NULL: there are several. Writers: who
     * makes a context that is not open yet (release). Readers: group_peek (acquire, between two
     * looks at `life`: values of the next context come with that one's). */
    _Atomic uint32_t only_feature_count;
    _Atomic(rocprofiler_feature_t **) only_features;
    struct plan *plan;
    struct group *groups;
    struct standalone *standalone;   /* NULL: collects around kernels */
    struct pool *pool;               /* NULL: of none; it may be closed already, see pool.c */
    struct v1_context *next;         /* of the pool's free or completed ones, under its lock */
    void *payload;                   /* of a pool's */
    _Alignas(64) struct group first; /* the only one of most contexts */
    uint32_t entry_state;            /* an enum entry_state; under the pool's lock */
    uint32_t pool_generation;
    _Alignas(64) pthread_mutex_t lock;
    uint32_t mode;
    bool locked;            /* holds the machine's lock of its GPU */
    bool overflow_was_told; /* under `lock` */
    rocprofiler_handler_t handler;
    void *handler_arg;
    struct v1_context *next_free;
    pthread_cond_t changed;
    pthread_mutex_t bytes_lock; /* held while a trace is copied; before `lock` */
};
_Static_assert(offsetof(struct v1_context, lock) == 128,
               "a submission needs two lines of a context");
/* What this thread's last kernel was collected with, or all NULL. May be closed by now, but its
 * memory is a context's, and a pool's, for ever (life.h): no handle that is here needs to be looked
 * for. */
struct recent {
    const void *pool; /* NULL: the context is of none */
    const void *context, *group;
};
extern __thread struct recent recent
    __attribute__((tls_model("initial-exec"), visibility("hidden")));
/* A context with a reference of the caller's; NULL, with a message: it is none. */
struct v1_context *context_acquire(const void *handle);
void context_release(struct v1_context *context);
/* Each that is open. */
void contexts_visit(void (*visit)(struct v1_context *context));
/* Takes over the plan's reference. */
struct v1_context *context_new_of(struct plan *plan, hsa_status_t *status);
void context_end(struct v1_context *context); /* what rocprofiler_close does */
bool context_is_closed(const struct v1_context *context);
/* NULL: the context has no group of that number. */
static inline struct group *context_group(const struct v1_context *context, uint32_t index)
{
    return index < context->plan->group_count ? &context->groups[index] : NULL;
}
/* The same, with a message. */
struct group *context_group_checked(const struct v1_context *context, uint32_t index);
static inline enum group_state group_state(const struct group *group)
{
    return (enum group_state)atomic_load_explicit(&group->state, memory_order_acquire);
}
/* Under the context's lock. */
static inline void group_state_set(struct group *group, enum group_state state)
{
    atomic_store_explicit(&group->state, state, memory_order_release);
}
/* Forgets what was collected. False: a kernel is on its way. */
bool group_clear(struct group *group);
rocprofiler_group_t group_public(const struct group *group);
/* The group's values from the engine's records. Under the context's lock. */
void group_take(struct group *group, const rocprofiler_counter_record_t *records, size_t count,
                double *values);

/* ---- trace.c: features of kind TRACE */

/* Makes the feature's trace that of the plan; the status says why it cannot be. */
hsa_status_t plan_trace_take(struct plan *plan, uint32_t feature);
/* Takes over a hold of the trace. */
void group_trace_set(struct group *group, struct counting_slot *trace);
/* Gives back what the group has of a trace. */
void group_trace_drop(struct group *group);
/* Drops the copy of the trace, because the trace went on. */
void group_trace_renew(struct group *group);
/* Copies the trace where the feature wants that. Under the context's bytes_lock. */
hsa_status_t group_trace_collect(struct group *group);
/* Writes the feature's data. Under both locks of the context. */
void group_trace_write(struct group *group);

/* ---- sampling.c: contexts that collect between calls */

struct standalone *standalone_create(const struct gpu *gpu, uint32_t mode,
                                     rocprofiler_properties_t *properties, hsa_status_t *status);
void standalone_destroy(struct standalone *standalone);
void standalone_expect(void); /* waves of queues made from now on can be counted */
/* The group is idle and does not run. */
void standalone_reset(struct group *group, hsa_status_t *status);

/* ---- dispatch.c: contexts that collect around kernels */

void dispatch_expect(void);                 /* queues made from now on can be intercepted */
void record_release(struct record *record); /* NULL: nothing */

/* ---- kernels.c: what is known of a kernel; stays for ever */
struct kernel_facts {
    const char *name; /* as in the program's source, where it can be demangled */
    const amd_kernel_code_t *code;
};
struct kernel_facts kernel_facts(uint64_t kernel_id, uint64_t kernel_object);

/* ---- pool.c */
void pool_context_completed(struct v1_context *context);

/* ---- lock.c: one profiler for a GPU on the machine; released when the process ends */
bool machine_lock(const struct gpu *gpu); /* false, with a message */
void machine_unlock(const struct gpu *gpu);

/* ---- load.c */
/* What the tool set; written when it was loaded, relaxed. */
extern _Atomic uint64_t wait_limit_ns;    /* `timeout` */
extern _Atomic uint32_t trace_size_bytes; /* `trace_size` */
extern _Atomic bool trace_is_local;
extern _Atomic bool dispatches_are_brief; /* `opt_mode` */
/* `k_concurrent`; writer: the load of a tool, readers: dispatches (relaxed). */
extern _Atomic bool kernels_are_concurrent;

/* ---- settings.c */
void settings_follow(const rocprofiler_settings_t *settings);
void library_begin(void); /* the engine knows that somebody is here; any number of times */

#endif
