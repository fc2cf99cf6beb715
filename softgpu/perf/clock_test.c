/* What the clock's costs and a GPU's geometry make of it in a second is what AMD publishes of it.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/device.h"
#include "perf/clock.h"

/* Of one instruction of a wave. */
enum { MATRIX_OPERATIONS = 512 /* times the number behind X */, FMA_OPERATIONS = 2 * 64 };

/* AMD's data sheets of MI60, MI100, MI210 and MI300X: 10^12 operations in a second. */
static const struct {
    const char *gpu;
    enum inst_tally tally;
    uint32_t operations;
    double published;
} peaks[] = {
    {"gfx906", TALLY_VALU_FMA_F32, FMA_OPERATIONS, 14.7},
    {"gfx906", TALLY_VALU_FMA_F64, FMA_OPERATIONS, 7.4},
    {"gfx908", TALLY_VALU_FMA_F32, FMA_OPERATIONS, 23.1},
    {"gfx908", TALLY_VALU_FMA_F64, FMA_OPERATIONS, 11.5},
    {"gfx908", TALLY_MFMA_F32_X4, 4 * MATRIX_OPERATIONS, 46.1},
    {"gfx908", TALLY_MFMA_F32_X8, 8 * MATRIX_OPERATIONS, 46.1},
    {"gfx908", TALLY_MFMA_F16_X16, 16 * MATRIX_OPERATIONS, 184.6},
    {"gfx908", TALLY_MFMA_BF16_X8, 8 * MATRIX_OPERATIONS, 92.3},
    {"gfx908", TALLY_MFMA_I8_X16, 16 * MATRIX_OPERATIONS, 184.6},
    {"gfx90a", TALLY_VALU_FMA_F64, FMA_OPERATIONS, 22.6},
    {"gfx90a", TALLY_MFMA_F64_X4, 4 * MATRIX_OPERATIONS, 45.3},
    {"gfx90a", TALLY_MFMA_F32_X4, 4 * MATRIX_OPERATIONS, 45.3},
    {"gfx90a", TALLY_MFMA_F16_X16, 16 * MATRIX_OPERATIONS, 181},
    {"gfx90a", TALLY_MFMA_BF16_1K_X32, 32 * MATRIX_OPERATIONS, 181},
    {"gfx90a", TALLY_MFMA_I8_X16, 16 * MATRIX_OPERATIONS, 181},
    {"gfx942", TALLY_VALU_FMA_F64, FMA_OPERATIONS, 81.7},
    {"gfx942", TALLY_MFMA_F64_X4, 4 * MATRIX_OPERATIONS, 163.4},
    {"gfx942", TALLY_MFMA_F32_X4, 4 * MATRIX_OPERATIONS, 163.4},
    {"gfx942", TALLY_MFMA_F32_X8, 8 * MATRIX_OPERATIONS, 163.4},
    {"gfx942", TALLY_MFMA_XF32_X8, 8 * MATRIX_OPERATIONS, 653.7},
    {"gfx942", TALLY_MFMA_XF32_X16, 16 * MATRIX_OPERATIONS, 653.7},
    {"gfx942", TALLY_MFMA_F16_X16, 16 * MATRIX_OPERATIONS, 1307.4},
    {"gfx942", TALLY_MFMA_F16_X32, 32 * MATRIX_OPERATIONS, 1307.4},
    {"gfx942", TALLY_MFMA_BF16_1K_X16, 16 * MATRIX_OPERATIONS, 1307.4},
    {"gfx942", TALLY_MFMA_BF16_1K_X32, 32 * MATRIX_OPERATIONS, 1307.4},
    {"gfx942", TALLY_MFMA_I8_X32, 32 * MATRIX_OPERATIONS, 2614.9},
    {"gfx942", TALLY_MFMA_I8_X64, 64 * MATRIX_OPERATIONS, 2614.9},
    {"gfx942", TALLY_MFMA_F8_X32, 32 * MATRIX_OPERATIONS, 2614.9},
    {"gfx942", TALLY_MFMA_F8_X64, 64 * MATRIX_OPERATIONS, 2614.9},
    {"gfx942", TALLY_MFMA_F16_SPARSE_X32, 32 * MATRIX_OPERATIONS, 2614.9},
    {"gfx942", TALLY_MFMA_F16_SPARSE_X64, 64 * MATRIX_OPERATIONS, 2614.9},
    {"gfx942", TALLY_MFMA_BF16_1K_SPARSE_X32, 32 * MATRIX_OPERATIONS, 2614.9},
    {"gfx942", TALLY_MFMA_BF16_1K_SPARSE_X64, 64 * MATRIX_OPERATIONS, 2614.9},
    {"gfx942", TALLY_MFMA_I8_SPARSE_X64, 64 * MATRIX_OPERATIONS, 5229.8},
    {"gfx942", TALLY_MFMA_I8_SPARSE_X128, 128 * MATRIX_OPERATIONS, 5229.8},
    {"gfx942", TALLY_MFMA_F8_SPARSE_X64, 64 * MATRIX_OPERATIONS, 5229.8},
    {"gfx942", TALLY_MFMA_F8_SPARSE_X128, 128 * MATRIX_OPERATIONS, 5229.8},
};

static void operations_in_a_second_are_those_published(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof peaks / sizeof peaks[0]; i++) {
        const struct gpu_model *model = gpu_model_find(peaks[i].gpu);
        const struct clock_cost *cost = &clock_costs_of(model->gen)[peaks[i].tally];
        uint32_t cycles = cost->matrix_cycles ? cost->matrix_cycles : cost->issue_cycles;
        double simds = (double)model->cu_active * model->simd_per_cu;
        double tera = simds * peaks[i].operations / cycles * model->sclk_mhz / 1e6;
        if (fabs(tera / peaks[i].published - 1) > 0.01)
            fail_msg("%s: tally %d: %.1f, published are %.1f", peaks[i].gpu, (int)peaks[i].tally,
                     tera, peaks[i].published);
    }
}

static void memory_moves_what_is_published(void **state)
{
    static const struct {
        const char *gpu;
        double published; /* 10^9 bytes in a second */
    } memories[] = {{"gfx906", 1024}, {"gfx908", 1228.8}, {"gfx90a", 1638.4}, {"gfx942", 5325}};
    (void)state;
    for (size_t i = 0; i < sizeof memories / sizeof memories[0]; i++) {
        const struct gpu_model *model = gpu_model_find(memories[i].gpu);
        double giga = (double)model->memory_bytes_per_mclk * model->mclk_mhz / 1e3;
        assert_true(fabs(giga / memories[i].published - 1) < 0.01);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_in_a_second_are_those_published),
        cmocka_unit_test(memory_moves_what_is_published),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
