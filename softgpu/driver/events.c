#include "driver/events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/futex.h"
#include "base/wait.h"

/* Of a wait with stale ages. */
enum { STALE_NS = 2 * WAIT_NS_PER_MS };

struct waiter {
    /* Counts up when there is news. Writers: who has some, under events.lock; reader: the waiter
     * (relaxed: it looks again under the lock). */
    _Atomic uint32_t news;
    uint32_t missing; /* events that still have to come; under events.lock */
    bool any;         /* one was enough and came */
    bool gone;        /* an awaited event was destroyed */
    bool is_endless;
    bool is_stale;             /* one of its waits is */
    bool is_asleep, is_called; /* called: and has not run since; under events.lock */
};

struct event_wait {
    struct waiter *waiter;
    uint32_t id;
    bool done;
    bool aged;  /* the waiter gave an age */
    bool stale; /* another one than its thread has seen, which ends the wait a little later */
    struct event_wait *next;
};

/* Whom to wake when events.lock has been given back: who wakes up under it must wait for it at
 * once. A waiter may be gone by then, which a futex does not mind. */
struct wakes {
    struct events *events;
    _Atomic uint32_t *word[8];
    uint32_t count;
};

/* Under events.lock. */
static void called_change(struct events *events, uint32_t by)
{
    uint32_t called = atomic_load_explicit(&events->called, memory_order_relaxed);
    atomic_store_explicit(&events->called, called + by, memory_order_relaxed);
}

static void waiter_call(struct waiter *waiter, struct wakes *wakes)
{
    if (waiter->is_asleep && !waiter->is_called) {
        waiter->is_called = true;
        called_change(wakes->events, 1);
    }
    atomic_fetch_add_explicit(&waiter->news, 1, memory_order_relaxed);
    if (wakes->count < sizeof wakes->word / sizeof wakes->word[0])
        wakes->word[wakes->count++] = &waiter->news;
    else
        futex_wake_all(&waiter->news);
}

static void unlock_and_wake(const struct wakes *wakes)
{
    pthread_mutex_unlock(&wakes->events->lock);
    for (uint32_t i = 0; i < wakes->count; i++)
        futex_wake_all(wakes->word[i]);
}

void events_init(struct events *events, void (*before_sleep)(void *data), void *data)
{
    memset(events, 0, sizeof *events);
    events->before_sleep = before_sleep;
    events->data = data;
    pthread_mutex_init(&events->lock, NULL);
}

static struct event *event_find(struct events *events, uint32_t id)
{
    if (id == 0 || id >= KFD_SIGNAL_EVENT_LIMIT || !events->slot[id].used)
        return NULL;
    return &events->slot[id];
}

int event_create(struct events *events, uint32_t type, bool auto_reset, uint32_t *id)
{
    if (type > KFD_IOC_EVENT_MEMORY)
        return -EINVAL;
    pthread_mutex_lock(&events->lock);
    uint32_t free_id = 1;
    while (free_id < KFD_SIGNAL_EVENT_LIMIT && events->slot[free_id].used)
        free_id++;
    bool found = free_id < KFD_SIGNAL_EVENT_LIMIT;
    if (found)
        events->slot[free_id] =
            (struct event){.used = true, .type = type, .auto_reset = auto_reset, .age = 1};
    pthread_mutex_unlock(&events->lock);
    if (!found)
        return -ENOSPC;
    *id = free_id;
    return 0;
}

int event_destroy(struct events *events, uint32_t id)
{
    struct wakes wakes = {.events = events};
    pthread_mutex_lock(&events->lock);
    struct event *event = event_find(events, id);
    if (event) {
        for (struct event_wait *wait = event->waits; wait; wait = wait->next) {
            wait->waiter->gone = true;
            waiter_call(wait->waiter, &wakes);
        }
        event->used = false;
        event->waits = NULL;
    }
    unlock_and_wake(&wakes);
    return event ? 0 : -EINVAL;
}

static void wait_come(struct event_wait *wait)
{
    wait->done = true;
    wait->waiter->missing--;
    wait->waiter->any = true;
}

static void event_raise_locked(struct event *event, struct wakes *wakes)
{
    bool awaited = event->waits != NULL;
    for (struct event_wait *wait = event->waits; wait; wait = wait->next) {
        if (wait->done)
            continue;
        wait_come(wait);
        waiter_call(wait->waiter, wakes);
    }
    event->set = !(event->auto_reset && awaited);
    event->age++;
}

int event_set(struct events *events, uint32_t id)
{
    struct wakes wakes = {.events = events};
    pthread_mutex_lock(&events->lock);
    struct event *event = event_find(events, id);
    if (event)
        event_raise_locked(event, &wakes);
    unlock_and_wake(&wakes);
    return event ? 0 : -EINVAL;
}

bool events_called(const struct events *events)
{
    return atomic_load_explicit(&events->called, memory_order_relaxed) != 0;
}

