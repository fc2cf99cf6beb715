/* The older place of ../name_info.hpp. C++17. */
#ifndef ROCPROFILER_SDK_CXX_DETAILS_NAME_INFO_HPP
#define ROCPROFILER_SDK_CXX_DETAILS_NAME_INFO_HPP

#include <rocprofiler-sdk/cxx/name_info.hpp>

#endif
