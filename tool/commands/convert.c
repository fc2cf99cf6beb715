/* `convert`: recordings in other formats. The rows are those that `record` hands to the writers. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/refuse.h"
#include "convert.h"
#include "gather.h"
#include "inputs.h"
#include "launch/keys.h"
#include "out/out.h"
#include "out/place.h"
#include "out/process.h"
#include "table.h"

enum { SINKS_MAX = 8 };

struct known;

struct conversion {
    struct {
        const struct out_ops *ops;
        struct out_sink *sink;
    } sinks[SINKS_MAX];
    unsigned count;
    struct gather gather;
    const struct recording_part *part; /* whose rows came last */
    struct known *known;
    unsigned file;             /* how many were read before */
    bool wants_stats, gathers; /* gathers: some format has statistics anyway */
};

static void stats_put(void *data, enum out_table_id table, const void *row)
{
    const struct conversion *conversion = data;
    for (unsigned i = 0; i < conversion->count; i++)
        if (conversion->wants_stats || conversion->sinks[i].ops->has_statistics)
            conversion->sinks[i].ops->row(conversion->sinks[i].sink, table, row);
}

static void row_put(struct conversion *conversion, enum out_table_id table, const void *row)
{
    for (unsigned i = 0; i < conversion->count; i++)
        conversion->sinks[i].ops->row(conversion->sinks[i].sink, table, row);
}

/* Whose rows come; found again by its address, which stays. Texts are the recording's. */
struct known {
    struct known *next;
    const struct recording_part *part;
    unsigned file; /* an address may be another one's in the next file */
    struct out_process process;
};

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
                                        .extdata = part->extdata}};
    conversion->known = known;
    return known;
}

/* Writers are told whose the rows are. */
static void process_tell(struct conversion *conversion, const struct recording_part *part)
{
    struct known *known = conversion->known;
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
    conversion->gathers = conversion->gathers || ops->has_statistics;
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

static int file_convert(struct conversion *conversion, const char *path,
                        const struct convert_wish *wish)
{
    char error[PATH_MAX + 200];
    struct recording *recording;
    struct recording_ask ask = wish->ask;
    if (recording_open(&recording, path, error, sizeof error) != 0)
        return refuse(EXIT_FAILED, "%s", error);
    int status = inputs_window(recording, wish->begin, wish->end, &ask);
    gather_recording(&conversion->gather);
    conversion->part = NULL;
    conversion->file++;
    if (status == 0 &&
        recording_each(recording, &ask, row_take, conversion, error, sizeof error) != 0)
        status = refuse(EXIT_FAILED, "%s", error);
    inputs_damage_tell(recording);
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
    return result;
}

int convert_files(char *const *paths, unsigned count, const char *stem,
                  const struct convert_wish *wish)
{
    struct conversion conversion = {.wants_stats = wish->wants_stats, .gathers = wish->wants_stats};
    char prefix[PATH_MAX] = "", error[PATH_MAX + 200];
    struct recording *first = NULL;
    int status = 0;
    if (recording_open(&first, paths[0], error, sizeof error) != 0)
        status = refuse(EXIT_FAILED, "%s", error);
    else
        process_tell(&conversion, recording_part(first, 0));
    const struct out_process *of_first = out_process();
    if (status == 0)
        status = sinks_open(&conversion, wish->formats, stem, prefix);
    if (status == 0 && gather_begin(&conversion.gather) != 0)
        status = refuse(EXIT_FAILED, "out of memory");
    if (status == 0)
        status = files_convert(&conversion, paths, count, wish);
    out_process_set(of_first); /* whose texts are still there */
    int closed = sinks_close(&conversion);
    gather_end(&conversion.gather);
    out_process_set(NULL);
    recording_close(first);
    known_free(&conversion);
    status = status ? status : closed;
    if (status == 0)
        fprintf(stderr, "crocprof: %s_*\n", prefix);
    return status;
}

/* "DIR/NAME_results.db" is called DIR/NAME. */
static void stem_of(const char *path, const char *directory, char stem[PATH_MAX])
{
    static const char *const ends[] = {"_results.db", ".db"};
    const char *slash = strrchr(path, '/');
    size_t length = strlen(path);
    for (int i = 0; i < 2; i++)
        if (length > strlen(ends[i]) && strcmp(path + length - strlen(ends[i]), ends[i]) == 0) {
            length -= strlen(ends[i]);
            break;
        }
    const char *name = directory && slash ? slash + 1 : path;
    int used = directory ? snprintf(stem, PATH_MAX, "%s/", directory) : 0;
    size_t room = PATH_MAX - (size_t)used, bytes = length - (size_t)(name - path) + 1;
    snprintf(stem + used, bytes < room ? bytes : room, "%s", name);
}

int convert_directory(const char *given, char directory[PATH_MAX])
{
    int status = keys_expand(given, directory, PATH_MAX);
    if (status == 0)
        status = place_directory_make(directory);
    return status == 0 ? 0 : refuse(EXIT_USAGE, "%s: %s", given, strerror(-status));
}

enum { CONVERT_BEGIN, CONVERT_END };

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
        return convert_files(inputs->paths, inputs->count, stem, wish);
    }
    int result = status;
    for (unsigned i = 0; i < inputs->count && status == 0; i++) {
        stem_of(inputs->paths[i], given ? directory : NULL, stem);
        int one = convert_files(&inputs->paths[i], 1, stem, wish);
        result = one ? one : result;
    }
    return result;
}

static int convert_run(struct cli_options *line)
{
    const char *formats = settings_text(&line->settings, OPTION_OUTPUT_FORMAT);
    const struct convert_wish wish = {.formats = formats ? formats : "csv",
                                      .ask = inputs_ask(line),
                                      .wants_stats = settings_flag(&line->settings, OPTION_STATS),
                                      .begin = command_text(line, CONVERT_BEGIN),
                                      .end = command_text(line, CONVERT_END)};
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
        "into the same files.",
    .options = options,
    .takes = takes,
    .operands_min = 1,
    .operands_max = UINT32_MAX,
    .run = convert_run,
};
