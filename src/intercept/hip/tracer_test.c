/* HIP releases with a tracer callback, played by test/tracer_double.c. Each case is a process,
 * because a process has one HIP. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "intercept/hip/arm.h"
#include "intercept/hip/runtime.h"
#include "intercept/hip/tracer.h"
#include "intercept/hsa/test/trace_double.h"

static int (*armed)(void);
static int (*call)(uint32_t, uint32_t, const void *, uint32_t, int);
static int (*command)(uint32_t, const void *);

static void ready(void)
{
    double_listen(TRACE_HIP_RUNTIME_API, -1);
}

/* The library of that release, which is in its file name, or the file itself when that has a slash;
 * it numbers its functions as that list says. */
static bool library_arm(const char *release, const char *list, const char *wrong)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/hip_tracer_%s.list", API_FOLDER, list);
    setenv("DOUBLE_TRACER_LIST", path, 1);
    setenv("DOUBLE_TRACER_WRONG", wrong, 1);
    snprintf(path, sizeof path, strchr(release, '/') ? "%s/%s" : "%s/libamdhip64.so.%s",
             DOUBLE_FOLDER, release);
    void *library = dlopen(path, RTLD_NOW | (strchr(release, '/') ? RTLD_LOCAL : RTLD_GLOBAL));
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(3);
    }
    *(void **)&armed = dlsym(library, "double_tracer_armed");
    *(void **)&call = dlsym(library, "double_tracer_call");
    *(void **)&command = dlsym(library, "double_tracer_command");
    double_reset();
    return intercept_hip_arm(ready);
}

static int in_process(int (*body)(const char *), const char *argument)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(body(argument));
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static const struct hip_tracer_release *release_of(int major, int minor)
{
    for (uint32_t i = 0; i < hip_tracer_release_count; i++)
        if (hip_tracer_releases[i].major == major && hip_tracer_releases[i].minor == minor)
            return &hip_tracer_releases[i];
    return NULL;
}

static uint32_t id_of(const struct hip_tracer_release *release, const char *name)
{
    for (uint32_t id = 1; id < release->function_count; id++)
        if (!strcmp(hip_tracer_name(release, id), name))
            return id;
    return 0;
}

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

/* hipMemcpy(dst, src, sizeBytes, kind) lies in memory as C puts such a structure. */
static int known_release(const char *file)
{
    const struct hip_tracer_release *release = release_of(file[0] - '0', file[2] - '0');
    const struct {
        void *destination;
        const void *source;
        size_t bytes;
        uint32_t kind;
    } arguments = {&armed, &call, 77, 2};
    static const char *const lists[] = {['5'] = "5_6", ['6'] = "6_4", ['7'] = "7_2"};
    CHECK(library_arm(file, lists[(unsigned char)file[0]], ""));
    CHECK(armed());
    CHECK(release != NULL);
    enum { MEMCPY = ROCPROFILER_HIP_RUNTIME_API_ID_hipMemcpy };
    CHECK(call(id_of(release, "hipMemcpy"), release->data_size_bytes, &arguments, sizeof arguments,
               719));
    const struct double_entry *entry =
        double_entry(DOUBLE_API_EXIT, TRACE_HIP_RUNTIME_API, MEMCPY, 0);
    CHECK(entry != NULL);
    CHECK(entry->payload.hip.args.hipMemcpy.dst == arguments.destination);
    CHECK(entry->payload.hip.args.hipMemcpy.src == arguments.source);
    CHECK(entry->payload.hip.args.hipMemcpy.sizeBytes == 77);
    CHECK(entry->payload.hip.args.hipMemcpy.kind == hipMemcpyDeviceToHost);
    CHECK((int)entry->payload.hip.retval.hipError_t_retval == 719);
    /* its tables are wrapped instead: nothing is seen twice */
    intercept_hip_tables_arrived(60400);
    CHECK(call(id_of(release, "hipMemcpy"), release->data_size_bytes, &arguments, sizeof arguments,
               0));
    CHECK(double_count(DOUBLE_API_EXIT, TRACE_HIP_RUNTIME_API, -1) == 1);
    return 0;
}

static uint64_t (*correlation)(void);

