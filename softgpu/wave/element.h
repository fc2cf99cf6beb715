/*
 * Loads, stores and atomics of elements as FLAT and MUBUF have them alike: they differ in where the
 * elements lie. Always inlined, so that each handler calls its own addressing directly.
 */
#ifndef WAVE_ELEMENT_H
#define WAVE_ELEMENT_H

#include "wave/address.h"
#include "wave/contiguous.h"
#include "wave/group.h"
#include "wave/lds_direct.h"
#include "wave/pieces.h"
#include "wave/scattered.h"

#define ELEMENT_FN static inline __attribute__((always_inline)) const struct inst *

/* Where each active lane's element lies; false after wave_fault(). */
typedef bool element_pointers_fn(struct wave *wave, const struct inst *inst, uint32_t size_bytes,
                                 struct lane_pointers *out);
/* Where a full wave's elements lie when they follow each other; NULL: elsewhere. */
typedef uint8_t *element_contiguous_fn(struct wave *wave, const struct inst *inst, uint32_t bytes,
                                       uint32_t access);

/* The same where they follow each other by fours (pieces.h); false: elsewhere. */
typedef bool element_pieces_fn(struct wave *wave, const struct inst *inst, uint32_t bytes,
                               struct piece_place *out);

/* The same wherever they lie in one mapping (scattered.h); false: elsewhere. */
typedef bool element_scattered_fn(struct wave *wave, const struct inst *inst, uint32_t bytes,
                                  struct scattered_place *out);

ELEMENT_FN element_load(struct wave *w, const struct inst *i, element_scattered_fn *scattered,
                        element_pointers_fn *find)
{
    struct element element = inst_element(i);
    struct scattered_place place;
    struct lane_pointers pointers;
    if (scattered(w, i, element.bytes, &place)) {
        scattered_load(w, i, &place, &element);
        return inst_next(i);
    }
    if (!find(w, i, element.bytes, &pointers))
        return NULL;
    lanes_load(&pointers, data_rows(w, &i->dst), &element);
    return inst_next(i);
}

/* `elsewhere` is the handler for elements that do not follow each other. */
ELEMENT_FN element_load_dwords(struct wave *w, const struct inst *i,
                               element_contiguous_fn *contiguous, element_pieces_fn *pieces,
                               inst_exec_fn *elsewhere)
{
    struct element element = inst_element(i);
    struct piece_place place;
    const uint8_t *host = contiguous(w, i, element.bytes, VM_READ);
    if (host)
        rows_load(data_rows(w, &i->dst), host, element.dwords);
    else if (pieces(w, i, element.bytes, &place))
        pieces_load(w, i, &place, element.dwords);
    else
        return elsewhere(w, i);
    return inst_next(i);
}

ELEMENT_FN element_load_lds(struct wave *w, const struct inst *i, element_pointers_fn *find)
{
    struct lane_pointers pointers;
    if (!find(w, i, inst_element(i).bytes, &pointers))
        return NULL;
    lds_direct_load(w, i, &pointers);
    return inst_next(i);
}

ELEMENT_FN element_store(struct wave *w, const struct inst *i, element_scattered_fn *scattered,
                         element_pointers_fn *find)
{
    struct element element = inst_element(i);
    struct scattered_place place;
    struct lane_pointers pointers;
    if (scattered(w, i, element.bytes, &place)) {
        scattered_store(w, i, &place, &element);
        return inst_next(i);
    }
    if (!find(w, i, element.bytes, &pointers))
        return NULL;
    lanes_store(&pointers, data_rows(w, &i->src[1]), &element);
    w->stores_pending = true;
    return inst_next(i);
}

ELEMENT_FN element_store_dwords(struct wave *w, const struct inst *i,
                                element_contiguous_fn *contiguous, element_pieces_fn *pieces,
                                inst_exec_fn *elsewhere)
{
    struct element element = inst_element(i);
    struct piece_place place;
    uint8_t *host = contiguous(w, i, element.bytes, VM_WRITE);
    if (host) {
        rows_store(data_rows(w, &i->src[1]), host, element.dwords);
        w->stores_pending = true;
    } else if (pieces(w, i, element.bytes, &place)) {
        pieces_store(w, i, &place, element.dwords);
    } else {
        return elsewhere(w, i);
    }
    return inst_next(i);
}

ELEMENT_FN element_atomic(struct wave *w, const struct inst *i, element_pointers_fn *find)
{
    struct atomic_op op = inst_atomic(i);
    struct lane_pointers pointers;
    if (!find(w, i, op.bytes, &pointers))
        return NULL;
    lane_row *old = i->dst.kind == OPND_NONE ? NULL : data_rows(w, &i->dst);
    atomic_float_begin(w, &op, false);
    lanes_atomic(&pointers, data_rows(w, &i->src[1]), old, &op);
    atomic_float_end(w, &op, false);
    return inst_next(i);
}

/* The handlers that an encoding makes of them. */
struct element_execs {
    inst_exec_fn *load, *load_dwords, *load_lds, *store, *store_dwords, *atomic;
};

/* Those of a file, with its ways of finding memory: for lanes, for full waves in one
 * piece and in several, and anywhere in a mapping. */
#define ELEMENT_EXECS(find, contiguous, pieces, scattered)                                         \
    static const struct inst *exec_LOAD(struct wave *w, const struct inst *i)                      \
    {                                                                                              \
        return element_load(w, i, scattered, find);                                                \
    }                                                                                              \
    static const struct inst *exec_LOAD_DWORDS(struct wave *w, const struct inst *i)               \
    {                                                                                              \
        return element_load_dwords(w, i, contiguous, pieces, exec_LOAD);                           \
    }                                                                                              \
    static const struct inst *exec_LOAD_LDS(struct wave *w, const struct inst *i)                  \
    {                                                                                              \
        return element_load_lds(w, i, find);                                                       \
    }                                                                                              \
    static const struct inst *exec_STORE(struct wave *w, const struct inst *i)                     \
    {                                                                                              \
        return element_store(w, i, scattered, find);                                               \
    }                                                                                              \
    static const struct inst *exec_STORE_DWORDS(struct wave *w, const struct inst *i)              \
    {                                                                                              \
        return element_store_dwords(w, i, contiguous, pieces, exec_STORE);                         \
    }                                                                                              \
    static const struct inst *exec_ATOMIC(struct wave *w, const struct inst *i)                    \
    {                                                                                              \
        return element_atomic(w, i, find);                                                         \
    }                                                                                              \
    static const struct element_execs execs = {exec_LOAD,  exec_LOAD_DWORDS,  exec_LOAD_LDS,       \
                                               exec_STORE, exec_STORE_DWORDS, exec_ATOMIC}

/* NULL: no such element. `contiguous`: full dwords may lie one behind the other. */
static inline inst_exec_fn *element_handler(struct inst *inst, bool contiguous,
                                            const struct element_execs *execs)
{
    if (inst->flags & IF_ATOMIC)
        return inst_keep_atomic(inst) ? execs->atomic : NULL;
    if (!inst_keep_element(inst))
        return NULL;
    bool dwords = contiguous && inst_element(inst).bytes >= 4;
    if (inst->flags & IF_LOAD)
        return dwords ? execs->load_dwords : execs->load;
    return dwords ? execs->store_dwords : execs->store;
}

#endif
