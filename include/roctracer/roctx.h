/* Markers, version 4.1: a program says what it is doing, and a profiler that listens shows it.
 * Every function may be called from any thread. */
#ifndef ROCTX_H_
#define ROCTX_H_ 1

#ifndef ROCTX_CALL
#define ROCTX_CALL
#endif
#ifndef ROCTX_EXPORT_DECORATOR
#define ROCTX_EXPORT_DECORATOR __attribute__((visibility("default")))
#endif
#ifndef ROCTX_IMPORT_DECORATOR
#define ROCTX_IMPORT_DECORATOR
#endif
#ifndef ROCTX_EXPORT
#define ROCTX_EXPORT ROCTX_EXPORT_DECORATOR ROCTX_CALL
#endif
#ifndef ROCTX_IMPORT
#define ROCTX_IMPORT ROCTX_IMPORT_DECORATOR ROCTX_CALL
#endif

/* ROCTX_EXPORTS is defined only while the library itself is compiled. */
#ifndef ROCTX_API
#ifdef ROCTX_EXPORTS
#define ROCTX_API ROCTX_EXPORT
#else
#define ROCTX_API ROCTX_IMPORT
#endif
#endif

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Marks functions that dlvsym() finds under "ROCTX_4.1". */
#define ROCTX_VERSION_4_1

#define ROCTX_VERSION_MAJOR 4
#define ROCTX_VERSION_MINOR 1

/** Of the installed library. A program fits when the major numbers are equal and its minor number
 * is not larger. */
ROCTX_API uint32_t roctx_version_major(void) ROCTX_VERSION_4_1;
ROCTX_API uint32_t roctx_version_minor(void) ROCTX_VERSION_4_1;

/** A moment. */
ROCTX_API void roctxMarkA(const char *message) ROCTX_VERSION_4_1;
#define roctxMark(message) roctxMarkA(message)

/** Begins a range nested in the thread's open ones. Returns its level, from 0. */
ROCTX_API int roctxRangePushA(const char *message) ROCTX_VERSION_4_1;
#define roctxRangePush(message) roctxRangePushA(message)

/** Ends the thread's innermost range. Returns its level; negative when none is open. */
ROCTX_API int roctxRangePop(void) ROCTX_VERSION_4_1;

typedef uint64_t roctx_range_id_t;

/** Begins a range that any thread may end, and that may overlap others. Ids begin with 1. */
ROCTX_API roctx_range_id_t roctxRangeStartA(const char *message) ROCTX_VERSION_4_1;
#define roctxRangeStart(message) roctxRangeStartA(message)

ROCTX_API void roctxRangeStop(roctx_range_id_t id) ROCTX_VERSION_4_1;

#ifdef __cplusplus
}
#endif

#endif