/* What the library would report the call's work with, when its table's wrapper traces the call. */
static uint64_t table_call(const struct hip_tracer_release *release)
{
    rocprofiler_callback_tracing_hip_api_data_t payload = {.size = sizeof payload};
    struct trace_frame frame;
    trace_api_enter(&frame, trace_set_load(TRACE_HIP_RUNTIME_API, 0), TRACE_HIP_RUNTIME_API, 0,
                    &payload);
    uint64_t own = trace_correlation_current();
    bool kept = call(id_of(release, "hipMemcpy"), release->data_size_bytes, NULL, 0, 0) &&
                trace_correlation_current() == own;
    trace_api_exit(&frame);
    if (!kept || (correlation() != 0 && correlation() != own))
        return UINT64_MAX;
    return correlation();
}

/* Calls are seen in tables, the work they cause by the tracer callback: one correlation id. */
static int work_of_table_calls(const char *file)
{
    enum { COPY = 1 };
    const struct hip_tracer_release *release = release_of(file[0] - '0', file[2] - '0');
    CHECK(library_arm(file, file[0] == '6' ? "6_4" : "7_2", ""));
    *(void **)&correlation = dlsym(RTLD_DEFAULT, "double_tracer_correlation");
    double_listen(TRACE_HIP_RUNTIME_API, -1);
    intercept_hip_tables_arrived(60400);
    CHECK(table_call(release) == 0); /* nobody wants to know of the work */
    double_listen(TRACE_HIP_OPERATION, COPY);
    uint64_t first = table_call(release), second = table_call(release);
    CHECK(first != 0 && first != UINT64_MAX);
    CHECK(second != 0 && second != UINT64_MAX && second != first);
    CHECK(call(id_of(release, "hipMemcpy"), release->data_size_bytes, NULL, 0, 0));
    CHECK(correlation() == 0); /* a call that nobody traces */
    return 0;
}

static void work_has_the_ids_of_calls_that_tables_show(void **state)
{
    (void)state;
    assert_int_equal(in_process(work_of_table_calls, "6.4.1"), 0);
    assert_int_equal(in_process(work_of_table_calls, "7.2.1"), 0);
}

/* A library that is being asked for its table: its exported functions would wait for themselves. */
static unsigned own_questions;

static const char *own_name(uint32_t id)
{
    const struct hip_tracer_release *release = release_of(6, 4);
    own_questions++;
    return id < release->function_count ? hip_tracer_name(release, id) : "";
}

static int asked_by_its_table(const char *file)
{
    const struct {
        uint64_t size;
        const char *(*name)(uint32_t);
    } table = {sizeof table, own_name};
    const uint64_t empty = sizeof empty; /* a table without that function */
    hip_runtime_ops.offer((void *[]){(void *)&empty});
    hip_runtime_ops.offer((void *[]){(void *)&table});
    setenv("DOUBLE_TRACER_SILENT", "1", 1);
    CHECK(library_arm(file, "6_4", ""));
    CHECK(own_questions > 0);
    unsigned asked = own_questions;
    struct hip_function function;
    CHECK(intercept_hip_function(id_of(release_of(6, 4), "hipMemcpy"), &function));
    CHECK(!strcmp(function.name, "hipMemcpy"));
    CHECK(own_questions == asked); /* remembered: it may be asked under locks */
    return 0;
}

static void a_table_is_asked_for_names_itself(void **state)
{
    (void)state;
    assert_int_equal(in_process(asked_by_its_table, "6.4.1"), 0);
}

/* Numbered like 6.4, and of no list. */
static int release_between(const char *file)
{
    const struct hip_tracer_release *listed = release_of(6, 4);
    const struct {
        void *memory;
        size_t bytes;
    } arguments = {&armed, 77};
    CHECK(library_arm(file, "6_4", "hipFree"));
    enum { FREE_HOST = ROCPROFILER_HIP_RUNTIME_API_ID_hipHostFree };
    CHECK(call(id_of(listed, "hipHostFree"), listed->data_size_bytes, &arguments, sizeof arguments,
               1));
    const struct double_entry *entry =
        double_entry(DOUBLE_API_EXIT, TRACE_HIP_RUNTIME_API, FREE_HOST, 0);
    CHECK(entry != NULL);
    CHECK(entry->payload.hip.args.hipHostFree.ptr == arguments.memory);
    CHECK(entry->payload.hip.retval.hipError_t_retval == hipErrorInvalidValue);
    /* a function that no list knows */
    CHECK(call(id_of(listed, "hipFree"), listed->data_size_bytes, &arguments, sizeof arguments, 0));
    CHECK(double_count(DOUBLE_API_EXIT, TRACE_HIP_RUNTIME_API, -1) == 1);
    return 0;
}

