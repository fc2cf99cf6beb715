/* Test helper: what a code of gfx942's 8-bit floats is worth, from the definition of the formats.
 */
#ifndef VALU_TEST_FLOAT8_REFERENCE_H
#define VALU_TEST_FLOAT8_REFERENCE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* No infinities: exponent fields of 4 and 5 bits, a bias of 8 and 16; what would be -0 is NaN. */
static inline double float8_value(uint32_t byte, bool wide)
{
    const int digits = wide ? 2 : 3, bias = wide ? 16 : 8;
    const int exponent = (int)(byte & 0x7f) >> digits, fraction = (int)byte & ((1 << digits) - 1);
    const double magnitude = exponent ? ldexp(fraction + (1 << digits), exponent - bias - digits)
                                      : ldexp(fraction, 1 - bias - digits);
    if (byte == 0x80)
        return NAN;
    return byte & 0x80 ? -magnitude : magnitude;
}

#endif
