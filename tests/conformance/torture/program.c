/*
 * dispatch_torture OBJECT SECONDS [SEED [restart]]: threads that launch in every way a program may,
 * on queues of their own and on shared ones, round after round; at the end the tool leaves in the
 * middle. `restart`: the runtime is shut down and started again now and then.
 */
#include "torture.h"

#include <hsa/amd_hsa_signal.h>

#include <pthread.h>
#include <string.h>
#include <time.h>

enum {
    THREADS = 4,
    SHARED = 2,
    SIGNALS = 6,
    ACTIONS = 150,
    BATCH_MAX = 24,
    BUFFER_SLOT_BYTES = MEMORY_BYTES / THREADS,
    WAIT_LIMIT_S = 60
};

uint64_t torture_seed;

struct queue {
    hsa_queue_t *hsa;
    bool shared;   /* several threads write to it */
    uint32_t last; /* the latest dispatch of the only one; NUMBERS: none */
};

struct worker {
    pthread_t thread;
    struct dice dice;
    uint32_t index;
    struct queue own, other; /* nobody else writes to these */
    hsa_signal_t signals[SIGNALS];
    _Atomic uint32_t handled; /* by asynchronous handlers */
};

static struct queue shared[SHARED];
static struct worker workers[THREADS];
static _Atomic bool toggling;

/* ---- queues and packets */

static struct queue queue_new(struct dice *dice, bool is_shared)
{
    struct queue queue = {.shared = is_shared, .last = NUMBERS};
    uint32_t size = 64u << dice_roll(dice, 5);
    HSA(hsa_queue_create(device_gpu, size, is_shared ? HSA_QUEUE_TYPE_MULTI : HSA_QUEUE_TYPE_SINGLE,
                         NULL, NULL, UINT32_MAX, UINT32_MAX, &queue.hsa));
    if (dice_roll(dice, 4) == 0) /* the program may want times, or no more of them */
        HSA(hsa_amd_profiling_set_profiler_enabled(queue.hsa, (int)dice_roll(dice, 2)));
    return queue;
}

/* The first of `count` places in the ring, when they are free. */
static uint64_t places_take(const struct queue *queue, uint32_t count)
{
    uint64_t first = hsa_queue_add_write_index_relaxed(queue->hsa, count);
    while (first + count - hsa_queue_load_read_index_scacquire(queue->hsa) > queue->hsa->size)
        usleep(20);
    return first;
}

static void *place(const struct queue *queue, uint64_t index)
{
    return (char *)queue->hsa->base_address + index % queue->hsa->size * 64;
}

/* The header last: until then the place holds no packet. */
static void packet_put(const struct queue *queue, uint64_t index, const void *packet)
{
    char *at = place(queue, index);
    uint16_t header;
    memcpy(&header, packet, sizeof header);
    memcpy(at + sizeof header, (const char *)packet + sizeof header, 64 - sizeof header);
    __atomic_store_n((uint16_t *)(void *)at, header, __ATOMIC_RELEASE);
}

static void doorbell(const struct queue *queue, uint64_t index)
{
    hsa_signal_store_screlease(queue->hsa->doorbell_signal, (hsa_signal_value_t)index);
}

static void packet_submit(const struct queue *queue, const void *packet)
{
    uint64_t index = places_take(queue, 1);
    packet_put(queue, index, packet);
    doorbell(queue, index);
}

static uint16_t header_of(struct dice *dice, unsigned type, bool barrier)
{
    static const unsigned scopes[] = {HSA_FENCE_SCOPE_NONE, HSA_FENCE_SCOPE_AGENT,
                                      HSA_FENCE_SCOPE_SYSTEM};
    return (uint16_t)(type << HSA_PACKET_HEADER_TYPE | barrier << HSA_PACKET_HEADER_BARRIER |
                      scopes[dice_roll(dice, 3)] << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                      HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE);
}

/* `packet` for another dispatch, whose number is returned; what is written next on its queue. */
static uint32_t kernel_make(struct worker *worker, struct queue *queue, hsa_signal_t signal,
                            hsa_kernel_dispatch_packet_t *packet)
{
    uint32_t number = oracle_number();
    bool barrier = dice_roll(&worker->dice, 3) == 0;
    *packet = (hsa_kernel_dispatch_packet_t){
        .header = header_of(&worker->dice, HSA_PACKET_TYPE_KERNEL_DISPATCH, barrier),
        .setup = 1,
        .workgroup_size_x = 64,
        .workgroup_size_y = 1,
        .workgroup_size_z = 1,
        .grid_size_x = number_grid(number),
        .grid_size_y = 1,
        .grid_size_z = 1,
        .group_segment_size = number_group_bytes(number),
        .kernel_object = device_kernel,
        .kernarg_address = device_arguments[dice_roll(&worker->dice, LENGTHS)],
        .completion_signal = signal};
    if (!queue->shared && queue->last < NUMBERS)
        oracle_follows(number, queue->last, barrier);
    if (!queue->shared)
        queue->last = number;
    return number;
}

