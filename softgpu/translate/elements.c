/*
 * Part p of register r is what lies at 16 * (dwords * p + r): then each four lanes are the same
 * part of all registers, and no dword crosses from one part to another on its way to its row.
 */
#include "translate/elements.h"

#include "translate/lds_long.h"

enum { PART = 16, PART_LANES = 4, DWORDS = ELEMENT_DWORDS };

/* Dwords a and b of the first source, c and d of the second one, of each part. */
#define PICK(a, b, c, d) ((a) | (b) << 2 | (c) << 4 | (d) << 6)

static void pick(struct x86 *x, unsigned dst, unsigned first, unsigned second, unsigned which)
{
    x86_vector(x, X86_VSHUFPS, dst, first, x86_reg(second), x86_imm(which));
}

static unsigned parts_of(const struct x86 *x)
{
    return x->level->lanes / PART_LANES;
}

/* The first one that a register gets goes to all of its parts. */
static void parts_load(struct x86 *x, unsigned dwords, const unsigned *registers)
{
    const unsigned last = parts_of(x) - 1;
    for (unsigned n = dwords * parts_of(x); n-- > 0;) {
        const unsigned to = registers[n % dwords], part = n / dwords;
        const struct x86_rm from = x86_memory(RSI, (int32_t)(PART * n), false);
        if (part == last)
            x86_vector(x, X86_VBROADCASTI128, to, 0, from, (struct x86_option){0});
        else
            x86_vector(x, X86_VINSERTI128, to, to, from, x86_imm(part));
    }
}

static void parts_store(struct x86 *x, unsigned dwords, const unsigned *registers)
{
    for (unsigned n = 0; n < dwords * parts_of(x); n++)
        x86_vector(x, X86_VEXTRACTI128, registers[n % dwords], 0,
                   x86_memory(RSI, (int32_t)(PART * n), false), x86_imm(n / dwords));
}

/* x0 y0 x1 y1, x2 y2 x3 y3 */
static void pairs_split(struct x86 *x, const uint8_t *hosts, const unsigned *from)
{
    pick(x, hosts[0], from[0], from[1], PICK(0, 2, 0, 2));
    pick(x, hosts[1], from[0], from[1], PICK(1, 3, 1, 3));
}
static void pairs_join(struct x86 *x, const uint8_t *hosts, const unsigned *to)
{
    const struct x86_option plain = {0};
    x86_vector(x, X86_VPUNPCKLDQ, to[0], hosts[0], x86_reg(hosts[1]), plain);
    x86_vector(x, X86_VPUNPCKHDQ, to[1], hosts[0], x86_reg(hosts[1]), plain);
}

/* x0 y0 z0 x1, y1 z1 x2 y2, z2 x3 y3 z3. The last of `from` may be hosts[1], the last two of `to`
 * are written on the way. */
static void triples_split(struct x86 *x, const uint8_t *hosts, const unsigned *from)
{
    const unsigned upper = hosts[0], lower = x->level->scratch;
    pick(x, upper, from[1], from[2], PICK(2, 3, 1, 2)); /* x2 y2 x3 y3 */
    pick(x, lower, from[0], from[1], PICK(1, 2, 0, 1)); /* y0 z0 y1 z1 */
    pick(x, hosts[2], lower, from[2], PICK(1, 3, 0, 3));
    pick(x, hosts[1], lower, upper, PICK(0, 2, 1, 3));
    pick(x, hosts[0], from[0], upper, PICK(0, 3, 0, 2));
}
static void triples_join(struct x86 *x, const uint8_t *hosts, const unsigned *to)
{
    const unsigned even = x->level->scratch, odd = to[2], third = to[3];
    pick(x, even, hosts[0], hosts[1], PICK(0, 2, 0, 2));  /* x0 x2 y0 y2 */
    pick(x, odd, hosts[1], hosts[2], PICK(1, 3, 1, 3));   /* y1 y3 z1 z3 */
    pick(x, third, hosts[2], hosts[0], PICK(0, 2, 1, 3)); /* z0 z2 x1 x3 */
    pick(x, to[0], even, third, PICK(0, 2, 0, 2));
    pick(x, to[1], odd, even, PICK(0, 2, 1, 3));
    pick(x, to[2], third, odd, PICK(1, 3, 1, 3));
}

void elements_load(struct x86 *x, unsigned dwords, const uint8_t *hosts, unsigned temporary)
{
    unsigned from[DWORDS] = {hosts[0], hosts[1], hosts[2], hosts[3]};
    switch (dwords) {
    case 1:
        parts_load(x, dwords, from);
        return;
    case 2:
        from[0] = temporary;
        parts_load(x, dwords, from);
        pairs_split(x, hosts, from);
        return;
    case 3:
        from[0] = temporary;
        from[1] = hosts[3];
        from[2] = hosts[1];
        parts_load(x, dwords, from);
        triples_split(x, hosts, from);
        return;
    default:
        long_turn_begin(hosts, temporary, from);
        parts_load(x, dwords, from);
        long_turn(x, hosts, temporary);
    }
}

void elements_store(struct x86 *x, unsigned dwords, const uint8_t *hosts,
                    const uint8_t *temporaries)
{
    unsigned to[DWORDS] = {temporaries[0], temporaries[1], temporaries[2], temporaries[3]};
    if (dwords == 1)
        to[0] = hosts[0];
    else if (dwords == 2)
        pairs_join(x, hosts, to);
    else if (dwords == 3)
        triples_join(x, hosts, to);
    else
        long_turn_back(x, hosts, temporaries, to);
    parts_store(x, dwords, to);
}
