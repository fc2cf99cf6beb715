"""Test cases: one instruction, its operands, and what each lane's result must be. Here those of VOP1, VOP2
and VOP3 with their modifiers, SDWA and DPP; packed.py and masks.py have the others."""
import floats
from floating import ARITHMETIC, Mode
from integers import INTEGER, M32, signed
from operands import FORMATS, LANES, any_source, register, scalar, value, width_of
from results import SKIP, entry_of, half_of, plain_result

ALL = (1 << LANES) - 1
ROUNDED = {n for n in ARITHMETIC if n.split("_")[1] in ("add", "sub", "subrev", "mul", "fma", "fmac", "min", "max")}
CONVERTED = {"v_cvt_f16_f32", "v_cvt_f32_i32", "v_cvt_f32_u32", "v_cvt_f16_i16", "v_cvt_f16_u16"}
HALVES_CHOSEN = {"v_fma_f16", "v_mad_u16", "v_mad_i16", "v_min3_f16", "v_max3_f16", "v_med3_f16", "v_min3_i16", "v_max3_i16",
                 "v_med3_i16", "v_min3_u16", "v_max3_u16", "v_med3_u16", "v_add_i16", "v_sub_i16", "v_mad_u32_u16",
                 "v_mad_i32_i16", "v_pack_b32_f16", "v_cvt_pknorm_i16_f16", "v_cvt_pknorm_u16_f16"}


class Case:
    def __init__(self, line, sources, rng, expect, mode=None, old=None, execute=ALL, mask=0, scalar_value=0, setup=()):
        self.line, self.expect, self.mode, self.setup = line, expect, mode or Mode(), list(setup)
        self.sources = {o.slot: o.lanes for o in sources if o.slot is not None}
        self.old = old or [rng.getrandbits(64) for _ in range(LANES)]
        self.execute, self.mask = execute, mask
        scalars = [o.scalar for o in sources if o.scalar is not None]
        self.scalar_value = scalars[0] if scalars else scalar_value

    def wanted(self, lane):
        """[(where, kind, shift, bits)]: where is "result" or "mask"; nothing for what is left open."""
        if not self.execute >> lane & 1:
            return [("result", "u64", 0, self.old[lane])]
        return self.expect(lane)


def drawn_mode(name, rng):
    how = rng.random()
    if name in ROUNDED and how < 0.5:
        return Mode(rng.randrange(4), rng.randrange(4), rng.choice([0, 3, 1, 2]), rng.choice([3, 0, 1, 2]))
    if name in CONVERTED and how < 0.5:
        return Mode(rng.randrange(4), rng.randrange(4))
    return Mode(ieee=rng.randrange(2), dx10=rng.randrange(2))


def result_parts(kind, bits, old, zeroed):
    """The written register: 16-bit results clear the high half in the encodings that say so."""
    if bits is SKIP:
        return []
    if kind == "halves":
        return [("result", "f16", at, bits >> at & 0xffff) for at in (0, 16)]
    if width_of(kind) == 16:
        return [("result", kind, 0, bits)] + ([("result", "u16", 16, 0)] if zeroed else [])
    return [("result", kind, 0, bits)] + ([("result", "u32", 32, old >> 32)] if width_of(kind) == 32 else [])


def destination(kind):
    return "v[8:9]" if width_of(kind) == 64 else "v8"


def with_signs(operand, kind, rng, signs):
    """A source with |x| and -x, if it is a float and no constant; what was put on is added to signs."""
    absolute = negative = False
    text = operand.text
    if kind in FORMATS and not operand.constant:
        absolute, negative = rng.random() < 0.25, rng.random() < 0.25
        text = ("-" if negative else "") + ("|%s|" % text if absolute else text)
    signs.append((absolute, negative))
    return text


