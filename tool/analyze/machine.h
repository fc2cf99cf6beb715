/* What a GPU could do at best: from what its agent says, and by architecture what no agent says. */
#ifndef ANALYZE_MACHINE_H
#define ANALYZE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include <rocprofiler-sdk/agent.h>

/* By architecture: registers, group slots, L2 and operations a cycle. */
struct machine_arch {
    const char *name;
    uint32_t vgprs_per_simd, vgpr_granule; /* per lane */
    bool vgprs_unified;                    /* accumulation registers come out of the same */
    uint32_t sgprs_per_simd, sgpr_granule;
    uint32_t groups_per_cu; /* of several waves: each needs a barrier */
    uint32_t lds_granule_bytes;
    uint32_t l2_channels;            /* of each XCC; a request a cycle each */
    uint32_t fp32, fp64, matrix_f16; /* operations of a compute unit a cycle */
};

struct machine {
    const struct machine_arch *arch; /* NULL: not known */
    char name[64], product[128];
    uint32_t node, cus, simds, xccs, waves_per_simd, lds_bytes;
    double clock_hz;
    double memory_bytes_per_s; /* 0: not known */
};

/* `memory_bytes_per_s` is for who knows it otherwise; 0: from the agent's memory banks. */
struct machine machine_of(const rocprofiler_agent_v0_t *agent, double memory_bytes_per_s);

#endif
