/* Categories and annotations, on a stand-in for Perfetto's SDK, which Debian 12 does not have. */
#include "check.hpp"

#include <rocprofiler-sdk/cxx/name_info.hpp>
#include <rocprofiler-sdk/cxx/perfetto.hpp>

#include <cstring>
#include <set>
#include <string>
#include <string_view>

namespace sdk = rocprofiler::sdk;

namespace
{
std::set<std::string_view> defined_categories()
{
    std::set<std::string_view> names;
    for (const auto &category : perfetto_double::categories)
        names.insert(category.name);
    return names;
}

void categories_are_defined_once_and_described()
{
    const auto names = defined_categories();
    CHECK(names.size() == std::size(perfetto_double::categories));
    for (const char *name :
         {"hsa_api", "hip_api", "marker_api", "rccl_api", "openmp", "kernel_dispatch",
          "memory_copy", "memory_allocation", "rocdecode_api", "rocjpeg_api", "counter_collection",
          "kfd_events", "scratch_memory", "none"})
        CHECK(names.count(name) == 1);
    for (const auto &category : perfetto_double::categories)
        CHECK(category.description != nullptr && category.description[0] != '\0');
    CHECK(std::strcmp(sdk::perfetto_category<sdk::category::memory_copy>::name, "memory_copy") ==
          0);
}

/* Perfetto stops the program at an event of a category that is not defined. */
template <typename Kind> void every_kind_has_a_defined_category(int count)
{
    const auto names = defined_categories();
    for (int kind = 0; kind < count; kind++) {
        const char *category = sdk::get_perfetto_category(static_cast<Kind>(kind));
        CHECK(category != nullptr && names.count(category) == 1);
    }
    CHECK(sdk::get_perfetto_category(static_cast<Kind>(count)) == nullptr);
}

/* The names of the kinds say where they belong. */
void kinds_are_in_the_category_of_their_name()
{
    const auto names = sdk::get_buffer_tracing_names();
    for (const auto *kind : names.items()) {
        const std::string_view category = sdk::get_perfetto_category(kind->value);
        const auto begins = [kind](std::string_view text) {
            return kind->name.rfind(text, 0) == 0;
        };
        CHECK(begins("HSA_") == (category == "hsa_api"));
        CHECK(begins("HIP_") == (category == "hip_api"));
        CHECK(begins("MARKER_") == (category == "marker_api"));
        CHECK(begins("KFD_") == (category == "kfd_events"));
        CHECK(begins("OMPT") == (category == "openmp"));
    }
    CHECK(sdk::get_perfetto_category(ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT) ==
          std::string_view{"none"});
    using of_kernels =
        sdk::rocprofiler_tracing_perfetto_category<rocprofiler_callback_tracing_kind_t,
                                                   ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH>;
    CHECK(of_kernels::name == std::string_view{"kernel_dispatch"});
}

template <typename Value> std::string annotated(Value &&value)
{
    perfetto::TrackEvent event;
    perfetto::EventContext context{event};
    sdk::add_perfetto_annotation(context, "name", std::forward<Value>(value));
    CHECK(event.annotations.size() == 1 && event.annotations[0].name == "name");
    return event.annotations[0].value;
}

struct shown_by_itself {
};
std::ostream &operator<<(std::ostream &out, shown_by_itself)
{
    return out << "itself";
}

void annotations_keep_the_type_of_their_value()
{
    const std::string_view part = std::string_view{"one two"}.substr(0, 3);
    CHECK(annotated("text") == "string text");
    CHECK(annotated(part) == "string one");
    CHECK(annotated(std::string{"text"}) == "string text");
    CHECK(annotated(static_cast<const char *>(nullptr)) == "string ");
    CHECK(annotated(true) == "bool true");
    CHECK(annotated(-7) == "int -7");
    CHECK(annotated(7U) == "uint 7");
    CHECK(annotated(UINT64_MAX) == "uint 18446744073709551615");
    CHECK(annotated(ROCPROFILER_CALLBACK_PHASE_EXIT) == "int 2");
    CHECK(annotated(0.5F) == "double 0.500000");
    CHECK(annotated(reinterpret_cast<void *>(16)) == "pointer 16");
    CHECK(annotated(shown_by_itself{}) == "string itself");
}

void names_of_annotations_are_any_text()
{
    perfetto::TrackEvent event;
    perfetto::EventContext context{event};
    sdk::add_perfetto_annotation(context, std::string{"a"}, 1);
    sdk::add_perfetto_annotation(context, std::string_view{"abc"}.substr(1, 1), 1);
    CHECK(event.annotations[0].name == "a" && event.annotations[1].name == "b");
}
} // namespace

int main()
{
    categories_are_defined_once_and_described();
    every_kind_has_a_defined_category<rocprofiler_buffer_tracing_kind_t>(
        ROCPROFILER_BUFFER_TRACING_LAST);
    every_kind_has_a_defined_category<rocprofiler_callback_tracing_kind_t>(
        ROCPROFILER_CALLBACK_TRACING_LAST);
    kinds_are_in_the_category_of_their_name();
    annotations_keep_the_type_of_their_value();
    names_of_annotations_are_any_text();
    return failures == 0 ? 0 : 1;
}
