/*
 * Loops over lanes, built for what the host can do. Code of one level is entered only after asking
 * the CPU; what is not x86 has the portable level alone.
 */
#ifndef WAVE_HOST_LEVELS_H
#define WAVE_HOST_LEVELS_H

#define ALWAYS_INLINE __attribute__((always_inline)) static inline

enum host_level { LEVEL_PORTABLE, LEVEL_AVX2, LEVEL_AVX512 };

/* Written once, before the first engine's threads start, by host_level_choose(); read by them. */
extern enum host_level host_level;

/*
 * The level of the vector ALU's build (valu_isa_name()), which is the best that the CPU has, or the
 * one that CROCGPU_HOST_ISA names: "avx512", "avx2" or "portable".
 */
void host_level_choose(void);

/* DEFINE(level, options) defines name_level functions with these options. */
#ifdef __x86_64__
#define DEFINE_LEVELS(DEFINE)                                                                      \
    DEFINE(avx512, __attribute__((target("avx512f,avx512vl,prefer-vector-width=512"))))            \
    DEFINE(avx2, __attribute__((target("avx2"))))                                                  \
    DEFINE(portable, )
#define CALL_LEVEL(name, ...)                                                                      \
    (host_level == LEVEL_AVX512 ? name##_avx512(__VA_ARGS__)                                       \
     : host_level == LEVEL_AVX2 ? name##_avx2(__VA_ARGS__)                                         \
                                : name##_portable(__VA_ARGS__))
#else
#define DEFINE_LEVELS(DEFINE) DEFINE(portable, )
#define CALL_LEVEL(name, ...) name##_portable(__VA_ARGS__)
#endif

#endif
