#include "settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct settings settings;

/* In place of the C library's: is this a program with more rights than its user? */
static int is_privileged;
char *secure_getenv(const char *name)
{
    return is_privileged ? NULL : getenv(name);
}
static char input_path[] = "/tmp/roctracer-input-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    static const char *const names[] = {
        "ROCTRACER_DOMAIN",      "ROCP_INPUT",     "ROCP_OUTPUT_DIR", "ROCTRACER_PLUGIN_LIB",
        "ROCTRACER_BUFFER_SIZE", "ROCP_CTRL_RATE", "ROCP_FLUSH_RATE", "ROCTRACER_LIB_PATH"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unsetenv(names[i]);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    settings_free(&settings);
    return 0;
}

static void read_with(const char *name, const char *value)
{
    settings_free(&settings);
    setenv(name, value, 1);
    settings_read(&settings);
}

static void read_input(const char *text)
{
    FILE *file = fopen(input_path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    read_with("ROCP_INPUT", input_path);
}

static void domains_are(bool roctx, bool hsa_api, bool hsa_activity, bool hip_api,
                        bool hip_activity)
{
    assert_int_equal(settings.roctx, roctx);
    assert_int_equal(settings.hsa_api, hsa_api);
    assert_int_equal(settings.hsa_activity, hsa_activity);
    assert_int_equal(settings.hip_api, hip_api);
    assert_int_equal(settings.hip_activity, hip_activity);
    assert_int_equal(settings_want_anything(&settings),
                     roctx || hsa_api || hsa_activity || hip_api || hip_activity);
}

static void nothing_is_traced_unless_told(void **state)
{
    (void)state;
    settings_read(&settings);
    domains_are(false, false, false, false, false);
    assert_string_equal(settings.plugin, "libfile_plugin.so");
    assert_int_equal(settings.buffer_size_bytes, 2 << 20);
    assert_false(settings.has_periods);
    assert_int_equal(settings.flush_us, 0);
}

static void domains_are_found_in_any_list(void **state)
{
    (void)state;
    read_with("ROCTRACER_DOMAIN", "hip");
    domains_are(false, false, false, true, true);
    read_with("ROCTRACER_DOMAIN", ":roctx:hsa");
    domains_are(true, true, true, false, false);
    read_with("ROCTRACER_DOMAIN", "sys");
    domains_are(false, true, false, true, true);
    read_with("ROCTRACER_DOMAIN", "sys,roctx");
    domains_are(true, true, false, true, true);
    read_with("ROCTRACER_DOMAIN", "hip:hsa"); /* one of the two tells about copies */
    domains_are(false, true, true, true, false);
    read_with("ROCTRACER_DOMAIN", "nonsense");
    domains_are(false, false, false, false, false);
    assert_false(settings_want_anything(&settings));
    read_with("ROCTRACER_DOMAIN", "kfd");
    assert_false(settings.hsa_api || settings.hip_api || settings.roctx);
    assert_true(settings.kfd_api);
    assert_true(settings_want_anything(&settings));
}

static void the_input_file_chooses_functions(void **state)
{
    (void)state;
    read_input("<?xml version=\"1.0\"?>\n# a remark\n"
               "<trace name=\"HIP\"><parameters api=\"hipFree, hipMalloc,hipMemcpy\t\">"
               "</parameters></trace>\n"
               "<trace name=\"HSA\"><parameters api=\"hsa_init\"/></trace>\n"
               "<trace name=\"KFD\"><parameters api=\"hsaKmtAllocMemory\"/></trace>\n"
               "<trace name=\"rocTX\"></trace>\n");
    domains_are(true, true, false, true, true);
    assert_int_equal(settings.hip_functions.count, 3);
    assert_string_equal(settings.hip_functions.names[0], "hipFree");
    assert_string_equal(settings.hip_functions.names[1], "hipMalloc");
    assert_string_equal(settings.hip_functions.names[2], "hipMemcpy");
    assert_int_equal(settings.hsa_functions.count, 1);
    assert_string_equal(settings.hsa_functions.names[0], "hsa_init");
    assert_true(settings.kfd_api);
    assert_int_equal(settings.kfd_functions.count, 1);
    assert_string_equal(settings.kfd_functions.names[0], "hsaKmtAllocMemory");
}

static void gpu_means_hsa_activity(void **state)
{
    (void)state;
    read_input("<trace name=\"GPU\"/>");
    domains_are(false, false, true, false, false);
    assert_int_equal(settings.hip_functions.count, 0);
}

static void a_long_file_is_read_to_its_end(void **state)
{
    (void)state;
    static char text[20000];
    size_t used = (size_t)sprintf(text, "<trace name='HIP'><parameters api='");
    for (int i = 0; i < 1000; i++)
        used += (size_t)sprintf(text + used, "function%d, ", i);
    sprintf(text + used, "'/></trace><trace name='rocTX'/>");
    read_input(text);
    assert_int_equal(settings.hip_functions.count, 1000);
    assert_string_equal(settings.hip_functions.names[999], "function999");
    assert_true(settings.roctx);
}

static void what_stands_before_a_mistake_counts(void **state)
{
    (void)state;
    read_input("<trace name='rocTX'/><trace name='HIP'>");
    assert_true(settings.roctx);
    read_input("<trace name='rocTX'/></trace>");
    assert_true(settings.roctx);
    read_input("<trace name='rocTX'/><trace>");
    assert_true(settings.roctx);
    read_input("<trace name='other'/><trace name='rocTX'/>");
    assert_true(settings.roctx);
    read_input("");
    domains_are(false, false, false, false, false);
    read_input("\xff\xfe nonsense <");
    domains_are(false, false, false, false, false);
    read_with("ROCP_INPUT", "/nonexistent/file");
    domains_are(false, false, false, false, false);
    read_with("ROCP_INPUT", "/tmp"); /* a folder */
    domains_are(false, false, false, false, false);
}

static void periods_are_three_numbers(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",      "1",     "1:2",    "1:2:3:4",
                                        "1:5:4", "a:2:3", "1:2:3 ", "-1:2:3",
                                        "1:2:0", "1:0:0", " 1:2:3", "1:2:99999999999"};
    read_with("ROCP_CTRL_RATE", "10:50000:500000");
    assert_true(settings.has_periods);
    assert_int_equal(settings.delay_us, 10);
    assert_int_equal(settings.length_us, 50000);
    assert_int_equal(settings.rate_us, 500000);
    read_with("ROCP_CTRL_RATE", "4294967295:1:1");
    assert_true(settings.has_periods);
    assert_true(settings.delay_us == PERIODS_NEVER_START);
    read_with("ROCP_CTRL_RATE", "-1:0:0");
    assert_true(settings.has_periods);
    assert_true(settings.delay_us == PERIODS_NEVER_START);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        read_with("ROCP_CTRL_RATE", wrong[i]);
        assert_false(settings.has_periods);
    }
}

