/*
 * What execution is counted by, before events are made of it. Every source is a running total
 * since the device was created, kept where it happens; events are weighted sums of sources, and a
 * counter is the growth of its event while it counts. So execution never looks at what is
 * selected, with one exception: what costs time to observe is reported only while an event that
 * needs it counts (enum perf_want).
 *
 * First stand the tallies of isa/tally.h, then the classes of isa/inst.h in their order.
 * X(name, what must be observed for it)
 */
#ifndef PERF_SOURCES_H
#define PERF_SOURCES_H

#include "isa/tally.h"

/* clang-format off */
#define PERF_CLASS_SOURCES(X)                                                                      \
    X(INST_VALU, NONE)                                                                             \
    X(INST_MFMA, NONE)                                                                             \
    X(INST_SALU, NONE)                                                                             \
    X(INST_SMEM, NONE)                                                                             \
    X(INST_VMEM_RD, NONE)                                                                          \
    X(INST_VMEM_WR, NONE)                                                                          \
    X(INST_FLAT_RD, NONE)                                                                          \
    X(INST_FLAT_WR, NONE)                                                                          \
    X(INST_LDS, NONE)                                                                              \
    X(INST_GDS, NONE)                                                                              \
    X(INST_BRANCH, NONE)                                                                           \
    X(INST_SENDMSG, NONE)                                                                          \
    X(INST_WAITCNT, NONE)                                                                          \
    X(INST_BARRIER, NONE)                                                                          \
    X(INST_EXPORT, NONE)                                                                           \
    X(INST_OTHER, NONE)

#define PERF_CU_SOURCES(X)                                                                         \
    X(GROUPS, NONE)                                                                                \
    X(WAVES, NONE)                                                                                 \
    X(WAVES_EQ_64, NONE) /* waves by the number of their work-items */                             \
    X(WAVES_LT_64, NONE)                                                                           \
    X(WAVES_LT_48, NONE)                                                                           \
    X(WAVES_LT_32, NONE)                                                                           \
    X(WAVES_LT_16, NONE)                                                                           \
    X(ITEMS, NONE)                                                                                 \
    X(VALU_LANES, NONE)                                                                            \
    X(WAVE_CYCLES, TIME) /* resident cycles of waves: the three below together */                  \
    X(ISSUE_CYCLES, NONE) /* the arbiter works on an instruction of the wave */                    \
    X(WAIT_CYCLES, TIME) /* the wave waits for a result */                                         \
    X(ARBITER_CYCLES, TIME) /* the wave waits for its turn */                                      \
    X(CU_BUSY, TIME) /* modelled cycles with a group on the unit */                                \
    X(MATRIX_CYCLES, NONE)                                                                         \
    X(VMEM_LATENCY, TIME) /* cycles from issue to completion, summed over instructions */          \
    X(LDS_LATENCY, NONE)                                                                           \
    X(FLAT_LDS, NONE) /* FLAT instructions with lanes in LDS */                                    \
    X(FLAT_LDS_ONLY, NONE)                                                                         \
    X(LDS_VIOLATIONS, LDS) /* lanes outside the group's LDS */                                     \
    X(LDS_ACTIVE, LDS) /* cycles of indexed LDS operations, conflicts included */                  \
    X(LDS_CONFLICT, LDS)                                                                           \
    X(LDS_ADDRESS_CONFLICT, LDS) /* lanes of an atomic at one address */                           \
    X(LDS_UNALIGNED, LDS)                                                                          \
    X(LDS_RETURN, LDS)                                                                             \
    X(IFETCH, FETCH) /* 32-byte fetches of waves */                                                \
    X(ICACHE_HIT, FETCH)                                                                           \
    X(ICACHE_MISS, FETCH)                                                                          \
    X(ICACHE_DUPLICATE, FETCH) /* hits in a line that is on its way (shared_wait.h) */             \
    X(TA_COALESCED, MEMORY) /* instructions whose lanes all coalesced */                           \
    X(TCP_READ_LANES, MEMORY) /* what TA hands over: lanes, or quads that coalesced */             \
    X(TCP_WRITE_LANES, MEMORY)                                                                     \
    X(TCP_ATOMIC_RET_LANES, MEMORY)                                                                \
    X(TCP_ATOMIC_NORET_LANES, MEMORY)                                                              \
    X(TCP_TAGS, MEMORY) /* look-ups of one line each */                                            \
    X(TCP_BUFFER_TAGS, MEMORY) /* those of buffer instructions, of these: coalesced ones */        \
    X(TCP_BUFFER_READ_COALESCED, MEMORY)                                                           \
    X(TCP_BUFFER_WRITE_COALESCED, MEMORY)                                                          \
    X(TCP_READ_MISS, MEMORY) /* requests to L2 */                                                  \
    X(TCP_WRITE, MEMORY)                                                                           \
    X(TCP_ATOMIC_RET, MEMORY)                                                                      \
    X(TCP_ATOMIC_NORET, MEMORY)                                                                    \
    X(TCP_NC_READ, MEMORY) /* of these, by the type of the memory; what is missing is RW */        \
    X(TCP_NC_WRITE, MEMORY)                                                                        \
    X(TCP_NC_ATOMIC, MEMORY)                                                                       \
    X(TCP_UC_READ, MEMORY)                                                                         \
    X(TCP_UC_WRITE, MEMORY)                                                                        \
    X(TCP_UC_ATOMIC, MEMORY)                                                                       \
    X(TCP_CC_READ, MEMORY)                                                                         \
    X(TCP_CC_WRITE, MEMORY)                                                                        \
    X(TCP_CC_ATOMIC, MEMORY)                                                                       \
    X(TCP_READ_LATENCY, MEMORY_TIME)                                                                      \
    X(TCP_WRITE_LATENCY, MEMORY_TIME)                                                                     \
    X(UTCL1_HIT, MEMORY)                                                                           \
    X(UTCL1_MISS, MEMORY) /* first-level translations */                                           \
    X(SQC_HIT, MEMORY) /* scalar data cache, counted at the unit that asked */                     \
    X(SQC_MISS, MEMORY)                                                                            \
    X(SQC_DUPLICATE, MEMORY)                                                                       \
    X(SQC_LATENCY, L2) /* cycles from request to data, summed over requests */                     \
    X(IFETCH_LATENCY, L2)                                                                          \
    X(SQC_REFUSED, L2_TIME) /* cycles in which waves' requests wait for lines on their way */           \
    X(ICACHE_REFUSED, L2_TIME)                                                                          \
    X(SQC_STALL, L2_TIME) /* cycles in which the L2 takes no more of these caches' requests */          \
    X(TCP_SERIAL, TIME) /* lanes of atomics that wait for another's */                           \
    X(TCP_READ_TAGS, TIME) /* look-ups that wait for one of their window in the same tag RAM */    \
    X(TCP_WRITE_TAGS, TIME)                                                                        \
    X(TA_CYCLES, TIME) /* the address unit works, or waits for L2 */                               \
    X(TD_CYCLES, TIME) /* the data unit works, or waits for L1 */                                  \
    X(TD_REGISTER_STALL, TIME) /* new waves' registers are written where data return to */         \
    X(TD_BURSTS, TIME) /* lines that come together wait for the data unit */                       \
    X(TCP_ACTIVE, TIME) /* the L1 works, or waits for L2 */                                        \
    X(TCP_LATENCY_WAIT, TIME) /* of these: nothing but loads' latency is waited for */             \
    X(TCP_STALL, TIME) /* of TCP_ACTIVE: L2 or memory takes no more requests */                    \
    X(TCP_WRITE_STALL, TIME) /* or no more of what is written, whether it takes requests or not */ \
    X(TA_FULL, TIME) /* the address unit has more to do than the waves have */

