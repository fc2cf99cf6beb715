#include "launches.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <roctracer/roctracer_hip.h>

static void note(uint32_t domain, uint64_t id, const char *kernel_name)
{
    roctracer_record_t call = {.domain = domain};
    call.correlation_id = id;
    call.kernel_name = kernel_name;
    launches_note(&call);
}

static roctracer_record_t operation(uint32_t domain, uint32_t op, uint64_t id)
{
    roctracer_record_t record = {.domain = domain, .op = op};
    record.correlation_id = id;
    return record;
}

static void dispatches_get_the_name_of_their_launch(void **state)
{
    (void)state;
    char name[] = "kernel";
    note(ACTIVITY_DOMAIN_HIP_API, 7, name);
    strcpy(name, "gone!!");
    note(ACTIVITY_DOMAIN_HIP_API, 8, NULL);
    note(ACTIVITY_DOMAIN_HSA_API, 9, "no launch");
    roctracer_record_t records[] = {
        operation(ACTIVITY_DOMAIN_HIP_OPS, HIP_OP_ID_DISPATCH, 7),
        operation(ACTIVITY_DOMAIN_HIP_OPS, HIP_OP_ID_COPY, 7), /* the union holds its size */
        operation(ACTIVITY_DOMAIN_HIP_OPS, HIP_OP_ID_DISPATCH, 8),
        operation(ACTIVITY_DOMAIN_HIP_OPS, HIP_OP_ID_DISPATCH, 9),
        operation(ACTIVITY_DOMAIN_HIP_OPS, HIP_OP_ID_DISPATCH, 0),
        operation(ACTIVITY_DOMAIN_HSA_OPS, HIP_OP_ID_DISPATCH, 7),
        operation(ACTIVITY_DOMAIN_HIP_OPS, HIP_OP_ID_DISPATCH, 7 + 32768),
        operation(ACTIVITY_DOMAIN_HIP_OPS, HIP_OP_ID_DISPATCH, 7),
    };
    records[7].kernel_name = "its own";
    launches_name(records, 8);
    assert_string_equal(records[0].kernel_name, "kernel");
    for (int i = 1; i < 7; i++)
        assert_null(records[i].kernel_name);
    assert_string_equal(records[7].kernel_name, "its own");
}

static void only_the_latest_are_kept(void **state)
{
    (void)state;
    char name[32];
    for (uint64_t id = 1; id <= 100000; id++) {
        snprintf(name, sizeof name, "kernel%u", (unsigned)(id % 10));
        note(ACTIVITY_DOMAIN_HIP_API, id, name);
    }
    roctracer_record_t records[] = {
        operation(ACTIVITY_DOMAIN_HIP_OPS, HIP_OP_ID_DISPATCH, 100000),
        operation(ACTIVITY_DOMAIN_HIP_OPS, HIP_OP_ID_DISPATCH, 100000 - 32767),
        operation(ACTIVITY_DOMAIN_HIP_OPS, HIP_OP_ID_DISPATCH, 100000 - 32768),
    };
    launches_name(records, 3);
    assert_string_equal(records[0].kernel_name, "kernel0");
    assert_string_equal(records[1].kernel_name, "kernel3");
    assert_null(records[2].kernel_name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dispatches_get_the_name_of_their_launch),
        cmocka_unit_test(only_the_latest_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
