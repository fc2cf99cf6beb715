#include "sinks.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "launch/keys.h"
#include "launch/manifest.h"
#include "launch/run_log.h"
#include "out/place.h"
#include "out/writer.h"

bool sinks_wanted(const struct settings *settings)
{
    const char *formats = settings_text(settings, OPTION_OUTPUT_FORMAT);
    return !formats || strcmp(formats, OUT_NO_FORMAT) != 0;
}

int sinks_stem(const struct settings *settings, char stem[PATH_MAX])
{
    const char *directory = settings_text(settings, OPTION_OUTPUT_DIRECTORY);
    const char *name = settings_text(settings, OPTION_OUTPUT_FILE);
    char pattern[2 * PATH_MAX];
    snprintf(pattern, sizeof pattern, "%s/%s", directory ? directory : "%cwd%",
             name ? name : "%hostname%/%pid%");
    int status = keys_expand(pattern, stem, PATH_MAX);
    if (status == 0)
        place_tidy(stem);
    return status;
}

static void directory_of(const char *stem, char directory[PATH_MAX])
{
    snprintf(directory, PATH_MAX, "%s", stem);
    char *slash = strrchr(directory, '/');
    slash[slash == directory] = 0;
}

static int directory_make(const char *stem)
{
    char parent[PATH_MAX];
    directory_of(stem, parent);
    return place_directory_make(parent);
}

static void directory_note(struct sinks *sinks)
{
    char directory[PATH_MAX];
    struct stat now;
    directory_of(sinks->stem, directory);
    if (stat(directory, &now) != 0)
        return;
    sinks->device = now.st_dev;
    sinks->inode = now.st_ino;
}

/* Writing to files that have no name any more succeeds. */
static void directory_check(const struct sinks *sinks)
{
    char directory[PATH_MAX];
    struct stat now;
    if (sinks->count == 0 || sinks->inode == 0) /* no files, or no directory was seen */
        return;
    directory_of(sinks->stem, directory);
    bool is_there =
        stat(directory, &now) == 0 && now.st_dev == sinks->device && now.st_ino == sinks->inode;
    if (!is_there)
        fprintf(stderr,
                "crocprof: %s was removed or moved while the program ran: its files went with it\n",
                directory);
}

/* What somebody can do about it. */
static const char *advice_of(int status)
{
    switch (-status) {
    case ENOSPC:
    case EDQUOT:
        return " (make room, or write elsewhere with -d DIR)";
    case EACCES:
    case EPERM:
    case EROFS:
        return " (write elsewhere with -d DIR)";
    default:
        return "";
    }
}

/* Opens a format, or the journal where `ops` is NULL, under the first number that is free. Where it
 * may come to lie is told before: a process can be killed in between. */
static int numbered_open(struct sinks *sinks, const struct out_ops *ops, struct out_sink **sink,
                         char *error, size_t error_size)
{
    char prefix[PATH_MAX];
    int status;
    do {
        status = place_prefix(sinks->stem, sinks->number, prefix);
        snprintf(error, error_size, "%s: %s", sinks->stem, strerror(-status));
        if (status != 0)
            return status;
        if (sinks->number != sinks->number_told)
            run_log_put(RUN_LOG_PLACE, prefix);
        sinks->number_told = sinks->number;
        status = ops ? ops->open(prefix, sink, error, error_size)
                     : journal_create(prefix, &sinks->journal);
    } while (status == -EEXIST && sinks->number++ < PLACE_NUMBER_MAX);
    return status;
}

static void sink_open(struct sinks *sinks, const struct out_ops *ops)
{
    char error[PATH_MAX + 200];
    int status = numbered_open(sinks, ops, &sinks->sink[sinks->count].sink, error, sizeof error);
    sinks->has_failed = sinks->has_failed || status != 0;
    if (status != 0)
        fprintf(stderr, "crocprof: %s%s\n", error, advice_of(status));
    else
        sinks->sink[sinks->count++].ops = ops;
}

static bool is_among(const struct out_ops *const *all, unsigned count, const struct out_ops *ops)
{
    for (unsigned i = 0; i < count; i++)
        if (all[i] == ops)
            return true;
    return false;
}

/* Each once, however often it was asked for. */
static unsigned formats_wanted(const struct settings *settings, const struct out_ops **wanted)
{
    const char *formats = settings_text(settings, OPTION_OUTPUT_FORMAT);
    char name[32];
    unsigned count = 0;
    formats = formats ? formats : out_default_format();
    while (settings_list_next(&formats, name, sizeof name) && count < SINKS_MAX) {
        const struct out_ops *ops = out_find(name);
        if (ops && !is_among(wanted, count, ops))
            wanted[count++] = ops;
    }
    return count;
}

