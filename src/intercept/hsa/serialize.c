#include "intercept/hsa/serialize.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "base/log.h"
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
    uint32_t users;
    struct serial_ticket *next_free;
};

/* One lock: counting already costs a dispatch some microseconds, and the lock never calls out. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct serial_ticket *last_of_device[DEVICES_MAX];
static struct serial_ticket *free_tickets;

static void tickets_make(void)
{
    static struct serial_ticket storage[64 * TICKETS_PER_BLOCK];
    static uint32_t used;
    amd_signal_t *signals = NULL;

    if (used + TICKETS_PER_BLOCK <= sizeof storage / sizeof storage[0])
        signals = signals_block_make(TICKETS_PER_BLOCK);
    if (signals == NULL)
        return;
    for (uint32_t i = 0; i < TICKETS_PER_BLOCK; i++) {
        struct serial_ticket *ticket = &storage[used++];
        ticket->signal = &signals[i];
        ticket->next_free = free_tickets;
        free_tickets = ticket;
    }
}

static void ticket_drop(struct serial_ticket *ticket)
{
    if (ticket == NULL || --ticket->users > 0)
        return;
    ticket->next_free = free_tickets;
    free_tickets = ticket;
}

bool serialize_begin(struct serial_turn *turn, int32_t device, const void *queue,
                     hsa_barrier_and_packet_t *barrier)
{
    if (device < 0 || device >= DEVICES_MAX)
        return false;
    pthread_mutex_lock(&lock);
    if (free_tickets == NULL)
        tickets_make();
    struct serial_ticket *ticket = free_tickets;
    if (ticket != NULL) {
        free_tickets = ticket->next_free;
        ticket->queue = queue;
        ticket->users = 2; /* the dispatch, and being the device's last */
        signal_arm(ticket->signal);
        turn->own = ticket;
        turn->before = last_of_device[device];
        last_of_device[device] = ticket; /* its use as `last` becomes our use as `before` */
    }
    bool wait =
        turn->before != NULL && turn->before->queue != queue && turn->before->signal->value > 0;
    pthread_mutex_unlock(&lock);
    if (!wait)
        return false;
    memset(barrier, 0, sizeof *barrier);
    barrier->header =
        HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE | 1 << HSA_PACKET_HEADER_BARRIER;
    barrier->dep_signal[0] = signal_handle(turn->before->signal);
    return true;
}

void serialize_end(struct serial_turn *turn)
{
    if (turn->own == NULL)
        return;
    /* Release: what the dispatch wrote is visible to who passes the barrier. */
    __atomic_store_n(&turn->own->signal->value, 0, __ATOMIC_RELEASE);
    pthread_mutex_lock(&lock);
    ticket_drop(turn->own);
    ticket_drop(turn->before);
    pthread_mutex_unlock(&lock);
    turn->own = NULL;
    turn->before = NULL;
}
