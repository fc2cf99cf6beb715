/* out_bench [PLUGIN...]: CPU seconds to write a million records, to files in memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "out/perfetto/lanes.h"
#include "out/perfetto/perfetto.h"
#include "plugin.h"
#include "tables.h"

enum { RECORDS = 1000000, THREADS = 8, NAMES = 64, ROUNDS = 5 };
/* The design's section 5. */
static const double perfetto_budget_s = 0.8, csv_budget_s = 0.3, rocpd_budget_s = 1.5;
/* Of the formats that came later. */
static const double json_budget_s = 0.3, otf2_budget_s = 0.5, pftrace_budget_s = 0.5,
                    html_budget_s = 2.0;

/* CPU time: files are in memory, and the machine may be shared. */
double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int trace_write(const char *path)
{
    int status;
    struct perfetto *trace = perfetto_create(path, &status);
    if (!trace)
        return status;
    perfetto_track process = perfetto_process(trace, 4242, "program"), threads[THREADS];
    for (uint32_t i = 0; i < THREADS; i++)
        threads[i] = perfetto_thread(trace, process, 4242, 4242 + i, NULL);
    struct lanes queue = {.parent = process, .name = "GPU 0 queue 0"};
    perfetto_text api = perfetto_category(trace, "hip"), gpu = perfetto_category(trace, "gpu");
    for (uint32_t i = 0; i < RECORDS / 2; i++) {
        uint64_t begin = 975779239309496u + 1000 * (uint64_t)i;
        char name[32];
        snprintf(name, sizeof name, "hipFunction%u", i % NAMES);
        struct perfetto_event call = {.track = threads[i % THREADS],
                                      .name = perfetto_name(trace, name),
                                      .category = api,
                                      .begin_ns = begin,
                                      .end_ns = begin + 300,
                                      .flow_id = i + 1};
        perfetto_slice(trace, &call);
        struct perfetto_event work = {.name = perfetto_name(trace, "kernel"),
                                      .category = gpu,
                                      .begin_ns = begin + 500,
                                      .end_ns = begin + 1700,
                                      .flow_id = i + 1,
                                      .flow_ends = 1};
        work.track = lanes_track(&queue, trace, work.begin_ns, work.end_ns);
        perfetto_slice(trace, &work);
    }
    lanes_free(&queue);
    return perfetto_close(trace);
}

/* The writer alone: calls and device work, half and half. */
static double writer_seconds(const char *unused, uint32_t records, uint64_t *bytes)
{
    (void)unused;
    (void)records;
    char folder[] = "/dev/shm/crocprof-out-XXXXXX", path[64];
    if (!mkdtemp(folder)) {
        perror(folder);
        return -1;
    }
    snprintf(path, sizeof path, "%s/trace", folder);
    double begin = now_s();
    int status = trace_write(path);
    double seconds = now_s() - begin;
    struct stat info = {0};
    stat(path, &info);
    *bytes = (uint64_t)info.st_size;
    unlink(path);
    rmdir(folder);
    return status == 0 ? seconds : -1;
}

struct result {
    const char *name, *what; /* what: a plugin's path, a table format */
    double (*write)(const char *what, uint32_t records, uint64_t *bytes);
    double budget_s;
    double best_s;
    uint64_t bytes;
};

/* The best round: other programs of the machine only ever add time. */
static int measure(struct result *result)
{
    result->best_s = 1e9;
    for (int i = 0; i < ROUNDS; i++) {
        double seconds = result->write(result->what, RECORDS, &result->bytes);
        if (seconds < 0)
            return -1;
        result->best_s = seconds < result->best_s ? seconds : result->best_s;
    }
    printf("%-22s %7.3f s %6.1f MB  budget %.1f s  %s\n", result->name, result->best_s,
           (double)result->bytes * 1e-6, result->budget_s,
           result->best_s <= result->budget_s ? "met" : "OVER");
    return 0;
}

static void json_write(const char *path, const struct result *results, int count)
{
    FILE *out = fopen(path, "w");
    if (!out)
        return;
    fprintf(out, "{\"benchmark\": \"out\", \"unit\": \"seconds per million records\", "
                 "\"results\": [\n");
    for (int i = 0; i < count; i++)
        fprintf(out, "  {\"name\": \"%s\", \"s\": %.4f, \"bytes\": %llu, \"budget\": %.2f}%s\n",
                results[i].name, results[i].best_s, (unsigned long long)results[i].bytes,
                results[i].budget_s, i + 1 < count ? "," : "");
    fprintf(out, "]}\n");
    fclose(out);
}

int main(int argc, char **argv)
{
    enum { RESULTS_MAX = 12 };
    struct result results[RESULTS_MAX] = {
        {.name = "perfetto writer", .write = writer_seconds, .budget_s = perfetto_budget_s},
        {"csv, kernels", "csv kernel_trace.csv", table_seconds, csv_budget_s, 0, 0},
        {"json, kernels", "json results.json", table_seconds, json_budget_s, 0, 0},
        {"otf2, kernels", "otf2 results/2.evt", table_seconds, otf2_budget_s, 0, 0},
        {"pftrace, kernels", "pftrace results.pftrace", table_seconds, pftrace_budget_s, 0, 0},
        {"rocpd, kernels", "rocpd results.db", table_seconds, rocpd_budget_s, 0, 0},
        {"html, kernels", "html results.html", table_seconds, html_budget_s, 0, 0}};
    const char *json = NULL;
    int checking = 0, count = 7, over;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--check")) {
            checking = 1;
        } else if (!strcmp(argv[i], "--json") && i + 1 < argc) {
            json = argv[++i];
        } else if (count < RESULTS_MAX) {
            const char *slash = strrchr(argv[i], '/');
            results[count++] = (struct result){.name = slash ? slash + 1 : argv[i],
                                               .what = argv[i],
                                               .write = plugin_seconds,
                                               .budget_s = perfetto_budget_s};
        }
    }
    for (int i = 0; i < count; i++)
        if (measure(&results[i]) != 0)
            return 1;
    if (json)
        json_write(json, results, count);
    over = 0;
    for (int i = 0; i < count; i++)
        over |= results[i].best_s > results[i].budget_s;
    return checking && over;
}
