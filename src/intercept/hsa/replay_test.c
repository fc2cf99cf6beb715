/* The loop over the passes of a replayed kernel, against the double of a runtime whose kernels
 * change memory in place. Whatever happens, the program sees the effects of one execution. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "intercept/hsa/replay_kept.h"
#include "intercept/hsa/replay_memory.h"
#include "intercept/hsa/replay_reasons.h"
#include "intercept/hsa/replay_regions.h"
#include "intercept/hsa/test/hsa_calls.h"

enum { PASSES = 4, KERNELS = 20, THREADS = 3, WORDS = 64 };

/* What the host says of its memory; NULL: the truth. Before libc's, for the library too. */
static const char *host_memory;

FILE *fopen(const char *path, const char *mode)
{
    FILE *(*next)(const char *, const char *) =
        (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, "fopen");
    if (host_memory && strcmp(path, "/proc/meminfo") == 0)
        return fmemopen((void *)(uintptr_t)host_memory, strlen(host_memory), "r");
    return next(path, mode);
}

/* What the tool says; tests write it before they launch. */
static uint64_t passes_wanted, passes_until;
static uint32_t kernel_number; /* one that was late is not tried again */
/* What was called. Writers: launching threads and the completion thread; relaxed, read when all has
 * ended. */
static _Atomic unsigned counting_begun, counting_completed, counting_failed, continued;
static _Atomic unsigned kernels_in_order; /* the same; writer: the device */

static uint64_t pass_count(rocprofiler_kernel_dispatch_info_t info, rocprofiler_user_data_t data)
{
    (void)info, (void)data;
    return passes_wanted;
}

static int goes_on(rocprofiler_kernel_dispatch_info_t info, uint64_t pass, uint64_t total,
                   rocprofiler_user_data_t data)
{
    (void)info, (void)total, (void)data;
    continued++;
    return passes_until == 0 || pass + 1 < passes_until;
}

/* The double has no tool: what one would do in CONFIG. */
static void on_config(int32_t operation, rocprofiler_callback_phase_t phase, void *payload)
{
    rocprofiler_callback_tracing_kernel_replay_data_t *data = payload;
    if (operation != ROCPROFILER_KERNEL_REPLAY_CONFIG || phase != ROCPROFILER_CALLBACK_PHASE_ENTER)
        return;
    data->replay_pass_count = pass_count;
    data->replay_continue = goes_on;
}

static void begin(struct trace_dispatch *dispatch, struct trace_packets *packets)
{
    static const hsa_barrier_and_packet_t around = {.header = HSA_PACKET_TYPE_BARRIER_AND |
                                                              1 << HSA_PACKET_HEADER_BARRIER};
    dispatch->counting = &counting_begun;
    counting_begun++;
    *packets = (struct trace_packets){.before = &around,
                                      .after = &around,
                                      .before_count = 1,
                                      .after_count = 1,
                                      .serialize = true,
                                      .signal_after = true};
}

static void complete(struct trace_dispatch *dispatch, bool failed)
{
    counting_failed += failed;
    counting_completed += dispatch->counting != NULL && dispatch->info.dispatch_id != 0;
}

static const struct trace_counting_ops ops = {begin, complete, false};

/* A pass begins when the packets before it have ended, which set the device up to count; it finds
 * memory as it was put back, and what it wrote is read by all. */
static bool is_in_order(const hsa_kernel_dispatch_packet_t *packet)
{
    unsigned barrier = packet->header >> HSA_PACKET_HEADER_BARRIER & 1;
    unsigned acquire = packet->header >> HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE & 3;
    unsigned release = packet->header >> HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE & 3;
    return barrier == 1 && acquire == HSA_FENCE_SCOPE_SYSTEM && release == HSA_FENCE_SCOPE_SYSTEM;
}

/* A kernel's argument is the memory that it changes. */
static void kernel(const hsa_kernel_dispatch_packet_t *packet)
{
    kernels_in_order += is_in_order(packet);
    uint32_t *words = packet->kernarg_address;
    for (int i = 0; words && i < WORDS; i++)
        __atomic_store_n(&words[i], words[i] * 3 + 1, __ATOMIC_RELAXED);
}

/* While kernels may run that others launched. */
static uint32_t word_now(const uint32_t *words)
{
    return __atomic_load_n(&words[0], __ATOMIC_RELAXED);
}

