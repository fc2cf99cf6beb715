/* rocpd: the commands of ROCm's program of that name, with its options, on top of ours. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/help.h"
#include "cli/refuse.h"
#include "convert.h"
#include "merge.h"
#include "query.h"
#include "table.h"

/* The first options of every command: -i FILES, which may also stand without it. */
enum { ROCPD_INPUT, ROCPD_OUTPUT, ROCPD_DIRECTORY, ROCPD_FIRST };
#define ROCPD_COMMON                                                                               \
    [ROCPD_INPUT] = {"input", 'i', OPTION_LIST, "FILE ...",                                        \
                     "databases, patterns, directories, packages"},                                \
    [ROCPD_OUTPUT] = {"output-file", 'o', OPTION_TEXT, "NAME", "how files are called"},            \
    [ROCPD_DIRECTORY] = {"output-path", 'd', OPTION_TEXT, "DIR", "where they are written"}

/* Words of -i and operands. An exit status. */
static int inputs_take(struct inputs *inputs, const struct cli_options *line)
{
    char **words = calloc(line->own_count + line->operand_count + 1, sizeof *words);
    unsigned count = 0, at = 0;
    if (!words)
        return refuse(EXIT_FAILED, "out of memory");
    for (const char *text; (text = command_next(line, ROCPD_INPUT, &at));)
        words[count++] = (char *)(uintptr_t)text;
    for (unsigned i = 0; i < line->operand_count; i++)
        words[count++] = line->operands[i];
    int status = count ? inputs_find(inputs, words)
                       : refuse(EXIT_USAGE, "%s: which databases? (-i FILE ...)", line->of->name);
    free(words);
    return status;
}

/* "DIR/NAME", of options, variables or what rocpd calls them. An exit status. */
static int stem_make(const struct cli_options *line, const char *otherwise, char stem[2 * PATH_MAX])
{
    const char *name = command_text(line, ROCPD_OUTPUT),
               *given = command_text(line, ROCPD_DIRECTORY);
    char directory[PATH_MAX];
    name = name ? name : getenv("ROCPD_OUTPUT_NAME");
    given = given ? given : getenv("ROCPD_OUTPUT_PATH");
    int status = convert_directory(given ? given : "./rocpd-output-data", directory);
    snprintf(stem, 2 * PATH_MAX, "%s/%s", directory, name ? name : otherwise);
    return status;
}

enum { CONVERT_FORMAT = ROCPD_FIRST, CONVERT_START, CONVERT_END, CONVERT_INDEX, CONVERT_RENAME };

static int rocpd_convert(struct cli_options *line)
{
    char formats[256] = "", stem[2 * PATH_MAX];
    const char *rename = command_text(line, CONVERT_RENAME);
    const char *index = command_text(line, CONVERT_INDEX);
    struct inputs inputs = {0};
    unsigned at = 0;
    for (const char *text; (text = command_next(line, CONVERT_FORMAT, &at));)
        snprintf(formats + strlen(formats), sizeof formats - strlen(formats), "%s%s",
                 *formats ? "," : "", text);
    if (index)
        cli_option_set(line, OPTION_AGENT_INDEX, index);
    if (rename)
        cli_option_set(line, OPTION_KERNEL_RENAME, rename);
    const struct convert_wish wish = {.formats = formats,
                                      .ask = inputs_ask(line),
                                      .begin = command_text(line, CONVERT_START),
                                      .end = command_text(line, CONVERT_END)};
    if (!*formats)
        return refuse(EXIT_USAGE, "convert: which format? (-f csv pftrace otf2 json html)");
    int status = inputs_take(&inputs, line);
    if (status == 0)
        status = stem_make(line, "out", stem);
    if (status == 0)
        status = convert_files(inputs.paths, inputs.count, stem, &wish);
    inputs_free(&inputs);
    return status;
}

static const struct command_option convert_options[] = {
    ROCPD_COMMON,
    [CONVERT_FORMAT] = {"output-format", 'f', OPTION_LIST, "FORMAT ...",
                        "csv, pftrace, otf2, json, html"},
    [CONVERT_START] = {"start", 0, OPTION_TEXT, "NS|N%", "leave out what ended before that time"},
    [CONVERT_END] = {"end", 0, OPTION_TEXT, "NS|N%", "leave out what began after that time"},
    [CONVERT_INDEX] = {"agent-index-value", 0, OPTION_CHOICE, "absolute|relative|type-relative",
                       "how agents are numbered"},
    [CONVERT_RENAME] = {"kernel-rename", 0, OPTION_FLAG, NULL,
                        "kernels by the range that they were launched in"},
    {0},
};
static const struct command rocpd_command_convert = {.tool = "rocpd",
                                                     .lists_go_on = true,
                                                     .name = "convert",
                                                     .operands = "-f FORMAT ... -i FILE ...",
                                                     .help = "databases in other formats",
                                                     .options = convert_options,
                                                     .operands_max = UINT32_MAX,
                                                     .run = rocpd_convert};

