/* Lines as the kernel prints them, and the records they become. */
#include "intercept/kfd/smi.h"

#include "model/trace.h"
#include "topology/topology.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- a session that keeps records, and a machine with one CPU and one GPU */

_Atomic(const struct trace_set *) trace_slots[TRACE_DOMAIN_COUNT][TRACE_OPERATIONS_MAX];

enum { RECORDS_MAX = 4096, GPU_ID = 0xa1b2, CPU_AGENT = 11, GPU_AGENT = 22 };
static struct kept {
    uint32_t kind;
    union {
        rocprofiler_buffer_tracing_kfd_event_page_migrate_record_t migrate_event;
        rocprofiler_buffer_tracing_kfd_event_page_fault_record_t fault_event;
        rocprofiler_buffer_tracing_kfd_event_queue_record_t queue_event;
        rocprofiler_buffer_tracing_kfd_event_unmap_from_gpu_record_t unmap_event;
        rocprofiler_buffer_tracing_kfd_event_dropped_events_record_t dropped_event;
        rocprofiler_buffer_tracing_kfd_page_migrate_record_t migrate;
        rocprofiler_buffer_tracing_kfd_page_fault_record_t fault;
        rocprofiler_buffer_tracing_kfd_queue_record_t queue;
    };
} kept[RECORDS_MAX];
static unsigned kept_count;
static bool configured[TRACE_DOMAIN_COUNT];

bool trace_buffer_put(struct tracebuf *buffer, uint32_t category, uint32_t kind,
                      const void *payload, size_t size)
{
    assert_ptr_equal(buffer, &kept);
    assert_int_equal(category, ROCPROFILER_BUFFER_CATEGORY_TRACING);
    assert_true(kept_count < RECORDS_MAX);
    assert_int_equal(*(const uint64_t *)payload, size);
    kept[kept_count].kind = kind;
    memcpy(&kept[kept_count++].migrate, payload, size);
    return true;
}

bool trace_domain_is_configured(enum trace_domain domain)
{
    return configured[domain];
}

const struct topology *topology_system(void)
{
    static const rocprofiler_agent_v0_t cpu = {.id = {CPU_AGENT}},
                                        gpu = {.id = {GPU_AGENT}, .gpu_id = GPU_ID};
    static const rocprofiler_agent_v0_t *agents[] = {&cpu, &gpu};
    static const struct topology system = {agents, 2};
    return &system;
}

static void listen(enum trace_domain domain)
{
    static struct trace_set *set;
    if (!set) {
        set = calloc(1, sizeof *set + sizeof set->subscribers[0]);
        assert_non_null(set);
        set->subscriber_count = 1;
        set->subscribers[0].buffer = (struct tracebuf *)&kept;
    }
    configured[domain] = true;
    for (int op = 0; op < TRACE_OPERATIONS_MAX; op++)
        atomic_store(&trace_slots[domain][op], set);
}

static int reset(void **state)
{
    (void)state;
    memset(configured, 0, sizeof configured);
    memset(trace_slots, 0, sizeof trace_slots);
    kept_count = 0;
    return 0;
}

static void tell(const char *line)
{
    struct smi_event event;
    assert_true(smi_parse(line, &event));
    smi_report(&event);
}

/* ---- tests */

