/*
 * rocDecode's pictures of VP9 and AV1 as of ROCm 7.0, where it is not installed.
 */
#ifndef ROCPROFILER_SDK_DETAIL_ROCDECODE_VP9_AV1_H
#define ROCPROFILER_SDK_DETAIL_ROCDECODE_VP9_AV1_H

#include <rocprofiler-sdk/detail/rocdecode_system.h>

#ifndef ROCPROFILER_SDK_USE_SYSTEM_ROCDECODE
#ifdef __cplusplus
extern "C" {
#endif

typedef struct _RocdecVp9PicParams {
    uint16_t frame_width, frame_height;
    uint32_t reference_frames[8];
    union {
        struct {
            uint32_t subsampling_x : 1, subsampling_y : 1, frame_type : 1, show_frame : 1,
                error_resilient_mode : 1, intra_only : 1, allow_high_precision_mv : 1,
                mcomp_filter_type : 3, frame_parallel_decoding_mode : 1, reset_frame_context : 2,
                refresh_frame_context : 1, frame_context_idx : 2, segmentation_enabled : 1,
                segmentation_temporal_update : 1, segmentation_update_map : 1, last_ref_frame : 3,
                last_ref_frame_sign_bias : 1, golden_ref_frame : 3, golden_ref_frame_sign_bias : 1,
                alt_ref_frame : 3, alt_ref_frame_sign_bias : 1, lossless_flag : 1;
        } bits;
        uint32_t value;
    } pic_fields;
    uint8_t filter_level, sharpness_level, log2_tile_rows, log2_tile_columns,
        frame_header_length_in_bytes;
    uint16_t first_partition_size;
    uint8_t mb_segment_tree_probs[7], segment_pred_probs[3], profile, bit_depth;
    uint32_t va_reserved[8];
} RocdecVp9PicParams;

typedef struct _RocdecVp9SegmentParameter {
    union {
        __extension__ struct {
            uint16_t segment_reference_enabled : 1, segment_reference : 2,
                segment_reference_skipped : 1;
        } fields;
        uint16_t value;
    } segment_flags;
    uint8_t filter_level[4][2];
    int16_t luma_ac_quant_scale, luma_dc_quant_scale, chroma_ac_quant_scale, chroma_dc_quant_scale;
    uint32_t va_reserved[4];
} RocdecVp9SegmentParameter;

typedef struct _RocdecVp9SliceParams {
    uint32_t slice_data_size, slice_data_offset, slice_data_flag;
    RocdecVp9SegmentParameter seg_param[8];
    uint32_t va_reserved[4];
} RocdecVp9SliceParams;

typedef struct _RocdecAv1SegmentationStruct {
    union {
        struct {
            uint32_t enabled : 1, update_map : 1, temporal_update : 1, update_data : 1,
                reserved : 28;
        } bits;
        uint32_t value;
    } segment_info_fields;
    int16_t feature_data[8][8];
    uint8_t feature_mask[8];
    uint32_t reserved[4];
} RocdecAv1SegmentationStruct;

typedef struct _RocdecAv1FilmGrainStruct {
    union {
        struct {
            uint32_t apply_grain : 1, chroma_scaling_from_luma : 1, grain_scaling_minus_8 : 2,
                ar_coeff_lag : 2, ar_coeff_shift_minus_6 : 2, grain_scale_shift : 2,
                overlap_flag : 1, clip_to_restricted_range : 1, reserved : 20;
        } bits;
        uint32_t value;
    } film_grain_info_fields;
    uint16_t grain_seed;
    uint8_t num_y_points, point_y_value[14], point_y_scaling[14], num_cb_points, point_cb_value[10],
        point_cb_scaling[10], num_cr_points, point_cr_value[10], point_cr_scaling[10];
    int8_t ar_coeffs_y[24], ar_coeffs_cb[25], ar_coeffs_cr[25];
    uint8_t cb_mult, cb_luma_mult;
    uint16_t cb_offset;
    uint8_t cr_mult, cr_luma_mult;
    uint16_t cr_offset;
    uint32_t reserved[4];
} RocdecAv1FilmGrainStruct;

typedef enum {
    RocdecAv1TransformationIdentity = 0,
    RocdecAv1TransformationTranslation = 1,
    RocdecAv1TransformationRotzoom = 2,
    RocdecAv1TransformationAffine = 3,
    RocdecAv1TransformationCount = 4
} RocdecAv1TransformationType;

typedef struct _RocdecAv1WarpedMotionParams {
    RocdecAv1TransformationType wmtype;
    int32_t wmmat[8];
    uint8_t invalid;
    uint32_t reserved[4];
} RocdecAv1WarpedMotionParams;

typedef struct _RocdecAV1PicParams {
    uint8_t profile, order_hint_bits_minus_1, bit_depth_idx, matrix_coefficients;
    union {
        struct {
            uint32_t still_picture : 1, use_128x128_superblock : 1, enable_filter_intra : 1,
                enable_intra_edge_filter : 1, enable_interintra_compound : 1,
                enable_masked_compound : 1, enable_dual_filter : 1, enable_order_hint : 1,
                enable_jnt_comp : 1, enable_cdef : 1, mono_chrome : 1, color_range : 1,
                subsampling_x : 1, subsampling_y : 1, chroma_sample_position : 1,
                film_grain_params_present : 1, reserved : 16;
        } fields;
        uint32_t value;
    } seq_info_fields;
    int current_frame, current_display_picture;
    uint8_t anchor_frames_num;
    int *anchor_frames_list;
    uint16_t frame_width_minus1, frame_height_minus1, output_frame_width_in_tiles_minus_1,
        output_frame_height_in_tiles_minus_1;
    int ref_frame_map[8];
    uint8_t ref_frame_idx[7], primary_ref_frame, order_hint;
    RocdecAv1SegmentationStruct seg_info;
    RocdecAv1FilmGrainStruct film_grain_info;
    uint8_t tile_cols, tile_rows;
    uint16_t width_in_sbs_minus_1[63], height_in_sbs_minus_1[63], tile_count_minus_1,
        context_update_tile_id;
    union {
        struct {
            uint32_t frame_type : 2, show_frame : 1, showable_frame : 1, error_resilient_mode : 1,
                disable_cdf_update : 1, allow_screen_content_tools : 1, force_integer_mv : 1,
                allow_intrabc : 1, use_superres : 1, allow_high_precision_mv : 1,
                is_motion_mode_switchable : 1, use_ref_frame_mvs : 1,
                disable_frame_end_update_cdf : 1, uniform_tile_spacing_flag : 1,
                allow_warped_motion : 1, large_scale_tile : 1, reserved : 15;
        } bits;
        uint32_t value;
    } pic_info_fields;
    uint8_t superres_scale_denominator, interp_filter, filter_level[2], filter_level_u,
        filter_level_v;
    union {
        __extension__ struct {
            uint8_t sharpness_level : 3, mode_ref_delta_enabled : 1, mode_ref_delta_update : 1,
                reserved : 3;
        } bits;
        uint8_t value;
    } loop_filter_info_fields;
    int8_t ref_deltas[8], mode_deltas[2];
    uint8_t base_qindex;
    int8_t y_dc_delta_q, u_dc_delta_q, u_ac_delta_q, v_dc_delta_q, v_ac_delta_q;
    union {
        __extension__ struct {
            uint16_t using_qmatrix : 1, qm_y : 4, qm_u : 4, qm_v : 4, reserved : 3;
        } bits;
        uint16_t value;
    } qmatrix_fields;
    union {
        struct {
            uint32_t delta_q_present_flag : 1, log2_delta_q_res : 2, delta_lf_present_flag : 1,
                log2_delta_lf_res : 2, delta_lf_multi : 1, tx_mode : 2, reference_select : 1,
                reduced_tx_set_used : 1, skip_mode_present : 1, reserved : 20;
        } bits;
        uint32_t value;
    } mode_control_fields;
    uint8_t cdef_damping_minus_3, cdef_bits, cdef_y_strengths[8], cdef_uv_strengths[8];
    union {
        __extension__ struct {
            uint16_t yframe_restoration_type : 2, cbframe_restoration_type : 2,
                crframe_restoration_type : 2, lr_unit_shift : 2, lr_uv_shift : 1, reserved : 7;
        } bits;
        uint16_t value;
    } loop_restoration_fields;
    RocdecAv1WarpedMotionParams wm[7];
    uint32_t reserved[8];
} RocdecAv1PicParams;

typedef struct _RocdecAv1SliceParams {
    uint32_t slice_data_size, slice_data_offset, slice_data_flag;
    uint16_t tile_row, tile_column, tg_start, tg_end;
    uint8_t anchor_frame_idx;
    uint16_t tile_idx_in_tile_list;
    uint32_t reserved[4];
} RocdecAv1SliceParams;

#ifdef __cplusplus
}
#endif
#endif

#endif
