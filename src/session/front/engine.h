/*
 * The private interface between libcrocprof and the front ends: one exported symbol, one table of
 * functions, and of tables of functions that are made elsewhere.
 *
 * A part that front ends need adds its rows to ENGINE_FUNCTIONS and its header to this folder. Both
 * sides are built together; `size` only guards against mixed installations.
 */
#ifndef SESSION_FRONT_ENGINE_H
#define SESSION_FRONT_ENGINE_H

#include "base/clock_pairs.h"
#include "counters/shape.h"
#include "model/hip_facts.h"
#include "model/hsa_facts.h"
#include "model/operations.h"
#include "model/thunk_call.h"
#include "session/front/buffers.h"
#include "session/front/contexts.h"
#include "session/front/counting.h"
#include "session/front/external.h"
#include "session/front/process.h"
#include "session/front/runtimes.h"
#include "session/front/services.h"
#include "session/front/subscriptions.h"
#include "topology/topology.h"

#define ENGINE_FUNCTIONS(X)                                                                        \
    X(context_create)                                                                              \
    X(context_create_front)                                                                        \
    X(context_start)                                                                               \
    X(context_stop)                                                                                \
    X(context_is_active)                                                                           \
    X(callback_service_configure)                                                                  \
    X(buffer_service_configure)                                                                    \
    X(request_service_configure)                                                                   \
    X(buffer_create)                                                                               \
    X(buffer_flush_complete)                                                                       \
    X(buffer_flush)                                                                                \
    X(buffer_destroy)                                                                              \
    X(callback_thread_create)                                                                      \
    X(callback_thread_assign)                                                                      \
    X(thread_callbacks_add)                                                                        \
    X(external_push)                                                                               \
    X(external_pop)                                                                                \
    X(session_force_configure)                                                                     \
    X(session_initialized_status)                                                                  \
    X(session_work_wait)                                                                           \
    X(session_work_collect)                                                                        \
    X(session_finalized_status)                                                                    \
    X(session_attach_load)                                                                         \
    X(session_attach)                                                                              \
    X(session_detach)                                                                              \
    X(attach_configuring_here)                                                                     \
    X(runtime_offer)                                                                               \
    X(runtime_registered_collect)                                                                  \
    X(runtime_arm)                                                                                 \
    X(runtime_first_use)                                                                           \
    X(runtime_hsa_leaving_watch)                                                                   \
    X(runtime_ompt_start)                                                                          \
    X(runtime_ompt_initialized)                                                                    \
    X(runtime_ompt_finalized)                                                                      \
    X(runtime_tables_watch)                                                                        \
    X(service_context_exists)                                                                      \
    X(operation_count)                                                                             \
    X(operation_name)                                                                              \
    X(callback_kind_name)                                                                          \
    X(buffer_kind_name)                                                                            \
    X(request_kind_name)                                                                           \
    X(domain_of_callback_kind)                                                                     \
    X(domain_of_buffer_kind)                                                                       \
    X(counting_agent_iterate)                                                                      \
    X(counting_info)                                                                               \
    X(counting_dimensions_iterate)                                                                 \
    X(counting_instance_count)                                                                     \
    X(counting_counter_create)                                                                     \
    X(counting_definition_load)                                                                    \
    X(counting_config_create)                                                                      \
    X(counting_config_destroy)                                                                     \
    X(counting_config_create_traced)                                                               \
    X(counting_trace_options_fill)                                                                 \
    X(counting_trace_parts)                                                                        \
    X(counting_trace_buffer)                                                                       \
    X(counting_trace_read)                                                                         \
    X(counting_trace_hold)                                                                         \
    X(counting_trace_release)                                                                      \
    X(counting_device_trace)                                                                       \
    X(counting_dispatch_configure_buffer)                                                          \
    X(counting_dispatch_configure_callback)                                                        \
    X(counting_plan_passes)                                                                        \
    X(counting_plan_explain)                                                                       \
    X(counting_quality_of_counter)                                                                 \
    X(counting_quality_of_times)                                                                   \
    X(counting_collector_create)                                                                   \
    X(counting_collector_destroy)                                                                  \
    X(counting_collectors_configure)                                                               \
    X(counting_agent_find)                                                                         \
    X(counting_catalog)                                                                            \
    X(counting_property)                                                                           \
    X(counting_event_counter)                                                                      \
    X(counting_owner_describe)                                                                     \
    X(catalog_counters)                                                                            \
    X(catalog_find)                                                                                \
    X(catalog_find_id)                                                                             \
    X(counter_shape)                                                                               \
    X(catalog_blocks)                                                                              \
    X(counting_device_configure)                                                                   \
    X(counting_device_sample)                                                                      \
    X(instance_counter_id)                                                                         \
    X(instance_position)                                                                           \
    X(topology_system)                                                                             \
    X(trace_time_ns)                                                                               \
    X(runtime_hsa_load)                                                                            \
    X(runtime_hsa_unload)                                                                          \
    X(runtimes_hook)                                                                               \
    X(runtimes_follow_libraries)                                                                   \
    X(subscription_create)                                                                         \
    X(subscription_want)                                                                           \
    X(subscription_pause)                                                                          \
    X(subscription_calls_wait)                                                                     \
    X(delivery_thread_create)                                                                      \
    X(tracebuf_create)                                                                             \
    X(tracebuf_assign)                                                                             \
    X(tracebuf_close)                                                                              \
    X(tracebuf_flush)                                                                              \
    X(tracebuf_flush_start)                                                                        \
    X(tracebuf_delivering)                                                                         \
    X(clock_ticks_now)                                                                             \
    X(clock_pairs_to_ns)                                                                           \
    X(hip_facts)                                                                                   \
    X(hsa_facts)

struct crocprof_engine {
    uint64_t size;
#define X(function) __typeof__(&function) function;
    ENGINE_FUNCTIONS(X)
#undef X
};

__attribute__((visibility("default"))) const struct crocprof_engine *crocprof_engine(void);

#endif
