#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <rocprofiler-sdk-roctx/roctx.h>

void kokkosp_begin_parallel_for(const char *name, uint32_t device, uint64_t *id);
void kokkosp_end_parallel_for(uint64_t id);
struct space {
    char name[64];
};
void kokkosp_begin_deep_copy(struct space to, const char *to_name, const void *to_at,
                             struct space from, const char *from_name, const void *from_at,
                             uint64_t size);
void kokkosp_end_deep_copy(void);
void kokkosp_create_profile_section(const char *name, uint32_t *id);
void kokkosp_destroy_profile_section(uint32_t id);
void kokkosp_start_profile_section(uint32_t id);
void kokkosp_stop_profile_section(uint32_t id);

/* Doubles of the library of markers. */
static char last[4096];
static unsigned pushed, started, stopped;
static roctx_range_id_t last_stopped;

static void last_keep(const char *message)
{
    snprintf(last, sizeof last, "%s", message);
}

void roctxMarkA(const char *message)
{
    last_keep(message);
}

int roctxRangePushA(const char *message)
{
    last_keep(message);
    return (int)pushed++;
}

int roctxRangePop(void)
{
    return (int)--pushed;
}

roctx_range_id_t roctxRangeStartA(const char *message)
{
    last_keep(message);
    return ++started;
}

void roctxRangeStop(roctx_range_id_t id)
{
    last_stopped = id;
    stopped++;
}

/* Kernels without a label are called as their type is in C++. */
static void long_names_are_whole(void **state)
{
    char name[2001], expected[4096];
    uint64_t id;
    (void)state;
    memset(name, 'k', sizeof name - 1);
    name[sizeof name - 1] = 0;
    kokkosp_begin_parallel_for(name, 0, &id);
    assert_string_equal(last, name);
    kokkosp_end_parallel_for(id);
    kokkosp_begin_parallel_for(NULL, 0, &id);
    assert_string_equal(last, "");
    kokkosp_end_parallel_for(id);
    kokkosp_begin_deep_copy((struct space){"HIP"}, name, NULL, (struct space){"Host"}, "y", NULL,
                            4096);
    snprintf(expected, sizeof expected, "Kokkos::deep_copy HIP[%s] <- Host[y] 4096 bytes", name);
    assert_string_equal(last, expected);
    kokkosp_end_deep_copy();
    assert_int_equal(pushed, 0);
}

/* Kokkos::Profiling::ProfilingSection makes one where it stands, and destroys it at its end. */
static void sections_come_and_go(void **state)
{
    (void)state;
    started = stopped = 0;
    for (unsigned i = 0; i < 100000; i++) {
        uint32_t id;
        char name[32];
        snprintf(name, sizeof name, "section %u", i);
        kokkosp_create_profile_section(name, &id);
        kokkosp_start_profile_section(id);
        assert_string_equal(last, name);
        kokkosp_stop_profile_section(id);
        assert_int_equal(last_stopped, i + 1);
        kokkosp_destroy_profile_section(id);
    }
    assert_int_equal(started, 100000);
    assert_int_equal(stopped, 100000);
}

static void many_sections_are_there_at_once(void **state)
{
    enum { MANY = 10000 };
    static uint32_t ids[MANY];
    char name[32];
    (void)state;
    started = 0;
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "section %u", i);
        kokkosp_create_profile_section(name, &ids[i]);
    }
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "section %u", i);
        kokkosp_start_profile_section(ids[i]);
        assert_string_equal(last, name);
    }
    for (unsigned i = 0; i < MANY; i++) {
        kokkosp_stop_profile_section(ids[i]);
        assert_int_equal(last_stopped, i + 1);
        kokkosp_destroy_profile_section(ids[i]);
    }
}

static void sections_that_are_not_there_do_nothing(void **state)
{
    uint32_t id;
    (void)state;
    kokkosp_create_profile_section(NULL, &id);
    kokkosp_destroy_profile_section(id);
    started = stopped = 0;
    kokkosp_start_profile_section(id);
    kokkosp_stop_profile_section(id);
    kokkosp_start_profile_section(UINT32_MAX);
    kokkosp_stop_profile_section(UINT32_MAX);
    kokkosp_destroy_profile_section(id);
    kokkosp_destroy_profile_section(UINT32_MAX);
    assert_int_equal(started + stopped, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_names_are_whole),
        cmocka_unit_test(sections_come_and_go),
        cmocka_unit_test(many_sections_are_there_at_once),
        cmocka_unit_test(sections_that_are_not_there_do_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
