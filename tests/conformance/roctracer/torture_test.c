/* What no sane client does all at once: pools of every size over memory of every alignment, pools
 * that open and close each other, threads that end while others flush, markers in signal handlers,
 * children, and calls with random arguments. Nothing may crash, hang, overrun or be told twice. */
#include "common.h"
#include "ways.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/time.h>

#include <roctracer/roctx.h>

enum { RECORD_BYTES = sizeof(roctracer_record_t), CALLS = 50 };
static const activity_domain_t HSA = ACTIVITY_DOMAIN_HSA_API;
static const uint32_t OP = HSA_API_ID_hsa_system_get_info;
static const uint32_t OTHER = HSA_API_ID_hsa_system_extension_supported;

static void call(void)
{
    uint16_t major;
    CHECK(hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &major) == HSA_STATUS_SUCCESS);
}

static void other_call(void)
{
    bool result;
    hsa_system_extension_supported(0, 1, 0, &result);
}

static void calls(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        call();
}

static void nap(long us)
{
    const struct timespec time = {0, us * 1000};
    nanosleep(&time, NULL);
}

/* ---- a pool that counts, and looks at every record */

struct counting {
    roctracer_pool_t *pool;
    uint32_t op;
    _Atomic unsigned records;
};

static void count_records(const char *begin, const char *end, void *arg)
{
    struct counting *c = arg;
    CHECK((end - begin) % RECORD_BYTES == 0 && end > begin);
    for (const char *at = begin; at != end; at += RECORD_BYTES) {
        roctracer_record_t record; /* the memory need not be aligned */
        memcpy(&record, at, sizeof record);
        CHECK(record.domain == HSA && record.op == c->op && record.correlation_id);
        CHECK(record.begin_ns <= record.end_ns);
        c->records++;
    }
}

static void counting_open(struct counting *c, uint32_t op, size_t size)
{
    const roctracer_properties_t properties = {
        .buffer_size = size, .buffer_callback_fun = count_records, .buffer_callback_arg = c};
    c->op = op;
    c->records = 0;
    DONE(roctracer_open_pool_expl(&properties, &c->pool));
    DONE(roctracer_enable_op_activity_expl(HSA, op, c->pool));
}

/* ---- memory */

/* Pages that end where nothing is mapped; the memory ends right there, aligned or not. */
static struct {
    char *pages;
    unsigned allocations, frees;
} guarded;
enum { GUARDED_BYTES = 64 << 10 };

static void guarded_allocate(char **memory, size_t size, void *arg)
{
    CHECK(arg == &guarded);
    if (*memory) {
        CHECK(size == 0);
        guarded.frees++;
        return;
    }
    CHECK(size < GUARDED_BYTES);
    *memory = guarded.pages + GUARDED_BYTES - size;
    guarded.allocations++;
}

