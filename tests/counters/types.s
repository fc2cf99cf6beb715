; Every kind of instruction a known number of times. The comment behind an instruction names the
; counters it adds one to, besides SQ_INSTS; model_test.py reads them. Straight-line code, one wave's
; worth each; results are thrown away.
.macro PROLOGUE
  s_load_dwordx4 s[4:7], s[0:1], 0x0        ; SQ_INSTS_SMEM SQC_DCACHE_REQ_READ_4
  v_and_b32 v0, 0x3ff, v0                   ; SQ_INSTS_VALU
  v_lshlrev_b32 v1, 3, v0                   ; SQ_INSTS_VALU
  s_waitcnt lgkmcnt(0)                      ;
.endm
.text
.globl arithmetic
.p2align 8
.type arithmetic,@function
arithmetic:
  v_add_f16 v2, v3, v4                      ; SQ_INSTS_VALU SQ_INSTS_VALU_ADD_F16
  v_pk_add_f16 v2, v3, v4                   ; SQ_INSTS_VALU SQ_INSTS_VALU_ADD_F16
  v_mul_f16 v2, v3, v4                      ; SQ_INSTS_VALU SQ_INSTS_VALU_MUL_F16
  v_fma_f16 v2, v3, v4, v5                  ; SQ_INSTS_VALU SQ_INSTS_VALU_FMA_F16
  v_sqrt_f16 v2, v3                         ; SQ_INSTS_VALU SQ_INSTS_VALU_TRANS_F16
  v_add_f32 v2, v3, v4                      ; SQ_INSTS_VALU SQ_INSTS_VALU_ADD_F32
  v_sub_f32 v2, v3, v4                      ; SQ_INSTS_VALU SQ_INSTS_VALU_ADD_F32
  v_pk_add_f32 v[2:3], v[4:5], v[6:7]       ; SQ_INSTS_VALU SQ_INSTS_VALU_ADD_F32
  v_mul_f32 v2, v3, v4                      ; SQ_INSTS_VALU SQ_INSTS_VALU_MUL_F32
  v_fma_f32 v2, v3, v4, v5                  ; SQ_INSTS_VALU SQ_INSTS_VALU_FMA_F32
  v_fmac_f32 v2, v3, v4                     ; SQ_INSTS_VALU SQ_INSTS_VALU_FMA_F32
  v_rcp_f32 v2, v3                          ; SQ_INSTS_VALU SQ_INSTS_VALU_TRANS_F32
  v_exp_f32 v2, v3                          ; SQ_INSTS_VALU SQ_INSTS_VALU_TRANS_F32
  v_add_f64 v[2:3], v[4:5], v[6:7]          ; SQ_INSTS_VALU SQ_INSTS_VALU_ADD_F64
  v_mul_f64 v[2:3], v[4:5], v[6:7]          ; SQ_INSTS_VALU SQ_INSTS_VALU_MUL_F64
  v_fma_f64 v[2:3], v[4:5], v[6:7], v[8:9]  ; SQ_INSTS_VALU SQ_INSTS_VALU_FMA_F64
  v_sqrt_f64 v[2:3], v[4:5]                 ; SQ_INSTS_VALU SQ_INSTS_VALU_TRANS_F64
  v_min_f64 v[2:3], v[4:5], v[6:7]          ; SQ_INSTS_VALU
  v_add_u32 v2, v3, v4                      ; SQ_INSTS_VALU SQ_INSTS_VALU_INT32
  v_add_co_u32 v2, vcc, v3, v4              ; SQ_INSTS_VALU SQ_INSTS_VALU_INT32
  v_cmp_gt_i32 vcc, v3, v4                  ; SQ_INSTS_VALU SQ_INSTS_VALU_INT32
  v_cmp_eq_i64 vcc, v[2:3], v[4:5]          ; SQ_INSTS_VALU SQ_INSTS_VALU_INT64
  v_mad_u64_u32 v[2:3], vcc, v4, v5, v[6:7] ; SQ_INSTS_VALU SQ_INSTS_VALU_INT64
  v_mov_b32 v2, v3                          ; SQ_INSTS_VALU
  v_lshlrev_b64 v[2:3], 2, v[4:5]           ; SQ_INSTS_VALU
  v_cvt_f16_f32 v2, v3                      ; SQ_INSTS_VALU SQ_INSTS_VALU_CVT
  v_cvt_i32_f64 v2, v[4:5]                  ; SQ_INSTS_VALU SQ_INSTS_VALU_CVT
  v_readfirstlane_b32 s8, v2                ; SQ_INSTS_VALU
  s_add_u32 s8, s8, 1                       ; SQ_INSTS_SALU
  s_nop 0                                   ;
  s_branch arithmetic_end                   ; SQ_INSTS_BRANCH
