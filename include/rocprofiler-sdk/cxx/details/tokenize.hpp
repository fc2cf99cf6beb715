/* Text taken apart: lists in environment variables, numbers, paths. C++17. */
#ifndef ROCPROFILER_SDK_CXX_DETAILS_TOKENIZE_HPP
#define ROCPROFILER_SDK_CXX_DETAILS_TOKENIZE_HPP

#include <cstddef>
#include <functional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rocprofiler::sdk::parse
{
/** What a stream reads at the beginning of the text; a default value when it reads nothing. */
template <typename Value> Value from_string(const std::string &text)
{
    Value value{};
    std::istringstream{text} >> value;
    return value;
}

template <typename Value> Value from_string(const char *text)
{
    return from_string<Value>(std::string{text != nullptr ? text : ""});
}

/** The pieces between any of the characters in `delimiters`, without empty ones, each through
 * `transform`. `Container` has insert(): vectors, lists and sets. */
template <typename Container = std::vector<std::string>,
          typename Value = typename Container::value_type,
          typename Transform = std::function<Value(Value &&)>>
Container tokenize(
    std::string_view line, std::string_view delimiters = "\"',;: ",
    Transform &&transform = [](Value &&piece) -> Value { return std::move(piece); })
{
    Container pieces;
    while (true) {
        const auto begin = line.find_first_not_of(delimiters);
        if (begin == std::string_view::npos)
            return pieces;
        line.remove_prefix(begin);
        const auto piece = line.substr(0, line.find_first_of(delimiters));
        pieces.insert(pieces.end(), transform(Value{piece}));
        line.remove_prefix(piece.size());
    }
}

/** The pieces between whole strings, empty ones included. Of delimiters that begin at the same
 * place the first in the list divides. */
template <typename Container = std::vector<std::string>, typename Delimiter = std::string_view,
          typename Value = typename Container::value_type,
          typename Transform = Value (*)(Delimiter &&)>
Container tokenize(
    std::string_view line, const std::vector<Delimiter> &delimiters,
    Transform &&transform = [](Delimiter &&piece) -> Value { return Value{piece}; })
{
    Container pieces;
    while (true) {
        std::size_t at = std::string_view::npos, length = 0;
        for (const std::string_view delimiter : delimiters) {
            const auto found = delimiter.empty() ? std::string_view::npos : line.find(delimiter);
            if (found < at) {
                at = found;
                length = delimiter.size();
            }
        }
        pieces.insert(pieces.end(), transform(Delimiter{line.substr(0, at)}));
        if (at == std::string_view::npos)
            return pieces;
        line.remove_prefix(at + length);
    }
}

/** Every stretch that starts with `begin` and goes up to, not including, the next `end` is
 * replaced by what `transform` makes of it. With an empty `end` the stretch is `begin` itself. */
template <typename Transform = std::function<std::string(const std::string &)>>
std::string str_transform(std::string_view input, std::string_view begin, std::string_view end,
                          Transform &&transform)
{
    std::string result{input};
    std::size_t from = 0;
    while (!begin.empty() && (from = result.find(begin, from)) != std::string::npos) {
        const auto to = end.empty() ? from + begin.size() : result.find(end, from + 1);
        if (to == std::string::npos)
            break;
        const std::string replacement = transform(result.substr(from, to - from));
        result.replace(from, to - from, replacement);
        from += replacement.size();
    }
    return result;
}

/** Without the given characters at both ends; text of nothing else becomes empty. */
inline std::string strip(std::string &&text, std::string_view characters)
{
    const auto first = text.find_first_not_of(characters);
    if (first == std::string::npos)
        return {};
    return text.substr(first, text.find_last_not_of(characters) - first + 1);
}
} // namespace rocprofiler::sdk::parse

#endif
