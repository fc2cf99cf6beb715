/* Meaning of the list macros while the table is being filled. */
#undef F1
#undef F2
#undef F3
#undef N2
#undef N3
#undef G1
#undef G2
#undef G3
#undef S2
#undef S3
#undef B2
#undef B3
#undef P2
#undef P3
#undef ALIAS2
#undef ALIAS3
#undef HAND
#undef HANDS
#undef HANDF

#define OUT_u32 0
#define OUT_i32 0
#define OUT_u16 0
#define OUT_i16 0
#define OUT_u64 0
#define OUT_i64 0
#define OUT_f32 OPF_F32_OUT
#define OUT_f64 OPF_F64_OUT

#define ENTRY(NAME, KERNEL, CLAMPED, VV, SV, FLAGS, ...)                                           \
    {.op = OP_##NAME,                                                                              \
     .dwords = {__VA_ARGS__},                                                                      \
     .flags = (FLAGS),                                                                             \
     .kernel = KERNEL##_rows,                                                                      \
     .clamped = CLAMPED,                                                                           \
     .vv = VV,                                                                                     \
     .sv = SV},

#define F1(NAME, FLAGS, D, A, EXPR)                                                                \
    ENTRY(NAME, NAME, NULL, NAME##_vv, NAME##_sv, (FLAGS) | OUT_##D, DWORDS_##D, DWORDS_##A)
#define F2(NAME, FLAGS, D, A, B, EXPR)                                                             \
    ENTRY(NAME, NAME, NULL, NAME##_vv, NAME##_sv, (FLAGS) | OUT_##D, DWORDS_##D, DWORDS_##A,       \
          DWORDS_##B)
#define F3(NAME, FLAGS, D, A, B, C, EXPR)                                                          \
    ENTRY(NAME, NAME, NULL, NAME##_vv, NAME##_sv, (FLAGS) | OUT_##D, DWORDS_##D, DWORDS_##A,       \
          DWORDS_##B, DWORDS_##C)
#define SIGNED_ENTRY(NAME, FLAGS, ...)                                                             \
    {.op = OP_##NAME,                                                                              \
     .dwords = {__VA_ARGS__},                                                                      \
     .flags = (FLAGS),                                                                             \
     .kernel = NAME##_rows,                                                                        \
     .with_signs = NAME##_with_signs,                                                              \
     .vv = NAME##_vv,                                                                              \
     .sv = NAME##_sv},
#define N2(NAME, FLAGS, D, A, B, EXPR)    SIGNED_ENTRY(NAME, (FLAGS) | OPF_F32_OUT, 1, 1, 1)
#define N3(NAME, FLAGS, D, A, B, C, EXPR) SIGNED_ENTRY(NAME, (FLAGS) | OPF_F32_OUT, 1, 1, 1, 1)
#define P2(NAME, FLAGS, D, A, B)          SIGNED_ENTRY(NAME, (FLAGS) | OPF_F64_OUT, 2, 2, 2)
#define P3(NAME, FLAGS, D, A, B, C)       SIGNED_ENTRY(NAME, (FLAGS) | OPF_F64_OUT, 2, 2, 2, 2)
#define G1(NAME, FLAGS, D, A, EXPR)                                                                \
    ENTRY(NAME, NAME, NULL, NULL, NULL, (FLAGS) | OUT_##D, DWORDS_##D, DWORDS_##A)
#define G2(NAME, FLAGS, D, A, B, EXPR)                                                             \
    ENTRY(NAME, NAME, NULL, NULL, NULL, (FLAGS) | OUT_##D, DWORDS_##D, DWORDS_##A, DWORDS_##B)
#define G3(NAME, FLAGS, D, A, B, C, EXPR)                                                          \
    ENTRY(NAME, NAME, NULL, NULL, NULL, (FLAGS) | OUT_##D, DWORDS_##D, DWORDS_##A, DWORDS_##B,     \
          DWORDS_##C)
#define S2(NAME, FLAGS, D, A, B, EXPR, SATURATED)                                                  \
    ENTRY(NAME, NAME, NAME##_clamped_rows, NAME##_vv, NAME##_sv, (FLAGS) | OPF_CLAMP_SELF,         \
          DWORDS_##D, DWORDS_##A, DWORDS_##B)
#define S3(NAME, FLAGS, D, A, B, C, EXPR, SATURATED)                                               \
    ENTRY(NAME, NAME, NAME##_clamped_rows, NAME##_vv, NAME##_sv, (FLAGS) | OPF_CLAMP_SELF,         \
          DWORDS_##D, DWORDS_##A, DWORDS_##B, DWORDS_##C)
#define B2(NAME, FLAGS, D, A, B)                                                                   \
    ENTRY(NAME, NAME, NULL, NAME##_vv, NAME##_sv, (FLAGS) | OUT_##D, DWORDS_##D, DWORDS_##A,       \
          DWORDS_##B)
#define B3(NAME, FLAGS, D, A, B, C)                                                                \
    ENTRY(NAME, NAME, NULL, NAME##_vv, NAME##_sv, (FLAGS) | OUT_##D, DWORDS_##D, DWORDS_##A,       \
          DWORDS_##B, DWORDS_##C)
#define ALIAS2(NAME, OTHER, FLAGS, D, A, B)                                                        \
    ENTRY(NAME, OTHER, NULL, NULL, NULL, (FLAGS) | OUT_##D, DWORDS_##D, DWORDS_##A, DWORDS_##B)
#define ALIAS3(NAME, OTHER, FLAGS, D, A, B, C)                                                     \
    ENTRY(NAME, OTHER, NULL, NULL, NULL, (FLAGS) | OUT_##D, DWORDS_##D, DWORDS_##A, DWORDS_##B,    \
          DWORDS_##C)
#define HAND(NAME, FLAGS, D, A, B, C) ENTRY(NAME, NAME, NULL, NULL, NULL, FLAGS, D, A, B, C)
#define HANDF(NAME, FLAGS, D, A, B, C)                                                             \
    ENTRY(NAME, NAME, NULL, NAME##_vv, NAME##_sv, FLAGS, D, A, B, C)
#define HANDS(NAME, FLAGS, D, A, B, C)                                                             \
    ENTRY(NAME, NAME, NAME##_clamped_rows, NULL, NULL, (FLAGS) | OPF_CLAMP_SELF, D, A, B, C)
