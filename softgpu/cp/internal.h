/*
 * The command processor's own structures, shared by cp.c (thread and life cycle), events.c,
 * queue.c, aql.c, pm4.c and sdma.c. Everything here belongs to the CP thread unless a field says
 * otherwise.
 */
#ifndef CP_INTERNAL_H
#define CP_INTERNAL_H

#include <hsa/amd_hsa_queue.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cp/access.h"
#include "cp/cp.h"
#include "cp/events.h"
#include "cp/scratch.h"
#include "cp/timeline.h"
#include "perf/perf.h"
#include "wave/dispatch.h"

/* What became of a queue in its turn. */
enum step {
    STEP_IDLE,    /* nothing in the ring */
    STEP_WAIT,    /* waits for its own dispatches: their end wakes the CP */
    STEP_BLOCKED, /* waits for memory that anybody may write: poll it */
    STEP_MORE,    /* worked, and has more to do */
    STEP_SLICE,   /* worked on a part of a packet: its turn ends, and it has more to do */
    STEP_ERROR    /* cp_queue.error says why */
};

/* Bits of queue_inactive_signal, as the runtimes decode them. */
enum queue_error_code {
    QUEUE_ERROR_DIMENSIONS = 0x2,      /* incompatible arguments */
    QUEUE_ERROR_GROUP_MEMORY = 0x4,    /* invalid allocation */
    QUEUE_ERROR_CODE_OBJECT = 0x8,     /* invalid code object */
    QUEUE_ERROR_OTHER = 0x10,          /* no meaning of its own: generic error */
    QUEUE_ERROR_PACKET = 0x20,         /* invalid packet format */
    QUEUE_ERROR_GROUP_SIZE = 0x40,     /* invalid argument */
    QUEUE_ERROR_REGISTERS = 0x80,      /* out of registers */
    QUEUE_ERROR_VENDOR_PACKET = 0x100, /* invalid packet format */
    QUEUE_ERROR_APERTURE = 0x20000000,
    QUEUE_ERROR_ILLEGAL_INSTRUCTION = 0x40000000,
    QUEUE_ERROR_TRAP = 0x80000000u
};

/* A queue that stops: what the runtime is told, and what the person is told. Filled inside the
 * read section, raised by queue_fail() outside. */
struct queue_error {
    uint32_t code; /* 0: memory fault, reported through the driver */
    uint64_t fault_va;
    uint32_t fault_kind; /* VM_READ, VM_WRITE or VM_EXEC */
    char text[256];
};

/* One dispatch in flight. Written by the CP before engine_submit(), by done() until `state` says
 * so, and by the CP afterwards. */
enum slot_state {
    SLOT_RUNNING,
    SLOT_HELD /* ended; its time has not come */,
    SLOT_DONE,
    SLOT_FAULT
};
struct slot {
    /* Writer: done() (release). Reader: the CP (acquire), which then reads `result`. A slot that is
     * HELD is the CP's from then on. */
    _Atomic uint32_t state;
    struct cp_queue *queue;
    hsa_signal_t completion;
    bool profiled;                 /* the completion signal gets time stamps */
    struct dispatch_result result; /* once `state` is not SLOT_RUNNING */
};

enum { PM4_LEVELS_MAX = 4 };
struct pm4_stream {
    struct {
        uint64_t va;
        uint32_t dwords_left;
        uint32_t pred_dwords_left; /* of PRED_EXEC: until then pred_mask applies */
        uint32_t pred_mask;
    } level[PM4_LEVELS_MAX];
    uint32_t depth;         /* 0: no stream */
    uint64_t atomic_result; /* of the last ATOMIC_MEM: COPY_DATA can read it */
};

struct sdma_state {
    uint64_t read_bytes; /* position in the ring, monotonic */
    uint64_t progress;   /* bytes or rows done of the packet at read_bytes */
};

enum { AQL_PACKET_BYTES = 64 };
/* Vendor packet of format 1: one INDIRECT_BUFFER command. */
struct pm4_ib_packet {
    uint16_t header, vendor_format;
    uint32_t ib_jump[4];
    uint32_t dwords_remaining;
    uint32_t reserved[8];
    hsa_signal_t completion_signal;
};
_Static_assert(sizeof(struct pm4_ib_packet) == AQL_PACKET_BYTES, "one ring slot");

union aql_packet {
    uint16_t header;
    hsa_kernel_dispatch_packet_t dispatch;
    hsa_barrier_and_packet_t barrier;
    hsa_amd_barrier_value_packet_t barrier_value;
    struct pm4_ib_packet pm4;
};

/* Where the queue's memory is, while the page table is what it was: `generation`. NULL: it is
 * looked up for each access, which may fault. */
struct ring_places {
    uint64_t generation; /* 0: never */
    uint8_t *ring;       /* all of it */
    _Atomic uint64_t *read_index;
    _Atomic uint32_t *properties;
};

enum { SLOTS_MAX = 256 };
struct cp_queue {
    struct cp_queue *next;
    struct cp_device *device;
    struct cp_queue_config config;
    bool failed;
    bool
        dead; /* under completion_lock: a late dispatch_done() must leave the host's memory alone */
    bool may_be_reported; /* dispatches were aborted, of which one may have ended just before */
    struct queue_error error;

