#include "mem/vm.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct vm *vm;
static struct vm_reader reader;
static uint8_t memory[1 << 16];

static int setup(void **state)
{
    (void)state;
    if (vm_create(&vm))
        return -1;
    vm_reader_register(vm, &reader);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    vm_reader_unregister(&reader);
    vm_destroy(vm);
    return 0;
}

static void *translate(uint64_t va, uint32_t size_bytes, uint32_t access)
{
    vm_reader_enter(&reader);
    void *host = vm_translate(&reader, va, size_bytes, access);
    vm_reader_leave(&reader);
    return host;
}

static void edges_of_a_range(void **state)
{
    (void)state;
    assert_int_equal(vm_map(vm, 0x10000, 0x1000, memory, VM_READ | VM_WRITE), 0);
    assert_ptr_equal(translate(0x10000, 4, VM_READ), memory);
    assert_ptr_equal(translate(0x10ffc, 4, VM_READ | VM_WRITE), memory + 0xffc);
    assert_null(translate(0x10ffd, 4, VM_READ));
    assert_null(translate(0xffff, 1, VM_READ));
    assert_null(translate(0x11000, 1, VM_READ));
    assert_null(translate(0x10000, 4, VM_EXEC));
    assert_null(translate(0, 1, VM_READ));
    assert_null(translate(UINT64_MAX, 8, VM_READ));
}

static void wrong_maps_are_refused(void **state)
{
    (void)state;
    assert_int_equal(vm_map(vm, 0x10000, 0x2000, memory, VM_READ), 0);
    assert_int_equal(vm_map(vm, 0x11fff, 1, memory, VM_READ), -EEXIST);
    assert_int_equal(vm_map(vm, 0xf000, 0x1001, memory, VM_READ), -EEXIST);
    assert_int_equal(vm_map(vm, 0, 0x100000, memory, VM_READ), -EEXIST);
    assert_int_equal(vm_map(vm, 0x20000, 0, memory, VM_READ), -EINVAL);
    assert_int_equal(vm_map(vm, UINT64_MAX - 4, 8, memory, VM_READ), -EINVAL);
    assert_int_equal(vm_map(vm, 0x20000, 8, NULL, VM_READ), -EINVAL);
    assert_int_equal(vm_unmap(vm, 0x11000), -ENOENT);
    assert_int_equal(vm_map(vm, 0x12000, 0x1000, memory, VM_READ), 0);
    assert_int_equal(vm_unmap(vm, 0x10000), 0);
    assert_int_equal(vm_unmap(vm, 0x10000), -ENOENT);
}

static void unmapped_means_gone_even_when_cached(void **state)
{
    (void)state;
    assert_int_equal(vm_map(vm, 0x200000, 0x1000, memory, VM_READ), 0);
    assert_ptr_equal(translate(0x200008, 8, VM_READ), memory + 8);
    assert_int_equal(vm_unmap(vm, 0x200000), 0);
    assert_null(translate(0x200008, 8, VM_READ));
    assert_int_equal(vm_map(vm, 0x200000, 0x1000, memory + 64, VM_READ), 0);
    assert_ptr_equal(translate(0x200008, 8, VM_READ), memory + 72);
}

static uint64_t place(uint64_t va)
{
    vm_reader_enter(&reader);
    uint64_t at = vm_place(&reader, va);
    vm_reader_leave(&reader);
    return at;
}

enum { PLACED_RANGES = 5, PLACES_COUNT = PLACED_RANGES * 2 };

/* Maps ranges of these sizes at these addresses; the places of their first and last bytes. */
static void places_of(const uint64_t *va, const uint64_t *size_bytes, uint64_t *out)
{
    assert_int_equal(setup(NULL), 0);
    for (int i = 0; i < PLACED_RANGES; i++)
        assert_int_equal(vm_map(vm, va[i], size_bytes[i], memory, VM_READ), 0);
    for (int i = 0; i < PLACED_RANGES; i++) {
        out[2 * i] = place(va[i]);
        out[2 * i + 1] = place(va[i] + size_bytes[i] - 1);
        assert_int_equal(out[2 * i + 1] - out[2 * i], size_bytes[i] - 1);
        assert_int_equal(out[2 * i] % VM_PLACE_BYTES, 0);
        assert_true(size_bytes[i] < VM_PLACE_LARGE || out[2 * i] % VM_PLACE_LARGE == 0);
        for (int before = 0; before < i; before++)
            assert_true(out[2 * before + 1] < out[2 * i]);
    }
    teardown(NULL);
}

