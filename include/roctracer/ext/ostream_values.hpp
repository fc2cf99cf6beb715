/*
 * How hip_ostream_ops.h and hsa_ostream_ops.h write values to a stream. C++11.
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
 * and what reads it, if the structure has it. */
template <typename T> struct members {
    static constexpr bool known = false;
};

/** What reads the member: can be called with structures that have it. */
#define ROCTRACER_READER(name)                                                                     \
    struct name##_of {                                                                             \
        template <typename T> auto operator()(const T &v) const -> const decltype(v.name) &        \
        {                                                                                          \
            return v.name;                                                                         \
        }                                                                                          \
    };
#define ROCTRACER_BIT_FIELD_READER(name)                                                           \
    struct name##_bits_of {                                                                        \
        template <typename T> auto operator()(const T &v) const -> decltype(+v.name)               \
        {                                                                                          \
            return v.name;                                                                         \
        }                                                                                          \
    };
#define ROCTRACER_MEMBER(name)    visitor(#name, name##_of())
#define ROCTRACER_BIT_FIELD(name) visitor(#name, name##_bits_of())

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

/** How a value is written; the first that fits. */
enum class kind { structure, array, enumeration, pointer, byte, number, other };

template <typename T>
using writing_of =
    std::integral_constant<kind, members<T>::known                              ? kind::structure
                                 : std::is_array<T>::value                      ? kind::array
                                 : std::is_enum<T>::value                       ? kind::enumeration
                                 : std::is_pointer<T>::value                    ? kind::pointer
                                 : !std::is_arithmetic<T>::value                ? kind::other
                                 : std::is_integral<T>::value && sizeof(T) == 1 ? kind::byte
                                                                                : kind::number>;

/** `Api` has static members depth_max(), depth() and structs_regex(). */
template <typename Api> class writer
{
  public:
    explicit writer(std::ostream &stream) : out(stream) {}

    template <typename T> void value(const T &v) const
    {
        write(v, writing_of<T>());
    }

  private:
    std::ostream &out;
    template <kind K> using is = std::integral_constant<kind, K>;

    template <typename T> void write(const T &v, is<kind::array>) const
    {
        array(v);
    }
    template <typename T> void write(const T &v, is<kind::pointer>) const
    {
        pointer(v);
    }
    template <typename T> void write(const T &v, is<kind::number>) const
    {
        out << v;
    }
    template <typename T> void write(const T &v, is<kind::enumeration>) const
    {
        out << static_cast<long long>(v);
    }
    template <typename T> void write(const T &v, is<kind::byte>) const
    {
        out << static_cast<unsigned>(static_cast<unsigned char>(v));
    }
    /* Of a release after this header, or a union. */
    template <typename T> void write(const T &, is<kind::other>) const
    {
        out << "{}";
    }

    void pointer(const char *v) const
    {
        if (v != nullptr)
            text_write(out, v, std::strlen(v));
        else
            out << "NULL";
    }
    template <typename T> void pointer(T *v) const
    {
        address(v, std::is_function<T>());
    }
    template <typename T> void address(T *v, std::true_type) const
    {
        out << reinterpret_cast<const void *>(v);
    }
    template <typename T> void address(T *v, std::false_type) const
    {
        out << const_cast<const void *>(static_cast<const volatile void *>(v));
    }

    template <std::size_t N> void array(const char (&v)[N]) const
    {
        text_write(out, v, N);
    }
    template <typename T, std::size_t N> void array(const T (&v)[N]) const
    {
        for (std::size_t i = 0; i < N; i++) {
            out << (i == 0 ? "{" : ", ");
            value(v[i]);
        }
        out << '}';
    }

    /* Called with each member of a structure; those it does not have in this release are left out.
     */
    template <typename T> struct member_writer {
        const writer &to;
        const T &v;
        mutable bool first;

        template <typename Read>
        auto one(const char *name, Read read, int) const -> decltype(read(v), void())
        {
            std::string full = std::string(members<T>::name()) + "::" + name;
            if (full.find(Api::structs_regex()) == std::string::npos)
                return;
            to.out << (first ? "" : ", ") << name << '=';
            to.value(read(v));
            first = false;
        }
        template <typename Read> void one(const char *, Read, long) const {}
        template <typename Read> void operator()(const char *name, Read read) const
        {
            one(name, read, 0);
        }
    };

    template <typename T> void write(const T &v, is<kind::structure>) const
    {
        out << '{';
        Api::depth()++;
        if (Api::depth_max() == -1 || Api::depth() <= Api::depth_max())
            members<T>::visit(member_writer<T>{*this, v, true});
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
    void result(const R &result, const char *name, const T &...values) const
    {
        call(name, values...);
        writer<Api>(out).value(result);
    }

    template <typename... T> void nothing(const char *name, const T &...values) const
    {
        call(name, values...);
        out << "void";
    }

  private:
    std::ostream &out;

    void argument(const char *v) const
    {
        out << static_cast<const void *>(v);
    }
    template <typename T> void argument(const T &v) const
    {
        writer<Api>(out).value(v);
    }

    void arguments(const char *) const {}
    template <typename T, typename... Rest>
    void arguments(const char *separator, const T &v, const Rest &...rest) const
    {
        out << separator;
        argument(v);
        arguments(", ", rest...);
    }

    template <typename... T> void call(const char *name, const T &...values) const
    {
        out << name << '(';
        arguments("", values...);
        out << ") = ";
    }
};

} // namespace ostream_values
} // namespace roctracer

#endif
