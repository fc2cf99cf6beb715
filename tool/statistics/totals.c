#include "totals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "names/numbered.h"
#include "names/texts.h"

struct totals {
    struct total **rows; /* sorted when asked */
    unsigned count, room;
    bool is_sorted;
    struct texts texts;
    struct numbered kept;  /* by address in the recording that is read: number of the text */
    struct numbered found; /* by numbers of both texts and the group: struct total */
    int status;
};

struct kept {
    uint32_t id;
    const char *text;
};

struct totals *totals_create(void)
{
    struct totals *totals = calloc(1, sizeof *totals);
    if (totals) {
        totals->kept.element_bytes = sizeof(struct kept);
        totals->found.element_bytes = sizeof(struct total);
    }
    return totals;
}

void totals_destroy(struct totals *totals)
{
    if (!totals)
        return;
    numbered_free(&totals->kept);
    numbered_free(&totals->found);
    texts_free(&totals->texts);
    free(totals->rows);
    free(totals);
}

static struct kept text_number(struct totals *totals, const char *text)
{
    bool is_new = false;
    struct kept *kept = numbered_get(&totals->kept, (uint64_t)(uintptr_t)text, &is_new);
    if (kept && is_new) {
        kept->text = texts_keep(&totals->texts, text);
        kept->id = texts_id(&totals->texts, text, &is_new);
    }
    return kept && kept->text ? *kept : (struct kept){0, ""};
}

static bool row_add(struct totals *totals, struct total *total)
{
    if (totals->count == totals->room) {
        unsigned room = totals->room ? 2 * totals->room : 64;
        struct total **grown = realloc(totals->rows, room * sizeof *grown);
        if (!grown)
            return false;
        totals->rows = grown;
        totals->room = room;
    }
    totals->rows[totals->count++] = total;
    totals->is_sorted = false;
    return true;
}

static void value_add(struct totals *totals, enum totals_group group, const char *name,
                      const struct out_counter_row *counter, double value)
{
    bool is_new = false;
    struct kept of_name = text_number(totals, name);
    struct kept of_counter = text_number(totals, counter ? counter->counter_name : "");
    uint64_t key = (uint64_t)of_name.id << 32 | (uint64_t)of_counter.id << 3 | (uint64_t)group;
    struct total *total = numbered_get(&totals->found, key, &is_new);
    if (total && is_new) {
        const struct out_counter *info = counter ? counter->counter : NULL;
        *total =
            (struct total){.group = group,
                           .name = of_name.text,
                           .counter = of_counter.text,
                           .quality = info ? info->quality : 0,
                           .is_ratio = info && info->expression && strchr(info->expression, '/')};
        if (!row_add(totals, total))
            total = NULL;
    }
    if (total)
        moments_add(&total->values, value);
    else
        totals->status = -ENOMEM;
}

static int row_take(void *data, const struct recording_part *part, enum out_table_id table,
                    const void *row)
{
    struct totals *totals = data;
    const struct out_dispatch_row *dispatch = row;
    const struct out_counter_row *counter = row;
    const struct out_copy_row *copy = row;
    const struct out_api_row *api = row;
    (void)part;
    if (table == OUT_KERNEL_TRACE && dispatch->modelled_ns)
        value_add(totals, TOTALS_MODELLED, dispatch->kernel_name, NULL,
                  (double)dispatch->modelled_ns);
    if (table == OUT_KERNEL_TRACE)
        value_add(totals, TOTALS_KERNELS, dispatch->kernel_name, NULL,
                  (double)(dispatch->end_ns - dispatch->start_ns));
    else if (table == OUT_COUNTER_COLLECTION)
        value_add(totals, TOTALS_COUNTERS, counter->dispatch.kernel_name, counter,
                  counter->counter_value);
    else if (table == OUT_MEMORY_COPY)
        value_add(totals, TOTALS_COPIES, copy->direction, NULL,
                  (double)(copy->end_ns - copy->start_ns));
    else
        value_add(totals, TOTALS_CALLS, api->function, NULL, (double)(api->end_ns - api->start_ns));
    return totals->status;
}

int totals_add(struct totals *totals, struct recording *recording, const struct recording_ask *ask,
               char *error, size_t error_size)
{
    struct recording_ask mine = *ask;
    mine.tables = 1ull << OUT_KERNEL_TRACE | 1ull << OUT_COUNTER_COLLECTION |
                  1ull << OUT_MEMORY_COPY | 1ull << OUT_HIP_API | 1ull << OUT_HSA_API |
                  1ull << OUT_RCCL_API | 1ull << OUT_ROCDECODE_API | 1ull << OUT_ROCJPEG_API |
                  1ull << OUT_ROCSHMEM_API | 1ull << OUT_HIPFILE_API;
    numbered_free(&totals->kept);
    return recording_each(recording, &mine, row_take, totals, error, error_size);
}

static int compare(const struct total *a, enum totals_group group, const char *name,
                   const char *counter)
{
    if (a->group != group)
        return a->group < group ? -1 : 1;
    int names = strcmp(a->name, name);
    return names ? names : strcmp(a->counter, counter);
}

static int by_name(const void *left, const void *right)
{
    const struct total *a = *(struct total *const *)left, *b = *(struct total *const *)right;
    return compare(a, b->group, b->name, b->counter);
}

static void sort(const struct totals *totals)
{
    if (!totals->is_sorted && totals->count > 0)
        qsort(totals->rows, totals->count, sizeof(struct total *), by_name);
    ((struct totals *)totals)->is_sorted = true;
}

unsigned totals_count(const struct totals *totals)
{
    return totals->count;
}

const struct total *totals_at(const struct totals *totals, unsigned index)
{
    sort(totals);
    return totals->rows[index];
}

const struct total *totals_find(const struct totals *totals, enum totals_group group,
                                const char *name, const char *counter)
{
    sort(totals);
    for (unsigned low = 0, high = totals->count; low < high;) {
        unsigned middle = (low + high) / 2;
        int order = compare(totals->rows[middle], group, name, counter);
        if (order == 0)
            return totals->rows[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}
