/* `script`: records as lines of text in the order of time, for other programs. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cli/refuse.h"
#include "inputs.h"
#include "out/json.h"
#include "table.h"
#include "window.h"

enum { SCRIPT_BEGIN, SCRIPT_END, SCRIPT_FORMAT, SCRIPT_KINDS };
enum { FIELDS_MAX = 20 };

/* One record: what every line has, and what its kind has besides. */
struct line {
    uint64_t start_ns, end_ns, thread_id;
    const char *kind, *name;
    double error;
    unsigned count;
    struct {
        const char *key;
        uint64_t value;
        const char *text;   /* NULL: a number */
        const double *real; /* NULL: it is none */
    } fields[FIELDS_MAX];
};

static const struct {
    const char *name;
    uint64_t tables;
} kinds[] = {
    {"api", 1ull << OUT_HIP_API | 1ull << OUT_HSA_API | 1ull << OUT_RCCL_API |
                1ull << OUT_ROCDECODE_API | 1ull << OUT_ROCJPEG_API | 1ull << OUT_ROCSHMEM_API |
                1ull << OUT_HIPFILE_API | 1ull << OUT_OMPT},
    {"marker", 1ull << OUT_MARKER_API},
    {"kernel", 1ull << OUT_KERNEL_TRACE},
    {"counter", 1ull << OUT_COUNTER_COLLECTION},
    {"copy", 1ull << OUT_MEMORY_COPY},
    {"allocation", 1ull << OUT_MEMORY_ALLOCATION},
    {"scratch", 1ull << OUT_SCRATCH_MEMORY},
    {"kfd", 1ull << OUT_KFD},
    {"graph", 1ull << OUT_GRAPH_LAUNCH},
    {"event", 1ull << OUT_HIP_EVENT},
};

struct script {
    struct writer writer;
    bool is_json;
};

static void field(struct line *line, const char *key, uint64_t value)
{
    line->fields[line->count].key = key;
    line->fields[line->count++].value = value;
}

static void agent_field(struct line *line, const char *key, uint64_t value)
{
    if (value != OUT_NO_AGENT)
        field(line, key, (uint32_t)value);
}

static void api_line(struct line *line, const struct out_api_row *row)
{
    *line = (struct line){.start_ns = row->start_ns,
                          .end_ns = row->end_ns,
                          .thread_id = row->thread_id,
                          .kind = row->message ? "marker" : "api",
                          .name = row->function};
    line->fields[line->count].key = "domain";
    line->fields[line->count++].text = row->domain;
    field(line, "correlation", row->correlation_id);
    field(line, "parent", row->parent_id);
}

static void dispatch_line(struct line *line, const struct out_dispatch_row *row, const char *kind)
{
    *line = (struct line){.start_ns = row->start_ns,
                          .end_ns = row->end_ns,
                          .thread_id = row->thread_id,
                          .kind = kind,
                          .name = row->kernel_name};
    field(line, "correlation", row->correlation_id);
    field(line, "dispatch", row->dispatch_id);
    agent_field(line, "agent", row->agent);
    field(line, "queue", row->queue_id);
    field(line, "stream", row->stream_id);
}

static void kernel_line(struct line *line, const struct out_dispatch_row *row)
{
    static const char *const axes[][2] = {
        {"grid_x", "workgroup_x"}, {"grid_y", "workgroup_y"}, {"grid_z", "workgroup_z"}};
    dispatch_line(line, row, "kernel");
    for (int i = 0; i < 3; i++) {
        field(line, axes[i][0], row->grid[i]);
        field(line, axes[i][1], row->workgroup[i]);
    }
    field(line, "lds", row->lds_bytes);
    field(line, "scratch", row->scratch_bytes);
    field(line, "vgprs", row->vgprs);
    field(line, "acc_vgprs", row->acc_vgprs);
    field(line, "sgprs", row->sgprs);
}

static void counter_line(struct line *line, const struct out_counter_row *row)
{
    dispatch_line(line, &row->dispatch, "counter");
    line->fields[line->count].key = "counter";
    line->fields[line->count++].text = row->counter_name;
    line->fields[line->count].key = "value";
    line->fields[line->count++].real = &row->counter_value;
}

static void copy_line(struct line *line, const struct out_copy_row *row)
{
    *line = (struct line){.start_ns = row->start_ns,
                          .end_ns = row->end_ns,
                          .thread_id = row->thread_id,
                          .kind = "copy",
                          .name = row->direction};
    field(line, "correlation", row->correlation_id);
    field(line, "bytes", row->bytes);
    agent_field(line, "source", row->source_agent);
    agent_field(line, "destination", row->destination_agent);
    field(line, "stream", row->stream_id);
}

static void allocation_line(struct line *line, const struct out_allocation_row *row)
{
    *line = (struct line){.start_ns = row->start_ns,
                          .end_ns = row->end_ns,
                          .thread_id = row->thread_id,
                          .kind = "allocation",
                          .name = row->operation};
    field(line, "correlation", row->correlation_id);
    field(line, "bytes", row->bytes);
    field(line, "address", row->address);
    agent_field(line, "agent", row->agent);
}

