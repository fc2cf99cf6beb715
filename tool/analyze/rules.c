#include "rules.h"

#include <math.h>
#include <stdio.h>

#include "text.h"

/* A part that needs this much of the time is what bounds the kernel, and not waiting. */
static const double bound_share = 0.6;
/* Beyond these something is worth a word of its own. */
static const double few_lanes = 48, many_lines = 20, many_conflicts = 0.1, long_waits = 0.5,
                    much_elsewhere = 0.5;

/* ---- bound by what */

static bool bound_by(const struct measures *m, enum part part)
{
    return m->busiest == part && measures_share(m, part) >= bound_share;
}

static void bound_say(const struct measures *m, enum part part, const char *work, char *text,
                      size_t size)
{
    double share = measures_share(m, part);
    if (share <= 1)
        snprintf(text, size, "%s takes at least %.0f cycles, %.0f %% of the %.0f that it ran", work,
                 m->part_cycles[part], 100 * share, m->cycles);
    else
        snprintf(
            text, size,
            "%s takes at least %.0f cycles; the %.0f that were counted know no such limit, and "
            "rates below are of the longer time",
            work, m->part_cycles[part], m->cycles);
}

#define PART_BOUND(part, name, ...)                                                                \
    static bool name##_bound(const struct measures *m)                                             \
    {                                                                                              \
        return bound_by(m, part);                                                                  \
    }                                                                                              \
    static void name##_say(const struct measures *m, char *text, size_t size)                      \
    {                                                                                              \
        char work[200], number[32];                                                                \
        (void)number;                                                                              \
        snprintf(work, sizeof work, __VA_ARGS__);                                                  \
        bound_say(m, part, work, text, size);                                                      \
    }

PART_BOUND(PART_MEMORY, memory, "Bound by memory: moving its %s at %.0f GB/s",
           text_bytes(m->bytes, number), m->machine->memory_bytes_per_s / 1e9)
PART_BOUND(PART_L2, l2, "Bound by L2: serving its %.0f requests by %u channels",
           analyze_mean(m->kernel, COUNT_TCC_REQ_sum),
           m->machine->arch->l2_channels * m->machine->xccs)
PART_BOUND(PART_L1, l1, "Bound by the L1 caches: looking up %.0f lines, one a cycle in each",
           analyze_mean(m->kernel, COUNT_TCP_TOTAL_CACHE_ACCESSES_sum))
PART_BOUND(PART_LDS, lds, "Bound by LDS: serving its %.0f instructions, bank conflicts included,",
           analyze_mean(m->kernel, COUNT_SQ_INSTS_LDS))
PART_BOUND(PART_VALU, valu, "Bound by compute: issuing its vector instructions to %u SIMDs",
           m->machine->simds)
PART_BOUND(PART_MATRIX, matrix, "Bound by compute: executing its matrix instructions on %u SIMDs",
           m->machine->simds)

/* What is waited for is then the way there, whose speed no agent says. */
static bool link_bound(const struct measures *m)
{
    return m->elsewhere_share >= much_elsewhere && m->wait_share >= long_waits;
}

static void link_say(const struct measures *m, char *text, size_t size)
{
    snprintf(text, size,
             "Bound by a link: %.0f %% of its requests of memory go to the host or another GPU, "
             "%.1f GB/s; waves wait %.0f %% of their time",
             100 * m->elsewhere_share, m->elsewhere_share * m->bytes / m->seconds / 1e9,
             100 * m->wait_share);
}

static bool grid_small(const struct measures *m)
{
    return m->waves > 0 && m->waves < m->machine->simds;
}

static void grid_say(const struct measures *m, char *text, size_t size)
{
    snprintf(text, size,
             "Bound by latency, the grid is too small: %.0f wave%s for %u SIMDs, %.0f %% of which "
             "have nothing to do",
             m->waves, m->waves == 1 ? "" : "s", m->machine->simds,
             100 * (1 - m->waves / m->machine->simds));
}

