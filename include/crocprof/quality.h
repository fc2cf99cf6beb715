/**
 * @file
 * What a device says of its own measurements: Crocprof's addition to the counter interface of the
 * SDK, exported by librocprofiler-sdk.
 *
 * A driver may publish, beside the other files of a node in KFD's topology, one that is called
 * `measurement_quality`: of which counter events the values are what happened, of which they come
 * from a model, and which are not counted and read 0; and what its times are. Drivers of hardware
 * publish none, and nothing is stated of their counters.
 *
 * Any thread, at any time; what is handed out lives as long as the process.
 */
#ifndef CROCPROF_QUALITY_H
#define CROCPROF_QUALITY_H

#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>

ROCPROFILER_EXTERN_C_INIT

/** Worse ones are greater. */
typedef enum crocprof_quality_t {
    CROCPROF_QUALITY_NOT_STATED = 0,
    CROCPROF_QUALITY_EXACT,       /**< equals what executed */
    CROCPROF_QUALITY_MODELLED,    /**< of a deterministic model: the same run, the same value */
    CROCPROF_QUALITY_APPROXIMATE, /**< of the right kind, and not those of hardware */
    CROCPROF_QUALITY_NOT_COUNTED, /**< reads 0 */
} crocprof_quality_t;

/**
 * Of a counter on an agent; of a computed one the worst of its operands.
 *
 * INVALID_ARGUMENT, AGENT_NOT_FOUND, AGENT_ARCH_NOT_SUPPORTED, COUNTER_NOT_FOUND,
 * METRIC_NOT_VALID_FOR_AGENT, OUT_OF_RESOURCES.
 */
rocprofiler_status_t crocprof_quality_of_counter(rocprofiler_agent_id_t agent_id,
                                                 rocprofiler_counter_id_t counter_id,
                                                 crocprof_quality_t *quality) ROCPROFILER_API;

/**
 * What the times of an agent's kernels and copies are, in words ("wall time of ..."); NULL where
 * nothing is stated: the device's own clock.
 *
 * INVALID_ARGUMENT, AGENT_NOT_FOUND.
 */
rocprofiler_status_t crocprof_quality_of_times(rocprofiler_agent_id_t agent_id,
                                               const char **words) ROCPROFILER_API;

/**
 * How long a kernel takes by its device's own model of itself, in ns: the same in every run, where
 * its time stamps are of something else. From the record or the callback of a kernel that has
 * ended. 0 where the device states none, as hardware does.
 *
 * INVALID_ARGUMENT.
 */
rocprofiler_status_t
crocprof_quality_of_duration(const rocprofiler_kernel_dispatch_info_t *dispatch_info,
                             uint64_t *modelled_ns) ROCPROFILER_API;

ROCPROFILER_EXTERN_C_FINI

#endif
