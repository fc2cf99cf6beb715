/* croc_bench record: what tracing adds to a call, against this machine's floor. */
#include "calls.h"
#include "many.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { THREADS_MAX = 2, ROUNDS = 400, CALLS_PER_ROUND = 5000 };

/* Upper limits as multiples of the floor (docs: the design's section 5); 0: none. */
static const double budgets[CALL_KINDS] = {
    [CALL_STOPPED] = 0.15, [CALL_CALLBACK] = 0.7, [CALL_BUFFERED] = 1.5};
static const double resident_budget_kib = 2 * 4096 + 8192; /* twice the buffer and 8 MiB */
static const double growth_budget_kib = 64;                /* nothing per call; pages come and go */
static const double full_budget_kib = 2 * (FULL_BUFFER_BYTES / 1024.0) + 8192;
static const double two_threads_budget = 1.1; /* buffered, per thread, against one thread */

struct lane {
    pthread_t thread;
    pthread_barrier_t *barrier;
    enum call_kind kind;
    double ns[ROUNDS];
};

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *lane_run(void *arg)
{
    struct lane *lane = arg;
    calls_make(lane->kind, CALLS_PER_ROUND);
    pthread_barrier_wait(lane->barrier);
    for (int i = 0; i < ROUNDS; i++) {
        double begin = now_ns();
        calls_make(lane->kind, CALLS_PER_ROUND);
        lane->ns[i] = (now_ns() - begin) / CALLS_PER_ROUND;
    }
    return NULL;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Lower quartile of the rounds: other programs of the machine only ever add time. */
static double quartile(struct lane *lanes, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++) {
        qsort(lanes[i].ns, ROUNDS, sizeof lanes[i].ns[0], compare);
        sum += lanes[i].ns[ROUNDS / 4];
    }
    return sum / count;
}

static double measure(enum call_kind kind, int threads)
{
    static struct lane lanes[THREADS_MAX];
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    calls_select(kind);
    for (int i = 0; i < threads; i++) {
        lanes[i].kind = kind;
        lanes[i].barrier = &barrier;
        pthread_create(&lanes[i].thread, NULL, lane_run, &lanes[i]);
    }
    for (int i = 0; i < threads; i++)
        pthread_join(lanes[i].thread, NULL);
    pthread_barrier_destroy(&barrier);
    return quartile(lanes, threads);
}

/* Resident memory of this process. */
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

struct results {
    double ns[CALL_KINDS][THREADS_MAX]; /* above the plain call, except for the plain call itself */
    uint64_t delivered, expected;
    double start_kib, warm_kib, end_kib; /* resident: before the first record, after the rounds
                                            above, after as many calls again */
    double full_kib; /* what a larger buffer adds when both of its halves are full */
};

static void full_look(void *data)
{
    *(double *)data = resident_kib();
}

static void measure_all(struct results *results)
{
    /* The floor's thread-local memory stays in the C library's cache of stacks: not ours. */
    measure(CALL_FLOOR, THREADS_MAX);
    for (int t = 0; t < THREADS_MAX; t++)
        for (int kind = 0; kind < CALL_KINDS; kind++) {
            if (kind == CALL_BUFFERED && t == 0)
                results->start_kib = resident_kib();
            double ns = measure((enum call_kind)kind, t + 1);
            results->ns[kind][t] = kind == CALL_PLAIN ? ns : ns - results->ns[CALL_PLAIN][t];
        }
    results->warm_kib = resident_kib();
    measure(CALL_BUFFERED, THREADS_MAX);
    measure(CALL_CALLBACK, THREADS_MAX);
    results->end_kib = resident_kib();
    calls_fill(full_look, &results->full_kib);
    results->full_kib -= results->end_kib;
    results->expected = (uint64_t)(1 + 2 + 2) * (ROUNDS + 1) * CALLS_PER_ROUND;
    results->delivered = calls_delivered();
}

static double ratio(const struct results *results, int kind, int t)
{
    return results->ns[kind][t] / results->ns[CALL_FLOOR][t];
}

static const char *verdict(double value, double budget)
{
    return value <= budget ? "met" : "OVER";
}

static int check(const struct results *results)
{
    int failures = results->delivered != results->expected;
    for (int kind = 0; kind < CALL_KINDS; kind++)
        for (int t = 0; t < THREADS_MAX; t++)
            failures += budgets[kind] > 0 && ratio(results, kind, t) > budgets[kind];
    failures += results->end_kib - results->warm_kib > growth_budget_kib;
    failures += results->warm_kib - results->start_kib > resident_budget_kib;
    failures += results->full_kib > full_budget_kib;
    double flat = results->ns[CALL_BUFFERED][1] / results->ns[CALL_BUFFERED][0];
    return failures + (flat > two_threads_budget);
}