static const char *const limits[OCCUPANCY_LIMIT_COUNT] = {"wave slots", "VGPRs", "SGPRs", "LDS",
                                                          "barriers (groups in flight)"};

static bool occupancy_low(const struct measures *m)
{
    return m->has_occupancy && m->wait_share >= long_waits &&
           m->occupancy.limit != OCCUPANCY_SLOTS &&
           2 * m->occupancy.waves_per_cu <= m->occupancy.waves_max;
}

static void occupancy_bound_say(const struct measures *m, char *text, size_t size)
{
    snprintf(text, size,
             "Bound by occupancy: waves wait %.0f %% of their time, and %s let%s only %u of %u be "
             "on a compute unit to fill it",
             100 * m->wait_share, limits[m->occupancy.limit],
             m->occupancy.limit == OCCUPANCY_LDS ? "s" : "", m->occupancy.waves_per_cu,
             m->occupancy.waves_max);
}

static bool waits_long(const struct measures *m)
{
    return m->wait_share >= long_waits;
}

static void latency_say(const struct measures *m, char *text, size_t size)
{
    snprintf(text, size,
             "Bound by latency: waves wait %.0f %% of their time, and no part of the GPU is busy "
             "for more than %.0f %% of it",
             100 * m->wait_share,
             m->busiest == PART_COUNT ? 0 : 100 * measures_share(m, m->busiest));
}

static bool is_counted(const struct measures *m)
{
    return !isnan(m->cycles) && m->busiest != PART_COUNT;
}

static void balanced_say(const struct measures *m, char *text, size_t size)
{
    static const char *const parts[PART_COUNT] = {
        "memory", "L2", "the L1 caches", "LDS", "the vector ALUs", "the matrix units"};
    snprintf(text, size,
             "Bound by nothing alone: the busiest part is %s with %.0f %% of the time, waves wait "
             "%.0f %% of theirs",
             parts[m->busiest], 100 * measures_share(m, m->busiest), 100 * m->wait_share);
}

/* ---- occupancy */

static bool occupancy_known(const struct measures *m)
{
    return m->has_occupancy;
}

static void occupancy_say(const struct measures *m, char *text, size_t size)
{
    const struct occupancy *o = &m->occupancy;
    const struct kernel_needs *needs = &m->kernel->needs;
    int used = snprintf(text, size, "Occupancy: at most %u of %u waves a compute unit",
                        o->waves_per_cu, o->waves_max);
    if (o->limit == OCCUPANCY_VGPRS)
        used += snprintf(text + used, size - (size_t)used, ", limited by %u VGPRs",
                         needs->vgprs + needs->acc_vgprs);
    else if (o->limit == OCCUPANCY_SGPRS)
        used += snprintf(text + used, size - (size_t)used, ", limited by %u SGPRs", needs->sgprs);
    else if (o->limit == OCCUPANCY_LDS)
        used += snprintf(text + used, size - (size_t)used, ", limited by %u bytes of LDS a group",
                         needs->lds_bytes);
    else if (o->limit == OCCUPANCY_GROUPS)
        used +=
            snprintf(text + used, size - (size_t)used, ", limited by barriers: %u groups in flight",
                     m->machine->arch->groups_per_cu);
    if (!isnan(m->waves_per_cu))
        snprintf(text + used, size - (size_t)used, "; %.1f were there", m->waves_per_cu);
}

/* ---- memory */

static bool lines_many(const struct measures *m)
{
    return m->lines > many_lines;
}

static void lines_many_say(const struct measures *m, char *text, size_t size)
{
    snprintf(
        text, size,
        "Not coalesced: a wave's memory instruction touches %.1f cache lines (4 are enough for "
        "4 bytes a lane in a row, 16 for 16)",
        m->lines);
}

static bool lines_known(const struct measures *m)
{
    return m->lines > 0;
}

static void lines_say(const struct measures *m, char *text, size_t size)
{
    snprintf(text, size, "Coalesced: a wave's memory instruction touches %.1f cache lines",
             m->lines);
}

