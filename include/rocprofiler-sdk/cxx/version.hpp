/* Version numbers packed into one integer, taken apart at compile time. C++17. */
#ifndef ROCPROFILER_SDK_CXX_VERSION_HPP
#define ROCPROFILER_SDK_CXX_VERSION_HPP

#include <rocprofiler-sdk/fwd.h>

#include <cstdint>

namespace rocprofiler::sdk::version
{
/**
 * `packed` = (major * Factor + minor) * Factor + patch. rocprofiler_configure gets a version packed
 * with 100 (ROCPROFILER_VERSION: 10000 is 1.0.0), HIP packs its own with 1000.
 */
template <std::uint64_t Factor = 100>
constexpr rocprofiler_version_triplet_t compute_version_triplet(std::uint64_t packed)
{
    static_assert(Factor > 0, "versions are packed with a positive factor");
    rocprofiler_version_triplet_t triplet{};
    triplet.patch = static_cast<std::uint32_t>(packed % Factor);
    packed /= Factor;
    triplet.minor = static_cast<std::uint32_t>(packed % Factor);
    triplet.major = static_cast<std::uint32_t>(packed / Factor);
    return triplet;
}
} // namespace rocprofiler::sdk::version

#endif
