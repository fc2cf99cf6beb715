#include "counting.h"

#include <rocprofiler-sdk/rocprofiler.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counting/choice.h"
#include "filter.h"
#include "launch/run_log.h"
#include "names.h"
#include "passes.h"
#include "repeat.h"
#include "report.h"
#include "sinks.h"

enum { GROUPS_MAX = 256 };

/* Written before the context starts; then read by launching threads. */
static struct {
    const struct settings *settings;
    struct {
        uint64_t agent;
        /* One, unless groups take turns, or kernels are repeated, for each pass. */
        rocprofiler_counter_config_id_t group[GROUPS_MAX];
    } gpu[CHOICE_AGENTS_MAX];
    unsigned gpu_count, group_count, pass_count;
    uint64_t interval; /* launches before the next group's turn */
    /* Launches so far. Writers and readers: launching threads; relaxed, each takes its own number.
     */
    _Atomic uint64_t launches;
    /* Whether a launch was counted, and whether one was not because of the filters. Writers:
     * launching threads; reader: who completes the files. relaxed: they are for a sentence. */
    _Atomic bool has_counted, has_left_out;
} counting;

static bool ok(rocprofiler_status_t status, const char *what)
{
    if (status == ROCPROFILER_STATUS_SUCCESS)
        return true;
    fprintf(stderr, "crocprof: %s: %s\n", what, rocprofiler_get_status_string(status));
    return false;
}

static unsigned group_now(void)
{
    uint64_t launch = atomic_fetch_add_explicit(&counting.launches, 1, memory_order_relaxed);
    return counting.group_count > 1 ? (unsigned)(launch / counting.interval % counting.group_count)
                                    : 0;
}

/* This thread's, known from its first launch on; 0: not yet. */
static __thread uint32_t thread_id __attribute__((tls_model("initial-exec")));

void counting_fork_child(void)
{
    thread_id = 0;
    repeat_fork_child();
    atomic_store_explicit(&counting.has_counted, false, memory_order_relaxed);
    atomic_store_explicit(&counting.has_left_out, false, memory_order_relaxed);
}

void counting_tell(void)
{
    if (atomic_load_explicit(&counting.has_counted, memory_order_relaxed))
        run_log_put(RUN_LOG_COUNTED, "");
    else if (atomic_load_explicit(&counting.has_left_out, memory_order_relaxed))
        run_log_put(RUN_LOG_UNCOUNTED, "");
}

static bool launch_wanted(const rocprofiler_kernel_dispatch_info_t *info, uint32_t before)
{
    return names_kernel_wanted(info->kernel_id, filter_wants_kernel) &&
           filter_wants_launch(before + 1);
}

static void dispatch_choose(rocprofiler_dispatch_counting_service_data_t dispatch,
                            rocprofiler_counter_config_id_t *config,
                            rocprofiler_user_data_t *user_data, void *data)
{
    (void)data;
    const rocprofiler_kernel_dispatch_info_t *info = &dispatch.dispatch_info;
    uint32_t before;
    unsigned pass = repeat_pass(info, &before);
    /* This is the submitting thread; values bring back what it says. */
    if (!thread_id)
        thread_id = (uint32_t)gettid();
    user_data->value = report_counter_tag(thread_id, before);
    bool is_wanted = launch_wanted(info, before);
    _Atomic bool *flag = is_wanted ? &counting.has_counted : &counting.has_left_out;
    if (!atomic_load_explicit(flag, memory_order_relaxed))
        atomic_store_explicit(flag, true, memory_order_relaxed);
    if (!is_wanted)
        return;
    unsigned group = counting.pass_count > 1 ? pass : group_now();
    for (unsigned i = 0; i < counting.gpu_count; i++)
        if (counting.gpu[i].agent == info->agent_id.handle)
            *config = counting.gpu[i].group[group];
}

/* crocprof has said what a GPU does not count, if crocprof has started us. */
static void unknown_ignore(const char *name, void *data)
{
    const rocprofiler_agent_v0_t *gpu = data;
    if (!settings_flag(counting.settings, OPTION_CHECKED))
        fprintf(stderr, "crocprof: agent %u (%s) does not count %s\n", gpu->node_id, gpu->name,
                name);
}