static void places_do_not_depend_on_addresses(void **state)
{
    (void)state;
    const uint64_t sizes[] = {0x3000, 0x300000, 0x1000, 0x200000, 0x10000};
    const uint64_t low[] = {0x10000, 0x400000, 0x14000, 0xa00000, 0x20000};
    const uint64_t high[] = {0x7f3401235000, 0x7e0000001000, 0x7f3401000000, 0x1000,
                             0x7f0100007000};
    uint64_t places_low[PLACES_COUNT], places_high[PLACES_COUNT];
    places_of(low, sizes, places_low);
    places_of(high, sizes, places_high);
    assert_memory_equal(places_low, places_high, sizeof places_low);
    const uint64_t one_page_more[] = {0x4000, 0x300000, 0x2000, 0x200000, 0x10000};
    places_of(high, one_page_more, places_high);
    for (int i = 0; i < PLACED_RANGES; i++)
        assert_int_equal(places_high[2 * i], places_low[2 * i]);
}

static void what_is_not_mapped_has_its_address(void **state)
{
    (void)state;
    assert_int_equal(vm_map(vm, 0x10000, 0x1000, memory, VM_READ), 0);
    assert_int_equal(place(0x11000), 0x11000);
    assert_int_equal(place(0), 0);
    assert_int_equal(place(UINT64_MAX), UINT64_MAX);
    uint64_t before = place(0x10fff);
    assert_int_equal(vm_unmap(vm, 0x10000), 0);
    assert_int_equal(place(0x10fff), 0x10fff);
    assert_int_equal(vm_map(vm, 0x10000, 0x1000, memory, VM_READ), 0);
    assert_int_equal(place(0x10fff), before + VM_PLACE_BYTES); /* other memory */
}

/* Random order of maps and unmaps against an array that says what should be there. */
static void many_ranges_against_a_model(void **state)
{
    (void)state;
    enum { SLOTS = 512, STEPS = 20000 };
    static uint8_t present[SLOTS];
    memset(present, 0, sizeof present);
    unsigned random = 1;
    for (int step = 0; step < STEPS; step++) {
        random = random * 1103515245u + 12345u;
        unsigned slot = (random >> 8) % SLOTS;
        uint64_t va = 0x1000000 + (uint64_t)slot * 4096;
        if (random >> 31) {
            int want = present[slot] ? -EEXIST : 0;
            assert_int_equal(vm_map(vm, va, 4096, memory + slot, VM_READ), want);
            present[slot] = 1;
        } else {
            assert_int_equal(vm_unmap(vm, va), present[slot] ? 0 : -ENOENT);
            present[slot] = 0;
        }
        slot = (random >> 16) % SLOTS;
        void *want = present[slot] ? memory + slot : NULL;
        assert_ptr_equal(translate(0x1000000 + (uint64_t)slot * 4096, 64, VM_READ), want);
    }
}

enum { STRESS_SLOTS = 64, STRESS_READERS = 3, STRESS_ROUNDS = 1500, STRESS_BYTES = 256 };

/* Writer: the test's main thread, relaxed; the joins order everything that is checked after. */
static _Atomic int stress_stop;
/* Sections left so far that found a block. Writers: readers, relaxed; the test goes on until there
 * were enough. */
static _Atomic unsigned stress_sections;

/* The writer frees and poisons a block as soon as vm_unmap returned; a reader that still sees
 * the poison proves that the wait does not work (and ASan and TSan say it louder). */
static void *stress_read(void *arg)
{
    struct vm_reader mine;
    uintptr_t hits = 0;
    unsigned random = (unsigned)(uintptr_t)arg;
    vm_reader_register(vm, &mine);
    while (!atomic_load_explicit(&stress_stop, memory_order_relaxed)) {
        uintptr_t before = hits;
        vm_reader_enter(&mine);
        for (int i = 0; i < 16; i++) {
            random = random * 1103515245u + 12345u;
            uint64_t slot = (random >> 10) % STRESS_SLOTS;
            const uint8_t *block = vm_translate(&mine, slot * 0x100000, STRESS_BYTES, VM_READ);
            for (int byte = 0; block && byte < STRESS_BYTES; byte += 32)
                if (block[byte] != (uint8_t)slot)
                    hits = UINT32_MAX;
            hits += block && hits < UINT32_MAX;
        }
        vm_reader_leave(&mine);
        if (hits != before || hits == UINT32_MAX)
            atomic_fetch_add_explicit(&stress_sections, 1, memory_order_relaxed);
        sched_yield(); /* be preempted outside a section: keeps the test short on few cores */
    }
    vm_reader_unregister(&mine);
    return (void *)hits;
}

