/* Values of any types as one text, with something between them. C++17.
 *
 *     join(", ", 1, "two", std::vector{3, 4})             1, two, [3, 4]
 *     join(std::array<std::string_view, 3>{";", "<", ">"}, a, b)     between, before, after
 *     join<QuoteStrings>(':', "key", std::map<...>{...})  "key":[{"a", 1}, {"b", 2}]
 *
 * Texts and containers that are empty are left out; of nothing but those comes an empty text,
 * without what goes before and after. */
#ifndef ROCPROFILER_SDK_CXX_DETAILS_JOIN_HPP
#define ROCPROFILER_SDK_CXX_DETAILS_JOIN_HPP

#include <rocprofiler-sdk/cxx/details/mpl.hpp>

#include <array>
#include <cstddef>
#include <ios>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace rocprofiler::sdk::join
{
enum { NoQuoteStrings = 0, QuoteStrings = 1 };

template <typename... Arguments> void consume_args(Arguments &&...) {}

/** What goes between, before and after; numbered, so that configurations tell theirs apart. */
template <std::size_t Number> struct triplet_config {
    static constexpr std::size_t index()
    {
        return Number;
    }
    std::string_view delimiter = {};
    std::string_view prefix = {};
    std::string_view suffix = {};
};
using generic_config = triplet_config<0>; /**< Of the arguments */
using array_config = triplet_config<1>;   /**< Of a container's elements */
using pair_config = triplet_config<2>;    /**< Of a map's keys and values */

/** The texts it views must live as long as it does. */
struct config : generic_config {
    using format_flags_t = std::ios_base::fmtflags;
    using base_type = generic_config;

    config() = default;
    config(std::string_view between) : base_type{between, {}, {}} {}
    config(const char *between) : base_type{between, {}, {}} {}
    config(generic_config arguments) : base_type{arguments} {}
    config(array_config elements) : array{elements} {}
    config(pair_config pairs) : pair{pairs} {}
    config(generic_config arguments, array_config elements) : base_type{arguments}, array{elements}
    {
    }
    config(generic_config arguments, pair_config pairs) : base_type{arguments}, pair{pairs} {}
    config(array_config elements, pair_config pairs) : array{elements}, pair{pairs} {}

    format_flags_t flags = std::ios_base::boolalpha;
    array_config array = {", ", "[", "]"};
    pair_config pair = {", ", "{", "}"};
};

namespace impl
{
template <int Trait, typename Value>
void append(std::ostream &out, const config &how, const Value &value);

template <typename Value> constexpr bool is_map()
{
    return mpl::has_key_type<Value>(0) && mpl::has_mapped_type<Value>(0);
}

/* Streams and the like have a traits_type, and are no containers. */
template <typename Value> constexpr bool is_container()
{
    return mpl::is_iterable<Value>::value && !mpl::has_traits<Value>(0) &&
           (mpl::has_value_type<Value>(0) || is_map<Value>());
}

template <int Trait, typename Text> void append_text(std::ostream &out, const Text &text)
{
    const char *const quote = Trait == QuoteStrings ? "\"" : "";
    out << quote;
    if (!mpl::is_empty(text))
        out << text;
    out << quote;
}

template <int Trait, typename Container>
void append_container(std::ostream &out, const config &how, const Container &container)
{
    bool first = true;
    for (const auto &element : container) {
        out << (first ? how.array.prefix : how.array.delimiter);
        first = false;
        if constexpr (is_map<Container>()) {
            out << how.pair.prefix;
            append<Trait>(out, how, element.first);
            out << how.pair.delimiter;
            append<Trait>(out, how, element.second);
            out << how.pair.suffix;
        } else {
            append<Trait>(out, how, element);
        }
    }
    if (!first)
        out << how.array.suffix;
}

template <int Trait, typename Value>
void append(std::ostream &out, const config &how, const Value &value)
{
    if constexpr (mpl::is_string_type<Value>::value) {
        append_text<Trait>(out, value);
    } else if constexpr (is_container<Value>()) {
        append_container<Trait>(out, how, value);
    } else {
        static_assert(mpl::can_stringify<Value>::value,
                      "join: neither a text, nor a container, nor anything with operator<<");
        out << value;
    }
}

template <int Trait, typename Value>
void append_argument(std::ostream &out, const config &how, bool &first, const Value &value)
{
    if (mpl::is_empty(value))
        return;
    if (!first)
        out << how.delimiter;
    first = false;
    append<Trait>(out, how, value);
}
} // namespace impl

template <int Trait = NoQuoteStrings, typename... Arguments>
std::string join(config how, const Arguments &...arguments)
{
    std::ostringstream out;
    out.flags(how.flags);
    bool first = true;
    (impl::append_argument<Trait>(out, how, first, arguments), ...);
    if (first)
        return {};
    return std::string{how.prefix} + out.str() + std::string{how.suffix};
}

/** Between, before, after. */
template <int Trait = NoQuoteStrings, typename... Arguments>
std::string join(std::array<std::string_view, 3> &&texts, const Arguments &...arguments)
{
    return join<Trait>(config{generic_config{texts[0], texts[1], texts[2]}}, arguments...);
}

/** `between` is a character, a text, or one of the configurations. */
template <int Trait = NoQuoteStrings, typename Between, typename... Arguments,
          std::enable_if_t<!mpl::is_basic_same<config, Between>::value, int> = 0>
std::string join(Between &&between, const Arguments &...arguments)
{
    if constexpr (std::is_same_v<mpl::unqualified_identity_t<Between>, char>)
        return join<Trait>(config{std::string_view{&between, 1}}, arguments...);
    else
        return join<Trait>(config{std::forward<Between>(between)}, arguments...);
}

/** In quotation marks; nothing stays nothing. */
template <typename Argument> std::string quoted(const Argument &argument)
{
    return join(config{generic_config{{}, "\"", "\""}}, argument);
}
} // namespace rocprofiler::sdk::join

#endif
