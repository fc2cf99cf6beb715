/* Counting around dispatches for front ends that keep what they collect with: a kernel then costs
 * no look-up of its configuration, no memory and no lock here. */
#include "base/callback.h"
#include "base/log.h"
#include "model/service.h"
#include "model/trace.h"
#include "session/counting/concurrent.h"
#include "session/counting/owners.h"

#include <stdatomic.h>
#include <stdlib.h>

/* `slot` and `turn` belong to whoever has the kernel: the submitting thread until it is written,
 * then who completes it. The front end orders one kernel's end before the next one's choice. */
struct counting_collector {
    /* A line of its own, since what lies beside it is written to by another thread. */
    _Alignas(64) struct counting_config *config; /* a reference */
    void *owner;
    const struct counting_collector_ops *ops; /* of the front end that chose it */
    struct counting_slot *slot;               /* stays for the next kernel; NULL: none yet */
    enum concurrent_turn turn;
};

/* Whose context counts. Writers: start and stop (release). Readers: every dispatch (acquire). */
static _Atomic(const struct counting_collector_ops *) active_ops;

struct counting_collector *counting_collector_create(rocprofiler_counter_config_id_t config,
                                                     void *owner)
{
    struct counting_collector *collector =
        aligned_alloc(_Alignof(struct counting_collector), sizeof *collector);
    if (!collector)
        return NULL;
    *collector = (struct counting_collector){.owner = owner};
    collector->config = counting_config_acquire(config);
    if (collector->config)
        return collector;
    free(collector);
    return NULL;
}

static void slot_give_back(struct counting_collector *collector)
{
    struct counting_slot *slot = collector->slot;
    collector->slot = NULL;
    if (slot)
        counting_slot_release(slot);
}

void counting_collector_destroy(struct counting_collector *collector)
{
    if (!collector)
        return;
    slot_give_back(collector);
    counting_config_release(collector->config);
    free(collector);
}

/* ---- a kernel begins */

static enum counting_slot_kind kind_for(const struct counting_config *config, bool together)
{
    return together && config->plan_count > 0 && !config->has_trace ? COUNTING_SLOT_BETWEEN
                                                                    : COUNTING_SLOT_DISPATCH;
}

/* False, with a message: the kernel cannot be counted. */
static bool collector_arm(struct counting_collector *collector,
                          const struct trace_dispatch *dispatch, bool together)
{
    struct counting_config *config = collector->config;
    enum counting_slot_kind kind = kind_for(config, together);
    if (config->agent->id.handle != dispatch->info.agent_id.handle) {
        log_error("counting", "the dispatch callback chose a configuration of another agent");
        return false;
    }
    if (collector->slot &&
        (collector->slot->kind != kind || counting_slot_is_stale(collector->slot)))
        slot_give_back(collector);
    if (!collector->slot)
        collector->slot = counting_slot_acquire(config, kind, dispatch->hsa_agent);
    if (collector->slot && concurrent_turn_take(collector->slot, together, &collector->turn))
        return true;
    log_error("counting", "no turn or no memory for the counters of dispatch %llu",
              (unsigned long long)dispatch->info.dispatch_id);
    return false;
}

static void dispatch_begin(struct trace_dispatch *dispatch, struct trace_packets *packets)
{
    const struct counting_collector_ops *ops =
        atomic_load_explicit(&active_ops, memory_order_acquire);
    struct counting_collector *collector = NULL;
    dispatch->counting = NULL;
    *packets = (struct trace_packets){0};
    if (ops)
        CALLBACK(collector = ops->choose(&dispatch->info));
    if (!collector)
        return;
    if (collector->ops != ops) /* who completes kernels has the line, and only reads it */
        collector->ops = ops;
    if (!collector_arm(collector, dispatch, ops->together && ops->together())) {
        ops->ended(collector->owner, true, 0, 0);
        return;
    }
    dispatch->counting = collector;
    counting_slot_packets(collector->slot, packets);
}

/* ---- and ends */

static void values_tell(struct counting_collector *collector, const struct trace_dispatch *dispatch)
{
    struct counting_slot *slot = collector->slot;
    const rocprofiler_user_data_t owner = {.ptr = collector->owner};
    uint32_t count = counting_slot_evaluate(slot, dispatch->info.dispatch_id, owner);
    if (slot->trace_buffer.address)
        collector->ops->traced(collector->owner, slot);
    collector->ops->counted(collector->owner, slot->records, count);
}

/* A trace's buffer is large, so it goes to the next kernel, whosever that is. */
static void dispatch_complete(struct trace_dispatch *dispatch, bool failed)
{
    struct counting_collector *collector = dispatch->counting;
    if (!collector)
        return;
    dispatch->counting = NULL;
    if (!failed)
        values_tell(collector, dispatch);
    concurrent_turn_end(collector->slot, &collector->turn);
    if (collector->config->has_trace)
        slot_give_back(collector);
    CALLBACK(collector->ops->ended(collector->owner, failed, dispatch->start_ns, dispatch->end_ns));
}

/* ---- the service */

static const struct trace_counting_ops counting_ops = {dispatch_begin, dispatch_complete, true};

static rocprofiler_status_t service_start(rocprofiler_context_id_t context, void *data)
{
    const struct counting_collector_ops *const *ops = data;
    rocprofiler_status_t status = owners_take_all(context);
    if (status != ROCPROFILER_STATUS_SUCCESS)
        return status;
    if (service_dispatches_missed())
        log_warning("counting", "dispatches are not counted: when HSA started, no tool had asked "
                                "for dispatches");
    atomic_store_explicit(&active_ops, *ops, memory_order_release);
    atomic_store_explicit(&trace_counting, &counting_ops, memory_order_release);
    return ROCPROFILER_STATUS_SUCCESS;
}

static void service_stop(rocprofiler_context_id_t context, void *data)
{
    const struct counting_collector_ops *const *ops = data;
    if (atomic_load_explicit(&active_ops, memory_order_acquire) != *ops)
        return;
    atomic_store_explicit(&trace_counting, NULL, memory_order_release);
    atomic_store_explicit(&active_ops, NULL, memory_order_release);
    concurrent_stop();
    owners_release(context);
}

static const struct service_ops service_ops = {service_start, service_stop, free};

rocprofiler_status_t counting_collectors_configure(rocprofiler_context_id_t context,
                                                   const struct counting_collector_ops *ops)
{
    const struct counting_collector_ops **data = malloc(sizeof *data);
    if (!data)
        return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    *data = ops;
    rocprofiler_status_t status =
        service_add(context, SERVICE_DISPATCH_COUNTING, &service_ops, (void *)data);
    if (status != ROCPROFILER_STATUS_SUCCESS)
        free((void *)data);
    return status;
}