    /* AQL: packets [retire, fetch) were taken from the ring and are in flight. */
    uint64_t fetch, retire;
    uint64_t released; /* packets before it have their slots given back, not later than `retire` */
    struct ring_places places;
    uint32_t packet_count; /* power of two */
    uint32_t window;       /* most packets in flight */
    bool profiled;         /* queue_properties asks for time stamps; read once a packet */
    bool is_counted;       /* COMPUTE_PERFCOUNT_ENABLE: a queue has its own, which begins with 0 */
    /* Writers: the CP (+1 before submit), done() (-1, release). Reader: the CP (acquire). */
    _Atomic uint32_t running;
    enum scratch_state scratch;  /* private memory: how far the exchange with the runtime is */
    uint64_t packet_begin_ticks; /* of the packet at `fetch`, once it started; 0: not yet */
    bool packet_waited;          /* it could not be done at once */
    bool is_modelled;            /* its times are: CROCGPU_TIME */
    struct timeline timeline;    /* while they are */
    struct pm4_stream pm4;
    struct sdma_state sdma;
    struct slot slot[SLOTS_MAX];
};

enum { RAISED_MAX = 512, UNKNOWN_REGISTERS_MAX = 32 };

struct cp_device {
    struct cp *cp;            /* who runs it; only cp.c looks inside */
    struct cp_events *events; /* the same one's */
    uint32_t gpu_id;
    const struct gpu_model *model;
    struct vm *vm;
    struct perf *perf;
    struct engine *engine;
    struct access access; /* of the CP thread */
    struct cp_queue *queues;
    /* Queues that were destroyed while something ran on them, kept until the engine is gone: a
     * dispatch may have ended just before the abort, and its report be still on the way on a pool
     * thread. */
    struct cp_queue *graveyard;
    struct cp_device *next;

    uint32_t unknown[UNKNOWN_REGISTERS_MAX]; /* registers already complained about */
    uint32_t unknown_count;

    /* Events to raise and not yet raised, because we are inside a read section, or because the next
     * packet may raise the same. CP thread. */
    uint32_t raised[RAISED_MAX];
    uint32_t raised_count;
    uint64_t raised_since_ns; /* how long the first has waited outside of it; 0: not at all */

    /* Completions come from pool threads too: this reader is theirs, one at a time. */
    pthread_mutex_t completion_lock;
    struct access completion_access; /* under completion_lock */
    _Atomic uint32_t in_flight; /* dispatches on the engine; CP and done() write, relaxed: a hint */
};

/* signal.c */
struct signal_event {
    uint32_t event_id; /* 0: nobody waits in the kernel */
};
struct signal_times {
    uint64_t begin_ticks, end_ticks;
    uint64_t model_cycles; /* of a kernel */
};
/* Time stamps, if any, then the decrement; false is a memory fault. */
bool signal_complete(struct access *access, hsa_signal_t signal, const struct signal_times *times,
                     struct signal_event *event);
bool signal_load(struct access *access, hsa_signal_t signal, int64_t *value);
/* When what completed it ended; 0: it did not say so, or nothing has. */
bool signal_end_load(struct access *access, hsa_signal_t signal, uint64_t *end_ticks);
bool signal_set_bits(struct access *access, hsa_signal_t signal, uint64_t bits,
                     struct signal_event *event);

/* queue.c */
/* The amd_queue_t around read_dispatch_id: the driver is told only the pointers. */
static inline uint64_t queue_amd_va(const struct cp_queue *queue)
{
    return queue->config.read_pointer_va - offsetof(amd_queue_t, read_dispatch_id);
}
struct cp_queue *queue_create(struct cp_device *device, const struct cp_queue_config *config);
void queue_destroy(struct cp_queue *queue);
void queues_bury(struct cp_device *device); /* after the engine is gone */
/* Remembers why the queue stops; returns STEP_ERROR. */
__attribute__((format(printf, 3, 4))) enum step queue_error(struct cp_queue *queue, uint32_t code,
                                                            const char *format, ...);
enum step queue_fault(struct cp_queue *queue, const struct access *access, const char *what);
/* Stops the queue and tells everybody. Outside a read section. */
void queue_fail(struct cp_queue *queue);
void queue_raise(struct cp_queue *queue, uint32_t event_id);
/* Inside a read section: bits for the runtime, which the queue then waits for: STEP_BLOCKED. */
enum step queue_tell(struct cp_queue *queue, uint64_t bits);

/* ring.c: inside a read section. */
uint64_t ring_packet_va(const struct cp_queue *queue, uint64_t index);
/* Copies the packet at `fetch`. STEP_IDLE: there is none yet. STEP_MORE: *packet is valid. */
enum step ring_take(struct cp_queue *queue, union aql_packet *packet);
/* Slots of packets up to `retire` go back to the host; false is a memory fault. */
bool ring_release(struct cp_queue *queue);
/* What the queue wants now; STEP_MORE. */
enum step ring_properties_read(struct cp_queue *queue);

/* record.c: what the parent had not written yet is for it to write. */
void pm4_record_after_fork_child(void);

/* pm4_stream.c */
void pm4_start(struct pm4_stream *stream, uint64_t va, uint32_t dwords);

/* aql.c, pm4.c, sdma.c: one turn, inside a read section. */
enum step aql_step(struct cp_queue *queue);
enum step sdma_step(struct cp_queue *queue);
/* STEP_IDLE: the stream ended. */
enum step pm4_step(struct cp_queue *queue);

#endif
