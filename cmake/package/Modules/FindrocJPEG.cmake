# rocJPEG, the library that decodes on the GPU: rocJPEG_FOUND, rocJPEG_VERSION, rocJPEG::rocJPEG.
include("${CMAKE_CURRENT_LIST_DIR}/rocprofiler-sdk-find-media.cmake")
_rocprofiler_sdk_find_media(rocJPEG rocjpeg ROCJPEG)
