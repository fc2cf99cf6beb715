/* A line of the kernel driver's event file of arbitrary bytes: understood or not, never a crash. */
#include "intercept/kfd/smi.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct smi_event event;
    char *line = malloc(size + 1);
    if (!line)
        return 0;
    memcpy(line, data, size);
    line[size] = 0;
    smi_parse(line, &event);
    free(line);
    return 0;
}
