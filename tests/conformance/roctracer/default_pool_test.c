/* The default pool (3.6): there is one or none, and it is the one of the moment of enabling. */
#include "common.h"

#include <pthread.h>

static const uint32_t OP = HSA_API_ID_hsa_system_get_info;

static void call(void)
{
    uint16_t major;
    hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &major);
}

static void the_default_pool_is_one(void **state)
{
    (void)state;
    struct catch c;
    memset(&c, 0, sizeof c);
    roctracer_properties_t properties = {
        .buffer_size = 4096, .buffer_callback_fun = catch_records, .buffer_callback_arg = &c};
    assert_null(roctracer_default_pool());
    OK(roctracer_close_pool());
    OK(roctracer_close_pool_expl(NULL));
    OK(roctracer_flush_activity());
    FAILS(DEFAULT_POOL_UNDEFINED, roctracer_enable_op_activity(ACTIVITY_DOMAIN_HSA_API, OP));
    FAILS(DEFAULT_POOL_UNDEFINED, roctracer_enable_domain_activity(ACTIVITY_DOMAIN_HSA_API));
    FAILS(DEFAULT_POOL_UNDEFINED, roctracer_enable_activity());
    OK(roctracer_open_pool(&properties));
    roctracer_pool_t *pool = roctracer_default_pool();
    assert_non_null(pool);
    FAILS(DEFAULT_POOL_ALREADY_DEFINED, roctracer_open_pool(&properties));
    FAILS(DEFAULT_POOL_ALREADY_DEFINED, roctracer_open_pool_expl(&properties, NULL));
    roctracer_pool_t *second;
    OK(roctracer_open_pool_expl(&properties, &second)); /* does not touch the default */
    assert_ptr_equal(roctracer_default_pool_expl(NULL), pool);
    assert_ptr_equal(roctracer_default_pool_expl(second), pool);
    assert_ptr_equal(roctracer_default_pool(), second);
    assert_ptr_equal(roctracer_default_pool_expl((void *)(uintptr_t)0x1234), second); /* no pool */
    assert_ptr_equal(roctracer_default_pool(), second);
    OK(roctracer_enable_op_activity(ACTIVITY_DOMAIN_HSA_API, OP));
    call();
    OK(roctracer_flush_activity());
    assert_int_equal(c.count, 1);
    OK(roctracer_close_pool());
    assert_null(roctracer_default_pool());
    OK(roctracer_close_pool_expl(pool));
}

/* Both have seen that there is no default pool, and have their memory. */
static pthread_barrier_t both_asked;
static _Atomic unsigned given_back;

static void allocate_together(char **memory, size_t size, void *arg)
{
    (void)arg;
    if (*memory) {
        free(*memory);
        given_back++;
        return;
    }
    *memory = malloc(size);
    pthread_barrier_wait(&both_asked);
}

static void *default_pool_open(void *arg)
{
    const roctracer_properties_t properties = {.buffer_size = 4096, .alloc_fun = allocate_together};
    *(roctracer_status_t *)arg = roctracer_open_pool(&properties);
    return NULL;
}

static void one_of_two_threads_defines_the_default_pool(void **state)
{
    (void)state;
    pthread_t threads[2];
    roctracer_status_t results[2];
    pthread_barrier_init(&both_asked, NULL, 2);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, default_pool_open, &results[i]), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    int winner = results[0] == ROCTRACER_STATUS_SUCCESS ? 0 : 1;
    OK(results[winner]);
    FAILS(DEFAULT_POOL_ALREADY_DEFINED, results[1 - winner]);
    assert_int_equal(given_back, 1); /* the loser's */
    OK(roctracer_close_pool());
    assert_int_equal(given_back, 2);
    pthread_barrier_destroy(&both_asked);
}

/* Without a pool, and with none in its place; `mode` makes no difference. */
static void a_domain_goes_to_the_default_pool(void **state)
{
    static struct catch c;
    (void)state;
    for (uint32_t round = 0; round < 4; round++) {
        memset(&c, 0, sizeof c);
        const roctracer_properties_t properties = {.mode = round * 0x1234567,
                                                   .buffer_size = 4096,
                                                   .buffer_callback_fun = catch_records,
                                                   .buffer_callback_arg = &c};
        OK(roctracer_open_pool(&properties));
        OK(round % 2 ? roctracer_enable_domain_activity(ACTIVITY_DOMAIN_HSA_API)
                     : roctracer_enable_domain_activity_expl(ACTIVITY_DOMAIN_HSA_API, NULL));
        call();
        OK(round % 2 ? roctracer_flush_activity() : roctracer_flush_activity_expl(NULL));
        assert_int_equal(c.count, 1);
        OK(roctracer_disable_domain_activity(ACTIVITY_DOMAIN_HSA_API));
        OK(roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_API, OP, NULL));
        call();
        OK(roctracer_close_pool());
        assert_int_equal(c.count, 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default_pool_is_one),
        cmocka_unit_test(a_domain_goes_to_the_default_pool),
        cmocka_unit_test(one_of_two_threads_defines_the_default_pool),
    };
    return with_runtime(tests, sizeof tests / sizeof tests[0]);
}
