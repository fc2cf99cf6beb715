#include "complete.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/filter.h"
#include "collect/periods.h"
#include "launch/keys.h"
#include "names/pattern.h"
#include "out/out.h"

enum { DEFINITIONS_MAX_BYTES = 100000 /* one variable of the environment holds 128 KiB */ };

static const struct {
    enum option_id when, then;
} sets[] = {
#define X(when, then) {OPTION_##when, OPTION_##then},
    OPTION_SETS(X)
#undef X
};
enum { SET_COUNT = sizeof sets / sizeof sets[0] };

/* What crocprof does when nobody says anything; rocprofv3 does nothing. */
static const struct {
    enum option_id id;
    const char *value;
} simple[] = {
    {OPTION_KERNEL_TRACE, "1"},       {OPTION_MEMORY_COPY_TRACE, "1"},
    {OPTION_HIP_RUNTIME_TRACE, "1"},  {OPTION_MARKER_TRACE, "1"},
    {OPTION_SUMMARY_PER_DOMAIN, "1"}, {OPTION_SUMMARY_UNITS, "usec"},
    {OPTION_AGENT_INDEX, "absolute"}, {OPTION_OUTPUT_FILE, "%pid%"},
    {OPTION_MODELLED_TIME_FILE, "1"}, {OPTION_API_ARGUMENTS, "0"},
};

static const struct {
    const char *name;
    double nanoseconds;
} units[] = {{"hour", 3.6e12}, {"min", 6e10}, {"sec", 1e9},
             {"msec", 1e6},    {"usec", 1e3}, {"nsec", 1}};

struct work {
    struct cli_options *options;
    char *error;
    unsigned error_size;
};

__attribute__((format(printf, 3, 4))) static int wrong(struct work *work, int status,
                                                       const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(work->error, work->error_size, format, args);
    va_end(args);
    return status;
}

static const char *said(const struct work *work, enum option_id id)
{
    return work->options->settings.value[id];
}

static int put(struct work *work, enum option_id id, const char *value)
{
    if (cli_option_set(work->options, id, value) == 0)
        return 0;
    return wrong(work, -ENOMEM, "out of memory");
}

/* First what is switched off, so that "--sys-trace --no-hip-trace" has no HIP calls. */
static int sets_expand(struct work *work, bool value)
{
    int status = 0;
    for (int i = 0; i < SET_COUNT && status == 0; i++) {
        const char *text = said(work, sets[i].when);
        if (text && settings_flag(&work->options->settings, sets[i].when) == value &&
            !said(work, sets[i].then))
            status = put(work, sets[i].then, value ? "1" : "0");
    }
    return status;
}

static bool is_in_environment(enum option_id id)
{
    const char *variable = options_table[id].variable;
    const char *value = variable ? getenv(variable) : NULL;
    return value && *value;
}

/* crocprof writes files when somebody says where, or which; rocprofv3 always. */
static int format_default(struct work *work)
{
    bool has_place = said(work, OPTION_OUTPUT_DIRECTORY) || said(work, OPTION_OUTPUT_FILE);
    if (said(work, OPTION_OUTPUT_FORMAT) || is_in_environment(OPTION_OUTPUT_FORMAT))
        return 0;
    if (work->options->like_rocprofv3)
        return put(work, OPTION_OUTPUT_FORMAT, out_default_format());
    if (has_place || settings_flag(&work->options->settings, OPTION_STATS) ||
        is_in_environment(OPTION_OUTPUT_DIRECTORY))
        return put(work, OPTION_OUTPUT_FORMAT, out_default_formats());
    return put(work, OPTION_OUTPUT_FORMAT, OUT_NO_FORMAT);
}

static int defaults_put(struct work *work)
{
    int status = format_default(work);
    if (status == 0 && said(work, OPTION_SUMMARY) &&
        !settings_flag(&work->options->settings, OPTION_SUMMARY) &&
        !said(work, OPTION_SUMMARY_PER_DOMAIN))
        status = put(work, OPTION_SUMMARY_PER_DOMAIN, "0"); /* --no-summary: no tables */
    for (size_t i = 0; i < sizeof simple / sizeof simple[0] && status == 0; i++)
        if (!work->options->like_rocprofv3 && !said(work, simple[i].id) &&
            !is_in_environment(simple[i].id))
            status = put(work, simple[i].id, simple[i].value);
    return status;
}

