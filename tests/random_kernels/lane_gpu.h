// The GPU's side: types and builtins of clang for AMD GPUs.
#pragma once

typedef _Float16 half;
typedef i16 short2_t __attribute__((ext_vector_type(2)));
typedef u16 ushort2_t __attribute__((ext_vector_type(2)));
typedef half half2 __attribute__((ext_vector_type(2)));

#define KERNEL(threads)                                                                            \
    extern "C" __attribute__((global, amdgpu_flat_work_group_size(1, threads))) void
#define SHARED __attribute__((shared)) static

FN half2 make_half2(half x, half y)
{
    half2 r = {x, y};
    return r;
}
FN short2_t make_short2(i16 x, i16 y)
{
    short2_t r = {x, y};
    return r;
}
FN ushort2_t make_ushort2(u16 x, u16 y)
{
    ushort2_t r = {x, y};
    return r;
}
FN u32 thread_index()
{
    return __builtin_amdgcn_workitem_id_x();
}
FN u32 group_index()
{
    return __builtin_amdgcn_workgroup_id_x();
}
FN void barrier()
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

FN half half_from(f32 x)
{
    return (half)x;
}
FN half half_from(i16 x)
{
    return (half)x;
}
FN f32 f32_from(half x)
{
    return (f32)x;
}
FN half fused(half a, half b, half c)
{
    return __builtin_fmaf16(a, b, c);
}
FN f32 fused(f32 a, f32 b, f32 c)
{
    return __builtin_fmaf(a, b, c);
}
FN f64 fused(f64 a, f64 b, f64 c)
{
    return __builtin_fma(a, b, c);
}
FN half2 fused(half2 a, half2 b, half2 c)
{
    return make_half2(fused(a.x, b.x, c.x), fused(a.y, b.y, c.y));
}
FN half least(half a, half b)
{
    return __builtin_fminf16(a, b) + (half)0;
}
FN half most(half a, half b)
{
    return __builtin_fmaxf16(a, b) + (half)0;
}
FN half2 least(half2 a, half2 b)
{
    return __builtin_elementwise_min(a, b) + (half)0;
}
FN half2 most(half2 a, half2 b)
{
    return __builtin_elementwise_max(a, b) + (half)0;
}
template <class V> FN V least2(V a, V b)
{
    return __builtin_elementwise_min(a, b);
}
template <class V> FN V most2(V a, V b)
{
    return __builtin_elementwise_max(a, b);
}
template <class V> FN V add_saturated(V a, V b)
{
    return __builtin_elementwise_add_sat(a, b);
}
template <class V> FN V sub_saturated(V a, V b)
{
    return __builtin_elementwise_sub_sat(a, b);
}

FN i32 dot2(short2_t a, short2_t b, i32 c)
{
    return __builtin_amdgcn_sdot2(a, b, c, false);
}
FN i32 dot2_clamped(short2_t a, short2_t b, i32 c)
{
    return __builtin_amdgcn_sdot2(a, b, c, true);
}
FN u32 dot2(ushort2_t a, ushort2_t b, u32 c)
{
    return __builtin_amdgcn_udot2(a, b, c, false);
}
FN u32 dot2_clamped(ushort2_t a, ushort2_t b, u32 c)
{
    return __builtin_amdgcn_udot2(a, b, c, true);
}
FN f32 dot2(half2 a, half2 b, f32 c)
{
    return __builtin_amdgcn_fdot2(a, b, c, false);
}
FN f32 dot2_clamped(half2 a, half2 b, f32 c)
{
    return __builtin_amdgcn_fdot2(a, b, c, true);
}
#define DOT(NAME, T, BUILTIN)                                                                      \
    FN T NAME(u32 a, u32 b, T c)                                                                   \
    {                                                                                              \
        return (T)BUILTIN(a, b, c, false);                                                         \
    }                                                                                              \
    FN T NAME##_clamped(u32 a, u32 b, T c)                                                         \
    {                                                                                              \
        return (T)BUILTIN(a, b, c, true);                                                          \
    }
