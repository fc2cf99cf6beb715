/* Questions about counters. What is handed out lives as long as the process. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork_lock.h"
#include "session/counting/counting.h"

rocprofiler_status_t counting_agent_iterate(rocprofiler_agent_id_t agent_id,
                                            rocprofiler_available_counters_cb_t callback,
                                            void *data)
{
    const struct counting_agent *agent = counting_agent_find(agent_id);
    uint32_t count = 0;
    if (!agent)
        return ROCPROFILER_STATUS_ERROR_AGENT_NOT_FOUND;
    if (!callback)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    const struct catalog *catalog = agent->is_supported ? counting_catalog(agent) : NULL;
    const struct counter *all = catalog ? catalog_counters(catalog, &count) : NULL;
    if (!count)
        return ROCPROFILER_STATUS_ERROR_AGENT_ARCH_NOT_SUPPORTED;
    rocprofiler_counter_id_t *ids = malloc(count * sizeof *ids);
    if (!ids)
        return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    for (uint32_t i = 0; i < count; i++)
        ids[i].handle = all[i].id;
    rocprofiler_status_t status = callback(agent_id, ids, count, data);
    free(ids);
    return status;
}

/* A single value is instance 0 of 1, so that every counter has a dimension. */
static struct counter_shape shown_shape(const struct counter *counter)
{
    struct counter_shape shape = *counter_shape(counter);
    for (int d = DIMENSION_XCC; d < DIMENSION_COUNT; d++) {
        if (shape.extent[d])
            return shape;
    }
    shape.extent[DIMENSION_INSTANCE] = 1;
    return shape;
}

static uint32_t dimensions_list(const struct counter_shape *shape,
                                rocprofiler_counter_record_dimension_info_t *list)
{
    uint32_t count = 0;
    for (int d = DIMENSION_XCC; d < DIMENSION_COUNT; d++) {
        if (!shape->extent[d])
            continue;
        list[count++] = (rocprofiler_counter_record_dimension_info_t){
            .name = dimension_name(d), .instance_size = shape->extent[d], .id = d};
    }
    return count;
}

rocprofiler_status_t counting_dimensions_iterate(rocprofiler_counter_id_t id,
                                                 rocprofiler_available_dimensions_cb_t callback,
                                                 void *data)
{
    rocprofiler_counter_record_dimension_info_t list[DIMENSION_COUNT];
    const struct counter *counter = counting_counter_find(id, NULL);
    if (!counter)
        return ROCPROFILER_STATUS_ERROR_COUNTER_NOT_FOUND;
    if (!callback)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    struct counter_shape shape = shown_shape(counter);
    uint32_t count = dimensions_list(&shape, list);
    return callback(id, list, count, data);
}

rocprofiler_status_t counting_instance_count(rocprofiler_counter_id_t id, size_t *count)
{
    const struct counter *counter = counting_counter_find(id, NULL);
    *count = 0;
    if (!counter)
        return ROCPROFILER_STATUS_ERROR_COUNTER_NOT_FOUND;
    *count = shape_count(counter_shape(counter));
    return ROCPROFILER_STATUS_SUCCESS;
}

/* The arrays of rocprofiler_counter_info_v1_t for one counter: one allocation, kept for ever. */
struct extended_info {
    struct extended_info *next;
    uint64_t counter_id;
    uint32_t dimension_count, instance_count;
    rocprofiler_counter_record_dimension_info_t dimensions[DIMENSION_COUNT];
    const rocprofiler_counter_record_dimension_info_t *dimension_pointers[DIMENSION_COUNT];
    rocprofiler_counter_record_dimension_instance_info_t *instances;
    const rocprofiler_counter_record_dimension_instance_info_t **instance_pointers;
    rocprofiler_counter_dimension_info_t *positions; /* instance by instance */
    const rocprofiler_counter_dimension_info_t **position_pointers;
};

static struct {
    pthread_mutex_t lock;
    struct extended_info *first;
} extended = {.lock = PTHREAD_MUTEX_INITIALIZER};
FORK_LOCK(extended_kept, extended.lock)

