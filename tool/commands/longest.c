#include "longest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Beyond those that are kept: the more, the rarer the shortest are looked for. */
enum { SPARE_MAX = 1 << 16 };

static void longest_empty(struct longest *longest)
{
    for (uint32_t i = 0; i < longest->space; i++)
        longest->keys[i].row = i;
    longest->count = 0;
    longest->came = 0;
    longest->has_least = false;
}

int longest_begin(struct longest *longest, uint32_t room)
{
    uint32_t spare = room / 4 + 1 < SPARE_MAX ? room / 4 + 1 : SPARE_MAX;
    *longest = (struct longest){.room = room, .space = room + spare};
    longest->rows = malloc(longest->space * sizeof *longest->rows);
    longest->keys = malloc(longest->space * sizeof *longest->keys);
    if (!longest->rows || !longest->keys) {
        longest_end(longest);
        return -ENOMEM;
    }
    longest_empty(longest);
    return 0;
}

void longest_end(struct longest *longest)
{
    free(longest->rows);
    free(longest->keys);
    *longest = (struct longest){0};
}

static bool is_longer(const struct longest_key *a, const struct longest_key *b)
{
    return a->length_ns != b->length_ns ? a->length_ns > b->length_ns : a->number < b->number;
}

static void swap(struct longest_key *a, struct longest_key *b)
{
    struct longest_key other = *a;
    *a = *b;
    *b = other;
}

/* Longer keys than the one at `pivot` to the front; where that one comes to lie. */
static uint32_t part(struct longest_key *keys, uint32_t low, uint32_t high, uint32_t pivot)
{
    uint32_t at = low;
    swap(&keys[pivot], &keys[high]);
    for (uint32_t i = low; i < high; i++)
        if (is_longer(&keys[i], &keys[high]))
            swap(&keys[i], &keys[at++]);
    swap(&keys[at], &keys[high]);
    return at;
}

/* No two keys are equal, so that a pivot taken at random halves them, whatever their order is. */
static void front_select(struct longest_key *keys, uint32_t count, uint32_t wanted)
{
    uint32_t low = 0, high = count - 1, random = 12345;
    while (low < high) {
        random = random * 1664525 + 1013904223;
        uint32_t pivot = low + (uint32_t)((uint64_t)random * (high - low + 1) >> 32);
        uint32_t at = part(keys, low, high, pivot);
        if (at == wanted)
            return;
        if (at < wanted)
            low = at + 1;
        else
            high = at - 1;
    }
}

/* Only the longest stay. */
static void shortest_drop(struct longest *longest)
{
    if (longest->count <= longest->room)
        return;
    front_select(longest->keys, longest->count, longest->room);
    longest->count = longest->room;
    longest->has_least = true;
    longest->least_ns = UINT64_MAX;
    for (uint32_t i = 0; i < longest->count; i++)
        if (longest->keys[i].length_ns < longest->least_ns)
            longest->least_ns = longest->keys[i].length_ns;
}

/* What a row takes, and how long it lasted; 0: it has no length, or no page could be without it. */
static size_t row_length(enum out_table_id table, const void *row, uint64_t *length_ns)
{
    if (table == OUT_KERNEL_TRACE) {
        const struct out_dispatch_row *dispatch = row;
        *length_ns = dispatch->end_ns - dispatch->start_ns;
        return sizeof *dispatch;
    }
    if (table == OUT_MEMORY_COPY) {
        const struct out_copy_row *copy = row;
        *length_ns = copy->end_ns - copy->start_ns;
        return sizeof *copy;
    }
    if (table == OUT_HIP_EVENT) {
        const struct out_event_row *event = row;
        *length_ns = event->end_ns - event->start_ns;
        return sizeof *event;
    }
    if (!out_is_call(table))
        return 0;
    const struct out_api_row *api = row;
    *length_ns = api->end_ns - api->start_ns;
    return sizeof *api;
}

void longest_row(struct longest *longest, enum out_table_id table, const void *row)
{
    uint64_t length_ns = 0;
    size_t bytes = row_length(table, row, &length_ns);
    if (!bytes)
        return;
    uint64_t number = longest->came++;
    if (longest->has_least && length_ns <= longest->least_ns)
        return; /* of equal ones the first stay */
    if (longest->count == longest->space)
        shortest_drop(longest);
    struct longest_key *key = &longest->keys[longest->count++];
    key->length_ns = length_ns;
    key->number = number;
    longest->rows[key->row].table = table;
    memcpy(&longest->rows[key->row].api, row, bytes);
}

static int by_number(const void *left, const void *right)
{
    const struct longest_key *a = left, *b = right;
    return (a->number > b->number) - (a->number < b->number);
}

void longest_each(struct longest *longest,
                  void (*take)(void *data, enum out_table_id table, const void *row), void *data)
{
    shortest_drop(longest);
    qsort(longest->keys, longest->count, sizeof *longest->keys, by_number);
    for (uint32_t i = 0; i < longest->count; i++) {
        const struct longest_row *row = &longest->rows[longest->keys[i].row];
        take(data, row->table, &row->api);
    }
    longest_empty(longest);
}
