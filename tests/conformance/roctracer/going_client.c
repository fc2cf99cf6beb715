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

#define EXPORTED __attribute__((visibility("default")))
EXPORTED unsigned *going_client_calls(void);
EXPORTED unsigned *going_client_records(void);
static const uint32_t OP = HSA_API_ID_hsa_system_get_info;

unsigned *going_client_calls(void)
{
    roctracer_enable_op_callback(ACTIVITY_DOMAIN_HSA_API, OP, on_call, NULL);
    return counts;
}

unsigned *going_client_records(void)
{
    const roctracer_properties_t properties = {.buffer_size = 4096,
                                               .buffer_callback_fun = on_records};
    roctracer_open_pool(&properties);
    roctracer_enable_op_activity(ACTIVITY_DOMAIN_HSA_API, OP);
    return counts;
}
