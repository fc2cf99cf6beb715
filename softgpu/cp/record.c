/* CROCGPU_PM4_LOG: what PM4 was executed, as text that `crocgpu pm4` reads. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "cp/pm4_ops.h"

/* The packet processor's thread alone opens and writes it; exit() writes the rest. */
static struct {
    FILE *file;
    bool looked;
} record;

static void record_open(void)
{
    const char *path = secure_getenv("CROCGPU_PM4_LOG");
    record.looked = true;
    if (!path || !*path)
        return;
    record.file = fopen(path, "we");
    if (!record.file)
        log_warning("crocgpu", "CROCGPU_PM4_LOG: %s: %s", path, strerror(errno));
}

bool pm4_is_recorded(void)
{
    if (!record.looked)
        record_open();
    return record.file != NULL;
}

void pm4_record(const struct cp_queue *queue, const uint32_t *dwords, uint32_t count)
{
    perf_registers_release(queue->device->perf);
    fprintf(record.file, "gpu%u.queue%u:", queue->config.gpu_id, queue->config.queue_id);
    for (uint32_t i = 0; i < count; i++)
        fprintf(record.file, " %08x", dwords[i]);
    fputc('\n', record.file);
}
