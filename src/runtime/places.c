#include "runtime/places.h"

#include "base/wait.h"

/* How many calls of runtime_parts_begin this thread still owes an end for. What it calls in between
 * may come back here. */
static __thread uint32_t beginning;

uint32_t runtime_parts_begin(struct runtime_place *place, uint32_t wanted)
{
    pthread_mutex_lock(&runtime_lock);
    uint32_t mine = wanted & ~place->parts_begun;
    place->parts_begun |= mine;
    pthread_mutex_unlock(&runtime_lock);
    beginning++;
    return mine;
}

void runtime_parts_end(struct runtime_place *place, uint32_t parts)
{
    pthread_mutex_lock(&runtime_lock);
    place->parts_ended |= parts;
    pthread_mutex_unlock(&runtime_lock);
    beginning--;
}

struct waiting {
    struct runtime_place *place;
    uint32_t parts;
};

static bool parts_are_done(void *data)
{
    const struct waiting *waiting = data;
    pthread_mutex_lock(&runtime_lock);
    uint32_t open = waiting->place->parts_begun & ~waiting->place->parts_ended;
    pthread_mutex_unlock(&runtime_lock);
    return !(open & waiting->parts);
}

/* Whoever puts the parts in calls the runtime, which may wait for us, so the wait has an end. */
void runtime_parts_wait(struct runtime_place *place, uint32_t parts)
{
    struct waiting waiting = {place, parts};
    if (beginning == 0)
        wait_until(parts_are_done, &waiting, WAIT_NS_PER_S, 50 * WAIT_NS_PER_US);
}
