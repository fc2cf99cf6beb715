/* `convert`: recordings in other formats. The rows are those that `record` hands to the writers. */
#include <errno.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/refuse.h"
#include "cli/unfinished.h"
#include "convert.h"
#include "gather.h"
#include "inputs.h"
#include "launch/keys.h"
#include "longest.h"
#include "merge.h"
#include "out/html/html.h"
#include "out/journal.h"
#include "out/out.h"
#include "out/place.h"
#include "out/process.h"
#include "ranks.h"
#include "table.h"

enum { SINKS_MAX = 8 };
/* Of one process: rows that are compared stay in memory, which has a bound (256 MB). */
enum { LONGEST_MAX = 700000 };

struct known;

struct conversion {
    struct {
        const struct out_ops *ops;
        struct out_sink *sink;
    } sinks[SINKS_MAX];
    unsigned count;
    struct gather gather, own;         /* of everything; of the process whose rows come */
    const struct recording_part *part; /* whose rows came last */
    struct known *known;
    unsigned file; /* how many were read before */
    bool wants_stats;
    bool gathers, gathers_own; /* own: some format has statistics of each process */
    struct job *job;           /* NULL: none */
    struct longest longest;    /* of one process, if a page cannot have all rows */
    bool is_short;
};

static bool is_page(const struct conversion *conversion, unsigned sink)
{
    return conversion->sinks[sink].ops == &out_html_ops;
}

static void stats_put(void *data, enum out_table_id table, const void *row)
{
    const struct conversion *conversion = data;
    for (unsigned i = 0; i < conversion->count; i++)
        if (!conversion->sinks[i].ops->has_statistics &&
            (conversion->wants_stats || (conversion->is_short && is_page(conversion, i))))
            conversion->sinks[i].ops->row(conversion->sinks[i].sink, table, row);
}

static void own_stats_put(void *data, enum out_table_id table, const void *row)
{
    const struct conversion *conversion = data;
    for (unsigned i = 0; i < conversion->count; i++)
        if (conversion->sinks[i].ops->has_statistics)
            conversion->sinks[i].ops->row(conversion->sinks[i].sink, table, row);
}

/* No more rows of that process come. */
static void own_finish(struct conversion *conversion)
{
    if (!conversion->gathers_own)
        return;
    gather_stats_each(&conversion->own, own_stats_put, conversion);
    gather_end(&conversion->own);
    conversion->gathers_own = gather_begin(&conversion->own) == 0;
}

static void row_put(struct conversion *conversion, enum out_table_id table, const void *row)
{
    for (unsigned i = 0; i < conversion->count; i++)
        if (!conversion->is_short || !is_page(conversion, i) || table == OUT_AGENT_INFO)
            conversion->sinks[i].ops->row(conversion->sinks[i].sink, table, row);
    if (conversion->is_short)
        longest_row(&conversion->longest, table, row);
}

static void page_row_put(void *data, enum out_table_id table, const void *row)
{
    struct conversion *conversion = data;
    for (unsigned i = 0; i < conversion->count; i++)
        if (is_page(conversion, i))
            conversion->sinks[i].ops->row(conversion->sinks[i].sink, table, row);
}

/* Whose rows come; found again by its address, which stays. Texts are the recording's. */
struct known {
    struct known *next;
    const struct recording_part *part;
    unsigned file; /* an address may be another one's in the next file */
    struct out_process process;
};

static const char *thread_name(const void *of, uint64_t thread_id)
{
    return recording_thread_name(of, thread_id);
}

static struct known *known_make(struct conversion *conversion, const struct recording_part *part)
{
    struct known *known = calloc(1, sizeof *known);
    if (!known)
        return NULL;
    *known = (struct known){.next = conversion->known,
                            .part = part,
                            .file = conversion->file,
                            .process = {.pid = part->pid,
                                        .ppid = part->ppid,
                                        .rank = part->rank,
                                        .init_ns = part->init_ns,
                                        .fini_ns = part->fini_ns,
                                        .command = part->command,
                                        .environment = part->environment,
                                        .hostname = part->hostname,
                                        .machine_id = part->machine_id,
                                        .extdata = part->extdata,
                                        .thread_name = thread_name,
                                        .of = part}};
    conversion->known = known;
    return known;
}

