/* Callbacks and activities, on and off; properties; start and stop. */
#include "api/roctracer/internal.h"

#include "base/library.h"

#include <string.h>

/* Wider than any operation's number, which may be UINT32_MAX. */
static const uint64_t WHOLE_DOMAIN = UINT64_MAX;

static roctracer_status_t range_check(uint32_t domain, uint64_t op, struct operations *range)
{
    if (op == WHOLE_DOMAIN)
        return domain_operations(domain, range);
    roctracer_status_t status = operation_check(domain, (uint32_t)op);
    if (status == ROCTRACER_STATUS_SUCCESS)
        *range = (struct operations){(uint32_t)op, (uint32_t)op + 1};
    return status;
}

static roctracer_status_t no_memory(void)
{
    return fail(ROCTRACER_STATUS_ERROR_MEMORY_ALLOCATION, "no memory to enable an operation");
}

/* HIP may have been loaded since the last look. */
static void hip_look(uint32_t domain)
{
    if (domain == ACTIVITY_DOMAIN_HIP_API || domain == ACTIVITY_DOMAIN_HIP_OPS)
        engine->runtimes_hook();
}

/* Hooks the callers of the driver's library as is wanted now. No lock may be held: this takes the
 * dynamic linker's. */
static void kfd_follow(uint32_t domain)
{
    if (domain == ACTIVITY_DOMAIN_KFD_API)
        engine->runtimes_follow_libraries();
}

/* ---- callbacks */

static bool domain_calls(uint32_t domain)
{
    return domain == ACTIVITY_DOMAIN_HSA_API || domain == ACTIVITY_DOMAIN_HIP_API ||
           domain == ACTIVITY_DOMAIN_KFD_API || domain == ACTIVITY_DOMAIN_ROCTX ||
           domain == ACTIVITY_DOMAIN_HSA_EVT;
}

static roctracer_status_t callback_enable(uint32_t domain, uint64_t op,
                                          activity_rtapi_callback_t callback, void *arg)
{
    struct operations range;
    hip_look(domain);
    roctracer_status_t status = range_check(domain, op, &range);
    if (status != ROCTRACER_STATUS_SUCCESS || range.first == range.end)
        return status;
    if (!callback)
        return fail(ROCTRACER_STATUS_ERROR_INVALID_ARGUMENT, "enable_callback: no callback");
    if (!domain_calls(domain))
        return ROCTRACER_STATUS_SUCCESS;
    library_keep((const void *)callback);
    if (!registry_begin())
        return no_memory();
    if (domain == ACTIVITY_DOMAIN_HSA_EVT && (op == WHOLE_DOMAIN || op == HSA_EVT_ID_SUBMIT))
        registry_queues_expect();
    pthread_mutex_lock(&registry_lock);
    bool done = callbacks_set(domain, range.first, range.end, callback, arg);
    pthread_mutex_unlock(&registry_lock);
    kfd_follow(domain);
    if (domain == ACTIVITY_DOMAIN_ROCTX)
        markers_follow();
    return done ? ROCTRACER_STATUS_SUCCESS : no_memory();
}

static roctracer_status_t callback_disable(uint32_t domain, uint64_t op)
{
    enum { DISTINCT_MAX = 8 }; /* a tool rarely has more than one */
    const struct registration *were[DISTINCT_MAX];
    uint32_t count = 0;
    struct operations range;
    roctracer_status_t status = range_check(domain, op, &range);
    if (status != ROCTRACER_STATUS_SUCCESS || !domain_calls(domain))
        return status;
    pthread_mutex_lock(&registry_lock);
    for (uint32_t i = range.first; i < range.end && count < DISTINCT_MAX; i++) {
        const struct registration *was = registration_of(domain, i);
        if (was && (count == 0 || were[count - 1] != was))
            were[count++] = was;
    }
    callbacks_set(domain, range.first, range.end, NULL, NULL);
    pthread_mutex_unlock(&registry_lock);
    for (uint32_t i = 0; i < count; i++)
        registration_wait(were[i]);
    if (domain == ACTIVITY_DOMAIN_ROCTX)
        markers_follow();
    return ROCTRACER_STATUS_SUCCESS;
}

VERSIONS_4_0(roctracer_enable_op_callback);
roctracer_status_t roctracer_enable_op_callback(activity_domain_t domain, uint32_t op,
                                                activity_rtapi_callback_t callback, void *arg)
{
    return callback_enable(domain, op, callback, arg);
}

VERSIONS_4_0(roctracer_enable_domain_callback);
roctracer_status_t roctracer_enable_domain_callback(activity_domain_t domain,
                                                    activity_rtapi_callback_t callback, void *arg)
{
    return callback_enable(domain, WHOLE_DOMAIN, callback, arg);
}