static bool word_reached(const uint32_t *words, uint32_t value)
{
    for (int i = 0; i < 4000 && word_now(words) != value; i++)
        usleep(500);
    return word_now(words) == value;
}

static uint32_t after(unsigned launches)
{
    uint32_t value = 7;
    while (launches-- > 0)
        value = value * 3 + 1;
    return value;
}

static uint32_t *words_of(uint64_t agent)
{
    void *memory = NULL;
    assert_int_equal(CALL(hsa_amd_memory_pool_allocate)((hsa_amd_memory_pool_t){agent + 1},
                                                        WORDS * sizeof(uint32_t), 0, &memory),
                     HSA_STATUS_SUCCESS);
    uint32_t *words = memory;
    for (int i = 0; i < WORDS; i++)
        words[i] = 7;
    return words;
}

static int begin_test(void **state)
{
    char text[8];
    reset(state);
    replay_reasons_text(text, sizeof text); /* those of the test before are told */
    passes_wanted = PASSES;
    passes_until = 0;
    kernel_number = 0;
    counting_begun = counting_completed = counting_failed = continued = kernels_in_order = 0;
    double_on_kernel = kernel;
    double_kernel_waits = NULL;
    double_on_payload = on_config;
    unsetenv("CROCPROF_REPLAY_LIMIT_MS");
    double_listen(TRACE_KERNEL_REPLAY, -1);
    double_listen(TRACE_KERNEL_DISPATCH, -1);
    double_counting_configure(&ops);
    assert_true(table_arrives(double_table_make(1)));
    return 0;
}

static void launch(hsa_queue_t *queue, void *words, hsa_signal_t signal)
{
    hsa_kernel_dispatch_packet_t packet = kernel_packet(64, signal);
    packet.kernarg_address = words;
    packet.kernel_object = double_kernel_object(kernel_number);
    double_packets_submit(queue, &packet, 1);
}

static unsigned passes_seen(rocprofiler_callback_phase_t phase)
{
    unsigned count = 0;
    const struct double_entry *entry;
    for (uint32_t n = 0; (entry = double_entry(DOUBLE_CALL, TRACE_KERNEL_REPLAY,
                                               ROCPROFILER_KERNEL_REPLAY_PASS, n));
         n++)
        count += entry->phase == phase;
    return count;
}

static void end(hsa_queue_t *queue, unsigned passes, unsigned launches)
{
    assert_true(completion_drain(STALL_NS));
    CALL(hsa_queue_destroy)(queue);
    assert_int_equal(passes_seen(ROCPROFILER_CALLBACK_PHASE_EXIT),
                     passes_seen(ROCPROFILER_CALLBACK_PHASE_ENTER));
    assert_int_equal(counting_begun, passes);
    assert_int_equal(counting_completed, passes);
    assert_int_equal(counting_failed, 0);
    assert_int_equal(double_count(DOUBLE_RECORD, TRACE_KERNEL_DISPATCH, -1), launches);
    assert_int_equal(double_open_events(), 0);
}

/* Nothing of a runtime is touched whose memory cannot be known. */
static void what_cannot_be_watched_is_left_alone(void **state)
{
    (void)state;
    double_listen(TRACE_KERNEL_REPLAY, -1);
    void *table = double_table_make(1), *copy = double_function(HSA_FN_hsa_memory_copy);
    double_function_remove(HSA_FN_hsa_region_get_info);
    assert_true(table_arrives(table));
    assert_ptr_equal(double_function(HSA_FN_hsa_memory_copy), copy);
}

/* Its memory, its signal and its record as of one kernel; the tool and counting see each pass. */
static void a_kernel_happens_once(void **state)
{
    (void)state;
    hsa_queue_t *queue = queue_open();
    uint32_t *words = words_of(DOUBLE_GPU);
    for (unsigned n = 1; n <= KERNELS; n++) {
        hsa_signal_t signal = signal_make(1);
        launch(queue, words, signal);
        assert_true(value_reached(signal, 0));
        assert_true(amd_signal(signal)->end_ts > amd_signal(signal)->start_ts);
        assert_int_equal(words[0], after(n));
        assert_int_equal(words[WORDS - 1], after(n));
        assert_true(completion_drain(STALL_NS));
        assert_int_equal(__atomic_load_n(&amd_signal(signal)->value, __ATOMIC_ACQUIRE), 0);
        CALL(hsa_signal_destroy)(signal);
    }
    assert_int_equal(double_kernels_seen(), PASSES * KERNELS);
    assert_int_equal(passes_seen(ROCPROFILER_CALLBACK_PHASE_ENTER), PASSES * KERNELS);
    CALL(hsa_amd_memory_pool_free)(words);
    end(queue, PASSES * KERNELS, KERNELS);
}