/* per dispatch: cycles until its last unit is free; cycles with a group that finds no room, and
 * with what it lacks: summed over SIMDs or compute units */
#define PERF_SE_SOURCES(X)                                                                         \
    X(SE_BUSY, TIME)                                                                               \
    X(NO_ROOM, TIME)                                                                               \
    X(NO_WAVE_SIMDS, TIME)                                                                         \
    X(NO_VGPR_SIMDS, TIME)                                                                         \
    X(NO_SGPR_SIMDS, TIME)                                                                         \
    X(NO_LDS_UNITS, TIME)                                                                          \
    X(NO_BARRIER_UNITS, TIME)                                                                      \
    X(NO_BULKY_UNITS, TIME)

#define PERF_XCC_SOURCES(X)                                                                        \
    X(CLOCK, TIME) /* the counters' own clock */                                                   \
    X(GUI_ACTIVE, TIME) /* cycles with a dispatch */                                               \
    X(IDLE, TIME) /* cycles without one */                                                         \
    X(PACKETS, NONE) /* cycles spent on register accesses and launches */                          \
    X(DISPATCHES, NONE)                                                                            \
    X(SPI_BUSY, TIME) /* cycles with waves */                                                      \
    X(TA_BUSY, TIME) /* of these, with an address unit that works or waits for L2 */               \
    X(TC_BUSY, TIME) /* of these, with an L1 or an L2 channel that does */                         \
    X(EA_BUSY, TIME) /* of these, with transfers of memory */                                      \
    X(UTCL2_BUSY, TIME) /* of these, with translations that the L1s lack */

