/* `merge`: the recordings of a job's processes as one, and which of them were late or did more. */
#include "merge.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "cli/refuse.h"
#include "convert.h"
#include "launch/keys.h"
#include "out/place.h"
#include "ranks.h"
#include "recording/job.h"
#include "recording/merge.h"
#include "table.h"

static int merged_print(const struct merge *merge)
{
    unsigned count = merge_part_count(merge);
    const struct merge_part **parts = calloc(count + 1, sizeof *parts);
    if (!parts)
        return EXIT_FAILED;
    for (unsigned i = 0; i < count; i++)
        parts[i] = merge_part(merge, i);
    int status = ranks_print(parts, count);
    free(parts);
    return status;
}

/* ---- one database */

/* Missing and broken parts are left out, each with a line; the rest is a result. */
int merge_database(const struct inputs *inputs, const char *path, bool lists_ranks)
{
    char error[PATH_MAX + 200], *damage = NULL;
    struct merge *merge;
    unsigned left_out = 0;
    int status = merge_begin(&merge, path, error, sizeof error);
    if (status != 0)
        return refuse(EXIT_FAILED, "%s", error);
    for (unsigned i = 0; i < inputs->count && status != -EIO; i++) {
        status = merge_add(merge, inputs->paths[i], &damage, error, sizeof error);
        if (damage)
            fprintf(stderr, "crocprof: %s\n", damage);
        free(damage);
        left_out += status != 0;
        if (status != 0)
            fprintf(stderr, "crocprof: left out: %s\n", error);
    }
    bool keeps = status != -EIO && merge_part_count(merge) > 0;
    int result = keeps && lists_ranks ? merged_print(merge) : 0;
    if (merge_end(merge, keeps, error, sizeof error) != 0)
        return refuse(EXIT_FAILED, "%s", error);
    if (!keeps)
        return refuse(EXIT_FAILED, "%s: nothing was merged", path);
    fprintf(stderr, "crocprof: %s: %u of %u recordings\n", path, inputs->count - left_out,
            inputs->count + inputs->missing);
    return result ? result : left_out ? EXIT_FAILED : 0;
}

/* ---- a package */

static int file_copy(const char *from, const char *to)
{
    int status = 0, in = open(from, O_RDONLY | O_CLOEXEC);
    int out = in < 0 ? -1 : writer_file_create(to);
    if (in < 0)
        status = -errno;
    else if (out < 0)
        status = out;
    while (status == 0) {
        ssize_t length = sendfile(out, in, NULL, 1 << 30);
        if (length == 0)
            break;
        if (length < 0 && errno != EINTR)
            status = -errno;
    }
    if (in >= 0)
        close(in);
    if (out >= 0 && close(out) != 0 && status == 0)
        status = -errno;
    return status == 0 ? 0 : refuse(EXIT_FAILED, "%s: %s", to, strerror(-status));
}

/* Copies are numbered: recordings of several directories may have one name. */
static int entry_put(FILE *index, const char *path, const char *directory, unsigned number,
                     bool copies)
{
    char whole[PATH_MAX], name[PATH_MAX], to[2 * PATH_MAX];
    const char *slash = strrchr(path, '/');
    if (!realpath(path, whole))
        return refuse(EXIT_FAILED, "%s: %s", path, strerror(errno));
    if (!copies) {
        fprintf(index, "    - \"%s\"\n", whole);
        return 0;
    }
    snprintf(name, sizeof name, "%u-%s", number, slash ? slash + 1 : path);
    snprintf(to, sizeof to, "%s/%s", directory, name);
    fprintf(index, "    - \"%s\"\n", name);
    return file_copy(whole, to);
}

int merge_package(const struct inputs *inputs, const char *directory, bool copies)
{
    char path[PATH_MAX + 32];
    int status = place_directory_make(directory);
    if (status != 0)
        return refuse(EXIT_FAILED, "%s: %s", directory, strerror(-status));
    snprintf(path, sizeof path, "%s/index.yaml", directory);
    FILE *index = fopen(path, "wxe");
    if (!index)
        return refuse(EXIT_FAILED, "%s: %s", path, strerror(errno));
    fputs("rocprofiler-sdk:\n  rocpd:\n    rocpd_package_version: \"1.0\"\n    path: \".\"\n"
          "    files:\n",
          index);
    for (unsigned i = 0; i < inputs->count && status == 0; i++)
        status = entry_put(index, inputs->paths[i], directory, i, copies);
    if (fclose(index) != 0 && status == 0)
        status = refuse(EXIT_FAILED, "%s: %s", path, strerror(errno));
    if (status == 0)
        fprintf(stderr, "crocprof: %s: %u recordings\n", path, inputs->count);
    else
        unlink(path);
    return status;
}

