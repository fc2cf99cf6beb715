/* ==, !=, <, >, <=, >= of the handle types and of the small structures that tools keep in sorted or
 * searched containers. They live in the global namespace, where the types are. C++17. */
#ifndef ROCPROFILER_SDK_CXX_OPERATORS_HPP
#define ROCPROFILER_SDK_CXX_OPERATORS_HPP

#include <rocprofiler-sdk/agent.h>
#include <rocprofiler-sdk/counters.h>
#include <rocprofiler-sdk/cxx/handles.hpp>
#include <rocprofiler-sdk/fwd.h>
#include <rocprofiler-sdk/hsa.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

/* Each type has a key: a value that compares as the type shall. */
namespace rocprofiler::sdk::operators
{
inline std::string_view text(const char *string)
{
    return string != nullptr ? std::string_view{string} : std::string_view{};
}

template <typename Handle> auto key(const Handle &value) -> decltype(value.handle)
{
    static_assert(sizeof(Handle) == sizeof(std::uint64_t), "a handle is one 64-bit member");
    return value.handle;
}

/** Agents are told apart by their id alone. */
inline auto key(const rocprofiler_agent_v0_t &value)
{
    return value.id.handle;
}

/** By volume first: a larger grid is the greater one whatever its shape. */
inline auto key(const rocprofiler_dim3_t &value)
{
    return std::make_tuple(std::uint64_t{value.x} * value.y * value.z, value.x, value.y, value.z);
}

inline auto key(const rocprofiler_version_triplet_t &value)
{
    return std::make_tuple(value.major, value.minor, value.patch);
}

inline auto key(const rocprofiler_counter_record_dimension_info_t &value)
{
    return std::make_tuple(value.id, value.instance_size, text(value.name));
}

inline auto key(const rocprofiler_counter_dimension_info_t &value)
{
    return std::make_tuple(text(value.dimension_name), value.index, value.size);
}
} // namespace rocprofiler::sdk::operators

#define ROCPROFILER_SDK_CXX_LESS_AND_EQUAL(type)                                                   \
    inline bool operator==(const type &left, const type &right)                                    \
    {                                                                                              \
        return rocprofiler::sdk::operators::key(left) == rocprofiler::sdk::operators::key(right);  \
    }                                                                                              \
    inline bool operator<(const type &left, const type &right)                                     \
    {                                                                                              \
        return rocprofiler::sdk::operators::key(left) < rocprofiler::sdk::operators::key(right);   \
    }
#define ROCPROFILER_SDK_CXX_THE_OTHER_FOUR(type)                                                   \
    inline bool operator!=(const type &left, const type &right)                                    \
    {                                                                                              \
        return !(left == right);                                                                   \
    }                                                                                              \
    inline bool operator>(const type &left, const type &right)                                     \
    {                                                                                              \
        return right < left;                                                                       \
    }                                                                                              \
    inline bool operator<=(const type &left, const type &right)                                    \
    {                                                                                              \
        return !(right < left);                                                                    \
    }                                                                                              \
    inline bool operator>=(const type &left, const type &right)                                    \
    {                                                                                              \
        return !(left < right);                                                                    \
    }
#define ROCPROFILER_SDK_CXX_COMPARE(type)                                                          \
    ROCPROFILER_SDK_CXX_LESS_AND_EQUAL(type)                                                       \
    ROCPROFILER_SDK_CXX_THE_OTHER_FOUR(type)

ROCPROFILER_SDK_CXX_HANDLES(ROCPROFILER_SDK_CXX_COMPARE)
ROCPROFILER_SDK_CXX_COMPARE(rocprofiler_agent_v0_t)
ROCPROFILER_SDK_CXX_COMPARE(rocprofiler_dim3_t)
ROCPROFILER_SDK_CXX_COMPARE(rocprofiler_version_triplet_t)
ROCPROFILER_SDK_CXX_COMPARE(rocprofiler_counter_record_dimension_info_t)
ROCPROFILER_SDK_CXX_COMPARE(rocprofiler_counter_dimension_info_t)

/* An instance of a counter: its ids, then its dimensions in order; an absent one is the least. */
inline bool operator==(const rocprofiler_counter_record_dimension_instance_info_t &left,
                       const rocprofiler_counter_record_dimension_instance_info_t &right)
{
    const auto same = [](const auto *one, const auto *other) {
        return one == other || (one != nullptr && other != nullptr && *one == *other);
    };
    return left.instance_id == right.instance_id && left.counter_id == right.counter_id &&
           std::equal(left.dimensions, left.dimensions + left.dimensions_count, right.dimensions,
                      right.dimensions + right.dimensions_count, same);
}

inline bool operator<(const rocprofiler_counter_record_dimension_instance_info_t &left,
                      const rocprofiler_counter_record_dimension_instance_info_t &right)
{
    if (left.instance_id != right.instance_id)
        return left.instance_id < right.instance_id;
    if (left.counter_id != right.counter_id)
        return left.counter_id < right.counter_id;
    if (left.dimensions_count != right.dimensions_count)
        return left.dimensions_count < right.dimensions_count;
    const auto before = [](const auto *one, const auto *other) {
        return one != nullptr && other != nullptr ? *one < *other
                                                  : one == nullptr && other != nullptr;
    };
    return std::lexicographical_compare(left.dimensions, left.dimensions + left.dimensions_count,
                                        right.dimensions, right.dimensions + right.dimensions_count,
                                        before);
}

ROCPROFILER_SDK_CXX_THE_OTHER_FOUR(rocprofiler_counter_record_dimension_instance_info_t)

#undef ROCPROFILER_SDK_CXX_COMPARE
#undef ROCPROFILER_SDK_CXX_THE_OTHER_FOUR
#undef ROCPROFILER_SDK_CXX_LESS_AND_EQUAL

#endif
