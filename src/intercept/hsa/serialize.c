#include "intercept/hsa/serialize.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork_lock.h"
#include "base/log.h"
#include "base/wait.h"
#include "intercept/hsa/instance.h"
#include "intercept/hsa/signals.h"

enum { DEVICES_MAX = 256, TICKETS_PER_BLOCK = 256 };

/*
 * A dispatch's own signal is used again as soon as it completed, while the next dispatch's barrier
 * may not yet have looked at it. So the barrier waits for a ticket: a signal that the completion
 * thread sets to 0, and that is used again only when both its dispatch and its waiter have ended.
 */
struct serial_ticket {
    amd_signal_t *signal;
    const void *queue;
    uint32_t users, instance;
    struct serial_ticket *later; /* in the line */
    struct serial_ticket *next_free;
};

/* One lock: counting already costs a dispatch some microseconds, and the lock never calls out. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
FORK_LOCK(lock_kept, lock)
static struct serial_ticket *last_of_device[DEVICES_MAX];
/* Whose turn it is, and since when (CLOCK_MONOTONIC); behind it, by `later`, those that follow. */
static struct {
    struct serial_ticket *head;
    uint64_t head_since_ns;
} line[DEVICES_MAX];
/* When to look for somebody who waits too long; UINT64_MAX: nobody waits. Written under the lock,
 * read by the tick without it (relaxed): a late look does no harm. */
static _Atomic uint64_t look_at_ns = UINT64_MAX;
/* Signals are memory of the runtime that made them, and go with it. */
static struct serial_ticket *free_tickets[HSA_INSTANCES_MAX];

/* Blocks stay; reachable, so that no leak checker complains. */
struct ticket_block {
    struct ticket_block *next;
    struct serial_ticket tickets[TICKETS_PER_BLOCK];
};
static struct ticket_block *ticket_blocks; /* under the lock */

/* Stands for the signals of runtimes that have gone: everybody has passed them. Used under the
 * lock. */
static amd_signal_t passed;

/* Calls the runtime, so without the lock; makes none where there are some. */
static void tickets_make(const struct hsa_instance *runtime)
{
    struct ticket_block *block = calloc(1, sizeof *block);
    uint32_t instance = hsa_instance_index(runtime);
    amd_signal_t *signals = block ? signals_block_make(runtime, TICKETS_PER_BLOCK) : NULL;
    if (!signals) {
        free(block);
        return;
    }
    pthread_mutex_lock(&lock);
    block->next = ticket_blocks;
    ticket_blocks = block;
    for (uint32_t i = 0; i < TICKETS_PER_BLOCK; i++) {
        struct serial_ticket *ticket = &block->tickets[i];
        ticket->signal = &signals[i];
        ticket->instance = instance;
        ticket->next_free = free_tickets[instance];
        free_tickets[instance] = ticket;
    }
    pthread_mutex_unlock(&lock);
}

/* True: there is one, and the lock is held. Without memory it is held, too. */
static bool tickets_lock(const struct hsa_instance *runtime)
{
    struct serial_ticket *const *first = &free_tickets[hsa_instance_index(runtime)];

    pthread_mutex_lock(&lock);
    if (*first)
        return true;
    pthread_mutex_unlock(&lock);
    tickets_make(runtime);
    pthread_mutex_lock(&lock);
    return *first != NULL;
}

static void ticket_drop(struct serial_ticket *ticket)
{
    if (!ticket || --ticket->users > 0 || ticket->signal == &passed)
        return;
    ticket->next_free = free_tickets[ticket->instance];
    free_tickets[ticket->instance] = ticket;
}

/* How long the head of a line may keep others waiting. A program that has done it once does it
 * again, so then a twentieth is enough. Under the lock. */
static bool has_released;
static uint64_t limit_ns(void)
{
    static _Atomic uint64_t limit; /* writers: any, all the same value; relaxed */
    uint64_t value = atomic_load_explicit(&limit, memory_order_relaxed);
    if (value == 0) {
        const char *text = getenv("CROCPROF_SERIALIZE_LIMIT_MS");
        long milliseconds = text ? atol(text) : 0;
        value = (uint64_t)(milliseconds > 0 ? milliseconds : SERIALIZE_LIMIT_MS) * 1000000u;
        atomic_store_explicit(&limit, value, memory_order_relaxed);
    }
    return has_released ? value / 20 : value;
}

