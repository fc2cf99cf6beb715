/* The segments of a buffer: the current one, full ones in their order, free ones. */
#include "base/futex.h"
#include "tracebuf/state.h"

static struct tracebuf_segment *free_take(struct tracebuf_state *state)
{
    struct tracebuf_segment *segment = state->free;
    if (segment)
        state->free = segment->next;
    return segment;
}

bool state_rotate(struct tracebuf *buffer)
{
    struct tracebuf_state *state = buffer->state;
    struct tracebuf_segment *next = state->closed ? NULL : free_take(state);
    if (!next)
        return false;
    struct tracebuf_segment *full = atomic_load_explicit(&buffer->current, memory_order_seq_cst);
    full->next = NULL;
    full->sequence = ++state->sequence;
    if (state->full_last)
        state->full_last->next = full;
    else
        state->full_first = full;
    state->full_last = full;
    /* current first: a lease is valid only for a generation read before it, so a producer that sees
     * the new segment under the old generation merely gets a lease that ends at once */
    atomic_store_explicit(&buffer->current, next, memory_order_release);
    atomic_fetch_add_explicit(&buffer->generation, 1, memory_order_acq_rel);
    return true;
}

/* Counted before it is there, so that others do not make too many. */
static bool segment_announce(struct tracebuf_state *state, unsigned most)
{
    pthread_mutex_lock(&state->rotate_lock);
    bool wanted = !state->closed && !state->free && state->segment_count < most;
    state->segment_count += wanted;
    pthread_mutex_unlock(&state->rotate_lock);
    return wanted;
}

void state_extend(struct tracebuf *buffer, bool own)
{
    struct tracebuf_state *state = buffer->state;
    if (!segment_announce(state, own ? SEGMENTS_MAX : SEGMENTS_NORMAL))
        return;
    struct tracebuf_segment *segment = segment_create(&buffer->config);
    pthread_mutex_lock(&state->rotate_lock);
    bool kept = segment && !state->closed;
    if (kept) {
        segment->next = state->free;
        state->free = segment;
    } else {
        state->segment_count--;
    }
    pthread_mutex_unlock(&state->rotate_lock);
    if (!kept)
        segment_destroy(segment);
}

struct tracebuf_segment *state_full_pop(struct tracebuf_state *state, uint64_t up_to)
{
    pthread_mutex_lock(&state->rotate_lock);
    struct tracebuf_segment *segment = state->full_first;
    if (segment && segment->sequence > up_to)
        segment = NULL;
    if (segment) {
        state->full_first = segment->next;
        if (!state->full_first)
            state->full_last = NULL;
        state->delivering++;
    }
    pthread_mutex_unlock(&state->rotate_lock);
    return segment;
}

void state_release(struct tracebuf_state *state, struct tracebuf_segment *segment)
{
    struct tracebuf_segment *surplus = NULL;
    segment_reset(segment);
    pthread_mutex_lock(&state->rotate_lock);
    state->delivering--;
    if (state->segment_count > SEGMENTS_NORMAL || state->closed) {
        state->segment_count--;
        surplus = segment;
    } else {
        segment->next = state->free;
        state->free = segment;
    }
    atomic_fetch_add_explicit(&state->freed_epoch, 1, memory_order_seq_cst);
    pthread_mutex_unlock(&state->rotate_lock);
    segment_destroy(surplus);
    futex_wake_all(&state->freed_epoch);
}

void state_epoch_end(_Atomic uint32_t *epoch)
{
    atomic_fetch_add_explicit(epoch, 1, memory_order_seq_cst);
    futex_wake_all(epoch);
}
