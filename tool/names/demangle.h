/* C++ symbols as people read them. */
#ifndef NAMES_DEMANGLE_H
#define NAMES_DEMANGLE_H

#include <stddef.h>
#include <stdint.h>

#include "names/texts.h"

/* "_Z6vectorPfi.kd" -> "vector(float*, int)"; what is not mangled stays as it is, without ".kd".
 * The caller frees. NULL: no memory. */
char *name_demangle(const char *symbol);

/* The bare name within a demangled one: "void a::f<int>(float*)" -> "f"; not ended by a zero.
 * *length is its length. */
const char *name_short(const char *pretty, size_t *length);

/* Remembers what it has demangled, because a few kernels run many times. Zero-initialised; one
 * thread at a time. */
struct demangled {
    struct texts texts;
    char **names;
    uint32_t capacity;
};

/* Lives as long as the collection. The symbol itself when there is no memory. */
const char *demangled_name(struct demangled *names, const char *symbol);
void demangled_free(struct demangled *names);

#endif
