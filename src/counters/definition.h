/*
 * Counter definitions as written: what a name means on which architectures. Read from YAML in
 * either schema, or taken from the set that is compiled in.
 */
#ifndef COUNTERS_DEFINITION_H
#define COUNTERS_DEFINITION_H

#include <stddef.h>
#include <stdint.h>

struct counter_definition {
    const char *name;
    const char *architectures; /* "gfx908/gfx90a" */
    const char *block;         /* NULL: computed */
    const char *expression;    /* NULL: a hardware counter */
    const char *description;
    uint32_t event;
    uint32_t line;  /* in its file; 0 for the compiled-in set */
    int is_shipped; /* of the compiled-in set */
};

struct definition_set;

struct definition_set *definitions_create(void);
/* What the set has now, to be added to on its own; it needs the strings of the set, which must
 * outlive it. NULL: out of memory. */
struct definition_set *definitions_clone(const struct definition_set *set);
void definitions_destroy(struct definition_set *set);

/* The definitions in order; valid until the set changes. */
const struct counter_definition *definitions_all(const struct definition_set *set, uint32_t *count);

/* Copies the strings. A definition of the same name replaces the earlier one on the architectures
 * that it names. 0 or -1 (out of memory). */
int definitions_add(struct definition_set *set, const struct counter_definition *definition);

/* Takes back the last definitions_add(). */
void definitions_remove_last(struct definition_set *set);

/* Whether a later definition took a name of the compiled-in set, so that what refers to it means
 * something else now. */
int definitions_override_shipped(const struct definition_set *set);

/* The set that is compiled in: data/counters in binary form. */
int definitions_add_builtin(struct definition_set *set);

/* Reads one YAML document of either schema. What is wrong with it is logged as
 * "file:line:column: message" and counted; everything that is right is taken. Returns the number
 * of problems, -1 when nothing could be read at all. */
int definitions_load_yaml(struct definition_set *set, const char *file_name, const char *text,
                          size_t text_bytes);
int definitions_load_file(struct definition_set *set, const char *path);

/* The last problem that was logged, for callers that report it otherwise; "" when there is none. */
const char *definitions_problem(const struct definition_set *set);
__attribute__((format(printf, 2, 3))) void definitions_report(struct definition_set *set,
                                                              const char *format, ...);

/* The definition of a name on an architecture, or NULL. */
const struct counter_definition *definition_find(const struct definition_set *set, const char *name,
                                                 const char *architecture);
int definition_applies(const struct counter_definition *definition, const char *architecture);

#endif
