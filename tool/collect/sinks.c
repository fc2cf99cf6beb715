#include "sinks.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "launch/keys.h"
#include "launch/manifest.h"
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

static int directory_make(const char *stem)
{
    char parent[PATH_MAX];
    snprintf(parent, sizeof parent, "%s", stem);
    *strrchr(parent, '/') = 0;
    return *parent ? place_directory_make(parent) : 0;
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

static void sink_open(struct sinks *sinks, const struct out_ops *ops)
{
    char prefix[PATH_MAX], error[PATH_MAX + 200];
    int status;
    do {
        status = place_prefix(sinks->stem, sinks->number, prefix);
        snprintf(error, sizeof error, "%s: %s", sinks->stem, strerror(-status));
        if (status == 0)
            status = ops->open(prefix, &sinks->sink[sinks->count].sink, error, sizeof error);
    } while (status == -EEXIST && sinks->number++ < PLACE_NUMBER_MAX);
    if (status != 0)
        fprintf(stderr, "crocprof: %s%s\n", error, advice_of(status));
    else
        sinks->sink[sinks->count++].ops = ops;
}

static bool is_open(const struct sinks *sinks, const struct out_ops *ops)
{
    for (unsigned i = 0; i < sinks->count; i++)
        if (sinks->sink[i].ops == ops)
            return true;
    return false;
}

void sinks_open(struct sinks *sinks, const struct settings *settings, const char *stem)
{
    const char *formats = settings_text(settings, OPTION_OUTPUT_FORMAT);
    char name[32];
    *sinks = (struct sinks){.settings = settings};
    if (!sinks_wanted(settings))
        return;
    snprintf(sinks->stem, sizeof sinks->stem, "%s", stem);
    int status = directory_make(stem);
    if (status != 0) {
        fprintf(stderr, "crocprof: %s: %s%s\n", stem, strerror(-status), advice_of(status));
        return;
    }
    manifest_hold(stem);
    writer_file_made = manifest_add;
    sinks->number = place_number(stem);
    formats = formats ? formats : out_default_format();
    while (settings_list_next(&formats, name, sizeof name) && sinks->count < SINKS_MAX) {
        const struct out_ops *ops = out_find(name);
        if (ops && !is_open(sinks, ops)) /* each once, however often it was asked for */
            sink_open(sinks, ops);
    }
}

void sinks_row(struct sinks *sinks, enum out_table_id table, const void *row)
{
    if (table != OUT_AGENT_INFO)
        sinks->recorded_bytes += out_tables[table].column_count * sizeof(uint64_t);
    for (unsigned i = 0; i < sinks->count; i++)
        sinks->sink[i].ops->row(sinks->sink[i].sink, table, row);
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
    for (unsigned i = 0; i < sinks->count; i++) {
        int status = sinks->sink[i].ops->close(sinks->sink[i].sink, error, sizeof error);
        if (status != 0)
            fprintf(stderr, "crocprof: %s%s\n", error, advice_of(status));
    }
    sinks->count = 0;
    if (has_files)
        manifest_finish(prefix);
    if (has_files &&
        sinks->recorded_bytes < settings_number(sinks->settings, OPTION_MINIMUM_OUTPUT_BYTES))
        place_remove(prefix);
}

void sinks_forget(struct sinks *sinks)
{
    sinks->count = 0;
    manifest_forget();
}
