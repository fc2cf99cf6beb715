/* When correlation ids retire. */
#include "session/internal.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WORKS_MAX = 1 << 20 };

/* How many parties (the call itself, kernels, copies) still refer to an id. */
struct trace_work {
    _Atomic uint32_t references; /* writers: each party (acq_rel); the last one frees */
    uint32_t next_free;          /* index + 1 */
    uint64_t internal;
};

/* A pool of address space; memory is touched as far as it was ever needed at the same time.
 * Writers: who needs it first (compare-exchange); who finds the free list empty (counts up).
 * Readers: any. */
static _Atomic(struct trace_work *) works;
static _Atomic uint32_t works_used;
/* Free list: index + 1 in the low half, a change count against ABA in the high half. Writers: any
 * thread (acq_rel). */
static _Atomic uint64_t free_head;

static struct trace_work *works_map(void)
{
    struct trace_work *pool = atomic_load_explicit(&works, memory_order_acquire);
    if (pool)
        return pool;
    pool = mmap(NULL, WORKS_MAX * sizeof *pool, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pool == MAP_FAILED)
        return NULL;
    struct trace_work *winner = NULL;
    if (atomic_compare_exchange_strong_explicit(&works, &winner, pool, memory_order_seq_cst,
                                                memory_order_seq_cst))
        return pool;
    munmap(pool, WORKS_MAX * sizeof *pool);
    return winner;
}

static struct trace_work *free_pop(struct trace_work *pool)
{
    uint64_t head = atomic_load_explicit(&free_head, memory_order_acquire);
    while ((uint32_t)head) {
        struct trace_work *work = &pool[(uint32_t)head - 1];
        uint32_t next = __atomic_load_n(&work->next_free, __ATOMIC_RELAXED);
        uint64_t wanted = (head >> 32) + 1;
        if (atomic_compare_exchange_weak_explicit(&free_head, &head, wanted << 32 | next,
                                                  memory_order_acq_rel, memory_order_acquire))
            return work;
    }
    return NULL;
}

static void free_push(struct trace_work *work)
{
    uint32_t index = (uint32_t)(work - atomic_load_explicit(&works, memory_order_seq_cst)) + 1;
    uint64_t head = atomic_load_explicit(&free_head, memory_order_relaxed), wanted;
    do {
        __atomic_store_n(&work->next_free, (uint32_t)head, __ATOMIC_RELAXED);
        wanted = ((head >> 32) + 1) << 32 | index;
    } while (!atomic_compare_exchange_weak_explicit(&free_head, &head, wanted, memory_order_acq_rel,
                                                    memory_order_relaxed));
}

struct trace_work *work_new(uint64_t internal)
{
    struct trace_work *pool = works_map();
    if (!pool)
        return NULL;
    struct trace_work *work = free_pop(pool);
    if (!work) {
        uint32_t index = atomic_fetch_add_explicit(&works_used, 1, memory_order_seq_cst);
        if (index >= WORKS_MAX) {
            atomic_fetch_sub_explicit(&works_used, 1, memory_order_seq_cst);
            return NULL;
        }
        work = &pool[index];
    }
    work->internal = internal;
    atomic_store_explicit(&work->references, 1, memory_order_relaxed);
    return work;
}

void work_add(struct trace_work *work)
{
    atomic_fetch_add_explicit(&work->references, 1, memory_order_relaxed);
}

void work_drop(struct trace_work *work)
{
    if (atomic_fetch_sub_explicit(&work->references, 1, memory_order_acq_rel) != 1)
        return;
    retirement_report(work->internal);
    free_push(work);
}

void retirement_report(uint64_t internal)
{
    const struct trace_set *set = trace_set_load(TRACE_CORRELATION_ID_RETIREMENT, 0);
    if (!set)
        return;
    rocprofiler_buffer_tracing_correlation_id_retirement_record_t record = {
        .size = sizeof record,
        .kind = ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT,
        .timestamp = clock_now_ns(),
        .internal_correlation_id = internal,
    };
    for (uint32_t i = 0; i < set->subscriber_count; i++)
        trace_buffer_put(set->subscribers[i].buffer, ROCPROFILER_BUFFER_CATEGORY_TRACING,
                         record.kind, &record, sizeof record);
}
