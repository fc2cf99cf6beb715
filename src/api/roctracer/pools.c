/*
 * Pools. Producers write the engine's records into a tracebuf of the pool; the pool's own thread
 * turns them into roctracer_record_t in the memory that the program's allocator gave, records from
 * below, names from above, and hands that to the callback whenever it is full or flushed. Names are
 * there while the callback runs.
 *
 * A pool is a slot that lives for ever, since calls in progress still hold its tracebuf; the handle
 * names one use of it. Handle, state and the default pool change under registry_lock and are read
 * without it, too: a signal handler may flush, whatever lock its thread has. The pool's thread
 * alone touches the memory, between open and close.
 */
#include "api/roctracer/internal.h"

#include "base/library.h"
#include "base/log.h"
#include "base/process.h"

#include <stdlib.h>
#include <string.h>

enum {
    POOLS_MAX = 128,
    HANDLE_INDEX_BITS = 8,
    BUFFER_BYTES_MIN = 2 * sizeof(roctracer_record_t),
    /* Beyond that a pool is cut into portions: its thread must not be told of every few records,
     * nor find them only when megabytes wait. */
    PORTION_BYTES_MAX = 1 << 20,
    RING_BYTES_MIN = 64 << 10, /* holds any record with its name */
};

enum pool_state { POOL_IDLE, POOL_OPEN, POOL_CLOSING };

struct pool {
    /* Writer: who opens and closes it, `handle` first, then `state`. Readers: any. All
     * seq_cst: opening and closing are rare. */
    _Atomic int state;
    _Atomic uint64_t handle;
    struct tracebuf *buffer; /* of the slot: stays */
    size_t portion_bytes;
    uint64_t opened_ns;
    /* The same moment for who makes calls. Writer: who opens the pool. Readers: threads whose
     * leases are full; relaxed, for what they get wrong `opened_ns` sorts out. */
    _Atomic uint64_t opened_ticks;
    roctracer_properties_t properties;
    char *memory;
    size_t records_bytes, names_bytes;
    bool is_last_flush;
    /* Records that the ring lost, which outlives the pool: as last told, and when the pool was
     * opened. Writer of `lost`: the pool's thread; relaxed, it only words a message. */
    _Atomic uint64_t lost;
    uint64_t lost_before;
};

static struct pool *slots[POOLS_MAX];
/* Writers: who adds a slot, under registry_lock, the count last. Readers: any (seq_cst). Slots
 * never go. */
static _Atomic uint32_t slot_count;
/* Writers: who opens, closes or sets it, under registry_lock. Readers: any (seq_cst). */
static _Atomic(struct pool *) default_pool;

struct tracebuf *pool_buffer(const struct pool *pool)
{
    return pool->buffer;
}

struct pool *pool_default(void)
{
    return atomic_load_explicit(&default_pool, memory_order_seq_cst);
}

struct pool *pool_find(const roctracer_pool_t *handle)
{
    uint64_t value = (uint64_t)(uintptr_t)handle;
    uint64_t index = value & ((1u << HANDLE_INDEX_BITS) - 1);
    struct pool *pool =
        index < atomic_load_explicit(&slot_count, memory_order_seq_cst) ? slots[index] : NULL;
    bool open = pool && atomic_load_explicit(&pool->state, memory_order_seq_cst) == POOL_OPEN &&
                atomic_load_explicit(&pool->handle, memory_order_seq_cst) == value;
    return open ? pool : NULL;
}

/* ---- on the pool's thread */

static void memory_emit(struct pool *pool)
{
    size_t bytes = pool->records_bytes;
    const roctracer_properties_t *p = &pool->properties;
    pool->records_bytes = pool->names_bytes = 0; /* before the callback, which may not return */
    if (bytes && p->buffer_callback_fun)
        p->buffer_callback_fun(pool->memory, pool->memory + bytes, p->buffer_callback_arg);
}

static const char *name_put(struct pool *pool, const struct converted *from)
{
    pool->names_bytes += from->name_size;
    char *at = pool->memory + pool->properties.buffer_size - pool->names_bytes;
    memcpy(at, from->name, from->name_size);
    return at;
}

/* A name that does not even fit the empty pool stays where it is: its record is handed over at
 * once, while the name is there. */
static bool name_stays_outside(const struct pool *pool, const struct converted *record)
{
    size_t room = pool->properties.buffer_size - record->count * sizeof record->records[0];
    return record->name_size > room;
}

