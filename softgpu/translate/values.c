#include "translate/values.h"

#include <stddef.h>
#include <string.h>

#include "translate/linear.h"

enum { SHUFFLE_LOW = 0x88, SHUFFLE_HIGH = 0xdd }; /* dwords 0 2 of each source's quad; 1 3 */

void values_begin(struct values *v, struct x86 *x, bool masked)
{
    memset(v, 0, sizeof *v);
    v->x = x;
    v->masked = masked;
    v->now = 1;
    for (unsigned k = 0; k < MASKS_END; k++)
        v->masks[k].pair = -1;
}

static bool same_place(struct place a, struct place b)
{
    return a.accumulation == b.accumulation && a.index == b.index;
}

static struct place place_behind(struct place place, int by)
{
    place.index = (uint16_t)(place.index + by);
    return place;
}

struct x86_rm values_home(struct place place)
{
    return x86_memory(place.accumulation ? R8 : RDX, place.index * ROW_BYTES, false);
}
static struct x86_rm home(struct values *v, struct place place)
{
    v->accumulation |= place.accumulation;
    return values_home(place);
}

static struct value *find(struct values *v, enum value_kind kind, struct place place, unsigned half)
{
    for (unsigned n = 0; n < HOST_ALLOCATED; n++) {
        struct value *value = &v->hosts[n];
        if (value->kind == kind && same_place(value->place, place) && value->half == half)
            return value;
    }
    return NULL;
}
static unsigned number_of(const struct values *v, const struct value *value)
{
    return (unsigned)(value - v->hosts);
}

static void store(struct values *v, struct place place, unsigned host)
{
    x86_vector(v->x, X86_VMOVDQA32_STORE, host, 0, home(v, place),
               x86_masked(v->masked ? MASK_EXEC : 0));
}

/* The low or the high dwords of a pair. */
static void pair_dwords(struct values *v, unsigned dst, const struct value *first,
                        const struct value *second, bool high)
{
    x86_vector(v->x, X86_VSHUFPS, dst, number_of(v, first), x86_reg(number_of(v, second)),
               x86_imm(high ? SHUFFLE_HIGH : SHUFFLE_LOW));
}

/* A dirty pair goes home. Both halves are always there as long as one is dirty. */
static void pair_store(struct values *v, struct place place)
{
    struct value *first = find(v, VALUE_PAIR, place, 0), *second = find(v, VALUE_PAIR, place, 1);
    const unsigned scratch = v->x->level->scratch;
    for (int high = 0; high < 2; high++) {
        pair_dwords(v, scratch, first, second, high);
        store(v, place_behind(place, high), scratch);
    }
    first->dirty = second->dirty = false;
}

/* Masks that are vectors are values like others. */
static struct x86_rm mask_home(struct values *v, unsigned pair)
{
    v->masks_used = true;
    return x86_memory(R9, (int32_t)(4 * pair), false);
}

static void clean(struct values *v, struct value *value)
{
    if (!value->dirty)
        return;
    if (value->kind == VALUE_PAIR) {
        pair_store(v, value->place);
        return;
    }
    value->dirty = false;
    if (value->kind == VALUE_MASK) {
        x86_mask_store(v->x, X86_MASK_HOST + number_of(v, value), R9,
                       mask_home(v, value->place.index).offset);
        return;
    }
    store(v, value->place, number_of(v, value));
}

static void mask_clean(struct values *v, unsigned k)
{
    if (v->masks[k].dirty)
        x86_mask_store(v->x, k, R9, mask_home(v, (unsigned)v->masks[k].pair).offset);
    v->masks[k].dirty = false;
}

void values_flush(struct values *v)
{
    for (unsigned n = 0; n < HOST_ALLOCATED; n++)
        if (v->hosts[n].kind != VALUE_NONE)
            clean(v, &v->hosts[n]);
    for (unsigned k = MASKS_FIRST; k < MASKS_END; k++)
        mask_clean(v, k);
}

void values_next(struct values *v)
{
    v->now++;
    for (unsigned n = 0; n < HOST_ALLOCATED; n++) {
        v->hosts[n].held = 0;
        if (v->hosts[n].kind == VALUE_TEMPORARY)
            v->hosts[n].kind = VALUE_NONE;
    }
}

static unsigned hold(struct values *v, struct value *value)
{
    value->used = v->now;
    value->held++;
    return number_of(v, value);
}

void values_release(struct values *v, unsigned host)
{
    struct value *value = &v->hosts[host];
    value->held--;
    if (!value->held && value->kind == VALUE_TEMPORARY)
        value->kind = VALUE_NONE;
}

/* The register to give away: a free one, else what was used longest ago, rather what need not be
 * stored. */