static int odd_sizes_at_any_address(void)
{
    struct counting c = {.op = OP};
    const roctracer_properties_t base = {.alloc_fun = guarded_allocate,
                                         .alloc_arg = &guarded,
                                         .buffer_callback_fun = count_records,
                                         .buffer_callback_arg = &c};
    guarded.pages = mmap(NULL, GUARDED_BYTES + 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(guarded.pages != MAP_FAILED);
    CHECK(mprotect(guarded.pages, GUARDED_BYTES, PROT_READ | PROT_WRITE) == 0);
    unsigned pools = 0;
    for (size_t size = 2 * RECORD_BYTES; size < GUARDED_BYTES; size += size < 300 ? 1 : size / 3) {
        roctracer_properties_t properties = base;
        properties.buffer_size = size;
        c.records = 0;
        DONE(roctracer_open_pool_expl(&properties, &c.pool));
        DONE(roctracer_enable_op_activity_expl(HSA, OP, c.pool));
        calls(CALLS);
        DONE(roctracer_close_pool_expl(c.pool));
        CHECK(c.records == CALLS);
        pools++;
    }
    CHECK(guarded.allocations == pools && guarded.frees == pools);
    return STATUS;
}

/* What is too small is refused before anybody is asked for memory. */
static int sizes_below_two_records(void)
{
    roctracer_pool_t *pool = NULL;
    roctracer_properties_t properties = {.alloc_fun = guarded_allocate, .alloc_arg = &guarded};
    for (size_t size = 0; size < 2 * RECORD_BYTES; size++) {
        properties.buffer_size = size;
        CHECK(roctracer_open_pool_expl(&properties, &pool) ==
              ROCTRACER_STATUS_ERROR_INVALID_ARGUMENT);
        CHECK(roctracer_open_pool(&properties) == ROCTRACER_STATUS_ERROR_INVALID_ARGUMENT);
    }
    properties = (roctracer_properties_t){.buffer_size = SIZE_MAX};
    CHECK(roctracer_open_pool_expl(&properties, &pool) == ROCTRACER_STATUS_ERROR_MEMORY_ALLOCATION);
    properties.buffer_size = SIZE_MAX / 2 + 1;
    CHECK(roctracer_open_pool(&properties) == ROCTRACER_STATUS_ERROR_MEMORY_ALLOCATION);
    CHECK(!pool && !roctracer_default_pool() && guarded.allocations == 0);
    return STATUS;
}

/* An allocator that has a pool of its own, and memory every other time. */
static unsigned asked, given, taken_back;

static void busy_allocate(char **memory, size_t size, void *arg)
{
    const roctracer_properties_t properties = {.buffer_size = 1000};
    roctracer_pool_t *pool;
    DONE(roctracer_open_pool_expl(&properties, &pool));
    DONE(roctracer_enable_op_activity_expl(HSA, OTHER, pool));
    other_call();
    DONE(roctracer_close_pool_expl(pool));
    CHECK(!arg);
    if (*memory) {
        CHECK(size == 0);
        free(*memory);
        taken_back++;
    } else if (asked++ % 2 == 0) {
        *memory = malloc(size);
        given++;
    }
}

static int allocator_that_calls_us(void)
{
    enum { ROUNDS = 40 };
    const roctracer_properties_t properties = {.buffer_size = 4096, .alloc_fun = busy_allocate};
    for (unsigned i = 0; i < ROUNDS; i++) {
        roctracer_status_t expected =
            i % 2 ? ROCTRACER_STATUS_ERROR_MEMORY_ALLOCATION : ROCTRACER_STATUS_SUCCESS;
        CHECK(roctracer_open_pool(&properties) == expected);
        CHECK((!roctracer_default_pool()) == (i % 2));
        DONE(roctracer_close_pool());
        CHECK(!roctracer_default_pool());
    }
    CHECK(asked == ROUNDS && given == ROUNDS / 2 && taken_back == given);
    return STATUS;
}

/* ---- pools and each other */

static int default_pool_moves(void)
{
    struct counting first = {.op = OP}, second = {.op = OTHER};
    roctracer_properties_t properties = {
        .buffer_size = 4096, .buffer_callback_fun = count_records, .buffer_callback_arg = &first};
    DONE(roctracer_open_pool(&properties));
    first.pool = roctracer_default_pool();
    properties.buffer_callback_arg = &second;
    DONE(roctracer_open_pool_expl(&properties, &second.pool));
    DONE(roctracer_enable_op_activity(HSA, OP)); /* the default of now */
    CHECK(roctracer_default_pool_expl(second.pool) == first.pool);
    DONE(roctracer_enable_op_activity(HSA, OTHER));
    call();
    other_call();
    DONE(roctracer_flush_activity());
    CHECK(first.records == 0 && second.records == 1);
    DONE(roctracer_disable_op_activity(HSA, OTHER));
    DONE(roctracer_close_pool()); /* the second; the first goes on */
    CHECK(!roctracer_default_pool());
    CHECK(roctracer_enable_op_activity(HSA, OTHER) ==
          ROCTRACER_STATUS_ERROR_DEFAULT_POOL_UNDEFINED);
    DONE(roctracer_flush_activity()); /* there is none: nothing to do */
    call();
    other_call();
    CHECK(!roctracer_default_pool_expl(first.pool));
    DONE(roctracer_close_pool_expl(NULL)); /* while it is enabled */
    call();
    CHECK(first.records == 2 && second.records == 1);
    CHECK(roctracer_close_pool_expl(first.pool) == ROCTRACER_STATUS_ERROR_INVALID_ARGUMENT);
    return STATUS;
}

/* Each full callback opens the next pool, moves the operation to it, and closes its own. */
enum { LINKS = 60 };
static struct counting chain[LINKS + 1];
static _Atomic unsigned links_begun, links; /* those whose pool has the operation */

static void on_full_that_moves(const char *begin, const char *end, void *arg)
{
    struct counting *c = arg;
    const roctracer_properties_t properties = {.buffer_size = 4 * RECORD_BYTES,
                                               .buffer_callback_fun = on_full_that_moves,
                                               .buffer_callback_arg = c + 1};
    count_records(begin, end, c);
    unsigned next = (unsigned)(c - chain) + 1;
    if (next > LINKS || links_begun >= next)
        return;
    c[1].op = OP;
    DONE(roctracer_open_pool_expl(&properties, &c[1].pool));
    links_begun = next;
    DONE(roctracer_enable_op_activity_expl(HSA, OP, c[1].pool));
    links = next;
    DONE(roctracer_close_pool_expl(c->pool));
}

static int full_callbacks_open_and_close(void)
{
    const roctracer_properties_t properties = {.buffer_size = 4 * RECORD_BYTES,
                                               .buffer_callback_fun = on_full_that_moves,
                                               .buffer_callback_arg = &chain[0]};
    chain[0].op = OP;
    DONE(roctracer_open_pool_expl(&properties, &chain[0].pool));
    DONE(roctracer_enable_op_activity_expl(HSA, OP, chain[0].pool));
    unsigned made = 0, told = 0;
    for (; links < LINKS; made++)
        call();
    DONE(roctracer_close_pool_expl(chain[LINKS].pool));
    nap(20000);
    for (unsigned i = 0; i <= LINKS; i++)
        told += chain[i].records;
    CHECK(told <= made && told >= LINKS);
    struct counting last;
    counting_open(&last, OP, 4096);
    calls(CALLS);
    DONE(roctracer_close_pool_expl(last.pool));
    CHECK(last.records == CALLS);
    return STATUS;
}

enum { PAIRS = 100 };
static struct counting pairs_of_pools[PAIRS]
                                     [2]; /* of a round: what is closed is told a moment later */

static void on_full_that_closes_the_other(const char *begin, const char *end, void *arg)
{
    struct counting *c = arg;
    struct counting *other = (c - pairs_of_pools[0]) % 2 ? c - 1 : c + 1;
    count_records(begin, end, c);
    roctracer_close_pool_expl(other->pool); /* it may be closed already */
}

static int pools_close_each_other(void)
{
    for (int round = 0; round < PAIRS; round++) {
        struct counting *pair = pairs_of_pools[round];
        for (int i = 0; i < 2; i++) {
            const roctracer_properties_t properties = {.buffer_size = 2 * RECORD_BYTES,
                                                       .buffer_callback_fun =
                                                           on_full_that_closes_the_other,
                                                       .buffer_callback_arg = &pair[i]};
            pair[i].op = i ? OTHER : OP;
            DONE(roctracer_open_pool_expl(&properties, &pair[i].pool));
        }
        for (int i = 0; i < 2; i++) /* from now on either may go at any time */
            DONE(roctracer_enable_op_activity_expl(HSA, pair[i].op, pair[i].pool));
        for (int i = 0; i < 4; i++) {
            call();
            other_call();
        }
        roctracer_flush_activity_expl(pair[round % 2].pool);
        for (int i = 0; i < 2; i++) {
            roctracer_close_pool_expl(pair[i].pool);
            CHECK(roctracer_flush_activity_expl(pair[i].pool) ==
                  ROCTRACER_STATUS_ERROR_INVALID_ARGUMENT);
            CHECK(pair[i].records <= 4);
        }
    }
    return STATUS;
}

/* ---- threads */

enum { BORN_AT_ONCE = 64, WAVES = 6 };
static _Atomic bool go_on;

static void *short_life(void *arg)
{
    calls(CALLS);
    return arg;
}

static void *flush_always(void *pool)
{
    while (go_on)
        roctracer_flush_activity_expl(pool);
    return NULL;
}

static int threads_end_while_others_flush(void)
{
    struct counting c;
    pthread_t flushers[2], threads[BORN_AT_ONCE];
    counting_open(&c, OP, 16 * RECORD_BYTES);
    go_on = true;
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&flushers[i], NULL, flush_always, c.pool) == 0);
    for (int wave = 0; wave < WAVES; wave++) {
        for (int i = 0; i < BORN_AT_ONCE; i++)
            CHECK(pthread_create(&threads[i], NULL, short_life, NULL) == 0);
        for (int i = 0; i < BORN_AT_ONCE; i++)
            pthread_join(threads[i], NULL);
        DONE(roctracer_flush_activity_expl(c.pool));
        CHECK(c.records == (unsigned)(wave + 1) * BORN_AT_ONCE * CALLS);
    }
    go_on = false;
    for (int i = 0; i < 2; i++)
        pthread_join(flushers[i], NULL);
    DONE(roctracer_close_pool_expl(c.pool));
    CHECK(c.records == WAVES * BORN_AT_ONCE * CALLS);
    return STATUS;
}

