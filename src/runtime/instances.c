#include "runtime/places.h"

#include <string.h>

enum { INSTANCES_MAX = RUNTIME_PLACES_MAX };

pthread_mutex_t runtime_lock = PTHREAD_MUTEX_INITIALIZER;
static struct runtime_instance instances[INSTANCES_MAX];
struct runtime_place runtime_places[RUNTIME_PLACES_MAX]; /* of the instances, one each */
static uint32_t instance_count;
static uint64_t arrival_count;

/* Writers: whoever hooks a library (relaxed: it stands for nothing else). Readers: any. */
static _Atomic bool hooked;

#define BIT(state) (1u << RUNTIME_##state)
static const uint8_t followers[RUNTIME_STATES] = {
    [RUNTIME_ABSENT] = BIT(OFFERED),
    [RUNTIME_OFFERED] = BIT(KEPT) | BIT(INSTALLED) | BIT(GONE),
    [RUNTIME_KEPT] = BIT(OFFERED) | BIT(GONE),
    [RUNTIME_INSTALLED] = BIT(INSTALLED) | BIT(GONE),
    [RUNTIME_GONE] = BIT(OFFERED),
};

bool runtime_state_may_follow(enum runtime_state from, enum runtime_state to)
{
    return from < RUNTIME_STATES && to < RUNTIME_STATES && (followers[from] >> to & 1);
}

/* ---- under the lock */

static struct runtime_place *place_of(const struct runtime_instance *instance)
{
    return &runtime_places[instance - instances];
}

static void state_set(struct runtime_instance *instance, enum runtime_state to)
{
    instance->state = to;
    atomic_store_explicit(&place_of(instance)->state, (int)to, memory_order_release);
}

static struct runtime_instance *find(enum runtime_kind kind, const void *table)
{
    for (uint32_t i = 0; i < instance_count; i++)
        if (instances[i].row->kind == kind && instances[i].tables[0] == table)
            return &instances[i];
    return NULL;
}

/* NULL: the instance has gone, and may have come again, since the copy was made. */
static struct runtime_instance *find_same(const struct runtime_instance *copy)
{
    struct runtime_instance *instance = find(copy->row->kind, copy->tables[0]);
    return instance && instance->arrival == copy->arrival && instance->state != RUNTIME_GONE
               ? instance
               : NULL;
}

/* Takes a new place while there are any: an instance that has gone may come again, and then finds
 * its own. */
static struct runtime_instance *place_find(void)
{
    struct runtime_instance *oldest = NULL;
    if (instance_count < INSTANCES_MAX)
        return &instances[instance_count++];
    for (uint32_t i = 0; i < INSTANCES_MAX; i++)
        if (instances[i].state == RUNTIME_GONE && !runtime_places[i].is_held &&
            (!oldest || instances[i].arrival < oldest->arrival))
            oldest = &instances[i];
    return oldest;
}

/* Numbers copies in the order in which they came. */
static uint64_t number_make(const struct runtime_row *row)
{
    uint64_t number = 0;
    for (uint32_t i = 0; i < instance_count; i++)
        if (instances[i].row == row && instances[i].number >= number)
            number = instances[i].number + 1;
    return number;
}

static void instance_begin(struct runtime_instance *instance,
                           const struct runtime_instance *arrival)
{
    uint64_t number = arrival->number;
    bool again = instance->row == arrival->row && instance->tables[0] == arrival->tables[0];
    if (number == RUNTIME_UNNUMBERED)
        number = again ? instance->number : number_make(arrival->row);
    *instance = *arrival;
    instance->number = number;
    state_set(instance, RUNTIME_OFFERED);
    instance->arrival = ++arrival_count;
    instance->watchers_told = 0;
    instance->is_announced = false;
    instance->kernels_missed = false;
}

static bool is_there(const struct runtime_instance *instance)
{
    return instance->state != RUNTIME_GONE && instance->state != RUNTIME_ABSENT;
}

/* ---- from outside */

bool runtime_arrive(struct runtime_instance *arrival)
{
    pthread_mutex_lock(&runtime_lock);
    struct runtime_instance *instance = find(arrival->row->kind, arrival->tables[0]);
    if (!instance)
        instance = place_find();
    if (instance && !is_there(instance))
        instance_begin(instance, arrival);
    if (instance)
        *arrival = *instance;
    pthread_mutex_unlock(&runtime_lock);
    return instance != NULL;
}

bool runtime_at(uint32_t index, struct runtime_instance *instance)
{
    pthread_mutex_lock(&runtime_lock);
    bool there = index < instance_count;
    if (there)
        *instance = instances[index];
    pthread_mutex_unlock(&runtime_lock);
    return there;
}

bool runtime_move(struct runtime_instance *instance, enum runtime_state to)
{
    pthread_mutex_lock(&runtime_lock);
    struct runtime_instance *same = find_same(instance);
    bool moved = same && runtime_state_may_follow(same->state, to);
    if (moved) {
        state_set(same, to);
        instance->state = to;
    }
    pthread_mutex_unlock(&runtime_lock);
    return moved;
}

