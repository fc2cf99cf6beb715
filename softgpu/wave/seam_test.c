/*
 * Elements that begin in one mapping and end in the next one, as those of memory do whose pages
 * have other attributes: each is moved whole, by every kind of instruction that moves more than a
 * byte, and one that may not be written faults.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "wave/kernel_runner.h"

enum { PAGE = 4096, FROM = PAGE, TO = 4 * PAGE, BUFFER_BYTES = 8 * PAGE, WAVE = 64 };
enum { AREA = 2 * PAGE }; /* of each, with a seam in its middle */

/* s[4:5]: the buffer; s[8:11] and s[12:15]: descriptors of both areas; v1: where lanes have
 * eight bytes that follow each other, v2: sixteen that do not. */
#define BEGIN                                                                                      \
    "s_load_dwordx2 s[4:5], s[0:1], 0x0\n"                                                         \
    "s_waitcnt lgkmcnt(0)\n"                                                                       \
    "s_add_u32 s8, s4, 0x1000\n"                                                                   \
    "s_addc_u32 s9, s5, 0\n"                                                                       \
    "s_mov_b32 s10, 0x2000\n"                                                                      \
    "s_mov_b32 s11, 0x00027000\n"                                                                  \
    "s_add_u32 s12, s4, 0x4000\n"                                                                  \
    "s_addc_u32 s13, s5, 0\n"                                                                      \
    "s_mov_b32 s14, s10\n"                                                                         \
    "s_mov_b32 s15, s11\n"                                                                         \
    "v_lshlrev_b32 v1, 3, v0\n"                                                                    \
    "v_add_u32 v1, 0xf04, v1\n"                                                                    \
    "v_mul_u32_u24 v2, 24, v0\n"                                                                   \
    "v_add_u32 v2, 0xc04, v2\n"

static const struct {
    const char *name, *text;
    uint32_t first, bytes, step, lanes; /* of the area: elements, the same in both */
} kernels[] = {
    {"dwordx2",
     BEGIN "global_load_dwordx2 v[4:5], v1, s[8:9]\n"
           "s_waitcnt vmcnt(0)\n"
           "global_store_dwordx2 v1, v[4:5], s[12:13]\n"
           "s_endpgm\n",
     0xf04, 8, 8, WAVE},
    {"dwordx4",
     BEGIN "global_load_dwordx4 v[4:7], v2, s[8:9]\n"
           "s_waitcnt vmcnt(0)\n"
           "global_store_dwordx4 v2, v[4:7], s[12:13]\n"
           "s_endpgm\n",
     0xc04, 16, 24, WAVE},
    {"buffer",
     BEGIN "buffer_load_dwordx4 v[4:7], v2, s[8:11], 0 offen\n"
           "s_waitcnt vmcnt(0)\n"
           "buffer_store_dwordx4 v[4:7], v2, s[12:15], 0 offen\n"
           "s_endpgm\n",
     0xc04, 16, 24, WAVE},
    {"buffer that ends within",
     BEGIN "s_mov_b32 s10, 0x1006\n"
           "s_mov_b32 s14, s10\n"
           "s_mov_b64 exec, 1\n"
           "v_mov_b32 v2, 0xffe\n"
           "buffer_load_dwordx4 v[4:7], v2, s[8:11], 0 offen\n"
           "s_waitcnt vmcnt(0)\n"
           "buffer_store_dwordx4 v[4:7], v2, s[12:15], 0 offen\n"
           "s_endpgm\n",
     0xffe, 8, 8, 1},
    {"scalar",
     BEGIN "s_load_dwordx16 s[16:31], s[8:9], 0xff4\n"
           "s_waitcnt lgkmcnt(0)\n"
           "s_store_dwordx4 s[16:19], s[12:13], 0xff4\n"
           "s_dcache_wb\n"
           "s_endpgm\n",
     0xff4, 16, 16, 1},
    {"scalar buffer",
     BEGIN "s_buffer_load_dwordx4 s[16:19], s[8:11], 0xff4\n"
           "s_waitcnt lgkmcnt(0)\n"
           "s_buffer_store_dwordx4 s[16:19], s[12:15], 0xff4\n"
           "s_dcache_wb\n"
           "s_endpgm\n",
     0xff4, 16, 16, 1},
};
enum { KERNELS = sizeof kernels / sizeof kernels[0] };

static struct kernel_runner *runner_with_seams(void)
{
    struct kernel_runner *runner;
    assert_int_equal(kernel_runner_create(1, BUFFER_BYTES, &runner), 0);
    uint8_t *buffer = kernel_runner_buffer(runner);
    assert_int_equal(kernel_runner_split(runner, buffer + FROM + AREA / 2), 0);
    assert_int_equal(kernel_runner_split(runner, buffer + TO), 0);
    assert_int_equal(kernel_runner_split(runner, buffer + TO + AREA / 2), 0);
    for (uint32_t at = 0; at < AREA; at++)
        buffer[FROM + at] = (uint8_t)(at * 7 + at / 256 + 1);
    return runner;
}

static struct dispatch_result kernel_run(struct kernel_runner *runner, unsigned n)
{
    struct dispatch_result result;
    assert_int_equal(kernel_runner_load(runner, 0, kernels[n].text), 0);
    assert_int_equal(kernel_runner_start(runner, 0, (struct kernel_geometry){WAVE, WAVE, 0, 0}), 0);
    assert_true(kernel_runner_wait(runner, &result));
    return result;
}

/* Which bytes of an area a kernel moves. */
static void moved_find(unsigned n, uint8_t moved[AREA])
{
    memset(moved, 0, AREA);
    for (uint32_t lane = 0; lane < kernels[n].lanes; lane++)
        memset(moved + kernels[n].first + lane * kernels[n].step, 1, kernels[n].bytes);
    assert_true(moved[AREA / 2 - 1] && moved[AREA / 2]); /* across the seam */
}

static void elements_are_moved_across_seams(void **state)
{
    (void)state;
    struct kernel_runner *runner = runner_with_seams();
    uint8_t *buffer = kernel_runner_buffer(runner), moved[AREA];
    for (unsigned n = 0; n < KERNELS; n++) {
        memset(buffer + TO, 0, AREA);
        assert_int_equal(kernel_run(runner, n).fault, FAULT_NONE);
        moved_find(n, moved);
        for (uint32_t at = 0; at < AREA; at++)
            if (buffer[TO + at] != (moved[at] ? buffer[FROM + at] : 0))
                fail_msg("%s: byte %u", kernels[n].name, at);
    }
    kernel_runner_destroy(runner);
}

static void rights_are_those_of_both_mappings(void **state)
{
    (void)state;
    for (unsigned n = 0; n < KERNELS; n++) {
        struct kernel_runner *runner = runner_with_seams();
        const uint8_t *buffer = kernel_runner_buffer(runner);
        assert_int_equal(kernel_runner_protect(runner, buffer + FROM + AREA / 2), 0);
        assert_int_equal(kernel_run(runner, n).fault, FAULT_NONE);
        assert_int_equal(kernel_runner_protect(runner, buffer + TO + AREA / 2), 0);
        assert_int_equal(kernel_run(runner, n).fault, FAULT_MEMORY_WRITE);
        kernel_runner_destroy(runner);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_are_moved_across_seams),
        cmocka_unit_test(rights_are_those_of_both_mappings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
