/* Metrics files of ROC Profiler v1. */
#include "api/rocprofiler_v1/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct xml_file file;
    char path[64];
    int memory = memfd_create("metrics", MFD_CLOEXEC);
    if (memory < 0 || write(memory, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
    if (xml_open(&file, path))
        xml_scope_read(&file, size & 1 ? "gfx9" : NULL);
    if (size & 1)
        xml_scope_read(&file, NULL);
    if (file.texts)
        for (uint32_t i = 0; i < file.metric_count; i++)
            if (!file.metrics[i].name || !file.metrics[i].scope)
                abort();
    xml_free(&file);
    close(memory);
    return 0;
}
