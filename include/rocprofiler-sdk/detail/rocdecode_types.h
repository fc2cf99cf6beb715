/*
 * The rocDecode headers where they are installed, otherwise the few types that arguments need:
 * structures behind pointers stay opaque. Define ROCPROFILER_SDK_USE_SYSTEM_ROCDECODE as 1 when
 * yours are included under other names than <rocdecode/...>.
 */
#ifndef ROCPROFILER_SDK_DETAIL_ROCDECODE_TYPES_H
#define ROCPROFILER_SDK_DETAIL_ROCDECODE_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include <rocprofiler-sdk/detail/hip_types.h>

#ifdef __has_include
#if __has_include(<rocdecode/rocdecode.h>) && __has_include(<rocdecode/rocparser.h>)
#include <rocdecode/rocdecode.h>
#include <rocdecode/rocparser.h>
#define ROCPROFILER_SDK_USE_SYSTEM_ROCDECODE 1
#endif
#if __has_include(<rocdecode/roc_bitstream_reader.h>)
#include <rocdecode/roc_bitstream_reader.h>
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ROCPROFILER_SDK_USE_SYSTEM_ROCDECODE
typedef void *rocDecDecoderHandle;
typedef void *RocdecVideoParser;

typedef enum rocDecStatus_enum {
    ROCDEC_NOT_SUPPORTED = -8,
    ROCDEC_NOT_INITIALIZED = -7,
    ROCDEC_NOT_IMPLEMENTED = -6,
    ROCDEC_INVALID_PARAMETER = -5,
    ROCDEC_OUTOF_MEMORY = -4,
    ROCDEC_RUNTIME_ERROR = -3,
    ROCDEC_CONTEXT_INVALID = -2,
    ROCDEC_DEVICE_INVALID = -1,
    ROCDEC_SUCCESS = 0
} rocDecStatus;

typedef enum rocDecVideoCodec_enum {
    rocDecVideoCodec_MPEG1 = 0,
    rocDecVideoCodec_MPEG2 = 1,
    rocDecVideoCodec_MPEG4 = 2,
    rocDecVideoCodec_AVC = 3,
    rocDecVideoCodec_HEVC = 4,
    rocDecVideoCodec_AV1 = 5,
    rocDecVideoCodec_VP8 = 6,
    rocDecVideoCodec_VP9 = 7,
    rocDecVideoCodec_JPEG = 8,
    rocDecVideoCodec_NumCodecs = 9,
    /* uncompressed formats by their four-letter code */
    rocDecVideoCodec_NV12 = 0x4e563132,
    rocDecVideoCodec_UYVY = 0x55595659,
    rocDecVideoCodec_YUV420 = 0x49595556,
    rocDecVideoCodec_YUYV = 0x59555956,
    rocDecVideoCodec_YV12 = 0x59563132
} rocDecVideoCodec;

typedef struct _RocdecDecodeCaps RocdecDecodeCaps;
typedef struct _RocDecoderCreateInfo RocDecoderCreateInfo;
typedef struct _RocdecDecodeStatus RocdecDecodeStatus;
typedef struct _RocdecReconfigureDecoderInfo RocdecReconfigureDecoderInfo;
typedef struct _RocdecPicParams RocdecPicParams;
typedef struct _RocdecProcParams RocdecProcParams;
typedef struct _RocdecSourceDataPacket RocdecSourceDataPacket;
typedef struct _RocdecParserParams RocdecParserParams;
#endif

/* Repeating a type definition is allowed; the reader came later than the rest. */
typedef void *RocdecBitstreamReader;

#ifdef __cplusplus
}
#endif

#endif
