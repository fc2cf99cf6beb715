/*
 * A tool for ROCP_TOOL_LIB that changes settings, V1_SETTINGS="NAME=VALUE,...", and writes to
 * V1_TOOL_OUTPUT what each dispatch callback got and what was collected, when it is unloaded:
 *
 *   NAME|- times|- thread|- waves WAVES begun WAVES-IN-TRACE buffer BYTES iterate
 * complete|cut|0xSTATUS
 *
 * Besides the settings' names: callbacks=0, no dispatch callback is set.
 */
#include <rocprofiler/rocprofiler.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tokens.h"

enum { KERNELS_MAX = 20, FEATURES = 2 };

struct entry {
    rocprofiler_feature_t features[FEATURES];
    rocprofiler_group_t group;
    rocprofiler_callback_data_t data;
};

static struct entry entries[KERNELS_MAX];
static uint32_t entry_count, wants_callbacks = 1;

static void check(hsa_status_t status)
{
    const char *text = "";
    if (status == HSA_STATUS_SUCCESS)
        return;
    rocprofiler_error_string(&text);
    fprintf(stderr, "settings_tool: 0x%x: %s\n", (unsigned)status, text);
}

static hsa_status_t dispatch_callback(const rocprofiler_callback_data_t *data, void *arg,
                                      rocprofiler_group_t *group)
{
    static rocprofiler_parameter_t engines = {.value = 0xff};
    rocprofiler_t *context;
    (void)arg;
    if (entry_count == KERNELS_MAX)
        return HSA_STATUS_ERROR;
    struct entry *entry = &entries[entry_count];
    engines.parameter_name = HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_SE_MASK;
    entry->features[0].kind = ROCPROFILER_FEATURE_KIND_METRIC;
    entry->features[0].name = "SQ_WAVES";
    entry->features[1].kind = ROCPROFILER_FEATURE_KIND_TRACE;
    entry->features[1].parameters = &engines;
    entry->features[1].parameter_count = 1;
    entry->data = *data;
    hsa_status_t status =
        rocprofiler_open(data->agent, entry->features, FEATURES, &context, 0, NULL);
    check(status);
    if (status != HSA_STATUS_SUCCESS)
        return status;
    check(rocprofiler_get_group(context, 0, group));
    entry->group = *group;
    entry_count++;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t see(hsa_ven_amd_aqlprofile_info_type_t type,
                        hsa_ven_amd_aqlprofile_info_data_t *info, void *tokens)
{
    (void)type;
    tokens_read(tokens, info->trace_data.ptr, info->trace_data.size);
    return HSA_STATUS_SUCCESS;
}

static void entry_write(FILE *output, struct entry *entry)
{
    const rocprofiler_callback_data_t *data = &entry->data;
    struct tokens tokens = {0};
    check(rocprofiler_group_get_data(&entry->group));
    hsa_status_t status = rocprofiler_iterate_trace_data(entry->group.context, see, &tokens);
    const char *words = status == HSA_STATUS_SUCCESS                  ? "complete"
                        : status == HSA_STATUS_ERROR_OUT_OF_RESOURCES ? "cut"
                                                                      : "failed";
    fprintf(output, "%s %s %s waves %llu begun %llu buffer %u iterate %s\n",
            data->kernel_name ? data->kernel_name : "-", data->record ? "times" : "-",
            data->thread_id ? "thread" : "-",
            (unsigned long long)entry->features[0].data.result_int64,
            (unsigned long long)tokens.begun, entry->features[1].data.result_bytes.size, words);
    check(rocprofiler_close(entry->group.context));
}

static void setting_take(rocprofiler_settings_t *settings, const char *name, uint32_t value)
{
    const struct {
        const char *name;
        uint32_t *place;
    } known[] = {{"memcopy_tracking", &settings->memcopy_tracking},
                 {"trace_size", &settings->trace_size},
                 {"trace_local", &settings->trace_local},
                 {"hsa_intercepting", &settings->hsa_intercepting},
                 {"k_concurrent", &settings->k_concurrent},
                 {"opt_mode", &settings->opt_mode},
                 {"obj_dumping", &settings->obj_dumping},
                 {"callbacks", &wants_callbacks}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (!strcmp(known[i].name, name))
            *known[i].place = value;
}

void OnLoadToolProp(rocprofiler_settings_t *settings);
void OnLoadToolProp(rocprofiler_settings_t *settings)
{
    const char *wanted = getenv("V1_SETTINGS");
    char *copy = strdup(wanted ? wanted : ""), *rest = NULL;
    for (char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        char *value = strchr(word, '=');
        if (!value)
            continue;
        *value++ = 0;
        setting_take(settings, word, (uint32_t)strtoul(value, NULL, 0));
    }
    free(copy);
    if (wants_callbacks)
        check(rocprofiler_set_queue_callbacks(
            (rocprofiler_queue_callbacks_t){.dispatch = dispatch_callback}, NULL));
}

void OnUnloadTool(void);
void OnUnloadTool(void)
{
    const char *path = getenv("V1_TOOL_OUTPUT");
    FILE *output = path ? fopen(path, "a") : NULL;
    if (wants_callbacks)
        check(rocprofiler_remove_queue_callbacks());
    for (uint32_t i = 0; output && i < entry_count; i++)
        entry_write(output, &entries[i]);
    if (output)
        fclose(output);
}
