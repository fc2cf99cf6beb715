#include "intercept/hip/library.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/log.h"
#include "intercept/hip/arm.h"
#include "intercept/hip/calls.h"
#include "intercept/hip/layouts.h"

/* libamdhip64.so.6 and the like, and what wheels make of it: libamdhip64-1f0c5a7b.so.6. */
static bool path_is_hip(const char *path)
{
    static const char name[] = "/libamdhip64";
    const char *last = strrchr(path, '/');
    return last != NULL && strncmp(last, name, sizeof name - 1) == 0 &&
           (last[sizeof name - 1] == '.' || last[sizeof name - 1] == '-') &&
           strstr(last, ".so") != NULL;
}

static int path_find(struct dl_phdr_info *object, size_t size, void *path)
{
    (void)size;
    if (!path_is_hip(object->dlpi_name))
        return 0;
    *(const char **)path = object->dlpi_name;
    return 1;
}

/* Loaded by a library that was opened locally, as Python's modules are, HIP is not in the global
   scope. */
static void *library_scope(void)
{
    const char *path = NULL;
    void *handle = NULL;
    if (!dlsym(RTLD_DEFAULT, "hipApiName") && dl_iterate_phdr(path_find, &path) != 0)
        handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    return handle ? handle : RTLD_DEFAULT;
}

bool library_symbols_find(const struct library_symbol *symbols, size_t count)
{
    void *scope = library_scope();
    for (size_t i = 0; i < count; i++) {
        void *symbol = dlsym(scope, symbols[i].name);
        if (!symbol)
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
        dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD); /* this also keeps it mapped */
}

/* Writer: whoever is offered the first library's table (relaxed: code, which is there before).
 * Readers: library_function_name. */
static _Atomic(library_name_fn) own_name;

void intercept_hip_tables_offered(const void *runtime_table)
{
    struct {
        uint64_t size_bytes;
        library_name_fn name;
    } table;
    library_name_fn none = NULL;
    _Static_assert(ROCPROFILER_HIP_RUNTIME_API_ID_hipApiName == 0, "it is in the first slot");
    memcpy(&table.size_bytes, runtime_table, sizeof table.size_bytes);
    if (table.size_bytes < sizeof table)
        return;
    memcpy(&table, runtime_table, sizeof table);
    atomic_compare_exchange_strong_explicit(&own_name, &none, table.name, memory_order_seq_cst,
                                            memory_order_seq_cst);
}

const char *library_function_name(library_name_fn exported, uint32_t id)
{
    library_name_fn own = atomic_load_explicit(&own_name, memory_order_relaxed);
    return own ? own(id) : exported(id);
}

/* Writer: a front end, once (release). Reader: whoever arms (acquire). */
static _Atomic(void (*)(void)) armed_hook;

void intercept_hip_on_armed(void (*hook)(void))
{
    atomic_store_explicit(&armed_hook, hook, memory_order_release);
}

static void armed_tell(void)
{
    void (*hook)(void) = atomic_load_explicit(&armed_hook, memory_order_acquire);

    if (hook)
        hook();
}

/* Guards `armed` and the numbering of functions. */
static pthread_mutex_t arm_lock = PTHREAD_MUTEX_INITIALIZER;
static bool armed;

/* A library that offers tables may be out of the linker's sight. */
static void numbers_provide(void)
{
    if (!armed && intercept_hip_in_tables())
        hip_calls_number(layouts_function_name);
}

bool intercept_hip_arm(void (*ready)(void))
{
    /* Who comes while another thread is arming, or is called by what arming does, has nothing to
       add. */
    if (pthread_mutex_trylock(&arm_lock) != 0)
        return false;
    bool before = armed;
    if (!armed)
        armed = legacy_arm(ready) || tracer_arm(ready);
    bool now = armed;
    numbers_provide();
    pthread_mutex_unlock(&arm_lock);
    if (now && !before) {
        intercept_hip_operations_refresh();
        armed_tell();
    }
    return now;
}

/* Grows with each question. Whoever has the lock looks until nobody has asked since (seq_cst: who
 * finds the lock taken has asked before). Hooks that are made just now are all of them. */
static _Atomic uint32_t calls_asked;

bool intercept_hip_calls_want(void)
{
    bool unhooked = false;
    uint32_t answered;
    atomic_fetch_add_explicit(&calls_asked, 1, memory_order_seq_cst);
    do {
        if (pthread_mutex_trylock(&arm_lock) != 0)
            return false;
        answered = atomic_load_explicit(&calls_asked, memory_order_seq_cst);
        unhooked |= legacy_calls_fit();
        pthread_mutex_unlock(&arm_lock);
    } while (atomic_load_explicit(&calls_asked, memory_order_seq_cst) != answered);
    return unhooked;
}

void intercept_hip_tables_arrived(uint64_t version)
{
    tracer_disarm();
    layouts_choose(version);
    /* else whoever is arming sees to it, and tells */
    if (pthread_mutex_trylock(&arm_lock) == 0) {
        numbers_provide();
        pthread_mutex_unlock(&arm_lock);
    }
    armed_tell();
}