/* ---- callbacks that enable */

static _Atomic unsigned others, markers, enters, exits;

static void on_other(uint32_t domain, uint32_t op, const void *data, void *arg)
{
    CHECK(domain == HSA && op == OTHER && data && arg == &others);
    others++;
}

static void on_marker(uint32_t domain, uint32_t op, const void *data, void *arg)
{
    CHECK(domain == ACTIVITY_DOMAIN_ROCTX && op < ROCTX_API_ID_NUMBER && data && !arg);
    markers++;
}

static void on_call_that_enables(uint32_t domain, uint32_t op, const void *data, void *arg)
{
    const hsa_api_data_t *call_data = data;
    (void)op, (void)arg;
    if (call_data->phase == ACTIVITY_API_PHASE_ENTER) {
        enters++;
        DONE(roctracer_enable_op_callback(domain, OTHER, on_other, &others));
        DONE(roctracer_enable_domain_callback(ACTIVITY_DOMAIN_ROCTX, on_marker, NULL));
        other_call();
        roctxMarkA("inside");
    } else {
        exits++;
        other_call();
        DONE(roctracer_disable_op_callback(domain, OTHER));
        DONE(roctracer_disable_domain_callback(ACTIVITY_DOMAIN_ROCTX));
        other_call();
        roctxMarkA("not heard");
    }
}

