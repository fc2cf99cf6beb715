#include "intercept/hsa/replay_gate.h"

#include <pthread.h>
#include <string.h>

#include "base/wait.h"

struct gate {
    uint64_t inside;  /* entered and not left */
    uint64_t waiting; /* to enter: they are let in before it closes again */
    bool is_closed;
    pthread_t owner; /* while it is closed */
};

/* One lock for all: who comes here launches a kernel or a copy. It calls nobody. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t moved; /* a gate was opened, or is empty; by CLOCK_MONOTONIC */
    struct gate gates[REPLAY_GATES];
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Replays, and those who wait for them, are the parent's. */
static void fork_prepare(void)
{
    pthread_mutex_lock(&all.lock);
}

static void fork_parent(void)
{
    pthread_mutex_unlock(&all.lock);
}

static void moved_make(void)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&all.moved, &attributes);
    pthread_condattr_destroy(&attributes);
}

static void fork_child(void)
{
    memset(all.gates, 0, sizeof all.gates);
    moved_make();
    pthread_mutex_unlock(&all.lock);
}

static void first_time(void)
{
    moved_make();
    pthread_atfork(fork_prepare, fork_parent, fork_child);
}

/* Threads are the program's and may be cancelled in a wait, but not with the lock. */
static void gates_lock(int *cancel_state)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, first_time);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, cancel_state);
    pthread_mutex_lock(&all.lock);
}

static void gates_unlock(int cancel_state)
{
    pthread_mutex_unlock(&all.lock);
    pthread_setcancelstate(cancel_state, NULL);
}

static bool is_mine(const struct gate *gate)
{
    return gate->is_closed && pthread_equal(gate->owner, pthread_self());
}

void replay_gate_enter(uint32_t device)
{
    struct gate *gate = &all.gates[device % REPLAY_GATES];
    int cancel_state;
    if (device >= REPLAY_GATES)
        return;
    gates_lock(&cancel_state);
    if (gate->is_closed && !is_mine(gate)) {
        gate->waiting++;
        while (gate->is_closed)
            pthread_cond_wait(&all.moved, &all.lock);
        if (--gate->waiting == 0)
            pthread_cond_broadcast(&all.moved);
    }
    gate->inside++;
    gates_unlock(cancel_state);
}

void replay_gate_leave(uint32_t device)
{
    struct gate *gate = &all.gates[device % REPLAY_GATES];
    int cancel_state;
    if (device >= REPLAY_GATES)
        return;
    gates_lock(&cancel_state);
    gate->inside -= gate->inside > 0; /* a child of fork() may end what its parent began */
    if (gate->inside == 0)
        pthread_cond_broadcast(&all.moved);
    gates_unlock(cancel_state);
}

/* False at the limit. */
static bool emptied(const struct gate *gate, const struct timespec *limit)
{
    int error = 0;
    while (gate->inside > 0 && error == 0)
        error = pthread_cond_timedwait(&all.moved, &all.lock, limit);
    return gate->inside == 0;
}

static void gate_set(struct gate *gate, bool is_closed)
{
    gate->is_closed = is_closed;
    gate->owner = pthread_self();
    if (!is_closed)
        pthread_cond_broadcast(&all.moved);
}

bool replay_gate_close(uint32_t device, uint64_t limit_ns)
{
    struct gate *gate = &all.gates[device % REPLAY_GATES];
    int cancel_state;
    if (device >= REPLAY_GATES)
        return false;
    gates_lock(&cancel_state);
    bool closed = !is_mine(gate);
    while (closed && (gate->is_closed || gate->waiting > 0))
        pthread_cond_wait(&all.moved, &all.lock);
    if (closed) {
        const struct timespec limit = wait_deadline(CLOCK_MONOTONIC, limit_ns);
        gate_set(gate, true); /* first, so that it empties however much comes */
        closed = emptied(gate, &limit);
        if (!closed)
            gate_set(gate, false);
    }
    gates_unlock(cancel_state);
    return closed;
}

void replay_gate_open(uint32_t device)
{
    struct gate *gate = &all.gates[device % REPLAY_GATES];
    int cancel_state;
    if (device >= REPLAY_GATES)
        return;
    gates_lock(&cancel_state);
    if (is_mine(gate))
        gate_set(gate, false);
    gates_unlock(cancel_state);
}
