/*
 * Inside of the wave engine: a work-group in flight and what its instructions may reach.
 */
#ifndef WAVE_GROUP_H
#define WAVE_GROUP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "image/layout.h"
#include "perf/perf.h"
#include "wave/code.h"
#include "wave/dispatch.h"
#include "wave/wave.h"

enum { WAVES_PER_GROUP_MAX = 16, SGPRS_INITIAL = 16 };

/* Base address in scratch descriptors and FLAT_SCRATCH: no mapped address has bit 47 set, so a
 * buffer access through it is known to be private memory, which lies outside the page table. */
#define SCRATCH_VA 0xfffe00000000ull

/* Of a descriptor: the system SGPRs that are wanted, behind how many of the user's. */
enum {
    RSRC2_SCRATCH_OFFSET = 1 << 0,
    RSRC2_USER_SGPR_SHIFT = 1,
    RSRC2_ID_X = 1 << 7,
    RSRC2_ID_Y = 1 << 8,
    RSRC2_ID_Z = 1 << 9,
    RSRC2_GROUP_INFO = 1 << 10,
    RSRC2_ITEM_ID_SHIFT = 11
};

/* What a kernel's descriptor and packet say, worked out once for a dispatch. */
struct launch {
    uint64_t entry_va;
    uint64_t packet_va;  /* in the queue's ring */
    uint32_t properties; /* user SGPRs wanted */
    uint32_t rsrc1, rsrc2, rsrc3;
    uint32_t mode, fp_state_32, fp_state_64; /* of all waves, as wave.h has them */
    uint32_t user_sgprs[SGPRS_INITIAL];
    uint32_t vgpr_count, agpr_count, accum_offset, sgpr_count;
    uint32_t id_x;      /* the SGPR with the group's x, + 1; 0: none */
    uint32_t groups[3]; /* work-groups per dimension */
    uint32_t size[3];   /* work-items of a full group */
    uint32_t grid[3];
    uint32_t lds_bytes, scratch_bytes;        /* scratch: per lane */
    uint32_t scratch_stride;                  /* host bytes from one lane to the next */
    uint32_t waves_per_group;                 /* of a full group */
    bool l2_mixes;                            /* gpu_model.tcc_mixes */
    bool few_host_atomics;                    /* likewise; atomic_refused() */
    uint32_t shared_base_hi, private_base_hi; /* FLAT apertures */
    uint32_t trap_enabled;
    uint32_t capacity; /* groups that a compute unit holds */
    enum perf_limit limit;
    uint32_t l1_line_shift; /* of the GPU's vector L1 */
    uint32_t units;         /* compute units that work-groups are dealt to */
    uint32_t array_units;   /* of each shader array, where there is no mask */
    struct unit_mask mask;  /* which these are, if the queue has one and it names any of ours */
    bool is_masked;
    bool gws;              /* the queue may use global wave sync */
    uint32_t sample_limit; /* that groups begin with; 0: nothing is sampled */
};

enum { SCALAR_RECENT = 8 };
struct access_log { /* cache-line requests, while perf wants them */
    struct perf_line_access *items;
    uint64_t count, capacity;
    uint64_t placed;          /* the first ones, which have places instead of addresses */
    uint64_t expected;        /* as many as the group before in this place had */
    struct perf_moves *moves; /* of the groups that repeat this one (series_note.c); NULL: none */
    /* Scalar reads of lines that nothing has followed in their sets of the scalar cache: hits that
     * leave it as it is. */
    uint64_t scalar_repeats;
    uint64_t
        scalar_lines[SCALAR_RECENT]; /* address + 1 of the last line, by its place's low bits */
};

