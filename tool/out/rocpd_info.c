#include "rocpd_info.h"

#include <ctype.h>
#include <fcntl.h>
#include <rocprofiler-sdk/callback_tracing.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "process.h"

/* True: it was not referred to before. */
static bool is_new(struct numbered *known, uint64_t id)
{
    bool is_first = false;
    known->element_bytes = 1;
    return numbered_get(known, id, &is_first) && is_first;
}

int64_t rocpd_text(struct rocpd_info *info, const char *text)
{
    bool is_first;
    int64_t id = texts_id(&info->texts, text ? text : "", &is_first);
    const struct rocpd_value values[] = {ROCPD_INTEGER(id), ROCPD_TEXT(text ? text : "")};
    if (is_first)
        rocpd_base_insert(info->base, ROCPD_STRING, values);
    return id ? id : 1; /* without memory: the empty text */
}

static int64_t parent_id(void)
{
    return out_process() ? (int64_t)out_process()->ppid : getppid();
}

int64_t rocpd_thread(struct rocpd_info *info, uint64_t thread_id)
{
    char name[THREAD_NAME_BYTES];
    if (!is_new(&info->threads, thread_id))
        return (int64_t)thread_id;
    out_thread_name(thread_id, name);
    const struct rocpd_value values[] = {
        ROCPD_INTEGER(thread_id),     ROCPD_INTEGER(info->node), ROCPD_INTEGER(parent_id()),
        ROCPD_INTEGER(info->process), ROCPD_INTEGER(thread_id),  ROCPD_TEXT(*name ? name : NULL)};
    rocpd_base_insert(info->base, ROCPD_THREAD, values);
    return (int64_t)thread_id;
}

/* "Default Queue" is the one with number 0. */
static int64_t lane(struct rocpd_info *info, struct numbered *known, enum rocpd_rows rows,
                    const char *what, uint64_t id)
{
    char name[48];
    if (!is_new(known, id))
        return (int64_t)id;
    if (id == 0)
        snprintf(name, sizeof name, "Default %s", what);
    else
        snprintf(name, sizeof name, "%s %llu", what, (unsigned long long)id);
    const struct rocpd_value values[] = {ROCPD_INTEGER(id), ROCPD_INTEGER(info->node),
                                         ROCPD_INTEGER(info->process), ROCPD_TEXT(name)};
    rocpd_base_insert(info->base, rows, values);
    return (int64_t)id;
}

int64_t rocpd_queue(struct rocpd_info *info, uint64_t queue_id)
{
    return lane(info, &info->queues, ROCPD_QUEUE, "Queue", queue_id);
}

int64_t rocpd_stream(struct rocpd_info *info, uint64_t stream_id)
{
    return lane(info, &info->streams, ROCPD_STREAM, "Stream", stream_id);
}

/* What memory there is: its peak follows from it. */
static void banks_append(sqlite3_str *text, const rocprofiler_agent_v0_t *agent)
{
    sqlite3_str_appendall(text, ",\"mem_banks\":[");
    for (uint32_t i = 0; agent->mem_banks && i < agent->mem_banks_count; i++)
        sqlite3_str_appendf(text, "%s{\"width\":%u,\"mem_clk_max\":%u,\"size_in_bytes\":%llu}",
                            i ? "," : "", agent->mem_banks[i].width,
                            agent->mem_banks[i].mem_clk_max,
                            (unsigned long long)agent->mem_banks[i].size_in_bytes);
    sqlite3_str_appendall(text, "]");
}

/* The whole agent: its memory banks, what it says of its times, and the columns of its CSV file, in
 * small letters. */
static char *agent_json(struct rocpd_info *info, const struct out_agent_row *row)
{
    const struct out_table *table = &out_tables[OUT_AGENT_INFO];
    sqlite3_str *text = sqlite3_str_new(NULL);
    for (size_t i = 0; i < table->column_count; i++) {
        const struct out_column *column = &table->columns[i];
        char name[64] = "";
        for (size_t at = 0; column->name[at] && at < sizeof name - 1; at++)
            name[at] = (char)tolower(column->name[at]);
        sqlite3_str_appendf(text, "%s\"%s\":", i ? "," : "{", name);
        if (column->type == OUT_TEXT)
            rocpd_base_json(info->base, text, out_column_text(column, row));
        else if (column->type == OUT_I32)
            sqlite3_str_appendf(text, "%lld", (long long)out_column_i64(column, row));
        else
            sqlite3_str_appendf(text, "%llu", (unsigned long long)out_column_u64(column, row));
    }
    if (row->times) {
        sqlite3_str_appendall(text, ",\"times\":");
        rocpd_base_json(info->base, text, row->times);
    }
    banks_append(text, &row->agent);
    sqlite3_str_appendall(text, "}");
    return sqlite3_str_finish(text);
}

