#include "unfinished.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/proc_stat.h"
#include "base/wait.h"
#include "commands/gather.h"
#include "launch/settings.h"
#include "out/journal.h"
#include "out/out.h"
#include "out/place.h"
#include "refuse.h"

#define SKIP_4  " %*s %*s %*s %*s"
#define SKIP_16 SKIP_4 SKIP_4 SKIP_4 SKIP_4 /* members of /proc/PID/stat that nobody needs here */
enum { FORMATS_MAX = 8, EXIT_NOT_MADE = 1 };

struct making {
    const char *prefix, *formats;
    bool only_unfinished; /* of the formats, and what there is of them is replaced */
    struct {
        const struct out_ops *ops;
        struct out_sink *sink;
    } sinks[FORMATS_MAX];
    unsigned count;
    char names[160]; /* of those that are complete */
    struct gather gather;
    struct out_process process;
    unsigned long long rows;
    int status;
};

bool unfinished_is(const char *path)
{
    size_t length = strlen(path), end = strlen(JOURNAL_END);
    return length > end && strcmp(path + length - end, JOURNAL_END) == 0;
}

/* What the process has begun; nobody can read it. An archive gets its names one after the other. */
static void begun_remove(const struct making *making, const struct out_ops *ops)
{
    static const char *const archive[] = {".part", "", ".def"};
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s_results.%s", making->prefix, ops->name);
    place_tree_remove(path);
    for (size_t i = 0; ops == &out_otf2_ops && i < sizeof archive / sizeof *archive; i++) {
        snprintf(path, sizeof path, "%s_results%s", making->prefix, archive[i]);
        place_tree_remove(path);
    }
}

static void sink_open(struct making *making, const struct out_ops *ops)
{
    char error[PATH_MAX + 200];
    if (making->only_unfinished)
        begun_remove(making, ops);
    int status = ops->open(making->prefix, &making->sinks[making->count].sink, error, sizeof error);
    if (status != 0)
        making->status = refuse(EXIT_NOT_MADE, "%s", error);
    else
        making->sinks[making->count++].ops = ops;
}

static void process_take(void *data, const struct out_process *process)
{
    struct making *making = data;
    const char *formats = making->formats ? making->formats : out_default_formats();
    char name[32];
    making->process = *process;
    out_process_set(&making->process);
    while (settings_list_next(&formats, name, sizeof name) && making->count < FORMATS_MAX) {
        const struct out_ops *ops = out_find(name);
        if (ops && (ops->is_made_at_end || !making->only_unfinished))
            sink_open(making, ops);
    }
}

static void row_take(void *data, enum out_table_id table, const void *row)
{
    struct making *making = data;
    making->rows += table != OUT_AGENT_INFO;
    gather_row(&making->gather, table, row);
    for (unsigned i = 0; i < making->count; i++)
        making->sinks[i].ops->row(making->sinks[i].sink, table, row);
}

static void statistics_put(void *data, enum out_table_id table, const void *row)
{
    struct making *making = data;
    for (unsigned i = 0; i < making->count; i++)
        if (making->sinks[i].ops->has_statistics)
            making->sinks[i].ops->row(making->sinks[i].sink, table, row);
}

static void end_take(void *data)
{
    struct making *making = data;
    char error[PATH_MAX + 200];
    gather_stats_each(&making->gather, statistics_put, making);
    for (unsigned i = 0; i < making->count; i++) {
        const struct out_ops *ops = making->sinks[i].ops;
        size_t used = strlen(making->names);
        if (ops->close(making->sinks[i].sink, error, sizeof error) != 0)
            making->status = refuse(EXIT_NOT_MADE, "%s", error);
        else
            snprintf(making->names + used, sizeof making->names - used, "%s%s", used ? ", " : "",
                     ops->name);
    }
    making->count = 0;
}

/* 0, or an exit status after a message. */
static int make(struct making *making, const char *path)
{
    const struct journal_reader reader = {process_take, row_take, end_take, making};
    char error[PATH_MAX + 200];
    if (gather_begin(&making->gather) != 0)
        return refuse(EXIT_NOT_MADE, "out of memory");
    if (journal_read(path, &reader, error, sizeof error) != 0)
        making->status = refuse(EXIT_NOT_MADE, "%s", error);
    out_process_set(NULL);
    gather_end(&making->gather);
    return making->status;
}

static void formats_complete(const char *prefix, const char *formats)
{
    char path[PATH_MAX + 64];
    struct making making = {.prefix = prefix, .formats = formats, .only_unfinished = true};
    snprintf(path, sizeof path, "%s" JOURNAL_END, prefix);
    if (journal_state(path) != JOURNAL_LEFT)
        return;
    if (make(&making, path) != 0) {
        fprintf(stderr,
                "crocprof: what the killed process has left is in %s ('crocprof convert')\n", path);
        return;
    }
    fprintf(stderr,
            "crocprof: a process was killed: %s made of the %llu records that it had written\n",
            making.names, making.rows);
    unlink(path);
}

enum process_state { PROCESS_RUNS, PROCESS_ENDS, PROCESS_GONE };

/* Gone also where nobody has waited for it yet: it does nothing any more. While it is killed its
 * first thread may have ended before the others, and looks as it does where those go on. */
static enum process_state process_state(long pid)
{
    char path[64], line[512], state = 0;
    long threads = 0;
    if (kill((pid_t)pid, 0) != 0)
        return errno == ESRCH ? PROCESS_GONE : PROCESS_RUNS;
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    const char *text = proc_stat_read(path, line, sizeof line);
    if (!text || sscanf(text, "%c" SKIP_16 " %ld", &state, &threads) != 2 ||
        (state != 'Z' && state != 'X'))
        return PROCESS_RUNS;
    return threads <= 1 ? PROCESS_GONE : PROCESS_ENDS;
}

static bool has_settled(void *pid)
{
    return process_state(*(long *)pid) != PROCESS_ENDS;
}

/* Threads that are killed leave within milliseconds, on a busy machine within some hundred. One
 * whose first thread has ended and others go on costs the whole limit. */
static bool is_gone(long pid)
{
    enum { LIMIT_NS = 2000000000, STEP_NS = 10000000 };
    wait_until(has_settled, &pid, LIMIT_NS, STEP_NS);
    return process_state(pid) == PROCESS_GONE;
}

/* What was made a moment before the end has nothing in it, and no reader takes it. */
void unfinished_complete(const char *prefix, long pid, const char *formats)
{
    if (is_gone(pid)) {
        rocpd_recover(prefix);
        place_empty_remove(prefix);
    }
    formats_complete(prefix, formats);
}

int unfinished_convert(const char *path, const char *formats, const char *prefix)
{
    struct making making = {.prefix = prefix, .formats = formats};
    if (journal_state(path) == JOURNAL_IN_USE)
        return refuse(EXIT_NOT_MADE, "%s: its program still runs", path);
    int status = make(&making, path);
    if (status == 0)
        fprintf(stderr,
                "crocprof: %s_*: %s of the %llu records that a killed process had written\n",
                prefix, making.names, making.rows);
    return status;
}
