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
#include "grid/grid.h"
#include "launch/keys.h"
#include "out/place.h"
#include "recording/merge.h"
#include "table.h"

/* ---- ranks */

/* In the order of ranks. */
static int by_rank(const void *left, const void *right)
{
    const struct merge_part *a = *(const struct merge_part *const *)left,
                            *b = *(const struct merge_part *const *)right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return a->pid < b->pid ? -1 : a->pid > b->pid;
}

static void rank_print(struct grid *grid, const struct merge_part *part, int64_t begin_ns)
{
    const struct grid_value nothing = {.type = GRID_NULL};
    const struct grid_value values[] = {
        part->rank < 0 ? nothing : GRID_OF_INTEGER(part->rank),
        GRID_OF_INTEGER((int64_t)part->pid),
        GRID_OF_INTEGER((int64_t)part->calls),
        GRID_OF_INTEGER((int64_t)part->kernels),
        GRID_OF_REAL((double)(part->first_ns - begin_ns) / 1e6),
        GRID_OF_REAL((double)(part->last_ns - part->first_ns) / 1e6),
        GRID_OF_REAL((double)part->kernel_ns / 1e6),
        GRID_OF_REAL((double)part->shift_ns / 1e6),
        GRID_OF_TEXT(part->hostname),
        GRID_OF_TEXT(part->path)};
    grid_row(grid, values);
}

static void name_print(const struct merge_part *part, char name[80])
{
    if (part->rank >= 0)
        snprintf(name, 80, "rank %lld", (long long)part->rank);
    else
        snprintf(name, 80, "process %llu", (unsigned long long)part->pid);
}

/* Who began later than the rest by a tenth of the job, and whose kernels took a tenth more than the
 * mean. */
static void imbalance_tell(const struct merge_part *const *parts, unsigned count, int64_t begin_ns,
                           int64_t end_ns)
{
    double mean_ns = 0;
    char name[80];
    for (unsigned i = 0; i < count; i++)
        mean_ns += (double)parts[i]->kernel_ns / count;
    for (unsigned i = 0; i < count; i++) {
        int64_t late_ns = parts[i]->first_ns - begin_ns;
        name_print(parts[i], name);
        if (late_ns * 10 > end_ns - begin_ns)
            printf("%s began %.3f ms after the first\n", name, (double)late_ns / 1e6);
        if ((double)parts[i]->kernel_ns > 1.1 * mean_ns)
            printf("%s spent %.2f times the mean in kernels (%.3f ms of %.3f ms)\n", name,
                   (double)parts[i]->kernel_ns / mean_ns, (double)parts[i]->kernel_ns / 1e6,
                   mean_ns / 1e6);
    }
}

static int ranks_print(const struct merge *merge)
{
    static const char *const names[] = {"rank",     "pid",       "calls",     "kernels",
                                        "begin ms", "lasted ms", "kernel ms", "clock ms",
                                        "host",     "recording"};
    static struct writer writer;
    unsigned count = merge_part_count(merge);
    const struct merge_part **parts = calloc(count + 1, sizeof *parts);
    int64_t begin_ns = INT64_MAX, end_ns = 0;
    if (!parts || output_begin(&writer, NULL) != 0) {
        free(parts);
        return EXIT_FAILED;
    }
    for (unsigned i = 0; i < count; i++) {
        parts[i] = merge_part(merge, i);
        begin_ns =
            parts[i]->last_ns && parts[i]->first_ns < begin_ns ? parts[i]->first_ns : begin_ns;
        end_ns = parts[i]->last_ns > end_ns ? parts[i]->last_ns : end_ns;
    }
    qsort(parts, count, sizeof *parts, by_rank);
    struct grid *grid = grid_begin(&writer, GRID_TABLE, names, 10);
    for (unsigned i = 0; grid && i < count; i++)
        rank_print(grid, parts[i], begin_ns == INT64_MAX ? parts[i]->first_ns : begin_ns);
    if (grid)
        grid_end(grid);
    int status = output_end(&writer, NULL);
    if (count > 1 && begin_ns != INT64_MAX)
        imbalance_tell(parts, count, begin_ns, end_ns);
    free(parts);
    return fflush(stdout) != 0 && errno != EPIPE ? EXIT_FAILED : status;
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
    int result = keeps && lists_ranks ? ranks_print(merge) : 0;
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

/* ---- */

/* By way of a database, which puts all on one clock and is removed again. */
static int merge_archive(const struct inputs *inputs, const char *stem)
{
    const struct convert_wish wish = {.formats = "otf2", .ask = {.tables = RECORDING_ALL}};
    char path[2 * PATH_MAX + 32];
    snprintf(path, sizeof path, "%s.%ld.db", stem, (long)getpid());
    int status = merge_database(inputs, path, true);
    if (access(path, F_OK) != 0)
        return status;
    int converted = convert_files(&(char *){path}, 1, stem, &wish);
    unlink(path);
    return converted ? converted : status;
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
    } else if (status == 0 && format && strcmp(format, "otf2") == 0) {
        snprintf(path, sizeof path, "%s/%s", directory, name);
        status = merge_archive(&inputs, path);
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
    [MERGE_FORMAT] = {"format", 'f', OPTION_CHOICE, "rocpd|package|otf2",
                      "one database, a list of the recordings where they are, or an OTF2 archive "
                      "with a group of locations for each process (rocpd)"},
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
