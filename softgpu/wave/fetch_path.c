#include "wave/fetch_path.h"

#include <stdlib.h>

#include "wave/group.h"

enum { LINE_BYTES = 64 };

static bool goes_back(const struct inst *const *insts, unsigned n)
{
    const struct inst *inst = insts[n];
    return inst->klass == CLASS_BRANCH && inst->format == FMT_SOPP &&
           inst + 1 + inst->offset == insts[0];
}

/* Rounds of one length alone: what several have come to says nothing of each. */
static bool round_find(struct fetch_path *path, const struct inst *const *insts, unsigned count)
{
    for (unsigned n = 0; n < count; n++) {
        if (!goes_back(insts, n))
            continue;
        if (path->round)
            return false;
        path->round = (uint8_t)(n + 1);
    }
    return true;
}

static void line_add(struct fetch_path *path, uint64_t line, uint32_t slot)
{
    const uint8_t from_first = (uint8_t)(line - path->va / LINE_BYTES);
    for (uint32_t n = 0; n < path->line_count; n++)
        if (path->lines[n].line == from_first)
            return;
    path->lines[path->line_count++] = (struct fetch_line){(uint16_t)slot, from_first};
}

/* The dwords of an instruction, as fetch_note() has them. */
static void step_add(struct fetch_path *path, const struct inst *inst, uint32_t slot)
{
    const uint64_t va = path->va + 4u * slot, last = va + 4u * inst->dwords - 1;
    const uint64_t first_window = path->va / FETCH_WINDOW_BYTES;
    struct fetch_step step = {0, 0, (uint16_t)slot};
    if (path->count)
        step = path->steps[path->count - 1];
    step.slot = (uint16_t)slot;
    for (uint64_t at = va;; at = last) {
        const uint8_t window = (uint8_t)(at / FETCH_WINDOW_BYTES - first_window);
        step.fetches = (uint8_t)(step.fetches + (window != step.window));
        step.window = window;
        line_add(path, at / LINE_BYTES, slot);
        if (at == last)
            break;
    }
    path->steps[path->count++] = step;
}

struct fetch_path *fetch_path_create(const struct inst *const *insts, unsigned count, uint64_t va)
{
    struct fetch_path *path = calloc(1, sizeof *path);
    if (!path)
        return NULL;
    path->va = va;
    if (!round_find(path, insts, count)) {
        free(path);
        return NULL;
    }
    for (unsigned n = 0; n < count; n++)
        step_add(path, insts[n], (uint32_t)(insts[n] - insts[0]));
    if (path->round) {
        const struct fetch_step *last = &path->steps[path->round - 1];
        path->round_fetches = last->fetches + (uint32_t)(last->window != 0);
        path->round_slots = last->slot + 1u;
    }
    return path;
}

void fetch_path_free(struct fetch_path *path)
{
    if (path)
        free(path->series);
    free(path);
}