static struct value *victim(struct values *v)
{
    struct value *best = NULL;
    for (unsigned n = 0; n < v->x->level->values[v->masked]; n++) {
        struct value *value = &v->hosts[n];
        if (value->kind == VALUE_NONE)
            return value;
        if (value->held)
            continue;
        bool older = best && value->used < best->used;
        if (!best || (best->dirty && !value->dirty) || (best->dirty == value->dirty && older))
            best = value;
    }
    return best;
}

static struct value *take(struct values *v, enum value_kind kind, struct place place, unsigned half)
{
    struct value *value = victim(v);
    if (!value) { /* never: an instruction would have to hold all of them */
        v->x->failed = true;
        value = &v->hosts[0];
    }
    v->x->failed |= v->aside && value->kind != VALUE_NONE;
    if (value->kind != VALUE_NONE)
        clean(v, value);
    *value = (struct value){
        .kind = kind, .place = place, .half = (uint8_t)half, .used = v->now, .held = 1};
    return value;
}

unsigned values_temporary(struct values *v)
{
    return number_of(v, take(v, VALUE_TEMPORARY, (struct place){0}, 0));
}

void values_aside(struct values *v, unsigned count)
{
    unsigned hosts[HOST_ALLOCATED];
    for (unsigned n = 0; n < count; n++)
        hosts[n] = values_temporary(v);
    for (unsigned n = 0; n < count; n++)
        values_release(v, hosts[n]);
    v->aside = true;
}
void values_aside_over(struct values *v)
{
    v->aside = false;
}

/* The dirty pair that has the register as one of its two. */
static struct value *dirty_pair_of(struct values *v, struct place place, bool *high)
{
    for (int by = 0; by < 2; by++) {
        if (by > place.index)
            break;
        struct value *pair = find(v, VALUE_PAIR, place_behind(place, -by), 0);
        *high = by;
        if (pair && pair->dirty)
            return pair;
    }
    return NULL;
}

bool values_home_is_good(struct values *v, struct place place)
{
    bool high;
    const struct value *row = find(v, VALUE_ROW, place, 0);
    return !(row && row->dirty) && !dirty_pair_of(v, place, &high) &&
           !(v->linear && !place.accumulation && linear_of(v->linear, place.index));
}

bool values_is_home(struct values *v, struct place place)
{
    return !find(v, VALUE_ROW, place, 0) && values_home_is_good(v, place);
}

/* From its home, or where a linear register's base is. */
static void row_load(struct values *v, struct place place, unsigned host)
{
    const struct linear *linear =
        v->linear && !place.accumulation ? linear_of(v->linear, place.index) : NULL;
    if (linear) {
        linear_load_emit(v->x, host, linear);
        v->linear_lanes |= linear->step != 0;
    } else {
        x86_vector(v->x, X86_VMOVDQA32_LOAD, host, 0, home(v, place), (struct x86_option){0});
    }
}

unsigned values_row(struct values *v, struct place place)
{
    struct value *row = find(v, VALUE_ROW, place, 0);
    if (row)
        return hold(v, row);
    bool high;
    struct value *pair = dirty_pair_of(v, place, &high);
    if (pair) { /* its home is made at the same time */
        struct place first = pair->place;
        pair_store(v, first);
    }
    row = take(v, VALUE_ROW, place, 0);
    row_load(v, place, number_of(v, row));
    return number_of(v, row);
}

unsigned values_pair(struct values *v, struct place place, unsigned half)
{
    struct value *pair = find(v, VALUE_PAIR, place, half);
    if (pair)
        return hold(v, pair);
    unsigned low = values_row(v, place), high = values_row(v, place_behind(place, 1));
    pair = take(v, VALUE_PAIR, place, half);
    x86_vector(v->x, half ? X86_VPUNPCKHDQ : X86_VPUNPCKLDQ, number_of(v, pair), low, x86_reg(high),
               (struct x86_option){0});
    values_release(v, low);
    values_release(v, high);
    return number_of(v, pair);
}

static void drop(struct value *value)
{
    if (value)
        value->kind = VALUE_NONE;
}

/* Pairs that have the register as one of their two: the other one goes home before they go. */
static void pairs_drop(struct values *v, struct place place, int by)
{
    if (by > place.index)
        return;
    struct place first = place_behind(place, -by);
    struct value *pair = find(v, VALUE_PAIR, first, 0), *second = find(v, VALUE_PAIR, first, 1);
    if (pair && pair->dirty)
        pair_store(v, first);
    drop(pair);
    drop(second);
}

bool values_widened(struct values *v, struct place place, enum widened_part part, unsigned *host)
{
    struct value *value = find(v, VALUE_WIDENED, place, part);
    if (value)
        *host = hold(v, value);
    return value != NULL;
}
void values_keep_widened(struct values *v, struct place place, enum widened_part part,
                         unsigned host)
{
    v->hosts[host] = (struct value){
        .kind = VALUE_WIDENED, .place = place, .half = (uint8_t)part, .used = v->now, .held = 1};
}