static void readers_never_see_what_was_unmapped(void **state)
{
    (void)state;
    pthread_t thread[STRESS_READERS];
    uint8_t *block[STRESS_SLOTS] = {0};
    atomic_store_explicit(&stress_stop, 0, memory_order_relaxed);
    for (uintptr_t i = 0; i < STRESS_READERS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, stress_read, (void *)(i + 7)), 0);
    for (unsigned round = 0;
         round < STRESS_ROUNDS ||
         atomic_load_explicit(&stress_sections, memory_order_relaxed) < STRESS_ROUNDS;
         round++) {
        unsigned slot = (round * 2654435761u >> 8) % STRESS_SLOTS;
        if (!block[slot]) {
            block[slot] = malloc(STRESS_BYTES);
            memset(block[slot], (int)slot, STRESS_BYTES);
            assert_int_equal(vm_map(vm, slot * 0x100000ull, STRESS_BYTES, block[slot], VM_READ), 0);
            continue;
        }
        assert_int_equal(vm_unmap(vm, slot * 0x100000ull), 0);
        memset(block[slot], 0xee, STRESS_BYTES);
        free(block[slot]);
        block[slot] = NULL;
    }
    atomic_store_explicit(&stress_stop, 1, memory_order_relaxed);
    uintptr_t total = 0;
    for (int i = 0; i < STRESS_READERS; i++) {
        void *hits;
        pthread_join(thread[i], &hits);
        assert_true((uintptr_t)hits < UINT32_MAX);
        total += (uintptr_t)hits;
    }
    assert_true(total > 0);
    for (int i = 0; i < STRESS_SLOTS; i++)
        free(block[i]);
}

static void a_place_says_what_memory_it_is(void **state)
{
    (void)state;
    uint32_t uc_host = MEMORY_UC << VM_TYPE_SHIFT | HOME_HOST << VM_HOME_SHIFT;
    assert_int_equal(vm_map(vm, 0x10000, 0x1000, memory, VM_READ), 0);
    uint64_t own = place(0x10010);
    assert_int_equal(own >> VM_PLACE_TYPE_SHIFT, 0);
    assert_int_equal(vm_set_flags(vm, 0x10000, VM_READ | uc_host), 0);
    uint64_t other = place(0x10010);
    assert_int_equal(vm_place_type(other), MEMORY_UC);
    assert_int_equal(vm_place_home(other), HOME_HOST);
    assert_int_equal(other & ((UINT64_C(1) << VM_PLACE_TYPE_SHIFT) - 1), own);
    assert_int_equal(vm_set_flags(vm, 0x10800, VM_READ), -ENOENT);
    assert_int_equal(vm_set_flags(vm, 0x11000, VM_READ), -ENOENT);
    assert_ptr_equal(translate(0x10010, 8, VM_READ), memory + 0x10);
    assert_null(translate(0x10010, 8, VM_WRITE));
    assert_int_equal(vm_set_flags(vm, 0x10000, VM_WRITE), 0);
    assert_ptr_equal(translate(0x10010, 8, VM_WRITE), memory + 0x10);
    assert_null(translate(0x10010, 8, VM_READ));
}

