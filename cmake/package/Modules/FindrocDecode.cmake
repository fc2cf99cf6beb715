# rocDecode, the library that decodes on the GPU: rocDecode_FOUND, rocDecode_VERSION, rocDecode::rocDecode.
include("${CMAKE_CURRENT_LIST_DIR}/rocprofiler-sdk-find-media.cmake")
_rocprofiler_sdk_find_media(rocDecode rocdecode ROCDECODE)
