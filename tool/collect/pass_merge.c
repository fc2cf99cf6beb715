#include "pass_merge.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Entries that are kept for later: of all passes together, and lists to find them in. */
enum { PENDING_MAX = 1 << 16, LISTS = 1 << 12 };

struct source {
    struct pass_reader reader;
    bool ended;
    struct pass_entry *pending[LISTS];
};

struct pass_merge {
    struct pass_merge_differences differences;
    unsigned pending;
    uint32_t count;
    struct source sources[];
};

struct pass_merge *pass_merge_create(const char *directory, uint32_t process, uint32_t first,
                                     uint32_t end)
{
    uint32_t count = end > first ? end - first : 0;
    struct pass_merge *merge = calloc(1, sizeof *merge + count * sizeof merge->sources[0]);
    if (!merge)
        return NULL;
    merge->count = count;
    for (uint32_t i = 0; i < count; i++) {
        struct source *source = &merge->sources[i];
        source->ended = pass_reader_open(&source->reader, directory, first + i, process) != 0;
        if (source->ended && merge->differences.missing++ == 0)
            merge->differences.missing_pass = first + i;
    }
    return merge;
}

/* Names of kernels of this process and of files are different copies. */
static size_t list_of(const struct passes_launch *launch)
{
    uint64_t value = 0xcbf29ce484222325u ^ launch->number ^ launch->row.agent << 32;
    for (const char *at = launch->row.kernel_name; *at; at++)
        value = (value ^ (unsigned char)*at) * 0x100000001b3u;
    return (value ^ value >> 29) % LISTS;
}

static bool is_same(const struct passes_launch *a, const struct passes_launch *b)
{
    return a->number == b->number && a->row.agent == b->row.agent &&
           strcmp(a->row.kernel_name, b->row.kernel_name) == 0;
}

static struct pass_entry *pending_take(struct pass_merge *merge, struct source *source,
                                       const struct passes_launch *launch)
{
    for (struct pass_entry **at = &source->pending[list_of(launch)]; *at; at = &(*at)->next) {
        struct pass_entry *entry = *at;
        if (!is_same(&entry->launch, launch))
            continue;
        *at = entry->next;
        merge->pending--;
        return entry;
    }
    return NULL;
}

static void pending_put(struct pass_merge *merge, struct source *source, struct pass_entry *entry)
{
    struct pass_entry **list = &source->pending[list_of(&entry->launch)];
    entry->next = *list;
    *list = entry;
    merge->pending++;
}

/* NULL: the pass has no such launch, or it is too far away. */
static struct pass_entry *entry_find(struct pass_merge *merge, struct source *source,
                                     const struct passes_launch *launch)
{
    struct pass_entry *entry = pending_take(merge, source, launch);
    while (!entry && !source->ended && merge->pending < PENDING_MAX) {
        struct pass_entry *next = pass_reader_next(&source->reader);
        source->ended = !next;
        if (next && is_same(&next->launch, launch))
            entry = next;
        else if (next)
            pending_put(merge, source, next);
    }
    return entry;
}

static bool has_same_shape(const struct out_dispatch_row *a, const struct out_dispatch_row *b)
{
    return memcmp(a->grid, b->grid, sizeof a->grid) == 0 &&
           memcmp(a->workgroup, b->workgroup, sizeof a->workgroup) == 0;
}

void pass_merge_read(struct pass_merge *merge, const struct passes_launch *launch,
                     void (*add)(const struct passes_value *value, void *data), void *data)
{
    bool found = false, other_shape = false;
    for (uint32_t i = 0; i < merge->count; i++) {
        struct pass_entry *entry = entry_find(merge, &merge->sources[i], launch);
        if (!entry)
            continue;
        found = true;
        if (has_same_shape(&entry->launch.row, &launch->row))
            for (unsigned value = 0; value < entry->count; value++)
                add(&entry->values[value], data);
        else
            other_shape = true;
        free(entry);
    }
    merge->differences.unmatched += !found;
    merge->differences.reshaped += other_shape;
}

static uint64_t source_end(struct source *source)
{
    uint64_t unused = 0;
    struct pass_entry *entry;
    for (size_t i = 0; i < LISTS; i++)
        while ((entry = source->pending[i])) {
            source->pending[i] = entry->next;
            unused += entry->count;
            free(entry);
        }
    while (source->reader.file && (entry = pass_reader_next(&source->reader))) {
        unused += entry->count;
        free(entry);
    }
    pass_reader_close(&source->reader);
    return unused;
}

void pass_merge_destroy(struct pass_merge *merge, struct pass_merge_differences *differences)
{
    for (uint32_t i = 0; i < merge->count; i++)
        merge->differences.unused += source_end(&merge->sources[i]);
    *differences = merge->differences;
    free(merge);
}

/* fclose() would move the position to where this copy has read. What was read stays in memory. */
void pass_merge_abandon(struct pass_merge *merge)
{
    for (uint32_t i = 0; i < merge->count; i++)
        if (merge->sources[i].reader.file)
            close(fileno(merge->sources[i].reader.file));
}
