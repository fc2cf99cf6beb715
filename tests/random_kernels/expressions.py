"""Random expressions, statements and functions of one thread, as text that is right for GPU and host."""
import re

# The variables of a thread, by type.
LOCALS = {
    "u32": ["p0", "p1", "p2", "p3"], "i32": ["q0", "q1", "q2"], "u64": ["l0", "l1"], "i64": ["m0", "m1"],
    "u16": ["s0", "s1"], "i16": ["t0", "t1"], "u8": ["b0"], "i8": ["c0"], "half": ["h0", "h1"],
    "f32": ["f0", "f1", "f2"], "f64": ["d0", "d1"], "short2_t": ["v0", "v1"], "ushort2_t": ["w0", "w1"],
    "half2": ["g0", "g1"],
}

# How each type is made of others: {type} is an expression of that type, {#n} a number below n,
# {K} a constant of 32 bits. Signed arithmetic wraps (-fwrapv).
INTEGER = ["({T} + {T})", "({T} - {T})", "({T} * {T})", "({T} & {T})", "({T} | {T})", "({T} ^ {T})",
           "(-{T})", "(~{T})", "({T} < {T} ? {T} : {T})", "({bool} ? {T} : {T})", "divided<{=T}>({T}, {T})",
           "remainder_of<{=T}>({T}, {T})", "loaded<{=T}>(e, {u32})", "lower({T}, {T})", "upper({T}, {T})",
           "between({T}, {T}, {T})"]
# Of what is the same for all threads, so that scalar instructions compute it.
UNIFORM = ["({T} + {T})", "({T} - {T})", "({T} * {T})", "({T} & {T})", "({T} | {T})", "({T} ^ {T})", "(~{T})", "({T} & ~{T})",
           "({T} << ({s32} & {=bits}))", "({T} >> ({s32} & {=bits}))", "lower({T}, {T})", "upper({T}, {T})",
           "({s32} < {s32} ? {T} : {T})", "({s64} == {s64} ? {T} : {T})", "(({T} >> {#16}) & 0x3ff)"]
SHIFTS = ["({T} << ({u32} & {=bits}))", "({T} >> ({u32} & {=bits}))", "({T} << {#bits})", "({T} >> {#bits})"]
FLOATS = ["({T} + {T})", "({T} - {T})", "({T} * {T})", "(-{T})", "fused({T}, {T}, {T})", "least({T}, {T})",
          "most({T}, {T})", "({bool} ? {T} : {T})", "({T} < {T} ? {T} : {T})"]
PAIRS = ["({T} + {T})", "({T} - {T})", "({T} * {T})", "swapped({T})", "low_twice({T})", "high_twice({T})",
         "joined({T}, {T}, {#4})", "({bool} ? {T} : {T})"]
INT_PAIRS = PAIRS + ["({T} & {T})", "({T} | {T})", "({T} ^ {T})", "least2({T}, {T})", "most2({T}, {T})",
                     "add_saturated({T}, {T})", "sub_saturated({T}, {T})", "({T} << {=make}({#16}, {#16}))",
                     "({T} >> {=make}({#16}, {#16}))", "({T} * {T} + {T})", "bits_as<{=T}>(e.index * 40503 ^ {u32})",
                     "({T} << {=make}({u32} & 15, {u32} & 15))", "(hidden({T}) + {=make}(1 + {#64}, 1 + {#64}))",
                     "(hidden({T}) - {=splat})", "({T} - hidden({=make}({K}, {K})))", "bits_as<{=T}>(e.uniform[{#16}])", "loaded<{=T}>(e, {u32})"]
# Constants of packed integers are hidden from the compiler unless they are a rule's own. LLVM 15 takes a
# negative inline constant's high half for 0, where the hardware has the sign: it gives -1 for (65535, 0),
# for (0, 65535), and for the (1, 0) that is subtracted; and -16 for both of (-16, -1). Where rules' own
# constants meet, it may make one of two. On gfx940, where its
# dot products have no op_sel, it gives 7 for (7, 7): there in_dot() hides constants. (LLVM's "Fix packed
# 16-bit inline constants" tells what the hardware does.) It also takes the width of a bit field, if that is
# a constant, as a whole and not its low 5 bits.
# Halves whose sums of products are exact. Constants stay out of the dot product that becomes
# v_dot2c_f32_f16, which has no op_sel: LLVM 15 gives it 1.0 for (1, 1), and the high half is then 0.
SMALL2 = "make_half2(half_from((i16)((({u32} ^ e.index) & 63) - 32)), half_from((i16)((({u32} ^ t.p1) & 63) - 32)))"
SMALL = ["{small}", "swapped({small})", "low_twice({small})", "high_twice({small})", "(-{small})",
         "neg_low({small})", "neg_high({small})", "neg_low(swapped({small}))", "neg_high(swapped({small}))",
         "joined({small}, {small}, {#4})", SMALL2, SMALL2]