static void record_put(struct pool *pool, struct converted *record)
{
    size_t bytes = record->count * sizeof record->records[0];
    bool outside = name_stays_outside(pool, record);
    size_t name_bytes = outside ? 0 : record->name_size;
    if (pool->records_bytes + pool->names_bytes + bytes + name_bytes > pool->properties.buffer_size)
        memory_emit(pool);
    if (record->name)
        record->records[record->count - 1].kernel_name =
            outside ? record->name : name_put(pool, record);
    memcpy(pool->memory + pool->records_bytes, record->records, bytes);
    pool->records_bytes += bytes;
    if (outside || pool->records_bytes + pool->names_bytes + sizeof record->records[0] >
                       pool->properties.buffer_size)
        memory_emit(pool);
}

/* On the thread that made the calls. Another pool may have the slot when these are delivered. */
static size_t calls_finish(const struct tracebuf_run *run, struct clock_segment *segment,
                           bool is_producer, void *arg)
{
    struct pool *pool = arg;
    (void)is_producer; /* deliver_run does the rest in its own way */
    if (atomic_load_explicit(&pool->state, memory_order_seq_cst) != POOL_OPEN)
        return 0;
    return calls_convert_early(run, segment,
                               atomic_load_explicit(&pool->opened_ticks, memory_order_relaxed));
}

/* As many as fit, of those that the pool was open for. */
static size_t records_copy(struct pool *pool, const roctracer_record_t *from, size_t count)
{
    size_t room = pool->properties.buffer_size - pool->records_bytes - pool->names_bytes;
    size_t fit = room / sizeof *from, passed = count < fit ? count : fit;
    char *to =
        pool->memory + pool->records_bytes; /* the program's allocator gave it: aligned or not */
    uint64_t not_before_ns = pool->opened_ns;
    for (size_t i = 0; i < passed; i++) {
        memcpy(to, &from[i], sizeof *from);
        to += from[i].begin_ns >= not_before_ns ? sizeof *from : 0;
    }
    pool->records_bytes = (size_t)(to - pool->memory);
    return passed;
}

static void records_put(struct pool *pool, const struct tracebuf_run *run)
{
    const roctracer_record_t *from = (const roctracer_record_t *)run->at;
    for (size_t done = 0; done < run->count;) {
        done += records_copy(pool, from + done, run->count - done);
        if (pool->records_bytes + pool->names_bytes + sizeof *from > pool->properties.buffer_size)
            memory_emit(pool);
    }
}

static void run_put(struct pool *pool, const struct tracebuf_run *run)
{
    const struct conversion conversion = {.not_before_ns = pool->opened_ns,
                                          .process_id = process_id()};
    run_times_convert(run);
    for (size_t i = 0; i < run->count; i++) {
        struct converted record;
        record_convert(&conversion, run->tag, run->at + i * run->stride_bytes, &record);
        if (record.count > 0)
            record_put(pool, &record);
    }
}

static void deliver_run(struct tracebuf *buffer, const struct tracebuf_run *run, uint64_t dropped,
                        void *arg)
{
    struct pool *pool = arg;
    (void)buffer;
    atomic_store_explicit(&pool->lost, dropped, memory_order_relaxed);
    if (atomic_load_explicit(&pool->state, memory_order_seq_cst) == POOL_IDLE)
        return; /* these are records of calls that began before the pool was closed */
    if (run->finished)
        records_put(pool, run);
    else
        run_put(pool, run);
}

static void memory_free(struct pool *pool)
{
    const roctracer_properties_t *p = &pool->properties;
    if (p->alloc_fun)
        p->alloc_fun(&pool->memory, 0, p->alloc_arg);
    else
        free(pool->memory);
    pool->memory = NULL;
}

/* A flush that was under way when the pool was closed has not seen all of its records: the pool
 * ends with one that begins afterwards. */
static void flushing(void *arg)
{
    struct pool *pool = arg;
    pool->is_last_flush = atomic_load_explicit(&pool->state, memory_order_seq_cst) == POOL_CLOSING;
}

static void flushed(void *arg)
{
    struct pool *pool = arg;
    if (atomic_load_explicit(&pool->state, memory_order_seq_cst) == POOL_IDLE)
        return;
    memory_emit(pool);
    if (!pool->is_last_flush)
        return;
    memory_free(pool);
    atomic_store_explicit(&pool->state, POOL_IDLE, memory_order_seq_cst);
}

