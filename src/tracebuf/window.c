#include "tracebuf/window.h"

#include <stdatomic.h>
#include <sys/mman.h>

enum { WINDOWS_LARGE = 2, WINDOWS = 64 };

/* Memory is kept for the next delivery. Writer of `memory`: who has taken the slot. */
struct window_slot {
    /* Writers: who takes the slot (exchange, acquire) and gives it back (release); the child of a
     * fork. Readers: who looks for a free one (relaxed, then the exchange). */
    _Atomic bool taken;
    void *memory;
};

static struct window_slot slots[WINDOWS];

static struct window_slot *slot_take(void)
{
    for (int i = 0; i < WINDOWS; i++)
        if (!atomic_load_explicit(&slots[i].taken, memory_order_relaxed) &&
            !atomic_exchange_explicit(&slots[i].taken, true, memory_order_acquire))
            return &slots[i];
    return NULL;
}

static bool slot_fill(struct window_slot *slot, size_t items)
{
    size_t bytes = items * (sizeof(struct tracebuf_item) + sizeof(struct tracebuf_item *));
    if (slot->memory)
        return true;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    slot->memory = memory;
    return true;
}

void window_take(struct window *window)
{
    struct window_slot *slot = slot_take();
    size_t items = slot && slot - slots < WINDOWS_LARGE ? WINDOW_ITEMS_MAX : WINDOW_ITEMS_SMALL;
    window->slot = slot;
    if (slot && slot_fill(slot, items)) {
        window->items = slot->memory;
        window->pointers = (struct tracebuf_item **)(window->items + items);
        window->items_max = items;
        return;
    }
    window->items = window->spare_items;
    window->pointers = window->spare_pointers;
    window->items_max = WINDOW_ITEMS_SPARE;
}

void window_give(struct window *window)
{
    if (window->slot)
        atomic_store_explicit(&window->slot->taken, false, memory_order_release);
}

void windows_forget(void)
{
    for (int i = 0; i < WINDOWS; i++)
        atomic_store_explicit(&slots[i].taken, false, memory_order_seq_cst);
}

void window_keep(const struct window *window)
{
    if (window->slot)
        atomic_store_explicit(&window->slot->taken, true, memory_order_seq_cst);
}
