#include "intercept/hsa/kernel_map.h"

#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { KERNELS = 20000 };

static uint64_t address_of(uint64_t i)
{
    return 0x7f0000000000 + i * 64;
}

static void unknown_is_zero(void **state)
{
    struct kernel_map map = {0};
    (void)state;
    assert_int_equal(kernel_map_get(&map, 64), 0);
    assert_true(kernel_map_put(&map, 64, 7));
    assert_int_equal(kernel_map_get(&map, 64), 7);
    assert_int_equal(kernel_map_get(&map, 128), 0);
    assert_int_equal(kernel_map_get(&map, 0), 0);
    assert_false(kernel_map_put(&map, 0, 1));
    assert_true(kernel_map_put(&map, 64, 8)); /* the address holds another kernel now */
    assert_int_equal(kernel_map_get(&map, 64), 8);
    kernel_map_free(&map);
}

static struct kernel_map shared;
static _Atomic uint64_t published;

/* Whatever was published before a look must be found, while the table grows underneath. */
static void *reader(void *unused)
{
    uint64_t wrong = 0;
    (void)unused;
    for (uint64_t seen = 0; seen < KERNELS;) {
        seen = atomic_load(&published);
        for (uint64_t i = seen > 100 ? seen - 100 : 0; i < seen; i++)
            wrong += kernel_map_get(&shared, address_of(i)) != i + 1;
    }
    return (void *)(uintptr_t)wrong;
}

static void readers_beside_a_growing_map(void **state)
{
    pthread_t threads[2];
    (void)state;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, reader, NULL);
    for (uint64_t i = 0; i < KERNELS; i++) {
        assert_true(kernel_map_put(&shared, address_of(i), i + 1));
        atomic_store(&published, i + 1);
    }
    for (int i = 0; i < 2; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
    kernel_map_free(&shared);
}

/* What the heap has in use after so many maps that have grown. */
static size_t heap_after(int maps)
{
    for (int n = 0; n < maps; n++) {
        struct kernel_map map = {0};
        for (uint64_t i = 0; i < KERNELS / 10; i++)
            assert_true(kernel_map_put(&map, address_of(i), i + 1));
        kernel_map_free(&map);
    }
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/* malloc() keeps some of what was freed at hand, which counts as in use. */
static void all_tables_go_with_their_map(void **state)
{
    (void)state;
    size_t before = heap_after(16);
    assert_true(heap_after(32) <= before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_is_zero),
        cmocka_unit_test(readers_beside_a_growing_map),
        cmocka_unit_test(all_tables_go_with_their_map),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
