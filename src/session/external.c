/* External correlation ids: per thread and context a stack that tools push to. */
#include "session/internal.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of one (thread, context). `top` and `depth` are read by the hot path of the owner (and, for the
 * main thread's, by everybody) without the lock: relaxed, each value is valid by itself. */
struct external_stack {
    _Atomic uint64_t top;
    _Atomic uint32_t depth;
    uint32_t capacity;
    uint64_t *values; /* external_lock */
};

struct external_table {
    struct external_table *next; /* immutable once listed */
    uint32_t tid;                /* external_lock */
    struct external_stack stacks[SESSION_CONTEXTS_MAX];
};

_Atomic bool external_in_use;
static pthread_mutex_t external_lock = PTHREAD_MUTEX_INITIALIZER; /* leaf */
static struct external_table *tables;
/* Written once by the first push of the main thread (release). */
static _Atomic(struct external_table *) main_table;

void external_on_fork_prepare(void)
{
    pthread_mutex_lock(&external_lock);
}

void external_on_fork_parent(void)
{
    pthread_mutex_unlock(&external_lock);
}

/* Ids pushed in the parent were for its threads; the only one here has another id now. */
void external_on_fork_child(void)
{
    pthread_mutex_init(&external_lock, NULL);
    atomic_store(&main_table, NULL);
    if (thread_current)
        session_of(thread_current)->tid = 0; /* set up again at its next traced call */
}

static bool thread_lives(uint32_t tid)
{
    return syscall(SYS_tgkill, getpid(), (pid_t)tid, 0) == 0;
}

static struct external_table *table_find(uint32_t tid)
{
    for (struct external_table *t = tables; t; t = t->next)
        if (t->tid == tid)
            return t;
    return NULL;
}

static void table_clear(struct external_table *table)
{
    for (int i = 0; i < SESSION_CONTEXTS_MAX; i++)
        if (atomic_load_explicit(&table->stacks[i].depth, memory_order_relaxed))
            atomic_store_explicit(&table->stacks[i].depth, 0, memory_order_relaxed);
}

static struct external_table *table_reuse(uint32_t tid)
{
    for (struct external_table *t = tables; t; t = t->next) {
        if (thread_lives(t->tid))
            continue;
        table_clear(t);
        t->tid = tid;
        return t;
    }
    return NULL;
}

static struct external_table *table_new(uint32_t tid)
{
    struct external_table *table = calloc(1, sizeof *table);
    if (!table)
        return NULL;
    table->tid = tid;
    table->next = tables;
    tables = table;
    return table;
}

/* Under external_lock. */
static struct external_table *table_get(uint32_t tid)
{
    struct external_table *table = table_find(tid);
    if (!table)
        table = table_reuse(tid);
    if (!table)
        table = table_new(tid);
    if (!table)
        return NULL;
    if (tid == (uint32_t)getpid())
        atomic_store_explicit(&main_table, table, memory_order_release);
    struct thread *thread = thread_find(tid);
    if (thread)
        atomic_store_explicit(&session_of(thread)->external, table, memory_order_release);
    return table;
}

/* A thread's first traced call: somebody may have pushed for it already. */
void session_thread_setup(struct thread *thread)
{
    struct session_thread *self = session_of(thread);
    uint32_t tid = atomic_load_explicit(&thread->tid, memory_order_relaxed);
    if (atomic_load_explicit(&external_in_use, memory_order_acquire)) {
        pthread_mutex_lock(&external_lock);
        atomic_store_explicit(&self->external, table_find(tid), memory_order_release);
        pthread_mutex_unlock(&external_lock);
    }
    self->tid = tid;
}

static bool stack_top(struct external_table *table, uint32_t index, rocprofiler_user_data_t *value)
{
    if (!table || atomic_load_explicit(&table->stacks[index].depth, memory_order_relaxed) == 0)
        return false;
    value->value = atomic_load_explicit(&table->stacks[index].top, memory_order_relaxed);
    return true;
}

