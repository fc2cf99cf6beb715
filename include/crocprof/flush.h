/**
 * @file
 * Crocprof's addition to the buffer interface of the SDK, exported by librocprofiler-sdk: a flush
 * after which nothing of the work submitted so far is missing.
 */
#ifndef CROCPROF_FLUSH_H
#define CROCPROF_FLUSH_H

#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>

ROCPROFILER_EXTERN_C_INIT

/**
 * As rocprofiler_flush_buffer(), but first waits for the kernels and copies that were submitted
 * before the call, so that their records are delivered, too. For the end of a phase that a tool
 * reports on: synchronising the device is not enough, since the runtime may learn of the last
 * completions before the profiler does.
 *
 * Any thread but those that deliver buffers (there it flushes and does not wait), and not inside of
 * a runtime's callback. Kernels may run for long; when nothing at all completes for two seconds,
 * what there is gets delivered and the answer is BUFFER_BUSY. Otherwise as the plain flush:
 * BUFFER_NOT_FOUND, FINALIZED.
 */
rocprofiler_status_t crocprof_flush_complete(rocprofiler_buffer_id_t buffer_id) ROCPROFILER_API;

ROCPROFILER_EXTERN_C_FINI

#endif
