/* KFD_API: callbacks with kfd_api_data_t. */
#include "api/roctracer/internal.h"

#include <string.h>

#include "kfd_calls.inc"

_Static_assert((int)THUNK_FUNCTION_COUNT == (int)KFD_API_ID_NUMBER, "operations are ids");

#define ARGUMENT_SIZE(function, parameter, size)                                                   \
    _Static_assert(sizeof(((kfd_api_data_t *)0)->args.function.parameter) == (size), "as listed");
THUNK_PARAMETERS(ARGUMENT_SIZE)

/* `codes` has two bits for the size of each argument; the arguments are put where C lays out the
 * members of a structure of them. */
static void arguments_unpack(void *to, const uint64_t *from, uint32_t function)
{
    static const uint32_t codes[] = {THUNK_SIZES};
    static const uint8_t sizes[] = {0, 1, 4, 8};
    size_t offset = 0;
    for (uint32_t code = codes[function]; code; code >>= 2, from++) {
        size_t size = sizes[code & 3];
        offset = (offset + size - 1) & ~(size - 1);
        memcpy((char *)to + offset, from, size); /* the low bytes: both targets are little-endian */
        offset += size;
    }
}
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "of a word, the first bytes are taken");

void kfd_call_listener(const struct trace_frame *frame, rocprofiler_user_data_t *user_data,
                       rocprofiler_callback_phase_t phase, void *data)
{
    const struct registration *registration = data;
    struct thunk_call *from = frame->payload;
    uint32_t id = (uint32_t)frame->operation;
    bool leaving = phase == ROCPROFILER_CALLBACK_PHASE_EXIT;
    /* A tool gets no exit without an entry, even if its callback was enabled again meanwhile. */
    if ((leaving && from->front != registration) ||
        !registration_is_current(ACTIVITY_DOMAIN_KFD_API, id, registration))
        return;
    from->front = registration;
    kfd_api_data_t call;
    memset(&call, 0, sizeof call);
    call.correlation_id = frame->internal;
    call.phase = leaving ? ACTIVITY_API_PHASE_EXIT : ACTIVITY_API_PHASE_ENTER;
    if (leaving)
        call.HSAKMT_STATUS_retval = (HSAKMT_STATUS)from->result;
    arguments_unpack(&call.args, from->arguments, id);
    call.phase_data = &user_data->value;
    registration->callback(ACTIVITY_DOMAIN_KFD_API, id, &call, registration->arg);
}
