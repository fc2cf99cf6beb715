/*
 * A program on hsa_double.c as the tests of this folder play it: calls through the table, queues,
 * signals, packets.
 */
#ifndef INTERCEPT_HSA_CALLS_H
#define INTERCEPT_HSA_CALLS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "intercept/hsa/completion.h"
#include "intercept/hsa/install.h"
#include "intercept/hsa/objects.h"
#include "intercept/hsa/tables.h"
#include "intercept/hsa/test/hsa_double.h"
#include "intercept/hsa/test/trace_double.h"
#include "intercept/hsa/wrappers.h"

enum { STALL_NS = 500000000 };

/* A call as the program makes it: through the table. */
#define CALL(name) ((__typeof__(hsa_instances[0].real.name))double_function(HSA_FN_##name))

static inline int reset(void **state)
{
    (void)state;
    double_reset();
    return 0;
}

static inline hsa_queue_t *queue_open(void)
{
    hsa_queue_t *queue = NULL;
    assert_int_equal(
        CALL(hsa_queue_create)((hsa_agent_t){DOUBLE_GPU}, 4096, 0, NULL, NULL, 0, 0, &queue),
        HSA_STATUS_SUCCESS);
    return queue;
}

static inline hsa_signal_t signal_make(int64_t value)
{
    hsa_signal_t signal;
    CALL(hsa_signal_create)(value, 0, NULL, &signal);
    return signal;
}

static inline amd_signal_t *amd_signal(hsa_signal_t signal)
{
    return (amd_signal_t *)(uintptr_t)signal.handle;
}

static inline hsa_kernel_dispatch_packet_t kernel_packet(uint32_t grid, hsa_signal_t signal)
{
    return (hsa_kernel_dispatch_packet_t){.header = HSA_PACKET_TYPE_KERNEL_DISPATCH,
                                          .setup = 1,
                                          .workgroup_size_x = 64,
                                          .workgroup_size_y = 1,
                                          .workgroup_size_z = 1,
                                          .grid_size_x = grid,
                                          .grid_size_y = 1,
                                          .grid_size_z = 1,
                                          .kernel_object = double_kernel_object(0),
                                          .completion_signal = signal};
}

static inline bool value_reached(hsa_signal_t signal, int64_t value)
{
    for (int i = 0; i < 4000; i++) {
        if (__atomic_load_n(&amd_signal(signal)->value, __ATOMIC_ACQUIRE) == value)
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
    }
    return false;
}

static inline int stop(void **state)
{
    (void)state;
    double_stop();
    return 0;
}

#endif
