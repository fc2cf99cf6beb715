#include "intercept/hsa/replay_reasons.h"

#include <stdatomic.h>
#include <stdio.h>

#include "base/log.h"

/* Launches by reason, and those that were told already. Writers: launching threads, and who tells;
 * readers: who tells (relaxed: counts, nothing is ordered by them). */
static _Atomic uint64_t noted[REPLAY_REASON_COUNT], told[REPLAY_REASON_COUNT];

static const char *reason_text(enum replay_reason reason)
{
    static const char *const texts[] = {"",
#define X(name, text) text,
                                        REPLAY_REASONS(X)
#undef X
    };
    return reason < REPLAY_REASON_MEMORY
               ? texts[reason]
               : replay_status_text((enum replay_status)(reason - REPLAY_REASON_MEMORY));
}

static void first_tell(enum replay_reason reason, const char *kernel, uint64_t passes)
{
    char times[32] = "once"; /* without passes it ran as it does otherwise */
    if (passes > 1)
        snprintf(times, sizeof times, "%llu times", (unsigned long long)passes);
    log_warning("intercept", "%s ran %s, not as often as asked for, and others may as well: %s",
                kernel && *kernel ? kernel : "a kernel", times, reason_text(reason));
}

void replay_reason_note(enum replay_reason reason, const char *kernel, uint64_t passes)
{
    static _Atomic bool is_said[REPLAY_REASON_COUNT]; /* writers: any (exchange, relaxed) */
    atomic_fetch_add_explicit(&noted[reason], 1, memory_order_relaxed);
    if (reason != REPLAY_REASON_NONE &&
        !atomic_exchange_explicit(&is_said[reason], true, memory_order_relaxed))
        first_tell(reason, kernel, passes);
}

/* Takes what is new of it. */
static uint64_t news_of(enum replay_reason reason)
{
    uint64_t now = atomic_load_explicit(&noted[reason], memory_order_relaxed);
    return now - atomic_exchange_explicit(&told[reason], now, memory_order_relaxed);
}

bool replay_reasons_text(char *text, size_t size)
{
    uint64_t news[REPLAY_REASON_COUNT], all = 0;
    for (int reason = 0; reason < REPLAY_REASON_COUNT; reason++)
        all += news[reason] = news_of((enum replay_reason)reason);
    uint64_t fewer = all - news[REPLAY_REASON_NONE];
    int used = snprintf(text, size, "%llu of %llu launches ran not as often as asked for",
                        (unsigned long long)fewer, (unsigned long long)all);
    const char *before = ":";
    for (int reason = 1; reason < REPLAY_REASON_COUNT; reason++) {
        if (news[reason] == 0 || used < 0 || (size_t)used >= size)
            continue;
        used += snprintf(text + used, size - (size_t)used, "%s %s (%llu)", before,
                         reason_text((enum replay_reason)reason), (unsigned long long)news[reason]);
        before = ";";
    }
    return fewer > 0;
}

void replay_reasons_tell(void)
{
    char text[1024];
    if (replay_reasons_text(text, sizeof text))
        log_warning("intercept", "%s", text);
}
