#include <stdlib.h>

#include "json.h"
#include "results_json.h"

enum { INSTANCES_MAX = 1 << 16 }; /* what a file claims beyond that is nonsense */

static void dimension_note(struct results_info *info, const struct out_dimension *dimension)
{
    bool is_new = false;
    struct out_dimension *known =
        numbered_get(&info->dimensions, (uint64_t)dimension->id << 32 | dimension->size, &is_new);
    if (!known || !is_new)
        return;
    *known = *dimension;
    const char *name = texts_keep(&info->texts, dimension->name ? dimension->name : "");
    known->name = name ? name : "";
}

static void dimension_put(struct writer *writer, const struct out_dimension *dimension)
{
    json_raw(writer, "{");
    json_member_u64(writer, "id", dimension->id);
    json_member_u64(writer, "instance_size", dimension->size);
    json_member(writer, "name");
    json_text(writer, dimension->name ? dimension->name : "");
    json_raw(writer, "}");
}

/* As the SDK lists them, the last dimension's position moving fastest: `at` is the place there. */
static void instance_put(struct writer *writer, const struct out_counter *counter, uint64_t at)
{
    uint64_t positions[OUT_DIMENSIONS], id = counter->first_instance;
    for (uint32_t i = counter->dimension_count; i-- > 0; at /= counter->dimensions[i].size) {
        positions[i] = at % counter->dimensions[i].size;
        id += positions[i] * counter->dimensions[i].step;
    }
    json_raw(writer, "{");
    json_member_u64(writer, "instance_id", id);
    json_member_u64(writer, "counter_id", counter->id);
    json_raw(writer, "\"dimensions\":[");
    for (uint32_t i = 0; i < counter->dimension_count; i++) {
        json_raw(writer, i ? ",{" : "{");
        json_member_text(writer, "dimension_name", counter->dimensions[i].name);
        json_member(writer, "index");
        writer_u64(writer, positions[i]);
        json_raw(writer, "}");
    }
    json_raw(writer, "]}");
}

static uint64_t instance_count(const struct out_counter *counter)
{
    uint64_t count = counter->dimension_count ? 1 : 0;
    for (uint32_t i = 0; i < counter->dimension_count && count <= INSTANCES_MAX; i++)
        count *= counter->dimensions[i].size;
    return count <= INSTANCES_MAX ? count : 0;
}

static void shape_put(struct results_info *info, struct writer *writer,
                      const struct out_counter *counter)
{
    uint64_t instances = instance_count(counter);
    json_raw(writer, "\"dimensions\":[");
    for (uint32_t i = 0; i < counter->dimension_count; i++) {
        json_raw(writer, i ? "," : "");
        dimension_put(writer, &counter->dimensions[i]);
        dimension_note(info, &counter->dimensions[i]);
    }
    json_raw(writer, "],\"instances\":[");
    for (uint64_t i = 0; i < instances; i++) {
        json_raw(writer, i ? "," : "");
        instance_put(writer, counter, i);
    }
    json_raw(writer, "]");
}

uint64_t results_counter(struct results_info *info, const struct out_counter_row *row)
{
    bool is_new = false;
    const char *name = row->counter_name ? row->counter_name : "";
    struct out_counter of_row = {.node = row->dispatch.node};
    /* A counter of which only the name is known gets a number that no counter's handle has. */
    if (!row->counter)
        of_row.id = INT64_MAX - (uint64_t)texts_id(&info->counter_names, name, &is_new);
    const struct out_counter *counter = row->counter ? row->counter : &of_row;
    if (!numbered_get(&info->counters_known, counter->id, &is_new) || !is_new)
        return counter->id;
    struct writer *writer = results_element(&info->counters);
    if (!writer)
        return counter->id;
    json_raw(writer, "{");
    json_member_handle(writer, "agent_id", results_agent_handle(info, counter->node));
    json_member_handle(writer, "id", counter->id);
    json_member_u64(writer, "is_constant", counter->is_constant);
    json_member_u64(writer, "is_derived", counter->is_derived);
    json_member_text(writer, "name", name);
    json_member_text(writer, "description", counter->description);
    json_member_text(writer, "block", counter->block);
    json_member_text(writer, "expression", counter->expression);
    shape_put(info, writer, counter);
    json_raw(writer, "}");
    return counter->id;
}

static int by_id_and_size(const void *left, const void *right)
{
    const struct out_dimension *a = *(const struct out_dimension *const *)left,
                               *b = *(const struct out_dimension *const *)right;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return (a->size > b->size) - (a->size < b->size);
}

void results_dimensions(const struct results_info *info, struct writer *writer)
{
    const struct out_dimension **sorted = calloc(info->dimensions.used + 1, sizeof(void *));
    uint32_t count = 0;
    for (uint32_t i = 0; sorted && i < info->dimensions.capacity; i++)
        if (info->dimensions.slots[i].element)
            sorted[count++] = info->dimensions.slots[i].element;
    if (count > 0)
        qsort(sorted, count, sizeof *sorted, by_id_and_size);
    for (uint32_t i = 0; i < count; i++) {
        json_raw(writer, i ? "," : "");
        dimension_put(writer, sorted[i]);
    }
    free(sorted);
}