/* Writers are told whose the rows are. */
static void process_tell(struct conversion *conversion, const struct recording_part *part)
{
    struct known *known = conversion->known;
    own_finish(conversion);
    while (known && (known->part != part || known->file != conversion->file))
        known = known->next;
    if (!known)
        known = known_make(conversion, part);
    conversion->part = part;
    if (known)
        out_process_set(&known->process);
}

static void known_free(struct conversion *conversion)
{
    for (struct known *known = conversion->known, *next; known; known = next) {
        next = known->next;
        free(known);
    }
}

static int row_take(void *data, const struct recording_part *part, enum out_table_id table,
                    const void *row)
{
    struct conversion *conversion = data;
    if (part != conversion->part)
        process_tell(conversion, part);
    if (conversion->gathers)
        gather_row(&conversion->gather, table, row);
    if (conversion->gathers_own)
        gather_row(&conversion->own, table, row);
    if (conversion->job)
        job_row(conversion->job, table, row);
    row_put(conversion, table, row);
    return 0;
}

/* All formats get the same number behind their name: the first that nobody has. */
static int sink_open(struct conversion *conversion, const struct out_ops *ops, const char *stem,
                     unsigned *number)
{
    char prefix[PATH_MAX], error[PATH_MAX + 200];
    int status;
    do {
        status = place_prefix(stem, *number, prefix);
        snprintf(error, sizeof error, "%s: %s", stem, strerror(-status));
        if (status == 0)
            status =
                ops->open(prefix, &conversion->sinks[conversion->count].sink, error, sizeof error);
    } while (status == -EEXIST && (*number)++ < PLACE_NUMBER_MAX);
    if (status != 0)
        return refuse(EXIT_FAILED, "%s", error);
    conversion->sinks[conversion->count++].ops = ops;
    return 0;
}

static int sinks_open(struct conversion *conversion, const char *formats, const char *stem,
                      char prefix[PATH_MAX])
{
    char name[32], known[200] = "";
    unsigned number = place_number(stem);
    int status = 0;
    while (status == 0 && settings_list_next(&formats, name, sizeof name)) {
        const struct out_ops *ops = out_find(name);
        out_names(known, sizeof known);
        if (!ops)
            status = refuse(EXIT_USAGE, "unknown format %s (known: %s)", name, known);
        else if (conversion->count == SINKS_MAX)
            status = refuse(EXIT_USAGE, "at most %d formats", SINKS_MAX);
        else
            status = sink_open(conversion, ops, stem, &number);
    }
    place_prefix(stem, number, prefix);
    return status;
}

static int sinks_close(struct conversion *conversion)
{
    char error[PATH_MAX + 200];
    int status = 0;
    for (unsigned i = 0; i < conversion->count; i++)
        if (conversion->sinks[i].ops->close(conversion->sinks[i].sink, error, sizeof error) != 0)
            status = refuse(EXIT_FAILED, "%s", error);
    conversion->count = 0;
    return status;
}

static int left_out(const char *why)
{
    fprintf(stderr, "crocprof: left out: %s\n", why);
    return EXIT_FAILED;
}

/* One process of a job. */
static int part_convert(struct conversion *conversion, struct recording *recording,
                        struct recording_ask *ask)
{
    char error[PATH_MAX + 200];
    struct alignment alignment;
    const char *path = recording_path(recording);
    int status = job_part_begin(conversion->job, path, recording, ask->part, &alignment);
    if (status == -EEXIST) {
        snprintf(error, sizeof error, "%s: this recording is there already", path);
        return left_out(error);
    }
    if (status != 0)
        return refuse(EXIT_FAILED, "%s: %s", path, strerror(-status));
    ask->alignment = &alignment;
    process_tell(conversion, ask->part);
    if (recording_each(recording, ask, row_take, conversion, error, sizeof error) != 0)
        status = refuse(EXIT_FAILED, "%s", error);
    job_part_end(conversion->job);
    longest_each(&conversion->longest, page_row_put, conversion);
    return status;
}

static int parts_convert(struct conversion *conversion, struct recording *recording,
                         struct recording_ask *ask)
{
    int result = 0;
    for (unsigned i = 0; i < recording_part_count(recording); i++) {
        ask->part = recording_part(recording, i);
        int status = part_convert(conversion, recording, ask);
        result = status ? status : result;
    }
    return result;
}

