"""Cases of scalar instructions: the registers before, the line, and all that the registers are afterwards."""
from types import SimpleNamespace

from integers import M32, M64, signed
from operands import INLINE_FLOATS, inline_value, value, width_of
from scalars import EXEC_WRITERS, KEPT, NONZERO, SCALAR, WITH_CONSTANT

SINGLES = ["s%d" % n for n in range(16, 22)] + ["vcc_lo", "vcc_hi", "exec_lo", "exec_hi", "m0"]
PAIRS = {"s[%d:%d]" % (n, n + 1): ("s%d" % n, "s%d" % (n + 1)) for n in (16, 18, 20)}
PAIRS.update({"vcc": ("vcc_lo", "vcc_hi"), "exec": ("exec_lo", "exec_hi")})
LOADED = ["s%d" % n for n in range(32, 48)]  # what scalar loads write
STATE = SINGLES + LOADED + ["scc", "mode"]
DATA_DWORDS, DATA_BASE = 32, 10  # which dword of the data the address points to
FLAGS = {"src_scc": lambda s: s["scc"], "src_vccz": lambda s: int(not s["vcc_lo"] | s["vcc_hi"]),
         "src_execz": lambda s: int(not s["exec_lo"] | s["exec_hi"])}
FIELDS = {"field32": 32, "field64": 64}
PERIOD = {32: 0x3e22f983, 64: 0x3fc45f306dc9c882}  # 1 / 2 pi


class ScalarCase:
    """before, after: dwords by name; whatever an instruction does not write is the same. open_on: on which GPUs a dword is
    left open. watched: a dword that vector instructions copy before and after. follow: what must stand behind the line."""

    def __init__(self, rng):
        drawn = {n: value("b32", rng) & M32 for n in SINGLES + LOADED}
        for n in ("vcc_lo", "vcc_hi", "exec_lo", "exec_hi"):
            if rng.random() < 0.15:
                drawn[n] = 0
        if rng.random() < 0.3:
            drawn["exec_lo"] = drawn["exec_hi"] = M32
        drawn.update(scc=rng.getrandbits(1), mode=rng.getrandbits(10)) # rounding, denormals, DX10_CLAMP, IEEE
        self.before, self.after, self.line, self.follow, self.watched = drawn, None, "", "", "s20"
        self.data = [rng.getrandbits(32) for _ in range(DATA_DWORDS)]
        self.records = 0
        self.open_on = {}

    def read(self, register):
        if register in FLAGS:
            return FLAGS[register](self.before)
        if register in PAIRS:
            low, high = PAIRS[register]
            return self.before[low] | self.before[high] << 32
        return self.before[register]

    def put(self, register, number, state=None):
        state = self.before if state is None else state
        if register in PAIRS:
            for n, name in enumerate(PAIRS[register]):
                state[name] = number >> 32 * n & M32
        else:
            state[register] = number & M32

    def finish(self, line, writes=(), scc=KEPT, watched=None):
        """writes: (register, number) in their order."""
        self.line, self.after = line, dict(self.before)
        for register, number in writes:
            self.put(register, number, self.after)
        if scc is not KEPT:
            self.after["scc"] = int(bool(scc))
        self.watched = watched or (writes[0][0] if writes else "s20")
        self.watched = PAIRS.get(self.watched, [self.watched])[0]
        return self


def width(kind):
    return 64 if kind == "b64" else width_of(kind)


def number_for(kind, rng):
    bits = width(kind)
    if kind in FIELDS: # of a source of so many bits; many end at its top or beyond
        at, whole = rng.randrange(FIELDS[kind]), FIELDS[kind]
        size = rng.choice([0, rng.randrange(whole), whole - at, rng.randint(whole - at, whole), rng.randint(whole - at, whole),
                           rng.randrange(128)])
        return at | size << 16 | (rng.getrandbits(32) & ~0x7f003f if rng.random() < 0.5 else 0)
    top = 1 << bits - 1
    how = rng.random()
    if how < 0.3:
        return rng.choice([0, 1, top - 1, top, 2 * top - 1, 2 * top - 1])
    if how < 0.75:
        return rng.getrandbits(bits)
    return value("u64" if kind == "b64" else kind, rng) & 2 * top - 1


def beside(number, kind, rng):
    """Equal, next to it, or what sums and differences overflow with."""
    far = number + (1 << width(kind) - 1) + rng.randint(-1, 1)
    return rng.choice([number, number, number + 1, number - 1, ~number, -number, far])


def constant(kind, rng):
    wide = width(kind)
    if rng.random() < 0.5:
        text = str(rng.choice([rng.randint(-16, 64), 0, 1, 31, 32, 63, 64, -1, -16]))
        return text, int(text) & (1 << wide) - 1
    if rng.random() < 0.15:
        return "0.15915494" if wide == 32 else "0.15915494309189532", PERIOD[wide]
    text = rng.choice(list(INLINE_FLOATS))
    return text, inline_value(text, wide)


def literal(kind, rng):
    """32 bits, zero above them; those of i64 are positive, for what becomes of others is said twice."""
    number = number_for(kind, rng) & M32 | 1 << 20
    if kind == "i64":
        number &= M32 >> 1
    return "0x%x" % number, number


