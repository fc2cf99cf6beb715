/* `analyze`: why kernels take the time they take, in sentences, of a program or of a recording. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/print.h"
#include "cli/ask.h"
#include "cli/complete.h"
#include "cli/outcome.h"
#include "cli/refuse.h"
#include "cli/runs.h"
#include "launch/launch.h"
#include "out/place.h"
#include "recording/recording.h"
#include "table.h"

enum { ANALYZE_TOP, ANALYZE_JSON, ANALYZE_OUTPUT, TOP_FEW = 10, COUNTERS_BYTES = 4096 };

/* ---- recordings */

/* Bytes a second of the agent's memory, which its extended data has; 0: they have not. */
static double bandwidth_of(struct recording *recording, const struct recording_part *part,
                           uint64_t node)
{
    char error[200];
    double value = 0;
    struct sqlite3_stmt *ask = recording_prepare(
        recording, part,
        "SELECT max(json_extract(bank.value, '$.width') / 8 * 2e6 * "
        "json_extract(bank.value, '$.mem_clk_max')) FROM \"rocpd_info_agent{S}\" AS agent, "
        "json_each(agent.extdata, '$.mem_banks') AS bank WHERE agent.id = ?",
        error, sizeof error);
    if (!ask)
        return 0;
    sqlite3_bind_int64(ask, 1, (int64_t)node);
    if (sqlite3_step(ask) == SQLITE_ROW)
        value = sqlite3_column_double(ask, 0);
    sqlite3_finalize(ask);
    return value;
}

struct reading {
    struct analyze_kernels *kernels;
    struct recording *recording;
};

static int row_take(void *data, const struct recording_part *part, enum out_table_id table,
                    const void *row)
{
    const struct reading *reading = data;
    if (table != OUT_AGENT_INFO) {
        analyze_kernels_row(reading->kernels, table, row);
        return 0;
    }
    const rocprofiler_agent_v0_t *agent = &((const struct out_agent_row *)row)->agent;
    if (strcmp(((const struct out_agent_row *)row)->type, "GPU") != 0)
        return 0;
    struct machine machine =
        machine_of(agent, bandwidth_of(reading->recording, part, agent->node_id));
    analyze_kernels_machine(reading->kernels, &machine);
    return 0;
}

static int recording_take(struct analyze_kernels *kernels, const char *path)
{
    char error[PATH_MAX + 200];
    struct reading reading = {kernels, NULL};
    if (recording_open(&reading.recording, path, error, sizeof error) != 0)
        return refuse(EXIT_USAGE, "%s", error);
    const struct recording_ask ask = {.tables = 1ull << OUT_KERNEL_TRACE |
                                                1ull << OUT_COUNTER_COLLECTION |
                                                1ull << OUT_AGENT_INFO,
                                      .agents = RECORDING_ABSOLUTE};
    int status = recording_each(reading.recording, &ask, row_take, &reading, error, sizeof error);
    const char *damage = recording_damage(reading.recording);
    if (damage)
        fprintf(stderr, "crocprof: %s\n", damage);
    recording_close(reading.recording);
    return status == 0 ? 0 : refuse(EXIT_USAGE, "%s", error);
}

static int tell(struct analyze_kernels *kernels, const struct cli_options *line)
{
    const char *path = command_text(line, ANALYZE_OUTPUT);
    int made = path ? place_parent_make(path) : 0;
    FILE *out = !path ? stdout : made == 0 ? fopen(path, "wxe") : NULL;
    if (!out)
        return refuse(EXIT_USAGE, "%s: %s", path, strerror(made ? -made : errno));
    analyze_kernels_sort(kernels);
    if (kernels->count == 0)
        fputs("crocprof: there are no kernels to analyze\n", stderr);
    if (command_flag(line, ANALYZE_JSON))
        analyze_print_json(kernels, out);
    else
        analyze_print(kernels, (uint32_t)command_number(line, ANALYZE_TOP, TOP_FEW), out);
    int status =
        ferror(out) || fflush(out) != 0
            ? refuse(EXIT_USAGE, "%s: %s", path ? path : "standard output", strerror(errno))
            : 0;
    if (path)
        fclose(out);
    return status;
}

/* ---- a program: counted into a folder of our own, which is then read */

static int record_become(void *data)
{
    outcome_files_hide();
    return record_line(data);
}

/* The wanted counters that the GPUs have. */
static int counters_choose(struct cli_options *line, char chosen[COUNTERS_BYTES])
{
    struct cli_options asking;
    struct launch launch;
    char error[PATH_MAX + CLI_ERROR_BYTES], wanted[ANALYZE_NAMES_BYTES];
    analyze_counters_list(wanted);
    if (cli_options_copy(&asking, line) != 0 || cli_option_set(&asking, OPTION_PMC, wanted) != 0 ||
        cli_options_complete(&asking, error, sizeof error) != 0)
        return refuse(EXIT_USAGE, "%s", "the counters cannot be asked for");
    int status = launch_prepare(&launch, line->program[0], error, sizeof error);
    if (status != 0)
        status = refuse(status == -EACCES ? EXIT_NOT_RUNNABLE : EXIT_NOT_STARTED, "%s", error);
    else
        status = ask_offered(&launch, &asking.settings, chosen, COUNTERS_BYTES);
    if (status == 0)
        analyze_counters_once(chosen);
    cli_options_free(&asking);
    return status;
}

