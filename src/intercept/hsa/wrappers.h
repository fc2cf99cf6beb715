/* What the generated API wrappers (gen/hsa_wrappers.py) and the hand-written service wrappers
 * share. Internal to this folder. */
#ifndef INTERCEPT_HSA_WRAPPERS_H
#define INTERCEPT_HSA_WRAPPERS_H

#include "hsa_services.h"
#include "intercept/hsa/instance.h"
#include "model/trace.h"

/* Of one table: functions `first` + i, which are the domain's operations i. `wrappers` has one for
 * each instance, side by side. */
struct hsa_api_wrappers {
    enum trace_domain domain;
    enum hsa_function first;
    uint32_t count;
    const int32_t *wrappers; /* base/code_table.h */
};

extern const struct hsa_api_wrappers hsa_wrappers_core, hsa_wrappers_amd_ext,
    hsa_wrappers_image_ext, hsa_wrappers_finalize_ext;

/* Services: dispatches, copies, allocations, code objects. Each module says which functions it
 * wants to stand around and whether anybody configured what they feed. The functions are in
 * hsa_services.h; what a table gets is an entry that says whose call it is. */
struct hsa_service {
    const char *name;
    bool (*wanted)(void);
    /* May be NULL; false: leave the functions as they are. */
    bool (*start)(struct hsa_instance *runtime);
    /* Its functions are wrapped, and more may be wanted of them than then; may be NULL. */
    void (*renew)(struct hsa_instance *runtime);
    /* Looks at what was there before; may be NULL. */
    void (*wrappers_are_in)(struct hsa_instance *runtime);
    bool needs_agents;
    const enum hsa_function *functions;
    uint32_t function_count;
};

/* NULL: no service has that function. */
void *hsa_service_entry(enum hsa_function function, uint32_t instance);

extern const struct hsa_service hsa_service_queues, hsa_service_copies, hsa_service_memory,
    hsa_service_objects, hsa_service_lifecycle, hsa_service_replay;

#endif
