/*
 * values DIRECTORY-OF-KERNELS [load=FILE | append=FILE | create=NAME:EXPRESSION | NAME] ...
 *
 * Loads and makes counters, then counts each NAME around one launch of 8 work-groups on the first
 * GPU and prints what came:
 *      load STATUS | create NAME STATUS | missing NAME | refused NAME STATUS
 *      value NAME INSTANCES SUM | expression NAME TEXT | description NAME TEXT
 */
#include <rocprofiler-sdk/experimental/counters.h>
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "counters.h"
#include "gpu.h"

static rocprofiler_context_id_t context;
static rocprofiler_counter_config_id_t chosen;
static size_t instances;
static double sum;

static void choose(rocprofiler_dispatch_counting_service_data_t data,
                   rocprofiler_counter_config_id_t *config, rocprofiler_user_data_t *user_data,
                   void *arg)
{
    (void)data, (void)user_data, (void)arg;
    *config = chosen;
}

static void record(rocprofiler_dispatch_counting_service_data_t data,
                   rocprofiler_counter_record_t *records, size_t count,
                   rocprofiler_user_data_t user_data, void *arg)
{
    (void)data, (void)user_data, (void)arg;
    instances = count;
    sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += records[i].counter_value;
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    (void)finalize, (void)data;
    OK(rocprofiler_create_context(&context));
    OK(rocprofiler_configure_callback_dispatch_counting_service(context, choose, NULL, record,
                                                                NULL));
    return 0;
}

static rocprofiler_tool_configure_result_t *
configure(uint32_t version, const char *name, uint32_t priority, rocprofiler_client_id_t *id)
{
    static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, NULL, NULL};
    (void)version, (void)name, (void)priority;
    id->name = "values";
    return &result;
}

static void load(const char *path, rocprofiler_counter_flag_t flags)
{
    char text[1 << 16];
    FILE *file = fopen(path, "r");
    size_t size = file ? fread(text, 1, sizeof text, file) : 0;
    if (file)
        fclose(file);
    printf("load %d\n", (int)rocprofiler_load_counter_definition(text, size, flags));
}

static void create(const char *text)
{
    const char *expression = strchr(text, ':') + 1;
    size_t length = (size_t)(expression - 1 - text);
    rocprofiler_counter_id_t id;
    rocprofiler_status_t status = rocprofiler_create_counter(
        text, length, expression, strlen(expression), "", 0, gpu_agents[0]->id, &id);
    printf("create %.*s %d\n", (int)length, text, (int)status);
}

static void count(const char *name)
{
    rocprofiler_counter_id_t id = counter_find(gpu_agents[0]->id, name);
    rocprofiler_counter_info_v0_t info;
    if (id.handle == 0) {
        printf("missing %s\n", name);
        return;
    }
    OK(rocprofiler_query_counter_info(id, ROCPROFILER_COUNTER_INFO_VERSION_0, &info));
    printf("expression %s %s\ndescription %s %s\n", name, info.expression, name, info.description);
    chosen.handle = 0;
    rocprofiler_status_t status =
        rocprofiler_create_counter_config(gpu_agents[0]->id, &id, 1, &chosen);
    if (status != ROCPROFILER_STATUS_SUCCESS) {
        printf("refused %s %d\n", name, (int)status);
        return;
    }
    gpu_run(&gpus[0], 8);
    printf("value %s %zu %.17g\n", name, instances, sum);
}

int main(int argc, char **argv)
{
    for (int i = 2; i < argc; i++) {
        if (strncmp(argv[i], "load=", 5) == 0)
            load(argv[i] + 5, ROCPROFILER_COUNTER_FLAG_NONE);
        else if (strncmp(argv[i], "append=", 7) == 0)
            load(argv[i] + 7, ROCPROFILER_COUNTER_FLAG_APPEND_DEFINITION);
    }
    OK(rocprofiler_force_configure(configure));
    agents_load();
    gpus_open(argv[1]);
    OK(rocprofiler_start_context(context));
    for (int i = 2; i < argc; i++) {
        if (strncmp(argv[i], "create=", 7) == 0)
            create(argv[i] + 7);
        else if (!strchr(argv[i], '='))
            count(argv[i]);
    }
    OK(rocprofiler_stop_context(context));
    gpus_close();
    return 0;
}
