/* What front ends without configurations of their own ask of counting: an answer for each dispatch,
 * counters by block and event, properties, who has the hardware. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/test/children.h"

#include "gpu/pmc.h"
#include "model/counting.h"
#include "model/service.h"
#include "model/trace.h"
#include "session/counting/counting.h"
#include "session/counting/owners.h"
#include "session/counting/test/gpu_double.h"
#include "session/counting/test/session_double.h"

#define SUCCESS ROCPROFILER_STATUS_SUCCESS

static struct counting_collector *chosen;
static uint32_t arrived, arrived_values, ended, lost;

static struct counting_collector *choose(const rocprofiler_kernel_dispatch_info_t *info)
{
    assert_int_equal(info->dispatch_id, 42);
    return chosen;
}

static void arrive(void *owner, const rocprofiler_counter_record_t *records, size_t count)
{
    assert_ptr_equal(owner, &arrived);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(records[i].dispatch_id, 42);
    arrived++;
    arrived_values = (uint32_t)count;
}

static void end(void *owner, bool is_lost, uint64_t start_ns, uint64_t end_ns)
{
    assert_ptr_equal(owner, &arrived);
    assert_int_equal(start_ns, is_lost ? 0 : 1000);
    assert_int_equal(end_ns, is_lost ? 0 : 1500);
    lost += is_lost;
    ended++;
}

static struct counting_collector *collector_of(rocprofiler_counter_config_id_t config)
{
    struct counting_collector *collector = counting_collector_create(config, &arrived);
    assert_non_null(collector);
    return collector;
}

static void dispatch_on(uint64_t agent, bool fails)
{
    struct trace_dispatch dispatch = {.info = {.agent_id = {agent}, .dispatch_id = 42}};
    struct trace_packets packets;
    const struct trace_counting_ops *ops = atomic_load(&trace_counting);
    ops->dispatch_begin(&dispatch, &packets);
    if (packets.after)
        gpu_run(packets.after);
    if (!fails) {
        dispatch.start_ns = 1000;
        dispatch.end_ns = 1500;
    }
    ops->dispatch_complete(&dispatch, fails);
}

static rocprofiler_counter_config_id_t config_of(uint64_t agent,
                                                 const rocprofiler_counter_id_t *ids, size_t count)
{
    rocprofiler_counter_config_id_t config = {0};
    assert_int_equal(counting_config_create((rocprofiler_agent_id_t){agent}, ids, count, &config),
                     SUCCESS);
    return config;
}

static rocprofiler_counter_id_t event_counter(uint64_t agent, const char *block, uint32_t event)
{
    rocprofiler_counter_id_t id = {0};
    assert_int_equal(counting_event_counter((rocprofiler_agent_id_t){agent}, block, event, &id),
                     SUCCESS);
    return id;
}

static void start(void)
{
    assert_int_equal(added_ops[1]->start((rocprofiler_context_id_t){1}, added_data[1]), SUCCESS);
}

/* Each dispatch for which something was chosen has one answer. */
static void every_choice_is_answered(void **state)
{
    static const struct counting_collector_ops ops = {
        .choose = choose, .counted = arrive, .ended = end};
    (void)state;
    counting_memory_register(&gpu_memory);
    assert_int_equal(counting_collectors_configure((rocprofiler_context_id_t){1}, &ops), SUCCESS);
    start();
    assert_true(atomic_load(&trace_counting)->without_ids);
    dispatch_on(MI210, false); /* nothing was chosen */
    assert_int_equal(ended, 0);
    rocprofiler_counter_id_t waves = event_counter(MI210, "SQ", 4);
    rocprofiler_counter_config_id_t config = config_of(MI210, &waves, 1);
    chosen = collector_of(config);
    dispatch_on(MI210, false);
    assert_int_equal(arrived, 1);
    assert_int_equal(arrived_values, 8);
    assert_int_equal(ended, 1);
    dispatch_on(MI210, true); /* its queue dies */
    assert_int_equal(lost, 1);
    dispatch_on(MI50, false); /* another agent's configuration */
    assert_int_equal(lost, 2);
    assert_int_equal(arrived, 1);
    assert_int_equal(ended, 3);
    counting_collector_destroy(chosen);
    counting_config_destroy(config);
    assert_null(counting_collector_create(config, &arrived)); /* none that exists */
    refuse_memory = 1;
    config = config_of(MI210, &waves, 1);
    chosen = collector_of(config);
    dispatch_on(MI210, false);
    refuse_memory = 0;
    assert_int_equal(lost, 3);
    dispatch_on(MI210, false); /* there is memory again */
    assert_int_equal(arrived, 2);
    counting_config_destroy(config);
    counting_collector_destroy(chosen);
    config = config_of(MI210, NULL, 0); /* times only */
    chosen = collector_of(config);
    dispatch_on(MI210, false);
    assert_int_equal(arrived, 3);
    assert_int_equal(arrived_values, 0);
    assert_int_equal(ended, arrived + lost);
    counting_config_destroy(config);
    counting_collector_destroy(chosen);
    assert_int_equal(live_allocations, 0);
}

