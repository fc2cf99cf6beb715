#include "list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "avail.h"
#include "fits.h"
#include "list_json.h"
#include "match.h"
#include "names/counters.h"
#include "names/nearest.h"
#include "worth.h"

enum { EXIT_NOTHING = 1, EXIT_USAGE = 2 };

static bool is_wanted_agent(const struct avail_agent *agent, const char *wanted)
{
    char *end;
    if (!avail_is_gpu(agent))
        return false;
    if (!wanted)
        return true;
    unsigned long node = strtoul(wanted, &end, 10);
    return *wanted && !*end ? agent->agent->node_id == node
                            : strcasestr(agent->agent->name, wanted) != NULL;
}

static void instances_put(const rocprofiler_counter_info_v1_t *counter, char *text, size_t size)
{
    if (counter->is_constant || counter->dimensions_instances_count <= 1)
        snprintf(text, size, "%s", counter->is_constant ? "-" : "1");
    else
        snprintf(text, size, "%llu", (unsigned long long)counter->dimensions_instances_count);
}

static void details_print(const rocprofiler_counter_info_v1_t *counter)
{
    if (counter->is_derived && counter->expression[0])
        printf("      = %s\n", counter->expression);
    if (counter->dimensions_count == 0 || counter->is_constant)
        return;
    fputs("      instances:", stdout);
    for (uint64_t i = 0; i < counter->dimensions_count; i++)
        printf(" %s[0:%zu]", counter->dimensions[i]->name,
               counter->dimensions[i]->instance_size - 1);
    putchar('\n');
}

static void counter_print(const struct list_request *request, const struct list_gpu *gpu,
                          const rocprofiler_counter_info_v1_t *counter)
{
    char instances[24];
    instances_put(counter, instances, sizeof instances);
    const char *block = counter->is_constant  ? "constant"
                        : counter->is_derived ? "derived"
                                              : counter->block;
    printf("  %-36s %-8s %9s", counter->name, block, instances);
    if (gpu->says)
        printf("  %-12s", worth_name(gpu->agent, counter));
    printf("  %s\n", counter->description);
    if (request->details)
        details_print(counter);
}

static void gpu_print(const struct list_request *request, const struct list_gpu *gpu)
{
    const rocprofiler_agent_v0_t *agent = gpu->agent->agent;
    printf("Agent %u: %s (%s), %u compute units, %u XCC\n", agent->node_id, agent->name,
           agent->product_name, agent->cu_count, agent->num_xcc);
    printf("  %-36s %-8s %9s", "counter", "block", "instances");
    printf("%s  what it counts\n", gpu->says ? "  class       " : "");
    for (size_t i = 0; i < gpu->agent->count; i++)
        if (gpu->shown[i])
            counter_print(request, gpu, &gpu->agent->counters[i]);
    if (gpu->agent->count == 0)
        puts("  its counters are not known");
}

/* Marks what matches any of the patterns; how many do. Without any, properties of the agent, which
 * nobody collects, are left to JSON. */
static size_t matches_mark(const struct list_request *request, const struct list_gpu *gpu,
                           struct match *const *matches)
{
    size_t count = 0;
    for (size_t i = 0; i < gpu->agent->count; i++) {
        bool shown =
            request->pattern_count == 0 && (request->json || !gpu->agent->counters[i].is_constant);
        for (unsigned j = 0; j < request->pattern_count && !shown; j++)
            shown = match_is(matches[j], gpu->agent->counters[i].name);
        gpu->shown[i] = shown;
        count += shown;
    }
    return count;
}

static const char *nearest_name(const struct avail *avail, const char *name)
{
    struct nearest nearest;
    nearest_begin(&nearest, name);
    for (unsigned i = 0; i < avail->count; i++)
        for (size_t j = 0; j < avail->agents[i].count; j++)
            nearest_add(&nearest, avail->agents[i].counters[j].name);
    return nearest.best;
}

static int nothing_tell(const struct avail *avail, const struct list_request *request)
{
    const char *best =
        request->pattern_count == 1 ? nearest_name(avail, request->patterns[0]) : NULL;
    if (best)
        fprintf(stderr, "crocprof: no counter matches %s (did you mean %s?)\n",
                request->patterns[0], best);
    else
        fprintf(stderr, "crocprof: no counter matches\n");
    return EXIT_NOTHING;
}

/* ---- what fits */

/* The names as counters of this GPU. False after a line to stderr. */
static bool counters_find(const struct avail *avail, const struct list_request *request,
                          const struct avail_agent *agent, rocprofiler_counter_id_t *ids)
{
    for (unsigned i = 0; i < request->pattern_count; i++) {
        const char *name = request->patterns[i];
        const rocprofiler_counter_info_v1_t *found = avail_counter_named(agent, name);
        if ((found && strcmp(found->name, name) == 0) || strchr(name, '[')) {
            if (counter_find(agent->agent->id, name, &ids[i]))
                continue;
        }
        const char *best = found ? found->name : nearest_name(avail, name);
        fprintf(stderr, "crocprof: unknown counter %s on %s (%s%s%s)\n", name, agent->agent->name,
                best ? "did you mean " : "see crocprof list", best ? best : "", best ? "?" : "");
        return false;
    }
    return true;
}