#define PERF_CHANNEL_SOURCES(X)                                                                    \
    X(TCC_READ, L2)                                                                                \
    X(TCC_WRITE, L2)                                                                               \
    X(TCC_ATOMIC, L2)                                                                              \
    X(TCC_RW, L2) /* of these, by the type of the memory; scalar caches' by scalar_types */       \
    X(TCC_NC, L2)                                                                                  \
    X(TCC_UC, L2)                                                                                  \
    X(TCC_CC, L2)                                                                                  \
    X(TCC_HIT, L2)                                                                                 \
    X(TCC_MISS, L2)                                                                                \
    X(TCC_RELEASE, L2) /* dirty lines written back when a dispatch ends */                         \
    X(TCC_EVICT, L2) /* lines replaced, and those of them that were dirty */                       \
    X(TCC_EVICT_DIRTY, L2)                                                                         \
    X(EA_READ_64, L2) /* requests to memory */                                                     \
    X(EA_READ_128, L2)                                                                             \
    X(EA_WRITE_32, L2)                                                                             \
    X(EA_WRITE_64, L2)                                                                             \
    X(EA_READ_HOST, L2) /* of these, to the host's memory and to other GPUs' */                    \
    X(EA_READ_PEER, L2)                                                                            \
    X(EA_WRITE_HOST, L2)                                                                           \
    X(EA_WRITE_PEER, L2)                                                                           \
    X(EA_READ_UNCACHED, L2) /* 32 bytes each, and writes of any size: of memory of type UC */      \
    X(EA_WRITE_UNCACHED, L2)                                                                       \
    X(EA_ATOMIC, L2) /* of writes: atomics that are done there */                                  \
    X(TCC_BUSY, TIME) /* the channel works, or waits for memory */                                 \
    X(TCC_TAG_WAIT, TIME) /* of these: no request is looked up */                                  \
    X(EA_READ_STALL, TIME) /* of TCC_BUSY: memory takes no more reads, or writes */                \
    X(EA_WRITE_STALL, TIME)                                                                        \
    X(EA_READ_HOST_STALL, TIME) /* of these: the link to the host, or to other GPUs, takes none */ \
    X(EA_READ_PEER_STALL, TIME)                                                                    \
    X(EA_WRITE_PEER_STALL, TIME)                                                                   \
    X(EA_READ_LEVEL, L2_TIME) /* cycles from request to data, summed over requests */                 \
    X(EA_WRITE_LEVEL, L2_TIME)                                                                          \
    X(EA_ATOMIC_LEVEL, L2_TIME)

#define PERF_ENGINE_SOURCES(X)                                                                     \
    X(SDMA_PACKETS, NONE)                                                                          \
    X(SDMA_INTERRUPTS, NONE)                                                                       \
    X(SDMA_RING_WRAPS, NONE) /* the read pointer came round */
/* clang-format on */

#define PERF_SOURCE_ENUM(name, want) SRC_##name,
#define PERF_TALLY_ENUM(name, ...)   SRC_##name,
enum perf_source {
    INST_TALLIES(PERF_TALLY_ENUM) PERF_CLASS_SOURCES(PERF_SOURCE_ENUM)
        PERF_CU_SOURCES(PERF_SOURCE_ENUM) SRC_CU_COUNT,
    SRC_SE_FIRST = SRC_CU_COUNT,
    SRC_BEFORE_SE = SRC_SE_FIRST - 1,
    PERF_SE_SOURCES(PERF_SOURCE_ENUM) SRC_XCC_FIRST,
    SRC_BEFORE_XCC = SRC_XCC_FIRST - 1,
    PERF_XCC_SOURCES(PERF_SOURCE_ENUM) SRC_CHANNEL_FIRST,
    SRC_BEFORE_CHANNEL = SRC_CHANNEL_FIRST - 1,
    PERF_CHANNEL_SOURCES(PERF_SOURCE_ENUM) SRC_ENGINE_FIRST,
    SRC_BEFORE_ENGINE = SRC_ENGINE_FIRST - 1,
    PERF_ENGINE_SOURCES(PERF_SOURCE_ENUM) SRC_COUNT
};
#undef PERF_SOURCE_ENUM
#undef PERF_TALLY_ENUM
_Static_assert(SRC_COUNT <= 256, "events name sources with eight bits");

enum {
    SRC_SE_COUNT = SRC_XCC_FIRST - SRC_SE_FIRST,
    SRC_XCC_COUNT = SRC_CHANNEL_FIRST - SRC_XCC_FIRST,
    SRC_CHANNEL_COUNT = SRC_ENGINE_FIRST - SRC_CHANNEL_FIRST,
    SRC_ENGINE_COUNT = SRC_COUNT - SRC_ENGINE_FIRST
};

#endif
