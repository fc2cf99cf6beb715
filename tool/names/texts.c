#include "texts.h"

#include <stdlib.h>
#include <string.h>

enum { CAPACITY_FIRST = 256 };

static uint64_t hash_of(const char *text)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (; *text; text++)
        hash = (hash ^ (uint8_t)*text) * 1099511628211u;
    return hash;
}

static struct text_slot *find(struct text_slot *slots, uint32_t capacity, uint64_t hash,
                              const char *text)
{
    uint32_t at = (uint32_t)(hash ^ hash >> 32) & (capacity - 1);
    while (slots[at].text && (slots[at].hash != hash || strcmp(slots[at].text, text) != 0))
        at = (at + 1) & (capacity - 1);
    return &slots[at];
}

static bool grow(struct texts *texts)
{
    uint32_t capacity = texts->capacity ? 2 * texts->capacity : CAPACITY_FIRST;
    struct text_slot *slots = calloc(capacity, sizeof *slots);
    if (!slots)
        return false;
    for (uint32_t i = 0; i < texts->capacity; i++)
        if (texts->slots[i].text)
            *find(slots, capacity, texts->slots[i].hash, texts->slots[i].text) = texts->slots[i];
    free(texts->slots);
    texts->slots = slots;
    texts->capacity = capacity;
    return true;
}

/* Finds or fills the text's slot. NULL: no memory. */
static const struct text_slot *slot_get(struct texts *texts, const char *text, bool *is_new)
{
    *is_new = false;
    if (2 * texts->used >= texts->capacity && !grow(texts))
        return NULL;
    uint64_t hash = hash_of(text);
    struct text_slot *slot = find(texts->slots, texts->capacity, hash, text);
    if (slot->text)
        return slot;
    char *copy = strdup(text);
    if (!copy)
        return NULL;
    *slot = (struct text_slot){hash, copy, ++texts->used};
    *is_new = true;
    return slot;
}

uint32_t texts_id(struct texts *texts, const char *text, bool *is_new)
{
    uintptr_t address = (uintptr_t)text;
    struct text_recent *recent = &texts->recent[(address >> 4 ^ address >> 9) % TEXTS_RECENT];
    if (recent->text && strcmp(recent->text, text) == 0) {
        *is_new = false;
        return recent->id;
    }
    const struct text_slot *slot = slot_get(texts, text, is_new);
    if (!slot)
        return 0;
    recent->text = slot->text;
    recent->id = slot->id;
    return slot->id;
}

const char *texts_keep(struct texts *texts, const char *text)
{
    bool is_new;
    const struct text_slot *slot = slot_get(texts, text, &is_new);
    return slot ? slot->text : NULL;
}

void texts_free(struct texts *texts)
{
    for (uint32_t i = 0; i < texts->capacity; i++)
        free(texts->slots[i].text);
    free(texts->slots);
    *texts = (struct texts){0};
}
