/* What rows of a recording refer to by id, looked up once each. */
#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"

/* A member of the event's JSON, with CLOSE behind its name. */
#define MEMBER    "CASE WHEN json_valid(extdata) THEN json_extract(extdata, '$."
#define CLOSE     "') END"
#define NEXT      CLOSE ", "
#define KFD       MEMBER "kfd."
#define HIP_EVENT MEMBER "hip_event."

static const char *const lookups[] = {
    [LOOKUP_STRING] = "SELECT string FROM \"rocpd_string{S}\" WHERE id = ?",
    [LOOKUP_THREAD] = "SELECT tid FROM \"rocpd_info_thread{S}\" WHERE id = ?",
    [LOOKUP_THREAD_NAME] = "SELECT name FROM \"rocpd_info_thread{S}\" WHERE tid = ? LIMIT 1",
    [LOOKUP_PROCESS] = "SELECT pid FROM \"rocpd_info_process{S}\" WHERE id = ?",
    [LOOKUP_AGENT] = "SELECT type, absolute_index, logical_index, type_index, name, vendor_name, "
                     "product_name, model_name, extdata FROM \"rocpd_info_agent{S}\" WHERE id = ?",
    [LOOKUP_NODE] = "SELECT id FROM \"rocpd_info_agent{S}\" WHERE absolute_index = ?",
    [LOOKUP_CODE_OBJECT] =
        "SELECT agent_id, uri, storage_type, load_base, load_size, load_delta, "
        "json_extract(extdata, '$.memory_base'), json_extract(extdata, '$.memory_size') FROM "
        "\"rocpd_info_code_object{S}\" WHERE id = ?",
    [LOOKUP_KERNEL] =
        "SELECT code_object_id, kernel_name, display_name, json_extract(extdata, "
        "'$.demangled_kernel_name'), json_extract(extdata, '$.truncated_kernel_name'), "
        "kernel_object, json_extract(extdata, '$.kernel_address.handle'), json_extract(extdata, "
        "'$.kernel_code_entry_byte_offset'), kernarg_segment_size, kernarg_segment_alignment, "
        "group_segment_size, private_segment_size, arch_vgpr_count, accum_vgpr_count, sgpr_count "
        "FROM \"rocpd_info_kernel_symbol{S}\" WHERE id = ?",
    [LOOKUP_COUNTER] = "SELECT agent_id, name, description, block, expression, is_constant, "
                       "is_derived, CASE WHEN json_valid(extdata) THEN json_extract(extdata, "
                       "'$.crocprof_quality') END, CASE WHEN json_valid(extdata) THEN "
                       "json_extract(extdata, '$.first_instance') END FROM "
                       "\"rocpd_info_pmc{S}\" WHERE id = ?",
    [LOOKUP_DIMENSIONS] =
        "SELECT json_extract(value, '$.name'), json_extract(value, '$.id'), json_extract(value, "
        "'$.instance_size'), json_extract(value, '$.step') FROM \"rocpd_info_pmc{S}\" p, "
        "json_each(CASE WHEN json_valid(p.extdata) THEN p.extdata ELSE '{}' END, "
        "'$.dimensions') WHERE p.id = ? AND json_type(value) = 'object' ORDER BY key",
    [LOOKUP_KFD] = "SELECT " KFD "agent_id" NEXT KFD "src_agent_id" NEXT KFD "dst_agent_id" NEXT KFD
                   "prefetch_agent_id" NEXT KFD "preferred_agent_id" NEXT KFD
                   "start_address" NEXT KFD "end_address" NEXT KFD "count" NEXT KFD
                   "error_code" NEXT KFD "address" CLOSE " FROM \"rocpd_event{S}\" WHERE id = ?",
    [LOOKUP_HIP_EVENT] = "SELECT " HIP_EVENT "agent_id" NEXT HIP_EVENT "queue_id" NEXT HIP_EVENT
                         "source_queue_id" NEXT HIP_EVENT "hip_event_handle" CLOSE
                         " FROM \"rocpd_event{S}\" WHERE id = ?",
};

/* The row of that id, to be reset by whoever gets it; NULL: there is none. */
static sqlite3_stmt *lookup(struct part *part, enum lookup which, int64_t id)
{
    char error[256];
    sqlite3_stmt **select = &part->select[which];
    if (!*select)
        *select =
            recording_prepare(part->recording, &part->shown, lookups[which], error, sizeof error);
    if (!*select)
        return NULL;
    sqlite3_reset(*select);
    sqlite3_bind_int64(*select, 1, id);
    int status = sqlite3_step(*select);
    if (status == SQLITE_ROW)
        return *select;
    if (status != SQLITE_DONE)
        recording_damaged(part->recording, "%s", sqlite3_errmsg(part->recording->database));
    sqlite3_reset(*select);
    return NULL;
}

