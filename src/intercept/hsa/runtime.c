#include "intercept/hsa/runtime.h"

#include "base/log.h"
#include "intercept/hsa/completion.h"
#include "intercept/hsa/copies.h"
#include "intercept/hsa/counting.h"
#include "intercept/hsa/install.h"
#include "intercept/hsa/instance.h"
#include "intercept/hsa/interrupt.h"
#include "intercept/hsa/objects.h"
#include "intercept/hsa/replay_copies.h"
#include "intercept/hsa/replay_queue.h"
#include "intercept/hsa/replay_reasons.h"
#include "intercept/kfd/smi.h"

/* ---- from its arrival to its departure */

static bool install(const struct runtime_row *row, void *const *tables, uint64_t version)
{
    (void)row;
    if (!hsa_install(tables[0], version))
        return false;
    if (intercept_hsa_serves_devices(tables[0]))
        hsa_counting_begin();
    return true;
}

/* Another runtime may go on serving devices, or begin to, when this one has gone. */
static void forget(void *table)
{
    bool another_serves =
        intercept_hsa_serves_devices(NULL) && !intercept_hsa_serves_devices(table);

    const struct hsa_instance *leaving = hsa_instance_of_table(table);
    if (leaving) {
        replay_queues_end(leaving, true);
        replay_copies_end(leaving, true);
        interrupt_close(leaving);
    }
    if (another_serves)
        hsa_counting_memory_renew();
    else
        hsa_counting_end();
    runtime_leave(RUNTIME_HSA, table);
    if (!another_serves && intercept_hsa_serves_devices(NULL))
        hsa_counting_begin();
}

/* ---- its work */

static void work_drain(void)
{
    /* A kernel that never ends must not keep the program from ending. */
    enum { STALL_NS = 2000000000 };

    if (!completion_drain(STALL_NS))
        log_warning("intercept", "device work was still running at the end and is not reported");
    for (uint32_t i = 0; i < HSA_INSTANCES_MAX; i++)
        copies_release(&hsa_instances[i]);
    intercept_kfd_drain();
    replay_reasons_tell();
}

static bool work_wait(void)
{
    enum { STALL_NS = 2000000000 };

    bool complete = completion_drain(STALL_NS);
    intercept_kfd_drain();
    return complete;
}

static void work_collect(void)
{
    /* Long enough for a loaded machine; a callback of a tool may wait for who asked us. */
    enum { STALL_NS = 1000000000 };

    completion_harvest(STALL_NS);
    intercept_kfd_drain();
}

const struct runtime_ops hsa_runtime_ops = {
    .install = install,
    .refresh = intercept_hsa_refresh,
    .forget = forget,
    .leaving = intercept_hsa_leaving,
    .work_collect = work_collect,
    .work_wait = work_wait,
    .work_drain = work_drain,
    .objects_unload = objects_unload_all,
    .objects_announce = objects_announce,
};
