/* v1_bench KERNELS [--json FILE]: what ROC Profiler's interface costs, on the software GPU. */
#include <rocprofiler/rocprofiler.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "counting/gpu.h"
#include "sdk_side.h"

enum { ROUNDS = 200, KERNELS = 25, FETCH_ROUNDS = 400, POOL_ENTRIES = 64 };
static const double fetch_budget_ns = 200, iterate_budget_us = 2000;

static double thread_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double wall_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void check(hsa_status_t status)
{
    const char *text = "";
    if (status == HSA_STATUS_SUCCESS)
        return;
    rocprofiler_error_string(&text);
    fprintf(stderr, "v1_bench: 0x%x: %s\n", (unsigned)status, text);
    exit(1);
}

static hsa_status_t count_info(const rocprofiler_info_data_t info, void *count)
{
    (void)info;
    ++*(uint32_t *)count;
    return HSA_STATUS_SUCCESS;
}

static double iterate_us(uint32_t *count)
{
    *count = 0;
    double begin = wall_ns();
    check(
        rocprofiler_iterate_info(&gpus[0].agent, ROCPROFILER_INFO_KIND_METRIC, count_info, count));
    return (wall_ns() - begin) / 1000;
}

/* ---- pools */

static const char *const names[] = {"SQ_WAVES", "GRBM_COUNT", "TCC_HIT", "TCC_MISS"};
static rocprofiler_pool_t *pool;
static rocprofiler_feature_t features[4];
static uint64_t handled;

static bool on_data(const rocprofiler_pool_entry_t *entry, void *arg)
{
    (void)arg;
    check(rocprofiler_get_data(entry->context, 0));
    handled++;
    return true;
}

static void pool_open(rocprofiler_pool_handler_t handler)
{
    rocprofiler_pool_properties_t properties = {
        .num_entries = POOL_ENTRIES, .payload_bytes = 128, .handler = handler};
    memset(features, 0, sizeof features);
    for (int i = 0; i < 4; i++)
        features[i].name = names[i];
    check(rocprofiler_pool_open(gpus[0].agent, features, 4, &pool, 0, &properties));
}

static double fetch_ns(void)
{
    double best = 1e9;
    rocprofiler_pool_entry_t entries[POOL_ENTRIES];
    pool_open(NULL);
    for (int round = 0; round < FETCH_ROUNDS; round++) {
        double begin = thread_ns();
        for (int i = 0; i < POOL_ENTRIES; i++)
            check(rocprofiler_pool_fetch(pool, &entries[i]));
        double spent = (thread_ns() - begin) / POOL_ENTRIES;
        best = spent < best ? spent : best;
        for (int i = 0; i < POOL_ENTRIES; i++)
            check(rocprofiler_pool_release(&entries[i]));
    }
    check(rocprofiler_pool_close(pool));
    return best;
}

/* ---- kernels */

static hsa_status_t on_dispatch(const rocprofiler_callback_data_t *data, void *arg,
                                rocprofiler_group_t *group)
{
    rocprofiler_pool_entry_t entry;
    (void)data, (void)arg;
    check(rocprofiler_pool_fetch(pool, &entry));
    return rocprofiler_get_group(entry.context, 0, group);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double submit_one(hsa_signal_t done)
{
    hsa_signal_store_relaxed(done, 1);
    double begin = thread_ns();
    gpu_submit(gpus[0].queue, gpus[0].store_index, 1, gpus[0].kernarg, done);
    double spent = thread_ns() - begin;
    hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
    return spent;
}

/* The submission alone: arguments and signal are there, and the wait between two is not counted.
 * A round's result is its median, since a submission that wakes the GPU costs four times as much.
 */
static double submit(hsa_signal_t done)
{
    double spent[KERNELS];
    for (int i = 0; i < KERNELS; i++)
        spent[i] = submit_one(done);
    qsort(spent, KERNELS, sizeof *spent, compare);
    return spent[KERNELS / 2];
}

struct costs {
    double plain, counted, sdk; /* of the best round */
    double ratio;               /* counted / sdk: the median of all rounds */
};

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* All three in turn, so that what else the machine does concerns all of them. */
static struct costs submit_ns(void)
{
    hsa_signal_t done;
    struct costs best = {1e9, 1e9, 1e9, 0};
    double ratios[ROUNDS];
    check(hsa_signal_create(1, 0, NULL, &done));
    pool_open(on_data);
    check(rocprofiler_add_dispatch_callback(on_dispatch, NULL));
    for (int round = 0; round < ROUNDS; round++) {
        double counted = submit(done);
        check(rocprofiler_stop_queue_callbacks());
        best.plain = smaller(best.plain, submit(done));
        sdk_start();
        double sdk = submit(done);
        sdk_stop();
        check(rocprofiler_start_queue_callbacks());
        best.counted = smaller(best.counted, counted);
        best.sdk = smaller(best.sdk, sdk);
        ratios[round] = counted / sdk;
    }
    qsort(ratios, ROUNDS, sizeof *ratios, compare);
    best.ratio = ratios[ROUNDS / 2];
    check(rocprofiler_remove_queue_callbacks());
    check(rocprofiler_pool_flush(pool));
    check(rocprofiler_pool_close(pool));
    check(hsa_signal_destroy(done));
    return best;
}

int main(int argc, char **argv)
{
    uint32_t metrics;
    if (argc < 2)
        return 2;
    sdk_prepare(names);
    gpus_open(argv[1]);
    double first = iterate_us(&metrics), later = iterate_us(&metrics);
    double fetch = fetch_ns();
    struct costs costs = submit_ns();
    gpus_close();
    printf("iterate_info, %u metrics, first %10.0f us   %s\n", metrics, first,
           first <= iterate_budget_us ? "met" : "OVER");
    printf("iterate_info, again           %10.0f us\n", later);
    printf("pool_fetch                    %10.0f ns   %s\n", fetch,
           fetch <= fetch_budget_ns ? "met" : "OVER");
    printf("submit a kernel, uncounted    %10.0f ns\n", costs.plain);
    printf("... with 4 counters, the SDK  %10.0f ns\n", costs.sdk);
    printf("... with 4 counters, a pool   %10.0f ns\n", costs.counted);
    printf("... a pool / the SDK, of all rounds %6.3f  %s\n", costs.ratio,
           costs.ratio <= 1 ? "met" : "OVER");
    if (argc == 4 && !strcmp(argv[2], "--json")) {
        FILE *file = fopen(argv[3], "w");
        if (!file)
            return 1;
        fprintf(file,
                "{\"iterate_first_us\": %.1f, \"iterate_later_us\": %.1f, \"fetch_ns\": %.1f, "
                "\"submit_ns\": %.1f, \"submit_sdk_ns\": %.1f, "
                "\"submit_counted_ns\": %.1f, \"pool_to_sdk\": %.4f}\n",
                first, later, fetch, costs.plain, costs.sdk, costs.counted, costs.ratio);
        fclose(file);
    }
    return handled == (uint64_t)ROUNDS * KERNELS ? 0 : 1;
}
