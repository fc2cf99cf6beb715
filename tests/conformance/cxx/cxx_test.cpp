/* What tools in C++ rely on: tables of names, handles as keys, ordering, packed versions. */
#include <rocprofiler-sdk-roctx/version.h>
#include <rocprofiler-sdk/cxx/container/c_array.hpp>
#include <rocprofiler-sdk/cxx/details/tokenize.hpp>
#include <rocprofiler-sdk/cxx/enum_string.hpp>
#include <rocprofiler-sdk/cxx/hash.hpp>
#include <rocprofiler-sdk/cxx/name_info.hpp>
#include <rocprofiler-sdk/cxx/operators.hpp>
#include <rocprofiler-sdk/cxx/utility.hpp>
#include <rocprofiler-sdk/cxx/version.hpp>
#include <rocprofiler-sdk/ext_version.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include "check.hpp"

#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <unordered_map>

static void names_are_those_of_the_library()
{
    const auto names = rocprofiler::sdk::get_buffer_tracing_names();
    constexpr auto kind = ROCPROFILER_BUFFER_TRACING_HSA_CORE_API;
    CHECK(names.at(kind) == "HSA_CORE_API");
    CHECK(names[kind].value == kind);
    CHECK(names[kind]() == names.at(kind));
    CHECK(names.at(kind, ROCPROFILER_HSA_CORE_API_ID_hsa_init) == "hsa_init");
    CHECK(names[kind][ROCPROFILER_HSA_CORE_API_ID_hsa_init] == "hsa_init");
    CHECK(names.items().size() == names.size());
    CHECK(names.at(ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH) == "KERNEL_DISPATCH");
    CHECK(throws<std::out_of_range>([&] { names.at(ROCPROFILER_BUFFER_TRACING_LAST); }));
    CHECK(throws<std::out_of_range>([&] { names.at(kind, ROCPROFILER_HSA_CORE_API_ID_LAST); }));

    const auto calls = rocprofiler::sdk::get_callback_tracing_names<std::string>();
    CHECK(calls.at(ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API,
                   ROCPROFILER_HIP_RUNTIME_API_ID_hipMalloc) == std::string{"hipMalloc"});
}

/* Every name, one by one, against the query functions that the table was not filled by hand from.
 */
static void no_name_is_missing()
{
    const auto names = rocprofiler::sdk::get_callback_tracing_names<const char *>();
    CHECK(names.size() == ROCPROFILER_CALLBACK_TRACING_LAST);
    for (const auto &kind : names) {
        for (const auto &[operation, name] : kind.items()) {
            const char *expected = nullptr;
            rocprofiler_query_callback_tracing_kind_operation_name(kind.value, operation, &expected,
                                                                   nullptr);
            CHECK(*name == expected);
        }
    }
}

static void handles_are_keys()
{
    std::unordered_map<rocprofiler_agent_id_t, int> hashed;
    std::map<rocprofiler_context_id_t, int> sorted;
    for (std::uint64_t i = 1; i <= 100; i++) {
        hashed[rocprofiler_agent_id_t{i}] = static_cast<int>(i);
        sorted[rocprofiler_context_id_t{101 - i}] = static_cast<int>(i);
    }
    CHECK(hashed.size() == 100 && hashed.at(rocprofiler_agent_id_t{42}) == 42);
    CHECK(sorted.begin()->first == rocprofiler_context_id_t{1} && sorted.begin()->second == 100);
    CHECK(rocprofiler_buffer_id_t{1} != rocprofiler_buffer_id_t{2});
    CHECK(rocprofiler_buffer_id_t{2} >= rocprofiler_buffer_id_t{2});
    CHECK(hsa_signal_t{1} < hsa_signal_t{2});
}

static void structures_compare()
{
    CHECK((rocprofiler_dim3_t{1, 1, 8} < rocprofiler_dim3_t{3, 3, 1}));
    CHECK((rocprofiler_dim3_t{1, 2, 1} < rocprofiler_dim3_t{2, 1, 1}));
    const char one[] = "DIMENSION_XCC", same[] = "DIMENSION_XCC";
    const rocprofiler_counter_dimension_info_t left{sizeof left, one, 3},
        right{sizeof left, same, 3};
    CHECK(left == right);
    const rocprofiler_counter_dimension_info_t *in_left[] = {&left, nullptr};
    const rocprofiler_counter_dimension_info_t *in_right[] = {&right, &right};
    rocprofiler_counter_record_dimension_instance_info_t a{};
    a.dimensions_count = 1;
    a.dimensions = in_left;
    auto b = a;
    b.dimensions = in_right;
    CHECK(a == b && !(a < b) && !(b < a));
    a.dimensions_count = b.dimensions_count = 2;
    CHECK(a != b && a < b && b > a); /* an absent dimension is the least */
}

