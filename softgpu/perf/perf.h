/*
 * The performance-monitor part of a device's register file, [xcc][se][sh][instance], as PM4 sees
 * it, and the events that execution reports. Nothing here knows a profiler: counters count from
 * the last CP_PERFMON_CNTL start to the next stop because instructions executed meanwhile.
 */
#ifndef PERF_PERF_H
#define PERF_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/device.h"
#include "isa/inst.h"

/* The list of data/counters/events.txt for one GPU, in its order. */
struct perf_event {
    const char *block, *name;
    const char *klass; /* "exact", "modelled", "approximate", or "none": reads 0 */
    uint32_t number;   /* what selects it */
};
/* False past the end. `at` starts at 0 and is moved on. */
bool perf_event_next(enum gpu_gen gen, size_t *at, struct perf_event *event);

struct perf;
int perf_create(const struct gpu_model *model, struct perf **perf);
void perf_destroy(struct perf *perf);

/* Register access by the packet processor; `reg` is the absolute dword offset. GRBM_GFX_INDEX is
 * itself such a register. false: not a register this file owns. Command-processor thread only. */
bool perf_reg_write(struct perf *perf, uint32_t xcc_mask, uint32_t reg, uint32_t value);
bool perf_reg_read(struct perf *perf, uint32_t xcc, uint32_t reg, uint32_t *value);
/* The same of a counter's two registers, as one value; false: `offset` is not a counter's lower
 * half with the upper one behind it. */
bool perf_counter_read(struct perf *perf, uint32_t xcc, uint32_t offset, uint64_t *value);
/* Between these two the accesses of a row share one lock, which other threads that retire groups
 * wait for: nothing that waits, logs or calls another function of this header is in between. Each
 * may be called again. Command-processor thread only. */
void perf_registers_hold(struct perf *perf);
void perf_registers_release(struct perf *perf);

/* What one work-group did; the wave engine fills it and hands it over in work-group order
 * (0, 1, 2 ...) whatever the order of execution, so that the cache models see one deterministic
 * stream. */
struct perf_line_access { /* one cache line that an instruction touches; 64 bytes, whatever the
                             cache; or several whole ones */
    uint64_t line_va;     /* of the 64-byte line: its place (mem/vm.h), or in private memory */
    uint32_t bytes_mask_lo, bytes_mask_hi; /* bytes of the line touched */
    uint8_t kind;                          /* enum perf_access_kind */
    uint8_t flags;                         /* enum perf_access_flag */
    uint8_t tags;                          /* look-ups that the address unit makes of it */
    uint8_t tally;                         /* with FIRST: enum inst_tally */
    uint16_t lanes; /* with FIRST: what it hands over: lanes, or quads that coalesced or are idle */
    uint8_t conflicts; /* lanes of an atomic whose bytes another lane has already; with FIRST and
                          SAMPLED, of others: cycles that its lines wait for each other's tags */
    uint8_t more; /* of a read or write: lines behind it, of the same block of 256 bytes and as it,
                     but for `lanes`, which are the instruction's */
};
enum perf_access_kind {
    ACCESS_READ,
    ACCESS_WRITE,
    ACCESS_ATOMIC,
    ACCESS_SCALAR_READ,
    ACCESS_FETCH,     /* instructions: first touch of a line by a group */
    ACCESS_INVALIDATE /* no line: the wave empties its L1 */
};
enum perf_access_flag {
    ACCESS_GLC = 1 << 0,
    ACCESS_SLC = 1 << 1,
    ACCESS_SCC = 1 << 2,
    ACCESS_BUFFER = 1 << 3,    /* of a buffer instruction */
    ACCESS_COALESCED = 1 << 4, /* of an instruction all of whose lanes coalesced */
    ACCESS_FIRST = 1 << 5,     /* the instruction's first line */
    ACCESS_NOWHERE = 1 << 6,   /* no line: an instruction whose lanes go to LDS, or that has none */
    ACCESS_SAMPLED = 1 << 7    /* looked at for modelled time */
};

