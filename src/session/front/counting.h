/*
 * Counting: which counters each agent has, configurations of counters, and collecting them around
 * kernel dispatches and on whole devices.
 */
#ifndef SESSION_FRONT_COUNTING_H
#define SESSION_FRONT_COUNTING_H

#include "counters/catalog.h"
#include "gpu/sqtt/config.h"

#include <crocprof/quality.h>
#include <rocprofiler-sdk/counter_config.h>
#include <rocprofiler-sdk/counters.h>
#include <rocprofiler-sdk/device_counting_service.h>
#include <rocprofiler-sdk/dispatch_counting_service.h>
#include <rocprofiler-sdk/experimental/counters.h>
#include <stdbool.h>

/* ---- agents and their catalogs; built at the first question, then constant */
struct gpu_target;
enum { COUNTING_AGENTS_MAX = 128 }; /* those behind them are not counted on */
struct counting_agent {
    rocprofiler_agent_id_t id;
    const rocprofiler_agent_v0_t *info;
    const struct gpu_target *target; /* session/counting's */
    int is_supported;                /* its architecture is known */
};

/* NULL when there is no such agent. CPUs are agents without counters. */
const struct counting_agent *counting_agent_find(rocprofiler_agent_id_t id);
/* The agent's catalog; NULL when its architecture is not supported. Stays valid for the life of the
 * process, also when a counter is created later. */
const struct catalog *counting_catalog(const struct counting_agent *agent);

/* A topology property that expressions may name. */
bool counting_property(const struct counting_agent *agent, const char *name, double *value);
/* A counter of the agent's catalog for an event of a block; made if there is none. */
rocprofiler_status_t counting_event_counter(rocprofiler_agent_id_t agent, const char *block,
                                            uint32_t event, rocprofiler_counter_id_t *id);
/* In words who has the counter registers of an agent, or of any agent (handle 0). */
void counting_owner_describe(rocprofiler_agent_id_t agent, char *text, size_t size);

rocprofiler_status_t counting_definition_load(const char *yaml, size_t size,
                                              rocprofiler_counter_flag_t flags);
rocprofiler_status_t counting_counter_create(const char *name, size_t name_length,
                                             const char *expression, size_t expression_length,
                                             const char *description, size_t description_length,
                                             rocprofiler_agent_id_t agent,
                                             rocprofiler_counter_id_t *id);

/* ---- queries */
rocprofiler_status_t counting_agent_iterate(rocprofiler_agent_id_t agent,
                                            rocprofiler_available_counters_cb_t callback,
                                            void *data);
rocprofiler_status_t counting_info(rocprofiler_counter_id_t id,
                                   rocprofiler_counter_info_version_id_t version, void *info);
rocprofiler_status_t counting_dimensions_iterate(rocprofiler_counter_id_t id,
                                                 rocprofiler_available_dimensions_cb_t callback,
                                                 void *data);
rocprofiler_status_t counting_instance_count(rocprofiler_counter_id_t id, size_t *count);

/* ---- configurations */
enum { COUNTING_EVENTS_MAX = 512 }; /* registers that one can take, at most */
rocprofiler_status_t counting_config_create(rocprofiler_agent_id_t agent,
                                            const rocprofiler_counter_id_t *counters, size_t count,
                                            rocprofiler_counter_config_id_t *id);
rocprofiler_status_t counting_config_destroy(rocprofiler_counter_config_id_t id);

/* ---- configurations that trace the waves, too */
struct counting_slot; /* of a collection with a trace */

struct counting_trace_options {
    struct sqtt_config sqtt; /* without addresses */
    uint64_t buffer_bytes;   /* of all engines together */
    bool is_local;           /* in the GPU's memory */
};
/* The first interface's parameters. NULL, or why the agent cannot trace like that. */
const char *counting_trace_options_fill(const struct counting_agent *agent,
                                        const uint32_t (*parameters)[2], uint32_t count,
                                        struct counting_trace_options *options);
/* As counting_config_create, for dispatch services with `traced` and for devices. */
rocprofiler_status_t counting_config_create_traced(rocprofiler_agent_id_t agent,
                                                   const rocprofiler_counter_id_t *counters,
                                                   size_t count,
                                                   const struct counting_trace_options *options,
                                                   rocprofiler_counter_config_id_t *id);

