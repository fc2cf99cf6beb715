/* The XML file of ROCP_INPUT, and the names of kernels. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "names/demangle.h"
#include "roctracer/tool/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void input_try(const uint8_t *data, size_t size)
{
    static int file = -1;
    char path[64];
    if (file < 0)
        file = memfd_create("input", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != (ssize_t)size)
        abort();
    struct settings settings = {0};
    input_read(&settings, path);
    settings_free(&settings);
}

static void name_try(const uint8_t *data, size_t size)
{
    char *symbol = strndup((const char *)data, size);
    size_t length;
    if (!symbol)
        return;
    const char *name = name_short(symbol, &length);
    if (name < symbol || name + length > symbol + strlen(symbol))
        abort();
    free(symbol);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    setenv("CROC_LOG_LEVEL", "error", 1);
    input_try(data, size);
    name_try(data, size);
    return 0;
}
