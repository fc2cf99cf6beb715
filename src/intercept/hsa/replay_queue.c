#include "intercept/hsa/replay_queue.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/fork_lock.h"
#include "base/thread.h"
#include "base/wait.h"
#include "intercept/hsa/dispatch.h"
#include "intercept/hsa/instance.h"
#include "intercept/hsa/replay_thread.h"
#include "intercept/hsa/signals.h"

enum {
    QUEUE_PACKETS = 256,
    LOOKS_BEFORE_SLEEP = 64,
    LOOK_NS = 20 * WAIT_NS_PER_US,
};

/* Never freed: a kernel may be running when all else ends. */
struct replay_queue {
    struct replay_queue *next, *leaving;
    const struct hsa_agent_entry *agent;
    hsa_queue_t *queue;
    amd_signal_t *kernel, *after; /* of the kernel that ran last */
    bool has_after;               /* who has closed the gate */
    /* Writers: the runtime, when a packet failed, and who forgets (release). Readers: any. */
    _Atomic bool failed;
    /* Whose kernel runs. Writer: who runs it (release). Reader: the runtime's error (acquire). */
    _Atomic(struct dispatch_queue *) program;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* the list; a leaf */
FORK_LOCK(lock_kept, lock)
static struct replay_queue *queues;

static bool has_failed(const struct replay_queue *queue)
{
    return atomic_load_explicit(&queue->failed, memory_order_acquire);
}

/* What the program's own queue would have reported. */
static void queue_error(hsa_status_t status, hsa_queue_t *source, void *data)
{
    struct replay_queue *queue = data;
    (void)source;
    struct dispatch_queue *program = atomic_load_explicit(&queue->program, memory_order_acquire);
    atomic_store_explicit(&queue->failed, true, memory_order_release);
    if (program)
        dispatch_queue_fail(program, status);
}

static struct replay_queue *queue_find(const struct hsa_agent_entry *agent)
{
    pthread_mutex_lock(&lock);
    struct replay_queue *queue = queues;
    while (queue && queue->agent != agent)
        queue = queue->next;
    pthread_mutex_unlock(&lock);
    return queue;
}

/* On a thread of ours: making a queue may launch things. */
static void queue_create(void *data)
{
    struct replay_queue *queue = data;
    const struct hsa_calls *real = &queue->agent->runtime->real;
    if (real->hsa_queue_create(queue->agent->hsa, QUEUE_PACKETS, HSA_QUEUE_TYPE_MULTI, queue_error,
                               queue, UINT32_MAX, UINT32_MAX, &queue->queue) != HSA_STATUS_SUCCESS)
        queue->queue = NULL;
    else if (real->hsa_amd_profiling_set_profiler_enabled)
        real->hsa_amd_profiling_set_profiler_enabled(queue->queue, 1);
}

/* With the device's gate closed: nobody else makes one. */
static struct replay_queue *queue_make(const struct hsa_agent_entry *agent)
{
    struct replay_queue *queue = calloc(1, sizeof *queue);
    amd_signal_t *signals = queue ? signals_block_make(agent->runtime, 2) : NULL;
    if (!signals) {
        free(queue);
        return NULL;
    }
    queue->agent = agent;
    queue->kernel = &signals[0];
    queue->after = &signals[1];
    if (!replay_thread_run(queue_create, queue) || !queue->queue) {
        signals_block_free(agent->runtime, signals);
        free(queue);
        return NULL;
    }
    pthread_mutex_lock(&lock);
    queue->next = queues;
    queues = queue;
    pthread_mutex_unlock(&lock);
    return queue;
}

struct replay_queue *replay_queue_open(const struct hsa_agent_entry *agent)
{
    struct replay_queue *queue = queue_find(agent);
    if (!queue)
        queue = queue_make(agent);
    return queue && !has_failed(queue) ? queue : NULL;
}

/* In the device's order behind all before, and all memory as others see it at either end. */
static void kernel_put(struct replay_queue *queue, const hsa_kernel_dispatch_packet_t *kernel)
{
    enum {
        FENCES = HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                 HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE
    };
    hsa_kernel_dispatch_packet_t copy = *kernel;
    copy.header = (uint16_t)(copy.header | 1 << HSA_PACKET_HEADER_BARRIER | FENCES);
    packet_put(&queue->agent->runtime->real, queue->queue, &copy, queue->kernel);
}

void replay_queue_run(struct replay_queue *queue, const hsa_kernel_dispatch_packet_t *kernel,
                      const struct trace_packets *packets, struct dispatch_queue *program)
{
    const struct hsa_calls *real = &queue->agent->runtime->real;
    const union packet *before = packets->before, *after = packets->after;
    uint32_t last = packets->after_count - 1;
    atomic_store_explicit(&queue->program, program, memory_order_release);
    queue->has_after = packets->after_count > 0 && packets->signal_after;
    signal_arm(queue->kernel);
    signal_arm(queue->after);
    for (uint32_t i = 0; i < packets->before_count; i++)
        packet_put(real, queue->queue, &before[i], NULL);
    kernel_put(queue, kernel);
    for (uint32_t i = 0; i < packets->after_count; i++)
        packet_put(real, queue->queue, &after[i],
                   queue->has_after && i == last ? queue->after : NULL);
}

static bool has_fallen(const amd_signal_t *signal)
{
    /* Acquire, pairs with the device's decrement: what was done before is there. */
    return __atomic_load_n(&signal->value, __ATOMIC_ACQUIRE) < 1;
}

static bool has_ended(const struct replay_queue *queue)
{
    return has_fallen(queue->kernel) && (!queue->has_after || has_fallen(queue->after));
}

static bool ended_or_failed(void *argument)
{
    return has_ended(argument) || has_failed(argument);
}

enum replay_end replay_queue_wait(const struct replay_queue *queue, uint64_t limit_ns)
{
    for (unsigned turn = 0; turn < LOOKS_BEFORE_SLEEP && !ended_or_failed((void *)queue);)
        wait_step(&turn);
    wait_until(ended_or_failed, (void *)queue, limit_ns, LOOK_NS);
    if (has_ended(queue))
        return REPLAY_ENDED;
    return has_failed(queue) ? REPLAY_FAILED : REPLAY_LATE;
}

const amd_signal_t *replay_queue_times(const struct replay_queue *queue)
{
    return queue->kernel;
}

void replay_queue_barrier(const struct replay_queue *queue, hsa_barrier_and_packet_t *barrier)
{
    barrier->dep_signal[0] = signal_handle(queue->kernel);
    if (queue->has_after)
        barrier->dep_signal[1] = signal_handle(queue->after);
}

/* They stay reachable: what runs on them, and who completes it, may still look at them. */
void replay_queues_end(const struct hsa_instance *runtime, bool answers)
{
    static struct replay_queue *gone; /* under the lock */
    struct replay_queue *leaving = NULL;
    pthread_mutex_lock(&lock);
    for (struct replay_queue **link = &queues; *link;) {
        struct replay_queue *queue = *link;
        if (queue->agent->runtime != runtime) {
            link = &queue->next;
            continue;
        }
        atomic_store_explicit(&queue->failed, true, memory_order_release);
        *link = queue->next;
        queue->next = gone;
        gone = queue;
        queue->leaving = leaving;
        leaving = queue;
    }
    pthread_mutex_unlock(&lock);
    thread_own_work_begin();
    for (; answers && leaving; leaving = leaving->leaving)
        runtime->real.hsa_queue_destroy(leaving->queue);
    thread_own_work_end();
}