/* A collector has memory of its own from its first kernel to its end, and no more of it; not that
 * of a runtime which has gone. */
static void a_collector_keeps_its_memory(void **state)
{
    rocprofiler_counter_id_t waves = event_counter(MI210, "SQ", 4);
    rocprofiler_counter_config_id_t config = config_of(MI210, &waves, 1);
    struct counting_collector *others[2] = {collector_of(config), collector_of(config)};
    (void)state;
    for (int i = 0; i < 10; i++) {
        chosen = others[i % 2];
        dispatch_on(MI210, i == 5);
        assert_int_equal(live_allocations, i ? 2 : 1);
    }
    counting_memory_register(&gpu_memory); /* another runtime; the former's memory went with it */
    for (int i = 0; i < 10; i++) {
        chosen = others[i % 2];
        dispatch_on(MI210, false);
        assert_int_equal(live_allocations, i ? 4 : 3);
    }
    counting_config_destroy(config); /* which the collectors outlive */
    dispatch_on(MI210, false);
    assert_int_equal(live_allocations, 4);
    for (int i = 0; i < 2; i++)
        counting_collector_destroy(others[i]);
    assert_int_equal(live_allocations, 2);
}

static void the_owner_is_named(void **state)
{
    char text[100];
    (void)state;
    counting_owner_describe((rocprofiler_agent_id_t){MI210}, text, sizeof text);
    assert_string_equal(text, "tool one, which counts kernels");
    added_ops[1]->stop((rocprofiler_context_id_t){1}, added_data[1]);
    counting_owner_describe((rocprofiler_agent_id_t){0}, text, sizeof text);
    assert_string_equal(text, "nobody");
    assert_int_equal(owners_take((rocprofiler_context_id_t){1}, (rocprofiler_agent_id_t){MI210}),
                     ROCPROFILER_STATUS_SUCCESS);
    counting_owner_describe((rocprofiler_agent_id_t){MI210 + 1}, text, sizeof text);
    assert_string_equal(text, "nobody");
    for (int any = 0; any < 2; any++) {
        counting_owner_describe((rocprofiler_agent_id_t){any ? 0 : MI210}, text, sizeof text);
        assert_string_equal(text, "tool one, which counts on a whole GPU");
    }
    owners_release((rocprofiler_context_id_t){1});
}

/* Kernels that are counted together: the device is set up before the first one. */
static unsigned device_packets;

static bool device_open(rocprofiler_agent_id_t agent, uint64_t *hsa_agent)
{
    *hsa_agent = agent.handle;
    return true;
}

static struct counting_flight *device_submit(rocprofiler_agent_id_t agent, const void *packet,
                                             void (*done)(void *data, bool failed), void *data)
{
    (void)agent, (void)packet;
    device_packets++;
    if (done)
        done(data, false);
    return (struct counting_flight *)&device_packets;
}

static bool device_wait(struct counting_flight *flight, uint64_t limit_ns)
{
    (void)flight, (void)limit_ns;
    return true;
}