/* Each line of --pmc becomes "pmc: A B", names parted by blanks. */
static int counters_put(struct work *work)
{
    const char *text = said(work, OPTION_PMC);
    if (!text)
        return 0;
    char *lines = malloc(6 * strlen(text) + 8), *at = lines, name[256];
    if (!lines)
        return wrong(work, -ENOMEM, "out of memory");
    while (*text) {
        size_t length = strcspn(text, "\n");
        char *line = strndup(text, length);
        const char *rest = line;
        at += sprintf(at, "%spmc:", at == lines ? "" : "\n");
        while (line && settings_list_next(&rest, name, sizeof name))
            at += sprintf(at, " %s", name);
        free(line);
        text += length + (text[length] == '\n');
    }
    int status = put(work, OPTION_COUNTERS, lines);
    free(lines);
    if (status == 0)
        status = put(work, OPTION_CHECKED, "1"); /* ask.h says what a GPU does not count */
    return status == 0 ? put(work, OPTION_COUNTER_COLLECTION, "1") : status;
}

static int extra_counters_put(struct work *work)
{
    const char *path = said(work, OPTION_EXTRA_COUNTERS);
    char text[DEFINITIONS_MAX_BYTES + 1];
    if (!path)
        return 0;
    FILE *file = fopen(path, "re");
    if (!file)
        return wrong(work, -errno, "%s: %s", path, strerror(errno));
    size_t length = fread(text, 1, sizeof text, file);
    bool failed = ferror(file);
    fclose(file);
    if (failed || length > DEFINITIONS_MAX_BYTES)
        return wrong(work, -EINVAL, "%s: %s", path,
                     failed ? "cannot be read" : "definitions of more than 100 kB");
    text[length] = 0;
    if (strlen(text) != length)
        return wrong(work, -EINVAL, "%s: not a text", path);
    return put(work, OPTION_EXTRA_COUNTERS_TEXT, text);
}

static double unit_of(const struct work *work)
{
    const char *name = said(work, OPTION_COLLECTION_PERIOD_UNIT);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (name && strcmp(units[i].name, name) == 0)
            return units[i].nanoseconds;
    return 1e9;
}

/* "DELAY:TIME:REPEAT" in the unit, as whole nanoseconds. */
static int period_convert(struct work *work, const char *period, char *text, size_t size)
{
    double delay, time, repeat;
    char behind;
    if (sscanf(period, "%lf:%lf:%lf%c", &delay, &time, &repeat, &behind) != 3 || !(delay >= 0) ||
        !(time > 0) || !(repeat >= 0) || repeat != floor(repeat))
        return wrong(work, -EINVAL, "--collection-period: %s is not DELAY:TIME:REPEAT", period);
    double unit = unit_of(work);
    if (delay * unit > 9e18 || time * unit > 9e18 || repeat > 1e15)
        return wrong(work, -EINVAL, "--collection-period: %s is too long", period);
    if (time * unit < 1)
        return wrong(work, -EINVAL, "--collection-period: %s is less than a nanosecond", period);
    snprintf(text, size, "%.0f:%.0f:%.0f", delay * unit, time * unit, repeat);
    return 0;
}

static int periods_put(struct work *work)
{
    const char *at = said(work, OPTION_COLLECTION_PERIOD);
    char all[1024] = "", one[96], period[96];
    if (!at)
        return 0;
    for (unsigned count = 1; *at; count++) {
        size_t length = strcspn(at, ";");
        snprintf(period, sizeof period, "%.*s", (int)length, at);
        int status = period_convert(work, period, one, sizeof one);
        if (status != 0)
            return status;
        size_t used = strlen(all);
        if (count > PERIODS_MAX || used + strlen(one) + 2 > sizeof all)
            return wrong(work, -EINVAL, "--collection-period: too many periods");
        snprintf(all + used, sizeof all - used, "%s%s", used ? ";" : "", one);
        at += length + (at[length] == ';');
    }
    return put(work, OPTION_PERIODS_NS, all);
}

static int inverse_put(struct work *work, enum option_id from, enum option_id to)
{
    if (!said(work, from))
        return 0;
    return put(work, to, settings_flag(&work->options->settings, from) ? "0" : "1");
}

static int minimum_put(struct work *work)
{
    char text[32];
    if (!said(work, OPTION_MINIMUM_OUTPUT_DATA))
        return 0;
    snprintf(text, sizeof text, "%llu",
             1024ull * settings_number(&work->options->settings, OPTION_MINIMUM_OUTPUT_DATA));
    return put(work, OPTION_MINIMUM_OUTPUT_BYTES, text);
}