static int callbacks_enable(void)
{
    DONE(roctracer_enable_op_callback(HSA, OP, on_call_that_enables, NULL));
    calls(CALLS);
    CHECK(enters == CALLS && exits == CALLS);
    CHECK(others == 4 * CALLS && markers == CALLS);
    return STATUS;
}

/* ---- markers */

static _Atomic unsigned handled;

static void on_alarm(int number)
{
    (void)number;
    int level = roctxRangePushA("in a handler");
    roctxMarkA("mark");
    roctx_range_id_t id = roctxRangeStartA("start");
    roctxRangeStop(id);
    CHECK(id != 0 && roctxRangePop() == level);
    handled++;
}

static int markers_in_signal_handlers(void)
{
    enum { DEPTH = 20, ALARMS = 300 };
    const struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &often, NULL);
    for (unsigned round = 0; handled < ALARMS; round++) {
        if (round % 2)
            DONE(roctracer_enable_domain_callback(ACTIVITY_DOMAIN_ROCTX, on_marker, NULL));
        else
            DONE(roctracer_disable_domain_callback(ACTIVITY_DOMAIN_ROCTX));
        for (int level = 0; level < DEPTH; level++)
            CHECK(roctxRangePushA("range") == level);
        for (int level = DEPTH; level-- > 0;)
            CHECK(roctxRangePop() == level);
        CHECK(roctxRangePop() < 0);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    CHECK(markers > 0);
    return STATUS;
}

/* One thread switches its operation off while another switches on: what is on is heard. */
enum { SWITCHES = 20000 };
static pthread_barrier_t before_switch, after_switch;

static void *switch_pop(void *arg)
{
    for (int i = 0; i < SWITCHES; i++) {
        DONE(roctracer_enable_op_callback(ACTIVITY_DOMAIN_ROCTX, ROCTX_API_ID_roctxRangePop,
                                          on_marker, NULL));
        pthread_barrier_wait(&before_switch);
        DONE(roctracer_disable_op_callback(ACTIVITY_DOMAIN_ROCTX, ROCTX_API_ID_roctxRangePop));
        pthread_barrier_wait(&after_switch);
    }
    return arg;
}

static int markers_switched_by_threads(void)
{
    const uint32_t op = ROCTX_API_ID_roctxMarkA;
    pthread_t thread;
    pthread_barrier_init(&before_switch, NULL, 2);
    pthread_barrier_init(&after_switch, NULL, 2);
    CHECK(pthread_create(&thread, NULL, switch_pop, NULL) == 0);
    for (unsigned i = 0; i < SWITCHES; i++) {
        pthread_barrier_wait(&before_switch);
        DONE(roctracer_enable_op_callback(ACTIVITY_DOMAIN_ROCTX, op, on_marker, NULL));
        pthread_barrier_wait(&after_switch);
        roctxMarkA("heard");
        CHECK(markers == i + 1);
        DONE(roctracer_disable_op_callback(ACTIVITY_DOMAIN_ROCTX, op));
    }
    pthread_join(thread, NULL);
    roctxMarkA("not heard");
    CHECK(markers == SWITCHES);
    return STATUS;
}

