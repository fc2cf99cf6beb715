/* Texts and their numbers, from 1, in the order of their first use. */
#ifndef NAMES_TEXTS_H
#define NAMES_TEXTS_H

#include <stdbool.h>
#include <stdint.h>

enum { TEXTS_RECENT = 32 }; /* a power of two */

struct texts {
    struct text_slot {
        uint64_t hash;
        char *text; /* NULL: free */
        uint32_t id;
    } * slots;
    uint32_t used, capacity; /* slots; the capacity is a power of two, at most half is used */
    /* What was asked for lately, by the address that it was asked with: most callers come with the
     * same few addresses, and a long name is compared faster than hashed. */
    struct text_recent {
        const char *text; /* of a slot; NULL: free */
        uint32_t id;
    } recent[TEXTS_RECENT];
};

/* 0: no memory. *is_new: the text had no number before. */
uint32_t texts_id(struct texts *texts, const char *text, bool *is_new);
/* A copy of the text that lives as long as the collection. NULL: no memory. */
const char *texts_keep(struct texts *texts, const char *text);
void texts_free(struct texts *texts);

#endif
