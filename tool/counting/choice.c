#include "choice.h"

#include <crocprof/plan.h>
#include <rocprofiler-sdk/experimental/counters.h>

#include <stdlib.h>
#include <string.h>

#include "names/counters.h"

static rocprofiler_status_t agents_take(rocprofiler_agent_version_t version, const void **agents,
                                        size_t count, void *data)
{
    struct choice_gpus *gpus = data;
    (void)version;
    for (size_t i = 0; i < count && gpus->count < CHOICE_AGENTS_MAX; i++) {
        const rocprofiler_agent_v0_t *agent = agents[i];
        if (agent->type == ROCPROFILER_AGENT_TYPE_GPU)
            gpus->gpu[gpus->count++] = agent;
    }
    return ROCPROFILER_STATUS_SUCCESS;
}

rocprofiler_status_t choice_gpus_find(struct choice_gpus *gpus)
{
    *gpus = (struct choice_gpus){0};
    return rocprofiler_query_available_agents(ROCPROFILER_AGENT_INFO_VERSION_0, agents_take,
                                              sizeof(rocprofiler_agent_v0_t), gpus);
}

rocprofiler_status_t choice_definitions_load(const struct settings *settings)
{
    const char *text = settings_text(settings, OPTION_EXTRA_COUNTERS_TEXT);
    if (!text)
        return ROCPROFILER_STATUS_SUCCESS;
    return rocprofiler_load_counter_definition(text, strlen(text),
                                               ROCPROFILER_COUNTER_FLAG_APPEND_DEFINITION);
}

bool choice_name_next(const char **text, unsigned *line, char name[CHOICE_NAME_BYTES])
{
    for (;;) {
        const char *at = *text + strspn(*text, ", \t\n");
        size_t length = strcspn(at, ", \t\n");
        size_t kept = length < CHOICE_NAME_BYTES ? length : CHOICE_NAME_BYTES - 1;
        *text = at + length;
        if (length == 0)
            return false;
        memcpy(name, at, kept);
        name[kept] = 0;
        if (strncmp(name, "pmc:", 4) != 0)
            return true;
        ++*line;
        if (length == 4)
            continue;
        memmove(name, name + 4, kept - 3); /* "pmc:A" */
        return true;
    }
}

bool choice_is_for(char name[CHOICE_NAME_BYTES], unsigned number)
{
    char *device = strstr(name, ":device=");
    if (!device)
        return true;
    *device = 0;
    return strtoul(device + strlen(":device="), NULL, 10) == number;
}

static bool is_chosen(const struct choice *choice, uint64_t handle, size_t from)
{
    for (size_t i = from; i < choice->count; i++)
        if (choice->ids[i].handle == handle)
            return true;
    return false;
}

static size_t names_count(const char *text)
{
    char name[CHOICE_NAME_BYTES];
    unsigned line = 0;
    size_t count = 0;
    while (choice_name_next(&text, &line, name))
        count++;
    return count;
}

/* Plans what came since `from` behind the passes that there are. */
static rocprofiler_status_t line_plan(struct choice *choice, size_t from,
                                      rocprofiler_counter_id_t *failed)
{
    uint32_t passes = 0;
    size_t count = choice->count - from;
    if (count == 0)
        return ROCPROFILER_STATUS_SUCCESS;
    rocprofiler_status_t status = crocprof_plan_passes(choice->gpu->id, choice->ids + from, count,
                                                       choice->pass_of + from, &passes);
    if (status != ROCPROFILER_STATUS_SUCCESS) {
        if (status == ROCPROFILER_STATUS_ERROR_EXCEEDS_HW_LIMIT && passes < count)
            *failed = choice->ids[from + passes];
        return status;
    }
    for (size_t i = from; i < choice->count; i++)
        choice->pass_of[i] += choice->pass_count;
    choice->pass_count += passes;
    return status;
}

/* The counters of one line after the other. */
static rocprofiler_status_t lines_plan(struct choice *choice, unsigned number, const char *text,
                                       choice_unknown_t unknown, void *data,
                                       rocprofiler_counter_id_t *failed)
{
    char name[CHOICE_NAME_BYTES];
    unsigned line = 0, planned = 0;
    size_t from = 0;
    while (choice_name_next(&text, &line, name)) {
        if (line != planned) {
            rocprofiler_status_t status = line_plan(choice, from, failed);
            if (status != ROCPROFILER_STATUS_SUCCESS)
                return status;
            from = choice->count;
            planned = line;
        }
        rocprofiler_counter_id_t id;
        if (!choice_is_for(name, number))
            continue;
        if (!counter_find(choice->gpu->id, name, &id))
            unknown(name, data);
        else if (!is_chosen(choice, id.handle, from))
            choice->ids[choice->count++] = id;
    }
    return line_plan(choice, from, failed);
}

rocprofiler_status_t choice_make(struct choice *choice, const rocprofiler_agent_v0_t *gpu,
                                 unsigned number, const char *text, choice_unknown_t unknown,
                                 void *data, rocprofiler_counter_id_t *failed)
{
    size_t names = names_count(text);
    *choice = (struct choice){.gpu = gpu};
    choice->ids = calloc(names + 1, sizeof *choice->ids);
    choice->pass_of = calloc(names + 1, sizeof *choice->pass_of);
    if (!choice->ids || !choice->pass_of)
        return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    rocprofiler_status_t status = lines_plan(choice, number, text, unknown, data, failed);
    if (choice->pass_count == 0)
        choice->pass_count = 1;
    return status;
}

void choice_free(struct choice *choice)
{
    free(choice->ids);
    free(choice->pass_of);
    *choice = (struct choice){0};
}
