#include "marker_stream.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/own_thread.h"
#include "report.h"
#include "turn.h"

static void (*on_marker)(const struct marker *marker);
static bool is_stopped; /* in turns */
/* Writers: whoever begins the thread, the thread at its end (in a turn), a forked child. Reader:
 * resume, in a turn; relaxed: of two threads each writes what the other has left. */
static _Atomic bool is_running;

static void *stream_run(void *nothing)
{
    own_thread_name("mark");
    for (;;) {
        markers_wait();
        turn_take_politely();
        if (is_stopped) {
            atomic_store_explicit(&is_running, false, memory_order_relaxed);
            turn_give();
            return nothing;
        }
        report_resume();
        markers_done_each(on_marker);
        turn_give();
    }
}

static bool stream_begin(void)
{
    pthread_t thread;
    atomic_store_explicit(&is_running, true, memory_order_relaxed);
    if (own_thread_create(&thread, stream_run, NULL) != 0) {
        atomic_store_explicit(&is_running, false, memory_order_relaxed);
        return false;
    }
    pthread_detach(thread);
    return true;
}

void marker_stream_configure(void (*visit)(const struct marker *marker))
{
    on_marker = visit;
    markers_on_many(stream_begin);
}

void marker_stream_now(void)
{
    if (!is_stopped && on_marker)
        markers_done_each(on_marker);
}

void marker_stream_stop(void)
{
    is_stopped = true;
    markers_nobody_empties();
}

void marker_stream_resume(void)
{
    is_stopped = false;
    markers_somebody_empties(atomic_load_explicit(&is_running, memory_order_relaxed));
}

void marker_stream_fork_child(void)
{
    is_stopped = false;
    atomic_store_explicit(&is_running, false, memory_order_relaxed);
}