static void halves_of_a_range_are_ranges(void **state)
{
    (void)state;
    assert_int_equal(vm_map(vm, 0x10000, 0x1000, memory, VM_READ), 0);
    assert_int_equal(vm_map(vm, 0x11000, 0x1000, memory + 0x1000, VM_READ), 0);
    assert_int_equal(vm_split(vm, 0x10000), -ENOENT);
    assert_int_equal(vm_split(vm, 0x11000), -ENOENT);
    assert_int_equal(vm_split(vm, 0x12000), -ENOENT);
    assert_int_equal(vm_split(vm, 0x10400), 0);
    assert_ptr_equal(translate(0x103f8, 8, VM_READ), memory + 0x3f8);
    assert_ptr_equal(translate(0x10400, 8, VM_READ), memory + 0x400);
    assert_null(translate(0x103fc, 8, VM_READ)); /* of both */
    assert_ptr_equal(translate(0x10ff8, 8, VM_READ), memory + 0xff8);
    assert_int_equal(place(0x10400) % VM_PLACE_BYTES, 0);
    assert_true(place(0x10400) > place(0x11000));
    assert_int_equal(vm_unmap(vm, 0x10000), 0);
    assert_null(translate(0x103f8, 8, VM_READ));
    assert_ptr_equal(translate(0x10400, 8, VM_READ), memory + 0x400);
    assert_int_equal(vm_unmap(vm, 0x10400), 0);
    assert_null(translate(0x10400, 8, VM_READ));
    assert_ptr_equal(translate(0x11000, 8, VM_READ), memory + 0x1000);
}

/* A kernel that runs while its range is cut, or gets other flags. */
static void *stress_look(void *arg)
{
    struct vm_reader mine;
    uintptr_t missed = 0, looks = 0;
    (void)arg;
    vm_reader_register(vm, &mine);
    while (!atomic_load_explicit(&stress_stop, memory_order_relaxed) || !looks) {
        vm_reader_enter(&mine);
        for (uint64_t va = 0x10000; va < 0x20000; va += 0x1000, looks++)
            missed += vm_translate(&mine, va, 8, VM_READ) != memory + (va - 0x10000);
        vm_reader_leave(&mine);
        sched_yield();
    }
    vm_reader_unregister(&mine);
    return (void *)missed;
}

static void a_range_is_there_while_it_changes(void **state)
{
    enum { ROUNDS = 200, PAGES = 16, PAGE = 4096 };
    pthread_t thread;
    void *missed;
    (void)state;
    atomic_store_explicit(&stress_stop, 0, memory_order_relaxed);
    assert_int_equal(vm_map(vm, 0x10000, PAGES * PAGE, memory, VM_READ | VM_WRITE), 0);
    assert_int_equal(pthread_create(&thread, NULL, stress_look, NULL), 0);
    for (uint32_t i = 1; i < PAGES; i++)
        for (uint32_t round = 0; round < ROUNDS; round++) {
            uint64_t at = 0x10000 + (uint64_t)i * PAGE;
            int status = vm_split(vm, at);
            assert_int_equal(status, round ? -ENOENT : 0);
            assert_int_equal(vm_set_flags(vm, at, VM_READ | (round % 2 ? VM_WRITE : 0)), 0);
        }
    atomic_store_explicit(&stress_stop, 1, memory_order_relaxed);
    pthread_join(thread, &missed);
    assert_null(missed);
}

static void *element(uint64_t va, uint32_t size_bytes, uint32_t access)
{
    vm_reader_enter(&reader);
    void *host = vm_translate_element(&reader, va, size_bytes, access);
    vm_reader_leave(&reader);
    return host;
}

static void elements_lie_across_ranges(void **state)
{
    (void)state;
    assert_int_equal(vm_map(vm, 0x10000, 0x3000, memory, VM_READ | VM_WRITE), 0);
    assert_int_equal(vm_split(vm, 0x11000), 0);
    assert_int_equal(vm_split(vm, 0x11004), 0);
    assert_null(translate(0x10ff8, 16, VM_READ));
    assert_ptr_equal(element(0x10ff8, 16, VM_READ | VM_WRITE), memory + 0xff8);
    assert_ptr_equal(element(0x10ff8, 8, VM_READ), memory + 0xff8);
    assert_ptr_equal(element(0x12ff8, 8, VM_READ), memory + 0x2ff8);
    assert_null(element(0x12ff8, 16, VM_READ)); /* nothing behind it, */
    assert_null(element(0xfff8, 16, VM_READ));  /* or before it */
    assert_null(element(UINT64_MAX - 4, 16, VM_READ));
    assert_int_equal(vm_set_flags(vm, 0x11000, VM_READ), 0); /* the dword in between */
    assert_null(element(0x10ff8, 16, VM_WRITE));
    assert_ptr_equal(element(0x10ff8, 16, VM_READ), memory + 0xff8);
    assert_ptr_equal(element(0x10ff8, 8, VM_WRITE), memory + 0xff8);
    assert_int_equal(vm_map(vm, 0x13000, 0x1000, memory, VM_READ), 0);
    assert_null(element(0x12ff8, 16, VM_READ)); /* the host has it elsewhere */
}

