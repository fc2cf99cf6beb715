/* Devices may be opened and closed as often as a program likes: nothing of one stays. And they live
 * without the memory that they lack. */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gfx90a_regs.h"
#include "perf/perf.h"

enum { LINES = 300, KEPT_BY_MALLOC = 16 };

static bool counting_down;
static int allocations_left;

/* Before libc's, for the library too. */
void *calloc(size_t count, size_t size)
{
    extern void *__libc_calloc(size_t, size_t);
    if (counting_down && allocations_left-- <= 0)
        return NULL;
    return __libc_calloc(count, size);
}

static struct perf_line_access lines[LINES];

/* A group that has read memory, and has been sampled for its time. */
static struct perf_group group_of(uint64_t dispatch)
{
    struct perf_group group = {.dispatch_seq = dispatch,
                               .waves = 4,
                               .beside = 1,
                               .simd_cycles = 100,
                               .accesses = lines,
                               .access_count = LINES,
                               .is_sampled = true};
    perf_group_count(&group, TALLY_GLOBAL_READ, LINES);
    for (uint32_t i = 0; i < LINES; i++)
        lines[i] = (struct perf_line_access){.line_va = 0x40000000 + 64 * (uint64_t)i,
                                             .kind = ACCESS_READ,
                                             .tally = TALLY_GLOBAL_READ,
                                             .tags = 64,
                                             .flags = ACCESS_SAMPLED | ACCESS_FIRST};
    perf_group_time(&group);
    return group;
}

/* Counts what the L2 does; one kernel ends, the device is closed while another one runs. False:
 * there was no memory for a device. */
static bool life(const char *gpu)
{
    struct perf *perf = NULL;
    if (perf_create(gpu_model_find(gpu), &perf) != 0)
        return false;
    assert_true(perf_reg_write(perf, 1, REG_GFX90A_TCC_PERFCOUNTER0_SELECT, 3));
    assert_true(perf_reg_write(perf, 1, REG_GFX90A_CP_PERFMON_CNTL, 1));
    for (uint64_t dispatch = 1; dispatch <= 2; dispatch++) {
        struct perf_group group = group_of(dispatch);
        perf_dispatch_begin(perf, dispatch, true);
        perf_group_retire(perf, &group);
    }
    perf_dispatch_end(perf, 1);
    perf_destroy(perf);
    return true;
}

/* What the heap has in use after so many lives. */
static size_t heap_after(int lives)
{
    for (int i = 0; i < lives; i++) {
        assert_true(life("gfx90a") && life("gfx942"));
    }
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/* malloc() keeps some of what was freed at hand, which counts as in use. */
static void a_device_gives_back_all_that_it_took(void **state)
{
    (void)state;
    size_t before = heap_after(KEPT_BY_MALLOC);
    assert_true(heap_after(2 * KEPT_BY_MALLOC) <= before);
}

/* Each allocation is the last one once; kernels go on, counted and timed as far as there is memory.
 */
static void memory_may_be_lacking_anywhere(void **state)
{
    int refused = 0, lacking = 0;
    (void)state;
    size_t before = heap_after(KEPT_BY_MALLOC);
    int allocations = 0;
    do {
        allocations_left = allocations++;
        counting_down = true;
        *(life("gfx90a") ? &lacking : &refused) += 1;
        counting_down = false;
    } while (allocations_left < 0);
    assert_true(refused > 0 && lacking > 10);
    assert_true(heap_after(KEPT_BY_MALLOC) <= before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_gives_back_all_that_it_took),
        cmocka_unit_test(memory_may_be_lacking_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