static void plan_print(const struct list_request *request, const struct avail_agent *agent,
                       const struct fits *fits)
{
    printf("Agent %u: %s: ", agent->agent->node_id, agent->agent->name);
    if (fits->passes == 1) {
        puts("one run of the program");
        return;
    }
    printf("%u runs of the program: %s\n", fits->passes, fits->why);
    for (uint32_t pass = 0; pass < fits->passes; pass++) {
        printf("  run %u:", pass + 1);
        for (unsigned i = 0; i < request->pattern_count; i++)
            if (fits->pass_of[i] == pass)
                printf(" %s", request->patterns[i]);
        putchar('\n');
    }
}

static int gpu_fits(const struct avail *avail, const struct list_request *request,
                    const struct avail_agent *agent, struct fits *fits)
{
    static rocprofiler_counter_id_t ids[FITS_COUNTERS_MAX];
    if (!counters_find(avail, request, agent, ids))
        return EXIT_USAGE;
    rocprofiler_status_t status = fits_plan(fits, agent, ids, request->pattern_count);
    if (status != ROCPROFILER_STATUS_SUCCESS) {
        fprintf(stderr, "crocprof: %s: %s%s%s\n", agent->agent->name,
                rocprofiler_get_status_string(status), fits->why[0] ? ": " : "", fits->why);
        return EXIT_NOTHING;
    }
    if (request->json)
        list_json_fits(request, agent, fits);
    else
        plan_print(request, agent, fits);
    return fits->passes > 1 ? EXIT_NOTHING : 0;
}

static int fits_print(const struct avail *avail, const struct list_request *request)
{
    static struct fits fits;
    int result = 0;
    if (request->pattern_count == 0 || request->pattern_count > FITS_COUNTERS_MAX) {
        fprintf(stderr, "crocprof: --fits needs counters, at most %d\n", FITS_COUNTERS_MAX);
        return EXIT_USAGE;
    }
    unsigned printed = 0;
    fputs(request->json ? "[" : "", stdout);
    for (unsigned i = 0; i < avail->count; i++) {
        if (!is_wanted_agent(&avail->agents[i], request->agent))
            continue;
        fputs(request->json && printed++ > 0 ? ",\n " : "", stdout);
        int status = gpu_fits(avail, request, &avail->agents[i], &fits);
        result = status > result ? status : result;
    }
    fputs(request->json ? "]\n" : "", stdout);
    return result;
}

/* ---- what there is */

static bool gpu_open(struct list_gpu *gpu, const struct avail_agent *agent)
{
    gpu->agent = agent;
    gpu->shown = calloc(agent->count + 1, sizeof *gpu->shown);
    gpu->says = worth_is_stated(agent);
    return gpu->shown != NULL;
}

static size_t gpu_show(const struct list_request *request, const struct avail_agent *agent,
                       struct match *const *matches, bool first)
{
    struct list_gpu gpu;
    if (!gpu_open(&gpu, agent))
        return 0;
    size_t count = matches_mark(request, &gpu, matches);
    if (request->json)
        list_json_gpu(request, &gpu, first);
    else if (count > 0 || request->pattern_count == 0)
        gpu_print(request, &gpu);
    free(gpu.shown);
    return count;
}

static int counters_print(const struct avail *avail, const struct list_request *request,
                          struct match *const *matches)
{
    size_t count = 0;
    bool first = true;
    fputs(request->json ? "[" : "", stdout);
    for (unsigned i = 0; i < avail->count; i++) {
        if (!is_wanted_agent(&avail->agents[i], request->agent))
            continue;
        count += gpu_show(request, &avail->agents[i], matches, first);
        first = false;
    }
    fputs(request->json ? "]\n" : "", stdout);
    return count > 0 || request->pattern_count == 0 ? 0 : nothing_tell(avail, request);
}

static int matching_print(const struct avail *avail, const struct list_request *request)
{
    struct match **matches = calloc(request->pattern_count + 1, sizeof(struct match *));
    char why[128];
    int status = matches ? 0 : EXIT_USAGE;
    for (unsigned i = 0; i < request->pattern_count && status == 0; i++) {
        matches[i] = match_create(request->patterns[i], why, sizeof why);
        if (matches[i])
            continue;
        fprintf(stderr, "crocprof: %s: %s\n", request->patterns[i], why);
        status = EXIT_USAGE;
    }
    if (status == 0)
        status = counters_print(avail, request, matches);
    for (unsigned i = 0; matches && i < request->pattern_count; i++)
        match_destroy(matches[i]);
    free(matches);
    return status;
}

static int agents_check(const struct avail *avail, const struct list_request *request)
{
    for (unsigned i = 0; i < avail->count; i++)
        if (is_wanted_agent(&avail->agents[i], request->agent))
            return 0;
    if (request->agent)
        fprintf(stderr, "crocprof: --agent %s: there is no such GPU\n", request->agent);
    else
        fprintf(stderr, "crocprof: no GPU found\n");
    return EXIT_USAGE;
}

int list_print(const struct list_request *request)
{
    static struct avail avail;
    rocprofiler_status_t status = avail_read(&avail);
    if (status != ROCPROFILER_STATUS_SUCCESS) {
        fprintf(stderr, "crocprof: %s\n", rocprofiler_get_status_string(status));
        return EXIT_USAGE;
    }
    int result = agents_check(&avail, request);
    if (result == 0)
        result = request->fits ? fits_print(&avail, request) : matching_print(&avail, request);
    avail_free(&avail);
    /* A reader that has had enough, as head(1), is no mistake. */
    if ((fflush(stdout) != 0 || ferror(stdout)) && errno != EPIPE) {
        perror("crocprof: output");
        return EXIT_USAGE;
    }
    return result;
}
