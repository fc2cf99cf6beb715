/* Linkage macros of the attaching library. */
#ifndef ROCPROFILER_SDK_ROCATTACH_DEFINES_H
#define ROCPROFILER_SDK_ROCATTACH_DEFINES_H

#ifndef ROCATTACH_API
#define ROCATTACH_API __attribute__((visibility("default")))
#endif

#if defined(__GNUC__) && !defined(rocattach_EXPORTS)
#define ROCATTACH_NONNULL(...) __attribute__((nonnull(__VA_ARGS__)))
#else
#define ROCATTACH_NONNULL(...)
#endif

#ifdef __cplusplus
#define ROCATTACH_EXTERN_C_INIT extern "C" {
#define ROCATTACH_EXTERN_C_FINI }
#else
#define ROCATTACH_EXTERN_C_INIT
#define ROCATTACH_EXTERN_C_FINI
#endif

#endif