/* ---- one archive, one page */

/* A page of more rows than this takes a browser long to open. */
enum { PAGE_ROWS = 1000000 };

static int job_print(const struct job *job)
{
    unsigned count = job_part_count(job);
    const struct merge_part **parts = calloc(count + 1, sizeof *parts);
    if (!parts)
        return EXIT_FAILED;
    for (unsigned i = 0; i < count; i++)
        parts[i] = job_part(job, i);
    int status = ranks_print(parts, count);
    free(parts);
    return status;
}

static int merge_written(const struct inputs *inputs, const char *format, const char *stem)
{
    struct convert_wish wish = {.formats = format,
                                .ask = {.tables = RECORDING_ALL},
                                .job = job_create(),
                                .page_rows = PAGE_ROWS};
    if (!wish.job)
        return refuse(EXIT_FAILED, "out of memory");
    int status = convert_files(inputs->paths, inputs->count, stem, &wish);
    int printed = job_part_count(wish.job) > 0 ? job_print(wish.job) : 0;
    job_destroy(wish.job);
    return status ? status : printed;
}

enum { MERGE_OUTPUT, MERGE_FORMAT };

static int merge_run(struct cli_options *line)
{
    const char *given = settings_text(&line->settings, OPTION_OUTPUT_DIRECTORY);
    const char *output = command_text(line, MERGE_OUTPUT);
    const char *format = command_text(line, MERGE_FORMAT);
    const char *name = output ? output : "merged";
    char directory[PATH_MAX] = ".", path[2 * PATH_MAX];
    struct inputs inputs = {0};
    int status = given ? convert_directory(given, directory) : 0;
    if (status == 0)
        status = inputs_find_some(&inputs, line->operands);
    if (status == 0 && format && strcmp(format, "package") == 0) {
        snprintf(path, sizeof path, "%s/%s.rpdb", directory, name);
        status = merge_package(&inputs, path, false);
    } else if (status == 0 && format && strcmp(format, "rocpd") != 0) {
        snprintf(path, sizeof path, "%s%s%s", given ? directory : "", given ? "/" : "", name);
        status = merge_written(&inputs, format, path);
    } else if (status == 0) {
        bool has_end = strlen(name) > 3 && strcmp(name + strlen(name) - 3, ".db") == 0;
        snprintf(path, sizeof path, "%s%s%s%s", name[0] == '/' ? "" : directory,
                 name[0] == '/' ? "" : "/", name, has_end ? "" : ".db");
        status = merge_database(&inputs, path, true);
    }
    bool is_short = inputs.missing > 0;
    inputs_free(&inputs);
    return status == 0 && is_short ? EXIT_FAILED : status;
}

static const struct command_option options[] = {
    [MERGE_OUTPUT] = {"output", 'o', OPTION_TEXT, "NAME", "what it is called (merged)"},
    [MERGE_FORMAT] = {"format", 'f', OPTION_CHOICE, "rocpd|package|otf2|html",
                      "one database, a list of the recordings where they are, an OTF2 archive "
                      "with a group of locations for each process, or a page with a row for each "
                      "(rocpd)"},
    {0},
};
static const enum option_id takes[] = {OPTION_OUTPUT_DIRECTORY, OPTION_COUNT};

const struct command command_merge = {
    .name = "merge",
    .operands = "RECORDING ...",
    .help = "the recordings of a job's processes as one, and who was late or did more",
    .text =
        "Tables of all processes stand in one database, with views over them. Machines whose "
        "clocks are "
        "not the first one's are put on it, by the time of day that every recording says at its "
        "begin and end: as exactly as the machines agree on that. Recordings that are missing or "
        "broken are left out by name, and the status is 1 then.",
    .options = options,
    .takes = takes,
    .operands_min = 1,
    .operands_max = UINT32_MAX,
    .run = merge_run,
};