enum { FETCH_WINDOW_BYTES = 32, FETCH_RECENT = 16, FETCH_PATHS = 8 };
/* Lines of code that the group has touched, while perf wants them: a set, open addressing. */
struct fetch_log {
    uint64_t *lines; /* line number + 1; 0: free */
    uint32_t used, capacity;
    uint64_t count;       /* 32-byte fetches */
    uint64_t last_window; /* of the wave that runs */
    /* Where the wave's code has this window; NULL: looked for with its next instruction. */
    const struct inst *window;
    uint64_t recent[FETCH_RECENT]; /* lines that are in the set; of each number's last bits one */
    /* While a run is executed as one (fetch_path.h): where it begins, and how many of its lines are
     * in the set. */
    const struct fetch_path *path; /* NULL: no run is */
    const struct inst *first;
    uint32_t lines_noted;
    bool lines_left; /* a run is, and some of its lines are not in the set */
    const struct fetch_path *complete[FETCH_PATHS]; /* those all of whose lines are in the set */
};

struct step_log { /* executed instructions, while the thread trace wants them */
    struct perf_trace_step *items;
    uint64_t count, capacity, lost;
};

struct block_log { /* accesses of sampled blocks (time_note.h) */
    struct perf_block *items;
    uint64_t count, capacity;
    uint64_t noted;       /* accesses that they stand for */
    uint64_t run_block;   /* its number + 1, while the last items are scalar reads of one block: */
    uint32_t run_sectors; /* what these touch of it */
    uint64_t mapping, mapping_bytes; /* the last block's, of which it and its flags say: */
    uint64_t place;                  /* of its start */
    uint8_t memory;
};

/* The instruction of LDS that was sampled last: one may access it twice. */
struct lds_noted {
    const struct wave *wave;
    const struct inst *inst;
    uint64_t executed; /* of its kind, by the wave, before */
};

/* What a wave begins with, of a group that others begin like (start.c). */
enum { ITEM_ROWS = 3 };
struct wave_first {
    uint8_t bytes[WAVE_FIRST_BYTES] __attribute__((aligned(64)));
    lane_row items[ITEM_ROWS]; /* the first registers: work-items' numbers */
};

/* What the waves of a group have executed that ended in this place, all of them the same, and what
 * that makes of its record: the next group mostly executes the same (retire.c). */
struct executed {
    uint32_t waves; /* 0: nothing is known */
    uint64_t counts[TALLY_SLOTS];
    uint64_t total; /* their sum */
    uint32_t whole; /* each executed this run, and nothing else; 0: others */
    uint32_t quads; /* of four counts, in which some are not 0: where these are, in bytes */
    uint16_t quad[TALLY_SLOTS / 4];
    struct perf_group record; /* instructions and times */
    /* What was summed up of the group before, whose id this was; 0: none with these counts. */
    uint64_t sums_id;
    uint8_t sums[PERF_SUMS_BYTES];
};

/* Where a group runs. */
struct unit_place {
    uint32_t xcc, se, sh, cu;
};

/* Where an instruction accessed memory last, and how far that was from where it did before
 * (flat_rows.c): of this place's waves, one group after another. */
enum { SPANS_KNOWN = 16, PIECES_KNOWN_BITS = 8, PIECES_KNOWN = 1 << PIECES_KNOWN_BITS };
struct span_step {
    uint64_t va, step;
};

/* What an image's descriptor says, kept from one instruction to the next (image_address.c). */
enum { IMAGE_WORDS = 8, IMAGE_VIEWS_BITS = 2, IMAGE_VIEWS_KNOWN = 1 << IMAGE_VIEWS_BITS };
struct image_view {
    bool known;
    uint32_t words[IMAGE_WORDS];
    struct image_resource image;
    struct image_layout layout;
};

