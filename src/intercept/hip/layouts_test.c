/* hip_api_data_t as the lists in data/api lay it out, for libraries that offer tables. A process
 * has one HIP, so each case is one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sys/wait.h>
#include <unistd.h>

#include "intercept/hip/arm.h"
#include "intercept/hip/legacy.h"

enum { DATA_BYTES = HIP_DATA_BYTES_MAX, FILL = 0xa5, HEAD_BYTES = 16 };

static rocprofiler_hip_api_args_t args;

#define CHECK(condition, name)                                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, name, #condition);              \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

/* Every argument is where the line says, and nothing is anywhere else. */
static int line_check(char *line, uint32_t phase_data)
{
    unsigned char data[DATA_BYTES], expected[DATA_BYTES] = {0};
    char *rest = NULL;
    const char *id = strtok_r(line, " \n", &rest), *name = strtok_r(NULL, " \n", &rest);
    struct hip_function function;
    CHECK(intercept_hip_function((uint32_t)atoi(id), &function), name);
    CHECK(!strcmp(function.name, name), name);
    if (function.operation < 0)
        return 0; /* the SDK does not know it */
    for (char *argument; (argument = strtok_r(NULL, " \n", &rest));) {
        unsigned offset, size;
        CHECK(sscanf(strchr(argument, ':'), ":%u:%u", &offset, &size) == 2, name);
        CHECK(offset >= HEAD_BYTES && offset + size <= phase_data, name);
        memset(expected + offset, FILL, size);
    }
    memset(data, 1, sizeof data);
    CHECK(intercept_hip_data_write(function.domain, function.operation, &args, data) == phase_data,
          name);
    CHECK(!memcmp(data, expected, phase_data + sizeof(void *)), name);
    return 0;
}

static int list_check(const char *release)
{
    char path[4096], line[1000];
    unsigned size = 0, functions = 0;
    snprintf(path, sizeof path, "%s/hip_tracer_%s.list", API_FOLDER, release);
    FILE *list = fopen(path, "r");
    CHECK(list != NULL, path);
    while (fgets(line, sizeof line, list)) {
        sscanf(line, "size %u", &size);
        if (line[0] < '1' || line[0] > '9')
            continue;
        CHECK(line_check(line, size - (unsigned)sizeof(void *)) == 0, path);
        functions++;
    }
    fclose(list);
    CHECK(functions > 300, path);
    return 0;
}

static int release_known(const char *release)
{
    memset(&args, FILL, sizeof args);
    CHECK(!intercept_hip_in_tables(), release);
    CHECK(intercept_hip_data_write(TRACE_HIP_RUNTIME_API, 0, &args, NULL) == 0, release);
    intercept_hip_tables_arrived(
        (uint64_t)((release[0] - '0') * 10000 + (release[2] - '0') * 100 + 3));
    CHECK(intercept_hip_in_tables(), release);
    return list_check(release);
}

/* "version as release": an unknown release is laid out and numbered as that one. */
static int release_unknown(const char *what)
{
    char release[8];
    unsigned long version;
    memset(&args, FILL, sizeof args);
    CHECK(sscanf(what, "%lu as %7s", &version, release) == 2, what);
    intercept_hip_tables_arrived(version);
    intercept_hip_tables_arrived(60200); /* a second copy of the library changes nothing */
    return list_check(release);
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

static void every_function_of_every_listed_release(void **state)
{
    (void)state;
    assert_int_equal(in_process(release_known, "6_2"), 0);
    assert_int_equal(in_process(release_known, "6_3"), 0);
    assert_int_equal(in_process(release_known, "6_4"), 0);
    assert_int_equal(in_process(release_known, "7_2"), 0);
}

static void unknown_releases_are_like_their_neighbours(void **state)
{
    (void)state;
    assert_int_equal(in_process(release_unknown, "70000 as 7_2"), 0);
    assert_int_equal(in_process(release_unknown, "70102 as 7_2"), 0);
    assert_int_equal(in_process(release_unknown, "60500 as 6_4"), 0);
    assert_int_equal(in_process(release_unknown, "80100 as 7_2"), 0);
    assert_int_equal(in_process(release_unknown, "0 as 6_0"), 0);
}

/* hipMemcpyAtoA came after 6.0 had been laid out, but its arguments are known. */
static int later_function(const char *unused)
{
    enum { LATE = ROCPROFILER_HIP_RUNTIME_API_ID_hipMemcpyAtoA };
    char data[DATA_BYTES];
    (void)unused;
    intercept_hip_tables_arrived(60000);
    CHECK(intercept_hip_data_write(TRACE_HIP_RUNTIME_API, LATE, &args, data) != 0, "late");
    CHECK(intercept_hip_data_write(TRACE_HIP_RUNTIME_API, -1, &args, data) == 0, "-1");
    CHECK(intercept_hip_data_write(TRACE_HIP_RUNTIME_API, ROCPROFILER_HIP_RUNTIME_API_ID_LAST,
                                   &args, data) == 0,
          "end");
    CHECK(intercept_hip_data_write(TRACE_HSA_CORE_API, 1, &args, data) == 0, "hsa");
    return 0;
}

static void functions_of_later_releases_and_none(void **state)
{
    (void)state;
    assert_int_equal(in_process(later_function, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function_of_every_listed_release),
        cmocka_unit_test(unknown_releases_are_like_their_neighbours),
        cmocka_unit_test(functions_of_later_releases_and_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
