/* What both marker libraries contain. Internal to this folder; each library has its own copy. */
#ifndef API_ROCTX_MARKERS_H
#define API_ROCTX_MARKERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The tables of rocprofiler-sdk-roctx/api_trace.h, spelled out here because the public headers of
 * the two libraries define the same macros differently. A profiler puts its functions into
 * the slots while the tables are offered, or later when it comes later. */
struct hsa_agent_s;
struct ihipStream_t;

struct markers_core {
    uint64_t size_bytes;
    void (*mark)(const char *message);
    int (*range_push)(const char *message);
    int (*range_pop)(void);
    uint64_t (*range_start)(const char *message);
    void (*range_stop)(uint64_t id);
    int (*thread_id)(uint64_t *tid);
};

struct markers_control {
    uint64_t size_bytes;
    int (*pause)(uint64_t tid);
    int (*resume)(uint64_t tid);
};

struct markers_names {
    uint64_t size_bytes;
    int (*thread)(const char *name);
    int (*agent)(const char *name, const struct hsa_agent_s *agent);
    int (*device)(const char *name, int device_id);
    int (*stream)(const char *name, const struct ihipStream_t *stream);
};

extern struct markers_core markers_core __attribute__((visibility("hidden")));
extern struct markers_control markers_control;
extern struct markers_names markers_names;

/* Reads a slot of these tables. Writer: a profiler's table_wrap(), on whatever thread offers the
 * tables (release, so that a wrapper is seen with what it needs). Readers: every call. A plain load
 * on x86. */
#define MARKERS_SLOT(slot) __atomic_load_n(&(slot), __ATOMIC_ACQUIRE)

enum { MARKERS_UNOFFERED = 1, MARKERS_HEARD = 2 };
/* Why a call may have to do more than its own work; 0: nobody hears it, unless its slot in the
 * table is a profiler's. Writers: markers_offer() and markers_listener_set() (release). Readers:
 * every call (acquire): whoever sees a bit sees the functions that go with it. */
extern _Atomic unsigned markers_state __attribute__((visibility("hidden")));

/* Offers the tables to a profiler, once. */
void markers_offer(void);

/* Hears every marker on the thread that makes it, before the marker takes effect; operation is a
 * roctx_api_id_t, data a roctx_api_data_t. NULL: nobody. */
typedef int (*markers_listener)(uint32_t domain, uint32_t operation, void *data);
void markers_listener_set(markers_listener listener);

/* ---- the calls of both libraries ---------------------------------------------------------------
 */

/* What is in the slots while no profiler is. */
void markers_own_mark(const char *message);
int markers_own_push(const char *message);
int markers_own_pop(void);

/* This thread's ranges that were pushed and not popped. The initial-exec model reaches the variable
 * with one instruction, also in a library that was opened at run time. */
extern __thread int markers_open_ranges __attribute__((tls_model("initial-exec")));

static inline bool markers_quiet(void)
{
    return __builtin_expect(atomic_load_explicit(&markers_state, memory_order_acquire) == 0, 1);
}

static inline void markers_ready(void)
{
    if (__builtin_expect(
            atomic_load_explicit(&markers_state, memory_order_acquire) & MARKERS_UNOFFERED, 0))
        markers_offer();
}

/* The rest of a call; functions of their own, so that the quiet path needs no stack frame. */
void markers_mark_heard(const char *message);
int markers_push_heard(const char *message);
int markers_pop_heard(void);

static inline void markers_mark(const char *message)
{
    if (!markers_quiet() || MARKERS_SLOT(markers_core.mark) != markers_own_mark)
        markers_mark_heard(message);
}

static inline int markers_push(const char *message)
{
    if (markers_quiet() && MARKERS_SLOT(markers_core.range_push) == markers_own_push)
        return markers_open_ranges++;
    return markers_push_heard(message);
}

static inline int markers_pop(void)
{
    if (markers_quiet() && MARKERS_SLOT(markers_core.range_pop) == markers_own_pop)
        return markers_open_ranges > 0 ? --markers_open_ranges : -1;
    return markers_pop_heard();
}

static inline uint64_t markers_start(const char *message)
{
    markers_ready();
    return MARKERS_SLOT(markers_core.range_start)(message);
}

static inline void markers_stop(uint64_t id)
{
    markers_ready();
    MARKERS_SLOT(markers_core.range_stop)(id);
}

#endif