static uint32_t kernel_submit(struct worker *worker, struct queue *queue, hsa_signal_t signal)
{
    hsa_kernel_dispatch_packet_t packet;
    uint32_t number = kernel_make(worker, queue, signal, &packet);
    packet_submit(queue, &packet);
    return number;
}

static void barrier_submit(struct worker *worker, const struct queue *queue, unsigned type,
                           hsa_signal_t dependency, hsa_signal_t signal)
{
    const hsa_barrier_and_packet_t packet = {
        .header = header_of(&worker->dice, type, dice_roll(&worker->dice, 2)),
        .dep_signal = {dependency},
        .completion_signal = signal};
    packet_submit(queue, &packet);
}

/* ---- signals */

static hsa_signal_t signal_new(struct dice *dice, hsa_signal_value_t value)
{
    hsa_signal_t signal;
    uint32_t kind = dice_roll(dice, 4);
    uint64_t attributes = kind == 0   ? HSA_AMD_SIGNAL_AMD_GPU_ONLY
                          : kind == 1 ? HSA_AMD_SIGNAL_IPC
                                      : 0;
    if (hsa_amd_signal_create(value, 0, NULL, attributes, &signal) != HSA_STATUS_SUCCESS)
        HSA(hsa_signal_create(value, 0, NULL, &signal));
    return signal;
}

static uint64_t time_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Printed for the record: a second on an idle machine means that something got stuck. */
static _Atomic uint64_t longest_wait_ms;

static void longest_wait_note(uint64_t ms)
{
    uint64_t longest = atomic_load(&longest_wait_ms);
    while (ms > longest && !atomic_compare_exchange_weak(&longest_wait_ms, &longest, ms))
        ;
}

/* Those that interrupt have an event, which the runtime can wait for. */
static bool signal_interrupts(hsa_signal_t signal)
{
    return ((const amd_signal_t *)(uintptr_t)signal.handle)->event_mailbox_ptr != 0;
}

static hsa_signal_value_t signal_poll(hsa_signal_t signal, hsa_signal_value_t value)
{
    time_t end = time(NULL) + WAIT_LIMIT_S;
    hsa_signal_value_t last;
    while ((last = hsa_signal_load_scacquire(signal)) > value && time(NULL) < end)
        usleep(20);
    return last;
}

static void signal_await(struct dice *dice, hsa_signal_t signal, hsa_signal_value_t value)
{
    uint64_t hz = 1000000000, begun_ms = time_ms();
    HSA(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &hz));
    hsa_signal_value_t last =
        dice_roll(dice, 3) == 0 || !signal_interrupts(signal)
            ? signal_poll(signal, value)
            : hsa_signal_wait_scacquire(
                  signal, HSA_SIGNAL_CONDITION_LT, value + 1, WAIT_LIMIT_S * hz,
                  dice_roll(dice, 2) ? HSA_WAIT_STATE_BLOCKED : HSA_WAIT_STATE_ACTIVE);
    longest_wait_note(time_ms() - begun_ms);
    if (last != value)
        fprintf(stderr, "a signal has %lld instead of %lld\n", (long long)last, (long long)value);
    EXPECT(last == value);
}

static hsa_signal_t *signal_any(struct worker *worker)
{
    return &worker->signals[dice_roll(&worker->dice, SIGNALS)];
}

static struct queue *queue_any(struct worker *worker)
{
    return dice_roll(&worker->dice, 2) ? &worker->own : &shared[dice_roll(&worker->dice, SHARED)];
}

/* ---- what a program does */

static void launch_and_wait(struct worker *worker)
{
    hsa_signal_t signal = *signal_any(worker);
    hsa_signal_value_t value = 1 + dice_roll(&worker->dice, 3);
    hsa_amd_profiling_dispatch_time_t time = {0};
    hsa_signal_store_relaxed(signal, value);
    uint32_t number = kernel_submit(worker, queue_any(worker), signal);
    signal_await(&worker->dice, signal, value - 1);
    if (hsa_amd_profiling_get_dispatch_time(device_gpu, signal, &time) == HSA_STATUS_SUCCESS)
        EXPECT(time.start <= time.end);
    oracle_ended(number);
}

