/* Which queues HSA_OPS sees: those that were made after it was announced, in whatever way. Each way
 * is a process of its own, since nothing is ever announced twice. */
#include "common.h"
#include "devices.h"
#include "ways.h"

enum { BARRIERS = 20 };

static _Atomic unsigned barriers;

static void on_records(const char *begin, const char *end, void *arg)
{
    const roctracer_record_t *record = (const roctracer_record_t *)(const void *)begin;
    (void)arg;
    for (; record < (const roctracer_record_t *)(const void *)end; record++) {
        CHECK(record->domain == ACTIVITY_DOMAIN_HSA_OPS && record->op == HSA_OP_ID_BARRIER);
        barriers++;
    }
}

static roctracer_pool_t *pool_open(void)
{
    const roctracer_properties_t properties = {.buffer_size = 4096,
                                               .buffer_callback_fun = on_records};
    roctracer_pool_t *pool;
    DONE(roctracer_open_pool_expl(&properties, &pool));
    return pool;
}

static hsa_queue_t *queue_make(void)
{
    hsa_queue_t *queue;
    CHECK(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, UINT32_MAX, UINT32_MAX,
                           &queue) == HSA_STATUS_SUCCESS);
    return queue;
}

static void barriers_run(hsa_queue_t *queue)
{
    hsa_signal_t signal;
    CHECK(hsa_signal_create(BARRIERS, 0, NULL, &signal) == HSA_STATUS_SUCCESS);
    for (int i = 0; i < BARRIERS; i++)
        barrier_put(queue, signal);
    wait_zero(signal);
    hsa_signal_destroy(signal);
}

/* How many are recorded of BARRIERS on a queue that was made before it is enabled. */
static unsigned barriers_of(hsa_queue_t *queue)
{
    roctracer_pool_t *pool = pool_open();
    barriers = 0;
    barriers_run(queue); /* nothing is enabled: not recorded */
    DONE(roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_OPS, HSA_OP_ID_BARRIER, pool));
    barriers_run(queue);
    DONE(roctracer_close_pool_expl(pool));
    barriers_run(queue);
    return barriers;
}

static int announced_by_properties(void)
{
    DONE(roctracer_set_properties(ACTIVITY_DOMAIN_HSA_OPS, NULL));
    CHECK(barriers_of(queue_make()) == BARRIERS);
    return STATUS;
}

static int announced_by_enabling_once(void)
{
    roctracer_pool_t *pool = pool_open();
    DONE(roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_OPS, HSA_OP_ID_DISPATCH, pool));
    DONE(roctracer_disable_op_activity(ACTIVITY_DOMAIN_HSA_OPS, HSA_OP_ID_DISPATCH));
    DONE(roctracer_close_pool_expl(pool));
    CHECK(barriers_of(queue_make()) == BARRIERS);
    return STATUS;
}

static int announced_by_the_whole_domain(void)
{
    roctracer_pool_t *pool = pool_open();
    DONE(roctracer_enable_domain_activity_expl(ACTIVITY_DOMAIN_HSA_OPS, pool));
    DONE(roctracer_close_pool_expl(pool));
    CHECK(barriers_of(queue_make()) == BARRIERS);
    return STATUS;
}

/* Programs whose queues nobody wants to see keep the runtime's own. */
static int not_announced(void)
{
    hsa_queue_t *queue = queue_make();
    CHECK(barriers_of(queue) == 0);
    CHECK(barriers_of(queue_make()) == BARRIERS); /* the first has announced it */
    return STATUS;
}

/* Copies do not need it. */
static int not_announced_by_copies(void)
{
    roctracer_pool_t *pool = pool_open();
    DONE(roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_OPS, HSA_OP_ID_COPY, pool));
    DONE(roctracer_close_pool_expl(pool));
    CHECK(barriers_of(queue_make()) == 0);
    return STATUS;
}

static bool devices_are_there(void)
{
    if (hsa_init() != HSA_STATUS_SUCCESS)
        return false;
    find_devices();
    return gpu.handle != 0;
}

#define WAYS(X)                                                                                    \
    X(announced_by_properties)                                                                     \
    X(announced_by_enabling_once)                                                                  \
    X(announced_by_the_whole_domain)                                                               \
    X(not_announced)                                                                               \
    X(not_announced_by_copies)

WAYS_MAIN("roctracer/queues", devices_are_there(), hsa_shut_down())
