#include "rocprofv3_avail.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "avail.h"
#include "counting/choice.h"
#include "fits.h"
#include "inside.h"
#include "launch/settings.h"
#include "names/nearest.h"
#include "words.h"

enum { EXIT_FAILED = 1, EXIT_USAGE = 2, LINE_COLUMNS = 120, DEVICES_MAX = 64, NO_DEVICE = -1 };

/* What one line asks for. */
struct wish {
    int device; /* number among the GPUs, or NO_DEVICE: all */
    bool agent, pmc, pc_sampling, spm;
    char **names; /* of --pmc, or of pmc-check */
    int name_count;
};

__attribute__((format(printf, 2, 3))) static int wrong(int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("rocprofv3-avail: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return status;
}

bool rocprofv3_avail_is(const char *name)
{
    const char *slash = strrchr(name, '/');
    return strcmp(slash ? slash + 1 : name, "rocprofv3-avail") == 0;
}

/* ---- GPUs */

static bool is_wanted(const struct wish *wish, const struct avail_agent *agent)
{
    return avail_is_gpu(agent) &&
           (wish->device == NO_DEVICE || agent->agent->logical_node_type_id == wish->device);
}

#define TEXT(name)   printf("%-30s:\t%s\n", #name, agent->name)
#define NUMBER(name) printf("%-30s:\t%lld\n", #name, (long long)agent->name)
#define SIZES(name)                                                                                \
    printf("%-30s:\t{'x': %u, 'y': %u, 'z': %u}\n", #name, agent->name.x, agent->name.y,           \
           agent->name.z)

static void agent_print(const rocprofiler_agent_v0_t *agent)
{
    printf("GPU:%d\n\n", agent->logical_node_type_id);
    NUMBER(cpu_cores_count);
    NUMBER(simd_count);
    NUMBER(max_waves_per_simd);
    printf("%-30s:\t{'hsa': %u, 'hip': %u, 'rccl': %u, 'rocdecode': %u}\n", "runtime_visibility",
           agent->runtime_visibility.hsa, agent->runtime_visibility.hip,
           agent->runtime_visibility.rccl, agent->runtime_visibility.rocdecode);
    NUMBER(wave_front_size);
    NUMBER(num_xcc);
    NUMBER(cu_count);
    NUMBER(array_count);
    NUMBER(num_shader_banks);
    NUMBER(simd_arrays_per_engine);
    NUMBER(cu_per_simd_array);
    NUMBER(simd_per_cu);
    NUMBER(gfx_target_version);
    NUMBER(max_waves_per_cu);
    NUMBER(gpu_id);
    SIZES(workgroup_max_dim);
    SIZES(grid_max_dim);
    TEXT(name);
    TEXT(vendor_name);
    TEXT(product_name);
    TEXT(model_name);
    NUMBER(node_id);
    NUMBER(logical_node_id);
    NUMBER(logical_node_type_id);
}

/* ---- counters */

static int line_columns(void)
{
    struct winsize size;
    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return LINE_COLUMNS;
}

/* As many names in a line as fit. */
static void names_print(const struct avail_agent *agent)
{
    int width = 1;
    if (agent->count == 0) {
        puts("No PMC counters supported\n");
        return;
    }
    for (size_t i = 0; i < agent->count; i++)
        if ((int)strlen(agent->counters[i].name) > width)
            width = (int)strlen(agent->counters[i].name);
    size_t in_line = (size_t)(line_columns() / (width + 1));
    in_line = in_line ? in_line : 1;
    printf("%-30s:\n\n", "PMC");
    for (size_t i = 0; i < agent->count; i++)
        printf("%-*s%c", width, agent->counters[i].name,
               (i + 1) % in_line == 0 || i + 1 == agent->count ? '\n' : ' ');
    puts("");
}

static void counter_print(const rocprofiler_counter_info_v1_t *counter)
{
    printf("%-20s:\t%s\n%-20s:\t%s\n", "Counter_Name", counter->name, "Description",
           counter->description);
    if (counter->is_derived)
        printf("%-20s:\t%s\n", "Expression", counter->expression);
    else if (!counter->is_constant)
        printf("%-20s:\t%s\n", "Block", counter->block);
    if (!counter->is_constant || counter->is_derived) {
        printf("%-20s:\t", "Dimensions");
        for (uint64_t i = 0; i < counter->dimensions_count; i++)
            printf("%s%s[0:%zu]", i ? " " : "", counter->dimensions[i]->name,
                   counter->dimensions[i]->instance_size - 1);
        putchar('\n');
    }
    puts("\n");
}

static bool is_named(const struct wish *wish, const char *name)
{
    for (int i = 0; i < wish->name_count; i++)
        if (strcmp(wish->names[i], name) == 0)
            return true;
    return wish->name_count == 0;
}

static void counters_print(const struct wish *wish, const struct avail_agent *agent)
{
    printf("GPU:%d\nName:%s\n", agent->agent->logical_node_type_id, agent->agent->name);
    for (size_t i = 0; i < agent->count; i++)
        if (is_named(wish, agent->counters[i].name))
            counter_print(&agent->counters[i]);
}

/* A name that no GPU has is a mistake, which rocprofv3's own command does not notice. */
static int names_check(const struct avail *avail, const struct wish *wish)
{
    for (int n = 0; n < wish->name_count; n++) {
        struct nearest nearest;
        bool known = false;
        nearest_begin(&nearest, wish->names[n]);
        for (unsigned i = 0; i < avail->count; i++)
            for (size_t j = 0; j < avail->agents[i].count; j++) {
                const char *name = avail->agents[i].counters[j].name;
                known = known || strcmp(name, wish->names[n]) == 0;
                nearest_add(&nearest, name);
            }
        if (!known)
            return wrong(EXIT_FAILED, "unknown counter %s%s%s%s", wish->names[n],
                         nearest.best ? " (did you mean " : "", nearest.best ? nearest.best : "",
                         nearest.best ? "?)" : "");
    }
    return 0;
}

/* ---- commands */

static void agents_list(const struct avail *avail, const struct wish *wish, bool with_counters)
{
    for (unsigned i = 0; i < avail->count; i++) {
        if (!is_wanted(wish, &avail->agents[i]))
            continue;
        agent_print(avail->agents[i].agent);
        if (with_counters)
            names_print(&avail->agents[i]);
        puts("\n");
    }
}

static void counters_list(const struct avail *avail, const struct wish *wish)
{
    for (unsigned i = 0; i < avail->count; i++) {
        const struct avail_agent *agent = &avail->agents[i];
        if (!is_wanted(wish, agent))
            continue;
        printf("%-30s:\t%d\n%-30s:\t%s\n", "GPU", agent->agent->logical_node_type_id, "Name",
               agent->agent->name);
        names_print(agent);
        puts("\n");
    }
}

/* Nothing samples yet: an empty list says so, and the reason goes where people read. */
static void sampling_tell(const struct wish *wish)
{
    if (wish->pc_sampling) {
        puts("Agents supporting PC Sampling\n");
        fputs("rocprofv3-avail: program counters are not sampled yet\n", stderr);
    }
    if (wish->spm)
        fputs("rocprofv3-avail: counters are not streamed (SPM) yet\n", stderr);
}

static int list(const struct avail *avail, const struct wish *wish)
{
    if (wish->agent)
        agents_list(avail, wish, false);
    if (wish->pmc || (!wish->agent && !wish->pc_sampling && !wish->spm))
        counters_list(avail, wish);
    sampling_tell(wish);
    return 0;
}

static int info(const struct avail *avail, const struct wish *wish)
{
    int status = names_check(avail, wish);
    if (status != 0)
        return status;
    if (!wish->pmc && !wish->pc_sampling && !wish->spm)
        agents_list(avail, wish, true);
    for (unsigned i = 0; i < avail->count && wish->pmc; i++)
        if (is_wanted(wish, &avail->agents[i]))
            counters_print(wish, &avail->agents[i]);
    sampling_tell(wish);
    return 0;
}

/* The counters of one GPU: those without a device of their own, and those with this one. */
struct set {
    rocprofiler_counter_id_t ids[FITS_COUNTERS_MAX];
    const char *names[FITS_COUNTERS_MAX];
    size_t count;
};

/* "NAME" or "NAME:device=N". False after a line. */
static bool set_add(struct set *set, const struct wish *wish, const struct avail_agent *agent,
                    const char *word)
{
    char name[256], *end;
    const char *colon = strchr(word, ':');
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, ":"), word);
    if (colon && strncmp(colon, ":device=", 8) != 0) {
        wrong(0, "%s: a counter is written NAME or NAME:device=N", word);
        return false;
    }
    long device = colon ? strtol(colon + 8, &end, 10) : NO_DEVICE;
    if (colon && (end == colon + 8 || *end)) {
        wrong(0, "%s: %s is not a number", word, colon + 8);
        return false;
    }
    if (colon ? agent->agent->logical_node_type_id != device : !is_wanted(wish, agent))
        return true;
    const rocprofiler_counter_info_v1_t *counter = avail_counter_named(agent, name);
    if (!counter || strcmp(counter->name, name) != 0) {
        wrong(0, "%s does not count %s%s%s%s", agent->agent->name, name,
              counter ? " (did you mean " : "", counter ? counter->name : "", counter ? "?)" : "");
        return false;
    }
    if (set->count == FITS_COUNTERS_MAX) {
        wrong(0, "more than %d counters", FITS_COUNTERS_MAX);
        return false;
    }
    set->names[set->count] = counter->name;
    set->ids[set->count++] = counter->id;
    return true;
}