static void scratch_line(struct line *line, const struct out_scratch_row *row)
{
    *line = (struct line){.start_ns = row->start_ns,
                          .end_ns = row->end_ns,
                          .thread_id = row->thread_id,
                          .kind = "scratch",
                          .name = row->operation};
    field(line, "correlation", row->correlation_id);
    field(line, "bytes", row->bytes);
    agent_field(line, "agent", row->agent);
    field(line, "queue", row->queue_id);
}

/* Of no thread: those that take them up are the profiler's. */
static void kfd_line(struct line *line, const struct out_kfd_row *row)
{
    static const char *const keys[OUT_KFD_AGENTS] = {
        [OUT_KFD_AGENT] = "agent",
        [OUT_KFD_SOURCE] = "source",
        [OUT_KFD_DESTINATION] = "destination",
        [OUT_KFD_PREFETCH] = "prefetch",
        [OUT_KFD_PREFERRED] = "preferred",
    };
    *line = (struct line){
        .start_ns = row->start_ns, .end_ns = row->end_ns, .kind = "kfd", .name = row->operation};
    for (int i = 0; i < OUT_KFD_AGENTS; i++)
        agent_field(line, keys[i], row->agents[i]);
    field(line, "start_address", row->start_address);
    field(line, "end_address", row->end_address);
    field(line, "count", row->count);
    line->error = row->error_code;
    line->fields[line->count].key = "error";
    line->fields[line->count++].real = &line->error;
}

static void graph_line(struct line *line, const struct out_graph_row *row)
{
    *line = (struct line){.start_ns = row->start_ns,
                          .end_ns = row->end_ns,
                          .thread_id = row->thread_id,
                          .kind = "graph",
                          .name = row->operation};
    field(line, "correlation", row->correlation_id);
    agent_field(line, "agent", row->agent);
    field(line, "queue", row->queue_id);
    field(line, "graph", row->graph_exec_id);
    field(line, "kernels", row->kernels);
}

static void event_line(struct line *line, const struct out_event_row *row)
{
    *line = (struct line){.start_ns = row->start_ns,
                          .end_ns = row->end_ns,
                          .thread_id = row->thread_id,
                          .kind = "event",
                          .name = row->operation};
    field(line, "correlation", row->correlation_id);
    agent_field(line, "agent", row->agent);
    field(line, "queue", row->queue_id);
    field(line, "source_queue", row->source_queue_id);
    field(line, "event", row->event);
}

/* False: a row of which there is no line. */
static bool line_make(struct line *line, enum out_table_id table, const void *row)
{
    switch (table) {
    case OUT_KERNEL_TRACE:
        kernel_line(line, row);
        break;
    case OUT_COUNTER_COLLECTION:
        counter_line(line, row);
        break;
    case OUT_MEMORY_COPY:
        copy_line(line, row);
        break;
    case OUT_MEMORY_ALLOCATION:
        allocation_line(line, row);
        break;
    case OUT_SCRATCH_MEMORY:
        scratch_line(line, row);
        break;
    case OUT_KFD:
        kfd_line(line, row);
        break;
    case OUT_GRAPH_LAUNCH:
        graph_line(line, row);
        break;
    case OUT_HIP_EVENT:
        event_line(line, row);
        break;
    default:
        if (!out_is_call(table))
            return false;
        api_line(line, row);
        break;
    }
    return true;
}

static void put(struct writer *writer, const char *text)
{
    writer_bytes(writer, text, strlen(text));
}

/* A name is the rest of its line, so that it must not end it. */
static void escaped_put(struct writer *writer, const char *text)
{
    for (; *text; text++)
        if (*text == '\n' || *text == '\r' || *text == '\\') {
            writer_char(writer, '\\');
            writer_char(writer, *text == '\n' ? 'n' : *text == '\r' ? 'r' : '\\');
        } else {
            writer_char(writer, *text);
        }
}

static void value_put(struct writer *writer, const struct line *line, unsigned at, bool is_json)
{
    char real[32];
    if (line->fields[at].real) {
        snprintf(real, sizeof real, "%.17g", *line->fields[at].real);
        put(writer, strpbrk(real, "ni") && is_json ? "null" : real);
    } else if (line->fields[at].text && is_json) {
        json_text(writer, line->fields[at].text);
    } else if (line->fields[at].text) {
        escaped_put(writer, line->fields[at].text);
    } else {
        writer_u64(writer, line->fields[at].value);
    }
}

/* START DURATION PID TID KIND KEY=VALUE ... : NAME */
static void text_line(struct writer *writer, const struct line *line, uint64_t pid)
{
    const uint64_t numbers[] = {line->start_ns, line->end_ns - line->start_ns, pid,
                                line->thread_id};
    for (int i = 0; i < 4; i++) {
        writer_u64(writer, numbers[i]);
        writer_char(writer, ' ');
    }
    put(writer, line->kind);
    for (unsigned i = 0; i < line->count; i++) {
        writer_char(writer, ' ');
        put(writer, line->fields[i].key);
        writer_char(writer, '=');
        value_put(writer, line, i, false);
    }
    put(writer, " : ");
    escaped_put(writer, line->name);
    writer_char(writer, '\n');
}