def sources_of(case, kinds, rng):
    """Texts, and functions that read the sources once all registers have been drawn."""
    texts, readers, may_be_literal = [], [], True
    for kind in kinds:
        how = rng.random()
        if how < 0.12:
            text, number = constant(kind, rng)
            readers.append(lambda number=number: number)
        elif how < 0.22 and may_be_literal:
            text, number = literal(kind, rng)
            readers.append(lambda number=number: number)
            may_be_literal = False
        else:
            text = rng.choice(list(PAIRS) if width(kind) == 64 else SINGLES + (list(FLAGS) if how > 0.96 else []))
            if text not in FLAGS and rng.random() < 0.9:
                case.put(text, number_for(kind, rng))
            readers.append(lambda text=text: case.read(text))
        texts.append(text)
    if len(kinds) == 2 and kinds[0] == kinds[1] and rng.random() < 0.4 and texts[1] in list(PAIRS) + SINGLES:
        case.put(texts[1], beside(readers[0](), kinds[0], rng))
    return texts, readers


def as_number(kind, bits):
    return signed(bits, width(kind)) if kind[0] == "i" else bits & (1 << width(kind)) - 1


def destination_for(kind, rng):
    return rng.choice(list(PAIRS) if width(kind) == 64 else SINGLES)


def plain_scalar(name, rng):
    kind, kinds, function, scc_rule = SCALAR[name]
    case = ScalarCase(rng)
    texts, readers = sources_of(case, kinds, rng)
    into = destination_for(kind, rng) if kind else None
    numbers = [as_number(k, read()) for k, read in zip(kinds, readers)]
    s = SimpleNamespace(scc=case.before["scc"], old=case.read(into) if into else 0)
    result = function(*numbers, s) & (1 << width(kind)) - 1 if kind else 0
    scc = scc_rule if scc_rule is KEPT else result != 0 if scc_rule is NONZERO else scc_rule(*numbers, s)
    case.finish("%s %s" % (name, ", ".join(([into] if into else []) + texts)), [(into, result)] if into else [], scc)
    if name.startswith("s_max") and numbers[0] == numbers[1]:
        case.open_on["scc"] = ("gfx942",) # > in the documents of the others, >= in that of MI300
    return case


def with_constant(name, rng):
    kind, function, scc_rule = WITH_CONSTANT[name]
    case, register = ScalarCase(rng), rng.choice(SINGLES)
    bits = value("u16", rng) & 0xffff
    number = signed(bits, 16) if kind == "i32" else bits
    if rng.random() < 0.8:
        near = rng.choice([beside(number, kind, rng), number_for(kind, rng)] + (
            [0x7fffffff - number, 0x80000000 - number] if function else [number]))
        case.put(register, near)
    s = SimpleNamespace(scc=case.before["scc"], old=case.read(register))
    writes = [(register, function(number, s))] if function else []
    return case.finish("%s %s, 0x%x" % (name, register, bits), writes, scc_rule(number, s) if scc_rule else KEPT, register)


def exec_written(name, rng):
    function, saves = EXEC_WRITERS[name]
    case = ScalarCase(rng)
    texts, readers = sources_of(case, ["b64"], rng)
    into = rng.choice([p for p in PAIRS if p != "exec"])
    old = case.read("exec")
    new = function(readers[0](), old) & M64
    return case.finish("%s %s, %s" % (name, into, texts[0]), [(into, old if saves else new), ("exec", new)], new != 0)


def register_read(rng):
    """Fields of MODE, or STATUS's SCC, EXECZ and VCCZ."""
    case, into = ScalarCase(rng), rng.choice(SINGLES)
    if rng.random() < 0.3:
        bit, flag = rng.choice([(0, "src_scc"), (9, "src_execz"), (10, "src_vccz")])
        return case.finish("s_getreg_b32 %s, hwreg(HW_REG_STATUS, %d, 1)" % (into, bit), [(into, case.read(flag))])
    at = rng.randrange(10)
    size = rng.randint(1, 10 - at)
    return case.finish("s_getreg_b32 %s, hwreg(HW_REG_MODE, %d, %d)" % (into, at, size),
                       [(into, case.before["mode"] >> at & (1 << size) - 1)])


def mode_written(name, rng):
    """Rounding, denormals, DX10_CLAMP and IEEE."""
    case = ScalarCase(rng)
    at = rng.randrange(10)
    size = rng.randint(1, 10 - at)
    if name == "s_setreg_b32":
        text = rng.choice(SINGLES)
        number = case.read(text)
    else:
        number = rng.getrandbits(32)
        text = "0x%x" % number
    mask = (1 << size) - 1 << at
    case.finish("%s hwreg(HW_REG_MODE, %d, %d), %s" % (name, at, size, text))
    case.after["mode"] = case.before["mode"] & ~mask | number << at & mask
    return case


