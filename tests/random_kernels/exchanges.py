"""Steps in which threads meet: LDS with barriers, atomics, the lanes of a wave."""
from math import gcd

from expressions import LOCALS, Writer


def function(program, result, name, number, text):
    """A function of one thread, used alike by both sides."""
    program.functions.append("FN %s %s%s(const locals &t, const env &e)\n{\n    return %s;\n}\n" % (
        result, name, number, text))


def quieted(kind, text):
    return "quiet(%s)" % text if kind in ("half", "f32", "f64", "half2") else text


def gpu(text):
    """@t, @e and @n stand for a thread's variables, place and number."""
    return "{ %s }" % text.replace("@t", "t").replace("@e", "e").replace("@n", "e.thread")


def host(text):
    return "EACH { %s }" % text.replace("@t", "t[n]").replace("@e", "e[n]").replace("@n", "n")


def phases(program, *texts):
    """What all threads do one after the other, with barriers between."""
    for text in texts:
        program.device += [gpu(text), "barrier();"]
        program.host.append(host(text))


def lds_exchange(program, rng, number):
    """Every thread writes one element of LDS and reads another's, at any alignment."""
    kind = rng.choice(["u8", "u16", "u32", "u64", "f64", "half2", "i16", "short2_t"])
    factor = rng.choice([f for f in range(1, 64) if gcd(f, program.threads) == 1])
    stride_extra, lead = rng.choice([0, 0, 1, 3, 4]), rng.choice([0, 0, 1, 2, 5])
    function(program, kind, "put", number, quieted(kind, Writer(rng).expression(kind, 3)))
    declaration = "u8 lds%d[(sizeof(%s) + %d) * THREADS + 8];" % (number, kind, stride_extra)
    place = "lds%d + %d + (sizeof(%s) + %d) * " % (number, lead, kind, stride_extra)
    other = "((@n * %d + %d) %% THREADS)" % (factor, rng.randrange(64))
    target = rng.choice(LOCALS[kind])
    program.shared.append("SHARED " + declaration)
    program.host.append("static " + declaration)
    phases(program, "const %s x = put%d(@t, @e); __builtin_memcpy(%s, &x, sizeof x);" % (kind, number, place + other),
           "__builtin_memcpy(&@t.%s, %s, sizeof @t.%s);" % (target, place + "@n", target))


def lds_struct(program, rng, number):
    """Structures of odd sizes in LDS, written by one thread and read by its neighbours."""
    shape, members = rng.choice([("odd", ["a", "b", "c", "d"]), ("trio", ["a", "b", "c"]),
                                 ("mixed", ["a", "c", "d[0]", "d[1]", "d[2]"]),
                                 ("quad", ["a", "b", "c", "d"]), ("triple", ["a", "b", "c"])])
    writer = Writer(rng)
    fill = "".join("    s.%s = %s;\n" % (m, writer.expression("u64" if m == "d" and shape == "odd" else "u32", 2)) for m in members)
    program.functions.append("FN void fill%d(%s &s, const locals &t, const env &e)\n{\n%s}\n" % (number, shape, fill))
    declaration = "%s lds%d[THREADS];" % (shape, number)
    program.shared.append("SHARED " + declaration)
    program.host.append("static " + declaration)
    phases(program, "fill%d(lds%d[@n], @t, @e);" % (number, number),
           "@t.l0 += lds%d[(@n + %d) %% THREADS].%s; @t.p%d ^= (u32)lds%d[(@n + 1) %% THREADS].%s;" % (
               number, rng.randrange(1, program.threads), rng.choice(members), rng.randrange(4), number,
               rng.choice(members)))


def lds_atomics(program, rng, number):
    """Operations whose result does not depend on their order."""
    kind, operation = rng.choice(["u32", "i32", "u64"]), rng.choice(["add", "and", "or", "xor", "min", "max"])
    slots = rng.choice([1, 4, 16])
    writer = Writer(rng)
    function(program, kind, "value", number, writer.expression(kind, 3))
    function(program, "u32", "slot", number, "(%s) %% %d" % (writer.expression("u32", 2), slots))
    function(program, "bool", "joins", number, writer.expression("bool", 2) if rng.random() < 0.5 else "true")
    program.shared.append("SHARED %s lds%d[%d];" % (kind, number, slots))
    program.host.append("static %s lds%d[%d];" % (kind, number, slots))
    phases(program, "if (@n < %d) lds%d[@n] = (%s)0x%xu;" % (slots, number, kind, rng.getrandbits(32)),
           "if (joins%d(@t, @e)) (void)atomic_%s(&lds%d[slot%d(@t, @e)], value%d(@t, @e));" % (
               number, operation, number, number, number),
           "@t.%s ^= lds%d[@n %% %d];" % (rng.choice(LOCALS[kind]), number, slots))