arithmetic_end:
  s_endpgm                                  ; SQ_INSTS_SENDMSG

.globl matrix
.p2align 8
.type matrix,@function
matrix:
  v_mfma_f32_4x4x1f32 a[0:3], v2, v3, a[0:3]                 ; SQ_INSTS_VALU SQ_INSTS_MFMA SQ_INSTS_VALU_MFMA_F32 SQ_INSTS_VALU_MFMA_MOPS_F32*1 SQ_VALU_MFMA_BUSY_CYCLES*8
  v_mfma_f32_32x32x2f32 a[0:15], v2, v3, a[0:15]             ; SQ_INSTS_VALU SQ_INSTS_MFMA SQ_INSTS_VALU_MFMA_F32 SQ_INSTS_VALU_MFMA_MOPS_F32*8 SQ_VALU_MFMA_BUSY_CYCLES*64
  v_mfma_f32_16x16x16f16 a[0:3], v[2:3], v[4:5], a[0:3]      ; SQ_INSTS_VALU SQ_INSTS_MFMA SQ_INSTS_VALU_MFMA_F16 SQ_INSTS_VALU_MFMA_MOPS_F16*16 SQ_VALU_MFMA_BUSY_CYCLES*32
  v_mfma_f32_32x32x8bf16_1k a[0:15], v[2:3], v[4:5], a[0:15] ; SQ_INSTS_VALU SQ_INSTS_MFMA SQ_INSTS_VALU_MFMA_BF16 SQ_INSTS_VALU_MFMA_MOPS_BF16*32 SQ_VALU_MFMA_BUSY_CYCLES*64
  v_mfma_f32_16x16x8bf16 a[0:3], v2, v3, a[0:3]              ; SQ_INSTS_VALU SQ_INSTS_MFMA SQ_INSTS_VALU_MFMA_BF16 SQ_INSTS_VALU_MFMA_MOPS_BF16*8 SQ_VALU_MFMA_BUSY_CYCLES*32
  v_mfma_i32_32x32x8i8 a[0:15], v2, v3, a[0:15]              ; SQ_INSTS_VALU SQ_INSTS_MFMA SQ_INSTS_VALU_MFMA_I8 SQ_INSTS_VALU_MFMA_MOPS_I8*32 SQ_VALU_MFMA_BUSY_CYCLES*64
  v_mfma_f64_16x16x4f64 a[0:7], v[2:3], v[4:5], a[0:7]       ; SQ_INSTS_VALU SQ_INSTS_MFMA SQ_INSTS_VALU_MFMA_F64 SQ_INSTS_VALU_MFMA_MOPS_F64*4 SQ_VALU_MFMA_BUSY_CYCLES*32
  s_endpgm                                                   ; SQ_INSTS_SENDMSG

