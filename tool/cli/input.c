#include "input.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>

struct input {
    struct jobs *jobs;
    const struct cli_options *line;
    const char *path;
    char *error;
    unsigned error_size;
};

__attribute__((format(printf, 3, 4))) static int wrong(struct input *input, int status,
                                                       const char *format, ...)
{
    va_list args;
    int length = snprintf(input->error, input->error_size,
                          "%s: ", input->path ? input->path : "command line");
    va_start(args, format);
    if (length < (int)input->error_size)
        vsnprintf(input->error + length, input->error_size - (unsigned)length, format, args);
    va_end(args);
    return status;
}

static int job_add(struct input *input, const char *prefix, struct job **added)
{
    struct jobs *jobs = input->jobs;
    if (jobs->count == JOBS_MAX)
        return wrong(input, -E2BIG, "more than %d jobs", JOBS_MAX);
    struct job *grown = realloc(jobs->job, (jobs->count + 1) * sizeof *grown);
    if (!grown)
        return wrong(input, -ENOMEM, "out of memory");
    jobs->job = grown;
    struct job *job = &grown[jobs->count];
    if (cli_options_copy(&job->options, input->line) != 0)
        return wrong(input, -ENOMEM, "out of memory");
    jobs->count++;
    job->subdirectory[0] = 0;
    if (*prefix)
        snprintf(job->subdirectory, sizeof job->subdirectory, "%s%u", prefix, jobs->count);
    *added = job;
    return 0;
}

/* Counters of the command line become the first job, when the file has some, too. */
static int line_counters_take(struct input *input, const char *prefix)
{
    struct job *job;
    return input->line->settings.value[OPTION_PMC] ? job_add(input, prefix, &job) : 0;
}

/* What the line says comes later, where the job says nothing. */
static void values_forget(struct job *job)
{
    cli_options_free(&job->options);
    memset(&job->options.settings, 0, sizeof job->options.settings);
}

/* 0, or a line about an option that both name with different values. */
static int line_merge(struct input *input, struct job *job)
{
    for (int id = 0; id < OPTION_COUNT; id++) {
        const char *line = input->line->settings.value[id], *own = job->options.settings.value[id];
        if (!line || id == OPTION_PMC)
            continue;
        if (own && strcmp(line, own) != 0)
            return wrong(input, -EINVAL, "--%s is %s there and %s on the command line",
                         options_table[id].name ? options_table[id].name
                                                : options_table[id].variable,
                         own, line);
        if (!own && cli_option_set(&job->options, (enum option_id)id, line) != 0)
            return wrong(input, -ENOMEM, "out of memory");
    }
    return 0;
}

static int value_take(struct input *input, struct job *job, const char *name, const char *value)
{
    char why[CLI_ERROR_BYTES];
    int status = cli_option_take(&job->options, name, value, why, sizeof why);
    return status == 0 ? 0 : wrong(input, status, "%s", why);
}

/* ---- text */

/* "pmc: A B # why": the names, or NULL. */
static char *text_names(char *line)
{
    char *names = strstr(line, "pmc:");
    line[strcspn(line, "#\r\n")] = 0;
    if (!names || names >= line + strlen(line))
        return NULL;
    names += strlen("pmc:");
    return names[strspn(names, " \t")] ? names : NULL;
}

/* Lines of other tools' files, such as "range: 0:1", which rocprofv3 passes over without a word. */
static void text_unread_tell(const struct input *input, const char *line)
{
    line += strspn(line, " \t");
    if (*line && strncmp(line, "pmc:", strlen("pmc:")) != 0)
        fprintf(stderr, "crocprof: %s: passed over, as it does not begin with pmc: %s\n",
                input->path, line);
}

static int text_line(struct input *input, char *line)
{
    struct job *job;
    const char *names = text_names(line);
    if (!names) {
        text_unread_tell(input, line);
        return 0;
    }
    int status = job_add(input, "pmc_", &job);
    if (status != 0)
        return status;
    values_forget(job);
    status = value_take(input, job, "pmc", names);
    return status == 0 ? line_merge(input, job) : status;
}

static int text_read(struct input *input, FILE *file)
{
    char *line = NULL;
    size_t size = 0;
    int status = line_counters_take(input, "pmc_");
    while (status == 0 && getline(&line, &size, file) >= 0)
        status = text_line(input, line);
    free(line);
    return status;
}

