/*
 * rocDecode's pictures of MPEG-2, AVC and HEVC as of ROCm 7.0, where it is not installed; VC-1 and
 * JPEG have none there yet.
 */
#ifndef ROCPROFILER_SDK_DETAIL_ROCDECODE_MPEG_H
#define ROCPROFILER_SDK_DETAIL_ROCDECODE_MPEG_H

#include <rocprofiler-sdk/detail/rocdecode_system.h>

#ifndef ROCPROFILER_SDK_USE_SYSTEM_ROCDECODE
#ifdef __cplusplus
extern "C" {
#endif

typedef struct _RocdecAvcPicture {
    int pic_idx;
    uint32_t frame_idx, flags;
    int32_t top_field_order_cnt, bottom_field_order_cnt;
    uint32_t reserved[4];
} RocdecAvcPicture;

#define RocdecAvcPicture_FLAGS_INVALID              0x00000001
#define RocdecAvcPicture_FLAGS_TOP_FIELD            0x00000002
#define RocdecAvcPicture_FLAGS_BOTTOM_FIELD         0x00000004
#define RocdecAvcPicture_FLAGS_SHORT_TERM_REFERENCE 0x00000008
#define RocdecAvcPicture_FLAGS_LONG_TERM_REFERENCE  0x00000010
#define RocdecAvcPicture_FLAGS_NON_EXISTING         0x00000020

typedef struct _RocdecHevcPicture {
    int pic_idx, poc;
    uint32_t flags, reserved[4];
} RocdecHevcPicture;

#define RocdecHevcPicture_INVALID             0x00000001
#define RocdecHevcPicture_FIELD_PIC           0x00000002
#define RocdecHevcPicture_BOTTOM_FIELD        0x00000004
#define RocdecHevcPicture_LONG_TERM_REFERENCE 0x00000008
#define RocdecHevcPicture_RPS_ST_CURR_BEFORE  0x00000010
#define RocdecHevcPicture_RPS_ST_CURR_AFTER   0x00000020
#define RocdecHevcPicture_RPS_LT_CURR         0x00000040

typedef struct _RocdecJPEGPicParams {
    int reserved;
} RocdecJPEGPicParams;

typedef struct _RocdecVc1PicParams {
    int reserved;
} RocdecVc1PicParams;

typedef struct _RocdecMpeg2QMatrix {
    int32_t load_intra_quantiser_matrix, load_non_intra_quantiser_matrix,
        load_chroma_intra_quantiser_matrix, load_chroma_non_intra_quantiser_matrix;
    uint8_t intra_quantiser_matrix[64], non_intra_quantiser_matrix[64],
        chroma_intra_quantiser_matrix[64], chroma_non_intra_quantiser_matrix[64];
} RocdecMpeg2QMatrix;

typedef struct _RocdecMpeg2PicParams {
    uint16_t horizontal_size, vertical_size;
    uint32_t forward_reference_pic, backward_reference_picture;
    int32_t picture_coding_type, f_code;
    union {
        struct {
            uint32_t intra_dc_precision : 2, picture_structure : 2, top_field_first : 1,
                frame_pred_frame_dct : 1, concealment_motion_vectors : 1, q_scale_type : 1,
                intra_vlc_format : 1, alternate_scan : 1, repeat_first_field : 1,
                progressive_frame : 1, is_first_field : 1;
        } bits;
        uint32_t value;
    } picture_coding_extension;
    RocdecMpeg2QMatrix q_matrix;
    uint32_t reserved[4];
} RocdecMpeg2PicParams;

typedef struct _RocdecAvcPicParams {
    RocdecAvcPicture curr_pic, ref_frames[16];
    uint16_t picture_width_in_mbs_minus1, picture_height_in_mbs_minus1;
    uint8_t bit_depth_luma_minus8, bit_depth_chroma_minus8, num_ref_frames;
    union {
        struct {
            uint32_t chroma_format_idc : 2, residual_colour_transform_flag : 1,
                gaps_in_frame_num_value_allowed_flag : 1, frame_mbs_only_flag : 1,
                mb_adaptive_frame_field_flag : 1, direct_8x8_inference_flag : 1,
                MinLumaBiPredSize8x8 : 1, log2_max_frame_num_minus4 : 4, pic_order_cnt_type : 2,
                log2_max_pic_order_cnt_lsb_minus4 : 4, delta_pic_order_always_zero_flag : 1;
        } bits;
        uint32_t value;
    } seq_fields;
    uint8_t num_slice_groups_minus1, slice_group_map_type;
    uint16_t slice_group_change_rate_minus1;
    int8_t pic_init_qp_minus26, pic_init_qs_minus26, chroma_qp_index_offset,
        second_chroma_qp_index_offset;
    union {
        struct {
            uint32_t entropy_coding_mode_flag : 1, weighted_pred_flag : 1, weighted_bipred_idc : 2,
                transform_8x8_mode_flag : 1, field_pic_flag : 1, constrained_intra_pred_flag : 1,
                pic_order_present_flag : 1, deblocking_filter_control_present_flag : 1,
                redundant_pic_cnt_present_flag : 1, reference_pic_flag : 1;
        } bits;
        uint32_t value;
    } pic_fields;
    uint16_t frame_num;
    uint32_t reserved[8];
} RocdecAvcPicParams;

typedef struct _RocdecAvcSliceParams {
    uint32_t slice_data_size, slice_data_offset, slice_data_flag;
    uint16_t slice_data_bit_offset, first_mb_in_slice;
    uint8_t slice_type, direct_spatial_mv_pred_flag, num_ref_idx_l0_active_minus1,
        num_ref_idx_l1_active_minus1, cabac_init_idc;
    int8_t slice_qp_delta;
    uint8_t disable_deblocking_filter_idc;
    int8_t slice_alpha_c0_offset_div2, slice_beta_offset_div2;
    RocdecAvcPicture ref_pic_list_0[32], ref_pic_list_1[32];
    uint8_t luma_log2_weight_denom, chroma_log2_weight_denom, luma_weight_l0_flag;
    int16_t luma_weight_l0[32], luma_offset_l0[32];
    uint8_t chroma_weight_l0_flag;
    int16_t chroma_weight_l0[32][2], chroma_offset_l0[32][2];
    uint8_t luma_weight_l1_flag;
    int16_t luma_weight_l1[32], luma_offset_l1[32];
    uint8_t chroma_weight_l1_flag;
    int16_t chroma_weight_l1[32][2], chroma_offset_l1[32][2];
    uint32_t reserved[4];
} RocdecAvcSliceParams;

typedef struct _RocdecAvcIQMatrix {
    uint8_t scaling_list_4x4[6][16], scaling_list_8x8[2][64];
    uint32_t reserved[4];
} RocdecAvcIQMatrix;

typedef struct _RocdecHevcPicParams {
    RocdecHevcPicture curr_pic, ref_frames[15];
    uint16_t picture_width_in_luma_samples, picture_height_in_luma_samples;
    union {
        struct {
            uint32_t chroma_format_idc : 2, separate_colour_plane_flag : 1, pcm_enabled_flag : 1,
                scaling_list_enabled_flag : 1, transform_skip_enabled_flag : 1,
                amp_enabled_flag : 1, strong_intra_smoothing_enabled_flag : 1,
                sign_data_hiding_enabled_flag : 1, constrained_intra_pred_flag : 1,
                cu_qp_delta_enabled_flag : 1, weighted_pred_flag : 1, weighted_bipred_flag : 1,
                transquant_bypass_enabled_flag : 1, tiles_enabled_flag : 1,
                entropy_coding_sync_enabled_flag : 1,
                pps_loop_filter_across_slices_enabled_flag : 1,
                loop_filter_across_tiles_enabled_flag : 1, pcm_loop_filter_disabled_flag : 1,
                no_pic_reordering_flag : 1, no_bi_pred_flag : 1, reserved_bits : 11;
        } bits;
        uint32_t value;
    } pic_fields;
    uint8_t sps_max_dec_pic_buffering_minus1, bit_depth_luma_minus8, bit_depth_chroma_minus8,
        pcm_sample_bit_depth_luma_minus1, pcm_sample_bit_depth_chroma_minus1,
        log2_min_luma_coding_block_size_minus3, log2_diff_max_min_luma_coding_block_size,
        log2_min_transform_block_size_minus2, log2_diff_max_min_transform_block_size,
        log2_min_pcm_luma_coding_block_size_minus3, log2_diff_max_min_pcm_luma_coding_block_size,
        max_transform_hierarchy_depth_intra, max_transform_hierarchy_depth_inter;
    int8_t init_qp_minus26;
    uint8_t diff_cu_qp_delta_depth;
    int8_t pps_cb_qp_offset, pps_cr_qp_offset;
    uint8_t log2_parallel_merge_level_minus2, num_tile_columns_minus1, num_tile_rows_minus1;
    uint16_t column_width_minus1[19], row_height_minus1[21];
    union {
        struct {
            uint32_t lists_modification_present_flag : 1, long_term_ref_pics_present_flag : 1,
                sps_temporal_mvp_enabled_flag : 1, cabac_init_present_flag : 1,
                output_flag_present_flag : 1, dependent_slice_segments_enabled_flag : 1,
                pps_slice_chroma_qp_offsets_present_flag : 1,
                sample_adaptive_offset_enabled_flag : 1,
                deblocking_filter_override_enabled_flag : 1, pps_disable_deblocking_filter_flag : 1,
                slice_segment_header_extension_present_flag : 1, rap_pic_flag : 1, idr_pic_flag : 1,
                intra_pic_flag : 1, reserved_bits : 18;
        } bits;
        uint32_t value;
    } slice_parsing_fields;
    uint8_t log2_max_pic_order_cnt_lsb_minus4, num_short_term_ref_pic_sets,
        num_long_term_ref_pic_sps, num_ref_idx_l0_default_active_minus1,
        num_ref_idx_l1_default_active_minus1;
    int8_t pps_beta_offset_div2, pps_tc_offset_div2;
    uint8_t num_extra_slice_header_bits;
    uint32_t st_rps_bits, reserved[8];
} RocdecHevcPicParams;

typedef struct _RocdecHevcSliceParams {
    uint32_t slice_data_size, slice_data_offset, slice_data_flag, slice_data_byte_offset,
        slice_segment_address;
    uint8_t ref_pic_list[2][15];
    union {
        uint32_t value;
        struct {
            uint32_t last_slice_of_pic : 1, dependent_slice_segment_flag : 1, slice_type : 2,
                color_plane_id : 2, slice_sao_luma_flag : 1, slice_sao_chroma_flag : 1,
                mvd_l1_zero_flag : 1, cabac_init_flag : 1, slice_temporal_mvp_enabled_flag : 1,
                slice_deblocking_filter_disabled_flag : 1, collocated_from_l0_flag : 1,
                slice_loop_filter_across_slices_enabled_flag : 1, reserved : 18;
        } fields;
    } long_slice_flags;
    uint8_t collocated_ref_idx, num_ref_idx_l0_active_minus1, num_ref_idx_l1_active_minus1;
    int8_t slice_qp_delta, slice_cb_qp_offset, slice_cr_qp_offset, slice_beta_offset_div2,
        slice_tc_offset_div2;
    uint8_t luma_log2_weight_denom;
    int8_t delta_chroma_log2_weight_denom, delta_luma_weight_l0[15], luma_offset_l0[15],
        delta_chroma_weight_l0[15][2], chroma_offset_l0[15][2], delta_luma_weight_l1[15],
        luma_offset_l1[15], delta_chroma_weight_l1[15][2], chroma_offset_l1[15][2];
    uint8_t five_minus_max_num_merge_cand;
    uint16_t num_entry_point_offsets, entry_offset_to_subset_array, slice_data_num_emu_prevn_bytes;
    uint32_t reserved[2];
} RocdecHevcSliceParams;

typedef struct _RocdecHevcIQMatrix {
    uint8_t scaling_list_4x4[6][16], scaling_list_8x8[6][64], scaling_list_16x16[6][64],
        scaling_list_32x32[2][64], scaling_list_dc_16x16[6], scaling_list_dc_32x32[2];
    uint32_t reserved[4];
} RocdecHevcIQMatrix;

#ifdef __cplusplus
}
#endif
#endif

#endif