static void line_join(struct serial_ticket *ticket, int32_t device, uint64_t now)
{
    ticket->later = NULL;
    if (!line[device].head) {
        line[device].head = ticket;
        line[device].head_since_ns = now;
    } else {
        last_of_device[device]->later = ticket;
    }
}

/* Drops the heads that have ended, or the first one whatever it does. */
static void line_advance(int32_t device, bool first_too, uint64_t now)
{
    struct serial_ticket *head = line[device].head;
    while (head && (first_too || __atomic_load_n(&head->signal->value, __ATOMIC_RELAXED) <= 0)) {
        struct serial_ticket *later = head->later;
        ticket_drop(head);
        head = later;
        line[device].head_since_ns = now;
        first_too = false;
    }
    line[device].head = head;
}

void serialize_tick(uint64_t now)
{
    if (now < atomic_load_explicit(&look_at_ns, memory_order_relaxed))
        return;
    pthread_mutex_lock(&lock);
    uint64_t next_look = UINT64_MAX;
    bool released = false;
    for (int32_t device = 0; device < DEVICES_MAX; device++) {
        line_advance(device, false, now);
        struct serial_ticket *head = line[device].head;
        if (!head || !head->later)
            continue;
        if (now - line[device].head_since_ns >= limit_ns()) {
            __atomic_store_n(&head->signal->value, 0, __ATOMIC_RELEASE);
            line_advance(device, true, now);
            released = true;
        }
        if (line[device].head_since_ns + limit_ns() < next_look)
            next_look = line[device].head_since_ns + limit_ns();
    }
    atomic_store_explicit(&look_at_ns, next_look, memory_order_relaxed);
    bool tell = released && !has_released;
    has_released |= released;
    pthread_mutex_unlock(&lock);
    if (tell)
        log_warning("intercept", "kernels seem to wait for each other: they run at the same time "
                                 "again, and their counter values include each other's work");
}

bool serialize_begin(struct serial_turn *turn, const struct hsa_agent_entry *agent,
                     const void *queue, hsa_barrier_and_packet_t *barrier)
{
    int32_t device = agent->info->logical_node_id;
    struct serial_ticket **first = &free_tickets[hsa_instance_index(agent->runtime)];
    if (device < 0 || device >= DEVICES_MAX)
        return false;
    uint64_t now = wait_now_ns();
    struct serial_ticket *ticket = tickets_lock(agent->runtime) ? *first : NULL;
    if (ticket) {
        *first = ticket->next_free;
        ticket->queue = queue;
        ticket->users = 3; /* the dispatch, being in the line, and being the device's last */
        signal_arm(ticket->signal);
        line_advance(device, false,
                     now); /* done here, too, so that tickets of the ended come back */
        line_join(ticket, device, now);
        turn->own = ticket;
        turn->before = last_of_device[device];
        last_of_device[device] = ticket; /* its use as `last` becomes our use as `before` */
    }
    bool wait = turn->before != NULL && turn->before->queue != queue &&
                __atomic_load_n(&turn->before->signal->value, __ATOMIC_RELAXED) > 0;
    uint64_t look = now + limit_ns();
    if (ticket && look < atomic_load_explicit(&look_at_ns, memory_order_relaxed))
        atomic_store_explicit(&look_at_ns, look, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
    if (!wait)
        return false;
    memset(barrier, 0, sizeof *barrier);
    barrier->header =
        HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE | 1 << HSA_PACKET_HEADER_BARRIER;
    barrier->dep_signal[0] = signal_handle(turn->before->signal);
    return true;
}

void serialize_abandon(const struct hsa_instance *runtime)
{
    uint32_t instance = hsa_instance_index(runtime);
    pthread_mutex_lock(&lock);
    for (struct ticket_block *block = ticket_blocks; block; block = block->next)
        for (uint32_t i = 0; i < TICKETS_PER_BLOCK; i++)
            if (block->tickets[i].instance == instance)
                block->tickets[i].signal = &passed;
    free_tickets[instance] = NULL;
    pthread_mutex_unlock(&lock);
}

void serialize_end(struct serial_turn *turn)
{
    if (!turn->own)
        return;
    pthread_mutex_lock(&lock);
    /* Release: what the dispatch wrote is visible to who passes the barrier. */
    __atomic_store_n(&turn->own->signal->value, 0, __ATOMIC_RELEASE);
    ticket_drop(turn->own);
    ticket_drop(turn->before);
    pthread_mutex_unlock(&lock);
    turn->own = NULL;
    turn->before = NULL;
}