static int gpu_check(const struct wish *wish, const struct avail_agent *agent)
{
    static struct set set;
    static struct fits fits;
    set.count = 0;
    for (int i = 0; i < wish->name_count; i++)
        if (!set_add(&set, wish, agent, wish->names[i]))
            return EXIT_FAILED;
    if (set.count == 0)
        return 0;
    rocprofiler_status_t status = fits_plan(&fits, agent, set.ids, set.count);
    if (status != ROCPROFILER_STATUS_SUCCESS || fits.passes > 1)
        return wrong(EXIT_FAILED, "GPU %d (%s) does not collect these together: %s",
                     agent->agent->logical_node_type_id, agent->agent->name,
                     fits.why[0] ? fits.why : rocprofiler_get_status_string(status));
    printf("Following input counters can be collected together on GPU:%d",
           agent->agent->logical_node_type_id);
    for (size_t i = 0; i < set.count; i++)
        printf("\t%s", set.names[i]);
    putchar('\n');
    return 0;
}

/* A word for a GPU that there is not would be nobody's. What is no number, set_add() refuses. */
static int device_check(const struct avail *avail, const char *word)
{
    const char *device = strstr(word, ":device=");
    if (!device)
        return 0;
    long number = strtol(device + 8, NULL, 10);
    for (unsigned i = 0; i < avail->count; i++)
        if (avail_is_gpu(&avail->agents[i]) &&
            avail->agents[i].agent->logical_node_type_id == number)
            return 0;
    return wrong(EXIT_FAILED, "%s: there is no GPU %ld", word, number);
}

