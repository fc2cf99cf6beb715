/* A client in a library that the program closes without a word. */
#include <roctracer/roctracer.h>
#include <roctracer/roctracer_hsa.h>

static unsigned counts[2]; /* callbacks, records; one thread makes the calls */

static void on_call(uint32_t domain, uint32_t op, const void *data, void *arg)
{
    (void)domain, (void)op, (void)data, (void)arg;
    counts[0]++;
}

static void on_records(const char *begin, const char *end, void *arg)
{
    (void)arg;
    counts[1] += (unsigned)((end - begin) / (long)sizeof(roctracer_record_t));
}

__attribute__((visibility("default"))) void going_client_begin(unsigned **seen);
void going_client_begin(unsigned **seen)
{
    const roctracer_properties_t properties = {.buffer_size = 4096,
                                               .buffer_callback_fun = on_records};
    const uint32_t op = HSA_API_ID_hsa_system_get_info;
    *seen = counts;
    roctracer_open_pool(&properties);
    roctracer_enable_op_callback(ACTIVITY_DOMAIN_HSA_API, op, on_call, NULL);
    roctracer_enable_op_activity(ACTIVITY_DOMAIN_HSA_API, op);
}