static void device_drain(rocprofiler_agent_id_t agent, uint64_t limit_ns)
{
    (void)agent, (void)limit_ns;
}

static bool are_together(void)
{
    return true;
}

/* Its counters go on from kernel to kernel, but not when the tool has stopped its context. */
static void counters_stop_with_their_context(void **state)
{
    static const struct counting_queue_ops queue = {device_open, device_submit, device_wait,
                                                    device_drain};
    static const struct counting_collector_ops ops = {
        .choose = choose, .counted = arrive, .ended = end, .together = are_together};
    const struct counting_collector_ops *data = &ops;
    rocprofiler_counter_id_t waves = event_counter(MI210, "SQ", 4);
    rocprofiler_counter_config_id_t config = config_of(MI210, &waves, 1);
    (void)state;
    counting_queue_register(&queue);
    assert_int_equal(added_ops[1]->start((rocprofiler_context_id_t){1}, &data), SUCCESS);
    chosen = collector_of(config);
    const uint32_t before = arrived;
    dispatch_on(MI210, false);
    dispatch_on(MI210, false);
    assert_int_equal(arrived, before + 2);
    assert_int_equal(device_packets, 1);
    added_ops[1]->stop((rocprofiler_context_id_t){1}, &data);
    assert_int_equal(device_packets, 2);
    counting_queue_register(NULL);
    counting_collector_destroy(chosen);
    counting_config_destroy(config);
}

/* The first event of TCC from `from` on that no definition names. */
static uint32_t unnamed_event(uint32_t from)
{
    const struct counting_agent *agent = counting_agent_find((rocprofiler_agent_id_t){MI210});
    for (uint32_t event = from; event < 500; event++) {
        uint32_t count, i = 0;
        const struct counter *all = catalog_counters(counting_catalog(agent), &count);
        while (i < count && (strcmp(all[i].block_name, "TCC") != 0 || all[i].event != event))
            i++;
        if (i == count)
            return event;
    }
    fail_msg("all events have names");
    return 0;
}

static void events_are_counters(void **state)
{
    const struct counting_agent *agent = counting_agent_find((rocprofiler_agent_id_t){MI210});
    rocprofiler_counter_id_t id;
    (void)state;
    /* one that the definitions name */
    assert_int_equal(event_counter(MI210, "SQ", 4).handle,
                     catalog_find(counting_catalog(agent), "SQ_WAVES")->id);
    /* and one that they do not: made once */
    uint32_t unnamed = unnamed_event(0);
    id = event_counter(MI210, "TCC", unnamed);
    assert_int_equal(event_counter(MI210, "TCC", unnamed).handle, id.handle);
    const struct counter *made = catalog_find_id(counting_catalog(agent), (uint32_t)id.handle);
    assert_int_equal(made->event, unnamed);
    assert_int_equal(shape_count(counter_shape(made)), 32);
    assert_int_equal(counting_event_counter((rocprofiler_agent_id_t){MI210}, "TCC", 100000, &id),
                     ROCPROFILER_STATUS_ERROR_COUNTER_NOT_FOUND);
    assert_int_equal(counting_event_counter((rocprofiler_agent_id_t){MI210}, "NONE", 1, &id),
                     ROCPROFILER_STATUS_ERROR_COUNTER_NOT_FOUND);
    assert_int_equal(counting_event_counter((rocprofiler_agent_id_t){NOBODY}, "SQ", 4, &id),
                     ROCPROFILER_STATUS_ERROR_AGENT_NOT_FOUND);
    assert_int_equal(counting_event_counter((rocprofiler_agent_id_t){CPU}, "SQ", 4, &id),
                     ROCPROFILER_STATUS_ERROR_AGENT_ARCH_NOT_SUPPORTED);
}

