/*
 * A HIP library of ROCm 7 and later for tests: tables with more functions than we know, offered
 * through rocprofiler-register as the real one does. COPY tells copies of it apart.
 */
#include "hip_double.h"

#include <rocprofiler-register/rocprofiler-register.h>
#include <rocprofiler-sdk/hip.h>
#include <stdlib.h>

#define EXPORTED __attribute__((visibility("default")))

enum { UNKNOWN = 30, SLOTS = ROCPROFILER_HIP_RUNTIME_API_ID_LAST + UNKNOWN };

static struct {
    uint64_t size;
    void *slots[SLOTS];
} runtime = {.size = sizeof runtime};
static struct {
    uint64_t size;
    void *slots[ROCPROFILER_HIP_COMPILER_API_ID_LAST];
} compiler = {.size = sizeof compiler};

/* Any function that no test calls. */
static hipError_t unexpected(void)
{
    abort();
}

static hipError_t do_malloc(void **pointer, size_t size)
{
    if (size == 0)
        return hipErrorInvalidValue;
    *pointer = (void *)(uintptr_t)(0x1000 * (COPY + 1));
    return hipSuccess;
}

static hipError_t do_free(void *pointer)
{
    /* a library may call its own functions through its table */
    hipError_t (*allocate)(void **, size_t) =
        (hipError_t(*)(void **, size_t))runtime.slots[ROCPROFILER_HIP_RUNTIME_API_ID_hipMalloc];
    return !pointer ? allocate(&pointer, 0) : hipSuccess;
}

static hipError_t do_push(dim3 grid, dim3 block, size_t shared, hipStream_t stream)
{
    (void)stream;
    return grid.x * block.z == shared ? hipSuccess : hipErrorInvalidValue;
}

static hipChannelFormatDesc do_channel(int x, int y, int z, int w, hipChannelFormatKind kind)
{
    return (hipChannelFormatDesc){x, y, z, w, kind};
}

static const char *do_name(hipError_t error)
{
    return error == hipSuccess ? "success" : "failure";
}

ROCPROFILER_REGISTER_DEFINE_IMPORT(hip, DOUBLE_HIP_VERSION)

static void tables_fill(void)
{
    for (int i = 0; i < SLOTS; i++)
        runtime.slots[i] = (void *)unexpected;
    for (int i = 0; i < ROCPROFILER_HIP_COMPILER_API_ID_LAST; i++)
        compiler.slots[i] = NULL;
    runtime.slots[ROCPROFILER_HIP_RUNTIME_API_ID_hipMalloc] = (void *)do_malloc;
    runtime.slots[ROCPROFILER_HIP_RUNTIME_API_ID_hipFree] = (void *)do_free;
    runtime.slots[ROCPROFILER_HIP_RUNTIME_API_ID_hipCreateChannelDesc] = (void *)do_channel;
    runtime.slots[ROCPROFILER_HIP_RUNTIME_API_ID_hipGetErrorName] = (void *)do_name;
    compiler.slots[ROCPROFILER_HIP_COMPILER_API_ID___hipPushCallConfiguration] = (void *)do_push;
}

EXPORTED int double_hip_start(void);
EXPORTED void *double_hip_function(int operation);
EXPORTED void *double_hip_compiler_function(int operation);
EXPORTED int double_hip_untouched(void);

int double_hip_start(void)
{
    void *tables[] = {&runtime};
    rocprofiler_register_library_indentifier_t id;
    tables_fill();
    int status = rocprofiler_register_library_api_table("hip", rocprofiler_register_import_hip,
                                                        DOUBLE_HIP_VERSION, tables, 1, &id);
    tables[0] = &compiler;
    rocprofiler_register_library_api_table("hip_compiler", rocprofiler_register_import_hip,
                                           DOUBLE_HIP_VERSION, tables, 1, &id);
    return status;
}

void *double_hip_function(int operation)
{
    return runtime.slots[operation];
}

void *double_hip_compiler_function(int operation)
{
    return compiler.slots[operation];
}

int double_hip_untouched(void)
{
    int known = 0;
    for (int i = 0; i < SLOTS; i++)
        known += runtime.slots[i] == (void *)unexpected || runtime.slots[i] == (void *)do_malloc ||
                 runtime.slots[i] == (void *)do_free || runtime.slots[i] == (void *)do_channel ||
                 runtime.slots[i] == (void *)do_name;
    return known;
}
