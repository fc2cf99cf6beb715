/* Short words for the tests of this folder. */
#ifndef CONFORMANCE_ROCPROFILER_V1_COMMON_H
#define CONFORMANCE_ROCPROFILER_V1_COMMON_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <rocprofiler/rocprofiler.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../counting/gpu.h"

static inline const char *error_text(void)
{
    const char *text = NULL;
    rocprofiler_error_string(&text);
    return text;
}

#define OK(call)                                                                                   \
    do {                                                                                           \
        hsa_status_t ok_status = (call);                                                           \
        if (ok_status != HSA_STATUS_SUCCESS)                                                       \
            fail_msg("%s: 0x%x: %s", #call, (unsigned)ok_status, error_text());                    \
    } while (0)
/* A failure with a message that says `word`. */
#define REFUSED(call, word)                                                                        \
    do {                                                                                           \
        assert_int_not_equal((call), HSA_STATUS_SUCCESS);                                          \
        if (!strstr(error_text(), word))                                                           \
            fail_msg("%s: \"%s\" does not say \"%s\"", #call, error_text(), word);                 \
    } while (0)

static inline rocprofiler_feature_t feature(const char *name)
{
    rocprofiler_feature_t made = {.kind = ROCPROFILER_FEATURE_KIND_METRIC};
    made.name = name;
    return made;
}

/* What kernels of `groups` work-groups make the sequencers count. */
static inline uint64_t waves_of(uint32_t groups)
{
    return (uint64_t)groups * WAVES_OF_GROUP;
}

#endif
