#include "domains.h"

const struct domain domains[DOMAIN_COUNT] = {
#define X(id, name, title, rows, stats) [DOMAIN_##id] = {name, title, rows, stats},
    DOMAINS(X)
#undef X
};

#define SERVICE(kind, option, domain)                                                              \
    {                                                                                              \
        ROCPROFILER_BUFFER_TRACING_##kind, OPTION_##option, DOMAIN_##domain,                       \
            ROCPROFILER_BUFFER_TRACING_NONE                                                        \
    }
#define SERVICE_EXT(kind, option, domain)                                                          \
    {                                                                                              \
        ROCPROFILER_BUFFER_TRACING_##kind, OPTION_##option, DOMAIN_##domain,                       \
            ROCPROFILER_BUFFER_TRACING_##kind##_EXT                                                \
    }
const struct domain_service domain_services[] = {
    SERVICE(KERNEL_DISPATCH, KERNEL_TRACE, KERNEL),
    SERVICE(MEMORY_COPY, MEMORY_COPY_TRACE, COPY),
    SERVICE(MEMORY_ALLOCATION, MEMORY_ALLOCATION_TRACE, ALLOCATION),
    SERVICE(SCRATCH_MEMORY, SCRATCH_MEMORY_TRACE, SCRATCH),
    SERVICE_EXT(HIP_RUNTIME_API, HIP_RUNTIME_TRACE, HIP),
    SERVICE_EXT(HIP_COMPILER_API, HIP_COMPILER_TRACE, HIP),
    SERVICE(HIP_EVENT, HIP_EVENT_TRACE, EVENT),
    SERVICE(HSA_CORE_API, HSA_CORE_TRACE, HSA),
    SERVICE(HSA_AMD_EXT_API, HSA_AMD_TRACE, HSA),
    SERVICE(HSA_IMAGE_EXT_API, HSA_IMAGE_TRACE, HSA),
    SERVICE(HSA_FINALIZE_EXT_API, HSA_FINALIZER_TRACE, HSA),
    SERVICE(RCCL_API, RCCL_TRACE, RCCL),
    SERVICE_EXT(ROCDECODE_API, ROCDECODE_TRACE, ROCDECODE),
    SERVICE(ROCJPEG_API, ROCJPEG_TRACE, ROCJPEG),
    SERVICE_EXT(HIPFILE_API, HIPFILE_TRACE, HIPFILE),
    SERVICE_EXT(ROCSHMEM_API, ROCSHMEM_TRACE, ROCSHMEM),
    SERVICE(OMPT, OMPT_TRACE, OMPT),
    SERVICE(KFD_PAGE_MIGRATE, KFD_PAGE_MIGRATION_TRACE, KFD),
    SERVICE(KFD_PAGE_FAULT, KFD_PAGE_MAPPING_TRACE, KFD),
    SERVICE(KFD_EVENT_UNMAP_FROM_GPU, KFD_PAGE_MAPPING_TRACE, KFD),
    SERVICE(KFD_QUEUE, KFD_QUEUE_TRACE, KFD),
    SERVICE(KFD_EVENT_DROPPED_EVENTS, KFD_DROPPED_EVENTS_TRACE, KFD),
    {ROCPROFILER_BUFFER_TRACING_NONE, OPTION_COUNT, DOMAIN_COUNT, ROCPROFILER_BUFFER_TRACING_NONE},
};

const struct domain_service *domain_service_find(rocprofiler_buffer_tracing_kind_t kind)
{
    for (const struct domain_service *service = domain_services;
         service->kind != ROCPROFILER_BUFFER_TRACING_NONE; service++)
        if (service->kind == kind || service->kind_with_arguments == kind)
            return service;
    return NULL;
}
