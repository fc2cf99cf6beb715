/* Categories and annotations for tools that write Perfetto traces with Perfetto's own SDK. C++17.
 *
 *     TRACE_EVENT_BEGIN(sdk::perfetto_category<sdk::category::hip_api>::name, name, track,
 * begin_ns,
 *                       [&](perfetto::EventContext context) {
 *                           sdk::add_perfetto_annotation(context, "stream", stream_id);
 *                       });
 *
 * perfetto.h, one of the two files of that SDK, must be in the include path. The categories are the
 * program's only ones: this header calls PERFETTO_DEFINE_CATEGORIES, and one of the tool's sources
 * calls PERFETTO_TRACK_EVENT_STATIC_STORAGE(). */
#ifndef ROCPROFILER_SDK_CXX_PERFETTO_HPP
#define ROCPROFILER_SDK_CXX_PERFETTO_HPP

#if !__has_include(<perfetto.h>)
#error "rocprofiler-sdk/cxx/perfetto.hpp needs perfetto.h of Perfetto's SDK (https://perfetto.dev)"
#endif

#include <perfetto.h>

#include <rocprofiler-sdk/cxx/details/mpl.hpp>
#include <rocprofiler-sdk/fwd.h>

#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

/* X(name, what is in it) for each category. */
#define ROCPROFILER_SDK_CXX_CATEGORIES(X, between)                                                 \
    X(hsa_api, "Calls of the HSA runtime")                                                         \
    between X(hip_api, "Calls of HIP") between X(marker_api, "Ranges and marks of ROCTx") between  \
    X(rccl_api, "Calls of RCCL") between                                                           \
    X(openmp, "OpenMP regions and offloading") between                                             \
    X(kernel_dispatch, "Kernels on a GPU") between                                                 \
    X(memory_copy, "Copies by a GPU") between                                                      \
    X(memory_allocation, "Memory taken and given back") between                                    \
    X(rocdecode_api, "Calls of rocDecode") between                                                 \
    X(rocjpeg_api, "Calls of rocJPEG") between                                                     \
    X(rocshmem_api, "Calls of rocSHMEM") between                                                   \
    X(hipfile_api, "Calls of hipFile") between                                                     \
    X(counter_collection, "Counters of a GPU") between                                             \
    X(kfd_events, "Page migrations, page faults, queue events") between                            \
    X(scratch_memory, "Scratch memory of kernels") between                                         \
    X(none, "Everything else")

/* X(family, kind, category) for each kind; family is BUFFER or CALLBACK. */
#define ROCPROFILER_SDK_CXX_KINDS_OF_BOTH(X, family)                                               \
    X(family, NONE, none)                                                                          \
    X(family, HSA_CORE_API, hsa_api)                                                               \
    X(family, HSA_AMD_EXT_API, hsa_api)                                                            \
    X(family, HSA_IMAGE_EXT_API, hsa_api)                                                          \
    X(family, HSA_FINALIZE_EXT_API, hsa_api)                                                       \
    X(family, HIP_RUNTIME_API, hip_api)                                                            \
    X(family, HIP_COMPILER_API, hip_api)                                                           \
    X(family, HIP_STREAM, hip_api)                                                                 \
    X(family, MARKER_CORE_API, marker_api)                                                         \
    X(family, MARKER_CORE_RANGE_API, marker_api)                                                   \
    X(family, MARKER_CONTROL_API, marker_api)                                                      \
    X(family, MARKER_NAME_API, marker_api)                                                         \
    X(family, KERNEL_DISPATCH, kernel_dispatch)                                                    \
    X(family, MEMORY_COPY, memory_copy)                                                            \
    X(family, MEMORY_ALLOCATION, memory_allocation)                                                \
    X(family, SCRATCH_MEMORY, scratch_memory)                                                      \
    X(family, RCCL_API, rccl_api)                                                                  \
    X(family, OMPT, openmp)                                                                        \
    X(family, ROCDECODE_API, rocdecode_api)                                                        \
    X(family, ROCJPEG_API, rocjpeg_api)                                                            \
    X(family, ROCSHMEM_API, rocshmem_api)                                                          \
    X(family, HIPFILE_API, hipfile_api)                                                            \
    X(family, HIP_GRAPH, hip_api)                                                                  \
    X(family, HIP_EVENT, hip_api)                                                                  \
    X(family, RUNTIME_INITIALIZATION, none)