static int pattern_check(struct work *work, enum option_id id, const char *text)
{
    char message[128];
    struct pattern *pattern = pattern_create(text, message, sizeof message);
    if (!pattern)
        return wrong(work, -EINVAL, "--%s: %s: %s", options_table[id].name, text, message);
    pattern_destroy(pattern);
    return 0;
}

/* Those of --summary-groups, of which each makes a table. */
static int groups_check(struct work *work)
{
    const char *separator = option_separator(OPTION_SUMMARY_GROUPS);
    const char *at = said(work, OPTION_SUMMARY_GROUPS);
    int status = 0;
    while (at && *at && status == 0) {
        const char *end = strstr(at, separator);
        char *text = end ? strndup(at, (size_t)(end - at)) : strdup(at);
        if (!text)
            return wrong(work, -ENOMEM, "out of memory");
        status = pattern_check(work, OPTION_SUMMARY_GROUPS, text);
        free(text);
        at = end ? end + strlen(separator) : NULL;
    }
    return status;
}

static int patterns_check(struct work *work)
{
    static const enum option_id ids[] = {OPTION_KERNEL_INCLUDE_REGEX, OPTION_KERNEL_EXCLUDE_REGEX};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        int status = said(work, ids[i]) ? pattern_check(work, ids[i], said(work, ids[i])) : 0;
        if (status != 0)
            return status;
    }
    return groups_check(work);
}

static int launches_check(struct work *work)
{
    struct filter_range ranges[FILTER_RANGES_MAX];
    const char *text = said(work, OPTION_KERNEL_ITERATION_RANGE);
    unsigned count;
    if (!text || filter_ranges_read(text, ranges, FILTER_RANGES_MAX, &count))
        return 0;
    return wrong(work, -EINVAL, "--kernel-iteration-range: %s is no list of launches, as [1,4-7]",
                 text);
}

static int ranks_check(struct work *work)
{
    const char *text = said(work, OPTION_PROFILE_MPI_RANKS);
    bool is_in;
    if (text && !keys_ranks_read(text, 0, &is_in))
        return wrong(work, -EINVAL, "--profile-mpi-ranks: %s is no list of ranks, as 0-3,8", text);
    if (!said(work, OPTION_MPI_WORLD_RANK_VARIABLE) == !said(work, OPTION_MPI_WORLD_SIZE_VARIABLE))
        return 0;
    return wrong(
        work, -EINVAL,
        "--mpi-world-rank-variable and --mpi-world-size-variable are only of use together");
}

static bool is_tracing(const struct cli_options *options)
{
    for (int id = 0; id < OPTION_COUNT; id++)
        if (options_table[id].group == OPTION_GROUP_BASIC &&
            (settings_flag(&options->settings, (enum option_id)id) ||
             is_in_environment((enum option_id)id)))
            return true;
    return options->settings.value[OPTION_COUNTERS] ||
           options->settings.value[OPTION_COUNTER_GROUPS] || is_in_environment(OPTION_COUNTERS);
}

/* As rocprofv3: tables of nothing are a mistake. */
static int purpose_check(struct work *work)
{
    static const enum option_id tables[] = {OPTION_STATS, OPTION_SUMMARY,
                                            OPTION_SUMMARY_PER_DOMAIN};
    if (work->options->command != CLI_RUN || is_tracing(work->options))
        return 0;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        if (settings_flag(&work->options->settings, tables[i]))
            return wrong(work, -EINVAL, "--%s: nothing is traced and nothing is counted",
                         options_table[tables[i]].name);
    if (work->options->like_rocprofv3)
        fprintf(stderr, "crocprof: nothing is traced and nothing is counted\n");
    return 0;
}

int cli_options_complete(struct cli_options *options, char *error, unsigned error_size)
{
    struct work work = {options, error, error_size};
    int (*const steps[])(struct work *) = {defaults_put,   counters_put, extra_counters_put,
                                           periods_put,    minimum_put,  patterns_check,
                                           launches_check, ranks_check,  purpose_check};
    int status = sets_expand(&work, false);
    if (status == 0)
        status = sets_expand(&work, true);
    if (status == 0)
        status = inverse_put(&work, OPTION_MANGLED_KERNELS, OPTION_DEMANGLE);
    if (status == 0)
        status = inverse_put(&work, OPTION_DISABLE_SIGNAL_HANDLERS, OPTION_SIGNAL_HANDLERS);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && status == 0; i++)
        status = steps[i](&work);
    return status;
}
