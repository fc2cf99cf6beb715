"""What floating-point instructions do, from AMD's and LLVM's descriptions. A NaN is any NaN.

Functions take decoded numbers (floats.py) unless they say bits; `mode` is a Mode. Denormals are flushed,
signs changed and results rounded by the caller (machine.py)."""
import floats
from floats import DOWN, F16, F32, F64, NAN, NEAREST, UP, ZERO, add, compare, multiply, negated
from integers import signed


class Mode:
    """MODE: round and denormals of f32 and of f16 and f64, IEEE, DX10_CLAMP; as a kernel begins."""

    def __init__(self, round32=NEAREST, round64=NEAREST, denormals32=3, denormals64=3, ieee=1, dx10=1):
        self.round = {F32: round32, F16: round64, F64: round64}
        self.denormals = {F32: denormals32, F16: denormals64, F64: denormals64}
        self.ieee, self.dx10 = ieee, dx10

    def bits(self):
        return (self.round[F32] | self.round[F64] << 2 | self.denormals[F32] << 4 | self.denormals[F64] << 6 |
                self.dx10 << 8 | self.ieee << 9)

    def keeps_in(self, fmt):
        return bool(self.denormals[fmt] & 1)

    def keeps_out(self, fmt):
        return bool(self.denormals[fmt] & 2)


def fused(x, y, z, how):
    return add(multiply(x, y), z, how)


def extreme(mode, x, y, want):
    """Minimum (want -1) or maximum (want 1). A NaN beside a number gives the number, but a signaling one
    in IEEE mode a NaN; -0 is below +0."""
    if mode.ieee and any(n[0] == "nan" and n[2] for n in (x, y)):
        return NAN
    if x[0] == "nan" or y[0] == "nan":
        return y if x[0] == "nan" else x
    order = compare(x, y)
    if order == 0:
        return x if (x[1] == 1) == (want < 0) else y
    return x if order == want else y


def middle(mode, x, y, z):
    """The one between; with a NaN the least of the three."""
    if "nan" in (x[0], y[0], z[0]):
        return extreme(mode, extreme(mode, x, y, -1), z, -1)
    top = extreme(mode, extreme(mode, x, y, 1), z, 1)
    if compare(top, x) == 0:
        return extreme(mode, y, z, 1)
    if compare(top, y) == 0:
        return extreme(mode, x, z, 1)
    return extreme(mode, x, y, 1)


def fraction(fmt, x, mode):
    """x - floor(x), below 1: at most the greatest number that is."""
    if x[0] != "fin":
        return NAN
    value = add(x, negated(floats.integral(x, DOWN)), mode.round[fmt])
    below_one = ("fin", 0, (1 << (fmt[1] + 1)) - 1, -fmt[1] - 1)
    rounded = floats.decode(fmt, floats.encode(fmt, value, mode.round[fmt]))
    return below_one if compare(rounded, below_one) == 1 else value


def mantissa(x):
    """In [0.5, 1)."""
    return x if x[0] != "fin" or not x[2] else ("fin", x[1], x[2], -x[2].bit_length())


def exponent(x):
    return 0 if x[0] != "fin" or not x[2] else x[2].bit_length() + x[3]


def scaled(x, by):
    return x if x[0] != "fin" else (x[0], x[1], x[2], x[3] + by)


def normalised(low, high):
    """A number in [-1, 1] or [0, 1] as an integer, rounded to even."""
    def function(x):
        return floats.to_integer(multiply(x, floats.of_integer(high)), low, high, NEAREST)
    return function


def of_4_bits(a):
    return ("fin", int(a & 8 != 0), abs(signed(a, 4)), -4)


def half_up(x):
    return floats.to_integer(floats.integral(add(x, ("fin", 0, 1, -1), NEAREST), DOWN), -1 << 31, (1 << 31) - 1)


def is_of_class(fmt, bits, wanted):
    sign, field, rest = floats.parts(fmt, bits)
    if field == (1 << fmt[0]) - 1:
        if rest:
            found = 0 if floats.is_signaling(fmt, bits) else 1
        else:
            found = 2 if sign else 9
    elif field:
        found = 3 if sign else 8
    elif rest:
        found = 4 if sign else 7
    else:
        found = 5 if sign else 6
    return wanted >> found & 1


