/* rocpd: the commands of ROCm's program of that name, with its options, on top of ours. */
#include <sqlite3.h>
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

/* A time window, behind the common options of the commands that know one. */
enum {
    ROCPD_START = ROCPD_FIRST,
    ROCPD_END,
    ROCPD_START_MARKER,
    ROCPD_END_MARKER,
    ROCPD_INCLUSIVE,
    ROCPD_WINDOWED
};
#define ROCPD_WINDOW                                                                               \
    [ROCPD_START] = {"start", 0, OPTION_TEXT, "NS|N%", "leave out what ended before that time"},   \
    [ROCPD_END] = {"end", 0, OPTION_TEXT, "NS|N%", "leave out what began after that time"},        \
    [ROCPD_START_MARKER] = {"start-marker", 0, OPTION_TEXT, "TEXT",                                \
                            "leave out what ended before that marker"},                            \
    [ROCPD_END_MARKER] = {"end-marker", 0, OPTION_TEXT, "TEXT",                                    \
                          "leave out what began after that marker"},                               \
    [ROCPD_INCLUSIVE] = {"inclusive", 0, OPTION_TEXT, "true|false",                                \
                         "false: only what neither begins before nor ends after (true)"}

/* An exit status, after a line for what contradicts itself. */
static int window_take(const struct cli_options *line, struct window *window)
{
    const char *name = line->of->name, *inclusive = command_text(line, ROCPD_INCLUSIVE);
    bool is_inclusive = true;
    *window = (struct window){.begin = command_text(line, ROCPD_START),
                              .end = command_text(line, ROCPD_END),
                              .begin_marker = command_text(line, ROCPD_START_MARKER),
                              .end_marker = command_text(line, ROCPD_END_MARKER)};
    if (window->begin && window->begin_marker)
        return refuse(EXIT_USAGE, "%s: one of --start and --start-marker", name);
    if (window->end && window->end_marker)
        return refuse(EXIT_USAGE, "%s: one of --end and --end-marker", name);
    if (inclusive && !settings_truth(inclusive, &is_inclusive))
        return refuse(EXIT_USAGE, "--inclusive: %s is neither true nor false", inclusive);
    window->is_within = !is_inclusive;
    return 0;
}

enum {
    CONVERT_FORMAT = ROCPD_WINDOWED,
    CONVERT_AUTOMERGE,
    CONVERT_INDEX,
    CONVERT_RENAME,
    CONVERT_QUEUE, /* from here on they change nothing */
    CONVERT_BACKEND,
    CONVERT_POLICY,
    CONVERT_BUFFER,
    CONVERT_SHARED
};

/* Options for a trace library that is not ours: taken, so that scripts run, and answered. */
static int moot_take(const struct cli_options *line)
{
    static const char *const why[] = {
        [CONVERT_QUEUE] = "kernels are always shown by queue",
        [CONVERT_BACKEND] = "traces go to files only",
        [CONVERT_POLICY] = "traces are streamed to their file, nothing is discarded",
        [CONVERT_BUFFER] = "traces are streamed to their file, nothing is discarded",
        [CONVERT_SHARED] = "traces are streamed to their file, there is no shared memory"};
    uint64_t buffer_kib = command_number(line, CONVERT_BUFFER, 1);
    if (buffer_kib < 1 || buffer_kib > 4194303)
        return refuse(EXIT_USAGE, "--perfetto-buffer-size: from 1 to 4194303");
    for (int i = CONVERT_QUEUE; i <= CONVERT_SHARED; i++)
        if (command_text(line, i))
            fprintf(stderr, "crocprof: --%s changes nothing: %s\n", line->of->options[i].name,
                    why[i]);
    return 0;
}

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
    struct convert_wish wish = {
        .formats = formats,
        .ask = inputs_ask(line),
    };
    if (!*formats)
        return refuse(EXIT_USAGE, "convert: which format? (-f csv pftrace otf2 json html)");
    uint64_t limit = command_number(line, CONVERT_AUTOMERGE, 1);
    if (limit < 1 || limit > 8)
        return refuse(EXIT_USAGE, "--automerge-limit: from 1 to 8");
    int status = window_take(line, &wish.window);
    if (status == 0)
        status = moot_take(line);
    if (status == 0)
        status = inputs_take(&inputs, line);
    if (status == 0)
        status = stem_make(line, "out", stem);
    if (status == 0)
        status = convert_files(inputs.paths, inputs.count, stem, &wish);
    inputs_free(&inputs);
    return status;
}

