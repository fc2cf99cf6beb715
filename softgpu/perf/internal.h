/*
 * The register file's structures, shared by tables.c (what exists), places.c (where it
 * lies), counter.c (events and counting), registers.c (PM4's view) and perf.c (execution's view).
 */
#ifndef PERF_INTERNAL_H
#define PERF_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "gfx90a_regs.h" /* generated */
#include "perf/memory.h"
#include "perf/perf.h"
#include "perf/sample.h"
#include "perf/sources.h"
#include "perf/trace.h"
#include "perf_tables.h" /* generated */

enum axis { AXIS_XCC, AXIS_SE, AXIS_CU, AXIS_CHANNEL, AXIS_ENGINE };
enum control { CONTROL_CP, CONTROL_SQ, CONTROL_MC };
enum reg_kind { KIND_STORAGE, KIND_SELECT, KIND_LOW, KIND_HIGH, KIND_CONFIG, KIND_CONTROL };
enum event_class { EVENT_EXACT, EVENT_MODELLED, EVENT_APPROXIMATE, EVENT_NONE };
enum { EVENT_TERMS_MAX = 16, EVENT_NUMBERS = 1024 };

#define BLOCK_ENUM(name, axis, counters, control) BLOCK_##name,
enum block { PERF_BLOCK_LIST(BLOCK_ENUM) BLOCK_COUNT, BLOCK_NONE = BLOCK_COUNT };
#undef BLOCK_ENUM

struct block_info {
    const char *name;
    enum axis axis;
    uint32_t counter_count;
    enum control control;
};

/* Where a value of a block lives. */
struct place {
    enum block block;
    uint32_t xcc, unit;
};

struct reg_info {
    uint32_t offset;
    uint8_t block, kind, index;
};

struct event_term {
    uint8_t source; /* enum perf_source */
    int16_t weight;
};

struct event_info {
    const char *name;
    struct event_term terms[EVENT_TERMS_MAX];
    int16_t number[GPU_GEN_COUNT]; /* -1: no such event */
    uint8_t block, klass, term_count, divisor;
    bool accumulate; /* integrates the level that the counter before it selects */
    bool level;      /* reads 0 itself; the terms are its integral over time */
};

/* tables.c */
extern const struct block_info perf_blocks[BLOCK_COUNT];
extern const uint32_t perf_register_count;
extern const uint8_t tally_class[TALLY_COUNT]; /* enum inst_class */
extern const struct reg_info perf_registers[];
/* Rows by offset, one higher; 0: no such register. Every access by PM4 looks here. */
extern const uint16_t perf_rows_by_offset[];
extern const uint32_t perf_offset_end;
static inline const struct reg_info *register_find(uint32_t offset)
{
    uint32_t row = offset < perf_offset_end ? perf_rows_by_offset[offset] : 0;
    return row ? &perf_registers[row - 1] : NULL;
}
static inline uint32_t register_row(const struct reg_info *reg)
{
    return (uint32_t)(reg - perf_registers);
}
/* The events of a generation: rows, one higher, by block and number; 0: no such event. */
void events_number(enum gpu_gen gen, uint16_t (*rows)[EVENT_NUMBERS]);
/* NULL: no such event. */
const struct event_info *event_find(const struct perf *perf, enum block block, uint32_t number);
uint32_t event_wants(const struct event_info *event); /* enum perf_want */

enum { PERF_WANTS = 16 }; /* combinations of what is wanted */

struct counter {
    const struct event_info *event; /* NULL: not modelled, reads 0 */
    /* Set with the event. An event's total is mostly that of one source, or a sum over the units of
     * a shader array, which is good until one of them does something. */
    const uint64_t *source; /* of which it is `weight` times the total; NULL: it is a sum */
    uint32_t select;
    uint32_t control; /* MC blocks, in counter 0: the block's RSLT_CNTL */
    int16_t weight;
    uint8_t wants;                 /* of what counts (enum perf_want) */
    bool is_own;                   /* counts its own event, whatever the counter before it does */
    bool is_of_array, is_selected; /* select was written */
    bool is_plain;                 /* is_own, has a source, and its event no divisor */
    bool is_summed;                /* is_of_array, and its event has no divisor */
    bool counting, is_touched;     /* a register write has reached it: perf->touched_list */
    const uint32_t *gate; /* what enables the sequencers' own, from then on; NULL: nothing does */
    uint64_t held;        /* counted before `base`, in units of the sources */
    uint64_t base;        /* the event's total when counting began */
    uint64_t sum, summed_at; /* is_of_array: of the array's change so numbered; 0: never */
};

