/* `attach`: what --pid does, with the options of a record. */
#include "attach/attach.h"

#include <stddef.h>

#include "table.h"

static int attach_command_run(struct cli_options *line)
{
    return attach_run(line, line->operands[0]);
}

const struct command command_attach = {
    .name = "attach",
    .operands = "PID",
    .help = "profiles a process that runs already",
    .text =
        "Until Ctrl-C, a line of input, or --attach-duration-msec; then its tables are printed\n"
        "and its files complete, and it goes on without the profiler. It must be yours, and\n"
        "tracing it must be allowed (kernel.yama.ptrace_scope). Kernels of queues that are\n"
        "older than the attachment are seen only if it was started with ROCP_TOOL_ATTACH=1.",
    .takes_all = true,
    .operands_min = 1,
    .operands_max = 1,
    .run = attach_command_run,
};