/* ---- a child of fork(): what its parent's calls left is the parent's to hand over */

static void on_fork_child(void)
{
    switch_on_fork_child();
    pthread_mutex_init(&registry_lock, NULL);
    for (uint32_t i = 0; i < atomic_load_explicit(&slot_count, memory_order_seq_cst); i++) {
        struct pool *pool = slots[i];
        pool->records_bytes = pool->names_bytes = 0;
        pool->lost_before = 0; /* the ring counts anew */
        atomic_store_explicit(&pool->lost, 0, memory_order_relaxed);
    }
}

static void fork_watch(void)
{
    pthread_atfork(NULL, NULL, on_fork_child);
}

/* ---- open */

/* Portions are powers of two, so that slots fit many pools. Waking the pool's thread costs as much
 * as hundreds of records, so it hears of several small buffers at once; the ring takes four times
 * the portion, so those of large buffers are a quarter. */
static size_t portion_of(size_t buffer_size)
{
    enum { TOGETHER_FROM_BYTES = 8 << 10, TOGETHER = 4, TOGETHER_BYTES = 64 << 10, PARTS = 4 };
    size_t whole = BUFFER_BYTES_MIN;
    while (whole < PARTS * (size_t)PORTION_BYTES_MAX && 2 * whole <= buffer_size)
        whole *= 2;
    if (whole < TOGETHER_FROM_BYTES)
        return whole;
    size_t together = TOGETHER * whole < TOGETHER_BYTES ? TOGETHER * whole : TOGETHER_BYTES;
    return whole / PARTS > together ? whole / PARTS : together;
}

/* An idle slot, which is the caller's under registry_lock only. NULL: there is none. */
static struct pool *slot_reuse(size_t portion_bytes)
{
    for (uint32_t i = 0; i < atomic_load_explicit(&slot_count, memory_order_seq_cst); i++)
        if (atomic_load_explicit(&slots[i]->state, memory_order_seq_cst) == POOL_IDLE &&
            slots[i]->portion_bytes == portion_bytes)
            return slots[i];
    return NULL;
}

/* Tools hear of the thread, so no lock is held. */
static struct pool *slot_make(size_t portion_bytes)
{
    struct pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return NULL;
    const struct tracebuf_config config = {
        .size_bytes = portion_bytes < RING_BYTES_MIN ? RING_BYTES_MIN : 2 * portion_bytes,
        .watermark_bytes = portion_bytes,
        .policy = TRACEBUF_LOSSLESS,
        .finish = calls_finish,
        .deliver_run = deliver_run,
        .flushing = flushing,
        .flushed = flushed,
        .arg = pool,
        .outlives_shutdown = true,
        .one_at_a_time = true,
    };
    pool->portion_bytes = portion_bytes;
    pool->buffer = engine->tracebuf_create(&config);
    struct tracebuf_thread *thread = pool->buffer ? engine->delivery_thread_create() : NULL;
    if (thread) {
        engine->tracebuf_assign(pool->buffer, thread);
        return pool;
    }
    if (pool->buffer)
        engine->tracebuf_close(pool->buffer); /* the slot stays: the buffer points to it */
    else
        free(pool);
    return NULL;
}

/* Sees to it that there is an idle slot; another thread may still be quicker to use it. */
static bool slot_provide(size_t portion_bytes)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fork_watch);
    if (slot_reuse(portion_bytes))
        return true;
    bool room = atomic_load_explicit(&slot_count, memory_order_seq_cst) < POOLS_MAX;
    struct pool *pool = room ? slot_make(portion_bytes) : NULL;
    if (!pool)
        return false;
    pthread_mutex_lock(&registry_lock);
    uint32_t count = atomic_load_explicit(&slot_count, memory_order_seq_cst);
    if (count < POOLS_MAX) { /* else it stays unused */
        slots[count] = pool;
        atomic_store_explicit(&slot_count, count + 1, memory_order_seq_cst);
    }
    pthread_mutex_unlock(&registry_lock);
    return true;
}

static uint32_t slot_index(const struct pool *pool)
{
    uint32_t index = 0;
    while (slots[index] != pool)
        index++;
    return index;
}

/* A handle never comes again, and is neither an address nor a small number: a caller who passes one
 * of those does not mean a pool. */
