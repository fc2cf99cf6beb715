/* Imports of libhsakmt's functions in the loaded libraries. Internal to this folder. */
#ifndef INTERCEPT_THUNK_OBJECTS_H
#define INTERCEPT_THUNK_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

struct thunk_visit {
    bool has_runtime;       /* an HSA runtime is loaded */
    uint32_t import_count;  /* slots there are */
    uint32_t rerouted;      /* slots that have a wrapper now and had none */
    uint32_t refused;       /* pages that could not be made writable */
    uint32_t foreign_count; /* slots of another copy of the library than the traced one */
};

/* Visits every object, with the dynamic linker's lock held. False: it cannot be done here. Slots
 * of functions that are wanted are rerouted. */
bool thunk_objects_visit(struct thunk_visit *visit);

#endif
