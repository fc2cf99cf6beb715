/* The names of all tracing kinds and of their operations, gathered once into a table that a tool
 * can index by kind and operation. C++17.
 *
 *     const auto names = rocprofiler::sdk::get_buffer_tracing_names();
 *     names.at(ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API);           // the kind
 *     names.at(ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API, record->operation);
 *     names[record->kind][record->operation];                        // the same
 *
 * Text is std::string_view (the default), const char * or std::string; the library's names live as
 * long as the library. A kind or operation that does not exist throws std::out_of_range, as
 * std::vector::at does; one without a name has an empty (or null) text. */
#ifndef ROCPROFILER_SDK_CXX_NAME_INFO_HPP
#define ROCPROFILER_SDK_CXX_NAME_INFO_HPP

#include <rocprofiler-sdk/buffer_tracing.h>
#include <rocprofiler-sdk/callback_tracing.h>
#include <rocprofiler-sdk/cxx/details/mpl.hpp>
#include <rocprofiler-sdk/fwd.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rocprofiler::sdk
{
namespace utility
{
/** One kind: its name and, indexed by operation, the names of its operations. */
template <typename Kind, typename Text = std::string_view> struct name_info_impl {
    using support_type = mpl::string_support<Text>;
    static_assert(support_type::value, "names are std::string_view, const char * or std::string");

    using enum_type = Kind;
    using value_type = Text;
    using return_type = typename support_type::return_type;
    using item_type = std::pair<rocprofiler_tracing_operation_t, const value_type *>;
    using item_array_t = std::vector<item_type>;

    return_type operator()() const
    {
        return name;
    }
    return_type operator()(std::size_t operation) const
    {
        return operations.at(operation);
    }
    return_type operator[](std::size_t operation) const
    {
        return operations.at(operation);
    }

    /** Every operation with a pointer to its name; the pointers are valid as long as this object.
     */
    item_array_t items() const
    {
        item_array_t list;
        list.reserve(operations.size());
        for (const Text &operation : operations)
            list.emplace_back(static_cast<rocprofiler_tracing_operation_t>(list.size()),
                              &operation);
        return list;
    }

    Kind value = static_cast<Kind>(0);
    Text name = {};
    std::vector<Text> operations = {};
};

/** All kinds, indexed by kind. */
template <typename Kind, typename Text = std::string_view> struct name_info {
    using value_type = name_info_impl<Kind, Text>;
    using enum_type = Kind;
    using support_type = typename value_type::support_type;
    using return_type = typename value_type::return_type;
    using item_type = const value_type *;
    using item_array_t = std::vector<item_type>;

    /** Adds or replaces; entries in between stay without a name. */
    void emplace(Kind kind, const char *name)
    {
        value_type &entry = slot(kinds_, static_cast<std::size_t>(kind));
        entry.value = kind;
        entry.name = name;
    }
    void emplace(Kind kind, rocprofiler_tracing_operation_t operation, const char *name)
    {
        value_type &entry = slot(kinds_, static_cast<std::size_t>(kind));
        entry.value = kind;
        slot(entry.operations, static_cast<std::size_t>(operation)) = name;
    }

    return_type at(Kind kind) const
    {
        return kinds_.at(static_cast<std::size_t>(kind)).name;
    }
    return_type at(Kind kind, rocprofiler_tracing_operation_t operation) const
    {
        return kinds_.at(static_cast<std::size_t>(kind)).operations.at(operation);
    }

    item_array_t items() const
    {
        item_array_t list;
        list.reserve(kinds_.size());
        for (const value_type &kind : kinds_)
            list.push_back(&kind);
        return list;
    }

    std::size_t size() const
    {
        return kinds_.size();
    }
    auto begin()
    {
        return kinds_.begin();
    }
    auto begin() const
    {
        return kinds_.begin();
    }
    auto end()
    {
        return kinds_.end();
    }
    auto end() const
    {
        return kinds_.end();
    }
    value_type &operator[](std::size_t kind)
    {
        return kinds_.at(kind);
    }
    const value_type &operator[](std::size_t kind) const
    {
        return kinds_.at(kind);
    }

  private:
    template <typename Entry> static Entry &slot(std::vector<Entry> &entries, std::size_t index)
    {
        if (entries.size() <= index)
            entries.resize(index + 1);
        return entries[index];
    }

    std::vector<value_type> kinds_;
};
} // namespace utility

template <typename Text = std::string_view>
using callback_name_info_t = utility::name_info<rocprofiler_callback_tracing_kind_t, Text>;
template <typename Text = std::string_view>
using buffer_name_info_t = utility::name_info<rocprofiler_buffer_tracing_kind_t, Text>;
using callback_name_info = callback_name_info_t<std::string_view>;
using buffer_name_info = buffer_name_info_t<std::string_view>;

constexpr rocprofiler_status_t success_v = ROCPROFILER_STATUS_SUCCESS;

namespace utility
{
/* The C functions of one family of kinds. */
struct callback_tracing_names {
    static constexpr auto iterate_kinds = rocprofiler_iterate_callback_tracing_kinds;
    static constexpr auto iterate_operations = rocprofiler_iterate_callback_tracing_kind_operations;
    static constexpr auto query_kind = rocprofiler_query_callback_tracing_kind_name;
    static constexpr auto query_operation = rocprofiler_query_callback_tracing_kind_operation_name;
};
struct buffer_tracing_names {
    static constexpr auto iterate_kinds = rocprofiler_iterate_buffer_tracing_kinds;
    static constexpr auto iterate_operations = rocprofiler_iterate_buffer_tracing_kind_operations;
    static constexpr auto query_kind = rocprofiler_query_buffer_tracing_kind_name;
    static constexpr auto query_operation = rocprofiler_query_buffer_tracing_kind_operation_name;
};

template <typename Family, typename Table> Table gather_names()
{
    using kind_type = typename Table::enum_type;
    const auto on_kind = [](kind_type kind, void *data) {
        const char *name = nullptr;
        if (Family::query_kind(kind, &name, nullptr) == success_v && name)
            static_cast<Table *>(data)->emplace(kind, name);
        return 0;
    };
    const auto on_operation = [](kind_type kind, rocprofiler_tracing_operation_t operation,
                                 void *data) {
        const char *name = nullptr;
        if (Family::query_operation(kind, operation, &name, nullptr) == success_v && name)
            static_cast<Table *>(data)->emplace(kind, operation, name);
        return 0;
    };
    Table table;
    Family::iterate_kinds(on_kind, &table);
    for (std::size_t kind = 0; kind < table.size(); kind++)
        Family::iterate_operations(static_cast<kind_type>(kind), on_operation, &table);
    return table;
}
} // namespace utility

/** May be called at any time, from any thread. */
template <typename Text = std::string_view> callback_name_info_t<Text> get_callback_tracing_names()
{
    return utility::gather_names<utility::callback_tracing_names, callback_name_info_t<Text>>();
}

/** May be called at any time, from any thread. */
template <typename Text = std::string_view> buffer_name_info_t<Text> get_buffer_tracing_names()
{
    return utility::gather_names<utility::buffer_tracing_names, buffer_name_info_t<Text>>();
}
} // namespace rocprofiler::sdk

#endif
