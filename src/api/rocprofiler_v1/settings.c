/* What a tool's settings switch on besides numbers: times of copies, files of code objects. */
#include "api/rocprofiler_v1/internal.h"
#include "base/log.h"
#include "base/write_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- memcopy_tracking: a line for each asynchronous copy, as AMD's library prints it */

/* Writers: copies that end (relaxed: only the number counts). */
static _Atomic uint64_t copies;

static void copy_listener(rocprofiler_callback_tracing_record_t record,
                          rocprofiler_user_data_t *user_data, void *unused)
{
    const rocprofiler_callback_tracing_memory_copy_data_t *copy = record.payload;
    (void)user_data, (void)unused;
    if (record.phase != ROCPROFILER_CALLBACK_PHASE_EXIT)
        return;
    uint64_t index = atomic_fetch_add_explicit(&copies, 1, memory_order_relaxed);
    struct write_guard guard;
    write_guard_begin(&guard);
    printf("%llu: async-copy time(%llu,%llu)\n", (unsigned long long)index,
           (unsigned long long)copy->start_timestamp, (unsigned long long)copy->end_timestamp);
    write_guard_end(&guard);
}

/* ---- obj_dumping: codeobj_PID_ID.co, in the folder where the program runs */

static bool all_written(int file, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = write(file, bytes, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        bytes += written;
        size -= (size_t)written;
    }
    return true;
}

static void object_write(uint64_t id, const void *bytes, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "codeobj_%d_%llu.co", (int)getpid(), (unsigned long long)id);
    struct write_guard guard;
    write_guard_begin(&guard);
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
    bool fine = file >= 0 && all_written(file, bytes, size);
    if (!fine)
        log_error("rocprofiler", "obj_dumping: %s: %s", path, strerror(errno));
    if (file >= 0)
        close(file);
    write_guard_end(&guard);
}

static void object_listener(rocprofiler_callback_tracing_record_t record,
                            rocprofiler_user_data_t *user_data, void *unused)
{
    const rocprofiler_callback_tracing_code_object_load_data_t *object = record.payload;
    (void)user_data, (void)unused;
    if (record.phase != ROCPROFILER_CALLBACK_PHASE_LOAD)
        return;
    if (object->storage_type == ROCPROFILER_CODE_OBJECT_STORAGE_TYPE_MEMORY)
        object_write(object->code_object_id, (const void *)(uintptr_t)object->memory_base,
                     object->memory_size);
    else
        log_info("rocprofiler", "obj_dumping: code object %llu is a file: %s",
                 (unsigned long long)object->code_object_id, object->uri ? object->uri : "");
}

/* ---- both */

static void follow(enum trace_domain domain, int32_t first, int32_t count,
                   rocprofiler_callback_tracing_cb_t callback, const char *setting)
{
    const struct trace_subscriber subscriber = {.callback = callback};
    struct subscription *subscription = engine->subscription_create(1ull << domain);
    if (!subscription ||
        !engine->subscription_want(subscription, domain, first, count, &subscriber))
        log_error("rocprofiler", "%s: out of memory", setting);
}

void settings_follow(const rocprofiler_settings_t *settings)
{
    if (settings->memcopy_tracking)
        follow(TRACE_MEMORY_COPY, 0, engine->operation_count(TRACE_MEMORY_COPY), copy_listener,
               "memcopy_tracking");
    if (settings->obj_dumping)
        follow(TRACE_CODE_OBJECT, ROCPROFILER_CODE_OBJECT_LOAD, 1, object_listener, "obj_dumping");
}
