/* Interest that changes at any time, on any thread, of front ends whose interface knows no
 * contexts. */
#ifndef SESSION_FRONT_SUBSCRIPTIONS_H
#define SESSION_FRONT_SUBSCRIPTIONS_H

#include "model/trace.h"

/* How such a front end is told of API calls: trace_subscriber's `front`. The front end's own,
 * constant and there for good; sets of listeners are equal where it is the same one. */
struct subscription_front {
    /* Both ends of a call, instead of the public callback record: a third of the cost. `user_data`
     * lives from enter to exit and begins with 0; `data` is the subscriber's callback_data. NULL:
     * none. */
    void (*listener)(const struct trace_frame *frame, rocprofiler_user_data_t *user_data,
                     rocprofiler_callback_phase_t phase, void *data);
    bool wants_args; /* the listener reads the payload */
    /* The external id of records, asked on the calling thread when the call ends; NULL: as for
     * contexts. */
    uint64_t (*external_now)(void);
};

struct subscription;

/* Never freed. NULL: out of resources. Runtimes met before get wrappers for these domains now. */
struct subscription *subscription_create(uint64_t domain_bits);
/* The operations first .. first + count - 1 are wanted like that (its context members are filled
 * in); NULL: not any more. Calls in progress still end with what they began with. False: no
 * memory, or no such operations. */
bool subscription_want(struct subscription *subscription, enum trace_domain domain, int32_t first,
                       int32_t count, const struct trace_subscriber *what);
void subscription_pause(struct subscription *subscription, bool paused);
/* Returns when no other thread is inside of a listener with that data, or after `limit_ns`: one
 * that waits for the caller must not make it wait for ever. A listener that begins later sees what
 * the caller stored before. */
void subscription_calls_wait(const void *callback_data, uint64_t limit_ns);

#endif
