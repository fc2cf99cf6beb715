/* A context's queue that other threads of the program fill as well. The runtime is this test's: a
 * rival takes the last packet just after there was room for it. */
#include "api/rocprofiler_v1/sampling.c"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#undef fail /* ours takes arguments */

enum { SIZE = 64 };
_Atomic uint64_t wait_limit_ns = 2 * WAIT_NS_PER_MS;

static hsa_barrier_and_packet_t packets[SIZE];
static hsa_queue_t queue = {.base_address = packets, .size = SIZE};
static uint64_t write_index, rivals, signals_alive, doorbells;

static uint64_t load_write_index(const hsa_queue_t *of)
{
    uint64_t seen = write_index;
    (void)of;
    if (rivals && rivals--)
        write_index++;
    return seen;
}

static uint64_t load_read_index(const hsa_queue_t *of)
{
    (void)of;
    return 0;
}

static uint64_t cas_write_index(const hsa_queue_t *of, uint64_t expected, uint64_t value)
{
    uint64_t found = write_index;
    (void)of;
    if (found == expected)
        write_index = value;
    return found;
}

static hsa_status_t signal_create(hsa_signal_value_t initial, uint32_t count,
                                  const hsa_agent_t *agents, hsa_signal_t *signal)
{
    (void)initial, (void)count, (void)agents;
    signal->handle = ++signals_alive;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t signal_destroy(hsa_signal_t signal)
{
    (void)signal;
    signals_alive--;
    return HSA_STATUS_SUCCESS;
}

static hsa_signal_value_t signal_wait(hsa_signal_t signal, hsa_signal_condition_t condition,
                                      hsa_signal_value_t value, uint64_t limit,
                                      hsa_wait_state_t state)
{
    (void)signal, (void)condition, (void)value, (void)limit, (void)state;
    return 0;
}

static void signal_store(hsa_signal_t signal, hsa_signal_value_t value)
{
    (void)signal, (void)value;
    doorbells++;
}

static const struct hsa_calls fake = {.signal_create = signal_create,
                                      .signal_destroy = signal_destroy,
                                      .signal_wait = signal_wait,
                                      .signal_store = signal_store,
                                      .queue_cas_write_index = cas_write_index,
                                      .queue_load_write_index = load_write_index,
                                      .queue_load_read_index = load_read_index};

/* ---- what sampling.c finds in other files */

const struct hsa_calls *hsa_calls(void)
{
    return &fake;
}

hsa_status_t fail(hsa_status_t status, const char *format, ...)
{
    (void)format;
    return status;
}

struct v1_context *context_acquire(const void *handle)
{
    (void)handle;
    return NULL;
}

void context_release(struct v1_context *context)
{
    (void)context;
}

struct group *context_group_checked(const struct v1_context *context, uint32_t index)
{
    (void)context, (void)index;
    return NULL;
}

rocprofiler_group_t group_public(const struct group *group)
{
    (void)group;
    return (rocprofiler_group_t){0};
}

void group_take(struct group *group, const rocprofiler_counter_record_t *records, size_t count,
                double *values)
{
    (void)group, (void)records, (void)count, (void)values;
}

void group_trace_set(struct group *group, struct counting_slot *trace)
{
    (void)group, (void)trace;
}

void group_trace_drop(struct group *group)
{
    (void)group;
}

void group_trace_renew(struct group *group)
{
    (void)group;
}

/* ---- tests */

static void reset(uint64_t written, uint64_t rival_packets)
{
    write_index = written;
    rivals = rival_packets;
    signals_alive = doorbells = 0;
    memset(packets, 0, sizeof packets);
}

static void a_packet_goes_where_there_is_room(void **state)
{
    struct standalone standalone = {.queue = &queue, .queue_waited = UINT64_MAX};
    (void)state;
    reset(SIZE - 1, 0);
    assert_int_equal(queue_wait(&standalone), HSA_STATUS_SUCCESS);
    assert_int_equal(write_index, SIZE);
    assert_int_equal(packets[SIZE - 1].header & 0xff, HSA_PACKET_TYPE_BARRIER_AND);
    assert_int_equal(standalone.queue_waited, SIZE);
    assert_int_equal(signals_alive, 0);
}

/* Nothing is reserved that could not be written: the program would wait for it for ever. */
static void a_rival_takes_the_last_room(void **state)
{
    struct standalone standalone = {.queue = &queue, .queue_waited = UINT64_MAX};
    (void)state;
    reset(SIZE - 2, 2); /* one when we look whether there is anything new, one as we reserve */
    assert_int_not_equal(queue_wait(&standalone), HSA_STATUS_SUCCESS);
    assert_int_equal(write_index, SIZE);
    assert_int_equal(doorbells, 0);
    assert_int_equal(signals_alive, 0);
}

static void a_rival_takes_a_packet_of_several(void **state)
{
    struct standalone standalone = {.queue = &queue, .queue_waited = UINT64_MAX};
    (void)state;
    reset(SIZE - 5, 3);
    wait_limit_ns = WAIT_FOREVER;
    assert_int_equal(queue_wait(&standalone), HSA_STATUS_SUCCESS);
    assert_int_equal(write_index, SIZE - 1);
    assert_int_equal(packets[SIZE - 2].header & 0xff, HSA_PACKET_TYPE_BARRIER_AND);
    assert_int_equal(packets[SIZE - 1].header, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_packet_goes_where_there_is_room),
        cmocka_unit_test(a_rival_takes_the_last_room),
        cmocka_unit_test(a_rival_takes_a_packet_of_several),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