/* A counter that a register write has reached. */
struct touched_counter {
    struct counter *counter;
    uint32_t index, xcc_bit;
    struct place place;
};

/* Of a register that is a counter's lower half, with the upper one behind it. */
struct whole_counter {
    const struct counter *first; /* of XCC 0's unit 0; NULL: its control register says which */
    size_t unit_step, xcc_step;  /* to the next one's, in bytes */
    uint8_t axis;                /* enum axis */
    bool is_there;               /* the register is one */
};

/* Of a select register: what each unit of its block was told last. */
struct broadcast_select {
    uint32_t value;
    bool is_everywhere; /* all have `value`: to write it to any of them changes nothing */
};

/* Instructions that a unit's groups have executed. */
struct work_sums {
    uint64_t vector, loads; /* of vector memory, and those of them that are waited for as loads */
    uint64_t lds, permutes; /* of LDS, and those that need none of its banks */
};

/* Of a compute unit. First come sums over its groups, in the clock's cycles; `waves_` says that
 * each group's are multiplied by its waves, `own_` that each wave has its own. What is below is
 * known when the dispatch ends. */
struct unit_time {
    uint64_t groups, beside;
    uint32_t array_units; /* of its shader array, that the dispatch may use */
    uint64_t simd, load_wait, other_wait;
    uint64_t waves, waves_simd, waves_load, waves_other;
    uint64_t issue, own_load, own_other;
    struct work_sums rounds[2]; /* of the first round of groups, and of the later ones */
    uint32_t alike[2];          /* of these: groups that the sums lack (retire.c) */
    uint64_t busy_cycles, wave_cycles;
    uint64_t instructions;                  /* of vector memory */
    uint64_t address_cycles, active_cycles; /* of the address unit, and of the L1 */
    uint64_t data_cycles;                   /* that the data unit needs */
    uint64_t reads, writes;                 /* requests of the L1 */
    uint64_t shared_misses; /* requests of its scalar and instruction caches, behind the first round
                               of groups; while they are observed */
};

/* What a unit's groups need besides instructions. */
struct unit_needs {
    uint64_t instructions, address, data, serial, read_tags, write_tags, reads, writes, misses, lds;
    uint64_t latency; /* of all loads, summed */
    uint64_t load_wait, waves_load,
        own_load; /* the sums of unit_time with loads as long as these */
};

/* Of a shader array. */
struct array_time {
    uint64_t busy_cycles, groups; /* until its last unit was free */
    uint32_t units;               /* that the dispatch may use */
};

/* A dispatch that runs: how long each compute unit has been busy with it. */
struct running_dispatch {
    uint64_t seq;
    uint64_t begin_cycles;
    struct running_dispatch *next;
    uint32_t capacity; /* groups that a compute unit holds */
    enum perf_limit limit;
    bool is_counted;                      /* by the sequencers' counters */
    struct channel_work *work;            /* [xcc][channel]; behind the units */
    uint32_t *used, used_count;           /* behind that: the units that have executed groups */
    uint32_t *unsettled, unsettled_count; /* those that lack some in their sums */
    /* Behind that: the units in the order in which groups are dealt to them, as far as the first
     * round has told; and groups of later rounds, by their numbers, that the sums lack, too. */
    uint32_t *turns, turn_count;
    struct {
        uint64_t first, end;
    } alike_range;
    bool alike_known;
    struct perf_group alike;        /* what each of those did; of it what is summed up */
    struct dispatch_sample *sample; /* NULL: out of memory, its time is that of instructions */
    uint64_t translation_misses;
    struct unit_time units[]; /* [xcc][unit]; of those not used all is 0 */
};