static int file_convert(struct conversion *conversion, const char *path,
                        const struct convert_wish *wish)
{
    char error[PATH_MAX + 200];
    struct recording *recording;
    struct recording_ask ask = wish->ask;
    if (recording_open(&recording, path, error, sizeof error) != 0)
        return conversion->job ? left_out(error) : refuse(EXIT_FAILED, "%s", error);
    for (unsigned i = 0; i < conversion->count; i++)
        ask.has_arguments = ask.has_arguments || conversion->sinks[i].ops->has_arguments;
    int status = window_read(&wish->window, &recording, 1, &ask);
    gather_recording(&conversion->gather);
    conversion->part = NULL;
    conversion->file++;
    if (status == 0 && conversion->job)
        status = parts_convert(conversion, recording, &ask);
    else if (status == 0 &&
             recording_each(recording, &ask, row_take, conversion, error, sizeof error) != 0)
        status = refuse(EXIT_FAILED, "%s", error);
    inputs_damage_tell(recording);
    for (struct known *known = conversion->known; known; known = known->next)
        known->process.thread_name = NULL; /* its recording goes */
    recording_close(recording);
    return status;
}

static int files_convert(struct conversion *conversion, char *const *paths, unsigned count,
                         const struct convert_wish *wish)
{
    int result = 0;
    for (unsigned i = 0; i < count; i++) {
        int status = file_convert(conversion, paths[i], wish);
        result = status ? status : result;
    }
    if (conversion->gathers)
        gather_stats_each(&conversion->gather, stats_put, conversion);
    own_finish(conversion);
    for (unsigned i = 0; i < conversion->count && conversion->job; i++)
        if (is_page(conversion, i))
            ranks_page(conversion->job, conversion->sinks[i].sink);
    return result;
}

/* ---- jobs whose rows are too many for a page */

/* As many rows as its ids say, which are given one by one. */
static uint64_t rows_of(const char *path, unsigned *parts)
{
    char error[PATH_MAX + 200];
    struct recording *recording;
    uint64_t rows = 0;
    if (recording_open(&recording, path, error, sizeof error) != 0)
        return 0; /* which is said when it is read */
    for (unsigned i = 0; i < recording_part_count(recording); i++) {
        struct sqlite3_stmt *select = recording_prepare(
            recording, recording_part(recording, i),
            "SELECT coalesce((SELECT max(id) FROM \"rocpd_region{S}\"), 0) + coalesce((SELECT "
            "max(id) FROM \"rocpd_kernel_dispatch{S}\"), 0) + coalesce((SELECT max(id) FROM "
            "\"rocpd_memory_copy{S}\"), 0)",
            error, sizeof error);
        if (select && sqlite3_step(select) == SQLITE_ROW)
            rows += (uint64_t)sqlite3_column_int64(select, 0);
        sqlite3_finalize(select);
        ++*parts;
    }
    recording_close(recording);
    return rows;
}

static int page_limit(struct conversion *conversion, char *const *paths, unsigned count,
                      uint64_t page_rows)
{
    uint64_t rows = 0;
    unsigned parts = 0;
    bool has_page = false;
    for (unsigned i = 0; i < conversion->count; i++)
        has_page = has_page || is_page(conversion, i);
    for (unsigned i = 0; i < count && has_page; i++)
        rows += rows_of(paths[i], &parts);
    if (rows <= page_rows || parts == 0)
        return 0;
    conversion->is_short = conversion->gathers = true;
    for (unsigned i = 0; i < conversion->count; i++)
        if (is_page(conversion, i))
            out_html_short(conversion->sinks[i].sink);
    uint64_t room = page_rows / parts;
    return longest_begin(&conversion->longest, (uint32_t)(room < LONGEST_MAX ? room : LONGEST_MAX));
}

/* The first that can be read; NULL: none can. */
static struct recording *first_open(char *const *paths, unsigned count, bool is_job)
{
    char error[PATH_MAX + 200] = "";
    struct recording *first = NULL;
    unsigned i = 0;
    while (i < count && recording_open(&first, paths[i], error, sizeof error) != 0 && is_job)
        i++;
    if (!first)
        refuse(EXIT_FAILED, "%s", error);
    return first;
}

