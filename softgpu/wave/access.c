#include "wave/access.h"

#include <string.h>

#include "isa_ops.h"

/* Element by the mnemonic's last words. */
static const struct {
    const char *suffix;
    struct element element;
} elements[] = {
    {"_ubyte", {1, 1, false, false, false}},    {"_sbyte", {1, 1, true, false, false}},
    {"_ushort", {2, 1, false, false, false}},   {"_sshort", {2, 1, true, false, false}},
    {"_ubyte_d16", {1, 1, false, true, false}}, {"_ubyte_d16_hi", {1, 1, false, true, true}},
    {"_sbyte_d16", {1, 1, true, true, false}},  {"_sbyte_d16_hi", {1, 1, true, true, true}},
    {"_short_d16", {2, 1, false, true, false}}, {"_short_d16_hi", {2, 1, false, true, true}},
    {"_byte", {1, 1, false, false, false}},     {"_byte_d16_hi", {1, 1, false, true, true}},
    {"_short", {2, 1, false, false, false}},    {"_dword", {4, 1, false, false, false}},
    {"_dwordx2", {8, 2, false, false, false}},  {"_dwordx3", {12, 3, false, false, false}},
    {"_dwordx4", {16, 4, false, false, false}}, {"_b8", {1, 1, false, false, false}},
    {"_b16", {2, 1, false, false, false}},      {"_b8_d16_hi", {1, 1, false, true, true}},
    {"_b16_d16_hi", {2, 1, false, true, true}}, {"_b32", {4, 1, false, false, false}},
    {"_b64", {8, 2, false, false, false}},      {"_b96", {12, 3, false, false, false}},
    {"_b128", {16, 4, false, false, false}},    {"_u8", {1, 1, false, false, false}},
    {"_i8", {1, 1, true, false, false}},        {"_u16", {2, 1, false, false, false}},
    {"_i16", {2, 1, true, false, false}},       {"_u8_d16", {1, 1, false, true, false}},
    {"_u8_d16_hi", {1, 1, false, true, true}},  {"_i8_d16", {1, 1, true, true, false}},
    {"_i8_d16_hi", {1, 1, true, true, true}},   {"_u16_d16", {2, 1, false, true, false}},
    {"_u16_d16_hi", {2, 1, false, true, true}},
};

bool element_find(const struct inst *inst, struct element *element)
{
    const char *name = isa_op_names[inst->op];
    size_t length = strlen(name), best = 0;
    if (strstr(name, "_src2"))
        return false; /* memory to memory: no data register */
    for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++) {
        size_t n = strlen(elements[i].suffix);
        if (n > best && n < length && strcmp(name + length - n, elements[i].suffix) == 0) {
            best = n;
            *element = elements[i].element;
        }
    }
    return best > 0;
}

bool inst_keep_element(struct inst *inst)
{
    struct element element;
    _Static_assert(sizeof element <= sizeof inst->aux, "kept in aux");
    if (!element_find(inst, &element))
        return false;
    memcpy(inst->aux, &element, sizeof element);
    return true;
}