/* Agents of one architecture that are not alike, in the order in which they trouble each other. */
static void each_agent_has_its_own_events(void **state)
{
    const rocprofiler_agent_id_t mi210 = {MI210}, other = {MI250X};
    const uint32_t one = unnamed_event(0), two = unnamed_event(one + 1),
                   three = unnamed_event(two + 1);
    rocprofiler_counter_id_t id, first = event_counter(MI210, "TCC", one);
    (void)state;
    event_counter(MI210, "TCC", two);
    assert_int_not_equal(event_counter(MI250X, "TCC", one).handle, first.handle);
    event_counter(MI250X, "TCC", three);
    event_counter(MI210, "TCC", three);
    assert_int_equal(event_counter(MI210, "TCC", one).handle, first.handle);
    assert_int_equal(counting_counter_create("MINE", 4, "1", 1, "", 0, mi210, &id), SUCCESS);
    assert_int_equal(counting_counter_create("MINE", 4, "2", 1, "", 0, other, &id), SUCCESS);
    assert_int_equal(counting_counter_create("MORE", 4, "MINE", 4, "", 0, mi210, &id), SUCCESS);
    const struct catalog *catalog = counting_catalog(counting_agent_find(mi210));
    assert_string_equal(catalog_find(catalog, "MINE")->expression, "1");
}

static _Atomic bool is_busy;

/* What a thread that submits kernels, and one that plans, do all the time. */
static void *configure_again_and_again(void *counter)
{
    const rocprofiler_context_id_t context = {3};
    while (atomic_load(&is_busy)) {
        counting_config_destroy(config_of(MI210, counter, 1));
        event_counter(MI210, "SQ", 4);
        if (owners_take_all(context) == SUCCESS)
            owners_release(context);
    }
    return NULL;
}

/* The end of a process is the child's of a fork, too. */
static void children_find_no_lock_held(void **state)
{
    enum { CHILDREN = 100, LIMIT_S = 20 };
    rocprofiler_counter_id_t waves = event_counter(MI210, "SQ", 4);
    rocprofiler_counter_config_id_t config = config_of(MI210, &waves, 1);
    pthread_t thread;
    (void)state;
    atomic_store(&is_busy, true);
    assert_int_equal(pthread_create(&thread, NULL, configure_again_and_again, &waves), 0);
    for (int i = 0; i < CHILDREN; i++) {
        int status = -1;
        pid_t child = fork();
        if (child == 0) {
            alarm(LIMIT_S);
            owners_release((rocprofiler_context_id_t){3});
            counting_config_destroy(config);
            event_counter(MI210, "SQ", 4);
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    atomic_store(&is_busy, false);
    pthread_join(thread, NULL);
    counting_config_destroy(config);
}

/* What a tool asks for on one thread while another one forks. */
static void counters_ask(void *counter)
{
    rocprofiler_counter_info_v1_t info;
    assert_int_equal(counting_info(*(rocprofiler_counter_id_t *)counter,
                                   ROCPROFILER_COUNTER_INFO_VERSION_1, &info),
                     SUCCESS);
}

static void children_ask_what_counters_are(void **state)
{
    rocprofiler_counter_id_t waves = event_counter(MI210, "SQ", 4);
    (void)state;
    children_take_turns(counters_ask, &waves);
}

static void properties_have_the_drivers_names(void **state)
{
    const struct counting_agent *agent = counting_agent_find((rocprofiler_agent_id_t){MI210});
    double value = 0;
    (void)state;
    assert_true(counting_property(agent, "simd_count", &value) && value == 4 * 104);
    assert_true(counting_property(agent, "wave_front_size", &value) && value == 64);
    assert_false(counting_property(agent, "no_such_property", &value));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_choice_is_answered),
                                       cmocka_unit_test(a_collector_keeps_its_memory),
                                       cmocka_unit_test(the_owner_is_named),
                                       cmocka_unit_test(counters_stop_with_their_context),
                                       cmocka_unit_test(events_are_counters),
                                       cmocka_unit_test(each_agent_has_its_own_events),
                                       cmocka_unit_test(children_ask_what_counters_are),
                                       cmocka_unit_test(children_find_no_lock_held),
                                       cmocka_unit_test(properties_have_the_drivers_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