static unsigned parts_count(char *const *paths, unsigned count)
{
    char error[PATH_MAX + 200];
    struct recording *recording;
    unsigned parts = 0;
    for (unsigned i = 0; i < count; i++)
        if (recording_open(&recording, paths[i], error, sizeof error) == 0) {
            parts += recording_part_count(recording);
            recording_close(recording);
        }
    return parts;
}

static bool has_rocpd(const char *formats)
{
    char name[32];
    while (settings_list_next(&formats, name, sizeof name))
        if (out_find(name) == &out_rocpd_ops)
            return true;
    return false;
}

/* A database's writer knows one process; those of several are put together as merge does. */
static int databases_convert(char *const *paths, unsigned count, const char *stem,
                             const struct convert_wish *wish)
{
    const struct inputs inputs = {.paths = (char **)(uintptr_t)paths, .count = count};
    char path[PATH_MAX + 16];
    if (strchr(wish->formats, ',') || strchr(wish->formats, ' ') || !window_is_whole(&wish->window))
        return refuse(EXIT_USAGE,
                      "rocpd of several processes comes alone and whole (crocprof merge)");
    snprintf(path, sizeof path, "%s_results.db", stem);
    return merge_database(&inputs, path, false);
}

int convert_files(char *const *paths, unsigned count, const char *stem,
                  const struct convert_wish *wish)
{
    if (has_rocpd(wish->formats) && parts_count(paths, count) > 1)
        return databases_convert(paths, count, stem, wish);
    struct conversion conversion = {
        .wants_stats = wish->wants_stats, .gathers = wish->wants_stats, .job = wish->job};
    char prefix[PATH_MAX] = "";
    struct recording *first = first_open(paths, count, wish->job != NULL);
    int status = first ? 0 : EXIT_FAILED;
    if (first)
        process_tell(&conversion, recording_part(first, 0));
    const struct out_process *of_first = out_process();
    if (status == 0)
        status = sinks_open(&conversion, wish->formats, stem, prefix);
    for (unsigned i = 0; i < conversion.count; i++)
        conversion.gathers_own = conversion.gathers_own || conversion.sinks[i].ops->has_statistics;
    if (status == 0 &&
        (gather_begin(&conversion.gather) != 0 || gather_begin(&conversion.own) != 0 ||
         (wish->page_rows && page_limit(&conversion, paths, count, wish->page_rows) != 0)))
        status = refuse(EXIT_FAILED, "out of memory");
    if (status == 0)
        status = files_convert(&conversion, paths, count, wish);
    out_process_set(of_first); /* whose texts are still there */
    int closed = sinks_close(&conversion);
    gather_end(&conversion.gather);
    gather_end(&conversion.own);
    longest_end(&conversion.longest);
    out_process_set(NULL);
    recording_close(first);
    known_free(&conversion);
    status = status ? status : closed;
    if (status == 0 || (closed == 0 && wish->job && *prefix))
        fprintf(stderr, "crocprof: %s_*\n", prefix);
    return status;
}

/* "DIR/NAME_results.db" is called DIR/NAME. */
static void stem_of(const char *path, const char *directory, char stem[PATH_MAX])
{
    static const char *const ends[] = {"_results.db", JOURNAL_END, ".db"};
    const char *slash = strrchr(path, '/');
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (length > strlen(ends[i]) && strcmp(path + length - strlen(ends[i]), ends[i]) == 0) {
            length -= strlen(ends[i]);
            break;
        }
    const char *name = directory && slash ? slash + 1 : path;
    int used = directory ? snprintf(stem, PATH_MAX, "%s/", directory) : 0;
    size_t room = PATH_MAX - (size_t)used, bytes = length - (size_t)(name - path) + 1;
    snprintf(stem + used, bytes < room ? bytes : room, "%s", name);
}

/* The rows of a killed process have no number behind their name yet. */
static int rows_convert(const char *path, const char *directory, const char *named,
                        const struct convert_wish *wish)
{
    char stem[PATH_MAX], prefix[PATH_MAX];
    stem_of(path, directory, stem);
    const char *of = named ? named : stem;
    if (place_prefix(of, place_number(of), prefix) != 0)
        return refuse(EXIT_USAGE, "%s: %s", of, strerror(ENAMETOOLONG));
    return unfinished_convert(path, wish->formats, prefix);
}

