/*
 * What a runtime calls when it starts: it hands over its API tables, so that a profiler in the
 * process can put its wrappers into them before the program makes its first call.
 */
#ifndef ROCPROFILER_REGISTER_H
#define ROCPROFILER_REGISTER_H

#include <stddef.h>
#include <stdint.h>

#include <rocprofiler-register/version.h>

#ifndef ROCPROFILER_REGISTER_ATTRIBUTE
#define ROCPROFILER_REGISTER_ATTRIBUTE(...) __attribute__((__VA_ARGS__))
#endif
#ifndef ROCPROFILER_REGISTER_PUBLIC_API
#define ROCPROFILER_REGISTER_PUBLIC_API ROCPROFILER_REGISTER_ATTRIBUTE(visibility("default"))
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum rocprofiler_register_error_code_t {
    ROCP_REG_SUCCESS = 0,
    ROCP_REG_NO_TOOLS,                 /**< Nobody wants the tables; not a failure of the runtime */
    ROCP_REG_DEADLOCK,                 /**< Called from inside a registration */
    ROCP_REG_BAD_API_TABLE_LENGTH,     /**< No tables */
    ROCP_REG_UNSUPPORTED_API,          /**< Unknown library name */
    ROCP_REG_INVALID_API_ADDRESS,      /**< A table lies outside the registering library */
    ROCP_REG_ROCPROFILER_ERROR,        /**< The profiler refused */
    ROCP_REG_EXCESS_API_INSTANCES,     /**< Too many copies of one library */
    ROCP_REG_INVALID_ARGUMENT,         /**< Attaching: no tool, or a bad environment buffer */
    ROCP_REG_ATTACHMENT_NOT_AVAILABLE, /**< Attaching: switched off in this process */
    ROCP_REG_ERROR_CODE_END,
} rocprofiler_register_error_code_t;

/** The spelling is the interface's. */
typedef struct {
    uint64_t handle;
} rocprofiler_register_library_indentifier_t;

/** Returns the library's version; its address proves which library registers. */
typedef uint32_t (*rocprofiler_register_import_func_t)(void);

/** lib_name: "hsa", "hip", "hip_compiler", "roctx", "rccl", "rocdecode", "rocjpeg", "rocshmem",
 * "hipFile". */
rocprofiler_register_error_code_t rocprofiler_register_library_api_table(
    const char *lib_name, rocprofiler_register_import_func_t import_func, uint32_t lib_version,
    void **api_tables, uint64_t api_table_length,
    rocprofiler_register_library_indentifier_t *register_id)
    ROCPROFILER_REGISTER_ATTRIBUTE(nonnull(4, 6)) ROCPROFILER_REGISTER_PUBLIC_API;

const char *rocprofiler_register_error_string(rocprofiler_register_error_code_t)
    ROCPROFILER_REGISTER_PUBLIC_API;

typedef struct rocprofiler_register_registration_info_t {
    size_t size;
    const char *common_name;
    uint32_t lib_version;
    uint64_t api_table_length;
} rocprofiler_register_registration_info_t;

/** A non-zero return ends the iteration. */
typedef int (*rocprofiler_register_registration_info_cb_t)(
    rocprofiler_register_registration_info_t *info, void *data);

rocprofiler_register_error_code_t
rocprofiler_register_iterate_registration_info(rocprofiler_register_registration_info_cb_t callback,
                                               void *data)
    ROCPROFILER_REGISTER_ATTRIBUTE(nonnull(1)) ROCPROFILER_REGISTER_PUBLIC_API;

/** The lib_version that a library registers; TWEAK has no room in it. */
#define ROCPROFILER_REGISTER_COMPUTE_VERSION_1(MAJOR) (10000 * (MAJOR))
#define ROCPROFILER_REGISTER_COMPUTE_VERSION_2(MAJOR, MINOR)                                       \
    (ROCPROFILER_REGISTER_COMPUTE_VERSION_1(MAJOR) + 100 * (MINOR))
#define ROCPROFILER_REGISTER_COMPUTE_VERSION_3(MAJOR, MINOR, PATCH)                                \
    (ROCPROFILER_REGISTER_COMPUTE_VERSION_2(MAJOR, MINOR) + (PATCH))
#define ROCPROFILER_REGISTER_COMPUTE_VERSION_4(MAJOR, MINOR, PATCH, TWEAK)                         \
    ROCPROFILER_REGISTER_COMPUTE_VERSION_3(MAJOR, MINOR, PATCH)

/** The import function of a library by its name, which may itself be a macro. */
#define ROCPROFILER_REGISTER_IMPORT_FUNC(NAME)                                                     \
    ROCPROFILER_REGISTER_PP_COMBINE(rocprofiler_register_import_, NAME)

/** Defines the import function that a runtime passes. */
#define ROCPROFILER_REGISTER_DEFINE_IMPORT(NAME, VERSION)                                          \
    ROCPROFILER_REGISTER_EXTERN_C ROCPROFILER_REGISTER_PUBLIC_API uint32_t                         \
        ROCPROFILER_REGISTER_IMPORT_FUNC(NAME)(void);                                              \
    uint32_t ROCPROFILER_REGISTER_IMPORT_FUNC(NAME)(void)                                          \
    {                                                                                              \
        return VERSION;                                                                            \
    }
#ifdef __cplusplus
#define ROCPROFILER_REGISTER_EXTERN_C extern "C"
#else
#define ROCPROFILER_REGISTER_EXTERN_C
#endif

#ifdef __cplusplus
}
#endif

#endif
