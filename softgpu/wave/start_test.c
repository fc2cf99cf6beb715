/*
 * A group that begins as the one before in its place did is one that was started by itself: its
 * registers, its numbers, its LDS, whatever the one before has left there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "perf/sampling.h"
#include "wave/group.h"
#include "wave/host_levels.h"

enum { LAUNCHES = 120, PAGE = 4096, KERNEL_VA = 0x10000, LDS_MOST = 512, RSRC1_MODE = 0xf0 << 12 };

static uint32_t random32(uint32_t below)
{
    static uint32_t state = 2463534242u;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state % below;
}

struct kernel {
    const struct gpu_model *model;
    struct vm *vm;
    struct vm_reader reader;
    uint8_t *page; /* with its descriptor */
    struct launch launch;
    uint64_t group_total;
};

static void kernel_create(struct kernel *k, const char *gpu)
{
    *k = (struct kernel){.model = gpu_model_find(gpu)};
    k->page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_int_equal(vm_create(&k->vm), 0);
    assert_int_equal(vm_map(k->vm, KERNEL_VA, PAGE, k->page, VM_READ), 0);
    vm_reader_register(k->vm, &k->reader);
}

static void kernel_destroy(struct kernel *k)
{
    vm_reader_unregister(&k->reader);
    vm_destroy(k->vm);
    munmap(k->page, PAGE);
}

static void descriptor_write(const struct kernel *k)
{
    const uint32_t rsrc1 = random32(8) | 12u << 6 | RSRC1_MODE, rsrc3 = random32(4);
    /* Up to 8 registers of the user's, any of the numbers, one to three axes. */
    const uint32_t rsrc2 = random32(9) << RSRC2_USER_SGPR_SHIFT | random32(16) << 7 |
                           random32(3) << RSRC2_ITEM_ID_SHIFT;
    const uint16_t properties = (uint16_t)(random32(2) << 3 | random32(2) << 1);
    memcpy(k->page + 44, &rsrc3, sizeof rsrc3);
    memcpy(k->page + 48, &rsrc1, sizeof rsrc1);
    memcpy(k->page + 52, &rsrc2, sizeof rsrc2);
    memcpy(k->page + 56, &properties, sizeof properties);
}

static void kernel_launch(struct kernel *k)
{
    static const uint16_t sizes[][3] = {{64, 1, 1}, {256, 1, 1}, {100, 1, 1}, {16, 16, 1},
                                        {8, 4, 8},  {1, 1, 1},   {65, 2, 1},  {1024, 1, 1}};
    const uint16_t *size = sizes[random32(8)];
    struct dispatch_request request = {
        .packet = {.workgroup_size_x = size[0],
                   .workgroup_size_y = size[1],
                   .workgroup_size_z = size[2],
                   .grid_size_x = size[0] * random32(400) + 1 + random32(size[0]),
                   .grid_size_y = size[1] * random32(3) + 1 + random32(size[1]),
                   .grid_size_z = size[2] * random32(2) + 1 + random32(size[2]),
                   .group_segment_size = random32(2) * random32(LDS_MOST),
                   .private_segment_size = random32(2) * 64,
                   .kernel_object = KERNEL_VA,
                   .kernarg_address = (void *)0x1234567890},
        .packet_va = 0x5550000};
    struct dispatch_result fault;
    descriptor_write(k);
    vm_reader_enter(&k->reader);
    assert_int_equal(launch_prepare(&k->launch, k->model, &k->reader, &request, &fault), 0);
    vm_reader_leave(&k->reader);
    k->group_total = (uint64_t)k->launch.groups[0] * k->launch.groups[1] * k->launch.groups[2];
    k->launch.sample_limit = SAMPLE_POSITIONS_LEAST;
}

static const struct inst code[4];

static void start(const struct kernel *k, struct workgroup *group, uint64_t index)
{
    group->launch = &k->launch;
    assert_int_equal(group_reserve(group, &k->launch), 0);
    group_start(group, k->model, index);
    group->wants = 0;
    group->is_sampled = sample_unit(index, k->group_total, k->launch.units) < SAMPLE_UNITS;
    group->sample_limit = k->launch.sample_limit;
    for (uint32_t i = 0; i < group->wave_count; i++) {
        group->waves[i].code = group->waves[i].pc = code;
        group->waves[i].code_va = KERNEL_VA + 256;
    }
}

/* A wave executed one run alone, which has said what it writes; each row in turn is among that. */
static void wave_use_whole(const struct kernel *k, struct wave *wave)
{
    memset(wave, 0x55, WAVE_FIRST_BYTES);
    wave->resumed = false;
    wave->whole = 1 + random32(100);
    wave->whole_rows = (uint64_t)random32(~0u) << 32 | random32(~0u);
    wave->whole_rows &= random32(2) ? ~UINT64_C(0) : UINT64_C(1) << random32(64);
    for (uint32_t n = 0; n < 64 && n < k->launch.vgpr_count; n++)
        if (wave->whole_rows >> n & 1)
            memset(wave->v[n], 0x55, sizeof wave->v[n]);
}

static void wave_use(struct wave *wave)
{
    memset(wave, 0x55, WAVE_FIRST_BYTES);
    wave->resumed = random32(2);
    wave->whole = wave->resumed ? random32(2) : 0;
    wave->whole_rows = random32(2);
    memset(wave->v, 0x55, (VGPR_ROWS + AGPR_ROWS) * sizeof(lane_row));
}

