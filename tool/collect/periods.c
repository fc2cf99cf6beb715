#include "periods.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <rocprofiler-sdk/marker.h>

#include "base/own_thread.h"
#include "base/wait.h"
#include "markers.h"

static struct {
    rocprofiler_context_id_t context;
    bool shows_control; /* the calls that pause and resume are rows of their own */
    struct period periods[PERIODS_MAX];
    unsigned count;
    pthread_t thread;
    bool ended;           /* under the lock */
    bool counts;          /* regions inside of regions are a part of them */
    unsigned depth;       /* under the lock: regions that are open, if they are counted */
    pthread_mutex_t lock; /* of `ended`, and around starts and stops: none after the end */
    pthread_cond_t end;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

unsigned periods_read(const char *text, struct period *periods, unsigned max)
{
    unsigned count = 0;
    while (*text && count < max) {
        struct period *period = &periods[count];
        int length = 0;
        if (sscanf(text, "%" SCNu64 ":%" SCNu64 ":%" SCNu64 "%n", &period->delay_ns,
                   &period->time_ns, &period->repeat, &length) != 3 ||
            period->time_ns == 0)
            return 0;
        count++;
        text += length;
        text += strspn(text, "; ");
    }
    return *text ? 0 : count;
}

/* True: the time has passed; false: the end has come before. */
static bool time_pass(uint64_t ns)
{
    uint64_t now_ns = wait_now_ns();
    struct timespec until = wait_timespec(ns < WAIT_FOREVER - now_ns ? now_ns + ns : WAIT_FOREVER);
    int status = 0;
    while (!state.ended && status == 0)
        status = pthread_cond_timedwait(&state.end, &state.lock, &until);
    return !state.ended;
}

/* Under the lock, which waiting gives up: periods_end() does not come between a look and a start.
 */
static void period_run(const struct period *period)
{
    for (uint64_t i = 0; (period->repeat == 0 || i < period->repeat) && time_pass(period->delay_ns);
         i++) {
        rocprofiler_start_context(state.context);
        if (!time_pass(period->time_ns))
            return;
        rocprofiler_stop_context(state.context);
    }
}

static void *periods_run(void *nothing)
{
    own_thread_name("period");
    pthread_mutex_lock(&state.lock);
    for (unsigned i = 0; i < state.count && !state.ended; i++)
        period_run(&state.periods[i]);
    pthread_mutex_unlock(&state.lock);
    return nothing;
}

static int thread_begin(void)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&state.end, &attributes);
    pthread_condattr_destroy(&attributes);
    int status = own_thread_create(&state.thread, periods_run, NULL);
    if (status == 0)
        pthread_detach(state.thread);
    return status == 0 ? 0 : -1;
}

/* Under the lock, like the one below. */
static void region_begin(void)
{
    if (state.counts && state.depth++ > 0)
        return;
    rocprofiler_start_context(state.context);
}

/* A pause that ends no region is one too many, and pauses all the same. */
static void region_end(void)
{
    if (state.counts && state.depth > 0 && --state.depth > 0)
        return;
    rocprofiler_stop_context(state.context);
}

static void control_obey(int32_t operation)
{
    pthread_mutex_lock(&state.lock);
    if (!state.ended && operation == ROCPROFILER_MARKER_CONTROL_API_ID_roctxProfilerResume)
        region_begin();
    if (!state.ended && operation == ROCPROFILER_MARKER_CONTROL_API_ID_roctxProfilerPause)
        region_end();
    pthread_mutex_unlock(&state.lock);
}

static void on_control(rocprofiler_callback_tracing_record_t record,
                       rocprofiler_user_data_t *user_data, void *data)
{
    (void)data;
    const char *function = record.operation == ROCPROFILER_MARKER_CONTROL_API_ID_roctxProfilerPause
                               ? "roctxProfilerPause"
                               : "roctxProfilerResume";
    if (state.shows_control)
        markers_control(function, &record, user_data);
    if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER)
        control_obey(record.operation);
}

static int regions_begin(rocprofiler_context_id_t control)
{
    rocprofiler_status_t status = rocprofiler_configure_callback_tracing_service(
        control, ROCPROFILER_CALLBACK_TRACING_MARKER_CONTROL_API, NULL, 0, on_control, NULL);
    if (status == ROCPROFILER_STATUS_SUCCESS)
        return 0;
    fprintf(stderr, "crocprof: regions: %s\n", rocprofiler_get_status_string(status));
    return -1;
}

int periods_begin(const struct settings *settings, rocprofiler_context_id_t context,
                  rocprofiler_context_id_t control)
{
    const char *text = settings_text(settings, OPTION_PERIODS_NS);
    int status = 0;
    state.context = context;
    state.counts = settings_flag(settings, OPTION_SELECTED_REGIONS_REF_COUNT);
    state.shows_control = settings_flag(settings, OPTION_MARKER_TRACE);
    bool selected = settings_flag(settings, OPTION_SELECTED_REGIONS);
    bool pauses = state.shows_control || settings_flag(settings, OPTION_PAUSES);
    if (selected || (pauses && !text)) /* periods are the user's word */
        status = regions_begin(control);
    if (selected || status != 0)
        return status;
    if (text)
        state.count = periods_read(text, state.periods, PERIODS_MAX);
    if (text && state.count == 0)
        fprintf(stderr, "crocprof: %s: not a list of periods\n", text);
    if (state.count > 0)
        return thread_begin();
    rocprofiler_status_t started = rocprofiler_start_context(context);
    if (started == ROCPROFILER_STATUS_SUCCESS)
        return 0;
    fprintf(stderr, "crocprof: start: %s\n", rocprofiler_get_status_string(started));
    return -1;
}

void periods_end(void)
{
    pthread_mutex_lock(&state.lock);
    state.ended = true;
    if (state.count > 0)
        pthread_cond_broadcast(&state.end);
    pthread_mutex_unlock(&state.lock);
}

void periods_fork_prepare(void)
{
    pthread_mutex_lock(&state.lock);
}

void periods_fork_parent(void)
{
    pthread_mutex_unlock(&state.lock);
}

/* The condition has a waiter that the child does not have: it must not be told. */
void periods_fork_child(void)
{
    state.count = 0;
    pthread_mutex_unlock(&state.lock);
}
