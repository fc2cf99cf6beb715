/* Small helpers of tools. C++17. */
#ifndef ROCPROFILER_SDK_CXX_UTILITY_HPP
#define ROCPROFILER_SDK_CXX_UTILITY_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace rocprofiler::sdk::utility
{
/** "0x" and the value in lower-case hexadecimal, filled up with zeros to `width` digits. Takes
 * integers, enumerators and pointers; a negative number is shown as 64-bit two's complement. */
template <typename Value> std::string as_hex(Value value, std::size_t width = 0)
{
    std::uint64_t bits = 0;
    if constexpr (std::is_pointer_v<Value>)
        bits = reinterpret_cast<std::uintptr_t>(value);
    else
        bits = static_cast<std::uint64_t>(value);

    std::string digits;
    do {
        digits.insert(digits.begin(), "0123456789abcdef"[bits & 15]);
        bits >>= 4;
    } while (bits != 0);
    if (digits.size() < width)
        digits.insert(0, width - digits.size(), '0');
    return "0x" + digits;
}
} // namespace rocprofiler::sdk::utility

#endif
