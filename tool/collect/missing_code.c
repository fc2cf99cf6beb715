#include "missing_code.h"

#include <errno.h>
#include <stdio.h>

#include "fatbin.h"
#include "launch/run_log.h"
#include "names.h"

void missing_code_tell(void)
{
    enum { LIST_BYTES = 1024 };
    struct fatbin fatbin;
    char list[LIST_BYTES];
    const char *missing = NULL;
    const rocprofiler_agent_v0_t *agent;
    fatbin_read("/proc/self/exe", &fatbin);
    for (unsigned i = 0; fatbin.is_known && (agent = names_agent_at(i)); i++) {
        if (agent->type != ROCPROFILER_AGENT_TYPE_GPU)
            continue;
        if (fatbin_serves(&fatbin, agent->name))
            return;
        missing = agent->name;
    }
    if (!missing)
        return;
    fatbin_list(&fatbin, list, sizeof list);
    run_log_put(RUN_LOG_NO_CODE, missing);
    fprintf(stderr,
            "crocprof: %s has code for %s, and the GPU here is %s: it cannot run the program's "
            "kernels (hipErrorNoBinaryForGpu); compile it with --offload-arch=%s\n",
            program_invocation_short_name, *list ? list : "no GPU", missing, missing);
}