/* ---- YAML */

static const char *scalar(yaml_document_t *document, int index)
{
    yaml_node_t *node = yaml_document_get_node(document, index);
    return node && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : NULL;
}

static bool is_counters(const char *name)
{
    return strcmp(name, "pmc") == 0;
}

/* A list of counters is one line of names; other lists add up. */
static int sequence_take(struct input *input, struct job *job, yaml_document_t *document,
                         const char *name, const yaml_node_t *list)
{
    char names[8192] = "";
    size_t used = 0;
    for (const yaml_node_item_t *item = list->data.sequence.items.start;
         item < list->data.sequence.items.top; item++) {
        const char *value = scalar(document, *item);
        if (!value)
            return wrong(input, -EINVAL, "%s: a list of words is wanted", name);
        if (!is_counters(name)) {
            int status = value_take(input, job, name, value);
            if (status != 0)
                return status;
            continue;
        }
        int length = snprintf(names + used, sizeof names - used, "%s ", value);
        used += (size_t)length;
        if (used >= sizeof names)
            return wrong(input, -EINVAL, "%s: too many names", name);
    }
    return *names ? value_take(input, job, name, names) : 0;
}

/* rocprofv3's groups of counters that take turns: each line "pmc: A B". */
static int groups_take(struct input *input, struct job *job, yaml_document_t *document,
                       const yaml_node_t *list)
{
    char text[16384] = "";
    size_t used = 0;
    if (list->type != YAML_SEQUENCE_NODE)
        return wrong(input, -EINVAL, "pmc_groups: a list of lists is wanted");
    for (const yaml_node_item_t *item = list->data.sequence.items.start;
         item < list->data.sequence.items.top; item++) {
        const yaml_node_t *group = yaml_document_get_node(document, *item);
        if (!group || group->type != YAML_SEQUENCE_NODE)
            return wrong(input, -EINVAL, "pmc_groups: a list of lists is wanted");
        used += (size_t)snprintf(text + used, sizeof text - used, "%spmc:", used ? "\n" : "");
        for (const yaml_node_item_t *name = group->data.sequence.items.start;
             name < group->data.sequence.items.top && used < sizeof text; name++) {
            const char *value = scalar(document, *name);
            used += (size_t)snprintf(text + used, sizeof text - used, " %s", value ? value : "");
        }
        if (used >= sizeof text)
            return wrong(input, -EINVAL, "pmc_groups: too many names");
    }
    if (!*text)
        return wrong(input, -EINVAL, "pmc_groups: there is no group");
    return cli_option_set(&job->options, OPTION_COUNTER_GROUPS, text);
}

static int interval_take(struct input *input, struct job *job, const char *value)
{
    if (!*value || value[strspn(value, "0123456789")] || strlen(value) > 18 ||
        strtoull(value, NULL, 10) == 0)
        return wrong(input, -EINVAL, "pmc_group_interval: %s is no number of launches", value);
    return cli_option_set(&job->options, OPTION_COUNTER_GROUPS_INTERVAL, value);
}

static int special_take(struct input *input, struct job *job, yaml_document_t *document,
                        const char *name, const yaml_node_t *node, bool *taken)
{
    *taken = true;
    if (strcmp(name, "pmc_groups") == 0)
        return groups_take(input, job, document, node);
    if (strcmp(name, "pmc_group_interval") == 0 && node->type == YAML_SCALAR_NODE)
        return interval_take(input, job, (const char *)node->data.scalar.value);
    *taken = strcmp(name, "sub_directory") == 0;
    return 0;
}

static int pair_take(struct input *input, struct job *job, yaml_document_t *document,
                     const yaml_node_pair_t *pair)
{
    const char *name = scalar(document, pair->key);
    const yaml_node_t *node = yaml_document_get_node(document, pair->value);
    bool taken;
    if (!name || !node)
        return wrong(input, -EINVAL, "an option's name is no word");
    int status = special_take(input, job, document, name, node, &taken);
    if (taken || status != 0)
        return status;
    if (node->type == YAML_SEQUENCE_NODE)
        return sequence_take(input, job, document, name, node);
    const char *value = scalar(document, pair->value);
    if (!value)
        return wrong(input, -EINVAL, "%s: neither a word nor a list", name);
    if (!*value || strcasecmp(value, "null") == 0 || strcmp(value, "~") == 0)
        return 0;
    if (strcmp(name, options_table[OPTION_INPUT].name) == 0)
        return wrong(input, -EINVAL, "%s: a job has no input file of its own", name);
    return value_take(input, job, name, value);
}

