/*
 * Scalar loads that ask again for what the ones before them asked for are not noted one by one. The
 * model of the L2 must see the same as of a log that has every access: random accesses of a few
 * blocks go to both, and what a dispatch's sample makes of them is compared.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "core/device.h"
#include "isa/decode.h"
#include "perf/l2_mix.h"
#include "perf/sample.h"
#include "wave/time_note.h"

enum { ROUNDS = 300, GROUPS = 12, ACCESSES_MAX = 3000, BLOCKS = 40 };
/* Blocks so far apart share a set of the L2, which holds fewer. */
enum { APART = SAMPLE_REGION_BLOCKS, FIRST = 3 };

/* Every access, one by one. */
struct every_log {
    struct perf_block items[ACCESSES_MAX];
    uint32_t count, limit;
};

static void every_note(struct every_log *log, uint64_t va, uint32_t bytes, uint8_t kind)
{
    uint32_t first = va % SAMPLE_BLOCK_BYTES, kept = 0;
    if (log->count >= SAMPLE_GROUP_BLOCKS && log->limit > SAMPLE_POSITIONS_LEAST) {
        log->limit /= 2;
        for (uint32_t i = 0; i < log->count; i++)
            if (log->items[i].position < log->limit)
                log->items[kept++] = log->items[i];
        log->count = kept;
    }
    struct perf_block *block = &log->items[log->count++];
    *block = (struct perf_block){.va = va,
                                 .number = (uint32_t)(va / SAMPLE_BLOCK_BYTES),
                                 .position = (uint16_t)sample_position(va),
                                 .kind = kind};
    for (uint32_t byte = first; byte < first + bytes; byte++) {
        block->sectors |= (uint8_t)(1u << byte / SAMPLE_SECTOR_BYTES);
        if (kind == ACCESS_WRITE)
            block->halves |= (uint8_t)(1u << byte / SAMPLE_HALF_BYTES);
    }
}

/* Mostly scalar loads of one block, as all waves do them, and sometimes anything. */
static void access_random(struct workgroup *group, struct every_log *every, uint32_t others)
{
    static const struct inst scalar = {.klass = CLASS_SMEM, .flags = IF_LOAD};
    static const struct inst load = {.klass = CLASS_VMEM_RD, .flags = IF_LOAD};
    static const struct inst store = {.klass = CLASS_VMEM_WR, .flags = IF_STORE};
    static const struct inst *const kinds[] = {&scalar, &scalar, &load, &store};
    const struct inst *inst = &scalar;
    uint64_t block = FIRST;
    if ((uint32_t)rand() % 100 < others) {
        inst = kinds[rand() % 4];
        block = rand() % 4 ? FIRST + (uint64_t)rand() % BLOCKS * APART : (uint64_t)rand() % BLOCKS;
    }
    uint32_t bytes = 4u << rand() % 5;
    uint64_t va =
        block * SAMPLE_BLOCK_BYTES + (uint32_t)rand() % (SAMPLE_BLOCK_BYTES / bytes) * bytes;
    if (sample_position(va) >= group->sample_limit)
        return; /* whoever notes has asked */
    time_note_block(group, inst, va, 0, bytes);
    every_note(every, va, bytes,
               inst == &scalar ? ACCESS_SCALAR_READ
               : inst == &load ? ACCESS_READ
                               : ACCESS_WRITE);
}

static void samples_equal(const struct dispatch_sample *a, const struct dispatch_sample *b)
{
    assert_int_equal(a->limit, b->limit);
    assert_int_equal(a->touched, b->touched);
    assert_int_equal(a->entered, b->entered);
    assert_int_equal(a->homes[0].reads, b->homes[0].reads);
    assert_int_equal(a->homes[0].read_bytes, b->homes[0].read_bytes);
    assert_int_equal(a->homes[0].writes, b->homes[0].writes);
    assert_int_equal(a->homes[0].write_bytes, b->homes[0].write_bytes);
}