/* What a group may leave behind that has ended, in order or not as the one before. */
static void use(const struct kernel *k, struct workgroup *group)
{
    group->is_repeat = random32(2);
    group->blocks.count = group->blocks.noted = group->blocks.run_block = random32(3);
    group->flat_lds_insts = group->flat_lds_only = random32(3);
    group->sample_limit /= 1 + random32(2);
    group->turns_in_step = random32(4);
    group->consumed += random32(100);
    group->waves_live = 0;
    if (group->lds_bytes)
        memset(group->lds, 0x55, group->lds_bytes);
    for (uint32_t i = 0; i < group->wave_count; i++) {
        struct wave *wave = &group->waves[i];
        if (random32(2))
            wave_use_whole(k, wave);
        else
            wave_use(wave);
        valu_mode_set(wave, random32(2) ? k->launch.mode : k->launch.mode ^ 1);
        if (!group->is_repeat)
            memset(wave->counts, 0x55, sizeof wave->counts);
    }
}

static void waves_check(const struct kernel *k, const struct wave *wave, const struct wave *plain)
{
    const struct launch *launch = &k->launch;
    assert_memory_equal(wave, plain, WAVE_FIRST_BYTES);
    assert_memory_equal(wave->v, plain->v, launch->vgpr_count * sizeof(lane_row));
    assert_memory_equal(wave->a, plain->a, launch->agpr_count * sizeof(lane_row));
    assert_memory_equal(wave->counts, plain->counts, sizeof wave->counts);
    assert_int_equal(wave->a - wave->v, plain->a - plain->v);
    assert_int_equal(wave->wave_in_group, plain->wave_in_group);
}

static uint64_t beside(const struct kernel *k, uint64_t index)
{
    const uint64_t units = k->launch.units;
    uint64_t groups = (k->group_total - index % units + units - 1) / units;
    return groups < k->launch.capacity ? groups : k->launch.capacity;
}

static void group_check(const struct kernel *k, const struct workgroup *group,
                        const struct workgroup *plain)
{
    enum { FLAGS = 0x3f };
    assert_false(plain->is_sampled);
    assert_int_equal(__builtin_ia32_stmxcsr() & ~(unsigned)FLAGS, plain->waves[0].fp_state_32);
    assert_int_equal(group->index, plain->index);
    assert_memory_equal(group->id, plain->id, sizeof group->id);
    assert_int_equal(group->work_items, plain->work_items);
    assert_int_equal(group->wave_count, plain->wave_count);
    assert_int_equal(group->waves_live, plain->waves_live);
    assert_int_equal(group->sample_limit, plain->sample_limit);
    assert_int_equal(group->turns_in_step, 0);
    assert_int_equal(group->consumed, 0);
    assert_int_equal(group->blocks.count | group->blocks.noted | group->blocks.run_block, 0);
    assert_int_equal(group->flat_lds_insts | group->flat_lds_only, 0);
    if (group->lds_bytes)
        assert_memory_equal(group->lds, plain->lds, group->lds_bytes);
    for (uint32_t i = 0; i < group->wave_count; i++)
        waves_check(k, &group->waves[i], &plain->waves[i]);
}

/* Returns how many groups began as another one. */
static uint64_t launch_check(const struct kernel *k, struct workgroup *group,
                             struct workgroup *plain)
{
    const uint64_t first = random32((uint32_t)k->group_total), end = first + 1 + random32(128);
    start(k, group, first);
    group_remember(group, k->model, k->group_total, end < k->group_total ? end : k->group_total);
    const uint64_t stop = group->alike_end;
    uint64_t alike = 0;
    valu_enter(&group->waves[0]);
    while (group->index + 1 < stop) {
        use(k, group);
        group_start_alike(group);
        assert_true(group->index < end && group->index < k->group_total);
        assert_int_equal(beside(k, group->index), beside(k, first));
        start(k, plain, group->index);
        group_check(k, group, plain);
        alike++;
    }
    valu_leave();
    return alike;
}

static void groups_begin_alike_on(const char *gpu)
{
    struct workgroup *group = calloc(1, sizeof *group), *plain = calloc(1, sizeof *plain);
    uint64_t alike = 0;
    struct kernel k;
    assert_true(group && plain);
    kernel_create(&k, gpu);
    for (int n = 0; n < LAUNCHES; n++) {
        kernel_launch(&k);
        alike += launch_check(&k, group, plain);
    }
    assert_true(alike > 5 * LAUNCHES); /* some tens of each launch that has so many */
    kernel_destroy(&k);
    group_free(group);
    group_free(plain);
}

/* With the vectors of each level that the host has. */
static void groups_begin_alike(void **state)
{
    (void)state;
    host_level_choose();
    for (enum host_level best = host_level;; host_level--) {
        groups_begin_alike_on("gfx90a");
        groups_begin_alike_on("gfx908");
        groups_begin_alike_on("gfx906");
        if (host_level == LEVEL_PORTABLE) {
            host_level = best;
            return;
        }
    }
}

/* The next sampled group, as looking at each of them finds it. */
static void the_next_sampled_group_is_found(void **state)
{
    (void)state;
    for (int n = 0; n < 20000; n++) {
        const uint64_t total = 1 + random32(5000), units = 1 + random32(200);
        const uint64_t group = random32((uint32_t)total), end = group + random32(300);
        uint64_t next = group + 1;
        while (next < end && sample_unit(next, total, units) == SAMPLE_UNITS)
            next++;
        assert_int_equal(sample_next(group, total, units, end), next < end ? next : end);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_begin_alike),
        cmocka_unit_test(the_next_sampled_group_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
