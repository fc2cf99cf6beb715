/*
 * A tool that a program is run with (LD_PRELOAD, or HSA_TOOLS_LIB through `late`): it enables what
 * WATCH names ("hip_api,hip_ops,hsa_api,hsa_ops,hsa_evt,roctx"), and at the end writes one line an
 * item to the file WATCH_OUT:
 *
 *   call DOMAIN NAME PHASE CORRELATION THREAD      a callback
 *   record DOMAIN NAME CORRELATION BEGIN END EXTRA a pool's record
 *   event NAME EXTRA                               an HSA_EVT callback
 *   flushed KERNELS                                HIP_OPS kernels that a flush has found, which
 * the tool makes when hipDeviceSynchronize ends
 */
#include <pthread.h>
#include <roctracer/roctracer.h>
#include <roctracer/roctracer_ext.h>
#include <roctracer/roctracer_hsa.h>
#include <roctracer/roctracer_roctx.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LINES_MAX = 400000, LINE_BYTES = 240 };

static char (*lines)[LINE_BYTES];
static _Atomic unsigned line_count;
static _Atomic unsigned errors, kernel_count;

#define LINE(...)                                                                                  \
    do {                                                                                           \
        unsigned line_ = atomic_fetch_add(&line_count, 1);                                         \
        if (line_ < LINES_MAX)                                                                     \
            snprintf(lines[line_], LINE_BYTES, __VA_ARGS__);                                       \
    } while (0)

/* hip_api_data_t and hsa_api_data_t begin alike. */
struct call_head {
    uint64_t correlation_id;
    uint32_t phase;
};

static void on_call(uint32_t domain, uint32_t op, const void *data, void *arg)
{
    const struct call_head *head = data;
    if (arg != &line_count)
        atomic_fetch_add(&errors, 1);
    const char *name = roctracer_op_string(domain, op, 0);
    LINE("call %u %s %s %llu %ld", domain, name,
         head->phase == ACTIVITY_API_PHASE_ENTER ? "enter" : "exit",
         (unsigned long long)head->correlation_id, syscall(SYS_gettid));
    if (head->phase == ACTIVITY_API_PHASE_EXIT && !strcmp(name, "hipDeviceSynchronize")) {
        roctracer_flush_activity();
        LINE("flushed %u", kernel_count);
    }
}

static void on_event(uint32_t domain, uint32_t op, const void *data, void *arg)
{
    const hsa_evt_data_t *event = data;
    (void)arg;
    const char *name = roctracer_op_string(domain, op, 0);
    switch (op) {
    case HSA_EVT_ID_ALLOCATE:
        LINE("event %s %zu", name, event->allocate.size);
        break;
    case HSA_EVT_ID_DEVICE:
        LINE("event %s %d %u", name, (int)event->device.type, event->device.id);
        break;
    case HSA_EVT_ID_MEMCOPY:
        LINE("event %s %zu", name, event->memcopy.size);
        break;
    case HSA_EVT_ID_SUBMIT:
        LINE("event %s %s", name, event->submit.kernel_name ? event->submit.kernel_name : "-");
        break;
    case HSA_EVT_ID_KSYMBOL:
        LINE("event %s %.150s %d", name, event->ksymbol.name, event->ksymbol.unload);
        break;
    case HSA_EVT_ID_CODEOBJ:
        LINE("event %s %u %llu %d", name, event->codeobj.storage_type,
             (unsigned long long)event->codeobj.load_size, event->codeobj.unload);
        break;
    default:
        atomic_fetch_add(&errors, 1);
    }
}

static void on_marker(uint32_t domain, uint32_t op, const void *data, void *arg)
{
    const roctx_api_data_t *marker = data;
    (void)arg;
    LINE("marker %s %s %llu", roctracer_op_string(domain, op, 0),
         marker->args.message ? marker->args.message : "-",
         (unsigned long long)(op >= ROCTX_API_ID_roctxRangeStartA ? marker->args.id : 0));
}

