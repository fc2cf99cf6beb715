/*
 * PM4 type-3 packets as the compute micro engine reads them: opcodes and the fields that profiling
 * uses. Register numbers are absolute dword offsets.
 */
#ifndef GPU_PM4_PACKET_H
#define GPU_PM4_PACKET_H

#include <stdint.h>

/* name, opcode, shortest and longest body in dwords */
#define PM4_PACKETS(X)                                                                             \
    X(NOP, 0x10, 0, 0x3fff)                                                                        \
    X(ATOMIC_MEM, 0x1e, 8, 8)                                                                      \
    X(COND_EXEC, 0x22, 4, 4)                                                                       \
    X(PRED_EXEC, 0x23, 1, 1)                                                                       \
    X(WRITE_DATA, 0x37, 4, 0x3fff)                                                                 \
    X(WAIT_REG_MEM, 0x3c, 6, 6)                                                                    \
    X(INDIRECT_BUFFER, 0x3f, 3, 3)                                                                 \
    X(COPY_DATA, 0x40, 5, 5)                                                                       \
    X(EVENT_WRITE, 0x46, 1, 3)                                                                     \
    X(RELEASE_MEM, 0x49, 5, 7)                                                                     \
    X(ACQUIRE_MEM, 0x58, 5, 7)                                                                     \
    X(SET_CONFIG_REG, 0x68, 2, 0x3fff)                                                             \
    X(SET_SH_REG, 0x76, 2, 0x3fff)                                                                 \
    X(SET_UCONFIG_REG, 0x79, 2, 0x3fff)

enum pm4_opcode {
#define X(name, opcode, shortest, longest) PM4_##name = opcode,
    PM4_PACKETS(X)
#undef X
};

/* The count field holds the body's length minus one. */
static inline uint32_t pm4_header(enum pm4_opcode opcode, uint32_t body_dwords)
{
    return 3u << 30 | ((body_dwords - 1) & 0x3fff) << 16 | (uint32_t)opcode << 8;
}

/* Register spaces: SET_*_REG packets carry the register minus the start of its space. */
enum {
    PM4_CONFIG_START = 0x2000,
    PM4_CONFIG_END = 0x2bff,
    PM4_SH_START = 0x2c00,
    PM4_UCONFIG_START = 0xc000,
    PM4_UCONFIG_END = 0xffff
};

/* Configuration space is privileged: one die reaches it by the perf-counter path of COPY_DATA only.
 */
static inline int pm4_is_config(uint64_t reg)
{
    return reg >= PM4_CONFIG_START && reg <= PM4_CONFIG_END;
}

/* EVENT_WRITE waits until the compute work before it is done, or ends a thread trace. */
enum {
    PM4_EVENT_CS_PARTIAL_FLUSH = 7,
    PM4_EVENT_INDEX_CS_PARTIAL_FLUSH = 4,
    PM4_EVENT_THREAD_TRACE_FINISH = 55
};

/* WAIT_REG_MEM waits until a register, masked, equals the reference. */
enum { PM4_WAIT_EQUAL = 3, PM4_WAIT_INTERVAL = 4 };

/* COPY_DATA control dword: source in bits 0..3, destination in 8..11, policies at 13 and 25. */
enum pm4_copy_select {
    PM4_COPY_REGISTER = 0,
    PM4_COPY_MEMORY_SOURCE = 1,
    PM4_COPY_MEMORY_L2 = 2,
    PM4_COPY_PERFCOUNTERS = 4, /* privileged registers that the kernel driver lets profilers use */
    PM4_COPY_IMMEDIATE = 5,    /* as a source */
    PM4_COPY_MEMORY = 5,       /* as a destination */
    PM4_COPY_GPU_CLOCK = 9
};
enum { PM4_COPY_WIDE = 1 << 16, PM4_COPY_CONFIRM = 1 << 20 };
enum { PM4_CACHE_LRU = 0, PM4_CACHE_STREAM = 1, PM4_TEMPORAL_LAST_USE = 3 /* gfx12 */ };

/* What generations say differently. */
struct pm4_dialect {
    uint32_t copy_in;  /* COPY_DATA control, immediate to register */
    uint32_t copy_out; /* COPY_DATA control, register to memory */
    uint32_t gcr;      /* ACQUIRE_MEM's cache control of gfx10 and later; 0: the form of gfx9 */
};

/* INDIRECT_BUFFER control dword: length, valid, cache policy. */
static inline uint32_t pm4_ib_control(uint32_t dwords)
{
    return dwords | 1u << 23 | PM4_CACHE_STREAM << 28;
}

/* ACQUIRE_MEM: write back and invalidate L2, invalidate L1 and the scalar and instruction caches.
 */
enum {
    PM4_COHER_TC_WB_ACTION = 1 << 18,
    PM4_COHER_TCL1_ACTION = 1 << 22,
    PM4_COHER_TC_ACTION = 1 << 23,
    PM4_COHER_SH_KCACHE_ACTION = 1 << 27,
    PM4_COHER_SH_ICACHE_ACTION = 1 << 29
};

/* The same from gfx10 on: level 2 writes back, after the caches before it. */
enum { PM4_GCR_GL2_WB = 1 << 15, PM4_GCR_SEQ_FORWARD = 1 << 16 };

/* GRBM_GFX_INDEX: which shader engine, array and instance a register access goes to. */
enum {
    GRBM_PROCESSOR_SHIFT = 2, /* of the instance, in work-group processors */
    GRBM_SA_SHIFT = 8,
    GRBM_SE_SHIFT = 16,
    GRBM_SH_BROADCAST = 1 << 29,
    GRBM_INSTANCE_BROADCAST = 1 << 30,
};
#define GRBM_SE_BROADCAST  (1u << 31)
#define GRBM_BROADCAST_ALL (GRBM_SE_BROADCAST | GRBM_INSTANCE_BROADCAST | GRBM_SH_BROADCAST)

#endif