int event_reset(struct events *events, uint32_t id)
{
    pthread_mutex_lock(&events->lock);
    struct event *event = event_find(events, id);
    if (event)
        event->set = false;
    pthread_mutex_unlock(&events->lock);
    return event ? 0 : -EINVAL;
}

int events_memory_fault(struct events *events, const struct kfd_hsa_memory_exception_data *fault)
{
    int raised = 0;
    struct wakes wakes = {.events = events};
    pthread_mutex_lock(&events->lock);
    for (uint32_t id = 1; id < KFD_SIGNAL_EVENT_LIMIT; id++) {
        struct event *event = &events->slot[id];
        if (!event->used || event->type != KFD_IOC_EVENT_MEMORY)
            continue;
        event->memory = *fault;
        event_raise_locked(event, &wakes);
        raised++;
    }
    unlock_and_wake(&wakes);
    return raised;
}

/* Which member of the union it is depends on the event's type. */
static struct kfd_event_age *event_age_of(struct kfd_event_data *data)
{
    return (struct kfd_event_age *)&data->memory_exception_data;
}

/* Returns what is remembered of this thread. One that is new takes the place of who came first:
 * that one has most likely ended, and if not, a wait of it comes back early once more. */
static struct event_witness *event_witness(struct event *event)
{
    static __thread char self; /* its address names the thread */
    for (uint32_t i = 0; i < EVENT_WITNESSES_MAX; i++)
        if (event->witnesses[i].thread == &self)
            return &event->witnesses[i];
    struct event_witness *witness = &event->witnesses[event->witness_next];
    event->witness_next = (event->witness_next + 1) % EVENT_WITNESSES_MAX;
    *witness = (struct event_witness){&self, 1}; /* the age of an event never raised */
    return witness;
}

/* Two threads of ROCr 5 wait for one signal when a queue is destroyed, and look at its value before
 * they wait. The one that raises the event may also take the wake-up, while the other is between
 * its look and its wait; both then wait for ever. The kernel has that gap and closed it with ages,
 * which ROCr 5 does not give. On a busy machine of two cores, one queue in a few hundred was lost.
 * So an endless wait, after which every client looks again, ends for what its thread has missed. */
static bool event_was_missed(struct event *event)
{
    return event_witness(event)->age != event->age;
}

static void event_witnessed(struct event *event)
{
    event_witness(event)->age = event->age;
}

/* ROCr 6.4 keeps the events that its thread for asynchronous signals waits for in one list and
 * their ages in another. Where two signals share an event it closes the gap in the first list alone
 * (std::unique), so that it gives the ages of others, or 1, again and again; the kernel ends each
 * such wait at once, and the thread takes a core as long as the program runs. A thread that has
 * seen the event's last raise misses nothing while it sleeps for a moment, in which whatever is
 * raised wakes it as ever; then its wait ends as the kernel's does. */
static bool event_age_is_stale(struct event *event, uint64_t seen, uint32_t timeout_ms)
{
    return timeout_ms != 0 && seen != 0 && seen != event->age && !event_was_missed(event);
}

static struct event_wait event_wait_of(struct event *event, struct kfd_event_data *data,
                                       struct waiter *waiter, uint32_t timeout_ms)
{
    const uint64_t seen = event->type == KFD_IOC_EVENT_SIGNAL ? event_age_of(data)->last : 0;
    const bool is_ageless = event->type == KFD_IOC_EVENT_SIGNAL && event->auto_reset && seen == 0;
    const bool stale = !event->set && event_age_is_stale(event, seen, timeout_ms);
    const bool come = event->set || (seen && seen != event->age && !stale) ||
                      (is_ageless && waiter->is_endless && event_was_missed(event));
    return (struct event_wait){
        .waiter = waiter, .id = data->event_id, .done = come, .aged = seen != 0, .stale = stale};
}

/* Puts the waiter into every event's list; events already set count at once. */
static int waits_link(struct events *events, struct event_wait *waits, struct kfd_event_data *data,
                      uint32_t count, struct waiter *waiter, uint32_t timeout_ms)
{
    for (uint32_t i = 0; i < count; i++)
        if (!event_find(events, data[i].event_id))
            return -EINVAL;
    for (uint32_t i = 0; i < count; i++) {
        struct event *event = event_find(events, data[i].event_id);
        waits[i] = event_wait_of(event, &data[i], waiter, timeout_ms);
        waiter->is_stale |= waits[i].stale;
        if (waits[i].done) {
            wait_come(&waits[i]);
            event->set = event->set && !event->auto_reset;
        }
        waits[i].next = event->waits;
        event->waits = &waits[i];
    }
    return 0;
}

static void waits_unlink(struct events *events, struct event_wait *waits, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct event *event = event_find(events, waits[i].id);
        for (struct event_wait **at = event ? &event->waits : NULL; at && *at; at = &(*at)->next) {
            if (*at == &waits[i]) {
                *at = waits[i].next;
                break;
            }
        }
    }
}

