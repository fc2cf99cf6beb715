/*
 * What the examples are run on, and those that are programs themselves.
 *
 *   run KERNELS      launches store_index with 1, 2, ... 8 work-groups
 *   info KERNELS     5.1: prints what can be collected
 *   sample KERNELS   5.5 and 5.6: samples GPUBusy and SQ_WAVES while it launches 8 work-groups
 *                    between the readings
 *   hold KERNELS     opens a context, counts, says so, and waits for a line with a kernel running
 *   exit KERNELS     as run, but leaves without hsa_shut_down
 *   copies KERNELS   asynchronous copies of 256, 512, 768 and 1024 bytes
 *   many KERNELS     one kernel of 40000 work-groups
 *   fork KERNELS     as run; before it ends, a child of it does
 */
#include "common.h"

#include <hsa/hsa_ext_amd.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LAUNCHES = 8, SAMPLES = 5 };

static void check(hsa_status_t status)
{
    if (status == HSA_STATUS_SUCCESS)
        return;
    printf("failed: 0x%x: %s\n", (unsigned)status, error_text());
    fflush(stdout);
    _exit(1);
}

static hsa_status_t info_data_callback(const rocprofiler_info_data_t info, void *data)
{
    (void)data;
    switch (info.kind) {
    case ROCPROFILER_INFO_KIND_METRIC:
        if (info.metric.expr) {
            printf("Derived counter:  gpu-agent%d : %s : %s\n", info.agent_index, info.metric.name,
                   info.metric.description);
            printf("      %s = %s\n", info.metric.name, info.metric.expr);
        } else {
            printf("Basic counter:  gpu-agent%d : %s", info.agent_index, info.metric.name);
            if (info.metric.instances > 1)
                printf("[0-%u]", info.metric.instances - 1);
            printf(" : %s\n", info.metric.description);
            printf("      block %s has %u counters\n", info.metric.block_name,
                   info.metric.block_counters);
        }
        break;
    default:
        printf("wrong info kind %d\n", (int)info.kind);
        return HSA_STATUS_ERROR;
    }
    return HSA_STATUS_SUCCESS;
}

static void info(void)
{
    uint32_t count = 0;
    check(rocprofiler_get_info(&gpus[0].agent, ROCPROFILER_INFO_KIND_METRIC_COUNT, &count));
    printf("%u metrics\n", count);
    check(rocprofiler_iterate_info(&gpus[0].agent, ROCPROFILER_INFO_KIND_METRIC, info_data_callback,
                                   NULL));
}

static void print_results(const rocprofiler_feature_t *features, uint32_t feature_count)
{
    for (const rocprofiler_feature_t *p = features; p < features + feature_count; ++p) {
        printf("%d: %s", (int)(p - features), p->name);
        switch (p->data.kind) {
        case ROCPROFILER_DATA_KIND_INT64:
            printf(" result_int64 (%llu)\n", (unsigned long long)p->data.result_int64);
            break;
        case ROCPROFILER_DATA_KIND_DOUBLE:
            printf(" result_double (%f)\n", p->data.result_double);
            break;
        default:
            printf(" bad result kind (%d)\n", (int)p->data.kind);
        }
    }
}

static void sample(void)
{
    rocprofiler_properties_t properties = {.queue_depth = 128};
    rocprofiler_feature_t features[] = {feature("GPUBusy"), feature("SQ_WAVES")};
    rocprofiler_t *context = NULL;
    check(rocprofiler_open(gpus[0].agent, features, 2, &context,
                           ROCPROFILER_MODE_STANDALONE | ROCPROFILER_MODE_CREATEQUEUE |
                               ROCPROFILER_MODE_SINGLEGROUP,
                           &properties));
    check(rocprofiler_start(context, 0));
    for (int i = 0; i < SAMPLES; ++i) {
        gpu_run(&gpus[0], LAUNCHES);
        check(rocprofiler_read(context, 0));
        check(rocprofiler_get_data(context, 0));
        check(rocprofiler_get_metrics(context));
        print_results(features, 2);
    }
    check(rocprofiler_stop(context, 0));
    check(rocprofiler_close(context));
}

static void hold(void)
{
    rocprofiler_feature_t waves = feature("SQ_WAVES");
    rocprofiler_t *context = NULL;
    char line[16];
    check(rocprofiler_open(gpus[0].agent, &waves, 1, &context, ROCPROFILER_MODE_STANDALONE, NULL));
    check(rocprofiler_start(context, 0));
    gpus[0].memory[0] = 0;
    hsa_signal_t running = gpu_launch(&gpus[0], gpus[0].queue, gpus[0].wait_for, 3, gpus[0].memory);
    printf("opened\n");
    fflush(stdout);
    if (!fgets(line, sizeof line, stdin))
        return;
    __atomic_store_n(&gpus[0].memory[0], 1, __ATOMIC_RELEASE);
    gpu_finish(running);
    check(rocprofiler_stop(context, 0));
    check(rocprofiler_close(context));
    printf("closed\n");
    fflush(stdout);
    (void)!fgets(line, sizeof line, stdin);
}

static hsa_status_t cpu_of(hsa_agent_t agent, void *found)
{
    hsa_device_type_t type;
    hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
    if (type == HSA_DEVICE_TYPE_CPU)
        *(hsa_agent_t *)found = agent;
    return HSA_STATUS_SUCCESS;
}

static void copies(void)
{
    enum { COPIES = 4, BYTES = 256, TO = 4096 };
    hsa_agent_t cpu = {0};
    hsa_signal_t done;
    char *memory = (char *)gpus[0].memory;
    check(hsa_iterate_agents(cpu_of, &cpu));
    check(hsa_signal_create(COPIES, 0, NULL, &done));
    for (int i = 0; i < COPIES; i++)
        check(hsa_amd_memory_async_copy(memory + TO, cpu, memory, gpus[0].agent,
                                        (size_t)(i + 1) * BYTES, 0, NULL, done));
    hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
    check(hsa_signal_destroy(done));
}

/* wait_for reads one word, however many there are. */
static void many(void)
{
    enum { GROUPS = 40000 };
    gpus[0].memory[0] = 1;
    gpu_finish(gpu_launch(&gpus[0], gpus[0].queue, gpus[0].wait_for, GROUPS, gpus[0].memory));
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    gpus_open(argv[2]);
    if (!strcmp(argv[1], "info"))
        info();
    else if (!strcmp(argv[1], "sample"))
        sample();
    else if (!strcmp(argv[1], "hold"))
        hold();
    else if (!strcmp(argv[1], "copies"))
        copies();
    else if (!strcmp(argv[1], "many"))
        many();
    else
        for (uint32_t groups = 1; groups <= LAUNCHES; groups++)
            gpu_run(&gpus[0], groups);
    if (!strcmp(argv[1], "exit"))
        return 0;
    if (!strcmp(argv[1], "fork")) {
        if (fork() == 0)
            return 0; /* by exit(), with every handler */
        wait(NULL);
    }
    gpus_close();
    printf("done\n");
    return 0;
}
