/* dispatch_bench: CPU time that tracing adds to one kernel dispatch. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "intercept/hsa/completion.h"
#include "intercept/hsa/install.h"
#include "intercept/hsa/tables.h"
#include "intercept/hsa/test/mock_hsa.h"
#include "record/calls.h"
#include "session/counting/runtime.h"
#include "session/engine.h"

enum { DISPATCHES = 20480, ROUNDS = 15, DEPTHS = 4, STALL_NS = 2000000000, FLOOR_CALLS = 100000 };
static const uint32_t depths[DEPTHS] = {1, 16, 256, 1024};
static const double budget_ns = 300, counted_budget_ns = 15000;

/* ---- the tool ---- */

static rocprofiler_context_id_t context;
static rocprofiler_buffer_id_t buffer;
static _Atomic uint64_t delivered;

static void on_buffer(rocprofiler_context_id_t context_id, rocprofiler_buffer_id_t id,
                      rocprofiler_record_header_t **headers, size_t count, void *data,
                      uint64_t dropped)
{
    (void)context_id, (void)id, (void)headers, (void)data, (void)dropped;
    delivered += count;
}

/* Counting, in a context of its own. */
static rocprofiler_context_id_t counting;
static rocprofiler_counter_config_id_t config;
static uint64_t values_counted;

static void on_dispatch(rocprofiler_dispatch_counting_service_data_t dispatch,
                        rocprofiler_counter_config_id_t *chosen, rocprofiler_user_data_t *user_data,
                        void *data)
{
    (void)dispatch, (void)user_data, (void)data;
    *chosen = config;
}

static void on_values(rocprofiler_dispatch_counting_service_data_t dispatch,
                      rocprofiler_counter_record_t *records, size_t count,
                      rocprofiler_user_data_t user_data, void *data)
{
    (void)dispatch, (void)records, (void)user_data, (void)data;
    values_counted += count;
}

static rocprofiler_status_t counting_configure(void)
{
    static const char *const names[] = {"SQ_WAVES", "GRBM_COUNT", "TCC_HIT", "TCC_MISS"};
    rocprofiler_agent_id_t gpu = topology_system()->agents[1]->id;
    const struct catalog *catalog = counting_catalog(counting_agent_find(gpu));
    rocprofiler_counter_id_t ids[4];
    for (int i = 0; i < 4; i++)
        ids[i].handle = catalog_find(catalog, names[i])->id;
    rocprofiler_status_t failed = context_create(&counting);
    failed |= counting_config_create(gpu, ids, 4, &config);
    failed |= counting_dispatch_configure_callback(counting, on_dispatch, NULL, on_values, NULL);
    return failed;
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    (void)finalize, (void)data;
    rocprofiler_status_t failed = context_create(&context);
    failed |= buffer_create(context, 16 << 20, 12 << 20, ROCPROFILER_BUFFER_POLICY_LOSSLESS,
                            on_buffer, NULL, &buffer);
    failed |= buffer_service_configure(context, ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH, NULL, 0,
                                       buffer);
    failed |= counting_configure();
    return (int)failed;
}

static rocprofiler_tool_configure_result_t *
configure(uint32_t version, const char *name, uint32_t priority, rocprofiler_client_id_t *id)
{
    static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, NULL, NULL};
    (void)version, (void)name, (void)priority, (void)id;
    return &result;
}

/* ---- clocks ---- */

static uint64_t thread_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static FILE *task_open(const char *task, const char *file)
{
    char path[300];
    snprintf(path, sizeof path, "/proc/self/task/%s/%s", task, file);
    return fopen(path, "r");
}

static bool task_is_completion(const char *task)
{
    char name[32] = "";
    FILE *file = task_open(task, "comm");
    if (!file)
        return false;
    bool is = fgets(name, sizeof name, file) && !strcmp(name, "croc-completion\n");
    fclose(file);
    return is;
}

static uint64_t completion_cpu_ns(void)
{
    unsigned long long ns = 0;
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *entry;
    while (tasks && (entry = readdir(tasks))) {
        FILE *file =
            task_is_completion(entry->d_name) ? task_open(entry->d_name, "schedstat") : NULL;
        if (!file)
            continue;
        if (fscanf(file, "%llu", &ns) != 1)
            ns = 0;
        fclose(file);
    }
    if (tasks)
        closedir(tasks);
    return ns;
}

/* ---- the program ---- */

static hsa_queue_t *queue;
static hsa_signal_t *signals; /* of the program, one per kernel in flight */

