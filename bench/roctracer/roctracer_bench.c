/* roctracer_bench: what libroctracer64 adds to a call of the HSA runtime, against this machine's
 * floor. The call is hsa_signal_load_relaxed, through the real runtime's table. */
#include "../record/calls.h"

#include <hsa/hsa.h>
#include <pthread.h>
#include <roctracer/roctracer.h>
#include <roctracer/roctracer_hsa.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS_MAX = 2, MANY_MAX = 64, ROUNDS = 300, CALLS_PER_ROUND = 5000, ROWS = 6 };

static const uint32_t OP = HSA_API_ID_hsa_signal_load_relaxed;
static hsa_signal_t the_signal;
static roctracer_pool_t *large_pool, *small_pool;
static _Atomic uint64_t delivered;
static uint64_t made;

static void on_call(uint32_t domain, uint32_t op, const void *data, void *arg)
{
    (void)domain, (void)op, (void)data, (void)arg;
}

static void on_records(const char *begin, const char *end, void *arg)
{
    (void)arg;
    delivered += (uint64_t)(end - begin) / sizeof(roctracer_record_t);
}

/* ---- rows: how a call is made to be what the name says */

static void callback_on(void)
{
    roctracer_enable_op_callback(ACTIVITY_DOMAIN_HSA_API, OP, on_call, NULL);
}

static void callback_off(void)
{
    roctracer_disable_op_callback(ACTIVITY_DOMAIN_HSA_API, OP);
}

static void large_on(void)
{
    roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_API, OP, large_pool);
}

static void small_on(void)
{
    roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_API, OP, small_pool);
}

static void records_off(void)
{
    roctracer_disable_op_activity(ACTIVITY_DOMAIN_HSA_API, OP);
}

static const struct row {
    const char *name;
    void (*on)(void), (*off)(void); /* NULL: nothing to do */
    double budget;                  /* times the floor; 0: none */
} rows[ROWS] = {
    {"stand-in", NULL, NULL, 0}, /* the call below the floor */
    {"floor", NULL, NULL, 0},
    {"disabled", NULL, NULL, 0},
    {"callback", callback_on, callback_off, 0.7},
    {"record", large_on, records_off, 1.5},
    {"small pool", small_on, records_off, 0},
};
enum { ROW_STAND_IN, ROW_FLOOR, ROW_DISABLED, ROW_CALLBACK, ROW_RECORD };

/* ---- measuring */

struct lane {
    pthread_t thread;
    pthread_barrier_t *barrier;
    int row;
    double ns[ROUNDS];
};

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void calls(int row)
{
    if (row == ROW_FLOOR || row == ROW_STAND_IN) {
        calls_make(row == ROW_FLOOR ? CALL_FLOOR : CALL_PLAIN, CALLS_PER_ROUND);
        return;
    }
    for (int i = 0; i < CALLS_PER_ROUND; i++)
        hsa_signal_load_relaxed(the_signal);
}

