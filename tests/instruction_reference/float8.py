"""gfx942's 8-bit floats: fp8 has four bits of exponent and a bias of 8, bf8 five and 16. Neither has infinities or a
negative zero, whose code is the NaN. To nearest even, or up by a seed: as many of its high bits as a normal number
loses are added before these are cut off."""
import floats
from cases import ALL, Case, dpp_control, dpp_source, drawn_mode, selected, with_signs
from floats import F32, NEAREST
from operands import LANES, any_source, register
from results import modified

FORMATS8 = {"fp8": (3, 8), "bf8": (2, 16)}  # digits behind the point, bias
NAN8, MAX8 = 0x80, 0x7f


def decoded(name, byte):
    digits, bias = FORMATS8[name]
    field, rest = byte >> digits & 0x7f >> digits, byte & (1 << digits) - 1
    if byte == NAN8:
        return floats.NAN
    return ("fin", byte >> 7, rest | (1 << digits if field else 0), max(field, 1) - bias - digits)


def of_magnitude(sign, code):
    if code > MAX8:
        return NAN8
    return code and code | sign << 7


def encoded(name, number, seed=None):
    digits, bias = FORMATS8[name]
    kind, sign, m, e = number
    if kind != "fin":
        return NAN8
    if m == 0:
        return 0
    exponent = max(e + m.bit_length() - 1, 1 - bias)  # of the least normal number at least
    last = exponent - digits
    if seed is None:
        n = floats.rounded_shift(m, last - e, sign, NEAREST)
    else:
        fine = exponent - 23
        aligned = m << e - fine if e >= fine else m >> fine - e
        n = (aligned + (seed >> 9 + digits)) >> 23 - digits
    # n counts steps of 2^last; a normal number's first digit is one more in the field of the exponent.
    return of_magnitude(sign, (exponent - 1 + bias << digits) + n)


def single(name, byte):
    return floats.encode(F32, decoded(name, byte))


def parts_of(name, bits, count):
    return [single(name, bits >> 8 * n & 255) for n in range(count)]


def stored(answers, old):
    low, high = answers if len(answers) == 2 else (answers[0], None)
    return [("result", "f32", 0, low)] + ([("result", "u32", 32, old >> 32)] if high is None else
                                          [("result", "f32", 32, high)])


def widened(mnemonic, name, count, rng, form):
    """One f32 or two: form "_e32", "_e64", "_sdwa" or "_dpp"."""
    source = any_source("b32", 0, rng, {"s", "inline"}) if form in ("_e32", "_e64") else register("b32", 0, rng)
    how, tail, clamp, control = "DWORD", "", False, None
    rows = banks = 15
    execute = ALL if rng.random() < 0.6 else rng.getrandbits(64)
    if form == "_sdwa":
        how = rng.choice(["BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"])
        clamp = rng.random() < 0.3
        tail = (" clamp" if clamp else "") + " src0_sel:" + how
    if form == "_dpp":
        control = dpp_control(rng)
        rows, banks = rng.choice([15, rng.randrange(16)]), rng.choice([15, rng.randrange(16)])
        tail = " %s row_mask:0x%x bank_mask:0x%x" % (control, rows, banks)
    line = "%s%s %s, %s%s" % (mnemonic, form, "v[8:9]" if count == 2 else "v8", source.text, tail)

    def expect(lane):
        from_lane = dpp_source(lane, control) if control else lane
        readable = from_lane is not None and execute >> from_lane & 1
        if control and not (rows >> lane // 16 & 1 and banks >> (lane & 15) // 4 & 1 and readable):
            return [("result", "u64", 0, case.old[lane])]
        bits = selected(source.lanes[from_lane] & 0xffffffff, how, False)
        answers = [modified(F32, b, case.mode, clamp, 0) for b in parts_of(name, bits, count)]
        return stored(answers, case.old[lane])

    case = Case(line, [source], rng, expect, drawn_mode(mnemonic, rng), None, execute)
    return case


def near_codes(name, rng, lanes):
    """Half of the lanes get what lies at a code, in the middle of two, or beside that."""
    out = []
    for bits in lanes:
        if rng.random() < 0.5:
            low = decoded(name, rng.randrange(MAX8))
            number = low if rng.random() < 0.5 else floats.add(low, ("fin", 0, 1, low[3] - 1))
            bits = floats.encode(F32, number) + rng.choice([-1, 0, 0, 1]) & 0xffffffff | rng.getrandbits(1) << 31
        out.append(bits)
    return out


def source_f32(name, slot, rng, allowed):
    source = any_source("f32", slot, rng, allowed)
    if source.slot is not None:
        source.lanes = near_codes(name, rng, source.lanes)
    return source


def number_of(bits, signs):
    absolute, negative = signs
    bits &= 0x7fffffff if absolute else 0xffffffff
    return floats.decode(F32, bits ^ 0x80000000 if negative else bits)


def field_of(case, lane, at, width, answer):
    """The register with a field replaced, and the one behind it."""
    keep = case.old[lane] & ~((1 << width) - 1 << at)
    return [("result", "u64", 0, keep | answer << at)]


def narrowed(mnemonic, name, rng):
    allowed, signs, high = {"s", "inline"}, [], rng.getrandbits(1)
    sources = [source_f32(name, slot, rng, allowed) for slot in range(2)]
    texts = [with_signs(s, "f32", rng, signs) for s in sources]
    line = "%s v8, %s%s" % (mnemonic, ", ".join(texts), " op_sel:[0,0,1]" if high else "")

    def expect(lane):
        low, up = (encoded(name, number_of(s.lanes[lane], g)) for s, g in zip(sources, signs))
        return field_of(case, lane, 16 * high, 16, low | up << 8)

    case = Case(line, sources, rng, expect, drawn_mode(mnemonic, rng), None, ALL if rng.random() < 0.7 else rng.getrandbits(64))
    return case


def narrowed_by_seed(mnemonic, name, rng):
    allowed, signs, byte = {"s", "inline"}, [], rng.randrange(4)
    source = source_f32(name, 0, rng, allowed)
    seed = register("b32", 1, rng)
    seed.lanes = [rng.getrandbits(32) for _ in range(LANES)]
    line = "%s v8, %s, %s op_sel:[0,0,%d,%d]" % (mnemonic, with_signs(source, "f32", rng, signs), seed.text, byte & 1, byte >> 1)

    def expect(lane):
        answer = encoded(name, number_of(source.lanes[lane], signs[0]), seed.lanes[lane])
        return field_of(case, lane, 8 * byte, 8, answer)

    case = Case(line, [source, seed], rng, expect, drawn_mode(mnemonic, rng))
    return case


def families8():
    out = []
    for name in FORMATS8:
        for mnemonic, count in (("v_cvt_f32_" + name, 1), ("v_cvt_pk_f32_" + name, 2)):
            out += [(mnemonic + form, lambda rng, a=(mnemonic, name, count), form=form: widened(*a, rng, form))
                    for form in ("_e32", "_e64", "_sdwa", "_dpp")]
        pack, chance = "v_cvt_pk_%s_f32" % name, "v_cvt_sr_%s_f32" % name
        out += [(pack, lambda rng, a=(pack, name): narrowed(*a, rng)),
                (chance, lambda rng, a=(chance, name): narrowed_by_seed(*a, rng))]
    return out