.globl memory
.p2align 8
.type memory,@function
memory:
  PROLOGUE
  s_load_dword s8, s[6:7], 0x0              ; SQ_INSTS_SMEM SQC_DCACHE_REQ_READ_1
  s_load_dwordx2 s[8:9], s[6:7], 0x0        ; SQ_INSTS_SMEM SQC_DCACHE_REQ_READ_2
  s_load_dwordx8 s[16:23], s[6:7], 0x0      ; SQ_INSTS_SMEM SQC_DCACHE_REQ_READ_8
  s_load_dwordx16 s[16:31], s[6:7], 0x0     ; SQ_INSTS_SMEM SQC_DCACHE_REQ_READ_16
  s_memtime s[10:11]                        ; SQ_INSTS_SMEM
  s_dcache_inv                              ; SQ_INSTS_SMEM
  global_load_dword v2, v1, s[6:7]          ; SQ_INSTS_VMEM SQ_INSTS_VMEM_RD SQ_INSTS_FLAT TA_TOTAL_WAVEFRONTS TA_FLAT_WAVEFRONTS TA_FLAT_READ_WAVEFRONTS TD_LOAD_WAVEFRONT
  global_store_dword v1, v2, s[4:5]         ; SQ_INSTS_VMEM SQ_INSTS_VMEM_WR SQ_INSTS_FLAT TA_TOTAL_WAVEFRONTS TA_FLAT_WAVEFRONTS TA_FLAT_WRITE_WAVEFRONTS TD_LOAD_WAVEFRONT TD_STORE_WAVEFRONT
  global_atomic_add v1, v2, s[4:5]          ; SQ_INSTS_VMEM SQ_INSTS_VMEM_WR SQ_INSTS_FLAT TA_TOTAL_WAVEFRONTS TA_FLAT_WAVEFRONTS TA_FLAT_ATOMIC_WAVEFRONTS TD_LOAD_WAVEFRONT TD_ATOMIC_WAVEFRONT
  global_atomic_add v3, v1, v2, s[4:5] glc  ; SQ_INSTS_VMEM SQ_INSTS_VMEM_WR SQ_INSTS_FLAT TA_TOTAL_WAVEFRONTS TA_FLAT_WAVEFRONTS TA_FLAT_ATOMIC_WAVEFRONTS TD_LOAD_WAVEFRONT TD_ATOMIC_WAVEFRONT
  s_mov_b32 s12, s6                         ; SQ_INSTS_SALU
  s_mov_b32 s13, s7                         ; SQ_INSTS_SALU
  s_mov_b32 s14, -1                         ; SQ_INSTS_SALU
  s_mov_b32 s15, 0x27000                    ; SQ_INSTS_SALU
  buffer_load_dword v2, v1, s[12:15], 0 offen ; SQ_INSTS_VMEM SQ_INSTS_VMEM_RD TA_TOTAL_WAVEFRONTS TA_BUFFER_WAVEFRONTS TA_BUFFER_READ_WAVEFRONTS TD_LOAD_WAVEFRONT
  s_mov_b32 s12, s4                         ; SQ_INSTS_SALU
  s_mov_b32 s13, s5                         ; SQ_INSTS_SALU
  buffer_store_dword v2, v1, s[12:15], 0 offen ; SQ_INSTS_VMEM SQ_INSTS_VMEM_WR TA_TOTAL_WAVEFRONTS TA_BUFFER_WAVEFRONTS TA_BUFFER_WRITE_WAVEFRONTS TD_LOAD_WAVEFRONT TD_STORE_WAVEFRONT
  s_lshr_b64 s[16:17], s[6:7], 8            ; SQ_INSTS_SALU
  s_or_b32 s17, s17, 0x10400000             ; SQ_INSTS_SALU
  s_mov_b32 s18, 63                         ; SQ_INSTS_SALU
  s_mov_b32 s19, 0x80000fac                 ; SQ_INSTS_SALU
  s_mov_b64 s[20:21], 0                     ; SQ_INSTS_SALU
  s_mov_b64 s[22:23], 0                     ; SQ_INSTS_SALU
  s_mov_b64 s[24:25], 0                     ; SQ_INSTS_SALU
  s_mov_b64 s[26:27], 0                     ; SQ_INSTS_SALU
  image_load v2, v0, s[16:23] dmask:0x1 unorm ; SQ_INSTS_VMEM SQ_INSTS_VMEM_RD TA_TOTAL_WAVEFRONTS TD_LOAD_WAVEFRONT
  image_sample v2, v0, s[16:23], s[24:27] dmask:0x1 ; SQ_INSTS_VMEM SQ_INSTS_VMEM_RD TA_TOTAL_WAVEFRONTS TD_LOAD_WAVEFRONT
  image_get_resinfo v2, v0, s[16:23] dmask:0x1 unorm ; SQ_INSTS_VMEM SQ_INSTS_VMEM_RD TA_TOTAL_WAVEFRONTS TD_LOAD_WAVEFRONT
  s_lshr_b64 s[16:17], s[4:5], 8            ; SQ_INSTS_SALU
  s_or_b32 s17, s17, 0x10400000             ; SQ_INSTS_SALU
  image_store v2, v0, s[16:23] dmask:0x1 unorm ; SQ_INSTS_VMEM SQ_INSTS_VMEM_WR TA_TOTAL_WAVEFRONTS TD_LOAD_WAVEFRONT TD_STORE_WAVEFRONT
  image_atomic_add v2, v0, s[16:23] dmask:0x1 unorm ; SQ_INSTS_VMEM SQ_INSTS_VMEM_WR TA_TOTAL_WAVEFRONTS TD_LOAD_WAVEFRONT TD_ATOMIC_WAVEFRONT
  buffer_wbinvl1_vol                        ; TCP_TOTAL_WRITEBACK_INVALIDATES
  ds_write_b32 v1, v2                       ; SQ_INSTS_LDS SQ_LDS_IDX_ACTIVE*4 SQ_LDS_BANK_CONFLICT*2
  ds_read_b64 v[4:5], v1                    ; SQ_INSTS_LDS SQ_LDS_IDX_ACTIVE*4
  v_mov_b32 v6, 0                           ; SQ_INSTS_VALU
  ds_read_b32 v4, v6                        ; SQ_INSTS_LDS SQ_LDS_IDX_ACTIVE*2
  ds_add_u32 v6, v2                         ; SQ_INSTS_LDS SQ_LDS_IDX_ACTIVE*64 SQ_LDS_ADDR_CONFLICT*62
  v_lshlrev_b32 v7, 7, v0                   ; SQ_INSTS_VALU
  ds_read_b32 v4, v7                        ; SQ_INSTS_LDS SQ_LDS_IDX_ACTIVE*64 SQ_LDS_BANK_CONFLICT*62
  ds_bpermute_b32 v4, v1, v2                ; SQ_INSTS_LDS
  v_mov_b32 v7, 0x10000                     ; SQ_INSTS_VALU
  ds_read_b32 v4, v7                        ; SQ_INSTS_LDS SQ_LDS_IDX_ACTIVE*2 SQ_LDS_MEM_VIOLATIONS*64
  s_waitcnt vmcnt(0) lgkmcnt(0)             ;
  s_endpgm                                  ; SQ_INSTS_SENDMSG

