/*
 * The OpenMP tools interface (OMPT, OpenMP 5.2 section 19), without that of debuggers (OMPD);
 * names, values and layouts are those of the OpenMP specification. A program that includes its
 * compiler's <omp-tools.h> first keeps that one: both use the same include guard.
 */
#ifndef __OMPT__
#define __OMPT__

#include "types.h"

#include "events.h"
#include "trace.h"

/* What stands for "none". */
#define ompt_id_none         0
#define ompt_time_none       0
#define ompt_hwid_none       0
#define ompt_addr_none       ~0
#define ompt_mutex_impl_none 0
#define ompt_wait_id_none    0
#define ompt_data_none                                                                             \
    {                                                                                              \
        0                                                                                          \
    }

#endif