static void launch_and_forget(struct worker *worker)
{
    for (uint32_t i = dice_roll(&worker->dice, 5); i-- > 0;)
        kernel_submit(worker, queue_any(worker), (hsa_signal_t){0});
}

static void launch_and_destroy_the_signal(struct worker *worker)
{
    hsa_signal_t signal = signal_new(&worker->dice, 1);
    uint32_t number = kernel_submit(worker, queue_any(worker), signal);
    signal_await(&worker->dice, signal, 0);
    HSA(hsa_signal_destroy(signal));
    oracle_ended(number);
}

/* One signal counted by kernels and barriers of several queues. */
static void launch_many_on_one_signal(struct worker *worker)
{
    hsa_signal_t signal = *signal_any(worker);
    uint32_t count = 1 + dice_roll(&worker->dice, 6), numbers[6];
    hsa_signal_store_relaxed(signal, 2 * count);
    for (uint32_t i = 0; i < count; i++) {
        numbers[i] = kernel_submit(worker, queue_any(worker), signal);
        barrier_submit(worker, queue_any(worker), HSA_PACKET_TYPE_BARRIER_AND, (hsa_signal_t){0},
                       signal);
    }
    signal_await(&worker->dice, signal, 0);
    for (uint32_t i = 0; i < count; i++)
        oracle_ended(numbers[i]);
}

/* The signal of a kernel in flight gets further packets to count. */
static void add_to_a_signal_in_flight(struct worker *worker)
{
    hsa_signal_t signal = *signal_any(worker);
    hsa_signal_store_relaxed(signal, 1);
    uint32_t first = kernel_submit(worker, queue_any(worker), signal);
    hsa_signal_add_relaxed(signal, 2);
    uint32_t second = kernel_submit(worker, queue_any(worker), signal);
    barrier_submit(worker, queue_any(worker), HSA_PACKET_TYPE_BARRIER_OR, (hsa_signal_t){0},
                   signal);
    signal_await(&worker->dice, signal, 0);
    oracle_ended(first);
    oracle_ended(second);
}

/* Written last to first, one ring of the doorbell for all. */
static void launch_a_batch(struct worker *worker)
{
    hsa_signal_t signal = *signal_any(worker);
    hsa_kernel_dispatch_packet_t packets[BATCH_MAX];
    uint32_t numbers[BATCH_MAX], count = 2 + dice_roll(&worker->dice, BATCH_MAX - 1);
    uint64_t first = places_take(&worker->own, count);
    hsa_signal_store_relaxed(signal, 1);
    for (uint32_t i = 0; i < count; i++) {
        bool is_last = i + 1 == count;
        numbers[i] =
            kernel_make(worker, &worker->own, is_last ? signal : (hsa_signal_t){0}, &packets[i]);
        packets[i].header |= (uint16_t)(is_last << HSA_PACKET_HEADER_BARRIER);
    }
    for (uint32_t i = count; i-- > 0;)
        packet_put(&worker->own, first + i, &packets[i]);
    doorbell(&worker->own, first + count - 1);
    signal_await(&worker->dice, signal, 0);
    for (uint32_t i = 0; i < count; i++)
        oracle_ended(numbers[i]);
}

/* A kernel that waits, by a barrier, for one of another queue. Not of a shared one: there the first
 * may come after the second, behind a packet that its writer has not finished, and counting, which
 * keeps the order, would have to let both run at once. */
static void launch_a_chain(struct worker *worker)
{
    static const unsigned types[] = {HSA_PACKET_TYPE_BARRIER_AND, HSA_PACKET_TYPE_BARRIER_OR};
    hsa_signal_t before = signal_new(&worker->dice, 1), after = signal_new(&worker->dice, 1);
    uint32_t first = kernel_submit(worker, &worker->other, before);
    barrier_submit(worker, &worker->own, types[dice_roll(&worker->dice, 2)], before,
                   (hsa_signal_t){0});
    uint32_t second = kernel_submit(worker, &worker->own, after);
    signal_await(&worker->dice, after, 0);
    signal_await(&worker->dice, before, 0);
    oracle_ended(first);
    oracle_ended(second);
    HSA(hsa_signal_destroy(before));
    HSA(hsa_signal_destroy(after));
}

