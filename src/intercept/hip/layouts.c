/*
 * hip_api_data_t of calls that are seen in HIP's tables.
 *
 * A library that offers tables shows that structure to nobody, but programs for ROCtracer read it,
 * as the header of their release lays it out. The releases' lists (data/api/hip_tracer_*.list) say
 * where what lies; a function that the library's own release has no list for is written as the
 * nearest listed release of the same major version has it.
 */
#include "intercept/hip/layouts.h"

#include <stdatomic.h>
#include <string.h>

#include "base/log.h"
#include "intercept/hip/arm.h"
#include "intercept/hip/calls.h"
#include "intercept/hip/tracer.h"

enum {
    PHASE_DATA_BYTES = sizeof(void *), /* it ends with a pointer to a word of the tool's */
    OPERATIONS = ROCPROFILER_HIP_RUNTIME_API_ID_LAST,
};

/* By compiler domain or not, and operation. Writers: layouts_choose, before `release` (release).
 * Readers: traced calls (acquire on `release`); a second copy of the library writes the same. */
static _Atomic(const struct hip_tracer_function *) layouts[2][OPERATIONS];
static _Atomic(const struct hip_tracer_release *) release;

static _Atomic(const struct hip_tracer_function *) *layout_at(enum trace_domain domain,
                                                              int32_t operation)
{
    bool ours = (domain == TRACE_HIP_RUNTIME_API || domain == TRACE_HIP_COMPILER_API) &&
                operation >= 0 && operation < OPERATIONS;
    return ours ? &layouts[domain == TRACE_HIP_COMPILER_API][operation] : NULL;
}

/* Of two functions that are one operation, the one of the operation's name counts. */
static void release_take(const struct hip_tracer_release *from)
{
    for (uint32_t id = 1; id < from->function_count; id++) {
        const char *name = hip_tracer_name(from, id);
        const struct hip_operation *operation = *name ? hip_operation_find(name) : NULL;
        _Atomic(const struct hip_tracer_function *) *slot =
            operation ? layout_at((enum trace_domain)operation->domain, operation->operation)
                      : NULL;
        if (slot && !atomic_load_explicit(slot, memory_order_relaxed))
            atomic_store_explicit(slot, hip_tracer_function(from, id), memory_order_relaxed);
    }
}

/* Nearest: of the same major version; then the smaller distance; then the newer one. */
static const struct hip_tracer_release *release_nearest(int major, int minor)
{
    const struct hip_tracer_release *best = NULL;
    int best_distance = 0;
    for (uint32_t i = 0; i < hip_tracer_release_count; i++) {
        const struct hip_tracer_release *candidate = &hip_tracer_releases[i];
        int away = 1000 * (candidate->major - major) + candidate->minor - minor;
        int distance = away < 0 ? -away : away;
        if (candidate->major >= HIP_TABLES_SINCE_MAJOR && (!best || distance <= best_distance)) {
            best = candidate;
            best_distance = distance;
        }
    }
    return best;
}

void layouts_choose(uint64_t version)
{
    int major = (int)(version / 10000), minor = (int)(version / 100 % 100);
    const struct hip_tracer_release *nearest = release_nearest(major, minor);
    if (atomic_load_explicit(&release, memory_order_acquire) || !nearest)
        return;
    release_take(nearest);
    /* A function that the nearest one lacks is laid out as in another list that has it. */
    for (uint32_t i = hip_tracer_release_count; i-- > 0;)
        if (hip_tracer_releases[i].major >= HIP_TABLES_SINCE_MAJOR)
            release_take(&hip_tracer_releases[i]);
    if (nearest->major != major || nearest->minor != minor)
        log_info("intercept", "HIP %d.%d: ROCtracer's arguments are laid out as in %d.%d", major,
                 minor, nearest->major, nearest->minor);
    atomic_store_explicit(&release, nearest, memory_order_release);
}

const char *layouts_function_name(uint32_t id)
{
    const struct hip_tracer_release *known = atomic_load_explicit(&release, memory_order_acquire);
    return known && id < known->function_count ? hip_tracer_name(known, id) : "";
}

bool intercept_hip_in_tables(void)
{
    return atomic_load_explicit(&release, memory_order_acquire) != NULL;
}

uint32_t intercept_hip_data_write(enum trace_domain domain, int32_t operation,
                                  const rocprofiler_hip_api_args_t *args, void *data)
{
    const struct hip_tracer_release *known = atomic_load_explicit(&release, memory_order_acquire);
    _Atomic(const struct hip_tracer_function *) *slot = layout_at(domain, operation);
    const struct hip_tracer_function *layout =
        slot ? atomic_load_explicit(slot, memory_order_relaxed) : NULL;

    if (!known || !layout || known->data_size_bytes > HIP_DATA_BYTES_MAX)
        return 0;
    memset(data, 0, known->data_size_bytes);
    for (uint16_t i = 0; i < layout->count; i++) {
        const struct hip_tracer_copy *copy = &hip_tracer_copies[layout->first + i];
        memcpy((char *)data + copy->from, (const char *)args + copy->to, copy->size_bytes);
    }
    return known->data_size_bytes - (uint32_t)PHASE_DATA_BYTES;
}