bool runtime_kept_take(struct runtime_instance *instance)
{
    struct runtime_instance *first = NULL;
    pthread_mutex_lock(&runtime_lock);
    for (uint32_t i = 0; i < instance_count; i++)
        if (instances[i].state == RUNTIME_KEPT && (!first || instances[i].arrival < first->arrival))
            first = &instances[i];
    if (first) {
        state_set(first, RUNTIME_OFFERED);
        *instance = *first;
    }
    pthread_mutex_unlock(&runtime_lock);
    return first != NULL;
}

uint32_t runtime_kept_count(void)
{
    uint32_t count = 0;
    pthread_mutex_lock(&runtime_lock);
    for (uint32_t i = 0; i < instance_count; i++)
        count += instances[i].state == RUNTIME_KEPT;
    pthread_mutex_unlock(&runtime_lock);
    return count;
}

bool runtime_announce(struct runtime_instance *instance)
{
    pthread_mutex_lock(&runtime_lock);
    struct runtime_instance *same = find_same(instance);
    bool first = same && !same->is_announced;
    if (first)
        instance->is_announced = same->is_announced = true;
    pthread_mutex_unlock(&runtime_lock);
    return first;
}

bool runtime_is_known(enum runtime_kind kind)
{
    bool known = false;
    pthread_mutex_lock(&runtime_lock);
    for (uint32_t i = 0; i < instance_count; i++)
        known |=
            instances[i].row->kind == kind && is_there(&instances[i]) && instances[i].is_announced;
    pthread_mutex_unlock(&runtime_lock);
    return known;
}

uint32_t runtime_watchers_tell(struct runtime_instance *instance, uint32_t count)
{
    uint32_t before = count;
    pthread_mutex_lock(&runtime_lock);
    struct runtime_instance *same = find_same(instance);
    if (same && same->watchers_told < count) {
        before = same->watchers_told;
        instance->watchers_told = same->watchers_told = count;
    }
    pthread_mutex_unlock(&runtime_lock);
    return before;
}

void runtime_kernels_missed_set(const struct runtime_instance *instance, bool missed)
{
    pthread_mutex_lock(&runtime_lock);
    struct runtime_instance *same = find_same(instance);
    if (same)
        same->kernels_missed = missed;
    pthread_mutex_unlock(&runtime_lock);
}

bool runtime_kernels_missed(void)
{
    bool missed = false;
    pthread_mutex_lock(&runtime_lock);
    for (uint32_t i = 0; i < instance_count; i++)
        missed |= is_there(&instances[i]) && instances[i].kernels_missed;
    pthread_mutex_unlock(&runtime_lock);
    return missed;
}

void runtime_leave(enum runtime_kind kind, const void *table)
{
    pthread_mutex_lock(&runtime_lock);
    struct runtime_instance *instance = find(kind, table);
    if (instance)
        state_set(instance, RUNTIME_GONE);
    pthread_mutex_unlock(&runtime_lock);
}

void *runtime_only_table(enum runtime_kind kind)
{
    void *table = NULL;
    uint32_t count = 0;
    pthread_mutex_lock(&runtime_lock);
    for (uint32_t i = 0; i < instance_count; i++) {
        if (instances[i].row->kind != kind || !is_there(&instances[i]))
            continue;
        table = instances[i].tables[0];
        count++;
    }
    pthread_mutex_unlock(&runtime_lock);
    return count == 1 ? table : NULL;
}

struct runtime_place *runtime_place_hold(enum runtime_kind kind, const void *table)
{
    pthread_mutex_lock(&runtime_lock);
    struct runtime_instance *instance = find(kind, table);
    struct runtime_place *place = instance ? place_of(instance) : NULL;
    if (place)
        place->is_held = true;
    pthread_mutex_unlock(&runtime_lock);
    return place;
}

bool runtime_place_install(struct runtime_place *place)
{
    pthread_mutex_lock(&runtime_lock);
    struct runtime_instance *instance = &instances[place - runtime_places];
    bool may = runtime_state_may_follow(instance->state, RUNTIME_INSTALLED);
    if (may) {
        place->parts_begun = place->parts_ended = 0;
        state_set(instance, RUNTIME_INSTALLED);
    }
    pthread_mutex_unlock(&runtime_lock);
    return may;
}

void runtime_hooked_set(void)
{
    atomic_store_explicit(&hooked, true, memory_order_relaxed);
}

bool runtime_is_hooked(void)
{
    return atomic_load_explicit(&hooked, memory_order_relaxed);
}

/* ---- a forked child has no thread that would complete a change */

void runtimes_on_fork_prepare(void)
{
    pthread_mutex_lock(&runtime_lock);
}

void runtimes_on_fork_parent(void)
{
    pthread_mutex_unlock(&runtime_lock);
}

void runtimes_on_fork_child(void)
{
    pthread_mutex_init(&runtime_lock, NULL);
    for (uint32_t i = 0; i < instance_count; i++)
        runtime_places[i].parts_ended = runtime_places[i].parts_begun;
}
