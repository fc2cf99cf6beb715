/* What is left of queues that are gone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cp/test/gpu_double.h"

static int setup(void **state)
{
    *state = double_create();
    return *state ? 0 : -1;
}

static int teardown(void **state)
{
    double_destroy(*state);
    return 0;
}

/* Programs make and destroy queues as long as they run: what is kept for late reports is kept of
 * those alone that may get one. */
static void idle_queues_leave_nothing(void **state)
{
    struct gpu_double *gpu = *state;
    struct double_queue *idle = double_aql_create(gpu, 8, 64);
    struct double_queue *busy = double_aql_create(gpu, 9, 64);
    hsa_signal_t done = double_signal(gpu, 1, 0);
    hsa_kernel_dispatch_packet_t packet = double_kernel(true, done);
    double_push(idle, &packet);
    assert_true(double_wait(double_signal_value(gpu, done) == 0));
    double_queue_destroy(idle);
    assert_null(gpu->device->graveyard);
    double_hold(gpu, true);
    double_push(busy, &packet);
    assert_true(double_wait(double_dispatch_count(gpu) == 2));
    double_queue_destroy(busy);
    assert_non_null(gpu->device->graveyard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(idle_queues_leave_nothing, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
