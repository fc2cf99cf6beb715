#include "roctracer/arguments/arguments.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>
#include <roctracer/roctracer_hip.h>
#include <roctracer/roctracer_hsa.h>
#include <roctracer/roctracer_kfd.h>

/* A HIP library that knows no names, so that none contradicts the header. */
const char *roctracer_op_string(uint32_t domain, uint32_t op, uint32_t kind)
{
    (void)domain, (void)op, (void)kind;
    return "unknown";
}

static char kept[4096], text[4096];

static const struct call *hip_call(uint32_t operation)
{
    const struct call *call = call_find(ACTIVITY_DOMAIN_HIP_API, operation);
    assert_non_null(call);
    return call;
}

static void hip_text_is(uint32_t operation, hip_api_data_t *data, const char *expected)
{
    const struct call *call = hip_call(operation);
    call_keep(call, data, kept, sizeof kept);
    size_t length = call_text(call, ACTIVITY_DOMAIN_HIP_API, data, text, sizeof text);
    assert_string_equal(text, expected);
    assert_int_equal(length, strlen(expected));
}

static void *unmapped(void)
{
    void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(page != MAP_FAILED);
    munmap(page, 4096);
    return page;
}

static void operations_outside_of_the_tables_are_unknown(void **state)
{
    (void)state;
    assert_null(call_find(ACTIVITY_DOMAIN_HIP_API, 0));
    assert_null(call_find(ACTIVITY_DOMAIN_HIP_API, 100000));
    assert_null(call_find(ACTIVITY_DOMAIN_HIP_API, UINT32_MAX));
    assert_null(call_find(ACTIVITY_DOMAIN_HSA_API, HSA_API_ID_DISPATCH));
    assert_null(call_find(ACTIVITY_DOMAIN_HSA_API, UINT32_MAX));
    assert_null(call_find(ACTIVITY_DOMAIN_ROCTX, 1));
    assert_null(call_find(UINT32_MAX, 1));
}

static void what_hip_pointers_lead_to_is_shown(void **state)
{
    (void)state;
    void *memory = (void *)0x7f0000001000;
    hip_api_data_t data = {0};
    data.args.hipMalloc.ptr = &memory;
    data.args.hipMalloc.size = 4096;
    hip_text_is(HIP_API_ID_hipMalloc, &data, "hipMalloc(ptr=0x7f0000001000, size=4096)");
    assert_ptr_equal(data.args.hipMalloc.ptr__val, memory);
    data.args.hipMalloc.ptr = NULL;
    hip_text_is(HIP_API_ID_hipMalloc, &data, "hipMalloc(ptr=NULL, size=4096)");
}

static void dangling_pointers_are_not_followed(void **state)
{
    (void)state;
    hip_api_data_t data = {0};
    data.args.hipMalloc.ptr = unmapped();
    data.args.hipMalloc.size = 7;
    errno = 77;
    hip_text_is(HIP_API_ID_hipMalloc, &data, "hipMalloc(ptr=0, size=7)");
    assert_int_equal(errno, 77); /* the program looks at it after its call */
    /* One bad pointer does not hide what a good one leads to. */
    size_t bytes = 64;
    data = (hip_api_data_t){0};
    data.args.hipModuleGetGlobal.dptr = unmapped();
    data.args.hipModuleGetGlobal.bytes = &bytes;
    data.args.hipModuleGetGlobal.name = unmapped();
    hip_text_is(HIP_API_ID_hipModuleGetGlobal, &data,
                "hipModuleGetGlobal(dptr=0, bytes=64, hmod=0, name=NULL)");
}

static void strings_outlive_the_program_s(void **state)
{
    (void)state;
    char name[] = "say \"x\"\n\\";
    hipFunction_t function = (hipFunction_t)0x10;
    hip_api_data_t data = {0};
    data.args.hipModuleGetFunction.function = &function;
    data.args.hipModuleGetFunction.module = (hipModule_t)0x20;
    data.args.hipModuleGetFunction.kname = name;
    const struct call *call = hip_call(HIP_API_ID_hipModuleGetFunction);
    assert_int_equal(call_keep(call, &data, kept, sizeof kept), sizeof name);
    memset(name, 'z', sizeof name);
    call_text(call, ACTIVITY_DOMAIN_HIP_API, &data, text, sizeof text);
    assert_string_equal(text, "hipModuleGetFunction(function=0x10, module=0x20, "
                              "kname=\"say \\\"x\\\"\\x0a\\\\\")");
}

