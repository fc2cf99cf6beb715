/* Public buffers over tracebuf. */
#include "base/log.h"
#include "runtime/work.h"
#include "session/clients.h"
#include "session/record.h"
#include "session/session.h"

#include <stdlib.h>
#include <unistd.h>

struct public_buffer {
    rocprofiler_context_id_t context;
    rocprofiler_buffer_id_t id;
    rocprofiler_buffer_tracing_cb_t callback;
    void *data;
    uint32_t client;
    /* Its tool is told of its end and gets nothing but what it asks for. Writer: buffers_mute
     * (release). Readers: flushes (acquire). */
    _Atomic bool muted;
    _Atomic bool destroyed; /* buffer_destroy to lookups; relaxed, lookups may race with it */
};

static void deliver(struct tracebuf *buffer, struct tracebuf_item **items, size_t count,
                    uint64_t dropped, void *arg)
{
    (void)buffer;
    struct public_buffer *public = arg;
    public->callback(public->context, public->id, (rocprofiler_record_header_t **)items, count,
                     public->data, dropped);
}

/* NULL: not ours, but a front end's own. */
static struct public_buffer *public_of(const struct tracebuf *buffer)
{
    return buffer->config.deliver == deliver ? buffer->config.arg : NULL;
}

/* Handles are 1 + the index in tracebuf, shifted so that small integers are no buffers. */
static const uint64_t handle_base = 0x62000000;

static struct tracebuf *find(rocprofiler_buffer_id_t id)
{
    uint64_t index = id.handle - handle_base - 1;
    struct tracebuf *buffer = index < TRACEBUF_MAX ? tracebuf_at((uint32_t)index) : NULL;
    struct public_buffer *public = buffer ? public_of(buffer) : NULL;
    return public && !atomic_load_explicit(&public->destroyed, memory_order_relaxed) ? buffer
                                                                                     : NULL;
}

struct tracebuf *trace_buffer_find(rocprofiler_buffer_id_t id)
{
    return find(id);
}

static rocprofiler_status_t arguments_check(size_t size_bytes, rocprofiler_buffer_policy_t policy,
                                            rocprofiler_buffer_tracing_cb_t callback,
                                            const rocprofiler_buffer_id_t *id)
{
    if (!callback || !id || size_bytes == 0)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    if (policy != ROCPROFILER_BUFFER_POLICY_DISCARD && policy != ROCPROFILER_BUFFER_POLICY_LOSSLESS)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    if (!session_configuring())
        return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
    return ROCPROFILER_STATUS_SUCCESS;
}

static size_t page_round(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) & ~(page - 1);
}

static rocprofiler_status_t create(const struct tracebuf_config *config,
                                   rocprofiler_buffer_id_t *id)
{
    struct tracebuf_thread *thread = callback_thread_default();
    struct tracebuf *buffer = thread ? tracebuf_create(config) : NULL;
    if (!buffer)
        return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    *id = (rocprofiler_buffer_id_t){handle_base + 1 + buffer->index};
    ((struct public_buffer *)config->arg)->id = *id;
    tracebuf_assign(buffer, thread);
    return ROCPROFILER_STATUS_SUCCESS;
}

rocprofiler_status_t buffer_create(rocprofiler_context_id_t context, size_t size_bytes,
                                   size_t watermark_bytes, rocprofiler_buffer_policy_t policy,
                                   rocprofiler_buffer_tracing_cb_t callback, void *data,
                                   rocprofiler_buffer_id_t *id)
{
    enum { SIZE_SHIFT_MAX = 34 }; /* beyond that no 32-bit count of 8-byte units would do */
    rocprofiler_status_t status = arguments_check(size_bytes, policy, callback, id);
    if (status != ROCPROFILER_STATUS_SUCCESS)
        return status;
    if (!context_find(context))
        return ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
    if (find(*id))
        return ROCPROFILER_STATUS_ERROR_SERVICE_ALREADY_CONFIGURED;
    if (size_bytes >> SIZE_SHIFT_MAX)
        return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    struct public_buffer *public = calloc(1, sizeof *public);
    if (!public)
        return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    public->context = context;
    public->callback = callback;
    public->data = data;
    public->client = session_current_client();
    struct tracebuf_config config = {
        .size_bytes = page_round(size_bytes),
        .watermark_bytes = watermark_bytes,
        .policy =
            policy == ROCPROFILER_BUFFER_POLICY_LOSSLESS ? TRACEBUF_LOSSLESS : TRACEBUF_DISCARD,
        .finish = record_finish,
        .deliver = deliver,
        .arg = public,
    };
    status = create(&config, id);
    if (status != ROCPROFILER_STATUS_SUCCESS)
        free(public);
    return status;
}