SMALL_OR_CONSTANT = ["{small}", "{small}", "make_half2(1, 1)", "make_half2(0.5, 0)", "make_half2(-4, 2)",
         "half2_of(0x3c00)", "half2_of(e.uniform[{#4}] & 0x40004000 | 0x3800b800)",
                     "neg_low(half2_of(0x40003c00))", "swapped(half2_of(e.uniform[{#4}] & 0x03000300 | 0x40004000))"]
TERNARY_U32 = ["permuted_bytes", "shifted_pair", "shifted_bytes", "averaged", "differences8",
               "differences8h", "differences16", "differences8m", "dot4_unsigned", "dot8_unsigned",
               "dot4_unsigned_clamped", "dot8_unsigned_clamped"]

RULES = {
    "bool": ["{T0} %s {T0}".replace("{T0}", "{%s}" % t) % c for t in ("u32", "i32", "u64", "i64", "f32", "f64",
             "half", "i16", "u8") for c in ("<", ">", "==", "!=")] + [
             "{T0} %s {T0}".replace("{T0}", "{%s}" % t) % c for t in ("u32", "i32", "u64", "i64", "f32", "f64")
             for c in ("<=", ">=")] + ["__builtin_isnan({f32})", "__builtin_isinf({f64})", "is_finite({f32})"] + ["!({bool})", "(({bool}) && ({bool}))",
             "(({u32} & {#16}) == {#4})", "(({u32} >> {#32} & 1) != 0)"],
    "u32": INTEGER + SHIFTS + ["(u32){i32}", "(u32){u64}", "(u32){u16}", "(u32){i8}", "bits({f32})",
           "bits({short2_t})", "bits({ushort2_t})", "bits({half2})", "(u32)bits({half})", "to_u32({f64})",
           "(u32)__builtin_popcount({u32})", "(u32)__builtin_popcountl({u64})",
           # LLVM 15 makes v_mul_hi_i32_i24 of a number of 24 bits and one that is a small negative one.
           "(u32)({u64} >> 32)", "(u32)(((u64)hidden({u32}) * {u32}) >> 32)", "e.uniform[{#16}]", "{s32}", "{s32}",
           "__builtin_bswap32({u32})", "__builtin_bitreverse32({u32})", "({u32} ? (u32)__builtin_clz({u32} | 1) : 3)",
           "(u32)__builtin_ctz({u32} | {#8} | 256)", "dot2(in_dot({ushort2_t}), in_dot({ushort2_t}), {u32})",
           "dot2_clamped(in_dot({ushort2_t}), in_dot({ushort2_t}), {u32})",
           "dot2(in_dot({ushort2_t}), in_dot({=pick_w}), {u32})", "field_u32({u32}, hidden({u32}), {u32} & 31)",
           "field_u32({u32}, {u32} & 31, t.p2 ^ {u32})",
           "halves_rtz(quiet({f32}), quiet({f32}))", "packed_i16({i32}, {i32})", "packed_u16({u32}, {u32})",
           "(({u32} & {K}) | (~{u32} & {K}))", "(({u32} << {#32}) + {u32})", "(({u32} & 0xffffff) * ({u32} & 0xffffff) + {u32})",
           "t.table[{u32} & 7]", "(u32)({u32} * (u32){u16})"] + ["%s({u32}, {u32}, {u32})" % f for f in TERNARY_U32],
    "i32": INTEGER + SHIFTS + ["(i32){u32}", "(i32){i64}", "(i32){i16}", "(i32){u8}", "(i32){i8}", "to_i32({f32})",
           "to_i32({f64})", "field_i32({u32}, {u32} & 31, t.p0 ^ {u32})",
           "field_i32({u32}, {#32}, {#32})", "dot2(in_dot({short2_t}), in_dot({short2_t}), {i32})",
           "dot2_clamped(in_dot({short2_t}), in_dot({short2_t}), {i32})",
           "dot2(in_dot({short2_t}), in_dot({=pick_v}), {i32})", "dot4_signed({u32}, {u32}, {i32})",
           "dot8_signed({u32}, {u32}, {i32})", "dot4_signed_clamped({u32}, {u32}, {i32})",
           "dot8_signed_clamped({u32}, {u32}, {i32})", "(i32)(((i64){i32} * {i32}) >> 32)",
           "((i32){i16} * {i16} + {i32})", "(((i32)({u32} << 8) >> 8) * ((i32)({u32} << 8) >> 8))",
           "(i32){short2_t}.x", "(i32){short2_t}.y", "(i32){ushort2_t}.y"],
    "u64": INTEGER + SHIFTS + ["(u64){u32}", "{s64}", "(u64){i64}", "(u64){i32}", "bits({f64})", "to_u64({f32})",
           "((u64){u32} * {u32} + {u64})", "window({u64}, {u32}, {u64})", "window_masked({u64}, {u32}, {u64})",
           "((u64){u32} << 32 | {u32})", "__builtin_bswap64({u64})"],
    "i64": INTEGER + SHIFTS + ["(i64){u64}", "(i64){i32}", "to_i64({f64})", "((i64){i32} * {i32} + {i64})"],
    "u16": ["(u16)%s" % r for r in INTEGER + SHIFTS] + ["(u16){u32}", "{ushort2_t}.x", "{ushort2_t}.y", "bits({half})"],
    "i16": ["(i16)%s" % r for r in INTEGER + SHIFTS] + ["(i16){i32}", "{short2_t}.x", "{short2_t}.y", "(i16){i8}"],
    "u8": ["(u8)%s" % r for r in INTEGER + SHIFTS] + ["(u8){u32}", "(u8)({u32} >> 24)", "t.bytes[({u32}) % 24]"],
    "i8": ["(i8)%s" % r for r in INTEGER + SHIFTS] + ["(i8){i32}", "(i8){u8}"],
    "half": FLOATS + ["half_from({f32})", "half_from({i16})", "half_of({u16})", "half({half2}.x)", "half({half2}.y)",
            "half_from(__builtin_floorf(f32_from({half})))", "half_from(__builtin_ceilf(f32_from({half})))",
            "half_from(__builtin_truncf(f32_from({half})))", "half_from(__builtin_rintf(f32_from({half})))",
            "half_from(fused(f32_from({half}), f32_from({half}), {f32}))"],
    "f32": FLOATS + ["({f32} / {f32})", "f32_of({u32})", "f32_from({half})", "(f32){i32}", "(f32){u32}", "(f32){f64}",
           "(f32){u8}", "(f32)(u8)({u32} >> 8)", "(f32)(u8)({u32} >> 16)", "(f32)(u8)({u32} >> 24)", "(f32){u64}", "fused(f32_from({half}), f32_from({half}), {f32})", "__builtin_fabsf({f32})",
           "fused(f32_from({half2}.y), -f32_from({half2}.x), f32_from({half}))",
           "dot2(in_dot({small}), in_dot({small}), (f32)(i32)({u32} & 1023))",
           "dot2(in_dot({small}), in_dot({small}), -(f32)(i32)({u32} & 1023))",
           "dot2_clamped(in_dot({small}), in_dot({any_small}), (f32)(i32)({u32} & 1023) * -0.5f)", "__builtin_floorf({f32})",
           "__builtin_truncf({f32})", "__builtin_rintf({f32})", "__builtin_ceilf({f32})"],
    "f64": FLOATS + ["({f64} / {f64})", "f64_of({u64})", "(f64){f32}", "(f64){i32}", "(f64){u32}", "(f64){i64}",
           "(f64){u64}", "__builtin_fabs({f64})", "__builtin_floor({f64})", "__builtin_rint({f64})", "__builtin_trunc({f64})", "__builtin_ceil({f64})"],
    "short2_t": INT_PAIRS + ["make_short2({i16}, (i16)(e.index * 40503 ^ {i16}))", "bits_as<short2_t>({ushort2_t})",
                            "make_short2({i16}, loaded<i16>(e, {u32}))", "make_short2(loaded<i16>(e, {u32}), {i16})",
                            "make_short2((i16)loaded<i8>(e, {u32}), loaded<i16>(e, {u32}))"],
    "ushort2_t": INT_PAIRS + ["make_ushort2({u16}, (u16)(e.index * 40503 ^ {u16}))", "bits_as<ushort2_t>({short2_t})"],
    "half2": PAIRS + ["(-{T})", "neg_low({T})", "neg_high({T})", "fused({T}, {T}, {T})", "least({T}, {T})",
             "most({T}, {T})", "half2_of({u32})", "make_half2({half}, {half})", "({T} + make_half2(1, 1))",
             "({T} * make_half2(0.5, 0.5))", "fused({T}, neg_low(swapped({T})), {T})", "{small}",
             "({T} * swapped({T}))", "({T} + neg_high({T}))"],
    "s32": UNIFORM + ["uniform_word(e, {#16})", "uniform_word(e, {#16})", "e.group", "(u32)({s64} >> 32)", "(u32){s64}",
                      "(u32)__builtin_popcount({s32})", "(u32)__builtin_popcountl({s64})", "__builtin_bitreverse32({s32})",
                      "(u32)__builtin_clz({s32} | 1)", "(u32)__builtin_ctz({s32} | 256)", "(u32)(i32)(i8){s32}",
                      "(u32)(i32)(i16){s32}", "(u32)((i32){s32} >> ({s32} & 31))", "(u32)lower((i32){s32}, (i32){s32})",
                      "(u32)magnitude((i32){s32})", "(u32)(((u64){s32} * {s32}) >> 32)", "({s32} & 0xffff | {s32} << 16)",
                      "((i32){s32} < (i32){s32} ? {s32} : {K})"],
    "s64": UNIFORM + ["((u64){s32} << 32 | {s32})", "(u64)(i64)(i32){s32}", "(u64)((i64){s64} >> ({s32} & 63))"],
    "small": SMALL,
    "any_small": SMALL_OR_CONSTANT,
}
BITS = {"s32": 32, "s64": 64, "u32": 32, "i32": 32, "u64": 64, "i64": 64, "u16": 16, "i16": 16, "u8": 8, "i8": 8}
MAKE = {"short2_t": "make_short2", "ushort2_t": "make_ushort2"}
PICKS = {"pick_w": ["make_ushort2(1, 0)", "make_ushort2(7, 7)", "bits_as<ushort2_t>(64u)", "bits_as<ushort2_t>(~0u)",
                    "swapped(bits_as<ushort2_t>(e.uniform[3]))", "high_twice(bits_as<ushort2_t>(e.uniform[2]))"],
         "pick_v": ["make_short2(-1, -1)", "make_short2(3, 0)", "hidden(make_short2(0, -16))", "hidden(bits_as<short2_t>(-16))",
                    "swapped(bits_as<short2_t>(e.uniform[5]))", "low_twice(bits_as<short2_t>(e.uniform[1]))"]}