/* What stands in a kernel's place waits for it, and does to memory what the program's own packets
 * rely on: what the kernel wrote is there for everybody, and caches of what was there before are
 * not used. */
static unsigned barriers_of_replays(void)
{
    unsigned count = 0;
    for (uint64_t n = 0; n < double_packets_seen(); n++) {
        const hsa_barrier_and_packet_t *packet = double_packet(n);
        if ((packet->header & 0xff) != HSA_PACKET_TYPE_BARRIER_AND || !packet->dep_signal[0].handle)
            continue;
        assert_int_equal(packet->header >> 8 & 1, 1);                       /* barrier */
        assert_int_equal(packet->header >> 9 & 3, HSA_FENCE_SCOPE_SYSTEM);  /* acquire */
        assert_int_equal(packet->header >> 11 & 3, HSA_FENCE_SCOPE_SYSTEM); /* release */
        count++;
    }
    return count;
}

/* Nobody of the program's waits for the kernel: the queue's next packet comes behind it. */
static void without_a_signal(void **state)
{
    (void)state;
    hsa_queue_t *queue = queue_open();
    uint32_t *words = words_of(DOUBLE_GPU);
    for (unsigned n = 0; n < KERNELS; n++)
        launch(queue, words, (hsa_signal_t){0});
    assert_true(completion_drain(STALL_NS));
    assert_int_equal(words[0], after(KERNELS));
    assert_int_equal(barriers_of_replays(), KERNELS);
    assert_int_equal(kernels_in_order, PASSES * KERNELS);
    CALL(hsa_amd_memory_pool_free)(words);
    end(queue, PASSES * KERNELS, KERNELS);
}

/* Variables of a code object whose file cannot be read, or ends too early: all that was loaded is
 * put back. Nothing behind its end is looked at. */
static void all_of_an_unknown_object_is_put_back(void **state)
{
    static const char cut_off[] = {0x7f, 'E', 'L', 'F'};
    static uint32_t words[WORDS];
    (void)state;
    const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 2 * page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(pages, MAP_FAILED);
    assert_int_equal(mprotect(pages, page_bytes, PROT_READ | PROT_WRITE), 0);
    void *file = memcpy(pages + page_bytes - sizeof cut_off, cut_off, sizeof cut_off);
    hsa_queue_t *queue = queue_open();
    const struct hsa_agent_entry *agent = agents_find(&hsa_instances[0], (hsa_agent_t){DOUBLE_GPU});
    words[0] = 7;
    for (unsigned n = 0; n < 2; n++) {
        replay_regions_loaded(agent, n ? file : NULL, n ? sizeof cut_off : 0, (uintptr_t)words,
                              sizeof words, 0);
        launch(queue, words, (hsa_signal_t){0});
        assert_true(completion_drain(STALL_NS));
        assert_int_equal(words[0], after(n + 1));
        replay_regions_unloaded((uintptr_t)words, sizeof words);
    }
    munmap(pages, 2 * page_bytes);
    end(queue, 2 * PASSES, 2);
}

static void the_tool_says_when_it_is_enough(void **state)
{
    (void)state;
    hsa_queue_t *queue = queue_open();
    uint32_t *words = words_of(DOUBLE_GPU);
    passes_wanted = 0;
    passes_until = 6;
    launch(queue, words, (hsa_signal_t){0});
    assert_int_equal(continued, 6);
    passes_wanted = 5;
    passes_until = 2; /* fewer than it said first */
    launch(queue, words, (hsa_signal_t){0});
    passes_wanted = 1;
    launch(queue, words, (hsa_signal_t){0});
    assert_true(completion_drain(STALL_NS));
    assert_int_equal(words[0], after(3));
    assert_int_equal(passes_seen(ROCPROFILER_CALLBACK_PHASE_ENTER), 8);
    CALL(hsa_amd_memory_pool_free)(words);
    end(queue, 9, 3);
}