static const struct command_option convert_options[] = {
    ROCPD_COMMON,
    ROCPD_WINDOW,
    [CONVERT_FORMAT] = {"output-format", 'f', OPTION_LIST, "FORMAT ...",
                        "csv, pftrace, otf2, json, html"},
    [CONVERT_AUTOMERGE] =
        {"automerge-limit", 0, OPTION_NUMBER, "N",
         "taken from 1 to 8, for scripts: databases are read one after the other, "
         "however many there are"},
    [CONVERT_INDEX] = {"agent-index-value", 0, OPTION_CHOICE, "absolute|relative|type-relative",
                       "how agents are numbered"},
    [CONVERT_RENAME] = {"kernel-rename", 0, OPTION_FLAG, NULL,
                        "kernels by the range that they were launched in"},
    [CONVERT_QUEUE] = {"group-by-queue", 0, OPTION_FLAG, NULL,
                       "changes nothing: kernels are always shown by queue"},
    [CONVERT_BACKEND] = {"perfetto-backend", 0, OPTION_CHOICE, "inprocess",
                         "changes nothing: traces go to files only"},
    [CONVERT_POLICY] = {"perfetto-buffer-fill-policy", 0, OPTION_CHOICE, "discard|ring_buffer",
                        "changes nothing, as the following: traces are streamed to their file"},
    [CONVERT_BUFFER] = {"perfetto-buffer-size", 0, OPTION_NUMBER, "KB", "changes nothing"},
    [CONVERT_SHARED] = {"perfetto-shmem-size-hint", 0, OPTION_NUMBER, "KB", "changes nothing"},
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

/* What rocpd writes and we do not: with what to do instead. */
static int format_refuse(const char *format)
{
    static const struct {
        const char *format, *instead;
    } others[] = {
        {"pdf", "write html and print that to a file from a browser"},
        {"clipboard", "write csv and pipe it into xclip, wl-copy or whatever your desktop has"},
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(others[i].format, format) == 0)
            return refuse(EXIT_USAGE, "--format: %s is not written: %s", format, others[i].instead);
    return refuse(EXIT_USAGE,
                  "--format: %s is not written (known: console, csv, json, md, html, dashboard)",
                  format);
}

/* Shared by query and summary: where they print. */
static int sql_print(const struct cli_options *line, const char *sql, const char *format)
{
    char stem[2 * PATH_MAX], path[2 * PATH_MAX + 16] = "";
    bool is_dashboard = format && strcmp(format, "dashboard") == 0; /* a page of a table, too */
    enum grid_format grid = is_dashboard ? GRID_HTML
                            : format     ? grid_format_find(format)
                                         : GRID_TABLE;
    bool is_file =
        command_text(line, ROCPD_OUTPUT) || command_text(line, ROCPD_DIRECTORY) || is_dashboard;
    struct inputs inputs = {0};
    struct window window;
    if (grid == GRID_FORMAT_COUNT)
        return format_refuse(format);
    int status = window_take(line, &window);
    if (status == 0)
        status = inputs_take(&inputs, line);
    if (status == 0 && is_file)
        status = stem_make(line, "out", stem);
    if (is_file)
        snprintf(path, sizeof path, "%s.%s", stem, is_dashboard ? "html" : format ? format : "txt");
    if (status == 0)
        status = query_inputs(&inputs, &window, sql, is_file ? path : NULL, grid);
    inputs_free(&inputs);
    return status;
}

enum { QUERY_QUERY = ROCPD_WINDOWED, QUERY_SCRIPT, QUERY_FORMAT, QUERY_TEMPLATE, QUERY_MAIL };
enum { QUERY_MAIL_OPTIONS = 9 };

static int rocpd_query(struct cli_options *line)
{
    const char *query = command_text(line, QUERY_QUERY), *script = command_text(line, QUERY_SCRIPT);
    for (int i = 0; i < QUERY_MAIL_OPTIONS; i++)
        if (command_text(line, QUERY_MAIL + i))
            return refuse(EXIT_USAGE,
                          "query: sends no mail: write a file (-o) and give it to your mailer");
    if (command_text(line, QUERY_TEMPLATE))
        return refuse(EXIT_USAGE, "query: reads no templates: write json and fill yours with that");
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
    ROCPD_WINDOW,
    [QUERY_QUERY] = {"query", 0, OPTION_TEXT, "SQL", "what is asked"},
    [QUERY_SCRIPT] = {"script", 0, OPTION_TEXT, "FILE", "statements that are run before"},
    [QUERY_FORMAT] = {"format", 'f', OPTION_TEXT, "FORMAT",
                      "console, csv, json, md, html or dashboard"},
    [QUERY_TEMPLATE] = {"template-path", 0, OPTION_TEXT, "FILE", "refused: write json"},
    [QUERY_MAIL] = {"email-to", 0, OPTION_TEXT, "ADDRESS",
                    "refused, as the following: no mail is sent"},
    {"email-from", 0, OPTION_TEXT, "ADDRESS", "refused"},
    {"email-subject", 0, OPTION_TEXT, "TEXT", "refused"},
    {"smtp-server", 0, OPTION_TEXT, "HOST", "refused"},
    {"smtp-port", 0, OPTION_TEXT, "PORT", "refused"},
    {"smtp-user", 0, OPTION_TEXT, "NAME", "refused"},
    {"smtp-password", 0, OPTION_TEXT, "WORD", "refused"},
    {"zip-attachments", 0, OPTION_FLAG, NULL, "refused"},
    {"inline-preview", 0, OPTION_FLAG, NULL, "refused"},
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

enum {
    SUMMARY_FORMAT = ROCPD_WINDOWED,
    SUMMARY_DOMAIN,
    SUMMARY_RANK,
    SUMMARY_CATEGORIES,
    SUMMARY_MANGLED,
    SUMMARY_TRUNCATED
};

/* Everything that took time, by name. */
#define WORK                                                                                       \
    "WITH work AS (SELECT 'KERNEL_DISPATCH' AS domain, %s AS name, duration, pid FROM kernels K "  \
    "UNION ALL SELECT 'MEMORY_COPY', name, duration, pid FROM memory_copies UNION ALL SELECT "     \
    "category, coalesce(json_extract(extdata, '$.message'), name), duration, pid FROM regions) "
#define TIMES                                                                                      \
    "COUNT(*) AS calls, SUM(duration) AS duration_ns, AVG(duration) AS average_ns, "               \
    "SUM(duration) * 100.0 / SUM(SUM(duration)) OVER () AS percent, MIN(duration) AS min_ns, "     \
    "MAX(duration) AS max_ns FROM work "

/* "HIP" means HIP_RUNTIME_API_EXT and all others that begin so, "kernels" KERNEL_DISPATCH. */
static void category_add(sqlite3_str *sql, const char *category)
{
    int length = (int)strlen(category);
    if (sqlite3_stricmp(category, "kernels") == 0)
        length--;
    else if (sqlite3_stricmp(category, "memory_copies") == 0)
        length = (int)strlen(category = "memory_copy");
    sqlite3_str_appendf(sql, "upper(substr(domain || '_', 1, %d)) = upper('%.*q_')", length + 1,
                        length, category);
}

/* Which domains are shown. NONE: all but those of calls and markers. */
static void categories_add(sqlite3_str *sql, const struct cli_options *line)
{
    const char *category = command_text(line, SUMMARY_CATEGORIES);
    unsigned at = 0;
    if (!category)
        return;
    if (sqlite3_stricmp(category, "NONE") == 0) {
        sqlite3_str_appendall(sql, "WHERE domain IN ('KERNEL_DISPATCH', 'MEMORY_COPY') ");
        return;
    }
    const char *word = "WHERE (";
    while ((category = command_next(line, SUMMARY_CATEGORIES, &at))) {
        sqlite3_str_appendall(sql, word);
        category_add(sql, category);
        word = " OR ";
    }
    sqlite3_str_appendall(sql, ") ");
}

static const char *kernel_name(const struct cli_options *line)
{
#define SYMBOLS(column)                                                                            \
    "coalesce((SELECT " column " FROM kernel_symbols S WHERE S.id = K.kernel_id AND S.guid = "     \
    "K.guid), K.name)"
    return command_flag(line, SUMMARY_MANGLED)     ? SYMBOLS("S.kernel_name")
           : command_flag(line, SUMMARY_TRUNCATED) ? SYMBOLS("S.truncated_kernel_name")
                                                   : "K.name";
#undef SYMBOLS
}

static int rocpd_summary(struct cli_options *line)
{
    static const struct {
        const char *columns, *groups;
    } tables[] = {{"name, domain, ", "domain, name ORDER BY duration_ns DESC"},
                  {"domain, ", "domain ORDER BY duration_ns DESC"},
                  {"pid, name, domain, ", "pid, domain, name ORDER BY pid, duration_ns DESC"}};
    int which = command_flag(line, SUMMARY_RANK) ? 2 : command_flag(line, SUMMARY_DOMAIN) ? 1 : 0;
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendf(sql, WORK "SELECT %s" TIMES, kernel_name(line), tables[which].columns);
    categories_add(sql, line);
    sqlite3_str_appendf(sql, "GROUP BY %s", tables[which].groups);
    char *text = sqlite3_str_finish(sql);
    int status = text ? sql_print(line, text, command_text(line, SUMMARY_FORMAT))
                      : refuse(EXIT_FAILED, "out of memory");
    sqlite3_free(text);
    return status;
}

static const struct command_option summary_options[] = {
    ROCPD_COMMON,
    ROCPD_WINDOW,
    [SUMMARY_FORMAT] = {"format", 'f', OPTION_TEXT, "FORMAT", "console, csv, json, md or html"},
    [SUMMARY_DOMAIN] = {"domain-summary", 0, OPTION_FLAG, NULL, "a line for each domain"},
    [SUMMARY_RANK] = {"summary-by-rank", 0, OPTION_FLAG, NULL, "lines for each process"},
    [SUMMARY_CATEGORIES] = {"region-categories", 0, OPTION_LIST, "NAME ...",
                            "only domains that are called or begin so (kernel, memory_copy, HIP, "
                            "HSA, MARKER ...); NONE: no calls and markers"},
    [SUMMARY_MANGLED] = {"mangled-kernels", 0, OPTION_FLAG, NULL, "kernels by their symbols"},
    [SUMMARY_TRUNCATED] = {"truncate-kernels", 0, OPTION_FLAG, NULL,
                           "kernels without templates and arguments"},
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
    puts("usage: rocpd COMMAND [options] -i FILE ...\n\nCommands");
    for (const struct command *const *at = rocpd_commands_table; *at; at++)
        printf("  %-10s %s\n", (*at)->name, (*at)->help);
    puts("\nOptions\n"
         "  -h, --help     shows the commands, or a command's options\n"
         "  -v, --version  shows the version\n\n"
         "'rocpd COMMAND --help' shows the options. These are commands of crocprof, by the names\n"
         "and with the options of ROCm's rocpd.");
    return 0;
}

/* Programs that are one of its commands, with a format. */
static const struct {
    const char *name, *command, *format;
} wrappers[] = {{"rocpd2csv", "convert", "--output-format=csv"},
                {"rocpd2otf2", "convert", "--output-format=otf2"},
                {"rocpd2pftrace", "convert", "--output-format=pftrace"},
                {"rocpd2summary", "summary", NULL}};
enum { WRAPPERS = sizeof wrappers / sizeof wrappers[0] };

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool rocpd_is(const char *program)
{
    const char *name = base_name(program);
    bool is_ours = strcmp(name, "rocpd") == 0;
    for (int i = 0; i < WRAPPERS; i++)
        is_ours = is_ours || strcmp(name, wrappers[i].name) == 0;
    return is_ours;
}

/* The line that rocpd would get: the command, its format in front of what was said. */
static int wrapper_run(int which, int count, char **words)
{
    char **line = calloc((size_t)count + 4, sizeof *line);
    int length = 0;
    if (!line)
        return refuse(EXIT_FAILED, "out of memory");
    line[length++] = (char *)(uintptr_t)wrappers[which].command;
    if (wrappers[which].format) {
        line[length++] = (char *)(uintptr_t)wrappers[which].format;
        if (count > 1 && words[1][0] != '-') /* a file, and no second format */
            line[length++] = (char *)(uintptr_t) "-i";
    }
    for (int i = 1; i < count; i++)
        line[length++] = words[i];
    int status = command_run(command_find(rocpd_commands_table, line[0]), length, line);
    free(line);
    return status;
}

/* `-i A B C` and `-f a b` are lists without "--" here: one is put in front of operands that follow.
 */
int rocpd_run(int count, char **words)
{
    const char *name = count > 1 ? words[1] : NULL;
    for (int i = 0; i < WRAPPERS; i++)
        if (count > 0 && strcmp(base_name(words[0]), wrappers[i].name) == 0)
            return wrapper_run(i, count, words);
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
