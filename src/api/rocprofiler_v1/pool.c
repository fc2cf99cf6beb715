/* Pools: contexts with the same features, taken for kernels and given back when their data was
 * handled. */
#include "api/rocprofiler_v1/internal.h"
#include "base/callback.h"
#include "base/fork_lock.h"

#include <stdlib.h>
#include <string.h>

enum { PAYLOAD_ALIGNMENT = 64, ENTRIES_MAX = 1 << 20 };

/* A kernel's submission writes to the first line of it only, which the thread that completes the
 * kernel has just written to. */
struct pool {
    _Alignas(64) struct life life; /* inside: threads that use it */
    /* Under the lock, up to and with handling_thread. */
    bool is_handling; /* a thread calls the handler */
    bool is_closing;
    pthread_mutex_t lock; /* as `changed`, made once and for ever */
    struct v1_context *free;
    const void *handling_thread;
    struct pool *next;      /* of all that there ever were; constant */
    struct pool *next_free; /* under pools_lock */
    rocprofiler_pool_handler_t handler;
    void *handler_arg;
    struct v1_context **entries; /* each with a reference */
    char *payloads;
    size_t payload_bytes; /* of an entry, rounded up */
    uint32_t entry_count;
    uint32_t generation; /* of the pools at this place; constant while one is open */
    struct gpu gpu;
    /* Under the lock. */
    _Alignas(64) struct v1_context *completed;
    struct v1_context **completed_end; /* in the order of completion */
    pthread_cond_t changed;
};
_Static_assert(offsetof(struct pool, next) == 64, "a submission writes to one line of a pool");

/* Its address stands for the thread. */
static __thread char here __attribute__((tls_model("initial-exec")));

static pthread_mutex_t pools_lock = PTHREAD_MUTEX_INITIALIZER;
FORK_LOCK(pools_kept, pools_lock)
/* Open or not. Writers: those who open one (under pools_lock, release). Readers: whoever has a
 * handle (acquire). */
static _Atomic(struct pool *) pools;
static struct pool *pools_free; /* under pools_lock */

/* ---- life */

/* NULL: the handle is none. What is found may be closed. */
static struct pool *pool_find(const rocprofiler_pool_t *handle)
{
    if (handle && handle == recent.pool)
        return (struct pool *)handle;
    struct pool *pool = atomic_load_explicit(&pools, memory_order_acquire);
    while (pool && pool != handle)
        pool = pool->next;
    return pool;
}

/* The caller is inside of the result. NULL, with a message: the handle is no open pool. */
static struct pool *pool_enter(const rocprofiler_pool_t *handle)
{
    struct pool *pool = pool_find(handle);
    if (pool && life_enter(&pool->life))
        return pool;
    fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "no pool, or one that was closed");
    return NULL;
}

static struct pool *pool_place_take(void)
{
    pthread_mutex_lock(&pools_lock);
    struct pool *pool = pools_free;
    if (pool) {
        pools_free = pool->next_free;
    } else if ((pool = aligned_alloc(_Alignof(struct pool), sizeof *pool))) {
        memset(pool, 0, sizeof *pool);
        pthread_mutex_init(&pool->lock, NULL);
        pthread_cond_init(&pool->changed, NULL);
        pool->next = atomic_load_explicit(&pools, memory_order_relaxed);
        atomic_store_explicit(&pools, pool, memory_order_release);
    }
    pthread_mutex_unlock(&pools_lock);
    return pool;
}

/* Frees what the pool has; its place is for the next one. */
static void pool_free(struct pool *pool)
{
    for (uint32_t i = 0; pool->entries && i < pool->entry_count; i++)
        if (pool->entries[i])
            context_end(pool->entries[i]);
    machine_unlock(&pool->gpu);
    free(pool->entries);
    free(pool->payloads);
    pool->entries = NULL;
    pool->payloads = NULL;
    pthread_mutex_lock(&pools_lock);
    pool->next_free = pools_free;
    pools_free = pool;
    pthread_mutex_unlock(&pools_lock);
}

static void pool_leave(struct pool *pool)
{
    if (life_leave(&pool->life))
        pool_free(pool);
}

/* The open pool of a context that the caller has a reference to. Another pool may be at the same
 * place by now. */
