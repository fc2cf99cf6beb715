/* What the generated API wrappers (gen/hsa_wrappers.py) and the hand-written service wrappers
 * share. Internal to this folder. */
#ifndef INTERCEPT_HSA_WRAPPERS_H
#define INTERCEPT_HSA_WRAPPERS_H

#include "intercept/hsa/tables.h"
#include "model/trace.h"

/* The runtime's own functions, for our calls: never traced. Written while a table is installed,
 * before any wrapper is reachable. */
extern struct hsa_runtime hsa_real;

/* What an API wrapper calls: the runtime's function, or our service wrapper around it. */
extern struct hsa_runtime hsa_next;

struct hsa_wrapper {
    enum hsa_function function;
    void *wrapper;
};

/* Of one table: functions `first` + i, which are the domain's operations i. */
struct hsa_api_wrappers {
    enum trace_domain domain;
    enum hsa_function first;
    uint32_t count;
    const int32_t *wrappers; /* base/code_table.h */
};

extern const struct hsa_api_wrappers hsa_wrappers_core, hsa_wrappers_amd_ext,
    hsa_wrappers_image_ext, hsa_wrappers_finalize_ext;

/* Service wrappers: dispatches, copies, allocations, code objects. Each module says which functions
 * it wants to wrap and whether anybody configured what they feed. */
struct hsa_service {
    const char *name;
    bool (*wanted)(void);
    bool (*start)(void);           /* may be NULL; false: leave the wrappers out */
    void (*wrappers_are_in)(void); /* looks at what was there before; may be NULL */
    const struct hsa_wrapper *wrappers;
    uint32_t wrapper_count;
};

extern const struct hsa_service hsa_service_queues, hsa_service_copies, hsa_service_memory,
    hsa_service_objects, hsa_service_lifecycle;

#endif