static void results_copy(struct events *events, const struct event_wait *waits,
                         struct kfd_event_data *data, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct event *event = event_find(events, waits[i].id);
        if (waits[i].done && event && event->type == KFD_IOC_EVENT_MEMORY)
            data[i].memory_exception_data = event->memory;
        if (waits[i].done && event && waits[i].aged)
            event_age_of(&data[i])->last = event->age;
        if (event)
            event_witnessed(event);
    }
}

static bool waiter_done(const struct waiter *waiter, bool all)
{
    return waiter->missing == 0 || (!all && waiter->any);
}

/* Only now: what comes in the meantime counts. */
static void sleep_announce(struct events *events)
{
    if (!events->before_sleep)
        return;
    pthread_mutex_unlock(&events->lock);
    events->before_sleep(events->data);
    pthread_mutex_lock(&events->lock);
}

/* Gives the lock back meanwhile. False: `until_ns` has passed. */
static bool news_await(struct events *events, struct waiter *waiter, uint64_t until_ns)
{
    uint32_t seen = atomic_load_explicit(&waiter->news, memory_order_relaxed);
    uint64_t now_ns = wait_now_ns();
    if (now_ns >= until_ns)
        return false;
    struct timespec left = wait_timespec(until_ns - now_ns);
    waiter->is_asleep = true;
    pthread_mutex_unlock(&events->lock);
    futex_wait(&waiter->news, seen, until_ns == WAIT_FOREVER ? NULL : &left);
    pthread_mutex_lock(&events->lock);
    waiter->is_asleep = false;
    if (waiter->is_called)
        called_change(events, UINT32_MAX);
    waiter->is_called = false;
    return true;
}

static void waiter_await(struct events *events, struct waiter *waiter, bool all, uint64_t until_ns)
{
    while (!waiter->gone && !waiter_done(waiter, all) && news_await(events, waiter, until_ns))
        ;
}

/* The moment for which stale ages keep a wait from its end. */
static void stale_await(struct events *events, struct event_wait *waits, uint32_t count,
                        struct waiter *waiter, bool all, uint64_t until_ns)
{
    const uint64_t moment_ns = wait_now_ns() + STALE_NS;
    waiter_await(events, waiter, all, moment_ns < until_ns ? moment_ns : until_ns);
    for (uint32_t i = 0; i < count && !waiter->gone; i++)
        if (waits[i].stale && !waits[i].done)
            wait_come(&waits[i]);
}

static int waiter_sleep(struct events *events, struct event_wait *waits, uint32_t count,
                        struct waiter *waiter, bool all, uint32_t timeout_ms, uint32_t *result)
{
    uint64_t until_ns = timeout_ms == UINT32_MAX
                            ? WAIT_FOREVER
                            : wait_now_ns() + timeout_ms * (uint64_t)WAIT_NS_PER_MS;
    if (!waiter->gone && !waiter_done(waiter, all) && timeout_ms != 0)
        sleep_announce(events);
    if (waiter->is_stale)
        stale_await(events, waits, count, waiter, all, until_ns);
    waiter_await(events, waiter, all, until_ns);
    if (waiter_done(waiter, all))
        *result = KFD_IOC_WAIT_RESULT_COMPLETE;
    else
        *result = waiter->gone ? KFD_IOC_WAIT_RESULT_FAIL : KFD_IOC_WAIT_RESULT_TIMEOUT;
    return *result == KFD_IOC_WAIT_RESULT_FAIL ? -EIO : 0;
}

static int wait_locked(struct events *events, struct event_wait *waits, struct kfd_event_data *data,
                       uint32_t count, struct waiter *waiter, bool all, uint32_t timeout_ms,
                       uint32_t *result)
{
    *result = KFD_IOC_WAIT_RESULT_FAIL;
    int status = waits_link(events, waits, data, count, waiter, timeout_ms);
    if (status)
        return status;
    status = waiter_sleep(events, waits, count, waiter, all, timeout_ms, result);
    results_copy(events, waits, data, count);
    waits_unlink(events, waits, count);
    return status;
}

int events_wait(struct events *events, struct kfd_event_data *data, uint32_t count, bool all,
                uint32_t timeout_ms, uint32_t *result)
{
    enum { ON_STACK = 64 };
    struct event_wait few[ON_STACK], *waits = few;
    if (count > ON_STACK)
        waits = malloc(count * sizeof *waits);
    if (!waits)
        return -ENOMEM;
    struct waiter waiter = {.missing = count, .is_endless = timeout_ms == UINT32_MAX};
    pthread_mutex_lock(&events->lock);
    int status = wait_locked(events, waits, data, count, &waiter, all, timeout_ms, result);
    pthread_mutex_unlock(&events->lock);
    if (waits != few)
        free(waits);
    return status;
}
