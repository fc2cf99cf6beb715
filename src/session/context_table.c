/* Which contexts there are. */
#include "session/session.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

pthread_mutex_t session_lock = PTHREAD_MUTEX_INITIALIZER;

static struct context *contexts[SESSION_CONTEXTS_MAX]; /* never freed */

/* Writer: context_list, under session_lock (release, after the context). Readers: any (acquire). */
static _Atomic uint32_t context_count;

/* Handles start at a value that differs from run to run, so that a handle kept from elsewhere, or
 * an uninitialised one, is not taken for a context. */
static uint64_t handle_base(void)
{
    /* Writer: who asks first. Readers: any. Relaxed: a number that stands for nothing else. */
    static _Atomic uint64_t base;
    uint64_t value = atomic_load_explicit(&base, memory_order_relaxed);
    if (value)
        return value;
    uint64_t wanted = ((uint64_t)getpid() * 2654435761u ^ (uint64_t)time(NULL)) & 0x3fffffffu;
    wanted = (wanted | 0x1000) << 12;
    return atomic_compare_exchange_strong_explicit(&base, &value, wanted, memory_order_relaxed,
                                                   memory_order_relaxed)
               ? wanted
               : value;
}

rocprofiler_context_id_t context_id(const struct context *context)
{
    return (rocprofiler_context_id_t){handle_base() + context->index};
}

struct context *context_at(uint32_t index)
{
    return index < atomic_load_explicit(&context_count, memory_order_acquire) ? contexts[index]
                                                                              : NULL;
}

struct context *context_find(rocprofiler_context_id_t id)
{
    uint64_t index = id.handle - handle_base();
    struct context *context = index < SESSION_CONTEXTS_MAX ? context_at((uint32_t)index) : NULL;
    return context && context->valid ? context : NULL;
}

struct context *context_new(uint32_t client)
{
    struct context *context = calloc(1, sizeof *context);
    if (context)
        context->client = client;
    return context;
}

bool context_list(struct context *context)
{
    uint32_t index = atomic_load_explicit(&context_count, memory_order_relaxed);
    if (index == SESSION_CONTEXTS_MAX)
        return false;
    context->index = index;
    contexts[index] = context;
    atomic_store_explicit(&context_count, index + 1, memory_order_release);
    return true;
}
