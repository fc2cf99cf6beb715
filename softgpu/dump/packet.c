/* Packets: which they are, and what they say. */
#include <stdarg.h>
#include <stdio.h>

#include "dump/internal.h"
#include "dump_tables.h"

enum kind { DECIMAL, HEX, ADDRESS, ENUM };

static const struct field {
    uint32_t dword, first, last;
    const char *name;
    enum kind kind;
    uint32_t enum_first, enum_count;
} fields[] = {
#define X(dword, first, last, name, kind, enum_first, enum_count)                                  \
    {dword, first, last, name, kind, enum_first, enum_count},
    DUMP_FIELD_LIST(X)
#undef X
};

static const struct {
    uint32_t value;
    const char *name;
} names[] = {
#define X(value, name) {value, name},
    DUMP_ENUM_LIST(X)
#undef X
};

static const struct packet_form {
    const char *name;
    uint32_t opcode, shortest, longest, field_first, field_count;
} forms[] = {
#define X(name, opcode, shortest, longest, first, count)                                           \
    {#name, opcode, shortest, longest, first, count},
    DUMP_PACKET_LIST(X)
#undef X
};

enum opcode {
#define X(name, opcode, shortest, longest, first, count) OP_##name = opcode,
    DUMP_PACKET_LIST(X)
#undef X
};

enum { TYPE_3 = 3, BODY_DWORDS_MASK = 0x3fff };

/* Starts of the register spaces that SET_*_REG packets count from. */
enum { CONFIG_START = 0x2000, SH_START = 0x2c00, CONTEXT_START = 0xa000, UCONFIG_START = 0xc000 };

void text_add(struct text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text->at, text->left_bytes, format, args);
    va_end(args);
    size_t used = length < 0 ? 0 : (size_t)length;
    if (used >= text->left_bytes)
        used = text->left_bytes ? text->left_bytes - 1 : 0;
    text->at += used;
    text->left_bytes -= used;
}

static const struct packet_form *form_find(uint32_t opcode)
{
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (forms[i].opcode == opcode)
            return &forms[i];
    }
    return NULL;
}

uint32_t dump_decode(const uint32_t *dwords, uint32_t count, struct dump_packet *packet)
{
    if (count == 0 || dwords[0] >> 30 != TYPE_3)
        return 0;
    uint32_t opcode = dwords[0] >> 8 & 0xff;
    uint32_t body = ((dwords[0] >> 16) + 1) & BODY_DWORDS_MASK;
    const struct packet_form *form = form_find(opcode);
    if (!form || body < form->shortest || body > form->longest || body >= count)
        return 0;
    *packet = (struct dump_packet){form->name, opcode, dwords + 1, body};
    return body + 1;
}

static void field_add(struct text *text, const struct field *f, const struct dump_packet *p)
{
    if (f->dword >= p->body_dwords)
        return;
    uint32_t value = bits_of(p->body[f->dword], f->first, f->last);
    uint32_t high = f->kind == ADDRESS && f->dword + 1 < p->body_dwords ? p->body[f->dword + 1] : 0;
    if (f->kind == ENUM) {
        for (uint32_t i = f->enum_first; i < f->enum_first + f->enum_count; i++) {
            if (names[i].value == value) {
                text_add(text, " %s=%s", f->name, names[i].name);
                return;
            }
        }
    }
    if (f->kind == ADDRESS)
        text_add(text, " %s=[0x%llx]", f->name, (unsigned long long)high << 32 | value);
    else if (value)
        text_add(text, f->kind == HEX ? " %s=0x%x" : " %s=%u", f->name, value);
}

static void registers_add(struct text *text, enum dump_family family, const struct dump_packet *p,
                          uint32_t start)
{
    uint32_t first = start + (p->body[0] & 0xffff);
    for (uint32_t i = 1; i < p->body_dwords && text->left_bytes > 1; i++) {
        text_add(text, i == 1 ? " " : ", ");
        register_add(text, family, first + i - 1);
        text_add(text, "=0x%x", p->body[i]);
        register_fields_add(text, family, first + i - 1, p->body[i]);
    }
}

/* Where COPY_DATA, WRITE_DATA and WAIT_REG_MEM read and write. */
enum place {
    PLACE_REGISTER = 0,
    PLACE_MEMORY_ME = 1,
    PLACE_L2 = 2,
    PLACE_PERFCOUNTER = 4,
    PLACE_IMMEDIATE = 5, /* as a source */
    PLACE_MEMORY = 5,    /* as a destination */
    PLACE_ATOMIC = 6,
    PLACE_GPU_CLOCK = 9
};