/* What an instruction touches of a sampled block (sampling.h). */
struct perf_block {
    uint64_t va;
    uint32_t number;   /* of the block in its mapping */
    uint16_t position; /* sample_position() */
    uint8_t kind;      /* enum perf_access_kind, up to ACCESS_SCALAR_READ */
    uint8_t sectors;   /* of 64 bytes */
    uint8_t halves;    /* of sectors, that are written */
    uint8_t memory;    /* its type and home, as in a mapping's flags (mem/vm.h) */
    uint16_t mixed;    /* of its place: l2_block_mixed(), as much as that changes, where
                          gpu_model.tcc_mixes */
    uint32_t repeats;  /* scalar reads of the same that followed at once, and change nothing */
};

/* What keeps a compute unit from holding one work-group more. */
enum perf_limit {
    LIMIT_WAVES,
    LIMIT_VGPRS,
    LIMIT_SGPRS,
    LIMIT_LDS,
    LIMIT_BARRIERS,
    LIMIT_BULKY /* the kernel wants a unit for each group */
};

/* Instructions as the thread trace names them: SQ_THREAD_TRACE_INST_TYPE, where it has a name. */
enum perf_inst {
    PERF_INST_SMEM_RD = 0,
    PERF_INST_SALU_32 = 1,
    PERF_INST_VMEM_RD = 2,
    PERF_INST_VMEM_WR = 3,
    PERF_INST_FLAT_WR = 4,
    PERF_INST_VALU_32 = 5,
    PERF_INST_LDS = 6,
    PERF_INST_PC = 7, /* jumps to an address in a register */
    PERF_INST_GDS = 8,
    PERF_INST_JUMP = 12,
    PERF_INST_NEXT = 13, /* a branch that is not taken */
    PERF_INST_FLAT_RD = 14,
    PERF_INST_OTHER = 15,
    PERF_INST_SMEM_WR = 16,
    PERF_INST_SALU_64 = 17, /* as SALU_32, encoded in 64 bits */
    PERF_INST_VALU_64 = 18,
    PERF_INST_MATRIX = 28,
    PERF_INST_NONE = 255 /* executed where it is fetched: s_waitcnt, s_nop, s_barrier ... */
};

struct perf_trace_step {
    uint64_t value; /* PC: where it leads. User data: M0 */
    uint8_t wave, tally, type;
    bool is_userdata;
};

struct perf_lds { /* cycles, and lanes outside; only while perf_wants() PERF_WANT_LDS */
    uint64_t active, conflict, address_conflict, unaligned, atomic_return, violations;
};

/* Instructions that were looked at for modelled time, by what they do. */
enum { PERF_LDS_FLAT = 4, PERF_LDS_KINDS };
struct perf_lds_sample {
    uint64_t instructions, cycles;
};
static inline uint32_t perf_lds_kind(uint32_t tally)
{
    return tally >= TALLY_LDS_READ && tally <= TALLY_LDS_ATOMIC_RETURN ? tally - TALLY_LDS_READ
                                                                       : PERF_LDS_FLAT;
}

/* How the accesses of a group's repeats lie: each one's are those of the one before, some of which
 * are further on. Whoever comes to the next repeat moves them, where they are. */
struct perf_moves {
    struct perf_line_access *accesses; /* the group's */
    struct perf_stream {               /* what stream.c finds out; all 0 at first */
        bool is_known;
        uint64_t still; /* number of the accesses that do not move; 0: it is no stream */
        uint64_t pages; /* and of those pages that the others touch; 0: it is to be found */
        uint32_t scalars, tags, coalesced, read_lanes, write_lanes, writes;
    } stream;
    uint32_t count;
    struct perf_move {
        uint32_t end; /* of its accesses, those behind the ones before, up to this one */
        int64_t step; /* in bytes, whole blocks of 256 */
    } each[];
};
static inline void perf_accesses_move(struct perf_moves *moves)
{
    moves->stream.pages = 0;
    struct perf_line_access *at = moves->accesses;
    for (uint32_t n = 0; n < moves->count; n++) {
        const uint64_t step = (uint64_t)moves->each[n].step;
        for (const struct perf_line_access *end = moves->accesses + moves->each[n].end; at < end;
             at++)
            at->line_va += step;
    }
}

