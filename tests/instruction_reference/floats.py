"""Binary floating point by exact integers: what IEEE 754 and the MODE register say, nothing of the host's.

A number is (kind, sign, m, e): kind "nan", "inf" or "fin"; a finite one is (-1)^sign * m * 2^e; m of a
NaN is 1 if it signals."""

F16, F32, F64 = (5, 10), (8, 23), (11, 52)
NEAREST, UP, DOWN, ZERO = range(4)
NAN = ("nan", 0, 0, 0)


def bits_of(fmt):
    return 1 + fmt[0] + fmt[1]


def parts(fmt, bits):
    exponents, fraction = fmt
    return bits >> (exponents + fraction) & 1, bits >> fraction & ((1 << exponents) - 1), bits & ((1 << fraction) - 1)


def infinity(fmt, sign):
    return (sign << fmt[0] | (1 << fmt[0]) - 1) << fmt[1]


def quiet_nan(fmt):
    return infinity(fmt, 0) | 1 << (fmt[1] - 1)


def is_nan(fmt, bits):
    _, exponent, fraction = parts(fmt, bits)
    return exponent == (1 << fmt[0]) - 1 and fraction != 0


def is_signaling(fmt, bits):
    return is_nan(fmt, bits) and not bits >> (fmt[1] - 1) & 1


def is_denormal(fmt, bits):
    _, exponent, fraction = parts(fmt, bits)
    return exponent == 0 and fraction != 0


def decode(fmt, bits, keep_denormals=True):
    sign, exponent, fraction = parts(fmt, bits)
    if exponent == (1 << fmt[0]) - 1:
        return ("nan", sign, int(is_signaling(fmt, bits)), 0) if fraction else ("inf", sign, 0, 0)
    bias = (1 << (fmt[0] - 1)) - 1
    if exponent == 0:
        return ("fin", sign, fraction if keep_denormals else 0, 1 - bias - fmt[1])
    return ("fin", sign, fraction | 1 << fmt[1], exponent - bias - fmt[1])


def rounded_shift(m, by, sign, how, sticky=False):
    """m / 2^by as an integer; sticky: the value is a little greater than m."""
    if by <= 0:
        return m << -by
    whole, rest, half = m >> by, m & ((1 << by) - 1), 1 << (by - 1)
    above = rest > half or (rest == half and (sticky or whole & 1))
    if how == NEAREST:
        return whole + above
    return whole + (1 if (rest or sticky) and how == (DOWN if sign else UP) else 0)


def encode(fmt, number, how=NEAREST, keep_denormals=True):
    kind, sign, m, e = number
    exponents, fraction = fmt
    top = sign << (exponents + fraction)
    if kind == "nan":
        return quiet_nan(fmt)
    if kind == "inf":
        return infinity(fmt, sign)
    if m == 0:
        return top
    bias = (1 << (exponents - 1)) - 1
    lowest = 1 - bias - fraction  # exponent of the last place of the smallest normal
    last = max(e + m.bit_length() - 1 - fraction, lowest)
    n = rounded_shift(m, last - e, sign, how)
    if n >> (fraction + 1):
        n, last = n >> 1, last + 1
    if not n >> fraction:
        return top | (n if keep_denormals else 0)
    field = last + fraction + bias
    if field >= (1 << exponents) - 1:
        to_infinity = how == NEAREST or how == (DOWN if sign else UP)
        return infinity(fmt, sign) if to_infinity else infinity(fmt, sign) - 1
    return top | field << fraction | n & ((1 << fraction) - 1)


def negated(x):
    return (x[0], x[1] ^ 1, x[2], x[3])


def add(x, y, how=NEAREST):
    if x[0] == "nan" or y[0] == "nan" or (x[0] == y[0] == "inf" and x[1] != y[1]):
        return NAN
    if x[0] == "inf" or y[0] == "inf":
        return x if x[0] == "inf" else y
    e = min(x[3], y[3])
    total = sum((-n[2] if n[1] else n[2]) << (n[3] - e) for n in (x, y))
    if total == 0:
        sign = x[1] if x[1] == y[1] else int(how == DOWN)
        return ("fin", sign, 0, e)
    return ("fin", int(total < 0), abs(total), e)


def multiply(x, y):
    sign = x[1] ^ y[1]
    if x[0] == "nan" or y[0] == "nan":
        return NAN
    if x[0] == "inf" or y[0] == "inf":
        zero = any(n[0] == "fin" and n[2] == 0 for n in (x, y))
        return NAN if zero else ("inf", sign, 0, 0)
    return ("fin", sign, x[2] * y[2], x[3] + y[3])


def compare(x, y):
    """-1, 0, 1, or None where one is a NaN."""
    if x[0] == "nan" or y[0] == "nan":
        return None

    def key(n):
        return (-1 if n[1] else 1) * (2 if n[0] == "inf" else 0)

    if x[0] == "inf" or y[0] == "inf":
        return (key(x) > key(y)) - (key(x) < key(y))
    e = min(x[3], y[3])
    a, b = ((-n[2] if n[1] else n[2]) << (n[3] - e) for n in (x, y))
    return (a > b) - (a < b)


def integral(x, how):
    """To a whole number; how may be NEAREST (even), UP, DOWN or ZERO. Signs of zeros stay."""
    if x[0] != "fin" or x[3] >= 0:
        return x
    return ("fin", x[1], rounded_shift(x[2], -x[3], x[1], how), 0)


def to_integer(x, low, high, how=ZERO):
    """Saturates; a NaN is 0."""
    if x[0] == "nan":
        return 0
    if x[0] == "inf":
        return low if x[1] else high
    n = integral(x, how)
    value = n[2] << n[3] if n[3] >= 0 else n[2] >> -n[3]
    return max(low, min(high, -value if x[1] else value))


def of_integer(value):
    return ("fin", int(value < 0), abs(value), 0)
