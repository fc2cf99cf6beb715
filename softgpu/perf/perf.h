/*
 * The performance-monitor part of a device's register file, [xcc][se][sh][instance], as PM4 sees
 * it, and the events that execution reports. Nothing here knows a profiler: counters count from
 * the last CP_PERFMON_CNTL start to the next stop because instructions executed meanwhile.
 */
#ifndef PERF_PERF_H
#define PERF_PERF_H

#include <stdbool.h>
#include <stdint.h>

#include "core/device.h"
#include "isa/inst.h"

struct perf;
int perf_create(const struct gpu_model *model, struct perf **perf);
void perf_destroy(struct perf *perf);

/* Register access by the packet processor; `reg` is the absolute dword offset. GRBM_GFX_INDEX is
 * itself such a register. false: not a register this file owns. Command-processor thread only. */
bool perf_reg_write(struct perf *perf, uint32_t xcc_mask, uint32_t reg, uint32_t value);
bool perf_reg_read(struct perf *perf, uint32_t xcc, uint32_t reg, uint32_t *value);

/* What one work-group did; the wave engine fills it and hands it over in work-group order
 * (0, 1, 2 ...) whatever the order of execution, so that the cache models see one deterministic
 * stream. */
struct perf_line_access {                  /* one vector or scalar cache-line request */
    uint64_t line_va;                      /* address of the 64-byte line */
    uint32_t bytes_mask_lo, bytes_mask_hi; /* bytes of the line touched */
    uint8_t kind;                          /* enum perf_access_kind */
    uint8_t flags;                         /* bit 0 glc, 1 slc, 2 scc */
    uint16_t instruction;                  /* index within the group, wraps: tells requests apart */
};
enum perf_access_kind { ACCESS_READ, ACCESS_WRITE, ACCESS_ATOMIC, ACCESS_SCALAR_READ };

struct perf_group {
    uint64_t dispatch_seq;    /* counts dispatches of the device */
    uint64_t group_index;     /* flat work-group number */
    uint32_t xcc, se, sh, cu; /* where it ran: deterministic function of group_index */
    uint32_t waves, work_items;
    uint64_t insts[CLASS_COUNT];
    uint64_t valu_lanes;
    uint64_t wave_cycles; /* sum over waves of modelled resident cycles */
    uint64_t busy_cycles; /* modelled cycles the group occupied its CU */
    uint64_t lds_bank_conflict_cycles, lds_idx_cycles;
    uint64_t flat_insts, flat_lds_insts;     /* FLAT: all, and those that resolved to LDS */
    const struct perf_line_access *accesses; /* only while perf_wants_accesses() */
    uint64_t access_count;
};
/* Whether some selected event needs the access stream; the engine reads it at group start. */
bool perf_wants_accesses(const struct perf *perf);
/* Called in group order per dispatch, one caller at a time per device. */
void perf_group_retire(struct perf *perf, const struct perf_group *group);
void perf_dispatch_begin(struct perf *perf, uint64_t dispatch_seq);
void perf_dispatch_end(struct perf *perf, uint64_t dispatch_seq);

#endif
