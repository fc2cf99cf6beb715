#include "stream_now.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/own_thread.h"
#include "base/wait.h"
#include "base/write_guard.h"
#include "marker_stream.h"
#include "report.h"
#include "turn.h"

static struct {
    void (*flush)(void);
    bool has_thread; /* by the thread that begins, and a forked child */
    /* Writers: begin, end, a forked child. Reader: the thread; relaxed: one flush more or less. */
    _Atomic bool running;
} state;

static void stream(void)
{
    struct write_guard guard;
    state.flush();
    write_guard_begin(&guard);
    turn_take_politely();
    marker_stream_now();
    report_flush();
    turn_give();
    write_guard_end(&guard);
}

static void *streams_run(void *nothing)
{
    own_thread_name("stream");
    for (;;) {
        wait_pause(WAIT_NS_PER_S);
        if (atomic_load_explicit(&state.running, memory_order_relaxed))
            stream();
    }
    return nothing;
}

void stream_now_begin(void (*flush)(void))
{
    pthread_t thread;
    state.flush = flush;
    atomic_store_explicit(&state.running, true, memory_order_relaxed);
    if (state.has_thread)
        return;
    int status = own_thread_create(&thread, streams_run, NULL);
    if (status != 0) {
        fprintf(stderr, "crocprof: kill -9 loses what is not yet written: no thread: %s\n",
                strerror(status));
        return;
    }
    state.has_thread = true;
    pthread_detach(thread);
}

void stream_now_end(void)
{
    atomic_store_explicit(&state.running, false, memory_order_relaxed);
}

void stream_now_fork_child(void)
{
    stream_now_end();
    state.has_thread = false;
}