#define ROCPROFILER_SDK_CXX_KINDS_OF_BUFFERS(X)                                                    \
    X(BUFFER, CORRELATION_ID_RETIREMENT, none)                                                     \
    X(BUFFER, HIP_RUNTIME_API_EXT, hip_api)                                                        \
    X(BUFFER, HIP_COMPILER_API_EXT, hip_api)                                                       \
    X(BUFFER, ROCDECODE_API_EXT, rocdecode_api)                                                    \
    X(BUFFER, ROCSHMEM_API_EXT, rocshmem_api)                                                      \
    X(BUFFER, HIPFILE_API_EXT, hipfile_api)                                                        \
    X(BUFFER, KFD_EVENT_PAGE_MIGRATE, kfd_events)                                                  \
    X(BUFFER, KFD_EVENT_PAGE_FAULT, kfd_events)                                                    \
    X(BUFFER, KFD_EVENT_QUEUE, kfd_events)                                                         \
    X(BUFFER, KFD_EVENT_UNMAP_FROM_GPU, kfd_events)                                                \
    X(BUFFER, KFD_EVENT_DROPPED_EVENTS, kfd_events)                                                \
    X(BUFFER, KFD_PAGE_MIGRATE, kfd_events)                                                        \
    X(BUFFER, KFD_PAGE_FAULT, kfd_events)                                                          \
    X(BUFFER, KFD_QUEUE, kfd_events)

#define ROCPROFILER_SDK_CXX_COMMA                 ,
#define ROCPROFILER_SDK_CXX_CATEGORY(name, about) ::perfetto::Category(#name).SetDescription(about)
PERFETTO_DEFINE_CATEGORIES(ROCPROFILER_SDK_CXX_CATEGORIES(ROCPROFILER_SDK_CXX_CATEGORY,
                                                          ROCPROFILER_SDK_CXX_COMMA));
#undef ROCPROFILER_SDK_CXX_CATEGORY
#undef ROCPROFILER_SDK_CXX_COMMA

