/*
 * Performance counters of a GPU: which blocks it has, and the command buffers that start, read and
 * stop their counters.
 */
#ifndef GPU_PMC_H
#define GPU_PMC_H

#include <stdint.h>

#include "gpu/pm4/stream.h"

/* The parts of a GPU that the builders need; numbers as the topology reports them. */
struct gpu_geometry {
    uint32_t xcc_count;
    uint32_t se_count; /* of the whole device */
    uint32_t sa_per_se;
    uint32_t cu_count;  /* of the whole device */
    uint32_t cu_per_sa; /* numbers that a shader array has for compute units; 0: not known */
};

/* How a block is repeated, and what its registers want; data/blocks has a word for each. */
enum gpu_block_flags {
    BLOCK_PER_SE = 1 << 0,       /* a sample of each shader engine */
    BLOCK_PER_SA = 1 << 1,       /* and of each shader array in it */
    BLOCK_PER_WGP = 1 << 2,      /* and of each work-group processor in that */
    BLOCK_PER_CU = 1 << 3,       /* instances are compute units */
    BLOCK_SQ = 1 << 4,           /* a control register chooses the shader stages that count */
    BLOCK_TC = 1 << 5,           /* counts only while the sequencers' counters are enabled */
    BLOCK_CLEAR = 1 << 6,        /* values must be zeroed by writing them */
    BLOCK_MC = 1 << 7,           /* one result register pair behind a control register */
    BLOCK_OUTSIDE = 1 << 8,      /* not on the dies: own control register, start and stop */
    BLOCK_EACH = 1 << 9,         /* each instance has registers of its own, instead of an index */
    BLOCK_ACCUMULATES = 1 << 10, /* has the events that integrate a level */
    BLOCK_GRBM = 1 << 11,        /* see struct gpu_generation */
    BLOCK_PERFMON = 1 << 12,     /* one register selects for all counters of an instance */
    BLOCK_BASE_DIES = 1 << 13    /* instances are spread evenly over the base dies */
};

enum { GPU_BLOCK_COUNTERS_MAX = 16 };

struct gpu_counter_registers {
    uint32_t select, low, high; /* high is 0 when values have 32 bits */
    uint32_t control;           /* BLOCK_MC, BLOCK_OUTSIDE */
    uint32_t clock;             /* 0, or what must get the block's control_value before a start */
};

/* A device of several dies has so many base dies, each with its share of BLOCK_BASE_DIES blocks. */
enum { GPU_BASE_DIES = 4 };

struct gpu_block {
    char name[12];
    uint16_t id;        /* hsa_ven_amd_aqlprofile_block_name_t, aqlprofile_block_name_t */
    uint16_t instances; /* per die (or array, processor), in the largest member of the family */
    uint16_t counters;  /* registers per instance */
    uint16_t event_max;
    uint16_t flags;         /* enum gpu_block_flags */
    uint16_t register_file; /* blocks with equal numbers share their counter registers; 0: alone */
    uint16_t registers;     /* place of the first in the family's; see gpu_block_registers() */
    uint32_t select_bits;   /* always set in the select register */
    uint32_t control;       /* BLOCK_SQ: control register */
    uint32_t control_value; /* what it gets, or the clock registers */
};

struct gpu_family;

/* A GPU: its family's tables and its own geometry. */
struct gpu_target {
    const struct gpu_family *family;
    struct gpu_geometry geometry;
};

/* Returns 0, or -1 when no such architecture is known. */
int gpu_target_find(const char *architecture, const struct gpu_geometry *geometry,
                    struct gpu_target *target);

/* The family's blocks. */
const struct gpu_block *gpu_blocks(const struct gpu_target *target, uint32_t *count);
/* NULL when the GPU has no such block. */
const struct gpu_block *gpu_block_by_id(const struct gpu_target *target, uint32_t block_id);
const struct gpu_block *gpu_block_by_name(const struct gpu_target *target, const char *name);

