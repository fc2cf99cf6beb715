// What programs of csmith.py call: arithmetic that is defined for all values, and the sum of what
// they hold at their end.
#include <float.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __AMDGCN__
#define ON_GPU 1
#else
#define ON_GPU 0
#endif
#define NOINLINE __attribute__((noinline))

// -fwrapv: sums, differences and products wrap. What has no value (x / 0, shifts too far) is the
// first operand.
#define LANE_ARITHMETIC(T, s, low)                                                                 \
    static inline T safe_unary_minus_func_##T##_##s(T a)                                           \
    {                                                                                              \
        return (T)-a;                                                                              \
    }                                                                                              \
    static inline T safe_add_func_##T##_##s##_##s(T a, T b)                                        \
    {                                                                                              \
        return (T)(a + b);                                                                         \
    }                                                                                              \
    static inline T safe_sub_func_##T##_##s##_##s(T a, T b)                                        \
    {                                                                                              \
        return (T)(a - b);                                                                         \
    }                                                                                              \
    static inline T safe_mul_func_##T##_##s##_##s(T a, T b)                                        \
    {                                                                                              \
        return (T)((uint64_t)a * (uint64_t)b);                                                     \
    }                                                                                              \
    static inline T safe_div_func_##T##_##s##_##s(T a, T b)                                        \
    {                                                                                              \
        return b == 0 || (low && a == low && b == (T)-1) ? a : (T)(a / b);                         \
    }                                                                                              \
    static inline T safe_mod_func_##T##_##s##_##s(T a, T b)                                        \
    {                                                                                              \
        return b == 0 || (low && a == low && b == (T)-1) ? a : (T)(a % b);                         \
    }                                                                                              \
    LANE_SHIFTS(T, s, s, int)                                                                      \
    LANE_SHIFTS_OTHER_##s(T)
#define LANE_SHIFTS(T, s, by, B)                                                                   \
    static inline T safe_lshift_func_##T##_##s##_##by(T a, B b)                                    \
    {                                                                                              \
        return (uint32_t)b >= sizeof(T) * CHAR_BIT ? a : (T)((uint64_t)a << b);                    \
    }                                                                                              \
    static inline T safe_rshift_func_##T##_##s##_##by(T a, B b)                                    \
    {                                                                                              \
        return (uint32_t)b >= sizeof(T) * CHAR_BIT ? a : (T)(a >> b);                              \
    }
#define LANE_SHIFTS_OTHER_s(T) LANE_SHIFTS(T, s, u, unsigned)
#define LANE_SHIFTS_OTHER_u(T) LANE_SHIFTS(T, u, s, int)

LANE_ARITHMETIC(int8_t, s, INT8_MIN)
LANE_ARITHMETIC(int16_t, s, INT16_MIN)
LANE_ARITHMETIC(int32_t, s, INT32_MIN)
LANE_ARITHMETIC(int64_t, s, INT64_MIN)
LANE_ARITHMETIC(uint8_t, u, 0)
LANE_ARITHMETIC(uint16_t, u, 0)
LANE_ARITHMETIC(uint32_t, u, 0)
LANE_ARITHMETIC(uint64_t, u, 0)

// Which NaN comes out of an operation is the machine's choice.
#define LANE_FLOAT(name, op)                                                                       \
    static inline float safe_##name##_func_float_f_f(float a, float b)                             \
    {                                                                                              \
        const float c = a op b;                                                                    \
        return c != c ? 1.0f : c;                                                                  \
    }
LANE_FLOAT(add, +)
LANE_FLOAT(sub, -)
LANE_FLOAT(mul, *)
LANE_FLOAT(div, /)
static inline int32_t safe_convert_func_float_to_int32_t(float a)
{
    return a > -2147483648.0f && a < 2147483648.0f ? (int32_t)a : INT32_MAX;
}

static inline uint64_t lane_mixed(uint64_t sum, uint64_t value)
{
    sum = (sum ^ value) * 0x9e3779b97f4a7c15u;
    return sum ^ sum >> 29;
}
#define transparent_crc(value, name, print)                                                        \
    (globals->checksum = lane_mixed(globals->checksum, (uint64_t)(value)), globals->count++)
#define transparent_crc_bytes(bytes, size, name, print)                                            \
    do {                                                                                           \
        for (size_t at_ = 0; at_ < (size); at_++)                                                  \
            transparent_crc(((const volatile uint8_t *)(bytes))[at_], name, print);                \
    } while (0)
#define platform_main_begin()
#define crc32_gentab()
#define platform_main_end(sum, print)
#define printf(...) 0
