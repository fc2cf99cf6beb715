/*
 * <prefix>_results.html: one page that holds what it shows, for any browser without a network. Here
 * is which fields of rows go into it; the page's own parts are in data/html.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <crocprof/quality.h>

#include "analyze/rules.h"
#include "html.h"
#include "out/out.h"
#include "out/process.h"
#include "page.h"

#define FIELD(name, type, row, field)                                                              \
    {                                                                                              \
        name, type, offsetof(struct row, field), sizeof(((struct row *)0)->field)                  \
    }
#define NUMBER(name, row, field) FIELD(name, HTML_NUMBER, row, field)
/* Of a row it is not read: numbers that the system gave may be those of two machines' processes. */
#define PROCESS                                                                                    \
    {                                                                                              \
        "process", HTML_PROCESS, 0, 0                                                              \
    }
#define TEXT(name, row, field) FIELD(name, HTML_TEXT, row, field)
#define TIMES(row, field)                                                                          \
    FIELD("start", HTML_START, row, field##start_ns),                                              \
        FIELD("length", HTML_LENGTH, row, field##end_ns)

/* What mostly changes from row to row comes first: it is what a row's first byte speaks of. */
static const struct html_field api_fields[] = {
    TIMES(out_api_row, ),
    NUMBER("id", out_api_row, correlation_id),
    TEXT("name", out_api_row, function),
    NUMBER("parent", out_api_row, parent_id),
    NUMBER("thread", out_api_row, thread_id),
    TEXT("domain", out_api_row, domain),
    PROCESS,
};

#define DISPATCH_FIELDS(row, at)                                                                   \
    TIMES(row, at), NUMBER("id", row, at correlation_id), NUMBER("dispatch", row, at dispatch_id), \
        TEXT("name", row, at kernel_name), NUMBER("modelled", row, at modelled_ns),                \
        NUMBER("queue", row, at queue_id), NUMBER("thread", row, at thread_id),                    \
        NUMBER("agent", row, at agent), NUMBER("node", row, at node),                              \
        NUMBER("stream", row, at stream_id), PROCESS, NUMBER("lds", row, at lds_bytes),            \
        NUMBER("scratch", row, at scratch_bytes), NUMBER("vgprs", row, at vgprs),                  \
        NUMBER("acc_vgprs", row, at acc_vgprs), NUMBER("sgprs", row, at sgprs),                    \
        NUMBER("grid_x", row, at grid[0]), NUMBER("grid_y", row, at grid[1]),                      \
        NUMBER("grid_z", row, at grid[2]), NUMBER("group_x", row, at workgroup[0]),                \
        NUMBER("group_y", row, at workgroup[1]), NUMBER("group_z", row, at workgroup[2])

static const struct html_field kernel_fields[] = {DISPATCH_FIELDS(out_dispatch_row, )};

static const struct html_field counter_fields[] = {
    FIELD("value", HTML_DOUBLE, out_counter_row, counter_value),
    TEXT("counter", out_counter_row, counter_name),
    NUMBER("dispatch", out_counter_row, dispatch.dispatch_id),
    TEXT("name", out_counter_row, dispatch.kernel_name),
    PROCESS,
};

static const struct html_field copy_fields[] = {
    TIMES(out_copy_row, ),
    NUMBER("id", out_copy_row, correlation_id),
    NUMBER("bytes", out_copy_row, bytes),
    TEXT("name", out_copy_row, direction),
    NUMBER("source", out_copy_row, source_agent),
    NUMBER("destination", out_copy_row, destination_agent),
    NUMBER("thread", out_copy_row, thread_id),
    NUMBER("stream", out_copy_row, stream_id),
    PROCESS,
};

static const struct html_field allocation_fields[] = {
    TIMES(out_allocation_row, ),
    NUMBER("id", out_allocation_row, correlation_id),
    NUMBER("address", out_allocation_row, address),
    NUMBER("bytes", out_allocation_row, bytes),
    TEXT("name", out_allocation_row, operation),
    NUMBER("agent", out_allocation_row, agent),
    NUMBER("thread", out_allocation_row, thread_id),
    PROCESS,
};

static const struct html_field scratch_fields[] = {
    TIMES(out_scratch_row, ),
    NUMBER("id", out_scratch_row, correlation_id),
    NUMBER("bytes", out_scratch_row, bytes),
    TEXT("name", out_scratch_row, operation),
    NUMBER("flags", out_scratch_row, flags),
    NUMBER("agent", out_scratch_row, agent),
    NUMBER("queue", out_scratch_row, queue_id),
    NUMBER("thread", out_scratch_row, thread_id),
    PROCESS,
};

static const struct html_field event_fields[] = {
    TIMES(out_event_row, ),
    NUMBER("id", out_event_row, correlation_id),
    TEXT("name", out_event_row, operation),
    NUMBER("event", out_event_row, event),
    NUMBER("queue", out_event_row, queue_id),
    NUMBER("source_queue", out_event_row, source_queue_id),
    NUMBER("agent", out_event_row, agent),
    NUMBER("thread", out_event_row, thread_id),
    PROCESS,
};

/* Counted dispatches have the kernels' fields: those that no trace brought are shown as kernels. */
enum { API, MARKER, KERNEL, COUNTED, COUNTER, COPY, ALLOCATION, SCRATCH, EVENT, STREAM_COUNT };
#define STREAM(kind, fields)                                                                       \
    {                                                                                              \
        kind, fields, sizeof fields / sizeof fields[0]                                             \
    }
static const struct {
    const char *kind;
    const struct html_field *fields;
    uint32_t count;
} kinds[STREAM_COUNT] = {
    [API] = STREAM("api", api_fields),
    [MARKER] = STREAM("marker", api_fields),
    [KERNEL] = STREAM("kernel", kernel_fields),
    [COUNTED] = STREAM("counted", kernel_fields),
    [COUNTER] = STREAM("counter", counter_fields),
    [COPY] = STREAM("copy", copy_fields),
    [ALLOCATION] = STREAM("allocation", allocation_fields),
    [SCRATCH] = STREAM("scratch", scratch_fields),
    [EVENT] = STREAM("event", event_fields),
};

struct out_sink {
    struct html_page page;
    struct html_stream streams[STREAM_COUNT];
    char path[PATH_MAX];
    struct analyze_kernels kernels;
    uint64_t counted_dispatch, counted_process; /* the last one that was put */
    bool has_counted;
    struct texts marked; /* counters whose values are not what they seem, which the page was told */
    /* Processes that were recorded, and what the page calls them. */
    struct html_known {
        const struct out_process *process;
        uint64_t number;
    } * known;
    uint32_t known_count;
    const struct out_process *now; /* whose rows came last */
    bool is_short;                 /* not every row is there: statistics are put, too */
};

static void row_put(struct out_sink *sink, int stream, const void *row)
{
    html_page_row(&sink->page, &sink->streams[stream], row);
}

/* The page shows no value of a counter that its device does not count, and marks approximations. */
static void quality_put(struct out_sink *sink, const struct out_counter_row *row)
{
    const struct out_counter *counter = row->counter;
    bool is_new = false;
    bool is_not_counted = counter && counter->quality == CROCPROF_QUALITY_NOT_COUNTED;
    if (!is_not_counted && (!counter || counter->quality != CROCPROF_QUALITY_APPROXIMATE))
        return;
    texts_id(&sink->marked, row->counter_name, &is_new);
    if (is_new)
        html_page_pairs(&sink->page, "quality",
                        (const char *const[]){"counter", row->counter_name, "class",
                                              is_not_counted ? "not counted" : "approximate",
                                              NULL});
}

/* Values of a dispatch come one after another. */
static void counter_put(struct out_sink *sink, const struct out_counter_row *row)
{
    const struct out_dispatch_row *dispatch = &row->dispatch;
    if (!sink->has_counted || sink->counted_dispatch != dispatch->dispatch_id ||
        sink->counted_process != sink->page.process)
        row_put(sink, COUNTED, dispatch);
    sink->has_counted = true;
    sink->counted_dispatch = dispatch->dispatch_id;
    sink->counted_process = sink->page.process;
    quality_put(sink, row);
    row_put(sink, COUNTER, row);
}

/* Every column of the agents' table, as texts. */
static void agent_put(struct out_sink *sink, const struct out_agent_row *row)
{
    enum { COLUMNS_MAX = 96 };
    const struct out_table *table = &out_tables[OUT_AGENT_INFO];
    const char *pairs[2 * COLUMNS_MAX + 3];
    char numbers[COLUMNS_MAX][24];
    size_t count = 0;
    for (size_t i = 0; i < table->column_count && i < COLUMNS_MAX; i++) {
        const struct out_column *column = &table->columns[i];
        pairs[count++] = column->name;
        pairs[count++] = column->type == OUT_TEXT ? out_column_text(column, row) : numbers[i];
        if (column->type == OUT_I32)
            snprintf(numbers[i], sizeof numbers[i], "%lld", (long long)out_column_i64(column, row));
        else if (column->type != OUT_TEXT)
            snprintf(numbers[i], sizeof numbers[i], "%llu",
                     (unsigned long long)out_column_u64(column, row));
    }
    if (row->times) {
        pairs[count++] = "Times";
        pairs[count++] = row->times;
    }
    pairs[count] = NULL;
    html_page_pairs(&sink->page, "agent", pairs);
    struct machine machine = machine_of(&row->agent, 0);
    if (row->agent.type == ROCPROFILER_AGENT_TYPE_GPU)
        analyze_kernels_machine(&sink->kernels, &machine);
}

/* ---- whose rows */

/* What the system called it, unless another one is called so already. */
static uint64_t process_number(const struct out_sink *sink, uint64_t pid)
{
    uint64_t number = pid;
    for (uint32_t i = 0; i < sink->known_count; i++)
        if (sink->known[i].number == number) {
            number += (uint64_t)1 << 32;
            i = UINT32_MAX; /* from the first one again */
        }
    return number;
}

static uint64_t process_add(struct out_sink *sink, const struct out_process *process)
{
    char number[24], pid[24], rank[24] = "";
    struct html_known *grown =
        realloc(sink->known, (sink->known_count + 1) * sizeof(struct html_known));
    uint64_t given = process_number(sink, process->pid);
    if (!grown)
        return given;
    sink->known = grown;
    sink->known[sink->known_count++] = (struct html_known){process, given};
    snprintf(number, sizeof number, "%llu", (unsigned long long)given);
    snprintf(pid, sizeof pid, "%llu", (unsigned long long)process->pid);
    if (process->rank >= 0)
        snprintf(rank, sizeof rank, "%lld", (long long)process->rank);
    html_page_pairs(&sink->page, "process",
                    (const char *const[]){"number", number, "pid", pid, "rank", rank, "host",
                                          process->hostname, "command", process->command, NULL});
    return given;
}

static void process_follow(struct out_sink *sink)
{
    const struct out_process *now = out_process();
    if (now == sink->now && sink->page.process)
        return;
    sink->now = now;
    if (!now) {
        sink->page.process = (uint64_t)getpid();
        return;
    }
    for (uint32_t i = sink->known_count; i-- > 0;)
        if (sink->known[i].process == now) {
            sink->page.process = sink->known[i].number;
            return;
        }
    sink->page.process = process_add(sink, now);
}

uint64_t out_html_process(struct out_sink *sink)
{
    process_follow(sink);
    return sink->page.process;
}

void out_html_pairs(struct out_sink *sink, const char *kind, const char *const *pairs)
{
    html_page_pairs(&sink->page, kind, pairs);
}

void out_html_short(struct out_sink *sink)
{
    sink->is_short = true;
}

/* What the page would have computed of all rows. */
static void stats_put(struct out_sink *sink, enum out_table_id table,
                      const struct out_stats_row *row)
{
    char numbers[5][24];
    const uint64_t values[5] = {row->calls, row->total_ns, row->min_ns, row->max_ns,
                                row->modelled_ns};
    const char *kind = table == OUT_KERNEL_STATS   ? "kernel"
                       : table == OUT_COPY_STATS   ? "copy"
                       : table == OUT_MARKER_STATS ? "marker"
                       : table == OUT_EVENT_STATS  ? "event"
                                                   : "api";
    for (int i = 0; i < 5; i++)
        snprintf(numbers[i], sizeof numbers[i], "%llu", (unsigned long long)values[i]);
    html_page_pairs(&sink->page, "sum",
                    (const char *const[]){"kind", kind, "of", out_tables[table].file, "name",
                                          row->name, "count", numbers[0], "total", numbers[1],
                                          "low", numbers[2], "high", numbers[3], "modelled",
                                          numbers[4], NULL});
}

static void html_row(struct out_sink *sink, enum out_table_id table, const void *row)
{
    process_follow(sink);
    switch (table) {
    case OUT_MARKER_API:
        row_put(sink, MARKER, row);
        return;
    case OUT_KERNEL_TRACE:
        analyze_kernels_row(&sink->kernels, table, row);
        row_put(sink, KERNEL, row);
        return;
    case OUT_COUNTER_COLLECTION:
        analyze_kernels_row(&sink->kernels, table, row);
        counter_put(sink, row);
        return;
    case OUT_MEMORY_COPY:
        row_put(sink, COPY, row);
        return;
    case OUT_MEMORY_ALLOCATION:
        row_put(sink, ALLOCATION, row);
        return;
    case OUT_SCRATCH_MEMORY:
        row_put(sink, SCRATCH, row);
        return;
    case OUT_HIP_EVENT:
        row_put(sink, EVENT, row);
        return;
    case OUT_AGENT_INFO:
        agent_put(sink, row);
        return;
    case OUT_KERNEL_STATS:
    case OUT_HIP_STATS:
    case OUT_HSA_STATS:
    case OUT_COPY_STATS:
    case OUT_MARKER_STATS:
    case OUT_RCCL_STATS:
    case OUT_ROCDECODE_STATS:
    case OUT_ROCJPEG_STATS:
    case OUT_HIPFILE_STATS:
    case OUT_ROCSHMEM_STATS:
    case OUT_OMPT_STATS:
    case OUT_EVENT_STATS:
        if (sink->is_short) /* else the page computes them */
            stats_put(sink, table, row);
        return;
    default:
        if (out_is_call(table))
            row_put(sink, API, row);
        return;
    }
}

/* Words of the command line, parted by blanks; "" where they cannot be read. */
static void command_read(char *text, size_t size)
{
    FILE *file = fopen("/proc/self/cmdline", "re");
    size_t length = file ? fread(text, 1, size - 1, file) : 0;
    if (file)
        fclose(file);
    text[length] = 0;
    for (size_t i = 0; i + 1 < length; i++)
        if (!text[i])
            text[i] = ' ';
}

/* The first word without directories; the word is ended there. */
static const char *program_of(const char *command)
{
    static char name[64];
    size_t length = strcspn(command, " ");
    const char *from = command;
    for (size_t i = 0; i < length; i++)
        from = command[i] == '/' ? command + i + 1 : from;
    snprintf(name, sizeof name, "%.*s", (int)(command + length - from), from);
    return name;
}

static void run_put(struct html_page *page)
{
    char command[8192], host[256] = "", pid[24], time_s[24];
    const struct out_process *recorded = out_process();
    command_read(command, sizeof command);
    gethostname(host, sizeof host - 1);
    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    if (recorded) {
        snprintf(command, sizeof command, "%s", recorded->command);
        snprintf(host, sizeof host, "%s", recorded->hostname);
        snprintf(pid, sizeof pid, "%llu", (unsigned long long)recorded->pid);
    }
    snprintf(time_s, sizeof time_s, "%lld", (long long)time(NULL));
    html_page_pairs(page, "run",
                    (const char *const[]){
                        "program", recorded ? program_of(command) : program_invocation_short_name,
                        "command", command, "host", host, "process", pid, "time_s", time_s, NULL});
}

static int html_open(const char *prefix, struct out_sink **result, char *error, size_t error_size)
{
    int status = -ENOMEM;
    struct out_sink *sink = calloc(1, sizeof *sink);
    if (!sink) {
        snprintf(error, error_size, "out of memory");
        return status;
    }
    for (int i = 0; i < STREAM_COUNT; i++) {
        sink->streams[i].kind = kinds[i].kind;
        sink->streams[i].fields = kinds[i].fields;
        sink->streams[i].field_count = kinds[i].count;
    }
    int length = snprintf(sink->path, sizeof sink->path, "%s_results.html", prefix);
    status = (size_t)length >= sizeof sink->path
                 ? -ENAMETOOLONG
                 : html_page_open(&sink->page, sink->path, sink->streams, STREAM_COUNT);
    if (status != 0) {
        snprintf(error, error_size, "%s: %s", sink->path, strerror(-status));
        free(sink);
        return status;
    }
    run_put(&sink->page);
    *result = sink;
    return 0;
}

/* ---- what the analysis says */

struct pairs {
    const char *words[64];
    char numbers[24][32];
    size_t count, numbers_used;
};

static void pair_add(struct pairs *pairs, const char *name, const char *value)
{
    pairs->words[pairs->count++] = name;
    pairs->words[pairs->count++] = value;
    pairs->words[pairs->count] = NULL;
}

/* What is not known is left out. */
static void number_add(struct pairs *pairs, const char *name, double value)
{
    char *text = pairs->numbers[pairs->numbers_used++];
    if (!isfinite(value))
        return;
    snprintf(text, sizeof pairs->numbers[0], "%.9g", value);
    pair_add(pairs, name, text);
}

static void machine_put(struct html_page *page, const struct machine *machine)
{
    struct pairs pairs = {0};
    double clock = machine->clock_hz * machine->cus;
    pair_add(&pairs, "name", machine->name);
    number_add(&pairs, "node", machine->node);
    number_add(&pairs, "memory", machine->memory_bytes_per_s);
    number_add(&pairs, "fp32", machine->arch ? clock * machine->arch->fp32 : 0);
    number_add(&pairs, "fp64", machine->arch ? clock * machine->arch->fp64 : 0);
    number_add(&pairs, "matrix", machine->arch ? clock * machine->arch->matrix_f16 : 0);
    html_page_pairs(page, "roof", pairs.words);
}

static void occupancy_add(struct pairs *pairs, const struct measures *m)
{
    static const char *const names[OCCUPANCY_LIMIT_COUNT] = {"slots", "vgprs", "sgprs", "lds",
                                                             "groups"};
    if (!m->has_occupancy)
        return;
    number_add(pairs, "waves_max", m->occupancy.waves_max);
    number_add(pairs, "waves_limit", m->occupancy.waves_per_cu);
    pair_add(pairs, "limit", names[m->occupancy.limit]);
    for (int i = 0; i < OCCUPANCY_LIMIT_COUNT; i++)
        number_add(pairs, names[i], m->occupancy.waves[i]);
}

/* The first sentence, on what bounds the kernel, is one that has counters. */
static void bound_add(struct pairs *pairs, const struct measures *m, char text[RULE_TEXT_BYTES])
{
    for (const struct rule *rule = analyze_rules; rule->name; rule++) {
        if (strcmp(rule->topic, "bound") != 0 || !rule->applies(m))
            continue;
        rule->say(m, text, RULE_TEXT_BYTES);
        pair_add(pairs, "bound", text);
        return;
    }
}

static void kernel_put(struct html_page *page, const struct measures *m)
{
    struct pairs pairs = {0};
    char bound[RULE_TEXT_BYTES];
    pair_add(&pairs, "name", m->kernel->name);
    number_add(&pairs, "node", m->kernel->node);
    number_add(&pairs, "cycles", m->cycles);
    number_add(&pairs, "seconds", m->rate_seconds);
    number_add(&pairs, "flops", m->flops);
    number_add(&pairs, "bytes", m->bytes);
    number_add(&pairs, "waves", m->waves_per_cu);
    occupancy_add(&pairs, m);
    bound_add(&pairs, m, bound);
    html_page_pairs(page, "kernel_facts", pairs.words);
}

static void analysis_put(struct out_sink *sink)
{
    enum { KERNELS_SHOWN = 200 };
    struct analyze_kernels *kernels = &sink->kernels;
    analyze_kernels_sort(kernels);
    for (uint32_t i = 0; i < kernels->machine_count; i++)
        machine_put(&sink->page, &kernels->machines[i]);
    for (uint32_t i = 0; i < kernels->count && i < KERNELS_SHOWN; i++) {
        struct measures m = measures_of(kernels, kernels->list[i]);
        kernel_put(&sink->page, &m);
    }
}

static int html_close(struct out_sink *sink, char *error, size_t error_size)
{
    analysis_put(sink);
    analyze_kernels_free(&sink->kernels);
    free(sink->known);
    texts_free(&sink->marked);
    int status = html_page_close(&sink->page);
    if (status != 0)
        snprintf(error, error_size, "%s: %s", sink->path, strerror(-status));
    free(sink);
    return status;
}

const struct out_ops out_html_ops = {"html", html_open, html_row, html_close,
                                     NULL,   false,     true,     false};