/* Returns the registers of counter i of an instance; with BLOCK_EACH, i counts through all
 * instances in a row. */
const struct gpu_counter_registers *gpu_block_registers(const struct gpu_target *target,
                                                        const struct gpu_block *block);

/* Instances of a block that this GPU has on each die. */
uint32_t gpu_block_instances(const struct gpu_target *target, const struct gpu_block *block);

/* Where one instance of a block is sampled on one die: engines x arrays x processors, the last
 * fastest. An axis that the block does not have is 0. */
struct gpu_grid {
    uint32_t engines, arrays, processors;
};
struct gpu_grid gpu_block_grid(const struct gpu_target *target, const struct gpu_block *block);
/* Number of a sample; positions on axes that the block does not have are ignored. */
uint32_t gpu_grid_sample(const struct gpu_grid *grid, uint32_t engine, uint32_t array,
                         uint32_t processor);

/* Samples of one instance on one die: the product of its grid's axes. */
uint32_t gpu_block_samples(const struct gpu_target *target, const struct gpu_block *block);

/* Dies whose instances are read separately: all, or 1 for blocks outside the dies. */
uint32_t gpu_block_dies(const struct gpu_target *target, const struct gpu_block *block);

enum gpu_accumulate { GPU_ACCUMULATE_NONE, GPU_ACCUMULATE_LOW_RES, GPU_ACCUMULATE_HIGH_RES };

struct gpu_event {
    const struct gpu_block *block;
    uint32_t instance;
    uint32_t event;
    enum gpu_accumulate accumulate; /* the register integrates the one before it */
    uint32_t slot;                  /* set by gpu_pmc_assign(): counter register of the instance */
};

enum gpu_pmc_status {
    GPU_PMC_OK,
    GPU_PMC_BAD_BLOCK,
    GPU_PMC_BAD_INSTANCE,
    GPU_PMC_BAD_EVENT,
    GPU_PMC_FULL, /* more events than the block instance has registers */
    GPU_PMC_MEMORY
};
const char *gpu_pmc_status_text(enum gpu_pmc_status status);

/* The event that integrates a level, for blocks with BLOCK_ACCUMULATES. */
uint32_t gpu_accumulate_event(const struct gpu_target *target, enum gpu_accumulate accumulate);

enum gpu_pmc_status gpu_event_check(const struct gpu_target *target, const struct gpu_event *event);

/* Checks the events and gives each its counter register, in order of the list. A level that is also
 * accumulated has no register of its own: it is counted in the one before its total. */
enum gpu_pmc_status gpu_pmc_assign(const struct gpu_target *target, struct gpu_event *events,
                                   uint32_t count);

/* Result buffer: uint64_t per sample. First one sample of each event outside the dies, then die by
 * die, event by event, the samples of gpu_block_samples(). */
uint32_t gpu_pmc_result_bytes(const struct gpu_target *target, const struct gpu_event *events,
                              uint32_t count);
/* Position of a sample in the result buffer. */
uint32_t gpu_pmc_result_index(const struct gpu_target *target, const struct gpu_event *events,
                              uint32_t count, uint32_t event, uint32_t die, uint32_t sample);

/* Command buffers for assigned events. Start resets; read leaves the counters running; read and
 * stop work in both orders. */
void gpu_pmc_start(struct pm4_stream *stream, const struct gpu_target *target,
                   const struct gpu_event *events, uint32_t count);
void gpu_pmc_read(struct pm4_stream *stream, const struct gpu_target *target,
                  const struct gpu_event *events, uint32_t count, uint64_t result_va);
void gpu_pmc_stop(struct pm4_stream *stream, const struct gpu_target *target,
                  const struct gpu_event *events, uint32_t count);
/* Lets a queue's waves be counted, or not. */
void gpu_pmc_enable(struct pm4_stream *stream, const struct gpu_target *target, int enable);

#endif
