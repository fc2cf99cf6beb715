/* One executable with two kernels, and its code object. */
#include "intercept/hsa/test/objects_double.h"

#include <hsa/hsa_ven_amd_loader.h>
#include <string.h>

#include "codeobj/kernel_descriptor.h"
#include "intercept/hsa/test/hsa_double.h"

/* Code lies behind its descriptor, or before it. */
static _Alignas(64) struct kernel_descriptor descriptors[2] = {{.code_entry_offset_bytes = 4096},
                                                               {.code_entry_offset_bytes = -256}};
static const char *const kernel_names[] = {"first.kd", "second.kd"};

hsa_executable_t double_executable(void)
{
    return (hsa_executable_t){(DOUBLE_AGENTS + 0xe1)};
}

uint64_t double_kernel_object(uint32_t n)
{
    return (uint64_t)(uintptr_t)&descriptors[n];
}

static hsa_status_t executable_ok(hsa_executable_t executable)
{
    return executable.handle == (DOUBLE_AGENTS + 0xe1) ? HSA_STATUS_SUCCESS
                                                       : HSA_STATUS_ERROR_INVALID_EXECUTABLE;
}

static hsa_status_t executable_freeze(hsa_executable_t executable, const char *options)
{
    (void)options;
    return executable_ok(executable);
}

static hsa_status_t
iterate_symbols(hsa_executable_t executable, hsa_agent_t agent,
                hsa_status_t (*callback)(hsa_executable_t executable, hsa_agent_t agent,
                                         hsa_executable_symbol_t symbol, void *data),
                void *data)
{
    for (uint64_t i = 0; i < 2; i++)
        callback(executable, agent, (hsa_executable_symbol_t){i}, data);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t symbol_get_info(hsa_executable_symbol_t symbol,
                                    hsa_executable_symbol_info_t attribute, void *value)
{
    const char *name = kernel_names[symbol.handle];
    switch (attribute) {
    case HSA_EXECUTABLE_SYMBOL_INFO_TYPE:
        *(hsa_symbol_kind_t *)value = HSA_SYMBOL_KIND_KERNEL;
        break;
    case HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH:
        *(uint32_t *)value = (uint32_t)strlen(name);
        break;
    case HSA_EXECUTABLE_SYMBOL_INFO_NAME:
        memcpy(value, name, strlen(name));
        break;
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT:
        *(uint64_t *)value = double_kernel_object((uint32_t)symbol.handle);
        break;
    default:
        *(uint32_t *)value = 16;
    }
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t host_address(const void *device, const void **host)
{
    *host = device;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t iterate_objects(hsa_executable_t executable,
                                    hsa_status_t (*callback)(hsa_executable_t executable,
                                                             hsa_loaded_code_object_t object,
                                                             void *data),
                                    void *data)
{
    return callback(executable, (hsa_loaded_code_object_t){0xc0de}, data);
}

static hsa_status_t object_get_info(hsa_loaded_code_object_t object,
                                    hsa_ven_amd_loader_loaded_code_object_info_t attribute,
                                    void *value)
{
    static const char uri[] = "memory://1234#offset=0x10&size=42";
    (void)object;
    switch (attribute) {
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_AGENT:
        *(hsa_agent_t *)value = (hsa_agent_t){DOUBLE_GPU};
        break;
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_BASE:
        *(uint64_t *)value = (uint64_t)(uintptr_t)descriptors;
        break;
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_SIZE:
        *(uint64_t *)value = sizeof descriptors;
        break;
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_DELTA:
        *(int64_t *)value = -7;
        break;
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_TYPE:
        *(uint32_t *)value = HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY;
        break;
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI_LENGTH:
        *(uint32_t *)value = sizeof uri - 1;
        break;
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI:
        memcpy(value, uri, sizeof uri - 1);
        break;
    default:
        *(uint64_t *)value = 0x1234;
    }
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t extension_table(uint16_t extension, uint16_t major, size_t size, void *table)
{
    const hsa_ven_amd_loader_1_03_pfn_t loader = {
        .hsa_ven_amd_loader_query_host_address = host_address,
        .hsa_ven_amd_loader_executable_iterate_loaded_code_objects = iterate_objects,
        .hsa_ven_amd_loader_loaded_code_object_get_info = object_get_info,
    };

    if (extension != HSA_EXTENSION_AMD_LOADER || major != 1)
        return HSA_STATUS_ERROR;
    memcpy(table, &loader, size < sizeof loader ? size : sizeof loader);
    return HSA_STATUS_SUCCESS;
}

const struct double_function double_object_functions[DOUBLE_OBJECT_FUNCTIONS] = {
    {HSA_FN_hsa_executable_freeze, (void *)executable_freeze},
    {HSA_FN_hsa_executable_destroy, (void *)executable_ok},
    {HSA_FN_hsa_executable_iterate_agent_symbols, (void *)iterate_symbols},
    {HSA_FN_hsa_executable_symbol_get_info, (void *)symbol_get_info},
    {HSA_FN_hsa_system_get_major_extension_table, (void *)extension_table},
};
