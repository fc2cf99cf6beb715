#include "marker_stream.h"

#include <pthread.h>
#include <stdbool.h>

#include "base/own_thread.h"
#include "report.h"
#include "turn.h"

static void (*on_marker)(const struct marker *marker);
static bool is_stopped; /* in turns */

static void *stream_run(void *nothing)
{
    own_thread_name("mark");
    for (;;) {
        markers_wait();
        turn_take_politely();
        if (is_stopped) {
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
    if (own_thread_create(&thread, stream_run, NULL) != 0)
        return false;
    pthread_detach(thread);
    return true;
}

void marker_stream_configure(void (*visit)(const struct marker *marker))
{
    on_marker = visit;
    markers_on_many(stream_begin);
}

void marker_stream_stop(void)
{
    is_stopped = true;
    markers_nobody_empties();
}

void marker_stream_fork_child(void)
{
    is_stopped = false;
}