static int job_take(struct input *input, yaml_document_t *document, int index)
{
    const yaml_node_t *node = yaml_document_get_node(document, index);
    struct job *job;
    if (!node || node->type != YAML_MAPPING_NODE)
        return wrong(input, -EINVAL, "a job is no list of options");
    int status = job_add(input, "pass_", &job);
    if (status != 0)
        return status;
    values_forget(job);
    for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
         status == 0 && pair < node->data.mapping.pairs.top; pair++)
        status = pair_take(input, job, document, pair);
    if (status == 0 && job->options.settings.value[OPTION_PMC] &&
        job->options.settings.value[OPTION_COUNTER_GROUPS])
        return wrong(input, -EINVAL, "pmc and pmc_groups in one job: which of them?");
    return status == 0 ? line_merge(input, job) : status;
}

/* NULL: the document has no such word. */
static const yaml_node_t *root_find(yaml_document_t *document, const char *word)
{
    const yaml_node_t *root = yaml_document_get_root_node(document);
    if (!root || root->type != YAML_MAPPING_NODE)
        return NULL;
    for (const yaml_node_pair_t *pair = root->data.mapping.pairs.start;
         pair < root->data.mapping.pairs.top; pair++) {
        const char *name = scalar(document, pair->key);
        if (name && strcmp(name, word) == 0)
            return yaml_document_get_node(document, pair->value);
    }
    return NULL;
}

/* ---- jobs that are passes of one run: job_replay_mode: kernel */

/* 0, or a line: jobs of one run have one value of each option. */
static int option_join(struct input *input, struct job *all, enum option_id id, const char *value)
{
    const char *before = all->options.settings.value[id];
    char *both = NULL;
    if (!value || (before && strcmp(before, value) == 0 && id != OPTION_PMC))
        return 0;
    if (before && id != OPTION_PMC)
        return wrong(input, -EINVAL, "jobs of one run: --%s is %s and %s",
                     options_table[id].name ? options_table[id].name : options_table[id].variable,
                     before, value);
    if (before && asprintf(&both, "%s\n%s", before, value) < 0)
        return wrong(input, -ENOMEM, "out of memory");
    int status = cli_option_set(&all->options, id, both ? both : value);
    free(both);
    return status == 0 ? 0 : wrong(input, status, "out of memory");
}

static int job_join(struct input *input, struct job *all, const struct job *job)
{
    const struct settings *settings = &job->options.settings;
    int status = 0;
    if (!settings->value[OPTION_PMC] || settings->value[OPTION_COUNTER_GROUPS])
        return wrong(input, -EINVAL, "job_replay_mode: kernel: each job is a pass with pmc");
    for (int id = 0; job != all && id < OPTION_COUNT && status == 0; id++)
        status = option_join(input, all, (enum option_id)id, settings->value[id]);
    return status;
}

static int jobs_join(struct input *input)
{
    struct jobs *jobs = input->jobs;
    int status = 0;
    if (input->line->settings.value[OPTION_PMC])
        return wrong(input, -EINVAL, "job_replay_mode: kernel: --pmc is the jobs' alone");
    for (unsigned i = 0; i < jobs->count && status == 0; i++)
        status = job_join(input, &jobs->job[0], &jobs->job[i]);
    if (status != 0 || jobs->count == 0)
        return status;
    while (jobs->count > 1)
        cli_options_free(&jobs->job[--jobs->count].options);
    jobs->job[0].subdirectory[0] = 0;
    return option_join(input, &jobs->job[0], OPTION_REPLAY_MODE, "kernel");
}

