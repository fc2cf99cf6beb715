/*
 * Why launches have fewer passes than were asked for: each reason is said once, with the first
 * kernel that it befell, and how many launches there were of each is said at the end.
 *
 * Internal to this folder.
 */
#ifndef INTERCEPT_HSA_REPLAY_REASONS_H
#define INTERCEPT_HSA_REPLAY_REASONS_H

#include <stddef.h>

#include "intercept/hsa/replay_memory.h"

/* Those of replay_memory.h stand behind them. */
#define REPLAY_REASONS(X)                                                                          \
    X(COOPERATIVE, "its queue is cooperative")                                                     \
    X(UNWATCHED, "its memory is not watched under this runtime")                                   \
    X(TOOL, "a tool launched it inside of a callback")                                             \
    X(BUSY, "the device does not come to rest")                                                    \
    X(NO_QUEUE, "the runtime gives no queue for it")                                               \
    X(LATE, "a pass takes long, or waits for others: CROCPROF_REPLAY_LIMIT_MS")                    \
    X(FAILED, "the device refused it")

enum replay_reason {
    REPLAY_REASON_NONE,
#define X(name, text) REPLAY_REASON_##name,
    REPLAY_REASONS(X)
#undef X
        REPLAY_REASON_MEMORY,
    REPLAY_REASON_COUNT = REPLAY_REASON_MEMORY + REPLAY_STATUS_COUNT
};

/* A launch of which several passes were wanted is over, on any thread; NONE: it had them. `kernel`:
 * its name, which may be NULL. */
void replay_reason_note(enum replay_reason reason, const char *kernel, uint64_t passes);

/* "N of M launches ... : WHY (N); WHY (N)" about what was noted since it was told last. False: all
 * had as many as were asked for. The text is cut to its size. */
bool replay_reasons_text(char *text, size_t size);
/* As a warning. */
void replay_reasons_tell(void);

#endif
