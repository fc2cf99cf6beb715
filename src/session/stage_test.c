/* How far a process may come, and who waits for it. */
#include "session/stage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { STAGES = STAGE_DONE + 1 };

/* The whole table, written out by hand. */
static const bool follows[STAGES][STAGES] = {
    /* to: BEFORE, CONFIGURING, READY, FINALIZING, DONE */
    [STAGE_BEFORE] = {false, true, false, false, false},
    [STAGE_CONFIGURING] = {false, false, true, false, false},
    [STAGE_READY] = {false, false, false, true, true},
    [STAGE_FINALIZING] = {false, false, false, false, true},
    [STAGE_DONE] = {false, false, false, false, false},
};

static void only_these_stages_follow(void **state)
{
    (void)state;
    for (int from = 0; from < STAGES; from++)
        for (int to = 0; to < STAGES; to++)
            assert_int_equal(stage_may_follow((enum session_stage)from, (enum session_stage)to),
                             follows[from][to]);
    assert_false(stage_may_follow((enum session_stage)STAGES, STAGE_DONE));
    assert_false(stage_may_follow(STAGE_READY, (enum session_stage)STAGES));
}

static void *wait_ready(void *data)
{
    stage_wait_ready();
    *(enum session_stage *)data = session_stage();
    return NULL;
}

static void refused(enum session_stage now)
{
    for (int to = 0; to < STAGES; to++)
        if (!follows[now][to])
            assert_false(stage_reach((enum session_stage)to));
    assert_int_equal(session_stage(), now);
}

static void a_process_goes_through_them(void **state)
{
    enum session_stage seen = STAGE_BEFORE;
    pthread_t waiter;
    (void)state;
    pthread_create(&waiter, NULL, wait_ready, &seen);
    refused(STAGE_BEFORE);
    assert_int_equal(session_initialized_status(), 0);
    assert_true(stage_reach(STAGE_CONFIGURING));
    refused(STAGE_CONFIGURING);
    assert_int_equal(session_initialized_status(), -1);
    assert_true(stage_reach(STAGE_READY));
    pthread_join(waiter, NULL);
    assert_int_equal(seen, STAGE_READY);
    refused(STAGE_READY);
    assert_int_equal(session_initialized_status(), 1);
    assert_false(stage_wait_done(0)); /* too long */
    assert_true(stage_reach(STAGE_FINALIZING));
    refused(STAGE_FINALIZING);
    assert_int_equal(session_finalized_status(), -1);
    assert_true(stage_reach(STAGE_DONE));
    refused(STAGE_DONE);
    assert_int_equal(session_finalized_status(), 1);
    assert_true(stage_wait_done(0));
}

static void *look(void *data)
{
    *(bool *)data = session_configuring();
    return NULL;
}

static void only_the_thread_that_attaches_may_configure(void **state)
{
    bool elsewhere = true;
    pthread_t thread;
    (void)state;
    stage_configure_here(true);
    assert_true(session_configuring());
    pthread_create(&thread, NULL, look, &elsewhere);
    pthread_join(thread, NULL);
    assert_false(elsewhere);
    stage_configure_here(false);
    assert_false(session_configuring());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_these_stages_follow),
        cmocka_unit_test(a_process_goes_through_them),
        cmocka_unit_test(only_the_thread_that_attaches_may_configure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
