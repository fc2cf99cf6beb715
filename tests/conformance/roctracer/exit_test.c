/*
 * Pools at the end of a process. ROCtracer delivers none by itself: tools flush or close in
 * handlers of their own, which run before or after ours, and find every record.
 *
 *   exit_test first|last|destructor|close|thread|callback
 */
#include "common.h"

#include <pthread.h>
#include <stdio.h>

enum { CALLS = 300 };

static struct catch records;
static const char *mode;
static _Atomic bool stop;

static void calls_make(void)
{
    uint64_t value;
    for (int i = 0; i < CALLS; i++)
        hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &value);
}

static void *calls_for_ever(void *unused)
{
    (void)unused;
    while (!stop)
        calls_make();
    return NULL;
}

/* Checks of cmocka would leave the handler by a jump. */
static void check(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "%s: %s (%u records)\n", mode, what, records.count);
    _exit(1);
}

static void tool_end(void)
{
    bool closes = !strcmp(mode, "close"), more = !strcmp(mode, "thread");
    roctracer_status_t status = closes ? roctracer_close_pool_expl(records.pool)
                                       : roctracer_flush_activity_expl(records.pool);
    check(status == ROCTRACER_STATUS_SUCCESS, "the pool is there");
    check(more ? records.count >= CALLS : records.count == CALLS, "every record is there");
    /* whatever a tool's handler may still call */
    check(roctracer_disable_domain_activity(ACTIVITY_DOMAIN_HSA_API) == ROCTRACER_STATUS_SUCCESS,
          "disabled");
    roctracer_stop();
    check(closes || roctracer_close_pool_expl(records.pool) == ROCTRACER_STATUS_SUCCESS, "closed");
    check(roctracer_flush_activity() == ROCTRACER_STATUS_SUCCESS, "there is no default pool");
}

__attribute__((destructor)) static void library_end(void)
{
    if (mode && !strcmp(mode, "destructor"))
        tool_end();
}

/* exit() from where the tool is being told of a call */
static void on_call(uint32_t domain, uint32_t id, const void *data, void *arg)
{
    const hsa_api_data_t *call = data;
    (void)domain, (void)id, (void)arg;
    if (call->phase == ACTIVITY_API_PHASE_ENTER)
        exit(0);
}

static void tool_begin(void)
{
    roctracer_properties_t properties = {.buffer_size = 1 << 20,
                                         .buffer_callback_fun = catch_records,
                                         .buffer_callback_arg = &records};
    check(roctracer_open_pool_expl(&properties, &records.pool) == ROCTRACER_STATUS_SUCCESS, "open");
    check(roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_API, HSA_API_ID_hsa_system_get_info,
                                            records.pool) == ROCTRACER_STATUS_SUCCESS,
          "enabled");
}

int main(int argc, char **argv)
{
    pthread_t thread;
    if (argc != 2)
        return 2;
    mode = argv[1];
    alarm(60);
    if (!strcmp(mode, "last"))
        atexit(tool_end); /* runs after every handler of libraries that come now */
    tool_begin();
    if (strcmp(mode, "last") != 0 && strcmp(mode, "destructor") != 0)
        atexit(tool_end);
    if (hsa_init() != HSA_STATUS_SUCCESS)
        return 3;
    roctracer_status_t status = roctracer_flush_activity_expl(records.pool);
    records.count = 0; /* of the runtime's own start */
    check(status == ROCTRACER_STATUS_SUCCESS, "flushed");
    calls_make();
    if (!strcmp(mode, "thread"))
        pthread_create(&thread, NULL, calls_for_ever, NULL);
    if (!strcmp(mode, "callback"))
        roctracer_enable_op_callback(ACTIVITY_DOMAIN_HSA_API, HSA_API_ID_hsa_agent_get_info,
                                     on_call, NULL);
    hsa_agent_get_info((hsa_agent_t){0}, HSA_AGENT_INFO_NAME, NULL);
    return !strcmp(mode, "callback");
}
