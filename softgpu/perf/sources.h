/*
 * What execution is counted by, before events are made of it. Every source is a running total
 * since the device was created, kept where it happens; events are sums of sources, and a counter
 * is the growth of its event while it counts. So execution never looks at what is selected.
 *
 * X(name, domain): CU, SE, XCC or CHANNEL. The INST_ sources stand in the order of inst_class.
 */
#ifndef PERF_SOURCES_H
#define PERF_SOURCES_H

/* clang-format off */
#define PERF_CU_SOURCES(X)                                                                         \
    X(INST_VALU)                                                                                   \
    X(INST_MFMA)                                                                                   \
    X(INST_SALU)                                                                                   \
    X(INST_SMEM)                                                                                   \
    X(INST_VMEM_RD)                                                                                \
    X(INST_VMEM_WR)                                                                                \
    X(INST_FLAT_RD)                                                                                \
    X(INST_FLAT_WR)                                                                                \
    X(INST_LDS)                                                                                    \
    X(INST_GDS)                                                                                    \
    X(INST_BRANCH)                                                                                 \
    X(INST_SENDMSG)                                                                                \
    X(INST_WAITCNT)                                                                                \
    X(INST_BARRIER)                                                                                \
    X(INST_EXPORT)                                                                                 \
    X(INST_OTHER)                                                                                  \
    X(GROUPS)                                                                                      \
    X(WAVES)                                                                                       \
    X(ITEMS)                                                                                       \
    X(VALU_LANES)                                                                                  \
    X(WAVE_CYCLES) /* sum over waves of modelled resident cycles */                                \
    X(CU_BUSY) /* modelled cycles with a group on the unit */                                      \
    X(LDS_CONFLICT) /* extra cycles of LDS bank conflicts */                                       \
    X(LDS_ACTIVE) /* cycles of indexed LDS operations */                                           \
    X(FLAT_LDS) /* FLAT instructions that went to LDS only */                                      \
    X(TCP_READ)                                                                                    \
    X(TCP_READ_MISS)                                                                               \
    X(TCP_WRITE)                                                                                   \
    X(TCP_ATOMIC) /* requests for one line each */                                                 \
    X(TCP_ATOMIC_RET)                                                                              \
    X(TCP_ATOMIC_NORET)                                                                            \
    X(SQC_HIT)                                                                                     \
    X(SQC_MISS) /* scalar data cache, counted at the unit that asked */
/* clang-format on */

#define PERF_SE_SOURCES(X) X(SE_BUSY) /* per dispatch: cycles until its last unit is free */

/* clang-format off */
#define PERF_XCC_SOURCES(X)                                                                        \
    X(CLOCK) /* the counters' own clock */                                                         \
    X(GUI_ACTIVE) /* cycles with a dispatch */
/* clang-format on */

/* clang-format off */
#define PERF_CHANNEL_SOURCES(X)                                                                    \
    X(TCC_READ)                                                                                    \
    X(TCC_WRITE)                                                                                   \
    X(TCC_ATOMIC)                                                                                  \
    X(TCC_HIT)                                                                                     \
    X(TCC_MISS)                                                                                    \
    X(TCC_WRITEBACK)                                                                               \
    X(TCC_EVICT)                                                                                   \
    X(TCC_EVICT_DIRTY) /* lines replaced, and those of them that were dirty */                     \
    X(EA_READ) /* 64-byte reads from memory */                                                     \
    X(EA_WRITE_32)                                                                                 \
    X(EA_WRITE_64)
/* clang-format on */

#define PERF_SOURCE_ENUM(name) SRC_##name,
enum perf_source {
    PERF_CU_SOURCES(PERF_SOURCE_ENUM) SRC_CU_COUNT,
    SRC_SE_FIRST = SRC_CU_COUNT,
    SRC_BEFORE_SE = SRC_SE_FIRST - 1,
    PERF_SE_SOURCES(PERF_SOURCE_ENUM) SRC_XCC_FIRST,
    SRC_BEFORE_XCC = SRC_XCC_FIRST - 1,
    PERF_XCC_SOURCES(PERF_SOURCE_ENUM) SRC_CHANNEL_FIRST,
    SRC_BEFORE_CHANNEL = SRC_CHANNEL_FIRST - 1,
    PERF_CHANNEL_SOURCES(PERF_SOURCE_ENUM) SRC_COUNT
};
#undef PERF_SOURCE_ENUM
_Static_assert(SRC_COUNT <= 64, "events hold a 64-bit set of sources");

enum {
    SRC_SE_COUNT = SRC_XCC_FIRST - SRC_SE_FIRST,
    SRC_XCC_COUNT = SRC_CHANNEL_FIRST - SRC_XCC_FIRST,
    SRC_CHANNEL_COUNT = SRC_COUNT - SRC_CHANNEL_FIRST
};

#endif
