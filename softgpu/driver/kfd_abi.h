/*
 * The AMDKFD interface as this driver speaks it: the kernel's header, and the numbers and
 * structures newer kernels added (Debian 12 ships version 1.11 of the header).
 */
#ifndef DRIVER_KFD_ABI_H
#define DRIVER_KFD_ABI_H

#include <linux/kfd_ioctl.h>
#include <stdint.h>

/* 12 promises dmabuf export, 13 runtime enable, 14 the ages of events, 15 mappings by GEM_VA (here
 * amdgpu_bo_va_op), 16 contiguous memory (all is), 17 SDMA queues on a named engine. */
enum { KFD_MAJOR = 1, KFD_MINOR = 17 };

enum {
    KFD_NR_EXPORT_DMABUF = 0x24,
    KFD_NR_RUNTIME_ENABLE = 0x25,
    KFD_NR_DBG_TRAP = 0x26,
    KFD_NR_IPC_IMPORT_HANDLE = 0x80, /* out-of-tree driver from here on */
    KFD_NR_IPC_EXPORT_HANDLE = 0x81,
    KFD_NR_DBG_TRAP_OLD = 0x82,
    KFD_NR_CROSS_MEMORY_COPY = 0x83,
    KFD_NR_RLC_SPM = 0x84,
    KFD_NR_PC_SAMPLE = 0x85,
    KFD_NR_PROFILER = 0x86,
};

/* Names shared memory between processes. */
struct storage_name {
    uint32_t words[4];
};

/* First member of kfd_event_data for signals, since 1.14; 0: not asked for. */
struct kfd_event_age {
    uint64_t last;
};

struct kfd_export_dmabuf_args {
    uint64_t handle;
    uint32_t flags; /* of open(2) */
    uint32_t dmabuf_fd;
};

struct kfd_ipc_export_args {
    uint64_t handle;
    struct storage_name name;
    uint32_t gpu_id, flags;
};

struct kfd_ipc_import_args {
    uint64_t handle, va_addr, mmap_offset;
    struct storage_name name;
    uint32_t gpu_id, flags;
};

enum { KFD_RUNTIME_ENABLE = 1 };
#define KFD_RUNTIME_CAN_DUMP_CORE 0x80000000u

struct kfd_runtime_enable_args {
    uint64_t r_debug;
    uint32_t mode_mask;
    uint32_t capabilities_mask;
};

/* Begins a queue's ctx_save_restore area; since 1.13 the runtime says in it how it wants to be told
 * of the queue's exceptions. */
struct kfd_save_area_header {
    uint32_t control_stack_offset, control_stack_bytes, wave_state_offset, wave_state_bytes;
    uint32_t debug_offset, debug_bytes;
    uint64_t error_word_va;
    uint32_t error_event_id, reserved;
};

enum { KFD_QUEUE_TYPE_SDMA_BY_ENGINE = 4 };

/* The uAPI header shifts a signed 1 into the sign bit, which C leaves undefined. */
#define KFD_ALLOC_WRITABLE (1u << 31)

/* 1.15 of the header added EXT_COHERENT, for memory and for ranges of shared virtual memory. */
enum {
    KFD_ALLOC_EXT_COHERENT = 1 << 24,
    KFD_SVM_FLAG_EXT_COHERENT = 0x80,
    KFD_COHERENCE_FLAGS =
        KFD_IOC_ALLOC_MEM_FLAGS_COHERENT | KFD_IOC_ALLOC_MEM_FLAGS_UNCACHED | KFD_ALLOC_EXT_COHERENT
};

#endif