void rocpd_agent_describe(struct rocpd_info *info, const struct out_agent_row *row)
{
    const rocprofiler_agent_v0_t *agent = &row->agent;
    if (!is_new(&info->agents, agent->node_id))
        return;
    char *json = agent_json(info, row);
    const struct rocpd_value values[] = {ROCPD_INTEGER(agent->node_id),
                                         ROCPD_INTEGER(info->node),
                                         ROCPD_INTEGER(info->process),
                                         ROCPD_TEXT(row->type),
                                         ROCPD_INTEGER(agent->node_id),
                                         ROCPD_INTEGER(agent->logical_node_id),
                                         ROCPD_INTEGER(agent->logical_node_type_id),
                                         ROCPD_INTEGER(agent->device_id),
                                         ROCPD_TEXT(agent->name),
                                         ROCPD_TEXT(agent->model_name),
                                         ROCPD_TEXT(agent->vendor_name),
                                         ROCPD_TEXT(agent->product_name),
                                         ROCPD_TEXT(agent->product_name),
                                         ROCPD_TEXT(json ? json : "{}")};
    rocpd_base_insert(info->base, ROCPD_AGENT, values);
    sqlite3_free(json);
    rocpd_text(info, agent->name);
}

int64_t rocpd_agent(struct rocpd_info *info, uint64_t node)
{
    if (node == OUT_NO_AGENT)
        return BATCH_NULL;
    if (!is_new(&info->agents, node))
        return (int64_t)node;
    const struct rocpd_value values[] = {ROCPD_INTEGER(node),
                                         ROCPD_INTEGER(info->node),
                                         ROCPD_INTEGER(info->process),
                                         ROCPD_NOTHING,
                                         ROCPD_INTEGER(node),
                                         ROCPD_NOTHING,
                                         ROCPD_NOTHING,
                                         ROCPD_NOTHING,
                                         ROCPD_NOTHING,
                                         ROCPD_NOTHING,
                                         ROCPD_NOTHING,
                                         ROCPD_NOTHING,
                                         ROCPD_NOTHING,
                                         ROCPD_TEXT("{}")};
    rocpd_base_insert(info->base, ROCPD_AGENT, values);
    return (int64_t)node;
}

/* Id 0: of kernels about which nothing is known. */
static int64_t code_object_put(struct rocpd_info *info, const struct out_code_object *object)
{
    static const struct out_code_object unknown = {.node = OUT_NO_AGENT};
    object = object ? object : &unknown;
    if (!is_new(&info->code_objects, object->id))
        return (int64_t)object->id;
    int64_t agent = rocpd_agent(info, object->node);
    const struct rocpd_value number = ROCPD_INTEGER(agent), nothing = ROCPD_NOTHING;
    const struct rocpd_value values[] = {
        ROCPD_INTEGER(object->id),
        ROCPD_INTEGER(info->node),
        ROCPD_INTEGER(info->process),
        agent == BATCH_NULL ? nothing : number,
        ROCPD_TEXT(object->uri),
        ROCPD_INTEGER(object->load_base),
        ROCPD_INTEGER(object->load_bytes),
        ROCPD_INTEGER(object->load_delta),
        ROCPD_TEXT(object->storage),
        ROCPD_INTEGER(sizeof(rocprofiler_callback_tracing_code_object_load_data_t)),
        ROCPD_TEXT(object->storage),
        ROCPD_INTEGER(object->memory_base),
        ROCPD_INTEGER(object->memory_bytes)};
    rocpd_base_insert(info->base, ROCPD_CODE_OBJECT, values);
    if (object->uri)
        rocpd_text(info, object->uri);
    return (int64_t)object->id;
}

int64_t rocpd_kernel(struct rocpd_info *info, const struct out_dispatch_row *row)
{
    if (!is_new(&info->kernels, row->kernel_id))
        return (int64_t)row->kernel_id;
    const struct out_kernel of_row = {.id = row->kernel_id,
                                      .symbol = row->kernel_name,
                                      .name = row->kernel_name,
                                      .vgprs = (uint32_t)row->vgprs,
                                      .acc_vgprs = (uint32_t)row->acc_vgprs,
                                      .sgprs = (uint32_t)row->sgprs};
    const struct out_kernel *kernel = row->kernel ? row->kernel : &of_row;
    const struct rocpd_value values[] = {
        ROCPD_INTEGER(row->kernel_id),
        ROCPD_INTEGER(info->node),
        ROCPD_INTEGER(info->process),
        ROCPD_INTEGER(code_object_put(info, kernel->code_object)),
        ROCPD_TEXT(kernel->symbol),
        ROCPD_TEXT(kernel->name),
        ROCPD_INTEGER(kernel->object),
        ROCPD_INTEGER(kernel->kernarg_bytes),
        ROCPD_INTEGER(kernel->kernarg_alignment_bytes),
        ROCPD_INTEGER(kernel->lds_bytes),
        ROCPD_INTEGER(kernel->scratch_bytes),
        ROCPD_INTEGER(kernel->sgprs),
        ROCPD_INTEGER(kernel->vgprs),
        ROCPD_INTEGER(kernel->acc_vgprs),
        ROCPD_INTEGER(
            sizeof(rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t)),
        ROCPD_INTEGER(row->kernel_id),
        ROCPD_INTEGER(kernel->entry_offset_bytes),
        ROCPD_TEXT(kernel->name),
        ROCPD_TEXT(kernel->demangled),
        ROCPD_TEXT(kernel->truncated),
        ROCPD_INTEGER(kernel->address)};
    rocpd_base_insert(info->base, ROCPD_KERNEL_SYMBOL, values);
    rocpd_text(info, kernel->name);
    return (int64_t)row->kernel_id;
}

