#include "base/library.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>

void library_keep(const void *code)
{
    /* Where the one seen last begins: tools give many functions. Any thread, relaxed: a stale value
     * only means to look again. */
    static _Atomic(const void *) latest;
    Dl_info library;

    if (dladdr(code, &library) == 0 || !library.dli_fname ||
        atomic_load_explicit(&latest, memory_order_relaxed) == library.dli_fbase)
        return;
    void *handle = dlopen(library.dli_fname, RTLD_NOLOAD | RTLD_LAZY | RTLD_NODELETE);
    if (handle)
        dlclose(handle);
    atomic_store_explicit(&latest, library.dli_fbase, memory_order_relaxed);
}

const void *library_base(const void *address)
{
    Dl_info library;

    return dladdr(address, &library) != 0 ? library.dli_fbase : NULL;
}
