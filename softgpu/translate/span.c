/*
 * Accesses of a series, of which a place of the host's is known, as part of a strip: what was
 * loaded stays in the host's registers, what is stored comes from there.
 */
#include "translate/elements.h"
#include "translate/linear.h"
#include "translate/run.h"
#include "translate/series.h"

static const struct operand *data_of(const struct inst *inst)
{
    return inst->flags & IF_LOAD ? &inst->dst : &inst->src[1];
}

enum { LINE = 64, CACHE = 2 /* the first one has too few line buffers */, NARROW = 1 };

static int32_t span_at(unsigned number, size_t member)
{
    return (int32_t)(number * sizeof(struct series_span) + member);
}
#define SPAN(number, member) span_at(number, offsetof(struct series_span, member))

/* RSI becomes the strip's place; wide elements' are asked for as they come. */
static void place_take(struct emitter *e, unsigned number, unsigned dwords)
{
    struct x86 *x = e->x;
    x86_load64(x, RSI, RBP, SPAN(number, host));
    if (dwords == 3)
        x86_gpr_add(x, RSI, R10);
    x86_gpr_add_shifted(x, RSI, R10, dwords / 2);
    if (dwords == NARROW)
        return;
    x86_load64(x, RAX, RBP, SPAN(number, ahead));
    x86_gpr_add(x, RAX, RSI);
    for (int32_t line = 0; line < (int32_t)(4 * dwords * x->level->lanes); line += LINE)
        x86_prefetch(x, RAX, line, CACHE);
}

void span_begin(struct x86 *x, const struct inst *inst, unsigned number)
{
    if (data_of(inst)->dwords != NARROW)
        return;
    x86_load64(x, RAX, RBP, SPAN(number, host));
    x86_load64(x, RSI, RBP, SPAN(number, ahead));
    x86_gpr_add(x, RAX, RSI);
    for (int32_t line = 0; line < ROW_BYTES; line += LINE)
        x86_prefetch(x, RAX, line, CACHE);
}

static struct place place_of(const struct operand *operand, unsigned dword)
{
    struct place place = operand_place(operand);
    place.index = (uint16_t)(place.index + dword);
    return place;
}

static void load_emit(struct emitter *e, unsigned dwords)
{
    uint8_t hosts[ELEMENT_DWORDS] = {0};
    for (unsigned k = 0; k < (dwords > 2 ? ELEMENT_DWORDS : dwords); k++)
        hosts[k] = (uint8_t)values_temporary(&e->values);
    const unsigned temporary = values_temporary(&e->values);
    elements_load(e->x, dwords, hosts, temporary);
    for (unsigned k = 0; k < dwords; k++)
        values_set_row(&e->values, place_of(data_of(e->inst), k), hosts[k]);
}

static void store_emit(struct emitter *e, unsigned dwords)
{
    uint8_t hosts[ELEMENT_DWORDS] = {0}, temporaries[ELEMENT_DWORDS] = {0};
    for (unsigned k = 0; k < dwords; k++)
        hosts[k] = (uint8_t)values_row(&e->values, place_of(data_of(e->inst), k));
    for (unsigned k = 0; k < ELEMENT_DWORDS && dwords > 1; k++)
        temporaries[k] = (uint8_t)values_temporary(&e->values);
    elements_store(e->x, dwords, hosts, temporaries);
}

void span_emit(struct emitter *e, unsigned number)
{
    const unsigned dwords = data_of(e->inst)->dwords;
    place_take(e, number, dwords);
    if (e->inst->flags & IF_LOAD)
        load_emit(e, dwords);
    else
        store_emit(e, dwords);
}
