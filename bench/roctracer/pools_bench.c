/* pools_bench: what a process grows by while pools of libroctracer64 are filled, against twice what
 * was asked for and 8 MiB. A program of its own: the floor's memory (../record) is every thread's.
 */
#include <hsa/hsa.h>
#include <pthread.h>
#include <roctracer/roctracer.h>
#include <roctracer/roctracer_hsa.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { POOLS_MAX = 16, CALLS_AT_ONCE = 80000, BUDGET_KIB = 8192 };

static const uint32_t OP = HSA_API_ID_hsa_signal_load_relaxed;
static hsa_signal_t the_signal;
static _Atomic uint64_t delivered;
static uint64_t made;

static const struct row {
    uint32_t pools;
    size_t bytes; /* of each */
} rows[] = {{16, 16 << 10}, {16, 256 << 10}, {1, 4 << 20}, {1, 64 << 20}};
enum { ROWS = sizeof rows / sizeof rows[0] };

static void on_records(const char *begin, const char *end, void *arg)
{
    (void)arg;
    delivered += (uint64_t)(end - begin) / sizeof(roctracer_record_t);
}

static double resident_kib(void)
{
    unsigned long pages = 0, ignored;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lu %lu", &ignored, &pages) != 2)
        pages = 0;
    if (file)
        fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1024;
}

static void *calls(void *unused)
{
    (void)unused;
    for (int i = 0; i < CALLS_AT_ONCE; i++)
        hsa_signal_load_relaxed(the_signal);
    return NULL;
}

/* Twice over, by two threads. */
static void pool_fill(size_t bytes, roctracer_pool_t *pool)
{
    pthread_t other;
    roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_API, OP, pool);
    for (size_t records = 0; records <= 2 * bytes / sizeof(roctracer_record_t);
         records += 2 * CALLS_AT_ONCE) {
        pthread_create(&other, NULL, calls, NULL);
        calls(NULL);
        pthread_join(other, NULL);
        made += 2 * CALLS_AT_ONCE;
    }
    roctracer_disable_op_activity(ACTIVITY_DOMAIN_HSA_API, OP);
}

static double measure(const struct row *row)
{
    roctracer_pool_t *pools[POOLS_MAX];
    roctracer_properties_t properties = {.buffer_size = row->bytes,
                                         .buffer_callback_fun = on_records};
    double before_kib = resident_kib();
    for (uint32_t i = 0; i < row->pools; i++) {
        roctracer_open_pool_expl(&properties, &pools[i]);
        pool_fill(row->bytes, pools[i]);
    }
    double grown_kib = resident_kib() - before_kib;
    for (uint32_t i = 0; i < row->pools; i++)
        roctracer_close_pool_expl(pools[i]);
    return grown_kib;
}

int main(int argc, char **argv)
{
    FILE *json = argc == 3 && !strcmp(argv[1], "--json") ? fopen(argv[2], "w") : NULL;
    if (hsa_init() != HSA_STATUS_SUCCESS || hsa_signal_create(1, 0, NULL, &the_signal)) {
        fprintf(stderr, "pools_bench: no HSA runtime; run it under crocgpu\n");
        return 1;
    }
    if (json)
        fprintf(json, "{\"benchmark\": \"pools\", \"unit\": \"KiB resident\", \"results\": [\n");
    printf("%-16s %12s %12s\n", "pools", "resident", "budget");
    for (int i = 0; i < ROWS; i++) {
        double kib = measure(&rows[i]);
        double budget_kib = 2 * (double)(rows[i].pools * rows[i].bytes) / 1024 + BUDGET_KIB;
        printf("%3u x %6zu KiB %8.0f KiB %8.0f KiB%s\n", rows[i].pools, rows[i].bytes >> 10, kib,
               budget_kib, kib > budget_kib ? "  MISSED" : "");
        if (json)
            fprintf(json,
                    "  {\"pools\": %u, \"bytes\": %zu, \"kib\": %.0f, \"budget_kib\": %.0f}%s\n",
                    rows[i].pools, rows[i].bytes, kib, budget_kib, i == ROWS - 1 ? "" : ",");
    }
    if (json)
        fprintf(json, "]}\n");
    int status = json && fclose(json) ? 1 : 0;
    hsa_shut_down();
    return status || delivered != made;
}