static void kernel_submit(uint32_t i, hsa_signal_t completion)
{
    hsa_kernel_dispatch_packet_t packet = {.header = HSA_PACKET_TYPE_KERNEL_DISPATCH |
                                                     1 << HSA_PACKET_HEADER_BARRIER,
                                           .setup = 1,
                                           .workgroup_size_x = 64,
                                           .workgroup_size_y = 1,
                                           .workgroup_size_z = 1,
                                           .grid_size_x = i,
                                           .grid_size_y = 1,
                                           .grid_size_z = 1,
                                           .kernel_object = mock_kernel_object(0),
                                           .completion_signal = completion};
    mock_packets_submit(queue, &packet, 1);
}

/* As programs do before they use a signal again. */
static hsa_signal_t signal_take(uint32_t n)
{
    amd_signal_t *signal = (amd_signal_t *)(uintptr_t)signals[n].handle;
    while (__atomic_load_n(&signal->value, __ATOMIC_ACQUIRE) > 0)
        ;
    signal->value = 1;
    return signals[n];
}

struct cost {
    double enqueue_ns, completion_ns;
};

/* As a program does that runs `depth` kernels ahead. The device's time is not counted. */
static struct cost round_run(uint32_t depth, bool with_signals)
{
    uint64_t completion = completion_cpu_ns(), enqueue = 0;
    uint32_t batch = depth < 64 ? depth : 64;
    for (uint32_t i = 0; i < DISPATCHES; i += batch) {
        mock_device_finish(queue, depth - batch);
        hsa_signal_t taken[64] = {{0}};
        for (uint32_t k = 0; with_signals && k < batch; k++)
            taken[k] = signal_take((i + k) % (2 * depth));
        uint64_t begin = thread_cpu_ns();
        for (uint32_t k = 0; k < batch; k++)
            kernel_submit(i + k + 1, taken[k]);
        enqueue += thread_cpu_ns() - begin;
    }
    mock_device_finish(queue, 0);
    completion_drain(STALL_NS);
    return (struct cost){(double)enqueue / DISPATCHES,
                         (double)(completion_cpu_ns() - completion) / DISPATCHES};
}

static int cost_compare(const void *a, const void *b)
{
    const struct cost *x = a, *y = b;
    double left = x->enqueue_ns + x->completion_ns, right = y->enqueue_ns + y->completion_ns;
    return left < right ? -1 : left > right;
}

/* Lower quartile of the rounds: other programs of the machine only ever add time. */
static struct cost measure(uint32_t depth, bool with_signals)
{
    struct cost costs[ROUNDS];
    round_run(depth, with_signals);
    for (int i = 0; i < ROUNDS; i++)
        costs[i] = round_run(depth, with_signals);
    qsort(costs, ROUNDS, sizeof costs[0], cost_compare);
    return costs[ROUNDS / 4];
}

static double floor_ns(void)
{
    double best[2] = {1e9, 1e9};
    for (int round = 0; round < 50; round++)
        for (int kind = 0; kind < 2; kind++) {
            uint64_t begin = thread_cpu_ns();
            calls_make(kind ? CALL_FLOOR : CALL_PLAIN, FLOOR_CALLS);
            double each = (double)(thread_cpu_ns() - begin) / FLOOR_CALLS;
            best[kind] = each < best[kind] ? each : best[kind];
        }
    return best[1] - best[0];
}

static bool prepare(void)
{
    if (session_force_configure(configure) != ROCPROFILER_STATUS_SUCCESS ||
        !intercept_hsa_install(mock_table_make(2), 0))
        return false;
    counting_runtime_arrived();
    mock_device_by_hand();
    hsa_status_t (*create)(hsa_agent_t, uint32_t, hsa_queue_type32_t,
                           void (*)(hsa_status_t, hsa_queue_t *, void *), void *, uint32_t,
                           uint32_t, hsa_queue_t **);
    *(void **)&create = mock_function(HSA_FN_hsa_queue_create);
    if (create((hsa_agent_t){MOCK_GPU}, 4096, 0, NULL, NULL, 0, 0, &queue) != HSA_STATUS_SUCCESS)
        return false;
    signals = calloc(2 * depths[DEPTHS - 1], sizeof *signals);
    amd_signal_t *memory = aligned_alloc(128, 2 * depths[DEPTHS - 1] * 128);
    for (uint32_t i = 0; signals && memory && i < 2 * depths[DEPTHS - 1]; i++) {
        amd_signal_t *signal = &memory[2 * i]; /* the runtime's stand 128 bytes apart */
        memset(signal, 0, sizeof *signal);
        signal->kind = AMD_SIGNAL_KIND_USER;
        signals[i].handle = (uint64_t)(uintptr_t)signal;
    }
    return signals && memory;
}