static void group_try(struct workgroup *group, struct every_log *every,
                      struct dispatch_sample *sample, struct dispatch_sample *sample_every)
{
    uint32_t others = (uint32_t)rand() % (rand() % 4 ? 10 : 100),
             accesses = (uint32_t)rand() % ACCESSES_MAX;
    for (uint32_t n = 0; n < accesses; n++)
        access_random(group, every, others);
    assert_int_equal(group->sample_limit, every->limit);
    assert_int_equal(group->blocks.noted, every->count);
    struct perf_group record = {.blocks = group->blocks.items,
                                .block_count = group->blocks.count,
                                .sample_limit = group->sample_limit};
    struct perf_group record_every = {
        .blocks = every->items, .block_count = every->count, .sample_limit = every->limit};
    dispatch_sample_group(sample, &record, 0);
    dispatch_sample_group(sample_every, &record_every, 0);
}

/* Of memory in which nothing is mapped. */
static struct vm *reader_begin(struct vm_reader *reader)
{
    struct vm *vm;
    assert_int_equal(vm_create(&vm), 0);
    vm_reader_register(vm, reader);
    vm_reader_enter(reader);
    return vm;
}
static void reader_end(struct vm *vm, struct vm_reader *reader)
{
    vm_reader_leave(reader);
    vm_reader_unregister(reader);
    vm_destroy(vm);
}

static void the_model_sees_the_same(void **state)
{
    static struct vm_reader reader;
    struct vm *vm = reader_begin(&reader);
    const struct gpu_model *models[] = {gpu_model_find("gfx90a"), gpu_model_find("gfx906")};
    static struct every_log every;
    uint64_t noted = 0, kept = 0;
    (void)state;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct dispatch_sample *sample = dispatch_sample_create(models[round % 2], false);
        struct dispatch_sample *sample_every = dispatch_sample_create(models[round % 2], false);
        assert_non_null(sample);
        assert_non_null(sample_every);
        dispatch_sample_begin(sample);
        dispatch_sample_begin(sample_every);
        for (uint32_t n = 0; n < GROUPS; n++) {
            struct workgroup group = {.reader = &reader,
                                      .sample_limit = SAMPLE_POSITIONS >> rand() % 3};
            every.count = 0;
            every.limit = group.sample_limit;
            group_try(&group, &every, sample, sample_every);
            noted += group.blocks.noted;
            kept += group.blocks.count;
            free(group.blocks.items);
        }
        samples_equal(sample, sample_every);
        dispatch_sample_end(sample);
        dispatch_sample_end(sample_every);
        samples_equal(sample, sample_every);
        dispatch_sample_destroy(sample);
        dispatch_sample_destroy(sample_every);
    }
    reader_end(vm, &reader);
    assert_true(kept < noted); /* that there are repeats at all */
}

