/* Every size at every offset, against memcpy; nothing beside the value is read wrongly or written.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mem/single_copy.h"

enum { BYTES = 128, SIZE_MAX_BYTES = 68, OFFSETS = 32 };

static void fill(uint8_t *bytes, unsigned seed)
{
    for (unsigned i = 0; i < BYTES; i++)
        bytes[i] = (uint8_t)(i * 37 + seed);
}

static void sizes_and_offsets(void **state)
{
    (void)state;
    _Alignas(16) uint8_t memory[BYTES], expected[BYTES], value[BYTES];
    for (uint32_t size = 0; size <= SIZE_MAX_BYTES; size++) {
        for (uint32_t offset = 0; offset < OFFSETS; offset++) {
            fill(memory, 1);
            fill(expected, 1);
            fill(value, 99);
            single_write(memory + offset, value, size);
            memcpy(expected + offset, value, size);
            assert_memory_equal(memory, expected, BYTES);
            fill(value, 7);
            fill(expected, 7);
            single_read(value, memory + offset, size);
            memcpy(expected, memory + offset, size);
            assert_memory_equal(value, expected, BYTES);
        }
    }
}

static void quads(void **state)
{
    (void)state;
    uint64_t words[3] = {1, 2, 3};
    quad value = quad_of(0x1122334455667788, 0x99aabbccddeeff00);
    assert_int_equal(quad_low(value), 0x1122334455667788);
    assert_int_equal(quad_high(value), 0x99aabbccddeeff00);
    single_store_quad(&words[1], value); /* wherever it lies */
    assert_int_equal(words[0], 1);
    assert_int_equal(words[1], 0x1122334455667788);
    assert_int_equal(words[2], 0x99aabbccddeeff00);
    assert_int_equal(quad_high(single_load_quad(&words[0])), words[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_and_offsets),
        cmocka_unit_test(quads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
