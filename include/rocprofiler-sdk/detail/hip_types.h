/*
 * The HIP header, and what newer ones declare by name that older ones lack. Most newer types appear
 * in the argument unions behind a pointer or as a plain integer, see gen/api_headers.py. Nothing
 * here goes by HIP's version: development releases have one number and the types of another, so
 * what is declared here is right whether or not the header has it, too.
 */
#ifndef ROCPROFILER_SDK_DETAIL_HIP_TYPES_H
#define ROCPROFILER_SDK_DETAIL_HIP_TYPES_H

#include <stddef.h>
#include <stdint.h>

/* Programs that never call HIP still include this through the tracing headers. */
#if !defined(__HIP_PLATFORM_AMD__) && !defined(__HIP_PLATFORM_NVIDIA__)
#define __HIP_PLATFORM_AMD__ 1
#endif
#ifdef __cplusplus /* as AMD's headers do, whose clients use what these bring (tests/headers) */
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#endif
#include <hip/hip_runtime_api.h>
#include <hip/hip_version.h>
#if __has_include(<hip/hip_gl_interop.h>)
#include <hip/hip_gl_interop.h> /* ROCm 7's hip_runtime_api.h leaves it to its users */
#endif
#if __has_include(<hip/linker_types.h>)
#include <hip/linker_types.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct hipArrayMemoryRequirements;
struct hipBatchMemOpNodeParams;
struct hipDevResource_st;
struct hipDevSmResourceGroupParams_st;
struct hipDeviceProp_tR0000;
struct hipDeviceProp_tR0600;
struct hipExternalMemoryMipmappedArrayDesc_st;
struct hipExternalSemaphoreSignalNodeParams;
struct hipExternalSemaphoreWaitNodeParams;
struct hipFunctionLaunchParams_t;
struct hipGraphEdgeData;
struct hipGraphInstantiateParams;
struct hipGraphNodeParams;
struct hipMemAllocNodeParams;
struct hipMemcpy3DBatchOp;
struct hipMemcpy3DPeerParms;
struct hipMemcpyAttributes;
struct hipUserObject;
union hipLaunchAttributeValue;
union hipStreamBatchMemOpParams_union;

/* As the headers that have them declare them: a repeated typedef of one type is allowed. */
typedef struct HIP_LAUNCH_CONFIG_st HIP_LAUNCH_CONFIG;
typedef struct hipLaunchConfig_st hipLaunchConfig_t;
typedef struct ihipDevResourceDesc_t *hipDevResourceDesc_t;
typedef struct ihipExecutionCtx_t *hipExecutionCtx_t;
typedef struct ihipKernel_t *hipKernel_t;
typedef struct ihipLibrary_t *hipLibrary_t;
typedef struct ihipLinkState_t *hipLinkState_t;

/* An enumeration cannot be repeated; this one has a header of its own. */
#if __has_include(<hip/linker_types.h>)
typedef hipJitInputType rocprofiler_hip_jit_input_type_t;
#else
typedef unsigned int rocprofiler_hip_jit_input_type_t;
#endif

#ifdef __cplusplus
}
#endif

#endif
