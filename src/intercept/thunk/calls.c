#include "intercept/thunk/calls.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "base/thread.h"
#include "model/operations.h"
#include "model/thunk_call.h"
#include "model/trace.h"
#include "thunk_functions.h"

/* All arguments are of the integer class, so that every function can be called as one of words:
 * registers and stack places are passed on as they came. A function of fewer arguments takes no
 * notice of the others. */
typedef uint64_t narrow_fn(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
typedef uint64_t wide_fn(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                         uint64_t, uint64_t);

/* Writer: thunk_next_set (release), before the function's wrapper is in any slot. Readers: that
 * wrapper (acquire). */
static _Atomic(void *) next_functions[THUNK_FUNCTION_COUNT];

void *thunk_next(int32_t function)
{
    return atomic_load_explicit(&next_functions[function], memory_order_acquire);
}

void thunk_next_set(int32_t function, void *next)
{
    atomic_store_explicit(&next_functions[function], next, memory_order_release);
}

bool thunk_function_is_wanted(int32_t function)
{
    return trace_set_load(TRACE_THUNK_API, function) != NULL;
}

int32_t thunk_function_find(const char *name)
{
    for (int32_t i = 0; i < THUNK_FUNCTION_COUNT; i++)
        if (strcmp(operation_name(TRACE_THUNK_API, i), name) == 0)
            return i;
    return -1;
}

/* NULL: nobody is told of this call. */
static inline const struct trace_set *listeners(uint32_t function)
{
    const struct trace_set *set = trace_set_load(TRACE_THUNK_API, (int32_t)function);
    return __builtin_expect(set != NULL, 0) && !thread_is_own_work() ? set : NULL;
}

/* Callers of a driver's library look at errno. */
static __attribute__((noinline)) uint64_t call_trace(const struct trace_set *set,
                                                     struct thunk_call *call, uint32_t function)
{
    struct trace_frame frame;
    wide_fn *next;
    void *pointer = thunk_next((int32_t)function);
    const uint64_t *a = call->arguments;
    memcpy(&next, &pointer, sizeof next);
    trace_api_enter(&frame, set, TRACE_THUNK_API, (int32_t)function, call);
    call->result = next(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8]);
    TRACE_CALL_MAY_BE_LEFT();
    int saved_errno = errno;
    trace_api_exit(&frame);
    errno = saved_errno;
    return call->result;
}

static __attribute__((noinline)) uint64_t call_narrow(uint64_t a, uint64_t b, uint64_t c,
                                                      uint64_t d, uint64_t e, uint64_t f,
                                                      uint32_t function)
{
    const struct trace_set *set = listeners(function);
    if (__builtin_expect(!set, 1)) {
        narrow_fn *next;
        void *pointer = thunk_next((int32_t)function);
        memcpy(&next, &pointer, sizeof next);
        return next(a, b, c, d, e, f);
    }
    struct thunk_call call = {.arguments = {a, b, c, d, e, f}};
    return call_trace(set, &call, function);
}

static __attribute__((noinline)) uint64_t call_wide(const uint64_t *arguments, uint32_t function)
{
    const struct trace_set *set = listeners(function);
    const uint64_t *a = arguments;
    if (__builtin_expect(!set, 1)) {
        wide_fn *next;
        void *pointer = thunk_next((int32_t)function);
        memcpy(&next, &pointer, sizeof next);
        return next(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8]);
    }
    struct thunk_call call = {.result = 0};
    memcpy(call.arguments, arguments, sizeof call.arguments);
    return call_trace(set, &call, function);
}

#define WRAP_NARROW(name, id)                                                                      \
    static uint64_t wrap_##name(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,        \
                                uint64_t f)                                                        \
    {                                                                                              \
        return call_narrow(a, b, c, d, e, f, id);                                                  \
    }
#define WRAP_WIDE(name, id)                                                                        \
    static uint64_t wrap_##name(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,        \
                                uint64_t f, uint64_t g, uint64_t h, uint64_t i)                    \
    {                                                                                              \
        const uint64_t words[THUNK_ARGUMENTS_MAX] = {a, b, c, d, e, f, g, h, i};                   \
        return call_wide(words, id);                                                               \
    }
THUNK_FUNCTIONS(WRAP_NARROW, WRAP_WIDE)

void *thunk_wrapper(int32_t function)
{
#define ROW(name, id) [id] = (void *)wrap_##name,
    static void *const wrappers[THUNK_FUNCTION_COUNT] = {THUNK_FUNCTIONS(ROW, ROW)};
    return wrappers[function];
}
