#include "tables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/refuse.h"

int attach_tables_prepare(struct attach_tables *tables, const struct target *target,
                          struct cli_options *options)
{
    const char *temporary = getenv("TMPDIR");
    tables->path[0] = 0;
    if (settings_text(&options->settings, OPTION_SUMMARY_OUTPUT_FILE))
        return 0;
    snprintf(tables->path, sizeof tables->path, "%s/crocprof-tables-XXXXXX",
             temporary && *temporary ? temporary : "/tmp");
    int file = mkstemp(tables->path);
    if (file < 0)
        return refuse(EXIT_USAGE, "%s: %s", tables->path, strerror(errno));
    bool given = target->user == geteuid() || fchown(file, target->user, target->group) == 0;
    close(file);
    if (given && cli_option_set(options, OPTION_SUMMARY_OUTPUT_FILE, tables->path) == 0)
        return 0;
    unlink(tables->path);
    return refuse(EXIT_USAGE, "%s: %s", tables->path, strerror(errno));
}

void attach_tables_print(const struct attach_tables *tables)
{
    char bytes[4096];
    size_t length;
    FILE *file = tables->path[0] ? fopen(tables->path, "re") : NULL;
    while (file && (length = fread(bytes, 1, sizeof bytes, file)) > 0)
        fwrite(bytes, 1, length, stderr);
    if (file)
        fclose(file);
    if (tables->path[0])
        unlink(tables->path);
}
