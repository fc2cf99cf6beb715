/* std::hash of the handle types, for unordered containers. C++17. */
#ifndef ROCPROFILER_SDK_CXX_HASH_HPP
#define ROCPROFILER_SDK_CXX_HASH_HPP

#include <rocprofiler-sdk/cxx/handles.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>

namespace rocprofiler::sdk::hash
{
/** Handles are unique already: the value is its own hash. */
template <typename Handle> struct handle_hasher {
    static_assert(sizeof(Handle) == sizeof(std::uint64_t), "a handle is one 64-bit member");
    std::size_t operator()(Handle value) const noexcept
    {
        return static_cast<std::size_t>(value.handle);
    }
};
} // namespace rocprofiler::sdk::hash

#define ROCPROFILER_SDK_CXX_HASH(type)                                                             \
    template <> struct std::hash<type> : rocprofiler::sdk::hash::handle_hasher<type> {             \
    };
ROCPROFILER_SDK_CXX_HANDLES(ROCPROFILER_SDK_CXX_HASH)
#undef ROCPROFILER_SDK_CXX_HASH

#endif