namespace rocprofiler::sdk
{
/** `name` and `description` of a category, which is one of the types of namespace category. */
template <typename Category> struct perfetto_category;

#define ROCPROFILER_SDK_CXX_CATEGORY(category_name, about)                                         \
    namespace category                                                                             \
    {                                                                                              \
    struct category_name {                                                                         \
    };                                                                                             \
    }                                                                                              \
    template <> struct perfetto_category<category::category_name> {                                \
        static constexpr const char *name = #category_name;                                        \
        static constexpr const char *description = about;                                          \
    };
ROCPROFILER_SDK_CXX_CATEGORIES(ROCPROFILER_SDK_CXX_CATEGORY, )
#undef ROCPROFILER_SDK_CXX_CATEGORY

/** `name` of the category of a tracing kind, at compile time. */
template <typename Kind, std::size_t Value> struct rocprofiler_tracing_perfetto_category;

#define ROCPROFILER_SDK_CXX_KIND_TYPE_BUFFER   rocprofiler_buffer_tracing_kind_t
#define ROCPROFILER_SDK_CXX_KIND_TYPE_CALLBACK rocprofiler_callback_tracing_kind_t
#define ROCPROFILER_SDK_CXX_KIND(family, kind, category_name)                                      \
    template <>                                                                                    \
    struct rocprofiler_tracing_perfetto_category<ROCPROFILER_SDK_CXX_KIND_TYPE_##family,           \
                                                 ROCPROFILER_##family##_TRACING_##kind>            \
        : perfetto_category<category::category_name> {                                             \
    };
ROCPROFILER_SDK_CXX_KINDS_OF_BOTH(ROCPROFILER_SDK_CXX_KIND, BUFFER)
ROCPROFILER_SDK_CXX_KINDS_OF_BUFFERS(ROCPROFILER_SDK_CXX_KIND)
ROCPROFILER_SDK_CXX_KINDS_OF_BOTH(ROCPROFILER_SDK_CXX_KIND, CALLBACK)
ROCPROFILER_SDK_CXX_KIND(CALLBACK, CODE_OBJECT, none)
ROCPROFILER_SDK_CXX_KIND(CALLBACK, KERNEL_REPLAY, none)
#undef ROCPROFILER_SDK_CXX_KIND
#undef ROCPROFILER_SDK_CXX_KIND_TYPE_CALLBACK
#undef ROCPROFILER_SDK_CXX_KIND_TYPE_BUFFER
#undef ROCPROFILER_SDK_CXX_KINDS_OF_BUFFERS
#undef ROCPROFILER_SDK_CXX_KINDS_OF_BOTH
#undef ROCPROFILER_SDK_CXX_CATEGORIES

/** Of the values in the list; NULL for others. */
template <typename Kind, std::size_t... Values>
const char *get_perfetto_category(Kind kind, std::index_sequence<Values...>)
{
    static constexpr const char *names[] = {
        rocprofiler_tracing_perfetto_category<Kind, Values>::name...};
    static constexpr std::size_t values[] = {Values...};
    for (std::size_t i = 0; i < sizeof...(Values); i++) {
        if (values[i] == static_cast<std::size_t>(kind))
            return names[i];
    }
    return nullptr;
}

/** The name of the category of a buffer or callback tracing kind; NULL for a value that is none. */
template <typename Kind> const char *get_perfetto_category(Kind kind)
{
    constexpr bool is_buffer = std::is_same_v<Kind, rocprofiler_buffer_tracing_kind_t>;
    static_assert(is_buffer || std::is_same_v<Kind, rocprofiler_callback_tracing_kind_t>,
                  "a kind of buffer tracing or of callback tracing");
    constexpr std::size_t count = is_buffer
                                      ? static_cast<std::size_t>(ROCPROFILER_BUFFER_TRACING_LAST)
                                      : static_cast<std::size_t>(ROCPROFILER_CALLBACK_TRACING_LAST);
    return get_perfetto_category(kind, std::make_index_sequence<count>{});
}

using perfetto_event_context_t = ::perfetto::EventContext;

/** Adds `name` = `value` to the event's debug annotations: texts, numbers, enumerators (as
 * numbers), pointers, and whatever has operator<<. NULL texts are shown as empty ones. */
template <typename Name, typename Value>
void add_perfetto_annotation(perfetto_event_context_t &context, Name &&name, Value &&value)
{
    using value_type = mpl::unqualified_identity_t<Value>;
    static_assert(mpl::is_string_type<Name>::value, "the name of an annotation is a text");

    auto *annotation = context.event()->add_debug_annotations();
    annotation->set_name(mpl::is_empty(name) ? std::string{} : std::string{name});
    if constexpr (mpl::is_string_type<value_type>::value) {
        annotation->set_string_value(mpl::is_empty(value) ? std::string{} : std::string{value});
    } else if constexpr (std::is_same_v<value_type, bool>) {
        annotation->set_bool_value(value);
    } else if constexpr (std::is_floating_point_v<value_type>) {
        annotation->set_double_value(static_cast<double>(value));
    } else if constexpr (std::is_integral_v<value_type> && std::is_unsigned_v<value_type>) {
        annotation->set_uint_value(static_cast<std::uint64_t>(value));
    } else if constexpr (std::is_integral_v<value_type> || std::is_enum_v<value_type>) {
        annotation->set_int_value(static_cast<std::int64_t>(value));
    } else if constexpr (std::is_pointer_v<value_type>) {
        annotation->set_pointer_value(reinterpret_cast<std::uint64_t>(value));
    } else {
        static_assert(mpl::can_stringify<value_type>::value,
                      "an annotation is a text, a number, a pointer, or has operator<<");
        std::ostringstream text;
        text << value;
        annotation->set_string_value(text.str());
    }
}
} // namespace rocprofiler::sdk

#endif
