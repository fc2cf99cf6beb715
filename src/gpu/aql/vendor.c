#include "gpu/aql/vendor.h"

#include <hsa/hsa.h>

#include "gpu/pm4/packet.h"

void aql_pm4_packet_fill(struct aql_pm4_packet *packet, uint64_t commands_va, uint32_t dwords)
{
    *packet = (struct aql_pm4_packet){
        .format = AQL_FORMAT_PM4_IB,
        .indirect_buffer = {pm4_header(PM4_INDIRECT_BUFFER, 3), (uint32_t)commands_va & ~3u,
                            (uint32_t)(commands_va >> 32), pm4_ib_control(dwords)},
        .dwords_left = AQL_DWORDS_LEFT,
    };
}

uint16_t aql_vendor_header(void)
{
    return HSA_PACKET_TYPE_VENDOR_SPECIFIC << HSA_PACKET_HEADER_TYPE |
           1 << HSA_PACKET_HEADER_BARRIER |
           HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_ACQUIRE_FENCE_SCOPE |
           HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_RELEASE_FENCE_SCOPE;
}
