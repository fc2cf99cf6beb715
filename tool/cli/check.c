#include "check.h"

#include <crocprof/plan.h>
#include <crocprof/quality.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counting/choice.h"
#include "names/nearest.h"

enum { EXIT_USAGE = 2 };

/* What one GPU does not count. */
struct unknown {
    char (*names)[CHOICE_NAME_BYTES];
    size_t count, room;
};

static void unknown_note(const char *name, void *data)
{
    struct unknown *unknown = data;
    if (unknown->count == unknown->room) {
        size_t room = unknown->room ? 2 * unknown->room : 8;
        void *more = realloc(unknown->names, room * sizeof *unknown->names);
        if (!more)
            return;
        unknown->names = more;
        unknown->room = room;
    }
    snprintf(unknown->names[unknown->count++], CHOICE_NAME_BYTES, "%s", name);
}

static bool is_unknown(const struct unknown *unknown, const char *name)
{
    for (size_t i = 0; i < unknown->count; i++)
        if (strcmp(unknown->names[i], name) == 0)
            return true;
    return false;
}

/* Visits the counters of a GPU. */
struct visit {
    void (*each)(const rocprofiler_counter_info_v0_t *info, void *data);
    void *data;
};

static rocprofiler_status_t counters_visit(rocprofiler_agent_id_t agent,
                                           rocprofiler_counter_id_t *counters, size_t count,
                                           void *data)
{
    const struct visit *visit = data;
    rocprofiler_counter_info_v0_t info;
    (void)agent;
    for (size_t i = 0; i < count; i++)
        if (rocprofiler_query_counter_info(counters[i], ROCPROFILER_COUNTER_INFO_VERSION_0,
                                           &info) == ROCPROFILER_STATUS_SUCCESS)
            visit->each(&info, visit->data);
    return ROCPROFILER_STATUS_SUCCESS;
}

static void nearest_offer(const rocprofiler_counter_info_v0_t *info, void *data)
{
    nearest_add(data, info->name);
}

static int unknown_tell(const char *name, const rocprofiler_agent_v0_t *gpu)
{
    struct nearest nearest;
    struct visit visit = {nearest_offer, &nearest};
    nearest_begin(&nearest, name);
    rocprofiler_iterate_agent_supported_counters(gpu->id, counters_visit, &visit);
    if (nearest.best)
        fprintf(stderr, "crocprof: unknown counter %s on %s (did you mean %s?)\n", name, gpu->name,
                nearest.best);
    else
        fprintf(stderr, "crocprof: unknown counter %s on %s (see crocprof list)\n", name,
                gpu->name);
    return EXIT_USAGE;
}

/* "NAME:device=N": 0, or an exit status after a line. */
static int device_check(const char *name, unsigned gpus)
{
    static const char key[] = ":device=";
    const char *device = strstr(name, key);
    const char *number = device ? device + strlen(key) : "0";
    if (*number && !number[strspn(number, "0123456789")] && strtoul(number, NULL, 10) < gpus)
        return 0;
    fprintf(stderr, "crocprof: %s: there is no such GPU (the machine has %u, counted from 0)\n",
            name, gpus);
    return EXIT_USAGE;
}

/* A name that no GPU counts is a mistake; one that some do not is worth a line. */
static int names_check(const char *text, const struct choice_gpus *gpus,
                       const struct unknown *unknown)
{
    char name[CHOICE_NAME_BYTES];
    unsigned line = 0;
    while (choice_name_next(&text, &line, name)) {
        unsigned without = 0;
        if (device_check(name, gpus->count) != 0)
            return EXIT_USAGE;
        choice_is_for(name, 0); /* cuts the device off */
        for (unsigned i = 0; i < gpus->count; i++)
            without += is_unknown(&unknown[i], name);
        if (without == gpus->count)
            return unknown_tell(name, gpus->gpu[0]);
        for (unsigned i = 0; i < gpus->count && without > 0; i++)
            if (is_unknown(&unknown[i], name))
                fprintf(stderr, "crocprof: agent %u (%s) does not count %s\n",
                        gpus->gpu[i]->node_id, gpus->gpu[i]->name, name);
    }
    return 0;
}

static int plan_tell(const rocprofiler_agent_v0_t *gpu, rocprofiler_status_t status,
                     rocprofiler_counter_id_t failed)
{
    char text[600];
    if (status == ROCPROFILER_STATUS_ERROR_EXCEEDS_HW_LIMIT &&
        crocprof_plan_explain(gpu->id, &failed, 1, text, sizeof text) == ROCPROFILER_STATUS_SUCCESS)
        fprintf(stderr, "crocprof: %s: one counter needs more than the hardware has: %s\n",
                gpu->name, text);
    else
        fprintf(stderr, "crocprof: %s: %s\n", gpu->name, rocprofiler_get_status_string(status));
    return EXIT_USAGE;
}

