#include "core/device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static const char *const names[] = {"gfx906", "gfx908", "gfx90a", "gfx942"};

static void every_model_is_geometrically_sound(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        const struct gpu_model *m = gpu_model_find(names[i]);
        assert_non_null(m);
        uint32_t physical = m->xcc_count * m->se_count * m->sh_per_se * m->cu_per_sh;
        assert_true(m->cu_active <= physical && m->cu_active > physical / 2);
        assert_int_equal(m->cu_active % m->xcc_count, 0);
        uint32_t tcp_lines = m->tcp_bytes / m->tcp_line_bytes;
        assert_int_equal(tcp_lines % m->tcp_ways, 0);
        uint32_t channel_lines = m->tcc_bytes / m->tcc_channels / m->tcc_line_bytes;
        assert_int_equal(channel_lines % m->tcc_ways, 0);
        assert_int_equal(m->tcc_channels & (m->tcc_channels - 1), 0); /* chosen by a mask */
        assert_true(m->vgprs_per_simd == (m->unified_vgprs ? 512 : 256));
    }
}

/* gfx_target_version is the name again, in decimal: gfx90a = 9, 0, 10. */
static void name_and_target_version_agree(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        const struct gpu_model *m = gpu_model_find(names[i]);
        const char *digits = m->name + 3;
        uint32_t stepping =
            digits[2] <= '9' ? (uint32_t)(digits[2] - '0') : (uint32_t)(digits[2] - 'a' + 10);
        uint32_t want =
            (uint32_t)(digits[0] - '0') * 10000 + (uint32_t)(digits[1] - '0') * 100 + stepping;
        assert_int_equal(m->gfx_target_version, want);
    }
}

static void device_lists_parse(void **state)
{
    (void)state;
    const struct gpu_model *models[GPU_DEVICES_MAX];
    const char *bad = NULL;
    assert_int_equal(gpu_models_parse(NULL, models, &bad), 1);
    assert_string_equal(models[0]->name, "gfx90a");
    assert_int_equal(gpu_models_parse("", models, &bad), 1);
    assert_int_equal(gpu_models_parse("gfx90a*2", models, &bad), 2);
    assert_ptr_equal(models[0], models[1]);
    assert_int_equal(gpu_models_parse("gfx906,gfx942*3", models, &bad), 4);
    assert_string_equal(models[0]->name, "gfx906");
    assert_string_equal(models[3]->name, "gfx942");
    assert_int_equal(gpu_models_parse("gfx90a*16", models, &bad), 16);
}

static void wrong_lists_name_the_wrong_part(void **state)
{
    (void)state;
    static const struct {
        const char *text, *bad;
    } cases[] = {
        {"gfx1100", "gfx1100"},     {"gfx906,nope,gfx906", "nope,gfx906"},
        {"gfx90a*", "gfx90a*"},     {"gfx90a*0", "gfx90a*0"},
        {"gfx90a*17", "gfx90a*17"}, {"gfx90a*99999999999", "gfx90a*99999999999"},
        {"gfx90a*x", "gfx90a*x"},   {"gfx90a,", ""},
        {"gfx90", "gfx90"},         {"*2", "*2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct gpu_model *models[GPU_DEVICES_MAX];
        const char *bad = NULL;
        assert_int_equal(gpu_models_parse(cases[i].text, models, &bad), -1);
        assert_string_equal(bad, cases[i].bad);
    }
    assert_null(gpu_model_find(NULL));
    assert_null(gpu_model_find("gfx90a "));
}

static void clock_runs_at_100_mhz(void **state)
{
    (void)state;
    struct timespec before, after, pause = {.tv_nsec = 20000000};
    clock_gettime(CLOCK_BOOTTIME, &before);
    uint64_t begin = gpu_clock_ticks();
    nanosleep(&pause, NULL);
    uint64_t end = gpu_clock_ticks();
    clock_gettime(CLOCK_BOOTTIME, &after);
    double ns =
        (double)(after.tv_sec - before.tv_sec) * 1e9 + (double)(after.tv_nsec - before.tv_nsec);
    assert_true((double)(end - begin) >= 20000000 / 10);
    assert_true((double)(end - begin) <= ns / 10 + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_model_is_geometrically_sound),
        cmocka_unit_test(name_and_target_version_agree),
        cmocka_unit_test(device_lists_parse),
        cmocka_unit_test(wrong_lists_name_the_wrong_part),
        cmocka_unit_test(clock_runs_at_100_mhz),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
