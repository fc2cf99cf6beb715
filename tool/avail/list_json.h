/* `crocprof list --json`. */
#ifndef AVAIL_LIST_JSON_H
#define AVAIL_LIST_JSON_H

#include "avail.h"
#include "fits.h"
#include "list.h"

/* A GPU as it is listed. */
struct list_gpu {
    const struct avail_agent *agent;
    bool says;   /* what its counters are worth */
    bool *shown; /* by counter */
};

/* One element of the list of GPUs. */
void list_json_gpu(const struct list_request *request, const struct list_gpu *gpu, bool first);
/* The same of --fits. */
void list_json_fits(const struct list_request *request, const struct avail_agent *agent,
                    const struct fits *fits);

#endif