/* ---- children */

static void *calls_for_ever(void *arg)
{
    while (go_on)
        call();
    return arg;
}

/* A child has what its parent enabled, none of its threads, and may trace with pools of its own. */
static void child_live(roctracer_pool_t *parents)
{
    struct counting own;
    alarm(LIMIT_S / 3);
    calls(CALLS);
    roctracer_flush_activity_expl(parents);
    roctracer_close_pool_expl(parents);
    counting_open(&own, OP, 4 * RECORD_BYTES);
    calls(CALLS);
    DONE(roctracer_flush_activity_expl(own.pool));
    CHECK(own.records == CALLS);
    DONE(roctracer_close_pool_expl(own.pool));
    _exit(STATUS);
}

static int children_begin_anew(void)
{
    enum { CHILDREN = 10 };
    struct counting c;
    pthread_t threads[2];
    counting_open(&c, OP, 16 * RECORD_BYTES);
    go_on = true;
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, calls_for_ever, NULL) == 0);
    for (int i = 0; i < CHILDREN; i++) {
        int status = -1;
        pid_t child = fork();
        if (child == 0)
            child_live(c.pool);
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == STATUS);
    }
    go_on = false;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    DONE(roctracer_close_pool_expl(c.pool));
    return STATUS;
}

/* ---- ids of several threads */

enum { ID_THREADS = 8 };
static _Atomic unsigned pairs;
static pid_t id_threads[ID_THREADS];

static void on_pairs(const char *begin, const char *end, void *arg)
{
    const roctracer_record_t *record = (const roctracer_record_t *)(const void *)begin;
    const roctracer_record_t *last = (const roctracer_record_t *)(const void *)end;
    (void)arg;
    for (; record < last; record += 2, pairs++) { /* never parted */
        CHECK(record->domain == ACTIVITY_DOMAIN_EXT_API && record + 1 < last);
        CHECK(record[1].correlation_id == record->correlation_id);
        CHECK(id_threads[record->external_id % ID_THREADS] == (pid_t)record[1].thread_id);
    }
}

static void *calls_with_ids(void *arg)
{
    uint64_t number = (uint64_t)(uintptr_t)arg;
    activity_correlation_id_t popped;
    id_threads[number] = (pid_t)syscall(SYS_gettid);
    for (uint64_t i = 0; i < CALLS; i++) {
        DONE(roctracer_activity_push_external_correlation_id(i * ID_THREADS + number));
        call();
        DONE(roctracer_activity_pop_external_correlation_id(&popped));
        CHECK(popped == i * ID_THREADS + number);
    }
    CHECK(roctracer_activity_pop_external_correlation_id(NULL) ==
          ROCTRACER_STATUS_ERROR_MISMATCHED_EXTERNAL_CORRELATION_ID);
    return NULL;
}

static int external_ids_of_many_threads(void)
{
    const roctracer_properties_t properties = {.buffer_size = 7 * RECORD_BYTES,
                                               .buffer_callback_fun = on_pairs};
    roctracer_pool_t *pool;
    pthread_t threads[ID_THREADS];
    DONE(roctracer_open_pool_expl(&properties, &pool));
    DONE(roctracer_enable_op_activity_expl(HSA, OP, pool));
    for (uintptr_t i = 0; i < ID_THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, calls_with_ids, (void *)i) == 0);
    for (int i = 0; i < ID_THREADS; i++)
        pthread_join(threads[i], NULL);
    DONE(roctracer_close_pool_expl(pool));
    CHECK(pairs == ID_THREADS * CALLS);
    return STATUS;
}

/* ---- */

#define WAYS(X)                                                                                    \
    X(odd_sizes_at_any_address)                                                                    \
    X(sizes_below_two_records)                                                                     \
    X(allocator_that_calls_us)                                                                     \
    X(default_pool_moves)                                                                          \
    X(full_callbacks_open_and_close)                                                               \
    X(pools_close_each_other)                                                                      \
    X(threads_end_while_others_flush)                                                              \
    X(callbacks_enable)                                                                            \
    X(markers_in_signal_handlers)                                                                  \
    X(markers_switched_by_threads)                                                                 \
    X(children_begin_anew)                                                                         \
    X(external_ids_of_many_threads)

WAYS_MAIN("roctracer/torture", hsa_init() == HSA_STATUS_SUCCESS, hsa_shut_down())