DOT(dot4_signed, i32, __builtin_amdgcn_sdot4)
DOT(dot8_signed, i32, __builtin_amdgcn_sdot8)
DOT(dot4_unsigned, u32, __builtin_amdgcn_udot4)
DOT(dot8_unsigned, u32, __builtin_amdgcn_udot8)

#define permuted_bytes(a, b, s) __builtin_amdgcn_perm(a, b, s)
#define field_u32(x, at, width) __builtin_amdgcn_ubfe(x, at, width)
#define field_i32(x, at, width) ((i32)__builtin_amdgcn_sbfe((i32)(x), at, width))
#define shifted_pair(a, b, n)   __builtin_amdgcn_alignbit(a, b, n)
#define shifted_bytes(a, b, n)  __builtin_amdgcn_alignbyte(a, b, n)
#define averaged(a, b, c)       __builtin_amdgcn_lerp(a, b, c)
#define differences8(a, b, c)   __builtin_amdgcn_sad_u8(a, b, c)
#define differences8h(a, b, c)  __builtin_amdgcn_sad_hi_u8(a, b, c)
#define differences16(a, b, c)  __builtin_amdgcn_sad_u16(a, b, c)
#define differences8m(a, b, c)  __builtin_amdgcn_msad_u8(a, b, c)
#define window(a, b, c)         __builtin_amdgcn_qsad_pk_u16_u8(a, b, c)
#define window_masked(a, b, c)  __builtin_amdgcn_mqsad_pk_u16_u8(a, b, c)
FN u32 halves_rtz(f32 a, f32 b)
{
    return bits_as<u32>(__builtin_amdgcn_cvt_pkrtz(a, b));
}
FN u32 packed_i16(i32 a, i32 b)
{
    return bits_as<u32>(__builtin_amdgcn_cvt_pk_i16(a, b));
}
FN u32 packed_u16(u32 a, u32 b)
{
    return bits_as<u32>(__builtin_amdgcn_cvt_pk_u16(a, b));
}

// Across the lanes of a wave.
FN u32 lane_index()
{
    return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
}
#define lanes_gather(x, from)  ((u32)__builtin_amdgcn_ds_bpermute((i32)(from)*4, (i32)(x)))
#define lanes_scatter(x, to)   ((u32)__builtin_amdgcn_ds_permute((i32)(to)*4, (i32)(x)))
#define lanes_swizzle(x, how)  ((u32)__builtin_amdgcn_ds_swizzle((i32)(x), how))
#define lanes_first(x)         ((u32)__builtin_amdgcn_readfirstlane((i32)(x)))
#define lanes_read(x, from)    ((u32)__builtin_amdgcn_readlane((i32)(x), from))
#define lanes_where(condition) __builtin_amdgcn_uicmpl(condition, 0, 33)
#define lanes_below(mask, x)                                                                       \
    __builtin_amdgcn_mbcnt_hi((u32)((mask) >> 32), __builtin_amdgcn_mbcnt_lo((u32)(mask), x))
#define lanes_dpp(old, x, control, rows, banks, bound)                                             \
    ((u32)__builtin_amdgcn_update_dpp((i32)(old), (i32)(x), control, rows, banks, bound))

#define atomic_add(p, x)  __hip_atomic_fetch_add(p, x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
#define atomic_and(p, x)  __hip_atomic_fetch_and(p, x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
#define atomic_or(p, x)   __hip_atomic_fetch_or(p, x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
#define atomic_xor(p, x)  __hip_atomic_fetch_xor(p, x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
#define atomic_min(p, x)  __hip_atomic_fetch_min(p, x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
#define atomic_max(p, x)  __hip_atomic_fetch_max(p, x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
#define atomic_swap(p, x) __hip_atomic_exchange(p, x, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT)
template <class T> FN T atomic_replace(T *p, T expected, T x)
{
    __hip_atomic_compare_exchange_strong(p, &expected, x, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED,
                                         __HIP_MEMORY_SCOPE_AGENT);
    return expected;
}
