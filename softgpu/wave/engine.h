/* The engine's own state; only engine.c, choice.c, pool.c, record.c, spare.c, retire.c and
 * services.c look inside. */
#ifndef WAVE_ENGINE_H
#define WAVE_ENGINE_H

#include <pthread.h>
#include <stdatomic.h>

#include "wave/group.h"
#include "wave/series.h"

/* BATCH_MAX: groups that a thread takes at once, at most (pool.c). LOGGED: where groups keep logs
 * of their accesses until those before them have ended, which may be long. */
enum { BATCH_MAX = 480, RETIRE_WINDOW_MAX = 16384, RETIRE_WINDOW_LOGGED_MAX = 4096 };
enum { FREE_GROUPS_MAX = 64, POOL_THREADS_MAX = 64 };

/* engine.c: threads that run groups where so many CPUs are there and nobody says how many. */
int engine_threads_for(int cpus);

/* A finished group until all before it have retired too. */
struct finished_group {
    /* Groups behind it that a record would say the same of, but for where they ran. They have none:
     * what a thread writes here another one reads, which costs more than a short group. */
    uint32_t repeats;
    /* Its record would be the last one's before it, but for where it ran and its blocks, which are
     * all that it has. */
    bool is_like;
    /* Once retired, their memory is for the next group's here: where the record's group goes on
     * logging. */
    struct block_log blocks;
    struct perf_group record;
    struct access_log accesses;
    struct step_log steps;
    struct perf_line_access *kept; /* likewise of accesses */
    uint64_t kept_capacity;        /* entries */
};

struct dispatch {
    struct dispatch *next; /* engine->dispatches */
    struct engine *engine;
    struct dispatch_request request;
    struct launch launch;
    struct dispatch_result result;
    uint64_t sequence;
    /* All under engine->lock. */
    uint64_t group_total, group_next, group_retired;
    uint32_t in_flight; /* groups that a thread has taken and that have not ended */
    uint32_t batch;     /* groups that a thread takes at once (pool.c) */
    bool failed, aborted, begun;
    bool retiring;                   /* a thread reads `finished` without the lock: it must stay */
    struct finished_group *finished; /* ring of `window` */
    /* Likewise: how many groups from this one on are recorded, and to be retired; 0 elsewhere. */
    uint16_t *ready;
    uint32_t window;   /* most groups between the oldest that lives and the newest */
    uint32_t capacity; /* slots there are */
};

/* Where the code of a kernel begins, in a table of pages. */
struct code_entry {
    uint64_t va, generation, code_va;
    const struct inst *code, *pc; /* pc NULL: nothing is known */
};

/* One per thread that runs groups: pool threads, and one shared by helpers. */
struct worker {
    struct engine *engine;
    pthread_t thread;
    struct vm_reader reader;
    struct code_entry entry; /* of the kernel that it ran last */
    bool last_was_new;       /* alternates between new and parked groups */
};

struct engine {
    const struct gpu_model *model;
    struct vm *vm;
    struct perf *perf;
    struct code *code;
    uint64_t hot_instructions; /* until code is translated */
    struct gws gws;
    pthread_mutex_t lock;
    pthread_cond_t work;            /* a pool thread may find something to run */
    pthread_cond_t left;            /* a group came off its thread, or nobody retires any more */
    uint32_t left_waiting;          /* threads that wait for it */
    struct vm_reader submit_reader; /* of the one thread that submits (dispatch.h) */
    struct dispatch *dispatches;    /* oldest first */
    struct dispatch *rotor;         /* next to be given a new group */
    struct workgroup *parked_head, **parked_tail;
    struct workgroup *free_groups;
    struct series_count in_series; /* of all groups so far: tests ask whether there are any */
    uint32_t free_count, resident, resident_extra, slices_without_end;
    uint32_t resident_waves; /* of the groups that are resident */
    /* One that has ended, for the next. Writers: who submits and who ends (exchange, acquire and
     * release). */
    _Atomic(struct dispatch *) spare;
    /* One that has ended, and whose groups have not retired: nobody else knows of it any more.
     * Writers: who helps (release), who settles (exchange, acquire). */
    _Atomic(struct dispatch *) late;
    uint64_t sequence;
    atomic_uint_fast64_t sums_ids; /* given to records: see perf_group; relaxed, only unique */
    bool stopping, helper_seen;
    /* One retiring thread at a time; under lock. Who finds it set goes its way: that thread looks
     * again for groups to retire before it gives it back (retire.c). */
    bool retire_busy;
    /* Set while a thread is inside engine_help(). Acquire on entry, release on exit: whatever the
     * last helper did to `helper` is seen by the next. */
    atomic_flag helper_busy;
    uint32_t idle_threads;
    uint32_t executing,
        execute_limit; /* threads inside a slice, helper included; CROCGPU_THREADS */
    int thread_count;
    struct worker helper;
    struct worker workers[POOL_THREADS_MAX];
};

