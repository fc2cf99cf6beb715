#include "perf/clock.h"

#include <pthread.h>
#include <string.h>

#include "isa/inst.h"

#define WAIT_OF(klass, latency)                                                                    \
    ((latency) == CYCLES_PER_LOAD                                   ? WAIT_LOAD                    \
     : (klass) == CLASS_SMEM && (latency) == CYCLES_PER_SCALAR_LOAD ? WAIT_SCALAR                  \
     : (klass) == CLASS_LDS && (latency) == CYCLES_PER_LDS_READ     ? WAIT_LDS                     \
                                                                    : WAIT_ALWAYS)

const struct clock_cost clock_costs[TALLY_SLOTS] = {
#define TALLY_COST(name, klass, issue, latency, matrix)                                            \
    [TALLY_##name] = {(issue)*CYCLES_PER_ISSUE, latency, matrix, WAIT_OF(CLASS_##klass, latency)},
    INST_TALLIES(TALLY_COST)
#undef TALLY_COST
};

/* What takes another time than on a gfx90a. AMD's data sheets, in operations of a compute unit and
 * cycle: MI60 and MI100 do 64 of FP64, a half; MI300X 1024 of XF32, 2048 of FP16 and BF16 and 4096
 * of FP8 and INT8 in its matrix units, whose instructions of several small blocks are as slow as
 * before.
 */
enum { HALF_RATE_CYCLES = 2 * CYCLES_PER_ISSUE };
static const struct {
    uint8_t gen, tally;
    uint8_t issue_cycles, matrix_cycles;
} other_costs[] = {
    {GPU_GFX906, TALLY_VALU_ADD_F64, HALF_RATE_CYCLES, 0},
    {GPU_GFX906, TALLY_VALU_MUL_F64, HALF_RATE_CYCLES, 0},
    {GPU_GFX906, TALLY_VALU_FMA_F64, HALF_RATE_CYCLES, 0},
    {GPU_GFX908, TALLY_VALU_ADD_F64, HALF_RATE_CYCLES, 0},
    {GPU_GFX908, TALLY_VALU_MUL_F64, HALF_RATE_CYCLES, 0},
    {GPU_GFX908, TALLY_VALU_FMA_F64, HALF_RATE_CYCLES, 0},
    {GPU_GFX942, TALLY_MFMA_XF32_X8, CYCLES_PER_ISSUE, 16},
    {GPU_GFX942, TALLY_MFMA_XF32_X16, CYCLES_PER_ISSUE, 32},
    {GPU_GFX942, TALLY_MFMA_F16_X16, CYCLES_PER_ISSUE, 16},
    {GPU_GFX942, TALLY_MFMA_F16_X32, CYCLES_PER_ISSUE, 32},
    {GPU_GFX942, TALLY_MFMA_BF16_1K_X16, CYCLES_PER_ISSUE, 16},
    {GPU_GFX942, TALLY_MFMA_BF16_1K_X32, CYCLES_PER_ISSUE, 32},
    {GPU_GFX942, TALLY_MFMA_I8_X32, CYCLES_PER_ISSUE, 16},
    {GPU_GFX942, TALLY_MFMA_I8_X64, CYCLES_PER_ISSUE, 32},
    {GPU_GFX942, TALLY_MFMA_F8_X32, CYCLES_PER_ISSUE, 16},
    {GPU_GFX942, TALLY_MFMA_F8_X64, CYCLES_PER_ISSUE, 32},
};

static pthread_once_t made = PTHREAD_ONCE_INIT;
static struct clock_cost costs_by_gen[GPU_GEN_COUNT][TALLY_SLOTS]; /* written under `made` alone */

static void costs_make(void)
{
    for (uint32_t gen = 0; gen < GPU_GEN_COUNT; gen++)
        memcpy(costs_by_gen[gen], clock_costs, sizeof clock_costs);
    for (size_t i = 0; i < sizeof other_costs / sizeof other_costs[0]; i++) {
        struct clock_cost *cost = &costs_by_gen[other_costs[i].gen][other_costs[i].tally];
        cost->issue_cycles = other_costs[i].issue_cycles;
        cost->matrix_cycles = other_costs[i].matrix_cycles;
    }
}

const struct clock_cost *clock_costs_of(enum gpu_gen gen)
{
    pthread_once(&made, costs_make);
    return costs_by_gen[gen];
}

static uint64_t waits(const struct clock_wave *wave, enum clock_wait wait)
{
    return wave->count[wait] < wave->waitcnts ? wave->count[wait] : wave->waitcnts;
}

uint64_t clock_wave_load_wait(const struct clock_wave *wave)
{
    return CYCLES_PER_LOAD * waits(wave, WAIT_LOAD);
}

uint64_t clock_wave_other_wait(const struct clock_wave *wave)
{
    return wave->count[WAIT_ALWAYS] + CYCLES_PER_SCALAR_LOAD * waits(wave, WAIT_SCALAR) +
           CYCLES_PER_LDS_READ * waits(wave, WAIT_LDS);
}