/* Prints a line "PASS NAME" for each. */
static void passes_print(const struct choice *choice)
{
    rocprofiler_counter_info_v0_t info;
    for (size_t i = 0; i < choice->count; i++)
        if (rocprofiler_query_counter_info(choice->ids[i], ROCPROFILER_COUNTER_INFO_VERSION_0,
                                           &info) == ROCPROFILER_STATUS_SUCCESS)
            printf("%u %s\n", choice->pass_of[i], info.name);
}

/* A line about those that the device says it does not count. */
static void quality_tell(const rocprofiler_agent_v0_t *gpu, const struct choice *choice)
{
    const char *before = "";
    for (size_t i = 0; i < choice->count; i++) {
        rocprofiler_counter_info_v0_t info;
        crocprof_quality_t quality;
        if (crocprof_quality_of_counter(gpu->id, choice->ids[i], &quality) !=
                ROCPROFILER_STATUS_SUCCESS ||
            quality != CROCPROF_QUALITY_NOT_COUNTED ||
            rocprofiler_query_counter_info(choice->ids[i], ROCPROFILER_COUNTER_INFO_VERSION_0,
                                           &info) != ROCPROFILER_STATUS_SUCCESS)
            continue;
        if (!*before)
            fprintf(stderr, "crocprof: agent %u (%s) says that it does not count, and reads as 0:",
                    gpu->node_id, gpu->name);
        fprintf(stderr, "%s %s", before, info.name);
        before = ",";
    }
    if (*before)
        fputc('\n', stderr);
}

/* Prints what is counted in which pass, then how often the program must run. */
static int counters_check(const char *text, const struct choice_gpus *gpus)
{
    static struct unknown unknown[CHOICE_AGENTS_MAX];
    uint32_t most = 1;
    int result = 0;
    for (unsigned i = 0; i < gpus->count && result == 0; i++) {
        struct choice choice;
        rocprofiler_counter_id_t failed = {0};
        rocprofiler_status_t status =
            choice_make(&choice, gpus->gpu[i], i, text, unknown_note, &unknown[i], &failed);
        most = choice.pass_count > most ? choice.pass_count : most;
        if (status == ROCPROFILER_STATUS_SUCCESS) {
            passes_print(&choice);
            quality_tell(gpus->gpu[i], &choice);
        }
        choice_free(&choice);
        if (status != ROCPROFILER_STATUS_SUCCESS)
            result = plan_tell(gpus->gpu[i], status, failed);
    }
    if (result == 0)
        result = names_check(text, gpus, unknown);
    for (unsigned i = 0; i < gpus->count; i++)
        free(unknown[i].names);
    if (result == 0)
        printf("%u\n", most);
    return result;
}

/* Prints the names that some GPU counts, on one line, joined by commas. */
static int offered_print(const char *text, const struct choice_gpus *gpus)
{
    static struct unknown unknown[CHOICE_AGENTS_MAX];
    const char *rest = text, *before = "";
    char name[CHOICE_NAME_BYTES];
    unsigned line = 0;
    for (unsigned i = 0; i < gpus->count; i++) {
        struct choice choice;
        rocprofiler_counter_id_t failed = {0};
        choice_make(&choice, gpus->gpu[i], i, text, unknown_note, &unknown[i], &failed);
        choice_free(&choice);
    }
    while (choice_name_next(&rest, &line, name)) {
        unsigned without = 0;
        for (unsigned i = 0; i < gpus->count; i++)
            without += is_unknown(&unknown[i], name);
        if (without < gpus->count) {
            printf("%s%s", before, name);
            before = ",";
        }
    }
    putchar('\n');
    for (unsigned i = 0; i < gpus->count; i++)
        free(unknown[i].names);
    return 0;
}

int cli_check(void)
{
    struct settings settings;
    struct choice_gpus gpus;
    settings_from_environment(&settings);
    rocprofiler_status_t status = choice_definitions_load(&settings);
    if (status != ROCPROFILER_STATUS_SUCCESS) {
        fprintf(stderr, "crocprof: --extra-counters: %s\n", rocprofiler_get_status_string(status));
        return EXIT_USAGE;
    }
    status = choice_gpus_find(&gpus);
    if (status != ROCPROFILER_STATUS_SUCCESS || gpus.count == 0) {
        fprintf(stderr, "crocprof: no GPU found: %s\n", rocprofiler_get_status_string(status));
        return EXIT_USAGE;
    }
    const char *text = settings_text(&settings, OPTION_COUNTERS);
    if (getenv("CROCPROF_CHECK_OFFERED"))
        return offered_print(text ? text : "", &gpus);
    return counters_check(text ? text : "", &gpus);
}
