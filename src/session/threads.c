/* Threads that the library creates: for buffer callbacks, on a tool's request, and the notice tools
 * get around their creation. */
#include "base/callback.h"
#include "base/fork_lock.h"
#include "base/thread.h"
#include "session/session.h"

enum { THREADS_MAX = 256, NOTICES_MAX = 64 };

struct notice {
    rocprofiler_internal_thread_library_cb_t before, after;
    int libraries; /* 0: all */
    void *data;
};

static struct notice notices[NOTICES_MAX];
/* Writers hold threads_lock and publish by the count (release). Readers: any (acquire). */
static _Atomic uint32_t notice_count;
static struct tracebuf_thread *threads[THREADS_MAX];
static _Atomic uint32_t thread_count; /* writers and readers: as of notices */
/* Writer and reader: a tool that configures; they do so one after the other, and rarely (seq_cst).
 */
static _Atomic(struct tracebuf_thread *) default_thread;
static pthread_mutex_t threads_lock = PTHREAD_MUTEX_INITIALIZER;
FORK_LOCK(threads_kept, threads_lock)

static bool concerns(const struct notice *notice, rocprofiler_runtime_library_t library)
{
    return notice->libraries == 0 || (notice->libraries & (int)library);
}

static void callbacks_before(rocprofiler_runtime_library_t library)
{
    for (uint32_t i = 0; i < atomic_load_explicit(&notice_count, memory_order_acquire); i++)
        if (concerns(&notices[i], library) && notices[i].before)
            CALLBACK(notices[i].before(library, notices[i].data));
}

static void callbacks_after(rocprofiler_runtime_library_t library)
{
    for (uint32_t i = 0; i < atomic_load_explicit(&notice_count, memory_order_acquire); i++)
        if (concerns(&notices[i], library) && notices[i].after)
            CALLBACK(notices[i].after(library, notices[i].data));
}

rocprofiler_status_t thread_callbacks_add(rocprofiler_internal_thread_library_cb_t precreate,
                                          rocprofiler_internal_thread_library_cb_t postcreate,
                                          int libraries, void *data)
{
    if ((!precreate && !postcreate) || libraries < 0)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    pthread_mutex_lock(&threads_lock);
    uint32_t count = atomic_load_explicit(&notice_count, memory_order_seq_cst);
    bool added = count < NOTICES_MAX;
    if (added) {
        notices[count] = (struct notice){precreate, postcreate, libraries, data};
        atomic_store_explicit(&notice_count, count + 1, memory_order_release);
    }
    pthread_mutex_unlock(&threads_lock);
    return added ? ROCPROFILER_STATUS_SUCCESS : ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
}

void thread_callbacks_run(bool created)
{
    if (created)
        callbacks_after(ROCPROFILER_LIBRARY);
    else
        callbacks_before(ROCPROFILER_LIBRARY);
}

struct tracebuf_thread *delivery_thread_create(void)
{
    thread_creation_notice(false);
    struct tracebuf_thread *thread = tracebuf_thread_create();
    thread_creation_notice(true);
    return thread;
}

/* Tools configure one after the other, so nobody races here. */
struct tracebuf_thread *callback_thread_default(void)
{
    struct tracebuf_thread *thread = atomic_load_explicit(&default_thread, memory_order_seq_cst);
    if (!thread) {
        thread = delivery_thread_create();
        atomic_store_explicit(&default_thread, thread, memory_order_seq_cst);
    }
    return thread;
}

rocprofiler_status_t callback_thread_create(rocprofiler_callback_thread_t *id)
{
    if (!id)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    if (!session_configuring())
        return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
    uint32_t count = atomic_load_explicit(&thread_count, memory_order_seq_cst);
    struct tracebuf_thread *thread = count < THREADS_MAX ? delivery_thread_create() : NULL;
    if (!thread)
        return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    threads[count] = thread;
    atomic_store_explicit(&thread_count, count + 1, memory_order_release);
    id->handle = count + 1;
    return ROCPROFILER_STATUS_SUCCESS;
}

struct tracebuf_thread *callback_thread_find(rocprofiler_callback_thread_t id)
{
    uint64_t index = id.handle - 1;
    return index < atomic_load_explicit(&thread_count, memory_order_acquire) ? threads[index]
                                                                             : NULL;
}
