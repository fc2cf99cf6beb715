#include "config.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out/json.h"
#include "out/writer.h"

void config_write(const struct settings *settings, const char *prefix)
{
    char path[PATH_MAX + 16];
    struct writer *writer = malloc(sizeof *writer);
    snprintf(path, sizeof path, "%s_config.json", prefix);
    if (!writer)
        return;
    int status = writer_open(writer, path);
    const char *before = "{\n  ";
    for (int id = 0; id < OPTION_COUNT && status == 0; id++) {
        if (!options_table[id].variable || !settings->value[id])
            continue;
        writer_bytes(writer, before, strlen(before));
        json_text(writer, options_table[id].variable);
        writer_bytes(writer, ": ", 2);
        json_text(writer, settings->value[id]);
        before = ",\n  ";
    }
    if (status == 0) {
        writer_bytes(writer, before[0] == '{' ? "{}\n" : "\n}\n", 3);
        status = writer_close(writer);
    }
    if (status != 0)
        fprintf(stderr, "crocprof: %s: %s\n", path, strerror(-status));
    free(writer);
}
