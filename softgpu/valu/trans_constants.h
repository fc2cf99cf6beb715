/*
 * Coefficients of 2^x, of the logarithm, of sine and cosine (core_trans.h says of which
 * polynomials), for all that compute them: the interpreter's builds and translated code.
 */
#ifndef VALU_TRANS_CONSTANTS_H
#define VALU_TRANS_CONSTANTS_H

#define EXP2_0 0x1.62e430p-1f
#define EXP2_1 0x1.ebfbe0p-3f
#define EXP2_2 0x1.c6b08ep-5f
#define EXP2_3 0x1.3b2a1cp-7f
#define EXP2_4 0x1.5d879ep-10f
#define EXP2_5 0x1.444p-13f
#define EXP2_6 0x1.00a582p-16f

#define LOG2_BOUNDARY   0x3f3504f3u
#define LOG2_FIRST      0x1.715476p+0f
#define LOG2_FIRST_REST 0x1.3b977ap-26f
#define LOG2_SECOND     -0x1.715470p-1f
#define LOG2_2          0x1.ec70aap-2f
#define LOG2_3          -0x1.715a70p-2f
#define LOG2_4          0x1.277a52p-2f
#define LOG2_5          -0x1.eab7aap-3f
#define LOG2_6          0x1.a38c68p-3f
#define LOG2_7          -0x1.87f6a2p-3f
#define LOG2_8          0x1.7a63a0p-3f
#define LOG2_9          -0x1.b84fb6p-4f

#define SIN_LIMIT  0.16f
#define SIN_0      0x1.921fb6p+2f
#define SIN_0_REST -0x1.777a5cp-23f /* 2 pi in two parts: this one joins the small rest */
#define SIN_1      -0x1.4abbcep+5f
#define SIN_2      0x1.466b92p+6f
#define SIN_3      -0x1.32bcc6p+6f
#define SIN_4      0x1.48cadap+5f

#define COS_LIMIT  0.125f
#define COS_1      -0x1.3bd3ccp+4f /* less 2 pi squared */
#define COS_1_REST -0x1.37c6c6p-21f
#define COS_2      0x1.03c1f0p+6f
#define COS_3      -0x1.55d3c2p+6f
#define COS_4      0x1.e1ec72p+5f
#define COS_5      -0x1.a1e84cp+4f

#endif
