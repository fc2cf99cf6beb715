/* The lines of the text files. The caller gives the record; the writer keeps the first error. */
#ifndef ROCTRACER_PLUGIN_FILE_LINES_H
#define ROCTRACER_PLUGIN_FILE_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include <roctracer/roctracer.h>

#include "names/demangle.h"
#include "out/writer.h"

/* For HSA_API, HIP_API and KFD_API: `data` is the callback's. */
void line_call(struct writer *writer, const roctracer_record_t *record, const void *data,
               struct demangled *names, bool short_names);
void line_marker(struct writer *writer, const roctracer_record_t *record, const void *data);
void line_hip_operation(struct writer *writer, const roctracer_record_t *record,
                        struct demangled *names, uint32_t process_id);
void line_copy(struct writer *writer, const roctracer_record_t *record, uint32_t process_id);
void line_agent(struct writer *writer, uint64_t handle, bool is_cpu);

#endif
