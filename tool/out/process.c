#include "process.h"

#include <stddef.h>

/* Set before writers are opened, by their thread. */
static const struct out_process *recorded;

const struct out_process *out_process(void)
{
    return recorded;
}

void out_process_set(const struct out_process *process)
{
    recorded = process;
}