static void wrong_numbers_leave_the_default(void **state)
{
    (void)state;
    static const char *const wrong[] = {"0", "", "-5", "x", "12x", "99999999999999999999"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        read_with("ROCTRACER_BUFFER_SIZE", wrong[i]);
        assert_int_equal(settings.buffer_size_bytes, 2 << 20);
        read_with("ROCP_FLUSH_RATE", wrong[i]);
        assert_int_equal(settings.flush_us, 0);
    }
    read_with("ROCTRACER_BUFFER_SIZE", "65536");
    assert_int_equal(settings.buffer_size_bytes, 65536);
    read_with("ROCP_FLUSH_RATE", "100000");
    assert_int_equal(settings.flush_us, 100000);
    read_with("ROCTRACER_PLUGIN_LIB", "");
    assert_string_equal(settings.plugin, "libfile_plugin.so");
    read_with("ROCTRACER_PLUGIN_LIB", "libperfetto_plugin.so");
    assert_string_equal(settings.plugin, "libperfetto_plugin.so");
}

/* What is loaded, read or written is not for the user of such a program to say. */
static void paths_are_not_taken_from_the_user_of_a_privileged_program(void **state)
{
    (void)state;
    setenv("ROCTRACER_LIB_PATH", "/somewhere", 1);
    setenv("ROCP_INPUT", input_path, 1);
    read_with("ROCTRACER_PLUGIN_LIB", "/somewhere/libevil.so");
    assert_string_equal(settings.plugin, "/somewhere/libevil.so");
    assert_string_equal(settings.plugin_folders, "/somewhere");
    is_privileged = 1;
    read_with("ROCTRACER_DOMAIN", "hip");
    is_privileged = 0;
    assert_true(settings.hip_api);
    assert_string_equal(settings.plugin, "libfile_plugin.so");
    assert_null(settings.plugin_folders);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_is_traced_unless_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(domains_are_found_in_any_list, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_input_file_chooses_functions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(gpu_means_hsa_activity, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_long_file_is_read_to_its_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_stands_before_a_mistake_counts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(periods_are_three_numbers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wrong_numbers_leave_the_default, set_up, tear_down),
        cmocka_unit_test_setup_teardown(paths_are_not_taken_from_the_user_of_a_privileged_program,
                                        set_up, tear_down),
    };
    int file = mkstemp(input_path);
    int status = cmocka_run_group_tests(tests, NULL, NULL);
    close(file);
    unlink(input_path);
    return status;
}
