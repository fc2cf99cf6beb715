/*
 * What the files of libroctracer64 share. Private to this folder.
 *
 * registry_lock guards what is enabled; it is taken before session_lock (inside the engine) and
 * never held while the program's code is called.
 */
#ifndef API_ROCTRACER_INTERNAL_H
#define API_ROCTRACER_INTERNAL_H

/* This one renames functions, so it comes before the public headers. */
#include "api/roctracer/names.h"

#include "session/front/engine.h"

#include <pthread.h>
#include <roctracer/roctracer.h>
#include <roctracer/roctracer_ext.h>
#include <roctracer/roctracer_hsa.h>
#include <roctracer/roctracer_kfd.h>
#include <roctracer/roctracer_roctx.h>

/* Every function is there under both versions; a linker takes the default one. This is one level of
 * macros, so that the name becomes a string before names.h replaces it. */
#define VERSIONS_4_0(function)                                                                     \
    extern __typeof__(function) other_##function                                                   \
        __attribute__((alias("impl_" #function), visibility("default")));                          \
    __asm__(".symver impl_" #function "," #function "@@ROCTRACER_4.0");                            \
    __asm__(".symver other_" #function "," #function "@ROCTRACER_4.1")
#define VERSIONS_4_1(function)                                                                     \
    extern __typeof__(function) other_##function                                                   \
        __attribute__((alias("impl_" #function), visibility("default")));                          \
    __asm__(".symver impl_" #function "," #function "@@ROCTRACER_4.1");                            \
    __asm__(".symver other_" #function "," #function "@ROCTRACER_4.0")

#define engine (crocprof_engine())

enum {
    HIP_OPERATIONS = 3,       /* hip_op_id_t, whose header needs HIP */
    HIP_FUNCTIONS_MAX = 1024, /* larger than any release's hip_api_id_t */
    EXT_OPERATIONS = 2,
    OPERATIONS_MAX = HIP_FUNCTIONS_MAX,
};

/* ---- error.c */
/* Keeps the message for this thread's roctracer_error_string and returns `status`. */
__attribute__((format(printf, 2, 3))) roctracer_status_t fail(roctracer_status_t status,
                                                              const char *format, ...);

/* ---- domains.c */
struct operations {
    uint32_t first, end;
};
/* SUCCESS, or the failure that every function answers with for such a domain. */
roctracer_status_t domain_operations(uint32_t domain, struct operations *operations);
/* INVALID_ARGUMENT: the domain does not have the operation. */
roctracer_status_t operation_check(uint32_t domain, uint32_t op);
/* HIP is here: numbers that were given out before, and are not its own, are warned of. */
void hip_numbers_compare(void);

/* ---- registry.c */

/* Who is called back. Interned and never freed: sets of the engine point to them. */
struct registration {
    struct registration *next;
    activity_rtapi_callback_t callback; /* NULL: only events are wanted */
    void *arg;
    bool events; /* the call makes HSA_EVT events */
};

/* Is it still what `op` is to call? The load is relaxed: registration_wait() makes a
 * change seen by every call that begins later and waits for those in progress. */
bool registration_is_current(uint32_t domain, uint32_t op, const struct registration *registration);
/* Whom a (domain, op) calls just now; NULL: nobody. */
const struct registration *registration_of(uint32_t domain, uint32_t op);

/* Returns when no other thread is in that callback, or after CALLBACK_WAIT_NS. No lock held. */
enum { CALLBACK_WAIT_NS = 100000000 };
void registration_wait(const struct registration *registration);

/* Under registry_lock. `pool` NULL: nothing is recorded; callback NULL: nobody is called. */
extern pthread_mutex_t registry_lock;
bool callbacks_set(uint32_t domain, uint32_t first, uint32_t end,
                   activity_rtapi_callback_t callback, void *arg);
struct pool;
bool activities_set(uint32_t domain, uint32_t first, uint32_t end, struct pool *pool);
void activities_remove(const struct pool *pool);

/* To be called with no lock held before anything is enabled: meeting the engine may let tools of
 * the SDK configure themselves, and they may use this library. */
bool registry_begin(void); /* false: no memory */

/* From now on queues are made such that HSA_OPS can be enabled for them at any time. No lock held.
 */
void registry_queues_expect(void);

/* To be called when HIP's own numbers are known, or its calls are seen another way than before. */
void registry_hip_armed(void);
void registry_pause(bool paused);
void registry_externals_begin(void); /* the first external id is about to be pushed */

/* The hip_api_id_t of an operation of a HIP domain. 0: it has none. */
uint32_t hip_function_of(enum trace_domain domain, int32_t operation);

/* ---- hsa_calls.c */
struct hsa_call {
    uint16_t name;     /* see hsa_call_name() */
    int16_t operation; /* -1: never traced */
    uint8_t domain;    /* enum trace_domain */
    uint8_t argument_words;
};
extern const struct hsa_call hsa_calls[];
const char *hsa_call_name(uint32_t id);
enum { HSA_CALL_COUNT = HSA_API_ID_DISPATCH };
/* The first id of a table's functions; ids go on with the operation. */
uint32_t hsa_call_base(enum trace_domain domain);
void hsa_call_listener(const struct trace_frame *frame, rocprofiler_user_data_t *user_data,
                       rocprofiler_callback_phase_t phase, void *registration);

/* ---- hip_calls.c */
void hip_call_listener(const struct trace_frame *frame, rocprofiler_user_data_t *user_data,
                       rocprofiler_callback_phase_t phase, void *registration);
void hip_table_call_listener(const struct trace_frame *frame, rocprofiler_user_data_t *user_data,
                             rocprofiler_callback_phase_t phase, void *registration);

/* ---- kfd_calls.c */
void kfd_call_listener(const struct trace_frame *frame, rocprofiler_user_data_t *user_data,
                       rocprofiler_callback_phase_t phase, void *registration);

/* ---- events.c: HSA_EVT */
/* Whether the function's exit (or entry) makes an event of a kind in `events` (a bit for each
 * hsa_evt_id_t). */
bool event_needs_call(enum trace_domain domain, int32_t operation, uint32_t events);
void events_of_call(const struct trace_frame *frame, rocprofiler_callback_phase_t phase);
void event_of_object(rocprofiler_callback_tracing_record_t record,
                     rocprofiler_user_data_t *user_data, void *data);
void event_of_submission(rocprofiler_callback_tracing_record_t record,
                         rocprofiler_user_data_t *user_data, void *data);

/* ---- markers.c: ROCTX */
void markers_follow(void); /* hooks the marker library, if it is there and anybody listens */
void markers_found(void);  /* a marker library has come */

/* ---- enable.c */
void switch_on_fork_child(void);

/* ---- pools.c */
/* NULL: the handle is no open pool, or there is no default pool. Only under registry_lock does the
 * answer stay true. */
struct pool *pool_find(const roctracer_pool_t *handle);
struct pool *pool_default(void);
struct tracebuf *pool_buffer(const struct pool *pool);

/* ---- convert.c */
struct converted {
    roctracer_record_t records[2]; /* an external id's stands before the call's */
    uint32_t count;
    const char *name; /* NULL: none; there while the record is */
    size_t name_size; /* with its zero */
};
struct conversion {
    uint64_t not_before_ns; /* calls that began earlier were meant for another pool */
    uint32_t process_id;
};
/* The times of calls are ticks until this is done, for a whole run. */
void run_times_convert(const struct tracebuf_run *run);
/* A record of a run with that tag; it may come to none. */
void record_convert(const struct conversion *conversion, uint64_t tag, const void *from,
                    struct converted *out);
/* In the thread that made the calls, in their places: they become roctracer_record_t, from the
 * first one on; returns how many. The rest, and other work, is for record_convert. */
size_t calls_convert_early(const struct tracebuf_run *run, struct clock_segment *segment,
                           uint64_t not_before_ticks);

/* ---- external.c */
uint64_t external_encode(activity_correlation_id_t id); /* never 0 but for the largest id */
static inline activity_correlation_id_t external_decode(uint64_t value)
{
    return ~value;
}
uint64_t external_current(void); /* encoded; 0: nothing was pushed */

#endif
