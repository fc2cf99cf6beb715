/* The disassembler on arbitrary dwords: never out of bounds, always forward. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dump/dump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t count = (uint32_t)(size / 4), at = 0;
    uint32_t *dwords = malloc(count * 4 + 4);
    memcpy(dwords, data, count * 4);
    while (at < count) {
        struct dump_packet packet;
        char text[80];
        uint32_t length = dump_decode(dwords + at, count - at, &packet);
        if (length == 0) {
            at++;
            continue;
        }
        if (length > count - at)
            abort();
        dump_format((enum dump_family)(at % DUMP_FAMILIES), &packet, text, sizeof text);
        at += length;
    }
    free(dwords);
    return 0;
}
