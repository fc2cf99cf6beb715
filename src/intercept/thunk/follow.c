#include "intercept/thunk/follow.h"

#include <stdatomic.h>

#include "base/log.h"
#include "intercept/thunk/calls.h"
#include "intercept/thunk/objects.h"
#include "model/operations.h"

static bool anything_is_wanted(void)
{
    int32_t count = operation_count(TRACE_THUNK_API);
    for (int32_t i = 0; i < count; i++)
        if (thunk_function_is_wanted(i))
            return true;
    return false;
}

/* Each is said once. Relaxed: only who says it. */
static bool is_first(_Atomic bool *said)
{
    return !atomic_exchange_explicit(said, true, memory_order_relaxed);
}

static void visit_report(const struct thunk_visit *visit)
{
    /* Writers: any (exchange, relaxed); only the first one says it. */
    static _Atomic bool builtin_said, refused_said, foreign_said;
    log_debug("intercept", "hsaKmt: %u imports, %u rerouted now", visit->import_count,
              visit->rerouted);
    if (visit->has_runtime && visit->import_count == 0 && is_first(&builtin_said))
        log_warning("intercept",
                    "this HSA runtime has the driver's library (libhsakmt) inside: its "
                    "calls (KFD_API) are not seen");
    if (visit->refused > 0 && is_first(&refused_said))
        log_warning("intercept",
                    "%u calls of libhsakmt are not seen: their pointers stand in memory "
                    "that cannot be written",
                    visit->refused);
    if (visit->foreign_count > 0 && is_first(&foreign_said))
        log_warning("intercept", "there are several copies of libhsakmt: calls of one are seen");
}

/* What is wanted just now, in every object that is loaded just now. */
static void follow(void)
{
    struct thunk_visit visit;
    if (!anything_is_wanted())
        return;
    if (thunk_objects_visit(&visit))
        visit_report(&visit);
    else
        log_error("intercept", "libhsakmt's callers cannot be visited: its calls are not seen");
}

const struct runtime_ops thunk_runtime_ops = {.follow = follow};
