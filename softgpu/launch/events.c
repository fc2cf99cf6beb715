#include "launch/events.h"

#include <stdio.h>

#include "perf/perf.h"

enum { EXIT_BAD_USAGE = 2 };

static int events_print(const char *gpu)
{
    const struct gpu_model *model = gpu_model_find(gpu);
    struct perf_event event;
    if (!model) {
        fprintf(stderr, "crocgpu events: unknown GPU %s; known: gfx90a, gfx906, gfx908, gfx942\n",
                gpu);
        return EXIT_BAD_USAGE;
    }
    for (size_t at = 0; perf_event_next(model->gen, &at, &event);)
        printf("%-7s %-8s %4u  %-12s %s\n", gpu, event.block, event.number, event.klass,
               event.name);
    return ferror(stdout) ? 1 : 0;
}

int events_command(int count, char **arguments)
{
    int status = 0;
    if (count == 0)
        return events_print("gfx90a");
    for (int i = 0; i < count && status == 0; i++)
        status = events_print(arguments[i]);
    return status;
}
