/*
 * The hipFile header where it is installed, otherwise the types that arguments need, with the same
 * binary layout (as of ROCm 10.0). Define ROCPROFILER_SDK_USE_SYSTEM_HIPFILE as 1 when yours is
 * included under another name than <hipfile.h>.
 */
#ifndef ROCPROFILER_SDK_DETAIL_HIPFILE_TYPES_H
#define ROCPROFILER_SDK_DETAIL_HIPFILE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include <rocprofiler-sdk/detail/hip_types.h>

#ifdef __has_include
#if __has_include(<hipfile.h>)
#include <hipfile.h>
#define ROCPROFILER_SDK_USE_SYSTEM_HIPFILE 1
#endif
#endif

#ifndef ROCPROFILER_SDK_USE_SYSTEM_HIPFILE
#ifdef __cplusplus
extern "C" {
#endif

typedef off_t hoff_t;
typedef void *hipFileHandle_t;
typedef void *hipFileBatchHandle_t;
typedef struct hipFileDescr hipFileDescr_t;
typedef struct hipFileDriverProps hipFileDriverProps_t;
typedef struct hipFileIOParams hipFileIOParams_t;
typedef struct hipFileIOEvents hipFileIOEvents_t;

/** Those that programs meet most; the others are numbers between. */
typedef enum hipFileOpError {
    hipFileSuccess = 0,
    hipFileDriverNotInitialized = 5001,
    hipFileHipDriverError = 5011,
    hipFileInvalidValue = 5022,
    hipFileInternalError = 5030,
    hipFileIOMaxError = 5039
} hipFileOpError_t;

typedef struct hipFileError {
    hipFileOpError_t err;
    hipError_t hip_drv_err;
} hipFileError_t;

typedef enum hipFileSizeTConfigParameter_t {
    hipFileParamProfileStats = 0,
    hipFileParamPropertiesBatchIOTimeoutMs = 11
} hipFileSizeTConfigParameter_t;

typedef enum hipFileBoolConfigParameter_t {
    hipFileParamPropertiesUsePollMode = 0,
    hipFileParamStreamMemopsBypass = 11
} hipFileBoolConfigParameter_t;

typedef enum hipFileStringConfigParameter_t {
    hipFileParamLoggingLevel = 0,
    hipFileParamLogDir = 2
} hipFileStringConfigParameter_t;

#ifdef __cplusplus
}
#endif
#endif

#endif