/* Both under lock. Mostly nobody waits, and a small kernel would tell so twice. */
static inline void left_wait(struct engine *engine)
{
    engine->left_waiting++;
    pthread_cond_wait(&engine->left, &engine->lock);
    engine->left_waiting--;
}
static inline void left_tell(struct engine *engine)
{
    if (engine->left_waiting > 0)
        pthread_cond_broadcast(&engine->left);
}

/* pool.c */
int pool_start(struct engine *engine, int threads);
void pool_stop(struct engine *engine);
bool worker_turn(struct worker *worker); /* one slice of one group; false: nothing runnable */

/* choice.c; all but the first under lock */
/* Groups of the dispatch that the whole device holds. */
uint32_t groups_resident_max(const struct engine *engine, const struct dispatch *dispatch);
struct dispatch *dispatch_with_new_group(struct engine *engine); /* NULL: none may start one */
/* How many groups of the dispatch, of which one may start, a thread takes at once. */
uint64_t batch_size(const struct engine *engine, const struct dispatch *dispatch);
struct dispatch *ended_dispatch(struct engine *engine); /* NULL: none */
/* At a slice's end. A thread that found all execution slots taken sleeps: it is woken when there is
 * one again, beside that of the caller if it `returns` for more. */
void slot_leave(struct engine *engine, bool returns);

/* spare.c; the first two under lock: a group of the dispatch that may run, and one that runs no
 * longer. */
struct workgroup *group_take(struct engine *engine,
                             struct dispatch *dispatch); /* NULL: out of memory */
void group_discard(struct engine *engine, struct workgroup *group);
void groups_free(struct engine *engine);
struct dispatch *dispatch_take(struct engine *engine); /* NULL: out of memory */
void dispatch_give(struct dispatch *dispatch);         /* what it still has goes */
void dispatches_free(struct engine *engine);           /* also those that have not ended */
void finished_free(struct dispatch *dispatch);         /* the ring, and what is kept there */

/* record.c */
/* What has become of the group, which has ended, for its retirement. By its thread, without lock.
 * `follows`: the group before ended in the same place, and both can retire at once. Returns how
 * long it was, in cycles of issue. */
uint64_t group_record(struct engine *engine, struct workgroup *group, bool follows);
/* The same of one whose waves have done what the one before in its place did (group->executed), but
 * which has a record of its own. */
void group_record_known(struct engine *engine, struct workgroup *group);
/* Likewise of one that did what the last group with a record did, of its batch, but for its blocks,
 * and that nobody looks at. */
void group_record_like(struct workgroup *group);
/* Where the record's group ran, by its number. */
void record_place(struct perf_group *record, const struct launch *launch,
                  const struct gpu_model *model);

/* retire.c */
/* Under lock: so many groups from `first` on, recorded, can retire. */
void groups_ended(struct dispatch *dispatch, uint64_t first, uint64_t count);
/* Under lock, which it gives back: retires what can be, and ends what has nothing left. */
void groups_retire(struct engine *engine);
/* Under lock: whether the dispatch has come to its end, and may retire behind it. */
bool dispatch_may_be_late(const struct engine *engine, const struct dispatch *dispatch);
/* Under lock, which it gives back: ends it. Its groups retire when engine_settle() is called. */
void dispatch_end_early(struct engine *engine, struct dispatch *dispatch);
/* Ends the dispatch when nothing of it is left; calls done. Returns whether it did. */
bool dispatch_try_end(struct engine *engine, struct dispatch *dispatch);
void dispatch_unlink(struct engine *engine, struct dispatch *dispatch); /* under lock */

#endif
