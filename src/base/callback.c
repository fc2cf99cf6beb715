/* The unwinder calls this as the exception handling part of the x86-64 ABI says. */
#include "base/callback.h"

#include <stdint.h>

enum { FORCED_UNWIND = 8, FATAL_IN_SEARCH = 3, CONTINUE = 8 };

__thread bool callback_left;

int callback_personality(int version, int actions, uint64_t exception_class, void *exception,
                         void *context) __attribute__((visibility("hidden")));

int callback_personality(int version, int actions, uint64_t exception_class, void *exception,
                         void *context)
{
    (void)version, (void)exception_class, (void)exception, (void)context;
    callback_left = true;
    return actions & FORCED_UNWIND ? CONTINUE : FATAL_IN_SEARCH;
}
