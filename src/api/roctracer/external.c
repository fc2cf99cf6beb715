/* External correlation ids: a stack per thread, looked at when a recorded call ends. */
#include "api/roctracer/internal.h"

#include <stdlib.h>

struct stack {
    uint32_t depth, capacity;
    uint64_t values[];
};

static __thread struct stack *stack;
static pthread_key_t stack_key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;

static void key_make(void)
{
    pthread_key_create(&stack_key, free);
}

uint64_t external_encode(activity_correlation_id_t id)
{
    return ~id;
}

uint64_t external_current(void)
{
    return stack && stack->depth ? external_encode(stack->values[stack->depth - 1]) : 0;
}

static bool stack_grow(void)
{
    uint32_t capacity = stack ? 2 * stack->capacity : 16;
    struct stack *larger = realloc(stack, sizeof *larger + capacity * sizeof larger->values[0]);
    if (!larger)
        return false;
    if (!stack)
        larger->depth = 0;
    larger->capacity = capacity;
    stack = larger;
    pthread_once(&key_once, key_make);
    pthread_setspecific(stack_key, stack);
    return true;
}

VERSIONS_4_0(roctracer_activity_push_external_correlation_id);
roctracer_status_t roctracer_activity_push_external_correlation_id(activity_correlation_id_t id)
{
    static _Atomic bool begun; /* relaxed: a thread that misses it only begins once more */
    if ((!stack || stack->depth == stack->capacity) && !stack_grow())
        return fail(ROCTRACER_STATUS_ERROR_MEMORY_ALLOCATION, "no memory for an external id");
    stack->values[stack->depth++] = id;
    if (!atomic_load_explicit(&begun, memory_order_relaxed)) {
        registry_externals_begin();
        atomic_store_explicit(&begun, true, memory_order_relaxed);
    }
    return ROCTRACER_STATUS_SUCCESS;
}

VERSIONS_4_0(roctracer_activity_pop_external_correlation_id);
roctracer_status_t
roctracer_activity_pop_external_correlation_id(activity_correlation_id_t *last_id)
{
    if (last_id)
        *last_id = 0;
    if (!stack || stack->depth == 0)
        return fail(ROCTRACER_STATUS_ERROR_MISMATCHED_EXTERNAL_CORRELATION_ID,
                    "an external id is popped that was not pushed");
    stack->depth--;
    if (last_id)
        *last_id = stack->values[stack->depth];
    return ROCTRACER_STATUS_SUCCESS;
}