struct perf {
    const struct gpu_model *model;
    const struct clock_cost *costs;        /* of instructions, on this GPU */
    uint32_t units;                        /* compute units of an XCC: se * sh * cu */
    uint32_t se_units;                     /* shader arrays of an XCC: se * sh */
    uint32_t engine_count;                 /* SDMA engines of all base dies */
    bool samples_all;                      /* CROCGPU_SAMPLING=all */
    uint32_t block_units[BLOCK_COUNT];     /* of an XCC */
    uint16_t (*event_rows)[EVENT_NUMBERS]; /* [block]: see events_number() */
    /* What counting events need observed (enum perf_want). Writer: register writes (relaxed).
     * Reader: the engine at group start (relaxed): a group that just missed it lies before the
     * start. */
    atomic_uint wants;
    /* Of these, TIME. Writer: register writes (relaxed). Reader: the engine at launch (relaxed),
     * mostly in the thread that writes registers. */
    atomic_bool wants_time;
    struct whole_counter *whole_counters; /* [register]; never changes */
    /* GRBM_GFX_INDEX, and the shader array that reads reach by it; NOWHERE: none. The CP thread's
     * alone. */
    uint32_t gfx_index, read_array;
    /* What each shader array traces. Written by register writes, read by the engine at group start,
     * both relaxed, as `wants`. */
    atomic_uint *trace_targets;

    pthread_mutex_t lock; /* all below: registers (CP thread) against retirement (pool threads) */
    bool is_held;      /* for a row of register accesses. Written and read by the CP thread alone */
    uint32_t started;  /* a bit for each XCC whose CP_PERFMON_CNTL says so */
    uint32_t *storage; /* [register][xcc][shader array] */
    struct broadcast_select *selects;      /* [register] */
    struct counter *counters[BLOCK_COUNT]; /* [xcc][unit of the block][counter] */
    /* A bit for each counter that a register write has reached in any unit; the others are as they
     * were made. Who goes over a unit's counters goes over these. */
    uint32_t touched[BLOCK_COUNT];
    /* Who goes over all that CP_PERFMON_CNTL controls, at each start and stop, goes over those of
     * units that were reached themselves. */
    struct touched_counter *touched_list; /* first those that are plain, and of no sequencer */
    uint32_t touched_count, plain_count;
    bool is_touched_mixed; /* they are to be put there: see touched_sort() */
    uint32_t used;         /* a bit for each XCC in which a counter may hold something, or counts */
    uint32_t sequencers_counting; /* of their counters */
    uint32_t wanting[PERF_WANTS]; /* counters that count, by what they want (enum perf_want) */
    bool is_traced;               /* trace.c says so */
    uint64_t (*cu)[SRC_CU_COUNT]; /* [xcc][unit] */
    uint64_t (*se)[SRC_SE_COUNT]; /* [xcc][shader array] */
    /* Of these: what the sequencers' counters do not see, while any of them counts: their totals
     * are compared with what they were when that began. */
    uint64_t (*hidden_cu)[SRC_CU_COUNT];
    uint64_t (*hidden_se)[SRC_SE_COUNT];
    uint64_t *array_changes;        /* [xcc][shader array]: see array_changed() */
    struct array_time *array_times; /* the same: while a dispatch ends */
    uint64_t (*xcc)[SRC_XCC_COUNT];
    uint64_t (*channel)[SRC_CHANNEL_COUNT];              /* [xcc][channel] */
    uint64_t engine[PERF_ENGINES_MAX][SRC_ENGINE_COUNT]; /* SDMA */
    struct memory_model memory;
    struct trace *trace;
    struct running_dispatch *running, *spare;
    bool is_unsettled;          /* totals lack what groups of running dispatches did (retire.c) */
    struct channel_work *stray; /* [xcc][channel]: of groups of no dispatch */
};

/* bounds.c: what time waits for besides instructions. All under the lock. */
/* Takes note of what so many groups that retire have done, each the same, in their unit: in the
 * first round and in later ones. For their dispatch; NULL: none. */
