/* The HIP library of this process, and the ways to hook it. Internal to this folder. */
#ifndef INTERCEPT_HIP_LIBRARY_H
#define INTERCEPT_HIP_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct library_symbol {
    const char *name;
    void *target; /* a function pointer to fill */
};

/* False when one is missing. */
bool library_symbols_find(const struct library_symbol *symbols, size_t count);

/* hipApiName, asked in a way that is never traced. Only while arming. */
typedef const char *(*library_name_fn)(uint32_t id);
const char *library_function_name(library_name_fn exported, uint32_t id);

/* Our constructor may run before HIP's, which would then forget what we registered. This runs HIP's
 * constructors now when they have not run; `symbol` is any function of the library. */
void library_initialise(void *symbol);

/* The library's reports of finished work (operations.c). Up to 5.2: asked for here; later ones: the
 * tracer callback passes them on. */
void legacy_operations_arm(void);
bool operation_is_wanted(uint32_t operation);
void operation_begins(void);
void operation_finished(uint32_t operation, const void *record);

/* Up to 5.2; later ones without tables. False: not that kind of library. */
bool legacy_arm(void (*ready)(void));
bool tracer_arm(void (*ready)(void));

/* Hooks go or come back by what is configured. True: they went. Under the arming lock; nothing
 * happens before legacy_arm() or without it. */
bool legacy_calls_fit(void);

/* The tracer callback reports no calls from now on: they are seen in tables. */
void tracer_disarm(void);

#endif
