/* What a fork does to buffers. */
#include "tracebuf/state.h"

/* Rotations must not be half done in the child, which has nobody to complete them. */
void fork_prepare(void)
{
    pthread_mutex_lock(&tracebuf_create_lock);
    for (uint32_t i = 0; i < tracebuf_count(); i++)
        pthread_mutex_lock(&tracebuf_at(i)->state->rotate_lock);
}

void fork_parent(void)
{
    for (uint32_t i = tracebuf_count(); i-- > 0;)
        pthread_mutex_unlock(&tracebuf_at(i)->state->rotate_lock);
    pthread_mutex_unlock(&tracebuf_create_lock);
}

/* Only the forking thread lives on in a child. Records in the buffers are the parent's to deliver.
 */
void fork_child_reset(struct tracebuf *buffer)
{
    struct tracebuf_state *state = buffer->state;
    pthread_mutex_init(&state->rotate_lock, NULL);
    struct tracebuf_segment *current = atomic_load(&buffer->current);
    while (state->full_first) {
        struct tracebuf_segment *segment = state->full_first;
        state->full_first = segment->next;
        segment->next = state->free;
        state->free = segment;
    }
    state->full_last = NULL;
    state->delivering = delivery_depth(buffer);
    state->segment_count = (current != NULL) + state->delivering;
    for (struct tracebuf_segment *s = state->free; s; s = s->next) {
        segment_reset(s);
        state->segment_count++;
    }
    if (current)
        segment_reset(current);
    atomic_fetch_add(&buffer->generation, 1); /* voids the survivor's own lease */
    atomic_store(&buffer->dropped, 0);
    atomic_store(&state->dropped_told, 0);
    atomic_store(&state->requested, false);
    atomic_store(&state->flush_done, atomic_load(&state->flush_wanted));
    atomic_store(&state->untouched, true);
}

bool fork_first_record(struct tracebuf *buffer)
{
    _Atomic bool *untouched = &buffer->state->untouched;
    return atomic_load_explicit(untouched, memory_order_relaxed) &&
           atomic_exchange(untouched, false);
}