static void instance_fill(struct extended_info *info, const struct counter_shape *shape,
                          uint32_t index)
{
    uint64_t id = shape_instance_id(shape, (uint32_t)info->counter_id, index);
    rocprofiler_counter_dimension_info_t *positions =
        info->positions + (size_t)index * info->dimension_count;
    const rocprofiler_counter_dimension_info_t **pointers =
        info->position_pointers + (size_t)index * info->dimension_count;
    for (uint32_t k = 0; k < info->dimension_count; k++) {
        positions[k] = (rocprofiler_counter_dimension_info_t){
            .size = sizeof positions[k],
            .dimension_name = info->dimensions[k].name,
            .index = instance_position(id, (enum counter_dimension)info->dimensions[k].id)};
        pointers[k] = &positions[k];
    }
    info->instances[index] = (rocprofiler_counter_record_dimension_instance_info_t){
        .size = sizeof info->instances[index],
        .instance_id = id,
        .counter_id = info->counter_id,
        .dimensions_count = info->dimension_count,
        .dimensions = pointers};
    info->instance_pointers[index] = &info->instances[index];
}

static struct extended_info *extended_create(const struct counter *counter)
{
    struct counter_shape shape = shown_shape(counter);
    uint32_t instances = shape_count(&shape);
    struct extended_info *info = calloc(1, sizeof *info);
    if (!info)
        return NULL;
    info->counter_id = counter->id;
    info->dimension_count = dimensions_list(&shape, info->dimensions);
    info->instance_count = instances;
    for (uint32_t k = 0; k < info->dimension_count; k++)
        info->dimension_pointers[k] = &info->dimensions[k];
    size_t positions = (size_t)instances * info->dimension_count;
    info->instances = calloc(instances, sizeof *info->instances);
    info->instance_pointers = calloc(instances, sizeof *info->instance_pointers);
    info->positions = calloc(positions, sizeof *info->positions);
    info->position_pointers = calloc(positions, sizeof *info->position_pointers);
    if (!info->instances || !info->instance_pointers || !info->positions ||
        !info->position_pointers) {
        free(info->instances);
        free(info->instance_pointers);
        free(info->positions);
        free(info->position_pointers);
        free(info);
        return NULL;
    }
    for (uint32_t i = 0; i < instances; i++)
        instance_fill(info, &shape, i);
    return info;
}

static struct extended_info *extended_get(const struct counter *counter)
{
    struct extended_info *info;
    pthread_mutex_lock(&extended.lock);
    for (info = extended.first; info && info->counter_id != counter->id; info = info->next)
        ;
    if (!info && (info = extended_create(counter))) {
        info->next = extended.first;
        extended.first = info;
    }
    pthread_mutex_unlock(&extended.lock);
    return info;
}

static void info_v0(const struct counter *counter, rocprofiler_counter_info_v0_t *info)
{
    *info = (rocprofiler_counter_info_v0_t){.id = {.handle = counter->id},
                                            .name = counter->name,
                                            .description = counter->description,
                                            .block = counter->block_name,
                                            .expression = counter->expression,
                                            .is_constant = counter->kind == COUNTER_CONSTANT,
                                            .is_derived = counter->kind == COUNTER_DERIVED};
}

static rocprofiler_status_t info_v1(const struct counter *counter,
                                    rocprofiler_counter_info_v1_t *info)
{
    struct extended_info *more = extended_get(counter);
    if (!more)
        return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    *info = (rocprofiler_counter_info_v1_t){.size = sizeof *info,
                                            .id = {.handle = counter->id},
                                            .name = counter->name,
                                            .description = counter->description,
                                            .block = counter->block_name,
                                            .expression = counter->expression,
                                            .is_constant = counter->kind == COUNTER_CONSTANT,
                                            .is_derived = counter->kind == COUNTER_DERIVED,
                                            .dimensions_count = more->dimension_count,
                                            .dimensions = more->dimension_pointers,
                                            .dimensions_instances_count = more->instance_count,
                                            .dimensions_instances = more->instance_pointers};
    return ROCPROFILER_STATUS_SUCCESS;
}

rocprofiler_status_t counting_info(rocprofiler_counter_id_t id,
                                   rocprofiler_counter_info_version_id_t version, void *info)
{
    if (version != ROCPROFILER_COUNTER_INFO_VERSION_0 &&
        version != ROCPROFILER_COUNTER_INFO_VERSION_1)
        return ROCPROFILER_STATUS_ERROR_INCOMPATIBLE_ABI;
    const struct counter *counter = counting_counter_find(id, NULL);
    if (!counter)
        return ROCPROFILER_STATUS_ERROR_COUNTER_NOT_FOUND;
    if (!info)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    if (version == ROCPROFILER_COUNTER_INFO_VERSION_1)
        return info_v1(counter, info);
    info_v0(counter, info);
    return ROCPROFILER_STATUS_SUCCESS;
}