struct perf_group {
    uint64_t dispatch_seq; /* counts dispatches of the device */
    uint64_t sums_id;      /* of groups with one id the fields from `waves` to `fetches` and the
                              instructions are the same; 0: nothing is known */
    uint64_t group_index;  /* flat work-group number */
    uint64_t round;        /* how many groups its unit has executed before, at most */
    /* Groups are dealt to so many units in turn; 0: who knows. Of a round but the first: so many
     * groups behind it did the same, each in its turn, and nothing else is known of them but where
     * their accesses were, which is here behind this. */
    uint32_t units, repeats;
    uint32_t xcc, se, sh, cu; /* where it ran: deterministic function of group_index */
    uint32_t wants;           /* enum perf_want: what of it was observed */
    /* For modelled time (sampling.h): which block accesses there are, and whether its instructions
     * were looked at. */
    uint32_t sample_limit, sample_slot;
    bool is_sampled;
    const struct perf_line_access *accesses; /* those wanted, and sampled ones */
    uint64_t access_count;
    struct perf_moves *moves; /* NULL: repeats' accesses are the same */
    uint64_t scalar_repeats;  /* scalar reads of lines besides, hits that change no cache */
    const struct perf_block *blocks;
    uint64_t block_count;
    uint32_t array_units; /* units of its shader array that this dispatch may use */
    uint32_t capacity;    /* groups of this dispatch that a compute unit holds */
    enum perf_limit limit;
    struct perf_lds_sample lds_samples[PERF_LDS_KINDS];
    const struct perf_trace_step *steps; /* while traced: what its waves executed, each in order */
    uint64_t step_count, steps_lost;
    /* What is only summed up, together with the instructions: without holes, to be compared. */
    uint32_t waves, work_items;
    uint64_t valu_lanes;
    /* In the clock of README.md. What its instructions take of the busiest SIMD, and the longest
     * waits of a wave, for loads of vectors and for all else; groups that share the unit. */
    uint64_t simd_cycles, longest_load_wait, longest_other_wait, beside;
    /* Summed over waves: resident; of these, issuing and waiting, and of that for loads. */
    uint64_t wave_cycles, issue_cycles, wait_cycles, load_wait_cycles;
    uint64_t busy_cycles;                   /* the group's share of its compute unit's time */
    uint64_t flat_lds_insts, flat_lds_only; /* FLAT with some, and with all lanes in LDS */
    struct perf_lds lds;
    uint64_t fetches; /* 32-byte instruction fetches */
    /* Executed instructions: how many of which, appended by perf_group_count(). Last, because a
     * kernel uses a dozen: the rest is never touched. */
    uint32_t tally_count;
    uint8_t tallies[TALLY_COUNT]; /* enum inst_tally */
    uint64_t counts[TALLY_COUNT];
};
/* Whether units had room for groups of that round when the dispatch began. */
static inline bool perf_round_begins(const struct perf_group *group, uint64_t round)
{
    return !round || round < group->capacity;
}
/* The bytes from `waves` to `fetches`. */
enum {
    PERF_SUMS_AT = offsetof(struct perf_group, waves),
    PERF_SUMS_BYTES = offsetof(struct perf_group, tally_count) - PERF_SUMS_AT
};

static inline void perf_group_count(struct perf_group *group, enum inst_tally tally, uint64_t count)
{
    group->tallies[group->tally_count] = (uint8_t)tally;
    group->counts[group->tally_count++] = count;
}

/* How long the group is resident and keeps its unit busy, if only instructions took time; from the
 * fields before those. */
void perf_group_time(struct perf_group *group);

