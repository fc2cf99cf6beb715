/*
 * Blocks of gfx9 GPUs. The registers are the same on all members (the kernel's register lists of
 * gc_9_0 to gc_9_4_2 agree on every one used here); instances and events differ.
 */
/* The header defines a constant, which in C is a symbol of every file that includes it. */
#define HSA_VEN_AMD_AQLPROFILE_LEGACY_PM4_PACKET_SIZE                                              \
    aqlprofile_legacy_pm4_packet_size __attribute__((weak))
#include <hsa/hsa_ven_amd_aqlprofile.h>

#include "gpu/gfx9/gfx9.h"
#include "gpu_gfx9_regs.h"

#define REG(name) REG_GFX9_##name
#define COUNTER(block, i)                                                                          \
    {                                                                                              \
        REG(block##_PERFCOUNTER##i##_SELECT), REG(block##_PERFCOUNTER##i##_LO),                    \
            REG(block##_PERFCOUNTER##i##_HI)                                                       \
    }
/* Memory-controller style: configuration per counter, one result pair for all. */
#define MC_COUNTER(block, i)                                                                       \
    {                                                                                              \
        REG(block##_PERFCOUNTER##i##_CFG), REG(block##_PERFCOUNTER_LO),                            \
            REG(block##_PERFCOUNTER_HI)                                                            \
    }

#define COUNTERS_2(block) COUNTER(block, 0), COUNTER(block, 1)
#define COUNTERS_4(block) COUNTERS_2(block), COUNTER(block, 2), COUNTER(block, 3)
#define COUNTERS_6(block) COUNTERS_4(block), COUNTER(block, 4), COUNTER(block, 5)
#define COUNTERS_8(block) COUNTERS_6(block), COUNTER(block, 6), COUNTER(block, 7)
#define MC_2(block)       MC_COUNTER(block, 0), MC_COUNTER(block, 1)
#define MC_4(block)       MC_2(block), MC_COUNTER(block, 2), MC_COUNTER(block, 3)
#define MC_8(block)                                                                                \
    MC_4(block), MC_COUNTER(block, 4), MC_COUNTER(block, 5), MC_COUNTER(block, 6),                 \
        MC_COUNTER(block, 7)

#define GRBM_SE_COUNTER(i)                                                                         \
    {                                                                                              \
        REG(GRBM_SE##i##_PERFCOUNTER_SELECT), REG(GRBM_SE##i##_PERFCOUNTER_LO),                    \
            REG(GRBM_SE##i##_PERFCOUNTER_HI)                                                       \
    }

static const struct gpu_counter_registers cpc[] = {COUNTERS_2(CPC)}, cpf[] = {COUNTERS_2(CPF)},
                                          gds[] = {COUNTERS_4(GDS)}, grbm[] = {COUNTERS_2(GRBM)},
                                          spi[] = {COUNTERS_6(SPI)}, sq[] = {COUNTERS_8(SQ)},
                                          sx[] = {COUNTERS_4(SX)}, ta[] = {COUNTERS_2(TA)},
                                          tca[] = {COUNTERS_4(TCA)}, tcc[] = {COUNTERS_4(TCC)},
                                          tcp[] = {COUNTERS_4(TCP)}, td[] = {COUNTERS_2(TD)},
                                          mcvml2[] = {MC_8(MC_VM_L2)}, atcl2[] = {MC_2(ATC_L2)},
                                          gcea[] = {MC_2(GCEA)}, atc[] = {MC_4(ATC)},
                                          rpb[] = {MC_4(RPB)},
                                          grbm_se[] = {GRBM_SE_COUNTER(0), GRBM_SE_COUNTER(1),
                                                       GRBM_SE_COUNTER(2), GRBM_SE_COUNTER(3)};

/* SQ select: all four SIMDs, all cache banks and clients. */
enum { SQ_SELECT_ALL = 0xf << 24 | 0xf << 16 | 0xf << 12 };
/* SQ control: shader stages that count (PS VS GS HS CS, or CS alone), all 16 VMIDs. */
#define SQ_CONTROL_ALL     0xffff0057u
#define SQ_CONTROL_COMPUTE 0xffff0040u
enum { MC_SELECT_ENABLE = 1 << 28 };

enum { FILE_OWN = 0, FILE_SQ = 1 };

#define BLOCK(id_name, text, instances_, max, flags_, bits, control_, value, file, regs)           \
    {                                                                                              \
        .name = text, .id = HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_##id_name, .instances = instances_,  \
        .counters = sizeof regs / sizeof regs[0], .event_max = max, .flags = flags_,               \
        .select_bits = bits, .control = control_, .control_value = value, .register_file = file,   \
        .registers = regs                                                                          \
    }
#define PLAIN(id, name, instances, max, flags, regs)                                               \
    BLOCK(id, name, instances, max, flags, 0, 0, 0, FILE_OWN, regs)
#define SEQUENCER(id, name, max, control)                                                          \
    BLOCK(id, name, 1, max, BLOCK_PER_SE | BLOCK_SQ | BLOCK_ACCUMULATES, SQ_SELECT_ALL,            \
          REG(SQ_PERFCOUNTER_CTRL), control, FILE_SQ, sq)
#define MEMORY(id, name, instances, max, flags, regs, prefix)                                      \
    BLOCK(id, name, instances, max, flags, MC_SELECT_ENABLE, REG(prefix##_PERFCOUNTER_RSLT_CNTL),  \
          0, FILE_OWN, regs)

/* What differs between the members. */
#define BLOCKS(sq_max, tcp_max, tcc_n, tcc_max, tca_n, tca_max, gcea_n, gcea_max, athub_n)         \
    {                                                                                              \
        PLAIN(CPC, "CPC", 1, 34, 0, cpc), PLAIN(CPF, "CPF", 1, 31, 0, cpf),                        \
            PLAIN(GDS, "GDS", 1, 120, 0, gds), PLAIN(GRBM, "GRBM", 1, 37, 0, grbm),                \
            PLAIN(GRBMSE, "GRBM_SE", 1, 37, 0, grbm_se),                                           \
            PLAIN(SPI, "SPI", 1, 195, BLOCK_PER_SE, spi),                                          \
            SEQUENCER(SQ, "SQ", sq_max, SQ_CONTROL_ALL),                                           \
            SEQUENCER(SQCS, "SQ_CS", sq_max, SQ_CONTROL_COMPUTE),                                  \
            PLAIN(SX, "SX", 1, 207, BLOCK_PER_SE | BLOCK_CLEAN, sx),                               \
            PLAIN(TA, "TA", 16, 118, BLOCK_PER_SE | BLOCK_TC | BLOCK_PER_CU, ta),                  \
            PLAIN(TCA, "TCA", tca_n, tca_max, BLOCK_TC, tca),                                      \
            PLAIN(TCC, "TCC", tcc_n, tcc_max, BLOCK_TC, tcc),                                      \
            PLAIN(TCP, "TCP", 16, tcp_max, BLOCK_PER_SE | BLOCK_TC | BLOCK_PER_CU, tcp),           \
            PLAIN(TD, "TD", 16, 56, BLOCK_PER_SE | BLOCK_TC | BLOCK_PER_CU, td),                   \
            MEMORY(MCVML2, "MCVML2", 1, 20, BLOCK_MC, mcvml2, MC_VM_L2),                           \
            MEMORY(ATC, "ATC", athub_n, 23, BLOCK_ATHUB, atc, ATC),                                \
            MEMORY(ATCL2, "ATCL2", 1, 7, BLOCK_MC, atcl2, ATC_L2),                                 \
            MEMORY(GCEA, "GCEA", gcea_n, gcea_max, BLOCK_MC, gcea, GCEA),                          \
            MEMORY(RPB, "RPB", athub_n, 62, BLOCK_ATHUB, rpb, RPB),                                \
    }

/* gfx90a's sequencers take events up to 327: the scalar cache's read sizes lie above 303. */
static const struct gpu_block blocks_gfx906[] = BLOCKS(363, 166, 16, 255, 2, 34, 16, 76, 1),
                              blocks_gfx908[] = BLOCKS(327, 87, 32, 295, 32, 58, 32, 83, 1),
                              blocks_gfx90a[] = BLOCKS(327, 87, 32, 295, 32, 58, 32, 83, 1),
                              blocks_gfx940[] = BLOCKS(373, 84, 16, 199, 32, 34, 32, 82, 4);

#define FAMILY(architecture, blocks, low, high)                                                    \
    {                                                                                              \
        architecture, blocks, sizeof blocks / sizeof blocks[0], low, high                          \
    }
const struct gpu_family gfx9_families[] = {
    FAMILY("gfx900", blocks_gfx906, 1, 0),   FAMILY("gfx906", blocks_gfx906, 1, 0),
    FAMILY("gfx908", blocks_gfx908, 1, 158), FAMILY("gfx90a", blocks_gfx90a, 1, 185),
    FAMILY("gfx940", blocks_gfx940, 1, 184), FAMILY("gfx941", blocks_gfx940, 1, 184),
    FAMILY("gfx942", blocks_gfx940, 1, 184), FAMILY("gfx950", blocks_gfx940, 1, 200),
};
const uint32_t gfx9_family_count = sizeof gfx9_families / sizeof gfx9_families[0];