/* What a traced shader engine wrote. */
struct counting_trace_part {
    uint32_t shader_engine;
    size_t offset, bytes; /* in the buffer */
    enum sqtt_outcome outcome;
};
/* Of a collection that has ended, or of what a look at a running one found. */
uint32_t counting_trace_parts(const struct counting_slot *trace,
                              struct counting_trace_part parts[SQTT_ENGINES_MAX]);
/* The GPU's address of the buffer, and how large it is. */
void *counting_trace_buffer(const struct counting_slot *trace, size_t *bytes);
/* Copies bytes out of the buffer, wherever that is. */
bool counting_trace_read(const struct counting_slot *trace, size_t offset, void *to, size_t bytes);
/* A trace stays as it is while it is held. */
void counting_trace_hold(struct counting_slot *trace);
void counting_trace_release(struct counting_slot *trace);
/* That of a context which counts a device, with a hold; NULL: it has none, or does not run. */
struct counting_slot *counting_device_trace(rocprofiler_context_id_t context);

/* ---- plans */
/* What crocprof/plan.h promises. */
rocprofiler_status_t counting_plan_passes(rocprofiler_agent_id_t agent,
                                          const rocprofiler_counter_id_t *ids, size_t count,
                                          uint32_t *pass_of, uint32_t *pass_count);
rocprofiler_status_t counting_plan_explain(rocprofiler_agent_id_t agent,
                                           const rocprofiler_counter_id_t *ids, size_t count,
                                           char *text, size_t size);

/* ---- what devices say of their measurements */
/* What crocprof/quality.h promises. */
rocprofiler_status_t counting_quality_of_counter(rocprofiler_agent_id_t agent,
                                                 rocprofiler_counter_id_t counter,
                                                 crocprof_quality_t *quality);
rocprofiler_status_t counting_quality_of_times(rocprofiler_agent_id_t agent, const char **words);

/* ---- around dispatches */
rocprofiler_status_t
counting_dispatch_configure_buffer(rocprofiler_context_id_t context, rocprofiler_buffer_id_t buffer,
                                   rocprofiler_dispatch_counting_service_cb_t callback, void *data);
rocprofiler_status_t counting_dispatch_configure_callback(
    rocprofiler_context_id_t context, rocprofiler_dispatch_counting_service_cb_t callback,
    void *data, rocprofiler_dispatch_counting_record_cb_t record_callback, void *record_data);

/* ---- around dispatches, for front ends that keep what they collect with */

/* Collects the counters of one configuration around one kernel after the other. */
struct counting_collector;
/* NULL: there is no such configuration, or no memory. */
struct counting_collector *counting_collector_create(rocprofiler_counter_config_id_t config,
                                                     void *owner);
/* No kernel is on its way with it. NULL: does nothing. */
void counting_collector_destroy(struct counting_collector *collector);

/* A front end's functions; `owner` is the collector's. Each choice is answered by ended(), once. */
struct counting_collector_ops {
    /* On the submitting thread (model/hsa_facts.h says what it submits): the collector, which is
     * not on its way with another kernel; NULL: none. */
    struct counting_collector *(*choose)(const rocprofiler_kernel_dispatch_info_t *info);
    /* The trace of a configuration that has one. Whoever goes on using it takes a hold. */
    void (*traced)(void *owner, struct counting_slot *trace);
    /* The values, which stay where they are only during the call. */
    void (*counted)(void *owner, const rocprofiler_counter_record_t *records, size_t count);
    /* From the beginning of this call on the collector may be chosen again, and destroyed. `lost`:
     * it was not counted, there are no times. */
    void (*ended)(void *owner, bool lost, uint64_t start_ns, uint64_t end_ns);
    /* Whether kernels of different queues run at the same time, their values including what the
     * others did meanwhile. Those with a trace are still collected alone. NULL: no. */
    bool (*together)(void);
};
/* Such a context has this service alone. `ops` stays valid. */
rocprofiler_status_t counting_collectors_configure(rocprofiler_context_id_t context,
                                                   const struct counting_collector_ops *ops);

/* ---- on devices */
rocprofiler_status_t counting_device_configure(rocprofiler_context_id_t context,
                                               rocprofiler_buffer_id_t buffer,
                                               rocprofiler_agent_id_t agent,
                                               rocprofiler_device_counting_service_cb_t callback,
                                               void *data);
/* Reads every device of the context: into its buffer, and into output[0 .. *count) when given. */
rocprofiler_status_t counting_device_sample(rocprofiler_context_id_t context,
                                            rocprofiler_user_data_t user_data,
                                            rocprofiler_counter_flag_t flags,
                                            rocprofiler_counter_record_t *output, size_t *count);

#endif
