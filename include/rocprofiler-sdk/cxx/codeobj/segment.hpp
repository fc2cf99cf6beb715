/* Ranges of addresses, and the table that says which one an address is in. C++17. */
#ifndef ROCPROFILER_SDK_CXX_CODEOBJ_SEGMENT_HPP
#define ROCPROFILER_SDK_CXX_CODEOBJ_SEGMENT_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream> // this and what follows: AMD's header has them, and its users rely on it
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <unordered_set>
#include <vector>

namespace rocprofiler::sdk::codeobj::segment
{
/** The id of a loaded code object. */
using marker_id_t = std::size_t;

/** Ranges that share a byte compare as equal, so that a set of disjoint ranges is searched with a
 * range of size 0. A range is in no order with one that it overlaps. */
struct address_range_t {
    std::uint64_t addr{0};
    std::uint64_t size{0};
    marker_id_t id{0};

    bool inrange(std::uint64_t address) const
    {
        return address >= addr && address - addr < size;
    }
    bool operator==(const address_range_t &other) const
    {
        return other.inrange(addr) || inrange(other.addr);
    }
    bool operator<(const address_range_t &other) const
    {
        return addr < other.addr && !(*this == other);
    }
};

/** Disjoint ranges. Not for several threads at once: the last hit is kept. */
class CodeobjTableTranslator : public std::set<address_range_t>
{
  public:
    /** The range around the address; throws std::exception where there is none. */
    address_range_t find_codeobj_in_range(std::uint64_t address)
    {
        if (last_hit_.inrange(address))
            return last_hit_;
        const auto found = find(address_range_t{address, 0, 0});
        if (found == end())
            throw std::out_of_range("no code object at this address");
        return last_hit_ = *found;
    }

    void clear_cache()
    {
        last_hit_ = {};
    }

    /** Whether there was such a range. */
    bool remove(const address_range_t &range)
    {
        clear_cache();
        return erase(range) != 0;
    }
    bool remove(std::uint64_t address)
    {
        return remove(address_range_t{address, 0, 0});
    }

  private:
    address_range_t last_hit_{};
};
} // namespace rocprofiler::sdk::codeobj::segment

#endif
