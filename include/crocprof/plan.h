/**
 * @file
 * Which counters fit together: Crocprof's addition to the counter interface of the SDK, exported by
 * librocprofiler-sdk.
 *
 * A block of the hardware counts only so many events at a time, so a configuration of many counters
 * is refused (EXCEEDS_HW_LIMIT). These functions say how to split it: collect one pass, run the
 * same work again, collect the next.
 *
 * Any thread, at any time; nothing is kept.
 */
#ifndef CROCPROF_PLAN_H
#define CROCPROF_PLAN_H

#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>

ROCPROFILER_EXTERN_C_INIT

/**
 * Distributes counters over passes. `pass_of[i]` becomes the pass of `counters[i]`, from 0;
 * `*pass_count` how many passes there are. The counters of one pass always make a configuration.
 *
 * Everything that a computed counter is computed from is in its own pass, so that a ratio is never
 * made of two different runs. Operands that counters share are counted once. There is no plan with
 * fewer passes, but for sets so hard to pack that the search for one is given up.
 *
 * INVALID_ARGUMENT (a NULL pointer with `count` > 0, or no pass_count), AGENT_NOT_FOUND,
 * AGENT_ARCH_NOT_SUPPORTED, COUNTER_NOT_FOUND, METRIC_NOT_VALID_FOR_AGENT, OUT_OF_RESOURCES, and
 * EXCEEDS_HW_LIMIT when one counter alone is too much; then `*pass_count` is its position.
 */
rocprofiler_status_t crocprof_plan_passes(rocprofiler_agent_id_t agent_id,
                                          const rocprofiler_counter_id_t *counters, size_t count,
                                          uint32_t *pass_of, uint32_t *pass_count) ROCPROFILER_API;

/**
 * Why counters do not fit together, in English: the blocks that are full, what they hold, and what
 * is asked of them. Empty when they fit. At most `size` bytes with the terminating zero.
 *
 * Errors as above, but for EXCEEDS_HW_LIMIT.
 */
rocprofiler_status_t crocprof_plan_explain(rocprofiler_agent_id_t agent_id,
                                           const rocprofiler_counter_id_t *counters, size_t count,
                                           char *text, size_t size) ROCPROFILER_API;

ROCPROFILER_EXTERN_C_FINI

#endif