static const char *text_of(struct part *part, sqlite3_stmt *row, int column)
{
    return recording_text(part->recording, (const char *)sqlite3_column_text(row, column));
}

/* NULL: no memory. */
static void *element(struct numbered *numbered, size_t bytes, int64_t id, bool *is_new)
{
    numbered->element_bytes = bytes;
    return numbered_get(numbered, (uint64_t)id, is_new);
}

const char *part_string(struct part *part, int64_t id)
{
    bool is_new = false;
    const char **text = element(&part->strings, sizeof *text, id, &is_new);
    if (!text)
        return "";
    if (is_new) {
        sqlite3_stmt *row = lookup(part, LOOKUP_STRING, id);
        *text = row ? text_of(part, row, 0) : "";
        sqlite3_reset(row);
    }
    return *text;
}

/* Beginnings of categories; of several the last one counts. */
static const struct {
    const char *begins;
    enum out_table_id table;
} kinds[] = {
    {"HIP_", OUT_HIP_API},
    {"HIP_EVENT", OUT_HIP_EVENT},
    {"HSA_", OUT_HSA_API},
    {"MARKER_", OUT_MARKER_API},
    {"RCCL_", OUT_RCCL_API},
    {"ROCDECODE_", OUT_ROCDECODE_API},
    {"ROCJPEG_", OUT_ROCJPEG_API},
    {"HIPFILE_", OUT_HIPFILE_API},
    {"ROCSHMEM_", OUT_ROCSHMEM_API},
    {"OMPT", OUT_OMPT},
    {"KERNEL_DISPATCH", OUT_KERNEL_TRACE},
    {"MEMORY_COPY", OUT_MEMORY_COPY},
    {"MEMORY_ALLOCATION", OUT_MEMORY_ALLOCATION},
    {"SCRATCH_MEMORY", OUT_SCRATCH_MEMORY},
    {"KFD_", OUT_KFD},
};

const struct category *part_category(struct part *part, int64_t id)
{
    static const struct category unknown = {"", OUT_TABLE_COUNT, false};
    bool is_new = false;
    struct category *category = element(&part->categories, sizeof *category, id, &is_new);
    if (!category)
        return &unknown;
    if (!is_new)
        return category;
    *category = (struct category){.name = part_string(part, id), .table = OUT_TABLE_COUNT};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strncmp(category->name, kinds[i].begins, strlen(kinds[i].begins)) == 0)
            category->table = kinds[i].table;
    category->is_marker = category->table == OUT_MARKER_API;
    /* What a range is called in rocpd; records of both are of one kind. */
    if (strcmp(category->name, "MARKER_CORE_RANGE_API") == 0)
        category->name = recording_text(part->recording, "MARKER_CORE_API");
    return category;
}

static uint64_t number(struct part *part, struct numbered *numbers, enum lookup which, int64_t id)
{
    bool is_new = false;
    uint64_t *found = element(numbers, sizeof *found, id, &is_new);
    if (!found)
        return (uint64_t)id;
    if (is_new) {
        sqlite3_stmt *row = lookup(part, which, id);
        *found = row ? (uint64_t)sqlite3_column_int64(row, 0) : (uint64_t)id;
        sqlite3_reset(row);
    }
    return *found;
}

uint64_t part_thread(struct part *part, int64_t id)
{
    return number(part, &part->threads, LOOKUP_THREAD, id);
}

const char *recording_thread_name(const struct recording_part *shown, uint64_t thread_id)
{
    struct part *part = (struct part *)(uintptr_t)shown; /* parts are handed out as these */
    sqlite3_stmt *row = lookup(part, LOOKUP_THREAD_NAME, (int64_t)thread_id);
    const char *name = row ? text_of(part, row, 0) : "";
    sqlite3_reset(row);
    return name;
}

uint64_t part_process(struct part *part, int64_t id)
{
    return number(part, &part->processes, LOOKUP_PROCESS, id);
}

/* A member of the agent, from the member of the JSON that has the column's name. */
static void agent_member(struct part *part, struct agent *agent, const struct out_column *column,
                         sqlite3_stmt *member)
{
    char path[72] = "$.";
    char *field = (char *)&agent->row + column->offset;
    for (size_t at = 0; column->name[at] && at < sizeof path - 3; at++)
        path[2 + at] = (char)tolower(column->name[at]);
    sqlite3_bind_text(member, 2, path, -1, SQLITE_STATIC);
    if (sqlite3_step(member) == SQLITE_ROW && sqlite3_column_type(member, 0) != SQLITE_NULL) {
        uint64_t value = (uint64_t)sqlite3_column_int64(member, 0);
        const char *text = column->type == OUT_TEXT ? text_of(part, member, 0) : NULL;
        memcpy(field, text ? (void *)&text : (void *)&value, column->size_bytes);
    }
    sqlite3_reset(member);
}

