/* What an analysis counts, where a GPU has it. FETCH_SIZE and WRITE_SIZE are kilobytes. */
#ifndef ANALYZE_COUNTERS_H
#define ANALYZE_COUNTERS_H

#define ANALYZE_COUNTERS(X)                                                                        \
    X(GRBM_GUI_ACTIVE)                                                                             \
    X(SQ_WAVES)                                                                                    \
    X(SQ_WAVE_CYCLES)                                                                              \
    X(SQ_BUSY_CU_CYCLES)                                                                           \
    X(SQ_WAIT_ANY)                                                                                 \
    X(SQ_ACTIVE_INST_VALU)                                                                         \
    X(SQ_THREAD_CYCLES_VALU)                                                                       \
    X(SQ_INSTS_LDS)                                                                                \
    X(SQ_LDS_BANK_CONFLICT)                                                                        \
    X(SQ_LDS_IDX_ACTIVE)                                                                           \
    X(SQ_INSTS_VMEM_RD)                                                                            \
    X(SQ_INSTS_VMEM_WR)                                                                            \
    X(SQ_INSTS_FLAT_LDS_ONLY)                                                                      \
    X(TCP_TOTAL_CACHE_ACCESSES_sum)                                                                \
    X(TCC_REQ_sum)                                                                                 \
    X(TCC_HIT_sum)                                                                                 \
    X(TCC_MISS_sum)                                                                                \
    X(TCC_EA_RDREQ_sum)                                                                            \
    X(TCC_EA_RDREQ_DRAM_sum)                                                                       \
    X(TCC_EA_WRREQ_sum)                                                                            \
    X(TCC_EA_WRREQ_DRAM_sum)                                                                       \
    X(FETCH_SIZE)                                                                                  \
    X(WRITE_SIZE)                                                                                  \
    X(SQ_INSTS_VALU_ADD_F16)                                                                       \
    X(SQ_INSTS_VALU_MUL_F16)                                                                       \
    X(SQ_INSTS_VALU_FMA_F16)                                                                       \
    X(SQ_INSTS_VALU_TRANS_F16)                                                                     \
    X(SQ_INSTS_VALU_ADD_F32)                                                                       \
    X(SQ_INSTS_VALU_MUL_F32)                                                                       \
    X(SQ_INSTS_VALU_FMA_F32)                                                                       \
    X(SQ_INSTS_VALU_TRANS_F32)                                                                     \
    X(SQ_INSTS_VALU_ADD_F64)                                                                       \
    X(SQ_INSTS_VALU_MUL_F64)                                                                       \
    X(SQ_INSTS_VALU_FMA_F64)                                                                       \
    X(SQ_INSTS_VALU_TRANS_F64)                                                                     \
    X(SQ_INSTS_VALU_MFMA_MOPS_F16)                                                                 \
    X(SQ_INSTS_VALU_MFMA_MOPS_BF16)                                                                \
    X(SQ_INSTS_VALU_MFMA_MOPS_F32)                                                                 \
    X(SQ_INSTS_VALU_MFMA_MOPS_F64)                                                                 \
    X(SQ_VALU_MFMA_BUSY_CYCLES)

/* What other GPUs call them; where one has both names the first is counted. */
#define ANALYZE_OTHER_NAMES(X)                                                                     \
    X(TCC_EA_RDREQ_sum, TCC_EA0_RDREQ_sum)                                                         \
    X(TCC_EA_RDREQ_DRAM_sum, TCC_EA0_RDREQ_DRAM_sum)                                               \
    X(TCC_EA_WRREQ_sum, TCC_EA0_WRREQ_sum)                                                         \
    X(TCC_EA_WRREQ_DRAM_sum, TCC_EA0_WRREQ_DRAM_sum)

enum analyze_counter {
#define X(name) COUNT_##name,
    ANALYZE_COUNTERS(X)
#undef X
        COUNT_COUNT
};

extern const char *const analyze_counters[COUNT_COUNT];

/* By either name. COUNT_COUNT: none of that name. */
enum analyze_counter analyze_counter_find(const char *name);

/* All names, and the other ones', joined by commas, into `list`. */
enum { ANALYZE_NAMES_BYTES = 4096 };
void analyze_counters_list(char list[ANALYZE_NAMES_BYTES]);
/* Takes other names out of such a list where it has the first ones. */
void analyze_counters_once(char *list);

#endif