static int rocpd_merge(struct cli_options *line)
{
    char stem[2 * PATH_MAX], path[2 * PATH_MAX + 8];
    struct inputs inputs = {0};
    int status = inputs_take(&inputs, line);
    if (status == 0)
        status = stem_make(line, "merged", stem);
    snprintf(path, sizeof path, "%s.db", stem);
    if (status == 0)
        status = merge_database(&inputs, path, false);
    inputs_free(&inputs);
    return status;
}

static const struct command_option merge_options[] = {ROCPD_COMMON, [ROCPD_FIRST] = {0}};
static const struct command rocpd_command_merge = {.tool = "rocpd",
                                                   .lists_go_on = true,
                                                   .name = "merge",
                                                   .operands = "-i FILE ...",
                                                   .help = "several databases as one",
                                                   .options = merge_options,
                                                   .operands_max = UINT32_MAX,
                                                   .run = rocpd_merge};

enum { PACKAGE_CONSOLIDATE = ROCPD_FIRST, PACKAGE_COPY };

static int rocpd_package(struct cli_options *line)
{
    char stem[2 * PATH_MAX], path[2 * PATH_MAX + 8];
    struct inputs inputs = {0};
    int status = inputs_take(&inputs, line);
    if (status == 0)
        status = stem_make(line, "package", stem);
    snprintf(path, sizeof path, "%s.rpdb", stem);
    if (status == 0)
        status = merge_package(&inputs, path,
                               command_flag(line, PACKAGE_CONSOLIDATE) ||
                                   command_flag(line, PACKAGE_COPY));
    inputs_free(&inputs);
    return status;
}

static const struct command_option package_options[] = {
    ROCPD_COMMON,
    [PACKAGE_CONSOLIDATE] = {"consolidate", 'c', OPTION_FLAG, NULL,
                             "copy the databases into the package"},
    [PACKAGE_COPY] = {"copy", 0, OPTION_FLAG, NULL, "the same"},
    {0},
};
static const struct command rocpd_command_package = {.tool = "rocpd",
                                                     .lists_go_on = true,
                                                     .name = "package",
                                                     .operands = "-i FILE ...",
                                                     .help =
                                                         "a list of databases, to be named as one",
                                                     .options = package_options,
                                                     .operands_max = UINT32_MAX,
                                                     .run = rocpd_package};

/* Shared by query and summary: where they print. */
static int sql_print(const struct cli_options *line, const char *sql, const char *format)
{
    char stem[2 * PATH_MAX], path[2 * PATH_MAX + 16] = "";
    enum grid_format grid = format ? grid_format_find(format) : GRID_TABLE;
    bool is_file = command_text(line, ROCPD_OUTPUT) || command_text(line, ROCPD_DIRECTORY);
    struct inputs inputs = {0};
    if (grid == GRID_FORMAT_COUNT)
        return refuse(EXIT_USAGE,
                      "--format: %s is not written (known: console, csv, json, md, html)", format);
    int status = inputs_take(&inputs, line);
    if (status == 0 && is_file)
        status = stem_make(line, "out", stem);
    if (is_file)
        snprintf(path, sizeof path, "%s.%s", stem, format ? format : "txt");
    if (status == 0)
        status = query_inputs(&inputs, sql, is_file ? path : NULL, grid);
    inputs_free(&inputs);
    return status;
}

enum { QUERY_QUERY = ROCPD_FIRST, QUERY_SCRIPT, QUERY_FORMAT };

static int rocpd_query(struct cli_options *line)
{
    const char *query = command_text(line, QUERY_QUERY), *script = command_text(line, QUERY_SCRIPT);
    char *text = script ? query_script_read(script) : NULL, *both = NULL;
    if (script && !text)
        return refuse(EXIT_USAGE, "%s: cannot be read", script);
    int status = !query ? refuse(EXIT_USAGE, "query: which? (--query SQL)") : 0;
    if (status == 0 && asprintf(&both, "%s%s%s", text ? text : "", text ? ";" : "", query) < 0)
        status = refuse(EXIT_FAILED, "out of memory");
    if (status == 0)
        status = sql_print(line, both, command_text(line, QUERY_FORMAT));
    free(text);
    free(both);
    return status;
}