/* The JSON is that of the whole agent; what it does not say, other columns may. */
static void agent_members(struct part *part, struct agent *agent, const char *json)
{
    static const struct out_column times = {"Times", OUT_TEXT,
                                            offsetof(struct out_agent_row, times), sizeof(char *)};
    const struct out_table *table = &out_tables[OUT_AGENT_INFO];
    sqlite3_stmt *member = NULL;
    int status = sqlite3_prepare_v2(part->recording->database,
                                    "SELECT CASE WHEN json_valid(?1) THEN json_extract(?1, ?2) END",
                                    -1, &member, NULL);
    if (status != SQLITE_OK)
        return;
    sqlite3_bind_text(member, 1, json, -1, SQLITE_STATIC);
    for (size_t i = 0; i < table->column_count; i++)
        if (strcmp(table->columns[i].name, "Agent_Type") != 0)
            agent_member(part, agent, &table->columns[i], member);
    agent_member(part, agent, &times, member);
    sqlite3_finalize(member);
}

static void agent_read(struct part *part, struct agent *agent, int64_t id)
{
    sqlite3_stmt *row = lookup(part, LOOKUP_AGENT, id);
    rocprofiler_agent_v0_t *shown = &agent->row.agent;
    agent->absolute = id;
    shown->name = shown->vendor_name = shown->product_name = shown->model_name = "";
    agent->row.type = "";
    if (!row)
        return;
    agent->row.type = text_of(part, row, 0);
    agent->is_gpu = strcmp(agent->row.type, "GPU") == 0;
    agent->absolute = sqlite3_column_int64(row, 1);
    agent->logical = sqlite3_column_int64(row, 2);
    agent->type_index = sqlite3_column_int64(row, 3);
    shown->node_id = (uint32_t)agent->absolute;
    shown->logical_node_id = (int32_t)agent->logical;
    shown->name = text_of(part, row, 4);
    shown->vendor_name = text_of(part, row, 5);
    shown->product_name = text_of(part, row, 6);
    shown->model_name = text_of(part, row, 7);
    const char *json = text_of(part, row, 8);
    sqlite3_reset(row);
    agent_members(part, agent, json);
    shown->size = sizeof *shown;
    shown->type = agent->is_gpu ? ROCPROFILER_AGENT_TYPE_GPU : ROCPROFILER_AGENT_TYPE_CPU;
    shown->logical_node_type_id = (int32_t)agent->type_index;
}

const struct agent *part_agent(struct part *part, int64_t id)
{
    static const struct agent unknown = {.row = {.type = ""}};
    bool is_new = false;
    struct agent *agent = element(&part->agents, sizeof *agent, id, &is_new);
    if (agent && is_new)
        agent_read(part, agent, id);
    return agent ? agent : &unknown;
}

const struct agent *part_node_agent(struct part *part, uint64_t node)
{
    if (node == OUT_NO_AGENT)
        return NULL;
    return part_agent(part, (int64_t)number(part, &part->nodes, LOOKUP_NODE, (int64_t)node));
}

/* Numbers are texts there, since JSON's need not have 64 bits. */
static uint64_t digits_of(sqlite3_stmt *row, int column, uint64_t otherwise)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

void part_kfd(struct part *part, int64_t event, struct out_kfd_row *row)
{
    enum { START = OUT_KFD_AGENTS, END, COUNT, ERROR, ADDRESS };
    sqlite3_stmt *found = lookup(part, LOOKUP_KFD, event);
    for (int i = 0; i < OUT_KFD_AGENTS; i++)
        row->nodes[i] = found ? digits_of(found, i, OUT_NO_AGENT) : OUT_NO_AGENT;
    if (!found)
        return;
    row->start_address = digits_of(found, START, digits_of(found, ADDRESS, 0));
    row->end_address = digits_of(found, END, 0);
    row->count = digits_of(found, COUNT, 0);
    row->error_code = (int32_t)digits_of(found, ERROR, 0);
    sqlite3_reset(found);
}

void part_hip_event(struct part *part, int64_t event, struct out_event_row *row)
{
    enum { AGENT, QUEUE, SOURCE_QUEUE, HANDLE };
    sqlite3_stmt *found = lookup(part, LOOKUP_HIP_EVENT, event);
    row->node = found ? digits_of(found, AGENT, OUT_NO_AGENT) : OUT_NO_AGENT;
    if (!found)
        return;
    row->queue_id = digits_of(found, QUEUE, 0);
    row->source_queue_id = digits_of(found, SOURCE_QUEUE, 0);
    row->event = digits_of(found, HANDLE, 0);
    sqlite3_reset(found);
}

static uint64_t node_of(struct part *part, sqlite3_stmt *row, int column)
{
    if (sqlite3_column_type(row, column) == SQLITE_NULL)
        return OUT_NO_AGENT;
    return (uint64_t)part_agent(part, sqlite3_column_int64(row, column))->absolute;
}

