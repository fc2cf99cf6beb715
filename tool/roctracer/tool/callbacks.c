#include "callbacks.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <roctracer/roctracer_roctx.h>

#include "plugin.h"
#include "roctracer/arguments/arguments.h"

/* What HSA's, HIP's and every other API's callback data begin with. */
struct call_head {
    uint64_t correlation_id;
    uint32_t phase; /* activity_api_phase_t */
};

enum { NESTING_MAX = 32, KERNEL_NAME_BYTES_MAX = 8192 };

/* The thread's calls that have begun. Correlation ids tell which one ends: one that was begun
 * while nothing was traced, or never ends because tracing was stopped, is nobody else's. */
struct open_calls {
    uint32_t count;
    bool is_ignored; /* a thread of the tool */
    uint32_t thread_id;
    struct {
        uint64_t correlation_id, begin_ns;
    } calls[NESTING_MAX];
};
static __thread struct open_calls open_calls; /* too large for initial-exec */
static _Atomic uint32_t process_id;           /* relaxed: the same value from every writer */
static _Atomic(void (*)(void)) first_use; /* set before callbacks are enabled; taken by exchange */

static uint32_t own_thread_id(void)
{
    if (open_calls.thread_id == 0)
        open_calls.thread_id = (uint32_t)syscall(SYS_gettid);
    return open_calls.thread_id;
}

static uint32_t own_process_id(void)
{
    uint32_t pid = atomic_load_explicit(&process_id, memory_order_relaxed);
    if (pid == 0) {
        pid = (uint32_t)getpid();
        atomic_store_explicit(&process_id, pid, memory_order_relaxed);
    }
    return pid;
}

static uint64_t now_ns(void)
{
    roctracer_timestamp_t now = 0;
    roctracer_get_timestamp(&now);
    return now;
}

static void call_enter(uint64_t correlation_id)
{
    if (open_calls.count == NESTING_MAX) /* the outermost of calls that never end */
        memmove(&open_calls.calls[0], &open_calls.calls[1],
                (--open_calls.count) * sizeof open_calls.calls[0]);
    open_calls.calls[open_calls.count].correlation_id = correlation_id;
    open_calls.calls[open_calls.count++].begin_ns = now_ns();
}

/* 0: it has not begun. */
static uint64_t call_leave(uint64_t correlation_id)
{
    for (uint32_t i = open_calls.count; i-- > 0;)
        if (open_calls.calls[i].correlation_id == correlation_id) {
            open_calls.count = i;
            return open_calls.calls[i].begin_ns;
        }
    return 0;
}

static size_t kernel_name_keep(struct journal_entry *entry, const struct call *call, size_t used)
{
    const char *name = call_kernel_name(call, entry->data);
    if (!name)
        return used;
    size_t length = strnlen(name, KERNEL_NAME_BYTES_MAX);
    char *kept = (char *)entry->data + used;
    memcpy(kept, name, length);
    kept[length] = 0;
    entry->record.kernel_name = kept;
    return used + length + 1;
}

static struct journal_entry *entry_begin(uint32_t domain, uint32_t operation)
{
    void (*use)(void) = atomic_load_explicit(&first_use, memory_order_acquire);
    if (use && (use = atomic_exchange_explicit(&first_use, NULL, memory_order_acq_rel)))
        use();
    struct journal_entry *entry = journal_begin();
    if (!entry)
        return NULL;
    entry->record = (roctracer_record_t){.domain = domain, .op = operation};
    entry->record.process_id = own_process_id();
    entry->record.thread_id = own_thread_id();
    return entry;
}

static void call_write(uint32_t domain, uint32_t operation, const void *data, uint64_t begin_ns)
{
    uint64_t end_ns = now_ns();
    struct journal_entry *entry = entry_begin(domain, operation);
    if (!entry)
        return;
    const struct call *call = call_find(domain, operation);
    size_t used = call ? call->data_size_bytes : sizeof(struct call_head);
    memcpy(entry->data, data, used);
    entry->record.correlation_id = ((const struct call_head *)data)->correlation_id;
    entry->record.begin_ns = begin_ns;
    entry->record.end_ns = end_ns;
    if (call)
        used +=
            call_keep(call, entry->data, (char *)entry->data + used,
                      JOURNAL_ENTRY_BYTES_MAX - KERNEL_NAME_BYTES_MAX - sizeof *entry - used - 1);
    if (call && domain == ACTIVITY_DOMAIN_HIP_API)
        used = kernel_name_keep(entry, call, used);
    journal_end(entry, used);
}

static void marker_write(uint32_t operation, const roctx_api_data_t *data)
{
    enum { MESSAGE_BYTES_MAX = 4096 };
    uint64_t begin_ns = now_ns();
    struct journal_entry *entry = entry_begin(ACTIVITY_DOMAIN_ROCTX, operation);
    if (!entry)
        return;
    entry->record.begin_ns = begin_ns;
    roctx_api_data_t *kept = (roctx_api_data_t *)(void *)entry->data;
    size_t used = sizeof *kept;
    *kept = *data;
    if (data->args.message) {
        size_t length = strnlen(data->args.message, MESSAGE_BYTES_MAX);
        char *message = (char *)entry->data + used;
        memcpy(message, data->args.message, length);
        message[length] = 0;
        kept->args.message = message;
        used += length + 1;
    }
    journal_end(entry, used);
}

void callbacks_on_event(uint32_t domain, uint32_t operation, const void *data, void *unused)
{
    (void)unused;
    if (open_calls.is_ignored)
        return;
    int saved_errno = errno; /* the program looks at it after the call */
    const struct call_head *head = data;
    if (domain == ACTIVITY_DOMAIN_ROCTX) {
        marker_write(operation, data);
    } else if (head->phase == ACTIVITY_API_PHASE_ENTER) {
        call_enter(head->correlation_id);
    } else {
        uint64_t begin_ns = call_leave(head->correlation_id);
        if (begin_ns)
            call_write(domain, operation, data, begin_ns);
    }
    errno = saved_errno;
}

void callbacks_first_use(void (*use)(void))
{
    atomic_store_explicit(&first_use, use, memory_order_release);
}

bool callbacks_ignore_thread(bool ignore)
{
    bool before = open_calls.is_ignored;
    open_calls.is_ignored = ignore;
    return before;
}

void callbacks_write(const struct journal_entry *entry)
{
    plugin_callback_write(&entry->record, entry->data);
}

void callbacks_forget(void)
{
    atomic_store_explicit(&process_id, 0, memory_order_relaxed);
    atomic_store_explicit(&first_use, NULL, memory_order_relaxed);
    open_calls = (struct open_calls){0};
}
