/*
 * Kernel dispatches on one device: the command processor hands over a packet, work-groups run on
 * a pool of host threads, and a callback tells the end. Waves are resumable: the pool rotates over
 * work-groups of all active dispatches, so a kernel may spin on what another kernel will write.
 */
#ifndef WAVE_DISPATCH_H
#define WAVE_DISPATCH_H

#include <hsa/hsa.h>

#include "core/device.h"
#include "core/unit_mask.h"
#include "mem/vm.h"
#include "wave/wave.h"

struct engine; /* the wave engine of one device */
struct dispatch;
struct perf; /* perf/perf.h */

struct dispatch_result {
    enum fault_kind fault; /* FAULT_NONE: the kernel ended */
    uint64_t fault_va;
    uint64_t fault_pc_va;
    char mnemonic[48]; /* of the faulting instruction, "" when it could not be decoded */
    uint32_t raw[2];
    uint64_t begin_ticks, end_ticks; /* gpu_clock_ticks() of first wave start and last wave end, or
                                        as the request wants it */
    uint64_t model_cycles;           /* that it took by the counters' clock */
};

struct dispatch_request {
    hsa_kernel_dispatch_packet_t packet; /* a copy */
    uint64_t packet_va;                  /* where it lies in the ring */
    uint64_t amd_queue_va;               /* amd_queue_t of the queue */
    uint64_t dispatch_id;                /* packet index */
    uint32_t queue_id;
    bool is_counted;        /* the queue's COMPUTE_PERFCOUNT_ENABLE */
    bool gws;               /* the queue was given global wave sync (cooperative launches) */
    struct unit_mask units; /* compute units that the queue may use */
    bool is_untimed;        /* nobody reads the result's times and cycles: they may be 0, or less */
    uint64_t begin_ticks;   /* it begins then and takes its modelled time; 0: as the wall has it */
    uint32_t scratch_waves; /* of private memory: as many waves may run at once; 0: any number */
    /* Called once, from a pool thread or from inside engine_help(), with no lock held. */
    void (*done)(void *arg, const struct dispatch_result *result);
    /* s_sendmsg(MSG_INTERRUPT) with the event number in M0; NULL: ignored. Called from inside an
     * execution slice: it must not wait for the engine or unmap memory. */
    void (*interrupt)(void *arg, uint32_t event_id);
    void *arg;
};

/* `threads`: host threads of the pool (0: one per CPU the process may use). */
int engine_create(const struct gpu_model *model, struct vm *vm, struct perf *perf, int threads,
                  struct engine **engine);
void engine_destroy(struct engine *engine);

/* Queues the dispatch; 0 or -errno (then `done` is not called). By one thread at a time, as
 * engine_code_invalidate(): the command processor's. */
int engine_submit(struct engine *engine, const struct dispatch_request *request);

/* Lets the calling thread work for the engine: runs at most one time slice of one work-group.
 * Returns false when there was nothing runnable. The command processor's thread uses it, so a
 * launch of a small kernel needs no hand-over to another thread. */
bool engine_help(struct engine *engine);

/* What a dispatch without times did goes to the counters behind its end, not before, if
 * engine_help() ended it: whoever waits need not wait for that. This hands over what is left. To be
 * called before counters are read or changed, and when there is time; by the thread that submits.
 */
void engine_settle(struct engine *engine);

/* Drops every dispatch of the queue (queue destroyed or in error), and waits until its waves left
 * the pool; `done` is called with fault FAULT_NONE for none of them. */
void engine_queue_abort(struct engine *engine, uint32_t queue_id);

/* The instruction caches were invalidated (ACQUIRE_MEM): code that changed is decoded again. The
 * first page of every dispatched kernel, and everything after a mapping changed, is checked anyway.
 */
void engine_code_invalidate(struct engine *engine);

/* fork(): the child owns no pool threads. */
void engine_after_fork_child(struct engine *engine);

#endif
