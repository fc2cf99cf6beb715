/* The least that a test in C++ needs: a count of what does not hold. */
#ifndef TESTS_CONFORMANCE_CXX_CHECK_HPP
#define TESTS_CONFORMANCE_CXX_CHECK_HPP

#include <cstdio>

static int failures;

static inline void check(bool holds, const char *what, int line)
{
    if (holds)
        return;
    std::printf("line %d: not so: %s\n", line, what);
    failures++;
}
#define CHECK(condition) check(condition, #condition, __LINE__)

template <typename Exception, typename Call> bool throws(Call call)
{
    try {
        call();
    } catch (const Exception &) {
        return true;
    }
    return false;
}

#endif
