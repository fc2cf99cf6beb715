/*
 * Markers and ranges of the program, each under its own message. Collected by callback, because a
 * buffered record has no message, and kept until a thread of ours writes them (marker_stream.h): a
 * range is known when it is closed.
 */
#ifndef COLLECT_MARKERS_H
#define COLLECT_MARKERS_H

#include <rocprofiler-sdk/callback_tracing.h>
#include <stdbool.h>

struct marker {
    const char *message; /* equal messages are one pointer, for the life of the process */
    bool is_control;     /* roctxProfilerPause or Resume itself */
    bool is_hidden;      /* begun while nothing was collected: known, and not handed out */
    uint64_t thread_id, correlation_id, parent_id, start_ns, end_ns;
};

/* The tracing callback for MARKER_CORE_API, in a context that always runs, so that pops find their
 * pushes; `data`: NULL, or the id of the context that collects, which is asked where something
 * begins. Any thread. */
void markers_callback(rocprofiler_callback_tracing_record_t record,
                      rocprofiler_user_data_t *user_data, void *data);

/* A call that pauses or resumes, from its ENTER on. Any thread. */
void markers_control(const char *function, const rocprofiler_callback_tracing_record_t *record,
                     rocprofiler_user_data_t *user_data);

/* The message of the innermost range that the thread has pushed and not popped; NULL for none. Any
 * thread. */
const char *markers_current(uint64_t thread_id);

/* Called around a fork, so that nothing is half done in the child, which has no markers. */
void markers_fork_prepare(void);
void markers_fork_parent(void);
void markers_fork_child(void);

/* All of them in the order of their ends; ranges still open come last and end now. They are
 * forgotten then. */
void markers_each(void (*visit)(const struct marker *marker));

/* How many may wait: from MANY on `begin` is called, once until it is to be asked anew, and
 * markers_wait() returns; at MAX whoever marks waits for room, if somebody makes it. */
enum { MARKERS_MANY = 1 << 13, MARKERS_MAX = 1 << 16 };
void markers_on_many(bool (*begin)(void)); /* false: nobody will make room */
void markers_wait(void);
void markers_nobody_empties(void); /* nobody waits for room any more */
/* After that: the one that began once empties them again, or else `begin` is asked anew. */
void markers_somebody_empties(bool is_there);
/* Those that are done, in the order of their ends; they are forgotten then. */
void markers_done_each(void (*visit)(const struct marker *marker));

#endif