/* A packet of the vendor's between kernels: waits for a value that is there. */
static void wait_for_a_value(struct worker *worker)
{
    hsa_signal_t signal = *signal_any(worker), ready = signal_new(&worker->dice, 5);
    hsa_amd_barrier_value_packet_t packet = {
        .header = {.header = header_of(&worker->dice, HSA_PACKET_TYPE_VENDOR_SPECIFIC, true),
                   .AmdFormat = HSA_AMD_PACKET_TYPE_BARRIER_VALUE},
        .signal = ready,
        .value = 5,
        .mask = INT64_MAX,
        .cond = HSA_SIGNAL_CONDITION_EQ,
        .completion_signal = signal};
    hsa_signal_store_relaxed(signal, 2);
    uint32_t number = kernel_submit(worker, &worker->own, signal);
    uint64_t index = places_take(&worker->own, 1);
    char *at = place(&worker->own, index);
    memcpy(at + 4, (const char *)&packet + 4, 60);
    __atomic_store_n((uint32_t *)(void *)at, *(uint32_t *)(void *)&packet, __ATOMIC_RELEASE);
    doorbell(&worker->own, index);
    signal_await(&worker->dice, signal, 0);
    oracle_ended(number);
    HSA(hsa_signal_destroy(ready));
}

/* A copy counts the signal that a kernel counts, too. */
static void copy_beside_a_kernel(struct worker *worker)
{
    hsa_signal_t signal = *signal_any(worker);
    size_t slot = (size_t)worker->index * BUFFER_SLOT_BYTES;
    hsa_signal_store_relaxed(signal, 2);
    uint32_t number = kernel_submit(worker, queue_any(worker), signal);
    HSA(hsa_amd_memory_async_copy((char *)host_memory + slot, device_cpu,
                                  (char *)device_memory + slot, device_gpu, 256, 0, NULL, signal));
    signal_await(&worker->dice, signal, 0);
    oracle_ended(number);
}

static bool on_signal(hsa_signal_value_t value, void *data)
{
    struct worker *worker = data;
    EXPECT(value == 0);
    atomic_fetch_add(&worker->handled, 1);
    return false;
}

static void launch_with_a_handler(struct worker *worker)
{
    hsa_signal_t signal;
    HSA(hsa_signal_create(1, 0, NULL, &signal));
    uint32_t handled = atomic_load(&worker->handled);
    HSA(hsa_amd_signal_async_handler(signal, HSA_SIGNAL_CONDITION_LT, 1, on_signal, worker));
    uint32_t number = kernel_submit(worker, queue_any(worker), signal);
    for (int i = 0; i < WAIT_LIMIT_S * 10000 && atomic_load(&worker->handled) == handled; i++)
        usleep(100);
    EXPECT(atomic_load(&worker->handled) == handled + 1);
    oracle_ended(number);
    HSA(hsa_signal_destroy(signal));
}

/* With kernels in flight, sometimes. */
static void exchange_the_queue(struct worker *worker)
{
    hsa_signal_t signal = *signal_any(worker);
    if (dice_roll(&worker->dice, 2)) {
        hsa_signal_store_relaxed(signal, 1);
        barrier_submit(worker, &worker->own, HSA_PACKET_TYPE_BARRIER_AND, (hsa_signal_t){0},
                       signal);
        signal_await(&worker->dice, signal, 0);
    }
    HSA(hsa_queue_destroy(worker->own.hsa));
    worker->own = queue_new(&worker->dice, false);
}

static void (*const actions[])(struct worker *) = {launch_and_wait,
                                                   launch_and_wait,
                                                   launch_and_forget,
                                                   launch_and_forget,
                                                   launch_and_destroy_the_signal,
                                                   launch_many_on_one_signal,
                                                   add_to_a_signal_in_flight,
                                                   launch_a_batch,
                                                   launch_a_chain,
                                                   wait_for_a_value,
                                                   copy_beside_a_kernel,
                                                   launch_with_a_handler};

static void *worker_main(void *data)
{
    struct worker *worker = data;
    for (int i = 0; i < SIGNALS; i++)
        worker->signals[i] = signal_new(&worker->dice, 0);
    worker->own = queue_new(&worker->dice, false);
    worker->other = queue_new(&worker->dice, false);
    for (int i = 0; i < ACTIONS && oracle_has_numbers(); i++) {
        actions[dice_roll(&worker->dice, sizeof actions / sizeof actions[0])](worker);
        if (dice_roll(&worker->dice, 60) == 0)
            exchange_the_queue(worker);
    }
    return NULL;
}