def moved_by_index(name, rng):
    """M0 counts registers; pairs begin at even ones."""
    case, wide = ScalarCase(rng), name.endswith("b64")
    step = 2 if wide else 1
    first = 16 + step * rng.randrange(6 // step)
    other = 16 + step * rng.randrange(6 // step)
    case.put("m0", other - first)
    if other < first:
        first, other = other, first
        case.put("m0", other - first)
    named = "s[%d:%d]" % (first, first + 1) if wide else "s%d" % first
    meant = "s[%d:%d]" % (other, other + 1) if wide else "s%d" % other
    if name.startswith("s_movrels"):
        into = rng.choice([r for r in (PAIRS if wide else SINGLES) if r[0] == "s" or r[0] == "v"])
        return case.finish("%s %s, %s" % (name, into, named), [(into, case.read(meant))])
    source = rng.choice([r for r in (PAIRS if wide else SINGLES) if r[0] == "s" or r[0] == "v"])
    return case.finish("%s %s, %s" % (name, named, source), [(meant, case.read(source))])


def index_set(rng):
    case = ScalarCase(rng)
    texts, readers = sources_of(case, ["b32"], rng)
    return case.finish("s_set_gpr_idx_idx " + texts[0], [("m0", case.read("m0") & ~255 | readers[0]() & 255)])


def loaded(name, rng):
    """From s[28:29], or the buffer s[28:31], which points into the data. A buffer ends where num_records says; what
    is partly outside is left open."""
    case, count = ScalarCase(rng), int(name.partition("dwordx")[2] or 1)
    is_buffer = name.startswith("s_buffer")
    first = 32 + (rng.randrange(0, 17 - count, {1: 1, 2: 2}.get(count, 4)))
    into = LOADED[first - 32:first - 32 + count]
    text = "s[%d:%d]" % (first, first + count - 1) if count > 1 else into[0]
    if count == 2 and rng.random() < 0.2:
        text, into = "vcc", list(PAIRS["vcc"])
    low = 0 if is_buffer else -DATA_BASE
    place = rng.randrange(low, DATA_DWORDS - DATA_BASE - count + 1)
    how = rng.choice(["constant", "register", "both"])
    case.records = 4 * (DATA_DWORDS - DATA_BASE)
    if is_buffer and rng.random() < 0.3:
        case.records = 4 * rng.choice([place, place + count])
    dwords = [0] * count if is_buffer and 4 * place >= case.records else case.data[DATA_BASE + place:DATA_BASE + place + count]
    register = rng.choice([r for r in SINGLES if r[0] in "sm"])
    part = rng.randrange(0, place + 1) if place > 0 else 0
    if how == "constant" or place < 0:
        offset = ("-0x%x" if place < 0 else "0x%x") % abs(4 * place)
    elif how == "register":
        case.put(register, 4 * place)
        offset = register
    else:
        case.put(register, 4 * part)
        offset = "%s offset:0x%x" % (register, 4 * (place - part))
    case.finish("%s %s, s[28:%d], %s" % (name, text, 31 if is_buffer else 29, offset), list(zip(into, dwords)))
    case.follow = "s_waitcnt lgkmcnt(0)"
    return case


CONDITIONS = {"branch": lambda s: True, "cbranch_scc0": lambda s: not s["scc"], "cbranch_scc1": lambda s: s["scc"],
              "cbranch_vccz": FLAGS["src_vccz"], "cbranch_vccnz": lambda s: not FLAGS["src_vccz"](s),
              "cbranch_execz": FLAGS["src_execz"], "cbranch_execnz": lambda s: not FLAGS["src_execz"](s)}


def branched(how, rng):
    """Across a move, or not."""
    case = ScalarCase(rng)
    for pair in ("vcc", "exec"):
        if rng.random() < 0.5:
            case.put(pair, rng.choice([0, 0, 1, 1 << 31, 1 << 32, 1 << 63]))
    into, text = rng.choice(SINGLES[:6]), rng.choice(SINGLES)
    case.finish("s_%s 1" % how, [] if CONDITIONS[how](case.before) else [(into, case.read(text))], watched=into)
    case.follow = "s_mov_b32 %s, %s" % (into, text)
    return case


def scalar_families():
    out = [(n, lambda rng, n=n: plain_scalar(n, rng)) for n in SCALAR]
    out += [(n, lambda rng, n=n: with_constant(n, rng)) for n in WITH_CONSTANT]
    out += [(n, lambda rng, n=n: exec_written(n, rng)) for n in EXEC_WRITERS]
    out += [("s_" + n, lambda rng, n=n: branched(n, rng)) for n in CONDITIONS]
    out += [("s_getreg_b32", register_read), ("s_set_gpr_idx_idx", index_set)]
    out += [(n, lambda rng, n=n: mode_written(n, rng)) for n in ("s_setreg_b32", "s_setreg_imm32_b32")]
    out += [(n, lambda rng, n=n: moved_by_index(n, rng)) for n in (
        "s_movrels_b32", "s_movrels_b64", "s_movreld_b32", "s_movreld_b64")]
    out += [(p + n, lambda rng, n=p + n: loaded(n, rng)) for p in ("s_load_dword", "s_buffer_load_dword")
            for n in ("", "x2", "x4", "x8", "x16")]
    return out
