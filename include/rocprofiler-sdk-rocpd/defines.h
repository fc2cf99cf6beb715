/* Linkage macros of the database schema's library. */
#ifndef ROCPROFILER_SDK_ROCPD_DEFINES_H
#define ROCPROFILER_SDK_ROCPD_DEFINES_H

#ifndef ROCPD_API
#define ROCPD_API __attribute__((visibility("default")))
#endif

#if defined(__GNUC__) && !defined(rocpd_EXPORTS)
#define ROCPD_NONNULL(...) __attribute__((nonnull(__VA_ARGS__)))
#else
#define ROCPD_NONNULL(...)
#endif

#ifdef __cplusplus
#define ROCPD_EXTERN_C_INIT extern "C" {
#define ROCPD_EXTERN_C_FINI }
#else
#define ROCPD_EXTERN_C_INIT
#define ROCPD_EXTERN_C_FINI
#endif

/* Clients who define ROCPD_EXPERIMENTAL_WARNINGS are told of what may still change. */
#if defined(ROCPD_EXPERIMENTAL_WARNINGS) && ROCPD_EXPERIMENTAL_WARNINGS > 0
#define ROCPD_EXPERIMENTAL __attribute__((deprecated("experimental: may change without notice")))
#else
#define ROCPD_EXPERIMENTAL
#endif

#endif
