#include "driver/vtree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct vtree tree;

static int setup(void **state)
{
    (void)state;
    vtree_init(&tree);
    vtree_share(&tree, "/sys");
    vtree_share(&tree, "/sys/class");
    vtree_add_file(&tree, "/sys/devices/kfd/nodes/0/name", "cpu\n");
    vtree_add_file(&tree, "/sys/devices/kfd/nodes/1/name", "gpu\n");
    vtree_add_link(&tree, "/sys/class/kfd", "/sys/devices/kfd");
    vtree_add_link(&tree, "/sys/devices/loop", "/sys/devices/loop");
    vtree_add_device(&tree, "/dev/kfd", 7);
    vtree_share(&tree, "/dev");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    vtree_clear(&tree);
    return 0;
}

static const struct vnode *found(const char *path)
{
    const struct vnode *node = NULL;
    assert_int_equal(vtree_find(&tree, NULL, path, 0, &node), VTREE_FOUND);
    return node;
}

static void spellings_of_one_path(void **state)
{
    (void)state;
    const struct vnode *node = found("/sys/devices/kfd/nodes/1/name");
    assert_string_equal(node->text, "gpu\n");
    assert_ptr_equal(found("//sys/devices/./kfd//nodes/0/../1/name"), node);
    assert_ptr_equal(found("/sys/class/kfd/nodes/1/name"), node);
    assert_ptr_equal(found("/dev/../sys/class/kfd/nodes/1/name"), node);
    char path[64];
    assert_int_equal(vnode_path(node, path, sizeof path), strlen("/sys/devices/kfd/nodes/1/name"));
    assert_string_equal(path, "/sys/devices/kfd/nodes/1/name");
}

static void ours_missing_and_elsewhere(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        enum vtree_where want;
    } cases[] = {
        {"/sys", VTREE_ELSEWHERE},
        {"/sys/", VTREE_ELSEWHERE},
        {"/sys/class/net", VTREE_ELSEWHERE},
        {"/etc/passwd", VTREE_ELSEWHERE},
        {"/dev/null", VTREE_ELSEWHERE},
        {"relative", VTREE_ELSEWHERE},
        {"", VTREE_ELSEWHERE},
        {"/", VTREE_ELSEWHERE},
        {"/dev/kfd", VTREE_FOUND},
        {"/dev/kfd/x", VTREE_MISSING},
        {"/sys/devices/kfd/nodes/2", VTREE_MISSING},
        {"/sys/class/kfd/nodes/1/name/x", VTREE_MISSING},
        {"/sys/devices/loop", VTREE_MISSING},
        {"/sys/class/kfd", VTREE_FOUND},
        {"/sys/class/kfd/..", VTREE_FOUND}, /* of the link's target: /sys/devices */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct vnode *node;
        assert_int_equal(vtree_find(&tree, NULL, cases[i].path, 0, &node), cases[i].want);
    }
    const struct vnode *node;
    assert_int_equal(vtree_find(&tree, NULL, NULL, 0, &node), VTREE_ELSEWHERE);
}

static void links_and_relative_paths(void **state)
{
    (void)state;
    const struct vnode *node;
    assert_int_equal(vtree_find(&tree, NULL, "/sys/class/kfd", 1, &node), VTREE_FOUND);
    assert_int_equal(node->kind, VNODE_LINK);
    const struct vnode *nodes = found("/sys/class/kfd/nodes");
    assert_int_equal(vtree_find(&tree, nodes, "0/name", 0, &node), VTREE_FOUND);
    assert_string_equal(node->text, "cpu\n");
    assert_int_equal(vtree_find(&tree, nodes, "7", 0, &node), VTREE_MISSING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(spellings_of_one_path, setup, teardown),
        cmocka_unit_test_setup_teardown(ours_missing_and_elsewhere, setup, teardown),
        cmocka_unit_test_setup_teardown(links_and_relative_paths, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
