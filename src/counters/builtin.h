/*
 * The shipped definitions in the form that the build makes of data/counters: rows of
 * offsets into one text, so that the table needs no relocation and stays shared between processes.
 */
#ifndef COUNTERS_BUILTIN_H
#define COUNTERS_BUILTIN_H

#include <stdint.h>

struct builtin_definition {
    uint32_t name, architectures, block, expression, description; /* 0: absent */
    uint32_t event;
};

extern const struct builtin_definition builtin_definitions[];
extern const uint32_t builtin_definition_count;
extern const char builtin_text[];

#endif
