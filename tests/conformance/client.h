/*
 * What conformance programs share: a process that is its own tool and makes its own records, with
 * markers, so that no GPU is needed. Every record is 64 bytes.
 */
#ifndef CONFORMANCE_CLIENT_H
#define CONFORMANCE_CLIENT_H

#include <rocprofiler-sdk-roctx/roctx.h>
#include <rocprofiler-sdk/external_correlation.h>
#include <rocprofiler-sdk/internal_threading.h>
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define OK(call)         assert_int_equal((call), ROCPROFILER_STATUS_SUCCESS)
#define FAILS(how, call) assert_int_equal((call), ROCPROFILER_STATUS_ERROR_##how)

enum { RECORD_BYTES = sizeof(rocprofiler_buffer_tracing_marker_api_record_t) };
_Static_assert(RECORD_BYTES == 64, "the tests count in records of 64 bytes");

static inline void marks(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        roctxMark("conformance");
}

static inline void nap_ms(long milliseconds)
{
    nanosleep(&(struct timespec){milliseconds / 1000, milliseconds % 1000 * 1000000}, NULL);
}

/* For what happens on another thread; false after 20 s. */
static inline bool eventually(_Atomic unsigned *value, unsigned at_least)
{
    for (int i = 0; i < 20000 && *value < at_least; i++)
        nap_ms(1);
    return *value >= at_least;
}

/* Long enough for something that must not happen to happen, if it ever would. */
static inline void settle(void)
{
    nap_ms(30);
}

static inline bool context_active(rocprofiler_context_id_t context)
{
    int active = -1;
    OK(rocprofiler_context_is_active(context, &active));
    return active == 1;
}

#endif
