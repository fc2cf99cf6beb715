/* What a snapshot (replay_memory.h) copies by: the runtime's own copies. Internal to this folder.
 */
#ifndef INTERCEPT_HSA_REPLAY_COPIES_H
#define INTERCEPT_HSA_REPLAY_COPIES_H

#include "intercept/hsa/agents.h"
#include "intercept/hsa/replay_memory.h"

/* Between the host and that GPU, which must outlive their use. False: its runtime has none. */
bool replay_copies_of(const struct hsa_agent_entry *gpu, struct replay_copies *copies);

/* The runtime goes: memory that is kept for copies is given back while it still answers, or
 * forgotten. */
void replay_copies_end(const struct hsa_instance *runtime, bool answers);

#endif