/* What the host sees is never put back: its first pass is the kernel. */
static void memory_of_the_host_ends_the_loop(void **state)
{
    (void)state;
    hsa_queue_t *queue = queue_open();
    uint32_t *words = words_of(DOUBLE_CPU);
    for (unsigned n = 0; n < KERNELS; n++)
        launch(queue, words, (hsa_signal_t){0});
    assert_true(completion_drain(STALL_NS));
    assert_int_equal(words[0], after(KERNELS));
    assert_int_equal(passes_seen(ROCPROFILER_CALLBACK_PHASE_ENTER), KERNELS);
    CALL(hsa_amd_memory_pool_free)(words);
    end(queue, KERNELS, KERNELS);
}

/* The device itself may be named, alone: who stands behind it in the program's list is not. */
static void memory_of_the_device_alone_is_put_back(void **state)
{
    const hsa_agent_t agents[] = {{DOUBLE_GPU}, {DOUBLE_CPU}};
    (void)state;
    hsa_queue_t *queue = queue_open();
    uint32_t *words = words_of(DOUBLE_GPU);
    CALL(hsa_amd_agents_allow_access)(1, agents, NULL, words);
    launch(queue, words, (hsa_signal_t){0});
    CALL(hsa_amd_agents_allow_access)(2, agents, NULL, words);
    launch(queue, words, (hsa_signal_t){0});
    assert_true(completion_drain(STALL_NS));
    assert_int_equal(words[0], after(2));
    CALL(hsa_amd_memory_pool_free)(words);
    end(queue, PASSES + 1, 2);
}

/* Copies have half of what the host can give, and what they were given before is theirs still. */
static void copies_have_half_of_the_hosts_memory(void **state)
{
    enum { BYTES = 1 << 20, LAUNCHES = 3 };
    void *memory = NULL;
    (void)state;
    hsa_queue_t *queue = queue_open();
    assert_int_equal(CALL(hsa_amd_memory_pool_allocate)((hsa_amd_memory_pool_t){DOUBLE_GPU + 1},
                                                        BYTES, 0, &memory),
                     HSA_STATUS_SUCCESS);
    uint32_t *words = memset(memory, 0, BYTES);
    words[0] = 7;
    host_memory = "MemTotal: 9000000 kB\nMemAvailable: 3000 kB\n";
    for (unsigned n = 0; n < LAUNCHES; n++)
        launch(queue, words, (hsa_signal_t){0});
    assert_true(completion_drain(STALL_NS));
    assert_int_equal(passes_seen(ROCPROFILER_CALLBACK_PHASE_ENTER), PASSES * LAUNCHES);
    host_memory = "MemTotal: 9000000 kB\nMemAvailable: 900 kB\n";
    replay_kept_release();
    launch(queue, words, (hsa_signal_t){0});
    assert_true(completion_drain(STALL_NS));
    assert_int_equal(passes_seen(ROCPROFILER_CALLBACK_PHASE_ENTER), PASSES * LAUNCHES);
    assert_int_equal(words[0], after(LAUNCHES + 1));
    host_memory = NULL;
    CALL(hsa_amd_memory_pool_free)(words);
    end(queue, PASSES * LAUNCHES + 1, LAUNCHES + 1);
}

/* Launches that had fewer passes are counted by their reasons, and told once. */
static void fewer_passes_are_counted(void **state)
{
    (void)state;
    char text[512], start[32];
    hsa_queue_t *queue = queue_open();
    uint32_t *hosts = words_of(DOUBLE_CPU), *words = words_of(DOUBLE_GPU);
    for (unsigned n = 0; n < KERNELS; n++) {
        launch(queue, words, (hsa_signal_t){0});
        if (n % 4 == 0)
            launch(queue, hosts, (hsa_signal_t){0});
    }
    passes_wanted = 1;
    launch(queue, hosts, (hsa_signal_t){0}); /* has as many as it was to have */
    assert_true(completion_drain(STALL_NS));
    assert_true(replay_reasons_text(text, sizeof text));
    snprintf(start, sizeof start, "%d of %d launches ", KERNELS / 4, KERNELS + KERNELS / 4);
    assert_int_equal(strncmp(text, start, strlen(start)), 0);
    snprintf(start, sizeof start, "(%d)", KERNELS / 4);
    assert_non_null(strstr(text, replay_status_text(REPLAY_CHANGED)));
    assert_string_equal(text + strlen(text) - strlen(start), start);
    assert_false(replay_reasons_text(text, sizeof text));
    launch(queue, hosts, (hsa_signal_t){0});
    assert_true(completion_drain(STALL_NS));
    CALL(hsa_amd_memory_pool_free)(hosts);
    CALL(hsa_amd_memory_pool_free)(words);
    end(queue, PASSES * KERNELS + KERNELS / 4 + 2, KERNELS + KERNELS / 4 + 2);
}