static void print(const struct results *results)
{
    printf("%-12s %10s %7s %10s %7s %8s\n", "record path", "1 thread", "ratio", "2 threads",
           "ratio", "budget");
    for (int kind = 0; kind < CALL_KINDS; kind++) {
        printf("%-12s %7.2f ns", call_names[kind], results->ns[kind][0]);
        printf(" %7.2f %7.2f ns %7.2f", ratio(results, kind, 0), results->ns[kind][1],
               ratio(results, kind, 1));
        if (budgets[kind] > 0)
            printf(" %8.2f  %s", budgets[kind],
                   ratio(results, kind, 0) <= budgets[kind] &&
                           ratio(results, kind, 1) <= budgets[kind]
                       ? "met"
                       : "OVER");
        printf("\n");
    }
    printf("%-12s %7.2f ns: a function nobody configured keeps the runtime's pointer\n", "untraced",
           0.0);
    double flat = results->ns[CALL_BUFFERED][1] / results->ns[CALL_BUFFERED][0];
    printf("buffered, two threads: %.2f times the cost at one  budget %.2f  %s\n", flat,
           two_threads_budget, verdict(flat, two_threads_budget));
    double warm_kib = results->warm_kib - results->start_kib;
    double growth_kib = results->end_kib - results->warm_kib;
    printf("memory of a 4 MiB buffer: %.0f KiB  budget %.0f  %s\n", warm_kib, resident_budget_kib,
           verdict(warm_kib, resident_budget_kib));
    printf("memory in %d further calls: %+.0f KiB  budget %.0f  %s\n",
           2 * THREADS_MAX * (ROUNDS + 1) * CALLS_PER_ROUND, growth_kib, growth_budget_kib,
           verdict(growth_kib, growth_budget_kib));
    printf("memory of a %d MiB buffer with both halves full: %.0f KiB  budget %.0f  %s\n",
           FULL_BUFFER_BYTES >> 20, results->full_kib, full_budget_kib,
           verdict(results->full_kib, full_budget_kib));
    printf("%llu of %llu records delivered\n", (unsigned long long)results->delivered,
           (unsigned long long)results->expected);
}

static int write_json(const struct results *results, const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        return 1;
    }
    fprintf(file, "{\"benchmark\": \"record\", \"unit\": \"ns per call\", \"results\": [\n");
    for (int kind = 0; kind < CALL_KINDS; kind++)
        for (int t = 0; t < THREADS_MAX; t++)
            fprintf(file,
                    "  {\"name\": \"%s\", \"threads\": %d, \"ns\": %.3f, \"ratio\": %.3f, "
                    "\"budget\": %.2f}%s\n",
                    call_names[kind], t + 1, results->ns[kind][t], ratio(results, kind, t),
                    budgets[kind], kind == CALL_KINDS - 1 && t == THREADS_MAX - 1 ? "" : ",");
    fprintf(file, "], \"resident_kib\": %.0f, \"growth_kib\": %.0f, \"full_kib\": %.0f}\n",
            results->warm_kib - results->start_kib, results->end_kib - results->warm_kib,
            results->full_kib);
    return fclose(file) ? 1 : 0;
}

/* Nothing but calls, warm ones, for a tool that counts their instructions (count.py). */
static int calls_only(const char *name)
{
    int kind = 0;
    while (kind < CALL_COUNTED_KINDS && strcmp(name, call_names[kind]) != 0)
        kind++;
    if (kind == CALL_COUNTED_KINDS)
        return 2;
    calls_select((enum call_kind)kind);
    calls_make((enum call_kind)kind, CALLS_PER_ROUND);
    calls_counted_inside((enum call_kind)kind, CALLS_COUNTED);
    return 0;
}

static int record_run(int argc, char **argv)
{
    static struct results results;
    const char *json = NULL;
    int checking = 0;
    for (int i = 2; i < argc; i++) {
        if (!strcmp(argv[i], "--check"))
            checking = 1;
        else if (!strcmp(argv[i], "--json") && i + 1 < argc)
            json = argv[++i];
    }
    measure_all(&results);
    print(&results);
    if (json && write_json(&results, json))
        return 1;
    return checking && check(&results) ? 1 : 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "record") != 0 && strcmp(what, "threads") != 0 &&
        strcmp(what, "latency") != 0 && (strcmp(what, "calls") != 0 || argc != 3)) {
        fprintf(stderr, "usage: croc_bench record [--json FILE] [--check]\n"
                        "       croc_bench threads [COUNT [CALLS]]\n"
                        "       croc_bench latency\n"
                        "       croc_bench calls KIND\n");
        return 2;
    }
    if (!calls_prepare()) {
        fprintf(stderr, "croc_bench: the engine could not be configured\n");
        return 1;
    }
    if (!strcmp(what, "calls"))
        return calls_only(argv[2]);
    if (!strcmp(what, "threads"))
        return many_threads(argc > 2 ? atoi(argv[2]) : 0, argc > 3 ? (uint32_t)atoi(argv[3]) : 0);
    return strcmp(what, "latency") ? record_run(argc, argv) : many_latency();
}
