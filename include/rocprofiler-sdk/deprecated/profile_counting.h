/*
 * 0.x names of the counting services. Inline for source compatibility; the library also exports
 * the functions, because clients look them up with dlsym. The layouts are those of 1.0.
 */
#ifndef ROCPROFILER_SDK_DEPRECATED_PROFILE_COUNTING_H
#define ROCPROFILER_SDK_DEPRECATED_PROFILE_COUNTING_H

#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/device_counting_service.h>
#include <rocprofiler-sdk/dispatch_counting_service.h>
#include <rocprofiler-sdk/fwd.h>

#if ROCPROFILER_SDK_BETA_COMPAT > 0

ROCPROFILER_EXTERN_C_INIT

typedef rocprofiler_dispatch_counting_service_data_t rocprofiler_profile_counting_dispatch_data_t;
typedef rocprofiler_dispatch_counting_service_record_t
    rocprofiler_profile_counting_dispatch_record_t;
typedef rocprofiler_dispatch_counting_service_cb_t rocprofiler_profile_counting_dispatch_callback_t;
typedef rocprofiler_dispatch_counting_record_cb_t rocprofiler_profile_counting_record_callback_t;
typedef rocprofiler_device_counting_service_cb_t rocprofiler_agent_profile_callback_t;

#ifdef rocprofiler_EXPORTS
#define ROCPROFILER_SDK_OLD_NAME(old, now, parameters, arguments)                                  \
    rocprofiler_status_t old parameters ROCPROFILER_API;
#else
#define ROCPROFILER_SDK_OLD_NAME(old, now, parameters, arguments)                                  \
    ROCPROFILER_SDK_DEPRECATED("now " #now)                                                        \
    static inline rocprofiler_status_t old parameters                                              \
    {                                                                                              \
        return now arguments;                                                                      \
    }
#endif

ROCPROFILER_SDK_OLD_NAME(rocprofiler_configure_buffered_dispatch_profile_counting_service,
                         rocprofiler_configure_buffer_dispatch_counting_service,
                         (rocprofiler_context_id_t context_id, rocprofiler_buffer_id_t buffer_id,
                          rocprofiler_dispatch_counting_service_cb_t callback,
                          void *callback_data_args),
                         (context_id, buffer_id, callback, callback_data_args))

ROCPROFILER_SDK_OLD_NAME(rocprofiler_configure_buffered_dispatch_counting_service,
                         rocprofiler_configure_buffer_dispatch_counting_service,
                         (rocprofiler_context_id_t context_id, rocprofiler_buffer_id_t buffer_id,
                          rocprofiler_dispatch_counting_service_cb_t callback,
                          void *callback_data_args),
                         (context_id, buffer_id, callback, callback_data_args))

ROCPROFILER_SDK_OLD_NAME(
    rocprofiler_configure_callback_dispatch_profile_counting_service,
    rocprofiler_configure_callback_dispatch_counting_service,
    (rocprofiler_context_id_t context_id,
     rocprofiler_dispatch_counting_service_cb_t dispatch_callback, void *dispatch_callback_args,
     rocprofiler_dispatch_counting_record_cb_t record_callback, void *record_callback_args),
    (context_id, dispatch_callback, dispatch_callback_args, record_callback, record_callback_args))

ROCPROFILER_SDK_OLD_NAME(rocprofiler_configure_agent_profile_counting_service,
                         rocprofiler_configure_device_counting_service,
                         (rocprofiler_context_id_t context_id, rocprofiler_buffer_id_t buffer_id,
                          rocprofiler_agent_id_t agent_id,
                          rocprofiler_device_counting_service_cb_t cb, void *user_data),
                         (context_id, buffer_id, agent_id, cb, user_data))

/* Without an array for the records: they go to the buffer only. */
ROCPROFILER_SDK_OLD_NAME(rocprofiler_sample_agent_profile_counting_service,
                         rocprofiler_sample_device_counting_service,
                         (rocprofiler_context_id_t context_id, rocprofiler_user_data_t user_data,
                          rocprofiler_counter_flag_t flags),
                         (context_id, user_data, flags, NULL, NULL))

#undef ROCPROFILER_SDK_OLD_NAME

ROCPROFILER_EXTERN_C_FINI

#endif

#endif
