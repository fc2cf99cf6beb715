/*
 * What a library must export so that the tracer tool writes its output through it (chapters 3.8 and
 * 3.9). The tool calls one function at a time; records come in no particular order, a plugin whose
 * format needs one sorts.
 */
#ifndef ROCTRACER_PLUGIN_H_
#define ROCTRACER_PLUGIN_H_

#include "roctracer.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** First. The arguments are the version of the interface that the tool was built with. Returns 0,
 * or -1 when the major number is not the plugin's own, or the minor number is larger than the
 * plugin's own. */
ROCTRACER_EXPORT int roctracer_plugin_initialize(uint32_t roctracer_major_version,
                                                 uint32_t roctracer_minor_version);

/** Last, after all data. */
ROCTRACER_EXPORT void roctracer_plugin_finalize(void);

/** One callback: `callback_data` is the structure of record->domain (hip_api_data_t and so on);
 * both are valid during the call. Returns 0, or -1 on an error. */
ROCTRACER_EXPORT int roctracer_plugin_write_callback_record(const roctracer_record_t *record,
                                                            const void *callback_data);

/** Records from `begin` up to `end`, stepped through with roctracer_next_record(). Returns 0, or -1
 * on an error. */
ROCTRACER_EXPORT int roctracer_plugin_write_activity_records(const roctracer_record_t *begin,
                                                             const roctracer_record_t *end);

#ifdef __cplusplus
}
#endif

#endif