static struct pool *pool_enter_for(const struct v1_context *context)
{
    struct pool *pool = context->pool;
    if (!pool || !life_enter(&pool->life))
        return NULL;
    if (pool->generation == context->pool_generation)
        return pool;
    pool_leave(pool);
    return NULL;
}

static hsa_status_t entries_make(struct pool *pool, struct plan *plan)
{
    hsa_status_t status = HSA_STATUS_SUCCESS;
    for (uint32_t i = pool->entry_count; i-- > 0;) {
        struct v1_context *context = context_new_of(plan_reference(plan), &status);
        if (!context)
            return status;
        context->pool = pool;
        context->pool_generation = pool->generation;
        context->payload = pool->payloads + i * pool->payload_bytes;
        context->entry_state = ENTRY_FREE;
        context->next = pool->free;
        pool->free = context;
        pool->entries[i] = context;
    }
    return status;
}

static hsa_status_t properties_check(const rocprofiler_pool_properties_t *properties, uint32_t mode)
{
    if (!properties)
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "pool_open: no properties");
    if (properties->num_entries == 0 || properties->num_entries > ENTRIES_MAX)
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "pool_open: %u entries",
                    properties->num_entries);
    if (mode & ~(uint32_t)ROCPROFILER_MODE_SINGLEGROUP)
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT,
                    "pool_open: mode 0x%x (only SINGLEGROUP is possible)", mode);
    return HSA_STATUS_SUCCESS;
}

/* False: no memory; what there is of it is the caller's to free. */
static bool pool_fill(struct pool *pool, const struct gpu *gpu,
                      const rocprofiler_pool_properties_t *properties)
{
    pool->gpu = *gpu;
    pool->generation++;
    pool->handler = properties->handler;
    pool->handler_arg = properties->handler_arg;
    pool->free = NULL;
    pool->completed = NULL;
    pool->completed_end = &pool->completed;
    pool->is_closing = false;
    pool->payload_bytes = ((size_t)properties->payload_bytes + PAYLOAD_ALIGNMENT - 1) &
                          ~(size_t)(PAYLOAD_ALIGNMENT - 1);
    pool->entry_count = properties->num_entries;
    pool->entries = calloc(pool->entry_count, sizeof *pool->entries);
    size_t bytes = pool->entry_count * pool->payload_bytes + PAYLOAD_ALIGNMENT;
    pool->payloads = aligned_alloc(PAYLOAD_ALIGNMENT, bytes);
    if (pool->payloads)
        memset(pool->payloads, 0, bytes);
    return pool->entries && pool->payloads;
}

static hsa_status_t pool_new(const struct gpu *gpu, struct plan *plan,
                             const rocprofiler_pool_properties_t *properties,
                             rocprofiler_pool_t **handle)
{
    if (!machine_lock(gpu))
        return HSA_STATUS_ERROR;
    struct pool *pool = pool_place_take();
    if (!pool)
        machine_unlock(gpu);
    hsa_status_t status = HSA_STATUS_SUCCESS;
    if (!pool || !pool_fill(pool, gpu, properties))
        status = fail(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "no memory for a pool of %u entries",
                      properties->num_entries);
    if (status == HSA_STATUS_SUCCESS)
        status = entries_make(pool, plan);
    if (status != HSA_STATUS_SUCCESS) {
        if (pool)
            pool_free(pool);
        return status;
    }
    life_open(&pool->life);
    *handle = pool;
    return status;
}

hsa_status_t rocprofiler_pool_open(hsa_agent_t agent, rocprofiler_feature_t *features,
                                   uint32_t feature_count, rocprofiler_pool_t **pool, uint32_t mode,
                                   rocprofiler_pool_properties_t *properties)
{
    struct gpu gpu;
    if (!pool || (!features && feature_count))
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "pool_open: a pointer is NULL");
    *pool = NULL;
    hsa_status_t status = properties_check(properties, mode);
    if (status != HSA_STATUS_SUCCESS)
        return status;
    library_begin();
    if (!gpu_find(agent, &gpu))
        return HSA_STATUS_ERROR;
    struct plan *plan =
        plan_create(&gpu, features, feature_count, mode & ROCPROFILER_MODE_SINGLEGROUP, &status);
    if (!plan)
        return status;
    status = pool_new(&gpu, plan, properties, pool);
    plan_release(plan);
    return status;
}

