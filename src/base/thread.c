#include "base/thread.h"

#include "base/own_thread.h"
#include "base/wait.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <unistd.h>

__thread struct thread *thread_current;
struct thread thread_stranger = {.session = {[0 ... THREAD_ROOM_SESSION_BYTES - 1] = 0xff}};
__thread struct thread *thread_ready = &thread_stranger;
__thread uint32_t thread_own_depth;
bool thread_fence_is_free;

/* Writers: thread_register (compare-exchange, release). Readers: walks (acquire). Only grows. */
static _Atomic(struct thread *) threads;
static _Atomic unsigned fallback_fence;
static pthread_key_t exit_key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int membarrier(int command)
{
    return (int)syscall(SYS_membarrier, command, 0, 0);
}

/* Writer: session, while it initialises (release). Readers: threads that end (acquire). */
static _Atomic(void (*)(struct thread *)) exit_hook;

void thread_exit_hook(void (*hook)(struct thread *thread))
{
    atomic_store_explicit(&exit_hook, hook, memory_order_release);
}

static void on_exit(void *block)
{
    struct thread *self = block;
    void (*hook)(struct thread *) = atomic_load_explicit(&exit_hook, memory_order_acquire);
    if (hook)
        hook(self);
    thread_current = NULL;
    atomic_signal_fence(memory_order_seq_cst); /* a handler in between must not set it up again */
    thread_ready = &thread_stranger;
    atomic_store_explicit(&self->busy, NULL, memory_order_release); /* if it was cancelled there */
    atomic_store_explicit(&self->tid, 0, memory_order_release);
    if (!thread_find((uint32_t)getpid()))
        own_thread_program_thread_ends();
}

/* The child has one thread; blocks of the others would look busy for ever. */
static void on_fork_child(void)
{
    struct thread *self = thread_current;
    for (struct thread *t = atomic_load_explicit(&threads, memory_order_seq_cst); t; t = t->next) {
        atomic_store_explicit(&t->busy, NULL, memory_order_seq_cst);
        atomic_store_explicit(&t->tid, t == self ? (uint32_t)syscall(SYS_gettid) : 0,
                              memory_order_seq_cst);
    }
}

/* The kernel registers a process of one thread at once, and lets one of several wait for all
 * processors, 10 ms and more. So this is done while the program is loaded, where it has one. */
__attribute__((constructor)) static void membarrier_register_early(void)
{
    if (__libc_single_threaded)
        membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}

static void init_once(void)
{
    thread_fence_is_free = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
    pthread_key_create(&exit_key, on_exit);
    pthread_atfork(NULL, NULL, on_fork_child);
}

void thread_init(void)
{
    pthread_once(&once, init_once);
}

static struct thread *block_reuse(uint32_t tid)
{
    for (struct thread *t = atomic_load_explicit(&threads, memory_order_acquire); t; t = t->next) {
        uint32_t nobody = 0;
        if (atomic_compare_exchange_strong_explicit(&t->tid, &nobody, THREAD_BEING_TAKEN,
                                                    memory_order_seq_cst, memory_order_seq_cst)) {
            memset(t->session, 0, sizeof t->session);
            atomic_store_explicit(&t->tid, tid, memory_order_release);
            return t;
        }
    }
    return NULL;
}

static struct thread *block_new(uint32_t tid)
{
    struct thread *t =
        mmap(NULL, sizeof *t, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (t == MAP_FAILED)
        return NULL;
    atomic_store_explicit(&t->tid, tid, memory_order_relaxed);
    t->next = atomic_load_explicit(&threads, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&threads, &t->next, t, memory_order_release,
                                                  memory_order_relaxed))
        ;
    return t;
}

struct thread *thread_register(void)
{
    thread_init();
    uint32_t tid = (uint32_t)syscall(SYS_gettid);
    struct thread *self = block_reuse(tid);
    if (!self)
        self = block_new(tid);
    if (!self)
        return NULL;
    thread_current = self;
    pthread_setspecific(exit_key, self);
    return self;
}

uint32_t thread_id(void)
{
    struct thread *self = thread_self();
    return self ? atomic_load_explicit(&self->tid, memory_order_relaxed)
                : (uint32_t)syscall(SYS_gettid);
}

/* A busy section lasts nanoseconds unless its thread lost the processor: yield, then sleep. */
static void wait_while_busy(struct thread *t, const void *what)
{
    for (unsigned turn = 0; atomic_load_explicit(&t->busy, memory_order_acquire) == what;)
        wait_step(&turn);
}

void thread_fence_heavy(void)
{
    if (thread_fence_is_free)
        membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
    else
        atomic_fetch_add_explicit(
            &fallback_fence, 1,
            memory_order_seq_cst); /* seq_cst, pairs with the writers' exchange */
}

void thread_quiesce(const void *what)
{
    thread_fence_heavy();
    struct thread *self = thread_current;
    for (struct thread *t = thread_first(); t; t = t->next)
        if (t != self)
            wait_while_busy(t, what);
}

/* Writer: session, while it initialises (release). Readers: creators of threads (acquire). */
static _Atomic(void (*)(bool)) creation_hook;

void thread_creation_hook(void (*hook)(bool created))
{
    atomic_store_explicit(&creation_hook, hook, memory_order_release);
}

void thread_creation_notice(bool created)
{
    void (*hook)(bool) = atomic_load_explicit(&creation_hook, memory_order_acquire);
    if (hook)
        hook(created);
}

struct thread *thread_first(void)
{
    return atomic_load_explicit(&threads, memory_order_acquire);
}

struct thread *thread_find(uint32_t tid)
{
    for (struct thread *t = thread_first(); t && tid; t = t->next)
        if (atomic_load_explicit(&t->tid, memory_order_acquire) == tid)
            return t;
    return NULL;
}