/* The counters of one pass. */
static void pass_configure(const rocprofiler_agent_v0_t *gpu, const struct choice *choice,
                           uint32_t pass, rocprofiler_counter_config_id_t *config)
{
    rocprofiler_counter_id_t *ids = calloc(choice->count + 1, sizeof *ids);
    size_t kept = 0;
    for (size_t i = 0; ids && i < choice->count; i++)
        if (choice->pass_of[i] == pass)
            ids[kept++] = choice->ids[i];
    if (kept > 0)
        ok(rocprofiler_create_counter_config(gpu->id, ids, kept, config), gpu->name);
    free(ids);
}

/* Of each pass a configuration. */
static void passes_configure(const rocprofiler_agent_v0_t *gpu, const struct choice *choice,
                             rocprofiler_counter_config_id_t *configs)
{
    uint32_t count = choice->pass_count < GROUPS_MAX ? choice->pass_count : GROUPS_MAX;
    if (count < choice->pass_count)
        fprintf(stderr, "crocprof: %s: these counters need %u passes: the first %u are counted\n",
                gpu->name, choice->pass_count, count);
    for (uint32_t pass = 0; pass < count; pass++)
        pass_configure(gpu, choice, pass, &configs[pass]);
    counting.pass_count = count > counting.pass_count ? count : counting.pass_count;
}

static void group_configure(const rocprofiler_agent_v0_t *gpu, unsigned number, const char *text,
                            rocprofiler_counter_config_id_t *config)
{
    struct choice choice;
    rocprofiler_counter_id_t failed = {0};
    rocprofiler_status_t status =
        choice_make(&choice, gpu, number, text, unknown_ignore, (void *)gpu, &failed);
    bool is_repeated = settings_replay_kernels(counting.settings);
    if (choice.pass_count > 1 && !is_repeated &&
        !settings_text(counting.settings, OPTION_PASS_COUNT))
        fprintf(stderr,
                "crocprof: %s: these counters need %u runs of the program: the first run's are "
                "counted\n",
                gpu->name, choice.pass_count);
    if (ok(status, text) && is_repeated)
        passes_configure(gpu, &choice, config);
    else if (status == ROCPROFILER_STATUS_SUCCESS)
        pass_configure(gpu, &choice, passes_number(counting.settings), config);
    choice_free(&choice);
}

/* Configures one GPU: the counters, or the lines of groups that take turns. A kernel that is
 * repeated has all groups at each launch. */
static void gpu_configure(const rocprofiler_agent_v0_t *gpu, unsigned number)
{
    const char *groups = settings_text(counting.settings, OPTION_COUNTER_GROUPS);
    const char *counters = settings_text(counting.settings, OPTION_COUNTERS);
    unsigned at = counting.gpu_count++, group = 0;
    counting.gpu[at].agent = gpu->id.handle;
    if (counters || settings_replay_kernels(counting.settings)) {
        group_configure(gpu, number, counters ? counters : groups, &counting.gpu[at].group[0]);
        return;
    }
    while (*groups && group < GROUPS_MAX) {
        size_t length = strcspn(groups, "\n");
        char *line = strndup(groups, length);
        if (line)
            group_configure(gpu, number, line, &counting.gpu[at].group[group++]);
        free(line);
        groups += length + (groups[length] == '\n');
    }
    counting.group_count = group;
}

void counting_definitions_load(const struct settings *settings)
{
    ok(choice_definitions_load(settings), "extra counters");
}

void counting_configure(const struct settings *settings, rocprofiler_context_id_t context,
                        rocprofiler_buffer_id_t buffer)
{
    struct choice_gpus gpus;
    bool is_off = settings->value[OPTION_COUNTER_COLLECTION] &&
                  !settings_flag(settings, OPTION_COUNTER_COLLECTION);
    if (is_off || (!settings_text(settings, OPTION_COUNTERS) &&
                   !settings_text(settings, OPTION_COUNTER_GROUPS)))
        return; /* off: somebody else counts, who is told the names by the same variable */
    counting.settings = settings;
    counting.interval = settings_number(settings, OPTION_COUNTER_GROUPS_INTERVAL);
    counting.interval = counting.interval ? counting.interval : 1;
    filter_open(settings);
    char stem[PATH_MAX];
    passes_open(settings, sinks_stem(settings, stem) == 0 ? stem : "");
    if (!ok(choice_gpus_find(&gpus), "agents"))
        return;
    for (unsigned i = 0; i < gpus.count; i++)
        gpu_configure(gpus.gpu[i], i);
    repeat_configure(context, counting.pass_count, launch_wanted);
    ok(rocprofiler_configure_buffer_dispatch_counting_service(context, buffer, dispatch_choose,
                                                              NULL),
       "counting");
}
