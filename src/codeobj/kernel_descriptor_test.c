#include "codeobj/kernel_descriptor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Fields per the AMDGPU usage guide: rsrc1 bits 0-5 VGPR granules - 1, bits 6-9 SGPRs,
   rsrc3 bits 0-5 (gfx90a) accum_offset / 4 - 1, properties bit 10 wave32. */
static struct kernel_descriptor descriptor_make(unsigned vgpr, unsigned sgpr, unsigned accum)
{
    return (struct kernel_descriptor){.compute_pgm_rsrc1 = vgpr | sgpr << 6,
                                      .compute_pgm_rsrc3 = accum};
}

static void gfx90a_splits_one_file(void **state)
{
    (void)state;
    struct kernel_descriptor d = descriptor_make(3, 2, 3); /* 32 registers, 16 of them arch */
    struct kernel_registers r = kernel_descriptor_registers(&d, 90010);
    assert_int_equal(r.arch_vgpr_count, 16);
    assert_int_equal(r.accum_vgpr_count, 16);
    assert_int_equal(r.sgpr_count, 32);
}

static void accumulation_offset_beyond_the_file_is_clamped(void **state)
{
    (void)state;
    struct kernel_descriptor d = descriptor_make(0, 0, 63);
    struct kernel_registers r = kernel_descriptor_registers(&d, 90402);
    assert_int_equal(r.arch_vgpr_count, 8);
    assert_int_equal(r.accum_vgpr_count, 0);
}

static void older_and_newer_families(void **state)
{
    (void)state;
    struct kernel_descriptor d = descriptor_make(3, 2, 0);
    assert_int_equal(kernel_descriptor_registers(&d, 90006).arch_vgpr_count, 16);
    assert_int_equal(kernel_descriptor_registers(&d, 90006).accum_vgpr_count, 0);
    assert_int_equal(kernel_descriptor_registers(&d, 90008).accum_vgpr_count, 16);
    d.kernel_code_properties = 1 << 10;
    assert_int_equal(kernel_descriptor_registers(&d, 100300).arch_vgpr_count, 32);
    assert_int_equal(kernel_descriptor_registers(&d, 100300).sgpr_count, 128);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gfx90a_splits_one_file),
        cmocka_unit_test(accumulation_offset_beyond_the_file_is_clamped),
        cmocka_unit_test(older_and_newer_families),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
