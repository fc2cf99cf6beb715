#include "launches.h"

#include <pthread.h>
#include <stddef.h>

#include <roctracer/roctracer_hip.h>

#include "names/texts.h"

enum { LAUNCHES_MAX = 1 << 15 }; /* a power of two */

static struct {
    pthread_mutex_t lock; /* of the rest; held for the length of a look-up */
    struct texts names;
    struct launch {
        uint64_t correlation_id;
        const char *kernel_name;
    } latest[LAUNCHES_MAX]; /* by the correlation id's last bits */
} launches = {.lock = PTHREAD_MUTEX_INITIALIZER};

void launches_note(const roctracer_record_t *call)
{
    if (call->domain != ACTIVITY_DOMAIN_HIP_API || !call->kernel_name)
        return;
    pthread_mutex_lock(&launches.lock);
    launches.latest[call->correlation_id % LAUNCHES_MAX] =
        (struct launch){call->correlation_id, texts_keep(&launches.names, call->kernel_name)};
    pthread_mutex_unlock(&launches.lock);
}

void launches_name(roctracer_record_t *operations, uint32_t count)
{
    pthread_mutex_lock(&launches.lock);
    for (uint32_t i = 0; i < count; i++) {
        roctracer_record_t *operation = &operations[i];
        const struct launch *launch = &launches.latest[operation->correlation_id % LAUNCHES_MAX];
        if (operation->domain == ACTIVITY_DOMAIN_HIP_OPS && operation->op == HIP_OP_ID_DISPATCH &&
            !operation->kernel_name && operation->correlation_id != 0 &&
            launch->correlation_id == operation->correlation_id)
            operation->kernel_name = launch->kernel_name;
    }
    pthread_mutex_unlock(&launches.lock);
}
