/* Run-time choice of the build, and the host's floating-point state. */
#include "valu/valu.h"

#include <pthread.h>
#include <string.h>

#include "valu/dpp.h"
#include "wave/wave.h"

static bool cpu_has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("f16c") && __builtin_cpu_supports("bmi2");
}
static bool cpu_has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("f16c") && __builtin_cpu_supports("bmi2");
}
static bool cpu_has_portable(void)
{
    return true;
}

/* The best build comes first. */
static const struct {
    const struct valu_build *build;
    bool (*supported)(void);
} builds[] = {
    {&valu_build_avx512, cpu_has_avx512},
    {&valu_build_avx2, cpu_has_avx2},
    {&valu_build_portable, cpu_has_portable},
};
enum { BUILD_COUNT = sizeof builds / sizeof builds[0] };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const struct valu_build *chosen;

static void choose_build(void)
{
    dpp_init();
    for (int n = 0; n < BUILD_COUNT; n++) {
        if (!builds[n].supported())
            continue;
        builds[n].build->init();
        if (!chosen)
            chosen = builds[n].build;
    }
}

int valu_build_select(const char *name)
{
    pthread_once(&once, choose_build);
    for (int n = 0; n < BUILD_COUNT; n++) {
        if (strcmp(builds[n].build->name, name) == 0 && builds[n].supported()) {
            chosen = builds[n].build;
            return 0;
        }
    }
    return -1;
}

inst_exec_fn *valu_handler(const struct inst *inst)
{
    pthread_once(&once, choose_build);
    return inst->op < OP_COUNT ? chosen->handler(inst) : NULL;
}

valu_chain_fn *valu_chain(const struct inst *inst)
{
    pthread_once(&once, choose_build);
    return inst->op < OP_COUNT ? chosen->chain(inst) : NULL;
}

const char *valu_isa_name(void)
{
    pthread_once(&once, choose_build);
    return chosen->name;
}

/* MODE counts nearest, +inf, -inf, zero; MXCSR nearest, -inf, +inf, zero. */
static uint32_t mxcsr_of(uint32_t rounding, uint32_t denormals)
{
    static const uint8_t order[4] = {0, 2, 1, 3};
    uint32_t state = MXCSR_MASKED | (uint32_t)order[rounding & 3] << MXCSR_ROUND_SHIFT;
    if (!(denormals & 1))
        state |= MXCSR_DAZ;
    if (!(denormals & 2))
        state |= MXCSR_FTZ;
    return state;
}

/* The wave this thread runs, between valu_enter() and valu_leave(); only its own thread looks. */
static _Thread_local const struct wave *running;
static _Thread_local uint32_t host_state;

void valu_mode_set(struct wave *wave, uint32_t mode)
{
    wave->mode = mode;
    wave->fp_state_32 = mxcsr_of(mode >> MODE_ROUND_32_SHIFT, mode >> MODE_DENORM_32_SHIFT);
    wave->fp_state_64 = mxcsr_of(mode >> MODE_ROUND_64_SHIFT, mode >> MODE_DENORM_64_SHIFT);
    /* s_setreg inside a run: the run goes on under the new state. */
    if (running == wave)
        __builtin_ia32_ldmxcsr(wave->fp_state_32);
}

void valu_enter(const struct wave *wave)
{
    host_state = __builtin_ia32_stmxcsr();
    running = wave;
    __builtin_ia32_ldmxcsr(wave->fp_state_32);
}

void valu_switch(const struct wave *wave)
{
    if (wave->fp_state_32 != running->fp_state_32)
        __builtin_ia32_ldmxcsr(wave->fp_state_32);
    running = wave;
}

void valu_leave(void)
{
    running = NULL;
    __builtin_ia32_ldmxcsr(host_state);
}

static void state_change(uint32_t from, uint32_t to)
{
    __asm__ volatile("" ::: "memory"); /* what is computed between stays there */
    if (from != to)
        __builtin_ia32_ldmxcsr(to);
    __asm__ volatile("" ::: "memory");
}

void valu_nearest_begin(const struct wave *wave, uint32_t denormals)
{
    state_change(wave->fp_state_32, mxcsr_of(0, denormals));
}

void valu_nearest_end(const struct wave *wave, uint32_t denormals)
{
    state_change(mxcsr_of(0, denormals), wave->fp_state_32);
}
