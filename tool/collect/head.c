#include "head.h"

#include <crocprof/quality.h>

#include <unistd.h>

#include "names.h"
#include "out/rows.h"
#include "repeat.h"
#include "summary/table.h"

static void command_print(FILE *file)
{
    enum { COMMAND_BYTES = 1024 };
    char words[COMMAND_BYTES], shown[2 * COMMAND_BYTES], head[64];
    FILE *command = fopen("/proc/self/cmdline", "re");
    size_t length = command ? fread(words, 1, sizeof words - 1, command) : 0;
    if (command)
        fclose(command);
    for (size_t i = 0; i + 1 < length; i++)
        words[i] = words[i] ? words[i] : ' ';
    words[length] = 0;
    int head_length = snprintf(head, sizeof head, "process %ld: ", (long)getpid());
    size_t width = table_style_of(file).width;
    table_text(words, width > 40 ? width - (size_t)head_length : 0, shown, sizeof shown);
    fprintf(file, "\n%s%s\n", head, shown);
}

/* As it calls itself, and what it says of its times. */
static void device_print(FILE *file, const rocprofiler_agent_v0_t *agent)
{
    struct out_agent_row row = {.agent = *agent};
    char text[512];
    crocprof_quality_of_times(agent->id, &row.times);
    out_device_text(&row, text, sizeof text);
    fprintf(file, "device: %s\n", text);
}

static void devices_print(FILE *file)
{
    const rocprofiler_agent_v0_t *agent;
    for (unsigned i = 0; (agent = names_agent_at(i)); i++)
        if (agent->type == ROCPROFILER_AGENT_TYPE_GPU)
            device_print(file, agent);
}

static void passes_print(FILE *file)
{
    char text[512];
    if (repeat_told(text, sizeof text))
        fprintf(file, "passes: %s\n", text);
}

void head_print(FILE *file, const void *nothing)
{
    (void)nothing;
    command_print(file);
    devices_print(file);
    passes_print(file);
}
