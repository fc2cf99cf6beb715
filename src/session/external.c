/* External correlation ids: per thread and context a stack that tools push to. */
#include "base/callback.h"
#include "session/internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What one thread has pushed for one context. */
struct external_stack {
    /* Writers: who pushes and pops, under the lock. Readers: the owner's hot path (and, for the
     * main thread's, everybody's) without it; relaxed, each value is valid by itself. */
    _Atomic uint64_t top;
    _Atomic uint32_t depth;
    uint32_t capacity;
    uint64_t *values; /* external_lock */
};

struct external_table {
    struct external_table *next; /* immutable once listed */
    /* 0: nobody's. Writers: under external_lock (release, after clearing). Readers: any; a thread
     * looks for its own table without the lock (acquire). */
    _Atomic uint32_t tid;
    struct external_stack stacks[SESSION_CONTEXTS_MAX];
};

static pthread_mutex_t external_lock = PTHREAD_MUTEX_INITIALIZER; /* leaf */
static _Atomic(struct external_table *) tables; /* grows only, under external_lock (release) */
/* The main thread's table; NULL: nobody has pushed for it. Writers: the first push for it and its
 * end (release), the child of a fork. Readers: the hot path of any thread (acquire). */
static _Atomic(struct external_table *) main_table;

void external_on_fork_prepare(void)
{
    pthread_mutex_lock(&external_lock);
}

void external_on_fork_parent(void)
{
    pthread_mutex_unlock(&external_lock);
}

/* On the thread that finishes in the place of another one: that one's id, else 0. */
static __thread uint32_t stands_for __attribute__((tls_model("initial-exec")));

/* Whose ids are meant when this thread names `tid`. */
static uint32_t pusher_of(rocprofiler_thread_id_t tid)
{
    return stands_for && tid == thread_id() ? stands_for : (uint32_t)tid;
}

static bool thread_lives(uint32_t tid)
{
    return syscall(SYS_tgkill, getpid(), (pid_t)tid, 0) == 0;
}

static struct external_table *first_table(void)
{
    return atomic_load_explicit(&tables, memory_order_acquire);
}

static uint32_t table_tid(const struct external_table *table)
{
    return atomic_load_explicit(&table->tid, memory_order_acquire);
}

static struct external_table *table_find(uint32_t tid)
{
    for (struct external_table *t = first_table(); t; t = t->next)
        if (table_tid(t) == tid)
            return t;
    return NULL;
}

/* ---- the table of a thread that has none: a dead thread's, or a new one */

struct table_choice {
    struct external_table *table; /* NULL: out of memory */
    bool is_new;
    uint32_t former_tid; /* of a listed one */
};

/* Asks the kernel and allocates, so no lock is held. */
static struct table_choice table_choose(void)
{
    for (struct external_table *t = first_table(); t; t = t->next) {
        uint32_t tid = table_tid(t);
        if (tid == 0 || !thread_lives(tid))
            return (struct table_choice){t, false, tid};
    }
    return (struct table_choice){calloc(1, sizeof(struct external_table)), true, 0};
}

static void table_clear(struct external_table *table)
{
    for (int i = 0; i < SESSION_CONTEXTS_MAX; i++)
        if (atomic_load_explicit(&table->stacks[i].depth, memory_order_relaxed))
            atomic_store_explicit(&table->stacks[i].depth, 0, memory_order_relaxed);
}

/* Ids pushed in the parent were for its threads, whose numbers may be those of threads here: a
 * thread that has ended gives its number away, and in a namespace of its own a child counts from 1
 * on. */
void external_on_fork_child(void)
{
    pthread_mutex_init(&external_lock, NULL);
    atomic_store_explicit(&main_table, NULL, memory_order_seq_cst);
    for (struct external_table *table = first_table(); table; table = table->next) {
        table_clear(table);
        atomic_store_explicit(&table->tid, 0, memory_order_release);
    }
    thread_ready =
        &thread_stranger; /* set up again at its next traced call; one that is open ends before */
    if (thread_current)
        session_of(thread_current)->tid = (uint64_t)syscall(SYS_gettid);
}

/* Under external_lock. False: somebody was faster, with the table or with the thread. */
static bool table_adopt(const struct table_choice *choice, uint32_t tid)
{
    struct external_table *table = choice->table;
    if (table_find(tid) || table_tid(table) != choice->former_tid)
        return false;
    table_clear(table);
    atomic_store_explicit(&table->tid, tid, memory_order_release);
    if (choice->is_new) {
        table->next = first_table();
        atomic_store_explicit(&tables, table, memory_order_release);
    }
    if (tid == (uint32_t)getpid())
        atomic_store_explicit(&main_table, table, memory_order_release);
    thread_fence_heavy(); /* pairs with external_on_thread_begin */
    struct thread *thread = thread_find(tid);
    if (thread)
        atomic_store_explicit(&session_of(thread)->external, table, memory_order_release);
    return true;
}