static uint64_t u64_of(sqlite3_stmt *row, int column)
{
    return (uint64_t)sqlite3_column_int64(row, column);
}

static const struct out_code_object *code_object(struct part *part, int64_t id)
{
    bool is_new = false;
    struct out_code_object *object = element(&part->code_objects, sizeof *object, id, &is_new);
    sqlite3_stmt *row = object && is_new ? lookup(part, LOOKUP_CODE_OBJECT, id) : NULL;
    if (row)
        *object = (struct out_code_object){
            .id = (uint64_t)id,
            .node = node_of(part, row, 0),
            .uri = text_of(part, row, 1),
            .storage = text_of(part, row, 2),
            .load_base = u64_of(row, 3),
            .load_bytes = u64_of(row, 4),
            .load_delta = sqlite3_column_int64(row, 5),
            .memory_base = u64_of(row, 6),
            .memory_bytes = u64_of(row, 7),
        };
    sqlite3_reset(row);
    return object && object->uri ? object : NULL;
}

const struct out_kernel *part_kernel(struct part *part, int64_t id)
{
    bool is_new = false;
    struct out_kernel *kernel = element(&part->kernels, sizeof *kernel, id, &is_new);
    sqlite3_stmt *row = kernel && is_new ? lookup(part, LOOKUP_KERNEL, id) : NULL;
    if (!row)
        return kernel && kernel->name ? kernel : NULL;
    *kernel = (struct out_kernel){
        .id = (uint64_t)id,
        .symbol = text_of(part, row, 1),
        .name = text_of(part, row, 2),
        .demangled = text_of(part, row, 3),
        .truncated = text_of(part, row, 4),
        .object = u64_of(row, 5),
        .address = u64_of(row, 6),
        .entry_offset_bytes = sqlite3_column_int64(row, 7),
        .kernarg_bytes = (uint32_t)u64_of(row, 8),
        .kernarg_alignment_bytes = (uint32_t)u64_of(row, 9),
        .lds_bytes = (uint32_t)u64_of(row, 10),
        .scratch_bytes = (uint32_t)u64_of(row, 11),
        .vgprs = (uint32_t)u64_of(row, 12),
        .acc_vgprs = (uint32_t)u64_of(row, 13),
        .sgprs = (uint32_t)u64_of(row, 14),
    };
    int64_t object = sqlite3_column_int64(row, 0);
    sqlite3_reset(row);
    kernel->code_object = object ? code_object(part, object) : NULL;
    return kernel;
}

static void dimensions_get(struct part *part, struct out_counter *counter)
{
    sqlite3_stmt *row = lookup(part, LOOKUP_DIMENSIONS, (int64_t)counter->id);
    bool is_there = row != NULL;
    for (; is_there && counter->dimension_count < OUT_DIMENSIONS;
         is_there = sqlite3_step(row) == SQLITE_ROW)
        counter->dimensions[counter->dimension_count++] =
            (struct out_dimension){.name = text_of(part, row, 0),
                                   .id = (uint32_t)sqlite3_column_int64(row, 1),
                                   .size = (uint32_t)sqlite3_column_int64(row, 2),
                                   .step = (uint64_t)sqlite3_column_int64(row, 3)};
    sqlite3_reset(row);
}

const struct out_counter *part_counter(struct part *part, int64_t id)
{
    bool is_new = false;
    struct out_counter *counter = element(&part->counters, sizeof *counter, id, &is_new);
    sqlite3_stmt *row = counter && is_new ? lookup(part, LOOKUP_COUNTER, id) : NULL;
    if (row)
        *counter = (struct out_counter){
            .id = (uint64_t)id,
            .node = node_of(part, row, 0),
            .name = text_of(part, row, 1),
            .description = text_of(part, row, 2),
            .block = text_of(part, row, 3),
            .expression = text_of(part, row, 4),
            .is_constant = sqlite3_column_int(row, 5) != 0,
            .is_derived = sqlite3_column_int(row, 6) != 0,
            .quality = (uint8_t)sqlite3_column_int(row, 7),
            .first_instance = (uint64_t)sqlite3_column_int64(row, 8),
        };
    sqlite3_reset(row);
    if (row)
        dimensions_get(part, counter);
    return counter && counter->name ? counter : NULL;
}

void part_free(struct part *part)
{
    struct numbered *known[] = {&part->strings,   &part->categories, &part->threads,
                                &part->processes, &part->agents,     &part->code_objects,
                                &part->kernels,   &part->counters,   &part->nodes};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        numbered_free(known[i]);
    for (size_t i = 0; i < sizeof part->select / sizeof part->select[0]; i++)
        sqlite3_finalize(part->select[i]);
    free(part);
}
