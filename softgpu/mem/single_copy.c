#include "mem/single_copy.h"

/* Bytes of the largest aligned piece of at most `left` that begins or ends at `edge`. */
static uint32_t piece_bytes(uintptr_t edge, uint32_t left)
{
    uint32_t bytes = 16;
    while (bytes > left || edge % bytes != 0)
        bytes /= 2;
    return bytes;
}

static void piece_load(uint8_t *to, const uint8_t *from, uint32_t bytes)
{
    switch (bytes) {
    case 16: {
        quad value = single_load_quad(from);
        memcpy(to, &value, sizeof value);
        break;
    }
    case 8: {
        uint64_t value = single_load_64(from);
        memcpy(to, &value, sizeof value);
        break;
    }
    case 4: {
        uint32_t value = single_load_32(from);
        memcpy(to, &value, sizeof value);
        break;
    }
    case 2: {
        uint16_t value = single_load_16(from);
        memcpy(to, &value, sizeof value);
        break;
    }
    default:
        *to = single_load_8(from);
        break;
    }
}

static void piece_store(uint8_t *to, const uint8_t *from, uint32_t bytes)
{
    quad value;
    uint64_t word = 0;
    memcpy(bytes == 16 ? (void *)&value : (void *)&word, from, bytes);
    switch (bytes) {
    case 16:
        single_store_quad(to, value);
        break;
    case 8:
        single_store_64(to, word);
        break;
    case 4:
        single_store_32(to, (uint32_t)word);
        break;
    case 2:
        single_store_16(to, (uint16_t)word);
        break;
    default:
        single_store_8(to, (uint8_t)word);
        break;
    }
}

void single_read(void *to, const void *from, uint32_t size_bytes)
{
    uintptr_t start = (uintptr_t)from;
    while (size_bytes > 0) {
        uint32_t bytes = piece_bytes(start + size_bytes, size_bytes);
        size_bytes -= bytes;
        piece_load((uint8_t *)to + size_bytes, (const uint8_t *)from + size_bytes, bytes);
    }
}

void single_write(void *to, const void *from, uint32_t size_bytes)
{
    for (uint32_t at = 0, bytes; at < size_bytes; at += bytes) {
        bytes = piece_bytes((uintptr_t)to + at, size_bytes - at);
        piece_store((uint8_t *)to + at, (const uint8_t *)from + at, bytes);
    }
}
