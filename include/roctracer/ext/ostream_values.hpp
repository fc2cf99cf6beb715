/*
 * How hip_ostream_ops.h and hsa_ostream_ops.h write values to a stream. C++17.
 *
 * Structures are written as {member=value, ...}, as deep as `depth_max` of their API says, and only
 * those members whose "structure::member" contains its `structs_regex`. Pointers are written as
 * addresses, but const char * as text. Which members a structure has is asked of the compiler, so
 * that one header serves every release of the runtime.
 */
#ifndef ROCTRACER_EXT_OSTREAM_VALUES_HPP_
#define ROCTRACER_EXT_OSTREAM_VALUES_HPP_

#include <cctype>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <ostream>
#include <string>
#include <type_traits>

namespace roctracer
{
namespace ostream_values
{

/** Specialised for each structure: name() and visit(visitor), which is given every member's name
 * and a function that reads it, if the structure has it. */
template <typename T> struct members {
    static constexpr bool known = false;
};

#define ROCTRACER_MEMBER(name)                                                                     \
    visitor(#name, [](const auto &v) -> const decltype(v.name) & { return v.name; })
#define ROCTRACER_BIT_FIELD(name)                                                                  \
    visitor(#name, [](const auto &v) -> decltype(+v.name) { return v.name; })

inline void text_write(std::ostream &out, const char *text, std::size_t size)
{
    static const char plain[] = "\"\\\b\f\n\r\t", escaped[] = "\"\\bfnrt";
    out.put('"');
    for (std::size_t i = 0; i < size && text[i]; i++) {
        const char *special = std::strchr(plain, text[i]);
        char hexadecimal[8];
        std::snprintf(hexadecimal, sizeof hexadecimal, "\\x%02x",
                      static_cast<unsigned char>(text[i]));
        if (special != nullptr)
            out.put('\\').put(escaped[special - plain]);
        else if (std::isprint(static_cast<unsigned char>(text[i])))
            out.put(text[i]);
        else
            out.write(hexadecimal, 4);
    }
    out.put('"');
}

/** `Api` has static members depth_max(), depth() and structs_regex(). */
template <typename Api> class writer
{
  public:
    explicit writer(std::ostream &stream) : out(stream) {}

    template <typename T> void value(const T &v) const
    {
        if constexpr (members<T>::known)
            structure(v);
        else if constexpr (std::is_array_v<T>)
            array(v);
        else if constexpr (std::is_enum_v<T>)
            out << static_cast<long long>(v);
        else if constexpr (std::is_pointer_v<T>)
            pointer(v);
        else if constexpr (std::is_integral_v<T> && sizeof(T) == 1)
            out << static_cast<unsigned>(static_cast<unsigned char>(v));
        else if constexpr (std::is_arithmetic_v<T>)
            out << v;
        else
            out << "{}"; /* of a release after this header, or a union */
    }

  private:
    std::ostream &out;

    template <typename T> void pointer(T v) const
    {
        if constexpr (std::is_function_v<std::remove_pointer_t<T>>)
            out << reinterpret_cast<const void *>(v);
        else if constexpr (std::is_same_v<T, const char *>)
            v != nullptr ? text_write(out, v, std::strlen(v)) : static_cast<void>(out << "NULL");
        else
            out << const_cast<const void *>(static_cast<const volatile void *>(v));
    }

    template <typename T, std::size_t N> void array(const T (&v)[N]) const
    {
        if constexpr (std::is_same_v<T, char>) {
            text_write(out, v, N);
        } else {
            for (std::size_t i = 0; i < N; i++) {
                out << (i == 0 ? "{" : ", ");
                value(v[i]);
            }
            out << '}';
        }
    }

    template <typename T> void structure(const T &v) const
    {
        bool first = true;
        out << '{';
        Api::depth()++;
        if (Api::depth_max() == -1 || Api::depth() <= Api::depth_max())
            members<T>::visit([&](const char *name, auto read) {
                if constexpr (std::is_invocable_v<decltype(read), const T &>) {
                    std::string full = std::string(members<T>::name()) + "::" + name;
                    if (full.find(Api::structs_regex()) == std::string::npos)
                        return;
                    out << (first ? "" : ", ") << name << '=';
                    value(read(v));
                    first = false;
                }
            });
        Api::depth()--;
        out << '}';
    }
};

/** A call with its arguments: name(argument, ...) = result. */
template <typename Api> class call_writer
{
  public:
    explicit call_writer(std::ostream &stream) : out(stream) {}

    template <typename R, typename... T>
    void result(const R &result, const char *name, const T &...arguments) const
    {
        call(name, arguments...);
        writer<Api>(out).value(result);
    }

    template <typename... T> void nothing(const char *name, const T &...arguments) const
    {
        call(name, arguments...);
        out << "void";
    }

  private:
    std::ostream &out;

    template <typename T> void argument(const char *&separator, const T &v) const
    {
        out << separator;
        separator = ", ";
        if constexpr (std::is_same_v<T, const char *>)
            out << static_cast<const void *>(v);
        else
            writer<Api>(out).value(v);
    }

    template <typename... T> void call(const char *name, const T &...arguments) const
    {
        [[maybe_unused]] const char *separator = "";
        out << name << '(';
        (argument(separator, arguments), ...);
        out << ") = ";
    }
};

} // namespace ostream_values
} // namespace roctracer

#endif