static int pmc_check(const struct avail *avail, const struct wish *wish)
{
    int status = 0;
    if (wish->name_count == 0)
        return wrong(EXIT_FAILED, "pmc-check: which counters?");
    for (int i = 0; i < wish->name_count && status == 0; i++)
        status = device_check(avail, wish->names[i]);
    for (unsigned i = 0; i < avail->count && status == 0; i++)
        if (avail_is_gpu(&avail->agents[i]))
            status = gpu_check(wish, &avail->agents[i]);
    return status;
}

static int (*const runs[AVAIL_COMMAND_COUNT])(const struct avail *, const struct wish *) = {
    [AVAIL_LIST] = list, [AVAIL_INFO] = info, [AVAIL_PMC_CHECK] = pmc_check};
enum { NO_COMMAND = -1 };

/* ---- the line */

/* "--pmc", "--pmc no", "--pmc=no" of list. */
static bool switch_value(char **words, int *at)
{
    const char *equals = strchr(words[*at], '=');
    const char *text = equals ? equals + 1 : words[*at + 1];
    bool value = true;
    if (text && settings_truth(text, &value) && !equals)
        ++*at;
    return value;
}

/* The names behind --pmc. */
static void names_take(struct wish *wish, char **words, int *at)
{
    wish->names = words + *at + 1;
    while (words[*at + 1] && words[*at + 1][0] != '-') {
        ++*at;
        wish->name_count++;
    }
}