static const struct command_option query_options[] = {
    ROCPD_COMMON,
    [QUERY_QUERY] = {"query", 0, OPTION_TEXT, "SQL", "what is asked"},
    [QUERY_SCRIPT] = {"script", 0, OPTION_TEXT, "FILE", "statements that are run before"},
    [QUERY_FORMAT] = {"format", 'f', OPTION_TEXT, "FORMAT", "console, csv, json, md or html"},
    {0},
};
static const struct command rocpd_command_query = {.tool = "rocpd",
                                                   .lists_go_on = true,
                                                   .name = "query",
                                                   .operands = "--query SQL -i FILE ...",
                                                   .help = "databases asked in SQL",
                                                   .options = query_options,
                                                   .operands_max = UINT32_MAX,
                                                   .run = rocpd_query};

enum { SUMMARY_FORMAT = ROCPD_FIRST, SUMMARY_DOMAIN, SUMMARY_RANK };

/* Everything that took time, by name. */
#define WORK                                                                                       \
    "WITH work AS (SELECT 'KERNEL_DISPATCH' AS domain, name, duration, pid FROM kernels UNION "    \
    "ALL "                                                                                         \
    "SELECT 'MEMORY_COPY', name, duration, pid FROM memory_copies UNION ALL SELECT category, "     \
    "coalesce(json_extract(extdata, '$.message'), name), duration, pid FROM regions) "
#define TIMES                                                                                      \
    "COUNT(*) AS calls, SUM(duration) AS duration_ns, AVG(duration) AS average_ns, "               \
    "SUM(duration) * 100.0 / SUM(SUM(duration)) OVER () AS percent, MIN(duration) AS min_ns, "     \
    "MAX(duration) AS max_ns FROM work "

static int rocpd_summary(struct cli_options *line)
{
    static const char *const questions[] = {
        WORK "SELECT name, domain, " TIMES "GROUP BY domain, name ORDER BY duration_ns DESC",
        WORK "SELECT domain, " TIMES "GROUP BY domain ORDER BY duration_ns DESC",
        WORK "SELECT pid, name, domain, " TIMES
             "GROUP BY pid, domain, name ORDER BY pid, duration_ns DESC"};
    int which = command_flag(line, SUMMARY_RANK) ? 2 : command_flag(line, SUMMARY_DOMAIN) ? 1 : 0;
    return sql_print(line, questions[which], command_text(line, SUMMARY_FORMAT));
}

static const struct command_option summary_options[] = {
    ROCPD_COMMON,
    [SUMMARY_FORMAT] = {"format", 'f', OPTION_TEXT, "FORMAT", "console, csv, json, md or html"},
    [SUMMARY_DOMAIN] = {"domain-summary", 0, OPTION_FLAG, NULL, "a line for each domain"},
    [SUMMARY_RANK] = {"summary-by-rank", 0, OPTION_FLAG, NULL, "lines for each process"},
    {0},
};
static const struct command rocpd_command_summary = {.tool = "rocpd",
                                                     .lists_go_on = true,
                                                     .name = "summary",
                                                     .operands = "-i FILE ...",
                                                     .help = "what took the time",
                                                     .options = summary_options,
                                                     .operands_max = UINT32_MAX,
                                                     .run = rocpd_summary};

const struct command *const rocpd_commands_table[] = {&rocpd_command_convert, &rocpd_command_merge,
                                                      &rocpd_command_package, &rocpd_command_query,
                                                      &rocpd_command_summary, NULL};

static int help_print(void)
{
    puts("usage: rocpd COMMAND [options] -i FILE ...\n");
    for (const struct command *const *at = rocpd_commands_table; *at; at++)
        printf("  %-10s %s\n", (*at)->name, (*at)->help);
    puts(
        "\n'rocpd COMMAND --help' shows the options. These are commands of crocprof, by the names\n"
        "and with the options of ROCm's rocpd.");
    return 0;
}

/* `-i A B C` and `-f a b` are lists without "--" here: one is put in front of operands that follow.
 */
int rocpd_run(int count, char **words)
{
    const char *name = count > 1 ? words[1] : NULL;
    if (!name || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return name ? help_print() : refuse(EXIT_USAGE, "rocpd: which command? (see rocpd --help)");
    if (strcmp(name, "--version") == 0 || strcmp(name, "-v") == 0)
        return puts("rocpd of crocprof " CROCPROF_VERSION) < 0;
    const struct command *command = command_find(rocpd_commands_table, name);
    const char *nearest = command_nearest(rocpd_commands_table, name);
    if (command)
        return command_run(command, count - 1, words + 1);
    if (nearest)
        return refuse(EXIT_USAGE, "rocpd: there is no command %s (did you mean %s?)", name,
                      nearest);
    return refuse(EXIT_USAGE, "rocpd: there is no command %s (see rocpd --help)", name);
}
