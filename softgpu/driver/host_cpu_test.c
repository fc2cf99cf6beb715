/* Machines as /sys/devices/system shows them, in a folder of the test's own. */
#include "driver/host_cpu.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static char machine_dir[64];
static struct vtree tree;

static int setup(void **state)
{
    (void)state;
    snprintf(machine_dir, sizeof machine_dir, "/tmp/host_cpu_XXXXXX");
    vtree_init(&tree);
    return mkdtemp(machine_dir) ? 0 : -1;
}

static int one_remove(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info, (void)kind, (void)walk;
    return remove(path);
}

static int teardown(void **state)
{
    (void)state;
    vtree_clear(&tree);
    return nftw(machine_dir, one_remove, 8, FTW_DEPTH | FTW_PHYS);
}

static void dirs_make(const char *below)
{
    char path[256];
    for (const char *end = below; *end;) {
        end += strcspn(end + 1, "/") + 1;
        snprintf(path, sizeof path, "%s%.*s", machine_dir, (int)(end - below), below);
        mkdir(path, 0755);
    }
}

static enum vtree_where where(const char *below, const struct vnode **node)
{
    char path[256];
    assert_true(snprintf(path, sizeof path, "%s%s", machine_dir, below) < (int)sizeof path);
    return vtree_find(&tree, NULL, path, 0, node);
}

/* A first-level data cache is listed under that directory, as the thunk wants it. */
static void cache_is_at(const char *cache)
{
    static const char *const files[] = {"level",
                                        "type",
                                        "size",
                                        "coherency_line_size",
                                        "ways_of_associativity",
                                        "physical_line_partition",
                                        "shared_cpu_map",
                                        "shared_cpu_list"};
    const struct vnode *node;
    char path[256];
    long bytes = 0;
    char unit = 0;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        assert_true(snprintf(path, sizeof path, "%s/index0/%s", cache, files[i]) < 256);
        assert_int_equal(where(path, &node), VTREE_FOUND);
        assert_int_equal(node->kind, VNODE_FILE);
        if (i == 1)
            assert_string_equal(node->text, "Data\n");
        if (i == 2)
            assert_int_equal(sscanf(node->text, "%ld%c", &bytes, &unit), 2);
    }
    assert_true(bytes >= 8 && unit == 'K');
}

static void told_caches_stay(void **state)
{
    (void)state;
    const struct vnode *node;
    dirs_make("/node/node0/cpu0/cache/index0");
    assert_int_equal(host_cpu_fill(&tree, machine_dir), 0);
    assert_null(tree.root.children);
    assert_int_equal(where("/node/node0/cpu0/cache/index1", &node), VTREE_ELSEWHERE);
}

static void node_without_caches(void **state)
{
    (void)state;
    const struct vnode *node;
    dirs_make("/node/node0/cpu7");
    dirs_make("/node/node0/cpu12");
    dirs_make("/node/node0/cpumap");
    assert_int_equal(host_cpu_fill(&tree, machine_dir), 0);
    cache_is_at("/node/node0/cpu7/cache");
    where("/node/node0/cpu7/cache/index0/shared_cpu_map", &node);
    assert_string_equal(node->text, "00000080\n");
    where("/node/node0/cpu7/cache/index0/shared_cpu_list", &node);
    assert_string_equal(node->text, "7\n");
    /* What the machine has is still its own. */
    assert_int_equal(where("/node/node0", &node), VTREE_ELSEWHERE);
    assert_int_equal(where("/node/node0/cpu7", &node), VTREE_ELSEWHERE);
    assert_int_equal(where("/node/node0/cpu12/cache", &node), VTREE_ELSEWHERE);
    assert_int_equal(where("/node/node1", &node), VTREE_ELSEWHERE);
}

static void processors_beyond_a_word(void **state)
{
    (void)state;
    const struct vnode *node;
    dirs_make("/node/node0/cpu65");
    assert_int_equal(host_cpu_fill(&tree, machine_dir), 0);
    where("/node/node0/cpu65/cache/index0/shared_cpu_map", &node);
    assert_string_equal(node->text, "00000002,00000000,00000000\n");
}

static void kernel_without_nodes(void **state)
{
    (void)state;
    dirs_make("/cpu/cpu0");
    dirs_make("/cpu/cpufreq");
    assert_int_equal(host_cpu_fill(&tree, machine_dir), 0);
    cache_is_at("/cpu/cpu0/cache");
}

static void node_without_processors(void **state)
{
    (void)state;
    const struct vnode *node;
    dirs_make("/node/node0");
    dirs_make("/cpu/cpu0/cache/index0");
    assert_int_equal(host_cpu_fill(&tree, machine_dir), 0);
    assert_int_equal(where("/node/node0/cpu0", &node), VTREE_ELSEWHERE);
}

static void nothing_there(void **state)
{
    (void)state;
    const struct vnode *node;
    assert_int_equal(host_cpu_fill(&tree, machine_dir), 0);
    cache_is_at("/node/node0/cpu0/cache");
    assert_int_equal(where("/node/node0", &node), VTREE_FOUND);
    assert_int_equal(where("/node", &node), VTREE_ELSEWHERE);
}

static void path_too_long(void **state)
{
    (void)state;
    char path[300];
    memset(path, 'x', sizeof path - 1);
    path[0] = '/';
    path[sizeof path - 1] = 0;
    assert_true(host_cpu_fill(&tree, path) < 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(told_caches_stay),     TEST(node_without_caches),     TEST(processors_beyond_a_word),
        TEST(kernel_without_nodes), TEST(node_without_processors), TEST(nothing_there),
        TEST(path_too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
