#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "intercept/hip/transfers.h"

#define COPY(function) ROCPROFILER_HIP_RUNTIME_API_ID_##function

static rocprofiler_hip_api_args_t args;

static int clear(void **state)
{
    (void)state;
    memset(&args, 0, sizeof args);
    return 0;
}

static void a_count_of_bytes(void **state)
{
    (void)state;
    args.hipMemcpy.sizeBytes = 77;
    assert_int_equal(transfer_bytes(COPY(hipMemcpy), &args), 77);
    clear(NULL);
    args.hipMemcpyPeerAsync.sizeBytes = (size_t)5 << 32;
    assert_int_equal(transfer_bytes(COPY(hipMemcpyPeerAsync), &args), (size_t)5 << 32);
    clear(NULL);
    args.hipMemcpyToArray.count = 9;
    args.hipMemcpyToArray.wOffset = 4;
    assert_int_equal(transfer_bytes(COPY(hipMemcpyToArray), &args), 9);
}

/* The pitch is not copied. */
static void rows_of_bytes(void **state)
{
    (void)state;
    args.hipMemcpy2D.width = 30;
    args.hipMemcpy2D.height = 4;
    args.hipMemcpy2D.spitch = args.hipMemcpy2D.dpitch = 64;
    assert_int_equal(transfer_bytes(COPY(hipMemcpy2D), &args), 120);
    clear(NULL);
    hip_Memcpy2D copy = {.WidthInBytes = 11, .Height = 3};
    args.hipMemcpyParam2D.pCopy = &copy;
    assert_int_equal(transfer_bytes(COPY(hipMemcpyParam2D), &args), 33);
    clear(NULL);
    HIP_MEMCPY3D box = {.WidthInBytes = 11, .Height = 3, .Depth = 2};
    args.hipDrvMemcpy3DAsync.pCopy = &box;
    assert_int_equal(transfer_bytes(COPY(hipDrvMemcpy3DAsync), &args), 66);
}

static void boxes_of_bytes_or_of_elements(void **state)
{
    struct hipMemcpy3DParms copy;
    (void)state;
    memset(&copy, 0, sizeof copy);
    copy.extent.width = 8;
    copy.extent.height = 5;
    copy.extent.depth = 3;
    args.hipMemcpy3D.p = &copy;
    assert_int_equal(transfer_bytes(COPY(hipMemcpy3D), &args), 120);
    copy.dstArray = (__typeof__(copy.dstArray))&copy; /* width counts elements now */
    assert_int_equal(transfer_bytes(COPY(hipMemcpy3D), &args), 0);
}

static void what_is_missing_or_no_copy(void **state)
{
    (void)state;
    for (int32_t operation = -1; operation <= ROCPROFILER_HIP_RUNTIME_API_ID_LAST; operation++)
        assert_int_equal(transfer_bytes(operation, &args), 0); /* every pointer is NULL */
    assert_true(transfer_is_sized(COPY(hipMemcpyWithStream)));
    assert_true(transfer_is_sized(COPY(hipMemcpy3DAsync)));
    assert_false(transfer_is_sized(COPY(hipMemset)));
    assert_false(transfer_is_sized(-1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_count_of_bytes, clear),
        cmocka_unit_test_setup(rows_of_bytes, clear),
        cmocka_unit_test_setup(boxes_of_bytes_or_of_elements, clear),
        cmocka_unit_test_setup(what_is_missing_or_no_copy, clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