void bounds_groups(const struct perf_group *group, const uint32_t rounds[2], uint64_t *cu,
                   struct unit_time *unit);
/* Makes a dispatch that ends as long as its units, L2 channels and memory need. */
void bounds_dispatch(struct perf *perf, struct running_dispatch *dispatch);

/* retire.c; all under the lock */
struct running_dispatch **dispatch_find(struct perf *perf, uint64_t seq);
/* Brings totals up to date: before anybody reads them, or changes who is counted. */
void dispatch_settle(struct perf *perf, struct running_dispatch *dispatch);
/* In group order per dispatch; of any that run. Returns whether there are no more: `next` has said
 * so, or was not to be asked. */
bool groups_account(struct perf *perf, perf_next_fn *next, void *arg, uint32_t count);
void dispatches_settle(struct perf *perf);
/* What has been added to `now` since it was `before` is added to `to`, too. */
static inline void growth_add(const uint64_t *now, const uint64_t *before, size_t count,
                              uint64_t *to)
{
    for (size_t i = 0; i < count; i++)
        to[i] += now[i] - before[i];
}

/* perf.c */
/* The command processor spends cycles on packets, with no dispatch. */
void packets_advance(struct perf *perf, uint64_t cycles);

/* engine.c: the registers of SDMA engines, by offset and base die; false: no such register. */
uint32_t engines_of(enum gpu_gen gen); /* on all base dies */
bool engine_reg_write(struct perf *perf, uint32_t offset, uint32_t value);
bool engine_reg_read(struct perf *perf, uint32_t offset, uint32_t *value);

/* places.c, below all others */
static inline uint32_t *storage_of(struct perf *perf, const struct reg_info *reg, uint32_t xcc,
                                   uint32_t se_unit)
{
    size_t row = register_row(reg);
    return &perf->storage[(row * perf->model->xcc_count + xcc) * perf->se_units + se_unit];
}
uint32_t *storage_at(struct perf *perf, uint32_t offset, uint32_t xcc, uint32_t se_unit);
uint32_t block_units(const struct perf *perf, enum block block);
void xccs_add(struct perf *perf, enum perf_source source, uint64_t value);
/* Totals of an array's units have grown, or other units of it count: sums over them are made anew.
 */
static inline void array_changed(struct perf *perf, uint32_t xcc, uint32_t array)
{
    perf->array_changes[xcc * perf->se_units + array]++;
}
static inline struct counter *counter_at(struct perf *perf, struct place place, uint32_t index)
{
    size_t at = (size_t)place.xcc * perf->block_units[place.block] + place.unit;
    return &perf->counters[place.block][at * perf_blocks[place.block].counter_count + index];
}

/* counter.c; all under the lock */
/* Counters, or a trace, have begun or ended to count. */
void wants_update(struct perf *perf);
uint64_t counter_value(struct perf *perf, struct place place, uint32_t index);
void counter_value_write(struct perf *perf, struct place place, uint32_t index, bool high,
                         uint32_t value);
void counter_select_write(struct perf *perf, struct place place, uint32_t index, uint32_t value);
void counter_config_write(struct perf *perf, struct place place, uint32_t index, uint32_t value);
void counter_control_write(struct perf *perf, struct place place, uint32_t value);
/* Enables, clears and events of all counters of an SDMA engine. */
void counters_perfmon_write(struct perf *perf, struct place place, uint32_t value);
/* CP_PERFMON_CNTL was written, and started or stopped these XCCs. */
void counters_gate(struct perf *perf, uint32_t xcc_mask, bool started);
/* Before and after a register of an array is written that says what its sequencers' counters count,
 * if they may count; and after all that one access reaches. */
void sequencers_pause(struct perf *perf, uint32_t xcc, uint32_t array);
void sequencers_gate(struct perf *perf, uint32_t xcc, uint32_t array);
void sequencers_written(struct perf *perf);
void counters_reset(struct perf *perf, uint32_t xcc_mask);

#endif