static void json_line(struct writer *writer, const struct line *line, uint64_t pid)
{
    const struct {
        const char *key;
        uint64_t value;
    } numbers[] = {{"{\"start\": ", line->start_ns},
                   {", \"end\": ", line->end_ns},
                   {", \"pid\": ", pid},
                   {", \"tid\": ", line->thread_id}};
    for (int i = 0; i < 4; i++) {
        put(writer, numbers[i].key);
        writer_u64(writer, numbers[i].value);
    }
    put(writer, ", \"kind\": ");
    json_text(writer, line->kind);
    put(writer, ", \"name\": ");
    json_text(writer, line->name);
    for (unsigned i = 0; i < line->count; i++) {
        put(writer, ", ");
        json_text(writer, line->fields[i].key);
        put(writer, ": ");
        value_put(writer, line, i, true);
    }
    put(writer, "}\n");
}

/* Nobody reads on: stop. */
static int row_take(void *data, const struct recording_part *part, enum out_table_id table,
                    const void *row)
{
    struct script *script = data;
    struct line line;
    if (!line_make(&line, table, row))
        return 0;
    if (script->is_json)
        json_line(&script->writer, &line, part->pid);
    else
        text_line(&script->writer, &line, part->pid);
    return script->writer.status != 0;
}

/* 0: one of the names is none. */
static uint64_t tables_read(const char *names)
{
    uint64_t tables = 0;
    char name[32];
    while (settings_list_next(&names, name, sizeof name)) {
        uint64_t found = 0;
        for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
            found |= strcmp(kinds[i].name, name) == 0 ? kinds[i].tables : 0;
        if (!found)
            return 0;
        tables |= found;
    }
    return tables;
}

static int recording_script(struct script *script, const char *path, const struct cli_options *line,
                            uint64_t tables)
{
    char error[PATH_MAX + 200];
    struct recording *recording;
    struct recording_ask ask = inputs_ask(line);
    ask.order = RECORDING_BY_TIME;
    ask.tables = tables;
    if (recording_open(&recording, path, error, sizeof error) != 0)
        return refuse(EXIT_FAILED, "%s", error);
    const struct window window = {.begin = command_text(line, SCRIPT_BEGIN),
                                  .end = command_text(line, SCRIPT_END)};
    int status = window_read(&window, &recording, 1, &ask);
    if (status == 0 && recording_each(recording, &ask, row_take, script, error, sizeof error) < 0)
        status = refuse(EXIT_FAILED, "%s", error);
    inputs_damage_tell(recording);
    recording_close(recording);
    return status;
}

static int script_run(struct cli_options *line)
{
    static struct script script;
    const char *names = command_text(line, SCRIPT_KINDS),
               *format = command_text(line, SCRIPT_FORMAT);
    uint64_t tables = names ? tables_read(names) : RECORDING_ALL & ~(1ull << OUT_AGENT_INFO);
    struct inputs inputs;
    if (!tables)
        return refuse(EXIT_USAGE,
                      "--kinds: %s (known: api, marker, kernel, counter, copy, "
                      "allocation, scratch, kfd, graph, event)",
                      names);
    int status = inputs_find(&inputs, line->operands), result = status;
    if (status == 0)
        status = result = output_begin(&script.writer, NULL);
    script.is_json = format && strcmp(format, "json") == 0;
    for (unsigned i = 0; i < inputs.count && status == 0 && script.writer.status == 0; i++) {
        int one = recording_script(&script, inputs.paths[i], line, tables);
        result = one ? one : result;
    }
    inputs_free(&inputs);
    if (status == 0)
        status = output_end(&script.writer, NULL);
    return status ? status : result;
}

static const struct command_option options[] = {
    [SCRIPT_BEGIN] = {"begin", 0, OPTION_TEXT, "NS|N%", "leave out what ended before that time"},
    [SCRIPT_END] = {"end", 0, OPTION_TEXT, "NS|N%", "leave out what began after that time"},
    [SCRIPT_FORMAT] = {"format", 'f', OPTION_CHOICE, "text|json", "lines of text, or JSON objects"},
    [SCRIPT_KINDS] = {"kinds", 0, OPTION_TEXT, "KIND,...",
                      "only these: api, marker, kernel, counter, copy, allocation, scratch, kfd, "
                      "graph, event"},
    {0},
};
static const enum option_id takes[] = {INPUTS_SHOWN, OPTION_COUNT};

const struct command command_script = {
    .name = "script",
    .operands = "RECORDING ...",
    .help = "records as lines in the order of time, for other programs",
    .text = "A line is START DURATION PID TID KIND KEY=VALUE ... : NAME, times in nanoseconds. The "
            "name is the "
            "rest of the line; a line's end in it is shown as \\n.",
    .options = options,
    .takes = takes,
    .operands_min = 1,
    .operands_max = UINT32_MAX,
    .run = script_run,
};
