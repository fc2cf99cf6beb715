/* What is left when the engine refuses: nothing that is half there. The engine's table is this
 * program's, which refuses what a test wants refused. */
#include "common.h"

#include <dlfcn.h>

#include "session/front/engine.h"

static const struct crocprof_engine *real;
static uint32_t contexts_made, configures_refused, wants_refused, starts_refused;
static uint64_t domains_refused; /* subscriptions to these */

static rocprofiler_status_t engine_context_create(const char *owner, rocprofiler_context_id_t *id)
{
    contexts_made++;
    return real->context_create_front(owner, id);
}

static rocprofiler_status_t collectors_configure(rocprofiler_context_id_t context,
                                                 const struct counting_collector_ops *ops)
{
    if (configures_refused && configures_refused--)
        return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    return real->counting_collectors_configure(context, ops);
}

static rocprofiler_status_t start(rocprofiler_context_id_t context)
{
    if (starts_refused && starts_refused--)
        return ROCPROFILER_STATUS_ERROR_CONTEXT_CONFLICT;
    return real->context_start(context);
}

static struct subscription *subscribe(uint64_t domains)
{
    return domains & domains_refused ? NULL : real->subscription_create(domains);
}

static bool want(struct subscription *subscription, enum trace_domain domain, int32_t first,
                 int32_t count, const struct trace_subscriber *what)
{
    if (wants_refused && what && wants_refused--)
        return false;
    return real->subscription_want(subscription, domain, first, count, what);
}

/* Found before the engine's own, because a program's symbols come first. */
__attribute__((visibility("default"))) const struct crocprof_engine *crocprof_engine(void)
{
    static struct crocprof_engine table;
    if (!real) {
        const struct crocprof_engine *(*next)(void);
        *(void **)&next = dlsym(RTLD_NEXT, "crocprof_engine");
        table = *next();
        table.context_create_front = engine_context_create;
        table.counting_collectors_configure = collectors_configure;
        table.context_start = start;
        table.subscription_create = subscribe;
        table.subscription_want = want;
        real = next();
    }
    return &table;
}

/* ---- queue callbacks */

static uint32_t asked, queues_made;
static hsa_status_t on_dispatch(const rocprofiler_callback_data_t *data, void *arg,
                                rocprofiler_group_t *group)
{
    (void)data, (void)arg, (void)group;
    asked++;
    return HSA_STATUS_ERROR;
}

static hsa_status_t on_queue(hsa_queue_t *queue, void *arg)
{
    (void)queue, (void)arg;
    queues_made++;
    return HSA_STATUS_SUCCESS;
}

static void kernel_on_a_new_queue(void)
{
    hsa_queue_t *queue = gpu_queue(&gpus[0]);
    gpu_finish(gpu_launch(&gpus[0], queue, gpus[0].store_index, 1, gpus[0].memory));
    hsa_queue_destroy(queue);
}

/* First of all tests: each step is refused in turn, and done once it is not. */
static void queue_callbacks_are_prepared_step_by_step(void **state)
{
    const rocprofiler_queue_callbacks_t callbacks = {.dispatch = on_dispatch};
    (void)state;
    configures_refused = 2;
    REFUSED(rocprofiler_set_queue_callbacks(callbacks, NULL), "memory");
    REFUSED(rocprofiler_set_queue_callbacks(callbacks, NULL), "memory");
    domains_refused = 1ull << TRACE_KERNEL_DISPATCH;
    uint32_t contexts = contexts_made;
    REFUSED(rocprofiler_set_queue_callbacks(callbacks, NULL), "memory");
    REFUSED(rocprofiler_set_queue_callbacks(callbacks, NULL), "memory");
    domains_refused = 0;
    OK(rocprofiler_set_queue_callbacks(callbacks, NULL));
    assert_int_equal(contexts_made, contexts);
    kernel_on_a_new_queue();
    assert_int_equal(asked, 1);
    OK(rocprofiler_remove_queue_callbacks());
}

static void a_refused_start_leaves_no_callbacks(void **state)
{
    const rocprofiler_queue_callbacks_t callbacks = {.dispatch = on_dispatch, .create = on_queue};
    (void)state;
    asked = queues_made = 0;
    starts_refused = 1;
    REFUSED(rocprofiler_set_queue_callbacks(callbacks, NULL), "belong");
    kernel_on_a_new_queue();
    assert_int_equal(asked + queues_made, 0);
    REFUSED(rocprofiler_start_queue_callbacks(), "no queue callbacks");
    OK(rocprofiler_set_queue_callbacks(callbacks, NULL));
    kernel_on_a_new_queue();
    assert_int_equal(asked, 1);
    assert_int_equal(queues_made, 1);
    OK(rocprofiler_remove_queue_callbacks());
}

/* ---- HSA callbacks */

static uint32_t first_told, second_told;
static hsa_status_t on_first(rocprofiler_hsa_cb_id_t id,
                             const rocprofiler_hsa_callback_data_t *data, void *arg)
{
    (void)id, (void)data, (void)arg;
    first_told++;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t on_second(rocprofiler_hsa_cb_id_t id,
                              const rocprofiler_hsa_callback_data_t *data, void *arg)
{
    (void)id, (void)data, (void)arg;
    second_told++;
    return HSA_STATUS_SUCCESS;
}

static void refused_hsa_callbacks_leave_the_former_ones(void **state)
{
    const rocprofiler_hsa_callbacks_t first = {.submit = on_first},
                                      second = {.allocate = on_second, .submit = on_second},
                                      none = {0};
    (void)state;
    OK(rocprofiler_set_hsa_callbacks(first, NULL));
    kernel_on_a_new_queue();
    uint32_t each = first_told;
    assert_true(each > 0);
    wants_refused = 1;
    REFUSED(rocprofiler_set_hsa_callbacks(second, NULL), "memory");
    kernel_on_a_new_queue();
    assert_int_equal(first_told, 2 * each);
    assert_int_equal(second_told, 0);
    OK(rocprofiler_set_hsa_callbacks(none, NULL));
    kernel_on_a_new_queue();
    assert_int_equal(first_told, 2 * each);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queue_callbacks_are_prepared_step_by_step),
        cmocka_unit_test(a_refused_start_leaves_no_callbacks),
        cmocka_unit_test(refused_hsa_callbacks_leave_the_former_ones),
    };
    if (argc < 2)
        return 2;
    gpus_open(argv[1]);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    gpus_close();
    return failed;
}
