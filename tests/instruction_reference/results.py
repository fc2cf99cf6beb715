"""From the bits of sources to the bits of a result: modifiers, denormals, rounding, clamp, omod."""
import floats
from floats import F16, F32
from floating import ARITHMETIC, TO_INTEGER
from integers import INTEGER, limited, signed
from operands import FORMATS, width_of

SKIP = None  # what the documents leave open


def number_of(kind, bits, mode, absolute=False, negative=False):
    """A source as the functions of the tables want it."""
    width = width_of(kind)
    bits &= (1 << width) - 1
    if kind in FORMATS:
        if absolute:
            bits &= (1 << (width - 1)) - 1
        if negative:
            bits ^= 1 << (width - 1)
        return floats.decode(FORMATS[kind], bits, mode.keeps_in(FORMATS[kind]))
    return signed(bits, width) if kind[0] == "i" else bits


def was_denormal(fmt, bits, number):
    """Whether a denormal number has been rounded up to the smallest normal one: no description says if it is flushed before."""
    smallest = 1 << fmt[1]
    return bits & (1 << fmt[0] + fmt[1]) - 1 == smallest and floats.compare(
        ("fin", 0, number[2], number[3]), floats.decode(fmt, smallest)) != 0


def rounded(fmt, number, mode):
    """Bits, or SKIP."""
    bits = floats.encode(fmt, number, mode.round[fmt])
    if not mode.keeps_out(fmt):
        if was_denormal(fmt, bits, number):
            return SKIP
        if floats.is_denormal(fmt, bits):
            bits &= 1 << fmt[0] + fmt[1]
    return bits


def modified(fmt, bits, mode, clamp, omod):
    """omod counts only without IEEE mode and denormals; clamp: to [0, 1]."""
    if omod and not mode.ieee and mode.denormals[fmt] == 0 and not floats.is_nan(fmt, bits):
        number = floats.decode(fmt, bits)
        if number[0] == "fin":
            number = (number[0], number[1], number[2], number[3] + omod)
            bits = floats.encode(fmt, number, mode.round[fmt], False)
            if floats.decode(fmt, bits)[0] == "inf" or was_denormal(fmt, bits, number):
                return SKIP
    if clamp:
        if floats.is_nan(fmt, bits):
            return 0 if mode.dx10 else bits
        number, one = floats.decode(fmt, bits), ("fin", 0, 1, 0)
        if number[1]:
            return 0
        if floats.compare(number, one) == 1:
            return floats.encode(fmt, one)
    return bits


def float_result(kind, function, numbers, mode, clamp=False, omod=0):
    fmt = FORMATS[kind]
    bits = rounded(fmt, function(mode, *numbers), mode)
    return bits if bits is SKIP else modified(fmt, bits, mode, clamp, omod)


def integer_result(kind, number, clamp=False):
    width = width_of(kind)
    if clamp:
        number = limited(number, -1 << (width - 1), (1 << (width - 1)) - 1) if kind[0] == "i" else \
            limited(number, 0, (1 << width) - 1)
    return number & (1 << width) - 1


def entry_of(name):
    """(kind of the result, kinds of the sources) of an instruction of the plain tables."""
    for table in (INTEGER, ARITHMETIC, TO_INTEGER):
        if name in table:
            return table[name][0], table[name][1]
    raise KeyError(name)


def left_open(name, kinds, bits, mode):
    """Lanes about which the documents say nothing, or two things."""
    for kind, b in zip(kinds, bits):
        if kind not in FORMATS:
            continue
        fmt, b = FORMATS[kind], b & (1 << width_of(kind)) - 1
        number = floats.decode(fmt, b)
        if ("min3" in name or "max3" in name or "med3" in name) and floats.is_signaling(fmt, b):
            return True
        if "fract" in name and number[0] == "inf" or "cvt_pk_u8" in name and floats.compare(
                floats.integral(number, floats.ZERO), number) != 0:
            return True
        if "cvt_rpi" in name and number[0] == "fin":
            half = ("fin", 0, 1, -1)
            exact = floats.add(number, half)
            near = floats.decode(F32, floats.encode(F32, exact))
            if floats.compare(floats.integral(exact, floats.DOWN), floats.integral(near, floats.DOWN)) != 0:
                return True
    return False


def plain_result(name, bits, mode, signs, clamp=False, omod=0):
    """bits: of each source; signs: (absolute, negative) of each."""
    kind, kinds = entry_of(name)
    kinds = [{"acc": "u32", "acc32": "f32", "acc64": "f64"}.get(k, k) for k in kinds]
    numbers = [number_of(k, b, mode, *s) for k, b, s in zip(kinds, bits, signs)]
    if left_open(name, kinds, bits, mode):
        return SKIP
    if name in INTEGER:
        return integer_result(kind, INTEGER[name][2](*numbers), clamp)
    if name in TO_INTEGER:
        answer = TO_INTEGER[name][2](mode, *numbers) & (1 << width_of(kind)) - 1
        if clamp: # of two halves, each
            return modified(F16, answer & 0xffff, mode, True, 0) | modified(F16, answer >> 16, mode, True, 0) << 16
        return answer
    if "ldexp" in name:
        numbers[1] = limited(numbers[1], -5000, 5000)
    return float_result(kind, ARITHMETIC[name][2], numbers, mode, clamp, omod)


def same(kind, wanted, got):
    """NaNs are one; so are the zeros that omod and clamp may make."""
    if kind in FORMATS and floats.is_nan(FORMATS[kind], wanted):
        return floats.is_nan(FORMATS[kind], got)
    return wanted == got


def half_of(bits, high):
    return bits >> 16 & 0xffff if high else bits & 0xffff

