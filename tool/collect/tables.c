#include "tables.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/keys.h"
#include "names/pattern.h"
#include "out/place.h"
#include "summary/sheet.h"

enum { ROWS = 20 };

struct tables {
    const struct settings *settings;
    struct stats *const *of;
    const struct stats *counters;
    const struct stats_unit *unit;
    FILE *file;
};

/* The file's name may have keys. */
static FILE *file_open(const struct settings *settings)
{
    const char *name = settings_text(settings, OPTION_SUMMARY_OUTPUT_FILE);
    char path[PATH_MAX];
    if (!name || strcmp(name, "stderr") == 0)
        return stderr;
    if (strcmp(name, "stdout") == 0)
        return stdout;
    int status = keys_expand(name, path, sizeof path);
    if (status == 0)
        status = place_parent_make(path);
    FILE *file = status == 0 ? fopen(path, "ae") : NULL; /* beside those of other processes */
    if (file)
        return file;
    fprintf(stderr, "crocprof: %s: %s\n", name, strerror(status ? -status : errno));
    return stderr;
}

static bool file_close(const struct settings *settings, FILE *file, bool failed)
{
    if (file != stderr && file != stdout && fclose(file) != 0)
        failed = true;
    if (failed)
        fprintf(stderr, "crocprof: %s: %s\n", settings_text(settings, OPTION_SUMMARY_OUTPUT_FILE),
                strerror(errno));
    return !failed;
}

static void domains_print(const struct tables *tables)
{
    for (int id = 0; id < DOMAIN_COUNT; id++) {
        stats_print(tables->of[id], tables->file, ROWS, tables->unit);
        if (id == DOMAIN_KERNEL)
            stats_counters_print(tables->counters, tables->file);
    }
}

/* Prints the domains that match in one table; NULL: all. */
static void group_print(const struct tables *tables, const struct pattern *pattern,
                        const char *title)
{
    const struct stats *chosen[DOMAIN_COUNT];
    const char *names[DOMAIN_COUNT];
    size_t count = 0;
    for (int id = 0; id < DOMAIN_COUNT; id++) {
        if (pattern && !pattern_found(pattern, domains[id].name))
            continue;
        chosen[count] = tables->of[id];
        names[count++] = domains[id].name;
    }
    stats_together_print(chosen, names, count, title, tables->file, ROWS, tables->unit);
}

static void pattern_group_print(const struct tables *tables, const char *text)
{
    char message[128];
    struct pattern *pattern = pattern_create(text, message, sizeof message);
    if (pattern)
        group_print(tables, pattern, text);
    else
        fprintf(stderr, "crocprof: --summary-groups: %s: %s\n", text, message);
    pattern_destroy(pattern);
}

static void groups_print(const struct tables *tables)
{
    const char *separator = option_separator(OPTION_SUMMARY_GROUPS);
    const char *at = settings_text(tables->settings, OPTION_SUMMARY_GROUPS);
    while (at && *at) {
        const char *end = strstr(at, separator);
        char *text = end ? strndup(at, (size_t)(end - at)) : strdup(at);
        if (text && *text)
            pattern_group_print(tables, text);
        free(text);
        at = end ? end + strlen(separator) : NULL;
    }
}

bool tables_have_rows(struct stats *const of[DOMAIN_COUNT], const struct stats *counters)
{
    bool found = !stats_is_empty(counters);
    for (int id = 0; id < DOMAIN_COUNT; id++)
        found |= !stats_is_empty(of[id]);
    return found;
}

bool tables_print(const struct settings *settings, struct stats *const of[DOMAIN_COUNT],
                  const struct stats *counters, void (*head)(FILE *file, const void *data),
                  const void *data)
{
    bool each = settings_flag(settings, OPTION_SUMMARY_PER_DOMAIN),
         all = settings_flag(settings, OPTION_SUMMARY);
    if (!each && !all && !settings_text(settings, OPTION_SUMMARY_GROUPS))
        return true;
    FILE *target = file_open(settings);
    struct sheet sheet; /* processes of a run print to one place, often at one moment */
    sheet_begin(&sheet, target);
    struct tables tables = {settings, of, counters,
                            stats_unit_find(settings_text(settings, OPTION_SUMMARY_UNITS)),
                            sheet.file};
    if (head && tables_have_rows(of, counters))
        head(tables.file, data);
    if (each)
        domains_print(&tables);
    groups_print(&tables);
    if (all)
        group_print(&tables, NULL, "all");
    bool failed = !sheet_end(&sheet);
    return file_close(settings, target, failed);
}
