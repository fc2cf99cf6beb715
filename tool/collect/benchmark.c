#include "benchmark.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/wait.h"
#include "out/out.h"

static const struct {
    const char *name;
    enum benchmark mode;
} modes[] = {
    {"disabled-sdk-contexts", BENCHMARK_DISABLED_CONTEXTS},
    {"sdk-buffer-overhead", BENCHMARK_BUFFERS},
    {"sdk-callback-overhead", BENCHMARK_CALLBACKS},
    {"tool-runtime-overhead", BENCHMARK_RUNTIME},
    {"execution-profile", BENCHMARK_PROFILE},
};

static const struct {
    rocprofiler_buffer_tracing_kind_t buffer;
    rocprofiler_callback_tracing_kind_t callback;
} kinds[] = {
#define KIND(name)                                                                                 \
    {                                                                                              \
        ROCPROFILER_BUFFER_TRACING_##name, ROCPROFILER_CALLBACK_TRACING_##name                     \
    }
    KIND(HSA_CORE_API),         KIND(HSA_AMD_EXT_API),   KIND(HSA_IMAGE_EXT_API),
    KIND(HSA_FINALIZE_EXT_API), KIND(HIP_RUNTIME_API),   KIND(HIP_COMPILER_API),
    KIND(MEMORY_COPY),          KIND(MEMORY_ALLOCATION), KIND(KERNEL_DISPATCH),
    KIND(SCRATCH_MEMORY),       KIND(RCCL_API),          KIND(OMPT),
    KIND(ROCDECODE_API),        KIND(ROCJPEG_API),       KIND(ROCSHMEM_API),
    KIND(HIPFILE_API),
#undef KIND
};

static struct {
    const char *name; /* of the mode; NULL: none */
    uint64_t begin_ns;
    /* Writers: delivery threads, by additions; relaxed. Reader: the end. */
    _Atomic uint64_t records, delivery_ns, callbacks;
} state;

static void output_drop(struct settings *settings)
{
    settings->value[OPTION_OUTPUT_FORMAT] = OUT_NO_FORMAT;
    settings->value[OPTION_SUMMARY] = "0";
    settings->value[OPTION_SUMMARY_PER_DOMAIN] = "0";
    settings->value[OPTION_SUMMARY_GROUPS] = NULL;
}

enum benchmark benchmark_begin(struct settings *settings)
{
    const char *text = settings_text(settings, OPTION_BENCHMARK_MODE);
    for (size_t i = 0; text && i < sizeof modes / sizeof modes[0]; i++) {
        if (strcmp(modes[i].name, text) != 0)
            continue;
        state.name = modes[i].name;
        state.begin_ns = wait_now_ns();
        if (modes[i].mode != BENCHMARK_PROFILE)
            output_drop(settings);
        return modes[i].mode;
    }
    return BENCHMARK_NONE;
}

static void nothing_do(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
                       void *data)
{
    (void)record;
    (void)user;
    (void)data;
    atomic_fetch_add_explicit(&state.callbacks, 1, memory_order_relaxed);
}

rocprofiler_status_t benchmark_callbacks_configure(rocprofiler_context_id_t context,
                                                   rocprofiler_buffer_tracing_kind_t kind)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].buffer == kind)
            return rocprofiler_configure_callback_tracing_service(context, kinds[i].callback, NULL,
                                                                  0, nothing_do, NULL);
    return ROCPROFILER_STATUS_SUCCESS; /* it has no callbacks */
}

void benchmark_delivered(size_t records, uint64_t ns)
{
    atomic_fetch_add_explicit(&state.records, records, memory_order_relaxed);
    atomic_fetch_add_explicit(&state.delivery_ns, ns, memory_order_relaxed);
}

void benchmark_tell(uint64_t report_ns)
{
    if (!state.name)
        return;
    fprintf(stderr,
            "crocprof: %s: process %ld ran %.6f s; %llu records were taken in %.6f s, %llu "
            "callbacks came, files and tables took %.6f s\n",
            state.name, (long)getpid(), (double)(wait_now_ns() - state.begin_ns) / 1e9,
            (unsigned long long)atomic_load_explicit(&state.records, memory_order_relaxed),
            (double)atomic_load_explicit(&state.delivery_ns, memory_order_relaxed) / 1e9,
            (unsigned long long)atomic_load_explicit(&state.callbacks, memory_order_relaxed),
            (double)report_ns / 1e9);
}
