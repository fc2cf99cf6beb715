/* Writes the SDK's structures to archives of cereal. C++17. What is written, and under which keys,
 * is listed in details/archive_members.hpp; a C string that is NULL is written as "". */
#ifndef ROCPROFILER_SDK_CXX_SERIALIZATION_SAVE_HPP
#define ROCPROFILER_SDK_CXX_SERIALIZATION_SAVE_HPP

#include <rocprofiler-sdk/cxx/details/archive_members.hpp>
#include <rocprofiler-sdk/cxx/details/cereal.hpp>

#include <rocprofiler-sdk/buffer_tracing.h>
#include <rocprofiler-sdk/cxx/container/c_array.hpp>
#include <rocprofiler-sdk/cxx/name_info.hpp>
#include <rocprofiler-sdk/cxx/utility.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace rocprofiler::sdk::serialization
{
/** The arguments of a record of a kind that keeps them (HIP_RUNTIME_API_EXT and the like), in the
 * order of the call; none where the library knows none. */
template <typename Record> std::vector<buffer_tracing_args> get_buffer_tracing_args(Record &data)
{
    using list = std::vector<buffer_tracing_args>;
    const auto on_argument = [](rocprofiler_buffer_tracing_kind_t, rocprofiler_tracing_operation_t,
                                std::uint32_t number, const void *, std::int32_t, const char *type,
                                const char *name, const char *value, void *found) {
        list &arguments = *static_cast<list *>(found);
        arguments.resize(std::max<std::size_t>(arguments.size(), std::size_t{number} + 1));
        arguments[number] = {type ? type : "", name ? name : "", value ? value : ""};
        return 0;
    };
    rocprofiler_record_header_t header{};
    header.hash = rocprofiler_record_header_compute_hash(ROCPROFILER_BUFFER_CATEGORY_TRACING,
                                                         static_cast<std::uint32_t>(data.kind));
    header.payload = const_cast<std::remove_const_t<Record> *>(&data);
    list arguments;
    rocprofiler_iterate_buffer_tracing_record_args(header, on_argument, &arguments);
    return arguments;
}
} // namespace rocprofiler::sdk::serialization

ROCPROFILER_SDK_CEREAL_NAMESPACE_BEGIN

namespace sdk = ::rocprofiler::sdk;

/** What the member lists call when a structure is written. */
template <typename Archive> struct rocprofiler_sdk_writer {
    static constexpr bool reads = false;

    Archive &archive;

    template <typename Value> void value(const char *key, const Value &member)
    {
        archive(make_nvp(key, member));
    }
    template <typename Value> void optional(const char *key, const Value &member)
    {
        value(key, member);
    }
    void text(const char *key, const char *member)
    {
        value(key, std::string{member != nullptr ? member : ""});
    }
    void hex(const char *key, std::uint64_t member)
    {
        value(key, sdk::utility::as_hex(member, 16));
    }
    template <typename Value, typename Enum>
    void name(const char *key, Value member, const char *(*name_of)(Enum))
    {
        text(key, name_of(static_cast<Enum>(member)));
    }
    void queue(const char *key, const hsa_queue_t *member)
    {
        value(key, member != nullptr ? *member : hsa_queue_t{});
    }
    template <typename Data> void arguments(const char *key, Data &data)
    {
        value(key, sdk::serialization::get_buffer_tracing_args(data));
    }
    template <typename Element, typename Count>
    void list(const char *key, Element *elements, Count count)
    {
        using type = std::remove_const_t<Element>;
        value(key, elements != nullptr ? std::vector<type>(elements, elements + count)
                                       : std::vector<type>{});
    }
    template <typename Pointers, typename Count>
    void refs(const char *key, Pointers pointers, Count count)
    {
        value(key, sdk::container::make_c_array(pointers, pointers != nullptr ? count : 0));
    }
};

#define ROCPROFILER_SDK_CXX_SAVE(type)                                                             \
    template <typename Archive> void save(Archive &archive, const type &data)                      \
    {                                                                                              \
        rocprofiler_sdk_writer<Archive> each{archive};                                             \
        sdk::serialization::archive_members<type>::visit(each, data);                              \
    }
ROCPROFILER_SDK_CXX_SAVED(ROCPROFILER_SDK_CXX_SAVE)
ROCPROFILER_SDK_CXX_SAVE(sdk::serialization::buffer_tracing_args)
#undef ROCPROFILER_SDK_CXX_SAVE

/* The types that have no function of their own here, unless a tool has one. */
template <typename Archive, typename Type>
sdk::serialization::if_archived<Type> save(Archive &archive, const Type &data)
{
    rocprofiler_sdk_writer<Archive> each{archive};
    sdk::serialization::archive_members<Type>::visit(each, data);
}

/** An array of one object per kind: its name and those of its operations. */
template <typename Archive, typename Kind, typename Text>
void save(Archive &archive, const sdk::utility::name_info<Kind, Text> &data)
{
    archive(make_size_tag(static_cast<size_type>(data.size())));
    for (const auto &kind : data)
        archive(make_nvp("entry", kind));
}

template <typename Archive, typename Kind, typename Text>
void save(Archive &archive, const sdk::utility::name_info_impl<Kind, Text> &data)
{
    const auto string = [](const Text &text) {
        if constexpr (std::is_pointer_v<Text>)
            return std::string{text != nullptr ? text : ""};
        else
            return std::string{text};
    };
    std::vector<std::string> operations;
    operations.reserve(data.operations.size());
    for (const Text &operation : data.operations)
        operations.push_back(string(operation));
    archive(make_nvp("kind", string(data.name)));
    archive(make_nvp("operations", operations));
}

template <typename Archive, typename Element>
void save(Archive &archive, const sdk::container::c_array<Element> &data)
{
    archive(make_size_tag(static_cast<size_type>(data.size())));
    for (const Element &element : data)
        archive(element);
}

/** What the pointers point to; those that are NULL are left out. */
template <typename Archive, typename Element>
void save(Archive &archive, const sdk::container::c_array<Element *> &data)
{
    const auto absent = std::count(data.begin(), data.end(), nullptr);
    archive(make_size_tag(static_cast<size_type>(data.size()) - static_cast<size_type>(absent)));
    for (const Element *element : data) {
        if (element != nullptr)
            archive(*element);
    }
}

ROCPROFILER_SDK_CEREAL_NAMESPACE_END

#endif