VERSIONS_4_0(roctracer_disable_op_callback);
roctracer_status_t roctracer_disable_op_callback(activity_domain_t domain, uint32_t op)
{
    return callback_disable(domain, op);
}

VERSIONS_4_0(roctracer_disable_domain_callback);
roctracer_status_t roctracer_disable_domain_callback(activity_domain_t domain)
{
    return callback_disable(domain, WHOLE_DOMAIN);
}

/* ---- activities */

static bool domain_records(uint32_t domain)
{
    return domain == ACTIVITY_DOMAIN_HSA_API || domain == ACTIVITY_DOMAIN_HSA_OPS ||
           domain == ACTIVITY_DOMAIN_HIP_API || domain == ACTIVITY_DOMAIN_HIP_OPS ||
           domain == ACTIVITY_DOMAIN_KFD_API;
}

static roctracer_status_t no_default_pool(void)
{
    return fail(ROCTRACER_STATUS_ERROR_DEFAULT_POOL_UNDEFINED, "there is no default pool");
}

/* Under registry_lock. */
static roctracer_status_t pool_choose(roctracer_pool_t *handle, struct pool **pool)
{
    *pool = handle ? pool_find(handle) : pool_default();
    if (*pool)
        return ROCTRACER_STATUS_SUCCESS;
    if (handle)
        return fail(ROCTRACER_STATUS_ERROR_INVALID_ARGUMENT, "%p is no open pool", handle);
    return no_default_pool();
}

static roctracer_status_t activity_enable(uint32_t domain, uint64_t op, roctracer_pool_t *handle)
{
    struct operations range;
    struct pool *pool;
    if (op != WHOLE_DOMAIN && !handle && !pool_default()) /* whatever the operation is */
        return no_default_pool();
    hip_look(domain);
    roctracer_status_t status = range_check(domain, op, &range);
    if (status != ROCTRACER_STATUS_SUCCESS || range.first == range.end)
        return status;
    if (!registry_begin())
        return no_memory();
    if (domain == ACTIVITY_DOMAIN_HSA_OPS && op != HSA_OP_ID_COPY)
        registry_queues_expect();
    pthread_mutex_lock(&registry_lock);
    status = pool_choose(handle, &pool);
    if (status == ROCTRACER_STATUS_SUCCESS && domain_records(domain) &&
        !activities_set(domain, range.first, range.end, pool))
        status = no_memory();
    pthread_mutex_unlock(&registry_lock);
    kfd_follow(domain);
    return status;
}

static roctracer_status_t activity_disable(uint32_t domain, uint64_t op)
{
    struct operations range;
    roctracer_status_t status = range_check(domain, op, &range);
    if (status != ROCTRACER_STATUS_SUCCESS || !domain_records(domain))
        return status;
    pthread_mutex_lock(&registry_lock);
    activities_set(domain, range.first, range.end, NULL);
    pthread_mutex_unlock(&registry_lock);
    return ROCTRACER_STATUS_SUCCESS;
}

VERSIONS_4_0(roctracer_enable_op_activity_expl);
roctracer_status_t roctracer_enable_op_activity_expl(activity_domain_t domain, uint32_t op,
                                                     roctracer_pool_t *pool)
{
    return activity_enable(domain, op, pool);
}

VERSIONS_4_1(roctracer_enable_op_activity);
roctracer_status_t roctracer_enable_op_activity(activity_domain_t domain, uint32_t op)
{
    return activity_enable(domain, op, NULL);
}

VERSIONS_4_0(roctracer_enable_domain_activity_expl);
roctracer_status_t roctracer_enable_domain_activity_expl(activity_domain_t domain,
                                                         roctracer_pool_t *pool)
{
    return activity_enable(domain, WHOLE_DOMAIN, pool);
}

VERSIONS_4_1(roctracer_enable_domain_activity);
roctracer_status_t roctracer_enable_domain_activity(activity_domain_t domain)
{
    return activity_enable(domain, WHOLE_DOMAIN, NULL);
}

VERSIONS_4_0(roctracer_disable_op_activity);
roctracer_status_t roctracer_disable_op_activity(activity_domain_t domain, uint32_t op)
{
    return activity_disable(domain, op);
}

VERSIONS_4_0(roctracer_disable_domain_activity);
roctracer_status_t roctracer_disable_domain_activity(activity_domain_t domain)
{
    return activity_disable(domain, WHOLE_DOMAIN);
}

/* ---- every domain at once, of older versions */

