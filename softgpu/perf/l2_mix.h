/*
 * Which channel and which sets of an L2 a block of 256 bytes belongs to.
 *
 * Where groups go to several XCCs in turn, those of one XCC lie some kilobytes apart, so that the
 * bits between are the same in all that it asks for. An L2 whose channels and sets went by these
 * bits alone would use an eighth of them; the MI300X uses all: published copies find the same
 * number of requests in each of its 128 channels, and no line leaves an L2 that has room for all.
 * By which bits it does is not public. Here the bits above those that choose channels and sets are
 * folded to three, and these are added to every three of them: whichever three the XCCs take away
 * come back. Nothing above is changed, so that no two blocks become one.
 */
#ifndef PERF_L2_MIX_H
#define PERF_L2_MIX_H

#include <stdint.h>

#include "core/device.h"
#include "mem/vm.h"

enum {
    L2_BLOCK_SHIFT = 8,
    L2_MIX_BITS = 10,   /* of a block's number, that choose a channel and its sets */
    L2_MIX_EACH = 0x249 /* each third of these */
};

/* What is above these, without what is said of memory. */
#define L2_MIX_ABOVE ((UINT64_C(1) << (VM_PLACE_TYPE_SHIFT - L2_BLOCK_SHIFT - L2_MIX_BITS)) - 1)

static inline uint64_t l2_block_mixed(uint64_t block)
{
    uint64_t above = block >> L2_MIX_BITS & L2_MIX_ABOVE;
    above ^= above >> 24;
    above ^= above >> 12;
    above ^= above >> 6;
    above ^= above >> 3;
    return block ^ ((above & 7) * L2_MIX_EACH & ((1u << L2_MIX_BITS) - 1));
}

/* A byte's place, as the L2 sees it. */
static inline uint64_t l2_place_mixed(uint64_t va)
{
    return l2_block_mixed(va >> L2_BLOCK_SHIFT) << L2_BLOCK_SHIFT |
           (va & ((1u << L2_BLOCK_SHIFT) - 1));
}

#endif