static void record_write(const roctracer_record_t *r)
{
    kernel_count += r->domain == ACTIVITY_DOMAIN_HIP_OPS && r->op == HSA_OP_ID_DISPATCH;
    char extra[160] = "";
    const char *name = roctracer_op_string(r->domain, r->op, r->kind);
    if (r->domain == ACTIVITY_DOMAIN_HIP_OPS || r->domain == ACTIVITY_DOMAIN_HSA_OPS) {
        bool named = r->op == HSA_OP_ID_DISPATCH && r->kernel_name;
        snprintf(extra, sizeof extra, "device=%d queue=%llu %s%.100s", r->device_id,
                 (unsigned long long)r->queue_id, named ? "kernel=" : "",
                 named ? r->kernel_name : "");
        if (r->op == HSA_OP_ID_COPY)
            snprintf(extra + strlen(extra), 32, "bytes=%zu", r->bytes);
    } else if (r->domain == ACTIVITY_DOMAIN_EXT_API) {
        snprintf(extra, sizeof extra, "external=%llu", (unsigned long long)r->external_id);
    } else {
        snprintf(extra, sizeof extra, "process=%u thread=%u", r->process_id, r->thread_id);
    }
    LINE("record %u %s op=%u %llu %llu %llu %s", r->domain, name ? name : "?", r->op,
         (unsigned long long)r->correlation_id, (unsigned long long)r->begin_ns,
         (unsigned long long)r->end_ns, extra);
}

static void on_records(const char *begin, const char *end, void *arg)
{
    const roctracer_record_t *record = (const roctracer_record_t *)(const void *)begin;
    const roctracer_record_t *last = (const roctracer_record_t *)(const void *)end;
    (void)arg;
    while (record < last) {
        record_write(record);
        roctracer_next_record(record, &record);
    }
}

static void check(const char *what, roctracer_status_t status)
{
    if (status == ROCTRACER_STATUS_SUCCESS)
        return;
    char *message = (char *)(uintptr_t)roctracer_error_string();
    LINE("error %s: %d %s", what, (int)status, message);
    free(message);
}

static bool wanted(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += length)
        if ((at == list || at[-1] == ',') && (at[length] == 0 || at[length] == ','))
            return true;
    return false;
}

static void finish(void)
{
    const char *path = getenv("WATCH_OUT");
    roctracer_disable_callback();
    check("close_pool", roctracer_close_pool());
    FILE *out = path ? fopen(path, "w") : NULL;
    unsigned count = line_count < LINES_MAX ? line_count : LINES_MAX;
    for (unsigned i = 0; out && i < count; i++)
        fprintf(out, "%s\n", lines[i]);
    if (out && (errors || line_count > LINES_MAX))
        fprintf(out, "error %u errors, %u lines\n", errors, line_count);
    if (out)
        fclose(out);
}

__attribute__((constructor)) static void begin(void)
{
    const char *list = getenv("WATCH");
    roctracer_properties_t properties = {.buffer_size = 64 << 10,
                                         .buffer_callback_fun = on_records};
    if (!list)
        return;
    lines = calloc(LINES_MAX, sizeof *lines);
    check("open_pool", roctracer_open_pool(&properties));
    static const struct {
        const char *word;
        activity_domain_t domain;
        activity_rtapi_callback_t callback;
    } rows[] = {
        {"hip_api", ACTIVITY_DOMAIN_HIP_API, on_call},
        {"hsa_api", ACTIVITY_DOMAIN_HSA_API, on_call},
        {"hip_ops", ACTIVITY_DOMAIN_HIP_OPS, NULL},
        {"hsa_ops", ACTIVITY_DOMAIN_HSA_OPS, NULL},
        {"hsa_evt", ACTIVITY_DOMAIN_HSA_EVT, on_event},
        {"roctx", ACTIVITY_DOMAIN_ROCTX, on_marker},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!wanted(list, rows[i].word))
            continue;
        if (rows[i].callback)
            check(rows[i].word,
                  roctracer_enable_domain_callback(rows[i].domain, rows[i].callback, &line_count));
        check(rows[i].word, roctracer_enable_domain_activity(rows[i].domain));
    }
    atexit(finish);
}
