#include "gpu/pm4/disasm.h"

#include <stddef.h>
#include <stdio.h>

#include "gpu_gfx9_regs.h"

static const struct {
    const char *name;
    uint32_t opcode, shortest, longest;
} packets[] = {
#define X(name, opcode, shortest, longest) {#name, opcode, shortest, longest},
    PM4_PACKETS(X)
#undef X
};

/* In order of offset, which the generator promises. */
static const struct {
    const char *name;
    uint32_t offset;
} registers[] = {
#define X(name, offset) {#name, offset},
    GFX9_REG_LIST(X)
#undef X
};

const char *pm4_register_name(uint32_t reg)
{
    size_t low = 0, high = sizeof registers / sizeof registers[0];
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (registers[middle].offset == reg)
            return registers[middle].name;
        if (registers[middle].offset < reg)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

uint32_t pm4_decode(const uint32_t *dwords, uint32_t count, struct pm4_packet *packet)
{
    if (count == 0 || dwords[0] >> 30 != 3)
        return 0;
    uint32_t opcode = dwords[0] >> 8 & 0xff, body = ((dwords[0] >> 16) + 1) & 0x3fff;
    for (size_t i = 0; i < sizeof packets / sizeof packets[0]; i++) {
        if (packets[i].opcode != opcode)
            continue;
        if (body < packets[i].shortest || body > packets[i].longest || body >= count)
            return 0;
        *packet = (struct pm4_packet){opcode, packets[i].name, dwords + 1, body};
        return body + 1;
    }
    return 0;
}

static const char *name_of(uint32_t reg, char number[12])
{
    const char *name = pm4_register_name(reg);
    if (name)
        return name;
    snprintf(number, 12, "0x%05x", reg);
    return number;
}

static void format_set(const struct pm4_packet *p, uint32_t start, char *text, uint32_t bytes)
{
    char number[12];
    uint32_t used = 0;
    for (uint32_t i = 1; i < p->body_dwords && used < bytes; i++) {
        int n =
            snprintf(text + used, bytes - used, "%s%s %s=%08x", i == 1 ? p->name : "",
                     i == 1 ? "" : ",", name_of(start + p->body[0] + i - 1, number), p->body[i]);
        used += n > 0 ? (uint32_t)n : 0;
    }
}

static void format_operand(uint32_t select, int is_source, uint32_t low, uint32_t high, char *text,
                           uint32_t bytes)
{
    char number[12];
    if (select == PM4_COPY_REGISTER || select == PM4_COPY_PERFCOUNTERS)
        snprintf(text, bytes, "%s%s", select == PM4_COPY_PERFCOUNTERS ? "perf:" : "",
                 name_of(low, number));
    else if (is_source && select == PM4_COPY_IMMEDIATE)
        snprintf(text, bytes, "%08x", low);
    else if (is_source && select == PM4_COPY_GPU_CLOCK)
        snprintf(text, bytes, "gpu_clock");
    else
        snprintf(text, bytes, "[%llx]", (unsigned long long)high << 32 | low);
}

static void format_copy(const struct pm4_packet *p, char *text, uint32_t bytes)
{
    char from[64], to[64];
    uint32_t control = p->body[0];
    format_operand(control & 15, 1, p->body[1], p->body[2], from, sizeof from);
    format_operand(control >> 8 & 15, 0, p->body[3], p->body[4], to, sizeof to);
    snprintf(text, bytes, "COPY_DATA%u %s -> %s", control >> 16 & 1 ? 64 : 32, from, to);
}

void pm4_format(const struct pm4_packet *p, char *text, uint32_t bytes)
{
    switch (p->opcode) {
    case PM4_SET_UCONFIG_REG:
        format_set(p, PM4_UCONFIG_START, text, bytes);
        break;
    case PM4_SET_SH_REG:
        format_set(p, PM4_SH_START, text, bytes);
        break;
    case PM4_SET_CONFIG_REG:
        format_set(p, PM4_CONFIG_START, text, bytes);
        break;
    case PM4_COPY_DATA:
        format_copy(p, text, bytes);
        break;
    case PM4_EVENT_WRITE:
        snprintf(text, bytes, "EVENT_WRITE type %u index %u", p->body[0] & 0x3f,
                 p->body[0] >> 8 & 15);
        break;
    case PM4_PRED_EXEC:
        snprintf(text, bytes, "PRED_EXEC xcc_mask %02x dwords %u", p->body[0] >> 24,
                 p->body[0] & 0x3fff);
        break;
    case PM4_INDIRECT_BUFFER:
        snprintf(text, bytes, "INDIRECT_BUFFER [%x%08x] dwords %u", p->body[1] & 0xffff, p->body[0],
                 p->body[2] & 0xfffff);
        break;
    case PM4_ACQUIRE_MEM:
        snprintf(text, bytes, "ACQUIRE_MEM control %08x chunks %u from %x%08x00", p->body[0],
                 p->body[1], p->body[4], p->body[3]);
        break;
    default:
        snprintf(text, bytes, "%s, %u dwords", p->name, p->body_dwords);
    }
}
