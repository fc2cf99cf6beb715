/* Memory of counters and traces that a runtime gives, against a double. */
#include "intercept/hsa/counting.h"
#include "intercept/hsa/test/hsa_calls.h"
#include "model/counting.h"

/* Stands in for session. */
static const struct counting_memory_ops *memory;

void counting_memory_register(const struct counting_memory_ops *ops)
{
    memory = ops;
}

/* The device's memory is copied through a piece of the host's at a time. */
static void a_buffer_of_the_device_is_read_whole(void **state)
{
    enum { BYTES = (9 << 20) + 4096, FROM = 4096 };
    struct counting_buffer buffer;
    (void)state;
    double_listen(TRACE_KERNEL_DISPATCH, -1);
    assert_true(table_arrives(double_table_make(2)));
    const struct hsa_agent_entry *gpu = agents_find(&hsa_instances[0], (hsa_agent_t){DOUBLE_GPU});
    assert_non_null(gpu);
    unsetenv("HSA_ENABLE_SDMA"); /* the runtime's switch: without engines nothing is local */
    hsa_counting_memory_renew();
    assert_true(memory->buffer_allocate(gpu->hsa.handle, BYTES, true, &buffer));
    assert_true(buffer.is_local);
    uint32_t *words = buffer.address, *got = malloc(BYTES - FROM);
    assert_non_null(got);
    for (uint32_t i = 0; i < BYTES / 4; i++)
        words[i] = i * 2654435761u;
    assert_true(memory->buffer_read(&buffer, FROM, got, BYTES - FROM));
    assert_memory_equal(got, words + FROM / 4, BYTES - FROM);
    memset(got, 0, BYTES - FROM);
    assert_true(memory->buffer_read(&buffer, FROM, got, 0));
    assert_int_equal(got[0], 0);
    free(got);
    memory->buffer_release(&buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_buffer_of_the_device_is_read_whole, reset),
    };
    return cmocka_run_group_tests(tests, NULL, stop);
}
