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
    struct tracebuf_segment *current = atomic_load_explicit(&buffer->current, memory_order_seq_cst);
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
    atomic_fetch_add_explicit(&buffer->generation, 1,
                              memory_order_seq_cst); /* voids the survivor's own lease */
    atomic_store_explicit(&buffer->dropped, 0, memory_order_seq_cst);
    atomic_store_explicit(&state->dropped_told, 0, memory_order_seq_cst);
    atomic_store_explicit(&state->requested, false, memory_order_seq_cst);
    atomic_store_explicit(&state->flush_done,
                          atomic_load_explicit(&state->flush_wanted, memory_order_seq_cst),
                          memory_order_seq_cst);
    atomic_store_explicit(&state->untouched, true, memory_order_seq_cst);
}

bool fork_first_record(struct tracebuf *buffer)
{
    _Atomic bool *untouched = &buffer->state->untouched;
    return atomic_load_explicit(untouched, memory_order_relaxed) &&
           atomic_exchange_explicit(untouched, false, memory_order_seq_cst);
}
