/*
 * Atomics in memory that a GPU reaches by PCIe alone: add, swap and compare-and-swap of integers
 * are done there; of the others nothing happens, and they return 0. Where lanes lie in both the
 * others are as ever. Which memory, and which GPUs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "mem/vm.h"
#include "wave/kernel_runner.h"
#include "wave/random_text.h"

enum { LANES = 64, ELEMENT = 8, BUFFER_BYTES = 0x20000, HOST_AT = 0x10000, RESULT_AT = 0x4000 };
enum { OLD = 5, OPERAND = 10 };

static const struct operation {
    const char *name;
    bool by_pcie, is_float, wide;
    uint32_t result;
} operations[] = {
    {"add", true, false, false, OLD + OPERAND},
    {"swap", true, false, false, OPERAND},
    {"cmpswap", true, false, false, OPERAND},
    {"sub", false, false, false, (uint32_t)(OLD - OPERAND)},
    {"smax", false, false, false, OPERAND},
    {"umax", false, false, false, OPERAND},
    {"and", false, false, false, OLD &OPERAND},
    {"or", false, false, false, OLD | OPERAND},
    {"xor", false, false, false, OLD ^ OPERAND},
    {"inc", false, false, false, OLD + 1},
    {"dec", false, false, false, OLD - 1},
    {"add_x2", true, false, true, OLD + OPERAND},
    {"umax_x2", false, false, true, OPERAND},
    {"add_f32", false, true, false, 0},
    {"add_f64", false, true, true, 0},
    {"max_f64", false, true, true, 0},
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

/* s[4:5]: the buffer. v[2:3]: an element each, of lanes with a bit of the mask in the host's
 * memory; v[4:5]: the operand, and what cmpswap compares with. */
static void program_put(const char *gpu, const struct operation *o, unsigned host_mask)
{
    const bool compares = strncmp(o->name, "cmpswap", 7) == 0;
    const char *data = compares || o->wide ? "v[4:5]" : "v4", *old = o->wide ? "v[8:9]" : "v8";
    text_length = 0;
    put("s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\nv_and_b32 v0, 0x3ff, v0\n"
        "v_lshlrev_b32 v1, 3, v0\nv_mov_b32 v3, s5\nv_and_b32 v10, %u, v0\n"
        "v_cmp_ne_u32 vcc, 0, v10\nv_mov_b32 v11, 0x%x\nv_mov_b32 v12, 0\n"
        "v_cndmask_b32 v10, v12, v11, vcc\nv_add_u32 v2, v1, v10\n"
        "v_add_co_u32 v2, vcc, s4, v2\nv_addc_co_u32 v3, vcc, 0, v3, vcc\n",
        host_mask, HOST_AT);
    if (o->is_float && o->wide)
        put("v_mov_b32 v4, 0\nv_mov_b32 v5, 0x40240000\n"); /* 10.0 */
    else
        put("v_mov_b32 v4, 0x%x\nv_mov_b32 v5, %u\n", o->is_float ? 0x41200000 : OPERAND,
            compares ? OLD : 0);
    put("v_mov_b32 v8, 77\nv_mov_b32 v9, 0\nglobal_atomic_%s %s, v[2:3], %s, off %s\n"
        "s_waitcnt vmcnt(0)\ns_add_u32 s6, s4, 0x%x\ns_addc_u32 s7, s5, 0\n"
        "global_store_dwordx2 v1, v[8:9], s[6:7]\ns_endpgm\n",
        o->name, old, data, strcmp(gpu, "gfx942") ? "glc" : "sc0", RESULT_AT);
}

static uint64_t value_of(const struct operation *o, double number, uint32_t integer)
{
    uint64_t bits = integer;
    const float narrow = (float)number;
    if (o->is_float && o->wide)
        memcpy(&bits, &number, sizeof number);
    else if (o->is_float)
        bits = 0, memcpy(&bits, &narrow, sizeof narrow);
    return bits;
}

static void case_run(struct kernel_runner *runner, const char *gpu, const struct operation *o,
                     unsigned host_mask, bool host_does_all)
{
    struct dispatch_result result;
    uint8_t *memory = kernel_runner_buffer(runner);
    const uint64_t old = value_of(o, OLD, OLD);
    const uint64_t done =
        value_of(o, strncmp(o->name, "max", 3) ? OLD + OPERAND : OPERAND, o->result);
    for (unsigned lane = 0; lane < LANES; lane++) {
        memcpy(memory + lane * ELEMENT, &old, ELEMENT);
        memcpy(memory + HOST_AT + lane * ELEMENT, &old, ELEMENT);
    }
    program_put(gpu, o, host_mask);
    assert_int_equal(kernel_runner_load(runner, 0, text), 0);
    assert_int_equal(kernel_runner_start(runner, 0, (struct kernel_geometry){64, 64, 0, 0}), 0);
    assert_true(kernel_runner_wait(runner, &result));
    assert_int_equal(result.fault, FAULT_NONE);
    for (unsigned lane = 0; lane < LANES; lane++) {
        const bool at_host = lane & host_mask, acts = !at_host || host_does_all || o->by_pcie;
        uint64_t after, returned;
        memcpy(&after, memory + (at_host ? HOST_AT : 0) + lane * ELEMENT, ELEMENT);
        memcpy(&returned, memory + RESULT_AT + lane * ELEMENT, ELEMENT);
        if (after != (acts ? done : old) || returned != (acts ? old : 0))
            fail_msg("%s, lane %u of mask %u: 0x%llx, returned 0x%llx", o->name, lane, host_mask,
                     (unsigned long long)after, (unsigned long long)returned);
    }
}

static void memory_check(const char *gpu, enum memory_type type, enum memory_home home,
                         bool does_all)
{
    struct kernel_runner *runner;
    assert_int_equal(kernel_runner_create_on(gpu, 1, BUFFER_BYTES, &runner), 0);
    uint8_t *memory = kernel_runner_buffer(runner);
    assert_int_equal(kernel_runner_split(runner, memory + HOST_AT), 0);
    assert_int_equal(
        kernel_runner_set_memory(runner, memory + HOST_AT,
                                 (uint32_t)type << VM_TYPE_SHIFT | (uint32_t)home << VM_HOME_SHIFT),
        0);
    const bool has_floats = strcmp(gpu, "gfx906") && strcmp(gpu, "gfx908");
    for (unsigned n = 0; n < OPERATIONS; n++)
        if (has_floats || !operations[n].is_float)
            case_run(runner, gpu, &operations[n], below(3) ? 1 + below(63) : 63, does_all);
    kernel_runner_destroy(runner);
}

static void what_pcie_lacks_does_nothing(void **state)
{
    (void)state;
    memory_check("gfx906", MEMORY_UC, HOME_HOST, false);
    memory_check("gfx908", MEMORY_UC, HOME_HOST, false);
    memory_check("gfx90a", MEMORY_UC, HOME_HOST, false);
}

static void other_memory_does_all(void **state)
{
    (void)state;
    memory_check("gfx90a", MEMORY_NC, HOME_HOST, true);
    memory_check("gfx90a", MEMORY_UC, HOME_OWN, true);
}

static void a_gfx942_does_all(void **state)
{
    (void)state;
    memory_check("gfx942", MEMORY_UC, HOME_HOST, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_pcie_lacks_does_nothing),
        cmocka_unit_test(other_memory_does_all),
        cmocka_unit_test(a_gfx942_does_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
