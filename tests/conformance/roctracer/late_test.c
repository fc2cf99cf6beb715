/* The library comes late: named in HSA_TOOLS_LIB, or opened when the runtime runs already. The
 * program is not linked with it. usage: late_test LIBRARY tool|opened|reopened */
#include <dlfcn.h>
#include <hsa/hsa.h>
#include <roctracer/roctracer.h>
#include <roctracer/roctracer_hsa.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned enters, exits, records;

static void on_call(uint32_t domain, uint32_t op, const void *data, void *arg)
{
    (void)domain, (void)op, (void)arg;
    const hsa_api_data_t *call = data;
    *(call->phase == ACTIVITY_API_PHASE_ENTER ? &enters : &exits) += 1;
}

static void on_records(const char *begin, const char *end, void *arg)
{
    (void)arg;
    records += (unsigned)((size_t)(end - begin) / sizeof(roctracer_record_t));
}

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "late_test.c:%d: %s (%u enters, %u exits, %u records)\n", __LINE__,    \
                    #condition, enters, exits, records);                                           \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static void call(void)
{
    uint16_t major;
    CHECK(hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &major) == HSA_STATUS_SUCCESS);
}

static __typeof__(&roctracer_enable_op_callback) enable_callback;
static __typeof__(&roctracer_disable_op_callback) disable_callback;
static __typeof__(&roctracer_enable_op_activity) enable_activity;
static __typeof__(&roctracer_open_pool) open_pool;
static __typeof__(&roctracer_close_pool) close_pool;

static void *find(void *library, const char *name)
{
    void *function = dlsym(library, name);
    CHECK(function != NULL);
    return function;
}

static void library_open(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fprintf(stderr, "%s\n", dlerror());
    CHECK(library != NULL);
    *(void **)&enable_callback = find(library, "roctracer_enable_op_callback");
    *(void **)&disable_callback = find(library, "roctracer_disable_op_callback");
    *(void **)&enable_activity = find(library, "roctracer_enable_op_activity");
    *(void **)&open_pool = find(library, "roctracer_open_pool");
    *(void **)&close_pool = find(library, "roctracer_close_pool");
}

/* Enables, makes `count` calls, disables; returns nothing that is not counted above. */
static void trace(unsigned count)
{
    const uint32_t op = HSA_API_ID_hsa_system_get_info;
    roctracer_properties_t properties = {.buffer_size = 4096, .buffer_callback_fun = on_records};
    CHECK(open_pool(&properties) == ROCTRACER_STATUS_SUCCESS);
    CHECK(enable_callback(ACTIVITY_DOMAIN_HSA_API, op, on_call, NULL) == ROCTRACER_STATUS_SUCCESS);
    CHECK(enable_activity(ACTIVITY_DOMAIN_HSA_API, op) == ROCTRACER_STATUS_SUCCESS);
    for (unsigned i = 0; i < count; i++)
        call();
    CHECK(disable_callback(ACTIVITY_DOMAIN_HSA_API, op) == ROCTRACER_STATUS_SUCCESS);
    CHECK(close_pool() == ROCTRACER_STATUS_SUCCESS);
    call();
}

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    const char *how = argv[2];
    CHECK(hsa_init() == HSA_STATUS_SUCCESS);
    call();
    library_open(argv[1]);
    trace(5);
    /* a runtime that runs has its table, and nobody was given it */
    unsigned expected = strcmp(how, "tool") ? 0 : 5;
    CHECK(enters == expected && exits == expected && records == expected);
    if (strcmp(how, "opened")) { /* but the next one asks who wants it */
        CHECK(hsa_shut_down() == HSA_STATUS_SUCCESS);
        CHECK(hsa_init() == HSA_STATUS_SUCCESS);
        trace(3);
        expected += 3;
        CHECK(enters == expected && exits == expected && records == expected);
    }
    CHECK(hsa_shut_down() == HSA_STATUS_SUCCESS);
    printf("late_test: ok\n");
    return 0;
}
