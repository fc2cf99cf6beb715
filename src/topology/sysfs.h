/* Small text files of sysfs and procfs: whole file into memory, "name value" lines into structs. */
#ifndef TOPOLOGY_SYSFS_H
#define TOPOLOGY_SYSFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The file's text (NUL-terminated, caller frees), or NULL. Files are cut at 16 MiB. */
__attribute__((format(printf, 1, 2))) char *sysfs_read(const char *path_format, ...);

/* The value of the line "name value"; false when the line is missing or no number follows. */
bool sysfs_number(const char *text, const char *name, uint64_t *value);

/* Where a property goes: an unsigned member of 2, 4 or 8 bytes. Values that do not fit are cut to
 * the member's width. */
struct sysfs_property {
    const char *name;
    uint16_t offset;
    uint16_t size_bytes;
};

void sysfs_properties_store(const char *text, const struct sysfs_property *properties, size_t count,
                            void *structure);

#endif
