/* Markers: a program says what it is doing, and a profiler that listens shows it. */
#ifndef ROCPROFILER_SDK_ROCTX_ROCTX_H
#define ROCPROFILER_SDK_ROCTX_ROCTX_H

#include <stddef.h>
#include <stdint.h>

#include <rocprofiler-sdk-roctx/defines.h>
#include <rocprofiler-sdk-roctx/types.h>
#include <rocprofiler-sdk-roctx/version.h>

ROCTX_EXTERN_C_INIT

/* ---- what happens --------------------------------------------------------------------------- */

/** A moment. */
void roctxMarkA(const char *message) ROCTX_API ROCTX_NONNULL(1);

/** Begins a range nested in the thread's open ones. Returns its depth, from 0; negative: error. */
int roctxRangePushA(const char *message) ROCTX_API ROCTX_NONNULL(1);

/** Ends the thread's innermost range. Returns its depth; negative when none is open. */
int roctxRangePop(void) ROCTX_API;

/** Begins a range that any thread may end, and that may overlap others. */
roctx_range_id_t roctxRangeStartA(const char *message) ROCTX_API ROCTX_NONNULL(1);

void roctxRangeStop(roctx_range_id_t id) ROCTX_API;

#ifndef roctxMark
#define roctxMark(message) roctxMarkA(message)
#endif
#ifndef roctxRangePush
#define roctxRangePush(message) roctxRangePushA(message)
#endif
#ifndef roctxRangeStart
#define roctxRangeStart(message) roctxRangeStartA(message)
#endif

/* ---- requests to the profiler: 0 on success; a profiler may ignore them ---------------------- */

int roctxProfilerPause(roctx_thread_id_t tid) ROCTX_API;
int roctxProfilerResume(roctx_thread_id_t tid) ROCTX_API;

/* ---- names for what the profiler shows ------------------------------------------------------- */

/** The calling thread. */
int roctxNameOsThread(const char *name) ROCTX_API ROCTX_NONNULL(1);

int roctxNameHsaAgent(const char *name, const struct hsa_agent_s *agent) ROCTX_API
    ROCTX_NONNULL(1, 2);

int roctxNameHipDevice(const char *name, int device_id) ROCTX_API ROCTX_NONNULL(1);

int roctxNameHipStream(const char *name, const struct ihipStream_t *stream) ROCTX_API
    ROCTX_NONNULL(1);

/** The id to pass above. */
int roctxGetThreadId(roctx_thread_id_t *tid) ROCTX_API ROCTX_NONNULL(1);

ROCTX_EXTERN_C_FINI

#endif
