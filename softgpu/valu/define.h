/* Meaning of the list macros while kernels are being defined. See entries.h for the table pass. */
#define F1(NAME, FLAGS, D, A, EXPR)                                                                \
    BODY1(NAME, D, A, EXPR) ROWS(NAME) FAST1(NAME, FLAGS, DWORDS_##D)
#define F2(NAME, FLAGS, D, A, B, EXPR)                                                             \
    BODY2(NAME, D, A, B, EXPR) ROWS(NAME) FAST2(NAME, FLAGS, DWORDS_##D)
#define F3(NAME, FLAGS, D, A, B, C, EXPR)                                                          \
    BODY3(NAME, D, A, B, C, EXPR) ROWS(NAME) FAST3(NAME, FLAGS, DWORDS_##D)
#define G1(NAME, FLAGS, D, A, EXPR)       BODY1(NAME, D, A, EXPR) ROWS(NAME)
#define G2(NAME, FLAGS, D, A, B, EXPR)    BODY2(NAME, D, A, B, EXPR) ROWS(NAME)
#define G3(NAME, FLAGS, D, A, B, C, EXPR) BODY3(NAME, D, A, B, C, EXPR) ROWS(NAME)
#define S2(NAME, FLAGS, D, A, B, EXPR, SATURATED)                                                  \
    F2(NAME, FLAGS, D, A, B, EXPR) BODY2(NAME##_clamped, D, A, B, SATURATED) ROWS(NAME##_clamped)
#define S3(NAME, FLAGS, D, A, B, C, EXPR, SATURATED)                                               \
    F3(NAME, FLAGS, D, A, B, C, EXPR)                                                              \
    BODY3(NAME##_clamped, D, A, B, C, SATURATED) ROWS(NAME##_clamped)
/* Of f32 alone: also with signs, for sources that are negated or made absolute. */
#define N2(NAME, FLAGS, D, A, B, EXPR)                                                             \
    F2(NAME, FLAGS, D, A, B, EXPR) SIGNED_BODY(NAME, 0, bits32(EXPR))
#define N3(NAME, FLAGS, D, A, B, C, EXPR)                                                          \
    F3(NAME, FLAGS, D, A, B, C, EXPR)                                                              \
    SIGNED_BODY(NAME, (c_[l] & s->keep[2]) ^ s->flip[2], bits32(EXPR))
/* The body is written by hand before the list: NAME##_body. */
#define B2(NAME, FLAGS, D, A, B)    ROWS(NAME) FAST2(NAME, FLAGS, DWORDS_##D)
#define B3(NAME, FLAGS, D, A, B, C) ROWS(NAME) FAST3(NAME, FLAGS, DWORDS_##D)
/* The same of f64, also with signs: NAME##_with_signs. */
#define P2(NAME, FLAGS, D, A, B)    B2(NAME, FLAGS, D, A, B)
#define P3(NAME, FLAGS, D, A, B, C) B3(NAME, FLAGS, D, A, B, C)
/* Another name for a kernel already defined. */
#define ALIAS2(NAME, OTHER, FLAGS, D, A, B)
#define ALIAS3(NAME, OTHER, FLAGS, D, A, B, C)
/* A kernel written by hand before the list: NAME##_rows. */
#define HAND(NAME, FLAGS, D, A, B, C)
#define HANDS(NAME, FLAGS, D, A, B, C)
/* So are its specialised handlers. */
#define HANDF(NAME, FLAGS, D, A, B, C)
