/* GWS instructions. A wave that has to wait stops behind its instruction and is asked again in
 * each turn of its group. */
#include "wave/gws.h"

#include "isa_ops.h"
#include "wave/group.h"
#include "wave/lanes.h"

#define EXEC_FN(name) static const struct inst *exec_##name(struct wave *w, const struct inst *i)

void gws_init(struct gws *gws)
{
    pthread_mutex_init(&gws->lock, NULL);
}

void gws_destroy(struct gws *gws)
{
    pthread_mutex_destroy(&gws->lock);
}

bool gws_may_pass(struct gws *gws, const struct gws_wait *wait)
{
    struct gws_resource *resource = &gws->resource[wait->resource];
    pthread_mutex_lock(&gws->lock);
    bool pass = resource->releases != wait->releases;
    if (!pass && wait->semaphore && resource->counter > 0) {
        resource->counter--;
        pass = true;
    }
    pthread_mutex_unlock(&gws->lock);
    return pass;
}

static uint8_t resource_number(const struct wave *w, const struct inst *i)
{
    return (uint8_t)(((w->s[SREG_M0] >> 16 & 63) + (uint32_t)i->offset) % GPU_GWS_COUNT);
}

/* The first active lane's; lane 0's when none is active. */
static uint32_t first_lane_value(struct wave *w, const struct inst *i)
{
    uint64_t exec = wave_exec(w);
    return data_rows(w, &i->src[1])[0][exec ? __builtin_ctzll(exec) : 0];
}

static const struct inst *wait_here(struct wave *w, const struct inst *i, struct gws_wait wait)
{
    w->gws = wait;
    w->stop = WAVE_GWS;
    w->pc = inst_next(i);
    return NULL;
}

/* The last to come opens the barrier, and its value is the count for the next round. */
EXEC_FN(BARRIER)
{
    struct gws *gws = engine_gws(w->group->engine);
    struct gws_wait wait = {.resource = resource_number(w, i)};
    struct gws_resource *resource = &gws->resource[wait.resource];
    uint32_t value = first_lane_value(w, i);
    pthread_mutex_lock(&gws->lock);
    wait.releases = resource->releases;
    bool last = resource->counter == 0;
    resource->counter = last ? value : resource->counter - 1;
    resource->releases += last;
    pthread_mutex_unlock(&gws->lock);
    return last ? inst_next(i) : wait_here(w, i, wait);
}

EXEC_FN(SEMA_P)
{
    struct gws *gws = engine_gws(w->group->engine);
    struct gws_wait wait = {.resource = resource_number(w, i), .semaphore = true};
    struct gws_resource *resource = &gws->resource[wait.resource];
    pthread_mutex_lock(&gws->lock);
    wait.releases = resource->releases;
    bool free_place = resource->counter > 0;
    resource->counter -= free_place;
    pthread_mutex_unlock(&gws->lock);
    return free_place ? inst_next(i) : wait_here(w, i, wait);
}

/* ds_gws_init sets the counter; sema_v adds one to it, sema_br a register; release_all lets all go
 * that wait. */
EXEC_FN(UPDATE)
{
    struct gws *gws = engine_gws(w->group->engine);
    struct gws_resource *resource = &gws->resource[resource_number(w, i)];
    uint32_t value = i->src[1].kind == OPND_NONE ? 1 : first_lane_value(w, i);
    pthread_mutex_lock(&gws->lock);
    if (i->op == OP_DS_GWS_INIT)
        resource->counter = value;
    else if (i->op == OP_DS_GWS_SEMA_RELEASE_ALL)
        resource->releases++;
    else
        resource->counter += value;
    pthread_mutex_unlock(&gws->lock);
    return inst_next(i);
}

/* A queue reaches the resources only when the driver gave them to it. */
#define DEFINE_CHECKED(name)                                                                       \
    EXEC_FN(CHECKED_##name)                                                                        \
    {                                                                                              \
        if (!w->group->launch->gws)                                                                \
            return wave_fault(w, i, FAULT_ILLEGAL_INSTRUCTION, 0);                                 \
        return exec_##name(w, i);                                                                  \
    }
DEFINE_CHECKED(BARRIER)
DEFINE_CHECKED(SEMA_P)
DEFINE_CHECKED(UPDATE)

inst_exec_fn *gws_handler(const struct inst *inst)
{
    switch (inst->op) {
    case OP_DS_GWS_BARRIER:
        return exec_CHECKED_BARRIER;
    case OP_DS_GWS_SEMA_P:
        return exec_CHECKED_SEMA_P;
    case OP_DS_GWS_INIT:
    case OP_DS_GWS_SEMA_V:
    case OP_DS_GWS_SEMA_BR:
    case OP_DS_GWS_SEMA_RELEASE_ALL:
        return exec_CHECKED_UPDATE;
    default:
        return NULL;
    }
}
