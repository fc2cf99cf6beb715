/* Kinds of OpenMP events, by the words of --ompt-trace. */
#ifndef COLLECT_OMPT_H
#define COLLECT_OMPT_H

#include <rocprofiler-sdk/fwd.h>

#include <stddef.h>

#include "launch/option_list.h"

enum { OMPT_OPERATIONS_MAX = 64 };

/*
 * The operations that a list of words asks for, each once: how many, 0 for all of them, which is
 * what NULL means. *unknown: the first word that is none of OMPT_WORDS, cut to its room, or "".
 */
size_t ompt_operations(const char *words, rocprofiler_tracing_operation_t list[OMPT_OPERATIONS_MAX],
                       char unknown[32]);

#endif
