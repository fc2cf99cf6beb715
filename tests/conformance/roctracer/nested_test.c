/* The first enabling sets up a tool of the SDK, which enables something itself: neither waits for
 * the other. */
#include "common.h"

#include <dlfcn.h>
#include <rocprofiler-sdk/hip.h>

extern int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance,
                                     void **tables, uint64_t count);

static hipError_t do_device(int *device)
{
    *device = 7;
    return hipSuccess;
}

static unsigned calls;

static void on_call(uint32_t domain, uint32_t id, const void *data, void *arg)
{
    (void)domain, (void)id, (void)data, (void)arg;
    calls++;
}

static void a_tool_enables_while_the_program_does(void **state)
{
    enum { GET_DEVICE = ROCPROFILER_HIP_RUNTIME_API_ID_hipGetDevice };
    static struct {
        uint64_t size;
        void *slots[ROCPROFILER_HIP_RUNTIME_API_ID_LAST];
    } table = {.size = sizeof table, .slots = {[GET_DEVICE] = (void *)do_device}};
    void *tables[] = {&table};
    int device;
    (void)state;
    alarm(30);
    assert_int_equal(rocprofiler_set_api_table("hip", 70200, 0, tables, 1), 0);
    assert_ptr_equal(table.slots[GET_DEVICE], (void *)do_device);
    void *tool = dlopen(NESTED_TOOL, RTLD_NOW | RTLD_GLOBAL);
    assert_non_null(tool);
    OK(roctracer_enable_domain_callback(ACTIVITY_DOMAIN_HIP_API, on_call, NULL));
    const roctracer_status_t *nested = dlsym(tool, "nested_status");
    assert_non_null(nested);
    OK(*nested);
    ((hipError_t(*)(int *))table.slots[GET_DEVICE])(&device);
    assert_int_equal(calls, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tool_enables_while_the_program_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