# Sixteen conditions: bit 0 less, 1 equal, 2 greater, 3 unordered.
CONDITIONS = {"f": 0, "lt": 1, "eq": 2, "le": 3, "gt": 4, "lg": 5, "ge": 6, "o": 7, "u": 8, "nge": 9, "nlg": 10, "ngt": 12 - 1,
              "nle": 12, "neq": 13, "nlt": 14, "tru": 15}
INTEGER_CONDITIONS = {"f": 0, "lt": 1, "eq": 2, "le": 3, "gt": 4, "ne": 5, "ge": 6, "t": 7}


def holds(condition, order):
    return condition >> (3 if order is None else order + 1) & 1


# name: (format of the result, formats or integer types of the sources, function(mode, *sources))
ARITHMETIC = {}
for letter, fmt in (("16", F16), ("32", F32), ("64", F64)):
    t = "f" + letter

    def define(name, count, function, t=t):
        ARITHMETIC["v_%s_%s" % (name, t)] = (t, [t] * count, function)

    define("add", 2, lambda mode, x, y, fmt=fmt: add(x, y, mode.round[fmt]))
    define("mul", 2, lambda mode, x, y: multiply(x, y))
    define("min", 2, lambda mode, x, y: extreme(mode, x, y, -1))
    define("max", 2, lambda mode, x, y: extreme(mode, x, y, 1))
    define("fma", 3, lambda mode, x, y, z, fmt=fmt: fused(x, y, z, mode.round[fmt]))
    if letter != "64":
        define("sub", 2, lambda mode, x, y, fmt=fmt: add(x, negated(y), mode.round[fmt]))
        define("subrev", 2, lambda mode, x, y, fmt=fmt: add(y, negated(x), mode.round[fmt]))
        define("min3", 3, lambda mode, x, y, z: extreme(mode, extreme(mode, x, y, -1), z, -1))
        define("max3", 3, lambda mode, x, y, z: extreme(mode, extreme(mode, x, y, 1), z, 1))
        define("med3", 3, middle)
    define("trunc", 1, lambda mode, x: floats.integral(x, ZERO))
    define("ceil", 1, lambda mode, x: floats.integral(x, UP))
    define("floor", 1, lambda mode, x: floats.integral(x, DOWN))
    define("rndne", 1, lambda mode, x: floats.integral(x, NEAREST))
    define("fract", 1, lambda mode, x, fmt=fmt: fraction(fmt, x, mode))
    define("frexp_mant", 1, lambda mode, x: mantissa(x))
ARITHMETIC.update({
    "v_fmac_f32": ("f32", ["f32", "f32", "acc32"], lambda mode, x, y, z: fused(x, y, z, mode.round[F32])),
    "v_fmac_f64": ("f64", ["f64", "f64", "acc64"], lambda mode, x, y, z: fused(x, y, z, mode.round[F64])),
    "v_mul_legacy_f32": ("f32", ["f32", "f32"], lambda mode, x, y: ("fin", 0, 0, 0) if any(
        n[0] == "fin" and not n[2] for n in (x, y)) else multiply(x, y)),
    "v_ldexp_f32": ("f32", ["f32", "i32"], lambda mode, x, n: scaled(x, n)),
    "v_ldexp_f64": ("f64", ["f64", "i32"], lambda mode, x, n: scaled(x, n)),
    "v_ldexp_f16": ("f16", ["f16", "i16"], lambda mode, x, n: scaled(x, n)),
    "v_cvt_f16_f32": ("f16", ["f32"], lambda mode, x: x), "v_cvt_f32_f16": ("f32", ["f16"], lambda mode, x: x),
    "v_cvt_f32_f64": ("f32", ["f64"], lambda mode, x: x), "v_cvt_f64_f32": ("f64", ["f32"], lambda mode, x: x),
    "v_cvt_f32_i32": ("f32", ["i32"], lambda mode, n: floats.of_integer(n)),
    "v_cvt_f32_u32": ("f32", ["u32"], lambda mode, n: floats.of_integer(n)),
    "v_cvt_f64_i32": ("f64", ["i32"], lambda mode, n: floats.of_integer(n)),
    "v_cvt_f64_u32": ("f64", ["u32"], lambda mode, n: floats.of_integer(n)),
    "v_cvt_f16_i16": ("f16", ["i16"], lambda mode, n: floats.of_integer(n)),
    "v_cvt_f16_u16": ("f16", ["u16"], lambda mode, n: floats.of_integer(n)),
    "v_cvt_off_f32_i4": ("f32", ["b32"], lambda mode, n: of_4_bits(n)),
})
for byte in range(4):
    ARITHMETIC["v_cvt_f32_ubyte%d" % byte] = (
        "f32", ["b32"], lambda mode, n, byte=byte: floats.of_integer(n >> 8 * byte & 255))

