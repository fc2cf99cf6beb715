/* What can be said of a kernel: one table of conditions, sentences and the counters they rest on.
 */
#ifndef ANALYZE_RULES_H
#define ANALYZE_RULES_H

#include <stddef.h>

#include "measures.h"

enum { RULE_COUNTERS_MAX = 8, RULE_TEXT_BYTES = 400 };

struct rule {
    const char *name;  /* for tests and scripts */
    const char *topic; /* of several rules with one topic the first that applies is said */
    bool (*applies)(const struct measures *m);
    void (*say)(const struct measures *m, char *text, size_t size);
    enum analyze_counter counters[RULE_COUNTERS_MAX]; /* ends with COUNT_COUNT */
};

/* Ends with a nameless one. */
extern const struct rule analyze_rules[];

#endif