/* Hooked for its reports of finished work, whose layout never changed; what it shows of a call is
 * neither read nor written. */
static int calls_left_alone(void)
{
    CHECK(armed());
    for (uint32_t id = 1; id < 100; id++)
        CHECK(call(id, 0, NULL, 0, 0));
    CHECK(double_count(DOUBLE_API_ENTER, TRACE_HIP_RUNTIME_API, -1) == 0);
    return 0;
}

static int unknown_release(const char *file)
{
    CHECK(library_arm(file, "6_4", ""));
    return calls_left_alone();
}

/* ---- libraries of no listed name: wheels, vendors' patches, releases to come */

static const struct memcpy_arguments {
    void *destination;
    const void *source;
    size_t bytes;
    uint32_t kind;
} some_arguments = {&armed, &call, 77, 2};

/* hipMemcpy arrives as the program called it. */
static int memcpy_is_traced(const struct hip_tracer_release *list)
{
    CHECK(armed());
    CHECK(call(id_of(list, "hipMemcpy"), list->data_size_bytes, &some_arguments,
               sizeof some_arguments, 719));
    const struct double_entry *entry = double_entry(DOUBLE_API_EXIT, TRACE_HIP_RUNTIME_API,
                                                    ROCPROFILER_HIP_RUNTIME_API_ID_hipMemcpy, 0);
    CHECK(entry != NULL);
    CHECK(entry->payload.hip.args.hipMemcpy.dst == some_arguments.destination);
    CHECK(entry->payload.hip.args.hipMemcpy.src == some_arguments.source);
    CHECK(entry->payload.hip.args.hipMemcpy.sizeBytes == 77);
    CHECK((int)entry->payload.hip.retval.hipError_t_retval == 719);
    return 0;
}

static int numbers_tell_the_release(const char *file)
{
    CHECK(library_arm(file, "6_4", ""));
    return memcpy_is_traced(release_of(6, 4));
}

static int numbers_of_7_2(const char *file)
{
    CHECK(library_arm(file, "7_2", ""));
    return memcpy_is_traced(release_of(7, 2));
}

/* The new function is not traced, whatever it has for arguments. */
static int a_function_more(const char *file)
{
    const struct hip_tracer_release *list = release_of(6, 4);
    setenv("DOUBLE_TRACER_MORE", "hipNobodyKnows", 1);
    CHECK(library_arm(file, "6_4", ""));
    CHECK(memcpy_is_traced(list) == 0);
    CHECK(call(list->function_count, list->data_size_bytes, &some_arguments, sizeof some_arguments,
               0));
    CHECK(double_count(DOUBLE_API_EXIT, TRACE_HIP_RUNTIME_API, -1) == 1);
    return 0;
}

/* It may be 6.4 or later: of a function that 7.2 lays out in another way only the call is known. */
static int where_releases_disagree(const char *file)
{
    const struct hip_tracer_release *list = release_of(6, 4);
    const char bytes[64] = {[0 ... 63] = 0x77};
    CHECK(a_function_more(file) == 0);
    CHECK(call(id_of(list, "hipDrvGraphAddMemsetNode"), list->data_size_bytes, bytes, sizeof bytes,
               0));
    const struct double_entry *entry =
        double_entry(DOUBLE_API_EXIT, TRACE_HIP_RUNTIME_API,
                     ROCPROFILER_HIP_RUNTIME_API_ID_hipDrvGraphAddMemsetNode, 0);
    CHECK(entry != NULL);
    CHECK(!entry->payload.hip.args.hipDrvGraphAddMemsetNode.phGraphNode);
    return 0;
}

static int more_than_the_newest(const char *file)
{
    setenv("DOUBLE_TRACER_MORE", "hipNobodyKnows", 1);
    CHECK(library_arm(file, "7_2", ""));
    return calls_left_alone();
}