#define DIMENSION_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"
enum { COUNTER_MORE_BYTES = 2048, DIMENSION_NAME_MAX = 64 };

/* What has no column: quality by the numbers of crocprof/quality.h, and dimensions. */
static void counter_more(const struct out_counter *counter, char text[COUNTER_MORE_BYTES])
{
    int at = snprintf(text, COUNTER_MORE_BYTES,
                      "{\"crocprof_quality\":%u,\"first_instance\":%lld,\"dimensions\":[",
                      counter->quality, (long long)counter->first_instance);
    for (uint32_t i = 0; i < counter->dimension_count; i++) {
        const struct out_dimension *dimension = &counter->dimensions[i];
        int letters = dimension->name ? (int)strspn(dimension->name, DIMENSION_LETTERS) : 0;
        at += snprintf(text + at, (size_t)(COUNTER_MORE_BYTES - at),
                       "%s{\"id\":%u,\"instance_size\":%u,\"step\":%lld,\"name\":\"%.*s\"}",
                       i ? "," : "", dimension->id, dimension->size, (long long)dimension->step,
                       letters < DIMENSION_NAME_MAX ? letters : DIMENSION_NAME_MAX,
                       letters ? dimension->name : "");
    }
    snprintf(text + at, (size_t)(COUNTER_MORE_BYTES - at), "]}");
}

int64_t rocpd_counter(struct rocpd_info *info, const struct out_counter_row *row)
{
    const char *name = row->counter_name ? row->counter_name : "";
    /* A counter of which only the name is known gets a number that no counter's handle has. */
    const struct out_counter of_row = {.id = (uint64_t)(INT64_MAX - rocpd_text(info, name)),
                                       .node = row->dispatch.node};
    const struct out_counter *counter = row->counter ? row->counter : &of_row;
    if (!is_new(&info->counters, counter->id))
        return (int64_t)counter->id;
    char more[COUNTER_MORE_BYTES];
    counter_more(counter, more);
    const struct rocpd_value values[] = {ROCPD_INTEGER(counter->id),
                                         ROCPD_INTEGER(info->node),
                                         ROCPD_INTEGER(info->process),
                                         ROCPD_INTEGER(rocpd_agent(info, counter->node)),
                                         ROCPD_TEXT("GPU"),
                                         ROCPD_INTEGER(counter->id & 0xffff),
                                         ROCPD_INTEGER(0),
                                         ROCPD_TEXT(name),
                                         ROCPD_TEXT(name),
                                         ROCPD_TEXT(counter->description),
                                         ROCPD_TEXT("rocm"),
                                         ROCPD_TEXT("ABS"),
                                         ROCPD_TEXT(counter->block),
                                         ROCPD_TEXT(counter->expression),
                                         ROCPD_INTEGER(counter->is_constant),
                                         ROCPD_INTEGER(counter->is_derived),
                                         ROCPD_TEXT(more)};
    rocpd_base_insert(info->base, ROCPD_PMC, values);
    return (int64_t)counter->id;
}

int64_t rocpd_track(struct rocpd_info *info, int64_t category_id, uint64_t thread_id)
{
    bool is_first = false;
    info->tracks.element_bytes = sizeof(int64_t);
    int64_t *id =
        numbered_get(&info->tracks, (uint64_t)category_id << 32 | (uint32_t)thread_id, &is_first);
    if (!id)
        return BATCH_NULL;
    if (!is_first)
        return *id;
    *id = info->tracks.used;
    const struct rocpd_value values[] = {
        ROCPD_INTEGER(*id), ROCPD_INTEGER(info->node), ROCPD_INTEGER(info->process),
        ROCPD_INTEGER(rocpd_thread(info, thread_id)), ROCPD_INTEGER(category_id)};
    rocpd_base_insert(info->base, ROCPD_TRACK, values);
    return *id;
}

