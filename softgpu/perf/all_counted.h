/* For tests: counters that count, and all that counters can show of two devices. */
#ifndef PERF_ALL_COUNTED_H
#define PERF_ALL_COUNTED_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "gfx90a_regs.h"
#include "perf/internal.h"

static inline uint32_t all_counted_event(const struct perf *perf, const char *name)
{
    struct perf_event event;
    size_t at = 0;
    while (perf_event_next(perf->model->gen, &at, &event))
        if (strcmp(event.name, name) == 0)
            return event.number;
    return 0;
}

/* Counters of all blocks count from now on, which want these things (enum perf_want) observed;
 * those that counted before are others then. */
static inline void all_counted_begin(struct perf *perf, uint32_t wants)
{
    static const struct {
        uint32_t want, reg;
        const char *name;
    } events[] = {{PERF_WANT_L2, REG_GFX90A_TCC_PERFCOUNTER0_SELECT, "TCC_HIT"},
                  {PERF_WANT_MEMORY, REG_GFX90A_TCP_PERFCOUNTER0_SELECT, "TCP_TOTAL_READ"},
                  {PERF_WANT_FETCH, REG_GFX90A_SQ_PERFCOUNTER0_SELECT + 1, "SQ_IFETCH"},
                  {PERF_WANT_LDS, REG_GFX90A_SQ_PERFCOUNTER0_SELECT + 2, "SQ_LDS_BANK_CONFLICT"},
                  {PERF_WANT_TIME, REG_GFX90A_SQ_PERFCOUNTER0_SELECT + 3, "SQ_WAVE_CYCLES"}};
    const uint32_t all = (1u << perf->model->xcc_count) - 1;
    perf_reg_write(perf, all, REG_GFX90A_GRBM_GFX_INDEX, 0xe0000000);
    perf_reg_write(perf, all, REG_GFX90A_CP_PERFMON_CNTL, 0);
    perf_reg_write(perf, all, REG_GFX90A_SQ_PERFCOUNTER_MASK, 0xffffffff);
    perf_reg_write(perf, all, REG_GFX90A_SQ_PERFCOUNTER_CTRL, 0xffff0057);
    perf_reg_write(perf, all, REG_GFX90A_COMPUTE_PERFCOUNT_ENABLE, 1);
    perf_reg_write(perf, all, REG_GFX90A_SQ_PERFCOUNTER0_SELECT,
                   all_counted_event(perf, "SQ_WAVES") | 0x0f0ff000u);
    for (unsigned n = 0; n < sizeof events / sizeof *events; n++) {
        const bool wanted = (wants & events[n].want) == events[n].want;
        const char *name = wanted ? events[n].name : "";
        perf_reg_write(perf, all, events[n].reg, all_counted_event(perf, name) | 0x0f0ff000u);
    }
    perf_reg_write(perf, all, REG_GFX90A_CP_PERFMON_CNTL, 1);
}

/* What every counter's value is made of. */
static inline bool all_counted_same(struct perf *a, struct perf *b)
{
    const size_t xccs = a->model->xcc_count, channels = xccs * a->model->tcc_channels;
    dispatches_settle(a);
    dispatches_settle(b);
    return !memcmp(a->cu, b->cu, xccs * a->units * sizeof *a->cu) &&
           !memcmp(a->se, b->se, xccs * a->se_units * sizeof *a->se) &&
           !memcmp(a->xcc, b->xcc, xccs * sizeof *a->xcc) &&
           !memcmp(a->channel, b->channel, channels * sizeof *a->channel);
}

#endif