static uint64_t handle_make(const struct pool *pool)
{
    static const uint64_t tag = 0x726f0000ull << 32;
    static uint64_t uses;
    return tag | ++uses << HANDLE_INDEX_BITS | slot_index(pool);
}

static void pool_use(struct pool *pool, const roctracer_properties_t *properties, char *memory)
{
    atomic_store_explicit(&pool->handle, handle_make(pool), memory_order_seq_cst);
    pool->properties = *properties;
    pool->memory = memory;
    pool->records_bytes = pool->names_bytes = 0;
    pool->opened_ns = engine->trace_time_ns();
    atomic_store_explicit(&pool->opened_ticks, engine->clock_ticks_now(), memory_order_relaxed);
    pool->lost_before = atomic_load_explicit(&pool->lost, memory_order_relaxed);
    atomic_store_explicit(&pool->state, POOL_OPEN, memory_order_seq_cst); /* to its thread */
}

static char *memory_take(const roctracer_properties_t *properties)
{
    char *memory = NULL;
    if (properties->alloc_fun)
        properties->alloc_fun(&memory, properties->buffer_size, properties->alloc_arg);
    else
        memory = malloc(properties->buffer_size);
    return memory;
}

static roctracer_pool_t *handle_of(const struct pool *pool)
{
    return pool ? (roctracer_pool_t *)(uintptr_t)atomic_load_explicit(&pool->handle,
                                                                      memory_order_seq_cst)
                : NULL;
}

static roctracer_status_t already_defined(void)
{
    return fail(ROCTRACER_STATUS_ERROR_DEFAULT_POOL_ALREADY_DEFINED,
                "there is a default pool already");
}

/* An idle slot becomes the pool. NULL with SUCCESS: there was none. */
static struct pool *pool_try(const roctracer_properties_t *properties, char *memory,
                             roctracer_pool_t **handle, roctracer_status_t *status)
{
    pthread_mutex_lock(&registry_lock);
    bool defined = !handle && atomic_load_explicit(&default_pool, memory_order_seq_cst);
    struct pool *pool = defined ? NULL : slot_reuse(portion_of(properties->buffer_size));
    if (pool) {
        pool_use(pool, properties, memory);
        if (handle)
            *handle = handle_of(pool);
        else
            atomic_store_explicit(&default_pool, pool, memory_order_seq_cst);
    }
    pthread_mutex_unlock(&registry_lock);
    *status = defined ? already_defined() : ROCTRACER_STATUS_SUCCESS;
    return pool;
}

static roctracer_status_t pool_make(const roctracer_properties_t *properties, char *memory,
                                    roctracer_pool_t **handle)
{
    roctracer_status_t status;
    while (!pool_try(properties, memory, handle, &status))
        if (status != ROCTRACER_STATUS_SUCCESS)
            return status;
        else if (!slot_provide(portion_of(properties->buffer_size)))
            return fail(ROCTRACER_STATUS_ERROR_MEMORY_ALLOCATION,
                        "no room for another pool, or its thread");
    return ROCTRACER_STATUS_SUCCESS;
}

static roctracer_status_t pool_open(const roctracer_properties_t *properties,
                                    roctracer_pool_t **handle)
{
    if (!properties || properties->buffer_size < BUFFER_BYTES_MIN)
        return fail(ROCTRACER_STATUS_ERROR_INVALID_ARGUMENT,
                    "open_pool: no properties, or a buffer that does not hold two records");
    if (!handle && roctracer_default_pool())
        return already_defined(); /* before the allocator is asked */
    if (properties->alloc_fun)
        library_keep((const void *)properties->alloc_fun);
    if (properties->buffer_callback_fun)
        library_keep((const void *)properties->buffer_callback_fun);
    struct pool unused = {.properties = *properties, .memory = memory_take(properties)};
    if (!unused.memory)
        return fail(ROCTRACER_STATUS_ERROR_MEMORY_ALLOCATION, "no memory of %zu bytes for a pool",
                    properties->buffer_size);
    roctracer_status_t status = pool_make(properties, unused.memory, handle);
    if (status != ROCTRACER_STATUS_SUCCESS)
        memory_free(&unused);
    return status;
}

VERSIONS_4_0(roctracer_open_pool_expl);
roctracer_status_t roctracer_open_pool_expl(const roctracer_properties_t *properties,
                                            roctracer_pool_t **pool)
{
    return pool_open(properties, pool);
}