static void place_add(struct text *text, enum dump_family family, uint32_t place, uint32_t low,
                      uint32_t high)
{
    /* On GPUs of several dies a register may lie on the device's network, beyond bit 32. */
    enum { NETWORK_REGISTER_MASK = 0x3fffffff };
    unsigned long long address = (unsigned long long)high << 32 | low;
    switch (place) {
    case PLACE_PERFCOUNTER:
        text_add(text, "perf:");
        /* fallthrough */
    case PLACE_REGISTER:
        if (high)
            text_add(text, "base_die%u:", low >> 30);
        register_add(text, family, high ? low & NETWORK_REGISTER_MASK : low);
        return;
    case PLACE_L2:
        text_add(text, "L2[0x%llx]", address);
        return;
    case PLACE_MEMORY:
    case PLACE_MEMORY_ME:
        text_add(text, "[0x%llx]", address);
        return;
    default:
        text_add(text, "place%u[0x%llx]", place, address);
    }
}

static void copy_add(struct text *text, enum dump_family family, const struct dump_packet *p)
{
    const uint32_t *b = p->body;
    uint32_t from = b[0] & 15, to = b[0] >> 8 & 15;
    int is_register = to == PLACE_REGISTER || to == PLACE_PERFCOUNTER;
    text_add(text, "%s ", b[0] >> 16 & 1 ? " 64" : "");
    if (from == PLACE_IMMEDIATE)
        text_add(text, "0x%llx", (unsigned long long)b[2] << 32 | b[1]);
    else if (from == PLACE_ATOMIC || from == PLACE_GPU_CLOCK)
        text_add(text, from == PLACE_ATOMIC ? "atomic_result" : "gpu_clock");
    else
        place_add(text, family, from, b[1], b[2]);
    text_add(text, " -> ");
    place_add(text, family, to, b[3], b[4]);
    if (is_register && from == PLACE_IMMEDIATE)
        register_fields_add(text, family, b[4] ? b[3] & 0x3fffffff : b[3], b[1]);
}

static void write_data_add(struct text *text, enum dump_family family, const struct dump_packet *p)
{
    text_add(text, " ");
    place_add(text, family, p->body[0] >> 8 & 15, p->body[1], p->body[2]);
    text_add(text, " =");
    for (uint32_t i = 3; i < p->body_dwords && text->left_bytes > 1; i++)
        text_add(text, " 0x%x", p->body[i]);
}

static void wait_add(struct text *text, enum dump_family family, const struct dump_packet *p)
{
    static const char *const compare[8] = {"always", "<", "<=", "==", "!=", ">=", ">", "reserved"};
    const uint32_t *b = p->body;
    text_add(text, " ");
    if (b[0] >> 4 & 1)
        place_add(text, family, PLACE_MEMORY, b[1], b[2]);
    else
        place_add(text, family, PLACE_REGISTER, b[1], 0);
    text_add(text, " & 0x%x %s 0x%x", b[4], compare[b[0] & 7], b[3]);
}

void dump_format(enum dump_family family, const struct dump_packet *p, char *text_out,
                 size_t text_bytes)
{
    struct text text = {text_out, text_bytes};
    const struct packet_form *form = form_find(p->opcode);
    if (text_bytes == 0)
        return;
    text_add(&text, "%s", p->name);
    switch (p->opcode) {
    case OP_SET_CONFIG_REG:
        registers_add(&text, family, p, CONFIG_START);
        break;
    case OP_SET_CONTEXT_REG:
        registers_add(&text, family, p, CONTEXT_START);
        break;
    case OP_SET_SH_REG:
    case OP_SET_SH_REG_INDEX:
        registers_add(&text, family, p, SH_START);
        break;
    case OP_SET_UCONFIG_REG:
        registers_add(&text, family, p, UCONFIG_START);
        break;
    case OP_COPY_DATA:
        copy_add(&text, family, p);
        break;
    case OP_WRITE_DATA:
        write_data_add(&text, family, p);
        break;
    case OP_WAIT_REG_MEM:
        wait_add(&text, family, p);
        break;
    default:
        break;
    }
    for (uint32_t i = 0; form && i < form->field_count; i++)
        field_add(&text, &fields[form->field_first + i], p);
    if (form && !form->field_count && p->opcode < OP_SET_CONFIG_REG && p->body_dwords)
        text_add(&text, " dwords=%u", p->body_dwords);
}
