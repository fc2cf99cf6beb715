/* The exported functions are defined under other names, so that each can be given two versions
 * (internal.h). Included before the public headers. */
#ifndef API_ROCTRACER_NAMES_H
#define API_ROCTRACER_NAMES_H

#define OnLoad   impl_OnLoad
#define OnUnload impl_OnUnload
#define roctracer_activity_pop_external_correlation_id                                             \
    impl_roctracer_activity_pop_external_correlation_id
#define roctracer_activity_push_external_correlation_id                                            \
    impl_roctracer_activity_push_external_correlation_id
#define roctracer_close_pool                  impl_roctracer_close_pool
#define roctracer_close_pool_expl             impl_roctracer_close_pool_expl
#define roctracer_default_pool                impl_roctracer_default_pool
#define roctracer_default_pool_expl           impl_roctracer_default_pool_expl
#define roctracer_disable_activity            impl_roctracer_disable_activity
#define roctracer_disable_callback            impl_roctracer_disable_callback
#define roctracer_disable_domain_activity     impl_roctracer_disable_domain_activity
#define roctracer_disable_domain_callback     impl_roctracer_disable_domain_callback
#define roctracer_disable_op_activity         impl_roctracer_disable_op_activity
#define roctracer_disable_op_callback         impl_roctracer_disable_op_callback
#define roctracer_enable_activity             impl_roctracer_enable_activity
#define roctracer_enable_activity_expl        impl_roctracer_enable_activity_expl
#define roctracer_enable_callback             impl_roctracer_enable_callback
#define roctracer_enable_domain_activity      impl_roctracer_enable_domain_activity
#define roctracer_enable_domain_activity_expl impl_roctracer_enable_domain_activity_expl
#define roctracer_enable_domain_callback      impl_roctracer_enable_domain_callback
#define roctracer_enable_op_activity          impl_roctracer_enable_op_activity
#define roctracer_enable_op_activity_expl     impl_roctracer_enable_op_activity_expl
#define roctracer_enable_op_callback          impl_roctracer_enable_op_callback
#define roctracer_error_string                impl_roctracer_error_string
#define roctracer_flush_activity              impl_roctracer_flush_activity
#define roctracer_flush_activity_expl         impl_roctracer_flush_activity_expl
#define roctracer_flush_buf                   impl_roctracer_flush_buf
#define roctracer_get_timestamp               impl_roctracer_get_timestamp
#define roctracer_load                        impl_roctracer_load
#define roctracer_mark                        impl_roctracer_mark
#define roctracer_next_record                 impl_roctracer_next_record
#define roctracer_op_code                     impl_roctracer_op_code
#define roctracer_op_string                   impl_roctracer_op_string
#define roctracer_open_pool                   impl_roctracer_open_pool
#define roctracer_open_pool_expl              impl_roctracer_open_pool_expl
#define roctracer_set_properties              impl_roctracer_set_properties
#define roctracer_start                       impl_roctracer_start
#define roctracer_stop                        impl_roctracer_stop
#define roctracer_unload                      impl_roctracer_unload
#define roctracer_version_major               impl_roctracer_version_major
#define roctracer_version_minor               impl_roctracer_version_minor

#endif