static bool memory_used(const struct measures *m)
{
    return m->bytes >= 4096 && m->seconds > 0;
}

static void memory_used_say(const struct measures *m, char *text, size_t size)
{
    char bytes[32];
    int used = snprintf(text, size, "Memory: %s, %.1f GB/s", text_bytes(m->bytes, bytes),
                        m->bytes / m->rate_seconds / 1e9);
    if (m->machine->memory_bytes_per_s > 0)
        used += snprintf(text + used, size - (size_t)used, " of %.0f",
                         m->machine->memory_bytes_per_s / 1e9);
    if (!isnan(m->l2_hit_share))
        snprintf(text + used, size - (size_t)used, "; %.0f %% of L2's requests hit",
                 100 * m->l2_hit_share);
}

/* ---- LDS, lanes */

static bool conflicts_many(const struct measures *m)
{
    return m->conflict_share > many_conflicts;
}

static void conflicts_many_say(const struct measures *m, char *text, size_t size)
{
    snprintf(text, size,
             "Bank conflicts: %.0f %% of LDS's busy cycles repeat an access, which makes it %.1f "
             "times as long",
             100 * m->conflict_share, 1 / (1 - m->conflict_share));
}

static bool lds_used(const struct measures *m)
{
    return analyze_mean(m->kernel, COUNT_SQ_INSTS_LDS) > 0 && m->conflict_share >= 0;
}

static void conflicts_say(const struct measures *m, char *text, size_t size)
{
    snprintf(text, size, "Bank conflicts: %.1f %% of LDS's busy cycles", 100 * m->conflict_share);
}

static bool lanes_few(const struct measures *m)
{
    return m->lanes < few_lanes;
}

static void lanes_few_say(const struct measures *m, char *text, size_t size)
{
    snprintf(text, size,
             "Divergent: %.1f of 64 lanes are active in a vector instruction; with all of them it "
             "would take %.1f times fewer",
             m->lanes, 64 / m->lanes);
}

static bool lanes_known(const struct measures *m)
{
    return m->lanes > 0;
}

static void lanes_say(const struct measures *m, char *text, size_t size)
{
    snprintf(text, size, "Lanes: %.1f of 64 are active in a vector instruction", m->lanes);
}

/* ---- roofline */

static bool roof_known(const struct measures *m)
{
    return m->flops > 0 && m->bytes > 0 && m->machine->memory_bytes_per_s > 0 && m->machine->arch;
}

static void roof_say(const struct measures *m, char *text, size_t size)
{
    double intensity = m->flops / m->bytes;
    double peak = m->machine->cus * m->machine->clock_hz *
                  (m->flops_f64 * 2 > m->flops ? m->machine->arch->fp64 : m->machine->arch->fp32);
    double roof = intensity * m->machine->memory_bytes_per_s;
    roof = roof < peak ? roof : peak;
    double rate = m->flops / m->rate_seconds;
    snprintf(text, size,
             "Roofline: %.1f GFLOP/s at %.2f operations a byte, %.1f %% of the %.1f GFLOP/s that "
             "are possible there (all lanes counted)",
             rate / 1e9, intensity, 100 * rate / roof, roof / 1e9);
}