struct lds_patterns;
struct finished_group;
struct series_plan;
struct workgroup {
    struct workgroup *next; /* run queue, free list */
    struct dispatch *dispatch;
    const struct launch *launch;
    struct engine *engine;
    struct vm_reader *reader; /* of the thread that runs it now */
    uint64_t index;           /* flat group number */
    uint32_t id[3];
    uint32_t wave_count, waves_live, waves_at_barrier;
    uint32_t turns_in_step; /* short ones that are left behind a barrier */
    uint32_t work_items;
    uint32_t wants;                     /* enum perf_want: what to report besides the tallies */
    bool is_sampled, samples_all;       /* for modelled time (time_note.h) */
    bool notes_places;                  /* of its sampled blocks: launch->l2_mixes */
    uint32_t sample_slot, sample_limit; /* blocks below are sampled */
    struct perf_lds_sample lds_samples[PERF_LDS_KINDS];
    struct lds_noted lds_noted;
    struct lds_patterns *lds_patterns; /* lds_note.c: of this group's and earlier ones' accesses */
    struct block_log blocks;
    struct span_step spans[SPANS_KNOWN];   /* by where the instruction is */
    struct span_step pieces[PIECES_KNOWN]; /* the same of each wave (pieces.c) */
    struct image_view image_views[IMAGE_VIEWS_KNOWN];
    uint32_t slices;   /* scheduling turns so far */
    uint64_t consumed; /* of its waves' slices: no less than the sum of their counts */
    uint64_t heat;     /* instructions since code was last translated; of earlier groups, too */
    uint8_t *lds;
    uint32_t lds_bytes, lds_capacity;
    struct wave *waves;
    struct wave_first *firsts; /* of each wave; good up to `alike_end` */
    uint32_t wave_capacity;
    uint32_t item_rows;
    uint64_t
        alike_end;  /* groups behind this one, up to that one, begin as it did but for their ids */
    bool is_alike;  /* it began as the one before in this place */
    bool is_repeat; /* it did what `head` did; counts are 0 again */
    lane_row *registers; /* of all waves */
    uint8_t *scratch;
    uint64_t scratch_capacity; /* bytes */
    struct access_log accesses;
    struct fetch_log fetches;
    bool is_traced; /* its steps are wanted */
    struct step_log steps;
    struct perf_lds lds_counts;
    uint64_t flat_lds_insts, flat_lds_only;
    struct executed executed;
    /* Where the record is that stands for the last one in this place (record.c); NULL: nowhere. */
    struct finished_group *full; /* and the last one that has a record */
    struct finished_group *head;
    struct series_plan *plan; /* series.c; NULL: none was made */
};

/* launch.c */
int launch_prepare(struct launch *launch, const struct gpu_model *model, struct vm_reader *reader,
                   const struct dispatch_request *request, struct dispatch_result *fault);
int group_reserve(struct workgroup *group, const struct launch *launch);
void group_free(struct workgroup *group);
struct unit_place launch_place(const struct launch *launch, const struct gpu_model *model,
                               uint64_t index);

/* start.c */
/* Nothing of what is wanted of a group is noted. */
void group_wanted_clear(struct workgroup *group);
void group_start(struct workgroup *group, const struct gpu_model *model, uint64_t index);
/* The group has started, its waves' code is known: finds which groups behind it, up to `end`, begin
 * as it did. */
void group_remember(struct workgroup *group, const struct gpu_model *model, uint64_t group_total,
                    uint64_t end);
/* The next group, which is one of those, in the place of one that has ended and is recorded. */
void group_start_alike(struct workgroup *group);

/* series_plan.c */
void series_plan_free(struct series_plan *plan);

/* occupancy.c: how many groups of the launch one compute unit holds, and why not more. */
void launch_occupancy(struct launch *launch, const struct gpu_model *model);
uint32_t launch_masked_units(const struct launch *launch, const struct gpu_model *model,
                             const struct unit_place *place);
static inline uint32_t launch_array_units(const struct launch *launch,
                                          const struct gpu_model *model,
                                          const struct unit_place *place)
{
    return launch->is_masked ? launch_masked_units(launch, model, place) : launch->array_units;
}

/* group.c: one turn of a work-group */
enum group_state { GROUP_DONE, GROUP_SLICE, GROUP_IDLE /* all asleep */, GROUP_FAULT };
enum group_state group_run(struct workgroup *group, struct wave **faulting);