int convert_directory(const char *given, char directory[PATH_MAX])
{
    int status = keys_expand(given, directory, PATH_MAX);
    if (status == 0)
        status = place_directory_make(directory);
    return status == 0 ? 0 : refuse(EXIT_USAGE, "%s: %s", given, strerror(-status));
}

enum { CONVERT_BEGIN, CONVERT_END, CONVERT_BEGIN_MARKER, CONVERT_END_MARKER };

static int each_convert(const struct inputs *inputs, const struct cli_options *line,
                        const struct convert_wish *wish)
{
    const char *given = settings_text(&line->settings, OPTION_OUTPUT_DIRECTORY);
    const char *name = settings_text(&line->settings, OPTION_OUTPUT_FILE);
    char directory[PATH_MAX] = ".", stem[PATH_MAX], named[2 * PATH_MAX];
    int status = given ? convert_directory(given, directory) : 0;
    if (status == 0 && name) {
        snprintf(named, sizeof named, "%s/%s", directory, name);
        if (keys_expand(named, stem, sizeof stem) != 0)
            return refuse(EXIT_USAGE, "%s: %s", name, strerror(ENAMETOOLONG));
        if (inputs->count == 1 && unfinished_is(inputs->paths[0]))
            return rows_convert(inputs->paths[0], NULL, stem, wish);
        return convert_files(inputs->paths, inputs->count, stem, wish);
    }
    int result = status;
    for (unsigned i = 0; i < inputs->count && status == 0; i++) {
        stem_of(inputs->paths[i], given ? directory : NULL, stem);
        int one = unfinished_is(inputs->paths[i])
                      ? rows_convert(inputs->paths[i], given ? directory : NULL, NULL, wish)
                      : convert_files(&inputs->paths[i], 1, stem, wish);
        result = one ? one : result;
    }
    return result;
}

static int convert_run(struct cli_options *line)
{
    const char *formats = settings_text(&line->settings, OPTION_OUTPUT_FORMAT);
    const struct convert_wish wish = {
        .formats = formats ? formats : "csv",
        .ask = inputs_ask(line),
        .wants_stats = settings_flag(&line->settings, OPTION_STATS),
        .window = {.begin = command_text(line, CONVERT_BEGIN),
                   .end = command_text(line, CONVERT_END),
                   .begin_marker = command_text(line, CONVERT_BEGIN_MARKER),
                   .end_marker = command_text(line, CONVERT_END_MARKER)}};
    struct inputs inputs;
    int status = inputs_find(&inputs, line->operands);
    if (status == 0)
        status = each_convert(&inputs, line, &wish);
    inputs_free(&inputs);
    return status;
}

static const struct command_option options[] = {
    [CONVERT_BEGIN] = {"begin", 0, OPTION_TEXT, "NS|N%", "leave out what ended before that time"},
    [CONVERT_END] = {"end", 0, OPTION_TEXT, "NS|N%", "leave out what began after that time"},
    [CONVERT_BEGIN_MARKER] = {"begin-marker", 0, OPTION_TEXT, "TEXT",
                              "leave out what ended before that marker"},
    [CONVERT_END_MARKER] = {"end-marker", 0, OPTION_TEXT, "TEXT",
                            "leave out what began after that marker"},
    {0},
};
static const enum option_id takes[] = {OPTION_OUTPUT_FORMAT, OPTION_OUTPUT_DIRECTORY,
                                       OPTION_OUTPUT_FILE,   OPTION_STATS,
                                       INPUTS_SHOWN,         OPTION_COUNT};

const struct command command_convert = {
    .name = "convert",
    .operands = "RECORDING ...",
    .help = "recordings in other formats (csv)",
    .text =
        "A recording is a rocpd database, crocprof's or rocprofv3's; a directory means those in "
        "it. Files "
        "go beside the recording, or to --output-directory; with --output-file all recordings go "
        "into the same files. NAME" JOURNAL_END " has the rows of a killed program, which this "
        "command reads, too.",
    .options = options,
    .takes = takes,
    .operands_min = 1,
    .operands_max = UINT32_MAX,
    .run = convert_run,
};
