#include "topology/sysfs.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 4096, FILE_BYTES_MAX = 16 << 20 };

/* sysfs reports sizes of 4096 whatever a file holds and procfs reports 0: read until the end. */
static char *stream_read(FILE *stream)
{
    char *text = NULL;
    size_t used = 0;
    for (;;) {
        char *wider = realloc(text, used + CHUNK_BYTES + 1);
        if (!wider) {
            free(text);
            return NULL;
        }
        text = wider;
        size_t got = fread(text + used, 1, CHUNK_BYTES, stream);
        used += got;
        text[used] = '\0';
        if (got < CHUNK_BYTES || used >= FILE_BYTES_MAX)
            break;
    }
    if (ferror(stream)) {
        free(text);
        return NULL;
    }
    return text;
}

char *sysfs_read(const char *path_format, ...)
{
    char path[PATH_MAX];
    va_list arguments;
    va_start(arguments, path_format);
    int length = vsnprintf(path, sizeof path, path_format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof path)
        return NULL;

    FILE *stream = fopen(path, "re");
    if (!stream)
        return NULL;
    char *text = stream_read(stream);
    fclose(stream);
    return text;
}

bool sysfs_number(const char *text, const char *name, uint64_t *value)
{
    size_t name_size = strlen(name);
    for (const char *line = text; line && *line != '\0';) {
        if (strncmp(line, name, name_size) == 0 && (line[name_size] == ' ')) {
            const char *digits = line + name_size + 1;
            char *end;
            errno = 0;
            *value = strtoull(digits, &end, 10);
            return isdigit((unsigned char)*digits) && errno == 0;
        }
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    return false;
}

void sysfs_properties_store(const char *text, const struct sysfs_property *properties, size_t count,
                            void *structure)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t value;
        if (sysfs_number(text, properties[i].name, &value)) /* little-endian: low bytes first */
            memcpy((char *)structure + properties[i].offset, &value, properties[i].size_bytes);
    }
}
