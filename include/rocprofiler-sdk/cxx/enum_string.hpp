/* The name of an enumerator, at compile time or later. C++17. */
#ifndef ROCPROFILER_SDK_CXX_ENUM_STRING_HPP
#define ROCPROFILER_SDK_CXX_ENUM_STRING_HPP

#include <rocprofiler-sdk/cxx/details/enum_labels.hpp>

#include <string_view>

namespace rocprofiler::sdk
{
/** "ROCPROFILER_STATUS_SUCCESS" for ROCPROFILER_STATUS_SUCCESS, and so for every enumeration of the
 * SDK; "unsupported_ENUMERATION" for a value that it does not have. Of several names of a value,
 * the first declared. */
template <typename Enum> constexpr std::string_view get_enum_label(Enum value)
{
    for (const auto &label : details::enum_labels<Enum>::labels) {
        if (label.value == value)
            return label.name;
    }
    return details::enum_labels<Enum>::unknown;
}
} // namespace rocprofiler::sdk

#endif
