#include "library.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>

/* Of OTF2 3: Debian's name, and its makers'. */
static const char *const names[] = {"libopen-trace-format2.so.10", "libotf2.so.10"};

static bool functions_find(void *handle, struct otf2_library *library)
{
#define X(name)                                                                                    \
    *(void **)&library->name = dlsym(handle, "OTF2_" #name);                                       \
    if (!library->name)                                                                            \
        return false;
    OTF2_FUNCTIONS(X)
#undef X
    return true;
}

const struct otf2_library *otf2_library_get(char *error, size_t error_size)
{
    static struct otf2_library library;
    static bool is_found;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !is_found; i++) {
        void *handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        is_found = handle && functions_find(handle, &library);
        if (handle && !is_found)
            dlclose(handle);
    }
    if (is_found)
        return &library;
    snprintf(error, error_size, "format otf2 needs %s, which is not installed", names[0]);
    return NULL;
}
