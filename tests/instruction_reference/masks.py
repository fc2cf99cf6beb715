"""Cases of what reads or writes a mask: carries, comparisons, selections, counts below a lane, divisions."""
import floats
from cases import ALL, Case, destination, with_signs
from floating import CONDITIONS, INTEGER_CONDITIONS, Mode, fused, holds, is_of_class
from integers import CARRY, M32, WIDE
from operands import FORMATS, any_source, register, width_of
from results import integer_result, number_of


def carried(name, rng, form, clamp=False):
    needs = name.split("_")[1] in ("addc", "subb", "subbrev")
    allowed = {"inline"} | (set() if needs else {"s"})
    first = any_source("u32", 0, rng, allowed)
    second = register("u32", 1, rng) if form == "_e32" else any_source("u32", 1, rng, allowed)
    into, source = ("vcc", "vcc") if form == "_e32" else ("s[22:23]", "s[20:21]")
    mask, execute = rng.getrandbits(64), ALL if rng.random() < 0.6 else rng.getrandbits(64)
    line = "%s%s v8, %s, %s, %s%s%s" % (name, form, into, first.text, second.text, ", " + source if needs else "",
                                         " clamp" if clamp else "")

    def expect(lane):
        total, out = CARRY[name](first.lanes[lane] & M32, second.lanes[lane] & M32, mask >> lane & 1)
        return [("result", "u32", 0, integer_result("u32", total, clamp)), ("mask", into, 0, int(out))]

    return Case(line, [first, second], rng, expect, execute=execute, mask=mask)


def widened(name, rng):
    kind, kinds, function = WIDE[name]
    allowed = {"s", "inline"}
    sources = [any_source(k, slot, rng, allowed) for slot, k in enumerate(kinds)]
    line = "%s v[8:9], s[22:23], %s" % (name, ", ".join(s.text for s in sources))

    def expect(lane):
        total = function(*(number_of(k, s.lanes[lane], None) for s, k in zip(sources, kinds)))
        parts = [("result", "u64", 0, total & (1 << 64) - 1)]
        return parts + [("mask", "s[22:23]", 0, total >> 64 & 1)] if kind == "u64" else parts

    return Case(line, sources, rng, expect)


def compared(name, rng, form):
    _, how, kind = name.rsplit("_", 2)
    wants_class = how == "class"
    kinds = [kind, "b32" if wants_class else kind]
    allowed = {"s", "inline"} | ({"literal"} if form == "_e32" else set())
    first, signs = any_source(kinds[0], 0, rng, allowed), []
    second = register(kinds[1], 1, rng) if form == "_e32" else any_source(kinds[1], 1, rng, allowed)
    if not wants_class and not second.constant and second.slot is not None and rng.random() < 0.5:
        second.lanes = [a if rng.random() < 0.4 else b for a, b in zip(first.lanes, second.lanes)]
    texts = [first.text, second.text]
    if form == "_e64":
        texts = [with_signs(s, k, rng, signs) for s, k in zip((first, second), kinds)]
    signs = signs or [(False, False)] * 2
    into = "vcc" if form == "_e32" else "s[22:23]"
    writes_exec = name.startswith("v_cmpx")
    execute = ALL if rng.random() < 0.5 else rng.getrandbits(64)
    mode = Mode(denormals32=rng.choice([3, 0]), denormals64=3) if kind == "f32" and not wants_class else Mode()

    def outcome(lane):
        if wants_class:
            width = width_of(kind)
            bits = first.lanes[lane] & (1 << width) - 1
            bits = bits & (1 << width - 1) - 1 if signs[0][0] else bits
            return is_of_class(FORMATS[kind], bits ^ signs[0][1] << width - 1, second.lanes[lane])
        x, y = (number_of(kind, s.lanes[lane], mode, *sign) for s, sign in zip((first, second), signs))
        if kind in FORMATS:
            return holds(CONDITIONS[how], floats.compare(x, y))
        return INTEGER_CONDITIONS[how] >> (x > y) - (x < y) + 1 & 1

    def expect(lane):
        answer = outcome(lane)
        return [("mask", into, 0, answer)] + ([("mask", "exec", 0, answer)] if writes_exec else [])

    line = "%s%s %s, %s" % (name, form, into, ", ".join(texts))
    return Case(line, [first, second], rng, expect, mode, execute=execute)


def chosen_by_mask(rng, form):
    allowed = {"inline"}
    first = any_source("b32", 0, rng, allowed)
    second = register("b32", 1, rng) if form == "_e32" else any_source("b32", 1, rng, allowed)
    mask = rng.getrandbits(64)
    line = "v_cndmask_b32%s v8, %s, %s, %s" % (form, first.text, second.text, "vcc" if form == "_e32" else "s[20:21]")
    return Case(line, [first, second], rng, lambda lane: [
        ("result", "u32", 0, (second if mask >> lane & 1 else first).lanes[lane] & M32)], mask=mask)


def counted_below(name, rng):
    low = "_lo_" in name
    allowed = {"s", "inline"}
    sources = [any_source("b32", slot, rng, allowed) for slot in range(2)]

    def expect(lane):
        below = (1 << lane) - 1
        below = below & M32 if low else below >> 32
        return [("result", "u32", 0, bin(sources[0].lanes[lane] & below).count("1") + sources[1].lanes[lane] & M32)]

    return Case("%s v8, %s, %s" % (name, sources[0].text, sources[1].text), sources, rng, expect)


def fixed_up(name, rng):
    """The last step of a division: quotient, denominator, numerator. Left open: what under- or overflows, and a NaN for
    a quotient, of which AMD's text makes a NaN and others' measurements an infinity."""
    kind = name[-3:]
    fmt, sources, signs = FORMATS[kind], [register(kind, slot, rng) for slot in range(3)], []
    texts = [with_signs(s, kind, rng, signs) for s in sources]
    mode = Mode()

    def expect(lane):
        q, d, n = (number_of(kind, s.lanes[lane], mode, *sign) for s, sign in zip(sources, signs))
        sign = d[1] ^ n[1]
        zero = [x[0] == "fin" and not x[2] for x in (d, n)]
        if "nan" in (d[0], n[0]) or all(zero) or d[0] == n[0] == "inf":
            answer = floats.NAN
        elif zero[0] or n[0] == "inf":
            answer = ("inf", sign, 0, 0)
        elif d[0] == "inf" or zero[1]:
            answer = ("fin", sign, 0, 0)
        else:
            far = n[2].bit_length() + n[3] - d[2].bit_length() - d[3]
            top = d[2].bit_length() + d[3] > (1 << fmt[0] - 1) - 2
            if q[0] == "nan" or kind != "f16" and (abs(far) > {"f32": 120, "f64": 1000}[kind] or top):
                return []
            answer = (q[0], sign, q[2], q[3])
        return [("result", kind, 0, floats.encode(fmt, answer))]

    return Case("%s %s, %s" % (name, destination(kind), ", ".join(texts)), sources, rng, expect, mode)


def fused_if_masked(name, rng):
    """v_div_fmas where the mask is 0: a fused multiply and add."""
    kind = name[-3:]
    sources, signs, mode = [register(kind, slot, rng) for slot in range(3)], [], Mode()
    texts = [with_signs(s, kind, rng, signs) for s in sources]

    def expect(lane):
        numbers = [number_of(kind, s.lanes[lane], mode, *sign) for s, sign in zip(sources, signs)]
        return [("result", kind, 0, floats.encode(FORMATS[kind], fused(*numbers, floats.NEAREST)))]

    return Case("%s %s, %s" % (name, destination(kind), ", ".join(texts)), sources, rng, expect, mode, mask=0)