/* False: out of memory. */
static bool table_prepare(uint32_t tid)
{
    for (;;) {
        pthread_mutex_lock(&external_lock);
        bool there = table_find(tid) != NULL;
        pthread_mutex_unlock(&external_lock);
        if (there)
            return true;
        struct table_choice choice = table_choose();
        if (!choice.table)
            return false;
        pthread_mutex_lock(&external_lock);
        bool adopted = table_adopt(&choice, tid);
        pthread_mutex_unlock(&external_lock);
        if (adopted)
            return true;
        if (choice.is_new)
            free(choice.table);
    }
}

/* Somebody may have pushed for it already. It lists itself and looks for a table, who pushes lists
 * a table and looks for the thread: one of them sees the other. */
void external_on_thread_begin(struct thread *thread)
{
    uint32_t tid = atomic_load_explicit(&thread->tid, memory_order_relaxed);
    thread_fence_heavy();
    atomic_store_explicit(&session_of(thread)->external, table_find(tid), memory_order_release);
}

void external_stand_in(struct thread *self, uint32_t tid)
{
    if (!self || tid == 0)
        return;
    stands_for = tid;
    atomic_store_explicit(&session_of(self)->external, table_find(tid), memory_order_release);
}

/* Its number may soon be another thread's. */
void external_on_thread_exit(struct thread *thread)
{
    struct external_table *table =
        atomic_load_explicit(&session_of(thread)->external, memory_order_acquire);
    if (!table)
        return;
    pthread_mutex_lock(&external_lock);
    if (table_tid(table) == atomic_load_explicit(&thread->tid, memory_order_relaxed)) {
        table_clear(table);
        if (atomic_load_explicit(&main_table, memory_order_relaxed) == table)
            atomic_store_explicit(&main_table, NULL, memory_order_release);
        atomic_store_explicit(&table->tid, 0, memory_order_release);
    }
    pthread_mutex_unlock(&external_lock);
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
    rocprofiler_external_correlation_id_request_kind_t kind =
        (rocprofiler_external_correlation_id_request_kind_t)domains[domain].request_kind;
    int status = -1;
    if (s->request)
        CALLBACK(status = s->request(self->tid, s->context, kind, operation, internal, &value,
                                     s->request_data));
    return status == 0 ? value : external_pushed(self, s->context_index);
}

/* Under external_lock. False: its values are full. */
static bool stack_push(struct external_stack *stack, uint64_t value)
{
    uint32_t depth = atomic_load_explicit(&stack->depth, memory_order_relaxed);
    if (depth == stack->capacity)
        return false;
    stack->values[depth] = value;
    atomic_store_explicit(&stack->top, value, memory_order_relaxed);
    atomic_store_explicit(&stack->depth, depth + 1, memory_order_relaxed);
    return true;
}

/* Under external_lock. Returns the values that are to be freed after it. */
static uint64_t *stack_grow(struct external_stack *stack, uint64_t *values, uint32_t capacity)
{
    if (capacity <= stack->capacity)
        return values;
    uint64_t *former = stack->values;
    if (former)
        memcpy(values, former, stack->capacity * sizeof *values);
    stack->values = values;
    stack->capacity = capacity;
    return former;
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

/* Looks at the table twice where more memory is needed, and obtains that in between, without the
 * lock. */
static rocprofiler_status_t push(uint32_t tid, uint32_t index, uint64_t value)
{
    enum { CAPACITY_FIRST = 8 };
    uint64_t *values = NULL;
    for (uint32_t capacity = 0;;) {
        if (!table_prepare(tid))
            break;
        pthread_mutex_lock(&external_lock);
        struct external_table *table = table_find(tid); /* NULL: its thread died and it was taken */
        struct external_stack *stack = table ? &table->stacks[index] : NULL;
        if (stack && values)
            values = stack_grow(stack, values, capacity);
        bool pushed = !stack || stack_push(stack, value);
        capacity = !stack || stack->capacity == 0 ? CAPACITY_FIRST : 2 * stack->capacity;
        pthread_mutex_unlock(&external_lock);
        free(values);
        if (pushed)
            return ROCPROFILER_STATUS_SUCCESS;
        values = malloc(capacity * sizeof *values);
        if (!values)
            break;
    }
    return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
}

rocprofiler_status_t external_push(rocprofiler_context_id_t id, rocprofiler_thread_id_t tid,
                                   rocprofiler_user_data_t value)
{
    struct context *context;
    rocprofiler_status_t status = arguments_check(id, tid, &context);
    if (status != ROCPROFILER_STATUS_SUCCESS)
        return status;
    thread_self(); /* known from now on, so that its end is noticed */
    if (!atomic_load_explicit(&external_in_use, memory_order_acquire))
        sets_externals_begin();
    return push(pusher_of(tid), context->index, value.value);
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
    uint32_t pusher = pusher_of(tid);
    pthread_mutex_lock(&external_lock);
    struct external_table *table = table_find(pusher);
    uint64_t popped = table ? stack_pop(&table->stacks[context->index]) : 0;
    pthread_mutex_unlock(&external_lock);
    if (value)
        value->value = popped;
    return ROCPROFILER_STATUS_SUCCESS;
}
