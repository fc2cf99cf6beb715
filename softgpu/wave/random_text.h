/*
 * For tests of random kernels: numbers that follow from a seed, and a kernel's text that grows by
 * formats. For one file each: it has state of its own.
 */
#ifndef WAVE_RANDOM_TEXT_H
#define WAVE_RANDOM_TEXT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

enum { TEXT_BYTES = 16384 };

static uint64_t random_state = 1; /* the seed at first */
static uint32_t below(uint32_t end)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % end;
}

static inline uint32_t random_dword(void)
{
    return below(0x10000) << 16 | below(0x10000);
}

static char text[TEXT_BYTES];
static size_t text_length;
__attribute__((format(printf, 1, 2))) static inline void put(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_length +=
        (size_t)vsnprintf(text + text_length, sizeof text - text_length, format, arguments);
    va_end(arguments);
    assert_true(text_length < sizeof text - 1);
}

#endif