/* Kernels on their way are forgotten: nobody is called when they end. */
hsa_status_t rocprofiler_pool_close(rocprofiler_pool_t *handle)
{
    struct pool *pool = pool_enter(handle);
    if (!pool)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (life_close(&pool->life))
        pool_leave(pool); /* for who opened it */
    pthread_mutex_lock(&pool->lock);
    pool->is_closing = true;
    pthread_cond_broadcast(&pool->changed);
    while (pool->is_handling && pool->handling_thread != &here)
        pthread_cond_wait(&pool->changed, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
    pool_leave(pool);
    return HSA_STATUS_SUCCESS;
}

/* ---- entries */

/* Where the entry is given back, so that a kernel's submission finds that done. */
static void entry_empty(const struct pool *pool, struct v1_context *context)
{
    memset(context->payload, 0, pool->payload_bytes);
    for (uint32_t i = 0; i < context->plan->group_count; i++)
        group_clear(&context->groups[i]);
}

/* Under the lock of the context's pool. */
static void entry_free(struct pool *pool, struct v1_context *context)
{
    context->entry_state = ENTRY_FREE;
    context->next = pool->free;
    pool->free = context;
    pthread_cond_broadcast(&pool->changed);
}

/* Buffers of traces are large, so one that nobody will look at goes to the next kernel. */
static void traces_drop(struct v1_context *context)
{
    for (uint32_t i = 0; context->plan->has_trace && i < context->plan->group_count; i++)
        group_trace_drop(&context->groups[i]);
}

/* Takes an entry that is free. Under the lock of the pool, which is not being closed. False: there
 * is none. A kernel that was abandoned with its entry may have left data since, hence the groups
 * are emptied here. */
static bool entry_take(struct pool *pool, rocprofiler_pool_entry_t *entry)
{
    struct v1_context *context = pool->free;
    if (!context)
        return false;
    /* Both lines come from another processor: at once rather than one after the other. */
    __builtin_prefetch(&context->first, 1);
    pool->free = context->next;
    context->entry_state = ENTRY_FETCHED;
    for (uint32_t i = 0; i < context->plan->group_count; i++)
        group_clear(&context->groups[i]);
    *entry = (rocprofiler_pool_entry_t){context, context->payload};
    return true;
}

/* The usual case, without entering: who closes the pool takes the lock before anything is freed.
 * False: it is empty or no open pool. */
static bool entry_take_now(const rocprofiler_pool_t *handle, rocprofiler_pool_entry_t *entry)
{
    struct pool *pool = pool_find(handle);
    if (!pool)
        return false;
    pthread_mutex_lock(&pool->lock);
    bool taken = life_is_open(&pool->life) && entry_take(pool, entry);
    pthread_mutex_unlock(&pool->lock);
    return taken;
}

hsa_status_t rocprofiler_pool_fetch(rocprofiler_pool_t *handle, rocprofiler_pool_entry_t *entry)
{
    if (!entry)
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "pool_fetch: no place for the entry");
    if (entry_take_now(handle, entry))
        return HSA_STATUS_SUCCESS;
    struct pool *pool = pool_enter(handle);
    if (!pool)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    pthread_mutex_lock(&pool->lock);
    bool is_handler = pool->is_handling && pool->handling_thread == &here;
    while (!pool->free && !pool->is_closing && !is_handler)
        pthread_cond_wait(&pool->changed, &pool->lock);
    bool taken = !pool->is_closing && entry_take(pool, entry);
    pthread_mutex_unlock(&pool->lock);
    pool_leave(pool);
    return taken ? HSA_STATUS_SUCCESS
                 : fail(HSA_STATUS_ERROR, "pool_fetch: the pool is %s",
                        is_handler ? "full, and waits for its handler" : "being closed");
}

/* An entry that a kernel still uses cannot be released. */
static bool context_flies(struct v1_context *context)
{
    bool flies = false;
    for (uint32_t i = 0; i < context->plan->group_count; i++)
        flies |= group_state(&context->groups[i]) == GROUP_FLYING;
    return flies;
}