def plain(name, rng, form):
    """form: "_e32", "_e64", or "" for what has one encoding."""
    kind, kinds = entry_of(name)
    own = [k for k in kinds if not k.startswith("acc")]
    allowed = {"s", "inline"} | ({"literal"} if form == "_e32" else set())
    sources, texts, signs = [], [], []
    for slot, k in enumerate(own):
        source = register(k, slot, rng) if form == "_e32" and slot else any_source(k, slot, rng, allowed)
        sources.append(source)
        texts.append(with_signs(source, k, rng, signs) if form != "_e32" else source.text)
    signs = signs or [(False, False)] * len(own)
    mode = drawn_mode(name, rng)
    clamp = omod = 0
    tail = ""
    if form != "_e32":
        may_clamp = name in ARITHMETIC or kind == "halves" or name in INTEGER and len(INTEGER[name]) == 4
        clamp = may_clamp and rng.random() < 0.3
        if name in ARITHMETIC and kind == "f32" and name in ROUNDED and rng.random() < 0.3:
            omod, text = rng.choice([(1, " mul:2"), (2, " mul:4"), (-1, " div:2")])
            tail += text
            if rng.random() < 0.6:
                mode = Mode(denormals32=0, ieee=0)
        tail += " clamp" if clamp else ""
    accumulates = len(own) != len(kinds)
    old = [value({"acc32": "f32", "acc64": "f64"}.get(kinds[-1], kind), rng) for _ in range(LANES)] if accumulates else None
    execute = ALL if rng.random() < 0.7 else rng.getrandbits(64)
    line = "%s%s %s, %s%s" % (name, form, destination(kind), ", ".join(texts), tail)

    def expect(lane):
        bits = [s.lanes[lane] for s in sources] + ([case.old[lane]] if accumulates else [])
        answer = plain_result(name, bits, mode, signs + [(False, False)] * accumulates, clamp, omod)
        if answer is not SKIP and kind in FORMATS and (clamp or omod):
            sign = 1 << width_of(kind) - 1
            if answer in (0, sign): # which zero is said nowhere
                return []
        return result_parts(kind, answer, case.old[lane], form != "")

    case = Case(line, sources, rng, expect, mode, old, execute)
    return case


def halves(name, rng):
    """VOP3 with op_sel: which halves are read, which is written; the other stays."""
    kind, kinds = entry_of(name)
    sources = [register(k, slot, rng) for slot, k in enumerate(kinds)]
    high = [rng.getrandbits(1) if width_of(k) == 16 else 0 for k in kinds]
    up = rng.getrandbits(1) if width_of(kind) == 16 else 0
    for s in sources:
        s.lanes = [x & M32 | value("f16", rng) << 16 & M32 if rng.random() < 0.5 else x for x in s.lanes]
    signs, mode = [], Mode()
    texts = [with_signs(s, k, rng, signs) for s, k in zip(sources, kinds)]
    clamp = len(INTEGER.get(name, ())) == 4 and rng.random() < 0.3
    line = "%s %s, %s op_sel:[%s]%s" % (name, "v8", ", ".join(texts), ",".join(map(str, high + [up])), " clamp" if clamp else "")

    def expect(lane):
        bits = [half_of(s.lanes[lane], h) if width_of(k) == 16 else s.lanes[lane]
                for s, h, k in zip(sources, high, kinds)]
        answer = plain_result(name, bits, mode, signs, clamp)
        if answer is SKIP:
            return []
        if not up:
            return [("result", kind, 0, answer)]
        return [("result", kind, 16, answer), ("result", "u16", 0, case.old[lane] & 0xffff)]

    case = Case(line, sources, rng, expect, mode)
    return case


def selected(bits, how, extend):
    at, width = {"DWORD": (0, 32), "WORD_0": (0, 16), "WORD_1": (16, 16)}.get(how) or (8 * int(how[-1]), 8)
    field = bits >> at & (1 << width) - 1
    return signed(field, width) & M32 if extend else field


SELECTIONS = ["DWORD", "WORD_0", "WORD_1"] + ["BYTE_%d" % n for n in range(4)]


def placed(bits, how, unused, old):
    if how == "DWORD":
        return bits & M32
    at, width = (16 * int(how[-1]), 16) if how.startswith("WORD") else (8 * int(how[-1]), 8)
    field = bits & (1 << width) - 1
    if unused == "UNUSED_PRESERVE":
        return old & M32 & ~((1 << width) - 1 << at) | field << at
    if unused == "UNUSED_SEXT":
        return (signed(field, width) << at) & M32
    return field << at