/* ---- a kernel that waits for its host, which comes to say so only after the launch */

static _Atomic bool host_has_come; /* writer: the test (release); reader: the device (acquire) */

static bool waits(const hsa_kernel_dispatch_packet_t *packet)
{
    (void)packet;
    return !atomic_load_explicit(&host_has_come, memory_order_acquire);
}

static void a_kernel_that_waits_runs_once(void **state)
{
    (void)state;
    setenv("CROCPROF_REPLAY_LIMIT_MS", "30", 1);
    hsa_queue_t *queue = queue_open(), *other = queue_open();
    uint32_t *words = words_of(DOUBLE_GPU);
    double_kernel_waits = waits;
    kernel_number = 1;
    for (unsigned n = 1; n <= 3; n++) {
        hsa_signal_t signal = signal_make(1), behind = signal_make(1);
        host_has_come = false;
        launch(queue, words, signal);
        launch(queue, words, behind);
        assert_true(word_reached(words, after(2 * n - 1)));
        usleep(5000);
        assert_int_equal(word_now(words),
                         after(2 * n - 1)); /* the second one waits for the first */
        assert_int_equal(__atomic_load_n(&amd_signal(signal)->value, __ATOMIC_ACQUIRE), 1);
        atomic_store_explicit(&host_has_come, true, memory_order_release);
        assert_true(value_reached(signal, 0));
        assert_true(value_reached(behind, 0));
        assert_int_equal(words[0], after(2 * n));
        assert_true(amd_signal(signal)->end_ts > amd_signal(signal)->start_ts);
        CALL(hsa_signal_destroy)(signal);
        CALL(hsa_signal_destroy)(behind);
    }
    assert_int_equal(double_kernels_seen(), 6);
    CALL(hsa_amd_memory_pool_free)(words);
    CALL(hsa_queue_destroy)(other);
    end(queue, 6, 6);
    assert_int_equal(passes_seen(ROCPROFILER_CALLBACK_PHASE_ENTER), 1); /* and never again */
}

/* ---- threads with queues of their own */

static void *launcher(void *words)
{
    hsa_queue_t *queue = queue_open();
    for (int n = 0; n < KERNELS; n++)
        launch(queue, words, (hsa_signal_t){0});
    return queue;
}

static void threads_lose_no_pass(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    uint32_t *words[THREADS];
    void *queue = NULL;
    for (int n = 0; n < THREADS; n++)
        words[n] = words_of(DOUBLE_GPU);
    for (int n = 0; n < THREADS; n++)
        pthread_create(&threads[n], NULL, launcher, words[n]);
    for (int n = 0; n < THREADS; n++)
        pthread_join(threads[n], &queue);
    assert_true(completion_drain(STALL_NS)); /* until then memory of all is put back */
    for (int n = 0; n < THREADS; n++)
        assert_int_equal(words[n][0], after(KERNELS));
    assert_int_equal(double_overlaps_seen(), 0);
    end(queue, PASSES * KERNELS * THREADS, KERNELS * THREADS);
}

/* ---- the device stops in the middle of a pass */

static hsa_status_t error_seen;
static _Atomic bool is_broken;

static void on_error(hsa_status_t status, hsa_queue_t *source, void *data)
{
    (void)source, (void)data;
    error_seen = status;
}

static bool breaks(const hsa_kernel_dispatch_packet_t *packet)
{
    (void)packet;
    is_broken = true;
    return true;
}

static void *breaker(void *unused)
{
    while (!is_broken)
        usleep(1000);
    double_queue_break(double_plain_queue());
    return unused;
}

