/* Cereal, for serialization.hpp: the archives that tools use, and its support of the standard
 * library's types. C++17. */
#ifndef ROCPROFILER_SDK_CXX_DETAILS_CEREAL_HPP
#define ROCPROFILER_SDK_CXX_DETAILS_CEREAL_HPP

#if !__has_include(<cereal/cereal.hpp>)
#error "rocprofiler-sdk/cxx/serialization needs the headers of cereal (Debian: libcereal-dev)"
#endif

#include <cereal/archives/binary.hpp>
#include <cereal/archives/json.hpp>
#include <cereal/archives/portable_binary.hpp>
#include <cereal/cereal.hpp>
#include <cereal/types/array.hpp>
#include <cereal/types/atomic.hpp>
#include <cereal/types/bitset.hpp>
#include <cereal/types/chrono.hpp>
#include <cereal/types/common.hpp>
#include <cereal/types/complex.hpp>
#include <cereal/types/deque.hpp>
#include <cereal/types/functional.hpp>
#include <cereal/types/list.hpp>
#include <cereal/types/map.hpp>
#include <cereal/types/optional.hpp>
#include <cereal/types/queue.hpp>
#include <cereal/types/set.hpp>
#include <cereal/types/stack.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/unordered_map.hpp>
#include <cereal/types/unordered_set.hpp>
#include <cereal/types/utility.hpp>
#include <cereal/types/variant.hpp>
#include <cereal/types/vector.hpp>

#include <string>
#include <type_traits>

/* A tool whose cereal lives in another namespace defines both before it includes us. */
#if !defined(ROCPROFILER_SDK_CEREAL_NAMESPACE_BEGIN)
#define ROCPROFILER_SDK_CEREAL_NAMESPACE_BEGIN                                                     \
    namespace cereal                                                                               \
    {
#endif
#if !defined(ROCPROFILER_SDK_CEREAL_NAMESPACE_END)
#define ROCPROFILER_SDK_CEREAL_NAMESPACE_END }
#endif

namespace rocprofiler::sdk::serialization
{
/** An argument of a traced call, as text. */
struct buffer_tracing_args {
    std::string type = {};
    std::string name = {};
    std::string value = {};
};

template <typename Type> struct archive_members;

template <> struct archive_members<buffer_tracing_args> {
    template <typename Each, typename Data> static void visit(Each &each, Data &data)
    {
        each.value("type", data.type);
        each.value("name", data.name);
        each.value("value", data.value);
    }
};

/** Whether Type's members are known, and void. */
template <typename Type, typename = void> struct is_archived : std::false_type {
};
template <typename Type>
struct is_archived<Type, std::void_t<decltype(sizeof(archive_members<Type>))>> : std::true_type {
};
template <typename Type> using if_archived = std::enable_if_t<is_archived<Type>::value>;
} // namespace rocprofiler::sdk::serialization

#endif
