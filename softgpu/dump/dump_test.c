/* Packets written out by hand from the field layouts of AMD's PM4 documentation, and bad input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dump/dump.h"

enum { TEXT_BYTES = 400 };

static uint32_t header(uint32_t opcode, uint32_t body_dwords)
{
    return 3u << 30 | (body_dwords - 1) << 16 | opcode << 8;
}

static void expect(enum dump_family family, const uint32_t *dwords, uint32_t count,
                   const char *expected)
{
    struct dump_packet packet;
    char text[TEXT_BYTES];
    assert_int_equal(dump_decode(dwords, count, &packet), count);
    dump_format(family, &packet, text, sizeof text);
    assert_string_equal(text, expected);
}

#define EXPECT(family, expected, ...)                                                              \
    do {                                                                                           \
        const uint32_t dwords[] = {__VA_ARGS__};                                                   \
        expect(family, dwords, sizeof dwords / sizeof dwords[0], expected);                        \
    } while (0)

static void packets_test(void **state)
{
    (void)state;
    EXPECT(DUMP_GFX9, "EVENT_WRITE event=CS_PARTIAL_FLUSH index=4", header(0x46, 1), 0x407);
    EXPECT(DUMP_GFX9, "COPY_DATA SQ_PERFCOUNTER0_LO -> [0x7f0012345000] from_policy=1 to_policy=1",
           header(0x40, 5), 0x02002500, 0xd1c0, 0, 0x12345000, 0x7f00);
    EXPECT(DUMP_GFX11, "COPY_DATA SQ_PERFCOUNTER0_LO -> L2[0x1000]", header(0x40, 5), 0x200, 0xd1c0,
           0, 0x1000, 0);
    EXPECT(DUMP_GFX9, "COPY_DATA 0x10000001 -> perf:GCEA_PERFCOUNTER0_CFG (event=1 enable=1)",
           header(0x40, 5), 0x405, 0x10000001, 0, 0x2afe, 0);
    EXPECT(DUMP_GFX9, "COPY_DATA 64 gpu_clock -> [0x10]", header(0x40, 5), 0x10509, 0, 0, 0x10, 0);
    EXPECT(DUMP_GFX9, "COPY_DATA base_die3:ATC_PERFCOUNTER_LO -> [0x8]", header(0x40, 5), 0x500,
           0xc0000c43, 1, 8, 0);
    EXPECT(DUMP_GFX94, "COPY_DATA base_die3:ATC_PERFCOUNTER_LO -> [0x8]", header(0x40, 5), 0x500,
           0xc0000c43, 1, 8, 0);
    EXPECT(DUMP_GFX9, "COPY_DATA SDMA1_PERFCOUNTER0_RESULT -> [0x8]", header(0x40, 5), 0x500,
           0x18b8, 0, 8, 0);
    EXPECT(DUMP_GFX90A, "COPY_DATA SDMA1_PERFCNT_PERFCOUNTER1_CFG -> [0x8]", header(0x40, 5), 0x500,
           0x18b8, 0, 8, 0);
    EXPECT(DUMP_GFX9, "PRED_EXEC xcc_mask=0x80 dwords=89", header(0x23, 1), 0x80000059);
    EXPECT(DUMP_GFX9, "INDIRECT_BUFFER at=[0x7f0189abc000] dwords=52 valid=1 policy=1",
           header(0x3f, 3), 0x89abc000, 0x7f01, 0x10800034);
    EXPECT(DUMP_GFX9, "WAIT_REG_MEM [0x2000] & 0xff >= 0x3 interval=16", header(0x3c, 6), 0x15,
           0x2000, 0, 3, 0xff, 16);
    EXPECT(DUMP_GFX9, "WRITE_DATA [0x100] = 0x1 0x2 confirm=1", header(0x37, 5), 0x100500, 0x100, 0,
           1, 2);
    EXPECT(DUMP_GFX12, "ACQUIRE_MEM chunks=1 first_chunk=0x30 interval=16 gcr=0x18000",
           header(0x58, 7), 0, 1, 0, 0x30, 0, 16, 0x18000);
    EXPECT(DUMP_GFX9, "NOP", 0xffff1000);
}

static void registers_test(void **state)
{
    (void)state;
    EXPECT(DUMP_GFX9, "SET_UCONFIG_REG GRBM_GFX_INDEX=0x60030000 (se=3 sh_all=1 instance_all=1)",
           header(0x79, 2), 0x200, 0x60030000);
    EXPECT(DUMP_GFX11, "SET_UCONFIG_REG GRBM_GFX_INDEX=0x2010c (instance=12 sa=1 se=2)",
           header(0x79, 2), 0x200, 0x0002010c);
    EXPECT(DUMP_GFX9,
           "SET_UCONFIG_REG SQ_PERFCOUNTER0_SELECT=0xf0ff004 (event=4 sqc_bank_mask=15 "
           "sqc_client_mask=15 simd_mask=15)",
           header(0x79, 2), 0x19c0, 0x0f0ff004);
    EXPECT(DUMP_GFX9, "SET_SH_REG COMPUTE_PERFCOUNT_ENABLE=0x1 (perfcount_enable=1)",
           header(0x76, 2), 0x20b, 1);
    EXPECT(DUMP_GFX9, "SET_UCONFIG_REG 0x0cfff=0x5", header(0x79, 2), 0xfff, 5);
    /* GCEA moved between gfx10.1 and gfx10.3. */
    assert_string_equal(dump_register_name(DUMP_GFX101, 0x2704), "GCEA_PERFCOUNTER_LO");
    assert_string_equal(dump_register_name(DUMP_GFX103, 0xd262), "GCEA_PERFCOUNTER_LO");
    assert_null(dump_register_name(DUMP_GFX9, 0xffffffff));
}

