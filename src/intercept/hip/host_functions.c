#include "intercept/hip/host_functions.h"

#include <pthread.h>
#include <rocprofiler-sdk/hip.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork_lock.h"

enum {
    REGISTER_FUNCTION = ROCPROFILER_HIP_COMPILER_API_ID___hipRegisterFunction,
    REGISTER_SLOT = 3,
    BUCKETS = 4096,
};

struct host_function {
    struct host_function *next;
    size_t name_length;
    host_function_data_t data; /* device_function is ours, for ever: tools keep the pointer */
};

/* Guards the buckets; entries are never changed or freed. A leaf. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
FORK_LOCK(lock_kept, lock)
static struct host_function *buckets[BUCKETS];

static struct host_function **bucket_of(const char *name, size_t length)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    return &buckets[hash % BUCKETS];
}

/* The caller holds the lock. */
static const struct host_function *find(const char *name, size_t length)
{
    for (const struct host_function *f = *bucket_of(name, length); f; f = f->next)
        if (f->name_length == length && memcmp(f->data.device_function, name, length) == 0)
            return f;
    return NULL;
}

bool host_function_find(const char *kernel_name, host_function_data_t *found)
{
    size_t length = strlen(kernel_name);
    if (length > 3 && strcmp(kernel_name + length - 3, ".kd") == 0)
        length -= 3;
    pthread_mutex_lock(&lock);
    const struct host_function *function = find(kernel_name, length);
    pthread_mutex_unlock(&lock);
    if (function)
        *found = function->data;
    return function != NULL;
}

static bool keep(struct host_function *function)
{
    struct host_function **bucket =
        bucket_of(function->data.device_function, function->name_length);

    pthread_mutex_lock(&lock);
    bool is_new = !find(function->data.device_function, function->name_length);
    if (is_new) {
        function->next = *bucket;
        *bucket = function;
    }
    pthread_mutex_unlock(&lock);
    return is_new;
}

static rocprofiler_dim3_t triple(const void *pointer)
{
    rocprofiler_dim3_t value = {0, 0, 0};
    if (pointer)
        memcpy(&value, pointer, sizeof value);
    return value;
}

typedef void (*register_fn)(void **modules, const void *host_function, char *device_function,
                            const char *device_name, unsigned thread_limit, uint3 *thread_id,
                            uint3 *block_id, dim3 *block_dim, dim3 *grid_dim, int *workgroup_size);

static void note(void **modules, const void *host_function, const char *name, unsigned thread_limit,
                 const uint3 *thread_id, const uint3 *block_id, const dim3 *block_dim,
                 const dim3 *grid_dim, const int *workgroup_size)
{
    struct host_function *function = calloc(1, sizeof *function);
    char *own_name = name ? strdup(name) : NULL;
    if (function && own_name) {
        function->name_length = strlen(own_name);
        function->data = (host_function_data_t){
            .size = sizeof function->data,
            .host_function.ptr = (void *)host_function,
            .modules.ptr = modules,
            .device_function = own_name,
            .thread_limit = thread_limit,
            .thread_ids = triple(thread_id),
            .block_ids = triple(block_id),
            .block_dims = triple(block_dim),
            .grid_dims = triple(grid_dim),
            .workgroup_size = workgroup_size ? (uint64_t)*workgroup_size : 0,
        };
        if (keep(function))
            return;
    }
    free(own_name);
    free(function);
}

static void *next_functions[TABLE_COPIES_MAX];

#define COPY(copy)                                                                                 \
    static void register_##copy(void **modules, const void *host_function, char *device_function,  \
                                const char *device_name, unsigned thread_limit, uint3 *thread_id,  \
                                uint3 *block_id, dim3 *block_dim, dim3 *grid_dim,                  \
                                int *workgroup_size)                                               \
    {                                                                                              \
        note(modules, host_function, device_function, thread_limit, thread_id, block_id,           \
             block_dim, grid_dim, workgroup_size);                                                 \
        ((register_fn)next_functions[copy])(modules, host_function, device_function, device_name,  \
                                            thread_limit, thread_id, block_id, block_dim,          \
                                            grid_dim, workgroup_size);                             \
    }
COPY(0)
COPY(1)
_Static_assert(TABLE_COPIES_MAX == 2, "a wrapper for each copy");

/* The operation is that of the domain below, not of the table's functions. */
static const struct table_function functions[] = {
    {REGISTER_SLOT, ROCPROFILER_CODE_OBJECT_HOST_KERNEL_SYMBOL_REGISTER},
};
_Static_assert(REGISTER_FUNCTION == 3, "its slot is its number");

static void *wrapper_at(uint32_t function, int copy)
{
    (void)function;
    return copy == 0 ? (void *)register_0 : (void *)register_1;
}

static void *tables[TABLE_COPIES_MAX];

const struct table_wrappers table_wrappers_host_functions = {
    .name = "host functions",
    .domain = TRACE_CODE_OBJECT,
    .functions = functions,
    .wrapper = wrapper_at,
    .function_count = sizeof functions / sizeof functions[0],
    .next = next_functions,
    .tables = tables,
};
