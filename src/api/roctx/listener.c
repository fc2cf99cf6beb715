#include "listener.h"

#include <roctracer/ext/prof_protocol.h>
#include <roctracer/roctracer_roctx.h>

_Static_assert((int)LISTENER_MARK == (int)ROCTX_API_ID_roctxMarkA &&
                   (int)LISTENER_PUSH == (int)ROCTX_API_ID_roctxRangePushA &&
                   (int)LISTENER_POP == (int)ROCTX_API_ID_roctxRangePop &&
                   (int)LISTENER_START == (int)ROCTX_API_ID_roctxRangeStartA &&
                   (int)LISTENER_STOP == (int)ROCTX_API_ID_roctxRangeStop,
               "the operations are an interface");

_Atomic(markers_listener) markers_listener_now; /* writers and readers: see listener.h */

void markers_listener_set(markers_listener listener)
{
    atomic_store_explicit(&markers_listener_now, listener, memory_order_release);
    if (listener)
        atomic_fetch_or_explicit(&markers_state, MARKERS_HEARD, memory_order_release);
    else
        atomic_fetch_and_explicit(&markers_state, ~(unsigned)MARKERS_HEARD, memory_order_release);
}

/* Every member of the union begins with the message; where there is an id, it follows. */
__attribute__((cold, noinline)) void listener_call(markers_listener listener,
                                                   enum listener_operation operation,
                                                   const char *message, uint64_t id)
{
    roctx_api_data_t data = {0};
    data.args.message = message;
    data.args.id = id;
    listener(ACTIVITY_DOMAIN_ROCTX, operation, &data);
}