/* What some counting event needs observed; the engine reads it at group start, but for TIME. */
enum perf_want {
    PERF_WANT_NONE = 0,
    PERF_WANT_MEMORY = 1 << 0, /* accesses of data */
    PERF_WANT_FETCH = 1 << 1,  /* fetches, and accesses of instructions */
    PERF_WANT_LDS = 1 << 2,
    PERF_WANT_TIME = 1 << 3,  /* perf_wants_time() */
    PERF_WANT_TRACE = 1 << 4, /* no event: perf_trace_level() may say something */
    PERF_WANT_L2 = PERF_WANT_MEMORY | PERF_WANT_FETCH, /* all that reaches the L2 */
    PERF_WANT_MEMORY_TIME = PERF_WANT_MEMORY | PERF_WANT_TIME,
    PERF_WANT_L2_TIME = PERF_WANT_L2 | PERF_WANT_TIME
};
uint32_t perf_wants(const struct perf *perf); /* all but TIME */
/* Whether an event or a trace sees how long dispatches take that are launched now. What nobody
 * sees, nor asks for with its completion signal, is not sampled (sampling.h). Any thread. */
bool perf_wants_time(const struct perf *perf);
/* Whether all is looked at for modelled time, as CROCGPU_SAMPLING=all wants: what sampling is
 * compared with. */
bool perf_samples_all(const struct perf *perf);
/* Called in group order per dispatch; of several callers one at a time goes on. */
void perf_group_retire(struct perf *perf, const struct perf_group *group);
/* `is_counted`: its queue's COMPUTE_PERFCOUNT_ENABLE; without it the sequencers' counters do not
 * see its waves. Groups of no dispatch that has begun go by the register as it was written last. */
void perf_dispatch_begin(struct perf *perf, uint64_t dispatch_seq, bool is_counted);
/* Returns how many cycles of the counters' clock it took, its launch included; 0: it never began.
 */
uint64_t perf_dispatch_end(struct perf *perf, uint64_t dispatch_seq);
/* Any of these three at once, in this order: one lock for all, since a small kernel does nothing
 * else. Each group that `next` gives, NULL behind the last one, is read before the one behind it is
 * asked for. Returns what perf_dispatch_end() does, 0 if it does not end. */
typedef const struct perf_group *perf_next_fn(void *arg);
struct perf_retirement {
    uint64_t dispatch_seq;
    bool begins, is_counted;
    bool ends;          /* unless `next` may have more */
    perf_next_fn *next; /* is asked for so many groups */
    void *arg;
    uint32_t count;
};
uint64_t perf_retire(struct perf *perf, const struct perf_retirement *retirement);

/* SDMA engines of the largest GPU. */
enum { PERF_ENGINES_MAX = 16 };
/* What an engine has done: packets ended, interrupts raised, times that its ring came round. */
void perf_engine_work(struct perf *perf, uint32_t engine, uint32_t packets, uint32_t interrupts,
                      uint32_t ring_wraps);

/* Thread trace. What of a compute unit's groups is traced: any thread may ask. */
enum perf_trace_level { TRACE_NONE, TRACE_WAVES /* begins and ends */, TRACE_STEPS };
enum perf_trace_level perf_trace_level(const struct perf *perf, uint32_t xcc, uint32_t se,
                                       uint32_t sh, uint32_t cu);

/* Compute registers that a launch has written, before its dispatch begins. */
struct perf_trace_register {
    uint32_t reg, value;
};
void perf_trace_launch(struct perf *perf, const struct perf_trace_register *registers,
                       uint32_t count);

/* Whether a register is one that says how far a trace is, or that ends it: before such a register
 * is read, and after it was written, what the trace has must go to memory. */
bool perf_trace_register(uint32_t reg);
/* Part of a trace that is not in memory yet; false: there is none. The bytes are the caller's to
 * free, and to write: what cannot be written is a fault of its engine. */
struct perf_trace_chunk {
    uint32_t engine;
    uint64_t va;
    void *bytes;
    size_t size_bytes;
};
bool perf_trace_take(struct perf *perf, struct perf_trace_chunk *chunk);
void perf_trace_fault(struct perf *perf, const struct perf_trace_chunk *chunk);

#endif