#define C(name) COUNT_##name
/* clang-format off */
const struct rule analyze_rules[] = {
    {"memory", "bound", memory_bound, memory_say, {C(FETCH_SIZE), C(WRITE_SIZE), C(GRBM_GUI_ACTIVE), COUNT_COUNT}},
    {"l2", "bound", l2_bound, l2_say, {C(TCC_REQ_sum), C(GRBM_GUI_ACTIVE), COUNT_COUNT}},
    {"l1", "bound", l1_bound, l1_say, {C(TCP_TOTAL_CACHE_ACCESSES_sum), C(GRBM_GUI_ACTIVE), COUNT_COUNT}},
    {"lds", "bound", lds_bound, lds_say, {C(SQ_LDS_IDX_ACTIVE), C(SQ_INSTS_LDS), C(GRBM_GUI_ACTIVE), COUNT_COUNT}},
    {"compute", "bound", valu_bound, valu_say, {C(SQ_ACTIVE_INST_VALU), C(GRBM_GUI_ACTIVE), COUNT_COUNT}},
    {"matrix", "bound", matrix_bound, matrix_say, {C(SQ_VALU_MFMA_BUSY_CYCLES), C(GRBM_GUI_ACTIVE), COUNT_COUNT}},
    {"link", "bound", link_bound, link_say,
     {C(TCC_EA_RDREQ_sum), C(TCC_EA_RDREQ_DRAM_sum), C(TCC_EA_WRREQ_sum), C(TCC_EA_WRREQ_DRAM_sum), C(SQ_WAIT_ANY), C(SQ_WAVE_CYCLES), COUNT_COUNT}},
    {"grid", "bound", grid_small, grid_say, {C(SQ_WAVES), COUNT_COUNT}},
    {"occupancy", "bound", occupancy_low, occupancy_bound_say, {C(SQ_WAIT_ANY), C(SQ_WAVE_CYCLES), COUNT_COUNT}},
    {"latency", "bound", waits_long, latency_say, {C(SQ_WAIT_ANY), C(SQ_WAVE_CYCLES), C(GRBM_GUI_ACTIVE), COUNT_COUNT}},
    {"balanced", "bound", is_counted, balanced_say, {C(GRBM_GUI_ACTIVE), C(SQ_WAIT_ANY), C(SQ_WAVE_CYCLES), COUNT_COUNT}},
    {"waves", "occupancy", occupancy_known, occupancy_say, {C(SQ_WAVE_CYCLES), C(SQ_BUSY_CU_CYCLES), COUNT_COUNT}},
    {"uncoalesced", "lines", lines_many, lines_many_say,
     {C(TCP_TOTAL_CACHE_ACCESSES_sum), C(SQ_INSTS_VMEM_RD), C(SQ_INSTS_VMEM_WR), C(SQ_INSTS_FLAT_LDS_ONLY), COUNT_COUNT}},
    {"coalesced", "lines", lines_known, lines_say,
     {C(TCP_TOTAL_CACHE_ACCESSES_sum), C(SQ_INSTS_VMEM_RD), C(SQ_INSTS_VMEM_WR), C(SQ_INSTS_FLAT_LDS_ONLY), COUNT_COUNT}},
    {"traffic", "memory", memory_used, memory_used_say,
     {C(FETCH_SIZE), C(WRITE_SIZE), C(TCC_HIT_sum), C(TCC_MISS_sum), C(GRBM_GUI_ACTIVE), COUNT_COUNT}},
    {"conflicts", "lds", conflicts_many, conflicts_many_say, {C(SQ_LDS_BANK_CONFLICT), C(SQ_LDS_IDX_ACTIVE), COUNT_COUNT}},
    {"few_conflicts", "lds", lds_used, conflicts_say,
     {C(SQ_LDS_BANK_CONFLICT), C(SQ_LDS_IDX_ACTIVE), C(SQ_INSTS_LDS), COUNT_COUNT}},
    {"divergent", "lanes", lanes_few, lanes_few_say, {C(SQ_THREAD_CYCLES_VALU), C(SQ_ACTIVE_INST_VALU), COUNT_COUNT}},
    {"lanes", "lanes", lanes_known, lanes_say, {C(SQ_THREAD_CYCLES_VALU), C(SQ_ACTIVE_INST_VALU), COUNT_COUNT}},
    {"roofline", "roofline", roof_known, roof_say,
     {C(SQ_INSTS_VALU_ADD_F32), C(SQ_INSTS_VALU_MUL_F32), C(SQ_INSTS_VALU_FMA_F32), C(FETCH_SIZE), C(WRITE_SIZE), C(GRBM_GUI_ACTIVE), COUNT_COUNT}},
    {0},
};
/* clang-format on */