.macro DESCRIBE name, accum, lds
.rodata
.p2align 6
.amdhsa_kernel \name
  .amdhsa_group_segment_fixed_size \lds
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr \accum + 32
  .amdhsa_accum_offset 16
  .amdhsa_next_free_sgpr 40
.end_amdhsa_kernel
.endm
DESCRIBE arithmetic, 0, 0
DESCRIBE matrix, 0, 0
DESCRIBE memory, 0, 16384

.amdgpu_metadata
---
amdhsa.version: [1, 1]
amdhsa.kernels:
  - {.name: arithmetic, .symbol: arithmetic.kd, .kernarg_segment_size: 80, .kernarg_segment_align: 8, .group_segment_fixed_size: 0, .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 40, .vgpr_count: 32, .max_flat_workgroup_size: 1024, .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}, {.size: 8, .offset: 8, .value_kind: global_buffer, .address_space: global}]}
  - {.name: matrix, .symbol: matrix.kd, .kernarg_segment_size: 80, .kernarg_segment_align: 8, .group_segment_fixed_size: 0, .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 40, .vgpr_count: 32, .max_flat_workgroup_size: 1024, .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}, {.size: 8, .offset: 8, .value_kind: global_buffer, .address_space: global}]}
  - {.name: memory, .symbol: memory.kd, .kernarg_segment_size: 80, .kernarg_segment_align: 8, .group_segment_fixed_size: 16384, .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 40, .vgpr_count: 32, .max_flat_workgroup_size: 1024, .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}, {.size: 8, .offset: 8, .value_kind: global_buffer, .address_space: global}]}
...
.end_amdgpu_metadata
