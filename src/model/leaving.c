/* The end of calls that an exception leaves; see the exception handling part of the x86-64 ABI. */
#include "model/trace.h"

#include <dlfcn.h>

enum { CLEANUP_PHASE = 2, CONTINUE = 8 };

/* The library that unwinds is asked, because only it knows its own contexts. Of a function that is
 * being left it says where its callee's frame ended, which is where the function's own begins. */
typedef uintptr_t cfa_fn(void *context);

static cfa_fn *cfa_function(void)
{
    cfa_fn *function = NULL;
    void *found = dlsym(RTLD_DEFAULT, "_Unwind_GetCFA");
    if (!found) { /* not in the program's own list, as in a Python that opened HIP */
        void *library = dlopen("libgcc_s.so.1", RTLD_LAZY | RTLD_NOLOAD);
        found = library ? dlsym(library, "_Unwind_GetCFA") : NULL;
        if (library)
            dlclose(library);
    }
    *(void **)(void *)&function = found;
    return function;
}

int trace_call_personality(int version, int actions, uint64_t exception_class, void *exception,
                           void *context)
{
    (void)version, (void)exception_class, (void)exception;
    cfa_fn *cfa = actions & CLEANUP_PHASE ? cfa_function() : NULL;
    if (cfa)
        trace_calls_leave((const void *)cfa(context));
    return CONTINUE;
}
