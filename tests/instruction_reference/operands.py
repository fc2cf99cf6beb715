"""Operands of test instructions: what their text is and what each lane reads.

Registers: sources v[2:3], v[4:5], v[6:7]; result v[8:9], with old contents; s[20:21] and vcc a mask;
s[22:23] the mask that is written; s[24:25] a uniform value; s[26:27] EXEC during the instruction."""
import floats
from floats import F16, F32, F64

LANES = 64
FORMATS = {"f16": F16, "f32": F32, "f64": F64}
INLINE_FLOATS = {"0.5": (0x3800, 0x3f000000, 0x3fe0 << 48), "-0.5": (0xb800, 0xbf000000, 0xbfe0 << 48),
                 "1.0": (0x3c00, 0x3f800000, 0x3ff0 << 48), "-1.0": (0xbc00, 0xbf800000, 0xbff0 << 48),
                 "2.0": (0x4000, 0x40000000, 0x4000 << 48), "-2.0": (0xc000, 0xc0000000, 0xc000 << 48),
                 "4.0": (0x4400, 0x40800000, 0x4010 << 48), "-4.0": (0xc400, 0xc0800000, 0xc010 << 48)}
INTEGERS = [0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 63, 64, 127, 128, 255, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffff, 0x800000,
            0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe, 0x7fffffffffffffff, 1 << 63, (1 << 64) - 1, 0xffffffff00000000]


def width_of(kind):
    """"halves" is a pair of f16."""
    return {"b16": 16, "u16": 16, "i16": 16, "f16": 16, "u64": 64, "i64": 64, "f64": 64}.get(kind, 32)


def float_bits(fmt, rng):
    """Zeros, denormals, borders, infinities, NaNs, halves of whole numbers, near each other, anything."""
    exponents, fraction = fmt
    sign = rng.getrandbits(1) << (exponents + fraction)
    top = ((1 << exponents) - 1) << fraction
    one = ((1 << (exponents - 1)) - 1) << fraction
    how = rng.randrange(12)
    if how == 0:
        return sign | rng.choice([0, 0, 1, (1 << fraction) - 1, 1 << fraction, 1 << (fraction - 1)])
    if how == 1:
        return sign | rng.choice([top, top - 1, top | 1, top | 1 << (fraction - 1), top | 3 << (fraction - 2)])
    if how == 2:
        return sign | rng.getrandbits(fraction)
    if how in (3, 4):
        number = ("fin", 0, rng.getrandbits(rng.randint(1, 12)), rng.choice([0, 0, -1, -2, -8]))
        return sign | floats.encode(fmt, number)
    if how in (5, 6, 7):
        return sign | one + (rng.randint(-4, 8) << fraction) + rng.getrandbits(fraction)
    if how == 8:
        return sign | (rng.randrange(1, 4) << fraction | rng.getrandbits(fraction))
    if how == 9:
        # The last: of a half, times 32767 it is just below a tie, which a product in single precision hides.
        return sign | rng.choice([one, one | 1, one | (1 << fraction) - 1, one - (1 << fraction) | 2])
    return rng.getrandbits(floats.bits_of(fmt))


def value(kind, rng):
    """64 bits: those above the kind's own are garbage."""
    width = width_of(kind)
    if kind in FORMATS:
        low = float_bits(FORMATS[kind], rng)
    else:
        low = rng.choice(INTEGERS) if rng.random() < 0.4 else rng.getrandbits(width) >> rng.choice([0, 0, rng.randrange(width)])
    return (low & (1 << width) - 1) | rng.getrandbits(64 - width) << width if width < 64 else low & (1 << 64) - 1


class Operand:
    """text; lanes: 64 bits a lane; slot: which register pair of memory it fills, or None; scalar: value of s[24:25]."""

    def __init__(self, text, lanes, slot=None, scalar=None, constant=False):
        self.text, self.lanes, self.slot, self.scalar, self.constant = text, lanes, slot, scalar, constant


def register(kind, slot, rng, wide=None):
    first = 2 + 2 * slot
    wide = width_of(kind) == 64 if wide is None else wide
    return Operand("v[%d:%d]" % (first, first + 1) if wide else "v%d" % first, [value(kind, rng) for _ in range(LANES)], slot)


def scalar(kind, rng):
    number = value(kind, rng)
    return Operand("s[24:25]" if width_of(kind) == 64 else "s24", [number] * LANES, scalar=number)


def inline_value(text, width):
    if text in INLINE_FLOATS:
        return INLINE_FLOATS[text][{16: 0, 32: 1, 64: 2}[width]]
    return int(text) & (1 << 64) - 1


def inline(kind, rng):
    """Whole numbers are sign-extended to the operand; others have the format of its width. What a 16-bit
    integer operand makes of 1.0 is said nowhere, so it gets none."""
    text = str(rng.choice([0, 1, 2, 7, 31, 64, -1, -2, -16]))
    if kind in FORMATS and rng.random() < 0.6 or kind in ("b32", "u32", "i32") and rng.random() < 0.15:
        text = rng.choice(list(INLINE_FLOATS))
    number = inline_value(text, width_of(kind))
    return Operand(text, [number] * LANES, constant=True)


def literal(kind, rng):
    """32 bits; the high half of a double."""
    number = value({"f64": "u32"}.get(kind, kind), rng) & 0xffffffff
    if width_of(kind) == 16:
        number &= 0xffff
    number |= 1 << (9 if width_of(kind) == 16 else 20)  # no inline constant
    if kind == "f64":
        return Operand("0x%x" % number, [number << 32] * LANES, constant=True)
    return Operand("0x%x" % number, [number] * LANES, constant=True)


def any_source(kind, slot, rng, allowed):
    """allowed: a set of "s", "inline", "literal"; an "s" or a literal that was drawn is taken out of it."""
    how = rng.random()
    if how < 0.12 and "s" in allowed:
        allowed -= {"s", "literal"}
        return scalar(kind, rng)
    if how < 0.3 and "inline" in allowed:
        return inline(kind, rng)
    if how < 0.36 and "literal" in allowed and kind not in ("u64", "i64"):
        allowed -= {"s", "literal"}
        return literal(kind, rng)
    return register(kind, slot, rng)