/* The reader has one of two mappings at hand: where they lie decides which. */
static void a_block_has_the_memory_and_place_of_its_mapping(void **state)
{
    enum { BYTES = 4096, START = 1 << 21, END = START + BYTES };
    const uint64_t large = UINT64_C(1) << 40;
    static const struct inst load = {.klass = CLASS_VMEM_RD, .flags = IF_LOAD};
    static uint8_t memory[BYTES] __attribute__((aligned(BYTES)));
    static struct vm_reader reader;
    struct vm *vm = reader_begin(&reader);
    struct workgroup group = {.reader = &reader, .sample_limit = SAMPLE_POSITIONS};
    uint64_t other = 2 * START;
    (void)state;
    while (vm_way(&reader, other) != vm_way(&reader, START))
        other += START;
    const uint32_t flags = VM_READ | MEMORY_UC << VM_TYPE_SHIFT | HOME_PEER << VM_HOME_SHIFT;
    assert_int_equal(vm_map(vm, START, BYTES, memory, flags), 0);
    assert_int_equal(vm_map(vm, other, BYTES, memory, VM_READ), 0);
    assert_non_null(vm_translate(&reader, other, 64, VM_READ));
    assert_int_equal(time_origin(&group, START + 64), START);
    assert_int_equal(time_origin(&group, END), 0);
    assert_non_null(vm_translate(&reader, other, 64, VM_READ));
    group.notes_places = true;
    time_note_block(&group, &load, START, START, 64);
    time_note_block(&group, &load, END - 64, START, 64);
    time_note_block(&group, &load, END, START, 64); /* of no mapping */
    assert_int_equal(group.blocks.count, 3);
    for (int i = 0; i < 2; i++)
        assert_int_equal(group.blocks.items[i].memory, MEMORY_UC | HOME_PEER << 2);
    assert_int_equal(group.blocks.items[2].memory, 0);
    /* A large one's begins with a place of its own, whose bits are mixed. */
    assert_int_equal(vm_map(vm, large, VM_PLACE_LARGE, memory, VM_READ), 0);
    time_note_block(&group, &load, large + 512, large, 64);
    assert_int_equal(vm_place(&reader, large), VM_PLACE_LARGE);
    assert_int_equal(group.blocks.items[1].mixed, (BYTES - 64) / SAMPLE_BLOCK_BYTES);
    assert_int_equal(group.blocks.items[3].number, 2);
    assert_int_equal(group.blocks.items[3].mixed, 2 ^ L2_MIX_EACH);
    group.notes_places = false; /* of another GPU */
    time_note_block(&group, &load, large + 512, large, 64);
    assert_int_equal(group.blocks.items[4].mixed, 0);
    reader_end(vm, &reader);
    free(group.blocks.items);
}

/* s_load_dwordx2 s[4:5], s[0:1], `offset`: returns what it has read. */
static uint64_t scalar_load(struct wave *wave, uint32_t offset)
{
    const uint32_t words[2] = {0xc0060100, offset};
    struct inst inst[2];
    assert_true(isa_decode(GPU_GFX90A, words, 2, inst));
    assert_ptr_equal(smem_handler(inst)(wave, inst), inst + 2);
    return wave->s64[2];
}

/* By those that find their mapping at once, in the first block, which is sampled, and others. */
static void scalar_loads_are_noted(void **state)
{
    enum { START = 1 << 21, BYTES = 4096 };
    static uint64_t memory[BYTES / 8] __attribute__((aligned(BYTES)));
    static struct wave wave;
    struct vm_reader reader = {0};
    struct launch launch = {.packet_va = 0};
    struct workgroup group = {
        .reader = &reader, .launch = &launch, .sample_limit = SAMPLE_POSITIONS_LEAST};
    const struct block_log *log = &group.blocks;
    (void)state;
    for (unsigned n = 0; n < BYTES / 8; n++)
        memory[n] = n * UINT64_C(0x100000001);
    *vm_way(&reader, START) = (struct vm_range){
        .start = START, .end = START + BYTES, .host = (uint8_t *)memory, .flags = VM_READ};
    wave.group = &group;
    wave.s64[0] = START;
    assert_int_equal(scalar_load(&wave, 0), memory[0]);
    assert_int_equal(log->count, 1);
    assert_int_equal(scalar_load(&wave, 8), memory[1]); /* of the same sector */
    assert_int_equal(log->count, 1);
    assert_int_equal(log->noted, 2);
    assert_int_equal(scalar_load(&wave, 72), memory[9]); /* of another one */
    assert_int_equal(log->count, 2);
    assert_int_equal(scalar_load(&wave, 256), memory[32]); /* of a block that is not sampled */
    assert_int_equal(log->noted, 3);
    assert_int_equal(log->items[0].sectors, 1);
    assert_int_equal(log->items[0].repeats, 1);
    assert_int_equal(log->items[1].sectors, 2);
    for (unsigned n = 0; n < 2; n++) {
        assert_int_equal(log->items[n].kind, ACCESS_SCALAR_READ);
        assert_int_equal(log->items[n].number, 0);
        assert_int_equal(log->items[n].position, 0);
    }
    free(group.blocks.items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_model_sees_the_same),
        cmocka_unit_test(a_block_has_the_memory_and_place_of_its_mapping),
        cmocka_unit_test(scalar_loads_are_noted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
