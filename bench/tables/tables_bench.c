/*
 * tables_bench [--json FILE] [--check]: what a traced HIP call costs through the wrappers that
 * gen/table_wrappers.py makes, beyond the runtime's own function, in multiples of the floor that
 * bench/record measures.
 */
#include "../record/calls.h"
#include "intercept/hip/runtime.h"
#include "session/front/engine.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 300, CALLS = 5000 };
enum { MEMCPY = ROCPROFILER_HIP_RUNTIME_API_ID_hipMemcpy };

typedef hipError_t (*memcpy_fn)(void *, const void *, size_t, hipMemcpyKind);

static struct {
    uint64_t size;
    void *slots[ROCPROFILER_HIP_RUNTIME_API_ID_LAST];
} table = {.size = sizeof table};

enum kind { PLAIN, STOPPED, CALLBACK, BUFFERED, ARGUMENTS, KINDS };
static const struct {
    const char *name;
    double budget; /* 0: none is set */
} kinds[KINDS] = {[PLAIN] = {"plain call", 0},
                  [STOPPED] = {"stopped", 0.15},
                  [CALLBACK] = {"callback", 0.7},
                  [BUFFERED] = {"buffered", 1.5},
                  [ARGUMENTS] = {"arguments", 0}};

static rocprofiler_context_id_t contexts[KINDS];
static rocprofiler_buffer_id_t buffers[KINDS];

static __attribute__((noinline)) hipError_t runtime_memcpy(void *to, const void *from, size_t size,
                                                           hipMemcpyKind kind)
{
    __asm__ volatile("" : : "r"(to), "r"(from), "r"(size), "r"(kind));
    return hipSuccess;
}

static void on_call(rocprofiler_callback_tracing_record_t record,
                    rocprofiler_user_data_t *user_data, void *data)
{
    (void)record, (void)user_data, (void)data;
}

static void on_buffer(rocprofiler_context_id_t context, rocprofiler_buffer_id_t id,
                      rocprofiler_record_header_t **headers, size_t count, void *data,
                      uint64_t dropped)
{
    (void)context, (void)id, (void)headers, (void)count, (void)data, (void)dropped;
}

static int buffered(enum kind kind, uint32_t tracing_kind)
{
    const rocprofiler_tracing_operation_t operation = MEMCPY;
    return (
        int)(context_create(&contexts[kind]) |
             buffer_create(contexts[kind], 4 << 20, 3 << 20, ROCPROFILER_BUFFER_POLICY_LOSSLESS,
                           on_buffer, NULL, &buffers[kind]) |
             buffer_service_configure(contexts[kind], tracing_kind, &operation, 1, buffers[kind]));
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    (void)finalize, (void)data;
    const rocprofiler_tracing_operation_t operation = MEMCPY;
    return (int)(context_create(&contexts[CALLBACK]) |
                 callback_service_configure(contexts[CALLBACK],
                                            ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API,
                                            &operation, 1, on_call, NULL)) |
           buffered(BUFFERED, ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API) |
           buffered(ARGUMENTS, ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API_EXT);
}

static rocprofiler_tool_configure_result_t *
configure(uint32_t version, const char *name, uint32_t priority, rocprofiler_client_id_t *id)
{
    static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, NULL, NULL};
    (void)version, (void)name, (void)priority, (void)id;
    return &result;
}

static memcpy_fn volatile slot;

static void hip_calls(void)
{
    for (uint32_t i = 0; i < CALLS; i++)
        slot(&table, &table, i, hipMemcpyHostToDevice);
}

static void floor_calls(void)
{
    calls_make(CALL_FLOOR, CALLS);
}

static void plain_calls(void)
{
    calls_make(CALL_PLAIN, CALLS);
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The best round: other programs of the machine only ever add time. */
static double best_ns(void (*calls)(void))
{
    double best = 1e9;
    for (int i = 0; i < ROUNDS; i++) {
        double begin = now_ns();
        calls();
        double ns = (now_ns() - begin) / CALLS;
        best = ns < best ? ns : best;
    }
    return best;
}

static double measure(enum kind kind)
{
    slot = kind == PLAIN ? runtime_memcpy : (memcpy_fn)table.slots[MEMCPY];
    if (kind > STOPPED)
        context_start(contexts[kind]);
    double ns = best_ns(hip_calls);
    if (kind > STOPPED)
        context_stop(contexts[kind]);
    return ns;
}

__attribute__((noinline)) void calls_counted_hip(void); /* by its name: ../record/count.py */
void calls_counted_hip(void)
{
    for (uint32_t i = 0; i < CALLS_COUNTED; i++)
        slot(&table, &table, i, hipMemcpyHostToDevice);
}

static int calls_only(const char *name)
{
    int kind = 0;
    while (kind < KINDS && strcmp(name, kinds[kind].name) != 0)
        kind++;
    if (kind == KINDS)
        return 2;
    measure((enum kind)kind);
    if (kind > STOPPED)
        context_start(contexts[kind]);
    calls_counted_hip();
    return 0;
}

int main(int argc, char **argv)
{
    FILE *json = NULL;
    const char *counted = NULL;
    int checking = 0, over = 0;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "calls") && i + 1 < argc)
            counted = argv[++i];
        if (!strcmp(argv[i], "--check"))
            checking = 1;
        else if (!strcmp(argv[i], "--json") && i + 1 < argc)
            json = fopen(argv[++i], "w");
    }
    static const struct runtime_row row = {.kind = RUNTIME_HIP, .name = "hip"};
    void *tables[] = {&table};
    table.slots[MEMCPY] = (void *)runtime_memcpy;
    if (session_force_configure(configure) != ROCPROFILER_STATUS_SUCCESS ||
        !hip_runtime_ops.install(&row, tables, 70000) ||
        table.slots[MEMCPY] == (void *)runtime_memcpy)
        return 2;
    if (counted)
        return calls_only(counted);
    double floor_ns = best_ns(floor_calls) - best_ns(plain_calls);
    double plain_ns = measure(PLAIN);
    printf("HIP calls through tables; floor %.1f ns\n", floor_ns);
    if (json)
        fprintf(json, "{\"benchmark\": \"tables\", \"floor_ns\": %.3f, \"results\": [\n", floor_ns);
    for (int kind = STOPPED; kind < KINDS; kind++) {
        double ns = measure((enum kind)kind) - plain_ns, ratio = ns / floor_ns;
        over += kinds[kind].budget > 0 && ratio > kinds[kind].budget;
        printf("%-10s %6.2f ns  %5.2f of the floor", kinds[kind].name, ns, ratio);
        if (kinds[kind].budget > 0)
            printf("  budget %.2f  %s", kinds[kind].budget,
                   ratio <= kinds[kind].budget ? "met" : "OVER");
        printf("\n");
        if (json)
            fprintf(
                json, "  {\"name\": \"%s\", \"ns\": %.3f, \"ratio\": %.3f, \"budget\": %.2f}%s\n",
                kinds[kind].name, ns, ratio, kinds[kind].budget, kind + 1 < KINDS ? "," : "\n]}");
    }
    if (json)
        fclose(json);
    return checking && over;
}
