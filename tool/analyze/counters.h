/*
 * What an analysis counts, with the class that its values have on the software GPU (the list is
 * data/counters/events.txt; a test holds the two together). Counters of _sum are the sums of that
 * file's events; FETCH_SIZE and WRITE_SIZE are made of TCC's.
 */
#ifndef ANALYZE_COUNTERS_H
#define ANALYZE_COUNTERS_H

#define ANALYZE_COUNTERS(X)                                                                        \
    X(GRBM_GUI_ACTIVE, approximate)                                                                \
    X(SQ_WAVES, exact)                                                                             \
    X(SQ_WAVE_CYCLES, approximate)                                                                 \
    X(SQ_BUSY_CU_CYCLES, approximate)                                                              \
    X(SQ_WAIT_ANY, approximate)                                                                    \
    X(SQ_ACTIVE_INST_VALU, approximate)                                                            \
    X(SQ_THREAD_CYCLES_VALU, exact)                                                                \
    X(SQ_INSTS_LDS, exact)                                                                         \
    X(SQ_LDS_BANK_CONFLICT, modelled)                                                              \
    X(SQ_LDS_IDX_ACTIVE, modelled)                                                                 \
    X(SQ_INSTS_VMEM_RD, exact)                                                                     \
    X(SQ_INSTS_VMEM_WR, exact)                                                                     \
    X(SQ_INSTS_FLAT_LDS_ONLY, exact)                                                               \
    X(TCP_TOTAL_CACHE_ACCESSES_sum, modelled)                                                      \
    X(TCC_REQ_sum, modelled)                                                                       \
    X(TCC_HIT_sum, modelled)                                                                       \
    X(TCC_MISS_sum, modelled)                                                                      \
    X(FETCH_SIZE, modelled)                                                                        \
    X(WRITE_SIZE, modelled)                                                                        \
    X(SQ_INSTS_VALU_ADD_F16, exact)                                                                \
    X(SQ_INSTS_VALU_MUL_F16, exact)                                                                \
    X(SQ_INSTS_VALU_FMA_F16, exact)                                                                \
    X(SQ_INSTS_VALU_TRANS_F16, exact)                                                              \
    X(SQ_INSTS_VALU_ADD_F32, exact)                                                                \
    X(SQ_INSTS_VALU_MUL_F32, exact)                                                                \
    X(SQ_INSTS_VALU_FMA_F32, exact)                                                                \
    X(SQ_INSTS_VALU_TRANS_F32, exact)                                                              \
    X(SQ_INSTS_VALU_ADD_F64, exact)                                                                \
    X(SQ_INSTS_VALU_MUL_F64, exact)                                                                \
    X(SQ_INSTS_VALU_FMA_F64, exact)                                                                \
    X(SQ_INSTS_VALU_TRANS_F64, exact)                                                              \
    X(SQ_INSTS_VALU_MFMA_MOPS_F16, exact)                                                          \
    X(SQ_INSTS_VALU_MFMA_MOPS_BF16, exact)                                                         \
    X(SQ_INSTS_VALU_MFMA_MOPS_F32, exact)                                                          \
    X(SQ_INSTS_VALU_MFMA_MOPS_F64, exact)                                                          \
    X(SQ_VALU_MFMA_BUSY_CYCLES, approximate)

enum analyze_counter {
#define X(name, class) COUNT_##name,
    ANALYZE_COUNTERS(X)
#undef X
        COUNT_COUNT
};

struct analyze_counter_row {
    const char *name, *class;
};
extern const struct analyze_counter_row analyze_counters[COUNT_COUNT];

/* COUNT_COUNT: none of that name. */
enum analyze_counter analyze_counter_find(const char *name);

#endif
