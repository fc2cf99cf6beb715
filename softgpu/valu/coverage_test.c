/*
 * Every vector ALU instruction the decoder knows for a GPU has a handler, or is on the list of
 * those that fault on purpose. Instructions are encoded here with plain registers.
 */
#include "isa/decode.h"
#include "isa/tables.h"
#include "valu/test/wave_double.h"

enum { VGPR = 256 };

/* Graphics only: interpolation and screen partitioning. */
static bool unsupported(const char *name)
{
    static const char *const parts[] = {"v_interp_", "v_screen_partition"};
    for (size_t n = 0; n < sizeof parts / sizeof *parts; n++)
        if (strstr(name, parts[n]))
            return true;
    return false;
}

static const struct {
    enum isa_table table;
    uint32_t opcodes, high_bits;
    int shift;
    bool two_words;
} encodings[] = {
    {TABLE_VOP1, 256, 0x7e000000, 9, false},  {TABLE_VOP2, 64, 0, 25, false},
    {TABLE_VOPC, 256, 0x7c000000, 17, false}, {TABLE_VOP3, 1024, 0xd0000000, 16, true},
    {TABLE_VOP3P, 128, 0xd3800000, 16, true},
};

static void handlers_of(enum gpu_gen gen)
{
    int missing = 0, found = 0;
    for (size_t t = 0; t < sizeof encodings / sizeof *encodings; t++)
        for (uint32_t opcode = 0; opcode < encodings[t].opcodes; opcode++) {
            const uint16_t entry = isa_index[gen][encodings[t].table][opcode];
            const uint8_t klass = isa_entries[entry].klass;
            if (!entry || (klass != CLASS_VALU && klass != CLASS_MFMA))
                continue;
            uint32_t words[3] = {encodings[t].high_bits | opcode << encodings[t].shift};
            if (encodings[t].two_words) {
                words[0] |= 8; /* vdst, or the scalar destination */
                words[1] = (VGPR + 16) | (VGPR + 32) << 9 | (VGPR + 64) << 18;
            } else {
                words[0] |= VGPR + 16; /* src0 v16; the other fields are v0 */
            }
            struct inst i;
            assert_true(isa_decode(gen, words, 3, &i) > 0);
            const char *name = isa_op_names[i.op];
            if (unsupported(name))
                continue;
            found++;
            if (valu_handler(&i))
                continue;
            missing++;
            print_message("no handler: %s\n", name);
        }
    assert_true(found > 400);
    assert_int_equal(missing, 0);
}
static void all_generations(void)
{
    for (int gen = 0; gen < GPU_GEN_COUNT; gen++)
        handlers_of((enum gpu_gen)gen);
}
static void every_instruction_has_a_handler(void **state)
{
    (void)state;
    each_build(all_generations);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_instruction_has_a_handler)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
