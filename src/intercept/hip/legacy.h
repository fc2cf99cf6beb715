/* What gen/hip_legacy.py makes for hip/legacy.c. Internal to this folder. */
#ifndef INTERCEPT_HIP_LEGACY_H
#define INTERCEPT_HIP_LEGACY_H

#include <rocprofiler-sdk/hip.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/api_texts.h"
#include "model/trace.h"

/* Sorted by name. */
struct hip_operation {
    uint16_t name; /* place in api_texts */
    uint8_t domain;
    int16_t operation;
};
extern const struct hip_operation hip_operations[];
extern const uint32_t hip_operation_count;

/* False: built without the old generation's header; the functions below do nothing. */
extern const bool hip_legacy_has_arguments;

/* Does the header know the id by that name? Otherwise the runtime is of another release, whose
 * argument structures differ. */
bool hip_legacy_id_matches(uint32_t id, const char *name);

/* hip_api_data_t, which the runtime fills and only the generated code looks into. */
size_t hip_legacy_data_size(void);
void hip_legacy_phase_set(void *data, uint32_t phase);
uint32_t hip_legacy_phase(const void *data);
void hip_legacy_arguments(uint32_t id, const void *data, rocprofiler_hip_api_args_t *to);

#endif