/* Nobody holds the register any longer. */
static void place_forget(struct values *v, struct place place)
{
    drop(find(v, VALUE_ROW, place, 0));
    drop(find(v, VALUE_INDEX, place, 0));
    drop(find(v, VALUE_INDEX, place, 1));
    for (unsigned part = 0; part < WIDENED_PARTS; part++)
        drop(find(v, VALUE_WIDENED, place, part));
    pairs_drop(v, place, 0);
    pairs_drop(v, place, 1);
}

void values_drop(struct values *v, struct place place)
{
    place_forget(v, place);
}

bool values_index(struct values *v, struct place place, unsigned kind, unsigned *host)
{
    struct value *index = find(v, VALUE_INDEX, place, kind);
    *host = index ? hold(v, index) : number_of(v, take(v, VALUE_INDEX, place, kind));
    return index;
}

unsigned values_take_row(struct values *v, struct place place)
{
    unsigned host = values_row(v, place);
    v->hosts[host].kind = VALUE_TEMPORARY;
    return host;
}

void values_take_pair(struct values *v, struct place place, unsigned hosts[2])
{
    for (unsigned half = 0; half < 2; half++)
        hosts[half] = values_pair(v, place, half);
    for (unsigned half = 0; half < 2; half++)
        v->hosts[hosts[half]].kind = VALUE_TEMPORARY;
}

void values_set_row(struct values *v, struct place place, unsigned host)
{
    place_forget(v, place);
    v->hosts[host] =
        (struct value){.kind = VALUE_ROW, .place = place, .dirty = true, .used = v->now, .held = 1};
}

void values_set_pair(struct values *v, struct place place, unsigned first, unsigned second)
{
    /* What is about to be overwritten whole need not go home. */
    drop(find(v, VALUE_PAIR, place, 0));
    drop(find(v, VALUE_PAIR, place, 1));
    place_forget(v, place);
    place_forget(v, place_behind(place, 1));
    unsigned hosts[2] = {first, second};
    for (unsigned half = 0; half < 2; half++)
        v->hosts[hosts[half]] = (struct value){.kind = VALUE_PAIR,
                                               .place = place,
                                               .half = (uint8_t)half,
                                               .dirty = true,
                                               .used = v->now,
                                               .held = 1};
}

static struct place mask_place(unsigned pair)
{
    return (struct place){.index = (uint16_t)pair};
}

unsigned values_mask_temporary(struct values *v)
{
    if (v->x->level->vector_masks)
        return X86_MASK_HOST + values_temporary(v);
    unsigned best = MASKS_FIRST;
    for (unsigned k = MASKS_FIRST; k < MASKS_END; k++)
        if (v->masks[k].used < v->masks[best].used)
            best = k;
    mask_clean(v, best);
    v->masks[best] = (struct mask_value){.pair = -1, .used = v->now};
    return best;
}

void values_mask_release(struct values *v, unsigned mask)
{
    if (mask >= X86_MASK_HOST)
        values_release(v, mask - X86_MASK_HOST);
    else if (mask >= MASKS_FIRST && v->masks[mask].pair < 0)
        v->masks[mask].used = 0;
}

static unsigned vector_mask(struct values *v, unsigned pair)
{
    struct value *mask = find(v, VALUE_MASK, mask_place(pair), 0);
    if (mask)
        return X86_MASK_HOST + hold(v, mask);
    unsigned k = X86_MASK_HOST + number_of(v, take(v, VALUE_MASK, mask_place(pair), 0));
    x86_mask_load(v->x, k, R9, mask_home(v, pair).offset);
    return k;
}

unsigned values_mask(struct values *v, unsigned pair)
{
    if (v->x->level->vector_masks)
        return vector_mask(v, pair);
    for (unsigned k = MASKS_FIRST; k < MASKS_END; k++) {
        if (v->masks[k].pair == (int16_t)pair) {
            v->masks[k].used = v->now;
            return k;
        }
    }
    unsigned k = values_mask_temporary(v);
    x86_mask_load(v->x, k, R9, mask_home(v, pair).offset);
    v->masks[k].pair = (int16_t)pair;
    return k;
}

static void set_vector_mask(struct values *v, unsigned pair, unsigned host)
{
    drop(find(v, VALUE_MASK, mask_place(pair), 0));
    v->hosts[host] = (struct value){
        .kind = VALUE_MASK, .place = mask_place(pair), .dirty = true, .used = v->now, .held = 1};
}

void values_set_mask(struct values *v, unsigned pair, unsigned mask)
{
    if (v->x->level->vector_masks) {
        set_vector_mask(v, pair, mask - X86_MASK_HOST);
        return;
    }
    for (unsigned k = MASKS_FIRST; k < MASKS_END; k++)
        if (v->masks[k].pair == (int16_t)pair)
            v->masks[k] = (struct mask_value){.pair = -1};
    v->masks[mask] = (struct mask_value){.pair = (int16_t)pair, .dirty = true, .used = v->now};
}
