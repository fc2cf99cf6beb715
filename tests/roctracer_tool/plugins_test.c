/* plugins_test PLUGIN: the promises of chapters 3.8 and 3.9 that a plugin keeps by itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <roctracer/roctracer_hip.h>
#include <roctracer/roctracer_hsa.h>
#include <roctracer/roctracer_plugin.h>
#include <roctracer/roctracer_roctx.h>

static int (*initialize)(uint32_t major, uint32_t minor);
static void (*finalize)(void);
static int (*write_callback)(const roctracer_record_t *record, const void *data);
static int (*write_activity)(const roctracer_record_t *begin, const roctracer_record_t *end);
static char folder[] = "/tmp/roctracer-plugins-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(folder) && setenv("ROCP_OUTPUT_DIR", folder, 1) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static long size_of_files(void)
{
    char command[80];
    long bytes = -1;
    snprintf(command, sizeof command, "cat %s/* | wc -c", folder);
    FILE *pipe = popen(command, "r");
    if (!pipe || fscanf(pipe, "%ld", &bytes) != 1)
        bytes = -1;
    if (pipe)
        pclose(pipe);
    return bytes;
}

static const roctracer_record_t call = {.domain = ACTIVITY_DOMAIN_HIP_API, .op = 1};
static const hip_api_data_t call_data;

static void nothing_works_before_the_start(void **state)
{
    (void)state;
    assert_int_equal(write_callback(&call, &call_data), -1);
    assert_int_equal(write_activity(&call, &call), -1);
    finalize(); /* without a start: nothing */
}

static void the_version_must_fit(void **state)
{
    (void)state;
    const uint32_t major = ROCTRACER_VERSION_MAJOR, minor = ROCTRACER_VERSION_MINOR;
    assert_int_equal(initialize(major + 1, minor), -1);
    assert_int_equal(initialize(major - 1, minor), -1);
    assert_int_equal(initialize(major, minor + 1), -1); /* a tool that knows more than we do */
    assert_int_equal(initialize(major, UINT32_MAX), -1);
    assert_int_equal(initialize(major, minor - 1), 0); /* an older tool */
    finalize();
    assert_int_equal(initialize(major, minor), 0);
    assert_int_equal(initialize(major, minor), -1); /* not twice */
    finalize();
    finalize();
}

static void wrong_arguments_are_errors(void **state)
{
    (void)state;
    assert_int_equal(initialize(ROCTRACER_VERSION_MAJOR, ROCTRACER_VERSION_MINOR), 0);
    assert_int_equal(write_callback(NULL, &call_data), -1);
    assert_int_equal(write_callback(&call, NULL), -1);
    assert_int_equal(write_activity(NULL, &call), -1);
    assert_int_equal(write_activity(&call, NULL), -1);
    assert_int_equal(write_activity(&call, &call), 0); /* no records */
    finalize();
}

static void operations_that_nobody_knows_are_written(void **state)
{
    (void)state;
    static const uint32_t operations[] = {0, 1, 5, 1000, UINT32_MAX};
    static unsigned char data[4096];
    assert_int_equal(initialize(ROCTRACER_VERSION_MAJOR, ROCTRACER_VERSION_MINOR), 0);
    for (uint32_t domain = 0; domain < 40; domain++)
        for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
            roctracer_record_t record = {.domain = domain, .op = operations[i], .kind = UINT32_MAX};
            record.correlation_id = 1 + i;
            record.begin_ns = 10 * i;
            record.end_ns = 10 * i + 5;
            assert_int_equal(write_callback(&record, data), 0);
            assert_int_equal(write_activity(&record, &record + 1), 0);
        }
    finalize();
}

/* Times that make no sense, ids at their ends, no names. */
static void strange_records_are_written(void **state)
{
    (void)state;
    assert_int_equal(initialize(ROCTRACER_VERSION_MAJOR, ROCTRACER_VERSION_MINOR), 0);
    roctracer_record_t records[3] = {{.domain = ACTIVITY_DOMAIN_HIP_OPS},
                                     {.domain = ACTIVITY_DOMAIN_HIP_OPS},
                                     {.domain = ACTIVITY_DOMAIN_HSA_OPS, .op = HSA_OP_ID_COPY}};
    records[0].begin_ns = UINT64_MAX;
    records[1].end_ns = UINT64_MAX;
    records[1].correlation_id = UINT64_MAX;
    records[1].device_id = -1;
    records[1].queue_id = UINT64_MAX;
    assert_int_equal(write_activity(records, records + 3), 0);
    finalize();
}

static void every_record_makes_the_files_longer(void **state)
{
    (void)state;
    enum { RECORDS = 10000 };
    roctracer_record_t *records = calloc(RECORDS, sizeof *records);
    for (int i = 0; i < RECORDS; i++) {
        records[i].domain = ACTIVITY_DOMAIN_HIP_OPS;
        records[i].correlation_id = (uint64_t)i + 1;
        records[i].begin_ns = 1000 * (uint64_t)i;
        records[i].end_ns = 1000 * (uint64_t)i + 500;
        records[i].kernel_name = "kernel";
    }
    assert_int_equal(initialize(ROCTRACER_VERSION_MAJOR, ROCTRACER_VERSION_MINOR), 0);
    assert_int_equal(write_activity(records, records + RECORDS), 0);
    finalize();
    assert_true(size_of_files() > 20 * RECORDS); /* no line or slice is shorter */
    free(records);
}

static void markers_without_a_partner_are_written(void **state)
{
    (void)state;
    roctracer_record_t record = {.domain = ACTIVITY_DOMAIN_ROCTX};
    roctx_api_data_t data = {0};
    assert_int_equal(initialize(ROCTRACER_VERSION_MAJOR, ROCTRACER_VERSION_MINOR), 0);
    for (uint32_t op = 0; op < ROCTX_API_ID_NUMBER + 2; op++) {
        record.op = op;
        data.args.message = op % 2 ? "message" : NULL;
        data.args.id = op;
        assert_int_equal(write_callback(&record, &data), 0);
    }
    finalize(); /* a push and a start are still open */
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_works_before_the_start),
        cmocka_unit_test(the_version_must_fit),
        cmocka_unit_test(wrong_arguments_are_errors),
        cmocka_unit_test(operations_that_nobody_knows_are_written),
        cmocka_unit_test(strange_records_are_written),
        cmocka_unit_test(every_record_makes_the_files_longer),
        cmocka_unit_test(markers_without_a_partner_are_written),
    };
    void *plugin = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (!plugin) {
        fprintf(stderr, "usage: plugins_test PLUGIN: %s\n", dlerror());
        return 2;
    }
    *(void **)&initialize = dlsym(plugin, "roctracer_plugin_initialize");
    *(void **)&finalize = dlsym(plugin, "roctracer_plugin_finalize");
    *(void **)&write_callback = dlsym(plugin, "roctracer_plugin_write_callback_record");
    *(void **)&write_activity = dlsym(plugin, "roctracer_plugin_write_activity_records");
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
