#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include "model/describe/arguments.h"
#include "model/describe/status.h"

static void every_status_has_its_own_name_and_text(void **state)
{
    (void)state;
    for (int i = 0; i < ROCPROFILER_STATUS_LAST; i++) {
        assert_non_null(status_name(i));
        assert_memory_equal(status_name(i), "ROCPROFILER_STATUS_", 19);
        assert_true(strlen(status_text(i)) > 6);
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(status_name(i), status_name(j));
            assert_string_not_equal(status_text(i), status_text(j));
        }
    }
    assert_string_equal(status_name(ROCPROFILER_STATUS_ERROR_FINALIZED),
                        "ROCPROFILER_STATUS_ERROR_FINALIZED");
}

static void no_status_has_no_name(void **state)
{
    (void)state;
    assert_null(status_name(ROCPROFILER_STATUS_LAST));
    assert_null(status_text((rocprofiler_status_t)-1));
}

static struct argument find(enum trace_domain domain, int32_t operation, const char *name)
{
    uint32_t count = operation_argument_count(domain, operation);
    struct argument argument = {0};
    for (uint32_t i = 0; i < count; i++) {
        argument = operation_argument(domain, operation, i);
        if (strcmp(argument.name, name) == 0)
            return argument;
    }
    fail_msg("no argument %s", name);
    return argument;
}

#define TEXT(domain, operation, name, args, dereferences, expected)                                \
    do {                                                                                           \
        char text_[128];                                                                           \
        struct argument argument_ = find(domain, operation, name);                                 \
        argument_text(&argument_, args, dereferences, text_, sizeof(text_));                       \
        assert_string_equal(text_, expected);                                                      \
    } while (0)

static void scalars_enums_handles_and_structs(void **state)
{
    (void)state;
    rocprofiler_hsa_api_args_t hsa;
    memset(&hsa, 0xff, sizeof(hsa));
    hsa.hsa_agent_get_info.agent.handle = 77;
    hsa.hsa_agent_get_info.attribute = HSA_AGENT_INFO_WAVEFRONT_SIZE;
    int32_t id = ROCPROFILER_HSA_CORE_API_ID_hsa_agent_get_info;
    TEXT(TRACE_HSA_CORE_API, id, "agent", &hsa, 0, "77");
    TEXT(TRACE_HSA_CORE_API, id, "attribute", &hsa, 0, "6");

    rocprofiler_hip_api_args_t hip;
    memset(&hip, 0xff, sizeof(hip));
    hip.hipSetDevice.deviceId = -3;
    TEXT(TRACE_HIP_RUNTIME_API, ROCPROFILER_HIP_RUNTIME_API_ID_hipSetDevice, "deviceId", &hip, 0,
         "-3");
    hip.hipLaunchKernel.numBlocks = (rocprofiler_dim3_t){4, 5, 6};
    TEXT(TRACE_HIP_RUNTIME_API, ROCPROFILER_HIP_RUNTIME_API_ID_hipLaunchKernel, "numBlocks", &hip,
         0, "{x=4, y=5, z=6}");
}

static void strings_are_shown_and_cut(void **state)
{
    (void)state;
    rocprofiler_marker_api_args_t args = {.roctxMarkA = {.message = "phase one"}};
    int32_t id = ROCPROFILER_MARKER_CORE_API_ID_roctxMarkA;
    TEXT(TRACE_MARKER_CORE_API, id, "message", &args, 0, "phase one");
    args.roctxMarkA.message = NULL;
    TEXT(TRACE_MARKER_CORE_API, id, "message", &args, 0, "(null)");

    char text[6];
    args.roctxMarkA.message = "0123456789";
    struct argument message = find(TRACE_MARKER_CORE_API, id, "message");
    argument_text(&message, &args, 0, text, sizeof(text));
    assert_string_equal(text, "01234");
}

