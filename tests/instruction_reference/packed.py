"""Cases of VOP3P: packed halves, packed singles, mixed precision, dot products."""
import floats
from cases import Case, drawn_mode, with_signs
from floating import PACKED_F16, PACKED_F32, Mode, fused
from floats import F16, F32
from integers import DOT2, M32, PACKED
from operands import LANES, Operand, any_source, inline, inline_value, register, value
from results import SKIP, float_result, half_of, integer_result, number_of


def bit_list(name, bits):
    return " %s:[%s]" % (name, ",".join(map(str, bits)))


def packed_source(kind, slot, rng, allowed):
    """Two halves. Whole numbers are 32 bits with their sign; 1.0 is a half below zeros, and a single one for integers."""
    how = rng.random()
    if how < 0.15 and "s" in allowed:
        allowed -= {"s"}
        number = value(kind, rng) & 0xffff | value(kind, rng) << 16 & M32
        return Operand("s24", [number] * LANES, scalar=number)
    if how < 0.35:
        text = rng.choice(["0", "1", "3", "15", "64", "-1", "-16"] + (["1.0", "-0.5", "4.0", "2.0"] if kind == "f16" else []))
        return Operand(text, [inline_value(text, 16 if "." in text else 32) & M32] * LANES, constant=True)
    first = register("u32", slot, rng)
    first.lanes = [value(kind, rng) & 0xffff | (value(kind, rng) & 0xffff) << 16 for _ in range(LANES)]
    return first


def packed(name, rng):
    is_float = name in PACKED_F16
    kind, count = ("f16", PACKED_F16[name][0]) if is_float else PACKED[name][:2]
    allowed = {"s"}
    sources = [packed_source(kind, slot, rng, allowed) for slot in range(count)]
    low, high = [rng.getrandbits(1) for _ in sources], [rng.getrandbits(1) for _ in sources]
    negative = [[rng.getrandbits(1) if is_float else 0 for _ in sources] for _ in range(2)]
    mode = drawn_mode("v_add_f16", rng) if is_float else Mode()
    clamp = (is_float or PACKED[name][3]) and rng.random() < 0.3
    line = "%s v8, %s" % (name, ", ".join(s.text for s in sources)) + bit_list("op_sel", low) + bit_list("op_sel_hi", high)
    if is_float:
        line += bit_list("neg_lo", negative[0]) + bit_list("neg_hi", negative[1])
    line += " clamp" if clamp else ""

    def half(lane, chosen, negated):
        numbers = [number_of(kind, half_of(s.lanes[lane], c), mode, False, n)
                   for s, c, n in zip(sources, chosen, negated)]
        if not is_float:
            return integer_result(kind, PACKED[name][2](*numbers), clamp)
        answer = float_result("f16", PACKED_F16[name][1], numbers, mode, clamp)
        return SKIP if clamp and answer == 0 else answer

    def expect(lane):
        answers = [(0, half(lane, low, negative[0])), (16, half(lane, high, negative[1]))]
        return [("result", kind, at, a) for at, a in answers if a is not SKIP]

    return Case(line, sources, rng, expect, mode)


def dot2(name, rng):
    kind, half_kind = DOT2[name]
    allowed = {"s"}
    sources = [packed_source(half_kind, slot, rng, allowed) for slot in range(2)] + [any_source(kind, 2, rng, allowed)]
    low, high = [rng.getrandbits(1) for _ in range(2)], [rng.getrandbits(1) for _ in range(2)]
    clamp = rng.random() < 0.4
    line = "%s v8, %s" % (name, ", ".join(s.text for s in sources))
    if rng.random() < 0.7:
        line += bit_list("op_sel", low + [0]) + bit_list("op_sel_hi", high + [1])
    else:
        low, high = [0, 0], [1, 1]
    line += " clamp" if clamp else ""

    def expect(lane):
        total = number_of(kind, sources[2].lanes[lane], None)
        for chosen in (low, high):
            x, y = (number_of(half_kind, half_of(s.lanes[lane], c), None) for s, c in zip(sources, chosen))
            total += x * y
        return [("result", kind, 0, integer_result(kind, total, clamp))]

    return Case(line, sources, rng, expect)


