/* Contexts start and stop, and what hangs on them (model/service.h). */
#include "base/log.h"
#include "session/ids.h"
#include "session/session.h"
#include "session/stage.h"

#include <stdlib.h>

rocprofiler_status_t context_make(uint32_t client, const char *owner, rocprofiler_context_id_t *id)
{
    struct context *context = context_new(client);
    if (!context)
        return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    context->valid = true;
    context->owner = owner;
    pthread_mutex_lock(&session_lock);
    bool listed = context_list(context);
    pthread_mutex_unlock(&session_lock);
    if (!listed) {
        free(context);
        return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    *id = context_id(context);
    return ROCPROFILER_STATUS_SUCCESS;
}

rocprofiler_status_t context_create(rocprofiler_context_id_t *id)
{
    if (!id)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    if (!session_configuring())
        return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
    if (id->handle != 0)
        return ROCPROFILER_STATUS_ERROR_CONTEXT_ID_NOT_ZERO;
    return context_make(session_current_client(), NULL, id);
}

static bool counts_dispatches(const struct context *context)
{
    return context->services[SERVICE_DISPATCH_COUNTING].ops != NULL;
}

/* Counter hardware is programmed for one context at a time. */
static bool conflicts(const struct context *wanted)
{
    struct context *other;
    for (uint32_t i = 0; counts_dispatches(wanted) && (other = context_at(i)); i++)
        if (other != wanted && other->state != CONTEXT_STOPPED && counts_dispatches(other))
            return true;
    return false;
}

/* Services start and stop without the lock; meanwhile others wait for the outcome. Those whom a
 * service may wait for do not: delivery threads, and a thread that is itself inside of a start or
 * stop. */
static pthread_cond_t settled = PTHREAD_COND_INITIALIZER; /* with session_lock */
static __thread unsigned moving_here __attribute__((tls_model("initial-exec")));

static bool is_moving(const struct context *context)
{
    return context->state == CONTEXT_STARTING || context->state == CONTEXT_STOPPING;
}

static void wait_until_settled(const struct context *context)
{
    while (is_moving(context) && !moving_here && !tracebuf_delivering())
        pthread_cond_wait(&settled, &session_lock);
}

void contexts_on_fork_child(void)
{
    pthread_cond_init(&settled, NULL);
    struct context *context;
    for (uint32_t i = 0; (context = context_at(i)); i++)
        if (is_moving(context) && !moving_here)
            context->state = CONTEXT_STOPPED; /* whoever moved it is not here */
}

/* Moves the context from STOPPED to STARTING, or says why that cannot be. */
static rocprofiler_status_t start_begin(struct context *context)
{
    if (context->state == CONTEXT_STOPPING)
        return ROCPROFILER_STATUS_ERROR_CONTEXT_ERROR;
    if (conflicts(context))
        return ROCPROFILER_STATUS_ERROR_CONTEXT_CONFLICT;
    if (sets_would_overflow(context))
        return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    context->state = CONTEXT_STARTING;
    return ROCPROFILER_STATUS_SUCCESS;
}

static void services_stop(struct context *context, int count)
{
    for (int i = count - 1; i >= 0; i--) {
        struct attached_service *service = &context->services[i];
        if (service->ops && service->ops->stop)
            service->ops->stop(context_id(context), service->data);
    }
}

static rocprofiler_status_t services_start(struct context *context)
{
    for (int i = 0; i < SERVICE_COUNT; i++) {
        struct attached_service *service = &context->services[i];
        if (!service->ops || !service->ops->start)
            continue;
        rocprofiler_status_t status = service->ops->start(context_id(context), service->data);
        if (status == ROCPROFILER_STATUS_SUCCESS)
            continue;
        services_stop(context, i);
        return status;
    }
    return ROCPROFILER_STATUS_SUCCESS;
}

static void state_settle(struct context *context, enum context_state state)
{
    pthread_mutex_lock(&session_lock);
    context->state = state;
    if (state == CONTEXT_ACTIVE)
        sets_publish(context);
    pthread_cond_broadcast(&settled);
    pthread_mutex_unlock(&session_lock);
}

rocprofiler_status_t context_start(rocprofiler_context_id_t id)
{
    if (session_stage() >= STAGE_FINALIZING)
        return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
    struct context *context = context_find(id);
    if (!context)
        return ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
    pthread_mutex_lock(&session_lock);
    wait_until_settled(context);
    bool already = context->state == CONTEXT_ACTIVE || context->state == CONTEXT_STARTING;
    rocprofiler_status_t status = already ? ROCPROFILER_STATUS_SUCCESS : start_begin(context);
    pthread_mutex_unlock(&session_lock);
    if (already || status != ROCPROFILER_STATUS_SUCCESS)
        return status;
    moving_here++;
    status = services_start(context);
    moving_here--;
    state_settle(context, status == ROCPROFILER_STATUS_SUCCESS ? CONTEXT_ACTIVE : CONTEXT_STOPPED);
    return status;
}

static rocprofiler_status_t stop(struct context *context)
{
    pthread_mutex_lock(&session_lock);
    wait_until_settled(context);
    bool active = context->state == CONTEXT_ACTIVE;
    if (active) {
        context->state = CONTEXT_STOPPING;
        sets_publish(context);
    }
    pthread_mutex_unlock(&session_lock);
    if (!active)
        return ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
    moving_here++;
    services_stop(context, SERVICE_COUNT);
    moving_here--;
    state_settle(context, CONTEXT_STOPPED);
    ids_hand_on();
    return ROCPROFILER_STATUS_SUCCESS;
}

rocprofiler_status_t context_stop(rocprofiler_context_id_t id)
{
    if (session_stage() == STAGE_DONE)
        return ROCPROFILER_STATUS_SUCCESS;
    struct context *context = context_find(id);
    return context ? stop(context) : ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
}

bool context_is_active(rocprofiler_context_id_t id)
{
    struct context *context = context_find(id);
    pthread_mutex_lock(&session_lock);
    bool active = context && context->state == CONTEXT_ACTIVE;
    pthread_mutex_unlock(&session_lock);
    return active;
}

static bool belongs(const struct context *context, uint32_t client)
{
    return client == 0 || context->client == client;
}

void contexts_stop(uint32_t client)
{
    struct context *context;
    for (uint32_t i = 0; (context = context_at(i)); i++)
        if (belongs(context, client))
            stop(context);
}

void contexts_suspend(uint32_t client)
{
    struct context *context;
    for (uint32_t i = 0; (context = context_at(i)); i++)
        if (context->valid && context->client == client)
            context->resumes = stop(context) == ROCPROFILER_STATUS_SUCCESS;
}

void contexts_resume(uint32_t client)
{
    struct context *context;
    for (uint32_t i = 0; (context = context_at(i)); i++) {
        if (!context->valid || context->client != client || !context->resumes)
            continue;
        rocprofiler_status_t status = context_start(context_id(context));
        if (status != ROCPROFILER_STATUS_SUCCESS)
            log_warning("session", "a context of an attached tool does not start: status %d",
                        (int)status);
    }
}

uint64_t contexts_of(uint32_t client, rocprofiler_context_id_t *ids, uint64_t room)
{
    struct context *context;
    uint64_t count = 0;
    for (uint32_t i = 0; (context = context_at(i)); i++) {
        if (!context->valid || context->client != client)
            continue;
        if (count < room)
            ids[count] = context_id(context);
        count++;
    }
    return count;
}

void contexts_discard(uint32_t client)
{
    contexts_stop(client);
    struct context *context;
    for (uint32_t i = 0; (context = context_at(i)); i++)
        if (belongs(context, client))
            context->valid = false;
}

/* ---- model/service.h */

bool service_context_exists(rocprofiler_context_id_t context)
{
    return context_find(context) != NULL;
}

bool service_context_active(rocprofiler_context_id_t context)
{
    return context_is_active(context);
}

static bool counting_conflict(const struct context *context, enum service_kind kind)
{
    return (kind == SERVICE_DISPATCH_COUNTING && context->services[SERVICE_DEVICE_COUNTING].ops) ||
           (kind == SERVICE_DEVICE_COUNTING && context->services[SERVICE_DISPATCH_COUNTING].ops);
}

/* Under session_lock. Clients such as Caliper add counting after initialisation. */
static bool counting_may_change(const struct context *context)
{
    return session_configuring() ||
           (session_stage() == STAGE_READY && context->state == CONTEXT_STOPPED);
}

rocprofiler_status_t service_counting_open(rocprofiler_context_id_t id)
{
    struct context *context = context_find(id);
    if (!context)
        return ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
    pthread_mutex_lock(&session_lock);
    bool open = counting_may_change(context);
    pthread_mutex_unlock(&session_lock);
    return open ? ROCPROFILER_STATUS_SUCCESS : ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
}

/* Under session_lock. */
static rocprofiler_status_t service_check(const struct context *context, enum service_kind kind)
{
    bool counting = kind == SERVICE_DISPATCH_COUNTING || kind == SERVICE_DEVICE_COUNTING;
    if (counting ? !counting_may_change(context) : !session_configuring())
        return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
    if (context->services[kind].ops)
        return ROCPROFILER_STATUS_ERROR_SERVICE_ALREADY_CONFIGURED;
    return counting_conflict(context, kind) ? ROCPROFILER_STATUS_ERROR_AGENT_DISPATCH_CONFLICT
                                            : ROCPROFILER_STATUS_SUCCESS;
}

rocprofiler_status_t service_add(rocprofiler_context_id_t id, enum service_kind kind,
                                 const struct service_ops *ops, void *data)
{
    struct context *context = context_find(id);
    if (!context)
        return ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
    pthread_mutex_lock(&session_lock);
    rocprofiler_status_t status = service_check(context, kind);
    if (status == ROCPROFILER_STATUS_SUCCESS)
        context->services[kind] = (struct attached_service){ops, data};
    pthread_mutex_unlock(&session_lock);
    return status;
}

bool trace_counting_is_configured(void)
{
    bool configured = false;
    struct context *context;
    pthread_mutex_lock(&session_lock);
    for (uint32_t i = 0; (context = context_at(i)); i++)
        configured |= context->valid &&
                      (counts_dispatches(context) || context->services[SERVICE_PC_SAMPLING].ops ||
                       context->services[SERVICE_THREAD_TRACE].ops);
    pthread_mutex_unlock(&session_lock);
    return configured;
}

void *service_find(rocprofiler_context_id_t id, enum service_kind kind)
{
    struct context *context = context_find(id);
    return context ? context->services[kind].data : NULL;
}
