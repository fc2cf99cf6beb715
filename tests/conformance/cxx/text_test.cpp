/* join.hpp and mpl.hpp. */
#include "check.hpp"

#include <rocprofiler-sdk/cxx/details/join.hpp>
#include <rocprofiler-sdk/cxx/details/mpl.hpp>

#include <array>
#include <list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mpl = rocprofiler::sdk::mpl;
using namespace rocprofiler::sdk::join;

namespace
{
struct opaque {
};

static_assert(std::is_same_v<mpl::unqualified_identity_t<const char (&)[4]>, const char *>);
static_assert(mpl::is_same_unqualified_identity<const int &, int>::value);
static_assert(mpl::is_string_type<const std::string &>::value &&
              mpl::is_string_type<char[3]>::value);
static_assert(!mpl::is_string_type<std::vector<char>>::value);
static_assert(mpl::string_support<const char *>::value && !mpl::string_support<int>::value);
static_assert(mpl::string_support<std::string_view>::default_value().empty());
static_assert(std::is_same_v<mpl::string_support<std::string>::return_type, std::string>);
static_assert(mpl::has_value_type<std::vector<int>>(0) && !mpl::has_value_type<int>(0));
static_assert(mpl::has_key_type<std::set<int>>(0) && !mpl::has_mapped_type<std::set<int>>(0));
static_assert(mpl::has_mapped_type<std::map<int, int>>(0));
static_assert(mpl::has_traits<std::string>(0) && !mpl::has_traits<std::vector<int>>(0));
static_assert(mpl::is_iterable<std::list<int>>::value && !mpl::is_iterable<int>::value);
static_assert(mpl::can_stringify<double>::value && !mpl::can_stringify<opaque>{}());
static_assert(mpl::supports_ostream<std::string>::value);
static_assert(mpl::has_empty_member_function<std::string>::value);
static_assert(!mpl::assert_false<int>::value);

void emptiness()
{
    CHECK(mpl::is_empty("") && mpl::is_empty(std::string{}) && mpl::is_empty(std::vector<int>{}));
    CHECK(mpl::is_empty(static_cast<const char *>(nullptr)));
    CHECK(!mpl::is_empty("a") && !mpl::is_empty(0) && !mpl::is_empty(opaque{}));
}

void strings_of_tables()
{
    CHECK(mpl::string_support<std::string>{}("text") == "text");
    CHECK(mpl::string_support<std::string_view>{}(nullptr).empty());
    CHECK(mpl::string_support<const char *>{}(nullptr) == nullptr);
}

void containers_of_any_kind()
{
    std::vector<int> sequence;
    std::set<int> ordered;
    mpl::emplace(sequence, 3);
    mpl::emplace(ordered, 3);
    CHECK(sequence == std::vector<int>{3} && ordered == std::set<int>{3});
    CHECK(mpl::reserve(sequence, 100) && sequence.capacity() >= 100);
    CHECK(!mpl::reserve(ordered, 100));
}

void texts_are_joined()
{
    CHECK(join(", ", 1, "two", 3.5, true) == "1, two, 3.5, true");
    CHECK(join('/', "a", std::string{"b"}, std::string_view{"c"}) == "a/b/c");
    CHECK(join("", 'a', 'b') == "ab");
    CHECK(join(", ", "", 1, "", 2, "") == "1, 2");
    CHECK(join(", ").empty() && join(", ", "", std::vector<int>{}).empty());
    CHECK(join(", ", ", ", "x") == ", , x");
    CHECK(quoted("text") == "\"text\"" && quoted("").empty());
}

void containers_have_brackets()
{
    const std::vector<std::vector<int>> nested = {{1, 2}, {}, {3}};
    CHECK(join(' ', std::vector<int>{1, 2}, 3) == "[1, 2] 3");
    CHECK(join(' ', nested) == "[[1, 2], , [3]]");
    CHECK(join(' ', std::map<std::string, int>{{"a", 1}, {"b", 2}}) == "[{a, 1}, {b, 2}]");
    CHECK(join(' ', std::array<bool, 2>{true, false}) == "[true, false]");
}

void texts_are_quoted_on_request()
{
    CHECK(join<QuoteStrings>(":", "key", 1) == "\"key\":1");
    CHECK(join<QuoteStrings>(" ", std::vector<std::string>{"a", ""}) == "[\"a\", \"\"]");
    CHECK(join<QuoteStrings>(std::array<std::string_view, 3>{";", "<", ">"}, "a", 2) ==
          "<\"a\";2>");
}

void configurations_say_what_goes_between()
{
    const std::vector<int> list = {1, 2};
    const std::map<int, int> map = {{1, 2}};
    CHECK(join(std::array<std::string_view, 3>{"; ", "(", ")"}, 1, 2) == "(1; 2)");
    CHECK(join(generic_config{"-", "<", ">"}, 1, list) == "<1-[1, 2]>");
    CHECK(join(array_config{"|", "(", ")"}, list) == "(1|2)");
    CHECK(join(pair_config{"=", "", ""}, map) == "[1=2]");
    CHECK(join(config{generic_config{" "}, array_config{",", "", ""}}, list, 3) == "1,2 3");
    config numbers{" "};
    numbers.flags = std::ios_base::hex | std::ios_base::showbase;
    CHECK(join(numbers, 255, 16) == "0xff 0x10");
    CHECK(generic_config::index() == 0 && array_config::index() == 1 && pair_config::index() == 2);
}
} // namespace

int main()
{
    emptiness();
    strings_of_tables();
    containers_of_any_kind();
    texts_are_joined();
    containers_have_brackets();
    texts_are_quoted_on_request();
    configurations_say_what_goes_between();
    return failures == 0 ? 0 : 1;
}