/* The names that build scripts and tools ask for, and that they agree. */
static_assert(ROCPROFILER_VERSION == 10000 && ROCPROFILER_SDK_VERSION == ROCPROFILER_VERSION);
static_assert(ROCTX_VERSION == 10000 && ROCTX_SOVERSION == 10000 && ROCTX_IS_ROCPROFILER_SDK == 1);
static_assert(ROCPROFILER_HSA_RUNTIME_VERSION == 11800);
static_assert(ROCPROFILER_HSA_AMD_EXT_API_TABLE_MAJOR_VERSION == 2);
static_assert(sizeof ROCPROFILER_COMPILER_ID && sizeof ROCPROFILER_COMPILER_VERSION &&
              sizeof ROCPROFILER_SYSTEM_VERSION && sizeof ROCPROFILER_SYSTEM_PROCESSOR);
static_assert(sizeof ROCTX_GIT_DESCRIBE && sizeof ROCTX_GIT_REVISION && sizeof ROCTX_LIBRARY_ARCH &&
              sizeof ROCTX_SYSTEM_NAME && sizeof ROCTX_SYSTEM_PROCESSOR &&
              sizeof ROCTX_SYSTEM_VERSION && sizeof ROCTX_COMPILER_ID &&
              sizeof ROCTX_COMPILER_VERSION);

static void versions_come_apart()
{
    constexpr auto sdk = rocprofiler::sdk::version::compute_version_triplet(30201);
    static_assert(sdk.major == 3 && sdk.minor == 2 && sdk.patch == 1);
    constexpr auto hip = rocprofiler::sdk::version::compute_version_triplet<1000>(3002001);
    CHECK(hip == sdk);
}

static void enumerators_have_their_names()
{
    using rocprofiler::sdk::get_enum_label;
    static_assert(get_enum_label(ROCPROFILER_STATUS_SUCCESS) == "ROCPROFILER_STATUS_SUCCESS");
    CHECK(get_enum_label(ROCPROFILER_HIP_RUNTIME_API_ID_hipMalloc) ==
          "ROCPROFILER_HIP_RUNTIME_API_ID_hipMalloc");
    CHECK(get_enum_label(ROCPROFILER_HSA_CORE_API_ID_NONE) == "ROCPROFILER_HSA_CORE_API_ID_NONE");
    CHECK(get_enum_label(static_cast<rocprofiler_agent_type_t>(99)) ==
          "unsupported_rocprofiler_agent_type_t");
    for (int i = 0; i < ROCPROFILER_STATUS_LAST; i++) {
        const auto status = static_cast<rocprofiler_status_t>(i);
        CHECK(get_enum_label(status) == rocprofiler_get_status_name(status));
    }
}

static void numbers_become_hexadecimal()
{
    using rocprofiler::sdk::utility::as_hex;
    CHECK(as_hex(0) == "0x0" && as_hex(255) == "0xff" && as_hex(10u, 4) == "0x000a");
    CHECK(as_hex(-1) == "0xffffffffffffffff");
    CHECK(as_hex(reinterpret_cast<void *>(0x1234)) == "0x1234");
}

static void text_comes_apart()
{
    using namespace rocprofiler::sdk::parse;
    using strings = std::vector<std::string>;
    CHECK((tokenize("a, b;;c ") == strings{"a", "b", "c"}));
    CHECK(tokenize("").empty() && tokenize(" ,;").empty());
    CHECK((tokenize<std::set<std::string>>("b:a:b", ":") == std::set<std::string>{"a", "b"}));
    const auto doubled = [](std::string &&piece) { return piece + piece; };
    CHECK((tokenize<strings>("x y", " ", doubled) == strings{"xx", "yy"}));
    const std::vector<std::string_view> arrows{"->", "=>"};
    CHECK((tokenize("a->b=>->c", arrows) == strings{"a", "b", "", "c"}));
    CHECK(from_string<int>("42 apples") == 42 && from_string<int>(std::string{"x"}) == 0);
    CHECK(strip("  a b ", " ") == "a b" && strip("xxx", "x").empty());
    const auto upper = [](const std::string &) { return std::string{"<T>"}; };
    CHECK(str_transform("f(int) g(int)", "int", "", upper) == "f(<T>) g(<T>)");
    CHECK(str_transform("a{b}c{d", "{", "}", upper) == "a<T>}c{d");
}

static void arrays_of_c_are_seen()
{
    int numbers[] = {1, 2, 3, 4};
    auto view = rocprofiler::sdk::container::make_c_array(numbers, 4);
    int sum = 0;
    for (const int number : view)
        sum += number;
    CHECK(sum == 10 && view.size() == 4 && view[2] == 3 && view.at(3) == 4);
    CHECK(throws<std::out_of_range>([&] { view.at(4); }));
    CHECK(view.slice(1, 3).size() == 2 && view.slice(1, 3)[0] == 2);
    view.pop_front();
    view.pop_back();
    CHECK(view.size() == 2 && view[0] == 2 && static_cast<int *>(view) == numbers + 1);
}

int main()
{
    enumerators_have_their_names();
    numbers_become_hexadecimal();
    text_comes_apart();
    arrays_of_c_are_seen();
    names_are_those_of_the_library();
    no_name_is_missing();
    handles_are_keys();
    structures_compare();
    versions_come_apart();
    return failures != 0;
}
