/* Which GPUs a program has code for: its offload bundles, as HIP's compiler puts them into the
 * section .hip_fatbin. */
#ifndef COLLECT_FATBIN_H
#define COLLECT_FATBIN_H

#include <stdbool.h>
#include <stddef.h>

enum { FATBIN_TARGETS_MAX = 64, FATBIN_TARGET_BYTES = 32 };

struct fatbin {
    char target[FATBIN_TARGETS_MAX][FATBIN_TARGET_BYTES]; /* "gfx90a", each once */
    size_t count;
    bool is_known; /* there are bundles, and all of them could be read */
};

/* Of an ELF file; nothing of one that is none. */
void fatbin_read(const char *path, struct fatbin *fatbin);

/* Code for the processor, or such that may be translated for it. */
bool fatbin_serves(const struct fatbin *fatbin, const char *processor);

/* "gfx906, gfx1030"; cut at `size`. */
void fatbin_list(const struct fatbin *fatbin, char *text, size_t size);

#endif
