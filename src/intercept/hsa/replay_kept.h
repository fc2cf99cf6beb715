/*
 * Memory for the copies of a snapshot, kept for the next one: getting it anew for each launch costs
 * several times what copying does. Given back when no kernel was repeated for a while, when the
 * host runs short of memory, and when its runtime goes.
 *
 * Knows nothing of HSA. Internal to this folder.
 */
#ifndef INTERCEPT_HSA_REPLAY_KEPT_H
#define INTERCEPT_HSA_REPLAY_KEPT_H

#include "intercept/hsa/replay_memory.h"

/* One block, which is the caller's until it is put; its content is whatever it is. Any thread.
 * NULL: there is no memory. `copies` must do its work for as long as the block is kept. */
void *replay_kept_get(const struct replay_copies *copies, size_t bytes);
void replay_kept_put(void *memory);

/* Bytes of blocks that nobody has. */
size_t replay_kept_bytes(void);

/* Gives back blocks that nobody has. */
void replay_kept_release(void);
/* Blocks of that `data` whose runtime has gone, and their memory with it. */
void replay_kept_forget(const void *data);

#endif
