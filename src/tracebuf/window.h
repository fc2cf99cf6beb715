/*
 * Where the items of one call of a consumer stand. Private to tracebuf.
 */
#ifndef TRACEBUF_WINDOW_H
#define TRACEBUF_WINDOW_H

#include "tracebuf/tracebuf.h"

enum {
    /* 4 MiB of records of a cache line, in 1.5 MiB: a buffer of that size comes in one call. */
    WINDOW_ITEMS_MAX = 65536,
    /* For those beyond the first WINDOWS_LARGE deliveries that run at one time. */
    WINDOW_ITEMS_SMALL = 4096,
    /* When there is no memory. */
    WINDOW_ITEMS_SPARE = 32,
};

struct window {
    struct tracebuf_item *items;
    struct tracebuf_item **pointers;
    size_t items_max;
    struct window_slot *slot; /* NULL: the spare arrays */
    struct tracebuf_item spare_items[WINDOW_ITEMS_SPARE];
    struct tracebuf_item *spare_pointers[WINDOW_ITEMS_SPARE];
};

/* `window` stands on the caller's stack. Never fails. */
void window_take(struct window *window);
void window_give(struct window *window);

/* In the child of a fork: nobody has taken any; and this thread still has `window`. */
void windows_forget(void);
void window_keep(const struct window *window);

#endif