/* A string that ends at the last byte before memory that is not there. */
static void strings_are_read_up_to_the_edge_of_memory(void **state)
{
    (void)state;
    char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED);
    munmap(pages + 4096, 4096);
    memset(pages, 'a', 4096);
    hip_api_data_t data = {0};
    const struct call *call = hip_call(HIP_API_ID_hipModuleGetFunction);
    memcpy(pages + 4092, "end", 4);
    data.args.hipModuleGetFunction.kname = pages + 4092;
    assert_int_equal(call_keep(call, &data, kept, sizeof kept), 4);
    assert_string_equal(data.args.hipModuleGetFunction.kname, "end");
    memcpy(pages + 4092, "endl", 4); /* no end at all */
    data.args.hipModuleGetFunction.kname = pages + 4092;
    assert_int_equal(call_keep(call, &data, kept, sizeof kept), 5);
    assert_string_equal(data.args.hipModuleGetFunction.kname, "endl");
    data.args.hipModuleGetFunction.kname = pages; /* long: cut */
    size_t used = call_keep(call, &data, kept, sizeof kept);
    assert_true(used > 1 && used <= 1024);
    assert_int_equal(strlen(data.args.hipModuleGetFunction.kname), used - 1);
    data.args.hipModuleGetFunction.kname = pages;
    assert_int_equal(call_keep(call, &data, kept, 1), 0); /* no room */
    assert_null(data.args.hipModuleGetFunction.kname);
    munmap(pages, 4096);
}

static void launches_show_their_dimensions_and_name_their_kernel(void **state)
{
    (void)state;
    bool is_symbol = false;
    hip_api_data_t data = {0};
    data.args.hipLaunchKernel.function_address = (void *)0x401030;
    data.args.hipLaunchKernel.numBlocks = (dim3){4, 5, 6};
    data.args.hipLaunchKernel.dimBlocks = (dim3){64, 1, 1};
    data.args.hipLaunchKernel.sharedMemBytes = 128;
    hip_text_is(HIP_API_ID_hipLaunchKernel, &data,
                "hipLaunchKernel(function_address=0x401030, numBlocks={x=4, y=5, z=6}, "
                "dimBlocks={x=64, y=1, z=1}, args=NULL, sharedMemBytes=128, stream=0)");
    assert_ptr_equal(call_kernel(hip_call(HIP_API_ID_hipLaunchKernel), &data, &is_symbol),
                     0x401030);
    assert_true(is_symbol);
    data = (hip_api_data_t){0};
    data.args.hipModuleLaunchKernel.f = (hipFunction_t)0x99;
    assert_ptr_equal(call_kernel(hip_call(HIP_API_ID_hipModuleLaunchKernel), &data, &is_symbol),
                     0x99);
    assert_false(is_symbol);
    hipKernelNodeParams params = {.func = (void *)0x55};
    data = (hip_api_data_t){0};
    data.args.hipGraphAddKernelNode.pNodeParams = &params;
    call_keep(hip_call(HIP_API_ID_hipGraphAddKernelNode), &data, kept, sizeof kept);
    assert_ptr_equal(call_kernel(hip_call(HIP_API_ID_hipGraphAddKernelNode), &data, &is_symbol),
                     0x55);
    assert_null(call_kernel(hip_call(HIP_API_ID_hipMalloc), &data, &is_symbol));
}

static void calls_without_arguments_have_empty_brackets(void **state)
{
    (void)state;
    hip_api_data_t data = {0};
    hip_text_is(HIP_API_ID_hipDeviceSynchronize, &data, "hipDeviceSynchronize()");
}

static void hsa_text_is(uint32_t operation, hsa_api_data_t *data, const char *expected)
{
    const struct call *call = call_find(ACTIVITY_DOMAIN_HSA_API, operation);
    assert_non_null(call);
    call_keep(call, data, kept, sizeof kept);
    call_text(call, ACTIVITY_DOMAIN_HSA_API, data, text, sizeof text);
    assert_string_equal(text, expected);
}

