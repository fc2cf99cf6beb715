#include "intercept/hip/launches.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "intercept/hip/library.h"

static struct {
    const char *(*of_function)(hipFunction_t function);
    const char *(*of_pointer)(const void *host_function, hipStream_t stream);
} hip;

static const struct library_symbol symbols[] = {
    {"hipKernelNameRef", &hip.of_function},
    {"hipKernelNameRefByPtr", &hip.of_pointer},
};

bool launches_prepare(void)
{
    return library_symbols_find(symbols, sizeof symbols / sizeof symbols[0]);
}

/* ---- names: an open table that only grows */

enum { NAMES_MAX = 1 << 14, NAMES_BYTES_MAX = 8 << 20, PROBES_MAX = 256 };
/* Writers: launching threads (compare-exchange, release). Readers: the same (acquire). */
static _Atomic(const char *) names[NAMES_MAX];
/* Writers: who is about to copy a name adds, and subtracts where there is no room. Relaxed: a
 * limit. */
static _Atomic size_t names_bytes;

static uint32_t hash_of(const char *text)
{
    uint32_t hash = 2166136261u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash;
}

static const char *name_copy(const char *name)
{
    size_t size = strlen(name) + 1;
    if (atomic_fetch_add_explicit(&names_bytes, size, memory_order_relaxed) + size <=
        NAMES_BYTES_MAX)
        return strdup(name);
    atomic_fetch_sub_explicit(&names_bytes, size, memory_order_relaxed);
    return NULL;
}

static const char *name_keep(const char *name)
{
    static _Atomic bool told; /* writers: any (exchange, relaxed); only the first one tells */
    uint32_t hash = hash_of(name);
    const char *copy = NULL;
    for (uint32_t i = 0; i < PROBES_MAX; i++) {
        _Atomic(const char *) *slot = &names[(hash + i) % NAMES_MAX];
        const char *there = atomic_load_explicit(slot, memory_order_acquire);
        if (!there) {
            copy = copy ? copy : name_copy(name);
            if (!copy)
                break;
            if (atomic_compare_exchange_strong_explicit(slot, &there, copy, memory_order_seq_cst,
                                                        memory_order_seq_cst))
                return copy;
        }
        if (strcmp(there, name) == 0) {
            free((void *)(uintptr_t)copy); /* another thread was quicker */
            return there;
        }
    }
    free((void *)(uintptr_t)copy);
    if (!atomic_exchange_explicit(&told, true, memory_order_relaxed))
        log_warning("intercept", "too many kernel names: further kernels have none");
    return NULL;
}

/* ---- launches */

#define LAUNCHES_BY_POINTER(X)                                                                     \
    X(hipLaunchKernel, function_address)                                                           \
    X(hipExtLaunchKernel, function_address)                                                        \
    X(hipLaunchByPtr, func)                                                                        \
    X(hipLaunchCooperativeKernel, func)
#define LAUNCHES_BY_FUNCTION(X)                                                                    \
    X(hipModuleLaunchKernel, func)                                                                 \
    X(hipExtModuleLaunchKernel, func)                                                              \
    X(hipHccModuleLaunchKernel, func)
/* These launch the same kernel on every device. */
#define LAUNCHES_BY_LIST(X)                                                                        \
    X(hipLaunchCooperativeKernelMultiDevice, launchParamsList)                                     \
    X(hipExtLaunchMultiKernelMultiDevice, launchParamsList)

#define OPERATION(function) ROCPROFILER_HIP_RUNTIME_API_ID_##function

bool launch_names_kernel(int32_t operation)
{
    switch (operation) {
#define X(function, member) case OPERATION(function):
        LAUNCHES_BY_POINTER(X)
        LAUNCHES_BY_FUNCTION(X)
        LAUNCHES_BY_LIST(X)
#undef X
        return true;
    default:
        return false;
    }
}

static const char *name_ask(int32_t operation, const rocprofiler_hip_api_args_t *arguments)
{
    switch (operation) {
#define X(function, member)                                                                        \
    case OPERATION(function):                                                                      \
        return hip.of_pointer(arguments->function.member, NULL);
        LAUNCHES_BY_POINTER(X)
#undef X
#define X(function, member)                                                                        \
    case OPERATION(function):                                                                      \
        return hip.of_function(arguments->function.member);
        LAUNCHES_BY_FUNCTION(X)
#undef X
#define X(function, member)                                                                        \
    case OPERATION(function):                                                                      \
        return arguments->function.member                                                          \
                   ? hip.of_pointer((const void *)arguments->function.member[0].func, NULL)        \
                   : NULL;
        LAUNCHES_BY_LIST(X)
#undef X
    default:
        return NULL;
    }
}

const char *launch_kernel_name(int32_t operation, const rocprofiler_hip_api_args_t *arguments)
{
    const char *name = name_ask(operation, arguments);
    return name ? name_keep(name) : NULL;
}