hsa_status_t rocprofiler_pool_release(rocprofiler_pool_entry_t *entry)
{
    struct v1_context *context = entry ? context_acquire(entry->context) : NULL;
    hsa_status_t status = HSA_STATUS_SUCCESS;
    if (!entry)
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "pool_release: no entry");
    if (!context)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    struct pool *pool = pool_enter_for(context);
    if (!pool) {
        status = fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "pool_release: not of an open pool");
    } else if (context_flies(context)) {
        status = fail(HSA_STATUS_ERROR, "pool_release: the entry's kernel has not ended");
    } else {
        traces_drop(context);
        pthread_mutex_lock(&pool->lock);
        if (context->entry_state == ENTRY_FETCHED) {
            entry_empty(pool, context);
            entry_free(pool, context);
        } else if (context->entry_state == ENTRY_FREE) {
            status = fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "pool_release: released already");
        }
        pthread_mutex_unlock(&pool->lock);
    }
    if (pool)
        pool_leave(pool);
    context_release(context);
    return status;
}

hsa_status_t rocprofiler_pool_iterate(rocprofiler_pool_t *handle,
                                      hsa_status_t (*callback)(rocprofiler_pool_entry_t *entry,
                                                               void *data),
                                      void *data)
{
    if (!callback)
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "pool_iterate: no callback");
    struct pool *pool = pool_enter(handle);
    if (!pool)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    hsa_status_t status = HSA_STATUS_SUCCESS;
    for (uint32_t i = 0; i < pool->entry_count && status == HSA_STATUS_SUCCESS; i++) {
        pthread_mutex_lock(&pool->lock);
        bool fetched = pool->entries[i]->entry_state != ENTRY_FREE;
        pthread_mutex_unlock(&pool->lock);
        rocprofiler_pool_entry_t entry = {pool->entries[i], pool->entries[i]->payload};
        if (fetched)
            CALLBACK(status = callback(&entry, data));
    }
    pool_leave(pool);
    if (status == HSA_STATUS_INFO_BREAK)
        return HSA_STATUS_SUCCESS;
    return status == HSA_STATUS_SUCCESS
               ? status
               : fail(status, "pool_iterate: the callback returned 0x%x", (unsigned)status);
}

/* ---- handlers */

/* Under the lock, which is given up for the handler. */
static void completed_handle(struct pool *pool)
{
    struct v1_context *context;
    pool->is_handling = true;
    pool->handling_thread = &here;
    while ((context = pool->completed) && !pool->is_closing) {
        pool->completed = context->next;
        if (!pool->completed)
            pool->completed_end = &pool->completed;
        const rocprofiler_pool_entry_t public = {context, context->payload};
        pthread_mutex_unlock(&pool->lock);
        CALLBACK((void)pool->handler(&public, pool->handler_arg));
        traces_drop(context);
        entry_empty(pool, context);
        pthread_mutex_lock(&pool->lock);
        entry_free(pool, context);
    }
    pool->is_handling = false;
    pool->handling_thread = NULL;
    pthread_cond_broadcast(&pool->changed);
}

void pool_context_completed(struct v1_context *context)
{
    struct pool *pool = pool_enter_for(context);
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    if (pool->handler && context->entry_state == ENTRY_FETCHED) {
        context->entry_state = ENTRY_COMPLETED;
        context->next = NULL;
        *pool->completed_end = context;
        pool->completed_end = &context->next;
        if (!pool->is_handling)
            completed_handle(pool);
    }
    pthread_mutex_unlock(&pool->lock);
    pool_leave(pool);
}

hsa_status_t rocprofiler_pool_flush(rocprofiler_pool_t *handle)
{
    struct pool *pool = pool_enter(handle);
    if (!pool)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    pthread_mutex_lock(&pool->lock);
    bool is_handler = pool->is_handling && pool->handling_thread == &here;
    pthread_mutex_unlock(&pool->lock);
    if (!is_handler)
        engine->session_work_collect();
    pthread_mutex_lock(&pool->lock);
    while (!is_handler && (pool->is_handling || pool->completed) && !pool->is_closing)
        pthread_cond_wait(&pool->changed, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
    pool_leave(pool);
    return HSA_STATUS_SUCCESS;
}
