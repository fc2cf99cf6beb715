/*
 * The rocJPEG header where it is installed, otherwise the few of its types that arguments need;
 * structures behind pointers stay opaque. Define ROCPROFILER_SDK_USE_SYSTEM_ROCJPEG as 1 when yours
 * is included under another name than <rocjpeg/rocjpeg.h>.
 */
#ifndef ROCPROFILER_SDK_DETAIL_ROCJPEG_TYPES_H
#define ROCPROFILER_SDK_DETAIL_ROCJPEG_TYPES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __has_include
#if __has_include(<rocjpeg/rocjpeg.h>)
#include <rocjpeg/rocjpeg.h>
#define ROCPROFILER_SDK_USE_SYSTEM_ROCJPEG 1
#endif
#endif

#ifndef ROCPROFILER_SDK_USE_SYSTEM_ROCJPEG
#ifdef __cplusplus
extern "C" {
#endif

typedef void *RocJpegHandle;
typedef void *RocJpegStreamHandle;

typedef enum {
    ROCJPEG_STATUS_NOT_IMPLEMENTED = -12,
    ROCJPEG_STATUS_RUNTIME_ERROR = -11,
    ROCJPEG_STATUS_HW_JPEG_DECODER_NOT_SUPPORTED = -10,
    ROCJPEG_STATUS_IMPLEMENTATION_NOT_SUPPORTED = -9,
    ROCJPEG_STATUS_INTERNAL_ERROR = -8,
    ROCJPEG_STATUS_ARCH_MISMATCH = -7,
    ROCJPEG_STATUS_EXECUTION_FAILED = -6,
    ROCJPEG_STATUS_OUTOF_MEMORY = -5,
    ROCJPEG_STATUS_JPEG_NOT_SUPPORTED = -4,
    ROCJPEG_STATUS_BAD_JPEG = -3,
    ROCJPEG_STATUS_INVALID_PARAMETER = -2,
    ROCJPEG_STATUS_NOT_INITIALIZED = -1,
    ROCJPEG_STATUS_SUCCESS = 0
} RocJpegStatus;

typedef enum {
    ROCJPEG_CSS_UNKNOWN = -1,
    ROCJPEG_CSS_444 = 0,
    ROCJPEG_CSS_440 = 1,
    ROCJPEG_CSS_422 = 2,
    ROCJPEG_CSS_420 = 3,
    ROCJPEG_CSS_411 = 4,
    ROCJPEG_CSS_400 = 5
} RocJpegChromaSubsampling;

typedef enum { ROCJPEG_BACKEND_HARDWARE = 0, ROCJPEG_BACKEND_HYBRID = 1 } RocJpegBackend;

typedef struct RocJpegDecodeParams RocJpegDecodeParams;
typedef struct RocJpegImage RocJpegImage;

#ifdef __cplusplus
}
#endif
#endif

#endif