static void pointers_are_followed_only_as_far_as_asked(void **state)
{
    (void)state;
    int count = 12;
    rocprofiler_hip_api_args_t args = {.hipGetDeviceCount = {.count = &count}};
    struct argument argument =
        find(TRACE_HIP_RUNTIME_API, ROCPROFILER_HIP_RUNTIME_API_ID_hipGetDeviceCount, "count");
    assert_int_equal(argument.indirections, 1);
    assert_string_equal(argument.type, "int *");
    char text[64];
    assert_int_equal(argument_text(&argument, &args, 1, text, sizeof(text)), 1);
    assert_string_equal(text, "12");
    assert_int_equal(argument_text(&argument, &args, 0, text, sizeof(text)), 0);
    assert_memory_equal(text, "0x", 2);
}

/* The program's memory may be gone when a tool looks. */
static void dangling_pointers_do_not_crash(void **state)
{
    (void)state;
    char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(page, MAP_FAILED);
    memset(page, 'a', 4096);
    munmap(page + 4096, 4096);

    char text[64];
    rocprofiler_hip_api_args_t hip = {.hipGetDeviceCount = {.count = (int *)(page + 4096)}};
    struct argument count =
        find(TRACE_HIP_RUNTIME_API, ROCPROFILER_HIP_RUNTIME_API_ID_hipGetDeviceCount, "count");
    assert_int_equal(argument_text(&count, &hip, 1, text, sizeof(text)), 0);

    rocprofiler_marker_api_args_t marker = {.roctxMarkA = {.message = page + 4093}};
    struct argument message =
        find(TRACE_MARKER_CORE_API, ROCPROFILER_MARKER_CORE_API_ID_roctxMarkA, "message");
    argument_text(&message, &marker, 0, text, sizeof(text));
    assert_string_equal(text, "aaa"); /* what is mapped, though it has no end */
    marker.roctxMarkA.message = page + 4096;
    argument_text(&message, &marker, 0, text, sizeof(text));
    assert_memory_equal(text, "0x", 2);
    munmap(page, 4096);
}

/* The first of them may follow the size or other members of the record. */
static uint32_t lie_in_order(enum trace_domain domain, uint32_t union_bytes)
{
    uint32_t described = 0;
    for (int operation = 0; operation < 1000; operation++) {
        uint32_t count = operation_argument_count(domain, operation), end = 0;
        for (uint32_t i = 0; i < count; i++) {
            struct argument argument = operation_argument(domain, operation, i);
            assert_true(argument.offset >= end);
            end = (uint32_t)argument.offset + argument.size_bytes;
            assert_true(end <= union_bytes);
            assert_true(argument.size_bytes != 0);
            assert_true(*argument.name && *argument.type);
        }
        described += count;
    }
    return described;
}

static void arguments_lie_inside_their_union_one_after_the_other(void **state)
{
    (void)state;
    assert_true(lie_in_order(TRACE_HIP_RUNTIME_API, sizeof(rocprofiler_hip_api_args_t)) > 1000);
    assert_true(lie_in_order(TRACE_HSA_CORE_API, sizeof(rocprofiler_hsa_api_args_t)) > 300);
    assert_true(lie_in_order(TRACE_RCCL_API, sizeof(rocprofiler_rccl_api_args_t)) > 100);
    assert_true(lie_in_order(TRACE_OMPT, sizeof(rocprofiler_ompt_args_t)) > 100);
}

static void unknown_operations_have_no_arguments(void **state)
{
    (void)state;
    assert_int_equal(operation_argument_count(TRACE_HSA_CORE_API, -1), 0);
    assert_int_equal(operation_argument_count(TRACE_HSA_CORE_API, ROCPROFILER_HSA_CORE_API_ID_LAST),
                     0);
    assert_int_equal(operation_argument_count(TRACE_HSA_CORE_API, 0), 0); /* hsa_init(void) */
    assert_int_equal(operation_argument_count(TRACE_KERNEL_DISPATCH, 1), 0);
    assert_int_equal(operation_argument_count(TRACE_DOMAIN_COUNT, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_its_own_name_and_text),
        cmocka_unit_test(no_status_has_no_name),
        cmocka_unit_test(scalars_enums_handles_and_structs),
        cmocka_unit_test(strings_are_shown_and_cut),
        cmocka_unit_test(pointers_are_followed_only_as_far_as_asked),
        cmocka_unit_test(dangling_pointers_do_not_crash),
        cmocka_unit_test(arguments_lie_inside_their_union_one_after_the_other),
        cmocka_unit_test(unknown_operations_have_no_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