rocprofiler_status_t callback_thread_assign(rocprofiler_buffer_id_t buffer_id,
                                            rocprofiler_callback_thread_t id)
{
    if (!session_configuring())
        return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
    struct tracebuf_thread *thread = callback_thread_find(id);
    if (!thread)
        return ROCPROFILER_STATUS_ERROR_THREAD_NOT_FOUND;
    struct tracebuf *buffer = find(buffer_id);
    if (!buffer)
        return ROCPROFILER_STATUS_ERROR_BUFFER_NOT_FOUND;
    tracebuf_assign(buffer, thread);
    return ROCPROFILER_STATUS_SUCCESS;
}

static int client_state(uint32_t handle)
{
    struct client *client;
    for (uint32_t i = 0; (client = client_at(i)); i++)
        if (client->handle == handle)
            return atomic_load_explicit(&client->state, memory_order_acquire);
    return CLIENT_LIVE;
}

/* A tool that flushes in its finalize still wants what came late; nothing else is handed to it. */
static void flush(struct tracebuf *buffer)
{
    const struct public_buffer *public = public_of(buffer);
    bool is_muted = atomic_load_explicit(&public->muted, memory_order_acquire);
    if (is_muted && client_state(public->client) == CLIENT_ENDING)
        tracebuf_unmute(buffer);
    tracebuf_flush(buffer);
    if (is_muted)
        tracebuf_mute(buffer);
}

rocprofiler_status_t buffer_flush(rocprofiler_buffer_id_t id)
{
    if (session_stage() == STAGE_DONE)
        return ROCPROFILER_STATUS_ERROR_FINALIZED;
    struct tracebuf *buffer = find(id);
    if (!buffer)
        return ROCPROFILER_STATUS_ERROR_BUFFER_NOT_FOUND;
    if (!tracebuf_delivering())
        runtimes_work_collect();
    flush(buffer);
    return ROCPROFILER_STATUS_SUCCESS;
}

rocprofiler_status_t buffer_flush_complete(rocprofiler_buffer_id_t id)
{
    if (session_stage() == STAGE_DONE)
        return ROCPROFILER_STATUS_ERROR_FINALIZED;
    if (!find(id))
        return ROCPROFILER_STATUS_ERROR_BUFFER_NOT_FOUND;
    bool complete = tracebuf_delivering() || runtimes_work_wait();
    rocprofiler_status_t status = buffer_flush(id);
    return status == ROCPROFILER_STATUS_SUCCESS && !complete ? ROCPROFILER_STATUS_ERROR_BUFFER_BUSY
                                                             : status;
}

/* Undelivered records are delivered first; services that still write to it count losses. */
rocprofiler_status_t buffer_destroy(rocprofiler_buffer_id_t id)
{
    enum { ATTEMPTS = 4 };
    struct tracebuf *buffer = find(id);
    if (!buffer)
        return ROCPROFILER_STATUS_ERROR_BUFFER_NOT_FOUND;
    struct public_buffer *public = buffer->config.arg;
    bool closed = false;
    if (tracebuf_delivers(buffer))
        return ROCPROFILER_STATUS_ERROR_BUFFER_BUSY;
    if (!tracebuf_delivering())
        runtimes_work_collect();
    for (int i = 0; i < ATTEMPTS && !closed; i++) { /* producers may fill it again */
        tracebuf_flush(buffer);
        closed = tracebuf_close(buffer);
    }
    if (!closed)
        return ROCPROFILER_STATUS_ERROR_BUFFER_BUSY;
    atomic_store_explicit(&public->destroyed, true, memory_order_relaxed);
    return ROCPROFILER_STATUS_SUCCESS;
}

void buffers_flush(uint32_t client)
{
    if (!tracebuf_delivering())
        runtimes_work_collect();
    for (uint32_t i = 0; i < tracebuf_count(); i++) {
        struct tracebuf *buffer = tracebuf_at(i);
        const struct public_buffer *public = public_of(buffer);
        if (public && (client == 0 || public->client == client))
            tracebuf_flush(buffer);
    }
}

void buffers_mute(uint32_t client)
{
    for (uint32_t i = 0; i < tracebuf_count(); i++) {
        struct tracebuf *buffer = tracebuf_at(i);
        struct public_buffer *public = public_of(buffer);
        if (!public || public->client != client)
            continue;
        atomic_store_explicit(&public->muted, true, memory_order_release);
        tracebuf_mute(buffer);
    }
}
