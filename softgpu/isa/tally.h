/*
 * What executed instructions are counted as. Each has one tally, which is finer than its class
 * wherever some hardware event is. The generator of the instruction tables chooses the tally from
 * the mnemonic; decoding corrects it where the encoding decides (GDS, returning atomics).
 *
 * X(NAME, class, issue, latency, matrix)
 *   issue    quad-cycles the instruction arbiter works on it; 0: handled without a functional unit
 *   latency  cycles its wave then waits, in the clock of perf/README.md
 *   matrix   cycles the matrix unit of a gfx90a is busy (others: perf/clock.c; its operations are
 * 512 times the number behind X; sparse ones, which gfx942 alone has, take half the time)
 */
#ifndef ISA_TALLY_H
#define ISA_TALLY_H

/* clang-format off */
#define INST_TALLIES(X)                                                                            \
    X(VALU_OTHER, VALU, 1, 0, 0)                                                                   \
    X(VALU_ADD_F16, VALU, 1, 0, 0)                                                                 \
    X(VALU_MUL_F16, VALU, 1, 0, 0)                                                                 \
    X(VALU_FMA_F16, VALU, 1, 0, 0)                                                                 \
    X(VALU_TRANS_F16, VALU, 4, 0, 0)                                                               \
    X(VALU_ADD_F32, VALU, 1, 0, 0)                                                                 \
    X(VALU_MUL_F32, VALU, 1, 0, 0)                                                                 \
    X(VALU_FMA_F32, VALU, 1, 0, 0)                                                                 \
    X(VALU_TRANS_F32, VALU, 4, 0, 0)                                                               \
    X(VALU_ADD_F64, VALU, 1, 0, 0)                                                                 \
    X(VALU_MUL_F64, VALU, 1, 0, 0)                                                                 \
    X(VALU_FMA_F64, VALU, 1, 0, 0)                                                                 \
    X(VALU_TRANS_F64, VALU, 4, 0, 0)                                                               \
    X(VALU_INT32, VALU, 1, 0, 0)                                                                   \
    X(VALU_INT64, VALU, 1, 0, 0)                                                                   \
    X(VALU_CVT, VALU, 1, 0, 0)                                                                     \
    X(MFMA_I8_X4, MFMA, 1, 0, 8)                                                                   \
    X(MFMA_I8_X16, MFMA, 1, 0, 32)                                                                 \
    X(MFMA_I8_X32, MFMA, 1, 0, 64)                                                                 \
    X(MFMA_I8_X64, MFMA, 1, 0, 64)                                                                 \
    X(MFMA_I8_SPARSE_X64, MFMA, 1, 0, 16)                                                          \
    X(MFMA_I8_SPARSE_X128, MFMA, 1, 0, 32)                                                         \
    X(MFMA_F16_X4, MFMA, 1, 0, 8)                                                                  \
    X(MFMA_F16_X16, MFMA, 1, 0, 32)                                                                \
    X(MFMA_F16_X32, MFMA, 1, 0, 64)                                                                \
    X(MFMA_F16_SPARSE_X32, MFMA, 1, 0, 16)                                                         \
    X(MFMA_F16_SPARSE_X64, MFMA, 1, 0, 32)                                                         \
    X(MFMA_BF16_X2, MFMA, 1, 0, 8)                                                                 \
    X(MFMA_BF16_X8, MFMA, 1, 0, 32)                                                                \
    X(MFMA_BF16_X16, MFMA, 1, 0, 64)                                                               \
    X(MFMA_BF16_1K_X4, MFMA, 1, 0, 8)                                                              \
    X(MFMA_BF16_1K_X16, MFMA, 1, 0, 32)                                                            \
    X(MFMA_BF16_1K_X32, MFMA, 1, 0, 64)                                                            \
    X(MFMA_BF16_1K_SPARSE_X32, MFMA, 1, 0, 16)                                                     \
    X(MFMA_BF16_1K_SPARSE_X64, MFMA, 1, 0, 32)                                                     \
    X(MFMA_F32_X1, MFMA, 1, 0, 8)                                                                  \
    X(MFMA_F32_X4, MFMA, 1, 0, 32)                                                                 \
    X(MFMA_F32_X8, MFMA, 1, 0, 64)                                                                 \
    X(MFMA_XF32_X8, MFMA, 1, 0, 32)                                                                \
    X(MFMA_XF32_X16, MFMA, 1, 0, 64)                                                               \
    X(MFMA_F64_X1, MFMA, 1, 0, 16)                                                                 \
    X(MFMA_F64_X4, MFMA, 1, 0, 32)                                                                 \
    X(MFMA_F8_X32, MFMA, 1, 0, 32)                                                                 \
    X(MFMA_F8_X64, MFMA, 1, 0, 64)                                                                 \
    X(MFMA_F8_SPARSE_X64, MFMA, 1, 0, 16)                                                          \
    X(MFMA_F8_SPARSE_X128, MFMA, 1, 0, 32)                                                         \
    X(SALU, SALU, 1, 0, 0)                                                                         \
    X(SMEM_READ_1, SMEM, 1, 128, 0)                                                                \
    X(SMEM_READ_2, SMEM, 1, 128, 0)                                                                \
    X(SMEM_READ_4, SMEM, 1, 128, 0)                                                                \
    X(SMEM_READ_8, SMEM, 1, 128, 0)                                                                \
    X(SMEM_READ_16, SMEM, 1, 128, 0)                                                               \
    X(SMEM_WRITE, SMEM, 1, 32, 0)                                                                  \
    X(SMEM_ATOMIC, SMEM, 1, 256, 0)                                                                \
    X(SMEM_TIME, SMEM, 1, 64, 0)                                                                   \
    X(SMEM_CACHE, SMEM, 1, 32, 0)                                                                  \
    X(BUFFER_READ, VMEM_RD, 1, 320, 0)                                                             \
    X(BUFFER_WRITE, VMEM_WR, 1, 64, 0)                                                             \
    X(BUFFER_ATOMIC, VMEM_WR, 1, 64, 0)                                                            \
    X(BUFFER_ATOMIC_RETURN, VMEM_WR, 1, 320, 0)                                                    \
    X(IMAGE_READ, VMEM_RD, 1, 320, 0)                                                              \
    X(IMAGE_WRITE, VMEM_WR, 1, 64, 0)                                                              \
    X(IMAGE_ATOMIC, VMEM_WR, 1, 64, 0)                                                             \
    X(IMAGE_ATOMIC_RETURN, VMEM_WR, 1, 320, 0)                                                     \
    X(GLOBAL_READ, VMEM_RD, 1, 320, 0)                                                             \
    X(GLOBAL_WRITE, VMEM_WR, 1, 64, 0)                                                             \
    X(GLOBAL_ATOMIC, VMEM_WR, 1, 64, 0)                                                            \
    X(GLOBAL_ATOMIC_RETURN, VMEM_WR, 1, 320, 0)                                                    \
    X(SCRATCH_READ, VMEM_RD, 1, 320, 0)                                                            \
    X(SCRATCH_WRITE, VMEM_WR, 1, 64, 0)                                                            \
    X(FLAT_READ, FLAT_RD, 1, 320, 0)                                                               \
    X(FLAT_WRITE, FLAT_WR, 1, 64, 0)                                                               \
    X(FLAT_ATOMIC, FLAT_WR, 1, 64, 0)                                                              \
    X(FLAT_ATOMIC_RETURN, FLAT_WR, 1, 320, 0)                                                      \
    X(LDS_READ, LDS, 1, 64, 0)                                                                     \
    X(LDS_WRITE, LDS, 1, 16, 0)                                                                    \
    X(LDS_ATOMIC, LDS, 1, 16, 0)                                                                   \
    X(LDS_ATOMIC_RETURN, LDS, 1, 64, 0)                                                            \
    X(LDS_PERMUTE, LDS, 1, 64, 0)                                                                  \
    X(GDS, GDS, 1, 128, 0)                                                                         \
    X(BRANCH, BRANCH, 1, 12, 0)                                                                    \
    X(SENDMSG, SENDMSG, 1, 16, 0)                                                                  \
    X(WAITCNT, WAITCNT, 0, 4, 0)                                                                   \
    X(BARRIER, BARRIER, 0, 16, 0)                                                                  \
    X(EXPORT, EXPORT, 1, 16, 0)                                                                    \
    X(ENDPGM, OTHER, 1, 0, 0)                                                                      \
    X(L1_INVALIDATE, OTHER, 1, 64, 0)                                                              \
    X(L2_CONTROL, OTHER, 1, 64, 0)                                                                 \
    X(INTERNAL, OTHER, 0, 4, 0)
/* clang-format on */

#define INST_TALLY_ENUM(name, klass, issue, latency, matrix) TALLY_##name,
enum inst_tally { INST_TALLIES(INST_TALLY_ENUM) TALLY_COUNT };
#undef INST_TALLY_ENUM

/* Vector instructions walk arrays of tallies, so the length is a multiple of eight. */
enum { TALLY_SLOTS = (TALLY_COUNT + 7) / 8 * 8 };

#endif
