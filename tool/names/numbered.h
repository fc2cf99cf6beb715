/* A hash table by number. One thread at a time. */
#ifndef NAMES_NUMBERED_H
#define NAMES_NUMBERED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Elements of one size by key; zero-initialise all but the size. Keys are any numbers. */
struct numbered {
    size_t element_bytes;
    struct numbered_slot {
        uint64_t key;
        void *element; /* NULL: free; elements do not move */
    } * slots;
    uint32_t used, capacity;
};

/* A zeroed element when the key is new. NULL: no memory. */
void *numbered_get(struct numbered *numbered, uint64_t key, bool *is_new);
/* NULL: there is none. */
void *numbered_find(const struct numbered *numbered, uint64_t key);
void numbered_each(const struct numbered *numbered, void (*each)(void *element));
void numbered_free(struct numbered *numbered);

#endif
