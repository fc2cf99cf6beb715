#include "intercept/hip/library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "base/log.h"
#include "intercept/hip/arm.h"

bool library_symbols_find(const struct library_symbol *symbols, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        void *symbol = dlsym(RTLD_DEFAULT, symbols[i].name);
        if (symbol == NULL)
            return false;
        memcpy(symbols[i].target, &symbol, sizeof symbol);
    }
    return true;
}

/* Opening a library that is mapped but not yet initialised makes the dynamic linker initialise it,
   its dependencies first. */
void library_initialise(void *symbol)
{
    Dl_info library;

    if (dladdr(symbol, &library) != 0)
        dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD); /* and keep it */
}

bool intercept_hip_arm(void (*ready)(void))
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool armed;

    /* Who comes while another thread is arming, or is called by what arming does, has nothing to
       add. */
    if (pthread_mutex_trylock(&lock) != 0)
        return false;
    if (!armed)
        armed = legacy_arm(ready) || tracer_arm(ready);
    pthread_mutex_unlock(&lock);
    return armed;
}