rocprofiler_user_data_t external_pushed(struct session_thread *self, uint32_t context_index)
{
    rocprofiler_user_data_t value = {0};
    if (!stack_top(atomic_load_explicit(&self->external, memory_order_acquire), context_index,
                   &value))
        stack_top(atomic_load_explicit(&main_table, memory_order_acquire), context_index, &value);
    return value;
}

rocprofiler_user_data_t external_resolve(struct session_thread *self,
                                         const struct trace_subscriber *s, enum trace_domain domain,
                                         int32_t operation, uint64_t internal)
{
    rocprofiler_user_data_t value = {0};
    if (s->request &&
        s->request(self->tid, s->context,
                   (rocprofiler_external_correlation_id_request_kind_t)domains[domain].request_kind,
                   operation, internal, &value, s->request_data) == 0)
        return value;
    return external_pushed(self, s->context_index);
}

static bool stack_push(struct external_stack *stack, uint64_t value)
{
    uint32_t depth = atomic_load_explicit(&stack->depth, memory_order_relaxed);
    if (depth == stack->capacity) {
        uint32_t capacity = depth ? 2 * depth : 8;
        uint64_t *values = realloc(stack->values, capacity * sizeof *values);
        if (!values)
            return false;
        stack->values = values;
        stack->capacity = capacity;
    }
    stack->values[depth] = value;
    atomic_store_explicit(&stack->top, value, memory_order_relaxed);
    atomic_store_explicit(&stack->depth, depth + 1, memory_order_relaxed);
    return true;
}

static rocprofiler_status_t arguments_check(rocprofiler_context_id_t id,
                                            rocprofiler_thread_id_t tid, struct context **context)
{
    *context = context_find(id);
    if (!*context)
        return ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
    if (tid == 0 || tid > INT32_MAX || !thread_lives((uint32_t)tid))
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    return ROCPROFILER_STATUS_SUCCESS;
}

rocprofiler_status_t external_push(rocprofiler_context_id_t id, rocprofiler_thread_id_t tid,
                                   rocprofiler_user_data_t value)
{
    struct context *context;
    rocprofiler_status_t status = arguments_check(id, tid, &context);
    if (status != ROCPROFILER_STATUS_SUCCESS)
        return status;
    pthread_mutex_lock(&external_lock);
    struct external_table *table = table_get((uint32_t)tid);
    bool pushed = table && stack_push(&table->stacks[context->index], value.value);
    pthread_mutex_unlock(&external_lock);
    atomic_store_explicit(&external_in_use, true, memory_order_release);
    return pushed ? ROCPROFILER_STATUS_SUCCESS : ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
}

static uint64_t stack_pop(struct external_stack *stack)
{
    uint32_t depth = atomic_load_explicit(&stack->depth, memory_order_relaxed);
    if (depth == 0)
        return 0;
    uint64_t value = stack->values[depth - 1];
    if (depth > 1)
        atomic_store_explicit(&stack->top, stack->values[depth - 2], memory_order_relaxed);
    atomic_store_explicit(&stack->depth, depth - 1, memory_order_relaxed);
    return value;
}

rocprofiler_status_t external_pop(rocprofiler_context_id_t id, rocprofiler_thread_id_t tid,
                                  rocprofiler_user_data_t *value)
{
    if (value)
        value->value = 0;
    struct context *context;
    rocprofiler_status_t status = arguments_check(id, tid, &context);
    if (status != ROCPROFILER_STATUS_SUCCESS)
        return status;
    pthread_mutex_lock(&external_lock);
    struct external_table *table = table_find((uint32_t)tid);
    uint64_t popped = table ? stack_pop(&table->stacks[context->index]) : 0;
    pthread_mutex_unlock(&external_lock);
    if (value)
        value->value = popped;
    return ROCPROFILER_STATUS_SUCCESS;
}
