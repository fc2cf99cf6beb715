/*
 * A tool on the ROCtracer interface: how often each HIP call was made and how long it took, and
 * what the device did for it, printed when the program ends. Load it into an unmodified program
 * with LD_PRELOAD.
 *
 * It shows what every such tool is made of: a pool, whose records arrive in batches on a thread of
 * the library; domains that are enabled to it; correlation ids, which join the work of the device
 * with the call that asked for it; and the flush at the end. Compiles as C and as C++.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <roctracer/roctracer.h>

enum { NAMES_MAX = 512, NAME_BYTES = 64, CALLS_MAX = 1 << 16 };

/* Only the pool's thread touches these, and the end, after the pool is closed. */
struct row {
    char name[NAME_BYTES];
    uint64_t count, total_ns, device_count, device_ns;
};
static struct row rows[NAMES_MAX];
static uint32_t row_count;
static uint64_t unknown; /* work whose call was not seen, or names beyond NAMES_MAX */

/* Calls by correlation id. A call's record comes when it ends, work's often later, but a kernel may
 * also be over first: then it waits here for its call. */
static struct {
    uint64_t id;
    struct row *row;
    uint64_t device_count, device_ns;
} calls[CALLS_MAX];

static struct row *row_of(const char *name)
{
    uint32_t i = 0;
    while (i < row_count && strncmp(rows[i].name, name, NAME_BYTES - 1) != 0)
        i++;
    if (i == NAMES_MAX)
        return NULL;
    if (i == row_count) {
        row_count++;
        strncpy(rows[i].name, name, NAME_BYTES - 1);
    }
    return &rows[i];
}

static void work_add(struct row *row, uint64_t count, uint64_t ns)
{
    row->device_count += count;
    row->device_ns += ns;
}

static void on_call(const roctracer_record_t *record)
{
    const char *name = roctracer_op_string(ACTIVITY_DOMAIN_HIP_API, record->op, 0);
    struct row *row = name ? row_of(name) : NULL;
    if (!row) {
        unknown++;
        return;
    }
    row->count++;
    row->total_ns += record->end_ns - record->begin_ns;
    uint32_t slot = (uint32_t)(record->correlation_id % CALLS_MAX);
    if (calls[slot].id == record->correlation_id)
        work_add(row, calls[slot].device_count, calls[slot].device_ns);
    calls[slot].id = record->correlation_id;
    calls[slot].row = row;
    calls[slot].device_count = calls[slot].device_ns = 0;
}

static void on_work(const roctracer_record_t *record)
{
    uint32_t slot = (uint32_t)(record->correlation_id % CALLS_MAX);
    uint64_t ns = record->end_ns - record->begin_ns;
    if (calls[slot].id != record->correlation_id) {
        unknown += calls[slot].device_count; /* of a call that never came */
        calls[slot].id = record->correlation_id;
        calls[slot].row = NULL;
        calls[slot].device_count = calls[slot].device_ns = 0;
    }
    if (calls[slot].row) {
        work_add(calls[slot].row, 1, ns);
    } else {
        calls[slot].device_count++;
        calls[slot].device_ns += ns;
    }
}

static void on_records(const char *begin, const char *end, void *arg)
{
    const roctracer_record_t *record = (const roctracer_record_t *)(const void *)begin;
    (void)arg;
    while (record < (const roctracer_record_t *)(const void *)end) {
        if (record->domain == ACTIVITY_DOMAIN_HIP_API)
            on_call(record);
        else if (record->domain == ACTIVITY_DOMAIN_HIP_OPS)
            on_work(record);
        if (roctracer_next_record(record, &record) != ROCTRACER_STATUS_SUCCESS)
            break;
    }
}

static int by_time(const void *a, const void *b)
{
    const struct row *left = (const struct row *)a, *right = (const struct row *)b;
    return left->total_ns < right->total_ns ? 1 : left->total_ns > right->total_ns ? -1 : 0;
}

static void finish(void)
{
    roctracer_close_pool(); /* disables what uses it, delivers the rest */
    for (uint32_t i = 0; i < CALLS_MAX; i++)
        unknown += calls[i].device_count;
    qsort(rows, row_count, sizeof rows[0], by_time);
    fprintf(stderr, "%8s %12s %8s %12s  call\n", "calls", "us", "device", "us");
    for (uint32_t i = 0; i < row_count; i++)
        fprintf(stderr, "%8llu %12.1f %8llu %12.1f  %s\n", (unsigned long long)rows[i].count,
                (double)rows[i].total_ns / 1e3, (unsigned long long)rows[i].device_count,
                (double)rows[i].device_ns / 1e3, rows[i].name);
    if (unknown)
        fprintf(stderr, "%llu records belong to no call in the list\n",
                (unsigned long long)unknown);
}

/* False, and the library's reason. */
static int succeeds(const char *what, roctracer_status_t status)
{
    if (status == ROCTRACER_STATUS_SUCCESS)
        return 1;
    char *reason = (char *)(uintptr_t)roctracer_error_string(); /* ours to free */
    fprintf(stderr, "call_times: %s: %s\n", what, reason ? reason : "no memory");
    free(reason);
    return 0;
}

__attribute__((constructor)) static void begin(void)
{
    roctracer_properties_t properties;
    memset(&properties, 0, sizeof properties);
    properties.buffer_size = 1 << 20;
    properties.buffer_callback_fun = on_records;
    if (roctracer_version_major() != ROCTRACER_VERSION_MAJOR ||
        roctracer_version_minor() < ROCTRACER_VERSION_MINOR) {
        fprintf(stderr, "call_times: ROCtracer %d.%d is needed\n", ROCTRACER_VERSION_MAJOR,
                ROCTRACER_VERSION_MINOR);
        return;
    }
    if (!succeeds("no pool", roctracer_open_pool(&properties)))
        return;
    if (succeeds("HIP's calls", roctracer_enable_domain_activity(ACTIVITY_DOMAIN_HIP_API)) &&
        succeeds("HIP's work", roctracer_enable_domain_activity(ACTIVITY_DOMAIN_HIP_OPS)))
        atexit(finish);
}
