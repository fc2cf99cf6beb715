// What every example shares: error checks and one line of verdict.
#pragma once
#include <hip/hip_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

// Stops the program with the failing call's text: an example has nothing better to do.
#define HIP_CHECK(call)                                                                            \
    do {                                                                                           \
        hipError_t status_ = (call);                                                               \
        if (status_ != hipSuccess) {                                                               \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                     \
                         hipGetErrorString(status_));                                              \
            std::exit(2);                                                                          \
        }                                                                                          \
    } while (0)

// Prints "<name>: ok" or "<name>: N wrong" and gives main's return value.
inline int verdict(const char *name, size_t wrong)
{
    if (wrong)
        std::printf("%s: %zu wrong\n", name, wrong);
    else
        std::printf("%s: ok\n", name);
    return wrong != 0;
}

// A small repeatable generator, the same on every machine.
struct Random {
    uint64_t state;
    explicit Random(uint64_t seed) : state(seed * 2 + 1) {}
    uint32_t bits()
    {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        return (uint32_t)(state >> 32);
    }
    float unit()
    {
        return (float)(bits() >> 8) * (1.0f / 16777216.0f);
    }
};

inline unsigned groups(size_t items, unsigned size)
{
    return (unsigned)((items + size - 1) / size);
}
