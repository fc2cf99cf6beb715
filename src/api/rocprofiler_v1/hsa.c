/* The HSA runtime of the process, found at the first use: this library does not bring one. */
#include "api/rocprofiler_v1/internal.h"

#include <dlfcn.h>
#include <string.h>

static struct hsa_calls calls;
/* Writers: whoever found the runtime (release). Readers: any (acquire). */
static _Atomic bool found;

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
#define FUNCTION(member, function)                                                                 \
    {                                                                                              \
#function, offsetof(struct hsa_calls, member)                                              \
    }
    FUNCTION(iterate_agents, hsa_iterate_agents),
    FUNCTION(agent_get_info, hsa_agent_get_info),
    FUNCTION(queue_create, hsa_queue_create),
    FUNCTION(queue_destroy, hsa_queue_destroy),
    FUNCTION(signal_create, hsa_signal_create),
    FUNCTION(signal_destroy, hsa_signal_destroy),
    FUNCTION(signal_wait, hsa_signal_wait_scacquire),
    FUNCTION(signal_store, hsa_signal_store_screlease),
    FUNCTION(queue_cas_write_index, hsa_queue_cas_write_index_scacq_screl),
    FUNCTION(queue_load_write_index, hsa_queue_load_write_index_scacquire),
    FUNCTION(queue_load_read_index, hsa_queue_load_read_index_scacquire),
    FUNCTION(extension_table, hsa_system_get_major_extension_table),
#undef FUNCTION
};

/* False: the runtime lacks a function. */
static bool functions_find(void *library, struct hsa_calls *to)
{
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *function = dlsym(library, functions[i].name);
        if (!function)
            return false;
        memcpy((char *)to + functions[i].offset, &function, sizeof function);
    }
    return true;
}

const struct hsa_calls *hsa_calls(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    if (atomic_load_explicit(&found, memory_order_acquire))
        return &calls;
    void *library = dlopen("libhsa-runtime64.so.1", RTLD_LAZY | RTLD_NOLOAD);
    struct hsa_calls these;
    if (!library || !functions_find(library, &these)) {
        fail(HSA_STATUS_ERROR_NOT_INITIALIZED, "no HSA runtime is loaded");
        return NULL;
    }
    pthread_mutex_lock(&lock);
    if (!atomic_load_explicit(&found, memory_order_relaxed))
        calls = these;
    atomic_store_explicit(&found, true, memory_order_release);
    pthread_mutex_unlock(&lock);
    return &calls;
}