static void hsa_calls_show_values_and_their_result(void **state)
{
    (void)state;
    hsa_api_data_t data = {0};
    data.hsa_status_t_retval = HSA_STATUS_ERROR_INVALID_ARGUMENT; /* 0x1001 */
    data.args.hsa_agent_get_info.agent.handle = 12;
    data.args.hsa_agent_get_info.attribute = HSA_AGENT_INFO_DEVICE; /* 17 */
    data.args.hsa_agent_get_info.value = (void *)0x7ffc0;
    hsa_text_is(HSA_API_ID_hsa_agent_get_info, &data,
                "hsa_agent_get_info({handle=12}, 17, 0x7ffc0) = 4097");
    data = (hsa_api_data_t){0};
    hsa_text_is(HSA_API_ID_hsa_init, &data, "hsa_init() = 0");
    data.args.hsa_signal_store_relaxed.signal.handle = 5;
    data.args.hsa_signal_store_relaxed.value = -3;
    hsa_text_is(HSA_API_ID_hsa_signal_store_relaxed, &data,
                "hsa_signal_store_relaxed({handle=5}, -3) = void");
    data = (hsa_api_data_t){.hsa_signal_value_t_retval = -1};
    hsa_text_is(HSA_API_ID_hsa_signal_load_relaxed, &data,
                "hsa_signal_load_relaxed({handle=0}) = -1");
}

static void kfd_calls_show_values_and_their_result(void **state)
{
    kfd_api_data_t data = {.HSAKMT_STATUS_retval = (HSAKMT_STATUS)6};
    const struct call *call = call_find(ACTIVITY_DOMAIN_KFD_API, KFD_API_ID_hsaKmtAllocMemory);
    (void)state;
    assert_non_null(call);
    data.args.hsaKmtAllocMemory.PreferredNode = 1;
    data.args.hsaKmtAllocMemory.SizeInBytes = 4096;
    data.args.hsaKmtAllocMemory.MemFlags.Value = 64;
    data.args.hsaKmtAllocMemory.MemoryAddress = (void **)0x7ffc0;
    call_text(call, ACTIVITY_DOMAIN_KFD_API, &data, text, sizeof text);
    assert_string_equal(text, "hsaKmtAllocMemory(1, 4096, 64, 0x7ffc0) = 6");
    data = (kfd_api_data_t){0};
    call = call_find(ACTIVITY_DOMAIN_KFD_API, KFD_API_ID_hsaKmtOpenKFD);
    call_text(call, ACTIVITY_DOMAIN_KFD_API, &data, text, sizeof text);
    assert_string_equal(text, "hsaKmtOpenKFD() = 0");
    assert_null(call_find(ACTIVITY_DOMAIN_KFD_API, KFD_API_ID_NUMBER));
}

static void text_is_cut_at_its_room(void **state)
{
    (void)state;
    hsa_api_data_t data = {0};
    const struct call *call = call_find(ACTIVITY_DOMAIN_HSA_API, HSA_API_ID_hsa_agent_get_info);
    char whole[200], part[200];
    size_t length = call_text(call, ACTIVITY_DOMAIN_HSA_API, &data, whole, sizeof whole);
    for (size_t size = 1; size <= length; size++) {
        memset(part, 'x', sizeof part);
        assert_int_equal(call_text(call, ACTIVITY_DOMAIN_HSA_API, &data, part, size), size - 1);
        assert_memory_equal(part, whole, size - 1);
        assert_int_equal(part[size - 1], 0);
        assert_int_equal(part[size], 'x');
    }
}

/* Every row of both tables, on data of zeros and of ones: nothing is followed that is not there. */
static void every_call_can_be_shown(void **state)
{
    (void)state;
    unsigned char *data = malloc(call_data_size_max_bytes);
    for (uint32_t domain = 0; domain < ACTIVITY_DOMAIN_NUMBER; domain++)
        for (uint32_t operation = 0; operation < 1000; operation++)
            for (int fill = 0; fill < 2; fill++) {
                const struct call *call = call_find(domain, operation);
                if (!call)
                    continue;
                assert_true(call->data_size_bytes <= call_data_size_max_bytes);
                memset(data, fill ? 0xff : 0, call_data_size_max_bytes);
                call_keep(call, data, kept, sizeof kept);
                call_text(call, domain, data, text, sizeof text);
                assert_int_equal(strncmp(text, call->name, strlen(call->name)), 0);
            }
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_outside_of_the_tables_are_unknown),
        cmocka_unit_test(what_hip_pointers_lead_to_is_shown),
        cmocka_unit_test(dangling_pointers_are_not_followed),
        cmocka_unit_test(strings_outlive_the_program_s),
        cmocka_unit_test(strings_are_read_up_to_the_edge_of_memory),
        cmocka_unit_test(launches_show_their_dimensions_and_name_their_kernel),
        cmocka_unit_test(calls_without_arguments_have_empty_brackets),
        cmocka_unit_test(hsa_calls_show_values_and_their_result),
        cmocka_unit_test(kfd_calls_show_values_and_their_result),
        cmocka_unit_test(text_is_cut_at_its_room),
        cmocka_unit_test(every_call_can_be_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