/* Before the formats: from their first moment on they can be made of it. Where it cannot be made
 * they say why. */
static void journal_open(struct sinks *sinks, const struct out_ops *const *wanted, unsigned count)
{
    char error[PATH_MAX + 200];
    bool is_needed = false;
    for (unsigned i = 0; i < count; i++)
        is_needed = is_needed || wanted[i]->is_made_at_end;
    if (is_needed)
        numbered_open(sinks, NULL, NULL, error, sizeof error);
}

static void journal_drop(struct sinks *sinks)
{
    journal_remove(sinks->journal);
    sinks->journal = NULL;
}

/* Of what could not be written nobody can read a file without a byte. */
static void failed_remove(const struct sinks *sinks)
{
    char prefix[PATH_MAX];
    if (sinks->has_failed && place_prefix(sinks->stem, sinks->number, prefix) == 0)
        place_empty_remove(prefix);
}

void sinks_open(struct sinks *sinks, const struct settings *settings, const char *stem)
{
    const struct out_ops *wanted[SINKS_MAX];
    char prefix[PATH_MAX];
    *sinks = (struct sinks){.settings = settings};
    if (!sinks_wanted(settings))
        return;
    out_csv_modelled = settings_flag(settings, OPTION_MODELLED_TIME_FILE);
    snprintf(sinks->stem, sizeof sinks->stem, "%s", stem);
    int status = directory_make(stem);
    if (status != 0) {
        fprintf(stderr, "crocprof: %s: %s%s\n", stem, strerror(-status), advice_of(status));
        return;
    }
    directory_note(sinks);
    manifest_hold(stem);
    writer_file_made = manifest_add;
    sinks->number = place_number(stem);
    unsigned count = formats_wanted(settings, wanted);
    journal_open(sinks, wanted, count);
    for (unsigned i = 0; i < count; i++)
        sink_open(sinks, wanted[i]);
    if (sinks->count == 0) {
        journal_drop(sinks);
        failed_remove(sinks);
    }
    if (sinks_prefix(sinks, prefix))
        run_log_put(RUN_LOG_FILES, prefix);
}

void sinks_row(struct sinks *sinks, enum out_table_id table, const void *row)
{
    if (table != OUT_AGENT_INFO)
        sinks->recorded_bytes += out_tables[table].column_count * sizeof(uint64_t);
    for (unsigned i = 0; i < sinks->count; i++)
        sinks->sink[i].ops->row(sinks->sink[i].sink, table, row);
    if (sinks->journal)
        journal_row(sinks->journal, table, row);
}

bool sinks_want_arguments(const struct sinks *sinks)
{
    for (unsigned i = 0; i < sinks->count; i++)
        if (sinks->sink[i].ops->has_arguments)
            return true;
    return false;
}

void sinks_flush(struct sinks *sinks)
{
    for (unsigned i = 0; i < sinks->count; i++)
        if (sinks->sink[i].ops->flush)
            sinks->sink[i].ops->flush(sinks->sink[i].sink);
    journal_flush(sinks->journal);
}

void sinks_statistics_row(struct sinks *sinks, enum out_table_id table, const void *row)
{
    for (unsigned i = 0; i < sinks->count; i++) /* none: never opened, there may be no settings */
        if (settings_flag(sinks->settings, OPTION_STATS) || sinks->sink[i].ops->has_statistics)
            sinks->sink[i].ops->row(sinks->sink[i].sink, table, row);
}

bool sinks_prefix(const struct sinks *sinks, char prefix[PATH_MAX])
{
    return sinks->count > 0 && place_prefix(sinks->stem, sinks->number, prefix) == 0;
}

void sinks_close(struct sinks *sinks)
{
    char prefix[PATH_MAX], error[PATH_MAX + 200];
    bool has_files = sinks_prefix(sinks, prefix);
    directory_check(sinks);
    for (unsigned i = 0; i < sinks->count; i++) {
        int status = sinks->sink[i].ops->close(sinks->sink[i].sink, error, sizeof error);
        sinks->has_failed = sinks->has_failed || status != 0;
        if (status != 0)
            fprintf(stderr, "crocprof: %s%s\n", error, advice_of(status));
    }
    sinks->count = 0;
    journal_drop(sinks);
    failed_remove(sinks);
    if (has_files)
        manifest_finish(prefix);
    if (has_files &&
        sinks->recorded_bytes < settings_number(sinks->settings, OPTION_MINIMUM_OUTPUT_BYTES)) {
        place_remove(prefix);
        run_log_put(RUN_LOG_FEW, "");
    }
}

void sinks_forget(struct sinks *sinks)
{
    sinks->count = 0;
    journal_forget(sinks->journal);
    sinks->journal = NULL;
    manifest_forget();
}
