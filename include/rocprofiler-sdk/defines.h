/*
 * Macros shared by every header of the SDK interface: linkage, attributes, C++ guards and the two
 * switches a client may set before including anything:
 *
 *   ROCPROFILER_SDK_BETA_COMPAT (1)            keep the names of the 0.x releases
 *   ROCPROFILER_SDK_DEPRECATED_WARNINGS (0)    warn where a 0.x name is used
 *   ROCPROFILER_SDK_EXPERIMENTAL_WARNINGS (0)  warn where an experimental service is used
 */
#ifndef ROCPROFILER_SDK_DEFINES_H
#define ROCPROFILER_SDK_DEFINES_H

#include <stdint.h>

#ifndef ROCPROFILER_SDK_BETA_COMPAT
#define ROCPROFILER_SDK_BETA_COMPAT 1
#endif
#if ROCPROFILER_SDK_BETA_COMPAT > 0
#define ROCPROFILER_SDK_BETA_COMPAT_SUPPORTED 1
#endif
#ifndef ROCPROFILER_SDK_DEPRECATED_WARNINGS
#define ROCPROFILER_SDK_DEPRECATED_WARNINGS 0
#endif
#ifndef ROCPROFILER_SDK_EXPERIMENTAL_WARNINGS
#define ROCPROFILER_SDK_EXPERIMENTAL_WARNINGS 0
#endif

#ifndef ROCPROFILER_ATTRIBUTE
#define ROCPROFILER_ATTRIBUTE(...) __attribute__((__VA_ARGS__))
#endif
#ifndef ROCPROFILER_PUBLIC_API
#define ROCPROFILER_PUBLIC_API ROCPROFILER_ATTRIBUTE(visibility("default"))
#endif
#ifndef ROCPROFILER_HIDDEN_API
#define ROCPROFILER_HIDDEN_API ROCPROFILER_ATTRIBUTE(visibility("hidden"))
#endif
#ifndef ROCPROFILER_EXPORT_DECORATOR
#define ROCPROFILER_EXPORT_DECORATOR ROCPROFILER_PUBLIC_API
#endif
#ifndef ROCPROFILER_IMPORT_DECORATOR
#define ROCPROFILER_IMPORT_DECORATOR
#endif
#define ROCPROFILER_EXPORT ROCPROFILER_EXPORT_DECORATOR
#define ROCPROFILER_IMPORT ROCPROFILER_IMPORT_DECORATOR

/* rocprofiler_EXPORTS is defined only while the library itself is compiled. */
#ifndef ROCPROFILER_API
#ifdef rocprofiler_EXPORTS
#define ROCPROFILER_API ROCPROFILER_EXPORT
#else
#define ROCPROFILER_API ROCPROFILER_IMPORT
#endif
#endif

/* Inside the library the attribute would let the compiler delete the very checks for NULL that
 * turn a caller's mistake into a status. */
#if defined(__GNUC__) && !defined(rocprofiler_EXPORTS)
#define ROCPROFILER_NONNULL(...) __attribute__((nonnull(__VA_ARGS__)))
#else
#define ROCPROFILER_NONNULL(...)
#endif

#ifdef __cplusplus
#define ROCPROFILER_EXTERN_C_INIT                 extern "C" {
#define ROCPROFILER_EXTERN_C_FINI                 }
#define ROCPROFILER_CXX_CODE(...)                 __VA_ARGS__
#define ROCPROFILER_UINT64_C(value)               uint64_t(value)
#define ROCPROFILER_HANDLE_LITERAL(type, value)   (type{value})
#define ROCPROFILER_STATIC_ASSERT(condition, why) static_assert(condition, why)
#else
#define ROCPROFILER_EXTERN_C_INIT
#define ROCPROFILER_EXTERN_C_FINI
#define ROCPROFILER_CXX_CODE(...)
#define ROCPROFILER_UINT64_C(value)               UINT64_C(value)
#define ROCPROFILER_HANDLE_LITERAL(type, value)   ((type){value})
#define ROCPROFILER_STATIC_ASSERT(condition, why) _Static_assert(condition, why)
#endif

#if (defined(__cplusplus) && __cplusplus >= 201402L) ||                                            \
    (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
#define ROCPROFILER_SDK_DEPRECATED_MESSAGE(...) [[deprecated(__VA_ARGS__)]]
#else
#define ROCPROFILER_SDK_DEPRECATED_MESSAGE(...) ROCPROFILER_ATTRIBUTE(deprecated)
#endif
#define ROCPROFILER_SDK_EXPERIMENTAL_MESSAGE                                                       \
    ROCPROFILER_SDK_DEPRECATED_MESSAGE("experimental: may change before its first stable release")

#if ROCPROFILER_SDK_DEPRECATED_WARNINGS > 0
#define ROCPROFILER_SDK_DEPRECATED(...) ROCPROFILER_SDK_DEPRECATED_MESSAGE(__VA_ARGS__)
#else
#define ROCPROFILER_SDK_DEPRECATED(...)
#endif
#if ROCPROFILER_SDK_EXPERIMENTAL_WARNINGS > 0
#define ROCPROFILER_SDK_EXPERIMENTAL ROCPROFILER_SDK_EXPERIMENTAL_MESSAGE
#else
#define ROCPROFILER_SDK_EXPERIMENTAL
#endif

/* One integer per version, two decimal digits each for minor and patch: 1.2.3 is 10203. */
#define ROCPROFILER_SDK_COMPUTE_VERSION_VALUE(base, major, minor, patch)                           \
    ((base) * (base) * (major) + (base) * (minor) + (patch))
#define ROCPROFILER_SDK_COMPUTE_VERSION(major, minor, patch)                                       \
    ROCPROFILER_SDK_COMPUTE_VERSION_VALUE(100, major, minor, patch)

#endif
