/* Stands in for perfetto.h of Perfetto's SDK in tests: as much of it, with the same names and
 * argument types, as rocprofiler-sdk/cxx/perfetto.hpp uses. What is set is kept for the test. */
#ifndef CONFORMANCE_CXX_PERFETTO_STAND_IN_H
#define CONFORMANCE_CXX_PERFETTO_STAND_IN_H

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <string>
#include <vector>

namespace perfetto
{
struct Category {
    const char *name;
    const char *description = nullptr;

    constexpr explicit Category(const char *category_name) : name{category_name} {}
    constexpr Category SetDescription(const char *text) const
    {
        Category described{name};
        described.description = text;
        return described;
    }
};

/* One annotation: its name and "kind value". */
struct DebugAnnotation {
    std::string name, value;

    void set_name(const std::string &text)
    {
        name = text;
    }
    void set_string_value(const std::string &text)
    {
        value = "string " + text;
    }
    void set_bool_value(bool number)
    {
        value = number ? "bool true" : "bool false";
    }
    void set_int_value(std::int64_t number)
    {
        value = "int " + std::to_string(number);
    }
    void set_uint_value(std::uint64_t number)
    {
        value = "uint " + std::to_string(number);
    }
    void set_double_value(double number)
    {
        value = "double " + std::to_string(number);
    }
    void set_pointer_value(std::uint64_t number)
    {
        value = "pointer " + std::to_string(number);
    }
};

struct TrackEvent {
    std::deque<DebugAnnotation> annotations;

    DebugAnnotation *add_debug_annotations()
    {
        return &annotations.emplace_back();
    }
};

class EventContext
{
  public:
    TrackEvent *event() const
    {
        return event_;
    }
    explicit EventContext(TrackEvent &event) : event_{&event} {}

  private:
    TrackEvent *event_;
};
} // namespace perfetto

#define PERFETTO_DEFINE_CATEGORIES(...)                                                            \
    namespace perfetto_double                                                                      \
    {                                                                                              \
    constexpr ::perfetto::Category categories[] = {__VA_ARGS__};                                   \
    }                                                                                              \
    static_assert(true, "a semicolon follows")

#endif
