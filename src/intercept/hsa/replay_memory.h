/*
 * The memory that a kernel may write, put back between the passes of a replay (decision 0024).
 *
 * Memory that only one device writes is saved and restored. What others may write as well, the
 * host or another device, is watched and never written by us: a pass that changed it was the last
 * one. So the program sees the effects of exactly one execution, whatever a pass does.
 *
 * Knows nothing of HSA: who takes a snapshot brings what copies. Internal to this folder.
 */
#ifndef INTERCEPT_HSA_REPLAY_MEMORY_H
#define INTERCEPT_HSA_REPLAY_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The host's own memory, which devices may reach; devices have other numbers. */
enum { REPLAY_HOST = 0 };

/* Any thread, when the program has got memory and before it can use it. False: no memory to note
 * it in, and from now on no snapshot is whole. */
bool replay_memory_add(uint64_t device, uintptr_t address, size_t bytes);
/* Others than its device may write it from now on. Unknown addresses are ignored. */
void replay_memory_share(uintptr_t address);
/* That device, or the host, may write it from now on. */
void replay_memory_reach(uintptr_t address, uint64_t device);
/* There is memory that is not known, or that others write unseen: no snapshot is whole any more. */
void replay_memory_unknown(void);
/* Any thread but one inside of a snapshot's copies, before the program gives memory back: waits for
 * copies of it that are under way. Snapshots go on without it: no kernel uses it any more. */
void replay_memory_remove(uintptr_t address);
/* The same, for all regions that begin there. */
void replay_memory_remove_range(uintptr_t address, size_t bytes);

struct replay_copies {
    /* Host memory that device and host reach, and back. NULL: there is none. */
    void *(*get)(void *data, size_t bytes);
    void (*put)(void *data, void *memory);
    /* From a device's memory to such memory, and from there to the device's; has ended when it
     * returns. False: nothing was written. */
    bool (*save)(void *data, void *to, const void *from, size_t bytes);
    bool (*restore)(void *data, void *to, const void *from, size_t bytes);
    void *data;
};

/* The row of a status is its sentence (replay_status_text). */
enum replay_status {
    REPLAY_FINE,
    REPLAY_NO_ROOM,    /* copies would be larger than they may be, or no memory for them */
    REPLAY_NOT_WHOLE,  /* memory is in use that is not known */
    REPLAY_UNREADABLE, /* memory could not be read */
    REPLAY_CHANGED,    /* memory was written that others use as well */
    REPLAY_FREED,      /* memory was given back meanwhile */
    REPLAY_BROKEN,     /* some memory was restored, and some could not be */
    REPLAY_STATUS_COUNT
};

const char *replay_status_text(enum replay_status status);

struct replay_snapshot;

/* Saves what kernels of the device may write, nothing of which runs, in at most `bytes_max` of
 * copies. NULL: `status` says why not. */
struct replay_snapshot *replay_snapshot_take(uint64_t device, size_t bytes_max,
                                             const struct replay_copies *copies,
                                             enum replay_status *status);

/* After a pass. FINE: memory is as it was when the snapshot was taken, another pass may follow.
 * BROKEN: the device does not do what it is told. Any other: nothing was written, and that pass
 * must have been the last. Once it was not FINE, it never is again. */
enum replay_status replay_snapshot_restore(struct replay_snapshot *snapshot);

void replay_snapshot_free(struct replay_snapshot *snapshot);

#endif