/* The first bytes of a file, without the end of the line; "" if it cannot be read. */
static size_t file_read(const char *path, char *text, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? 0 : read(file, text, size - 1);
    if (file >= 0)
        close(file);
    length = length < 0 ? 0 : length;
    text[length] = 0;
    return (size_t)length;
}

static void node_put(struct rocpd_info *info)
{
    struct utsname name = {0};
    struct out_machine machine = out_machine();
    uname(&name);
    info->node = (int64_t)machine.node;
    const struct rocpd_value values[] = {
        ROCPD_INTEGER(info->node),
        ROCPD_INTEGER(machine.hash),
        ROCPD_TEXT(machine.id),
        ROCPD_TEXT(name.sysname),
        ROCPD_TEXT(out_process() ? out_process()->hostname : name.nodename),
        ROCPD_TEXT(name.release),
        ROCPD_TEXT(name.version),
        ROCPD_TEXT(name.machine),
        ROCPD_TEXT(name.domainname)};
    rocpd_base_insert(info->base, ROCPD_NODE, values);
}

static char *environment_json(struct rocpd_info *info)
{
    sqlite3_str *text = sqlite3_str_new(NULL);
    bool is_first = true;
    for (char **at = environ; at && *at; at++) {
        size_t length = strcspn(*at, "=");
        char *name = strndup(*at, length);
        if (name && (*at)[length]) {
            sqlite3_str_appendall(text, is_first ? "{" : ",");
            rocpd_base_json(info->base, text, name);
            sqlite3_str_appendall(text, ":");
            rocpd_base_json(info->base, text, *at + length + 1);
            is_first = false;
        }
        free(name);
    }
    sqlite3_str_appendall(text, is_first ? "{}" : "}");
    return sqlite3_str_finish(text);
}

static void process_insert(struct rocpd_info *info, const struct out_process *process)
{
    const struct rocpd_value values[] = {
        ROCPD_INTEGER(info->process),    ROCPD_INTEGER(info->node),
        ROCPD_INTEGER(process->ppid),    ROCPD_INTEGER(info->process),
        ROCPD_INTEGER(process->init_ns), ROCPD_INTEGER(process->init_ns),
        ROCPD_TEXT(process->command),    ROCPD_TEXT(process->environment),
        ROCPD_TEXT(process->extdata)};
    rocpd_base_insert(info->base, ROCPD_PROCESS, values);
}

/* By which start of the machine its times count, and what time it was: databases of several
 * machines are put on one clock with that. */
static void clock_json(char text[160])
{
    char boot[64];
    boot[file_read("/proc/sys/kernel/random/boot_id", boot, 37)] = 0;
    boot[strcspn(boot, "\n\"\\")] = 0;
    snprintf(text, 160, "{\"crocprof_boot\":\"%s\",\"crocprof_clock\":[%llu,%llu]}", boot,
             (unsigned long long)clock_read_ns(CLOCK_REALTIME), (unsigned long long)clock_now_ns());
}

static void process_put(struct rocpd_info *info)
{
    char command[4096], clocks[160];
    if (out_process()) {
        process_insert(info, out_process());
        return;
    }
    size_t length = file_read("/proc/self/cmdline", command, sizeof command);
    for (size_t i = 0; i + 1 < length; i++)
        command[i] = command[i] ? command[i] : ' ';
    char *environment = environment_json(info);
    clock_json(clocks);
    const struct out_process process = {.ppid = (uint64_t)getppid(),
                                        .init_ns = (int64_t)clock_now_ns(),
                                        .command = command,
                                        .environment = environment ? environment : "{}",
                                        .extdata = clocks};
    process_insert(info, &process);
    sqlite3_free(environment);
}

void rocpd_info_begin(struct rocpd_info *info, struct rocpd_base *base)
{
    *info = (struct rocpd_info){.base = base,
                                .process = out_process() ? (int64_t)out_process()->pid : getpid()};
    rocpd_text(info, "");
    node_put(info);
    process_put(info);
    rocpd_thread(info, (uint64_t)info->process);
    rocpd_queue(info, 0);
    rocpd_stream(info, 0);
}

void rocpd_info_end(struct rocpd_info *info)
{
    const struct out_process *recorded = out_process();
    if (!recorded || recorded->fini_ns)
        rocpd_base_process_end(info->base, info->process,
                               recorded ? recorded->fini_ns : (int64_t)clock_now_ns());
    struct numbered *known[] = {&info->threads,      &info->queues,  &info->streams,
                                &info->agents,       &info->kernels, &info->counters,
                                &info->code_objects, &info->tracks};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        numbered_free(known[i]);
    texts_free(&info->texts);
}
