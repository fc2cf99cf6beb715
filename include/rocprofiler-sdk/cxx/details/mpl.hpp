/* Questions about types, for templates of tools. C++17. */
#ifndef ROCPROFILER_SDK_CXX_DETAILS_MPL_HPP
#define ROCPROFILER_SDK_CXX_DETAILS_MPL_HPP

#include <iterator>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace rocprofiler::sdk::mpl
{
/** Type without reference, const and volatile; arrays and functions as the pointers they decay to.
 */
template <typename Type> struct unqualified_identity {
    using type = std::remove_cv_t<std::decay_t<Type>>;
};
template <typename Type> using unqualified_identity_t = typename unqualified_identity<Type>::type;
template <typename Type> using basic_identity_t = unqualified_identity_t<Type>;

template <typename One, typename Other>
struct is_same_unqualified_identity
    : std::is_same<unqualified_identity_t<One>, unqualified_identity_t<Other>> {
};
template <typename One, typename Other>
using is_basic_same = is_same_unqualified_identity<One, Other>;

/** How a table of C strings keeps them: `value` tells whether Type can, operator() converts. */
template <typename Type> struct string_support {
    using type = Type;
    using return_type = void;
    static constexpr bool value = false;
    static constexpr void default_value() {}
};

namespace impl
{
template <typename Text> struct keeps_strings {
    using type = Text;
    using return_type = Text;
    static constexpr bool value = true;
    static constexpr Text default_value()
    {
        return Text{};
    }
    /** A NULL that Text cannot hold is an empty text. */
    Text operator()(const char *text) const
    {
        if constexpr (std::is_pointer_v<Text>)
            return text;
        else
            return text != nullptr ? Text{text} : Text{};
    }
};

/* Whether Question<Type> names anything. */
template <template <typename> class Question, typename Type, typename = void>
struct answers : std::false_type {
};
template <template <typename> class Question, typename Type>
struct answers<Question, Type, std::void_t<Question<Type>>> : std::true_type {
};

template <typename Type> using traits_of = typename Type::traits_type;
template <typename Type> using value_type_of = typename Type::value_type;
template <typename Type> using key_type_of = typename Type::key_type;
template <typename Type> using mapped_type_of = typename Type::mapped_type;
template <typename Type> using emptiness_of = decltype(bool(std::declval<const Type &>().empty()));
template <typename Type>
using stream_of = decltype(std::declval<std::ostream &>() << std::declval<const Type &>());
template <typename Type>
using range_of =
    decltype(std::begin(std::declval<const Type &>()) != std::end(std::declval<const Type &>()));

template <typename Type> struct is_string_type : std::false_type {
};
template <> struct is_string_type<std::string> : std::true_type {
};
template <> struct is_string_type<std::string_view> : std::true_type {
};
template <> struct is_string_type<const char *> : std::true_type {
};
template <> struct is_string_type<char *> : std::true_type {
};

/* A constant that can also be called. */
template <bool Holds> struct verdict {
    static constexpr bool value = Holds;
    constexpr bool operator()() const
    {
        return Holds;
    }
};
} // namespace impl

template <> struct string_support<const char *> : impl::keeps_strings<const char *> {
};
template <> struct string_support<std::string_view> : impl::keeps_strings<std::string_view> {
};
template <> struct string_support<std::string> : impl::keeps_strings<std::string> {
};

/** A C string, std::string or std::string_view, however qualified. */
template <typename Type>
struct is_string_type : impl::is_string_type<unqualified_identity_t<Type>> {
};

/* Asked with a 0: has_value_type<Type>(0). */
template <typename Type> constexpr bool has_traits(int)
{
    return impl::answers<impl::traits_of, Type>::value;
}
template <typename Type> constexpr bool has_value_type(int)
{
    return impl::answers<impl::value_type_of, Type>::value;
}
template <typename Type> constexpr bool has_key_type(int)
{
    return impl::answers<impl::key_type_of, Type>::value;
}
template <typename Type> constexpr bool has_mapped_type(int)
{
    return impl::answers<impl::mapped_type_of, Type>::value;
}

/* Asked by ::value or by a call of an object. */
template <typename Type>
struct has_empty_member_function : impl::verdict<impl::answers<impl::emptiness_of, Type>::value> {
};
template <typename Type>
struct can_stringify : impl::verdict<impl::answers<impl::stream_of, Type>::value> {
};
template <typename Type>
struct is_iterable : impl::verdict<impl::answers<impl::range_of, Type>::value> {
};
template <typename Type> using supports_ostream = can_stringify<Type>;

/** Whether a text or container holds nothing; nothing else is ever empty. NULL is an empty text. */
template <typename Type> bool is_empty(const Type &value)
{
    if constexpr (has_empty_member_function<Type>::value)
        return value.empty();
    else if constexpr (std::is_pointer_v<Type> && is_string_type<Type>::value)
        return value == nullptr || *value == '\0';
    else if constexpr (is_string_type<Type>::value) // an array of characters
        return *value == '\0';
    else
        return false;
}

namespace impl
{
template <typename Container, typename... Arguments>
auto emplace(Container &container, int, Arguments &&...arguments)
    -> decltype(container.emplace_back(std::forward<Arguments>(arguments)...))
{
    return container.emplace_back(std::forward<Arguments>(arguments)...);
}
template <typename Container, typename... Arguments>
auto emplace(Container &container, long, Arguments &&...arguments)
    -> decltype(container.emplace(std::forward<Arguments>(arguments)...))
{
    return container.emplace(std::forward<Arguments>(arguments)...);
}

template <typename Container, typename Size>
auto reserve(Container &container, int, Size size) -> decltype(container.reserve(size), bool())
{
    container.reserve(size);
    return true;
}
template <typename Container, typename Size> bool reserve(Container &, long, Size)
{
    return false;
}
} // namespace impl

/** At the end of a sequence, in its place of a set or map. */
template <typename Container, typename... Arguments>
auto emplace(Container &container, Arguments &&...arguments)
{
    return impl::emplace(container, 0, std::forward<Arguments>(arguments)...);
}

/** False for containers that have nothing to reserve. */
template <typename Container, typename Size> auto reserve(Container &container, Size size)
{
    return impl::reserve(container, 0, size);
}

/** False, but only known to be when Type is: for static_assert in what must not be instantiated. */
template <typename Type> struct assert_false {
    static constexpr bool value = false;
};
} // namespace rocprofiler::sdk::mpl

#endif
