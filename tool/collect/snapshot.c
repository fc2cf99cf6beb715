#include "snapshot.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/own_thread.h"
#include "base/wait.h"
#include "base/write_guard.h"
#include "report.h"
#include "turn.h"

static struct {
    const char *directory; /* NULL: nobody watches. Changed in turns only. */
    uint64_t interval_ns;  /* 0: at the end alone */
    void (*flush)(void);
    bool has_thread;
    /* Writers: begin, end, resume. Reader: the thread; relaxed: one line more or less. */
    _Atomic bool running;
} state;

/* Names may have blanks, and a line is a line. */
static void name_put(FILE *file, const char *name)
{
    for (; *name; name++)
        fputc(*name == '\n' || *name == '\t' ? ' ' : *name, file);
    fputc('\n', file);
}

/* Modelled times are a kind of their own, without extremes. */
static void duration_put(const char *domain, const struct out_stats_row *row, void *data)
{
    FILE *file = data;
    fprintf(file, "time\t%s\t%llu\t%llu\t%llu\t%llu\t", domain, (unsigned long long)row->calls,
            (unsigned long long)row->total_ns, (unsigned long long)row->min_ns,
            (unsigned long long)row->max_ns);
    name_put(file, row->name);
    if (!row->modelled_ns)
        return;
    fprintf(file, "time\tKERNEL_MODELLED\t%llu\t%llu\t0\t0\t", (unsigned long long)row->calls,
            (unsigned long long)row->modelled_ns);
    name_put(file, row->name);
}

static void counter_put(const struct stats_counter *counter, void *data)
{
    FILE *file = data;
    fprintf(file, "counter\t%s\t%llu\t%.17g\t%d\t", counter->counter,
            (unsigned long long)counter->launches, counter->sum, counter->additive);
    name_put(file, counter->kernel);
}

void snapshot_write(void)
{
    char path[PATH_MAX], made[PATH_MAX];
    if (!state.directory)
        return;
    int length = snprintf(path, sizeof path, "%s/%ld", state.directory, (long)getpid());
    if (length >= PATH_MAX ||
        snprintf(made, sizeof made, "%s/.%ld", state.directory, (long)getpid()) >= PATH_MAX)
        return;
    FILE *file = fopen(made, "we");
    if (!file)
        return; /* nobody watches any more */
    fprintf(file, "at\t%llu\n", (unsigned long long)wait_now_ns());
    report_durations_each(duration_put, file);
    report_counters_each(counter_put, file);
    bool is_whole = !ferror(file); /* else the one before stays */
    if (fclose(file) == 0 && is_whole)
        rename(made, path);
}

static void *snapshots_run(void *nothing)
{
    own_thread_name("watch");
    for (;;) {
        wait_pause(state.interval_ns);
        if (!atomic_load_explicit(&state.running, memory_order_relaxed))
            continue;
        struct write_guard guard;
        state.flush();
        write_guard_begin(&guard);
        turn_take();
        if (atomic_load_explicit(&state.running, memory_order_relaxed))
            snapshot_write();
        turn_give();
        write_guard_end(&guard);
    }
    return nothing;
}

void snapshot_begin(const struct settings *settings, void (*flush)(void))
{
    state.flush = flush;
    snapshot_resume(settings);
}

void snapshot_resume(const struct settings *settings)
{
    pthread_t thread;
    state.directory = settings_text(settings, OPTION_SNAPSHOT_DIRECTORY);
    state.interval_ns = settings_number(settings, OPTION_SNAPSHOT_INTERVAL_MS) * 1000000;
    if (!state.directory || state.interval_ns == 0)
        return;
    atomic_store_explicit(&state.running, true, memory_order_relaxed);
    if (state.has_thread || own_thread_create(&thread, snapshots_run, NULL) != 0)
        return;
    state.has_thread = true;
    pthread_detach(thread);
}

void snapshot_end(void)
{
    atomic_store_explicit(&state.running, false, memory_order_relaxed);
}