def subdword(name, rng):
    """SDWA: parts of sources, and which part of the result is written."""
    kind, kinds = entry_of(name)
    sources, texts, signs, parts_of = [], [], [], []
    scalar_allowed = True
    for slot, k in enumerate(kinds):
        take_scalar = scalar_allowed and rng.random() < 0.12
        source = scalar(k, rng) if take_scalar else register(k, slot, rng)
        scalar_allowed = scalar_allowed and not take_scalar
        sources.append(source)
        how, extend = rng.choice(SELECTIONS), k not in FORMATS and rng.random() < 0.3
        texts.append("sext(%s)" % source.text if extend else with_signs(source, k, rng, signs))
        if extend:
            signs.append((False, False))
        parts_of.append((how, extend))
    to, unused = rng.choice(SELECTIONS), rng.choice(["UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"])
    line = "%s_sdwa v8, %s dst_sel:%s dst_unused:%s %s" % (name, ", ".join(texts), to, unused, " ".join(
        "src%d_sel:%s" % (n, p[0]) for n, p in enumerate(parts_of)))

    def expect(lane):
        bits = [selected(s.lanes[lane], *p) for s, p in zip(sources, parts_of)]
        answer = plain_result(name, bits, case.mode, signs)
        if answer is SKIP:
            return []
        if kind in FORMATS and floats.is_nan(FORMATS[kind], answer): # whose payload is open
            return [("result", kind, 0, answer)] if to == "DWORD" else []
        return [("result", "u32", 0, placed(answer, to, unused, case.old[lane]))]

    case = Case(line, sources, rng, expect, Mode())
    return case


def dpp_source(lane, control):
    """The lane that is read, or None."""
    name, _, n = control.partition(":")
    row, place = lane & ~15, lane & 15
    if name == "quad_perm":
        return lane & ~3 | eval(n)[lane & 3]
    n = int(n or 0)
    if name in ("row_shl", "row_shr"):
        at = place + (n if name == "row_shl" else -n)
        return row | at if 0 <= at < 16 else None
    if name == "row_bcast":
        at = row - 1 if n == 15 else 31 if lane >= 32 else -1
        return at if at >= 0 else None
    at = {"row_ror": row | (place - n & 15), "row_mirror": row | 15 - place, "row_half_mirror": lane & ~7 | 7 - (lane & 7),
          "wave_shl": lane + 1, "wave_shr": lane - 1, "wave_rol": lane + 1 & 63, "wave_ror": lane - 1 & 63}[name]
    return at if 0 <= at < LANES else None


def dpp_control(rng):
    name = rng.choice(["quad_perm", "row_shl", "row_shr", "row_ror", "row_mirror", "row_half_mirror", "wave_shl", "wave_rol",
                       "wave_shr", "wave_ror", "row_bcast"])
    if name == "quad_perm":
        return "quad_perm:[%s]" % ",".join(str(rng.randrange(4)) for _ in range(4))
    if name in ("row_shl", "row_shr", "row_ror"):
        return "%s:%d" % (name, rng.randint(1, 15))
    if name == "row_bcast":
        return "row_bcast:%d" % rng.choice([15, 31])
    return name if name.endswith("mirror") else name + ":1"


def crossed(name, rng):
    """DPP: the first source comes from another lane."""
    kind, kinds = entry_of(name)
    own = [k for k in kinds if not k.startswith("acc")]
    sources, signs = [register(k, slot, rng) for slot, k in enumerate(own)], []
    texts = [with_signs(s, k, rng, signs) for s, k in zip(sources, own)]
    control, rows, banks = dpp_control(rng), rng.choice([15, 15, rng.randrange(16)]), rng.choice([15, 15, rng.randrange(16)])
    zero = rng.random() < 0.5
    execute = ALL if rng.random() < 0.6 else rng.getrandbits(64)
    line = "%s_dpp %s, %s %s row_mask:0x%x bank_mask:0x%x%s" % (
        name, destination(kind), ", ".join(texts), control, rows, banks, " bound_ctrl:0" if zero else "")
    accumulates = len(own) != len(kinds)
    old = [value({"acc32": "f32", "acc64": "f64"}.get(kinds[-1], kind), rng) for _ in range(LANES)] if accumulates else None

    def expect(lane):
        source = dpp_source(lane, control)
        readable = source is not None and execute >> source & 1
        if not rows >> lane // 16 & 1 or not banks >> (lane & 15) // 4 & 1 or not (readable or zero):
            return [("result", "u64", 0, case.old[lane])]
        bits = [sources[0].lanes[source] if readable else 0] + [s.lanes[lane] for s in sources[1:]]
        bits += [case.old[lane]] if accumulates else []
        answer = plain_result(name, bits, case.mode, signs + [(False, False)] * accumulates)
        return result_parts(kind, answer, case.old[lane], True)

    case = Case(line, sources, rng, expect, Mode(), old, execute)
    return case
