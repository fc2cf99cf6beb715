/*
 * The rocDecode headers where they are installed. Define ROCPROFILER_SDK_USE_SYSTEM_ROCDECODE as 1
 * when yours are included under other names than <rocdecode/...>.
 */
#ifndef ROCPROFILER_SDK_DETAIL_ROCDECODE_SYSTEM_H
#define ROCPROFILER_SDK_DETAIL_ROCDECODE_SYSTEM_H

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

#endif
