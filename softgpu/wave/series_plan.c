/*
 * What the waves of a series do, found out by three of each: of the first group, of the one behind
 * it and of the last one. Their numbers are executed by the interpreter's handlers, one instruction
 * of all three at a time.
 *
 * Why that says what those in between do. Each register is, as a function of the group's number, a
 * number that grows by a step, as an integer that never leaves its 32 bits. That is true when waves
 * begin. An instruction makes of such numbers one that grows by a step modulo 2^32 (`rules` says
 * which do, and what must not differ for it); that it is at the last group where the step of the
 * first two leads without wrapping around means that it never did. Carries, orders and signs are
 * the same in all groups where they are the same in the first and the last one: between these such
 * numbers cross nothing twice. What follows from them, where branches go, EXEC, SCC, is the same
 * then. Of lanes the same is true one by one.
 */
#include "wave/series_plan.h"

#include <stdlib.h>
#include <string.h>

#include "isa_ops.h"
#include "mem/single_copy.h"
#include "translate/emit.h"
#include "wave/access.h"
#include "wave/time_note.h"

enum { FIRST, SECOND, LAST, TRIED };
enum { ROWS = 64 };

struct series_probe {
    struct wave waves[TRIED];
    lane_row rows[TRIED][ROWS];
};

/* One attempt. */
struct attempt {
    struct series_plan *plan;
    struct workgroup *group;
    struct series_probe *probe;
    uint32_t number;  /* of the wave in its group */
    int64_t distance; /* in groups, from the first one to the last */
    uint32_t loads, accesses;
    uint64_t written; /* rows */
};

/* What must not differ from group to group, for the result to grow by a step. */
enum rule {
    RULE_SAME,    /* any source */
    RULE_SUM,     /* nothing */
    RULE_SHIFT_0, /* the first source, ... */
    RULE_SHIFT_1,
    RULE_SHIFT_2,
    RULE_PRODUCT, /* one of the first two */
    RULE_BELOW,   /* as RULE_SAME, or the result is one of the sources and the other one a mask */
    RULE_SIGN     /* as RULE_SAME, or all bits are the sign */
};

/* Orders are sums here: between the first and the last group they do not change if those two agree.
 * Whether numbers are equal is not among them. */
