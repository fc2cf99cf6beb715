#include "repeat.h"

#include <stdatomic.h>
#include <stdio.h>

#include "names.h"

enum { KERNELS = 1024 };

/* Written before the context starts; then read by launching threads. */
static struct {
    unsigned pass_count; /* 0: nothing is configured */
    bool (*wants)(const rocprofiler_kernel_dispatch_info_t *info, uint32_t launch);
} repeat;

/* The pass that a kernel's next launch begins with. Writers and readers: launching threads;
 * relaxed: two that take the same one count it twice. */
static _Atomic uint32_t next_pass[KERNELS];

static struct {
    /* Launches that were to be repeated, those with fewer passes than wanted, and the passes that
     * these lack. Writers: launching threads. Readers: who completes a report (relaxed: counts). */
    _Atomic uint64_t launches, fewer, lacking;
} seen;

/* This thread's launch, from CONFIG on; a launch that is not repeated after all runs behind it. */
static __thread struct {
    uint64_t dispatch; /* 0: none */
    uint32_t number;
    unsigned first, now, begun;
} launch;

static _Atomic uint32_t *next_of(const rocprofiler_kernel_dispatch_info_t *info)
{
    return &next_pass[info->kernel_id % KERNELS];
}

static uint64_t pass_count(rocprofiler_kernel_dispatch_info_t info, rocprofiler_user_data_t data)
{
    (void)info, (void)data;
    return repeat.pass_count;
}

static void launch_begin(rocprofiler_callback_tracing_kernel_replay_data_t *data)
{
    const rocprofiler_kernel_dispatch_info_t *info = &data->dispatch_info;
    launch.dispatch = info->dispatch_id;
    launch.number = names_kernel_launch(info->kernel_id, info->agent_id);
    launch.first = atomic_load_explicit(next_of(info), memory_order_relaxed);
    launch.now = launch.begun = 0;
    if (repeat.wants(info, launch.number))
        data->replay_pass_count = pass_count;
}

/* Without any pass the kernel has the first one as it runs now. */
static void launch_end(const rocprofiler_callback_tracing_kernel_replay_data_t *data)
{
    unsigned had = launch.begun > 0 ? launch.begun : 1;
    launch.now = 0;
    if (!data->replay_pass_count)
        return;
    atomic_fetch_add_explicit(&seen.launches, 1, memory_order_relaxed);
    if (had >= repeat.pass_count)
        return;
    atomic_fetch_add_explicit(&seen.fewer, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&seen.lacking, repeat.pass_count - had, memory_order_relaxed);
    atomic_store_explicit(next_of(&data->dispatch_info), (launch.first + had) % repeat.pass_count,
                          memory_order_relaxed);
}

bool repeat_told(char *text, size_t size)
{
    uint64_t fewer = atomic_load_explicit(&seen.fewer, memory_order_relaxed);
    uint64_t launches = atomic_load_explicit(&seen.launches, memory_order_relaxed);
    uint64_t lacking = atomic_load_explicit(&seen.lacking, memory_order_relaxed);
    snprintf(text, size,
             "%llu of %llu launches had fewer passes than their counters need, and lack those of "
             "the others (%llu of %llu passes)",
             (unsigned long long)fewer, (unsigned long long)launches, (unsigned long long)lacking,
             (unsigned long long)launches * repeat.pass_count);
    return fewer > 0;
}

void repeat_fork_child(void)
{
    atomic_store_explicit(&seen.launches, 0, memory_order_relaxed);
    atomic_store_explicit(&seen.fewer, 0, memory_order_relaxed);
    atomic_store_explicit(&seen.lacking, 0, memory_order_relaxed);
}

static void on_replay(rocprofiler_callback_tracing_record_t record,
                      rocprofiler_user_data_t *user_data, void *unused)
{
    rocprofiler_callback_tracing_kernel_replay_data_t *data = record.payload;
    bool is_enter = record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER;
    (void)user_data, (void)unused;
    if (record.operation == ROCPROFILER_KERNEL_REPLAY_CONFIG && is_enter) {
        launch_begin(data);
    } else if (record.operation == ROCPROFILER_KERNEL_REPLAY_CONFIG) {
        launch_end(data);
    } else if (is_enter) {
        launch.now = (unsigned)data->current_pass;
        launch.begun = launch.now + 1;
    }
}

void repeat_configure(rocprofiler_context_id_t context, unsigned count,
                      bool (*wants)(const rocprofiler_kernel_dispatch_info_t *info,
                                    uint32_t number))
{
    if (count < 2)
        return;
    repeat.wants = wants;
    rocprofiler_status_t status = rocprofiler_configure_callback_tracing_service(
        context, ROCPROFILER_CALLBACK_TRACING_KERNEL_REPLAY, NULL, 0, on_replay, NULL);
    if (status == ROCPROFILER_STATUS_SUCCESS)
        repeat.pass_count = count;
    else
        fprintf(stderr, "crocprof: kernels cannot be repeated: %s\n",
                rocprofiler_get_status_string(status));
}

unsigned repeat_pass(const rocprofiler_kernel_dispatch_info_t *info, uint32_t *number)
{
    if (repeat.pass_count == 0 || launch.dispatch != info->dispatch_id) {
        *number = names_kernel_launch(info->kernel_id, info->agent_id);
        return 0;
    }
    *number = launch.number;
    return (launch.first + launch.now) % repeat.pass_count;
}
