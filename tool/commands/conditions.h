/* Conditions under which a comparison fails: "SQ_INSTS_VALU>+1%", "add_one:time>+5%", "calls!=0".
 */
#ifndef COMMANDS_CONDITIONS_H
#define COMMANDS_CONDITIONS_H

#include <stdbool.h>
#include <stddef.h>

struct condition {
    const char *text;
    char kernel[512]; /* what its name contains; "": any */
    char metric[128]; /* a counter's name, "time" or "calls" */
    char operator;    /* '<', '>' or '!' (differs from) */
    double change;
    bool is_percent;
};

/* 0, or -EINVAL with a line in `error`. The text is kept. */
int condition_read(struct condition *condition, const char *text, char *error, size_t error_size);

/* The condition is about this kernel and metric. */
bool condition_is_about(const struct condition *condition, const char *kernel, const char *metric);
/* A change from `before` to `after` fulfils it. */
bool condition_holds(const struct condition *condition, double before, double after);

#endif
