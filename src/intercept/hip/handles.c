#include "intercept/hip/handles.h"

#include "base/log.h"

#define GONE UINTPTR_MAX

static uint32_t place_first(uintptr_t handle)
{
    return (uint32_t)((handle >> 4) * 2654435761u % HANDLES_MAX);
}

bool handle_find(struct handles *handles, uintptr_t handle, uint64_t *number)
{
    for (uint32_t i = 0; i < HANDLES_MAX; i++) {
        uint32_t place = (place_first(handle) + i) % HANDLES_MAX;
        uintptr_t found =
            atomic_load_explicit(&handles->places[place].handle, memory_order_acquire);
        if (found == 0)
            return false;
        if (found == handle) {
            *number = atomic_load_explicit(&handles->places[place].number, memory_order_relaxed);
            return true;
        }
    }
    return false;
}

/* Its place, or one that is free; -1: none. Under the lock. */
static int place_for(struct handles *handles, uintptr_t handle)
{
    int free_place = -1;
    for (uint32_t i = 0; i < HANDLES_MAX; i++) {
        uint32_t place = (place_first(handle) + i) % HANDLES_MAX;
        uintptr_t found =
            atomic_load_explicit(&handles->places[place].handle, memory_order_relaxed);
        if (found == handle)
            return (int)place;
        if (free_place < 0 && (found == 0 || found == GONE))
            free_place = (int)place;
        if (found == 0)
            break;
    }
    return free_place;
}

bool handle_add(struct handles *handles, uintptr_t handle, uint64_t *number)
{
    pthread_mutex_lock(&handles->lock);
    int place = place_for(handles, handle);
    if (place >= 0) {
        *number = ++handles->number_last;
        atomic_store_explicit(&handles->places[place].number, *number, memory_order_relaxed);
        atomic_store_explicit(&handles->places[place].handle, handle, memory_order_release);
    }
    pthread_mutex_unlock(&handles->lock);
    if (place < 0 && !atomic_exchange_explicit(&handles->warned, true, memory_order_relaxed))
        log_warning("intercept", "more than %d HIP %s exist: some are not reported", HANDLES_MAX,
                    handles->what);
    return place >= 0;
}

static bool place_has(struct handles *handles, int place, uintptr_t handle, uint64_t number)
{
    return place >= 0 &&
           atomic_load_explicit(&handles->places[place].handle, memory_order_relaxed) == handle &&
           atomic_load_explicit(&handles->places[place].number, memory_order_relaxed) == number;
}

void handle_remove(struct handles *handles, uintptr_t handle, uint64_t number)
{
    pthread_mutex_lock(&handles->lock);
    int place = place_for(handles, handle);
    if (place_has(handles, place, handle, number))
        atomic_store_explicit(&handles->places[place].handle, GONE, memory_order_release);
    pthread_mutex_unlock(&handles->lock);
}