#define ORDERS(type)                                                                               \
    [OP_V_CMP_LT_##type] = RULE_SUM, [OP_V_CMP_LE_##type] = RULE_SUM,                              \
    [OP_V_CMP_GT_##type] = RULE_SUM, [OP_V_CMP_GE_##type] = RULE_SUM
#define SCALAR_ORDERS(type)                                                                        \
    [OP_S_CMP_LT_##type] = RULE_SUM, [OP_S_CMP_LE_##type] = RULE_SUM,                              \
    [OP_S_CMP_GT_##type] = RULE_SUM, [OP_S_CMP_GE_##type] = RULE_SUM
static const uint8_t rules[OP_COUNT] = {
    [OP_S_MOV_B32] = RULE_SUM,
    [OP_S_MOV_B64] = RULE_SUM,
    [OP_S_ADD_U32] = RULE_SUM,
    [OP_S_ADD_I32] = RULE_SUM,
    [OP_S_ADDC_U32] = RULE_SUM,
    [OP_S_SUB_U32] = RULE_SUM,
    [OP_S_SUB_I32] = RULE_SUM,
    [OP_S_SUBB_U32] = RULE_SUM,
    [OP_S_CSELECT_B32] = RULE_SUM,
    [OP_S_CSELECT_B64] = RULE_SUM,
    [OP_S_MIN_U32] = RULE_SUM, /* SCC tells which one it is */
    [OP_S_MIN_I32] = RULE_SUM,
    [OP_S_MAX_U32] = RULE_SUM,
    [OP_S_MAX_I32] = RULE_SUM,
    [OP_S_LSHL_B32] = RULE_SHIFT_1,
    [OP_S_LSHL_B64] = RULE_SHIFT_1,
    [OP_S_LSHL1_ADD_U32] = RULE_SUM,
    [OP_S_LSHL2_ADD_U32] = RULE_SUM,
    [OP_S_LSHL3_ADD_U32] = RULE_SUM,
    [OP_S_LSHL4_ADD_U32] = RULE_SUM,
    [OP_S_MUL_I32] = RULE_PRODUCT,
    [OP_V_MOV_B32] = RULE_SUM,
    [OP_V_ADD_U32] = RULE_SUM,
    [OP_V_ADD_CO_U32] = RULE_SUM,
    [OP_V_ADDC_CO_U32] = RULE_SUM,
    [OP_V_SUB_U32] = RULE_SUM,
    [OP_V_SUBREV_U32] = RULE_SUM,
    [OP_V_SUB_CO_U32] = RULE_SUM,
    [OP_V_SUBB_CO_U32] = RULE_SUM,
    [OP_V_SUBREV_CO_U32] = RULE_SUM,
    [OP_V_SUBBREV_CO_U32] = RULE_SUM,
    [OP_V_LSHLREV_B32] = RULE_SHIFT_0,
    [OP_V_LSHLREV_B64] = RULE_SHIFT_0,
    [OP_V_LSHL_ADD_U32] = RULE_SHIFT_1,
    [OP_V_LSHL_ADD_U64] = RULE_SHIFT_1,
    [OP_V_ADD_LSHL_U32] = RULE_SHIFT_2,
    [OP_V_ADD3_U32] = RULE_SUM,
    [OP_V_MUL_LO_U32] = RULE_PRODUCT,
    [OP_V_MAD_U64_U32] = RULE_PRODUCT,
    [OP_V_AND_B32] = RULE_BELOW,
    [OP_V_ASHRREV_I32] = RULE_SIGN,
    ORDERS(U32),
    ORDERS(I32),
    ORDERS(U64),
    ORDERS(I64),
    SCALAR_ORDERS(U32),
    SCALAR_ORDERS(I32),
};

/* ---- what does not differ ---- */

static bool scalars_same(const struct attempt *a, unsigned first, unsigned dwords)
{
    const struct wave *waves = a->probe->waves;
    bool same = true;
    for (unsigned n = first; n < first + dwords && n < SREG_COUNT; n++)
        same &= waves[FIRST].s[n] == waves[SECOND].s[n] && waves[FIRST].s[n] == waves[LAST].s[n];
    return same;
}

/* Lanes of such rows differ by the same in all groups. */
static bool rows_same(const struct attempt *a, unsigned first, unsigned dwords)
{
    bool same = true;
    for (unsigned n = first; n < first + dwords && n < ROWS; n++)
        same &= a->probe->rows[FIRST][n][0] == a->probe->rows[SECOND][n][0] &&
                a->probe->rows[FIRST][n][0] == a->probe->rows[LAST][n][0];
    return same;
}

static unsigned dwords_of(const struct operand *operand)
{
    return operand->dwords ? operand->dwords : 1;
}

static bool source_same(const struct attempt *a, const struct inst *inst, unsigned n)
{
    const struct operand *operand = &inst->src[n];
    switch (operand->kind) {
    case OPND_SREG:
        return scalars_same(a, operand->index, dwords_of(operand));
    case OPND_VGPR:
        return rows_same(a, operand->index, dwords_of(operand));
    case OPND_VCCZ:
        return scalars_same(a, SREG_VCC, 2);
    default:
        return true; /* constants; SCC and EXEC are the same after each instruction */
    }
}

static bool sources_same(const struct attempt *a, const struct inst *inst)
{
    return source_same(a, inst, 0) && source_same(a, inst, 1) && source_same(a, inst, 2);
}

/* The mask that it reads, which may be named nowhere. */
static bool mask_same(const struct attempt *a, const struct inst *inst)
{
    const struct operation *operation = operation_find(inst);
    return !operation || !(operation->flags & READS_MASK) ||
           scalars_same(a, operation_mask_in(inst), 2);
}

static bool is_sign(const struct inst *inst)
{
    enum { SIGN_BIT = 31 };
    return inst->src[0].kind == OPND_CONST && inst->src[0].value == SIGN_BIT;
}

static bool sources_fit(const struct attempt *a, const struct inst *inst)
{
    if (!mask_same(a, inst))
        return false;
    switch (rules[inst->op]) {
    case RULE_SUM:
    case RULE_BELOW: /* see below_fits() */
        return true;
    case RULE_SHIFT_0:
        return source_same(a, inst, 0);
    case RULE_SHIFT_1:
        return source_same(a, inst, 1);
    case RULE_SHIFT_2:
        return source_same(a, inst, 2);
    case RULE_PRODUCT:
        return source_same(a, inst, 0) || source_same(a, inst, 1);
    case RULE_SIGN:
        return is_sign(inst) || sources_same(a, inst);
    default:
        return sources_same(a, inst);
    }
}

/* ---- what grows by a step ---- */

static bool follows(const struct attempt *a, uint32_t first, uint32_t second, uint32_t last)
{
    enum { SIGN_BIT = 31 };
    const int64_t step = (int64_t)second - first;
    return first + step * a->distance == last && (first ^ last) >> SIGN_BIT == 0;
}

static bool scalars_follow(const struct attempt *a, unsigned first, unsigned dwords)
{
    const struct wave *w = a->probe->waves;
    for (unsigned n = first; n < first + dwords && n < SREG_COUNT; n++)
        if (!follows(a, w[FIRST].s[n], w[SECOND].s[n], w[LAST].s[n]))
            return false;
    return true;
}

/* All of it, as integers, from the first lane on in steps; which have one sign. */
static bool row_is_linear(const uint32_t *row, uint32_t step)
{
    enum { SIGN_BIT = 31 };
    const uint32_t last = row[WAVE_LANES - 1];
    uint32_t differs = 0;
    for (uint32_t lane = 0; lane < WAVE_LANES; lane++)
        differs |= row[lane] ^ (row[0] + lane * step);
    return !differs && row[0] + (uint64_t)step * (WAVE_LANES - 1) == last &&
           (row[0] ^ last) >> SIGN_BIT == 0;
}

static bool rows_follow(const struct attempt *a, unsigned first, unsigned dwords)
{
    const struct series_probe *probe = a->probe;
    for (unsigned n = first; n < first + dwords; n++) {
        const uint32_t step = probe->rows[FIRST][n][1] - probe->rows[FIRST][n][0];
        for (unsigned k = 0; k < TRIED; k++)
            if (!row_is_linear(probe->rows[k][n], step))
                return false;
        if (!follows(a, probe->rows[FIRST][n][0], probe->rows[SECOND][n][0],
                     probe->rows[LAST][n][0]))
            return false;
    }
    return true;
}

static bool result_follows(const struct attempt *a, const struct operand *to)
{
    switch (to->kind) {
    case OPND_SREG:
        return scalars_follow(a, to->index, dwords_of(to));
    case OPND_VGPR:
        return rows_follow(a, to->index, dwords_of(to));
    default:
        return true;
    }
}

/* Masks of lanes are the same. */
static bool masks_same(const struct attempt *a, const struct inst *inst)
{
    const struct operation *operation = operation_find(inst);
    if (operation && operation->flags & WRITES_MASK &&
        !scalars_same(a, operation_mask_out(operation, inst), 2))
        return false;
    return scalars_same(a, SREG_EXEC, 2) &&
           a->probe->waves[FIRST].scc == a->probe->waves[SECOND].scc &&
           a->probe->waves[FIRST].scc == a->probe->waves[LAST].scc;
}

/* ---- steps ---- */

/* Where the source's row is before the instruction is executed, of v_and_b32. */
struct below {
    bool same;
    uint32_t first[TRIED], mask;
    bool masked;
};

static struct below below_begin(const struct attempt *a, const struct inst *inst)
{
    struct below below = {.same = sources_same(a, inst)};
    for (unsigned n = 0; n < 2 && !below.masked; n++) {
        const struct operand *mask = &inst->src[n], *from = &inst->src[1 - n];
        below.mask = (uint32_t)mask->value;
        below.masked = mask->kind == OPND_CONST && from->kind == OPND_VGPR && from->index < ROWS &&
                       (below.mask & (below.mask + 1)) == 0;
        for (unsigned k = 0; below.masked && k < TRIED; k++)
            below.first[k] = a->probe->rows[k][from->index][0];
    }
    return below;
}

/* No lane had bits above the mask's, neither in the first group nor in the last one. */
static bool below_fits(const struct attempt *a, const struct inst *inst, const struct below *below)
{
    if (below->same)
        return true;
    if (!below->masked)
        return false;
    for (unsigned k = 0; k < TRIED; k++) {
        const uint32_t *row = a->probe->rows[k][inst->dst.index];
        if (row[0] != below->first[k] || row[WAVE_LANES - 1] > below->mask)
            return false;
    }
    return true;
}

/* Registers that the probe has. */
static bool operands_exist(const struct inst *inst)
{
    const struct operand *all[] = {&inst->dst, &inst->sdst, &inst->src[0], &inst->src[1],
                                   &inst->src[2]};
    for (unsigned n = 0; n < sizeof all / sizeof *all; n++)
        if (all[n]->kind == OPND_AGPR ||
            (all[n]->kind == OPND_VGPR && all[n]->index + dwords_of(all[n]) > ROWS))
            return false;
    return true;
}

static void written_note(struct attempt *a, const struct operand *to)
{
    for (unsigned n = 0; to->kind == OPND_VGPR && n < dwords_of(to); n++)
        a->written |= UINT64_C(1) << (to->index + n);
}

static bool number_try(struct attempt *a, const struct series_step *step)
{
    const struct inst *inst = step->inst;
    if (!operands_exist(inst) || !sources_fit(a, inst))
        return false;
    const struct below below = below_begin(a, inst);
    for (unsigned k = 0; k < TRIED; k++)
        if (!step->exec(&a->probe->waves[k], inst))
            return false;
    written_note(a, &inst->dst);
    return result_follows(a, &inst->dst) && result_follows(a, &inst->sdst) && masks_same(a, inst) &&
           (rules[inst->op] != RULE_BELOW || below_fits(a, inst, &below));
}

/* All waves load the same. */
static bool load_try(struct attempt *a, const struct inst *inst)
{
    struct series_plan *plan = a->plan;
    const uint32_t n = a->loads++, bytes = 4u * inst->dst.dwords;
    struct wave *waves = a->probe->waves;
    if (n == SERIES_LOADS || bytes > sizeof plan->loads[n].value ||
        !scalars_same(a, inst->src[0].index, 2))
        return false;
    struct series_load *load = &plan->loads[n];
    uint64_t va;
    memcpy(&va, &waves[FIRST].s[inst->src[0].index], sizeof va);
    va = whole_dwords(va) + whole_dwords((uint64_t)(int64_t)inst->offset);
    const void *host = vm_translate(a->group->reader, va, bytes, VM_READ);
    if (!host)
        return false;
    if (a->number == 0) {
        load->va = va;
        load->bytes = bytes;
        single_read(load->value, host, bytes);
        plan->load_count = n + 1;
    } else if (n >= plan->load_count || load->va != va || load->bytes != bytes) {
        return false;
    }
    for (unsigned k = 0; k < TRIED; k++)
        memcpy(&waves[k].s[inst->dst.index], load->value, bytes);
    return true;
}

static bool branch_try(struct attempt *a, const struct series_step *step)
{
    const struct inst *next = (step + 1)->inst;
    if (!scalars_same(a, SREG_VCC, 2))
        return false;
    for (unsigned k = 0; k < TRIED; k++)
        if (step->exec(&a->probe->waves[k], step->inst) != next)
            return false;
    return true;
}

static uint64_t access_va(const struct wave *w, const struct inst *inst)
{
    const lane_row *rows = w->v + inst->src[0].index;
    uint64_t va = rows[0][0] + (uint64_t)(int64_t)inst->offset, base;
    if (!(inst->flags & IF_SADDR))
        return va + ((uint64_t)rows[1][0] << 32);
    memcpy(&base, &w->s[inst->src[2].index], sizeof base);
    return va + base;
}

static uint32_t access_bytes(const struct inst *inst)
{
    return 4u * (inst->flags & IF_LOAD ? inst->dst.dwords : inst->src[1].dwords);
}

/* Where steps are larger, or groups are as many as ids_follow() refuses, addresses that end where
 * they should may have been elsewhere in between. */
static bool step_fits(int64_t step)
{
    const int64_t most = INT64_C(1) << 32;
    return step <= most && step >= -most;
}

static bool access_try(struct attempt *a, const struct inst *inst)
{
    const unsigned row = inst->src[0].index;
    const bool scalar_base = inst->flags & IF_SADDR;
    struct series_probe *probe = a->probe;
    uint64_t va[TRIED];
    if (row + 2 > ROWS || wave_exec(&probe->waves[FIRST]) != ~UINT64_C(0) ||
        !rows_follow(a, row, scalar_base ? 1 : 2) ||
        (scalar_base &&
         (inst->src[2].kind != OPND_SREG || !scalars_follow(a, inst->src[2].index, 2))))
        return false;
    for (unsigned k = 0; k < TRIED; k++) {
        if (!row_is_linear(probe->rows[k][row], access_bytes(inst)) ||
            (!scalar_base && !row_is_linear(probe->rows[k][row + 1], 0)))
            return false;
        va[k] = access_va(&probe->waves[k], inst);
    }
    struct series_place *place = &a->plan->places[a->number][a->accesses++];
    place->va = va[FIRST];
    place->step = (int64_t)(va[SECOND] - va[FIRST]);
    return step_fits(place->step) && va[FIRST] + (uint64_t)(place->step * a->distance) == va[LAST];
}

/* Keeps what the register is; false: there are too many of them. */
static bool scalar_keep(const struct attempt *a, unsigned index)
{
    struct series_plan *plan = a->plan;
    uint32_t n = 0;
    while (n < plan->scalar_count && plan->scalars[n] != index)
        n++;
    if (n == SERIES_SCALARS)
        return false;
    plan->scalars[n] = (uint8_t)index;
    plan->scalar_count = n < plan->scalar_count ? plan->scalar_count : n + 1;
    plan->scalar_values[a->number][n] = a->probe->waves[FIRST].s[index];
    return true;
}

/* What its scalars are it finds where the wave of the group before has left them. */
static bool strip_try(const struct attempt *a, const struct inst *inst)
{
    const uint32_t *real = a->group->waves[a->number].s, *tried = a->probe->waves[FIRST].s;
    for (unsigned n = 0; n < 3; n++) {
        const struct operand *operand = &inst->src[n];
        if (operand->kind != OPND_SREG)
            continue;
        const unsigned dwords = dwords_of(operand);
        if (operand->index + dwords > SREG_COUNT || !source_same(a, inst, n) ||
            memcmp(real + operand->index, tried + operand->index, 4 * dwords) != 0)
            return false;
        for (unsigned dword = 0; dword < dwords; dword++)
            if (!scalar_keep(a, operand->index + dword))
                return false;
    }
    return true;
}

bool series_plan_holds(const struct series_plan *plan, const struct workgroup *group)
{
    bool same = true;
    for (uint32_t w = 0; w < plan->waves; w++)
        for (uint32_t n = 0; n < plan->scalar_count; n++)
            same &= group->waves[w].s[plan->scalars[n]] == plan->scalar_values[w][n];
    return same;
}

static bool step_try(struct attempt *a, const struct series_step *step)
{
    switch (step->role) {
    case SERIES_NOTHING:
        return true;
    case SERIES_NUMBER:
        return number_try(a, step);
    case SERIES_LOAD:
        return load_try(a, step->inst);
    case SERIES_BRANCH:
        return branch_try(a, step);
    case SERIES_ACCESS:
        return access_try(a, step->inst);
    default:
        return strip_try(a, step->inst);
    }
}

/* As start.c has it. */
static void waves_begin(struct attempt *a)
{
    const struct workgroup *group = a->group;
    const struct wave_first *first = &group->firsts[a->number];
    const uint32_t groups[TRIED] = {0, 1, (uint32_t)a->distance};
    for (unsigned k = 0; k < TRIED; k++) {
        struct wave *wave = &a->probe->waves[k];
        memcpy(wave, first->bytes, sizeof first->bytes);
        memcpy(a->probe->rows[k], first->items, group->item_rows * sizeof(lane_row));
        wave->v = wave->a = a->probe->rows[k];
        wave->group = a->group;
        wave->wave_in_group = a->number;
        if (group->launch->id_x)
            wave->s[group->launch->id_x - 1] = group->id[0] + groups[k];
    }
    a->written = (UINT64_C(1) << group->item_rows) - 1;
}

/* Rows are 0 for the next one. */
static void waves_end(struct attempt *a)
{
    for (uint64_t left = a->written; left; left &= left - 1)
        for (unsigned k = 0; k < TRIED; k++)
            memset(a->probe->rows[k][__builtin_ctzll(left)], 0, sizeof(lane_row));
}

static bool wave_try(struct attempt *a)
{
    const struct series *series = a->plan->series;
    bool good = true;
    a->loads = a->accesses = 0;
    waves_begin(a);
    for (unsigned n = 0; good && n + 1u < series->count; n++)
        good = step_try(a, &series->steps[n]);
    waves_end(a);
    return good && a->accesses == series->accesses && a->loads == a->plan->load_count;
}

/* What the group's id is in is a number that grows by a step, too. */
static bool ids_follow(const struct attempt *a)
{
    enum { LIMIT = 1u << 30 };
    return a->group->id[0] < LIMIT && a->distance < LIMIT && a->distance > 0;
}

bool series_plan_make(struct series_plan *plan, struct workgroup *group, uint64_t last)
{
    enum { ALIGNED = 64 };
    if (!plan->probe)
        plan->probe = aligned_alloc(ALIGNED, sizeof *plan->probe);
    if (!plan->probe)
        return false;
    struct attempt a = {.plan = plan,
                        .group = group,
                        .probe = plan->probe,
                        .distance = (int64_t)(last - group->index)};
    memset(plan->probe, 0, sizeof *plan->probe);
    plan->load_count = plan->scalar_count = 0;
    if (!ids_follow(&a))
        return false;
    for (a.number = 0; a.number < group->wave_count; a.number++)
        if (!wave_try(&a))
            return false;
    plan->first = group->index;
    plan->last = last;
    plan->waves = group->wave_count;
    return true;
}

void series_plan_free(struct series_plan *plan)
{
    if (plan)
        free(plan->probe);
    free(plan);
}
