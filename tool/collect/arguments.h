/* Arguments and result of a traced call, as the rows of writers want them. */
#ifndef COLLECT_ARGUMENTS_H
#define COLLECT_ARGUMENTS_H

#include <rocprofiler-sdk/buffer_tracing.h>

#include "out/rows.h"

struct arguments {
    uint64_t calls_cut; /* which had more arguments than there is room for, so far */
    uint32_t used;
    char bytes[OUT_ARGUMENTS_BYTES];
};

/* Fills the row's arguments, which are in `arguments` then, if the record is of a kind that has
 * them. Of a long text the beginning is taken, and "..." tells. */
void arguments_take(const rocprofiler_record_header_t *header, struct arguments *arguments,
                    struct out_api_row *row);

#endif
