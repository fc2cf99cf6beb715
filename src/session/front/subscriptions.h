/* Interest that changes at any time, on any thread, of front ends whose interface knows no
 * contexts. */
#ifndef SESSION_FRONT_SUBSCRIPTIONS_H
#define SESSION_FRONT_SUBSCRIPTIONS_H

#include "model/trace.h"

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
