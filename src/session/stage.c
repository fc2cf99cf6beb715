#include "session/stage.h"

#include <errno.h>
#include <time.h>

#include "base/wait.h"

/* Writer: stage_reach, under the lock (release). Readers: any (acquire). */
static _Atomic int stage;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* a leaf */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

/* Writer: whoever configures (relaxed). Readers: who makes contexts and buffers, on its thread. */
static _Atomic uint32_t current_client;

static __thread bool configuring_here __attribute__((tls_model("initial-exec")));

#define BIT(stage) (1u << STAGE_##stage)
static const uint8_t followers[] = {
    [STAGE_BEFORE] = BIT(CONFIGURING),
    [STAGE_CONFIGURING] = BIT(READY),
    /* In the child of a fork, whose parent was about to end, everything is over at once. */
    [STAGE_READY] = BIT(FINALIZING) | BIT(DONE),
    [STAGE_FINALIZING] = BIT(DONE),
    [STAGE_DONE] = 0,
};

bool stage_may_follow(enum session_stage from, enum session_stage to)
{
    return from <= STAGE_DONE && to <= STAGE_DONE && (followers[from] >> to & 1);
}

enum session_stage session_stage(void)
{
    return (enum session_stage)atomic_load_explicit(&stage, memory_order_acquire);
}

bool stage_reach(enum session_stage to)
{
    pthread_mutex_lock(&lock);
    bool follows = stage_may_follow(session_stage(), to);
    if (follows) {
        atomic_store_explicit(&stage, to, memory_order_release);
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
    return follows;
}

void stage_state_reach(_Atomic int *state, int value)
{
    pthread_mutex_lock(&lock);
    atomic_store_explicit(state, value, memory_order_release);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

void stage_wait_ready(void)
{
    pthread_mutex_lock(&lock);
    while (session_stage() < STAGE_READY)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

bool stage_state_wait(const _Atomic int *state, int wanted, unsigned limit_seconds)
{
    struct timespec until = wait_deadline(CLOCK_REALTIME, limit_seconds * WAIT_NS_PER_S);
    int error = 0;
    pthread_mutex_lock(&lock);
    while (atomic_load_explicit(state, memory_order_acquire) < wanted && error != ETIMEDOUT)
        error = pthread_cond_timedwait(&changed, &lock, &until);
    pthread_mutex_unlock(&lock);
    return error != ETIMEDOUT;
}

bool stage_wait_done(unsigned limit_seconds)
{
    return stage_state_wait(&stage, STAGE_DONE, limit_seconds);
}

void stage_configure_here(bool configuring)
{
    configuring_here = configuring;
}

bool attach_configuring_here(void)
{
    return configuring_here;
}

void stage_client_set(uint32_t handle)
{
    atomic_store_explicit(&current_client, handle, memory_order_relaxed);
}

uint32_t session_current_client(void)
{
    return atomic_load_explicit(&current_client, memory_order_relaxed);
}

bool session_configuring(void)
{
    return session_stage() == STAGE_CONFIGURING || configuring_here;
}

int session_initialized_status(void)
{
    if (session_configuring())
        return -1;
    return session_stage() == STAGE_BEFORE ? 0 : 1;
}

int session_finalized_status(void)
{
    enum session_stage now = session_stage();
    return now == STAGE_DONE ? 1 : now == STAGE_FINALIZING ? -1 : 0;
}

void stage_on_fork_child(void)
{
    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&changed, NULL);
}