INTERESTING = [0, 1, 2, 15, 16, 17, 31, 32, 63, 64, 65, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 0x7fffffff,
               0x80000000, 0xffffffff, 0xfffffff0, 0xffffffef, 0x00ff00ff, 0x3c003c00, 0x3f800000]


class Writer:
    """Text of one step; everything is drawn from one generator, so a seed is a program."""

    def __init__(self, rng):
        self.rng = rng
        self.loops = 0

    def constant(self, kind):
        rng = self.rng
        value = rng.choice(INTERESTING) if rng.random() < 0.6 else rng.getrandbits(32)
        if kind == "f32":
            return rng.choice(["1.0f", "(-2.0f)", "0.5f", "4.0f", "0.0f", "3.25f", "1e-40f", "0x1.8p100f"])
        if kind == "f64":
            return rng.choice(["1.0", "(-2.0)", "0.5", "4.0", "0.0", "1e-310", "0x1.8p700", "3.25"])
        if kind == "half":
            return "half_of(%d)" % rng.choice([0x3c00, 0xc000, 0x3800, 0x4400, 0, 1, 0x7bff, 0x0400, 0xb118])
        if kind == "half2":
            return "half2_of(0x%x)" % rng.choice([0x3c003c00, 0x3c00, 0xbc004000, 0x00010400, 0xc4003118])
        if kind == "short2_t":
            return "hidden(make_short2((i16)%d, (i16)%d))" % (value & 0xffff, rng.choice(INTERESTING) & 0xffff)
        if kind == "ushort2_t":
            return "hidden(make_ushort2((u16)%d, (u16)%d))" % (value & 0xffff, rng.choice(INTERESTING) & 0xffff)
        if kind in ("u64", "i64"):
            return "(%s)0x%xul" % (kind, value << 32 | rng.getrandbits(32) if rng.random() < 0.5 else value)
        return "(%s)0x%xu" % (kind, value)

    def leaf(self, kind):
        rng = self.rng
        if kind == "bool":
            return "(t.p%d & %d)" % (rng.randrange(4), 1 << rng.randrange(32)) + " != 0"
        if kind in ("s32", "s64"):
            return "uniform_%s(e, %d)" % ("word" if kind == "s32" else "pair", rng.randrange(16))
        if kind in ("small", "any_small"):
            return re.sub(r"\{u32\}", lambda m: "t.p%d" % rng.randrange(4), SMALL2)
        if rng.random() < 0.2:
            return self.constant(kind)
        if kind == "u32" and rng.random() < 0.2:
            return rng.choice(["e.index", "e.thread", "e.group", "e.uniform[%d]" % rng.randrange(16)])
        return "t." + rng.choice(LOCALS[kind])

    def expression(self, kind, depth):
        if depth <= 0 or self.rng.random() < 0.15:
            return self.leaf(kind)
        rule = self.rng.choice(RULES[kind])

        def fill(match):
            name = match.group(1)
            if name == "T":
                return self.expression(kind, depth - 1)
            if name == "K":
                return "0x%xu" % (self.rng.choice(INTERESTING) if self.rng.random() < 0.5 else self.rng.getrandbits(32))
            if name == "=T":
                return kind
            if name == "=bits":
                return str(BITS[kind] - 1)
            if name == "=make":
                return MAKE[kind]
            if name == "=splat":
                return "%s(%d, %d)" % ((MAKE[kind],) + (self.rng.randrange(1, 65),) * 2)
            if name[0] == "=":
                return self.rng.choice(PICKS[name[1:]])
            if name == "#bits":
                return str(self.rng.randrange(BITS[kind]))
            if name[0] == "#":
                return str(self.rng.randrange(int(name[1:])))
            return self.expression(name, depth - 1)

        text = re.sub(r"\{([#=]?\w+)\}", fill, rule)
        return "(%s)%s" % (kind, text) if kind in BITS and BITS[kind] < 32 and not text.startswith("(" + kind) else text

    def assignment(self, indent, depth=3):
        rng = self.rng
        pad = " " * indent
        place = rng.random()
        if place < 0.1:
            return pad + "t.table[(%s) & 7] = %s;\n" % (self.expression("u32", 1), self.expression("u32", depth))
        if place < 0.15:
            kind = rng.choice(["u16", "u32", "u64", "f32"])
            return pad + "{ const %s x = %s; __builtin_memcpy(t.bytes + (%s) %% 16, &x, sizeof x); }\n" % (
                kind, "quiet(%s)" % self.expression(kind, depth) if kind == "f32" else self.expression(kind, depth),
                self.expression("u32", 1))
        if place < 0.22:
            kind = rng.choice(["u8", "u16", "u32", "u64", "i16", "short2_t"])
            return pad + "stored<%s>(e, %s, %s);\n" % (kind, self.expression("u32", 1), self.expression(kind, depth))
        if place < 0.3:
            kind = rng.choice(["s32", "s32", "s64"])
            return pad + "t.%s ^= %s;\n" % ("p1" if kind == "s32" else "l1", self.expression(kind, depth + 1))
        kind = rng.choice(list(LOCALS))
        return pad + "t.%s = %s;\n" % (rng.choice(LOCALS[kind]), self.expression(kind, depth))

    def block(self, indent, count, nesting, in_loop=False):
        return "".join(self.statement(indent, nesting, in_loop) for _ in range(count))

    def statement(self, indent, nesting, in_loop):
        rng = self.rng
        pad = " " * indent
        kind = rng.random()
        if nesting <= 0 or kind < 0.55:
            return self.assignment(indent)
        if kind < 0.7:
            text = pad + "if (%s) {\n" % self.expression("bool", 2)
            text += self.block(indent + 4, rng.randint(1, 3), nesting - 1, in_loop)
            if rng.random() < 0.5:
                text += pad + "} else {\n" + self.block(indent + 4, rng.randint(1, 2), nesting - 1, in_loop)
            return text + pad + "}\n"
        if kind < 0.8:
            self.loops += 1
            n = "n%d" % self.loops
            text = pad + "for (u32 %s = 0; %s < ((%s) & 7); %s++) {\n" % (n, n, self.expression("u32", 1), n)
            text = text.replace("< ((", "< (u32)((", 1)
            text += self.block(indent + 4, rng.randint(1, 3), nesting - 1, True)
            return text + pad + "    t.table[%s] += %s;\n" % (n, self.expression("u32", 1)) + pad + "    if (%s > 20)\n" % n + \
                pad + "        break;\n" + pad + "}\n"
        if kind < 0.86 and in_loop:
            return pad + "if (%s)\n" % self.expression("bool", 2) + pad + "    %s;\n" % rng.choice(["break", "continue"])
        if kind < 0.9:
            return pad + "if (%s)\n" % self.expression("bool", 2) + pad + "    return;\n"
        text = pad + "switch ((%s) & 7) {\n" % self.expression("u32", 2)
        for case in sorted(rng.sample(range(8), rng.randint(2, 6))):
            text += pad + "case %d:\n" % case + self.block(indent + 4, rng.randint(1, 2), nesting - 1, False)
            if rng.random() < 0.7:
                text += pad + "    break;\n"
        return text + pad + "default:\n" + self.assignment(indent + 4) + pad + "}\n"