static void libraries_without_a_version_are_told_by_their_numbers(void **state)
{
    (void)state;
    assert_int_equal(in_process(numbers_tell_the_release, "plain/libamdhip64.so"), 0);
    assert_int_equal(in_process(numbers_of_7_2, "plain/libamdhip64.so"), 0);
    assert_int_equal(in_process(numbers_tell_the_release, "hip_6.4/libamdhip64-1f0c5a7b.so"), 0);
    assert_int_equal(in_process(where_releases_disagree, "plain/libamdhip64.so"), 0);
    assert_int_equal(in_process(where_releases_disagree, "hip_6.4/libamdhip64-1f0c5a7b.so"), 0);
}

static void what_a_list_does_not_know_costs_only_itself(void **state)
{
    (void)state;
    assert_int_equal(in_process(a_function_more, "6.4.1"), 0);
    assert_int_equal(in_process(numbers_of_7_2, "7.9.1"), 0);
}

/* What such a library hands to callbacks may be larger than we know. */
static void sizes_that_nobody_knows_are_refused(void **state)
{
    (void)state;
    assert_int_equal(in_process(more_than_the_newest, "7.9.1"), 0);
    assert_int_equal(in_process(more_than_the_newest, "plain/libamdhip64.so"), 0);
    /* with the numbers of 6.4 */
    assert_int_equal(in_process(unknown_release, "hip_7.5/libamdhip64-1f0c5a7b.so"), 0);
}

static int other_numbers(const char *wrong)
{
    CHECK(library_arm("6.4.1", "6_4", wrong));
    return calls_left_alone();
}

static void releases_of_the_lists_are_traced_with_arguments(void **state)
{
    (void)state;
    assert_int_equal(in_process(known_release, "6.4.1"), 0);
    assert_int_equal(in_process(known_release, "5.7.1"), 0);
    assert_int_equal(in_process(known_release, "7.2.1"), 0);
}

static void releases_between_two_lists_are_traced_by_name(void **state)
{
    (void)state;
    assert_int_equal(in_process(release_between, "6.5.1"), 0);
}

static void other_releases_are_left_alone(void **state)
{
    (void)state;
    assert_int_equal(in_process(unknown_release, "7.9.1"), 0);
    assert_int_equal(in_process(unknown_release, "5.7.1"), 0); /* with the numbers of 6.4 */
}

static void a_library_that_numbers_otherwise_is_left_alone(void **state)
{
    (void)state;
    assert_int_equal(in_process(other_numbers, "hipMalloc"), 0);
    assert_int_equal(in_process(other_numbers, "hipInit"), 0);
}

/* activity_record_t of a copy; the word that says "begun" is no record. */
static int operations_of_rocm_7(const char *file)
{
    enum { COPY = 1 };
    const uint64_t copy[8] = {2, COPY, 5, 1000, 2000, 0, 0, 77};
    CHECK(library_arm(file, "7_2", ""));
    CHECK(!command(COPY, copy));
    double_listen(TRACE_HIP_OPERATION, COPY);
    CHECK(command(COPY, copy));
    CHECK(double_count(DOUBLE_RECORD, TRACE_HIP_OPERATION, COPY) == 1);
    return 0;
}

static void a_command_that_begins_is_not_read_as_a_record(void **state)
{
    (void)state;
    assert_int_equal(in_process(operations_of_rocm_7, "7.2.1"), 0);
    assert_int_equal(in_process(operations_of_rocm_7, "6.5.1"), 0); /* whatever the release */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(releases_of_the_lists_are_traced_with_arguments),
        cmocka_unit_test(work_has_the_ids_of_calls_that_tables_show),
        cmocka_unit_test(a_table_is_asked_for_names_itself),
        cmocka_unit_test(releases_between_two_lists_are_traced_by_name),
        cmocka_unit_test(other_releases_are_left_alone),
        cmocka_unit_test(libraries_without_a_version_are_told_by_their_numbers),
        cmocka_unit_test(what_a_list_does_not_know_costs_only_itself),
        cmocka_unit_test(sizes_that_nobody_knows_are_refused),
        cmocka_unit_test(a_library_that_numbers_otherwise_is_left_alone),
        cmocka_unit_test(a_command_that_begins_is_not_read_as_a_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