/* An option of the command; false when it is none. */
static bool option_take(struct wish *wish, int command, char **words, int *at)
{
    bool *const flags[] = {[AVAIL_AGENT] = &wish->agent,
                           [AVAIL_PMC] = &wish->pmc,
                           [AVAIL_PC_SAMPLING] = &wish->pc_sampling,
                           [AVAIL_SPM] = &wish->spm};
    const struct avail_option_words *option = avail_option_find(words[*at], 1u << command);
    if (!option || !option->commands)
        return false;
    *flags[option->option] = command == AVAIL_INFO || switch_value(words, at);
    if (option->value)
        names_take(wish, words, at);
    return true;
}

static int device_take(struct wish *wish, char **words, int *at)
{
    char *end;
    const char *text = strncmp(words[*at], "--device=", 9) == 0 ? words[*at] + 9 : words[++*at];
    wish->device = text ? (int)strtol(text, &end, 10) : 0;
    if (!text || !*text || *end || wish->device < 0)
        return wrong(EXIT_USAGE, "--device needs the number of a GPU");
    return 0;
}

static bool is_device(const char *word)
{
    const struct avail_option_words *option = avail_option_find(word, 0);
    return option && option->option == AVAIL_DEVICE;
}

static bool is_help(const char *word)
{
    const struct avail_option_words *option = avail_option_find(word, 0);
    return option && option->option == AVAIL_HELP;
}

static int command_find(const char *word)
{
    for (int i = 0; i < AVAIL_COMMAND_COUNT; i++)
        if (strcmp(avail_commands[i].name, word) == 0)
            return i;
    return NO_COMMAND;
}

/* 0, or an exit status; *command may stay NO_COMMAND. */
static int words_take(struct wish *wish, int *command, char **words)
{
    int status = 0;
    for (int at = 1; words[at] && status == 0; at++) {
        if (is_device(words[at])) {
            status = device_take(wish, words, &at);
        } else if (*command == NO_COMMAND) {
            *command = command_find(words[at]);
            if (*command == NO_COMMAND)
                status = wrong(EXIT_USAGE, "%s: there is list, info and pmc-check", words[at]);
        } else if (*command == AVAIL_PMC_CHECK && words[at][0] != '-') {
            wish->names = wish->names ? wish->names : words + at;
            wish->name_count++;
        } else if (!option_take(wish, *command, words, &at)) {
            status = wrong(EXIT_USAGE, "%s: unknown word (see rocprofv3-avail --help)", words[at]);
        }
    }
    return status;
}

static int wish_grant(const struct wish *wish, int command)
{
    static struct avail avail;
    unsigned gpus = 0;
    struct settings settings;
    settings_from_environment(&settings);
    rocprofiler_status_t status = choice_definitions_load(&settings);
    if (status == ROCPROFILER_STATUS_SUCCESS)
        status = avail_read(&avail);
    for (unsigned i = 0; i < avail.count; i++)
        gpus += is_wanted(wish, &avail.agents[i]);
    if (status != ROCPROFILER_STATUS_SUCCESS)
        return wrong(EXIT_FAILED, "%s", rocprofiler_get_status_string(status));
    if (gpus == 0 && wish->device != NO_DEVICE)
        return wrong(EXIT_FAILED, "there is no GPU %d", wish->device);
    if (gpus == 0)
        return wrong(EXIT_FAILED, "no GPU found");
    int result = runs[command](&avail, wish);
    avail_free(&avail);
    if (fflush(stdout) == 0 || errno == EPIPE) /* head(1) has had enough */
        return result;
    return wrong(EXIT_FAILED, "the output cannot be written: %s", strerror(errno));
}

int rocprofv3_avail_main(int count, char **words)
{
    struct wish wish = {.device = NO_DEVICE};
    int command = NO_COMMAND;
    bool asks = count == 1;
    for (int i = 1; i < count; i++)
        asks = asks || is_help(words[i]);
    if (asks) {
        avail_help_print();
        return 0;
    }
    int status = words_take(&wish, &command, words);
    if (status != 0)
        return status;
    if (command == NO_COMMAND)
        return wrong(EXIT_USAGE, "list, info or pmc-check? (see rocprofv3-avail --help)");
    return inside_enter() ? wish_grant(&wish, command) : EXIT_FAILED;
}