static int options_put(struct cli_options *line, const char *counters, const char *folder)
{
    const struct {
        enum option_id id;
        const char *value;
    } values[] = {
        {OPTION_PMC, counters},          {OPTION_OUTPUT_DIRECTORY, folder},
        {OPTION_OUTPUT_FILE, "%pid%"},   {OPTION_OUTPUT_FORMAT, "rocpd"},
        {OPTION_KERNEL_TRACE, "1"},      {OPTION_SUMMARY, "0"},
        {OPTION_MEMORY_COPY_TRACE, "0"}, {OPTION_HIP_RUNTIME_TRACE, "0"},
        {OPTION_MARKER_TRACE, "0"},
    };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        if (cli_option_set(line, values[i].id, values[i].value) != 0)
            return refuse(EXIT_NOT_STARTED, "out of memory");
    return 0;
}

static bool is_recording(const char *name)
{
    size_t length = strlen(name);
    return length > 3 && strcmp(name + length - 3, ".db") == 0;
}

/* Every process of the run has a file. `kernels` is NULL where they are only taken away. */
static int folder_take(struct analyze_kernels *kernels, const char *folder)
{
    char path[PATH_MAX + 300];
    int status = 0;
    DIR *files = opendir(folder);
    if (!files)
        return refuse(EXIT_NOT_STARTED, "%s: %s", folder, strerror(errno));
    for (struct dirent *entry; (entry = readdir(files));) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (!kernels && entry->d_name[0] != '.') {
            unlink(path);
        } else if (kernels && is_recording(entry->d_name)) {
            int one = recording_take(kernels, path);
            status = one ? one : status;
        }
    }
    closedir(files);
    return status;
}

static int program_analyze(struct analyze_kernels *kernels, struct cli_options *line)
{
    char counters[COUNTERS_BYTES], folder[PATH_MAX];
    const char *temporary = getenv("TMPDIR");
    int ended;
    int status = counters_choose(line, counters);
    if (status != 0)
        return status;
    snprintf(folder, sizeof folder, "%s/crocprof-XXXXXX",
             temporary && *temporary ? temporary : "/tmp");
    if (!mkdtemp(folder))
        return refuse(EXIT_NOT_STARTED, "%s: %s", folder, strerror(errno));
    status = options_put(line, counters, folder);
    if (status == 0) {
        runs_begin();
        bool ran = runs_once(record_become, line, &ended);
        runs_end();
        status = ran && ended >= 0 ? folder_take(kernels, folder) : 0;
    }
    folder_take(NULL, folder);
    rmdir(folder);
    if (status == 0 && ended >= 0)
        status = tell(kernels, line);
    return status == 0 ? runs_end_like(ended) : status;
}

/* ---- the command */

/* A database is read, anything else is run. */
static bool starts_like_a_database(const char *path)
{
    static const char head[16] = "SQLite format 3";
    char bytes[sizeof head];
    FILE *file = fopen(path, "re");
    bool same = file && fread(bytes, 1, sizeof bytes, file) == sizeof bytes &&
                memcmp(bytes, head, sizeof bytes) == 0;
    if (file)
        fclose(file);
    return same;
}

static int recordings_analyze(struct analyze_kernels *kernels, struct cli_options *line)
{
    int status = 0;
    for (char **path = line->program; *path && status == 0; path++)
        status = recording_take(kernels, *path);
    return status == 0 ? tell(kernels, line) : status;
}

static int analyze_run(struct cli_options *line)
{
    struct analyze_kernels kernels = {0};
    int status = starts_like_a_database(line->program[0]) ? recordings_analyze(&kernels, line)
                                                          : program_analyze(&kernels, line);
    analyze_kernels_free(&kernels);
    return status;
}

static const struct command_option options[] = {
    [ANALYZE_TOP] = {"top", 0, OPTION_NUMBER, "N", "how many kernels, the busiest first (10)"},
    [ANALYZE_JSON] = {"json", 0, OPTION_FLAG, NULL, "the numbers and sentences as JSON"},
    [ANALYZE_OUTPUT] = {"output", 0, OPTION_TEXT, "FILE", "there instead of standard output"},
    {0},
};
static const enum option_id takes[] = {OPTION_KERNEL_INCLUDE_REGEX,
                                       OPTION_KERNEL_EXCLUDE_REGEX,
                                       OPTION_KERNEL_ITERATION_RANGE,
                                       OPTION_COLLECTION_PERIOD,
                                       OPTION_SELECTED_REGIONS,
                                       OPTION_TRUNCATE_KERNELS,
                                       OPTION_KERNEL_RENAME,
                                       OPTION_PRELOAD,
                                       OPTION_LOG_LEVEL,
                                       OPTION_COUNT};

const struct command command_analyze = {
    .name = "analyze",
    .operands = "[--] PROGRAM [ARGUMENTS] | RECORDING ...",
    .help = "why kernels take the time they take, in sentences with their numbers",
    .text = "A program is run as often as its counters need. A recording is read as it is: what it "
            "has no counters for is not said.",
    .options = options,
    .takes = takes,
    .takes_program = true,
    .operands_min = 1,
    .run = analyze_run,
};