static void worker_end(struct worker *worker)
{
    HSA(hsa_queue_destroy(worker->own.hsa));
    HSA(hsa_queue_destroy(worker->other.hsa));
    for (int i = 0; i < SIGNALS; i++)
        HSA(hsa_signal_destroy(worker->signals[i]));
}

/* ---- rounds */

/* What nobody waited for has ended, too, when barriers at the ends of all queues have. */
static void queues_finish(struct dice *dice)
{
    hsa_signal_t signal = signal_new(dice, SHARED + 2 * THREADS);
    const hsa_barrier_and_packet_t packet = {
        .header = header_of(dice, HSA_PACKET_TYPE_BARRIER_AND, true), .completion_signal = signal};
    for (int i = 0; i < SHARED; i++)
        packet_submit(&shared[i], &packet);
    for (int i = 0; i < THREADS; i++) {
        packet_submit(&workers[i].own, &packet);
        packet_submit(&workers[i].other, &packet);
    }
    signal_await(dice, signal, 0);
    HSA(hsa_signal_destroy(signal));
}

static void *toggler_main(void *data)
{
    struct dice *dice = data;
    while (atomic_load(&toggling)) {
        tool_toggle(dice);
        usleep(100 + dice_roll(dice, 8000));
    }
    return NULL;
}

static void workers_start(struct dice *dice)
{
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.index = i};
        workers[i].dice.state = (uint64_t)dice_roll(dice, UINT32_MAX) << 8 | i | 1;
        EXPECT(pthread_create(&workers[i].thread, NULL, worker_main, &workers[i]) == 0);
    }
}

static void workers_join(struct dice *dice)
{
    for (int i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    queues_finish(dice);
}

static uint32_t round_run(struct dice *dice)
{
    bool quiet = dice_roll(dice, 2);
    struct dice toggler_dice = {dice_roll(dice, UINT32_MAX) | 1ull << 40};
    pthread_t toggler;
    oracle_round();
    tool_round(dice, quiet);
    atomic_store(&toggling, !quiet);
    EXPECT(pthread_create(&toggler, NULL, toggler_main, &toggler_dice) == 0);
    workers_start(dice);
    workers_join(dice);
    atomic_store(&toggling, false);
    pthread_join(toggler, NULL);
    tool_flush();
    oracle_check(tool_lossy());
    for (int i = 0; i < THREADS; i++)
        worker_end(&workers[i]);
    return oracle_numbers();
}

/* The tool is done while everything goes on: the program must not notice. */
static void last_round_run(struct dice *dice)
{
    oracle_round();
    tool_round(dice, false);
    workers_start(dice);
    usleep(20000 + dice_roll(dice, 50000));
    tool_finalize();
    workers_join(dice);
    for (int i = 0; i < THREADS; i++)
        worker_end(&workers[i]);
}

static void runtime_start(struct dice *dice, const char *object_file)
{
    device_open(object_file);
    for (int i = 0; i < SHARED; i++)
        shared[i] = queue_new(dice, true);
}

static void runtime_end(void)
{
    for (int i = 0; i < SHARED; i++)
        HSA(hsa_queue_destroy(shared[i].hsa));
    device_close();
}

int main(int argc, char **argv)
{
    EXPECT(argc > 2);
    time_t end = time(NULL) + atol(argv[2]);
    torture_seed = argc > 3 && strtoull(argv[3], NULL, 0)
                       ? strtoull(argv[3], NULL, 0)
                       : (uint64_t)time(NULL) ^ (uint64_t)getpid();
    struct dice dice = {torture_seed * 0x9e3779b97f4a7c15ull | 1};
    /* Debian's 6.4 and 7.2 refuse, with no profiler, too: OUT_OF_RESOURCES. */
    bool may_restart = argc > 4 && strcmp(argv[4], "restart") == 0;
    uint64_t rounds = 0, dispatches = 0;
    runtime_start(&dice, argv[1]);
    do {
        dispatches += round_run(&dice);
        if (++rounds % 4 == 0 && may_restart) {
            runtime_end();
            runtime_start(&dice, argv[1]);
        }
    } while (time(NULL) < end);
    last_round_run(&dice);
    runtime_end();
    printf(
        "dispatch_torture: %llu rounds, %llu dispatches, at most %llu ms for one, seed %llu: ok\n",
        (unsigned long long)rounds, (unsigned long long)dispatches,
        (unsigned long long)longest_wait_ms, (unsigned long long)torture_seed);
    return 0;
}
