#include "list_json.h"

#include <stdio.h>

#include "agent_json.h"
#include "worth.h"

static void text_member_print(const char *name, const char *text)
{
    printf(", \"%s\": ", name);
    json_text_print(stdout, text);
}

static void dimensions_print(const rocprofiler_counter_info_v1_t *counter)
{
    fputs(", \"dimensions\": [", stdout);
    for (uint64_t i = 0; i < counter->dimensions_count && !counter->is_constant; i++) {
        printf("%s{\"name\": ", i ? ", " : "");
        json_text_print(stdout, counter->dimensions[i]->name);
        printf(", \"instances\": %zu}", counter->dimensions[i]->instance_size);
    }
    putchar(']');
}

static void counter_print(const struct list_gpu *gpu, const rocprofiler_counter_info_v1_t *counter)
{
    fputs("{\"name\": ", stdout);
    json_text_print(stdout, counter->name);
    printf(", \"id\": %llu, \"derived\": %s, \"constant\": %s",
           (unsigned long long)counter->id.handle, counter->is_derived ? "true" : "false",
           counter->is_constant ? "true" : "false");
    text_member_print("block", counter->block);
    if (gpu->says)
        text_member_print("class", worth_name(gpu->agent, counter));
    text_member_print("description", counter->description);
    text_member_print("expression", counter->expression);
    dimensions_print(counter);
    putchar('}');
}

void list_json_gpu(const struct list_request *request, const struct list_gpu *gpu, bool first)
{
    const char *before = "";
    (void)request;
    fputs(first ? "{\"agent\": " : ",\n {\"agent\": ", stdout);
    agent_json_print(stdout, gpu->agent->agent);
    fputs(",\n  \"counters\": [", stdout);
    for (size_t i = 0; i < gpu->agent->count; i++) {
        if (!gpu->shown[i])
            continue;
        printf("%s\n   ", before);
        counter_print(gpu, &gpu->agent->counters[i]);
        before = ",";
    }
    fputs("]}", stdout);
}

void list_json_fits(const struct list_request *request, const struct avail_agent *agent,
                    const struct fits *fits)
{
    printf("{\"node\": %u", agent->agent->node_id);
    text_member_print("agent", agent->agent->name);
    text_member_print("why", fits->why);
    fputs(", \"runs\": [", stdout);
    for (uint32_t pass = 0; pass < fits->passes; pass++) {
        const char *before = "";
        fputs(pass ? ", [" : "[", stdout);
        for (unsigned i = 0; i < request->pattern_count; i++) {
            if (fits->pass_of[i] != pass)
                continue;
            fputs(before, stdout);
            json_text_print(stdout, request->patterns[i]);
            before = ", ";
        }
        putchar(']');
    }
    fputs("]}", stdout);
}