static void *lane_run(void *arg)
{
    struct lane *lane = arg;
    calls(lane->row);
    pthread_barrier_wait(lane->barrier);
    for (int i = 0; i < ROUNDS; i++) {
        double begin = now_ns();
        calls(lane->row);
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
static double measure(int row, int threads)
{
    static struct lane lanes[MANY_MAX];
    pthread_barrier_t barrier;
    double sum = 0;
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    if (rows[row].on)
        rows[row].on();
    for (int i = 0; i < threads; i++) {
        lanes[i].row = row;
        lanes[i].barrier = &barrier;
        pthread_create(&lanes[i].thread, NULL, lane_run, &lanes[i]);
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(lanes[i].thread, NULL);
        qsort(lanes[i].ns, ROUNDS, sizeof lanes[i].ns[0], compare);
        sum += lanes[i].ns[ROUNDS / 4];
    }
    if (rows[row].off)
        rows[row].off();
    pthread_barrier_destroy(&barrier);
    return sum / threads;
}

static double ns[ROWS][THREADS_MAX]; /* above the plain call, but for the stand-in itself */

static void measure_all(void)
{
    double plain_ns[THREADS_MAX];
    for (int t = 0; t < THREADS_MAX; t++)
        plain_ns[t] = measure(ROW_DISABLED, t + 1); /* nothing is enabled: the runtime's own slot */
    callback_on();
    callback_off(); /* from now on there is a wrapper */
    for (int t = 0; t < THREADS_MAX; t++)
        for (int row = 0; row < ROWS; row++)
            ns[row][t] = measure(row, t + 1) - (row == ROW_STAND_IN ? 0
                                                : row == ROW_FLOOR  ? ns[ROW_STAND_IN][t]
                                                                    : plain_ns[t]);
    made = 2 * (1 + 2) * (uint64_t)(ROUNDS + 1) * CALLS_PER_ROUND;
}

/* How it scales: 1, 2, 4 ... `most` threads into one pool. */
static void many_report(int most)
{
    most = most > MANY_MAX ? MANY_MAX : most;
    printf("%-8s %10s %10s %10s %16s\n", "threads", "floor", "callback", "record",
           "records in all");
    for (int count = 1; count <= most;
         count = count == most || 2 * count <= most ? 2 * count : most) {
        double floor_ns = measure(ROW_FLOOR, count), callback_ns = measure(ROW_CALLBACK, count);
        double record_ns = measure(ROW_RECORD, count);
        made += (uint64_t)count * (ROUNDS + 1) * CALLS_PER_ROUND;
        printf("%-8d %7.1f ns %7.1f ns %7.1f ns %12.1f M/s\n", count, floor_ns, callback_ns,
               record_ns, count * 1e3 / record_ns);
    }
}

static int report(const char *json)
{
    FILE *file = json ? fopen(json, "w") : NULL;
    printf("%-12s %10s %7s %10s %7s %8s\n", "roctracer", "1 thread", "ratio", "2 threads", "ratio",
           "budget");
    if (file)
        fprintf(file, "{\"benchmark\": \"roctracer\", \"unit\": \"ns per call\", \"results\": [\n");
    for (int row = 0; row < ROWS; row++) {
        printf("%-12s %7.2f ns %7.2f %7.2f ns %7.2f", rows[row].name, ns[row][0],
               ns[row][0] / ns[ROW_FLOOR][0], ns[row][1], ns[row][1] / ns[ROW_FLOOR][1]);
        if (rows[row].budget > 0)
            printf(" %8.2f  %s", rows[row].budget,
                   ns[row][0] <= rows[row].budget * ns[ROW_FLOOR][0] &&
                           ns[row][1] <= rows[row].budget * ns[ROW_FLOOR][1]
                       ? "met"
                       : "OVER");
        printf("\n");
        for (int t = 0; file && t < THREADS_MAX; t++)
            fprintf(file,
                    "  {\"name\": \"%s\", \"threads\": %d, \"ns\": %.3f, \"ratio\": %.3f, "
                    "\"budget\": %.2f}%s\n",
                    rows[row].name, t + 1, ns[row][t], ns[row][t] / ns[ROW_FLOOR][t],
                    rows[row].budget, row == ROWS - 1 && t == THREADS_MAX - 1 ? "" : ",");
    }
    if (file)
        fprintf(file, "]}\n");
    return file && fclose(file) ? 1 : 0;
}

static roctracer_pool_t *pool_open(size_t size)
{
    roctracer_pool_t *pool = NULL;
    roctracer_properties_t properties = {.buffer_size = size, .buffer_callback_fun = on_records};
    roctracer_open_pool_expl(&properties, &pool);
    return pool;
}

int main(int argc, char **argv)
{
    const char *json = argc == 3 && !strcmp(argv[1], "--json") ? argv[2] : NULL;
    int threads = argc == 3 && !strcmp(argv[1], "threads") ? atoi(argv[2]) : 0;
    if (hsa_init() != HSA_STATUS_SUCCESS || hsa_signal_create(1, 0, NULL, &the_signal)) {
        fprintf(stderr, "roctracer_bench: no HSA runtime; run it under crocgpu\n");
        return 1;
    }
    large_pool = pool_open(4 << 20);
    small_pool = pool_open(16 << 10);
    if (threads)
        many_report(threads);
    else
        measure_all();
    roctracer_close_pool_expl(large_pool);
    roctracer_close_pool_expl(small_pool);
    printf("%llu of %llu records delivered\n", (unsigned long long)delivered,
           (unsigned long long)made);
    int status = (!threads && report(json)) || delivered != made;
    hsa_shut_down();
    return status;
}