/* What page faults find: here [0x20000, 0x24000), and how they were asked. */
struct found {
    unsigned asked;
    struct vm_fault fault;
};
static bool find_memory(void *context, const struct vm_fault *fault, struct vm_range *out)
{
    struct found *found = context;
    found->asked++;
    found->fault = *fault;
    const uint64_t start = fault->low > 0x20000 ? fault->low : 0x20000,
                   end = fault->high < 0x24000 ? fault->high : 0x24000;
    *out = (struct vm_range){.start = start,
                             .end = end,
                             .host = memory + (start - 0x20000),
                             .flags = VM_READ,
                             .place = vm_place_by_address(start)};
    return fault->va >= 0x20000 && fault->va < 0x24000;
}

static void page_faults_find_what_is_not_mapped(void **state)
{
    struct found found = {0};
    (void)state;
    assert_null(translate(0x20000, 4, VM_READ));
    vm_faults_set(vm, find_memory, &found);
    assert_ptr_equal(translate(0x20010, 4, VM_READ), memory + 0x10);
    assert_int_equal(found.fault.low, 0);
    assert_true(found.fault.high == UINT64_MAX);
    assert_int_equal(found.fault.access, VM_READ);
    assert_null(translate(0x20010, 4, VM_WRITE));
    assert_int_equal(found.fault.access, VM_WRITE);
    assert_null(translate(0x24000, 4, VM_READ));
    assert_int_equal(vm_map(vm, 0x21000, 0x1000, memory + 0x8000, VM_READ | VM_WRITE), 0);
    assert_ptr_equal(translate(0x21010, 4, VM_WRITE), memory + 0x8010); /* the page table first */
    assert_ptr_equal(translate(0x22010, 4, VM_READ), memory + 0x2010);
    assert_int_equal(found.fault.low, 0x22000);
    assert_ptr_equal(translate(0x20ffc, 4, VM_READ), memory + 0xffc);
    assert_int_equal(found.fault.high, 0x21000);
    assert_ptr_equal(element(0x22ffc, 8, VM_READ), memory + 0x2ffc);
    assert_null(element(0x20ffc, 8, VM_READ)); /* the host has the other half elsewhere */
    vm_faults_set(vm, NULL, NULL);
    assert_null(translate(0x22010, 4, VM_READ));
    assert_ptr_equal(translate(0x21010, 4, VM_WRITE), memory + 0x8010);
}

/* Once in a section, and again in the next one: the program may have unmapped it. */
static void page_faults_are_asked_again_in_each_section(void **state)
{
    struct found found = {0};
    (void)state;
    vm_faults_set(vm, find_memory, &found);
    for (unsigned section = 1; section <= 3; section++) {
        vm_reader_enter(&reader);
        for (unsigned n = 0; n < 10; n++)
            assert_non_null(vm_translate(&reader, 0x20000 + 4 * n, 4, VM_READ));
        const uint64_t place = vm_place(&reader, 0x20040);
        assert_int_equal(vm_place(&reader, 0x20080) - place, 0x40);
        vm_reader_leave(&reader);
        assert_int_equal(found.asked, section);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(edges_of_a_range, setup, teardown),
        cmocka_unit_test_setup_teardown(elements_lie_across_ranges, setup, teardown),
        cmocka_unit_test_setup_teardown(wrong_maps_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(unmapped_means_gone_even_when_cached, setup, teardown),
        cmocka_unit_test(places_do_not_depend_on_addresses),
        cmocka_unit_test_setup_teardown(what_is_not_mapped_has_its_address, setup, teardown),
        cmocka_unit_test_setup_teardown(a_place_says_what_memory_it_is, setup, teardown),
        cmocka_unit_test_setup_teardown(halves_of_a_range_are_ranges, setup, teardown),
        cmocka_unit_test_setup_teardown(a_range_is_there_while_it_changes, setup, teardown),
        cmocka_unit_test_setup_teardown(many_ranges_against_a_model, setup, teardown),
        cmocka_unit_test_setup_teardown(page_faults_find_what_is_not_mapped, setup, teardown),
        cmocka_unit_test_setup_teardown(page_faults_are_asked_again_in_each_section, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(readers_never_see_what_was_unmapped, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
