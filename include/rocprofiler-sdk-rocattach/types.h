/* Types of the attaching library. */
#ifndef ROCPROFILER_SDK_ROCATTACH_TYPES_H
#define ROCPROFILER_SDK_ROCATTACH_TYPES_H

#include <stdint.h>

typedef enum rocattach_status_t {
    ROCATTACH_STATUS_SUCCESS = 0,
    ROCATTACH_STATUS_ERROR,                  /**< A message on stderr says what */
    ROCATTACH_STATUS_ERROR_INVALID_ARGUMENT, /**< No such attachment, one too many, no tool */
    ROCATTACH_STATUS_ERROR_NOT_SUPPORTED,    /**< Not on this processor, or not that process */
    ROCATTACH_STATUS_ERROR_PTRACE_ERROR,     /**< ptrace failed for another reason than below */
    ROCATTACH_STATUS_ERROR_PTRACE_OPERATION_NOT_PERMITTED, /**< Not our process to trace */
    ROCATTACH_STATUS_ERROR_PTRACE_PROCESS_NOT_FOUND,       /**< It is not there, or has ended */
    ROCATTACH_STATUS_LAST,
} rocattach_status_t;

typedef struct rocattach_version_triplet_t {
    uint32_t major;
    uint32_t minor;
    uint32_t patch;
} rocattach_version_triplet_t;

#endif