/* services.c: what every handler uses. */
struct code *engine_code(struct engine *engine);
struct gws *engine_gws(struct engine *engine);
const struct gpu_model *engine_model(const struct engine *engine);
struct unit_place group_place(const struct workgroup *group);
const struct inst *wave_fault(struct wave *wave, const struct inst *inst, enum fault_kind kind,
                              uint64_t va);
uint64_t wave_pc_va(const struct wave *wave, const struct inst *inst);
void dispatch_interrupt(struct dispatch *dispatch, uint32_t event_id);
uint64_t dispatch_begin_ticks(const struct dispatch *dispatch); /* 0: its times are the wall's */

/* code.c: continues at the address, or faults. */
const struct inst *wave_jump(struct wave *wave, const struct inst *inst, uint64_t va);

/* exec.c: the handler of a decoded instruction; what nothing executes faults. */
extern const struct code_handlers wave_handlers;
inst_exec_fn *salu_handler(const struct inst *inst);
inst_exec_fn *control_handler(const struct inst *inst);
const struct inst *control_far_branch(struct wave *wave, const struct inst *inst);
inst_exec_fn *smem_handler(struct inst *inst);
inst_exec_fn *flat_handler(struct inst *inst);
inst_exec_fn *buffer_handler(struct inst *inst);
inst_exec_fn *typed_handler(struct inst *inst); /* MTBUF, format-converting MUBUF */
inst_exec_fn *image_handler(struct inst *inst); /* MIMG */
inst_exec_fn *ds_handler(struct inst *inst);

/* fetch.c: the wave fetched the instruction. The caller has seen that perf wants it. */
void fetch_note(struct wave *wave, const struct inst *inst);
/* Whether all of it lies in the window that was fetched last, so that there is nothing to note. */
static inline bool fetch_has(const struct fetch_log *log, const struct inst *inst)
{
    size_t at = (size_t)((const char *)inst - (const char *)log->window);
    return at <= (FETCH_WINDOW_BYTES / 4 - inst->dwords) * sizeof *inst;
}
void fetch_log_clear(struct fetch_log *log);
/* Around a run that is executed as one. */
void fetch_run_begin(struct wave *wave, const struct inst *first, const struct fetch_path *path);
void fetch_run_end(struct wave *wave, uint32_t executed);
/* Within it, before the instruction's accesses are logged: what stands before it was fetched. */
void fetch_run_note(struct wave *wave, const struct inst *inst);
static inline void fetch_note_before(struct wave *wave, const struct inst *inst)
{
    if (__builtin_expect(wave->group->fetches.lines_left, 0))
        fetch_run_note(wave, inst);
}

/* step_note.c: the wave executed the instruction; NULL: and stopped. The group is traced. */
void step_note(struct wave *wave, const struct inst *inst, const struct inst *next);

static inline uint64_t lanes_idle(const struct inst *inst, uint64_t exec)
{
    _Static_assert(CLASS_VALU == 0 && CLASS_MFMA == 1, "the first two");
    return inst->klass <= CLASS_MFMA ? 64 - (uint64_t)__builtin_popcountll(exec) : 0;
}

/* What the run loop counts for an instruction, once its handler returned. Nearly all instructions
 * run all lanes. */
static inline void wave_count(struct wave *wave, const struct inst *inst, uint64_t exec)
{
    wave->counts[inst->tally]++;
    if (__builtin_expect(exec != ~UINT64_C(0), 0))
        wave->idle_lanes += lanes_idle(inst, exec);
}

static inline void wave_uncount(struct wave *wave, const struct inst *inst)
{
    wave->counts[inst->tally]--;
    wave->idle_lanes -= lanes_idle(inst, wave_exec(wave));
}

static inline const struct inst *inst_next(const struct inst *inst)
{
    return inst + inst->dwords;
}

#endif