static void families_test(void **state)
{
    (void)state;
    assert_int_equal(dump_family_find("gfx906"), DUMP_GFX9);
    assert_int_equal(dump_family_find("gfx90a"), DUMP_GFX90A);
    assert_int_equal(dump_family_find("gfx942"), DUMP_GFX94);
    assert_int_equal(dump_family_find("gfx950"), DUMP_GFX94);
    assert_int_equal(dump_family_find("gfx1012"), DUMP_GFX101);
    assert_int_equal(dump_family_find("gfx1036"), DUMP_GFX103);
    assert_int_equal(dump_family_find("gfx1151"), DUMP_GFX11);
    assert_int_equal(dump_family_find("gfx1201"), DUMP_GFX12);
    assert_int_equal(dump_family_find("gfx8"), -1);
    assert_int_equal(dump_family_find(""), -1);
}

static void bad_input_test(void **state)
{
    const uint32_t bad[][2] = {{0x80000000, 0}, {0xc0001000 | 0x2000000, 0}, {0xc000ff00, 0}};
    struct dump_packet packet;
    (void)state;
    assert_int_equal(dump_decode(NULL, 0, &packet), 0);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(dump_decode(bad[i], 2, &packet), 0);
}

/* Every cut of a long line is a prefix of it, ended by a NUL. */
static void cut_test(void **state)
{
    const uint32_t dwords[] = {header(0x79, 4), 0x19c0, 0x0f0ff004, 0x0f0ff005, 0xffffffff};
    struct dump_packet packet;
    char whole[2000], part[2000];
    (void)state;
    assert_int_equal(dump_decode(dwords, 5, &packet), 5);
    dump_format(DUMP_GFX9, &packet, whole, sizeof whole);
    for (size_t bytes = 1; bytes <= strlen(whole) + 1; bytes++) {
        memset(part, 'x', sizeof part);
        dump_format(DUMP_GFX9, &packet, part, bytes);
        assert_true(strlen(part) < bytes);
        assert_memory_equal(part, whole, strlen(part));
        assert_int_equal(part[bytes], 'x');
    }
    part[0] = 'x';
    dump_format(DUMP_GFX9, &packet, part, 0);
    assert_int_equal(part[0], 'x');
}

/* Random dwords behind every opcode and length. */
static void random_test(void **state)
{
    uint64_t seed = 12345;
    (void)state;
    for (int round = 0; round < 20000; round++) {
        uint32_t dwords[24];
        struct dump_packet packet;
        char text[300];
        for (int i = 0; i < 24; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            dwords[i] = (uint32_t)(seed >> 32);
        }
        dwords[0] = 3u << 30 | (dwords[0] & 0x1fff00);
        uint32_t length = dump_decode(dwords, 24, &packet);
        if (!length)
            continue;
        assert_true(length <= 24);
        dump_format((enum dump_family)(round % DUMP_FAMILIES), &packet, text, sizeof text);
        assert_true(strlen(text) >= strlen(packet.name) && strlen(text) < sizeof text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packets_test),  cmocka_unit_test(registers_test),
        cmocka_unit_test(families_test), cmocka_unit_test(bad_input_test),
        cmocka_unit_test(cut_test),      cmocka_unit_test(random_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
