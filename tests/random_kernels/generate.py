"""The program of a seed: one kernel of random steps, and the same computation for the host.

A step is a function of one thread, or an exchange between threads. Each has a generator of its own,
so that leaving steps out (to reduce a failure) does not change the others."""
import random

from expressions import LOCALS, Writer
from exchanges import EXCHANGES

SIZES = (64, 256, 128, 100, 200, 37)


class Program:
    def __init__(self, seed, skip=()):
        rng = random.Random("program %d" % seed)
        self.threads = rng.choice(SIZES)
        self.groups = rng.randint(1, 3)
        self.functions, self.shared, self.device, self.host = [], [], [], []
        for number in range(rng.randint(3, 7)):
            kind = rng.random()
            if number in skip:
                continue
            step = random.Random("step %d %d" % (seed, number))
            if kind < 0.6:
                self.compute(step, number)
            else:
                step.choice(EXCHANGES)(self, step, number)
        self.steps = number + 1

    def compute(self, rng, number):
        body = Writer(rng).block(4, rng.randint(2, 6), 2)
        noinline = "NOINLINE " if rng.random() < 0.25 else ""
        self.functions.append("FN %svoid step%d(locals &t, const env &e)\n{\n%s}\n" % (noinline, number, body))
        self.device.append("step%d(t, e);" % number)
        self.host.append("EACH step%d(t[n], e[n]);" % number)

    def text(self):
        declared = "\n".join("    %s %s;" % (kind, ", ".join(names)) for kind, names in LOCALS.items())
        results, words, number = [], [], 0
        for kind, names in LOCALS.items():
            for name in names:
                plain = kind in ("u32", "i32", "u64", "i64", "u16", "i16", "u8", "i8")
                value = "t.%s" % name if plain else "bits(t.%s)" % name
                results.append("    out[%d] = (u64)%s;" % (number, value))
                words.append(name)
                number += 1
        for n in range(8):
            results.append("    out[%d] = t.table[%d];" % (number, n))
            words.append("table[%d]" % n)
            number += 1
        results.append("    for (u32 n = 0; n < 3; n++)\n        __builtin_memcpy(&out[%d + n], t.bytes + 8 * n, 8);" % number)
        words += ["bytes[%d]" % (8 * n) for n in range(3)]
        return TEMPLATE.format(threads=self.threads, groups=self.groups, declared=declared,
                               functions="\n".join(self.functions), results="\n".join(results), words=number + 3,
                               names=", ".join('"%s"' % w for w in words), shared="\n    ".join(self.shared),
                               device="\n    ".join(self.device), host="\n        ".join(self.host))


TEMPLATE = """#include "lane.h"

enum {{ THREADS = {threads}, GROUPS = {groups}, WORDS = {words} }};

struct locals {{
{declared}
    u32 table[8];
    u8 bytes[24];
}};

FN u32 drawn(const env &e, u32 &at)
{{
    return e.in[(e.index * 37 + at++) % IN_WORDS];
}}
FN void begin(locals &t, const env &e)
{{
    u32 at = 0;
    u32 *const p[] = {{&t.p0, &t.p1, &t.p2, &t.p3}};
    for (u32 n = 0; n < 4; n++)
        *p[n] = drawn(e, at);
    t.q0 = (i32)drawn(e, at), t.q1 = (i32)drawn(e, at), t.q2 = (i32)e.index;
    t.l0 = spread(drawn(e, at)), t.l1 = drawn(e, at), t.m0 = (i64)spread(drawn(e, at)), t.m1 = (i32)drawn(e, at);
    t.s0 = (u16)drawn(e, at), t.s1 = (u16)drawn(e, at), t.t0 = (i16)drawn(e, at), t.t1 = (i16)drawn(e, at);
    t.b0 = (u8)drawn(e, at), t.c0 = (i8)drawn(e, at), t.h0 = half_of((u16)drawn(e, at)), t.h1 = half_from(t.t0);
    t.f0 = f32_of(drawn(e, at)), t.f1 = (f32)t.q0, t.f2 = (f32)(t.q1 >> 20) * 0.25f;
    t.d0 = f64_of(t.l0), t.d1 = (f64)t.q2 * 0.125;
    t.v0 = bits_as<short2_t>(drawn(e, at)), t.v1 = bits_as<short2_t>(drawn(e, at) & 0x007f01ff);
    t.w0 = bits_as<ushort2_t>(drawn(e, at)), t.w1 = bits_as<ushort2_t>(drawn(e, at) & 0x007f01ff);
    t.g0 = half2_of(drawn(e, at)), t.g1 = make_half2(half_from((i16)(t.t1 >> 6)), half_from((i16)(t.t0 >> 8)));
    for (u32 n = 0; n < 8; n++)
        t.table[n] = drawn(e, at);
    for (u32 n = 0; n < 24; n++)
        t.bytes[n] = (u8)drawn(e, at);
}}
FN void finish(const locals &t, u64 *out)
{{
{results}
}}

{functions}
#if ON_GPU
KERNEL(THREADS) program(const u32 *in, const u32 *uniform, u64 *out, u64 *atoms, u8 *scratch)
{{
    {shared}
    const u32 index = group_index() * THREADS + thread_index();
    const env e = {{in, uniform, scratch + index * SCRATCH_BYTES, index, thread_index(), group_index()}};
    locals t;
    (void)atoms;
    begin(t, e);
    {device}
    finish(t, out + (u64)index * WORDS);
}}
#else
#define EACH for (u32 n = 0; n < THREADS; n++)
extern "C" {{
extern const u32 program_threads = THREADS, program_groups = GROUPS, program_words = WORDS;
extern const char *const program_names[] = {{{names}}};
void program(const u32 *in, const u32 *uniform, u64 *out, u64 *atoms, u8 *scratch)
{{
    static locals t[THREADS];
    static env e[THREADS];
    (void)atoms;
    for (u32 group = 0; group < GROUPS; group++) {{
        EACH {{
            const u32 index = group * THREADS + n;
            e[n] = env{{in, uniform, scratch + index * SCRATCH_BYTES, index, n, group}};
            begin(t[n], e[n]);
        }}
        {host}
        EACH finish(t[n], out + (u64)e[n].index * WORDS);
    }}
}}
}}
#endif
"""

if __name__ == "__main__":
    import sys
    print(Program(int(sys.argv[1]), [int(n) for n in sys.argv[2:]]).text(), end="")
