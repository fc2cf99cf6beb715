#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "counters.h"
#include "machine.h"
#include "occupancy.h"
#include "print.h"
#include "rules.h"

static struct machine machine_named(const char *name, uint32_t cus, uint32_t waves)
{
    const rocprofiler_agent_v0_t agent = {.name = name,
                                          .cu_count = cus,
                                          .simd_count = 4 * cus,
                                          .max_waves_per_simd = waves,
                                          .lds_size_in_kb = 64,
                                          .max_engine_clk_fcompute = 1000};
    return machine_of(&agent, 0);
}

/* What AMD's manuals give as waves of a SIMD for so many registers. */
static void registers_limit_waves_as_the_manuals_say(void **state)
{
    static const struct {
        const char *gpu;
        uint32_t slots, vgprs, acc_vgprs, sgprs, waves;
    } rows[] = {
        {"gfx906", 10, 24, 0, 0, 10}, {"gfx906", 10, 25, 0, 0, 9},   {"gfx906", 10, 32, 0, 0, 8},
        {"gfx906", 10, 36, 0, 0, 7},  {"gfx906", 10, 40, 0, 0, 6},   {"gfx906", 10, 48, 0, 0, 5},
        {"gfx906", 10, 64, 0, 0, 4},  {"gfx906", 10, 84, 0, 0, 3},   {"gfx906", 10, 128, 0, 0, 2},
        {"gfx906", 10, 129, 0, 0, 1}, {"gfx906", 10, 24, 0, 80, 10}, {"gfx906", 10, 24, 0, 81, 8},
        {"gfx906", 10, 24, 0, 97, 7}, {"gfx908", 10, 64, 128, 0, 2}, {"gfx90a", 8, 64, 0, 0, 8},
        {"gfx90a", 8, 72, 0, 0, 7},   {"gfx90a", 8, 64, 16, 0, 6},   {"gfx90a", 8, 96, 0, 0, 5},
        {"gfx90a", 8, 128, 0, 0, 4},  {"gfx90a", 8, 168, 0, 0, 3},   {"gfx90a", 8, 128, 128, 0, 2},
        {"gfx90a", 8, 256, 256, 0, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct machine machine = machine_named(rows[i].gpu, 10, rows[i].slots);
        const struct kernel_needs needs = {.vgprs = rows[i].vgprs,
                                           .acc_vgprs = rows[i].acc_vgprs,
                                           .sgprs = rows[i].sgprs,
                                           .group_items = 64,
                                           .wave_items = 64};
        struct occupancy occupancy;
        assert_true(occupancy_of(&machine, &needs, &occupancy));
        assert_int_equal(occupancy.waves_per_cu, 4 * rows[i].waves);
        assert_int_equal(occupancy.waves_max, 4 * rows[i].slots);
    }
}

static void groups_limit_waves(void **state)
{
    struct machine machine = machine_named("gfx906", 10, 10);
    struct kernel_needs needs = {.vgprs = 8, .group_items = 128, .wave_items = 64};
    struct occupancy occupancy;
    (void)state;
    assert_true(occupancy_of(&machine, &needs, &occupancy));
    assert_int_equal(occupancy.waves_per_cu, 32); /* sixteen groups of two */
    assert_int_equal(occupancy.limit, OCCUPANCY_GROUPS);
    needs.group_items = 1024;
    assert_true(occupancy_of(&machine, &needs, &occupancy));
    assert_int_equal(occupancy.waves_per_cu, 32); /* two whole groups of sixteen */
    needs.group_items = 65;
    needs.lds_bytes = 20000; /* three groups, of two waves each */
    assert_true(occupancy_of(&machine, &needs, &occupancy));
    assert_int_equal(occupancy.waves_per_cu, 6);
    assert_int_equal(occupancy.limit, OCCUPANCY_LDS);
    needs.group_items = 0;
    assert_false(occupancy_of(&machine, &needs, &occupancy));
    machine = machine_named("gfx9999", 10, 10);
    needs.group_items = 64;
    assert_false(occupancy_of(&machine, &needs, &occupancy));
}

static void the_peak_of_memory_follows_from_its_banks(void **state)
{
    const rocprofiler_agent_mem_bank_t banks[] = {{.width = 4096, .mem_clk_max = 1600},
                                                  {.width = 64, .mem_clk_max = 1600}};
    const rocprofiler_agent_v0_t agent = {
        .name = "gfx90a", .mem_banks = banks, .mem_banks_count = 2};
    (void)state;
    struct machine machine = machine_of(&agent, 0);
    assert_true(machine.memory_bytes_per_s == 1638.4e9); /* AMD's number for the MI210 */
    assert_true(machine_of(&agent, 5).memory_bytes_per_s == 5);
}

/* What the device says that it does not count is not taken for a 0. */
static void what_a_device_does_not_count_is_missing(void **state)
{
    struct analyze_kernels kernels = {0};
    struct out_counter counter = {.description = "Waves. (this device: not counted, reads 0)"};
    const struct out_counter_row row = {.dispatch = {.kernel_name = "k", .node = 1},
                                        .counter_name = "SQ_WAVES",
                                        .counter = &counter};
    (void)state;
    analyze_kernels_row(&kernels, OUT_COUNTER_COLLECTION, &row);
    assert_int_equal(kernels.list[0]->count[COUNT_SQ_WAVES], 0);
    counter.description = "Waves. (this device: modelled)";
    analyze_kernels_row(&kernels, OUT_COUNTER_COLLECTION, &row);
    assert_int_equal(kernels.list[0]->count[COUNT_SQ_WAVES], 1);
    assert_string_equal(kernels.class[COUNT_SQ_WAVES], "modelled");
    assert_true(kernels.has_classes);
    analyze_kernels_free(&kernels);
}

/* Each counter once, by the name that the GPU has. */
static void other_names_are_counted_once(void **state)
{
    char list[ANALYZE_NAMES_BYTES], both[] = "TCC_EA_RDREQ_sum,SQ_WAVES,TCC_EA0_RDREQ_sum";
    char first[] = "TCC_EA0_RDREQ_sum,TCC_EA_RDREQ_sum", other[] = "SQ_WAVES,TCC_EA0_RDREQ_sum";
    char longer[] = "TCC_EA_RDREQ_sum_of_all,TCC_EA0_RDREQ_sum", empty[] = "";
    (void)state;
    analyze_counters_list(list);
    for (char *name = strtok(list, ","); name; name = strtok(NULL, ","))
        assert_int_not_equal(analyze_counter_find(name), COUNT_COUNT);
    assert_int_equal(analyze_counter_find("TCC_EA0_WRREQ_DRAM_sum"), COUNT_TCC_EA_WRREQ_DRAM_sum);
    assert_int_equal(analyze_counter_find("TCC_EA0_WRREQ"), COUNT_COUNT);
    analyze_counters_once(both);
    assert_string_equal(both, "TCC_EA_RDREQ_sum,SQ_WAVES");
    analyze_counters_once(first);
    assert_string_equal(first, "TCC_EA_RDREQ_sum");
    analyze_counters_once(other);
    assert_string_equal(other, "SQ_WAVES,TCC_EA0_RDREQ_sum");
    analyze_counters_once(longer);
    assert_string_equal(longer, "TCC_EA_RDREQ_sum_of_all,TCC_EA0_RDREQ_sum");
    analyze_counters_once(empty);
    assert_string_equal(empty, "");
}

/* Nothing that was not counted is spoken of, and nobody divides by it. */
static void without_counters_little_is_said(void **state)
{
    struct analyze_kernels kernels = {0};
    const struct out_dispatch_row row = {
        .kernel_name = "k", .node = 1, .workgroup = {64, 1, 1}, .grid = {64, 1, 1}, .end_ns = 5};
    (void)state;
    analyze_kernels_row(&kernels, OUT_KERNEL_TRACE, &row);
    assert_int_equal(kernels.count, 1);
    struct measures m = measures_of(&kernels, kernels.list[0]);
    for (const struct rule *rule = analyze_rules; rule->name; rule++)
        assert_false(rule->applies(&m));
    analyze_kernels_free(&kernels);
}

static void json_is_json_whatever_a_kernel_is_called(void **state)
{
    struct analyze_kernels kernels = {0};
    const struct out_dispatch_row row = {.kernel_name = "a\"\\\n\xff\xc3(\xc3\xa4"};
    char *text = NULL;
    size_t size = 0;
    (void)state;
    analyze_kernels_row(&kernels, OUT_KERNEL_TRACE, &row);
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    analyze_print_json(&kernels, out);
    fclose(out);
    assert_non_null(strstr(text, "\"a\\\"\\\\\\u000a\xef\xbf\xbd\xef\xbf\xbd(\xc3\xa4\""));
    free(text);
    analyze_kernels_free(&kernels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers_limit_waves_as_the_manuals_say),
        cmocka_unit_test(groups_limit_waves),
        cmocka_unit_test(the_peak_of_memory_follows_from_its_banks),
        cmocka_unit_test(what_a_device_does_not_count_is_missing),
        cmocka_unit_test(other_names_are_counted_once),
        cmocka_unit_test(without_counters_little_is_said),
        cmocka_unit_test(json_is_json_whatever_a_kernel_is_called),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