static int document_take(struct input *input, yaml_document_t *document)
{
    const yaml_node_t *jobs = root_find(document, "jobs");
    const yaml_node_t *mode = root_find(document, "job_replay_mode");
    if (!jobs || jobs->type != YAML_SEQUENCE_NODE)
        return wrong(input, -EINVAL, "no list named jobs");
    const char *word =
        mode && mode->type == YAML_SCALAR_NODE ? (const char *)mode->data.scalar.value : "";
    bool is_one = strcmp(word, "kernel") == 0;
    if (mode && !is_one && strcmp(word, "application") != 0)
        return wrong(input, -EINVAL, "job_replay_mode: neither kernel nor application");
    int status = is_one ? 0 : line_counters_take(input, "pass_");
    for (const yaml_node_item_t *item = jobs->data.sequence.items.start;
         status == 0 && item < jobs->data.sequence.items.top; item++)
        status = job_take(input, document, *item);
    return status == 0 && is_one ? jobs_join(input) : status;
}

static int yaml_read(struct input *input, FILE *file)
{
    yaml_parser_t parser;
    yaml_document_t document;
    if (!yaml_parser_initialize(&parser))
        return wrong(input, -ENOMEM, "out of memory");
    yaml_parser_set_input_file(&parser, file);
    int status;
    if (yaml_parser_load(&parser, &document)) {
        status = document_take(input, &document);
        yaml_document_delete(&document);
    } else {
        status = wrong(input, -EINVAL, "line %zu: %s", parser.problem_mark.line + 1,
                       parser.problem ? parser.problem : "not YAML");
    }
    yaml_parser_delete(&parser);
    return status;
}

/* ---- the file */

static int (*reader_of(const char *path))(struct input *, FILE *)
{
    static const struct {
        const char *ending;
        int (*read)(struct input *, FILE *);
    } readers[] = {
        {".txt", text_read}, {".yaml", yaml_read}, {".yml", yaml_read}, {".json", yaml_read}};
    const char *ending = strrchr(path, '.');
    for (size_t i = 0; ending && i < sizeof readers / sizeof readers[0]; i++)
        if (strcasecmp(ending, readers[i].ending) == 0)
            return readers[i].read;
    return NULL;
}

/* A single job needs no folder that keeps its files from another's; rocprofv3 gives it one all the
 * same where it counts. */
static void one_settle(struct job *job)
{
    if (!job->options.settings.value[OPTION_PMC])
        job->subdirectory[0] = 0;
}

int input_read(struct jobs *jobs, const struct cli_options *line, const char *path, char *error,
               unsigned error_size)
{
    struct input input = {jobs, line, path, error, error_size};
    int (*read)(struct input *, FILE *) = reader_of(path);
    *jobs = (struct jobs){0};
    if (!read)
        return wrong(&input, -EINVAL, "is none of .txt, .yaml, .yml, .json");
    FILE *file = fopen(path, "re");
    if (!file)
        return wrong(&input, -errno, "%s", strerror(errno));
    int status = read(&input, file);
    fclose(file);
    if (status == 0 && jobs->count == 0)
        status = wrong(&input, -EINVAL, "has no jobs");
    if (status == 0 && jobs->count == 1)
        one_settle(&jobs->job[0]);
    if (status != 0)
        input_free(jobs);
    return status;
}

/* rocprofv3 runs the program once for each --pmc, with files apart; where kernels are repeated,
 * each
 * --pmc is a pass of theirs. */
static int lines_split(struct input *input)
{
    const char *at = input->line->settings.value[OPTION_PMC];
    int status = 0;
    while (status == 0 && *at) {
        size_t length = strcspn(at, "\n");
        char *names = strndup(at, length);
        struct job *job;
        status = names ? job_add(input, "pass_", &job) : -ENOMEM;
        if (status == 0)
            status = cli_option_set(&job->options, OPTION_PMC, names);
        free(names);
        at += length + (at[length] == '\n');
    }
    return status;
}

int input_none(struct jobs *jobs, const struct cli_options *line, char *error, unsigned error_size)
{
    struct input input = {jobs, line, NULL, error, error_size};
    const char *counters = line->settings.value[OPTION_PMC];
    struct job *job;
    *jobs = (struct jobs){0};
    int status = line->like_rocprofv3 && counters && strchr(counters, '\n') &&
                         !settings_replay_kernels(&line->settings)
                     ? lines_split(&input)
                     : job_add(&input, "", &job);
    if (status != 0)
        input_free(jobs);
    return status;
}

void input_free(struct jobs *jobs)
{
    for (unsigned i = 0; i < jobs->count; i++)
        cli_options_free(&jobs->job[i].options);
    free(jobs->job);
    *jobs = (struct jobs){0};
}
