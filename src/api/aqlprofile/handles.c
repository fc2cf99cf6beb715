#include "api/aqlprofile/handles.h"

#include <pthread.h>

#include "base/fork_lock.h"

/* What is in use. Memory callbacks are never called under the lock. */
static struct {
    pthread_mutex_t lock;
    struct handle_entry *first;
    uint64_t last_number;
} live = {.lock = PTHREAD_MUTEX_INITIALIZER};
FORK_LOCK(live_kept, live.lock)

aqlprofile_handle_t handle_publish(struct handle_entry *entry, enum handle_sort sort)
{
    pthread_mutex_lock(&live.lock);
    aqlprofile_handle_t handle = {.handle = ++live.last_number};
    *entry = (struct handle_entry){live.first, handle.handle, sort};
    live.first = entry;
    pthread_mutex_unlock(&live.lock);
    return handle;
}

/* The link to the entry; it points to NULL at the end of the list. Under live.lock. */
static struct handle_entry **place_of(aqlprofile_handle_t handle, enum handle_sort sort)
{
    struct handle_entry **at = &live.first;
    while (*at && ((*at)->number != handle.handle || (*at)->sort != sort))
        at = &(*at)->next;
    return at;
}

void *handle_find(aqlprofile_handle_t handle, enum handle_sort sort)
{
    pthread_mutex_lock(&live.lock);
    struct handle_entry *entry = *place_of(handle, sort);
    pthread_mutex_unlock(&live.lock);
    return entry;
}

void *handle_take(aqlprofile_handle_t handle, enum handle_sort sort)
{
    pthread_mutex_lock(&live.lock);
    struct handle_entry **at = place_of(handle, sort), *entry = *at;
    if (entry)
        *at = entry->next;
    pthread_mutex_unlock(&live.lock);
    return entry;
}