static void migrations_are_events_and_intervals(void **state)
{
    (void)state;
    listen(TRACE_KFD_EVENT_PAGE_MIGRATE);
    listen(TRACE_KFD_PAGE_MIGRATE);
    tell("5 1000 -77 @7f001(20) 0->a1b2 a1b2:ffffffff 1");
    tell("6 1500 -77 @7f001(20) 0->a1b2 1 -12");
    assert_int_equal(kept_count, 3);
    const rocprofiler_buffer_tracing_kfd_event_page_migrate_record_t *begin =
        &kept[0].migrate_event;
    assert_int_equal(begin->kind, ROCPROFILER_BUFFER_TRACING_KFD_EVENT_PAGE_MIGRATE);
    assert_int_equal(begin->operation, ROCPROFILER_KFD_EVENT_PAGE_MIGRATE_PAGEFAULT_GPU);
    assert_int_equal(begin->timestamp, 1000);
    assert_int_equal(begin->pid, 77);
    assert_int_equal(begin->start_address.value, 0x7f001000);
    assert_int_equal(begin->end_address.value, 0x7f021000);
    assert_int_equal(begin->src_agent.handle, CPU_AGENT);
    assert_int_equal(begin->dst_agent.handle, GPU_AGENT);
    assert_int_equal(begin->prefetch_agent.handle, GPU_AGENT);
    assert_int_equal(begin->preferred_agent.handle, 0);
    assert_int_equal(kept[1].migrate_event.operation, ROCPROFILER_KFD_EVENT_PAGE_MIGRATE_END);
    assert_int_equal(kept[1].migrate_event.error_code, -12);
    const rocprofiler_buffer_tracing_kfd_page_migrate_record_t *interval = &kept[2].migrate;
    assert_int_equal(interval->kind, ROCPROFILER_BUFFER_TRACING_KFD_PAGE_MIGRATE);
    assert_int_equal(interval->operation, ROCPROFILER_KFD_PAGE_MIGRATE_PAGEFAULT_GPU);
    assert_int_equal(interval->start_timestamp, 1000);
    assert_int_equal(interval->end_timestamp, 1500);
    assert_int_equal(interval->prefetch_agent.handle, GPU_AGENT);
    assert_int_equal(interval->error_code, -12);
    tell("6 1600 -77 @7f001(20) 0->a1b2 1 0"); /* its start is used up */
    assert_int_equal(kept_count, 4);
}

static void page_faults_pair_by_address(void **state)
{
    (void)state;
    listen(TRACE_KFD_PAGE_FAULT);
    listen(TRACE_KFD_EVENT_PAGE_FAULT);
    tell("7 100 -5 @abc(a1b2) W");
    tell("7 110 -5 @abd(a1b2) R");
    tell("8 200 -5 @abd(a1b2) U");
    tell("8 210 -5 @abc(a1b2) M");
    assert_int_equal(kept_count, 6);
    assert_int_equal(kept[0].fault_event.operation,
                     ROCPROFILER_KFD_EVENT_PAGE_FAULT_START_WRITE_FAULT);
    assert_int_equal(kept[1].fault_event.operation,
                     ROCPROFILER_KFD_EVENT_PAGE_FAULT_START_READ_FAULT);
    assert_int_equal(kept[2].fault_event.operation,
                     ROCPROFILER_KFD_EVENT_PAGE_FAULT_END_PAGE_UPDATED);
    assert_int_equal(kept[3].fault.operation, ROCPROFILER_KFD_PAGE_FAULT_READ_FAULT_UPDATED);
    assert_int_equal(kept[3].fault.start_timestamp, 110);
    assert_int_equal(kept[3].fault.address.value, 0xabd000);
    assert_int_equal(kept[5].fault.operation, ROCPROFILER_KFD_PAGE_FAULT_WRITE_FAULT_MIGRATED);
    assert_int_equal(kept[5].fault.end_timestamp, 210);
    assert_int_equal(kept[5].fault.agent_id.handle, GPU_AGENT);
}

static void queues_are_evicted_until_restored(void **state)
{
    (void)state;
    listen(TRACE_KFD_QUEUE);
    listen(TRACE_KFD_EVENT_QUEUE);
    tell("9 100 -5 a1b2 1");
    tell("a 150 -5 a1b2 R"); /* put off: still evicted */
    tell("a 200 -5 a1b2 0");
    assert_int_equal(kept_count, 4);
    assert_int_equal(kept[0].queue_event.operation, ROCPROFILER_KFD_EVENT_QUEUE_EVICT_USERPTR);
    assert_int_equal(kept[1].queue_event.operation,
                     ROCPROFILER_KFD_EVENT_QUEUE_RESTORE_RESCHEDULED);
    assert_int_equal(kept[2].queue_event.operation, ROCPROFILER_KFD_EVENT_QUEUE_RESTORE);
    assert_int_equal(kept[3].queue.operation, ROCPROFILER_KFD_QUEUE_EVICT_USERPTR);
    assert_int_equal(kept[3].queue.start_timestamp, 100);
    assert_int_equal(kept[3].queue.end_timestamp, 200);
}

