/*
 * Types of libhsakmt's functions. libhsakmt's own header is used where it is installed; elsewhere
 * the same names stand for types of the same size, opaque where a program only gets a pointer. A
 * program that has that header in a folder of its own includes it before ours.
 */
#ifndef ROCTRACER_EXT_KFD_TYPES_H_
#define ROCTRACER_EXT_KFD_TYPES_H_

#include <stdbool.h>
#include <stdint.h>

#include <rocprofiler-sdk/detail/hsakmt_types.h>

#if !defined(_HSAKMTTYPES_H_)

typedef uint32_t HSAuint32;
typedef int32_t HSAint32;
typedef uint64_t HSAuint64;
typedef HSAuint64 HSA_QUEUEID;
typedef HSAuint64 HSATraceId;
typedef HSAuint32 HsaSharedMemoryHandle[8];

/* Enumerations. */
typedef uint32_t HSAKMT_STATUS; /* 0: success */
typedef uint32_t HSA_QUEUE_TYPE;
typedef int64_t HSA_QUEUE_PRIORITY; /* has values that no type of 32 bits holds */
typedef uint32_t HSA_DBG_WAVEOP;
typedef uint32_t HSA_DBG_WAVEMODE;
typedef uint32_t HSA_DBG_WATCH_MODE;
typedef uint32_t HSA_DBG_TRAP_OVERRIDE;
typedef uint32_t HSA_DBG_TRAP_MASK;
typedef uint32_t HSA_DBG_WAVE_LAUNCH_MODE;
typedef uint32_t HSA_DEBUG_EVENT_TYPE;

/* Bit fields. */
typedef struct _HsaMemFlags {
    HSAuint32 Value;
} HsaMemFlags;
typedef struct _HsaMemMapFlags {
    HSAuint32 Value;
} HsaMemMapFlags;

#define ROCTRACER_KFD_OPAQUE(name) typedef struct _##name name
ROCTRACER_KFD_OPAQUE(HsaVersionInfo);
ROCTRACER_KFD_OPAQUE(HsaSystemProperties);
ROCTRACER_KFD_OPAQUE(HsaNodeProperties);
ROCTRACER_KFD_OPAQUE(HsaMemoryProperties);
ROCTRACER_KFD_OPAQUE(HsaCacheProperties);
ROCTRACER_KFD_OPAQUE(HsaIoLinkProperties);
ROCTRACER_KFD_OPAQUE(HsaEventDescriptor);
ROCTRACER_KFD_OPAQUE(HsaEvent);
ROCTRACER_KFD_OPAQUE(HsaQueueReport);
ROCTRACER_KFD_OPAQUE(HsaQueueResource);
ROCTRACER_KFD_OPAQUE(HsaQueueInfo);
ROCTRACER_KFD_OPAQUE(HsaGraphicsResourceInfo);
ROCTRACER_KFD_OPAQUE(HsaMemoryRange);
ROCTRACER_KFD_OPAQUE(HsaDbgWaveMessage);
ROCTRACER_KFD_OPAQUE(HsaClockCounters);
ROCTRACER_KFD_OPAQUE(HsaCounter);
ROCTRACER_KFD_OPAQUE(HsaCounterProperties);
ROCTRACER_KFD_OPAQUE(HsaPmcTraceRoot);
ROCTRACER_KFD_OPAQUE(HsaGpuTileConfig);
ROCTRACER_KFD_OPAQUE(HsaPointerInfo);
ROCTRACER_KFD_OPAQUE(HSA_SVM_ATTRIBUTE);
#undef ROCTRACER_KFD_OPAQUE

#endif

/* Younger than the oldest header of libhsakmt that is supported (ROCm 5.2). */
struct _HsaPcSamplingInfo;
struct kfd_ioctl_dbg_trap_args;

#endif