static void errors_are_the_programs(void **state)
{
    (void)state;
    hsa_queue_t *queue = NULL;
    pthread_t thread;
    CALL(hsa_queue_create)
    ((hsa_agent_t){DOUBLE_GPU}, 4096, 0, on_error, NULL, 0, 0, &queue);
    uint32_t *words = words_of(DOUBLE_GPU);
    double_kernel_waits = breaks;
    pthread_create(&thread, NULL, breaker, NULL);
    launch(queue, words, (hsa_signal_t){0});
    pthread_join(thread, NULL);
    assert_int_equal(error_seen, HSA_STATUS_ERROR_EXCEPTION);
    completion_drain(STALL_NS);
    assert_int_equal(counting_begun, 1);
    assert_int_equal(counting_failed, 1);
    assert_int_equal(passes_seen(ROCPROFILER_CALLBACK_PHASE_EXIT), 1);
    CALL(hsa_queue_destroy)(queue);
}

/* Copies to the device: how many are made before the others are refused. Writer: the test, before
 * it launches; then the thread that puts memory back. */
static int copies_left;
static __typeof__(&hsa_amd_memory_async_copy) copy_of_the_runtime;

static hsa_status_t copy_or_refuse(void *target, hsa_agent_t target_agent, const void *source,
                                   hsa_agent_t source_agent, size_t size, uint32_t count,
                                   const hsa_signal_t *signals, hsa_signal_t completion)
{
    if (target_agent.handle == DOUBLE_GPU && copies_left-- <= 0)
        return HSA_STATUS_ERROR;
    return copy_of_the_runtime(target, target_agent, source, source_agent, size, count, signals,
                               completion);
}

/* Where nothing was put back, memory is as the kernel left it, whose only pass that was. Where a
 * part was, it is nobody's state: no more kernels may see it. */
static void memory_that_cannot_be_put_back(void **state)
{
    (void)state;
    hsa_queue_t *queue = NULL;
    CALL(hsa_queue_create)
    ((hsa_agent_t){DOUBLE_GPU}, 4096, 0, on_error, NULL, 0, 0, &queue);
    uint32_t *words = words_of(DOUBLE_GPU), *others = words_of(DOUBLE_GPU);
    copy_of_the_runtime = hsa_instances[0].real.hsa_amd_memory_async_copy;
    hsa_instances[0].real.hsa_amd_memory_async_copy = copy_or_refuse;
    error_seen = HSA_STATUS_SUCCESS;
    copies_left = 0;
    launch(queue, words, (hsa_signal_t){0});
    assert_true(completion_drain(STALL_NS));
    assert_true(copies_left < 0);
    assert_int_equal(error_seen, HSA_STATUS_SUCCESS);
    assert_int_equal(counting_begun, 1);
    assert_int_equal(words[0], after(1));
    copies_left = 1;
    launch(queue, words, (hsa_signal_t){0});
    completion_drain(STALL_NS);
    assert_int_equal(error_seen, HSA_STATUS_ERROR_EXCEPTION);
    assert_int_equal(counting_begun, 2);
    CALL(hsa_queue_destroy)(queue);
    CALL(hsa_amd_memory_pool_free)(words);
    CALL(hsa_amd_memory_pool_free)(others);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(what_cannot_be_watched_is_left_alone, reset),
        cmocka_unit_test_setup(a_kernel_happens_once, begin_test),
        cmocka_unit_test_setup(without_a_signal, begin_test),
        cmocka_unit_test_setup(all_of_an_unknown_object_is_put_back, begin_test),
        cmocka_unit_test_setup(the_tool_says_when_it_is_enough, begin_test),
        cmocka_unit_test_setup(memory_of_the_host_ends_the_loop, begin_test),
        cmocka_unit_test_setup(memory_of_the_device_alone_is_put_back, begin_test),
        cmocka_unit_test_setup(copies_have_half_of_the_hosts_memory, begin_test),
        cmocka_unit_test_setup(fewer_passes_are_counted, begin_test),
        cmocka_unit_test_setup(threads_lose_no_pass, begin_test),
        cmocka_unit_test_setup(a_kernel_that_waits_runs_once, begin_test),
        cmocka_unit_test_setup(memory_that_cannot_be_put_back, begin_test),
        cmocka_unit_test_setup(errors_are_the_programs, begin_test),
    };
    return cmocka_run_group_tests(tests, NULL, stop);
}
