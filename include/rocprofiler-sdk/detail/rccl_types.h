/*
 * The RCCL header where it is installed, otherwise the few of its types that arguments need, with
 * the same binary layout. Define ROCPROFILER_SDK_USE_SYSTEM_RCCL as 1 when yours is included under
 * another name than <rccl/rccl.h>.
 */
#ifndef ROCPROFILER_SDK_DETAIL_RCCL_TYPES_H
#define ROCPROFILER_SDK_DETAIL_RCCL_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include <rocprofiler-sdk/detail/hip_types.h>

#ifdef __has_include
#if __has_include(<rccl/rccl.h>)
#include <rccl/rccl.h>
#define ROCPROFILER_SDK_USE_SYSTEM_RCCL 1
#endif
#endif

#ifndef ROCPROFILER_SDK_USE_SYSTEM_RCCL
#ifdef __cplusplus
extern "C" {
#endif

typedef const struct ncclComm *ncclComm_t;
typedef struct ncclConfig_v21700 ncclConfig_t;
typedef int mscclAlgoHandle_t;

typedef struct {
    char internal[128];
} ncclUniqueId;

typedef enum {
    ncclSuccess = 0,
    ncclUnhandledCudaError = 1,
    ncclSystemError = 2,
    ncclInternalError = 3,
    ncclInvalidArgument = 4,
    ncclInvalidUsage = 5,
    ncclRemoteError = 6,
    ncclInProgress = 7,
    ncclNumResults = 8
} ncclResult_t;

typedef enum {
    ncclSum = 0,
    ncclProd = 1,
    ncclMax = 2,
    ncclMin = 3,
    ncclAvg = 4,
    ncclNumOps = 5,           /* numbers from here on name operations that the program made */
    ncclMaxRedOp = 0x7fffffff /* an int holds them all */
} ncclRedOp_t;

typedef enum {
    ncclInt8 = 0,
    ncclChar = 0,
    ncclUint8 = 1,
    ncclInt32 = 2,
    ncclInt = 2,
    ncclUint32 = 3,
    ncclInt64 = 4,
    ncclUint64 = 5,
    ncclFloat16 = 6,
    ncclHalf = 6,
    ncclFloat32 = 7,
    ncclFloat = 7,
    ncclFloat64 = 8,
    ncclDouble = 8,
    ncclBfloat16 = 9,
    ncclFp8E4M3 = 10,
    ncclFp8E5M2 = 11,
    ncclNumTypes = 12
} ncclDataType_t;

typedef enum { ncclScalarDevice = 0, ncclScalarHostImmediate = 1 } ncclScalarResidence_t;

#ifdef __cplusplus
}
#endif
#endif

#endif
