#include "launch/keys.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char expanded[PATH_MAX];

static const char *expand(const char *name)
{
    assert_int_equal(keys_expand(name, expanded, sizeof expanded), 0);
    return expanded;
}

static void every_spelling_of_a_key(void **state)
{
    char pid[32], host[256];
    (void)state;
    snprintf(pid, sizeof pid, "a%ldb", (long)getpid());
    assert_string_equal(expand("a%pid%b"), pid);
    assert_string_equal(expand("a{pid}b"), pid);
    snprintf(pid, sizeof pid, "a%ld_b", (long)getpid());
    assert_string_equal(expand("a%p_b"), pid);
    gethostname(host, sizeof host);
    assert_string_equal(expand("%hostname%"), host);
    assert_string_equal(expand("%h"), host);
    assert_string_equal(expand("%tag%"), "tool_keys_test");
    assert_string_equal(expand("%args%"), "");
    assert_string_equal(expand("%arg1%"), "");
    assert_string_equal(expand("%rank%/%size%"), "0/1");
    getcwd(host, sizeof host);
    assert_string_equal(expand("%cwd%"), host);
}

static void what_is_no_key_stays(void **state)
{
    static const char *const names[] = {"",          "%",    "%%", "100%",   "%pidx%", "{pid",
                                        "%nothing%", "$ENV", "%q", "%env{X", "%argx%"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_string_equal(expand(names[i]), names[i]);
}

static void variables(void **state)
{
    (void)state;
    setenv("KEYS_TEST", "v%pid%", 1); /* a value is not looked into */
    assert_string_equal(expand("%env{KEYS_TEST}%.$ENV{KEYS_TEST}.%q{KEYS_TEST}"),
                        "v%pid%.v%pid%.v%pid%");
    assert_string_equal(expand("a%q{KEYS_TEST_NONE}b"), "ab");
    setenv("OMPI_COMM_WORLD_RANK", "3", 1); /* without its size it says nothing */
    assert_string_equal(expand("%rank%"), "0");
    setenv("OMPI_COMM_WORLD_SIZE", "8", 1);
    assert_string_equal(expand("%r.%s"), "3.8");
    assert_string_equal(expand("%nid%"), "3");
}

/* A launcher of MPI inside of a batch job: its ranks inherit the batch system's variables. */
static void ranks(void **state)
{
    (void)state;
    setenv("SLURM_PROCID", "0", 1);
    setenv("SLURM_NTASKS", "1", 1);
    assert_string_equal(expand("%rank%/%size%"), "3/8"); /* Open MPI's, from variables() */
    unsetenv("OMPI_COMM_WORLD_RANK");
    assert_string_equal(expand("%rank%/%size%"), "0/1");
    setenv("PMI_RANK", "5", 1);
    setenv("PMI_SIZE", "6", 1);
    assert_string_equal(expand("%rank%/%size%"), "5/6");
    setenv("ROCPROF_MPI_RANK_VAR", "MINE_RANK", 1);
    setenv("ROCPROF_MPI_SIZE_VAR", "MINE_SIZE", 1);
    assert_string_equal(expand("%rank%/%size%"), "5/6"); /* nobody has set them */
    setenv("MINE_RANK", "7", 1);
    setenv("MINE_SIZE", "9", 1);
    assert_string_equal(expand("%rank%/%size%"), "7/9");
    assert_int_equal(keys_rank(), 7);
    assert_int_equal(keys_rank_count(), 9);
}

/* Numbers that are none say nothing, as if they were not there. */
static void no_ranks(void **state)
{
    static const char *const none[] = {"-1", "4294967298", "99999999999999999999", "none", ""};
    (void)state;
    clearenv();
    setenv("SLURM_PROCID", "1", 1);
    setenv("SLURM_NTASKS", "4", 1);
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        setenv("PMI_RANK", none[i], 1);
        setenv("PMI_SIZE", "8", 1);
        assert_string_equal(expand("%rank%/%size%"), "1/4");
        setenv("PMI_RANK", "2", 1);
        setenv("PMI_SIZE", none[i], 1);
        assert_string_equal(expand("%rank%/%size%"), "1/4");
    }
    clearenv();
    setenv("PMIX_RANK", "4294967295", 1);
    assert_string_equal(expand("%rank%/%size%"), "0/1");
    clearenv();
}

/* Every launcher's own, alone in the environment. */
static void launchers(void **state)
{
    static const char *const pairs[][2] = {
        {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
        {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
        {"PMI_RANK", "PMI_SIZE"},
        {"JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE"},
        {"FLUX_TASK_RANK", "FLUX_JOB_SIZE"},
        {"SLURM_PROCID", "SLURM_NTASKS"},
        {"PBS_VNODENUM", "PBS_NP"},
    };
    static const char *const alone[] = {"PALS_RANKID", "PMIX_RANK", "ALPS_APP_PE"};
    (void)state;
    clearenv();
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        setenv(pairs[i][0], "4", 1);
        assert_int_equal(keys_rank(), 0);
        setenv(pairs[i][1], "6", 1);
        assert_int_equal(keys_rank(), 4);
        assert_int_equal(keys_rank_count(), 6);
        clearenv();
    }
    for (size_t i = 0; i < sizeof alone / sizeof alone[0]; i++) {
        setenv(alone[i], "2", 1);
        assert_int_equal(keys_rank(), 2);
        assert_int_equal(keys_rank_count(), 1); /* nobody says how many */
        clearenv();
    }
}

static void lists_of_ranks(void **state)
{
    static const struct {
        const char *text;
        bool is_list, has_3;
    } lists[] = {
        {"3", true, true},
        {"0-2,4", true, false},
        {"0-3", true, true},
        {"1 , 3-3", true, true},
        {"3-10,1", true, true},
        {"", true, false},
        {"3-1", false, false},
        {"x", false, false},
        {"3-", false, true},
        {"-3", false, false},
        {"3x", false, true},
        {"1--3", false, false},
        {"4294967299", false, false},
    };
    bool is_in;
    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        bool is_list = keys_ranks_read(lists[i].text, 3, &is_in);
        if (is_list != lists[i].is_list || (is_list && is_in != lists[i].has_3))
            fail_msg("%s", lists[i].text);
    }
}

static void bounds(void **state)
{
    char small[4];
    (void)state;
    assert_int_equal(keys_expand("abc", small, sizeof small), 0);
    assert_int_equal(keys_expand("abcd", small, sizeof small), -ENAMETOOLONG);
    assert_int_equal(keys_expand("", small, 0), -EINVAL);
    assert_int_equal(keys_fixed_length("/a/b"), 4);
    assert_int_equal(keys_fixed_length("/a/%pid%/b"), 3);
    assert_int_equal(keys_fixed_length("100%/x"), 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_spelling_of_a_key),
        cmocka_unit_test(what_is_no_key_stays),
        cmocka_unit_test(variables),
        cmocka_unit_test(ranks),
        cmocka_unit_test(lists_of_ranks),
        cmocka_unit_test(no_ranks),
        cmocka_unit_test(launchers),
        cmocka_unit_test(bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