VERSIONS_4_1(roctracer_open_pool);
roctracer_status_t roctracer_open_pool(const roctracer_properties_t *properties)
{
    return pool_open(properties, NULL);
}

/* ---- close, flush */

static roctracer_status_t not_open(const roctracer_pool_t *handle)
{
    return fail(ROCTRACER_STATUS_ERROR_INVALID_ARGUMENT, "%p is no open pool", handle);
}

/* What the program knows to be over is recorded first, though its end is noticed a moment later. */
static void records_flush(struct tracebuf *buffer)
{
    if (engine->tracebuf_delivering()) {
        engine->tracebuf_flush_start(buffer); /* callbacks do not wait for callbacks */
        return;
    }
    engine->session_work_collect();
    engine->hip_facts->operations_settle();
    engine->tracebuf_flush(buffer);
}

static roctracer_status_t pool_close(roctracer_pool_t *handle)
{
    pthread_mutex_lock(&registry_lock);
    struct pool *pool =
        handle ? pool_find(handle) : atomic_load_explicit(&default_pool, memory_order_seq_cst);
    uint64_t lost_before = 0;
    if (pool) {
        if (pool == atomic_load_explicit(&default_pool, memory_order_seq_cst))
            atomic_store_explicit(&default_pool, NULL, memory_order_seq_cst);
        activities_remove(pool);
        lost_before = pool->lost_before;
        atomic_store_explicit(&pool->state, POOL_CLOSING, memory_order_seq_cst);
    }
    pthread_mutex_unlock(&registry_lock);
    if (!pool)
        return handle ? not_open(handle) : ROCTRACER_STATUS_SUCCESS;
    records_flush(pool->buffer);
    uint64_t lost = atomic_load_explicit(&pool->lost, memory_order_relaxed) - lost_before;
    if (lost)
        log_warning("roctracer", "a pool has lost %llu records", (unsigned long long)lost);
    return ROCTRACER_STATUS_SUCCESS;
}

VERSIONS_4_0(roctracer_close_pool_expl);
roctracer_status_t roctracer_close_pool_expl(roctracer_pool_t *pool)
{
    return pool_close(pool);
}

VERSIONS_4_1(roctracer_close_pool);
roctracer_status_t roctracer_close_pool(void)
{
    return pool_close(NULL);
}

static roctracer_status_t pool_flush(roctracer_pool_t *handle)
{
    const struct pool *pool = handle ? pool_find(handle) : pool_default();
    if (!pool)
        return handle ? not_open(handle) : ROCTRACER_STATUS_SUCCESS;
    records_flush(pool->buffer);
    return ROCTRACER_STATUS_SUCCESS;
}

VERSIONS_4_0(roctracer_flush_activity_expl);
roctracer_status_t roctracer_flush_activity_expl(roctracer_pool_t *pool)
{
    return pool_flush(pool);
}

VERSIONS_4_1(roctracer_flush_activity);
roctracer_status_t roctracer_flush_activity(void)
{
    return pool_flush(NULL);
}

/* ---- the default pool */

VERSIONS_4_0(roctracer_default_pool_expl);
roctracer_pool_t *roctracer_default_pool_expl(roctracer_pool_t *pool)
{
    pthread_mutex_lock(&registry_lock);
    roctracer_pool_t *before = handle_of(atomic_load_explicit(&default_pool, memory_order_seq_cst));
    struct pool *wanted = pool ? pool_find(pool) : NULL;
    if (wanted)
        atomic_store_explicit(&default_pool, wanted, memory_order_seq_cst);
    pthread_mutex_unlock(&registry_lock);
    if (pool && !wanted)
        not_open(pool);
    return before;
}

VERSIONS_4_1(roctracer_default_pool);
roctracer_pool_t *roctracer_default_pool(void)
{
    return roctracer_default_pool_expl(NULL);
}

VERSIONS_4_1(roctracer_next_record);
roctracer_status_t roctracer_next_record(const activity_record_t *record,
                                         const activity_record_t **next)
{
    if (!record || !next)
        return fail(ROCTRACER_STATUS_ERROR_INVALID_ARGUMENT, "next_record: a pointer is NULL");
    *next = record + 1;
    return ROCTRACER_STATUS_SUCCESS;
}