def own_atomics(program, rng, number):
    """A few atomics on memory of the thread's own, whose old values count."""
    writer = Writer(rng)
    body = "    u32 *p = (u32 *)(((u64)e.scratch + 3) & ~3ul);\n    u32 x;\n"
    for _ in range(rng.randint(1, 4)):
        act, place, value = rng.choice(["add", "swap", "min", "max", "xor", "replace"]), rng.randrange(8), \
            writer.expression("u32", 2)
        if act == "replace":
            expected = "p[%d]" % place if rng.random() < 0.6 else writer.expression("u32", 1)
            body += "    x = atomic_replace<u32>(p + %d, %s, %s);\n" % (place, expected, value)
        else:
            body += "    x = atomic_%s(p + %d, (u32)(%s));\n" % (act, place, value)
        body += "    t.p%d += x;\n" % rng.randrange(4)
    program.functions.append("FN void own%d(locals &t, const env &e)\n{\n%s}\n" % (number, body))
    program.device.append(gpu("own%d(@t, @e);" % number))
    program.host.append(host("own%d(@t, @e);" % number))


def global_atomics(program, rng, number):
    """On memory of all groups, which is compared at the end."""
    operation = rng.choice(["add", "and", "or", "xor", "min", "max"])
    kind = rng.choice(["u32", "u64", "i64"])
    function(program, kind, "value", number, Writer(rng).expression(kind, 3))
    act = "(void)atomic_%s((%s *)&atoms[%d], value%d(@t, @e));" % (operation, kind, number, number)
    program.device.append(gpu(act))
    program.host.append(host(act))
    own_atomics(program, rng, number)


DPP = [lambda r: r.randrange(256), lambda r: 0x100 + r.randint(1, 15), lambda r: 0x110 + r.randint(1, 15),
       lambda r: 0x120 + r.randint(1, 15), lambda r: r.choice([0x130, 0x134, 0x138, 0x13c]),
       lambda r: r.choice([0x140, 0x141]), lambda r: r.choice([0x142, 0x143])]


def lane_operation(program, rng, n):
    """One operation between the lanes of a wave, by all of them or by those that a condition chooses."""
    writer = Writer(rng)
    kind = rng.choice(["gather", "scatter", "swizzle", "first", "read", "where", "below", "dpp", "dpp", "dpp", "dpp"])
    branches = kind not in ("scatter", "read") and rng.random() < 0.4
    function(program, "bool", "joins", n, writer.expression("bool", 2) if branches else "true")
    function(program, "u32", "value", n, "(%s) + e.thread * 0x9e3779b1u" % writer.expression("u32", 2)
             if kind not in ("where", "below") else "(u32)(%s)" % writer.expression("bool", 3))
    index = writer.expression("u32", 2)
    if kind == "scatter":
        index = "(e.thread * %d + %d)" % (rng.randrange(1, 64, 2), rng.randrange(64))
    function(program, "u32", "index", n, index)
    function(program, "u32", "old", n, writer.expression("u32", 2))
    constants = {"swizzle": [rng.choice([0x8000 | rng.randrange(256), rng.randrange(0x8000)])],
                 "read": [rng.randrange(min(64, program.threads % 64 or 64))],
                 "dpp": [rng.choice(DPP)(rng), rng.choice([15, 15, rng.randrange(16)]),
                         rng.choice([15, 15, rng.randrange(16)]), rng.choice(["true", "false"])]}.get(kind, [])
    tail = "".join(", %s" % c for c in constants)
    use = {"gather": "lanes_gather(value%s(t, e), index%s(t, e) & 63)" % (n, n),
           "scatter": "lanes_scatter(value%s(t, e), index%s(t, e) & 63)" % (n, n),
           "where": "lanes_where(value%s(t, e))" % n,
           "below": "lanes_below(lanes_where(value%s(t, e)), index%s(t, e))" % (n, n),
           "dpp": "lanes_dpp(old%s(t, e), value%s(t, e)%s)" % (n, n, tail)}.get(
               kind, "lanes_%s(value%s(t, e)%s)" % (kind, n, tail))
    keep = "@t.p%d = (u32)x; @t.l%d = @t.l%d * 31 + x;" % (rng.randrange(4), n_of(n), n_of(n))
    program.device.append("if (joins%s(t, e)) { const u64 x = %s; %s }" % (n, use, keep.replace("@t", "t")))
    program.host.append("""for (u32 base = 0; base < THREADS; base += 64) {
            wave w = {};
            for (u32 n = base; n < THREADS && n < base + 64; n++)
                if (joins%s(t[n], e[n])) {
                    w.active |= 1ul << (n - base);
                    w.x[n - base] = value%s(t[n], e[n]);
                    w.index[n - base] = index%s(t[n], e[n]);
                    w.old[n - base] = old%s(t[n], e[n]);
                }
            for (u32 n = base; n < THREADS && n < base + 64; n++)
                if (lane_active(w, (int)(n - base))) {
                    const u64 x = lanes_%s(w, (int)(n - base)%s);
                    %s
                }
        }""" % (n, n, n, n, kind, tail, keep.replace("@t", "t[n]")))


def n_of(name):
    """Which of the two sums of a thread an operation adds to."""
    return int(name.split("_")[1]) % 2


def lanes(program, rng, number):
    for n in range(rng.randint(2, 4)):
        lane_operation(program, rng, "%d_%d" % (number, n))


EXCHANGES = [lds_exchange, lds_struct, lds_atomics, global_atomics, lanes, lanes, lanes, lanes]
