/* What a thread trace tells whoever reads it: whose tokens it holds, how long it is, how fast its
 * clock runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sqtt_texts.h"

#define TT "SET_UCONFIG_REG SQ_THREAD_TRACE_"

/* The trace says how fast its clock runs, and how often counters are sampled: on an MI210 every (13
 * units + 1) x 4 cycles for up to four of them, times the rate. */
static void agent_test(void **state)
{
    (void)state;
    struct gpu_target target = target_of("gfx90a", (struct gpu_geometry){1, 8, 1, 104, 0});
    struct gpu_target rdna = target_of("gfx1100", (struct gpu_geometry){1, 6, 2, 96, 0});
    struct sqtt_config config = config_of(1, 0);
    struct pm4_stream stream = {0};
    config.clock_khz = 100000;
    sqtt_start(&stream, &rdna, &config);
    for (int i = 0; i < 5; i++)
        assert_null(sqtt_counter_add(&config, 4, 0xf));
    assert_null(sqtt_parameter_take(&config, SQTT_PARAMETER_COUNTER_CONTROL, 3));
    sqtt_start(&stream, &target, &config);
    config.has_timestamps = 0;
    config.counter_count = 1;
    sqtt_start(&stream, &target, &config);
    char *text = text_of(DUMP_GFX9, &stream);
    const char *first = strstr(text, "USERDATA_2=0x186a0006\n");
    assert_non_null(first);
    first = strstr(first + 1, TT "USERDATA_2=0x186a0006\n" TT "USERDATA_2=0x1c0106\n");
    assert_non_null(first);
    assert_null(strstr(first + 1, "0x186a0006\n" TT "USERDATA_2=0x186a0006"));
    assert_non_null(strstr(first, TT "USERDATA_2=0x80201\n" TT "USERDATA_2=0xe0106\n"));
    free(text);
    pm4_stream_free(&stream);
}

/* What the host reads is written before the flush behind it. */
static void confirmed_test(void **state)
{
    static const char *const members[] = {"gfx906",  "gfx942",  "gfx1010", "gfx1030",
                                          "gfx1100", "gfx1151", "gfx1201"};
    (void)state;
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        struct gpu_target target = target_of(members[i], (struct gpu_geometry){1, 2, 2, 40, 0});
        struct sqtt_config config = config_of(1 << 1, 3);
        struct pm4_stream stream = {0};
        struct dump_packet p;
        int results = 0;
        sqtt_stop(&stream, &target, &config);
        sqtt_read(&stream, &target, &config);
        for (uint32_t at = 0; at < stream.count;
             at += dump_decode(stream.dwords + at, stream.count - at, &p)) {
            assert_true(dump_decode(stream.dwords + at, stream.count - at, &p));
            if (p.opcode != PM4_COPY_DATA || (p.body[0] >> 16 & 1) ||
                (p.body[0] & 15) == PM4_COPY_IMMEDIATE || (p.body[0] >> 8 & 15) == 0)
                continue;
            assert_true(p.body[0] & PM4_COPY_CONFIRM);
            results++;
        }
        assert_int_equal(results, 2 * 3);
        pm4_stream_free(&stream);
    }
}

/* On gfx11.5 the pointer counts from 0 again. */
static void written_gfx115_test(void **state)
{
    static const char *const members[] = {"gfx1150", "gfx1151", "gfx1152", "gfx1153"};
    const struct sqtt_control control = {.write_pointer = 7}, nothing = {0};
    (void)state;
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        struct gpu_target target = target_of(members[i], (struct gpu_geometry){1, 2, 2, 40, 0});
        struct sqtt_config config = config_of(0x3, 5);
        enum sqtt_outcome outcome;
        assert_int_equal(sqtt_written_bytes(&target, &config, 1, &control, &outcome), 7 * 32);
        assert_int_equal(sqtt_written_bytes(&target, &config, 1, &nothing, &outcome), 0);
        assert_int_equal(outcome, SQTT_COMPLETE);
    }
}

/* Readers tell the tokens of gfx9's members apart by a number in the first eight bytes. */
static void prefix_test(void **state)
{
    static const struct {
        const char *architecture;
        unsigned tokens;
    } members[] = {{"gfx900", 4}, {"gfx906", 4}, {"gfx908", 4}, {"gfx90a", 4},
                   {"gfx940", 5}, {"gfx942", 5}, {"gfx950", 6}};
    (void)state;
    struct sqtt_config config = config_of(0x3, 5);
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        uint64_t prefix = 0;
        struct gpu_target target =
            target_of(members[i].architecture, (struct gpu_geometry){1, 4, 1, 40, 0});
        assert_int_equal(sqtt_prefix(&target, &config, 1, &prefix), 8);
        assert_int_equal(prefix >> 13 & 7, members[i].tokens);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prefix_test),
        cmocka_unit_test(written_gfx115_test),
        cmocka_unit_test(agent_test),
        cmocka_unit_test(confirmed_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