struct row {
    uint32_t depth;
    bool with_signals;
    double plain_ns; /* enqueue of a stopped context */
    struct cost cost;
};

static double total_ns(const struct row *row)
{
    return row->cost.enqueue_ns - row->plain_ns + row->cost.completion_ns;
}

static void rows_measure(struct row *rows)
{
    for (int i = 0; i < 2 * DEPTHS; i++) {
        struct row *row = &rows[i];
        *row = (struct row){.depth = depths[i % DEPTHS], .with_signals = i >= DEPTHS};
        context_stop(context);
        row->plain_ns = measure(row->depth, row->with_signals).enqueue_ns;
        context_start(context);
        row->cost = measure(row->depth, row->with_signals);
    }
}

/* One kernel at a time, its own signal; without the tracing of the other rows. */
static struct row counted_measure(void)
{
    struct row row = {.depth = 1, .with_signals = true};
    context_stop(context);
    row.plain_ns = measure(1, true).enqueue_ns;
    context_start(counting);
    row.cost = measure(1, true);
    context_stop(counting);
    return row;
}

static void rows_print(const struct row *rows, double floor)
{
    printf("%-26s %9s %12s %8s %7s   (floor %.1f ns, budget %.0f ns)\n", "kernel dispatch, CPU ns",
           "enqueue", "completion", "total", "ratio", floor, budget_ns);
    for (int i = 0; i < 2 * DEPTHS; i++)
        printf("%5u in flight%-13s %9.1f %12.1f %8.1f %7.1f\n", rows[i].depth,
               rows[i].with_signals ? ", own signal" : "",
               rows[i].cost.enqueue_ns - rows[i].plain_ns, rows[i].cost.completion_ns,
               total_ns(&rows[i]), total_ns(&rows[i]) / floor);
}

static int json_write(const struct row *rows, const struct row *counted, double floor,
                      const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        return 1;
    }
    fprintf(file,
            "{\"benchmark\": \"dispatch\", \"unit\": \"CPU ns\", \"floor\": %.2f, \"results\": [\n",
            floor);
    for (int i = 0; i < 2 * DEPTHS; i++)
        fprintf(
            file,
            "  {\"in_flight\": %u, \"own_signal\": %s, \"enqueue\": %.1f, \"completion\": %.1f, "
            "\"total\": %.1f, \"budget\": %.0f}%s\n",
            rows[i].depth, rows[i].with_signals ? "true" : "false",
            rows[i].cost.enqueue_ns - rows[i].plain_ns, rows[i].cost.completion_ns,
            total_ns(&rows[i]), budget_ns, i == 2 * DEPTHS - 1 ? "" : ",");
    fprintf(file, "], \"counted\": {\"enqueue\": %.1f, \"completion\": %.1f, \"total\": %.1f}}\n",
            counted->cost.enqueue_ns - counted->plain_ns, counted->cost.completion_ns,
            total_ns(counted));
    return fclose(file) ? 1 : 0;
}

int main(int argc, char **argv)
{
    static struct row rows[2 * DEPTHS];
    const char *json = NULL;
    int failures = 0;
    bool checking = false;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--check"))
            checking = true;
        else if (!strcmp(argv[i], "--json") && i + 1 < argc)
            json = argv[++i];
    }
    if (!prepare()) {
        fprintf(stderr, "dispatch_bench: the engine could not be configured\n");
        return 1;
    }
    rows_measure(rows);
    struct row counted = counted_measure();
    double floor = floor_ns();
    rows_print(rows, floor);
    printf("    1 in flight, 4 counters %9.1f %12.1f %8.1f           (budget %.0f ns)\n",
           counted.cost.enqueue_ns - counted.plain_ns, counted.cost.completion_ns,
           total_ns(&counted), counted_budget_ns);
    buffer_flush(buffer);
    uint64_t expected = (uint64_t)2 * DEPTHS * (ROUNDS + 1) * DISPATCHES;
    printf("%llu of %llu kernels delivered\n", (unsigned long long)delivered,
           (unsigned long long)expected);
    for (int i = 0; i < 2 * DEPTHS; i++)
        failures += total_ns(&rows[i]) > budget_ns;
    failures += total_ns(&counted) > counted_budget_ns || values_counted == 0;
    if (json && json_write(rows, &counted, floor, json))
        return 1;
    return (checking && failures) || delivered != expected;
}
