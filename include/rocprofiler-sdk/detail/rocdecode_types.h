/*
 * The rocDecode headers where they are installed (detail/rocdecode_system.h), otherwise its types
 * and functions as of ROCm 7.0.
 */
#ifndef ROCPROFILER_SDK_DETAIL_ROCDECODE_TYPES_H
#define ROCPROFILER_SDK_DETAIL_ROCDECODE_TYPES_H

#include <rocprofiler-sdk/detail/rocdecode_mpeg.h>
#include <rocprofiler-sdk/detail/rocdecode_system.h>
#include <rocprofiler-sdk/detail/rocdecode_vp9_av1.h>

/* Repeating a type definition is allowed; the reader came later than the rest. */
typedef void *RocdecBitstreamReader;

#ifndef ROCPROFILER_SDK_USE_SYSTEM_ROCDECODE
#ifdef __cplusplus
extern "C" {
#endif

#ifndef ROCDECAPI
#define ROCDECAPI
#endif

typedef void *rocDecDecoderHandle;
typedef void *RocdecVideoParser;
typedef uint64_t RocdecTimeStamp;

typedef enum rocDecStatus_enum {
    ROCDEC_NOT_SUPPORTED = -8,
    ROCDEC_NOT_INITIALIZED = -7,
    ROCDEC_NOT_IMPLEMENTED = -6,
    ROCDEC_INVALID_PARAMETER = -5,
    ROCDEC_OUTOF_MEMORY = -4,
    ROCDEC_RUNTIME_ERROR = -3,
    ROCDEC_CONTEXT_INVALID = -2,
    ROCDEC_DEVICE_INVALID = -1,
    ROCDEC_SUCCESS = 0
} rocDecStatus;

typedef enum rocDecVideoCodec_enum {
    rocDecVideoCodec_MPEG1 = 0,
    rocDecVideoCodec_MPEG2 = 1,
    rocDecVideoCodec_MPEG4 = 2,
    rocDecVideoCodec_AVC = 3,
    rocDecVideoCodec_HEVC = 4,
    rocDecVideoCodec_AV1 = 5,
    rocDecVideoCodec_VP8 = 6,
    rocDecVideoCodec_VP9 = 7,
    rocDecVideoCodec_JPEG = 8,
    rocDecVideoCodec_NumCodecs = 9,
    /* uncompressed formats by their four-letter code */
    rocDecVideoCodec_NV12 = 0x4e563132,
    rocDecVideoCodec_UYVY = 0x55595659,
    rocDecVideoCodec_YUV420 = 0x49595556,
    rocDecVideoCodec_YUYV = 0x59555956,
    rocDecVideoCodec_YV12 = 0x59563132
} rocDecVideoCodec;

typedef enum rocDecVideoSurfaceFormat_enum {
    rocDecVideoSurfaceFormat_NV12 = 0,
    rocDecVideoSurfaceFormat_P016 = 1,
    rocDecVideoSurfaceFormat_YUV444 = 2,
    rocDecVideoSurfaceFormat_YUV444_16Bit = 3,
    rocDecVideoSurfaceFormat_YUV420 = 4,
    rocDecVideoSurfaceFormat_YUV420_16Bit = 5,
    rocDecVideoSurfaceFormat_YUV422 = 6,
    rocDecVideoSurfaceFormat_YUV422_16Bit = 7
} rocDecVideoSurfaceFormat;

typedef enum rocDecVideoChromaFormat_enum {
    rocDecVideoChromaFormat_Monochrome = 0,
    rocDecVideoChromaFormat_420 = 1,
    rocDecVideoChromaFormat_422 = 2,
    rocDecVideoChromaFormat_444 = 3
} rocDecVideoChromaFormat;

typedef enum rocDecodeStatus_enum {
    rocDecodeStatus_Invalid = 0,
    rocDecodeStatus_InProgress = 1,
    rocDecodeStatus_Success = 2,
    rocDecodeStatus_Error = 8,
    rocDecodeStatus_Error_Concealed = 9,
    rocDecodeStatus_Displaying = 10
} rocDecDecodeStatus;

typedef struct _RocdecDecodeCaps {
    uint8_t device_id;
    rocDecVideoCodec codec_type;
    rocDecVideoChromaFormat chroma_format;
    uint32_t bit_depth_minus_8, reserved_1[3];
    uint8_t is_supported, num_decoders;
    uint16_t output_format_mask;
    uint32_t max_width, max_height;
    uint16_t min_width, min_height;
    uint32_t reserved_2[6];
} RocdecDecodeCaps;

typedef struct _RocDecoderCreateInfo {
    uint8_t device_id;
    uint32_t width, height, num_decode_surfaces;
    rocDecVideoCodec codec_type;
    rocDecVideoChromaFormat chroma_format;
    uint32_t bit_depth_minus_8, intra_decode_only, max_width, max_height;
    struct {
        int16_t left, top, right, bottom;
    } display_rect;
    rocDecVideoSurfaceFormat output_format;
    uint32_t target_width, target_height, num_output_surfaces;
    struct {
        int16_t left, top, right, bottom;
    } target_rect;
    uint32_t reserved_2[4];
} RocDecoderCreateInfo;

typedef struct _RocdecDecodeStatus {
    rocDecDecodeStatus decode_status;
    uint32_t reserved[31];
    void *p_reserved[8];
} RocdecDecodeStatus;

typedef struct _RocdecReconfigureDecoderInfo {
    uint32_t width, height, target_width, target_height, num_decode_surfaces, bit_depth_minus_8,
        reserved_1[11];
    struct {
        int16_t left, top, right, bottom;
    } display_rect;
    struct {
        int16_t left, top, right, bottom;
    } target_rect;
    uint32_t reserved_2[11];
} RocdecReconfigureDecoderInfo;

typedef struct _RocdecPicParams {
    int pic_width, pic_height, curr_pic_idx, field_pic_flag, bottom_field_flag, second_field;
    uint32_t bitstream_data_len;
    const uint8_t *bitstream_data;
    uint32_t num_slices;
    int ref_pic_flag, intra_pic_flag;
    uint32_t reserved[30];
    union {
        RocdecMpeg2PicParams mpeg2;
        RocdecAvcPicParams avc;
        RocdecHevcPicParams hevc;
        RocdecVc1PicParams vc1;
        RocdecJPEGPicParams jpeg;
        RocdecVp9PicParams vp9;
        RocdecAv1PicParams av1;
        uint32_t codec_reserved[256];
    } pic_params;
    union {
        RocdecAvcSliceParams *avc;
        RocdecHevcSliceParams *hevc;
        RocdecVp9SliceParams *vp9;
        RocdecAv1SliceParams *av1;
    } slice_params;
    union {
        RocdecAvcIQMatrix avc;
        RocdecHevcIQMatrix hevc;
    } iq_matrix;
} RocdecPicParams;

typedef struct _RocdecProcParams {
    int progressive_frame, top_field_first;
    uint32_t reserved_flags[2];
    uint64_t raw_input_dptr;
    uint32_t raw_input_pitch, raw_input_format;
    uint64_t raw_output_dptr;
    uint32_t raw_output_pitch, raw_output_format, reserved[16];
} RocdecProcParams;

typedef enum {
    ROCDEC_RECONFIG_NEW_SURFACES = 0,
    ROCDEC_RECONFIG_KEEP_SURFACES = 1
} RocdecReconfigOptions;

typedef struct {
    rocDecVideoCodec codec;
    struct {
        uint32_t numerator, denominator;
    } frame_rate;
    uint8_t progressive_sequence, bit_depth_luma_minus8, bit_depth_chroma_minus8,
        min_num_decode_surfaces;
    uint32_t coded_width, coded_height;
    struct {
        int left, top, right, bottom;
    } display_area;
    rocDecVideoChromaFormat chroma_format;
    uint32_t bitrate;
    struct {
        int x, y;
    } display_aspect_ratio;
    __extension__ struct {
        uint8_t video_format : 3, video_full_range_flag : 1, reserved_zero_bits : 4;
        uint8_t color_primaries, transfer_characteristics, matrix_coefficients;
    } video_signal_description;
    uint32_t seqhdr_data_length, reconfig_options;
} RocdecVideoFormat;

typedef struct {
    RocdecVideoFormat format;
    uint32_t max_width, max_height;
    uint8_t raw_seqhdr_data[1024];
} RocdecVideoFormatEx;

typedef enum {
    ROCDEC_PKT_ENDOFSTREAM = 1,
    ROCDEC_PKT_TIMESTAMP = 2,
    ROCDEC_PKT_DISCONTINUITY = 4,
    ROCDEC_PKT_ENDOFPICTURE = 8,
    ROCDEC_PKT_NOTIFY_EOS = 16
} RocdecVideoPacketFlags;

typedef struct _RocdecSourceDataPacket {
    uint32_t flags, payload_size;
    const uint8_t *payload;
    RocdecTimeStamp pts;
} RocdecSourceDataPacket;

typedef struct _RocdecParserDispInfo {
    int picture_index, progressive_frame, top_field_first, repeat_first_field;
    RocdecTimeStamp pts;
} RocdecParserDispInfo;

typedef struct _RocdecOperatingPointInfo {
    rocDecVideoCodec codec;
    __extension__ union {
        struct {
            uint8_t operating_points_cnt, reserved24_bits[3];
            uint16_t operating_points_idc[32];
        } av1;
        uint8_t codec_reserved[1024];
    };
} RocdecOperatingPointInfo;

typedef struct _RocdecSeiMessage {
    uint8_t sei_message_type, reserved[3];
    uint32_t sei_message_size;
} RocdecSeiMessage;

typedef struct _RocdecSeiMessageInfo {
    void *sei_data;
    RocdecSeiMessage *sei_message;
    uint32_t sei_message_count, picIdx;
} RocdecSeiMessageInfo;

typedef int(ROCDECAPI *PFNVIDSEQUENCECALLBACK)(void *, RocdecVideoFormat *);
typedef int(ROCDECAPI *PFNVIDDECODECALLBACK)(void *, RocdecPicParams *);
typedef int(ROCDECAPI *PFNVIDDISPLAYCALLBACK)(void *, RocdecParserDispInfo *);
typedef int(ROCDECAPI *PFNVIDSEIMSGCALLBACK)(void *, RocdecSeiMessageInfo *);

typedef struct _RocdecParserParams {
    rocDecVideoCodec codec_type;
    uint32_t max_num_decode_surfaces, clock_rate, error_threshold, max_display_delay;
    uint32_t annex_b : 1, reserved : 31;
    uint32_t reserved_1[4];
    void *user_data;
    PFNVIDSEQUENCECALLBACK pfn_sequence_callback;
    PFNVIDDECODECALLBACK pfn_decode_picture;
    PFNVIDDISPLAYCALLBACK pfn_display_picture;
    PFNVIDSEIMSGCALLBACK pfn_get_sei_msg;
    void *reserved_2[5];
    RocdecVideoFormatEx *ext_video_info;
} RocdecParserParams;

rocDecStatus rocDecCreateDecoder(rocDecDecoderHandle *decoder_handle,
                                 RocDecoderCreateInfo *decoder_create_info);
rocDecStatus rocDecDestroyDecoder(rocDecDecoderHandle decoder_handle);
rocDecStatus rocDecGetDecoderCaps(RocdecDecodeCaps *decode_caps);
rocDecStatus rocDecDecodeFrame(rocDecDecoderHandle decoder_handle, RocdecPicParams *pic_params);
rocDecStatus rocDecGetDecodeStatus(rocDecDecoderHandle decoder_handle, int pic_idx,
                                   RocdecDecodeStatus *decode_status);
rocDecStatus rocDecReconfigureDecoder(rocDecDecoderHandle decoder_handle,
                                      RocdecReconfigureDecoderInfo *reconfig_params);
rocDecStatus rocDecGetVideoFrame(rocDecDecoderHandle decoder_handle, int pic_idx,
                                 void *dev_mem_ptr[3], uint32_t *horizontal_pitch,
                                 RocdecProcParams *vid_postproc_params);
const char *rocDecGetErrorName(rocDecStatus rocdec_status);
rocDecStatus rocDecCreateVideoParser(RocdecVideoParser *parser_handle, RocdecParserParams *params);
rocDecStatus rocDecParseVideoData(RocdecVideoParser parser_handle, RocdecSourceDataPacket *packet);
rocDecStatus rocDecParserMarkFrameForReuse(RocdecVideoParser parser_handle, int pic_idx);
rocDecStatus rocDecDestroyVideoParser(RocdecVideoParser parser_handle);

rocDecStatus rocDecCreateBitstreamReader(RocdecBitstreamReader *bs_reader_handle,
                                         const char *input_file_path);
rocDecStatus rocDecGetBitstreamCodecType(RocdecBitstreamReader bs_reader_handle,
                                         rocDecVideoCodec *codec_type);
rocDecStatus rocDecGetBitstreamBitDepth(RocdecBitstreamReader bs_reader_handle, int *bit_depth);
rocDecStatus rocDecGetBitstreamPicData(RocdecBitstreamReader bs_reader_handle, uint8_t **pic_data,
                                       int *pic_size, int64_t *pts);
rocDecStatus rocDecDestroyBitstreamReader(RocdecBitstreamReader bs_reader_handle);

#ifdef __cplusplus
}
#endif
#endif

#endif