static void unmaps_and_drops_are_single_events(void **state)
{
    (void)state;
    listen(TRACE_KFD_EVENT_UNMAP_FROM_GPU);
    listen(TRACE_KFD_EVENT_DROPPED_EVENTS);
    tell("b 100 -5 @10(4) a1b2 2");
    tell("e 120 -5 42");
    assert_int_equal(kept_count, 2);
    assert_int_equal(kept[0].unmap_event.operation,
                     ROCPROFILER_KFD_EVENT_UNMAP_FROM_GPU_UNMAP_FROM_CPU);
    assert_int_equal(kept[0].unmap_event.end_address.value, 0x14000);
    assert_int_equal(kept[1].dropped_event.count, 42);
}

static void only_what_is_asked_for_is_recorded(void **state)
{
    (void)state;
    assert_int_equal(smi_events_wanted(), 0);
    listen(TRACE_KFD_PAGE_MIGRATE);
    assert_int_equal(smi_events_wanted(), 0x30);
    tell("5 1000 -77 @7f001(20) 0->a1b2 a1b2:ffffffff 0");
    tell("9 100 -5 a1b2 1");
    tell("6 1500 -77 @7f001(20) 0->a1b2 0"); /* an older driver: no error */
    assert_int_equal(kept_count, 1);
    assert_int_equal(kept[0].kind, ROCPROFILER_BUFFER_TRACING_KFD_PAGE_MIGRATE);
    assert_int_equal(kept[0].migrate.operation, ROCPROFILER_KFD_PAGE_MIGRATE_PREFETCH);
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    static const char *const lines[] = {"",
                                        "x",
                                        "5",
                                        "5 1000",
                                        "5 1 -2 ",
                                        "5 1 -2 @",
                                        "63 1 -2 7",
                                        "7 1 -2 @10(1)",
                                        "ffffffffffffffff 1 -2",
                                        "9 1 -2 a1b2 x",
                                        "e 1 -2 ",
                                        "6 1 -2 @1(2) 3->4"};
    struct smi_event event;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        assert_false(smi_parse(lines[i], &event));
    listen(TRACE_KFD_EVENT_PAGE_MIGRATE);
    listen(TRACE_KFD_EVENT_QUEUE);
    listen(TRACE_KFD_EVENT_UNMAP_FROM_GPU);
    tell("5 1000 -77 @7f001(20) 0->1 1:1 99"); /* triggers that we do not know */
    tell("5 1000 -77 @7f001(20) 0->1 1:1 -1");
    tell("9 100 -5 a1b2 77");
    tell("b 100 -5 @10(4) a1b2 -3");
    assert_int_equal(kept_count, 0);
}

/* A driver that loses ends must not stop the intervals after it. */
static void lost_ends_do_not_pile_up(void **state)
{
    (void)state;
    listen(TRACE_KFD_PAGE_FAULT);
    char line[100];
    for (int i = 0; i < 3000; i++) {
        snprintf(line, sizeof line, "7 %d -5 @%x(a1b2) R", i, i);
        tell(line);
    }
    tell("7 9000 -5 @99999(a1b2) R");
    tell("8 9001 -5 @99999(a1b2) U");
    assert_int_equal(kept_count, 1);
    assert_int_equal(kept[0].fault.start_timestamp, 9000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(migrations_are_events_and_intervals, reset),
        cmocka_unit_test_setup(page_faults_pair_by_address, reset),
        cmocka_unit_test_setup(queues_are_evicted_until_restored, reset),
        cmocka_unit_test_setup(unmaps_and_drops_are_single_events, reset),
        cmocka_unit_test_setup(only_what_is_asked_for_is_recorded, reset),
        cmocka_unit_test_setup(nonsense_is_refused, reset),
        cmocka_unit_test_setup(lost_ends_do_not_pile_up, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
