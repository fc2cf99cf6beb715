#include "ompt.h"

#include <rocprofiler-sdk/ompt.h>

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "launch/settings.h"

#define EVENT(name) (UINT64_C(1) << ROCPROFILER_OMPT_ID_##name)

static const struct {
    const char *word;
    uint64_t operations;
} kinds[] = {
    {"all", UINT64_MAX},
    {"thread", EVENT(thread_begin) | EVENT(thread_end)},
    {"parallel", EVENT(parallel_begin) | EVENT(parallel_end) | EVENT(implicit_task) | EVENT(work) |
                     EVENT(dispatch) | EVENT(reduction) | EVENT(masked)},
    {"task", EVENT(task_create) | EVENT(task_schedule) | EVENT(dependences) |
                 EVENT(task_dependence) | EVENT(cancel)},
    {"sync", EVENT(sync_region) | EVENT(sync_region_wait) | EVENT(flush)},
    {"mutex", EVENT(lock_init) | EVENT(lock_destroy) | EVENT(mutex_acquire) |
                  EVENT(mutex_acquired) | EVENT(mutex_released) | EVENT(nest_lock)},
    {"target", EVENT(target_emi) | EVENT(target_data_op_emi) | EVENT(target_submit_emi)},
    {"device", EVENT(device_initialize) | EVENT(device_finalize) | EVENT(device_load)},
    {"error", EVENT(error)},
};
_Static_assert((int)ROCPROFILER_OMPT_ID_LAST <= (int)OMPT_OPERATIONS_MAX, "a bit for each");

static uint64_t operations_of(const char *word)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcasecmp(kinds[i].word, word) == 0)
            return kinds[i].operations;
    return 0;
}

size_t ompt_operations(const char *words, rocprofiler_tracing_operation_t list[OMPT_OPERATIONS_MAX],
                       char unknown[32])
{
    uint64_t operations = 0;
    char word[32];
    size_t count = 0;
    *unknown = 0;
    while (words && settings_list_next(&words, word, sizeof word)) {
        uint64_t found = operations_of(word);
        if (!found && !*unknown)
            snprintf(unknown, 32, "%s", word);
        operations |= found;
    }
    if (operations == UINT64_MAX)
        return 0;
    for (int32_t i = 0; i < ROCPROFILER_OMPT_ID_LAST; i++)
        if (operations >> i & 1)
            list[count++] = i;
    return count;
}