def dot_of_halves(name, rng):
    """Small whole numbers, whose sum is exact in any order."""
    def small():
        return sum(floats.encode(F16, floats.of_integer(rng.randint(-32, 32))) << at for at in (0, 16))

    sources = [register("u32", slot, rng) for slot in range(2)] + [register("f32", 2, rng)]
    for s in sources[:2]:
        s.lanes = [small() for _ in range(LANES)]
    sources[2].lanes = [floats.encode(F32, floats.of_integer(rng.randint(-1000, 1000))) for _ in range(LANES)]
    accumulates = name == "v_dot2c_f32_f16"
    low, high, negative = [0, 0], [1, 1], [[0, 0], [0, 0]]
    if accumulates:
        line, old = "%s v8, v2, v4" % name, sources[2].lanes
    else:
        low, high = ([rng.getrandbits(1) for _ in range(2)] for _ in range(2))
        negative = [[rng.getrandbits(1) for _ in range(2)] for _ in range(2)]
        old = None
        line = "%s v8, v2, v4, v6" % name + bit_list("op_sel", low + [0]) + bit_list("op_sel_hi", high + [1]) + \
            bit_list("neg_lo", negative[0] + [0]) + bit_list("neg_hi", negative[1] + [0])
        line += " clamp" if rng.random() < 0.3 else "" # which changes nothing: ROCm's device library always asks for it

    def expect(lane):
        mode = Mode()
        total = number_of("f32", sources[2].lanes[lane], mode)
        for chosen, signs in ((low, negative[0]), (high, negative[1])):
            x, y = (number_of("f16", half_of(s.lanes[lane], c), mode, False, n)
                    for s, c, n in zip(sources, chosen, signs))
            total = fused(x, y, total, floats.NEAREST)
        answer = floats.encode(F32, total)
        return [("result", "f32", 0, answer)] if answer & M32 >> 1 else []

    return Case(line, sources[:2] if accumulates else sources, rng, expect, old=old)


def mixed(name, rng):
    """Sources of 32 bits or a half of a register each, by op_sel_hi and op_sel."""
    chosen, is_half = [rng.getrandbits(1) for _ in range(3)], [rng.getrandbits(1) for _ in range(3)]
    sources, texts, signs = [], [], []
    for slot in range(3):
        source = register("f32", slot, rng)
        if is_half[slot]:
            source.lanes = [value("f16", rng) & 0xffff | (value("f16", rng) & 0xffff) << 16 for _ in range(LANES)]
        sources.append(source)
        texts.append(with_signs(source, "f32", rng, signs))
    clamp = rng.random() < 0.2
    line = "%s v8, %s" % (name, ", ".join(texts)) + bit_list("op_sel", [c & h for c, h in zip(chosen, is_half)]) + \
        bit_list("op_sel_hi", is_half) + (" clamp" if clamp else "")
    mode = Mode()

    def expect(lane):
        numbers = []
        for s, c, h, sign in zip(sources, chosen, is_half, signs):
            bits = half_of(s.lanes[lane], c) if h else s.lanes[lane]
            numbers.append(number_of("f16" if h else "f32", bits, mode, *sign))
        exact = fused(*numbers, floats.NEAREST)
        single = floats.encode(F32, exact)
        if name == "v_fma_mix_f32":
            answer = float_result("f32", lambda mode, n: n, [exact], mode, clamp)
            return [] if clamp and answer == 0 else [("result", "f32", 0, answer)]
        answer = float_result("f16", lambda mode, n: n, [exact], mode, clamp)
        twice = float_result("f16", lambda mode, n: n, [floats.decode(F32, single)], mode, clamp)
        if answer != twice or clamp and answer == 0:
            return []
        at = 16 if name == "v_fma_mixhi_f16" else 0
        return [("result", "f16", at, answer), ("result", "u16", 16 - at, half_of(case.old[lane], 16 - at))]

    case = Case(line, sources, rng, expect, mode)
    return case


def packed_single(name, rng):
    count, function = PACKED_F32[name]
    sources = [register("f64", slot, rng) for slot in range(count)]
    for s in sources:
        s.lanes = [value("f32", rng) & M32 | value("f32", rng) << 32 & ~M32 & (1 << 64) - 1 for _ in range(LANES)]
    low, high = [rng.getrandbits(1) for _ in sources], [rng.getrandbits(1) for _ in sources]
    negative = [[rng.getrandbits(1) for _ in sources] for _ in range(2)]
    mode = drawn_mode("v_add_f32", rng)
    line = "%s v[8:9], %s" % (name, ", ".join(s.text for s in sources)) + bit_list("op_sel", low) + \
        bit_list("op_sel_hi", high) + bit_list("neg_lo", negative[0]) + bit_list("neg_hi", negative[1])

    def expect(lane):
        parts = []
        for at, chosen, signs in ((0, low, negative[0]), (32, high, negative[1])):
            numbers = [number_of("f32", s.lanes[lane] >> 32 * c, mode, False, n) for s, c, n in zip(sources, chosen, signs)]
            answer = float_result("f32", function, numbers, mode)
            parts += [("result", "f32", at, answer)] if answer is not SKIP else []
        return parts

    return Case(line, sources, rng, expect, mode)


def packed_move(name, rng):
    sources = [inline("f32", rng) if rng.random() < 0.3 else register("u64", slot, rng) for slot in range(2)]
    chosen = [0 if s.constant else rng.getrandbits(1) for s in sources] # the high half of a constant is open
    line = "%s v[8:9], %s, %s" % (name, sources[0].text, sources[1].text) + bit_list("op_sel", chosen)
    return Case(line, sources, rng, lambda lane: [
        ("result", "u32", 32 * n, sources[n].lanes[lane] >> 32 * chosen[n] & M32) for n in range(2)])
