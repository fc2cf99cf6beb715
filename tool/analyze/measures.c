#include "measures.h"

#include <math.h>
#include <stddef.h>

enum { LANES = 64, MATRIX_OPERATIONS = 512 /* in a unit of SQ_INSTS_VALU_MFMA_MOPS_* */ };

#define MEAN(counter) analyze_mean(kernel, COUNT_##counter)

/* Floating point operations of all lanes; a fused multiply-add is two. */
static double flops_of(const struct analyze_kernel *kernel, enum analyze_counter add)
{
    const double weights[] = {1, 1, 2, 1}; /* ADD, MUL, FMA, TRANS, in the list's order */
    double sum = 0;
    for (int i = 0; i < 4; i++)
        sum += weights[i] * analyze_mean(kernel, (enum analyze_counter)(add + i));
    return LANES * sum;
}

static double matrix_flops(const struct analyze_kernel *kernel)
{
    double sum = MEAN(SQ_INSTS_VALU_MFMA_MOPS_F16) + MEAN(SQ_INSTS_VALU_MFMA_MOPS_BF16) +
                 MEAN(SQ_INSTS_VALU_MFMA_MOPS_F32);
    return isnan(sum) ? 0 : MATRIX_OPERATIONS * sum;
}

static void parts_measure(struct measures *m)
{
    const struct analyze_kernel *kernel = m->kernel;
    const struct machine *machine = m->machine;
    double cus = machine->cus, simds = machine->simds;
    for (int i = 0; i < PART_COUNT; i++)
        m->part_cycles[i] = NAN;
    m->part_cycles[PART_VALU] = 4 * MEAN(SQ_ACTIVE_INST_VALU) / simds;
    m->part_cycles[PART_MATRIX] = MEAN(SQ_VALU_MFMA_BUSY_CYCLES) / simds;
    m->part_cycles[PART_LDS] = MEAN(SQ_LDS_IDX_ACTIVE) / cus;
    m->part_cycles[PART_L1] = MEAN(TCP_TOTAL_CACHE_ACCESSES_sum) / cus;
    if (machine->arch)
        m->part_cycles[PART_L2] = MEAN(TCC_REQ_sum) / (machine->arch->l2_channels * machine->xccs);
    if (machine->memory_bytes_per_s > 0)
        m->part_cycles[PART_MEMORY] = m->bytes / machine->memory_bytes_per_s * machine->clock_hz;
    m->busiest = PART_COUNT;
    for (int i = 0; i < PART_COUNT; i++)
        if (m->part_cycles[i] > 0 &&
            (m->busiest == PART_COUNT || m->part_cycles[i] > m->part_cycles[m->busiest]))
            m->busiest = (enum part)i;
    m->rate_seconds = m->seconds;
    if (m->busiest != PART_COUNT && m->part_cycles[m->busiest] > m->cycles)
        m->rate_seconds = m->part_cycles[m->busiest] / machine->clock_hz;
}

static void memory_measure(struct measures *m)
{
    const struct analyze_kernel *kernel = m->kernel;
    double instructions = MEAN(SQ_INSTS_VMEM_RD) + MEAN(SQ_INSTS_VMEM_WR);
    double in_lds = MEAN(SQ_INSTS_FLAT_LDS_ONLY);
    if (in_lds > 0)
        instructions -= in_lds;
    m->lines = instructions > 0 ? MEAN(TCP_TOTAL_CACHE_ACCESSES_sum) / instructions : NAN;
    m->bytes = 1024 * (MEAN(FETCH_SIZE) + MEAN(WRITE_SIZE));
    double looked_up = MEAN(TCC_HIT_sum) + MEAN(TCC_MISS_sum);
    double requests = MEAN(TCC_EA_RDREQ_sum) + MEAN(TCC_EA_WRREQ_sum);
    double own = MEAN(TCC_EA_RDREQ_DRAM_sum) + MEAN(TCC_EA_WRREQ_DRAM_sum);
    m->elsewhere_share = requests > 0 ? 1 - own / requests : NAN;
    m->l2_hit_share = looked_up > 0 ? MEAN(TCC_HIT_sum) / looked_up : NAN;
}

struct measures measures_of(const struct analyze_kernels *kernels,
                            const struct analyze_kernel *kernel)
{
    static const struct machine nothing = {.cus = 1, .simds = 1, .xccs = 1, .clock_hz = 1};
    const struct machine *machine = analyze_kernels_machine_of(kernels, kernel);
    struct measures m = {.kernel = kernel, .machine = machine ? machine : &nothing};
    m.cycles = MEAN(GRBM_GUI_ACTIVE) / m.machine->xccs;
    m.seconds = m.cycles / m.machine->clock_hz;
    m.waves = MEAN(SQ_WAVES);
    m.wait_share = MEAN(SQ_WAIT_ANY) / MEAN(SQ_WAVE_CYCLES);
    m.waves_per_cu = MEAN(SQ_WAVE_CYCLES) / MEAN(SQ_BUSY_CU_CYCLES);
    m.lanes = MEAN(SQ_THREAD_CYCLES_VALU) / MEAN(SQ_ACTIVE_INST_VALU);
    m.conflict_share = MEAN(SQ_LDS_BANK_CONFLICT) / MEAN(SQ_LDS_IDX_ACTIVE);
    memory_measure(&m);
    m.flops_f64 = flops_of(kernel, COUNT_SQ_INSTS_VALU_ADD_F64);
    m.flops = flops_of(kernel, COUNT_SQ_INSTS_VALU_ADD_F16) +
              flops_of(kernel, COUNT_SQ_INSTS_VALU_ADD_F32) + m.flops_f64 + matrix_flops(kernel);
    parts_measure(&m);
    m.has_occupancy = occupancy_of(m.machine, &kernel->needs, &m.occupancy);
    return m;
}

double measures_share(const struct measures *measures, enum part part)
{
    return measures->part_cycles[part] / measures->cycles;
}