# Results that are integers: (type, sources, function(mode, *sources)).
TO_INTEGER = {
    "v_cvt_u32_f32": ("u32", ["f32"], lambda mode, x: floats.to_integer(x, 0, (1 << 32) - 1)),
    "v_cvt_i32_f32": ("i32", ["f32"], lambda mode, x: floats.to_integer(x, -1 << 31, (1 << 31) - 1)),
    "v_cvt_u32_f64": ("u32", ["f64"], lambda mode, x: floats.to_integer(x, 0, (1 << 32) - 1)),
    "v_cvt_i32_f64": ("i32", ["f64"], lambda mode, x: floats.to_integer(x, -1 << 31, (1 << 31) - 1)),
    "v_cvt_u16_f16": ("u16", ["f16"], lambda mode, x: floats.to_integer(x, 0, 65535)),
    "v_cvt_i16_f16": ("i16", ["f16"], lambda mode, x: floats.to_integer(x, -32768, 32767)),
    "v_cvt_rpi_i32_f32": ("i32", ["f32"], lambda mode, x: half_up(x)),
    "v_cvt_flr_i32_f32": ("i32", ["f32"], lambda mode, x: floats.to_integer(x, -1 << 31, (1 << 31) - 1, DOWN)),
    "v_cvt_norm_i16_f16": ("i16", ["f16"], lambda mode, x: normalised(-32767, 32767)(x)),
    "v_cvt_norm_u16_f16": ("u16", ["f16"], lambda mode, x: normalised(0, 65535)(x)),
    "v_cvt_pknorm_i16_f32": ("b32", ["f32", "f32"], lambda mode, x, y: normalised(-32767, 32767)(x) & 0xffff |
                             (normalised(-32767, 32767)(y) & 0xffff) << 16),
    "v_cvt_pknorm_u16_f32": ("b32", ["f32", "f32"], lambda mode, x, y: normalised(0, 65535)(x) |
                             normalised(0, 65535)(y) << 16),
    "v_cvt_pknorm_i16_f16": ("b32", ["f16", "f16"], lambda mode, x, y: normalised(-32767, 32767)(x) & 0xffff |
                             (normalised(-32767, 32767)(y) & 0xffff) << 16),
    "v_cvt_pknorm_u16_f16": ("b32", ["f16", "f16"], lambda mode, x, y: normalised(0, 65535)(x) |
                             normalised(0, 65535)(y) << 16),
    "v_cvt_pk_u8_f32": ("b32", ["f32", "b32", "b32"], lambda mode, x, at, old: (
        old & ~(255 << 8 * (at & 3))) | floats.to_integer(x, 0, 255, mode.round[F32]) << 8 * (at & 3)),
    "v_frexp_exp_i32_f32": ("i32", ["f32"], lambda mode, x: exponent(x)),
    "v_frexp_exp_i32_f64": ("i32", ["f64"], lambda mode, x: exponent(x)),
    "v_frexp_exp_i16_f16": ("i16", ["f16"], lambda mode, x: exponent(x)),
    "v_cvt_pkrtz_f16_f32": ("halves", ["f32", "f32"], lambda mode, x, y: floats.encode(F16, x, ZERO, mode.keeps_out(F16)) |
                            floats.encode(F16, y, ZERO, mode.keeps_out(F16)) << 16),
}
PACKED_F16 = {
    "v_pk_add_f16": (2, lambda mode, x, y: add(x, y, mode.round[F16])), "v_pk_mul_f16": (2, lambda mode, x, y: multiply(x, y)),
    "v_pk_min_f16": (2, lambda mode, x, y: extreme(mode, x, y, -1)),
    "v_pk_max_f16": (2, lambda mode, x, y: extreme(mode, x, y, 1)),
    "v_pk_fma_f16": (3, lambda mode, x, y, z: fused(x, y, z, mode.round[F16])),
}
PACKED_F32 = {
    "v_pk_add_f32": (2, lambda mode, x, y: add(x, y, mode.round[F32])), "v_pk_mul_f32": (2, lambda mode, x, y: multiply(x, y)),
    "v_pk_fma_f32": (3, lambda mode, x, y, z: fused(x, y, z, mode.round[F32])),
}
