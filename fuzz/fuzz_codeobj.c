/* A code object of arbitrary bytes: any status, no access outside the image, every text inside it.
 */
#include <stdint.h>
#include <stdlib.h>

#include "codeobj/codeobj.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void inside(const uint8_t *data, size_t size, struct codeobj_text text)
{
    const uint8_t *begin = (const uint8_t *)text.bytes;
    if (text.size_bytes > 0 && (begin < data || begin + text.size_bytes > data + size))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct codeobj object;
    if (codeobj_parse(data, size, &object) == CODEOBJ_OK) {
        for (uint32_t i = 0; i < object.kernel_count; i++) {
            const struct codeobj_kernel *kernel = &object.kernels[i];
            inside(data, size, kernel->name);
            inside(data, size, kernel->symbol);
            if (kernel->argument_first + (uint64_t)kernel->argument_count > object.argument_count)
                abort();
        }
        for (uint32_t i = 0; i < object.argument_count; i++)
            inside(data, size, object.arguments[i].value_kind);
    }
    codeobj_free(&object);
    return 0;
}