#define EVERY_DOMAIN(condition, call)                                                              \
    do {                                                                                           \
        roctracer_status_t result = ROCTRACER_STATUS_SUCCESS;                                      \
        for (uint32_t domain = 0; domain < ACTIVITY_DOMAIN_NUMBER; domain++)                       \
            if (result == ROCTRACER_STATUS_SUCCESS && (condition))                                 \
                result = (call);                                                                   \
        return result;                                                                             \
    } while (0)

VERSIONS_4_0(roctracer_enable_callback);
roctracer_status_t roctracer_enable_callback(activity_rtapi_callback_t callback, void *arg)
{
    EVERY_DOMAIN(domain_calls(domain), callback_enable(domain, WHOLE_DOMAIN, callback, arg));
}

VERSIONS_4_0(roctracer_disable_callback);
roctracer_status_t roctracer_disable_callback(void)
{
    EVERY_DOMAIN(domain_calls(domain), callback_disable(domain, WHOLE_DOMAIN));
}

VERSIONS_4_0(roctracer_enable_activity_expl);
roctracer_status_t roctracer_enable_activity_expl(roctracer_pool_t *pool)
{
    EVERY_DOMAIN(domain_records(domain), activity_enable(domain, WHOLE_DOMAIN, pool));
}

VERSIONS_4_1(roctracer_enable_activity);
roctracer_status_t roctracer_enable_activity(void)
{
    EVERY_DOMAIN(domain_records(domain), activity_enable(domain, WHOLE_DOMAIN, NULL));
}

VERSIONS_4_0(roctracer_disable_activity);
roctracer_status_t roctracer_disable_activity(void)
{
    EVERY_DOMAIN(domain_records(domain), activity_disable(domain, WHOLE_DOMAIN));
}

/* ---- properties, start and stop */

static roctracer_ext_properties_t switch_callbacks; /* switch_lock */
static bool is_stopped;                             /* switch_lock */
static pthread_mutex_t switch_lock = PTHREAD_MUTEX_INITIALIZER;

void switch_on_fork_child(void)
{
    pthread_mutex_init(&switch_lock, NULL);
}

VERSIONS_4_0(roctracer_set_properties);
roctracer_status_t roctracer_set_properties(roctracer_domain_t domain, void *properties)
{
    if ((uint32_t)domain >= ACTIVITY_DOMAIN_NUMBER || domain == ACTIVITY_DOMAIN_ROCTX)
        return fail(ROCTRACER_STATUS_ERROR_INVALID_DOMAIN_ID, "domain %d has no properties",
                    (int)domain);
    if (domain == ACTIVITY_DOMAIN_HSA_OPS)
        registry_queues_expect();
    if (domain != ACTIVITY_DOMAIN_EXT_API)
        return ROCTRACER_STATUS_SUCCESS;
    pthread_mutex_lock(&switch_lock);
    memset(&switch_callbacks, 0, sizeof switch_callbacks);
    if (properties)
        switch_callbacks = *(const roctracer_ext_properties_t *)properties;
    pthread_mutex_unlock(&switch_lock);
    return ROCTRACER_STATUS_SUCCESS;
}

/* The tool's function runs after the change, and only for a change. */
static void tracing_switch(bool stop)
{
    pthread_mutex_lock(&switch_lock);
    bool changed = is_stopped != stop;
    is_stopped = stop;
    roctracer_ext_properties_t callbacks = switch_callbacks;
    if (changed) {
        pthread_mutex_lock(&registry_lock);
        registry_pause(stop);
        pthread_mutex_unlock(&registry_lock);
    }
    pthread_mutex_unlock(&switch_lock);
    if (changed && !stop)
        kfd_follow(ACTIVITY_DOMAIN_KFD_API);
    if (changed && stop && callbacks.stop_cb)
        callbacks.stop_cb();
    if (changed && !stop && callbacks.start_cb)
        callbacks.start_cb();
}

VERSIONS_4_0(roctracer_start);
void roctracer_start(void)
{
    tracing_switch(false);
}

VERSIONS_4_0(roctracer_stop);
void roctracer_stop(void)
{
    tracing_switch(true);
}

/* ---- functions of older versions, which have nothing left to do; but a marker library that was
 * loaded after its domain was enabled makes itself known by roctracer_load() (src/api/roctx) */

VERSIONS_4_0(roctracer_load);
int roctracer_load(void)
{
    markers_found();
    return 1;
}

VERSIONS_4_0(roctracer_unload);
void roctracer_unload(void) {}

VERSIONS_4_0(roctracer_flush_buf);
void roctracer_flush_buf(void) {}

VERSIONS_4_0(roctracer_mark);
void roctracer_mark(const char *message)
{
    (void)message;
}
