/* Arguments of a call, as they come row by row. */
#ifndef RECORDING_CALL_ARGUMENTS_H
#define RECORDING_CALL_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "out/rows.h"

enum { ARGUMENTS_MAX = 256 };

struct arguments_read {
    uint32_t used, count;
    struct argument_place {
        int64_t position;
        uint32_t at, bytes;
    } places[ARGUMENTS_MAX];
    char as_read[OUT_ARGUMENTS_BYTES], in_order[OUT_ARGUMENTS_BYTES];
};

void arguments_begin(struct arguments_read *arguments);
/* Texts may be NULL. False: there is no room for it. */
bool arguments_add(struct arguments_read *arguments, int64_t position, const char *type,
                   const char *name, const char *value);
/* The row's arguments are in `arguments` until the next ones begin. */
void arguments_end(struct arguments_read *arguments, struct out_api_row *row);

#endif
